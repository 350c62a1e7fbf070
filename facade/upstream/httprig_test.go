package upstream

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-facade/facade/wire"
)

// brisk is a tempo for tests: what is waited for there comes in milliseconds,
// what must not be waited for takes longer than a test.
func brisk() tempo {
	return tempo{
		order: time.Hour, linger: time.Hour, retry: time.Millisecond, longest: 5 * time.Millisecond,
		refusal: time.Hour, cancel: time.Hour, tell: time.Hour, endpoint: time.Hour, step: 5 * time.Second, hurried: 20 * time.Millisecond,
	}
}

// A posted is what a fake server was sent.
type posted struct {
	wire.Message
	w http.ResponseWriter
	r *http.Request
}

// says answers with JSON.
func (p posted) says(status int, body string) {
	p.w.Header().Set("Content-Type", "application/json")
	p.w.WriteHeader(status)
	io.WriteString(p.w, body)
}

// result answers the request.
func (p posted) result(raw string) { p.says(200, string(wire.Response(p.ID.Raw, []byte(raw)))) }

// events writes a piece of an event stream, and flushes it.
func (p posted) events(text string) {
	p.w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(p.w, text)
	p.w.(http.Flusher).Flush()
}

// gone waits until the client has gone away.
func (p posted) gone() { <-p.r.Context().Done() }

// event is an event with one line of data.
func anEvent(data []byte) string { return "data: " + string(data) + "\n\n" }

func (p posted) response(raw string) []byte { return wire.Response(p.ID.Raw, []byte(raw)) }

// A server is a fake one. It opens a session and takes notifications; what else
// comes, its handler answers.
type server struct {
	*httptest.Server
	handle func(p posted)

	mu   sync.Mutex
	seen []string // what has come: HTTP method and that of the message
	head []http.Header
}

func serve(t *testing.T, handle func(p posted)) *server {
	s := &server{handle: handle}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// serveTLS is serve by HTTPS.
func serveTLS(t *testing.T, http2 bool, handle func(p posted)) *server {
	s := &server{handle: handle}
	s.Server = httptest.NewUnstartedServer(s)
	s.EnableHTTP2 = http2
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// trusting takes the server's certificate for that of an authority.
func trusting(s *server) hook {
	return func(t *Target, _ *tempo) {
		t.Roots = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := posted{w: w, r: r}
	if r.Method == http.MethodPost {
		body, _ := io.ReadAll(r.Body)
		p.Message, _ = wire.Parse(body)
	}
	s.mu.Lock()
	s.seen = append(s.seen, strings.TrimSpace(r.Method+" "+p.Method))
	s.head = append(s.head, r.Header.Clone())
	s.mu.Unlock()
	s.handle(p)
}

// saw reports how often something has come.
func (s *server) saw(what string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seen := range s.seen {
		if seen == what {
			n++
		}
	}
	return n
}

// headers are those of the last request of a kind.
func (s *server) headers(what string) http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.seen) - 1; i >= 0; i-- {
		if s.seen[i] == what {
			return s.head[i]
		}
	}
	return nil
}

// polite lets a handler be asked only what does not belong to the opening of a
// session.
func polite(session string, handle func(p posted)) func(p posted) {
	return func(p posted) {
		switch {
		case p.Method == "initialize":
			if session != "" {
				p.w.Header().Set("Mcp-Session-Id", session)
			}
			p.result(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)
		case p.IsNotification():
			p.w.WriteHeader(http.StatusAccepted)
		case p.r.Method == http.MethodDelete:
			p.w.WriteHeader(http.StatusNoContent)
		default:
			handle(p)
		}
	}
}

// noStream does not offer the standalone stream.
func noStream(handle func(p posted)) func(p posted) {
	return func(p posted) {
		if p.r.Method == http.MethodGet {
			p.w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		handle(p)
	}
}

// hook changes a target or a tempo before the dial.
type hook func(*Target, *tempo)

// connect dials a server. The connection is closed with the test, and must
// leave nothing then.
func connect(t *testing.T, url string, hooks ...hook) *httpConn {
	t.Helper()
	target, pace := Target{Server: "acme", URL: url, Agent: "test/1"}, brisk()
	for _, h := range hooks {
		h(&target, &pace)
	}
	c, err := newHTTP(t.Context(), target, pace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// opened connects and opens a session.
func openHTTP(t *testing.T, url string, hooks ...hook) *httpConn {
	t.Helper()
	c := connect(t, url, hooks...)
	tell(t, c, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if m, err := c.Recv(); err != nil || m.Key() != "n0" || !m.Result.Exists() {
		t.Fatalf("initialize is answered by %s, %v", m.Raw, err)
	}
	tell(t, c, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func tell(t *testing.T, c Conn, frame string) {
	t.Helper()
	if err := c.Send([]byte(frame)); err != nil {
		t.Fatalf("Send(%.80s): %v", frame, err)
	}
}

// call is a tools/call.
func aCall(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x","arguments":{"n":%d}}}`, id, id)
}

// modernToolCall is one of MCP 2026-07-28.
func modernToolCall(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x","arguments":{"n":%d},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, id, id)
}

// mustRecv is the next message.
func mustRecv(t *testing.T, c Conn) wire.Message {
	t.Helper()
	m, err := c.Recv()
	if err != nil {
		t.Fatalf("Recv: %v; want a message", err)
	}
	return m
}

// wantResult wants the answer of a request next.
func wantResult(t *testing.T, c Conn, id int, result string) {
	t.Helper()
	if m := mustRecv(t, c); m.Key() != fmt.Sprint("n", id) || m.Result.Raw != result {
		t.Fatalf("Recv: %s; want the result %s of %d", m.Raw, result, id)
	}
}

// wantFailure wants what became of a request next.
func wantFailure(t *testing.T, c Conn, id int) *Failure {
	t.Helper()
	m, err := c.Recv()
	f := new(Failure)
	if !errors.As(err, &f) || f.Key != fmt.Sprint("n", id) {
		t.Fatalf("Recv: %s, %v; want the failure of %d", m.Raw, err, id)
	}
	return f
}

// wantEnd wants the end next.
func wantEnd(t *testing.T, c Conn, why error) {
	t.Helper()
	m, err := c.Recv()
	if f := new(Failure); errors.As(err, &f) || !errors.Is(err, why) {
		t.Fatalf("Recv: %s, %v; want the end by: %v", m.Raw, err, why)
	}
}
