package facade

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// dangerous are tools that do more the less they are told.
func dangerous() []string {
	object := func(members string) string { return `{"type":"object",` + members + `}` }
	return []string{
		annotated("delete_items", destructive, object(`"properties":{"project":{"type":"string"},"dry_run":{"type":"boolean"}}`)),
		annotated("delete_all", destructive, object(`"properties":{}`)),
		annotated("move", destructive, object(`"properties":{"src":{"type":"string"},"dst":{"type":"string"}},"required":["src","dst"],"additionalProperties":false`)),
		annotated("get_item", `{"readOnlyHint":true}`, object(`"properties":{"id":{"type":"string"}},"required":["id"]`)),
		annotated("edit_file", destructive, object(`"properties":{"path":{"type":"string"},"dryRun":{"type":"boolean"}},"required":["path"]`)),
	}
}

// Nothing that was said is left out of a call, and no example does more than was
// asked for.
func TestNothingIsLost(t *testing.T) {
	const project = `{"tool":"delete_items","args":{"project":"A"}}`
	tests := []struct{ name, sent, want string }{
		{"a parameter beside args", `{"tool":"edit_file","args":{"path":"a"},"dryRun":true}`, `{"tool":"edit_file","args":{"dryRun":true,"path":"a"}}`},
		{"the same in other words", `{"tool":"edit_file","args":{"path":"a"},"dry_run":true}`, `{"tool":"edit_file","args":{"path":"a","dryRun":true}}`},
		{"what no parameter is like", `{"tool":"edit_file","args":{"path":"a"},"whatIf":false}`, `It has no place for "whatIf"`},
		{"a box beside empty args", `{"tool":"delete_items","args":{},"arguments":{"project":"A"}}`, project},
		{"a parameter beside empty args", `{"tool":"delete_items","args":{},"project":"A"}`, project},
		{"a parameter beside an empty object in a string", `{"tool":"delete_items","args":"{}","project":"A"}`, project},
		{"a parameter beside a box", `{"tool":"edit_file","arguments":{"path":"a"},"dry_run":true}`, `{"tool":"edit_file","args":{"path":"a","dryRun":true}}`},
		{"what stands beside an envelope", `{"args":{"tool":"edit_file","args":{"path":"a"}},"dryRun":true}`, `{"tool":"edit_file","args":{"dryRun":true,"path":"a"}}`},
		{"two values", `{"tool":"edit_file","args":{"path":"a"},"path":"b"}`, `{"tool":"edit_file","args":{"path":"a"}}` + "\n" + `{"tool":"edit_file","args":{"path":"b"}}`},
		{"what a tool without parameters is told", `{"tool":"delete_all","dry_run":true}`, `It has no place for "dry_run"`},
		{"the same beside args", `{"tool":"delete_all","args":{},"dry_run":true}`, `It has no place for "dry_run"`},
		{"another name", `{"name":"nosuch","toolName":"delete_all"}`, `It has no place for "name"`},

		{"members after a string", `{"tool":"edit_file","args":"{\"path\":\"a\"}, \"dryRun\": true}"}`, `{"tool":"edit_file","args":{"path":"a","dryRun":true}}`},
		{"prose after it that names a parameter", `{"tool":"edit_file","args":"{\"path\":\"a\"} with dryRun"}`, `{"tool":"edit_file","args":{"path":"a","dryRun":"<dryRun: boolean>"}}`},
		{"prose before it", `{"tool":"edit_file","args":"do not run, example: {\"path\":\"a\"}"}`, `{"tool":"edit_file","args":{"path":"<path: string>"}}`},
		{"a tag in a name", `{"tool":"delete_all<dry_run>true"}`, `Nearest: delete_all`},
		{"arguments in a name beside others", `{"tool":"edit_file<args>{\"path\":\"b\"}","args":{"path":"a"}}`, `{"tool":"edit_file","args":{"path":"b"}}`},

		{"two objects", `{"tool":"delete_items","args":[{"project":"A"},{"project":"B"}]}`, `{"tool":"delete_items","args":{"project":"<project: string>"}}`},
		{"a text", `{"tool":"delete_items","args":"project A"}`, `{"tool":"delete_items","args":{"project":"<project: string>"}}`},
		{"a number", `{"tool":"delete_items","args":7}`, `{"tool":"delete_items","args":{"project":"<project: string>"}}`},
		{"a text under another name", `{"tool":"delete_items","arguments":"project=A"}`, `{"tool":"delete_items","args":{"project":"<project: string>"}}`},
		{"an object under another name", `{"tool":"delete_items","filters":{"project":"A"}}`, `{"tool":"delete_items","args":{"project":"<project: string>"}}`},
		{"no", `{"tool":"move","args":{"src":"a","dst":"b","overwrite":false}}`, `It has no place for "overwrite"`},

		{"another server in a name", `{"tool":"mcp__linear__delete_all","args":{}}`, `Nearest: delete_all.`},
		{"another server before a stop", `{"tool":"linear.delete_all","args":{}}`, `Nearest: delete_all.`},
		{"another server before a slash", `{"tool":"staging/delete_all","args":{}}`, `Nearest: delete_all.`},
		{"a word before a colon", `{"tool":"not:delete_all","args":{}}`, `Nearest: delete_all.`},
		{"another server beside a tool", `{"server":"linear","tool":"delete_all","args":{}}`, `If delete_all of acme is meant, do not name another server.`},
		{"another server around an envelope", `{"server":"linear","args":{"tool":"delete_all","args":{}}}`, `If delete_all of acme is meant, do not name another server.`},
	}
	f, v, _ := facadeWith(t, `,"used":[]`, []byte(`{"tools":[`+strings.Join(dangerous(), ",")+`]}`))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := understood(f, v, tt.sent)
			if !strings.HasPrefix(got, "! ") || !strings.Contains(got, tt.want) || strings.Contains(got, `"args":{}}`) {
				t.Errorf("call of %s\n%s\nwant a refusal with\n%s", tt.sent, got, tt.want)
			}
		})
		if o, err := f.understand(v, f.surfaceOf(v), gjson.Parse(tt.sent), true); err == nil && o.tool == "delete_all" && !strings.Contains(o.args, "dry_run") {
			t.Errorf("%s: without a list of tools, delete_all is called", tt.sent)
		}
	}
}

// What is our own name, as hosts write it, and what only reads, is taken for ours.
func TestOwnPrefixes(t *testing.T) {
	f, v, _ := facadeWith(t, `,"used":[],"prefix":"ac_"`, []byte(`{"tools":[`+strings.Join(dangerous(), ",")+`]}`))
	v.handshake = []byte(`{"serverInfo":{"name":"Acme Files"}}`)
	for _, prefix := range []string{"mcp__acme__", "mcp_acme_", "mcp:acme:", "acme__", "acme.", "acme/", "acme:", "ac_", "acme-files-", "mcp__Acme_Files__",
		"mcp__plugin_tools_acme__", "mcp__claude_ai_Acme__", "functions.mcp__acme__"} {
		if got := understood(f, v, `{"tool":"`+prefix+`delete_all"}`); got != "delete_all {}" {
			t.Errorf("%sdelete_all: %s", prefix, got)
		}
	}
	for _, server := range []string{"acme", "ACME", "user-acme", "Acme Files", "mcp__acme"} {
		if got := understood(f, v, `{"server":"`+server+`","tool":"delete_all"}`); got != "delete_all {}" {
			t.Errorf("delete_all of %s: %s", server, got)
		}
	}
	for _, sent := range []string{`{"tool":"linear/get_item","args":{"id":"1"}}`, `{"tool":"mcp__other__get_item","args":{"id":"1"}}`, `{"server":"linear","tool":"get_item","args":{"id":"1"}}`} {
		if got := understood(f, v, sent); got != `get_item {"id":"1"}` {
			t.Errorf("%s: %s", sent, got)
		}
	}
}

// What cannot be the name of a tool is not looked for: work that grows with the
// square of a name would not end here.
func TestLongNames(t *testing.T) {
	f, v, c := facadeWith(t, `,"used":[],"hide":["secret_*","*_x*y?z"]`, []byte(`{"tools":[`+strings.Join(append(dangerous(), tool("secret_x", "", "")), ",")+`]}`))
	for _, name := range []string{strings.Repeat("q", 1<<20), "mcp__" + strings.Repeat("a__", 1<<18), strings.Repeat("a.", 1<<19) + "secret_x"} {
		if got := understood(f, v, `{"tool":"`+name+`","args":{}}`); !strings.HasPrefix(got, "! Tool ") || strings.Contains(got, "Nearest") {
			t.Errorf("a long name: %.300s", got)
		}
		if _, failed := f.describe(v, c, gjson.Parse(`{"tool":"`+name+`"}`)); !failed {
			t.Error("a long name is described")
		}
		if f.allow(&invocation{view: v, tool: name}) == nil {
			t.Errorf("a long name passes the guard: %.40s", name)
		}
	}
}

func TestBehind(t *testing.T) {
	for _, tt := range []struct {
		glob, name string
		want       bool
	}{
		{"delete_*", "mcp__a__delete_it", true}, {"delete_*", "a.b.c.deleteIt", true}, {"delete_*", "undelete_it", false},
		{"delete_x", "a-delete-x", true}, {"delete_x", "delete_xy", false}, {"delete_x", "delete_x_delete_x", true},
		{"*_x", "a_b_x", true}, {"a*b", "c_a_b_a", false}, {"a*b", "c_a_a_b", true}, {"d?l*", "x_del_y", true}, {"d?l", "x_dal", true}, {"*", "a", true}, {"é*", "x_éa", true},
	} {
		if got := behind([]string{tt.glob}, tt.name); got != tt.want {
			t.Errorf("%q may be made of what %q matches: %t, want %t", tt.name, tt.glob, got, tt.want)
		}
	}
}

// A refusal is the same by whatever spelling of our own name it was asked for.
func TestRepeatsInOtherSpellings(t *testing.T) {
	up := &fake{tools: dangerous()}
	d := start(t, Options{Server: entry(t, `,"used":[]`)}, up)
	d.open()
	d.names()
	got := ""
	for i, name := range []string{"call", "Call", "cAll", "caLl", "calL", "CALL"} {
		got = text(d.call("1", name, `{"tool":"`+[]string{"zzyzx", "Zzyzx"}[i%2]+`","args":{}}`))
	}
	if !strings.HasPrefix(got, "Stop. ") {
		t.Errorf("the sixth time the model is told %s", got)
	}
}
