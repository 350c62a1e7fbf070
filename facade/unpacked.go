package facade

import (
	"strings"

	"github.com/tidwall/gjson"
)

// unpacked are arguments, an object of some members, in which each string that
// stands where the schema takes an object or an array and no string is what it
// holds, if it holds one. All else stays byte for byte.
func (s *shape) unpacked(args gjson.Result, members []part) string {
	c := changer{value: args}
	for _, m := range members {
		if !s.unsure[m.key] {
			c.put(m.value, s.unpack(m.value, s.schemas[m.key]))
		}
	}
	return c.text()
}

func (s *shape) unpack(v, schema gjson.Result) string {
	switch {
	case !schema.IsObject() || s.doubtful(schema):
	case v.Type == gjson.String:
		if inner, ok := packed(v.Str, s.kinds(schema)); ok {
			return s.unpack(inner, schema)
		}
	case v.Type == gjson.JSON && mayPack(v.Raw):
		return s.unpackEach(v, s.plain(schema))
	}
	return v.Raw
}

// doubtful reports whether a schema says what it takes in a way that is not
// followed here: by a reference that leads elsewhere, or beside one.
func (s *shape) doubtful(schema gjson.Result) bool {
	ref := schema.Get("$ref")
	if !ref.Exists() {
		return false
	}
	alone := true
	schema.ForEach(func(key, _ gjson.Result) bool {
		switch key.Str {
		case "$ref", "description", "title", "default", "examples", "$comment":
		default:
			alone = false
		}
		return alone
	})
	return !alone || !s.target(ref.Str).Exists()
}

func (s *shape) unpackEach(v, schema gjson.Result) string {
	c := changer{value: v}
	properties, items, object := schema.Get("properties"), schema.Get("items"), v.IsObject()
	if !object && schema.Get("prefixItems").Exists() { // items is for those after them
		return v.Raw
	}
	v.ForEach(func(key, value gjson.Result) bool {
		inner := items
		if object {
			inner = under(properties, key.Str)
		}
		c.put(value, s.unpack(value, inner))
		return true
	})
	return c.text()
}

// mayPack reports whether a string in raw begins like JSON of an object or an
// array, or with a space or an escape before it.
func mayPack(raw string) bool {
	for _, begin := range []string{`"{`, `"[`, `" `, `"\`} {
		if strings.Contains(raw, begin) {
			return true
		}
	}
	return false
}

// packed is what a string holds in JSON, where that is an object or an array
// and a string is not among the types that are taken.
func packed(text string, taken kinds) (gjson.Result, bool) {
	text = strings.TrimSpace(text)
	if taken&aString != 0 || text == "" || text[0] != '{' && text[0] != '[' || !gjson.Valid(text) {
		return gjson.Result{}, false
	}
	v := gjson.Parse(text)
	return v, taken&kindOf(v) != 0
}

// A changer puts other values into an object or an array.
type changer struct {
	value gjson.Result
	out   []byte
	done  int // up to where value is in out
}

// put puts now in the place of a value that is found after those before.
func (c *changer) put(found gjson.Result, now string) {
	if now != found.Raw {
		at := found.Index - c.value.Index
		c.out = append(append(c.out, c.value.Raw[c.done:at]...), now...)
		c.done = at + len(found.Raw)
	}
}

func (c *changer) text() string {
	if c.done == 0 {
		return c.value.Raw
	}
	return string(append(c.out, c.value.Raw[c.done:]...))
}
