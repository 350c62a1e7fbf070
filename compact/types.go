package compact

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// maxTypeDepth is how far a type is followed into items, unions and
// references; deeper, it is "any". References in circles end there too.
const maxTypeDepth = 6

// maxWork bounds what is read for the types of one tool, as a multiple of its
// schema's size: unions of references to unions grow without end otherwise.
const maxWork = 100

// A typer tells the types of schemas below one root.
type typer struct {
	root gjson.Result
	work int      // how many bytes may still be read
	refs []string // the references being followed
}

// kind returns the type of the schema v in a few characters.
func (t *typer) kind(v gjson.Result, depth int) string {
	kinds := t.kinds(v, depth)
	if len(kinds) == 0 {
		return "any"
	}
	return strings.Join(kinds, "|")
}

// kinds returns the members of the union that v's type is, most often one; none
// for a reference to what is just being told, which adds nothing to a union.
func (t *typer) kinds(v gjson.Result, depth int) []string {
	if v.Type == gjson.False {
		return []string{"never"}
	}
	if t.work -= len(v.Raw); depth > maxTypeDepth || t.work < 0 || !v.IsObject() {
		return []string{"any"}
	}
	f := factsOf(v)
	if f.ref.Type == gjson.String && slices.Contains(t.refs, f.ref.Str) {
		return nil
	}
	kinds := t.own(&f, depth)
	if len(kinds) == 0 {
		kinds = []string{"any"}
	}
	if f.nullable.Type == gjson.True && !slices.Contains(kinds, "any") {
		kinds = append(kinds, "null")
	}
	return few(kinds)
}

// facts are the keywords of a schema that tell its type.
type facts struct {
	ref, constant, enum, anyOf, oneOf, allOf, nullable         gjson.Result
	kind, properties, additional, items, prefixItems, required gjson.Result
}

// factsOf reads the schema v once. Of a keyword that is repeated the first
// counts.
func factsOf(v gjson.Result) (f facts) {
	v.ForEach(func(key, value gjson.Result) bool {
		if place := f.of(key.Str); place != nil && !place.Exists() {
			*place = value
		}
		return true
	})
	return f
}

// of returns where the value of a keyword is kept, nil for one that tells
// nothing.
func (f *facts) of(key string) *gjson.Result {
	switch key {
	case "$ref":
		return &f.ref
	case "const":
		return &f.constant
	case "enum":
		return &f.enum
	case "anyOf":
		return &f.anyOf
	case "oneOf":
		return &f.oneOf
	case "allOf":
		return &f.allOf
	case "nullable":
		return &f.nullable
	case "type":
		return &f.kind
	case "properties":
		return &f.properties
	case "additionalProperties":
		return &f.additional
	case "items":
		return &f.items
	case "prefixItems":
		return &f.prefixItems
	case "required":
		return &f.required
	}
	return nil
}

// own tells a type by the keyword that says most about it.
func (t *typer) own(f *facts, depth int) []string {
	if f.constant.Exists() {
		return []string{literal(f.constant)}
	}
	if f.enum.IsArray() {
		return literals(f.enum)
	}
	for _, union := range []gjson.Result{f.anyOf, f.oneOf} {
		if kinds := t.union(union, depth); !vague(kinds) {
			return kinds
		}
	}
	if f.ref.Type == gjson.String {
		return t.referred(f.ref.Str, depth)
	}
	if kinds := t.byType(f, depth); !vague(kinds) {
		return kinds
	}
	return t.allOf(f.allOf, depth)
}

// referred returns the type of the schema that a reference points to.
func (t *typer) referred(ref string, depth int) []string {
	t.refs = append(t.refs, ref)
	kinds := t.kinds(t.lookUp(ref), depth+1)
	t.refs = t.refs[:len(t.refs)-1]
	return kinds
}

// literals returns the values of an enum, the first few of many.
func literals(enum gjson.Result) []string {
	var all []string
	more := false
	enum.ForEach(func(_, v gjson.Result) bool {
		more = len(all) > maxValues
		if !more {
			all = append(all, literal(v))
		}
		return !more
	})
	return few(all)
}

// few returns kinds without repetitions, and only the first ones of many.
func few(kinds []string) []string {
	var distinct []string
	for _, k := range kinds {
		if !slices.Contains(distinct, k) {
			distinct = append(distinct, k)
		}
	}
	if len(distinct) <= maxValues {
		return distinct
	}
	return append(distinct[:shownValues:shownValues], "…")
}

// union returns the types of the schemas in a list, nil if v is none.
func (t *typer) union(v gjson.Result, depth int) []string {
	if !v.IsArray() {
		return nil
	}
	var kinds []string
	v.ForEach(func(_, s gjson.Result) bool {
		kinds = append(kinds, t.kinds(s, depth+1)...)
		return len(kinds) <= 4*maxValues
	})
	return few(kinds)
}

// allOf returns the type of the first schema in a list that has one.
func (t *typer) allOf(v gjson.Result, depth int) []string {
	kinds := []string{"any"}
	if v.IsArray() {
		v.ForEach(func(_, s gjson.Result) bool {
			kinds = t.kinds(s, depth+1)
			return vague(kinds)
		})
	}
	return kinds
}

// vague reports whether a type says nothing.
func vague(kinds []string) bool { return len(kinds) == 0 || slices.Contains(kinds, "any") }

// byType tells a type by the keyword type, or by what only one type has.
func (t *typer) byType(f *facts, depth int) []string {
	switch {
	case f.kind.IsArray():
		var kinds []string
		f.kind.ForEach(func(_, name gjson.Result) bool {
			kinds = append(kinds, t.named(name.Str, f, depth))
			return len(kinds) < maxValues
		})
		return few(kinds)
	case f.kind.Type == gjson.String:
		return []string{t.named(f.kind.Str, f, depth)}
	case f.properties.Exists() || f.additional.IsObject():
		return []string{"object"}
	case f.items.Exists() || f.prefixItems.Exists():
		return []string{t.named("array", f, depth)}
	}
	return nil
}

// named returns the type called name of a schema.
func (t *typer) named(name string, f *facts, depth int) string {
	switch name {
	case "array":
		return t.array(f.items, depth)
	case "string", "integer", "number", "boolean", "object", "null":
		return name
	}
	return "any"
}

func (t *typer) array(items gjson.Result, depth int) string {
	if !items.IsObject() {
		return "any[]"
	}
	kind := t.kind(items, depth+1)
	if strings.Contains(kind, "|") {
		return "(" + kind + ")[]"
	}
	return kind + "[]"
}

// resolve reads the schema v, or the one that it is a reference to.
func (t *typer) resolve(v gjson.Result) facts {
	f := factsOf(v)
	for range maxTypeDepth {
		if f.ref.Type != gjson.String {
			break
		}
		f = factsOf(t.lookUp(f.ref.Str))
	}
	return f
}

// lookUp returns the schema that a local reference points to; one that does
// not exist for all others.
func (t *typer) lookUp(ref string) gjson.Result {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && pointer[0] != '/' {
		return gjson.Result{}
	}
	t.work -= len(t.root.Raw)
	v := t.root
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		v = child(v, unescape(step))
	}
	return v
}

// unescape decodes one step of a JSON pointer in a URI fragment.
func unescape(step string) string {
	if s, err := url.PathUnescape(step); err == nil {
		step = s
	}
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}

// child returns the member or element of v called step.
func child(v gjson.Result, step string) gjson.Result {
	var found gjson.Result
	index := 0
	v.ForEach(func(key, value gjson.Result) bool {
		name := key.Str
		if v.IsArray() {
			name = strconv.Itoa(index)
			index++
		}
		if name == step {
			found = value
		}
		return true
	})
	return found
}
