package upstream

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"mcp-facade/facade/wire"
)

// sessionHeader names the session in legacy requests and in the answer to
// initialize (MCP 2025-11-25, basic/transports, "Session Management").
const sessionHeader = "Mcp-Session-Id"

// state is what legacy requests say in their headers.
func (c *httpConn) state() (version, session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version, c.session
}

// join takes the session that an answer to initialize names.
func (c *httpConn) join(f *flight, h http.Header) {
	session := h.Get(sessionHeader)
	if f.m.Method != "initialize" || session == "" {
		return
	}
	if !isVisible(session) {
		c.log.Warn("the session id holds characters that it must not", "in", len(session))
		return
	}
	if len(session) >= minUnnamed {
		c.hide(session)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session = session
}

// learn takes the version that an answer to initialize settles.
func (c *httpConn) learn(f *flight, m *wire.Message) {
	if f.m.Method != "initialize" {
		return
	}
	version := m.Result.Get("protocolVersion").Str
	if !isVisible(version) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version = version
}

// forgotten reports whether a refusal means that the server does not know the
// session any more. refusal is the JSON-RPC error in text, if there is one, and
// f the request that was refused, if it was one: an error with its id is rather
// its answer, after which it is not sent again.
func forgotten(rep *reply, text []byte, refusal *wire.Message, f *flight) bool {
	const sessionNotFound = -32001 // as the TypeScript SDK's server says it
	answers := f != nil && refusal.Raw != nil && refusal.Key() == f.key
	switch {
	case !rep.session:
		return false
	case rep.StatusCode == http.StatusNotFound && answers:
		return refusal.Error.Get("code").Int() == sessionNotFound || namesSession([]byte(refusal.Error.Get("message").Str))
	case rep.StatusCode == http.StatusNotFound:
		return true
	}
	return rep.StatusCode == http.StatusBadRequest && !answers && namesSession(text)
}

// namesSession reports whether a refusal is about the session, in the words of
// the TypeScript and Python SDKs' servers.
func namesSession(text []byte) bool {
	text = bytes.ToLower(text)
	return bytes.Contains(text, []byte("session")) || bytes.Contains(text, []byte("not initialized"))
}

// deleteSession ends the session, if there is one. The server need not allow it.
func (c *httpConn) deleteSession(ctx context.Context) {
	if _, session := c.state(); session == "" || c.hasLost() || ctx.Err() != nil {
		return
	}
	rep, err := c.do(ctx, httpRequest{method: http.MethodDelete, url: c.url, final: true})
	if err != nil {
		c.log.Debug("end the session", "err", c.network(err))
		return
	}
	rep.close()
}

// lose ends the connection as the server has refused its session, and returns
// that in words.
func (c *httpConn) lose(rep *reply, text []byte) error {
	why := fmt.Errorf("%w: %w", ErrSession, c.refusal(rep, text))
	c.finish(why)
	return why
}

// hasLost reports whether the server has ended the session.
func (c *httpConn) hasLost() bool { return c.lost() != nil }

// lost is why nothing is sent any more, nil if it is or if that is by Close.
func (c *httpConn) lost() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over == ErrClosed {
		return nil
	}
	return c.over
}

// moveTo lets all frames go to the endpoint of an HTTP+SSE server, which has
// neither sessions nor a stream of its own for each POST.
func (c *httpConn) moveTo(endpoint *url.URL) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endpoint, c.moved, c.session = endpoint, true, ""
}

// hasMoved reports whether frames go to the endpoint of an HTTP+SSE server.
func (c *httpConn) hasMoved() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moved
}

// listening notes that a stream is open on which the answer to a request may
// come that was only accepted. stop notes its end.
func (c *httpConn) listening() (stop func()) {
	quiet := make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quiet = quiet
	return sync.OnceFunc(func() { close(quiet) })
}

// silence is closed when no stream is open any more that may bring an answer.
func (c *httpConn) silence() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.quiet
}
