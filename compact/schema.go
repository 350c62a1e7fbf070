package compact

import (
	"slices"
	"unsafe"

	"github.com/tidwall/gjson"
)

// maxDepth is how deeply nested JSON may be to be looked into. The recursion
// is ours, so its bound must be too; real schemas stay below 40.
const maxDepth = 250

// Schema returns the JSON Schema raw, trimmed as o says. It returns raw itself
// when there is nothing to trim in it: a boolean schema, no valid JSON, JSON
// nested too deeply, level "off".
func Schema(raw []byte, o Options) []byte {
	v, ok := parseObject(raw)
	if !ok || o.off() {
		return raw
	}
	return newTrimmer(o).root(make([]byte, 0, len(raw)), v)
}

// parseObject reads raw as one JSON object that is safe to recurse into.
func parseObject(raw []byte) (gjson.Result, bool) {
	if tooDeep(raw) || !gjson.ValidBytes(raw) {
		return gjson.Result{}, false
	}
	v := gjson.Parse(view(raw))
	return v, v.IsObject()
}

// view is b as a string that shares its memory: what is made of it must be a copy.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// tooDeep reports whether raw nests deeper than maxDepth. It looks at every
// byte and keeps no stack, so it may be asked before anything recursive is.
func tooDeep(raw []byte) bool {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i)
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

// A member is one key and value of an object. name is the decoded key.
type member struct {
	raw, name string
	value     gjson.Result
}

// listMembers appends the members of v to all.
func listMembers(all []member, v gjson.Result) []member {
	v.ForEach(func(key, value gjson.Result) bool {
		all = append(all, member{key.Raw, key.Str, value})
		return true
	})
	return all
}

// A trimmer writes schemas by appending what is left of them.
type trimmer struct {
	o        Options
	members  []member   // a stack: each object being written has its members on it
	refs     references // of the schema being written
	depth    int        // how many schemas the one being written is in, itself included
	usage    usage      // what was seen of it
	dialects []span     // where its $schema members were written to
}

// A span is a part of what was written.
type span struct{ from, to int }

func newTrimmer(o Options) *trimmer { return &trimmer{o: o, members: make([]member, 0, 64)} }

// root appends the schema v, which stands by itself.
func (t *trimmer) root(dst []byte, v gjson.Result) []byte {
	if t.o.Level == "tight" {
		return append(dst, t.tight(v)...)
	}
	return t.whole(dst, v)
}

// whole appends the schema v, which stands by itself, without what lossless
// and standard take away.
func (t *trimmer) whole(dst []byte, v gjson.Result) []byte {
	t.refs = referencesOf(v, t.o)
	from := len(dst)
	dst = t.write(dst, v)
	if len(t.refs.all) > 0 && tooDeep(dst[from:]) { // definitions in definitions in …
		t.refs = references{fixed: true}
		return t.write(dst[:from], v)
	}
	return dst
}

// write appends the schema v, which stands by itself. Whether its $schema may
// go is known only when all of it has been seen.
func (t *trimmer) write(dst []byte, v gjson.Result) []byte {
	t.usage, t.dialects = usage{}, t.dialects[:0]
	dst = t.schema(dst, v)
	if t.usage.needsDialect() || t.o.keeps("$schema") {
		return dst
	}
	for _, at := range slices.Backward(t.dialects) {
		dst = cutMember(dst, at)
	}
	return dst
}

// schema appends the schema v.
func (t *trimmer) schema(dst []byte, v gjson.Result) []byte {
	if !v.IsObject() || t.depth > maxDepth {
		return appendCompact(dst, v)
	}
	from := t.push(v)
	t.depth++
	dst = t.object(dst, from)
	t.depth--
	t.members = t.members[:from]
	return dst
}

// object appends the schema whose members are on the stack.
func (t *trimmer) object(dst []byte, from int) []byte {
	t.usage.add(t.members[from:])
	note := t.note(t.members[from:])
	dst = append(dst, '{')
	for i := from; i < len(t.members); i++ {
		m := t.members[i]
		if t.drops(m, note) {
			continue
		}
		at := len(dst)
		dst = appendKey(dst, m.raw)
		dst = t.keyword(dst, m, note)
		if m.name == "$schema" {
			t.dialects = append(t.dialects, span{at, len(dst)})
		}
	}
	return append(dst, '}')
}

// push puts v's members on the stack and returns where they begin. Those of a
// definition that is written here stand where the reference to it does.
func (t *trimmer) push(v gjson.Result) int {
	from := len(t.members)
	t.members = listMembers(t.members, v)
	for i := from; i < len(t.members) && len(t.refs.all) > 0; i++ {
		if t.members[i].name != "$ref" {
			continue
		}
		if v, ok := t.refs.inlined(t.members[i].value); ok {
			t.members = slices.Replace(t.members, i, i+1, adopted(v, t.members[from:])...)
			i = from - 1 // it may be a reference itself
		}
	}
	return from
}

// adopted returns the members of the definition v as they join members.
func adopted(v gjson.Result, members []member) []member {
	taken := map[string]bool{}
	for _, m := range members {
		taken[m.name] = yields(m.name)
	}
	return slices.DeleteFunc(listMembers(nil, v), func(m member) bool {
		return defines(m.name) || taken[m.name]
	})
}

// keyword appends the value of the keyword m: schemas are entered, the
// description is replaced, all else is copied.
func (t *trimmer) keyword(dst []byte, m member, n note) []byte {
	switch placeOf(m.name) {
	case named:
		return t.named(dst, m)
	case one, listed:
		return t.schemas(dst, m.value)
	}
	if m.name == "description" && n.changed {
		return appendString(dst, n.text)
	}
	return appendCompact(dst, m.value)
}

// named appends the value of a keyword whose keys are names and whose values
// are schemas.
func (t *trimmer) named(dst []byte, m member) []byte {
	if !m.value.IsObject() {
		return appendCompact(dst, m.value)
	}
	dst = append(dst, '{')
	m.value.ForEach(func(key, value gjson.Result) bool {
		if !defines(m.name) || !t.refs.drops(address{m.name, key.Str}) {
			dst = t.schema(appendKey(dst, key.Raw), value)
		}
		return true
	})
	return append(dst, '}')
}

// schemas appends one schema or a list of them.
func (t *trimmer) schemas(dst []byte, v gjson.Result) []byte {
	if v.IsArray() {
		return appendListed(dst, v, t.schema)
	}
	return t.schema(dst, v)
}

// drops reports whether the keyword m goes.
func (t *trimmer) drops(m member, n note) bool {
	switch m.name {
	case "$comment", "x-mcp-header":
		return !t.o.keeps(m.name)
	case "examples":
		return t.o.cuts() && !t.o.keeps(m.name)
	case "default":
		return t.o.cuts() && !n.keepDefault
	case "$defs", "definitions":
		return t.dropsDefinitions(m)
	}
	return false
}

// dropsDefinitions reports whether no definition below the keyword m stays.
// Those that are not the whole schema's own have no reference to them.
func (t *trimmer) dropsDefinitions(m member) bool {
	if len(t.refs.all) == 0 || !m.value.IsObject() {
		return false
	}
	return t.depth > 1 || t.refs.dropsAll(m.name)
}

// A place is where schemas are below a keyword.
type place int

const (
	nowhere place = iota // the value is data, or nothing we know
	one                  // the value is a schema; of items, in old dialects, a list
	listed               // the value is a list of schemas
	named                // the value's keys are names, their values schemas
)

// placeOf says where schemas are below the keyword key: JSON Schema 2020-12
// and the drafts before it, back to draft-04.
func placeOf(key string) place {
	switch key {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return named
	case "items", "additionalProperties", "additionalItems", "unevaluatedItems", "unevaluatedProperties",
		"contains", "propertyNames", "not", "if", "then", "else", "contentSchema":
		return one
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return listed
	}
	return nowhere
}
