package facade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// What an upstream says of a token.
const (
	deniedError  = `{"code":-32001,"message":"Unauthorized: token expired"}`
	deniedResult = `{"content":[{"type":"text","text":"401 Unauthorized: token expired"}],"isError":true}`
)

// A vault is where the tokens of a fake come from: each is a number. The fake
// accepts those from good on.
type vault struct {
	token, good, asked atomic.Int64
	fails              error
	takes              time.Duration
}

func (v *vault) renew(ctx context.Context) error {
	v.asked.Add(1)
	time.Sleep(v.takes)
	if v.fails == nil {
		v.token.Add(1)
	}
	return v.fails
}

// denying is a fake with a reader and a writer that answers every call by raw,
// an error or a result, until it accepts the token.
func denying(v *vault, raw string) *fake {
	up := &fake{tools: []string{
		`{"name":"get","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`,
		`{"name":"set","inputSchema":{"type":"object"}}`,
	}}
	up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
		if m.Method != "tools/call" || v.token.Load() >= v.good.Load() {
			return nil, false
		}
		member := "error"
		if strings.Contains(raw, "content") {
			member = "result"
		}
		return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%q:%s}`, m.ID.Raw, member, raw)}, true
	}
	return up
}

// renewing is a desk before a fake whose tokens come from a vault, over HTTP or
// from a process.
func renewing(t *testing.T, v *vault, up *fake, http bool, keys string) *desk {
	t.Helper()
	s := entry(t, keys)
	if http {
		s.Upstream.Command, s.Upstream.URL = "", "https://mcp.acme.example/v1"
	}
	d := start(t, Options{Server: s, Renew: v.renew, Remedy: "log in"}, up)
	d.open()
	d.said()
	return d
}

// TestDenied: which answers are asked for again with another token, and what
// becomes of them. A result never is, unless the config and the tool allow it.
func TestDenied(t *testing.T) {
	const resend = `,"retryResults":true`
	tests := []struct {
		name, raw, keys, tool string
		sent                  int // how often the upstream gets the call
	}{
		{"an error of a reader", deniedError, "", "get", 2},
		{"an error of a writer, which has not been run", deniedError, "", "set", 2},
		{"an error of another kind", `{"code":-32602,"message":"Invalid page token"}`, "", "get", 1},
		{"a result of a reader", deniedResult, "", "get", 1},
		{"a result of a writer", deniedResult, "", "set", 1},
		{"a result of a reader, if allowed", deniedResult, resend, "get", 2},
		{"a result of a writer, even if allowed", deniedResult, resend, "set", 1},
		{"a result of what the config calls a reader", deniedResult, resend + `,"readOnly":["set"]`, "set", 2},
		{"a result of what the config calls destructive", deniedResult, resend + `,"destructive":["get"]`, "get", 1},
		{"a result of a tool that is in no list", deniedResult, resend, "other", 1},
		{"a result that has the word in it", `{"content":[{"type":"text","text":"The offer for order 7 has expired. Token of thanks sent."}],"isError":true}`, resend, "get", 1},
		{"a result that is no error", `{"content":[{"type":"text","text":"401 Unauthorized: token expired"}]}`, resend, "get", 1},
	}
	for _, tt := range tests {
		for _, http := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, http %v", tt.name, http), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					v := &vault{takes: time.Second}
					up := denying(v, tt.raw)
					d := renewing(t, v, up, http, `,"surface":"all"`+tt.keys)
					v.good.Store(1)
					got, _ := d.ask("7", "tools/call", `{"name":"`+tt.tool+`","arguments":{"a":1}}`)
					d.expect("the answer")
					frames := up.received("tools/call")
					if len(frames) != tt.sent || !slices.Equal(frames, slices.Repeat(frames[:1], tt.sent)) {
						t.Errorf("the upstream got %d calls, want %d of the same bytes: %q", len(frames), tt.sent, frames)
					}
					dials := 1
					if tt.sent == 2 && !http {
						dials = 2
					}
					if int(v.asked.Load()) != tt.sent-1 || up.dials() != dials {
						t.Errorf("%d tokens and %d dials, want %d and %d", v.asked.Load(), up.dials(), tt.sent-1, dials)
					}
					if fine := strings.Contains(got, `\"a\":1`); fine != (tt.sent == 2) {
						t.Errorf("the host was told %s", got)
					}
					if tt.sent == 1 && !strings.Contains(got, tt.raw) {
						t.Errorf("the host was told %s, want %s as it was", got, tt.raw)
					}
				})
			})
		}
	}
}

// TestDeniedAgain: what the host is told when there is no other token, or that
// is denied too, and that the upstream is not believed for a while then.
func TestDeniedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &vault{}
		v.good.Store(9)
		d := renewing(t, v, denying(v, deniedError), true, "")
		const say = `{"jsonrpc":"2.0","id":%d,"error":{"code":-32001,"message":"Unauthorized: token expired (mcp-facade: %s)"}}`
		for i, step := range []struct {
			when  string
			fails error
			wait  time.Duration
			want  string
			asked int64
		}{
			{"no other token", errors.New("no refresh token of hunter22"), 0, "renew the authorization: no refresh token of [redacted]; try: log in", 1},
			{"another token that is denied too", nil, 0, "try: log in", 2},
			{"soon after that", nil, renewPause / 2, "try: log in", 2},
			{"later", nil, renewPause, "try: log in", 3},
		} {
			v.fails = step.fails
			time.Sleep(step.wait)
			got, _ := d.ask(fmt.Sprint(i), "tools/call", `{"name":"set"}`)
			if want := fmt.Sprintf(say, i, step.want); got != want || v.asked.Load() != step.asked {
				t.Errorf("%s: the host was told\n%s\nwant\n%s\nand %d tokens were asked for, want %d", step.when, got, want, v.asked.Load(), step.asked)
			}
		}
	})
}

// TestDeniedAtOnce: of many calls that are denied at once, one gets the token,
// and each is sent once more.
func TestDeniedAtOnce(t *testing.T) {
	for _, http := range []bool{true, false} {
		t.Run(fmt.Sprintf("http %v", http), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const calls = 50
				v := &vault{takes: time.Second}
				up := denying(v, deniedError)
				d := renewing(t, v, up, http, "")
				v.good.Store(1)
				for i := range calls {
					d.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"set","arguments":{"n":%d}}}`, i, i))
					time.Sleep(time.Second / calls * 2) // the last ones are denied after the renewal
				}
				answers := map[string]bool{}
				for _, frame := range d.said() {
					if !gjson.Get(frame, "result").Exists() {
						t.Errorf("the host was told %s", frame)
					}
					answers[gjson.Get(frame, "id").Raw] = true
				}
				if len(answers) != calls || v.asked.Load() != 1 {
					t.Errorf("%d answers with %d renewals, want %d and 1", len(answers), v.asked.Load(), calls)
				}
			})
		})
	}
}

// TestDeniedProcess: a process with an old token gives the answers that it owes
// before it is ended.
func TestDeniedProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &vault{}
		up := denying(v, deniedError)
		deny := up.answer
		up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			if m.Params.Get("arguments.slow").Bool() {
				return nil, true
			}
			return deny(c, m)
		}
		d := renewing(t, v, up, false, "")
		old := up.last()
		d.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"set","arguments":{"slow":true}}}`)
		d.said()
		v.good.Store(1)
		if got := d.call("2", "set", "{}"); !strings.Contains(got, "content") || up.dials() != 2 {
			t.Errorf("the call came to %s with %d processes, want an answer of the second", got, up.dials())
		}
		d.expect("the answer")
		select {
		case <-old.end:
			t.Fatal("the first process was ended while it owed an answer")
		default:
		}
		old.write(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
		d.expect("its answer", `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
		select {
		case <-old.end:
		default:
			t.Error("the first process is still there")
		}
	})
}

// TestDeniedWhile: what the host does while another token is got.
func TestDeniedWhile(t *testing.T) {
	tests := []struct {
		name string
		do   func(d *desk)
		sent int
		want []string
	}{
		{"cancels the call", func(d *desk) {
			d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		}, 1, nil},
		{"goes on", func(d *desk) { d.send(`{"jsonrpc":"2.0","id":8,"method":"ping"}`) }, 2,
			[]string{`{"jsonrpc":"2.0","id":8,"result":{}}`}},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &vault{takes: time.Minute}
				up := denying(v, deniedError)
				d := renewing(t, v, up, true, "")
				v.good.Store(1)
				d.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"set"}}`)
				d.expect("the call")
				tt.do(d)
				d.expect("what it did", tt.want...)
				time.Sleep(2 * time.Minute)
				if got := d.said(); len(got) != tt.sent-1 {
					t.Errorf("after the renewal the host was told %q", got)
				}
				if got := len(up.received("tools/call")); got != tt.sent {
					t.Errorf("the upstream got the call %d times, want %d", got, tt.sent)
				}
			})
		})
	}
}

// TestDeniedOwn: a request of our own is sent again too; a process is started
// anew at the next one.
func TestDeniedOwn(t *testing.T) {
	for _, http := range []bool{true, false} {
		for _, method := range []string{"initialize", "tools/list"} {
			t.Run(fmt.Sprintf("%s, http %v", method, http), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					v := &vault{}
					v.good.Store(1)
					up := denying(v, deniedError)
					up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
						if m.Method != method || v.token.Load() >= v.good.Load() {
							return nil, false
						}
						return []string{`{"jsonrpc":"2.0","id":` + m.ID.Raw + `,"error":` + deniedError + `}`}, true
					}
					d := renewing(t, v, up, http, `,"surface":"all"`)
					list := func() int {
						r, _ := d.ask("7", "tools/list", "{}")
						return len(gjson.Get(r, "result.tools").Array())
					}
					if n := list(); n != 2 || v.asked.Load() != 1 {
						t.Errorf("%d tools after %d renewals, want 2 after one", n, v.asked.Load())
					}
				})
			})
		}
	}
}
