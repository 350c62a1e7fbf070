package compact_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"mcp-facade/compact"
)

// maxSignature is what DESIGN.md §7 allows a signature to cost.
const maxSignature = 120

func signatureOf(tool string) string {
	t := gjson.Parse(tool)
	return compact.Signature(t.Get("name").Str, []byte(t.Get("inputSchema").Raw), t.Get("description").Str)
}

// checkSignature fails t unless s is one clean line within its budget.
func checkSignature(t *testing.T, tool, s string) {
	t.Helper()
	if n := compact.Tokens([]byte(s)); n > maxSignature {
		t.Errorf("%d tokens: %s", n, s)
	}
	if line := compact.Line(s); line != s {
		t.Errorf("signature of %s is no clean line: %q", tool, s)
	}
}

func TestSignatureGolden(t *testing.T) {
	golden(t, "signatures.golden", func(tool string) string {
		if !gjson.Valid(tool) {
			t.Fatalf("no JSON: %s", tool)
		}
		s := signatureOf(tool)
		checkSignature(t, tool, s)
		return s
	})
}

func TestSignatureOnRealCatalogs(t *testing.T) {
	for _, c := range catalogs(t) {
		for _, tool := range c.tools {
			s := signatureOf(tool)
			checkSignature(t, tool, s)
			if name := gjson.Get(tool, "name").Str; !strings.HasPrefix(s, name+"(") {
				t.Errorf("%s: signature of %q does not begin with its name: %s", c.name, name, s)
			}
		}
	}
}

func TestSignatureOfHostileInput(t *testing.T) {
	properties := make([]string, 20_000)
	for i := range properties {
		properties[i] = fmt.Sprintf(`"p%d":{"enum":["%s"]}`, i, strings.Repeat("x", 50))
	}
	wide := `{"properties":{` + strings.Join(properties, ",") + `}}`
	// Each definition is a union of the next one, many times over.
	union := strings.TrimSuffix(strings.Repeat(`{"$ref":"#/$defs/a"},`, 30), ",")
	bomb := `{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[` + union + `]}}}`
	tests := []struct{ name, tool, schema, text string }{
		{"stays short for many parameters", "wide", wide, "Wide."},
		{"ends on references that multiply", "bomb", bomb, ""},
		{"stays short for a long name", strings.Repeat("aB_", 5000), `{}`, ""},
		{"stays short for a long parameter name", "a", `{"properties":{"` + strings.Repeat("x y", 5000) + `":{}}}`, "Text."},
		{"stays short for a name of symbols", strings.Repeat("♠", 5000), `{}`, strings.Repeat("♠ ", 5000)},
		{"survives what is no JSON", "a", `{"properties":`, "Text."},
		{"survives deep nesting", "a", strings.Repeat(`{"items":`, 100_000), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkSignature(t, tt.name, compact.Signature(tt.tool, []byte(tt.schema), tt.text))
		})
	}
}

func FuzzSignature(f *testing.F) {
	f.Add("create_issue", []byte(`{"properties":{"a":{"$ref":"#/properties/a"},"b":{"enum":[1,"x y"]}},"required":["b"]}`), "Creates. Much.")
	for seed := range uint64(20) {
		g := generator{rand.New(rand.NewPCG(seed, 7))}
		f.Add("tool", []byte(`{"properties":`+g.object(8, func() (string, string) { return g.name(), g.schema(3) })+`}`), g.text())
	}
	f.Fuzz(func(t *testing.T, name string, schema []byte, text string) {
		checkSignature(t, name, compact.Signature(name, schema, text))
	})
}

func ExampleSignature() {
	schema := []byte(`{"type":"object","properties":{
		"priority":{"enum":["low","medium","high"]},
		"project":{"type":"string"},
		"labels":{"type":"array","items":{"type":"string"}}},
		"required":["project"]}`)
	fmt.Println(compact.Signature("create_issue", schema, "Create an issue. The project must exist."))
	// Output:
	// create_issue(project: string, priority?: low|medium|high, labels?: string[]) — Create an issue.
}

func BenchmarkSignature(b *testing.B) {
	schemas := benchmarkSchemas(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		compact.Signature("list_items", schemas[i%len(schemas)], "Lists the items of a folder. Sorted by name.")
	}
}

// Of many parameters those are shown that are asked for, and last those that
// only say how much is returned.
func TestSignatureWith(t *testing.T) {
	const schema = `{"properties":{"page":{},"per_page":{},"a":{},"b":{},"c":{},"d":{},"e":{},"f":{},"g":{},"due_date":{},"h":{},"i":{},"key":{}},"required":["key"]}`
	line, hidden := compact.SignatureWith([]string{"due_date"}, "t", []byte(schema), "")
	if want := "t(key: any, due_date?: any, a?: any, b?: any, c?: any, d?: any, …+7)"; line != want || len(hidden) != 7 || hidden[6] != "per_page" {
		t.Errorf("SignatureWith is %q without %q, want %q", line, hidden, want)
	}
}
