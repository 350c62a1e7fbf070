package facade

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// callTimeout ends a call that does not move, tells the upstream and swallows
// what it still says.
func TestCallTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: []string{tool("get_issue", "Get.", "")}}
		up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) { return nil, m.Method == "tools/call" }
		d := start(t, Options{Server: entry(t, `,"used":["get_issue"],"callTimeout":"30s"`)}, up)
		d.open()
		d.said()
		began := time.Now()
		got := text(d.call("7", "get_issue", "{}"))
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("answered after %v; want 30s", took)
		}
		if !strings.Contains(got, "no answer in 30s") || !strings.Contains(got, `"callTimeout"`) || !strings.Contains(got, "may have been carried out") {
			t.Errorf("the model was told %q; want what, how to change it, and that it may have been done", got)
		}
		d.said()
		if c := up.received("notifications/cancelled"); len(c) != 1 || gjson.Get(c[0], "params.requestId").Raw != "7" {
			t.Errorf("the upstream was told %q; want one cancellation of 7", c)
		}
		up.last().write(`{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)
		d.expect("the late answer")
	})
}

// Progress of a call, and a question to the host, extend its time; another
// call's do not.
func TestCallTimeoutExtended(t *testing.T) {
	for _, test := range []struct {
		name string
		says string
		want time.Duration
	}{
		{"by its own progress", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`, 50 * time.Second},
		{"not by that of another", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"q","progress":1}}`, 30 * time.Second},
		{"by a question", `{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{}}`, 70 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := &fake{tools: []string{tool("get_issue", "Get.", "")}}
				up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
					if m.Method == "tools/call" {
						time.AfterFunc(20*time.Second, func() { c.write(test.says) })
					}
					return nil, m.Method == "tools/call"
				}
				d := start(t, Options{Server: entry(t, `,"used":["get_issue"],"callTimeout":"30s"`)}, up)
				d.open()
				d.said()
				began := time.Now()
				d.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_issue","arguments":{},"_meta":{"progressToken":"p"}}}`)
				if frame := d.next(); test.want != 30*time.Second && frame != test.says {
					t.Fatalf("the host was told %s; want %s", frame, test.says)
				} else if strings.Contains(test.says, "elicitation") {
					time.Sleep(20 * time.Second)
					d.send(`{"jsonrpc":"2.0","id":"q1","result":{"action":"accept"}}`)
				}
				for frame := ""; gjson.Get(frame, "id").Raw != "7" && time.Since(began) < test.want; {
					frame = d.next()
				}
				if took := time.Since(began); took != test.want {
					t.Errorf("answered after %v; want %v", took, test.want)
				}
			})
		})
	}
}
