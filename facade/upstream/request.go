package upstream

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"mcp-facade/facade/wire"
)

// What we take for an answer (MCP 2025-11-25, basic/transports, "Sending
// Messages to the Server").
const (
	jsonType    = "application/json"
	eventStream = "text/event-stream"
)

// maxRedirects is how many redirects of one request are followed.
const maxRedirects = 5

// An httpRequest is one request to the server, before what all have in common.
type httpRequest struct {
	method  string
	message *wire.Message // the body; nil: none
	modern  bool          // the message is of MCP 2026-07-28 or later
	url     *url.URL      // nil: where frames go
	accept  string
	last    string       // Last-Event-ID; "": none
	reached *atomic.Bool // set once there is a connection for it; may be nil
	final   bool         // its authorization is not renewed
}

// A reply is what the server has answered to one request.
type reply struct {
	*http.Response
	session bool  // the request carried a session id
	loop    bool  // it is a redirect after too many others
	renewal error // why an authorization that was refused could not be renewed
	remedy  bool  // the authorization was refused as it is, and Target.Remedy is for that
	cancel  context.CancelFunc
}

// close ends the request, whatever is left of the body. Of no reply there is
// nothing to close.
func (r *reply) close() {
	if r != nil {
		r.Body.Close()
		r.cancel()
	}
}

// do sends a request. Whoever gets the reply closes it; ctx governs its body
// too.
func (c *httpConn) do(ctx context.Context, r httpRequest) (*reply, error) {
	ctx, cancel := context.WithCancel(ctx)
	rep, err := c.authorized(ctx, r)
	if err != nil {
		cancel()
		return nil, err
	}
	rep.cancel = cancel
	return rep, nil
}

// authorized sends a request, a second time if its authorization was refused
// and could be renewed.
func (c *httpConn) authorized(ctx context.Context, r httpRequest) (*reply, error) {
	for first := true; ; first = false {
		token, err := c.token(ctx)
		if err != nil {
			return nil, err
		}
		rep, err := c.follow(ctx, r, token)
		if err == nil {
			rep.remedy = c.auth != nil && refusesToken(rep.Response) || c.wants(ctx, rep.Response)
		}
		if err != nil || !first || r.final || c.auth == nil || !refusesToken(rep.Response) {
			return rep, err
		}
		if rep.renewal = c.auth.Refresh(ctx, token, rep.Response); rep.renewal != nil {
			return rep, nil
		}
		rep.Body.Close()
	}
}

func (c *httpConn) token(ctx context.Context) (string, error) {
	if c.auth == nil {
		return "", nil
	}
	token, err := c.auth.Token(ctx)
	if err != nil {
		return "", &noToken{err}
	}
	c.hideToken(token)
	return token, nil
}

// A noToken error is why there is no Authorization.
type noToken struct{ err error }

func (e *noToken) Error() string { return "get the authorization: " + e.err.Error() }

// Unwrap returns the cause.
func (e *noToken) Unwrap() error { return e.err }

// refusesToken reports whether the server wants another authorization: RFC 6750,
// section 3.1.
func refusesToken(r *http.Response) bool {
	return r.StatusCode == http.StatusUnauthorized ||
		r.StatusCode == http.StatusForbidden && challenge(r.Header, "error") == "invalid_token"
}

// wants tells the Auth which scope the server misses, and reports whether there
// is a remedy: RFC 6750, section 3.1.
func (c *httpConn) wants(ctx context.Context, r *http.Response) bool {
	w, ok := c.auth.(wanter)
	return ok && r.StatusCode == http.StatusForbidden && challenge(r.Header, "error") == "insufficient_scope" && w.Want(ctx, challenge(r.Header, "scope"))
}

// follow sends a request and goes where redirects of the same origin say, with
// the same method and body. Any other redirect is the reply.
func (c *httpConn) follow(ctx context.Context, r httpRequest, token string) (*reply, error) {
	to := r.url
	if to == nil {
		to = c.target()
	}
	for hops := 0; ; hops++ {
		req := c.build(ctx, r, to, token)
		resp, err := c.transport.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode == http.StatusSwitchingProtocols { // to one that we did not ask for
			resp.Body.Close()
			resp.Body = http.NoBody
		}
		next := redirect(resp, to)
		if next == nil || hops == maxRedirects {
			return &reply{Response: resp, session: req.Header.Get(sessionHeader) != "", loop: next != nil}, nil
		}
		resp.Body.Close()
		to = next
	}
}

// target is where frames go.
func (c *httpConn) target() *url.URL {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.endpoint
}

// discard closes a body. One that is known to be short it reads first, so that
// its connection can be used again, unless that takes long.
func (c *httpConn) discard(rep *reply) {
	const short = 4 << 10
	if rep.ContentLength >= 0 && rep.ContentLength <= short {
		defer time.AfterFunc(c.tempo.refusal, rep.cancel).Stop()
		io.Copy(io.Discard, rep.Body)
	}
	rep.Body.Close()
}

// redirect is where a response sends the same request on the same origin, or
// nil.
func redirect(r *http.Response, from *url.URL) *url.URL {
	if r.StatusCode != http.StatusTemporaryRedirect && r.StatusCode != http.StatusPermanentRedirect {
		return nil
	}
	to := location(r, from)
	if to == nil || !sameOrigin(from, to) {
		return nil
	}
	to.User, to.Fragment, to.RawFragment = nil, "", ""
	return to
}

// location is what a redirect names, nil if that is no URL.
func location(r *http.Response, from *url.URL) *url.URL {
	to, err := from.Parse(r.Header.Get("Location"))
	if err != nil {
		return nil
	}
	return to
}

// sameOrigin compares scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// build makes the request as it is sent.
func (c *httpConn) build(ctx context.Context, r httpRequest, to *url.URL, token string) *http.Request {
	if r.reached != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { r.reached.Store(true) }})
	}
	req := (&http.Request{Method: r.method, URL: to, Host: c.host, Header: c.header(r, token), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
	if r.message == nil {
		return req
	}
	body := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.message.Raw)), nil }
	req.Body, _ = body()
	req.GetBody, req.ContentLength = body, int64(len(r.message.Raw))
	return req
}

// header makes the headers of a request. Those of the protocol win over those
// of the config.
func (c *httpConn) header(r httpRequest, token string) http.Header {
	h := c.headers.Clone()
	c.extend(h, token)
	if h.Get("User-Agent") == "" {
		h.Set("User-Agent", c.agent)
	}
	if token != "" {
		h.Set("Authorization", token)
	}
	if r.accept != "" {
		h.Set("Accept", r.accept)
	}
	if r.last != "" {
		h.Set("Last-Event-ID", r.last)
	}
	if r.message != nil {
		h.Set("Content-Type", jsonType)
		if repeatable(r.message.Method) {
			h["X-Idempotency-Key"] = nil // is not sent, but lets http.Transport repeat it
		}
	}
	if r.modern {
		mirror(h, *r.message, c.schema)
		return h
	}
	version, session := c.state()
	if version != "" {
		h.Set(versionHeader, version)
	}
	if session != "" {
		h.Set(sessionHeader, session)
	}
	return h
}

// extend adds the headers that come with an authorization.
func (c *httpConn) extend(h http.Header, token string) {
	e, ok := c.auth.(extender)
	if !ok || token == "" {
		return
	}
	for name, values := range e.Headers(token) {
		if h.Get(name) == "" && !isOurs(name) && !strings.EqualFold(name, "Host") {
			h[http.CanonicalHeaderKey(name)] = values
			for _, v := range values {
				c.hideToken(v)
			}
		}
	}
}

// ourHeaders are those that say how a message is carried, and the one that the
// token goes into.
const ourHeaders = `
	authorization accept content-type last-event-id x-idempotency-key
	content-length content-encoding accept-encoding transfer-encoding connection keep-alive te trailer upgrade expect
	proxy-authorization proxy-connection
`

// isOurs reports whether nobody else sets a header.
func isOurs(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "mcp-") || slices.Contains(strings.Fields(ourHeaders), name)
}

// repeatable reports whether a request may be processed twice: it is sent again
// if a connection that was kept turns out to be dead when it is used.
func repeatable(method string) bool {
	switch method {
	case "initialize", "server/discover", "ping", "resources/read", "prompts/get", "completion/complete", "logging/setLevel":
		return true
	}
	return strings.HasSuffix(method, "/list")
}

// isModern reports whether a message is of MCP 2026-07-28 or later.
func isModern(m *wire.Message) bool {
	return member(member(m.Params, "_meta"), versionKey).Str >= "2026-07-28"
}

// isVisible reports whether s has only visible ASCII characters, as a session
// id must (MCP 2025-11-25, basic/transports, "Session Management").
func isVisible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// configured makes the headers of the config into those of requests, and takes
// the Host out of them. user and password of the URL are an Authorization.
func configured(headers []Header, user *url.Userinfo) (h http.Header, host string, err error) {
	h = http.Header{}
	for _, header := range headers {
		name, value := header.Name, strings.Trim(header.Value, " \t\r\n")
		if why := unsendable(name, value); why != "" {
			return nil, "", fmt.Errorf("header %q: %s", harmless([]byte(name)), why)
		}
		if strings.EqualFold(name, "Host") {
			host = value
			continue
		}
		h.Add(name, value)
	}
	h.Del("Accept-Encoding") // or http.Transport would leave the decoding to us
	if user != nil && h.Get("Authorization") == "" {
		password, _ := user.Password()
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	return h, host, nil
}

// unsendable says why HTTP has no such header, or "". RFC 9110, section 5.
func unsendable(name, value string) string {
	notToken := func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	}
	switch {
	case name == "" || strings.ContainsFunc(name, notToken):
		return "no header can have that name"
	case strings.ContainsFunc(value, isControl):
		return "its value holds a control character"
	}
	return ""
}

// isControl reports whether no value of a header may hold a character.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
