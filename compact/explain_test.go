package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"mcp-facade/compact"
)

func TestExplain(t *testing.T) {
	tests := []struct {
		name, tool string
		o          compact.Options
		want       []compact.Cut
	}{
		{"is silent when nothing is cut", `{"name": "a", "inputSchema": {"type": "object"}}`, compact.Options{}, nil},
		{"is silent when off", `{"description":"One thing. Two."}`, compact.Options{Level: "off"}, nil},
		{"is silent about what is no tool", `[1]`, compact.Options{}, nil},
		{"shows what is dropped", `{"icons":[1, 2],"name":"a"}`, compact.Options{}, []compact.Cut{{"/icons", `[1,2]`, ""}}},
		{"escapes names", `{"inputSchema":{"properties":{"a/b~c":{"$comment":"x"}}}}`, compact.Options{},
			[]compact.Cut{{"/inputSchema/properties/a~1b~0c/$comment", `"x"`, ""}}},
		{"numbers the elements of lists", `{"inputSchema":{"anyOf":[{},{"description":"One thing. Two."}]}}`, compact.Options{},
			[]compact.Cut{{"/inputSchema/anyOf/1/description", `"One thing. Two."`, `"One thing."`}}},
		{"shows a reference and what is written in its place",
			`{"inputSchema":{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}}`, compact.Options{Level: "lossless"},
			[]compact.Cut{
				{"/inputSchema/properties/a/$ref", `"#/$defs/a"`, ""},
				{"/inputSchema/properties/a/type", "", `"string"`},
				{"/inputSchema/$defs", `{"a":{"type":"string"}}`, ""},
			}},
		{"shows a union that becomes a list of types",
			`{"inputSchema":{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}}`, compact.Options{Level: "tight"},
			[]compact.Cut{
				{"/inputSchema/properties/a/anyOf", `[{"type":"string"},{"type":"null"}]`, ""},
				{"/inputSchema/properties/a/type", "", `["string","null"]`},
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, compact.Explain([]byte(tt.tool), tt.o)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestExplainOnGolden checks that every cut is where it says.
func TestExplainOnGolden(t *testing.T) {
	for _, line := range lines(t, "testdata/tools.golden") {
		tool, ok := strings.CutPrefix(line, "< ")
		if !ok {
			continue
		}
		for _, level := range levels {
			cuts := compact.Explain([]byte(tool), compact.Options{Level: level})
			if level == "off" && len(cuts) > 0 {
				t.Errorf("%d cuts when off: %s", len(cuts), tool)
			}
			for _, cut := range cuts {
				if cut.Before != "" && !strings.Contains(strings.ReplaceAll(tool, `" : `, `":`), cut.Before) || cut.Before == cut.After {
					t.Errorf("%s: %+v\nin %s", level, cut, tool)
				}
				if cut.After != "" && !gjson.Valid(cut.After) {
					t.Errorf("%s: no JSON: %+v", level, cut)
				}
			}
		}
	}
}

func ExampleExplain() {
	tool := []byte(`{"name":"get_page","description":"Reads a page. Slowly.","inputSchema":{"type":"object","examples":[{}]}}`)
	for _, cut := range compact.Explain(tool, compact.Options{}) {
		fmt.Printf("%s\n- %s\n+ %s\n", cut.Path, cut.Before, cut.After)
	}
	// Output:
	// /description
	// - "Reads a page. Slowly."
	// + "Reads a page."
	// /inputSchema/examples
	// - [{}]
	// +
}
