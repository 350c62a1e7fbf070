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
	if ref := v.Get(`$ref`); ref.Type == gjson.String && slices.Contains(t.refs, ref.Str) {
		return nil
	}
	kinds := t.own(v, depth)
	if len(kinds) == 0 {
		kinds = []string{"any"}
	}
	if v.Get("nullable").Type == gjson.True && !slices.Contains(kinds, "any") {
		kinds = append(kinds, "null")
	}
	return few(kinds)
}

// own tells v's type by the keyword that says most about it.
func (t *typer) own(v gjson.Result, depth int) []string {
	if c := v.Get("const"); c.Exists() {
		return []string{literal(c)}
	}
	if e := v.Get("enum"); e.IsArray() {
		return literals(e)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if kinds := t.union(v.Get(key), depth); !vague(kinds) {
			return kinds
		}
	}
	if ref := v.Get(`$ref`); ref.Type == gjson.String {
		return t.referred(ref.Str, depth)
	}
	if kinds := t.byType(v, depth); !vague(kinds) {
		return kinds
	}
	return t.allOf(v.Get("allOf"), depth)
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

// byType tells v's type by its keyword type, or by what only one type has.
func (t *typer) byType(v gjson.Result, depth int) []string {
	names := v.Get("type")
	switch {
	case names.IsArray():
		var kinds []string
		names.ForEach(func(_, name gjson.Result) bool {
			kinds = append(kinds, t.named(name.Str, v, depth))
			return len(kinds) < maxValues
		})
		return few(kinds)
	case names.Type == gjson.String:
		return []string{t.named(names.Str, v, depth)}
	case v.Get("properties").Exists() || v.Get("additionalProperties").IsObject():
		return []string{"object"}
	case v.Get("items").Exists() || v.Get("prefixItems").Exists():
		return []string{t.named("array", v, depth)}
	}
	return nil
}

// named returns the type called name of the schema v.
func (t *typer) named(name string, v gjson.Result, depth int) string {
	switch name {
	case "array":
		return t.array(v.Get("items"), depth)
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

// resolve follows references from v to a schema that is none.
func (t *typer) resolve(v gjson.Result) gjson.Result {
	for range maxTypeDepth {
		ref := v.Get(`$ref`)
		if ref.Type != gjson.String {
			break
		}
		v = t.lookUp(ref.Str)
	}
	return v
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
