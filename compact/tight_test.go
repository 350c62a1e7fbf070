package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"mcp-facade/compact"
)

// Each test is of a property: what it is, and what it becomes when optional.
var tightTests = []schemaTest{
	{"keeps a type", `{"type":"string","minLength":1,"format":"date","title":"T"}`, `{"type":"string"}`},
	{"keeps a list of types", `{"type":["string","null"],"maxLength":9}`, `{"type":["string","null"]}`},
	{"keeps values", `{"type":"string","enum":["a","b"],"default":"a"}`, `{"type":"string","enum":["a","b"]}`},
	{"keeps a constant", `{"const":{"$ref":"x"},"deprecated":true}`, `{"const":{"$ref":"x"}}`},
	{"keeps nullable", `{"type":"string","nullable":true,"pattern":"a"}`, `{"type":"string","nullable":true}`},
	{"keeps 60 characters of a description",
		`{"type":"string","description":"The name of the place where the thing is to be found by others"}`,
		`{"type":"string","description":"The name of the place where the thing is to be found…"}`},
	{"keeps the default that a description ends in",
		`{"type":"string","default":"here","description":"The name of the place where the thing is to be found by others. It is."}`,
		`{"type":"string","description":"The name of the place where the thing… (default here)"}`},
	{"leaves nothing of an object but that it is one", `{"type":"object","description":"D.","properties":{"a":{}},"required":["a"],"additionalProperties":false}`, `{"type":"object","description":"D."}`},
	{"keeps the type of items", `{"type":"array","items":{"type":"string","maxLength":9,"description":"D."},"maxItems":5}`, `{"type":"array","items":{"type":"string"}}`},
	{"keeps the values of items", `{"type":"array","items":{"enum":["a"]},"uniqueItems":true}`, `{"type":"array","items":{"enum":["a"]}}`},
	{"keeps the type of items of items", `{"type":"array","items":{"type":"array","items":{"type":"number","minimum":0}}}`, `{"type":"array","items":{"type":"array","items":{"type":"number"}}}`},
	{"drops items that follow others", `{"type":"array","prefixItems":[{}],"items":{"type":"null"}}`, `{"type":"array"}`},
	{"drops items that may be anything", `{"type":"array","items":{"description":"D."}}`, `{"type":"array"}`},
	{"keeps a boolean", `true`, `true`},
	{"makes types of a union of types", `{"anyOf":[{"type":"string","minLength":1},{"type":"null"}]}`, `{"type":["string","null"]}`},
	{"makes types of oneOf", `{"description":"D.","oneOf":[{"type":"string"},{"type":"integer","minimum":0},{"type":"string","format":"date"}]}`, `{"description":"D.","type":["string","integer"]}`},
	{"makes one type of a union of it", `{"anyOf":[{"type":"object","required":["a"]},{"type":"object","required":["b"]}]}`, `{"type":"object"}`},
	{"keeps a union of more than types", `{"oneOf":[{"enum":["a"],"title":"A"},{"type":"array","items":{"type":"string"}}]}`, `{"anyOf":[{"enum":["a"]},{"type":"array","items":{"type":"string"}}]}`},
	{"drops a union with something that may be anything", `{"anyOf":[{"type":"string"},{"minimum":0}]}`, `{}`},
	{"passes over what a union never is", `{"anyOf":[{"type":"string"},false]}`, `{"type":"string"}`},
	{"drops a union beside a type if it says no more", `{"type":"object","anyOf":[{"type":"object"},{"type":"object"}]}`, `{"type":"object"}`},
	{"keeps a union beside a type", `{"type":["string","null"],"anyOf":[{"enum":["a"]},{"type":"null"}]}`, `{"type":["string","null"],"anyOf":[{"enum":["a"]},{"type":"null"}]}`},
	{"takes the type from allOf", `{"allOf":[{"description":"D."},{"type":"string"},{"minLength":1}]}`, `{"type":"string"}`},
	{"does not take it beside a type", `{"type":"string","allOf":[{"enum":["a"]}]}`, `{"type":"string"}`},
	{"follows a reference", `{"$ref":"#/$defs/text"}`, `{"type":"string","description":"A text."}`},
	{"prefers the description beside a reference", `{"description":"D.","$ref":"#/$defs/text","minLength":7}`, `{"description":"D.","type":"string"}`},
	{"follows a reference in a union", `{"anyOf":[{"$ref":"#/$defs/text"},{"type":"null"}]}`, `{"type":["string","null"]}`},
	{"follows a reference in items", `{"type":"array","items":{"$ref":"#/$defs/tree"}}`, `{"type":"array","items":{"type":"object"}}`},
	{"ends on a circle", `{"$ref":"#/$defs/circle"}`, `{}`},
	{"takes a boolean definition for anything", `{"$ref":"#/$defs/never"}`, `{}`},
}

func TestSchemaTight(t *testing.T) {
	const defs = `,"$defs":{"text":{"type":"string","description":"A text.","maxLength":9999999},"tree":{"type":"object","properties":{"up":{"$ref":"#/$defs/tree"}}},"circle":{"$ref":"#/$defs/circle"},"never":false}`
	for _, tt := range tightTests {
		t.Run(tt.name, func(t *testing.T) {
			in := `{"type":"object","properties":{"p":` + tt.in + `}` + defs + `}`
			want := `{"type":"object","properties":{"p":` + tt.want + `}}`
			if got := string(compact.Schema([]byte(in), compact.Options{Level: "tight"})); got != want {
				t.Errorf("optional: Schema(%s)\n got %s\nwant %s", tt.in, got, want)
			}
			required := strings.TrimSuffix(in, "}") + `,"required":["p"]}`
			o, err := consult([]byte(in), 5, 50)
			if err != nil {
				t.Log(err) // the circle
			}
			checkLevels(t, []byte(in), o, keeps...)
			checkLevels(t, []byte(required), nil, keeps...)
		})
	}
}

func TestSchemaTightStructure(t *testing.T) {
	tests := []schemaTest{
		{"leaves required properties", `{"properties":{"a":{"type":"string","minLength":1}},"required":["a"]}`, `{"properties":{"a":{"type":"string","minLength":1}},"required":["a"]}`},
		{"looks into required objects", `{"properties":{"a":{"properties":{"b":{"maxLength":1}}}},"required":["a"]}`, `{"properties":{"a":{"properties":{"b":{}}}},"required":["a"]}`},
		{"looks into items", `{"items":{"properties":{"b":{"maxLength":1}}}}`, `{"items":{"properties":{"b":{}}}}`},
		{"looks into unions", `{"anyOf":[{"properties":{"b":{"maxLength":1}}}],"allOf":[{"properties":{"b":{"maxLength":1}}}]}`, `{"anyOf":[{"properties":{"b":{}}}],"allOf":[{"properties":{"b":{}}}]}`},
		{"leaves what must not accept more", `{"oneOf":[{"properties":{"b":{"maxLength":1}}}],"not":{"properties":{"b":{"maxLength":1}}},"if":{"properties":{"b":{"maxLength":1}}},"contains":{"properties":{"b":{"maxLength":1}}}}`,
			`{"oneOf":[{"properties":{"b":{"maxLength":1}}}],"not":{"properties":{"b":{"maxLength":1}}},"if":{"properties":{"b":{"maxLength":1}}},"contains":{"properties":{"b":{"maxLength":1}}}}`},
		{"looks into definitions", `{"items":{"$ref":"#/$defs/a"},"contains":{},"$defs":{"a":{"properties":{"b":{"maxLength":1}},"items":{"$ref":"#/$defs/a"}}}}`,
			`{"items":{"$ref":"#/$defs/a"},"contains":{},"$defs":{"a":{"properties":{"b":{}},"items":{"$ref":"#/$defs/a"}}}}`},
		{"leaves definitions that must not accept more", `{"items":{"$ref":"#/$defs/a"},"not":{"$ref":"#/$defs/a"},"$defs":{"a":{"properties":{"b":{"maxLength":1}}}}}`,
			`{"items":{"$ref":"#/$defs/a"},"not":{"$ref":"#/$defs/a"},"$defs":{"a":{"properties":{"b":{"maxLength":1}}}}}`},
		{"writes what is used once in the end", `{"properties":{"a":{"$ref":"#/$defs/a"},"b":{"$ref":"#/$defs/a"}},"required":["a"],"$defs":{"a":{"maxLength":1}}}`,
			`{"properties":{"a":{"maxLength":1},"b":{}},"required":["a"]}`},
		{"is standard where values would be repeated", `{"properties":{"a":{"$ref":"#/$defs/a"},"b":{"$ref":"#/$defs/a"}},"$defs":{"a":{"enum":["one of the values that there are","another of them, which is as long"]}}}`,
			`{"properties":{"a":{"$ref":"#/$defs/a"},"b":{"$ref":"#/$defs/a"}},"$defs":{"a":{"enum":["one of the values that there are","another of them, which is as long"]}}}`},
		{"only cuts texts in a schema that refers to its body",
			`{"properties":{"a":{"maxLength":1,"description":"The name of the place where the thing is to be found by others"},"b":{"$ref":"#/properties/a"}}}`,
			`{"properties":{"a":{"maxLength":1,"description":"The name of the place where the thing is to be found…"},"b":{"$ref":"#/properties/a"}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(compact.Schema([]byte(tt.in), compact.Options{Level: "tight"})); got != tt.want {
				t.Errorf("Schema(%s)\n got %s\nwant %s", tt.in, got, tt.want)
			}
			checkLevels(t, []byte(tt.in), nil, keeps...)
		})
	}
}

func TestSchemaTightKeeps(t *testing.T) {
	const in = `{"properties":{"a":{"type":"array","minItems":1,"items":{"type":"string","format":"date"},"default":[],"contains":{}}}}`
	tests := []struct{ keep, want string }{
		{"minItems", `{"properties":{"a":{"type":"array","minItems":1,"items":{"type":"string"}}}}`},
		{"format", `{"properties":{"a":{"type":"array","items":{"type":"string","format":"date"}}}}`},
		{"default", `{"properties":{"a":{"type":"array","items":{"type":"string"},"default":[]}}}`},
		{"contains", `{"properties":{"a":{"type":"array","items":{"type":"string"}}}}`},
	}
	for _, tt := range tests {
		if got := string(compact.Schema([]byte(in), compact.Options{Level: "tight", Keep: []string{tt.keep}})); got != tt.want {
			t.Errorf("keep %s: Schema(%s)\n got %s\nwant %s", tt.keep, in, got, tt.want)
		}
	}
}

// TestSchemaTightHostile has schemas that would be reduced for very long.
func TestSchemaTightHostile(t *testing.T) {
	var steps []string // each is freed by the one before it
	for i := range 300 {
		steps = append(steps, fmt.Sprintf(`"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}},"required":["a"]}`, i, i+1, i+1))
	}
	union := strings.TrimSuffix(strings.Repeat(`{"$ref":"#/$defs/a"},`, 30), ",")
	tests := []struct{ name, in string }{
		{"gives up on steps without end",
			`{"oneOf":[{"$ref":"#/$defs/d300"}],"properties":{"a":{"$ref":"#/$defs/d0"}},"required":["a"],"$defs":{` + strings.Join(steps, ",") + `,"d300":{"type":"string"}}}`},
		{"gives up on unions that multiply",
			`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[` + union + `]}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkLevels(t, []byte(tt.in), nil, keeps...) })
	}
}
