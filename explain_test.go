package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"mcp-facade/catalog"
	"mcp-facade/compact"

	"github.com/tidwall/gjson"
)

func TestOutline(t *testing.T) {
	tests := []struct{ name, before, after, want string }{
		{"puts like beside like", `{"a":1,"b":{"c":"x"}}`, `{"a":1,"b":{"c":"x"}}`, "a: 1 = a: 1\nb: = b:\n  c: \"x\" =   c: \"x\"\n"},
		{"marks what is dropped", `{"a":1,"b":{"c":2}}`, `{"a":1}`, "a: 1 = a: 1\nb: <\n  c: 2 <\n"},
		{"marks what is added", `{}`, `{"a":{"b":1}}`, " > a:\n >   b: 1\n"},
		{"marks what is changed", `{"a":"xy"}`, `{"a":"x"}`, "a: \"xy\" | a: \"x\"\n"},
		{"puts a schema beside a reference", `{"a":{"$ref":"#/$defs/a"}}`, `{"a":{"type":"string"}}`, "a: = a:\n  $ref: \"#/$defs/a\" <\n >   type: \"string\"\n"},
		{"puts an object beside a plain value", `{"a":true}`, `{"a":{"not":{}}}`, "a: true | a:\n >   not: {}\n"},
		{"keeps plain lists in a line", `{"a":["x","y"]}`, `{"a":["x"]}`, "a: [\"x\",\"y\"] | a: [\"x\"]\n"},
		{"numbers what other lists hold", `{"a":[{"b":1},{}]}`, `{"a":[{"b":1}]}`, "a: = a:\n  - 1: =   - 1:\n    b: 1 =     b: 1\n  - 2: {} <\n"},
		{"shows no character that moves a terminal", "{\"a\u202e\":\"b\u009b2J\"}", `{}`, "a: \"b2J\" <\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			for _, r := range outline(nil, "", gjson.Parse(tt.before), gjson.Parse(tt.after)) {
				mark := strings.ReplaceAll(r.mark(), " ", "=")
				got += strings.TrimRight(r.before+" "+mark+" "+r.after, " ") + "\n"
			}
			if got != tt.want {
				t.Errorf("outline of %s and %s:\n%s\nwant\n%s", tt.before, tt.after, got, tt.want)
			}
		})
	}
}

// TestExplainWidth: two columns where they have room, else one after the other,
// and no line that is too long.
func TestExplainWidth(t *testing.T) {
	raw := []byte(`{"name":"create","description":"Creates an issue in a project that exists. ` + strings.Repeat("And more. ", 40) + `","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#"}}`)
	x := explainTool(catalog.Tool{Name: "create", Raw: raw}, compact.Options{Level: "standard"})
	for _, columns := range []int{60, 99, 100, 180} {
		var out strings.Builder
		x.print(&out, columns)
		beside := strings.Contains(out.String(), "| after, ")
		if want := columns >= sideBySide; beside != want {
			t.Errorf("on %d columns it is side by side: %t, want %t:\n%s", columns, beside, want, &out)
		}
		if !beside && strings.Index(out.String(), "\nbefore, ") > strings.Index(out.String(), "\nafter, ") {
			t.Errorf("on %d columns the tool before comes second:\n%s", columns, &out)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns && !strings.HasPrefix(line, "create of") {
				t.Errorf("a line of %d characters on %d columns: %s", n, columns, line)
			}
		}
	}
}
