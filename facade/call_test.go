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
		up := &fake{tools: append(tracker(), shop()...)}
		d := start(t, Options{Server: entry(t, `,"used":["get_issue"],"hide":["delete_*"],"repeatLimit":0`)}, up)
		d.open()
		d.names()
		d.said()
		s := &script{d: d}
		s.call("no tool", "call", `{"args":{"id":"A-1"}}`)
		s.call("a tool that is no string", "call", `{"tool":["get_issue"],"args":{}}`)
		s.call("arguments in a string", "call", `{"tool":"get_issue","args":"A-1"}`)
		s.call("arguments in an array", "call", `{"tool":"get_issue","args":["A-1"]}`)
		s.call("something is missing", "call", `{"tool":"create_issue","args":{"project":"ABC","labels":["x"]}}`)
		s.call("what is missing has a list of values", "call", `{"tool":"set_state","args":{"id":"A-1"}}`)
		s.call("a name is misspelt", "call", `{"tool":"create_project","args":{"nmae":"Shop","note":"new"}}`)
		s.call("names that are not allowed", "call", `{"tool":"create_project","args":{"name":"Shop","colour":"red"}}`)
		s.call("another name for the only one", "call", `{"tool":"get_issue","args":{"issue_number":"A-1"}}`)
		s.call("a type that cannot be", "call", `{"tool":"set_state","args":{"id":7,"state":"gone"}}`)
		s.call("an object is missing, and its members are there", "call", `{"tool":"find_jobs","args":{"branch":"main"}}`)
		s.call("arguments beside the tool", "call", `{"tool":"list_issues","stat":"open"}`)
		s.call("arguments here and there", "call", `{"tool":"get_issue","arguments":{"depth":1},"id":"A-1"}`)
		s.call("long values", "call", `{"tool":"create_issue","args":{"project":"ABC","labels":["`+strings.Repeat("x", 500)+`"],"body":"`+strings.Repeat("y", 500)+`"}}`)
		s.call("text that nobody sees", "call", `{"tool":"create_issue","args":{"project":"a\u202e\u200b\n[read-only] x\ud83d\ude00"}}`)
		s.call("two readings", "call", `{"tool":"get_issue","arguments":{"id":"A-1"},"params":{"id":"A-2"}}`)
		s.call("two long readings", "call", `{"tool":"get_issue","arguments":{"id":"A-1","x":"`+strings.Repeat("y", 500)+`"},"params":{"id":"A-1"}}`)
		s.call("a name of two tools", "call", `{"tool":"mcp__acme__getx","args":{"a":1}}`)
		s.call("a meta-tool", "call", `{"tool":"discover","args":{"query":"issues"}}`)
		s.call("an unknown tool", "call", `{"tool":"get_isue","args":{}}`)
		s.call("an unknown tool like no other", "call", `{"tool":"weather","args":{}}`)
		s.call("a hidden tool", "call", `{"tool":"delete_issue","args":{}}`)
		s.call("a hidden tool, directly", "DELETE_issue", `{}`)
		s.call("describe without a tool", "describe", `{}`)
		s.call("describe of an unknown tool", "describe", `{"tool":"weather"}`)
		s.call("describe of a name of two tools", "describe", `{"tool":"getx"}`)
		if sent := up.calls(); sent != nil {
			t.Errorf("refused calls were sent: %q", sent)
		}
		up.last().die("exit status 1")
		up.dialError = fmt.Errorf("start: no such file")
		d.said()
		s.call("the upstream cannot be started", "call", `{"tool":"get_issue","args":{"id":"A-1"}}`)
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
		{"passes arguments as they are", `{"name":"call","arguments":{"tool":"export","args":{"project":1.0, "a":"\u0041","project":9007199254740993}}}`,
			`{"name":"Export","arguments":{"project":1.0, "a":"\u0041","project":9007199254740993}}`},
		{"takes absent arguments for none", `{"name":"call","arguments":{"tool":"List_Projects"}}`, `{"name":"list_projects","arguments":{}}`},
		{"takes null for none", `{"name":"call","arguments":{"tool":"list_projects","args":null}}`, `{"name":"list_projects","arguments":{}}`},
		{"keeps what else is there, in its order", `{"_meta":{"progressToken":1.0},"task":{"ttl":1},"arguments":{"args":{},"tool":"list_projects","_meta":1},"requestState":"s", "name":"call","inputResponses":{"a":[]},"x":1e400}`,
			`{"_meta":{"progressToken":1.0},"task":{"ttl":1},"arguments":{},"requestState":"s", "name":"list_projects","inputResponses":{"a":[]},"x":1e400}`},
		{"renames a direct call", `{"x":1.0,"name":"export","arguments":{"a": 1}}`, `{"x":1.0,"name":"Export","arguments":{"a": 1}}`},
		{"leaves a direct call alone", `{"name" : "Export"}`, `{"name" : "Export"}`},
		{"leaves a direct call of an unlisted name alone", `{"name":"no\u0070e","x":[1.0]}`, `{"name":"no\u0070e","x":[1.0]}`},
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
				`{"name":"call","arguments":{"tool":` + quoted[:len(quoted)-1] + `<|channel|>x"}}`,
				`{"name":"call","arguments":{"function":{"name":` + quoted + `,"arguments":"{}"}}}`,
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

// Nothing is refused, and nothing repaired, by a catalog that this process has
// not listed.
func TestDoubtIsConfirmedFirst(t *testing.T) {
	fails := func(_ *fakeConn, m wire.Message) ([]string, bool) {
		return []string{string(wire.ErrorResponse(m.ID.Raw, -32000, "no list today", nil))}, m.Method == "tools/list"
	}
	needs := func(names string) []string {
		return []string{tool("run", "Run.", `{"type":"object","properties":{"a":{},"b":{"type":"object"},"params":{}},"required":[`+names+`],"additionalProperties":false}`)}
	}
	const down = "acme: call run: it is gone. " + tryAgain + " " + noResult
	tests := []struct {
		name, sent string
		now        []string // the tool after the cache was written
		answer     func(*fakeConn, wire.Message) ([]string, bool)
		dialError  error
		want       string // what the answer contains
		lists      int    // at most: one comes with each dial
	}{
		{"is sent at once when it fits", `{"tool":"run","args":{"a":1}}`, needs(`"b"`), nil, nil, `{"name":"run","arguments":{"a":1}}`, 1},
		{"is refused when something is missing still", `{"tool":"run","args":{}}`, needs(`"a"`), nil, nil, `"a" is missing`, 1},
		{"is sent when nothing is missing any more", `{"tool":"run","args":{"b":{}}}`, needs(`"b"`), nil, nil, `{"name":"run","arguments":{"b":{}}}`, 1},
		{"is refused for what is missing now", `{"tool":"run","args":{}}`, needs(`"b"`), nil, nil, `"b" is missing`, 1},
		{"is refused for what is not allowed", `{"tool":"run","args":{"a":1,"c":2}}`, needs(`"a"`), nil, nil, `"c" is no parameter`, 1},
		{"is sent when it is allowed now", `{"tool":"run","args":{"a":1,"c":2}}`, []string{tool("run", "", `{"type":"object"}`)}, nil, nil, `{"name":"run","arguments":{"a":1,"c":2}}`, 1},
		{"is repaired", `{"tool":"run","arguments":{"a":1}}`, needs(`"a"`), nil, nil, `{"name":"run","arguments":{"a":1}}`, 1},
		{"is repaired by the catalog that is there now", `{"tool":"run","params":{"a":1}}`, needs(`"params"`), nil, nil, `{"name":"run","arguments":{"params":{"a":1}}}`, 1},
		{"is sent when the upstream cannot list", `{"tool":"run","args":{}}`, needs(`"a"`), fails, nil, `{"name":"run","arguments":{}}`, 1},
		{"is sent as it seems to be meant when the upstream cannot list", `{"tool":"run","params":"{\"c\":1}"}`, needs(`"a"`), fails, nil, `{"name":"run","arguments":{"params":"{\"c\":1}"}}`, 1},
		{"fails when there is no upstream", `{"tool":"run","args":{}}`, nil, nil, fmt.Errorf("it is gone"), down, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := Options{Server: entry(t, `,"used":[]`), Store: store(t), Version: "v1"}
				visit(t, o, &fake{tools: needs(`"a"`)}, nil)
				up := &fake{tools: tt.now, answer: tt.answer, dialError: tt.dialError}
				d := start(t, o, up)
				d.open()
				if got := text(d.call("1", "call", tt.sent)); !strings.Contains(got, tt.want) {
					t.Errorf("call of %s\n%s\nwant %s", tt.sent, got, tt.want)
				}
				d.said()
				if n := up.lists(); n > tt.lists {
					t.Errorf("listed %d times, want at most %d", n, tt.lists)
				}
			})
		})
	}
}

// What is repaired is logged, but not what it is about.
func TestRepairsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, log := &fake{tools: shop()}, &journal{}
		d := start(t, Options{Server: entry(t, `,"used":[]`), Log: log.logger()}, up)
		d.open()
		d.call("1", "call", `{"tool":"get_issue","args":{"id":"private"}}`)
		if got := log.lines("repaired"); got != nil {
			t.Errorf("a plain call is logged as repaired: %q", got)
		}
		d.call("2", "call", `{"name":"acme_get-issue","params":"{\"id\":\"private\"}"}`)
		if got := log.lines("call repaired", "tool=get_issue", `how="tool as name, other name, args as params, string"`); len(got) != 1 {
			t.Errorf("the log has %q", log.text.String())
		}
		if got := log.lines("private"); got != nil {
			t.Errorf("arguments are logged: %q", got)
		}
	})
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
			[][2]string{{"call", `{"tool":"search_issues","args":{"text":"x"}}`}, {"call", `{"tool":"Search_Issues","args":{"text":"x"}}`}},
			[]string{hinted(` ]`, `,`), failure}},
		{"gives none to a direct call", ``, failure, [][2]string{{"search_issues", `{}`}}, []string{failure}},
		{"gives none with hints off", `,"hints":false`, failure, [][2]string{{"call", `{"tool":"search_issues","args":{"text":"x"}}`}}, []string{failure}},
		{"gives none after a success", ``, `{"content":[],"isError":false}`, [][2]string{{"call", `{"tool":"search_issues","args":{"text":"x"}}`}}, []string{`{"content":[],"isError":false}`}},
		{"gives none where there is no content", ``, `{"isError":true}`, [][2]string{{"call", `{"tool":"search_issues","args":{"text":"x"}}`}}, []string{`{"isError":true}`}},
		{"fills empty content", ``, `{"content":[ ],"isError":true}`, [][2]string{{"call", `{"tool":"search_issues","args":{"text":"x"}}`}}, []string{`{"content":[` + signature + `],"isError":true}`}},
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
