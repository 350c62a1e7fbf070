package facade

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// calls are the raw params of the tools/call requests that the upstream got.
func (f *fake) calls() (params []string) {
	for _, frame := range f.received("tools/call") {
		params = append(params, gjson.Get(frame, "params").Raw)
	}
	return params
}

func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: tracker()}
		d := start(t, Options{Server: entry(t, `,"used":["get_issue"],"hide":["delete_*"]`)}, up)
		d.open()
		d.names()
		d.said()
		s := &script{d: d}
		s.call("no tool", "call", `{"args":{"id":"A-1"}}`)
		s.call("a tool that is no string", "call", `{"tool":["get_issue"],"args":{}}`)
		s.call("arguments in a string", "call", `{"tool":"get_issue","args":"A-1"}`)
		s.call("arguments in an array", "call", `{"tool":"get_issue","args":["A-1"]}`)
		s.call("an unknown tool", "call", `{"tool":"get_isue","args":{}}`)
		s.call("an unknown tool like no other", "call", `{"tool":"weather","args":{}}`)
		s.call("a hidden tool", "call", `{"tool":"delete_issue","args":{}}`)
		s.call("a hidden tool, directly", "DELETE_issue", `{}`)
		s.call("describe without a tool", "describe", `{}`)
		s.call("describe of an unknown tool", "describe", `{"tool":"weather"}`)
		if sent := up.calls(); sent != nil {
			t.Errorf("refused calls were sent: %q", sent)
		}
		up.last().die("exit status 1")
		up.dialError = fmt.Errorf("start: no such file")
		d.said()
		s.call("the upstream cannot be started", "call", `{"tool":"get_issue","args":{}}`)
		s.call("the upstream cannot be started, directly", "get_issue", `{}`)
		d.close()

		cold := start(t, Options{Server: entry(t, "")}, up)
		cold.open()
		s.d = cold
		s.call("no catalog", "discover", `{"query":"an issue"}`)
		s.call("no catalog", "describe", `{"tool":"get_issue"}`)
		s.call("no catalog", "call", `{"tool":"get_issue","args":{}}`)
		goldenFile(t, "refusals.golden", s.text.String())
	})
}

func TestCallReplacesNameAndArgumentsOnly(t *testing.T) {
	tests := []struct{ name, sent, want string }{
		{"passes arguments as they are", `{"name":"call","arguments":{"tool":"export","args":{"b":1.0,"a":"\u0041","b":9007199254740993}}}`,
			`{"name":"Export","arguments":{"b":1.0,"a":"\u0041","b":9007199254740993}}`},
		{"takes absent arguments for none", `{"name":"call","arguments":{"tool":"Export"}}`, `{"name":"Export","arguments":{}}`},
		{"takes null for none", `{"name":"call","arguments":{"tool":"Export","args":null}}`, `{"name":"Export","arguments":{}}`},
		{"keeps what else is there, in its order", `{"_meta":{"progressToken":1.0},"task":{"ttl":1},"arguments":{"args":{},"tool":"Export","x":1},"requestState":"s", "name":"call","inputResponses":{"a":[]},"x":1e400}`,
			`{"_meta":{"progressToken":1.0},"task":{"ttl":1},"arguments":{},"requestState":"s", "name":"Export","inputResponses":{"a":[]},"x":1e400}`},
		{"renames a direct call", `{"x":1.0,"name":"export","arguments":{"a": 1}}`, `{"x":1.0,"name":"Export","arguments":{"a": 1}}`},
		{"leaves a direct call alone", `{"name" : "Export"}`, `{"name" : "Export"}`},
		{"leaves a direct call of an unlisted name alone", `{"name":"no\u0070e","x":[1.0]}`, `{"name":"no\u0070e","x":[1.0]}`},
		{"leaves params without a name alone", `{"x":1.0}`, `{"x":1.0}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := &fake{tools: tracker()}
				d := start(t, Options{Server: entry(t, `,"used":[]`)}, up)
				d.open()
				d.ask("1", "tools/call", tt.sent)
				if got := up.calls(); len(got) != 1 || got[0] != tt.want {
					t.Errorf("%s\nreached the upstream as %q, want\n%s", tt.sent, got, tt.want)
				}
			})
		})
	}
}

func TestDuplicateNamesAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: tracker()}
		d := start(t, Options{Server: entry(t, `,"used":[],"hide":["delete_*"]`)}, up)
		d.open()
		for _, params := range []string{
			`{"name":"get_issue","name":"delete_issue"}`,
			`{"name":"get_issue","Name":"delete_issue"}`,
			`{"name":"get_issue","na\u006de":"delete_issue"}`,
			`{"name":"call","arguments":{"tool":"get_issue"},"arguments":{"tool":"delete_issue"}}`,
		} {
			r, _ := d.ask("1", "tools/call", params)
			if got := gjson.Get(r, "error.code").Int(); got != codeInvalidParams {
				t.Errorf("params %s: %s, want error %d", params, r, codeInvalidParams)
			}
		}
		if got := up.calls(); got != nil {
			t.Errorf("sent: %q", got)
		}
	})
}

func TestHiddenToolsAreNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: tracker()}
		d := start(t, Options{Server: entry(t, `,"used":["*"],"hide":["Delete_*"]`)}, up)
		d.open()
		if got := strings.Join(d.names(), " "); strings.Contains(got, "delete") {
			t.Errorf("tools/list shows %q", got)
		}
		for _, name := range []string{"delete_issue", "DELETE_ISSUE", " delete_issue ", "delete_issue\u200b", "\ufeffDelete_Issue", "delete_issue\n", "delete_\u017f"} {
			quoted := string(wire.AppendString(nil, name))
			for _, call := range []string{
				`{"name":` + quoted + `,"arguments":{"id":"1"}}`,
				`{"name":"call","arguments":{"tool":` + quoted + `,"args":{}}}`,
				`{"name":"call","arguments":{"tool":` + quoted + `,"tool":"get_issue"}}`,
				`{"name":"call","arguments":{"tool":"call","args":{"tool":` + quoted + `}}}`,
				`{"name":"describe","arguments":{"tool":` + quoted + `}}`,
				`{"name":"describe","arguments":{"tool":[` + quoted + `]}}`,
			} {
				r, _ := d.ask("1", "tools/call", call)
				if got := gjson.Get(r, "result"); !got.Get("isError").Bool() || !strings.Contains(got.Raw, "is not in acme's catalog.") {
					t.Errorf("%s: %s, want a refusal", call, r)
				}
			}
		}
		if got := up.calls(); got != nil {
			t.Errorf("sent: %q", got)
		}
		for _, query := range []string{"delete an issue for good", "", "delete_issue", "xyz"} {
			got := text(d.call("1", "discover", `{"query":"`+query+`"}`))
			if list, _, _ := strings.Cut(strings.ReplaceAll(got, `"delete_issue"`, ""), "\n\n"); strings.Contains(list, "delete_issue") {
				t.Errorf("discover %q: %s", query, got)
			}
		}
	})
}

// Nothing is refused for its name before this process has listed the tools.
func TestUnknownToolIsConfirmedFirst(t *testing.T) {
	hangs := func(_ *fakeConn, m wire.Message) ([]string, bool) { return nil, m.Method == "tools/list" }
	fails := func(_ *fakeConn, m wire.Message) ([]string, bool) {
		return []string{string(wire.ErrorResponse(m.ID.Raw, -32000, "no list today", nil))}, m.Method == "tools/list"
	}
	const refused, sent, down = "is not in acme's catalog", `{"name":"new_tool","arguments":{}}`, "acme: call new_tool: it is gone. " + tryAgain + " " + noResult
	tests := []struct {
		name         string
		now          []string // tools after the cache was written
		answer       func(*fakeConn, wire.Message) ([]string, bool)
		dialError    error
		call, direct string // what the answers contain
	}{
		{"is refused when it is unknown still, but sent directly", two(), nil, nil, refused, sent},
		{"is sent when it has appeared meanwhile", append(two(), tool("New_Tool", "", "")), nil, nil, `{"name":"New_Tool","arguments":{}}`, `{"name":"New_Tool","arguments":{}}`},
		{"is sent when the upstream cannot list", two(), fails, nil, sent, sent},
		{"is sent when the list hangs", two(), hangs, nil, sent, sent},
		{"fails when there is no upstream", two(), nil, fmt.Errorf("it is gone"), down, down},
	}
	for _, tt := range tests {
		for _, how := range []string{"call", "direct"} {
			t.Run(how+" "+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := Options{Server: entry(t, `,"used":[]`), Store: store(t), Version: "v1"}
					visit(t, o, &fake{tools: two()}, nil)
					up := &fake{tools: tt.now, answer: tt.answer, dialError: tt.dialError}
					d := start(t, o, up)
					d.open()
					name, args, want := "new_tool", `{}`, tt.direct
					if how == "call" {
						name, args, want = "call", `{"tool":"new_tool"}`, tt.call
					}
					if got := text(d.call("1", name, args)); !strings.Contains(got, want) {
						t.Errorf("got %q, want %q", got, want)
					}
					if n := up.lists(); n > 1 {
						t.Errorf("listed %d times, want at most once", n)
					}
					if tt.answer != nil || tt.dialError != nil {
						return
					}
					d.said()
					before := time.Now()
					d.call("2", name, args)
					if n, took := up.lists(), time.Since(before); n != 1 || took > 0 {
						t.Errorf("the next call of it took %v; listed %d times, want once", took, n)
					}
				})
			})
		}
	}
}

func TestUnlistedNameIsForwarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		d := start(t, Options{Server: entry(t, `,"used":[]`)}, up)
		d.open()
		if got := text(d.call("1", "Secret_Handshake", `{"a":1}`)); got != `{"name":"Secret_Handshake","arguments":{"a":1}}` {
			t.Errorf("a direct call of an unlisted name reaches the upstream as %s", got)
		}
	})
}

func TestHints(t *testing.T) {
	const failure = `{"content": [ {"type":"text","text":"no such id", "x":1.0} ],"isError":true,"structuredContent":{"n":9007199254740993},"_meta":{"é":1e400}, "x":1}`
	const signature = `{"type":"text","text":"\nIts signature: search_issues(text: string, limit?: integer, state?: open|closed) — Search issues by text, state and assignee."}`
	hinted := func(before, after string) string {
		return strings.Replace(failure, before, after+signature+"]", 1)
	}
	tests := []struct {
		name, config, result string
		calls                [][2]string
		want                 []string // results
	}{
		{"gives one block after an error, once for a tool", ``, failure,
			[][2]string{{"call", `{"tool":"search_issues"}`}, {"call", `{"tool":"Search_Issues"}`}},
			[]string{hinted(` ]`, `,`), failure}},
		{"gives none to a direct call", ``, failure, [][2]string{{"search_issues", `{}`}}, []string{failure}},
		{"gives none with hints off", `,"hints":false`, failure, [][2]string{{"call", `{"tool":"search_issues"}`}}, []string{failure}},
		{"gives none after a success", ``, `{"content":[],"isError":false}`, [][2]string{{"call", `{"tool":"search_issues"}`}}, []string{`{"content":[],"isError":false}`}},
		{"gives none where there is no content", ``, `{"isError":true}`, [][2]string{{"call", `{"tool":"search_issues"}`}}, []string{`{"isError":true}`}},
		{"fills empty content", ``, `{"content":[ ],"isError":true}`, [][2]string{{"call", `{"tool":"search_issues"}`}}, []string{`{"content":[` + signature + `],"isError":true}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := &fake{tools: tracker()}
				up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
					return ok(m, tt.result), m.Method == "tools/call"
				}
				d := start(t, Options{Server: entry(t, `,"used":["search_*"]`+tt.config)}, up)
				d.open()
				d.names()
				for i, call := range tt.calls {
					if got := d.call("1", call[0], call[1]); got != tt.want[i] {
						t.Errorf("%s %s = %s\nwant %s", call[0], call[1], got, tt.want[i])
					}
				}
			})
		})
	}
}

func TestModernAnswersOfOursAreComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: tracker(), modern: true}
		d := start(t, Options{Server: entry(t, `,"used":[]`)}, up)
		d.ask("1", "server/discover", `{"_meta":`+modernMeta+`}`)
		for _, call := range []string{
			`"name":"discover","arguments":{"query":"issue"}`,
			`"name":"describe","arguments":{"tool":"export"}`,
			`"name":"call","arguments":{}`,
			`"name":"call","arguments":{"tool":"nope"}`,
		} {
			r, _ := d.ask("2", "tools/call", `{"_meta":`+modernMeta+`,`+call+`}`)
			if got := gjson.Get(r, "result.resultType").Str; got != "complete" {
				t.Errorf("%s: %s, want resultType complete", call, r)
			}
		}
	})
}
