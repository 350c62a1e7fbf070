package upstream

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// raw answers with what HTTP does not allow, and closes the connection.
func (p posted) raw(text string) {
	conn, _, _ := p.w.(http.Hijacker).Hijack()
	defer conn.Close()
	io.WriteString(conn, text)
}

// hangs answers with the beginning of a body whose rest does not come.
func (p posted) hangs(status int, body string, headers ...string) {
	for i := 0; i < len(headers); i += 2 {
		p.w.Header().Set(headers[i], headers[i+1])
	}
	p.w.Header().Set("Content-Length", "1000")
	p.w.WriteHeader(status)
	io.WriteString(p.w, body)
	p.w.(http.Flusher).Flush()
	p.gone()
}

// outcome is the next answer or failure in words.
func outcome(t *testing.T, c Conn) (string, *Failure) {
	t.Helper()
	m, err := c.Recv()
	f := new(Failure)
	switch {
	case errors.As(err, &f):
		return f.Err.Err.Error(), f
	case err != nil:
		t.Fatalf("Recv: %v", err)
	}
	return string(m.Raw), nil
}

// TestHTTPSendDoesNotWait shows that a frame is not taken while too much has not
// been answered, and that cancellations and answers always are.
func TestHTTPSendDoesNotWait(t *testing.T) {
	arrived, answers := make(chan struct{}, 1), make(chan string, 1)
	s := serve(t, noStream(polite("", func(p posted) {
		if p.IsResponse() {
			answers <- p.Key()
			return
		}
		arrived <- struct{}{}
		p.gone()
	})))
	c := openHTTP(t, s.URL)
	c.limit = 100_000
	long := strings.Repeat("x", 90_000)
	large := func(id int) []byte {
		return []byte(strings.Replace(modernToolCall(id), `"name":"x"`, `"name":"`+long+`"`, 1))
	}
	tell(t, c, string(large(1)))
	<-arrived
	for _, frame := range []string{string(large(2)), `{"jsonrpc":"2.0","method":"x","params":["` + long + `"]}`} {
		if err := c.Send([]byte(frame)); !errors.Is(err, ErrFull) || err.Error() != "acme: send: more than 64 MiB wait for it" {
			t.Errorf("Send: %v; want that too much waits", err)
		}
	}
	tell(t, c, `{"jsonrpc":"2.0","id":9,"result":"`+long+`"}`)
	<-answers
	tell(t, c, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	for errors.Is(c.Send(large(3)), ErrFull) {
		runtime.Gosched() // until the cancelled one has ended
	}
	<-arrived
	if n := s.saw("POST tools/call") + s.saw("POST x"); n != 2 {
		t.Errorf("the server saw %v; want the first call and the third", s.seen)
	}
}

// TestHTTPLargeAnswers shows that large answers wait for one another when they
// hold too much together, that small ones do not wait, and that each arrives.
func TestHTTPLargeAnswers(t *testing.T) {
	const size = 30 << 20
	for _, kind := range []string{"application/json", "text/event-stream", "text/event-stream; many lines"} {
		t.Run(kind, func(t *testing.T) {
			release, written := make(chan struct{}), make(chan struct{})
			s := serve(t, noStream(polite("", func(p posted) {
				if p.Key() == "n3" {
					p.result(`3`)
					return
				}
				event := strings.HasPrefix(kind, "text")
				before, line, after := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":"`, p.ID.Raw), strings.Repeat("x", 1000), `"}`
				switch {
				case strings.Contains(kind, "lines"):
					before, line, after = "data: "+before+"\"\ndata: ,\"x\":[\n", "data: \""+strings.Repeat("x", 1000)+"\",\n", "data: 1]}\n\n"
				case event:
					before, after = "data: "+before, after+"\n\n"
				}
				p.w.Header().Set("Content-Type", kind)
				io.WriteString(p.w, before)
				for n := 0; n < size; n += len(line) {
					io.WriteString(p.w, line)
				}
				p.w.(http.Flusher).Flush()
				if p.Key() == "n1" {
					close(written)
					<-release
				} else if !isClosed(release) {
					t.Error("the second large answer was read while the first was held")
				}
				io.WriteString(p.w, after)
			})))
			c := openHTTP(t, s.URL)
			c.budget.left = 0
			tell(t, c, aCall(1))
			<-written
			tell(t, c, aCall(2))
			for range 20 {
				tell(t, c, aCall(3))
				wantResult(t, c, 3, `3`)
			}
			close(release)
			for range 2 {
				if m := mustRecv(t, c); len(m.Raw) < size*9/10 {
					t.Errorf("Recv: %.100s; want a large answer", m.Raw)
				}
			}
			c.Close()
			if c.budget.left != 0 || c.budget.large {
				t.Errorf("after all answers %+v is left", &c.budget)
			}
		})
	}
}

// TestHTTPTooLarge shows that the call fails whose answer is too large, and no
// other.
func TestHTTPTooLarge(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, say := range map[string]func(p posted){
		"JSON":                   func(p posted) { p.result(`"` + long + `"`) },
		"JSON of unknown length": func(p posted) { io.WriteString(p.w, string(p.response(`"`+long+`"`))+strings.Repeat(" ", 5000)) },
		"an event":               func(p posted) { p.events(anEvent(p.response(`"` + long + `"`))); p.gone() },
		"an event of many lines": func(p posted) {
			p.events("data: {\n" + strings.Repeat("data: \"a\":\"bcdefg\",\n", 100) + "data: 1}\n\n")
			p.gone()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, noStream(polite("", func(p posted) {
				if p.Key() == "n1" {
					say(p)
				} else {
					p.result(`"fine"`)
				}
			})))
			c := openHTTP(t, s.URL)
			c.largest = 500
			tell(t, c, aCall(1))
			if got, _ := outcome(t, c); got != "the answer could not be read: larger than 256 MiB" {
				t.Errorf("the call comes out as %s", got)
			}
			tell(t, c, aCall(2))
			wantResult(t, c, 2, `"fine"`)
		})
	}
}

// TestHTTPLargeComment shows that what is too large and no data is passed over.
func TestHTTPLargeComment(t *testing.T) {
	s := serve(t, noStream(polite("", func(p posted) {
		p.events(": " + strings.Repeat("x", 10_000) + "\n\n" + anEvent(p.response(`1`)))
	})))
	c := openHTTP(t, s.URL)
	c.largest = 500
	tell(t, c, aCall(1))
	wantResult(t, c, 1, `1`)
}

// TestHTTPTooLargeElsewhere shows that the call fails whose answer is too large
// on a stream that belongs to all.
func TestHTTPTooLargeElsewhere(t *testing.T) {
	o := serveSSE(t, endpoint, func(p posted) bool {
		p.w.WriteHeader(202)
		return true
	})
	c := connect(t, o.URL+"/sse", knownSSE)
	c.largest = 500
	tell(t, c, aCall(1))
	tell(t, c, aCall(2))
	o.out <- anEvent([]byte(`{"jsonrpc":"2.0","id":2,"result":"` + strings.Repeat("x", 1000) + `"}`))
	if f := wantFailure(t, c, 2); f.Err.Err.Error() != "the answer could not be read: larger than 256 MiB" {
		t.Errorf("the call comes out as %v", f)
	}
}

// TestHTTPErrorsAreShort shows that nobody fills the host's context by an error.
func TestHTTPErrorsAreShort(t *testing.T) {
	long := strings.Repeat("Y", 300_000)
	for name, say := range map[string]func(p posted){
		"status line": func(p posted) { p.raw(long + "\r\n\r\n") },
		"header line": func(p posted) { p.raw("HTTP/1.1 200 OK\r\n" + long + "\r\n\r\n") },
		"length":      func(p posted) { p.raw("HTTP/1.1 200 OK\r\nContent-Length: " + long + "\r\n\r\n") },
		"redirect":    func(p posted) { p.w.Header().Set("Location", "http://"+long+"/"); p.w.WriteHeader(307) },
		"scope": func(p posted) {
			p.w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+long+`"`)
			p.w.WriteHeader(403)
		},
		"encoding": func(p posted) { p.w.Header().Set("Content-Encoding", long); p.says(200, "x") },
		"type":     func(p posted) { p.w.Header().Set("Content-Type", "a/"+long); io.WriteString(p.w, "x") },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, noStream(polite("", say)))
			c := openHTTP(t, s.URL)
			tell(t, c, aCall(1))
			if got, _ := outcome(t, c); len(got) > 600 {
				t.Errorf("%d bytes: %.200s", len(got), got)
			}
		})
	}
	o := serveSSE(t, "event: endpoint\ndata: http://"+long+"/\n\n", nil)
	c := connect(t, o.URL+"/sse", knownSSE)
	tell(t, c, initialize)
	if got, _ := outcome(t, c); len(got) > 600 {
		t.Errorf("%d bytes: %.200s", len(got), got)
	}
}

// TestHTTPPaceOfStreams shows in a bubble how often a stream is opened again
// that brings nothing new, whatever the server wants.
func TestHTTPPaceOfStreams(t *testing.T) {
	for _, tt := range []struct {
		name, says string
		after      time.Duration
		min, max   int32
	}{
		{"at once, without an id", "retry: 1\n\n", 10 * time.Minute, 10, 25},
		{"at once, with the same id", "id: 2\nretry: 1\n\n", 10 * time.Minute, 10, 25},
		{"much later", "retry: 99999999999\n\n", 10 * time.Minute, 8, 11},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var gets atomic.Int32
				handler := func(w http.ResponseWriter, r *http.Request) {
					p := posted{w: w, r: r}
					if r.Method == http.MethodGet {
						gets.Add(1)
						p.events(tt.says)
						return
					}
					w.WriteHeader(202)
				}
				c, err := newHTTP(t.Context(), Target{Server: "acme", URL: "http://acme.example/"}, usualTempo())
				if err != nil {
					t.Fatal(err)
				}
				defer serveInBubble(c, http.HandlerFunc(handler))()
				defer c.Close()
				tell(t, c, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				time.Sleep(tt.after)
				if n := gets.Load(); n < tt.min || n > tt.max {
					t.Errorf("%d GETs in %v; want %d to %d", n, tt.after, tt.min, tt.max)
				}
			})
		})
	}
}

// TestHTTPResumedWithoutProgress shows that events that have been there already
// are no progress, and that ids that cannot be sent back are none.
func TestHTTPResumedWithoutProgress(t *testing.T) {
	const vain = "the stream ended before the answer, and was resumed 5 times in vain"
	for _, tt := range []struct {
		name, says string
		gets       int
		want       string
	}{
		{"the same id", "id: a\nretry: 1\ndata:\n\n", 5, vain},
		{"the same message", "id: a\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":1}\n\n", 5, vain},
		{"messages without an id", "id: a\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":1}\n\n", 5, vain},
		{"an id that is too long", "id: " + strings.Repeat("i", 2000) + "\ndata:\n\n", 0, "the stream ended before the answer"},
		{"an id that no header can hold", "id: a\x01b\ndata:\n\n", 0, "the stream ended before the answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, noStandingStream(polite("", func(p posted) { p.events(tt.says) })))
			c := openHTTP(t, s.URL)
			tell(t, c, aCall(1))
			if got, _ := outcome(t, c); got != tt.want {
				t.Errorf("the call comes out as %s; want %s", got, tt.want)
			}
			c.Close()
			if n := s.saw("GET") - 1; n > tt.gets {
				t.Errorf("resumed %d times; want %d", n, tt.gets)
			}
		})
	}
}

// noStandingStream offers no stream but that of a call.
func noStandingStream(handle func(p posted)) func(p posted) {
	return func(p posted) {
		if p.r.Method == http.MethodGet && p.r.Header.Get("Last-Event-ID") == "" {
			p.w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		handle(p)
	}
}

// TestHTTPBodiesThatHang shows that a call does not hang with a body that is no
// answer.
func TestHTTPBodiesThatHang(t *testing.T) {
	for _, tt := range []struct {
		name   string
		handle func(p posted)
		want   string
	}{
		{"101", func(p posted) {
			conn, _, _ := p.w.(http.Hijacker).Hijack()
			io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
			io.Copy(io.Discard, conn)
		}, "HTTP 101 Switching Protocols"},
		{"a redirect that is followed", func(p posted) {
			if p.r.URL.Path == "/x" {
				p.result(`1`)
				return
			}
			p.hangs(307, "moved", "Location", "/x")
		}, `{"jsonrpc":"2.0","id":1,"result":1}`},
		{"a redirect that is not", func(p posted) { p.hangs(302, "moved", "Location", "/x") }, "HTTP 302 Found, a redirect within http://HOST: moved"},
		{"a refusal whose authorization is renewed", func(p posted) {
			if p.r.Header.Get("Authorization") == "Bearer secret-1" {
				p.result(`1`)
				return
			}
			p.hangs(401, "no")
		}, `{"jsonrpc":"2.0","id":1,"result":1}`},
		{"a refusal", func(p posted) { p.hangs(500, "no") }, "HTTP 500 Internal Server Error: no"},
		{"a page", func(p posted) { p.hangs(200, "<html><title>Log in</title>", "Content-Type", "text/html") }, "HTTP 200 OK with text/html: Log in"},
		{"an acceptance", func(p posted) { p.hangs(202, "yes") }, "HTTP 202 Accepted without an answer, and no stream is open that may bring it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, noStream(polite("", tt.handle)))
			c := openHTTP(t, s.URL, func(target *Target, pace *tempo) {
				target.Auth, pace.refusal = &renewer{}, 50*time.Millisecond
			})
			tell(t, c, aCall(1))
			got, _ := outcome(t, c)
			if got = strings.ReplaceAll(got, s.Listener.Addr().String(), "HOST"); got != tt.want {
				t.Errorf("the call comes out as %s; want %s", got, tt.want)
			}
			s.CloseClientConnections()
		})
	}
}

// TestSSEAnswersThePost shows that an answer in the body of the POST counts.
func TestSSEAnswersThePost(t *testing.T) {
	var o *oldServer
	o = serveSSE(t, endpoint, func(p posted) bool {
		switch p.Key() {
		case "n1":
			p.result(`1`)
		case "n2":
			p.says(200, `{"status":"accepted"}`)
			o.out <- anEvent(p.response(`2`))
		case "n3":
			o.out <- anEvent(p.response(`3`))
			p.hangs(200, "", "Content-Type", "application/json")
		default:
			return false
		}
		return true
	})
	c := openHTTP(t, o.URL+"/sse", knownSSE)
	tell(t, c, aCall(1))
	wantResult(t, c, 1, `1`)
	for id := 2; id <= 3; id++ {
		tell(t, c, aCall(id))
		wantResult(t, c, id, fmt.Sprint(id))
	}
}

// TestHTTPCancellationsDoNotQueue shows that a cancellation does not wait for
// other notifications, and that the call ends though nobody takes it.
func TestHTTPCancellationsDoNotQueue(t *testing.T) {
	arrived, told, gone := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := serve(t, noStream(func(p posted) {
		switch {
		case p.Key() == "n1":
			close(arrived)
			p.gone()
			close(gone)
		case p.Method == "slow":
			p.gone()
		case p.Method == "notifications/cancelled":
			close(told)
			p.gone()
		default:
			polite("", func(p posted) { p.result(`2`) })(p)
		}
	}))
	c := openHTTP(t, s.URL, func(_ *Target, pace *tempo) { pace.cancel, pace.step = 50*time.Millisecond, time.Millisecond })
	tell(t, c, aCall(1))
	<-arrived
	tell(t, c, `{"jsonrpc":"2.0","method":"slow"}`)
	tell(t, c, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	<-told
	<-gone
	tell(t, c, aCall(2))
	wantResult(t, c, 2, `2`)
}

// TestHTTPTellsForAWhile shows that what gets no answer is not sent for ever.
func TestHTTPTellsForAWhile(t *testing.T) {
	s := serve(t, noStream(func(p posted) { p.gone() }))
	c := connect(t, s.URL, func(_ *Target, pace *tempo) { pace.tell = 20 * time.Millisecond })
	tell(t, c, `{"jsonrpc":"2.0","method":"x"}`)
	if got, _ := outcome(t, c); got != "it was not taken in 20ms" {
		t.Errorf("the notification comes out as %s", got)
	}
}

// TestHTTPManyCalls shows that calls beyond a number wait, in order, and that
// what they may wait for does not wait for them.
func TestHTTPManyCalls(t *testing.T) {
	arrived, answers := make(chan string, 10), make(chan struct{})
	s := serve(t, noStream(polite("", func(p posted) {
		switch {
		case p.IsResponse():
			p.w.WriteHeader(202)
			answers <- struct{}{}
		case p.Method == "subscriptions/listen":
			p.events(anEvent([]byte(`{"jsonrpc":"2.0","method":"listening"}`)))
			p.gone()
		default:
			arrived <- p.Key()
			p.events(anEvent([]byte(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)))
			select {
			case <-answers:
			case <-p.r.Context().Done():
				return
			}
			p.events(anEvent(p.response(`1`)))
		}
	})))
	c := openHTTP(t, s.URL)
	c.calls = make(chan struct{}, 2)
	for id := 1; id <= 4; id++ {
		tell(t, c, aCall(id))
		if id <= 2 {
			<-arrived
			mustRecv(t, c)
		}
	}
	tell(t, c, strings.Replace(modernToolCall(8), "tools/call", "subscriptions/listen", 1))
	if m := mustRecv(t, c); m.Method != "listening" {
		t.Errorf("Recv: %s; want that the stream is open", m.Raw)
	}
	tell(t, c, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)
	if n := s.saw("POST tools/call"); n != 2 {
		t.Errorf("%d calls at once; want 2", n)
	}
	tell(t, c, `{"jsonrpc":"2.0","id":"q","result":{}}`)
	if m := mustRecv(t, c); m.Result.Raw != `1` {
		t.Errorf("Recv: %s; want the answer of a call", m.Raw)
	}
	tell(t, c, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	tell(t, c, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	if key := <-arrived; key != "n3" {
		t.Errorf("%s is sent next; want n3", key)
	}
	c.Close()
	if n := s.saw("POST tools/call"); n != 3 {
		t.Errorf("%d calls; want that the one that was cancelled in time is not sent", n)
	}
}

// TestHTTPSessionLostWhileCallsWait shows that calls that wait for others fail
// with the session.
func TestHTTPSessionLostWhileCallsWait(t *testing.T) {
	arrived := make(chan struct{})
	s := serve(t, noStream(func(p posted) {
		if p.Method == "gone" {
			forgets(p)
			return
		}
		polite("s-1", func(p posted) {
			close(arrived)
			p.gone()
		})(p)
	}))
	c := openHTTP(t, s.URL)
	c.calls = make(chan struct{}, 1)
	tell(t, c, aCall(1))
	<-arrived
	tell(t, c, aCall(2))
	tell(t, c, `{"jsonrpc":"2.0","method":"gone"}`)
	keys := map[string]bool{}
	for range 2 {
		_, f := outcome(t, c)
		keys[f.Key] = true
		if !strings.HasSuffix(f.Error(), "HTTP 404 Not Found: Session not found") {
			t.Errorf("failure: %v; want the server's refusal", f)
		}
	}
	if !keys[""] || !keys["n2"] {
		t.Errorf("failures of %v; want those of the notification and of the call that waited", keys)
	}
}

// TestHTTPSameID shows that two calls with one id each get their own answer.
func TestHTTPSameID(t *testing.T) {
	both := make(chan struct{}, 2)
	release := make(chan struct{})
	s := serve(t, noStream(polite("", func(p posted) {
		both <- struct{}{}
		<-release
		p.result(p.Params.Get("name").Raw)
	})))
	c := openHTTP(t, s.URL)
	tell(t, c, aCall(7))
	tell(t, c, strings.Replace(aCall(7), `"x"`, `"y"`, 1))
	<-both
	<-both
	close(release)
	got := map[string]bool{}
	for range 2 {
		got[mustRecv(t, c).Result.Raw] = true
	}
	if !got[`"x"`] || !got[`"y"`] {
		t.Errorf("answers are %v; want that of each", got)
	}
}

// TestHTTPSameIDFails shows that one of two calls with the same id may fail
// alone.
func TestHTTPSameIDFails(t *testing.T) {
	arrived := make(chan struct{}, 2)
	release := make(chan struct{})
	s := serve(t, noStream(polite("", func(p posted) {
		arrived <- struct{}{}
		if p.Params.Get("name").Str == "x" {
			<-release
			p.says(200, `{"jsonrpc":"2.0","id":7,"result":`)
			return
		}
		<-p.r.Context().Done()
	})))
	c := openHTTP(t, s.URL)
	tell(t, c, aCall(7))
	<-arrived
	tell(t, c, strings.Replace(aCall(7), `"x"`, `"y"`, 1))
	<-arrived
	close(release)
	if f := wantFailure(t, c, 7); string(f.Frame) != aCall(7) {
		t.Errorf("%s has failed; want the first call", f.Frame)
	}
}

// TestHTTPHidesByName shows which values of headers and URLs are hidden.
func TestHTTPHidesByName(t *testing.T) {
	hide := func(url string, session string, headers ...Header) func(string) string {
		s := serve(t, noStream(polite(session, nil)))
		c := openHTTP(t, strings.Replace(url, "HOST", s.Listener.Addr().String(), 1), func(t *Target, _ *tempo) { t.Headers = headers })
		return c.Plain
	}
	for _, tt := range []struct {
		name  string
		plain func(string) string
		in    string
		want  string
	}{
		{"a short header", hide("http://HOST", "", Header{"X-Pin", "4711"}), "pin 4711", "pin [redacted]"},
		{"each value of a cookie", hide("http://HOST", "", Header{"Cookie", "a=first; b=second"}), "first then second", "[redacted] then [redacted]"},
		{"user and password", hide("http://anna:word@HOST", ""), "anna word YW5uYTp3b3Jk", "[redacted] [redacted] [redacted]"},
		{"what an Authorization holds", hide("http://HOST", "", Header{"Authorization", "Basic YW5uYTp3b3Jk"}), "anna word", "[redacted] [redacted]"},
		{"a user that is a token", hide("http://anna@HOST", ""), "anna", "[redacted]"},
		{"a short value of the query with a telling name", hide("http://HOST/?api_key=word&format=json", ""), "word json", "[redacted] json"},
		{"no short session id", hide("http://HOST", "true"), "it is true", "it is true"},
		{"a session id", hide("http://HOST", "session-1"), "of session-1", "of [redacted]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.plain(tt.in); got != tt.want {
				t.Errorf("%q is shown as %q; want %q", tt.in, got, tt.want)
			}
		})
	}
}

// TestHTTPProxyFails shows that a failure of the proxy is told from one of the
// server.
func TestHTTPProxyFails(t *testing.T) {
	denies := serve(t, func(p posted) { http.Error(p.w, "no", 407) })
	dead := serve(t, nil)
	dead.Server.Close()
	for _, tt := range []struct{ name, proxy, url, want string }{
		{"407 to CONNECT", denies.URL, "https://mcp.example/x", "the proxy HOST answers HTTP 407 Proxy Authentication Required"},
		{"407 to the request", denies.URL, "http://mcp.example/x", "HTTP 407 Proxy Authentication Required: no"},
		{"dead, https", dead.URL, "https://mcp.example/x", "connect to the proxy HOST: connection refused"},
		{"dead, http", dead.URL, "http://mcp.example/x", "connect to the proxy HOST: connection refused"},
		{"unknown", "http://ann:secret@proxy.invalid:1", "https://mcp.example/x", "look up the proxy proxy.invalid: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			proxy, _ := url.Parse(tt.proxy)
			proxy.User = url.UserPassword("ann", "secret")
			c := connect(t, tt.url, func(t *Target, _ *tempo) {
				t.Proxy = func(*http.Request) (*url.URL, error) { return proxy, nil }
			})
			tell(t, c, aCall(1))
			got, f := outcome(t, c)
			if want := strings.ReplaceAll(tt.want, "HOST", proxy.Host); !strings.HasPrefix(got, want) || !f.Unprocessed || !strings.Contains(f.Err.Hint, "PROXY") {
				t.Errorf("the call comes out as %s, unprocessed: %v, hint: %s\nwant %s", got, f.Unprocessed, f.Err.Hint, want)
			}
		})
	}
}

// TestHTTPCertificates shows the hints about certificates.
func TestHTTPCertificates(t *testing.T) {
	s := serveTLS(t, false, func(p posted) {})
	for _, tt := range []struct {
		name, url, hint string
		later           time.Duration
	}{
		{"expired", s.URL, "renew the server's certificate, or set this machine's clock", 100 * 365 * 24 * time.Hour},
		{"of another host", strings.Replace(s.URL, "127.0.0.1", "localhost", 1), `correct the "url" of "acme" in the servers file`, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := connect(t, tt.url, trusting(s))
			c.transport.TLSClientConfig.Time = func() time.Time { return time.Now().Add(tt.later) }
			tell(t, c, aCall(1))
			if got, f := outcome(t, c); f.Err.Hint != tt.hint || !strings.Contains(got, "certificate") {
				t.Errorf("the call comes out as %s, hint: %s\nwant: %s", got, f.Err.Hint, tt.hint)
			}
		})
	}
}
