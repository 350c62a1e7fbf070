package facade

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidwall/gjson"
)

func TestHostproof(t *testing.T) {
	const schema = `"inputSchema":{"type":"object"}`
	tests := []struct{ name, tool, want string }{
		{"leaves a good tool as it is", `{ "name":"a", "inputSchema" : {"type":"object", "properties":{"x":{}}}, "vendor":1.0 }`, ""},
		{"leaves well-formed extras", `{"name":"a","title":"A","description":"B","annotations":{"title":"A","readOnlyHint":true,"vendor":1},"execution":{"taskSupport":"required"},"_meta":{"k":[1]},` + schema + `}`, ""},

		{"adds a type", `{"name":"a","inputSchema":{"properties":{}}}`, `{"name":"a","inputSchema":{"properties":{},"type":"object"}}`},
		{"adds a type to nothing", `{"name":"a","inputSchema":{}}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"makes one type of several", `{"name":"a","inputSchema":{"type":["null","object"]}}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"reads the last of two types", `{"name":"a","inputSchema":{"type":"string","type":"object"}}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"drops properties that are a list, as PHP writes them", `{"name":"a","inputSchema":{"type":"object","properties":[]}}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"drops properties that are null", `{"name":"a","inputSchema":{"properties":null,"type":"object"}}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"opens properties that are no schemas", `{"name":"a","inputSchema":{"type":"object","properties":{"x":"string","y":null,"z":[1]}}}`, `{"name":"a","inputSchema":{"type":"object","properties":{"x":{},"y":{},"z":{}}}}`},
		{"drops required that is no list", `{"name":"a","inputSchema":{"type":"object","required":true}}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"drops required that lists no names", `{"name":"a","inputSchema":{"type":"object","required":["x",1]}}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{"drops required that is null", `{"name":"a","inputSchema":{"type":"object","required":null}}`, `{"name":"a","inputSchema":{"type":"object"}}`},

		{"writes true as an object", `{"name":"a","inputSchema":{"type":"object","properties":{"x":true}}}`, `{"name":"a","inputSchema":{"type":"object","properties":{"x":{}}}}`},
		{"writes false as an object", `{"name":"a","inputSchema":{"type":"object","properties":{"x": false , "y":{}}}}`, `{"name":"a","inputSchema":{"type":"object","properties":{"x": {"not":{}} , "y":{}}}}`},
		{"does so below", `{"name":"a","inputSchema":{"type":"object","properties":{"x":{"items":true,"anyOf":[false,{"not":true}]}},"$defs":{"d":true}}}`,
			`{"name":"a","inputSchema":{"type":"object","properties":{"x":{"items":{},"anyOf":[{"not":{}},{"not":{}}]}},"$defs":{"d":{}}}}`},
		{"leaves additionalProperties and its like", `{"name":"a","inputSchema":{"type":"object","additionalProperties":false,"unevaluatedProperties":true,"properties":{"x":{"additionalItems":false}}}}`, ""},
		{"goes below additionalProperties", `{"name":"a","inputSchema":{"type":"object","additionalProperties":{"items":true}}}`, `{"name":"a","inputSchema":{"type":"object","additionalProperties":{"items":{}}}}`},
		{"leaves data alone", `{"name":"a","inputSchema":{"type":"object","properties":{"x":{"const":{"properties":{"y":true}},"default":true,"enum":[true,{"items":false}],"uniqueItems":true}}}}`, ""},
		{"takes names for names", `{"name":"a","inputSchema":{"type":"object","properties":{"items":{"default":true},"not":{},"const":true}}}`, `{"name":"a","inputSchema":{"type":"object","properties":{"items":{"default":true},"not":{},"const":{}}}}`},
		{"leaves lists of names", `{"name":"a","inputSchema":{"type":"object","dependencies":{"x":["y"],"z":true}}}`, `{"name":"a","inputSchema":{"type":"object","dependencies":{"x":["y"],"z":{}}}}`},

		{"drops a lone x-mcp-header", `{"name":"a","inputSchema":{"type":"object","properties":{"x":{"x-mcp-header":"X"}}}}`, `{"name":"a","inputSchema":{"type":"object","properties":{"x":{}}}}`},
		{"drops x-mcp-header in front", `{"name":"a","inputSchema":{"type":"object","properties":{"x":{ "x-mcp-header":"X" , "items":true}}}}`, `{"name":"a","inputSchema":{"type":"object","properties":{"x":{ "items":{}}}}}`},
		{"drops x-mcp-header at the end", `{"name":"a","inputSchema":{"type":"object","properties":{"x":{"items":true , "x-mcp-header":"X"}}}}`, `{"name":"a","inputSchema":{"type":"object","properties":{"x":{"items":{}}}}}`},
		{"drops each x-mcp-header", `{"name":"a","inputSchema":{"x-mcp-header":1,"x-mcp-header":2,"type":"object","x-mcp-header":3,"properties":{},"x-mcp-header":4}}`, `{"name":"a","inputSchema":{"type":"object","properties":{}}}`},
		{"keeps a parameter called x-mcp-header", `{"name":"a","inputSchema":{"type":"object","properties":{"x-mcp-header":{}}}}`, ""},

		{"drops extras of the wrong type", `{"name":"a","title":5,"description":null,"annotations":"x","execution":[],"_meta":[],` + schema + `}`, `{"name":"a",` + schema + `}`},
		{"drops null", `{"title":null,"name":"a","annotations":null,"execution":null,"_meta":null,"outputSchema":null,"icons":null,` + schema + `}`, `{"name":"a",` + schema + `}`},
		{"drops what is wrong in annotations", `{"name":"a","annotations":{"title":1,"readOnlyHint":"yes","openWorldHint":false},` + schema + `}`, `{"name":"a","annotations":{"openWorldHint":false},` + schema + `}`},
		{"drops a taskSupport that nobody knows", `{"name":"a","execution":{"taskSupport":"sometimes","x":1},` + schema + `}`, `{"name":"a","execution":{"x":1},` + schema + `}`},
		{"keeps the last of two members", `{"name":"b","description":"x","name":"a",` + schema + `,"description":"y","annotations":{"title":"x","title":"y"}}`, `{"name":"a",` + schema + `,"description":"y","annotations":{"title":"y"}}`},
		{"knows a member by any spelling", `{"name":"a","\u0074itle":5,` + schema + `}`, `{"name":"a",` + schema + `}`},

		{"leaves a good outputSchema and icons", `{"name":"a","outputSchema":{"type":"object","properties":{"x":{"type":"string"}}},"icons":[{"src":"x:y","sizes":["48x48"],"mimeType":"image/png","theme":"dark"}],` + schema + `}`, ""},
		{"drops an outputSchema of another type", `{"name":"a","outputSchema":{"type":"array"},` + schema + `}`, `{"name":"a",` + schema + `}`},
		{"drops an outputSchema without a type", `{"name":"a","outputSchema":{"oneOf":[{}]},` + schema + `}`, `{"name":"a",` + schema + `}`},
		{"mends an outputSchema", `{"name":"a","outputSchema":{"type":"object","required":null,"properties":{"x":true}},` + schema + `}`, `{"name":"a","outputSchema":{"type":"object","properties":{"x":{}}},` + schema + `}`},
		{"drops icons without a source", `{"name":"a","icons":[{"src":"x:y"},{}],` + schema + `}`, `{"name":"a",` + schema + `}`},
		{"drops icons with sizes as a text", `{"name":"a","icons":[{"src":"x:y","sizes":"48x48"}],` + schema + `}`, `{"name":"a",` + schema + `}`},

		{"mends half an emoji", `{"name":"a","description":"\ud83d\ude00 \ud83d \uDE00\\ud83d\ud83d\u0041",` + schema + `}`, `{"name":"a","description":"\ud83d\ude00 \ufffd \ufffd\\ud83d\ufffd\u0041",` + schema + `}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := strings.Clone(tt.tool)
			got, err := hostproof([]byte(tt.tool))
			if tt.want == "" {
				tt.want = tt.tool
			}
			if err != nil || string(got) != tt.want {
				t.Fatalf("%s\nis shown as %s (%v)\nwant        %s", tt.tool, got, err, tt.want)
			}
			if err := rejected(got); err != nil {
				t.Errorf("hosts refuse %s: %v", got, err)
			}
			if again, err := hostproof(got); err != nil || !bytes.Equal(again, got) {
				t.Errorf("a second time: %s (%v)", again, err)
			}
			if tt.tool != before {
				t.Errorf("the tool was changed to %s", tt.tool)
			}
		})
	}
}

// deep is a schema that nests n deep.
func deep(n int) string {
	return strings.Repeat(`{"items":`, n-1) + "{}" + strings.Repeat("}", n-1)
}

// unfitTools are tools that no host can take, and why.
var unfitTools = []struct{ tool, want string }{
	{`{"name":"a"}`, "its inputSchema is no object"},
	{`{"name":"a","inputSchema":null}`, "its inputSchema is no object"},
	{`{"name":"a","inputSchema":[]}`, "its inputSchema is no object"},
	{`{"name":"a","inputSchema":true}`, "its inputSchema is no object"},
	{`{"name":"a","inputSchema":{"type":"object"},"inputSchema":"x"}`, "its inputSchema is no object"},
	{`{"name":"a","inputSchema":{"type":"string"}}`, `its inputSchema is not of the type object but "\"string\""`},
	{`{"name":"a","inputSchema":{"type":["string"]}}`, `its inputSchema is not of the type object but "[\"string\"]"`},
	{`{"name":"a","inputSchema":{"type":null}}`, `its inputSchema is not of the type object but "null"`},
	{`{"name":"a","inputSchema":{"type":"object","properties":{"x":` + deep(98) + `}}}`, "it is nested more than 100 deep"},
	{`{"name":"a","inputSchema":{"type":"object","maxProperties":1e400}}`, "it has the number 1e400"},
	{`{"name":"a","_meta":{"k":-` + strings.Repeat("9", 400) + `},"inputSchema":{"type":"object"}}`, "it has the number -9999999999999999999"},
}

func TestUnfitTools(t *testing.T) {
	for _, tt := range unfitTools {
		if got, err := hostproof([]byte(tt.tool)); err == nil || err.Error() != tt.want {
			t.Errorf("%.80s gives %s (%v), want error %s", tt.tool, got, err, tt.want)
		}
	}
	if _, err := hostproof([]byte(`{"name":"a","inputSchema":{"type":"object","properties":{"[[{x":` + deep(97) + `}}}`)); err != nil {
		t.Errorf("a tool that is nested 100 deep: %v", err)
	}
}

// A tool that no host can take costs the others nothing, and can be found and
// called.
func TestUnfitToolsAreHidden(t *testing.T) {
	bad := `{"name":"wipe","description":"Wipes."}`
	tests := []struct{ name, config, want string }{
		{"used", `,"used":["*"]`, "get put discover describe call"},
		{"all", `,"surface":"all"`, "get put"},
		{"all that fits", ``, "get put discover describe call"},
		{"not used", `,"used":["get"]`, "get discover describe call"},
	}
	for _, tt := range tests {
		s, log := rendered(t, tt.config, tool("get", "Gets.", ""), bad, tool("put", "Puts.", ""))
		if got := listedNames(s); got != tt.want {
			t.Errorf("%s: the surface shows %q, want %q", tt.name, got, tt.want)
		}
		if got, want := len(log.lines("level=WARN", "tool=wipe", "no object")), map[bool]int{true: 0, false: 1}[tt.name == "not used"]; got != want {
			t.Errorf("%s: %d warnings, want %d", tt.name, got, want)
		}
		if up, ok := s.names().upstream("wipe"); !ok || up != "wipe" {
			t.Errorf("%s: the tool cannot be called", tt.name)
		}
		if s.offered && !strings.Contains(s.about, "wipe") {
			t.Errorf("%s: the digest says %q, want the hidden tool in it", tt.name, s.about)
		}
	}
}

// rejected is why a host refuses a list with this tool in it: as the TypeScript
// SDK v1 checks it, or as serde reads it.
func rejected(tool []byte) error {
	var o struct {
		Name         *string
		Title        json.RawMessage
		Description  json.RawMessage
		InputSchema  json.RawMessage
		OutputSchema json.RawMessage
		Annotations  json.RawMessage
		Execution    json.RawMessage
		Icons        json.RawMessage
		Meta         json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(tool, &o); err != nil {
		return err
	}
	if o.Name == nil || *o.Name == "" {
		return fmt.Errorf("it has no name")
	}
	var text *string
	var hints struct {
		Title                                                        *string
		ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint *bool
	}
	var execution struct{ TaskSupport *string }
	var icons []struct {
		Src, MimeType, Theme *string
		Sizes                []string
	}
	var members map[string]any
	for _, m := range []struct {
		name string
		raw  json.RawMessage
		into any
	}{
		{"title", o.Title, &text}, {"description", o.Description, &text}, {"annotations", o.Annotations, &hints},
		{"execution", o.Execution, &execution}, {"icons", o.Icons, &icons}, {"_meta", o.Meta, &members},
	} {
		if m.raw == nil {
			continue
		}
		if err := json.Unmarshal(m.raw, m.into); err != nil || string(m.raw) == "null" {
			return fmt.Errorf("%s is %s (%v)", m.name, m.raw, err)
		}
	}
	for _, key := range []string{"@this", "annotations", "execution"} {
		if twice := repeated(gjson.GetBytes(tool, key)); twice != "" {
			return fmt.Errorf("%s has %q twice", key, twice)
		}
	}
	if err := rejectedSchema(o.InputSchema); err != nil {
		return fmt.Errorf("inputSchema: %w", err)
	}
	if o.OutputSchema != nil {
		if err := rejectedSchema(o.OutputSchema); err != nil {
			return fmt.Errorf("outputSchema: %w", err)
		}
	}
	return nil
}

func rejectedSchema(raw []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	if string(members["type"]) != `"object"` {
		return fmt.Errorf("its type is %s", members["type"])
	}
	if p := members["properties"]; p != nil {
		var properties map[string]map[string]any
		if err := json.Unmarshal(p, &properties); err != nil || properties == nil {
			return fmt.Errorf("properties are %s (%v)", p, err)
		}
		for name, property := range properties {
			if property == nil {
				return fmt.Errorf("property %s is null", name)
			}
		}
	}
	if r := members["required"]; r != nil {
		var required []*string
		if err := json.Unmarshal(r, &required); err != nil || required == nil {
			return fmt.Errorf("required is %s (%v)", r, err)
		}
	}
	if bytes.Contains(raw, []byte(`"x-mcp-header":"`)) {
		return fmt.Errorf("it has an x-mcp-header")
	}
	return nil
}

// repeated is a key that an object has twice.
func repeated(o gjson.Result) (twice string) {
	seen := map[string]bool{}
	o.ForEach(func(k, _ gjson.Result) bool {
		if seen[k.Str] {
			twice = k.Str
		}
		seen[k.Str] = true
		return true
	})
	return twice
}

// A host-proof schema accepts the arguments that the schema accepts, and no
// others.
func TestHostproofMeansTheSame(t *testing.T) {
	schemas := []string{
		`{"properties":{"x":true,"y":false}}`,
		`{"type":["object","null"],"properties":{"x":{"anyOf":[false,{"type":"string"}]},"y":{"not":false}}}`,
		`{"type":"object","properties":{"x":{"items":false},"y":{"prefixItems":[true,false]}},"additionalProperties":false}`,
		`{"type":"object","properties":{"x":{"$ref":"#/$defs/no"},"y":{"if":true,"then":{"type":"string"}}},"$defs":{"no":false}}`,
		`{"type":"object","patternProperties":{"^x":false},"dependentSchemas":{"y":false},"propertyNames":true}`,
		`{"type":"object","required":["x"],"properties":{"x":{"x-mcp-header":"X","type":"string"}}}`,
	}
	args := []string{`{}`, `{"x":1}`, `{"x":"a"}`, `{"y":1}`, `{"y":"a"}`, `{"x":[]}`, `{"x":[1]}`, `{"y":[1]}`, `{"y":[1,2]}`, `{"x":1,"y":"a"}`, `{"z":null}`}
	for _, schema := range schemas {
		tool, err := hostproof([]byte(`{"name":"a","inputSchema":` + schema + `}`))
		if err != nil {
			t.Fatal(err)
		}
		before, after := validator(t, schema), validator(t, gjson.GetBytes(tool, "inputSchema").Raw)
		for _, a := range args {
			if was, is := before(a), after(a); was != is {
				t.Errorf("%s: %s accepted %t, was %t (now %s)", schema, a, is, was, tool)
			}
		}
	}
}

// validator reports whether a schema accepts an instance.
func validator(t *testing.T, schema string) func(instance string) bool {
	t.Helper()
	parse := func(raw string) any {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("made:schema", parse(schema)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("made:schema")
	if err != nil {
		t.Fatal(err)
	}
	return func(instance string) bool { return s.Validate(parse(instance)) == nil }
}

// FuzzHostproof looks for a tool that is shown and that a host refuses.
func FuzzHostproof(f *testing.F) {
	for _, tt := range unfitTools {
		f.Add([]byte(tt.tool))
	}
	f.Add([]byte(`{"name":"b","title":5,"name":"a","annotations":{"readOnlyHint":1},"inputSchema":{"required":[],"properties":{"x":true,"y":{"x-mcp-header":"X","items":[false]}}}}`))
	f.Add([]byte(`{"name":"a","description":"\ud83d","inputSchema":{"properties":[],"x-mcp-header":{}},"icons":[{"src":""}],"_meta":[]}`))
	f.Fuzz(func(t *testing.T, tool []byte) {
		if !gjson.ValidBytes(tool) || !utf8.Valid(tool) || lastOf(gjson.ParseBytes(tool), "name").Str == "" || !gjson.ParseBytes(tool).IsObject() {
			return
		}
		got, err := hostproof(tool)
		if err != nil {
			return
		}
		if !json.Valid(got) {
			t.Fatalf("%s is shown as %s", tool, got)
		}
		if again, err := hostproof(got); err != nil || !bytes.Equal(again, got) {
			t.Errorf("%s is shown as %s, then as %s (%v)", tool, got, again, err)
		}
	})
}
