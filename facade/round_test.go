package facade

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/facade/wire"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// askingMeta is the _meta of a modern host that can ask the user.
var askingMeta = set(modernMeta, "io.modelcontextprotocol/clientCapabilities", `{"elicitation":{"form":{}}}`)

// rounds is a modern host in front of a facade that asks.
type rounds struct {
	*desk
	up *fake
	id int
}

var guardKey = []byte("0123456789abcdef0123456789abcdef")

func startRounds(t *testing.T, config string, key []byte) *rounds {
	t.Helper()
	up := mixed()
	d := start(t, Options{Server: entry(t, `,"used":["*"],"confirm":"writes"`+config), Key: key}, up)
	return &rounds{d, up, 0}
}

// round calls a tool with further members of the params; it returns the result.
func (r *rounds) round(name, args, more string) gjson.Result {
	r.t.Helper()
	r.id++
	frame, _ := r.ask(string(rune('0'+r.id%10)), "tools/call", `{"name":"`+name+`","arguments":`+args+more+`,"_meta":`+askingMeta+`}`)
	return gjson.Get(frame, "result")
}

// answering are the members of a retry.
func answering(state gjson.Result, responses string) string {
	return `,"requestState":` + state.Raw + `,"inputResponses":` + responses
}

const agreed = `{"mcpf_confirm":{"action":"accept","content":{}}}`

// A modern host is asked by the result of its call, and answers by another.
func TestRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRounds(t, "", guardKey)
		asked := r.round("delete_issue", `{"id":"A-1"}`, `,"x":1`)
		want := `{"resultType":"input_required","inputRequests":{"mcpf_confirm":{"method":"elicitation/create","params":{"mode":"form",` +
			`"message":"Run delete_issue of acme? It is marked as destructive.\n- \"id\": \"A-1\"","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"…"}`
		if got := set(asked.Raw, "requestState", `"…"`); got != want {
			t.Errorf("the host is asked\n%s\nwant\n%s", got, want)
		}
		r.up.wantRan(t, "a question")
		done := r.round("delete_issue", `{"id":"A-1"}`, `,"x":1`+answering(asked.Get("requestState"), agreed))
		if got := done.Get("resultType").Str; got != "complete" {
			t.Errorf("after consent the host is told %s", done.Raw)
		}
		sent := r.up.calls()
		if want := `{"name":"delete_issue","arguments":{"id":"A-1"},"x":1,"_meta":` + askingMeta + `}`; len(sent) != 1 || sent[0] != want {
			t.Errorf("the upstream is sent\n%s\nwant\n%s", sent, want)
		}
		for _, action := range []string{"decline", "cancel", "maybe"} {
			asked := r.round("delete_issue", `{"id":"A-1"}`, "")
			got := r.round("delete_issue", `{"id":"A-1"}`, answering(asked.Get("requestState"), `{"mcpf_confirm":{"action":"`+action+`"}}`))
			if !got.Get("isError").Bool() || !strings.Contains(text(got.Raw), "Nothing was done.") {
				t.Errorf("after %s the host is told %s", action, got.Raw)
			}
		}
		if n := len(r.up.calls()); n != 1 {
			t.Errorf("the upstream was called %d times", n)
		}
	})
}

// stages is an upstream that asks twice before it does something.
func stages(c *fakeConn, m wire.Message) ([]string, bool) {
	if m.Method != "tools/call" {
		return nil, false
	}
	result := `{"resultType":"complete","content":[]}`
	switch m.Params.Get("requestState").Str {
	case "":
		result = `{"resultType":"input_required","inputRequests":{"theirs":{"method":"roots/list"}},"requestState":"one"}`
	case "one":
		result = `{"resultType":"input_required","requestState":"two"}`
	}
	return []string{string(wire.Response(m.ID.Raw, []byte(result)))}, true
}

// The rounds that an upstream asks for pass untouched once the user has agreed,
// until it is done. Then they are asked again.
func TestRoundsOfTheUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRounds(t, "", guardKey)
		r.up.answer = stages
		const args = `{"id":"A-1"}`
		asked := r.round("delete_issue", args, "")
		one := r.round("delete_issue", args, answering(asked.Get("requestState"), agreed))
		if one.Get("requestState").Str != "one" {
			t.Fatalf("the host is told %s; want the upstream's question", one.Raw)
		}
		if fresh := r.round("delete_issue", args, ""); !fresh.Get("inputRequests.mcpf_confirm").Exists() {
			t.Errorf("the same call, which is no other round, is answered %s; want a question", fresh.Raw)
		}
		const theirs = `{ "theirs":{"roots":[1.0]},"mcpf_confirm":{"action":"decline"}}`
		r.round("delete_issue", args, answering(one.Get("requestState"), theirs))
		done := r.round("delete_issue", args, `,"requestState":"two"`)
		if done.Get("resultType").Str != "complete" {
			t.Fatalf("the host is told %s; want the end", done.Raw)
		}
		meta := `,"_meta":` + askingMeta + `}`
		want := []string{
			`{"name":"delete_issue","arguments":{"id":"A-1"}` + meta,
			`{"name":"delete_issue","arguments":{"id":"A-1"},"requestState":"one","inputResponses":` + theirs + meta,
			`{"name":"delete_issue","arguments":{"id":"A-1"},"requestState":"two"` + meta,
		}
		if diff := cmp.Diff(want, r.up.calls()); diff != "" {
			t.Errorf("the upstream is sent (-want +got):\n%s", diff)
		}
		again := r.round("delete_issue", args, `,"requestState":"two"`)
		if !again.Get("inputRequests.mcpf_confirm").Exists() {
			t.Errorf("after the end the host is told %s; want a question", again.Raw)
		}
	})
}

// What the user has agreed to goes on once for each round that the upstream asks
// for.
func TestRoundOfTheUpstreamLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRounds(t, "", guardKey)
		r.up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			if m.Params.Get("requestState").Str == "one" {
				c.die("exit status 1")
			}
			return stages(c, m)
		}
		const args = `{"id":"A-1"}`
		asked := r.round("delete_issue", args, "")
		r.round("delete_issue", args, answering(asked.Get("requestState"), agreed))
		for n, again := range []bool{false, true} {
			got := r.round("delete_issue", args, `,"requestState":"one"`)
			if got.Get("inputRequests.mcpf_confirm").Exists() != again {
				t.Errorf("the %d. time the second round is answered %s", n+1, got.Raw)
			}
		}
	})
}

// A retry may reach another process of the same user, which asks again: it cannot
// know whether the answer has been taken. What the retry has of the upstream's
// rounds is put back when the user has been asked again.
func TestRoundInAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const args = `{"id":"A-1"}`
		first, second := startRounds(t, "", guardKey), startRounds(t, "", guardKey)
		first.up.answer, second.up.answer = stages, stages
		asked := first.round("delete_issue", args, "")
		elsewhere := second.round("delete_issue", args, answering(asked.Get("requestState"), agreed))
		if !elsewhere.Get("inputRequests.mcpf_confirm").Exists() {
			t.Fatalf("the other process says %s; want a question of its own", elsewhere.Raw)
		}
		second.up.wantRan(t, "consent given to another")
		one := second.round("delete_issue", args, answering(elsewhere.Get("requestState"), agreed))
		if one.Get("requestState").Str != "one" {
			t.Fatalf("the other process says %s; want the upstream's question", one.Raw)
		}
		const theirs = `{"theirs":{"roots":[ ]}}`
		asked = first.round("delete_issue", args, answering(one.Get("requestState"), theirs))
		if !asked.Get("inputRequests.mcpf_confirm").Exists() {
			t.Fatalf("one that knows nothing of it says %s; want a question", asked.Raw)
		}
		first.round("delete_issue", args, answering(asked.Get("requestState"), agreed))
		sent := first.up.calls()
		if want := `{"name":"delete_issue","arguments":{"id":"A-1"},"requestState":"one","inputResponses":` + theirs + `,"_meta":` + askingMeta + `}`; len(sent) != 1 || sent[0] != want && !sameMembers(sent[0], want) {
			t.Errorf("the upstream is sent\n%s\nwant\n%s", sent, want)
		}
	})
}

// sameMembers reports whether two objects have the same members in any order.
func sameMembers(a, b string) bool {
	have := map[string]string{}
	for _, m := range members(gjson.Parse(a)) {
		have[m.key] = m.value.Raw
	}
	for _, m := range members(gjson.Parse(b)) {
		if have[m.key] != m.value.Raw {
			return false
		}
		delete(have, m.key)
	}
	return len(have) == 0
}

// Where another call, an old question or somebody else is agreed to, the user is
// asked again and nothing is sent.
func TestRoundForged(t *testing.T) {
	const args = `{"id":"A-1"}`
	for _, tt := range []struct {
		name string
		try  func(r *rounds, state gjson.Result) gjson.Result
	}{
		{"other arguments", func(r *rounds, state gjson.Result) gjson.Result {
			return r.round("delete_issue", `{"id":"A-2"}`, answering(state, agreed))
		}},
		{"more arguments", func(r *rounds, state gjson.Result) gjson.Result {
			return r.round("delete_issue", `{"id":"A-1","id":"A-2"}`, answering(state, agreed))
		}},
		{"another tool", func(r *rounds, state gjson.Result) gjson.Result {
			return r.round("create_issue", args, answering(state, agreed))
		}},
		{"another tool by call", func(r *rounds, state gjson.Result) gjson.Result {
			return r.round("call", `{"tool":"create_issue","args":{"id":"A-1"}}`, answering(state, agreed))
		}},
		{"a name that is not listed", func(r *rounds, state gjson.Result) gjson.Result {
			return r.round("delete-issue", args, answering(state, agreed))
		}},
		{"no answer", func(r *rounds, state gjson.Result) gjson.Result {
			return r.round("delete_issue", args, `,"requestState":`+state.Raw)
		}},
		{"an answer to something else", func(r *rounds, state gjson.Result) gjson.Result {
			return r.round("delete_issue", args, answering(state, `{"mcpf_confirm2":{"action":"accept"},"MCPF_CONFIRM":{"action":"accept"}}`))
		}},
		{"answers that are none", func(r *rounds, state gjson.Result) gjson.Result {
			return r.round("delete_issue", args, answering(state, `["mcpf_confirm","accept"]`))
		}},
		{"no state", func(r *rounds, _ gjson.Result) gjson.Result {
			return r.round("delete_issue", args, `,"inputResponses":`+agreed)
		}},
		{"a foreign state", func(r *rounds, _ gjson.Result) gjson.Result {
			return r.round("delete_issue", args, answering(gjson.Parse(`"theirs"`), agreed))
		}},
		{"a state that is changed", func(r *rounds, state gjson.Result) gjson.Result {
			b := []byte(state.Raw)
			b[len(b)/3] ^= 1
			return r.round("delete_issue", args, answering(gjson.ParseBytes(b), agreed))
		}},
		{"a seal that is changed", func(r *rounds, state gjson.Result) gjson.Result {
			b := []byte(state.Raw)
			b[len(b)-5] ^= 1
			return r.round("delete_issue", args, answering(gjson.ParseBytes(b), agreed))
		}},
		{"a state without a seal", func(r *rounds, state gjson.Result) gjson.Result {
			text, _, _ := strings.Cut(state.Str, ".")
			return r.round("delete_issue", args, answering(gjson.Parse(quote(text+".")), agreed))
		}},
		{"a state in an array", func(r *rounds, state gjson.Result) gjson.Result {
			return r.round("delete_issue", args, answering(gjson.Parse("["+state.Raw+"]"), agreed))
		}},
		{"a state of another key", func(r *rounds, _ gjson.Result) gjson.Result {
			other := startRounds(r.t, "", []byte("another"))
			return r.round("delete_issue", args, answering(other.round("delete_issue", args, "").Get("requestState"), agreed))
		}},
		{"a state of a process without a key", func(r *rounds, _ gjson.Result) gjson.Result {
			other := startRounds(r.t, "", nil)
			return r.round("delete_issue", args, answering(other.round("delete_issue", args, "").Get("requestState"), agreed))
		}},
		{"an old state", func(r *rounds, state gjson.Result) gjson.Result {
			time.Sleep(5*time.Minute + time.Second)
			return r.round("delete_issue", args, answering(state, agreed))
		}},
		{"an answer that has been given", func(r *rounds, state gjson.Result) gjson.Result {
			r.round("delete_issue", args, answering(state, `{"mcpf_confirm":{"action":"decline"}}`))
			return r.round("delete_issue", args, answering(state, agreed))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := startRounds(t, "", guardKey)
				state := r.round("delete_issue", args, "").Get("requestState")
				got := tt.try(r, state)
				if !got.Get("inputRequests.mcpf_confirm").Exists() || got.Get("requestState").Str == state.Str {
					t.Errorf("the host is told %s; want to be asked anew", got.Raw)
				}
				r.up.wantRan(t, tt.name)
			})
		})
	}
}

// An answer counts once.
func TestRoundReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const args = `{"id":"A-1"}`
		r := startRounds(t, "", guardKey)
		state := r.round("delete_issue", args, "").Get("requestState")
		for range 3 {
			r.round("delete_issue", args, answering(state, agreed))
		}
		r.up.wantRan(t, "three answers", "delete_issue "+args)
	})
}

// What a facade behind this one has asked is not taken for ours.
func TestRoundOfAnotherFacade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const args = `{"id":"A-1"}`
		inner := startRounds(t, "", guardKey)
		inner.facade.key = sealKey(guardKey, "inner")
		outer := startRounds(t, "", guardKey)
		outer.up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
			if m.Method != "tools/call" {
				return nil, false
			}
			frame, _ := inner.ask(m.ID.Raw, "tools/call", m.Params.Raw)
			return []string{frame}, true
		}
		asked := outer.round("delete_issue", args, "")
		again := outer.round("delete_issue", args, answering(asked.Get("requestState"), agreed))
		if !again.Get("inputRequests.mcpf_confirm").Exists() {
			t.Fatalf("the host is told %s; want the question of the inner one", again.Raw)
		}
		done := outer.round("delete_issue", args, answering(again.Get("requestState"), agreed))
		if done.Get("resultType").Str != "complete" {
			t.Errorf("the host is told %s; want the end", done.Raw)
		}
		inner.up.wantRan(t, "two consents", "delete_issue "+args)
	})
}

// A question of ours that needs no answer any more does not reach the upstream.
func TestRoundNotNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := startRounds(t, "", guardKey).round("delete_issue", "{}", "").Get("requestState")
		r := startRounds(t, `,"readOnly":["*"]`, guardKey)
		r.round("delete_issue", "{}", answering(state, agreed))
		if sent := r.up.calls(); len(sent) != 1 || strings.Contains(sent[0], "mcpf") || strings.Contains(sent[0], "input") {
			t.Errorf("the upstream is sent %s", sent)
		}
	})
}
