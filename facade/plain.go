package facade

import (
	"strings"

	"github.com/tidwall/gjson"
)

// plain is a schema without booleans in the place of schemas, where hosts do
// not expect them, and without x-mcp-header, which a host would mirror to us.
func plain(raw string) string {
	var p patches
	v := gjson.Parse(raw)
	p.schema(v)
	return p.apply(v)
}

// Patches are what is to be replaced in a JSON text, in its order.
type patches []patch

type patch struct {
	from, to int
	with     string
}

func (p *patches) replace(v gjson.Result, with string) {
	*p = append(*p, patch{v.Index, v.Index + len(v.Raw), with})
}

// apply returns the text of v, in which the patches are.
func (p patches) apply(v gjson.Result) string {
	if p == nil {
		return v.Raw
	}
	var b strings.Builder
	done := v.Index
	for _, patch := range p {
		b.WriteString(v.Raw[done-v.Index : patch.from-v.Index])
		b.WriteString(patch.with)
		done = patch.to
	}
	b.WriteString(v.Raw[done-v.Index:])
	return b.String()
}

// schema goes into a schema.
func (p *patches) schema(v gjson.Result) {
	from, end, kept := 0, 0, 0 // where members begin that go from the front; where the last value ends
	v.ForEach(func(k, value gjson.Result) bool {
		before := end
		end = value.Index + len(value.Raw)
		switch {
		case k.Str != "x-mcp-header":
			if kept == 0 && from > 0 {
				*p = append(*p, patch{from, k.Index, ""})
			}
			kept++
			p.keyword(k.Str, value)
		case kept > 0:
			*p = append(*p, patch{before, end, ""})
		case from == 0:
			from = k.Index
		}
		return true
	})
	if kept == 0 && from > 0 {
		*p = append(*p, patch{from, end, ""})
	}
}

// keyword goes into the schemas below a keyword. A boolean is expected by all
// where additionalProperties and its like have one.
func (p *patches) keyword(name string, v gjson.Result) {
	switch name {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		if v.IsObject() {
			p.each(v)
		}
	case "items", "contains", "propertyNames", "not", "if", "then", "else", "allOf", "anyOf", "oneOf", "prefixItems":
		if v.IsArray() {
			p.each(v)
		} else {
			p.open(v)
		}
	case "additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems", "contentSchema":
		if v.IsObject() {
			p.schema(v)
		}
	}
}

// each goes into the schemas that v holds, as elements or by name.
func (p *patches) each(v gjson.Result) {
	v.ForEach(func(_, s gjson.Result) bool {
		p.open(s)
		return true
	})
}

// open goes into a schema, and writes a boolean one as the object that means
// the same.
func (p *patches) open(v gjson.Result) {
	switch {
	case v.Type == gjson.True:
		p.replace(v, "{}")
	case v.Type == gjson.False:
		p.replace(v, `{"not":{}}`)
	case v.IsObject():
		p.schema(v)
	}
}
