package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// check judges a value by what our schemas use of JSON Schema. The error names
// the value by its path and says what is wanted.
func check(path string, schema, v gjson.Result) error {
	if types := schema.Get("type"); types.Exists() && !hasType(types, v) {
		return fmt.Errorf("%s: want %s, got %s", path, strings.Join(texts(types), " or "), typeOf(v))
	}
	if enum := schema.Get("enum"); enum.Exists() && !contains(enum, v) {
		return fmt.Errorf("%s: %s is not one of %s", path, v.Raw, strings.Join(raws(enum), ", "))
	}
	switch v.Type {
	case gjson.String:
		return checkString(path, schema, v.Str)
	case gjson.Number:
		return checkRange(path, "a number", schema, "minimum", "maximum", v.Num)
	case gjson.JSON:
		if v.IsArray() {
			return checkArray(path, schema, v)
		}
		return checkObject(path, schema, v)
	}
	return nil
}

func checkObject(path string, schema, v gjson.Result) (err error) {
	props := schema.Get("properties")
	for _, name := range texts(schema.Get("required")) {
		if !v.Get(name).Exists() {
			return fmt.Errorf("%s: missing %q, which is required: %s", path, name, props.Get(name+".description").Str)
		}
	}
	closed := schema.Get("additionalProperties").Type == gjson.False
	v.ForEach(func(name, value gjson.Result) bool {
		prop := props.Get(gjson.Escape(name.Str))
		if !prop.Exists() && closed {
			err = fmt.Errorf("%s: unknown %q; the names are %s", path, name.Str, strings.Join(names(props), ", "))
		} else {
			err = check(name.Str, prop, value)
		}
		return err == nil
	})
	return err
}

func checkArray(path string, schema, v gjson.Result) error {
	values := v.Array()
	if err := checkRange(path, "a number of values", schema, "minItems", "maxItems", float64(len(values))); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, item := range values {
		if err := check(fmt.Sprintf("%s[%d]", path, i), schema.Get("items"), item); err != nil {
			return err
		}
		if schema.Get("uniqueItems").Bool() && seen[item.Raw] {
			return fmt.Errorf("%s: %s is there twice", path, item.Raw)
		}
		seen[item.Raw] = true
	}
	return nil
}

func checkString(path string, schema gjson.Result, s string) error {
	if err := checkRange(path, "a length", schema, "minLength", "maxLength", float64(utf8.RuneCountInString(s))); err != nil {
		return err
	}
	if pattern := schema.Get("pattern").Str; !matches(pattern, s) {
		return fmt.Errorf("%s: %q does not match %s%s", path, s, pattern, example(schema))
	}
	if schema.Get("format").Str == "date" {
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return fmt.Errorf("%s: %q is not a date such as 2026-03-16", path, s)
		}
	}
	return nil
}

func example(schema gjson.Result) string {
	if v := schema.Get("examples.0"); v.Exists() {
		return "; an example: " + v.Raw
	}
	return ""
}

func checkRange(path, what string, schema gjson.Result, low, high string, n float64) error {
	if v := schema.Get(low); v.Exists() && n < v.Num {
		return fmt.Errorf("%s: want %s of at least %v, got %v", path, what, v.Num, n)
	}
	if v := schema.Get(high); v.Exists() && n > v.Num {
		return fmt.Errorf("%s: want %s of at most %v, got %v", path, what, v.Num, n)
	}
	return nil
}

func hasType(types, v gjson.Result) bool {
	t := typeOf(v)
	return slices.ContainsFunc(texts(types), func(want string) bool {
		return want == t || want == "number" && t == "integer"
	})
}

func typeOf(v gjson.Result) string {
	switch {
	case v.Type == gjson.Number && v.Num == float64(int64(v.Num)):
		return "integer"
	case v.IsObject():
		return "object"
	case v.IsArray():
		return "array"
	}
	return [...]string{gjson.Null: "null", gjson.False: "boolean", gjson.Number: "number", gjson.String: "string", gjson.True: "boolean", gjson.JSON: "object"}[v.Type]
}

// resolve checks that whatever the arguments refer to is there.
func (c *call) resolve() (err error) {
	c.args.ForEach(func(name, v gjson.Result) bool {
		k := kindOf(name.Str)
		if k == nil || v.Type == gjson.Null || c.makes(k, name.Str) {
			return true
		}
		for _, id := range texts(v) {
			if _, ok := c.store.find(k, id); !ok {
				err = c.store.missing(k, id)
				return false
			}
		}
		return true
	})
	return err
}

// makes reports whether the argument names the record that the call is to make.
func (c *call) makes(k *kind, arg string) bool {
	return k == c.kind && arg == k.id && strings.HasPrefix(c.name, "create_")
}

// missing is the error for an id that there is not. Of few, it names all.
func (s *store) missing(k *kind, id string) error {
	var ids []string
	for _, row := range s.rows[k.name] {
		ids = append(ids, text(row, k.id))
	}
	if len(ids) == 0 || len(ids) > 12 {
		return fmt.Errorf("there is no %s %q; find it with %s", k.one, id, k.find)
	}
	return fmt.Errorf("there is no %s %q; there are %s", k.one, id, strings.Join(ids, ", "))
}

// contains reports whether the array holds an equal value.
func contains(list, v gjson.Result) bool {
	return slices.ContainsFunc(list.Array(), func(item gjson.Result) bool {
		return item.Type == v.Type && item.String() == v.String()
	})
}

// texts are the values of an array, or the one value that there is, as text.
func texts(v gjson.Result) []string {
	var out []string
	for _, item := range v.Array() {
		out = append(out, item.String())
	}
	return out
}

// raws are the values of an array as written.
func raws(v gjson.Result) []string {
	var out []string
	for _, item := range v.Array() {
		out = append(out, item.Raw)
	}
	return out
}

// names are the keys of an object.
func names(v gjson.Result) []string {
	var out []string
	v.ForEach(func(name, _ gjson.Result) bool {
		out = append(out, name.Str)
		return true
	})
	return out
}
