package facade

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"
)

// A call that is refused again and again is explained at length, and then the
// model is told to stop.
func TestRepeats(t *testing.T) {
	const wrong = `{"tool":"get_issue","args":{"nr":"A-1"}}`
	run := func(t *testing.T, config string, test func(d *desk, call func(name, args string) string)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			up := &fake{tools: append(shop(), annotated("drop", destructive, ""))}
			d := start(t, Options{Server: entry(t, `,"used":[]`+config)}, up)
			d.openAsking()
			d.names()
			d.said()
			test(d, func(name, args string) string { return text(d.call("1", name, args)) })
		})
	}
	const (
		short = "get_issue was not called: \"id\" is missing; \"nr\" is no parameter.\nSignature: get_issue(id: string, depth?: integer) — Get one issue.\n" +
			"Corrected example for call:\n{\"tool\":\"get_issue\",\"args\":{\"id\":\"A-1\"}}\nNo result was obtained; do not answer from memory."
		stopped = "Stop. This has been refused %d times for the same reason: get_issue was not called: \"id\" is missing; \"nr\" is no parameter. " +
			"Do not call it again: report to the user what you tried and why it was refused. No result was obtained; do not answer from memory."
	)
	t.Run("at length the third time, an order to stop from the sixth", func(t *testing.T) {
		run(t, "", func(_ *desk, call func(name, args string) string) {
			for n := 1; n <= 8; n++ {
				want := short
				switch got := call("call", wrong); {
				case n == 3:
					want = strings.Replace(short, "Signature: get_issue(id: string, depth?: integer) — Get one issue.",
						"All about it:\n"+shop()[0], 1)
					fallthrough
				case n < 6:
					if got != want {
						t.Errorf("the model is told the %d. time\n%s\nwant\n%s", n, got, want)
					}
				case got != fmt.Sprintf(stopped, n):
					t.Errorf("the model is told the %d. time\n%s\nwant\n%s", n, got, fmt.Sprintf(stopped, n))
				}
			}
		})
	})
	t.Run("whatever else is wrong", func(t *testing.T) {
		run(t, "", func(_ *desk, call func(name, args string) string) {
			got := ""
			for n := range 6 {
				got = call("call", fmt.Sprintf(`{"tool":"get_issue","args":{"nr%d":"A-1"}}`, n))
			}
			if !strings.HasPrefix(got, "Stop. ") {
				t.Errorf("the sixth time the model is told %s", got)
			}
		})
	})
	t.Run("not of another tool, or for another reason", func(t *testing.T) {
		run(t, "", func(_ *desk, call func(name, args string) string) {
			for range 2 {
				call("call", wrong)
			}
			for _, args := range []string{`{"tool":"set_state","args":{"id":"x"}}`, `{"tool":"weather","args":{}}`, `{}`} {
				if got := call("call", args); strings.Contains(got, "All about it") || strings.Contains(got, "Stop") {
					t.Errorf("to %s the model is told %s", args, got)
				}
			}
		})
	})
	t.Run("of a tool that does not exist too", func(t *testing.T) {
		run(t, "", func(_ *desk, call func(name, args string) string) {
			got := ""
			for range 6 {
				got = call("call", `{"tool":"weather","args":{}}`)
			}
			if !strings.HasPrefix(got, `Stop. This has been refused 6 times for the same reason: Tool "weather" is not in acme's catalog. `) {
				t.Errorf("the sixth time the model is told %s", got)
			}
		})
	})
	t.Run("forgotten after a success", func(t *testing.T) {
		run(t, "", func(_ *desk, call func(name, args string) string) {
			for range 5 {
				call("call", wrong)
			}
			call("call", `{"tool":"get_issue","args":{"id":"A-1"}}`)
			if got := call("call", wrong); got != short {
				t.Errorf("after a success the model is told %s", got)
			}
		})
	})
	t.Run("forgotten after a while", func(t *testing.T) {
		run(t, "", func(d *desk, call func(name, args string) string) {
			for range 5 {
				call("call", wrong)
			}
			time.Sleep(5*time.Minute + time.Second)
			if got := call("call", wrong); got != short {
				t.Errorf("after 5 minutes the model is told %s", got)
			}
			for n := range 2 * maxRepeats {
				call("call", fmt.Sprintf(`{"tool":"weather%d","args":{}}`, n))
			}
			if n := len(d.facade.repeats); n > maxRepeats {
				t.Errorf("%d refusals are remembered", n)
			}
		})
	})
	t.Run("never if it is off", func(t *testing.T) {
		run(t, `,"repeatLimit":0`, func(_ *desk, call func(name, args string) string) {
			for range 10 {
				if got := call("call", wrong); got != short {
					t.Errorf("the model is told %s", got)
				}
			}
		})
	})
	t.Run("of what the user declines", func(t *testing.T) {
		run(t, `,"confirm":"writes"`, func(d *desk, _ func(name, args string) string) {
			got := ""
			for range 6 {
				d.send(toolCall("7", "call", `{"tool":"drop","args":{}}`))
				id, _ := d.consultation("a call")
				d.says(id, "decline")
				got = text(gjson.Get(d.next(), "result").Raw)
			}
			if !strings.HasPrefix(got, "Stop. This has been refused 6 times for the same reason: drop was not run: the user was asked and declined.") {
				t.Errorf("the sixth time the model is told %s", got)
			}
			d.send(toolCall("7", "call", `{"tool":"drop","args":{"x":1}}`))
			id, _ := d.consultation("a call with other arguments")
			d.says(id, "decline")
			d.said()
			if got := text(d.call("8", "call", `{"tool":"drop","args":{}}`)); !strings.HasPrefix(got, "Stop. This has been refused 7 times") {
				t.Errorf("the seventh time the model is told %s; want the user not to be asked", got)
			}
			time.Sleep(repeatWindow + time.Second)
			d.send(toolCall("9", "call", `{"tool":"drop","args":{}}`))
			d.consultation("a call after a while")
		})
	})
}

// Another round of a call is no other call.
func TestRoundsAreNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRounds(t, `,"hide":["delete_*"]`, guardKey)
		for range 10 {
			if got := r.round("delete_issue", "{}", `,"requestState":"x"`); strings.Contains(got.Raw, "Stop") {
				t.Errorf("the model is told %s", got.Raw)
			}
		}
		r = startRounds(t, "", guardKey)
		got := gjson.Result{}
		for range 6 {
			asked := r.round("delete_issue", "{}", "")
			got = r.round("delete_issue", "{}", answering(asked.Get("requestState"), `{"mcpf_confirm":{"action":"decline"}}`))
		}
		if !strings.HasPrefix(text(got.Raw), "Stop. ") {
			t.Errorf("after six times that the user has declined the model is told %s", got.Raw)
		}
		if got = r.round("delete_issue", "{}", ""); !strings.HasPrefix(text(got.Raw), "Stop. ") {
			t.Errorf("the seventh time the host is told %s; want the user not to be asked", got.Raw)
		}
	})
}
