package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An oldServer is a fake HTTP+SSE server at the path /sse. It answers
// each request with an empty result.
type oldServer struct {
	*server
	out  chan string // what the stream says; its end ends the stream
	post func(p posted) bool

	mu    sync.Mutex
	posts []string // where frames have come
}

// serveSSE starts one that says first. post may answer a POST in its place.
func serveSSE(t *testing.T, first string, post func(p posted) bool) *oldServer {
	o := &oldServer{out: make(chan string, 10), post: post}
	o.server = serve(t, o.answer)
	o.out <- first
	return o
}

func (o *oldServer) answer(p posted) {
	switch {
	case p.r.Method == http.MethodGet:
		o.stream(p)
	case p.r.URL.String() == "/sse":
		p.w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		o.mu.Lock()
		o.posts = append(o.posts, p.r.URL.String())
		o.mu.Unlock()
		if o.post != nil && o.post(p) {
			return
		}
		p.w.WriteHeader(http.StatusAccepted)
		if p.IsRequest() {
			o.out <- "event: message\n" + anEvent(p.response(`{"protocolVersion":"2024-11-05"}`))
		}
	}
}

func (o *oldServer) stream(p posted) {
	p.events(": hello\n\n")
	for {
		select {
		case text, more := <-o.out:
			if !more {
				return
			}
			p.events(text)
		case <-p.r.Context().Done():
			return
		}
	}
}

const endpoint = "event: endpoint\ndata: /messages?sessionId=0123456789\n\n"

func knownSSE(t *Target, _ *tempo) { t.SSE = true }

func bearer(token string) hook {
	return func(t *Target, _ *tempo) { t.Auth = Static("Bearer " + token) }
}

func TestSSEWithTheSDK(t *testing.T) {
	sdk := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	sdk.AddTool(&mcp.Tool{Name: "x", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			roots, err := r.Session.ListRoots(ctx, nil)
			if err != nil {
				return nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: roots.Roots[0].URI}}}, nil
		})
	s := httptest.NewServer(mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return sdk }, nil))
	t.Cleanup(s.Close)
	for name, hooks := range map[string][]hook{"recognised": nil, "known": {knownSSE}} {
		t.Run(name, func(t *testing.T) {
			c := openHTTP(t, s.URL, hooks...)
			tell(t, c, aCall(1))
			m := mustRecv(t, c)
			if m.Method != "roots/list" {
				t.Fatalf("Recv: %s; want the server's request", m.Raw)
			}
			tell(t, c, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"file:///r"}]}}`, m.ID.Raw))
			if m := mustRecv(t, c); m.Key() != "n1" || m.Result.Get("content.0.text").Str != "file:///r" {
				t.Errorf("Recv: %s; want the answer", m.Raw)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			wantEnd(t, c, ErrClosed)
		})
	}
}

// TestSSEEndpoint shows where frames go.
func TestSSEEndpoint(t *testing.T) {
	for _, test := range []struct{ name, data, want string }{
		{"takes a path", "/messages?sessionId=1", "/messages?sessionId=1"},
		{"takes a relative path", "messages/1?a=b&c=d", "/messages/1?a=b&c=d"},
		{"takes a query", "?sessionId=1", "/sse?sessionId=1"},
		{"takes a URL", "http://$HOST/m", "/m"},
		{"takes a scheme in other letters", "HTTP://$HOST/m", "/m"},
		{"cuts spaces, user and fragment", " http://user:pass@$HOST/m#f ", "/m"},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			o := serveSSE(t, "", func(p posted) bool {
				if got := p.r.Header.Get("Authorization"); got != "Bearer t-12345678" {
					t.Errorf("%s comes with the authorization %q", p.Method, got)
				}
				return false
			})
			o.out <- "event: endpoint\ndata: " + strings.ReplaceAll(test.data, "$HOST", o.Listener.Addr().String()) + "\n\n"
			c := openHTTP(t, o.URL+"/sse", knownSSE, bearer("t-12345678"))
			tell(t, c, aCall(1))
			wantResult(t, c, 1, `{"protocolVersion":"2024-11-05"}`)
			c.Close()
			if want := []string{test.want, test.want, test.want}; !slices.Equal(o.posts, want) {
				t.Errorf("frames came to %q, want %q", o.posts, want)
			}
		})
	}
}

// TestSSEStaysOnItsOrigin shows that no endpoint elsewhere is sent anything.
func TestSSEStaysOnItsOrigin(t *testing.T) {
	other := serve(t, func(p posted) { p.w.WriteHeader(http.StatusAccepted) })
	for name, test := range map[string]struct{ data, want string }{
		"port":   {other.URL + "/m?token=t-12345678", "names another server, " + other.URL},
		"host":   {"//evil.example/m", "names another server, http://evil.example"},
		"scheme": {"https://$HOST/m", "names another server, https://$HOST"},
		"file":   {"file:///etc/passwd", "names no URL"},
		"URL":    {"http://[/", "names no URL"},
	} {
		for how, hooks := range map[string][]hook{"recognised": nil, "known": {knownSSE}} {
			t.Run(name+" "+how, func(t *testing.T) {
				o := serveSSE(t, "", nil)
				host := strings.NewReplacer("$HOST", o.Listener.Addr().String())
				o.out <- "event: endpoint\ndata: " + host.Replace(test.data) + "\n\n"
				c := connect(t, o.URL+"/sse", append(hooks, bearer("t-12345678"))...)
				tell(t, c, initialize)
				f := wantFailure(t, c, 0)
				if want := "acme: initialize: its endpoint event " + host.Replace(test.want); f.Error() != want || !f.Unprocessed {
					t.Errorf("failure: %v, unprocessed %v; want %s", f, f.Unprocessed, want)
				}
				if len(other.seen) > 0 {
					t.Errorf("the other server saw %v", other.seen)
				}
			})
		}
	}
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// TestSSEStreamEnds shows that a connection ends with its stream: what was
// accepted has failed, what was not sent will be taken by another connection.
func TestSSEStreamEnds(t *testing.T) {
	asked := make(chan bool)
	o := serveSSE(t, endpoint, func(p posted) bool {
		if p.Method == "tools/call" {
			p.w.WriteHeader(http.StatusAccepted)
			asked <- true
			return true
		}
		return false
	})
	c := openHTTP(t, o.URL+"/sse", knownSSE)
	tell(t, c, aCall(1))
	<-asked
	close(o.out)
	if f := wantFailure(t, c, 1); f.Unprocessed || errors.Is(f, ErrSession) {
		t.Errorf("failure of what was accepted: %v, unprocessed %v", f, f.Unprocessed)
	}
	m, err := c.Recv()
	if f := new(Failure); errors.As(err, &f) || !errors.Is(err, errStreamOver) {
		t.Errorf("Recv: %s, %v; want the end", m.Raw, err)
	}
	if err := c.Send([]byte(aCall(2))); err == nil || err.Error() != "acme: send: the server has ended its event stream" {
		t.Errorf("Send: %v; want an error", err)
	}
}

// TestSSEIsLegacy shows that a server that claims more than HTTP+SSE has, be it
// only now and then, is not asked.
func TestSSEIsLegacy(t *testing.T) {
	for how, hooks := range map[string][]hook{"recognised": nil, "known": {knownSSE}} {
		t.Run(how, func(t *testing.T) {
			o := serveSSE(t, endpoint, nil)
			c := openHTTP(t, o.URL+"/sse", hooks...)
			tell(t, c, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
			if m := mustRecv(t, c); m.Key() != "n1" || m.Error.Get("code").Int() != -32601 {
				t.Errorf("Recv: %s; want method not found", m.Raw)
			}
			tell(t, c, aCall(2))
			wantResult(t, c, 2, `{"protocolVersion":"2024-11-05"}`)
			if o.saw("POST server/discover") > 0 {
				t.Errorf("saw %v", o.seen)
			}
		})
	}
}

// TestSSERefuses shows that the connection outlives the failure of a POST.
func TestSSERefuses(t *testing.T) {
	o := serveSSE(t, endpoint, func(p posted) bool {
		switch p.Params.Get("arguments.n").Int() {
		case 1:
			p.w.WriteHeader(http.StatusInternalServerError)
			io.WriteString(p.w, "no session 0123456789 of /messages?sessionId=0123456789")
		case 2:
			p.says(http.StatusBadRequest, `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no"}}`)
		default:
			return false
		}
		return true
	})
	c := openHTTP(t, o.URL+"/sse", knownSSE)
	tell(t, c, aCall(1))
	const want = "acme: tools/call: HTTP 500 Internal Server Error: no session [redacted] of /messages?[redacted]"
	if f := wantFailure(t, c, 1); f.Error() != want {
		t.Errorf("failure: %v; want %s", f, want)
	}
	tell(t, c, aCall(2))
	if m := mustRecv(t, c); m.Key() != "n2" || m.Error.Get("message").Str != "no" {
		t.Errorf("Recv: %s; want the error", m.Raw)
	}
	tell(t, c, aCall(3))
	wantResult(t, c, 3, `{"protocolVersion":"2024-11-05"}`)
}

// TestSSEInitializeIsRefused shows that a refusal of the endpoint is none that
// another transport is tried for.
func TestSSEInitializeIsRefused(t *testing.T) {
	for how, hooks := range map[string][]hook{"recognised": nil, "known": {knownSSE}} {
		t.Run(how, func(t *testing.T) {
			o := serveSSE(t, endpoint, func(p posted) bool { p.w.WriteHeader(http.StatusNotFound); return true })
			c := connect(t, o.URL+"/sse", hooks...)
			tell(t, c, initialize)
			if f := wantFailure(t, c, 0); f.Error() != "acme: initialize: HTTP 404 Not Found" {
				t.Errorf("failure: %v", f)
			}
			if o.saw("GET") != 1 || len(o.posts) != 1 {
				t.Errorf("saw %v", o.seen)
			}
		})
	}
}

// TestSSEIsNotThere shows what is said of a server that is known to speak
// HTTP+SSE and does not.
func TestSSEIsNotThere(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer func(p posted)
		want   string
	}{
		{"a refusal", func(p posted) { p.says(404, "no such page") }, "HTTP 404 Not Found: no such page"},
		{"a page", func(p posted) {
			p.w.Header().Set("Content-Type", "text/html")
			io.WriteString(p.w, "<html><title>Hello</title>")
		}, "HTTP 200 OK with text/html: Hello"},
		{"a redirect", func(p posted) {
			p.w.Header().Set("Location", "https://b.example/sse?token=1")
			p.w.WriteHeader(307)
		}, "HTTP 307 Temporary Redirect, a redirect to https://b.example"},
		{"a stream that ends", func(p posted) { p.events(": hello\n\n" + anEvent([]byte(`{}`))) }, "it is no HTTP+SSE server: no endpoint event came"},
		{"a stream that is cut", func(p posted) { p.events("event: endpoint\ndata: /messages") }, "it is no HTTP+SSE server: no endpoint event came"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, test.answer)
			c := connect(t, s.URL, knownSSE)
			tell(t, c, initialize)
			if f := wantFailure(t, c, 0); f.Error() != "acme: initialize: "+test.want || !f.Unprocessed {
				t.Errorf("failure: %v, unprocessed %v; want %s", f, f.Unprocessed, test.want)
			}
			if s.saw("POST initialize") > 0 {
				t.Errorf("saw %v; want no POST", s.seen)
			}
		})
	}
}

// TestSSEIsNotTried shows which refusals of initialize are no reason to try
// HTTP+SSE.
func TestSSEIsNotTried(t *testing.T) {
	for name, refuse := range map[string]func(p posted){
		"an error of JSON-RPC": func(p posted) { p.says(400, `{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"no"}}`) },
		"401":                  func(p posted) { p.says(401, "") },
		"403":                  func(p posted) { p.says(403, "") },
		"429":                  func(p posted) { p.says(429, "") },
		"500":                  func(p posted) { p.says(500, "") },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, refuse)
			c := connect(t, s.URL)
			tell(t, c, initialize)
			if m, err := c.Recv(); err == nil && !m.Error.Exists() {
				t.Errorf("Recv: %s; want a refusal", m.Raw)
			}
			if s.saw("GET") > 0 {
				t.Errorf("saw %v; want no GET", s.seen)
			}
		})
	}
}

// TestSSERefusalOfBoth shows that a server that takes neither is described by
// its answer to the POST.
func TestSSERefusalOfBoth(t *testing.T) {
	s := serve(t, func(p posted) { p.says(404, "no "+p.r.Method) })
	c := connect(t, s.URL)
	tell(t, c, initialize)
	if f := wantFailure(t, c, 0); f.Error() != "acme: initialize: HTTP 404 Not Found: no POST" {
		t.Errorf("failure: %v", f)
	}
	tell(t, c, initialize)
	wantFailure(t, c, 0)
	if s.saw("GET") != 2 {
		t.Errorf("saw %v; want each initialize to be tried both ways", s.seen)
	}
}

// A renewable is an Auth whose first token is refused, and which takes its time.
type renewable struct {
	mu    sync.Mutex
	token string
	slow  time.Duration
}

func (a *renewable) Token(context.Context) (string, error) {
	time.Sleep(a.slow)
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.token, nil
}

func (a *renewable) Refresh(context.Context, string, *http.Response) error {
	time.Sleep(a.slow)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = "Bearer new-12345678"
	return nil
}

// TestSSETakesItsTime shows in a bubble how long what is waited for: ten seconds
// for the server, and none of that for the authorization.
func TestSSETakesItsTime(t *testing.T) {
	for _, test := range []struct {
		name    string
		headers time.Duration // before the status
		event   time.Duration // from there to the endpoint
		want    string
	}{
		{"it waits for the endpoint", 0, 9 * time.Second, ""},
		{"it waits for the stream", 9 * time.Second, 9 * time.Second, ""},
		{"it does not wait for ever for the endpoint", 0, 11 * time.Second, "acme: initialize: it is no HTTP+SSE server: no endpoint event came"},
		{"it does not wait for ever for the stream", 11 * time.Second, 0, "acme: initialize: it is no HTTP+SSE server: no endpoint event came"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answers := make(chan string)
				handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					p := posted{w: w, r: r}
					switch {
					case r.Header.Get("Authorization") != "Bearer new-12345678":
						w.WriteHeader(http.StatusUnauthorized)
					case r.Method == http.MethodGet:
						if !sleep(r.Context(), test.headers) {
							return
						}
						p.events(": hello\n\n")
						if !sleep(r.Context(), test.event) {
							return
						}
						p.events(endpoint)
						select {
						case answer := <-answers:
							p.events(answer)
						case <-r.Context().Done():
						}
					default:
						w.WriteHeader(http.StatusAccepted)
						answers <- anEvent([]byte(`{"jsonrpc":"2.0","id":0,"result":{}}`))
					}
				})
				target := Target{Server: "acme", URL: "http://acme.example/sse", SSE: true, Auth: &renewable{token: "Bearer old-12345678", slow: time.Minute}}
				c, err := newHTTP(t.Context(), target, usualTempo())
				if err != nil {
					t.Fatal(err)
				}
				defer serveInBubble(c, handler)()
				defer c.Close()
				tell(t, c, initialize)
				if test.want == "" {
					wantResult(t, c, 0, `{}`)
				} else if f := wantFailure(t, c, 0); f.Error() != test.want {
					t.Errorf("failure: %v; want %s", f, test.want)
				}
			})
		})
	}
}

// serveInBubble lets c reach a server by pipes.
func serveInBubble(c *httpConn, handler http.Handler) (stop func()) {
	l := &pipes{accept: make(chan net.Conn), closed: make(chan struct{})}
	c.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		l.accept <- theirs
		return ours, nil
	}
	s := &http.Server{Handler: handler}
	go s.Serve(l)
	return func() { s.Close() }
}

// pipes is a listener.
type pipes struct {
	accept chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.accept:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// TestSSEEndpointComesLate shows that requests wait for it.
func TestSSEEndpointComesLate(t *testing.T) {
	o := serveSSE(t, "event: ping\ndata: x\n\n", nil)
	c := connect(t, o.URL+"/sse", knownSSE)
	tell(t, c, initialize)
	tell(t, c, aCall(1))
	o.out <- ": still there\n\n"
	o.out <- endpoint
	for range 2 {
		mustRecv(t, c)
	}
	if o.saw("GET") != 1 {
		t.Errorf("saw %v; want one stream", o.seen)
	}
}

// TestSSEIsClosedWhileItOpens shows that Close does not wait for the endpoint.
func TestSSEIsClosedWhileItOpens(t *testing.T) {
	o := serveSSE(t, "", nil)
	c := connect(t, o.URL+"/sse", knownSSE)
	tell(t, c, initialize)
	c.Close()
	wantEnd(t, c, ErrClosed)
}

// TestSSEPassesOverWhatItCannotRead shows that neither noise nor a frame that is
// none ends the connection.
func TestSSEPassesOverWhatItCannotRead(t *testing.T) {
	o := serveSSE(t, endpoint, nil)
	c := openHTTP(t, o.URL+"/sse", knownSSE)
	o.out <- "event: other\ndata: {}\n\ndata: no JSON\n\ndata\n\n"
	o.out <- "event: endpoint\ndata: http://evil.example/\n\n"
	o.out <- anEvent([]byte(`{"jsonrpc":"2.0","method":"notifications/message"}`))
	if m := mustRecv(t, c); m.Method != "notifications/message" {
		t.Errorf("Recv: %s; want the notification", m.Raw)
	}
	tell(t, c, aCall(1))
	wantResult(t, c, 1, `{"protocolVersion":"2024-11-05"}`)
}
