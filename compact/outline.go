package compact

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Outline renders the object that schema describes as one line of typed
// properties, those of the objects in it too, as deep and as wide as at most so
// many tokens go by the estimate:
//
//	{message: {subject?: string, to: {address: string}[], …+12}}
//
// Required properties come first, those that only the server writes last. It
// returns "" if schema has no properties, or not even the first ones fit.
func Outline(schema []byte, tokens int) string {
	for _, o := range []outline{
		{deep: 6, wide: 1000}, {deep: 5, wide: 1000}, {deep: 4, wide: 1000}, {deep: 6, wide: 12}, {deep: 5, wide: 10}, {deep: 4, wide: 10},
		{deep: 4, wide: 8}, {deep: 3, wide: 10}, {deep: 3, wide: 6}, {deep: 2, wide: 10}, {deep: 2, wide: 5}, {deep: 1, wide: 12},
	} {
		o.typer = typer{root: gjson.Parse(view(schema)), work: maxWork * len(schema)}
		if text := o.object(o.root, 1); text != "" && Tokens([]byte(text)) <= tokens {
			return text
		}
	}
	return ""
}

// An outline is how much of a schema is shown.
type outline struct {
	deep, wide int // objects within objects, and properties of each
	typer
}

// object is an object with its properties, or "" if it has none or is too deep.
func (o *outline) object(v gjson.Result, depth int) string {
	f := o.resolve(v)
	all := o.properties(&f)
	if len(all) == 0 || depth > o.deep {
		return ""
	}
	var parts []string
	for _, p := range all[:min(len(all), o.wide)] {
		mark := "?: "
		if p.required {
			mark = ": "
		}
		parts = append(parts, paramName(p.name)+mark+o.kindOf(p.schema, depth+1))
	}
	if hidden := len(all) - len(parts); hidden > 0 {
		parts = append(parts, "…+"+strconv.Itoa(hidden))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// properties are those of an object, the most telling first.
func (o *outline) properties(f *facts) (all []parameter) {
	names := namesIn(f.required)
	f.properties.ForEach(func(key, value gjson.Result) bool {
		all = append(all, parameter{name: key.Str, schema: value, required: names[key.Str]})
		return true
	})
	slices.SortStableFunc(all, func(a, b parameter) int { return cmp.Compare(o.rank(a), o.rank(b)) })
	return all
}

func (o *outline) rank(p parameter) int {
	low := strings.ToLower(p.name)
	written := strings.HasPrefix(low, "created") || strings.HasPrefix(low, "lastmodified") || strings.HasPrefix(low, "updated")
	switch {
	case p.required:
		return 0
	case p.schema.Get("readOnly").Bool(), written, low == "id", strings.Contains(strings.ToLower(p.schema.Get("description").Str), "read-only"):
		return 3
	case aside(p.name):
		return 2
	}
	return 1
}

// kindOf is the type of a property, with the properties of an object or of the
// objects in an array where there is room.
func (o *outline) kindOf(v gjson.Result, depth int) string {
	if o.work -= len(v.Raw); o.work > 0 {
		f := o.resolve(v)
		for _, union := range []gjson.Result{f.anyOf, f.oneOf} {
			if one, ok := theOther(union); ok {
				return o.kindOf(one, depth) + "|null"
			}
		}
		if text := o.object(v, depth); text != "" {
			return text
		}
		if f.items.IsObject() {
			if text := o.object(f.items, depth); text != "" {
				return text + "[]"
			}
		}
	}
	return o.kind(v, depth)
}

// theOther is the only schema of a union besides that of null.
func theOther(union gjson.Result) (one gjson.Result, ok bool) {
	all := union.Array()
	if !union.IsArray() || len(all) != 2 {
		return one, false
	}
	for i, v := range all {
		if v.Get("type").Str == "null" {
			return all[1-i], true
		}
	}
	return one, false
}
