package facade

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// refused is what a connection over HTTP says of a request that was not
// processed.
func refused(m wire.Message, why error) *upstream.Failure {
	return &upstream.Failure{Key: m.Key(), Frame: m.Raw, Unprocessed: true, Err: &upstream.Error{Server: "acme", Op: "POST", Err: why}}
}

// A lost session is invisible to the host: each call that was answered so is
// sent again, once, in a new one, and one that is still answered is not.
func TestSessionLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: []string{tool("get_issue", "Get.", "")}}
		var slow wire.Message
		up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			switch {
			case m.Method != "tools/call" || up.dials() > 1:
				return nil, false
			case m.Params.Get("arguments.slow").Bool():
				slow = m
			default:
				c.bad <- refused(m, upstream.ErrSession)
			}
			return nil, true
		}
		d := start(t, Options{Server: entry(t, `,"used":["get_issue"]`)}, up)
		d.open()
		d.said()
		d.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_issue","arguments":{"slow":true}}}`)
		d.said()
		old := up.last()
		for id := 2; id < 5; id++ {
			d.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"get_issue","arguments":{"n":%[1]d}}}`, id))
		}
		answered := map[string]string{}
		for _, frame := range d.said() {
			answered[gjson.Get(frame, "id").Raw] = frame
		}
		for id, n := range map[string]string{"2": `{"n":2}`, "3": `{"n":3}`, "4": `{"n":4}`} {
			if !strings.Contains(gjson.Get(answered[id], "result.content.0.text").Str, n) {
				t.Errorf("call %s was answered %s; want the new session's answer", id, answered[id])
			}
		}
		old.write(`{"jsonrpc":"2.0","id":` + slow.ID.Raw + `,"result":{"content":[]}}`)
		d.expect("the old session's last answer", `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
		if n := up.dials(); n != 2 {
			t.Errorf("dialled %d times; want 2", n)
		}
	})
}

// A session that is lost at once again is an error that says so.
func TestSessionLostTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: []string{tool("get_issue", "Get.", "")}}
		up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			if m.Method == "tools/call" {
				c.bad <- refused(m, upstream.ErrSession)
			}
			return nil, m.Method == "tools/call"
		}
		d := start(t, Options{Server: entry(t, `,"used":["get_issue"]`)}, up)
		d.open()
		got := text(d.call("1", "get_issue", "{}"))
		if !strings.Contains(got, "the server has ended the session") || strings.Contains(got, "may have been carried out") {
			t.Errorf("the model was told %q; want that the session has ended and nothing was done", got)
		}
		if n := len(up.received("tools/call")); n != 2 {
			t.Errorf("the call was sent %d times; want 2", n)
		}
	})
}

// What fails alone is told alone, with whether it may have been done.
func TestRequestFails(t *testing.T) {
	for _, test := range []struct {
		name        string
		unprocessed bool
		want        string
	}{
		{"it was refused", true, "Try again in a moment"},
		{"its answer was lost", false, "may have been carried out"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := &fake{tools: []string{tool("get_issue", "Get.", "")}}
				up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
					failure := refused(m, errors.New("HTTP 503: down for repair"))
					failure.Unprocessed = test.unprocessed
					if m.Method == "tools/call" || m.Method == "resources/read" {
						c.bad <- failure
						return nil, true
					}
					return nil, false
				}
				d := start(t, Options{Server: entry(t, `,"used":["get_issue"]`)}, up)
				d.open()
				if got := text(d.call("1", "get_issue", "{}")); !strings.Contains(got, "HTTP 503: down for repair") || !strings.Contains(got, test.want) {
					t.Errorf("the model was told %q; want the reason and %q", got, test.want)
				}
				r, _ := d.ask("2", "resources/read", `{"uri":"x"}`)
				if got := gjson.Get(r, "error.message").Str; !strings.Contains(got, "HTTP 503") {
					t.Errorf("the host was told %s; want an error with the reason", r)
				}
				if n := up.dials(); n != 1 {
					t.Errorf("dialled %d times; want 1: the connection lives", n)
				}
			})
		})
	}
}

// A call whose headers were made from an old schema is sent again after the
// tools were listed, and what the upstream says to it then is passed on.
func TestHeadersOutOfDate(t *testing.T) {
	for _, test := range []struct {
		name  string
		heals bool
	}{{"the new list helps", true}, {"it does not", false}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := &fake{modern: true, tools: []string{tool("get_issue", "Get.", "")}}
				refusal := ""
				up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
					if m.Method != "tools/call" || test.heals && len(up.received("tools/call")) > 1 {
						return nil, false
					}
					failure := refused(m, upstream.ErrHeaders)
					refusal = `{"jsonrpc":"2.0","id":` + m.ID.Raw + `,"error":{"code":-32020,"message":"Header mismatch"}}`
					failure.Answer, _ = wire.Parse([]byte(refusal))
					c.bad <- failure
					return nil, true
				}
				d := start(t, Options{Server: entry(t, `,"used":["get_issue"]`)}, up)
				d.ask("0", "server/discover", `{"_meta":`+modernMeta+`}`)
				d.said()
				lists := len(up.received("tools/list"))
				r, _ := d.ask("1", "tools/call", `{"name":"get_issue","arguments":{},"_meta":`+modernMeta+`}`)
				if test.heals != gjson.Get(r, "result").Exists() || !test.heals && r != refusal {
					t.Errorf("the host was told %s", r)
				}
				if n := len(up.received("tools/call")); n != 2 {
					t.Errorf("the call was sent %d times; want 2", n)
				}
				if n := len(up.received("tools/list")) - lists; n != 1 {
					t.Errorf("the tools were listed %d times between; want once", n)
				}
			})
		})
	}
}

// A listen whose stream is cut is sent again; the host does not notice.
func TestListenCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{modern: true, tools: []string{tool("get_issue", "Get.", "")}}
		up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) { return nil, m.Method == "subscriptions/listen" }
		d := start(t, Options{}, up)
		d.ask("0", "server/discover", `{"_meta":`+modernMeta+`}`)
		d.send(`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"promptsListChanged":true},"_meta":` + modernMeta + `}}`)
		d.said()
		hosts := func() (n int) {
			for _, frame := range up.received("subscriptions/listen") {
				if gjson.Get(frame, "id").Raw == `"l"` {
					n++
				}
			}
			return n
		}
		if n := hosts(); n != 1 {
			t.Fatalf("the listen was sent %d times; want once", n)
		}
		up.last().bad <- &upstream.Failure{Key: `sl`, Err: &upstream.Error{Server: "acme", Op: "POST", Err: errors.New("stream cut")}}
		time.Sleep(2 * relistenWait)
		d.expect("the cut")
		if n := hosts(); n != 2 {
			t.Errorf("the listen was sent %d times after the cut; want twice", n)
		}
	})
}

// A call for which there is no room is refused; the next one is taken.
func TestNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: []string{tool("get_issue", "Get.", "")}}
		d := start(t, Options{Server: entry(t, `,"used":["get_issue"]`)}, up)
		d.open()
		d.said()
		up.full.Store(true)
		if got := text(d.call("1", "get_issue", "{}")); !strings.Contains(got, "wait for it") || strings.Contains(got, "may have been carried out") {
			t.Errorf("the model was told %q; want that too much waits and nothing was done", got)
		}
		up.full.Store(false)
		if got := d.call("2", "get_issue", "{}"); strings.Contains(got, "isError") {
			t.Errorf("the next call was answered %s", got)
		}
	})
}

// An opening over HTTP that is never answered is given up in the end; a process
// that starts slowly is not.
func TestOpeningLost(t *testing.T) {
	for _, test := range []struct {
		name, url string
		dials     int
	}{{"over HTTP", "https://mcp.acme.example/v1", 2}, {"of a process", "", 1}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := &fake{tools: []string{tool("get_issue", "Get.", "")}}
				up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
					return nil, m.Method == "initialize" && up.dials() == 1
				}
				s := entry(t, `,"used":["get_issue"]`)
				s.Upstream.URL = test.url
				d := start(t, Options{Server: s}, up)
				d.open()
				time.Sleep(2 * s.StartTimeout)
				d.said()
				got := d.call("1", "get_issue", "{}")
				if failed := strings.Contains(got, "isError"); up.dials() != test.dials || failed == (test.dials == 2) {
					t.Errorf("%d connections, and the call was answered %s; want %d", up.dials(), got, test.dials)
				}
			})
		})
	}
}

// What an upstream says of an error is not repeated at any length.
func TestLongError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{}
		up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
			if m.Method != "initialize" {
				return nil, false
			}
			return []string{string(wire.ErrorResponse(m.ID.Raw, -32603, strings.Repeat("ignore all ", 1e6), nil))}, true
		}
		d := start(t, Options{}, up)
		d.open()
		if got := text(d.call("1", "discover", `{"query":"x"}`)); len(got) > 2000 || !strings.Contains(got, "ignore all") {
			t.Errorf("the model was told %d bytes: %.200s", len(got), got)
		}
	})
}
