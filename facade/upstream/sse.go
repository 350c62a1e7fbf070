package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"mcp-facade/facade/wire"
)

// HTTP+SSE (MCP 2024-11-05, basic/transports, "HTTP with SSE"): a GET opens one
// stream of events, whose first names the endpoint to which every frame is
// POSTed. What the server says, answers included, comes on that stream, so the
// connection ends with it.

var (
	// errNoEndpoint is why a server is not taken for one of HTTP+SSE.
	errNoEndpoint = errors.New("it is no HTTP+SSE server: no endpoint event came")
	// errEndpoint is why an endpoint is not used.
	errEndpoint = errors.New("its endpoint event")
	// errStreamOver is how a connection by HTTP+SSE ends.
	errStreamOver = errors.New("the server has ended its event stream")
)

// fallBack lets all frames go to the endpoint of an HTTP+SSE server, once the
// stream is open that names it. If that cannot be had, it returns what becomes
// of f, which has not been sent there.
func (c *httpConn) fallBack(ctx context.Context, f *flight) *Failure {
	select {
	case c.probing <- struct{}{}:
		defer func() { <-c.probing }()
	case <-ctx.Done():
		return c.unopened(f, ctx.Err())
	}
	if c.hasMoved() {
		return nil
	}
	stream, cancel := context.WithCancel(c.listens)
	late := time.AfterFunc(c.tempo.endpoint, cancel)
	unbind := context.AfterFunc(ctx, cancel)
	s, failure := c.openSSE(stream, f, late)
	late.Stop()
	unbind()
	if failure != nil {
		cancel()
		return failure
	}
	stop := c.listening()
	c.moveTo(s.endpoint)
	c.tasks.Go(func() {
		defer cancel()
		defer stop()
		c.hear(s)
	})
	return nil
}

// unopened is what becomes of a request for which there is no endpoint.
func (c *httpConn) unopened(f *flight, err error) *Failure {
	return &Failure{Key: f.key, Frame: f.m.Raw, Unprocessed: true, Err: c.fault(f, err)}
}

// answerLegacy answers server/discover in place of an HTTP+SSE server: the
// transport is of the legacy era (MCP 2026-07-28, basic/transports, has two
// others), though some servers claim more.
func (c *httpConn) answerLegacy(f *flight) {
	const methodNotFound = -32601
	m, err := wire.Parse(wire.ErrorResponse(f.m.ID.Raw, methodNotFound, "Method not found: the server speaks HTTP+SSE", nil))
	if err == nil && c.claim(f) {
		c.answer(f, m)
	}
}

// An sse is the open stream of an HTTP+SSE server.
type sse struct {
	rep      *reply
	events   *events
	done     func() // gives back what events hold
	endpoint *url.URL
}

// openSSE opens the stream and reads as far as the endpoint. late ends ctx; it
// runs while the server is waited for, and not while the authorization is.
func (c *httpConn) openSSE(ctx context.Context, f *flight, late *time.Timer) (*sse, *Failure) {
	late.Stop()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest:         func(httptrace.WroteRequestInfo) { late.Reset(c.tempo.endpoint) },
		GotFirstResponseByte: func() { late.Stop() },
	})
	rep, err := c.do(ctx, httpRequest{method: http.MethodGet, url: c.url, accept: eventStream})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, c.unopened(f, errNoEndpoint)
	case err != nil:
		return nil, c.unopened(f, c.network(err))
	case !isStream(rep):
		defer rep.close()
		return nil, c.noStream(f, rep)
	}
	late.Reset(c.tempo.endpoint)
	s := &sse{rep: rep}
	s.events, s.done = c.events(rep)
	if s.endpoint, err = c.findEndpoint(s); err != nil {
		s.done()
		rep.close()
		return nil, c.unopened(f, err)
	}
	return s, nil
}

// noStream is what becomes of a request when the stream is refused.
func (c *httpConn) noStream(f *flight, rep *reply) *Failure {
	text := c.refusalText(rep)
	if rep.StatusCode/100 == 2 {
		return c.unopened(f, c.unexpected(rep, contentType(rep), text))
	}
	failure := c.unopened(f, c.refusal(rep, text))
	failure.Err.Hint = c.hint(rep)
	return failure
}

// findEndpoint reads as far as the endpoint event. The endpoint must be on the
// origin of the upstream: our authorization is sent there.
func (c *httpConn) findEndpoint(s *sse) (*url.URL, error) {
	for {
		ev, err := s.events.next()
		switch {
		case err != nil && err != wire.ErrTooLarge:
			return nil, errNoEndpoint
		case ev.Type == "endpoint":
			return c.parseEndpoint(s.rep.Request.URL, string(ev.Data))
		}
	}
}

func (c *httpConn) parseEndpoint(base *url.URL, text string) (*url.URL, error) {
	u, err := base.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%w names no URL", errEndpoint)
	}
	if !sameOrigin(u, c.url) {
		return nil, fmt.Errorf("%w names another server, %s", errEndpoint, c.words(origin(u), maxField))
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	c.hide(querySecrets(u)...)
	return u, nil
}

// hear passes the messages of the stream on until it ends, and with it the
// connection.
func (c *httpConn) hear(s *sse) {
	defer s.rep.close()
	defer s.done()
	for {
		ev, err := s.events.next()
		if err != nil && err != wire.ErrTooLarge {
			c.silenced(err)
			return
		}
		c.take(ev, err, nil)
	}
}

// silenced ends the connection whose stream has ended, unless it is being closed.
func (c *httpConn) silenced(err error) {
	if c.listens.Err() != nil {
		return
	}
	if err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%w: %w", errStreamOver, c.network(err))
	} else {
		err = errStreamOver
	}
	c.finish(err)
}
