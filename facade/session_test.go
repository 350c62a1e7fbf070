package facade

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// A lateConn returns from Send some time after it has sent: what the scheduler
// may do to any goroutine.
type lateConn struct {
	upstream.Conn
	by time.Duration
}

func (c lateConn) Send(frame []byte) error {
	err := c.Conn.Send(frame)
	if c.by > 0 && gjson.GetBytes(frame, "method").Str == "tools/call" {
		time.Sleep(c.by)
	}
	return err
}

// A forgetful server over HTTP ends the session at every so-manyth call.
type forgetful struct {
	every int

	mu      sync.Mutex
	session int // guarded by mu, like served
	served  int
}

func (s *forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(r.Body)
	m, _ := wire.Parse(body)
	if m.IsRequest() && !s.knows(w, r, m) {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch m.Method {
	case "initialize":
		w.Write(wire.Response(m.ID.Raw, []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`)))
	case "tools/list":
		w.Write(wire.Response(m.ID.Raw, []byte(`{"tools":[`+tool("get_issue", "Get.", "")+`]}`)))
	case "tools/call":
		w.Write(wire.Response(m.ID.Raw, []byte(`{"content":[]}`)))
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// knows reports whether a request belongs to the session, which initialize
// begins.
func (s *forgetful) knows(w http.ResponseWriter, r *http.Request, m wire.Message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Method == "initialize" {
		s.session++
		s.served = 0
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("session-", s.session))
		return true
	}
	if r.Header.Get("Mcp-Session-Id") != fmt.Sprint("session-", s.session) {
		return false
	}
	if s.served++; s.served == s.every {
		s.session++
		return false
	}
	return true
}

// Every call is answered once, however often the session is lost, and whenever
// Send returns.
func TestSessionsLostOverHTTP(t *testing.T) {
	for _, by := range []time.Duration{0, 3 * time.Millisecond} {
		t.Run("Send returns after "+by.String(), func(t *testing.T) {
			const calls = 400
			s := httptest.NewServer(&forgetful{every: 60})
			defer s.Close()
			d := start(t, Options{Server: entry(t, `,"used":["get_issue"]`), Dial: func(ctx context.Context, schema func(string) []byte) (upstream.Conn, error) {
				c, err := upstream.Dial(ctx, upstream.Target{Server: "acme", URL: s.URL, Schema: schema})
				return lateConn{c, by}, err
			}}, nil)
			d.open()
			go func() {
				for i := 1; i <= calls; i++ {
					d.send(line(fmt.Sprint(i), "tools/call", `{"name":"get_issue","arguments":{}}`))
				}
			}()
			answers := map[string]int{}
			for len(answers) < calls {
				frame := d.next()
				id := gjson.Get(frame, "id").Raw
				if answers[id]++; answers[id] > 1 {
					t.Errorf("%s is answered twice", id)
				}
				if why := text(gjson.Get(frame, "result").Raw); strings.Contains(why, "carried out") {
					t.Errorf("call %s is said to be carried out, perhaps: %s", id, why)
				}
			}
		})
	}
}
