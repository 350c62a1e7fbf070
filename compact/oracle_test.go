package compact_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"mcp-facade/compact"
)

// levels are in the order in which they take more and more away.
var levels = []string{"off", "lossless", "standard", "tight"}

// keeps are what the levels are combined with.
var keeps = [][]string{
	nil,
	{"default", "examples"},
	{"$schema", "description", "outputSchema", "x-mcp-header"},
	{"$defs"},
	{"properties", "$comment", "items", "minimum", "exclusiveMinimum", "format", "default"},
}

// An oracle asks an independent validator whether two schemas accept the same
// instances.
type oracle struct {
	instances []any
	accepted  []bool // by the original
	refusals  int
}

// consult returns an oracle that asks about n instances, or why the validator
// cannot tell anything about the schema raw.
func consult(raw []byte, seed uint64, n int) (*oracle, error) {
	original, err := compile(raw)
	if err != nil {
		return nil, err
	}
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	o := &oracle{instances: forge(decoded, seed, n)}
	for _, instance := range o.instances {
		ok := original.Validate(instance) == nil
		o.accepted = append(o.accepted, ok)
		if !ok {
			o.refusals++
		}
	}
	return o, nil
}

// compile reads a schema that names no dialect as 2020-12, as hosts do. Formats
// bind in every dialect, so that it matters when one is lost.
func compile(raw []byte) (*jsonschema.Schema, error) {
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:///schema.json", decoded); err != nil {
		return nil, err
	}
	return c.Compile("mem:///schema.json")
}

// check fails t unless out, trimmed at a level, accepts the instances that the
// schema in accepts, and except under tight no others.
func (o *oracle) check(t *testing.T, level string, in, out []byte) {
	t.Helper()
	trimmed, err := compile(out)
	if err != nil {
		t.Fatalf("%s: no valid schema: %v\n in %s\nout %s", level, err, in, out)
	}
	for i, instance := range o.instances {
		err := trimmed.Validate(instance)
		if o.accepted[i] == (err == nil) || !o.accepted[i] && level == "tight" {
			continue
		}
		text, _ := json.Marshal(instance)
		t.Fatalf("%s: accepted %t before: %s\n%v\n in %s\nout %s", level, o.accepted[i], text, err, in, out)
	}
}

// checkLevels fails t unless the schema in keeps all promises at every level,
// with each of the lists kept; without an oracle those that need none.
func checkLevels(t *testing.T, in []byte, o *oracle, keeps ...[]string) {
	t.Helper()
	judged := map[string]bool{}
	for _, keep := range keeps {
		size := utf8.RuneCount(in)
		for _, level := range levels {
			options := compact.Options{Level: level, Keep: keep}
			checkInvariants(t, compact.Schema, in, options)
			out := compact.Schema(in, options)
			n := utf8.RuneCount(out)
			if n > size {
				t.Fatalf("%+v: %d characters, more than a level that takes less\n in %s\nout %s", options, n, in, out)
			}
			size = n
			if key := string(out) + level; o != nil && !judged[key] && !bytes.Equal(in, out) {
				o.check(t, level, in, out)
				judged[key] = true
			}
		}
	}
}

// A forger makes instances from a schema: right ones, and nearly right ones.
type forger struct {
	*rand.Rand
	root any
}

// forge returns n instances of the decoded schema, two of three bent.
func forge(schema any, seed uint64, n int) []any {
	f := forger{rand.New(rand.NewPCG(seed, 11)), schema}
	all := make([]any, n)
	for i := range all {
		all[i] = f.instance(schema, 8)
		for range i % 3 {
			all[i] = f.bent(all[i])
		}
	}
	return all
}

func pick[T any](f forger, of []T) T { return of[f.IntN(len(of))] }

// instance returns a value that the schema s may accept.
func (f forger) instance(s any, depth int) any {
	m, ok := s.(map[string]any)
	if !ok || depth == 0 {
		return f.anything(depth)
	}
	if ref, ok := m["$ref"].(string); ok {
		if target, ok := f.lookUp(ref); ok {
			return f.instance(target, depth-1)
		}
	}
	if c, ok := m["const"]; ok {
		return c
	}
	if e, ok := m["enum"].([]any); ok && len(e) > 0 {
		return pick(f, e)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := m[key].([]any); ok && len(list) > 0 {
			return f.merged(pick(f, list), m, depth)
		}
	}
	return f.typed(m, depth)
}

// merged returns an instance of the schema s which, if that is an object, also
// has the properties of m.
func (f forger) merged(s any, m map[string]any, depth int) any {
	v := f.instance(s, depth-1)
	object, ok := v.(map[string]any)
	if _, has := m["properties"]; ok && has {
		maps.Copy(object, f.object(m, depth))
	}
	return v
}

func (f forger) lookUp(ref string) (any, bool) {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	v := f.root
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		v = m[strings.NewReplacer("~1", "/", "~0", "~", "%25", "%", "%20", " ").Replace(step)]
	}
	return v, v != nil
}

func (f forger) typed(m map[string]any, depth int) any {
	kind, _ := m["type"].(string)
	if kinds, ok := m["type"].([]any); ok && len(kinds) > 0 {
		kind, _ = pick(f, kinds).(string)
	}
	if _, has := m["properties"]; kind == "" && has {
		kind = "object"
	}
	switch kind {
	case "object":
		return f.object(m, depth)
	case "array":
		return f.array(m, depth)
	case "string":
		return f.text(m)
	case "integer", "number":
		return f.number(m)
	case "boolean":
		return f.IntN(2) == 0
	case "null":
		return nil
	}
	return f.anything(depth)
}

func (f forger) object(m map[string]any, depth int) map[string]any {
	object := map[string]any{}
	required, _ := m["required"].([]any)
	properties, _ := m["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) || f.IntN(2) == 0 {
			object[name] = f.instance(properties[name], depth-1)
		}
	}
	for _, name := range required {
		if name, ok := name.(string); ok && properties[name] == nil {
			object[name] = f.instance(m["additionalProperties"], depth-1)
		}
	}
	if m["additionalProperties"] != false && f.IntN(3) == 0 {
		object["x_extra"] = f.instance(m["additionalProperties"], depth-1)
	}
	return object
}

func (f forger) array(m map[string]any, depth int) []any {
	n := f.IntN(3)
	if least, ok := m["minItems"].(json.Number); ok {
		if i, err := least.Int64(); err == nil {
			n = max(n, int(min(i, 5)))
		}
	}
	list := make([]any, n)
	for i := range list {
		item := m["items"]
		for _, key := range []string{"items", "prefixItems"} {
			if tuple, ok := m[key].([]any); ok && i < len(tuple) {
				item = tuple[i]
			}
		}
		list[i] = f.instance(item, depth-1)
	}
	return list
}

func (f forger) text(m map[string]any) any {
	switch format, _ := m["format"].(string); format {
	case "date-time":
		return "2026-01-02T03:04:05Z"
	case "date":
		return "2026-01-02"
	case "email":
		return "a@b.example"
	case "uri":
		return "https://a.example/b"
	case "uuid":
		return "123e4567-e89b-12d3-a456-426614174000"
	}
	s := pick(f, []string{"", "a", "abc", "Größe", "創建工單", "12", "x y", "^a", "2026-01-02"})
	if least, ok := m["minLength"].(json.Number); ok {
		if n, err := least.Int64(); err == nil && n < 100 {
			s += strings.Repeat("a", int(n))
		}
	}
	return s
}

func (f forger) number(m map[string]any) any {
	of := []any{json.Number("0"), json.Number("1"), json.Number("1.0"), json.Number("5"), json.Number("-3"), json.Number("9007199254740993")}
	for _, key := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		if n, ok := m[key].(json.Number); ok {
			of = append(of, n, n)
		}
	}
	if m["type"] != "integer" {
		of = append(of, json.Number("0.5"))
	}
	return pick(f, of)
}

func (f forger) anything(depth int) any {
	switch n := f.IntN(8); {
	case n == 0 && depth > 0:
		return map[string]any{"a": f.anything(depth - 1)}
	case n == 1 && depth > 0:
		return []any{f.anything(depth - 1)}
	}
	return pick(f, []any{nil, true, json.Number("1"), json.Number("2.5"), "a", "", map[string]any{}, []any{}})
}

// bent returns v with something wrong in it, perhaps: a member that is missing,
// or too many, a value of another type, out of range, or null.
func (f forger) bent(v any) any {
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		switch n := f.IntN(6); {
		case n == 0 && len(names) > 0:
			delete(v, pick(f, names))
		case n == 1:
			v[pick(f, []string{"a", "b", "x_more", "type", "$schema"})] = f.anything(2)
		case len(names) > 0 && n < 5:
			name := pick(f, names)
			v[name] = f.bent(v[name])
			return v
		}
		if f.IntN(4) > 0 {
			return v
		}
	case []any:
		switch n := f.IntN(4); {
		case n == 0:
			return append(slices.Clone(v), f.anything(2))
		case n < 3 && len(v) > 0:
			i := f.IntN(len(v))
			v[i] = f.bent(v[i])
			return v
		}
	case json.Number:
		if f.IntN(2) == 0 {
			return pick(f, []any{json.Number("-1"), json.Number("1e12"), json.Number("0.25"), json.Number("9007199254740992")})
		}
	case string:
		if f.IntN(2) == 0 {
			return pick(f, []any{v + "x", strings.ToUpper(v), "", strings.Repeat("long ", 60)})
		}
	}
	return f.anything(2)
}
