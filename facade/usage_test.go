package facade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/facade/ledger"
	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// private stands in every argument, result, query and error of these tests.
const private = "s3cr3t"

// A used is what is done with a facade that has a ledger, and what that has in
// the end: for each call how, which tool, what came of it and what was found.
type used struct {
	name   string
	config string
	answer func(c *fakeConn, m wire.Message) ([]string, bool)
	o      Options
	open   func(d *desk) // nil: the legacy handshake
	talk   func(d *desk)
	want   []string
}

func (u used) run(t *testing.T) []ledger.Record {
	t.Helper()
	path := ledger.Path(filepath.Join(t.TempDir(), "ledger"), "acme")
	synctest.Test(t, func(t *testing.T) {
		up := mixed()
		up.answer = u.answer
		o := u.o
		o.Ledger, o.Server = ledger.Open(path, nil), entry(t, `,"used":["*"]`+u.config)
		d := start(t, o, up)
		if u.open == nil {
			u.open = func(d *desk) { d.open() }
		}
		u.open(d)
		u.talk(d)
		d.close()
	})
	written, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if strings.Contains(string(written), private) {
		t.Errorf("the ledger has what nobody else may know:\n%s", written)
	}
	records, unread, err := ledger.Read(path)
	if err != nil || unread > 0 {
		t.Fatalf("read the ledger: %d lines not read, %v", unread, err)
	}
	return records
}

// inShort is a record as a line of a test.
func inShort(r ledger.Record) string {
	return strings.TrimSpace(fmt.Sprint(r.Via, " ", r.Tool, " ", r.Outcome, " ", strings.Join(r.Found, ",")))
}

// secretArgs are arguments of a tool of mixed.
const secretArgs = `{"id":"` + private + `"}`

// answers answers tools/call by a raw member of a response.
func answers(raw string) func(*fakeConn, wire.Message) ([]string, bool) {
	return func(_ *fakeConn, m wire.Message) ([]string, bool) {
		return []string{`{"jsonrpc":"2.0","id":` + m.ID.Raw + `,` + raw + `}`}, m.Method == "tools/call"
	}
}

// asks sends a tools/call and takes no answer.
func asks(d *desk, id, name, args string) {
	d.send(line(id, "tools/call", `{"name":"`+name+`","arguments":`+args+`}`))
	d.said()
}

func cancels(d *desk, id string) {
	d.send(line("", "notifications/cancelled", `{"requestId":`+id+`,"reason":"`+private+`"}`))
	d.said()
}

func TestWhatTheLedgerHas(t *testing.T) {
	oneCall := func(name, args string) func(*desk) {
		return func(d *desk) { d.call("1", name, args) }
	}
	viaCall := func(tool string) func(*desk) {
		return oneCall("call", `{"tool":"`+tool+`","args":`+secretArgs+`}`)
	}
	tests := []used{
		{name: "a call by the tool's own name", talk: oneCall("GET_ISSUE", secretArgs), want: []string{"surface get_issue ok"}},
		{name: "a call by the meta-tool", talk: viaCall("Get-Issue"), want: []string{"call get_issue ok"}},
		{name: "a call by call_write", config: `,"split":true`, talk: oneCall("call_write", `{"tool":"create_issue","args":`+secretArgs+`}`), want: []string{"call create_issue ok"}},
		{name: "a result that is an error", answer: answers(`"result":{"content":[{"type":"text","text":"` + private + `"}],"isError":true}`),
			talk: viaCall("get_issue"), want: []string{"call get_issue error"}},
		{name: "a result that is no error at its end", answer: answers(`"result":{"content":[{"type":"text","text":"\"isError\":true}"}], "isError" : false }`),
			talk: oneCall("get_issue", secretArgs), want: []string{"surface get_issue ok"}},
		{name: "a result that is an error at its start", answer: answers(`"result":{"isError":true,"content":[],"x":{"a":1,"isError":false}}`),
			talk: oneCall("get_issue", secretArgs), want: []string{"surface get_issue error"}},
		{name: "an error of the upstream", answer: answers(`"error":{"code":-32000,"message":"` + private + `"}`),
			talk: oneCall("get_issue", secretArgs), want: []string{"surface get_issue error"}},
		{name: "an unlisted tool that is forwarded", talk: oneCall(private, secretArgs), want: []string{"surface  ok"}},
		{name: "an unlisted tool that the upstream refuses", answer: answers(`"error":{"code":-32602,"message":"no ` + private + `"}`),
			talk: oneCall("get_"+private, secretArgs), want: []string{"surface  error"}},
		{name: "a tool that there is not", talk: oneCall("call", `{"tool":"`+private+`","args":{}}`), want: []string{"call  refused"}},
		{name: "a call without what it needs", answer: func(_ *fakeConn, m wire.Message) ([]string, bool) {
			return []string{`{"jsonrpc":"2.0","id":` + m.ID.Raw + `,"result":{"tools":[{"name":"get_issue","inputSchema":{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"]}}]}}`}, m.Method == "tools/list"
		}, talk: oneCall("call", `{"tool":"get-issue","args":{"x":"`+private+`"}}`), want: []string{"call get_issue refused"}},
		{name: "no tool", talk: oneCall("call", `{"id":"`+private+`"}`), want: []string{"call  refused"}},
		{name: "what the guard refuses", config: `,"split":true`, talk: viaCall("create_issue"), want: []string{"call create_issue refused"}},
		{name: "a hidden tool", config: `,"hide":["delete_issue"]`, talk: oneCall("delete_issue", secretArgs), want: []string{"surface  refused"}},
		{name: "a name that is none", talk: func(d *desk) { d.ask("1", "tools/call", `{"name":["`+private+`"]}`) }, want: []string{"surface  refused"}},
		{name: "a search", talk: func(d *desk) {
			d.call("1", "discover", `{"query":"get an issue `+private+`"}`)
			d.call("2", "discover", `{"query":"delete_issue"}`)
			d.call("3", "discover", `{}`)
		}, want: []string{"discover  ok get_issue", "discover  ok delete_issue", "discover  ok"}},
		{name: "searches that go on", config: `,"searchLimit":1`, talk: func(d *desk) {
			d.call("1", "discover", `{"query":"delete_issue"}`)
			d.call("2", "discover", `{"query":"delete_issue"}`)
		}, want: []string{"discover  ok delete_issue", "discover  refused delete_issue"}},
		{name: "a description", talk: func(d *desk) {
			d.call("1", "describe", `{"tool":"get_issue"}`)
			d.call("2", "describe", `{"tool":"`+private+`"}`)
		}, want: []string{"describe  ok", "describe  refused"}},
		{name: "a call that the host cancels", answer: mute("tools/call"), talk: func(d *desk) {
			asks(d, "1", "get_issue", secretArgs)
			cancels(d, "1")
		}, want: []string{"surface get_issue cancelled"}},
		{name: "a cancelled call that is answered", answer: mute("tools/call"), talk: func(d *desk) {
			asks(d, "1", "get_issue", secretArgs)
			cancels(d, "1")
			cancels(d, "1")
			lastConn(d).write(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
			d.said()
		}, want: []string{"surface get_issue cancelled"}},
		{name: "a call that is cancelled while the user is asked", config: `,"confirm":"writes"`, open: (*desk).openAsking, talk: func(d *desk) {
			asks(d, "1", "create_issue", secretArgs)
			cancels(d, "1")
		}, want: []string{"surface create_issue cancelled"}},
		{name: "a call that the user declines", config: `,"confirm":"writes"`, open: (*desk).openAsking, talk: func(d *desk) {
			d.send(line("1", "tools/call", `{"name":"create_issue","arguments":`+secretArgs+`}`))
			id, _ := d.consultation("a call")
			d.says(id, "decline")
			d.said()
		}, want: []string{"surface create_issue refused"}},
		{name: "a call that the user agrees to", config: `,"confirm":"writes"`, open: (*desk).openAsking, talk: func(d *desk) {
			d.send(line("1", "tools/call", `{"name":"create_issue","arguments":`+secretArgs+`}`))
			id, _ := d.consultation("a call")
			d.says(id, "accept")
			d.said()
		}, want: []string{"surface create_issue ok"}},
		{name: "a call that nobody can agree to", config: `,"confirm":"writes"`, talk: viaCall("create_issue"), want: []string{"call create_issue refused"}},
		{name: "a call whose upstream ends", answer: mute("tools/call"), talk: func(d *desk) {
			asks(d, "1", "get_issue", secretArgs)
			lastConn(d).die(private)
			d.said()
		}, want: []string{"surface get_issue lost"}},
		{name: "a call that takes too long", config: `,"callTimeout":"5s"`, answer: mute("tools/call"), talk: func(d *desk) {
			d.call("1", "get_issue", secretArgs)
			lastConn(d).write(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
			d.said()
		}, want: []string{"surface get_issue lost"}},
		{name: "a call that is under way when the host goes", answer: mute("tools/call"), talk: func(d *desk) {
			asks(d, "1", "get_issue", secretArgs)
		}, want: []string{"surface get_issue lost"}},
		{name: "members of a batch", open: func(d *desk) {
			d.ask("0", "initialize", `{"protocolVersion":"2025-03-26","capabilities":{}}`)
			d.send(line("", "notifications/initialized", ""))
		}, talk: func(d *desk) {
			d.send(`[` + line("1", "tools/call", `{"name":"get_issue","arguments":`+secretArgs+`}`) + `,` + line("2", "tools/call", `{"name":"get_issue","arguments":{}}`) + `,` + line("3", "ping", "") + `]`)
			d.said()
		}, want: []string{"surface get_issue ok", "surface get_issue ok"}},
		{name: "two calls with the same id", talk: func(d *desk) {
			asks(d, `"`+private+`"`, "get_issue", "{}")
			asks(d, `"`+private+`"`, "create_issue", "{}")
		}, want: []string{"surface get_issue ok", "surface create_issue ok"}},
		{name: "nothing else", talk: func(d *desk) {
			d.ask("1", "prompts/list", "{}")
			d.ask("2", "ping", "{}")
			d.ask("3", "nonsense", "{}")
			d.send(line("", "tools/call", `{"name":"get_issue"}`))
			d.said()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, r := range tt.run(t) {
				got = append(got, inShort(r))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("the ledger has (-want +got):\n%s", diff)
			}
		})
	}
}

// lastConn is the connection of a facade that is in use.
func lastConn(d *desk) *fakeConn {
	d.facade.mu.Lock()
	defer d.facade.mu.Unlock()
	return d.facade.link.conn.(*fakeConn)
}

func TestALostCallOfAnUpstreamThatCannotBeReached(t *testing.T) {
	u := used{o: Options{Dial: (&fake{dialError: errors.New("no such program " + private)}).dial}, talk: func(d *desk) {
		d.call("1", "get_issue", secretArgs)
		d.call("2", "discover", `{"query":"x"}`)
	}}
	u.open = func(*desk) {}
	var got []string
	for _, r := range u.run(t) {
		got = append(got, inShort(r))
	}
	if diff := cmp.Diff([]string{"surface  lost", "discover  refused"}, got); diff != "" {
		t.Errorf("the ledger has (-want +got):\n%s", diff)
	}
}

// What is cancelled before its tool is known is noted by whoever works on it.
func TestWhatIsCancelledWhileTheToolsAreListed(t *testing.T) {
	var dial Dial
	var open chan struct{}
	u := used{o: Options{Dial: func(ctx context.Context, schema func(string) []byte) (upstream.Conn, error) { return dial(ctx, schema) }}}
	u.open = func(*desk) { dial, open = gated(mixed()) }
	u.talk = func(d *desk) {
		asks(d, "1", "discover", `{"query":"`+private+`"}`)
		asks(d, "2", "call", `{"tool":"no_tool","args":`+secretArgs+`}`)
		asks(d, "3", "not_listed", secretArgs)
		cancels(d, "1")
		cancels(d, "2")
		cancels(d, "3")
		close(open)
		d.said()
	}
	got := map[string]bool{}
	for _, r := range u.run(t) {
		got[inShort(r)] = true
	}
	want := map[string]bool{"discover  cancelled": true, "call  cancelled": true, "surface  cancelled": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the ledger has (-want +got):\n%s", diff)
	}
}

// The rounds of a modern call are one: only its end counts, by the upstream's
// rounds and by ours.
func TestTheLedgerHasTheEndOfRounds(t *testing.T) {
	asked := false
	u := used{config: `,"confirm":"writes"`, answer: func(_ *fakeConn, m wire.Message) ([]string, bool) {
		if m.Method != "tools/call" || asked {
			return nil, false
		}
		asked = true
		return []string{`{"jsonrpc":"2.0","id":` + m.ID.Raw + `,"result":{"resultType":"input_required","inputRequests":{"k":{}},"requestState":"` + private + `"}}`}, true
	}}
	u.open = func(*desk) {}
	u.talk = func(d *desk) {
		r := &rounds{desk: d}
		ours := r.round("create_issue", secretArgs, "")
		theirs := r.round("create_issue", secretArgs, answering(ours.Get("requestState"), agreed))
		r.round("create_issue", secretArgs, answering(theirs.Get("requestState"), `{"k":{}}`))
		r.round("get_issue", secretArgs, "")
	}
	var got []string
	for _, r := range u.run(t) {
		got = append(got, inShort(r))
	}
	if diff := cmp.Diff([]string{"surface create_issue ok", "surface get_issue ok"}, got); diff != "" {
		t.Errorf("the ledger has (-want +got):\n%s", diff)
	}
}

// A call that is sent again with another token is one.
func TestTheLedgerHasAResentCallOnce(t *testing.T) {
	v := &vault{}
	v.good.Store(1)
	u := used{o: Options{Renew: v.renew}, answer: denying(v, deniedError).answer, talk: func(d *desk) { d.call("1", "get_issue", secretArgs) }}
	records := u.run(t)
	if len(records) != 1 || inShort(records[0]) != "surface get_issue ok" || v.asked.Load() != 1 {
		t.Errorf("after %d renewals the ledger has %v", v.asked.Load(), records)
	}
}

func TestTheFiguresOfTheLedger(t *testing.T) {
	const result = `{"content":[{"type":"text","text":"x"}]}`
	u := used{answer: func(c *fakeConn, m wire.Message) ([]string, bool) {
		if m.Method != "tools/call" {
			return nil, false
		}
		time.AfterFunc(1500*time.Millisecond, func() { c.write(`{"jsonrpc":"2.0","id":` + m.ID.Raw + `,"result":` + result + `}`) })
		return nil, true
	}}
	list, answer := "", ""
	u.talk = func(d *desk) {
		time.Sleep(time.Minute)
		r, _ := d.ask("1", "tools/list", "{}")
		list = gjson.Get(r, "result.tools").Raw
		d.ask("2", "tools/list", "{}")
		d.call("3", "get_issue", `{"id":"12345"}`)
		d.call("4", "call", `{"tool":"get_issue","args":{"id":"1"}}`)
		answer = d.call("5", "discover", `{"query":"delete_issue"}`)
	}
	got := u.run(t)
	tokens := 0
	for _, tool := range gjson.Parse(list).Array() {
		tokens += ModelTokens([]byte(tool.Raw))
	}
	at := time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC)
	want := []ledger.Record{
		{Time: at, Via: "session", Out: len(list), Tokens: tokens, Surface: "meta", Tools: 6},
		{Time: at, Via: "surface", Tool: "get_issue", In: 14, Out: len(result), Dur: 1500 * time.Millisecond, Outcome: "ok"},
		{Time: at.Add(1500 * time.Millisecond), Via: "call", Tool: "get_issue", In: 10, Out: len(result), Dur: 1500 * time.Millisecond, Outcome: "ok"},
		{Time: at.Add(3 * time.Second), Via: "discover", In: 24, Out: len(answer), Outcome: "ok", Found: []string{"delete_issue"}},
	}
	if len(got) != len(want) {
		t.Fatalf("the ledger has %d records, want %d: %+v", len(got), len(want), got)
	}
	if n := got[3].Tokens; n < 20 || n > 200 {
		t.Errorf("a search costs %d tokens", n)
	}
	want[3].Tokens = got[3].Tokens
	for i := range got {
		want[i].Session = got[0].Session
		if diff := cmp.Diff(want[i], got[i]); diff != "" {
			t.Errorf("record %d (-want +got):\n%s", i, diff)
		}
	}
}

// A ledger that does not answer keeps Run for a while only, and little when a
// signal has come.
func TestALedgerThatDoesNotAnswer(t *testing.T) {
	for _, hurry := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			stuck := make(chan struct{})
			l := ledger.Open(ledger.Path(t.TempDir(), "acme"), nil)
			o := Options{Ledger: l}
			want := ledgerWait
			if hurry {
				closed := make(chan struct{})
				close(closed)
				o.Hurry, want = closed, hurried
			}
			d := start(t, o, mixed())
			d.open()
			d.said()
			l.AddLater(ledger.Record{}, func(*ledger.Record) { <-stuck })
			began := time.Now()
			d.close()
			if took := time.Since(began); took < want || took > want+time.Second {
				t.Errorf("Run ended after %v, want %v", took, want)
			}
			close(stuck)
			synctest.Wait()
		})
	}
}

func TestSaysFailed(t *testing.T) {
	for result, want := range map[string]bool{
		`{}`: false, `{"isError":true}`: true, `{"isError":false}`: false,
		`{"content":[],"isError":true}`: true, `{"content":[], "isError": false}`: false,
		`{"isError":true,"content":[]}`: true, `{"content":[{"isError":true}]}`: false,
		`{"content":[{"a":1,"isError":true}]}`: false, `{"x":{"a":1,"isError":true},"isError":false}`: false,
		`{"isError":true,"x":"\"isError\":false}"}`: true, `{"a\",\"isError":true}`: false,
		`{"content":[],"isError":true,"_meta":{"a":1,"isError":false}}`: true,
	} {
		if got := saysFailed(result); got != want {
			t.Errorf("saysFailed(%s) = %v", result, got)
		}
	}
}
