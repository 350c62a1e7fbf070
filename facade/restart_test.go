package facade

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/facade/wire"
)

// An upstream that ends at every start is left alone longer and longer, and
// every answer meanwhile says why.
func TestDiesAtEveryStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: []string{tool("get_issue", "Get.", "")}}
		store := warmed(t, up)
		dead := true
		up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			if dead && m.Method == "initialize" {
				c.die("exit status 3: no licence")
				return nil, true
			}
			return nil, false
		}
		d := start(t, Options{Server: entry(t, `,"used":["get_issue"]`), Store: store, Version: "v"}, up)
		d.open()
		before := up.dials()
		began := time.Now()
		for range 600 {
			if got := text(d.call("1", "get_issue", "{}")); !strings.Contains(got, "no licence") {
				t.Fatalf("after %v the model was told %q; want the reason", time.Since(began), got)
			}
			time.Sleep(time.Second)
		}
		if n := up.dials() - before; n < 10 || n > 25 {
			t.Errorf("started %d times in 10 minutes of calls; want about 16: after 1, 2, 4 … 60 s", n)
		}
		d.call("1", "get_issue", "{}") // which may be the one that starts it again
		if got := text(d.call("1", "get_issue", "{}")); !strings.Contains(got, "times in a row") {
			t.Errorf("the model was told %q; want when it is started again", got)
		}
		dead = false
		time.Sleep(restartLimit)
		if got := d.call("2", "get_issue", "{}"); strings.Contains(got, "isError") {
			t.Errorf("the upstream is well again and the call was answered %s", got)
		}
	})
}

// An upstream that does its work and dies is started again at once.
func TestDiesAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: []string{tool("get_issue", "Get.", "")}}
		up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			if m.Params.Get("arguments.die").Bool() {
				c.die("exit status 3")
				return nil, true
			}
			return nil, false
		}
		d := start(t, Options{Server: entry(t, `,"used":["get_issue"]`)}, up)
		d.open()
		for range 5 {
			d.call("1", "get_issue", `{"die":true}`)
			if got := d.call("2", "get_issue", "{}"); strings.Contains(got, "isError") {
				t.Fatalf("the next call was answered %s; want a fresh upstream's answer", got)
			}
		}
	})
}

// Where the host follows something, a connection is opened again without a
// request, and less and less often where that does not help.
func TestRegains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: []string{tool("get_issue", "Get.", "")}}
		up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			if m.Method == "resources/subscribe" {
				return []string{string(wire.Response(m.ID.Raw, []byte("{}")))}, true
			}
			return nil, false
		}
		d := start(t, Options{}, up)
		d.open()
		d.ask("1", "resources/subscribe", `{"uri":"file:///a"}`)
		d.said()
		up.last().die("exit status 1")
		d.said()
		if n := len(up.received("resources/subscribe")); up.dials() != 2 || n != 2 {
			t.Fatalf("after its end: %d connections, %d times subscribed; want 2 and 2", up.dials(), n)
		}
		for range 600 {
			up.last().die("exit status 1")
			time.Sleep(time.Second)
		}
		if n := up.dials(); n < 10 || n > 25 {
			t.Errorf("opened %d connections in 10 minutes; want about 16", n)
		}
	})
}

// What has waited for a new connection waits until that has the last one's log
// level: upstreams take requests side by side.
func TestRestoresFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: []string{tool("get_issue", "Get.", "")}}
		slow := time.Duration(0)
		up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			if m.Method == "logging/setLevel" {
				time.AfterFunc(slow, func() { c.write(string(wire.Response(m.ID.Raw, []byte("{}")))) })
			}
			return nil, m.Method == "logging/setLevel"
		}
		d := start(t, Options{Server: entry(t, `,"used":["get_issue"]`)}, up)
		d.open()
		d.ask("1", "logging/setLevel", `{"level":"debug"}`)
		d.said()
		for _, test := range []struct{ slow, want time.Duration }{{time.Second, time.Second}, {time.Minute, restoreWait}} {
			up.last().die("exit status 1")
			d.said()
			slow = test.slow
			began := time.Now()
			d.call("2", "get_issue", "{}")
			if took := time.Since(began); took != test.want {
				t.Errorf("a level that takes %v holds a call up for %v; want %v", test.slow, took, test.want)
			}
		}
	})
}
