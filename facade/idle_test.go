package facade

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/facade/wire"
)

func TestIdle(t *testing.T) {
	ok := func(m wire.Message) []string { return []string{string(wire.Response(m.ID.Raw, []byte("{}")))} }
	for _, test := range []struct {
		name   string
		before func(d *desk)
		ends   bool
	}{
		{"ends when nobody needs it", func(*desk) {}, true},
		{"stays while a call is under way", func(d *desk) {
			d.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_issue","arguments":{"hang":true}}}`)
		}, false},
		{"stays while the host follows a resource", func(d *desk) { d.ask("7", "resources/subscribe", `{"uri":"file:///a"}`) }, false},
		{"stays after it has made a task", func(d *desk) { d.call("7", "get_issue", `{"task":true}`) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := &fake{tools: []string{tool("get_issue", "Get.", "")}}
				up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
					switch {
					case m.Params.Get("arguments.hang").Bool():
						return nil, true
					case m.Params.Get("arguments.task").Bool():
						return []string{string(wire.Response(m.ID.Raw, []byte(`{"task":{"taskId":"t1","status":"working"}}`)))}, true
					case m.Method == "resources/subscribe":
						return ok(m), true
					}
					return nil, false
				}
				d := start(t, Options{Server: entry(t, `,"used":["get_issue"],"idleTimeout":"5m"`)}, up)
				d.open()
				d.said()
				time.Sleep(4 * time.Minute)
				d.call("1", "get_issue", "{}") // which counts from now on
				test.before(d)
				time.Sleep(4 * time.Minute)
				d.expect("4 minutes")
				select {
				case <-up.last().end:
					t.Fatal("ended 4 minutes after a call")
				default:
				}
				time.Sleep(2 * time.Minute)
				ended := false
				select {
				case <-up.last().end:
					ended = true
				default:
				}
				if ended != test.ends {
					t.Errorf("ended after 6 minutes: %v; want %v", ended, test.ends)
				}
				if !ended {
					return
				}
				d.expect("its end")
				if got := d.call("2", "get_issue", "{}"); strings.Contains(got, "isError") || up.dials() != 2 {
					t.Errorf("the next call was answered %s by connection %d; want the second one's answer", got, up.dials())
				}
			})
		})
	}
}
