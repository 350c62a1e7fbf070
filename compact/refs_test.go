package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"mcp-facade/compact"
)

var referenceTests = []schemaTest{
	{"writes a definition in place of the only reference to it",
		`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`,
		`{"properties":{"a":{"type":"string"}}}`},
	{"keeps one that is used twice",
		`{"properties":{"a":{"$ref":"#/$defs/a"},"b":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`,
		`{"properties":{"a":{"$ref":"#/$defs/a"},"b":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`},
	{"drops unused ones, and what only they use",
		`{"type":"object","definitions":{"a":{"$ref":"#/definitions/b"},"b":{"$ref":"#/definitions/a"}},"$defs":{}}`,
		`{"type":"object"}`},
	{"follows a reference to a reference",
		`{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"type":"null"}}}`,
		`{"items":{"type":"null"}}`},
	{"decodes pointers",
		`{"anyOf":[{"$ref":"#/$defs/a~1b"},{"$ref":"#/$defs/c~0d"},{"$ref":"#/$defs/100%25"},{"$ref":"#/%24defs/%C3%BC"}],"$defs":{"a/b":{"const":1},"c~d":{"const":2},"100%":{"const":3},"ü":{"const":4}}}`,
		`{"anyOf":[{"const":1},{"const":2},{"const":3},{"const":4}]}`},
	{"reads escaped keys",
		`{"items":{"\u0024ref":"#/$d\u0065fs/a"},"\u0024defs":{"\u0061":{"type":"null"},"b":{}}}`,
		`{"items":{"type":"null"}}`},
	{"keeps $defs and definitions apart",
		`{"items":{"$ref":"#/$defs/a"},"definitions":{"a":{"const":1}},"$defs":{"a":{"const":2}}}`,
		`{"items":{"const":2}}`},
	{"keeps a definition that recurs",
		`{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/a"}}}}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/a"}}}}`},
	{"joins a circle where it is entered once",
		`{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"items":{"$ref":"#/$defs/b"}},"b":{"not":{"$ref":"#/$defs/a"}}}}`,
		`{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"items":{"not":{"$ref":"#/$defs/a"}}}}}`},
	{"keeps texts beside a reference",
		`{"items":{"description":"D.","$ref":"#/$defs/a","title":"T."},"$defs":{"a":{"type":"null","default":null}}}`,
		`{"items":{"description":"D.","type":"null","default":null,"title":"T."}}`},
	{"loses no text",
		`{"items":{"$ref":"#/$defs/a","description":"D."},"$defs":{"a":{"type":"null","description":"E."}}}`,
		`{"items":{"$ref":"#/$defs/a","description":"D."},"$defs":{"a":{"type":"null","description":"E."}}}`},
	{"loses no text of a chain",
		`{"items":{"$ref":"#/$defs/a","description":"D."},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"type":"null","description":"E."}}}`,
		`{"items":{"$ref":"#/$defs/a","description":"D."},"$defs":{"a":{"type":"null","description":"E."}}}`},
	{"prefers the default beside a reference",
		`{"items":{"$ref":"#/$defs/a","default":1},"$defs":{"a":{"default":2,"type":"integer"}}}`,
		`{"items":{"type":"integer","default":1}}`},
	{"keeps a reference with siblings that bind",
		`{"items":{"$ref":"#/$defs/a","minLength":1},"$defs":{"a":{"type":"string"}}}`,
		`{"items":{"$ref":"#/$defs/a","minLength":1},"$defs":{"a":{"type":"string"}}}`},
	{"keeps a definition that is a boolean",
		`{"items":{"$ref":"#/$defs/a"},"$defs":{"a":true,"b":false}}`,
		`{"items":{"$ref":"#/$defs/a"},"$defs":{"a":true}}`},
	{"drops definitions that no path leads to",
		`{"properties":{"a":{"type":"object","$defs":{"b":{}}},"$defs":{"type":"object"}}}`,
		`{"properties":{"a":{"type":"object"},"$defs":{"type":"object"}}}`},
	{"does not take data for references",
		`{"enum":[{"$ref":"#/$defs/a"}],"default":{"$ref":"#/properties/a"},"$defs":{"a":{}}}`,
		`{"enum":[{"$ref":"#/$defs/a"}],"default":{"$ref":"#/properties/a"}}`},
	{"does not take names for references",
		`{"properties":{"$ref":{"type":"string"},"$id":{"type":"string"}},"$defs":{"a":{}}}`,
		`{"properties":{"$ref":{"type":"string"},"$id":{"type":"string"}}}`},
}

func TestSchemaReferences(t *testing.T) {
	for _, tt := range referenceTests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(compact.Schema([]byte(tt.in), compact.Options{Level: "lossless"})); got != tt.want {
				t.Errorf("Schema(%s)\n got %s\nwant %s", tt.in, got, tt.want)
			}
			checkLevels(t, []byte(tt.in), nil, keeps...)
		})
	}
}

func TestSchemaFixed(t *testing.T) {
	const unused = `"$defs":{"unused":{}}`
	tests := []struct{ name, in string }{
		{"stays for a reference into its own body", `{"properties":{"a":{},"b":{"$ref":"#/properties/a"}},` + unused + `}`},
		{"stays for a reference to itself", `{"items":{"$ref":"#"},` + unused + `}`},
		{"stays for a reference into a definition", `{"items":{"$ref":"#/$defs/a/items"},"$defs":{"a":{"items":{}},"unused":{}}}`},
		{"stays for a reference to another document", `{"items":{"$ref":"https://acme.example/s#/$defs/unused"},` + unused + `}`},
		{"stays for a reference that leads nowhere", `{"items":{"$ref":"#/$defs/a"},` + unused + `}`},
		{"stays for a reference that is none", `{"items":{"$ref":5},` + unused + `}`},
		{"stays for two references in one", `{"items":{"$ref":"#/$defs/unused","$ref":"#/$defs/unused"},` + unused + `}`},
		{"stays for $id", `{"$id":"https://acme.example/s",` + unused + `}`},
		{"stays for id", `{"id":"https://acme.example/s",` + unused + `}`},
		{"stays for $anchor in a definition", `{"$defs":{"unused":{"$anchor":"a"}}}`},
		{"stays for $dynamicRef", `{"items":{"$dynamicRef":"#a"},` + unused + `}`},
		{"stays for $recursiveRef", `{"items":{"$recursiveRef":"#"},` + unused + `}`},
		{"stays for $dynamicRef without definitions", `{"properties":{"a":{"$dynamicAnchor":"a","maxLength":1}},"items":{"$dynamicRef":"#a"}}`},
		{"stays for $recursiveRef without definitions", `{"properties":{"a":{"items":{"$recursiveRef":"#"}}}}`},
		{"stays for $anchor without definitions", `{"properties":{"a":{"$anchor":"a","maxLength":1}},"items":{"$ref":"#a"}}`},
		{"stays for a dialect that it does not know", `{"$schema":"https://acme.example/dialect",` + unused + `}`},
		{"stays for a keyword that may point to it", `{"discriminator":{"mapping":{"a":"#/$defs/unused"}},` + unused + `}`},
		{"stays for definitions of the same name", `{"$defs":{"unused":{},"unused":{}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, level := range levels {
				if got := string(compact.Schema([]byte(tt.in), compact.Options{Level: level})); got != tt.in {
					t.Errorf("%s: Schema(%s) = %s, want no change", level, tt.in, got)
				}
			}
		})
	}
}

func TestSchemaKeepsDefinitions(t *testing.T) {
	const in = `{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"type":"string"},"unused":{}}}`
	for _, keep := range []string{"$defs", "definitions", "$ref"} {
		for _, level := range levels {
			if got := string(compact.Schema([]byte(in), compact.Options{Level: level, Keep: []string{keep}})); got != in {
				t.Errorf("%s, keep %s: Schema(%s) = %s, want no change", level, keep, in, got)
			}
		}
	}
}

func TestSchemaOfManyDefinitions(t *testing.T) {
	chain := func(n int, link string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`"d%d":`+link, i, i+1)
		}
		return `{"items":{"$ref":"#/$defs/d0"},"$defs":{` + strings.Join(all, ",") + fmt.Sprintf(`,"d%d":{}}}`, n)
	}
	tests := []struct {
		name, in string
		levels   []string // at which nothing may change
	}{
		{"stays as deep as it was", chain(300, `{"items":{"$ref":"#/$defs/d%d"}}`), levels},
		{"stays when there are too many", chain(2000, `{"$ref":"#/$defs/d%d"}`), levels},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkLevels(t, []byte(tt.in), nil, nil)
			for _, level := range tt.levels {
				if got := string(compact.Schema([]byte(tt.in), compact.Options{Level: level})); got != tt.in {
					t.Errorf("%s: Schema(%.99s…) = %.99s…, want no change", level, tt.in, got)
				}
			}
		})
	}
	const long = 500 // in a schema of its own, each is a reference to the next
	if got := string(compact.Schema([]byte(chain(long, `{"$ref":"#/$defs/d%d"}`)), compact.Options{})); got != `{"items":{}}` {
		t.Errorf("a chain of %d references becomes %.99s…", long, got)
	}
}
