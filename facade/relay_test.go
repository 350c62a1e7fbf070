package facade

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

func issues() *fake {
	return &fake{tools: []string{tool("get_issue", "Get one.", ""), tool("list_issues", "List all.", "")}}
}

func TestBacklogKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		dial, open := gated(up)
		d := start(t, Options{Store: warmed(t, up), Version: "v", Dial: dial}, up)
		d.open()
		want := []string{
			line("", "notifications/vendor/a", ""),
			line("1", "vendor/b", ""),
			line("2", "tools/call", `{"name":"list_issues"}`),
			line("", "notifications/vendor/c", `[]`),
			line("3", "resources/read", `{"uri":"a"}`),
		}
		for _, frame := range want {
			d.send(frame)
		}
		d.send(line("4", "ping", ""))
		d.expect("a ping behind requests that wait", `{"jsonrpc":"2.0","id":4,"result":{}}`)
		close(open)
		d.said()
		if diff := cmp.Diff(want, heard(up)); diff != "" {
			t.Errorf("the upstream hears (-want +got):\n%s", diff)
		}
	})
}

func TestAtOnce(t *testing.T) {
	for _, state := range []string{"cold", "warm"} {
		t.Run("it keeps the order of a host that waits for nothing, "+state, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := issues()
				o := Options{Version: "v"}
				if state == "warm" {
					o.Store = warmed(t, up)
				}
				d := start(t, o, up)
				d.send(manners[0].opening[0])
				d.send(manners[0].opening[1])
				var want []string
				for i := range 20 {
					want = append(want,
						line(fmt.Sprint(10*i), "tools/call", `{"name":"not_listed"}`),
						line("", "notifications/vendor/a", ""),
						line(fmt.Sprint(10*i+1), "tools/call", `{"name":"list_issues"}`),
						line(fmt.Sprint(10*i+2), "vendor/b", ""))
				}
				for _, frame := range want {
					d.send(frame)
				}
				if got, want := len(d.said()), 1+60; got != want {
					t.Errorf("the host is told %d frames, want %d", got, want)
				}
				if diff := cmp.Diff(want, heard(up)); diff != "" {
					t.Errorf("the upstream hears (-want +got):\n%s", diff)
				}
				if d.facade.asking != 0 || d.facade.deciding != nil {
					t.Errorf("%d requests are asked, deciding %v", d.facade.asking, d.facade.deciding)
				}
			})
		})
	}
}

func TestBehindIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		dial, open := gated(up)
		d := start(t, Options{Dial: dial}, up)
		d.send(line("0", "tools/call", `{"name":"not_listed"}`))
		synctest.Wait()
		large := `["` + strings.Repeat("x", backlogLimit/2) + `"]`
		d.send(line("1", "vendor/a", large))
		d.send(line("2", "vendor/b", large))
		d.send(line("3", "ping", ""))
		told := d.said()
		if len(told) != 2 || !strings.Contains(told[0], "bytes wait") || gjson.Get(told[1], "id").Int() != 3 {
			t.Fatalf("of two frames that are too much, the host is told %.300q", told)
		}
		close(open)
		d.said()
		if got := len(up.received("vendor/a")); got != 1 {
			t.Errorf("the upstream has got vendor/a %d times, want 1", got)
		}
	})
}

func TestBacklogIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		dial, open := gated(up)
		d := start(t, Options{Store: warmed(t, up), Version: "v", Dial: dial}, up)
		d.open()
		large := `["` + strings.Repeat("x", backlogLimit/2) + `"]`
		d.send(line("1", "vendor/a", large))
		d.send(line("2", "vendor/b", large))
		told := d.said()
		if len(told) != 1 || gjson.Get(told[0], "id").Int() != 2 || !strings.Contains(told[0], "bytes wait") {
			t.Fatalf("of two frames that are too much, the host is told %.300q", told)
		}
		d.send(line("", "notifications/cancelled", `{"requestId":1}`))
		d.send(line("3", "vendor/c", large))
		d.expect("a frame that has the room of a cancelled one")
		close(open)
		d.said()
		if got := len(up.received("vendor/c")); got != 1 {
			t.Errorf("the upstream has got vendor/c %d times, want 1", got)
		}
	})
}

func TestCancel(t *testing.T) {
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
	for _, test := range []struct {
		name string
		run  func(t *testing.T, d *desk, up *fake, open chan struct{})
	}{
		{"forgets what waits for the dial", func(t *testing.T, d *desk, up *fake, open chan struct{}) {
			d.send(line("7", "vendor/slow", ""))
			d.send(cancel)
			synctest.Wait()
			close(open)
			d.expect("a request cancelled before the dial is done")
			if got := heard(up); got != nil {
				t.Errorf("the upstream hears %q, want nothing", got)
			}
		}},
		{"forgets a call that waits for the catalog", func(t *testing.T, d *desk, up *fake, open chan struct{}) {
			d.send(line("7", "tools/call", `{"name":"not_listed"}`))
			d.send(cancel)
			synctest.Wait()
			close(open)
			d.expect("a call cancelled before the catalog is confirmed")
			if got := heard(up); got != nil {
				t.Errorf("the upstream hears %q, want nothing", got)
			}
		}},
		{"reaches the upstream, and a late answer the host", func(t *testing.T, d *desk, up *fake, open chan struct{}) {
			close(open)
			d.send(line("7", "vendor/slow", ""))
			d.said()
			d.send(cancel)
			d.send(cancel)
			d.expect("a request cancelled")
			if diff := cmp.Diff([]string{line("7", "vendor/slow", ""), cancel, cancel}, heard(up)); diff != "" {
				t.Errorf("the upstream hears (-want +got):\n%s", diff)
			}
			up.last().write(`{"jsonrpc":"2.0","id":7,"result":1}`)
			up.last().write(`{"jsonrpc":"2.0","id":7,"result":2}`)
			d.expect("a late answer", `{"jsonrpc":"2.0","id":7,"result":1}`)
		}},
		{"does not overtake what is being sent", func(t *testing.T, d *desk, up *fake, open chan struct{}) {
			sending := make(chan struct{})
			up.answer = func(*fakeConn, wire.Message) ([]string, bool) { return nil, false }
			up.hold = map[string]chan struct{}{"vendor/slow": sending}
			d.send(line("7", "vendor/slow", ""))
			close(open)
			d.said()
			d.send(cancel)
			d.said()
			if got := heard(up); got != nil {
				t.Errorf("the upstream hears %q before the request is sent", got)
			}
			close(sending)
			d.said()
			if diff := cmp.Diff([]string{line("7", "vendor/slow", ""), cancel}, heard(up)); diff != "" {
				t.Errorf("the upstream hears (-want +got):\n%s", diff)
			}
		}},
		{"of an unknown id does not start the upstream", func(t *testing.T, d *desk, up *fake, open chan struct{}) {
			close(open)
			d.send(cancel)
			d.expect("a cancellation of nothing")
			if n := up.dials(); n != 0 {
				t.Errorf("the upstream was dialled %d times, want 0", n)
			}
		}},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := issues()
				up.answer = mute("vendor/slow")
				dial, open := gated(up)
				d := start(t, Options{Store: warmed(t, up), Version: "v", Dial: dial}, up)
				d.open()
				test.run(t, d, up, open)
			})
		})
	}
}

func TestCancelInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		dial, open := gated(up)
		d := start(t, Options{Dial: dial}, up)
		d.send(line("7", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`))
		d.send(line("", "notifications/cancelled", `{"requestId":7}`))
		d.expect("initialize, before the dial is done")
		close(open)
		if told := d.said(); len(told) != 1 || !gjson.Get(told[0], "result").Exists() {
			t.Errorf("a cancelled initialize is answered by %q; it cannot be cancelled", told)
		}
	})
}

func TestCancelledAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		up.answer = mute("vendor/slow")
		d := start(t, Options{}, up)
		d.open()
		for i := range 2 * maxWithdrawn {
			d.send(line(fmt.Sprint(i), "vendor/slow", ""))
			d.send(line("", "notifications/cancelled", fmt.Sprintf(`{"requestId":%d}`, i)))
			if i == maxWithdrawn/2 {
				d.said()
			}
		}
		d.said()
		d.facade.mu.Lock()
		defer d.facade.mu.Unlock()
		if n := len(d.facade.toUp); n > maxWithdrawn {
			t.Errorf("%d cancelled requests are remembered, want %d at most", n, maxWithdrawn)
		}
	})
}

func TestDuplicateIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		up.answer = mute("vendor/slow")
		d := start(t, Options{}, up)
		d.open()
		d.send(line("7", "vendor/slow", ""))
		d.send(line("7.0", "vendor/slow", ""))
		d.send(line("7", "ping", ""))
		d.expect("a ping with an id in use", `{"jsonrpc":"2.0","id":7,"result":{}}`)
		up.last().write(`{"jsonrpc":"2.0","id":7,"result":1}`)
		up.last().write(`{"jsonrpc":"2.0","id":7,"result":2}`)
		up.last().write(`{"jsonrpc":"2.0","id":7,"result":3}`)
		d.expect("three answers to two requests", `{"jsonrpc":"2.0","id":7,"result":1}`, `{"jsonrpc":"2.0","id":7,"result":2}`)
		if n := d.facade.asking; n != 0 {
			t.Errorf("%d requests are still counted as asked, want 0", n)
		}
	})
}

func TestDuplicateInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, Options{}, issues())
		const params = `{"protocolVersion":"2025-11-25","capabilities":{}}`
		d.send(line("1", "initialize", params))
		d.send(line("1", "initialize", params))
		d.send(line("2", "initialize", `{"protocolVersion":"2025-06-18","capabilities":{"roots":{}}}`))
		told := d.said()
		d.send(line("3", "initialize", `{"protocolVersion":"2024-11-05","capabilities":{"sampling":{}}}`))
		for _, frame := range append(told, d.said()...) {
			if !gjson.Get(frame, "result.serverInfo").Exists() {
				t.Errorf("initialize answered by %s", frame)
			}
		}
		if len(told) != 3 {
			t.Errorf("three openings got %d answers: %q", len(told), told)
		}
	})
}

func TestMalformed(t *testing.T) {
	for _, test := range []struct {
		name, frame string
		code        int
	}{ // the answer has the frame's own id where that is a good one
		{"is not JSON", `hello`, codeParse},
		{"is cut", `{"jsonrpc":"2.0","id":1,` + "\n" + line("9", "ping", ""), codeParse},
		{"is a batch", `[` + line("1", "ping", "") + `]`, codeInvalidRequest},
		{"has no version", `{"id":1,"method":"ping"}`, codeInvalidRequest},
		{"has another version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, codeInvalidRequest},
		{"has an object for an id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, codeInvalidRequest},
		{"has a null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, codeInvalidRequest},
		{"has two methods", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, codeInvalidRequest},
	} {
		t.Run("it refuses what "+test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := start(t, Options{}, issues())
				d.send(test.frame)
				told := d.said()
				id := "null"
				if test.code == codeInvalidRequest && gjson.Get(test.frame, "id").Raw == "1" {
					id = "1"
				}
				if len(told) == 0 || gjson.Get(told[0], "error.code").Int() != int64(test.code) || gjson.Get(told[0], "id").Raw != id {
					t.Errorf("%s is answered by %q, want error %d with id %s", test.frame, told, test.code, id)
				}
				d.send(line("8", "ping", ""))
				d.expect("a ping after "+test.frame, `{"jsonrpc":"2.0","id":8,"result":{}}`)
			})
		})
	}
}

func TestNotificationWakes(t *testing.T) {
	for method, want := range map[string]int{
		"notifications/vendor/x":           1,
		"notifications/roots/list_changed": 0,
		"notifications/progress":           0,
	} {
		t.Run(fmt.Sprintf("it dials %d times for %s", want, method), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := issues()
				d := start(t, Options{Store: warmed(t, up), Version: "v"}, up)
				d.open()
				d.send(line("", method, `{"progressToken":1}`))
				d.said()
				if got := up.dials(); got != want {
					t.Errorf("%s dialled the upstream %d times, want %d", method, got, want)
				}
				if got := len(up.received(method)); got != want {
					t.Errorf("the upstream has got %s %d times, want %d", method, got, want)
				}
			})
		})
	}
}

func TestUpstreamAsksEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			if m.Method != "notifications/initialized" {
				return nil, false
			}
			return []string{
				line("1", "roots/list", ""),
				line("2", "sampling/createMessage", "{}"),
				line("", "notifications/cancelled", `{"requestId":2}`),
				line("", "notifications/message", "{}"),
				line("3", "vendor/x", ""),
			}, true
		}
		d := start(t, Options{}, up)
		d.send(line("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`))
		if told := d.said(); len(told) != 2 || told[1] != line("", "notifications/message", "{}") {
			t.Errorf("before it is initialized the host is told %q", told)
		}
		d.send(line("", "notifications/initialized", ""))
		d.expect("initialized", line("1", "roots/list", ""), line("3", "vendor/x", ""))
		d.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		d.send(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		d.said()
		if diff := cmp.Diff([]string{`{"jsonrpc":"2.0","id":1,"result":{}}`}, heard(up)); diff != "" {
			t.Errorf("the upstream hears (-want +got):\n%s", diff)
		}
	})
}

func TestInitializedIsTheHosts(t *testing.T) {
	const theirs = `{ "method":"notifications/initialized","jsonrpc":"2.0","x":1.0}`
	for name, sent := range map[string]string{"as the host wrote it": theirs, "of our own where the host has none": ""} {
		t.Run("it is sent "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := issues()
				d := start(t, Options{}, up)
				d.ask("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`)
				want := line("", "notifications/initialized", "")
				if sent != "" {
					d.send(sent)
					want = sent
				}
				d.names()
				if got := up.received("notifications/initialized"); !slices.Equal(got, []string{want}) {
					t.Errorf("the upstream hears %q, want %q", got, want)
				}
			})
		})
	}
}

func TestSetLevelDoesNotWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		d := start(t, Options{Store: warmed(t, up), Version: "v"}, up)
		d.open()
		d.send(line("1", "logging/setLevel", `{"level":"debug"}`))
		d.expect("setLevel to a cold upstream", `{"jsonrpc":"2.0","id":1,"result":{}}`)
		if n := up.dials(); n != 0 {
			t.Fatalf("it dialled the upstream %d times", n)
		}
		d.send(line("2", "vendor/x", ""))
		d.said()
		d.send(line("3", "logging/setLevel", `{"level":"error"}`))
		d.said()
		var levels []string
		for _, frame := range up.received("logging/setLevel") {
			levels = append(levels, gjson.Get(frame, "params.level").Str)
		}
		if !slices.Equal(levels, []string{"debug", "error"}) {
			t.Errorf("the upstream was given the levels %q", levels)
		}
	})
}

func TestHostThatSkipsInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, Options{}, issues())
		if got := d.names(); len(got) == 0 {
			t.Error("tools/list shows nothing")
		}
		if got := d.open(); gjson.Get(got, "serverInfo.name").Str != "Acme Server" {
			t.Errorf("initialize on an open connection is answered by %s", got)
		}
		time.Sleep(time.Minute)
	})
}

var _ upstream.Conn = (*fakeConn)(nil)
