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

// A call that fails before Send has returned is sent again all the same.
func TestResentBeforeSendReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: []string{tool("get_issue", "Get.", "")}}
		up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			switch {
			case m.Method == "tools/call" && up.dials() == 1:
				c.bad <- refused(m, upstream.ErrSession)
				time.Sleep(time.Millisecond) // Send is still returning
				return nil, true
			case m.Method == "initialize" && up.dials() > 1:
				time.Sleep(10 * time.Millisecond) // the new session takes a moment
			}
			return nil, false
		}
		d := start(t, Options{Server: entry(t, `,"used":["get_issue"]`)}, up)
		d.open()
		d.said()
		d.send(line("1", "tools/call", `{"name":"get_issue","arguments":{}}`))
		time.Sleep(time.Minute)
		if told := d.said(); len(told) != 1 {
			t.Errorf("a minute after the session was lost the host is told %q; want the call's answer. The upstream has heard %q", told, up.received("tools/call"))
		}
	})
}

// A call that is cancelled while it waits to be sent again is not sent.
func TestCancelledWhileResent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: []string{tool("get_issue", "Get.", "")}}
		up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			switch {
			case m.Method == "tools/call" && up.dials() == 1:
				c.bad <- refused(m, upstream.ErrSession)
				time.Sleep(time.Millisecond)
				return nil, true
			case m.Method == "initialize" && up.dials() > 1:
				time.Sleep(10 * time.Second)
			}
			return nil, false
		}
		d := start(t, Options{Server: entry(t, `,"used":["get_issue"]`)}, up)
		d.open()
		d.said()
		d.send(line("1", "tools/call", `{"name":"get_issue","arguments":{}}`))
		time.Sleep(time.Second)
		d.send(line("", "notifications/cancelled", `{"requestId":1}`))
		time.Sleep(time.Minute)
		var heard []string
		for _, s := range up.received("") {
			if strings.Contains(s, "cancelled") {
				heard = append(heard, s)
			}
		}
		if len(heard) != 0 {
			t.Errorf("a cancellation of what waits was sent: %q", heard)
		}
	})
}

// Our own listen for changes of the tools is renewed when its stream is cut.
func TestOwnListenCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := listening()
		d := start(t, Options{}, up)
		d.ask("0", "server/discover", `{"_meta":`+modernMeta+`}`)
		d.send(listenFrame(`"h"`, `{"toolsListChanged":true}`))
		d.ask("9", "tools/list", `{"_meta":`+modernMeta+`}`)
		d.said()
		own := func() (n int, id gjson.Result) {
			for _, frame := range up.received("subscriptions/listen") {
				if id = gjson.Get(frame, "id"); strings.HasPrefix(id.Str, "mcpf-") {
					n++
				}
			}
			return
		}
		n, id := own()
		if n != 1 {
			t.Fatalf("%d own listens", n)
		}
		up.last().bad <- &upstream.Failure{Key: wire.Key(id), Err: &upstream.Error{Server: "acme", Op: "subscriptions/listen", Err: errors.New("the stream ended before the answer")}}
		time.Sleep(time.Hour)
		d.said()
		if n, _ := own(); n != 2 {
			t.Errorf("an hour after its stream was cut our listen has been sent %d times; want 2", n)
		}
	})
}

// A modern request that has waited for the verdict of a probe is answered
// whatever that is.
func TestModernBacklogStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, silent := range []bool{false, true} {
			up := issues()
			up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
				if m.Method == "server/discover" && !silent {
					go func() {
						time.Sleep(time.Second)
						c.write(string(wire.ErrorResponse(m.ID.Raw, codeMethodNotFound, "Method not found", nil)))
					}()
				}
				return nil, m.Method == "server/discover"
			}
			d := start(t, Options{}, up)
			d.send(discoverFrame)
			d.send(line("1", "prompts/get", `{"name":"p","_meta":`+modernMeta+`}`))
			time.Sleep(6 * time.Second)
			d.send(line("2", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`))
			d.send(line("", "notifications/initialized", ""))
			time.Sleep(10 * time.Minute)
			told := strings.Join(d.said(), "\n")
			if !strings.Contains(told, `"id":1,`) {
				t.Errorf("silent %v: after ten minutes request 1 has no answer; the host was told\n%s", silent, told)
			}
			d.close()
		}
	})
}

// A list that does not come in time is cancelled and forgotten.
func TestListTimeoutLeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		up.answer = mute("tools/list")
		d := start(t, Options{}, up)
		d.open()
		for i := range 20 {
			d.send(line(fmt.Sprint(i), "tools/list", ""))
			time.Sleep(2 * time.Minute)
		}
		d.said()
		d.facade.mu.Lock()
		defer d.facade.mu.Unlock()
		if n := len(d.facade.own); n > 1 {
			t.Errorf("%d requests of ours that have timed out are kept; %d cancelled", n, len(up.received("notifications/cancelled")))
		}
	})
}

// An upstream over HTTP that refuses a list is there: a call takes its time.
func TestFailureIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := dual()
		cache := warmed(t, up)
		up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			switch m.Method {
			case "tools/list", "subscriptions/listen", "server/discover":
				failure := refused(m, errors.New("HTTP 503 Service Unavailable"))
				failure.Unprocessed = false // it has been there
				c.bad <- failure
				return nil, true
			case "tools/call":
				go func() {
					time.Sleep(30 * time.Second)
					c.write(`{"jsonrpc":"2.0","id":` + m.ID.Raw + `,"result":{"content":[],"resultType":"complete"}}`)
				}()
				return nil, true
			}
			return nil, false
		}
		d := start(t, Options{Store: cache, Version: "v"}, up)
		r, _ := d.ask("1", "tools/call", `{"name":"call","arguments":{"tool":"list_issues","args":{}},"_meta":`+modernMeta+`}`)
		if gjson.Get(r, "result.isError").Bool() {
			t.Errorf("a call that takes 30 s of an upstream that is there: %s", r)
		}
		time.Sleep(time.Minute)
	})
}

// A probe in a batch is answered with the rest of it.
func TestProbeInBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		d := start(t, Options{}, up)
		d.ask("0", "initialize", `{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
		d.send(line("", "notifications/initialized", ""))
		d.said()
		d.send(`[` + line("1", "ping", "") + `,` + line(`2`, "server/discover", `{"_meta":`+modernMeta+`}`) + `]`)
		time.Sleep(time.Minute)
		if told := strings.Join(d.said(), "\n"); !strings.Contains(told, `"id":1`) {
			t.Errorf("the batch's ping has no answer: %s", told)
		}
	})
}

// A listen that has lived for long is sent again at once after a cut, however
// many there were before.
func TestCutsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := listening()
		d := start(t, Options{}, up)
		d.ask("0", "server/discover", `{"_meta":`+modernMeta+`}`)
		d.send(listenFrame(`"h"`, `{"promptsListChanged":true}`))
		d.said()
		count := func() int { return len(theirs(up)) }
		for range 10 {
			time.Sleep(time.Hour)
			up.last().write(tagged(`"h"`, "notifications/prompts/list_changed"))
			time.Sleep(time.Hour)
			up.last().bad <- &upstream.Failure{Key: "sh", Err: &upstream.Error{Server: "acme", Op: "x", Err: errors.New("cut")}}
		}
		before := count()
		time.Sleep(5 * time.Second)
		if count() == before {
			t.Errorf("a listen that lived for two hours and brought news is not sent again 5 s after its cut")
		}
	})
}
