package facade

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// shop are tools whose parameters are easily mistaken.
func shop() []string {
	object := func(members string) string { return `{"type":"object",` + members + `}` }
	return []string{
		tool("get_issue", "Get one issue.", object(`"properties":{"id":{"type":"string"},"depth":{"type":"integer"}},"required":["id"]`)),
		tool("list_issues", "List issues.", object(`"properties":{"state":{"enum":["open","closed"]},"limit":{"type":"integer"}}`)),
		tool("create_project", "Create a project.", object(`"properties":{"name":{"type":"string"},"note":{"type":"string"},"tool":{"type":"string"}},"required":["name"],"additionalProperties":false`)),
		tool("set_state", "Set the state of an issue.", object(`"properties":{"id":{"type":"string"},"state":{"type":"string","enum":["open","closed"]},"on":{"type":"string","format":"date"}},"required":["id","state","on"]`)),
		tool("find_jobs", "Find jobs.", object(`"properties":{"params":{"type":"object","properties":{"branch":{"type":"string"}},"required":["branch"]}},"required":["params"]`)),
		tool("run_command", "Run a command.", object(`"properties":{"command":{"type":"string"},"args":{"type":"array","items":{"type":"string"}},"input":{"type":"object"}},"required":["command"]`)),
		tool("ship", "Ship items.", `{"$ref":"#/$defs/order","$defs":{"order":`+object(`"properties":{"items":{"type":"array","items":{"$ref":"#/$defs/item"}},"meta":{"anyOf":[{"type":"object"},{"type":"null"}]},"text":{"type":["string","object"]},"free":{}},"required":["items"]`)+
			`,"item":`+object(`"properties":{"size":{"type":"object"}}`)+`}}`),
		tool("ping", "Answer.", ""),
		tool("raw", "Take anything.", object(`"description":"x"`)),
		tool("Close-Issue", "Close one issue.", object(`"properties":{"id":{"type":"string"}},"required":["id"]`)),
		tool("getX", "Get x.", ""), tool("GETX", "Get X.", ""),
		tool("move_up", "Move up.", ""), tool("move.up", "Move up.", ""),
	}
}

// What models send to call in place of {"tool": …, "args": …}, and what of it
// reaches the upstream.
func TestReadings(t *testing.T) {
	const issue = `get_issue {"id":"A-1"}`
	tests := []struct{ name, sent, want string }{
		{"takes tool and args", `{"tool":"get_issue","args":{"id":"A-1"}}`, issue},
		{"refuses them if another value stands beside", `{"tool":"get_issue","args":{"id":"A-1"},"id":"B"}`,
			`! get_issue was not called: "id" stands beside "args"; what is meant for the tool belongs under "args".` + "\nTwo values are given for one parameter:\n" + `{"tool":"get_issue","args":{"id":"A-1"}}` + "\n" + `{"tool":"get_issue","args":{"id":"B"}}` + "\n"},
		{"leaves words for others out", `{"tool":"get_issue","args":{"id":"A-1"},"_meta":{"a":1},"confirm":true,"server":"acme","name":"call","params":{}}`, issue},
		{"takes no args for none", `{"tool":"ping"}`, `ping {}`},
		{"takes null for none", `{"tool":"list_issues","args":null}`, `list_issues {}`},
		{"takes an empty string for none", `{"tool":"ping","args":" "}`, `ping {}`},
		{"takes an empty array for none", `{"tool":"list_issues","args":[ ]}`, `list_issues {}`},
		{"takes what stands beside an empty string", `{"tool":"get_issue","args":"","id":"A-1"}`, issue},
		{"leaves what looks odd alone where all is allowed", `{"tool":"list_issues","args":{"stat":"open"}}`, `list_issues {"stat":"open"}`},
		{"leaves values alone", `{"tool":"get_issue","args":{"id":12, "depth":"3"}}`, `get_issue {"id":12, "depth":"3"}`},

		{"opens arguments", `{"tool":"get_issue","arguments":{"id":"A-1"}}`, issue},
		{"opens params", `{"tool":"get_issue","params":{"id":"A-1"}}`, issue},
		{"opens input", `{"tool":"get_issue","input":{"id":"A-1"}}`, issue},
		{"opens parameters", `{"tool":"get_issue","parameters":{"id":"A-1"}}`, issue},
		{"opens tool_args", `{"tool":"get_issue","tool_args":{"id":"A-1"}}`, issue},
		{"opens it beside empty args", `{"tool":"get_issue","args":{},"arguments":{"id":"A-1"}}`, issue},
		{"opens it beside args that are null", `{"tool":"get_issue","args":null,"arguments":{"id":"A-1"}}`, issue},
		{"takes the name for the tool", `{"name":"get_issue","args":{"id":"A-1"}}`, issue},
		{"takes toolName for the tool", `{"toolName":"get_issue","args":{"id":"A-1"}}`, issue},
		{"takes tool_name for the tool", `{"tool_name":"get_issue","arguments":{"id":"A-1"}}`, issue},
		{"takes an API's name and input", `{"type":"tool_use","name":"get_issue","input":{"id":"A-1"}}`, issue},
		{"takes a tool that is an object", `{"tool":{"name":"get_issue"},"args":{"id":"A-1"}}`, issue},
		{"takes a tool that is an object with its arguments", `{"tool":{"name":"get_issue","arguments":{"id":"A-1"}}}`, issue},
		{"opens a string", `{"tool":"get_issue","args":"{\"id\":\"A-1\"}"}`, issue},
		{"opens a string under another name", `{"tool":"get_issue","arguments":"{\"id\":\"A-1\"}"}`, issue},
		{"opens a string in a string", `{"tool":"get_issue","args":"\"{\\\"id\\\":\\\"A-1\\\"}\""}`, issue},
		{"opens the whole in a string", `"{\"tool\":\"get_issue\",\"args\":{\"id\":\"A-1\"}}"`, issue},
		{"opens what is nested once", `{"args":{"tool":"get_issue","args":{"id":"A-1"}}}`, issue},
		{"opens what is nested under the tool", `{"tool":"get_issue","args":{"tool":"get_issue","args":{"id":"A-1"}}}`, issue},
		{"opens what is nested twice", `{"tool":"get_issue","args":{"tool":"get_issue","args":{"tool":"get_issue","args":{"id":"A-1"}}}}`, issue},
		{"opens what is nested twice without a name", `{"args":{"args":{"tool":"get_issue","args":{"id":"A-1"}}}}`, issue},
		{"opens what is nested in a string", `{"args":"{\"tool\":\"get_issue\",\"args\":{\"id\":\"A-1\"}}"}`, issue},
		{"opens call in call", `{"tool":"call","args":{"tool":"get_issue","args":{"id":"A-1"}}}`, issue},
		{"opens the host's call in call", `{"tool":"mcp__acme__call","arguments":{"tool":"get_issue","args":{"id":"A-1"}}}`, issue},
		{"opens args in args", `{"tool":"get_issue","args":{"args":{"id":"A-1"}}}`, issue},
		{"opens arguments in args", `{"tool":"get_issue","args":{"arguments":{"id":"A-1"}}}`, issue},
		{"opens arguments in args of a tool that needs none", `{"tool":"list_issues","args":{"arguments":{"state":"open"}}}`, `list_issues {"state":"open"}`},
		{"opens what is nested for a tool without parameters", `{"tool":"ping","args":{"tool":"ping","args":{}}}`, `ping {}`},
		{"takes what stands beside the tool", `{"tool":"get_issue","id":"A-1","depth": 2}`, `get_issue {"id":"A-1","depth":2}`},
		{"takes what stands beside the tool and empty args", `{"tool":"get_issue","args":{},"id":"A-1"}`, issue},
		{"takes what stands beside the tool in args", `{"args":{"tool":"get_issue","id":"A-1"}}`, issue},
		{"takes a name beside the tool", `{"tool":"create_project","name":"x","note":"y"}`, `create_project {"name":"x","note":"y"}`},
		{"leaves our own words out", `{"tool":"create_project","name":"x","confirm":true}`, `create_project {"name":"x"}`},
		{"passes nothing to a tool without parameters", `{"tool":"ping","_meta":{"a":1}}`, `ping {}`},

		{"takes another case", `{"tool":"Get_Issue","args":{"id":"A-1"}}`, issue},
		{"takes white space around a name", `{"tool":" get_issue\n","args":{"id":"A-1"}}`, issue},
		{"takes - for _", `{"tool":"get-issue","args":{"id":"A-1"}}`, issue},
		{"takes _ for -", `{"tool":"close_issue","args":{"id":"A-1"}}`, `Close-Issue {"id":"A-1"}`},
		{"takes the prefix of Claude Code", `{"tool":"mcp__acme__get_issue","args":{"id":"A-1"}}`, issue},
		{"takes the prefix of another server's name", `{"tool":"mcp__issues_2__read_issue","args":{"id":"A-1"}}`, `read_issue {"id":"A-1"}`},
		{"takes the prefix of Gemini", `{"tool":"mcp_acme_get_issue","args":{"id":"A-1"}}`, issue},
		{"takes the prefix of OpenCode", `{"tool":"acme_get_issue","args":{"id":"A-1"}}`, issue},
		{"takes the prefix of Copilot", `{"tool":"acme-get_issue","args":{"id":"A-1"}}`, issue},
		{"takes a prefix with a full stop", `{"tool":"acme.get_issue","args":{"id":"A-1"}}`, issue},
		{"takes a prefix with a slash", `{"tool":"tracker/read_issue","args":{"id":"A-1"}}`, `read_issue {"id":"A-1"}`},
		{"takes a prefix with a colon", `{"tool":"tracker:read_issue","args":{"id":"A-1"}}`, `read_issue {"id":"A-1"}`},
		{"takes a prefix before a prefix", `{"tool":"functions.mcp__acme__get-issue","args":{"id":"A-1"}}`, issue},
		{"takes a bent name in a bent call", `{"name":"mcp__acme__Get-Issue","arguments":"{\"id\":\"A-1\"}"}`, issue},

		{"leaves a parameter called params alone", `{"tool":"find_jobs","args":{"params":{"branch":"b"}}}`, `find_jobs {"params":{"branch":"b"}}`},
		{"never opens one", `{"tool":"find_jobs","params":{"branch":"b"}}`, `find_jobs {"params":{"branch":"b"}}`},
		{"never opens one in args", `{"tool":"find_jobs","args":{"args":{"params":{"branch":"b"}}}}`, `find_jobs {"params":{"branch":"b"}}`},
		{"leaves a parameter called args alone", `{"tool":"run_command","args":{"command":"ls","args":["-l"]}}`, `run_command {"command":"ls","args":["-l"]}`},
		{"takes a parameter called args beside the tool", `{"tool":"run_command","command":"ls","args":["-l"]}`, `run_command {"command":"ls","args":["-l"]}`},
		{"takes a parameter called input beside the tool", `{"tool":"run_command","command":"ls","input":{"x":1}}`, `run_command {"command":"ls","input":{"x":1}}`},
		{"leaves a parameter called tool alone", `{"tool":"create_project","args":{"tool":"create_project","name":"x"}}`, `create_project {"tool":"create_project","name":"x"}`},
		{"leaves a parameter called name alone", `{"tool":"create_project","args":{"name":"create_project"}}`, `create_project {"name":"create_project"}`},

		{"opens a string where an array is wanted", `{"tool":"ship","args":{"items":"[{\"size\":{}}]"}}`, `ship {"items":[{"size":{}}]}`},
		{"opens a string where an object or null is wanted", `{"tool":"ship","args":{"items":[],"meta":" {\"a\":1.0} "}}`, `ship {"items":[],"meta":{"a":1.0}}`},
		{"opens strings in arrays", `{"tool":"ship","args":{"items":["{\"size\":\"{}\"}", {"size": {}}]}}`, `ship {"items":[{"size":{}}, {"size": {}}]}`},
		{"leaves a string where one is taken", `{"tool":"ship","args":{"items":[],"text":"{}","free":"[]"}}`, `ship {"items":[],"text":"{}","free":"[]"}`},
		{"leaves a string that holds another type", `{"tool":"ship","args":{"items":"{}","meta":"[1]"}}`, `ship {"items":"{}","meta":"[1]"}`},
		{"leaves a string that is no JSON", `{"tool":"ship","args":{"items":"[1,","meta":"{a}"}}`, `ship {"items":"[1,","meta":"{a}"}`},
		{"opens a string in a bent call", `{"tool":"ship","arguments":{"items":"[]"}}`, `ship {"items":[]}`},
		{"takes anything where nothing is said", `{"tool":"raw","args":{"x":1}}`, `raw {"x":1}`},
		{"opens arguments where nothing is said", `{"tool":"raw","arguments":{"x":1}}`, `raw {"x":1}`},

		{"refuses two readings", `{"tool":"get_issue","arguments":{"id":"A"},"params":{"id":"B"}}`,
			"! The call can be read in 2 ways, so none was taken.\n" + `{"tool":"get_issue","args":{"id":"A"}}` + "\n" + `{"tool":"get_issue","args":{"id":"B"}}` + "\n"},
		{"takes two readings that are the same", `{"tool":"get_issue","arguments":{"id":"A-1"},"params":{"id": "A-1"}}`, issue},
		{"refuses one that leaves something out", `{"tool":"get_issue","arguments":{"id":"A-1"},"depth":2}`,
			`! get_issue was not called: what is meant for the tool belongs under "args".` + "\n*\n" + `{"tool":"get_issue","args":{"depth":2,"id":"A-1"}}` + "\n"},
		{"refuses a name of two tools", `{"tool":"getx","args":{"a":1}}`,
			`! "getx" may mean 2 tools, so none was called.` + "\n" + `{"tool":"getX","args":{"a":1}}` + "\n" + `{"tool":"GETX","args":{"a":1}}` + "\n"},
		{"refuses a bent name of two tools", `{"tool":"acme_move-up"}`,
			`! "acme_move-up" may mean 2 tools, so none was called.` + "\n" + `{"tool":"move_up","args":{}}` + "\n" + `{"tool":"move.up","args":{}}` + "\n"},
		{"refuses what stands beside the tool and may be meant for it", `{"tool":"list_issues","stat":"open"}`,
			`! list_issues was not called: "stat" is no parameter (nearest: "state"); what is meant for the tool belongs under "args".` + "\n*\n" + `{"tool":"list_issues","args":{"state":"open"}}` + "\n"},
		{"refuses a word that is no prefix", `{"tool":"bulk_get_issue","args":{"id":"A-1"}}`, `! Tool "bulk_get_issue" is not in acme's catalog. Nearest: get_issue, `},
		{"refuses the name of another tool in args", `{"tool":"get_issue","args":{"tool":"ping","args":{"id":"A-1"}}}`, `! get_issue was not called: "id" is missing`},
		{"refuses what is nested too deep", `{"args":{"args":{"args":{"args":{"tool":"get_issue","args":{"id":"A-1"}}}}}}`, `! "tool" is missing`},
		{"refuses a meta-tool", `{"tool":"mcp__acme__describe","args":{"tool":"ping"}}`, "! describe is no tool of acme. Call it itself, not by call."},
		{"refuses nothing", `{}`, `! "tool" is missing`},
		{"refuses call of nothing", `{"tool":"call"}`, `! "tool" is missing`},
		{"refuses what is no object", `[1]`, `! "tool" is missing`},
	}
	read := annotated("read_issue", `{"readOnlyHint":true}`, `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`)
	f, v, _ := facadeWith(t, `,"used":[]`, []byte(`{"tools":[`+strings.Join(append(shop(), read), ",")+`]}`))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := understood(f, v, tt.sent)
			if !matches(got, tt.want) {
				t.Errorf("call of %s\n%s\nwant\n%s", tt.sent, got, tt.want)
			}
		})
	}
}

// The model may know the meta-tools by other names than they have.
func TestCallOfCall(t *testing.T) {
	f, v, _ := facadeWith(t, `,"used":[],"prefix":"Acme_"`, []byte(`{"tools":[`+strings.Join(shop(), ",")+`]}`))
	for _, name := range []string{"call", "Acme_call", "acme-call", "mcp__acme__Acme_call", "acme/call"} {
		sent := `{"tool":"` + name + `","args":{"tool":"ping"}}`
		if got := understood(f, v, sent); got != "ping {}" {
			t.Errorf("call of %s: %s", sent, got)
		}
	}
}

// Schemas that have no end are read to one.
func TestEndlessSchemas(t *testing.T) {
	many := strings.Repeat(`{"$ref":"#"},`, 20) + `{"$ref":"#"}`
	for _, schema := range []string{
		`{"$ref":"#"}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#"}},"required":["a","b"]}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#"},"minItems":9},"b":{"$ref":"#"}},"required":["a","b"]}`,
		`{"allOf":[` + many + `],"properties":{"a":{"anyOf":[` + many + `]}},"required":["a"]}`,
		`{"anyOf":[` + many + `],"oneOf":[` + many + `],"required":["a"]}`,
	} {
		f, v, _ := facadeWith(t, `,"used":[]`, []byte(`{"tools":[{"name":"x","inputSchema":`+schema+`}]}`))
		for _, args := range []string{`{}`, `{"a":"{}"}`, `{"c":{"a":"[1]"}}`, `"x"`} {
			if got := understood(f, v, `{"tool":"x","args":`+args+`}`); len(got) > 2000 {
				t.Errorf("call with %s under %.200s: %s", args, schema, got)
			}
		}
	}
}

// understood is what becomes of the arguments of call: "tool {…}", or "! why".
func understood(f *Facade, v *view, sent string) string {
	o, err := f.understand(v, f.surfaceOf(v), gjson.Parse(sent), false)
	if err != nil {
		return "! " + err.Error()
	}
	return o.tool + " " + orNothing(o.args)
}

// matches compares a text with what is wanted: the beginning, if that is a
// refusal, and what follows after "*".
func matches(got, want string) bool {
	if !strings.HasPrefix(want, "!") {
		return got == want
	}
	before, after, _ := strings.Cut(want, "\n*\n")
	return strings.HasPrefix(got, before) && strings.Contains(got, after)
}

// Whatever is sent to call, what reaches the upstream is an object, made of what
// was sent, and what is refused says so.
func FuzzUnderstand(f *testing.F) {
	for _, m := range manglings() {
		for _, name := range []string{"get_issue", "find_jobs", "run_command", "create_project", "getx"} {
			f.Add(m.form(quote(name), `{"id":"A-1","params":{"branch":"b"},"name":"[1]"}`))
		}
	}
	facade, v, c := facadeWith(f, `,"used":[]`, []byte(`{"tools":[`+strings.Join(shop(), ",")+`]}`))
	f.Fuzz(func(t *testing.T, sent string) {
		if !gjson.Valid(sent) {
			t.Skip()
		}
		for _, blind := range []bool{false, true} {
			o, err := facade.understand(v, facade.surfaceOf(v), gjson.Parse(sent), blind)
			switch _, known := c.Lookup(o.tool); {
			case err != nil:
				if !strings.HasSuffix(err.Error(), noResult) {
					t.Errorf("%q is refused by %q", sent, err)
				}
			case !known && !blind:
				t.Errorf("%q becomes a call of %q", sent, o.tool)
			case !gjson.Valid(orNothing(o.args)) || !gjson.Parse(orNothing(o.args)).IsObject():
				t.Errorf("%q becomes a call with %q", sent, o.args)
			case o.plain() && o.args != "" && !strings.Contains(sent, o.args):
				t.Errorf("%q becomes a plain call with %q", sent, o.args)
			}
		}
	})
}

// TestValidArgumentsStay shows that a string is opened, and an envelope, only
// where the schema certainly means that.
func TestValidArgumentsStay(t *testing.T) {
	for _, tt := range []struct{ name, schema, args string }{
		{"it leaves strings of a tuple alone", `{"type":"object","properties":{"row":{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"object"}}}}`, `{"row":["{\"a\":1}",{"b":2}]}`},
		{"it leaves a string alone that one of several variants takes", `{"type":"object","anyOf":[{"properties":{"kind":{"const":"o"},"data":{"type":"object"}}},{"properties":{"kind":{"const":"s"},"data":{"type":"string"}}}]}`, `{"kind":"s","data":"{\"a\":1}"}`},
		{"it leaves a string alone that a condition may take", `{"type":"object","properties":{"fmt":{"type":"string"}},"if":{"properties":{"fmt":{"const":"json"}}},"then":{"properties":{"body":{"type":"object"}}},"else":{"properties":{"body":{"type":"string"}}}}`, `{"fmt":"text","body":"{\"a\":1}"}`},
		{"it leaves what a remote reference may take", `{"type":"object","properties":{"d":{"type":"object","$ref":"https://x.example/s"}}}`, `{"d":"{}"}`},
		{"it opens no envelope where other names are allowed", `{"type":"object","properties":{"version":{"type":"string"}},"additionalProperties":{"type":"object"}}`, `{"input":{"version":"1"}}`},
		{"it opens no envelope whose name fits a pattern", `{"type":"object","properties":{"id":{"type":"integer"}},"patternProperties":{"^p":{"type":"object"}},"additionalProperties":false}`, `{"params":{"id":1}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			up := &fake{tools: []string{tool("x", "Does it.", tt.schema)}}
			d := start(t, Options{Server: entry(t, `,"used":[]`)}, up)
			d.open()
			d.names()
			if got := text(d.call("2", "call", `{"tool":"x","args":`+tt.args+`}`)); gjson.Get(got, "arguments").Raw != tt.args {
				t.Errorf("%s: the upstream is sent %s", tt.args, got)
			}
		})
	}
}
