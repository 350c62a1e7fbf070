package compact

import (
	"slices"

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
	t := newTrimmer(o)
	return t.root(make([]byte, 0, len(raw)), v)
}

// parseObject reads raw as one JSON object that is safe to recurse into.
func parseObject(raw []byte) (gjson.Result, bool) {
	if tooDeep(raw) || !gjson.ValidBytes(raw) {
		return gjson.Result{}, false
	}
	v := gjson.ParseBytes(raw)
	return v, v.IsObject()
}

// tooDeep reports whether raw nests deeper than maxDepth. It looks at every
// byte and keeps no stack, so it may be asked before anything recursive is.
func tooDeep(raw []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
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

// A trimmer writes schemas by appending what is left of them.
type trimmer struct {
	o        Options
	members  []member // a stack: each object being written has its members on it
	usage    usage    // what was seen of the schema being written
	dialects []span   // where its $schema members were written to
}

// A span is a part of what was written.
type span struct{ from, to int }

func newTrimmer(o Options) *trimmer { return &trimmer{o: o, members: make([]member, 0, 64)} }

// root appends the schema v, which stands by itself. Whether its $schema may
// go is known only when all of it has been seen.
func (t *trimmer) root(dst []byte, v gjson.Result) []byte {
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
	if !v.IsObject() {
		return appendCompact(dst, v.Raw)
	}
	from := t.push(v)
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
	t.members = t.members[:from]
	return append(dst, '}')
}

// push puts v's members on the stack and returns where they begin.
func (t *trimmer) push(v gjson.Result) int {
	from := len(t.members)
	v.ForEach(func(key, value gjson.Result) bool {
		t.members = append(t.members, member{key.Raw, key.Str, value})
		return true
	})
	return from
}

// keyword appends the value of the keyword m: schemas are entered, the
// description is replaced, all else is copied.
func (t *trimmer) keyword(dst []byte, m member, n note) []byte {
	switch placeOf(m.name) {
	case named:
		return t.named(dst, m.value)
	case one, listed:
		return t.schemas(dst, m.value)
	}
	if m.name == "description" && n.changed {
		return appendString(dst, n.text)
	}
	return appendCompact(dst, m.value.Raw)
}

// named appends an object whose keys are names and whose values are schemas.
func (t *trimmer) named(dst []byte, v gjson.Result) []byte {
	if !v.IsObject() {
		return appendCompact(dst, v.Raw)
	}
	dst = append(dst, '{')
	v.ForEach(func(key, value gjson.Result) bool {
		dst = t.schema(appendKey(dst, key.Raw), value)
		return true
	})
	return append(dst, '}')
}

// schemas appends one schema or a list of them.
func (t *trimmer) schemas(dst []byte, v gjson.Result) []byte {
	if !v.IsArray() {
		return t.schema(dst, v)
	}
	dst = append(dst, '[')
	v.ForEach(func(_, value gjson.Result) bool {
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = t.schema(dst, value)
		return true
	})
	return append(dst, ']')
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
	}
	return false
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
