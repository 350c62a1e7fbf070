package compact_test

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A drafter makes random valid schemas with all that the drafts differ in.
type drafter struct {
	generator
	dialect string   // what $schema says, "" for none
	old     int      // the draft: 4, 6, 7, 2019 or 2020
	refs    []string // what may be referred to
}

// oddNames are names of definitions and, as JSON pointers in a fragment, how
// they are referred to.
var oddNames = []struct{ name, step string }{
	{"a", "a"}, {"B", "B"}, {"node", "node"}, {"a/b", "a~1b"}, {"m~n", "m~0n"}, {"100%", "100%25"},
	{"two words", "two%20words"}, {"größe", "größe"}, {"工单", "工单"}, {"type", "type"}, {"$ref", "$ref"},
	{"properties", "properties"}, {"~1", "~01"}, {"description", "description"},
}

func newDrafter(seed uint64) *drafter {
	d := &drafter{generator: generator{rand.New(rand.NewPCG(seed, 23))}, old: 2020}
	switch d.IntN(7) {
	case 0:
		d.dialect, d.old = "http://json-schema.org/draft-04/schema#", 4
	case 1:
		d.dialect, d.old = "http://json-schema.org/draft-06/schema#", 6
	case 2, 3:
		d.dialect, d.old = "http://json-schema.org/draft-07/schema#", 7
	case 4:
		d.dialect, d.old = "https://json-schema.org/draft/2019-09/schema", 2019
	case 5:
		d.dialect = "https://json-schema.org/draft/2020-12/schema"
	}
	return d
}

// root returns a whole schema: most often of a tool's parameters.
func (d *drafter) root() string {
	container := d.one("$defs", "definitions")
	var names []string
	for _, i := range d.Perm(len(oddNames))[:d.IntN(5)] {
		names = append(names, oddNames[i].name)
		for range 1 + d.IntN(2) {
			d.refs = append(d.refs, "#/"+container+"/"+oddNames[i].step)
		}
	}
	switch d.IntN(12) {
	case 0:
		d.refs = append(d.refs, "#")
	case 1:
		d.refs = append(d.refs, "#/properties/a")
	}
	m := []string{`"type":"object"`, d.properties(4)}
	switch {
	case d.old >= 2019 && d.IntN(20) == 0:
		m[1] = `"properties":{"a":{"$anchor":"here","type":"string","maxLength":2},"b":{"$ref":"#here"},"c":` + d.schema(2) + `},"required":["b"]`
	case d.old >= 2020 && d.IntN(20) == 0:
		m[1] = `"properties":{"a":{"$dynamicAnchor":"here","type":"string"},"b":{"$dynamicRef":"#here"},"c":` + d.schema(2) + `},"required":["b"]`
	case len(d.refs) > 0 && d.IntN(6) == 0:
		m = []string{`"$ref":"` + d.one(d.refs...) + `"`}
	}
	if len(names) > 0 {
		m = append(m, `"`+container+`":`+d.definitions(names))
	}
	if d.dialect != "" {
		m = append(m, `"$schema":"`+d.dialect+`"`)
	}
	m = append(m, d.annotations()...)
	if d.IntN(30) == 0 && d.old > 4 {
		m = append(m, `"$id":"https://acme.example/root.json"`)
	}
	d.Shuffle(len(m), func(i, j int) { m[i], m[j] = m[j], m[i] })
	return "{" + d.gap() + strings.Join(m, ","+d.gap()) + "}"
}

// definitions gives each name a schema that may refer to the others.
func (d *drafter) definitions(names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, `"`+name+`":`+d.schema(3))
	}
	return "{" + strings.Join(all, ",") + "}"
}

// properties returns the members that make a schema one of an object.
func (d *drafter) properties(depth int) string {
	var names, all []string
	for range d.IntN(5) {
		name := d.one("a", "b", "a", "type", "description", "$schema", "default", "項目", "items", "$ref", "enum", "$defs", "x-y")
		if !contains(names, name) {
			names = append(names, name)
			all = append(all, `"`+name+`":`+d.schema(depth-1))
		}
	}
	m := `"properties":{` + strings.Join(all, ","+d.gap()) + `}`
	var required []string
	for _, name := range names {
		if d.IntN(2) == 0 {
			required = append(required, `"`+name+`"`)
		}
	}
	if len(required) > 0 {
		m += `,"required":[` + strings.Join(required, ",") + `]`
	}
	switch d.IntN(8) {
	case 0, 1:
		m += `,"additionalProperties":false`
	case 2:
		m += `,"additionalProperties":` + d.schema(depth-1)
	case 3:
		m += `,"patternProperties":{"^x":` + d.schema(depth-1) + `}`
	case 4:
		if d.old >= 2019 {
			m += `,"unevaluatedProperties":` + d.one("false", d.schema(depth-1))
		}
	case 5:
		if d.old >= 6 {
			m += `,"propertyNames":{"maxLength":12,"$comment":"Short."}`
		}
	case 6:
		m += d.dependency(depth)
	}
	return m
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func (d *drafter) dependency(depth int) string {
	if d.old >= 2019 {
		return d.one(`,"dependentRequired":{"a":["b"]}`, `,"dependentSchemas":{"a":`+d.schema(depth-1)+`}`)
	}
	return d.one(`,"dependencies":{"a":["b"]}`, `,"dependencies":{"description":`+d.object1(depth-1)+`}`)
}

func (d *drafter) object1(depth int) string { return `{` + d.properties(max(1, depth)) + `}` }

// annotations returns members that bind nothing.
func (d *drafter) annotations() []string {
	var all []string
	if d.IntN(3) > 0 {
		all = append(all, `"description":`+d.prose())
	}
	switch d.IntN(8) {
	case 0, 1:
		all = append(all, `"default":`+d.scalar())
	case 2:
		all = append(all, `"title":"T. U."`)
	case 3:
		all = append(all, `"examples":["a",{"$ref":"#/nowhere"}]`)
	case 4:
		all = append(all, `"$comment":"See #/$defs/a."`)
	case 5:
		all = append(all, `"x-mcp-header":"Owner"`)
	}
	return all
}

// prose returns a description in JSON that is a string.
func (d *drafter) prose() string {
	if text := d.text(); strings.HasPrefix(text, `"`) && !strings.Contains(text, `\ud83d`) {
		return text
	}
	return `"What it is. And more of it."`
}

// schema returns a schema of one of the kinds there are, with annotations.
func (d *drafter) schema(depth int) string {
	if d.old > 4 && d.IntN(25) == 0 {
		return d.one("true", "true", "false")
	}
	m := []string{d.binding(depth)}
	if m[0] == "" {
		m = nil
	}
	m = append(m, d.annotations()...)
	d.Shuffle(len(m), func(i, j int) { m[i], m[j] = m[j], m[i] })
	return "{" + d.gap() + strings.Join(m, d.gap()+",") + "}"
}

// binding returns the members of a schema that say what it accepts.
func (d *drafter) binding(depth int) string {
	if len(d.refs) > 0 && d.IntN(4) == 0 {
		return d.reference()
	}
	if depth <= 0 {
		return d.simple()
	}
	switch d.IntN(12) {
	case 0, 1:
		return `"type":"object",` + d.properties(depth)
	case 2:
		return d.properties(depth)
	case 3:
		return `"type":"array",` + d.array(depth)
	case 4:
		return `"anyOf":[` + d.schema(depth-1) + `,{"type":"null"}]`
	case 5:
		return `"oneOf":[` + d.schema(depth-1) + `,` + d.one(`{"type":"null"}`, d.schema(depth-1)) + `]`
	case 6:
		return d.one(`"anyOf"`, `"allOf"`) + `:[` + d.schema(depth-1) + `,` + d.schema(depth-1) + `]`
	case 7:
		return `"not":` + d.schema(depth-1)
	case 8:
		if d.old >= 7 {
			return `"if":` + d.schema(depth-1) + `,"then":` + d.schema(depth-1) + `,"else":` + d.schema(depth-1)
		}
	case 9:
		return `"type":["object","null"],` + d.properties(depth)
	}
	return d.simple()
}

func (d *drafter) reference() string {
	ref := `"$ref":"` + d.one(d.refs...) + `"`
	if d.IntN(5) == 0 {
		return ref + `,` + d.one(`"minLength":2`, `"type":"string"`, `"title":"A reference."`, `"maxProperties":1`, `"readOnly":true`)
	}
	return ref
}

func (d *drafter) array(depth int) string {
	s := d.schema(depth - 1)
	switch d.IntN(5) {
	case 0:
		if d.old <= 2019 {
			return `"items":[` + s + `,{"type":"string"}],"additionalItems":` + d.one(`{"type":"null"}`, d.schema(depth-1))
		}
		return `"prefixItems":[` + s + `],"items":` + d.schema(depth-1)
	case 1:
		if d.old >= 6 {
			return `"contains":` + s
		}
	case 2:
		if d.old >= 2019 {
			return `"contains":` + s + `,"minContains":0,"maxContains":1,"unevaluatedItems":` + d.schema(depth-1)
		}
	}
	return `"minItems":1,"items":` + s
}

// simple returns the members of a schema without others in it.
func (d *drafter) simple() string {
	switch d.IntN(12) {
	case 0:
		return `"enum":["a","b",{"description":"A b. C d.","default":1},null,5]`
	case 1:
		if d.old >= 6 {
			return `"const":` + d.one(`"a"`, `{"$ref":"#/nowhere"}`, `null`, `9007199254740993`)
		}
	case 2:
		if d.old == 4 {
			return `"type":"number","minimum":0,"exclusiveMinimum":true`
		}
		return `"type":"number","exclusiveMinimum":0,"maximum":1e3`
	case 3:
		return `"type":"integer","minimum":-5.0,"maximum":9007199254740993`
	case 4:
		return `"type":["string","null"],"maxLength":3`
	case 5:
		return `"type":["integer","string"],"nullable":true`
	case 6:
		return `"type":"string","format":` + d.one(`"date-time"`, `"email"`, `"uri"`, `"uuid"`, `"acme"`)
	case 7:
		return `"type":"string","pattern":"^[a-c\u4e00-\u9fff]*$"`
	case 8:
		return `"type":"boolean"`
	case 9:
		return `"type":"null"`
	case 10:
		return ""
	}
	return `"type":"string","minLength":1`
}

// TestSchemaOnDrafts holds all promises against schemas of every dialect, and
// lets a validator judge what they accept.
func TestSchemaOnDrafts(t *testing.T) {
	schemas, instances, refused := 400, 0, 0
	useless := 0
	for seed := range uint64(schemas) {
		in := []byte(newDrafter(seed).root())
		o, err := consult(in, seed, 24)
		checkLevels(t, in, o, keeps...)
		if err != nil {
			useless++
			continue
		}
		instances += len(o.instances)
		refused += o.refusals
	}
	t.Logf("%d of %d schemas did not compile; of %d instances %d refused", useless, schemas, instances, refused)
	if useless > schemas/10 || refused < instances/5 || refused > instances*4/5 {
		t.Error("the generator makes too few valid schemas, or too few instances of either kind")
	}
}
