package upstream

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// forgets answers as a server that does not know the session.
func forgets(p posted) {
	p.says(404, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`)
}

func TestHTTPSessionLost(t *testing.T) {
	for _, tt := range []struct {
		name   string
		handle func(p posted)
		words  string
	}{
		{"404", func(p posted) { http.Error(p.w, "not found", 404) }, "HTTP 404 Not Found: not found"},
		{"404 with an error", forgets, "HTTP 404 Not Found: Session not found"},
		{"400 that names the session", func(p posted) { http.Error(p.w, "Bad Request: No valid session ID provided", 400) },
			"HTTP 400 Bad Request: Bad Request: No valid session ID provided"},
		{"400 that says not initialized", func(p posted) {
			p.says(400, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`)
		}, "HTTP 400 Bad Request: Bad Request: Server not initialized"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, noStream(polite("s-1", tt.handle)))
			c := openHTTP(t, s.URL)
			tell(t, c, aCall(1))
			f := wantFailure(t, c, 1)
			if want := "acme: tools/call: the server has ended the session: " + tt.words; f.Error() != want {
				t.Errorf("failure: %v; want %s", f, want)
			}
			if !f.Unprocessed || !errors.Is(f, ErrSession) || string(f.Frame) != aCall(1) {
				t.Errorf("%+v; want that it was not processed, as the session has ended", f)
			}
			wantEnd(t, c, ErrSession)
			if err := c.Send([]byte(aCall(2))); !errors.Is(err, ErrSession) {
				t.Errorf("after the end, Send: %v; want ErrSession", err)
			}
			c.Close()
			if n := s.saw("DELETE"); n != 0 {
				t.Errorf("%d DELETEs of a session that is gone", n)
			}
		})
	}
}

// TestHTTPSessionLostWithOthers shows that each call in flight comes out once,
// with its own fate, before the end.
func TestHTTPSessionLostWithOthers(t *testing.T) {
	release, arrived := make(chan struct{}), make(chan struct{}, 10)
	s := serve(t, noStream(polite("s-1", func(p posted) {
		arrived <- struct{}{}
		if p.Key() == "n1" { // its answer is still coming
			p.events(": wait\n\n")
			<-release
			p.events(anEvent(p.response(`"late"`)))
			return
		}
		forgets(p)
	})))
	c := openHTTP(t, s.URL)
	tell(t, c, aCall(1))
	<-arrived
	lost := map[string]int{}
	for id := 2; id <= 5; id++ {
		tell(t, c, aCall(id))
	}
	for range 4 {
		_, err := c.Recv()
		f := new(Failure)
		if !errors.As(err, &f) || !f.Unprocessed || !errors.Is(f, ErrSession) {
			t.Fatalf("Recv: %v; want the failure of a call", err)
		}
		lost[f.Key]++
	}
	if len(lost) != 4 {
		t.Errorf("lost are %v; want each of four once", lost)
	}
	before := len(arrived)
	tell(t, c, aCall(6))
	if f := wantFailure(t, c, 6); !f.Unprocessed || !errors.Is(f, ErrSession) {
		t.Errorf("a call after the loss: %v", f)
	}
	if len(arrived) != before {
		t.Error("a call was sent after the loss")
	}
	close(release)
	wantResult(t, c, 1, `"late"`)
	wantEnd(t, c, ErrSession)
}

func TestHTTPModernHasNoSession(t *testing.T) {
	s := serve(t, noStream(polite("s-1", func(p posted) { http.Error(p.w, "not found", 404) })))
	c := openHTTP(t, s.URL)
	tell(t, c, modernToolCall(1))
	if f := wantFailure(t, c, 1); errors.Is(f, ErrSession) || f.Err.Err.Error() != "HTTP 404 Not Found: not found" {
		t.Errorf("%v; want the status", f)
	}
	h := s.headers("POST tools/call")
	if h.Get("Mcp-Session-Id") != "" || h.Get("Mcp-Protocol-Version") != "2026-07-28" || h.Get("Mcp-Method") != "tools/call" || h.Get("Mcp-Name") != "x" {
		t.Errorf("headers of a modern call: %v", h)
	}
}

func TestHTTPHeaderMismatch(t *testing.T) {
	s := serve(t, func(p posted) {
		p.says(400, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":"Mcp-Param-Region"}}`, p.ID.Raw))
	})
	c := connect(t, s.URL)
	tell(t, c, modernToolCall(1))
	f := wantFailure(t, c, 1)
	if !f.Unprocessed || !errors.Is(f, ErrHeaders) || f.Answer.Error.Get("code").Int() != -32020 {
		t.Errorf("%+v; want that the headers do not match, and the answer", f)
	}
	tell(t, c, strings.Replace(modernToolCall(2), "tools/call", "tools/list", 1))
	if m := mustRecv(t, c); m.Key() != "n2" || m.Error.Get("code").Int() != -32020 {
		t.Errorf("another request is answered by %s", m.Raw)
	}
}

// TestHTTPStandingStream shows what the standalone stream is for.
func TestHTTPStandingStream(t *testing.T) {
	var opens atomic.Int32
	s := serve(t, polite("s-1", func(p posted) {
		switch {
		case p.r.Method == http.MethodGet:
			n := opens.Add(1)
			p.events(fmt.Sprintf("id: e%d\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"hello\",\"params\":[%q]}\n\n", n, p.r.Header.Get("Last-Event-ID")))
			if n > 1 {
				p.gone()
			}
		default:
			p.w.WriteHeader(202)
		}
	}))
	c := openHTTP(t, s.URL)
	for _, want := range []string{`[""]`, `["e1"]`} {
		if m := mustRecv(t, c); m.Method != "hello" || m.Params.Raw != want {
			t.Errorf("Recv: %s; want the event after %s", m.Raw, want)
		}
	}
	if h := s.headers("GET"); h.Get("Mcp-Session-Id") != "s-1" || h.Get("Accept") != "text/event-stream" || h.Get("Mcp-Protocol-Version") != "2025-11-25" {
		t.Errorf("the GET has the headers %v", h)
	}
	c.Close()
}

// TestHTTPAnswerOnStandingStream shows that an answer may come there after a
// 202, and that who waits for one learns that it will not.
func TestHTTPAnswerOnStandingStream(t *testing.T) {
	say := make(chan string)
	s := serve(t, polite("", func(p posted) {
		if p.r.Method != http.MethodGet {
			p.w.WriteHeader(202)
			return
		}
		p.events("")
		for text := range say {
			if text == "" {
				return
			}
			p.events(text)
		}
	}))
	c := openHTTP(t, s.URL)
	tell(t, c, aCall(1))
	say <- anEvent([]byte(`{"jsonrpc":"2.0","id":1,"result":1}`))
	wantResult(t, c, 1, `1`)
	tell(t, c, aCall(2))
	say <- ""
	close(say)
	if f := wantFailure(t, c, 2); !strings.Contains(f.Error(), "HTTP 202 Accepted without an answer") {
		t.Errorf("after the end of the stream: %v", f)
	}
	c.Close()
}

// TestHTTPStandingStreamRefused shows that a server need not offer the stream,
// and when its refusal means that the session has ended.
func TestHTTPStandingStreamRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		first  func(p posted)
		then   func(p posted)
		opens  int
		killed bool
	}{
		{"405", func(p posted) { p.w.WriteHeader(405) }, nil, 1, false},
		{"404 of a server without the path", func(p posted) { http.Error(p.w, "Cannot GET /mcp", 404) }, nil, 1, false},
		{"404 that names the session", func(p posted) { http.Error(p.w, "session not found", 404) }, nil, 1, true},
		{"404 after it was offered", func(p posted) { p.events("") }, func(p posted) { http.Error(p.w, "not found", 404) }, 2, true},
		{"a page", func(p posted) { io.WriteString(p.w, "<html>") }, nil, 1, false},
		{"503 and then well", func(p posted) { p.w.WriteHeader(503) }, func(p posted) {
			p.events(anEvent([]byte(`{"jsonrpc":"2.0","method":"hello"}`)))
			p.gone()
		}, 2, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var opens atomic.Int32
			asked := make(chan struct{})
			s := serve(t, polite("s-1", func(p posted) {
				switch {
				case p.r.Method != http.MethodGet:
					p.result(`1`)
				case opens.Add(1) == 1:
					close(asked)
					tt.first(p)
				default:
					tt.then(p)
				}
			}))
			c := openHTTP(t, s.URL)
			if tt.killed {
				wantEnd(t, c, ErrSession)
			} else {
				if tt.opens == 2 {
					if m := mustRecv(t, c); m.Method != "hello" {
						t.Errorf("Recv: %s", m.Raw)
					}
				} else {
					<-asked
					<-c.silence()
				}
				tell(t, c, aCall(1))
				wantResult(t, c, 1, `1`)
			}
			c.Close()
			if int(opens.Load()) != tt.opens {
				t.Errorf("the stream was asked for %d times; want %d", opens.Load(), tt.opens)
			}
		})
	}
}

// TestHTTPStandingStreamNotFlushed shows that nothing waits for it.
func TestHTTPStandingStreamNotFlushed(t *testing.T) {
	asked := make(chan struct{})
	s := serve(t, polite("s-1", func(p posted) {
		if p.r.Method == http.MethodGet {
			close(asked)
			p.gone()
			return
		}
		p.result(`1`)
	}))
	c := openHTTP(t, s.URL)
	<-asked
	tell(t, c, aCall(1))
	wantResult(t, c, 1, `1`)
	c.Close()
}

func TestHTTPResumed(t *testing.T) {
	pieces := []string{"id: a\ndata:\n\n", "id: b\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"progress\"}\n\n", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n\n"}
	var gets []string
	s := serve(t, polite("s-1", func(p posted) {
		if p.r.Method == http.MethodPost {
			p.events(pieces[0])
			return
		}
		last := p.r.Header.Get("Last-Event-ID")
		if last == "" { // the standalone stream
			p.w.WriteHeader(405)
			return
		}
		gets = append(gets, last)
		if len(gets) == 1 {
			p.w.WriteHeader(503)
			return
		}
		p.events(pieces[len(gets)-1])
	}))
	c := openHTTP(t, s.URL)
	tell(t, c, aCall(1))
	if m := mustRecv(t, c); m.Method != "progress" {
		t.Errorf("Recv: %s", m.Raw)
	}
	wantResult(t, c, 1, `1`)
	c.Close()
	if got := strings.Join(gets, " "); got != "a a b" {
		t.Errorf("resumed after %s; want a a b", got)
	}
}

func TestHTTPResumedInVain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		get   func(p posted)
		gets  int
		want  string
		ended bool
	}{
		{"nothing new comes", func(p posted) { p.events("") }, 5, "the stream ended before the answer, and was resumed 5 times in vain", false},
		{"it cannot be resumed", func(p posted) { http.Error(p.w, "no", 400) }, 1, "the stream ended before the answer, and could not be resumed: HTTP 400 Bad Request: no", false},
		{"the session has ended", func(p posted) { forgets(p) }, 1, "the stream ended before the answer, and could not be resumed: HTTP 404 Not Found: Session not found", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var gets atomic.Int32
			s := serve(t, polite("s-1", func(p posted) {
				switch {
				case p.r.Method == http.MethodPost:
					p.events("id: a\ndata:\n\n")
				case p.r.Header.Get("Last-Event-ID") == "":
					p.w.WriteHeader(405)
				default:
					gets.Add(1)
					tt.get(p)
				}
			}))
			c := openHTTP(t, s.URL)
			tell(t, c, aCall(1))
			if f := wantFailure(t, c, 1); f.Err.Err.Error() != tt.want || f.Unprocessed || errors.Is(f, ErrSession) {
				t.Errorf("%v, unprocessed: %v\nwant: %s", f, f.Unprocessed, tt.want)
			}
			if tt.ended {
				wantEnd(t, c, ErrSession)
			}
			if int(gets.Load()) != tt.gets {
				t.Errorf("resumed %d times; want %d", gets.Load(), tt.gets)
			}
		})
	}
}

func TestHTTPModernIsNotResumed(t *testing.T) {
	s := serve(t, func(p posted) { p.events("id: a\nretry: 1\ndata:\n\n") })
	c := connect(t, s.URL)
	tell(t, c, modernToolCall(1))
	if f := wantFailure(t, c, 1); f.Err.Err.Error() != "the stream ended before the answer" {
		t.Errorf("%v", f)
	}
	if n := s.saw("GET"); n != 0 {
		t.Errorf("%d GETs", n)
	}
}

// TestHTTPReadOn shows that what a server says after the answer arrives, and
// that the connection is used again.
func TestHTTPReadOn(t *testing.T) {
	conns := map[string]bool{}
	s := serve(t, noStream(polite("", func(p posted) {
		conns[p.r.RemoteAddr] = true
		p.events(anEvent(p.response(`1`)))
		p.events(anEvent([]byte(`{"jsonrpc":"2.0","method":"after"}`)))
	})))
	c := openHTTP(t, s.URL)
	for id := range 5 {
		tell(t, c, aCall(id))
		wantResult(t, c, id, `1`)
		if m := mustRecv(t, c); m.Method != "after" {
			t.Errorf("Recv: %s", m.Raw)
		}
	}
	c.Close()
	s.Server.Close()
	if len(conns) > 2 {
		t.Errorf("%d connections; want that they are used again", len(conns))
	}
}

// TestHTTPReadOnEnds shows that a stream that goes on after the answer does not
// stay open.
func TestHTTPReadOnEnds(t *testing.T) {
	gone := make(chan struct{})
	s := serve(t, noStream(polite("", func(p posted) {
		p.events(anEvent(p.response(`1`)))
		p.gone()
		close(gone)
	})))
	c := openHTTP(t, s.URL, func(_ *Target, pace *tempo) { pace.linger = time.Millisecond })
	tell(t, c, aCall(1))
	wantResult(t, c, 1, `1`)
	<-gone
}

func TestHTTPCancelled(t *testing.T) {
	for _, tt := range []struct {
		name string
		call string
		told bool
	}{
		{"legacy, by the notification and the end of the POST", aCall(1), true},
		{"modern, by the end of the POST", modernToolCall(1), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			arrived, gone := make(chan struct{}), make(chan int, 1)
			var s *server
			s = serve(t, noStream(polite("", func(p posted) {
				if p.Key() != "n1" {
					p.result(`2`)
					return
				}
				close(arrived)
				p.gone()
				gone <- s.saw("POST notifications/cancelled")
			})))
			c := openHTTP(t, s.URL)
			tell(t, c, tt.call)
			<-arrived
			tell(t, c, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
			if told := <-gone == 1; told != tt.told {
				t.Errorf("told: %v; want %v", told, tt.told)
			}
			tell(t, c, aCall(2))
			wantResult(t, c, 2, `2`)
		})
	}
}

// TestHTTPOrder shows that notifications come one after the other, and requests
// after notifications/initialized.
func TestHTTPOrder(t *testing.T) {
	release := make(chan struct{})
	var s *server
	s = serve(t, noStream(func(p posted) {
		switch p.Method {
		case "notifications/initialized":
			<-release
			p.w.WriteHeader(202)
		case "initialize":
			p.result(`{"protocolVersion":"2025-06-18"}`)
		default:
			if p.IsRequest() {
				p.result(fmt.Sprint(s.saw("POST notifications/initialized")))
				return
			}
			p.w.WriteHeader(202)
		}
	}))
	c := openHTTP(t, s.URL)
	tell(t, c, aCall(1))
	for i := range 5 {
		tell(t, c, fmt.Sprintf(`{"jsonrpc":"2.0","method":"n%d"}`, i))
	}
	if n := s.saw("POST tools/call") + s.saw("POST n0"); n > 0 {
		t.Errorf("%d came before notifications/initialized was answered", n)
	}
	close(release)
	wantResult(t, c, 1, `1`)
	c.Close()
	var order []string
	for _, seen := range s.seen {
		if strings.HasPrefix(seen, "POST n") {
			order = append(order, strings.TrimPrefix(seen, "POST "))
		}
	}
	if got := strings.Join(order, " "); got != "notifications/initialized n0 n1 n2 n3 n4" {
		t.Errorf("notifications came as %s", got)
	}
}

// TestHTTPOrderBounded shows that a notification that is not answered does not
// hold up the others for long.
func TestHTTPOrderBounded(t *testing.T) {
	s := serve(t, noStream(func(p posted) {
		switch {
		case p.Method == "initialize":
			p.result(`{}`)
		case p.IsNotification():
			p.gone()
		default:
			p.result(`1`)
		}
	}))
	c := openHTTP(t, s.URL, func(_ *Target, pace *tempo) { pace.order, pace.step = time.Millisecond, time.Millisecond })
	tell(t, c, aCall(1))
	wantResult(t, c, 1, `1`)
}

// TestHTTPNotTaken shows that a notification that is refused comes out as a
// failure of no request.
func TestHTTPNotTaken(t *testing.T) {
	s := serve(t, noStream(func(p posted) { http.Error(p.w, "no", 400) }))
	c := connect(t, s.URL)
	tell(t, c, `{"jsonrpc":"2.0","method":"x"}`)
	tell(t, c, `{"jsonrpc":"2.0","id":5,"result":{}}`)
	texts := map[string]bool{}
	for range 2 {
		_, err := c.Recv()
		if f := new(Failure); !errors.As(err, &f) || f.Key != "" {
			t.Errorf("Recv: %v", err)
		}
		texts[err.Error()] = true
	}
	for _, want := range []string{"acme: x: HTTP 400 Bad Request: no", "acme: answer a request of the server: HTTP 400 Bad Request: no"} {
		if !texts[want] {
			t.Errorf("failures are %v; want %s", texts, want)
		}
	}
}

// TestHTTPSlowLoris shows that a server that says one byte now and then holds up
// nobody else.
func TestHTTPSlowLoris(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		t.Run(kind, func(t *testing.T) {
			s := serve(t, noStream(polite("", func(p posted) {
				if p.Key() != "n1" {
					p.result(`2`)
					return
				}
				p.w.Header().Set("Content-Type", kind)
				for p.r.Context().Err() == nil {
					io.WriteString(p.w, " ")
					p.w.(http.Flusher).Flush()
				}
			})))
			c := openHTTP(t, s.URL)
			tell(t, c, aCall(1))
			for id := 2; id < 10; id++ {
				tell(t, c, aCall(id))
				wantResult(t, c, id, `2`)
			}
			c.Close()
			wantEnd(t, c, ErrClosed)
		})
	}
}

// TestHTTPSlowRefusal shows that the text of a refusal is waited for, but not
// for ever.
func TestHTTPSlowRefusal(t *testing.T) {
	s := serve(t, noStream(polite("", func(p posted) {
		p.w.WriteHeader(500)
		io.WriteString(p.w, "half a")
		p.w.(http.Flusher).Flush()
		p.gone()
	})))
	c := openHTTP(t, s.URL, func(_ *Target, pace *tempo) { pace.refusal = 50 * time.Millisecond })
	tell(t, c, aCall(1))
	if f := wantFailure(t, c, 1); f.Err.Err.Error() != "HTTP 500 Internal Server Error: half a" {
		t.Errorf("%v", f)
	}
}

// TestHTTPServerAsks shows that the host's answer to a request within a stream
// reaches the server.
func TestHTTPServerAsks(t *testing.T) {
	answers := make(chan string, 1)
	s := serve(t, noStream(polite("", func(p posted) {
		if p.IsResponse() {
			answers <- p.Result.Raw
			p.w.WriteHeader(202)
			return
		}
		p.events(anEvent([]byte(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)))
		p.events(anEvent(p.response(<-answers)))
	})))
	c := openHTTP(t, s.URL)
	tell(t, c, aCall(1))
	if m := mustRecv(t, c); m.Method != "roots/list" {
		t.Fatalf("Recv: %s", m.Raw)
	}
	tell(t, c, `{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}`)
	wantResult(t, c, 1, `{"roots":[]}`)
}

// TestHTTPHurry shows that Close does not wait long for a server that does not
// answer, once we are in a hurry.
func TestHTTPHurry(t *testing.T) {
	hurry := make(chan struct{})
	s := serve(t, noStream(func(p posted) {
		if p.r.Method == http.MethodDelete {
			close(hurry)
			p.gone()
			return
		}
		polite("s-1", nil)(p)
	}))
	c := openHTTP(t, s.URL, func(target *Target, pace *tempo) { target.Hurry, pace.step = hurry, time.Hour })
	c.Close()
}

func TestHTTPTLS(t *testing.T) {
	for _, protocol := range []string{"HTTP/2.0", "HTTP/1.1"} {
		t.Run(protocol, func(t *testing.T) {
			s := serveTLS(t, protocol == "HTTP/2.0", noStream(polite("", func(p posted) { p.result(fmt.Sprintf("%q", p.r.Proto)) })))
			c := openHTTP(t, s.URL, trusting(s))
			tell(t, c, aCall(1))
			wantResult(t, c, 1, fmt.Sprintf("%q", protocol))
			stranger := connect(t, s.URL)
			tell(t, stranger, aCall(1))
			if f := wantFailure(t, stranger, 1); !f.Unprocessed || !strings.Contains(f.Error(), "certificate") || !strings.Contains(f.Err.Hint, `"caFile"`) {
				t.Errorf("without its authority: %v", f)
			}
		})
	}
}

func TestHTTPNothingIsLeft(t *testing.T) {
	s := serve(t, polite("s-1", func(p posted) {
		switch {
		case p.r.Method == http.MethodGet:
			p.events(": hello\n\n")
			p.gone()
		case p.Key() == "n1":
			p.result(`1`)
		case p.Key() == "n2":
			p.events(": wait\n\n")
			p.gone()
		default:
			p.gone()
		}
	}))
	cycle := func() {
		c := openHTTP(t, s.URL)
		for id := range 3 {
			tell(t, c, aCall(id+1))
		}
		wantResult(t, c, 1, `1`)
		c.Close()
	}
	cycle()
	s.CloseClientConnections()
	ours := func() (n int) {
		buf := make([]byte, 1<<20)
		for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "httpConn") || strings.Contains(g, "persistConn") {
				n++
			}
		}
		return n
	}
	for range 20 {
		cycle()
	}
	for end := time.Now().Add(5 * time.Second); ours() > 0 && time.Now().Before(end); {
		runtime.Gosched() // one that has said that it ends may not have ended
	}
	if n := ours(); n > 0 {
		t.Errorf("%d goroutines are left", n)
	}
}

func BenchmarkHTTPRoundTrip(b *testing.B) {
	for _, size := range []int{100, 1 << 20, 10 << 20} {
		body := []byte(`{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", size) + `"}`)
		for _, kind := range []string{"application/json", "text/event-stream"} {
			b.Run(fmt.Sprintf("%s/%d", kind[5:9], size), func(b *testing.B) {
				text := body
				if kind == "text/event-stream" {
					text = []byte(anEvent(body))
				}
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", kind)
					if kind == "application/json" {
						w.Header().Set("Content-Length", fmt.Sprint(len(text)))
					}
					w.Write(text)
				}))
				defer s.Close()
				c, err := newHTTP(b.Context(), Target{Server: "acme", URL: s.URL}, brisk())
				if err != nil {
					b.Fatal(err)
				}
				defer c.Close()
				b.ReportAllocs()
				b.SetBytes(int64(size))
				for b.Loop() {
					if err := c.Send([]byte(aCall(1))); err != nil {
						b.Fatal(err)
					}
					if m, err := c.Recv(); err != nil || len(m.Raw) != len(body) {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestHTTPEachOnce shows that each of many calls at once comes out once, with
// its own answer or a failure, whatever the server does.
func TestHTTPEachOnce(t *testing.T) {
	s := serve(t, noStream(polite("s-1", func(p posted) {
		n := p.Params.Get("arguments.n").Int()
		own := p.response(fmt.Sprint(n))
		switch n % 8 {
		case 0:
			p.w.WriteHeader(500)
		case 1:
			p.events(anEvent(own) + anEvent(own))
		case 2:
			panic(http.ErrAbortHandler)
		case 3:
			p.w.WriteHeader(202)
		case 4:
			p.events(": cut\n\n")
		case 5:
			p.says(200, "["+string(own)+"]")
		case 6:
			p.events("data: {\n\n" + anEvent(own))
		default:
			p.says(200, string(own))
		}
	})))
	c := openHTTP(t, s.URL)
	const calls = 400
	go func() {
		for id := range calls {
			c.Send([]byte(aCall(id + 1)))
		}
	}()
	seen := map[string]bool{}
	for range calls {
		m, err := c.Recv()
		key, answered := m.Key(), true
		if f := new(Failure); errors.As(err, &f) {
			key, answered = f.Key, false
		} else if err != nil {
			t.Fatal(err)
		}
		n := 0
		fmt.Sscanf(key, "n%d", &n)
		kind := n % 8
		if seen[key] || answered && m.Result.Raw != fmt.Sprint(n) || answered != (kind == 1 || kind >= 5) {
			t.Errorf("%s comes out as %s, %v; once already: %v", key, m.Raw, err, seen[key])
		}
		seen[key] = true
	}
	c.Close()
	wantEnd(t, c, ErrClosed)
}

// An error that answers the call by its own id is its answer, whatever it is
// about: sent again, the call might run twice.
func TestAnswerAboutASession(t *testing.T) {
	for _, tt := range []struct {
		name         string
		status, code int
		text         string
	}{
		{"400 of the tool", 400, -32603, "cannot save: the editing session is locked"},
		{"400 of a repository", 400, -32000, "repository is not initialized"},
		{"404 of an unknown tool", 404, -32602, "Unknown tool: x"},
		{"404 of an unknown issue", 404, -32002, "issue 7 not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, noStream(polite("s-1", func(p posted) {
				p.says(tt.status, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, p.ID.Raw, tt.code, tt.text))
			})))
			c := openHTTP(t, s.URL)
			tell(t, c, aCall(1))
			if m, err := c.Recv(); err != nil || m.Error.Get("message").Str != tt.text {
				t.Errorf("Recv gives %s, %v; want the server's answer", m.Raw, err)
			}
		})
	}
}
