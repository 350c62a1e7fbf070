package facade

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// example is arguments that fit, made of those that do not: what is known and
// may be so stays, what is misspelt gets its right name, what is missing is put
// in.
func (s *shape) example(sent []part) string {
	e := exampler{shape: s, values: map[string]string{}, inside: map[string][]part{}}
	var strays []part
	for _, a := range sent {
		switch {
		case !s.knows(a.key):
			strays = append(strays, a)
		case s.suits(a.key, a.value):
			e.set(a.key, s.brief(a))
		default:
			e.set(a.key, s.sample(a.key, s.schemas[a.key]))
		}
	}
	for _, a := range strays {
		e.place(a, len(strays))
	}
	for _, name := range e.missing() {
		e.fill(name)
	}
	return e.object()
}

// An exampler puts an example together.
type exampler struct {
	shape  *shape
	names  []string
	values map[string]string // raw, by name
	inside map[string][]part // what belongs into those that are missing, by name
}

func (e *exampler) set(name, raw string) {
	if e.values[name] == "" {
		e.names = append(e.names, name)
		e.values[name] = raw
	}
}

func (e *exampler) missing() []string {
	return slices.DeleteFunc(slices.Clone(e.shape.required), func(name string) bool { return e.values[name] != "" })
}

// fill makes up a value that is missing.
func (e *exampler) fill(name string) {
	value := []byte(e.shape.sample(name, e.shape.schemas[name]))
	for _, a := range e.inside[name] {
		value = wire.SetMember(value, a.key, []byte(e.shape.brief(a)))
	}
	e.set(name, string(value))
}

// place finds a place for one of n arguments whose names are not known: in an
// object that is missing and has that name; under the name that is spelled like
// its own; in the place of the only one that is missing; as it is, where the
// schema allows that.
func (e *exampler) place(a part, n int) {
	names := e.missing()
	for _, name := range names {
		if under(e.shape.plain(e.shape.schemas[name]).Get("properties"), a.key).Exists() {
			e.inside[name] = append(e.inside[name], a)
			return
		}
	}
	if len(names) != 1 || n != 1 {
		names = nil
	}
	for _, name := range append(nearestNames(a.key, e.shape.names, 1), names...) {
		if e.values[name] == "" && e.shape.suits(name, a.value) {
			e.set(name, e.shape.brief(a))
			return
		}
	}
	if !e.shape.closed && a.key != "" {
		e.set(a.key, e.shape.brief(a))
	}
}

func (e *exampler) object() string {
	b := []byte("{")
	for i, name := range e.names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(wire.AppendString(b, name), ':'), e.values[name]...)
	}
	return string(append(b, '}'))
}

// maxSent is how many bytes of a value that was sent are repeated.
const maxSent = 400

// brief is a value that was sent, or what stands for it if it is long.
func (s *shape) brief(a part) string {
	switch {
	case len(a.value.Raw) <= maxSent:
		return ugly(a.value)
	case a.value.Type == gjson.String:
		return placeholder(a.key+" as you sent it", 0)
	}
	return s.sample(a.key, s.schemas[a.key])
}

// placeholder is a string to be replaced, of at most so many characters; 0: any.
func placeholder(what string, most int) string {
	text := "<" + cut(compact.Line(what), 60, "...") + ">"
	if most > 0 {
		text = cut(text, most, "")
	}
	return string(wire.AppendString(nil, text))
}

// maxSamples is how many values are made up for one parameter.
const maxSamples = 25

// sample is a value that a schema takes, as far as its type, its enum and its
// bounds go.
func (s *shape) sample(name string, schema gjson.Result) string {
	return (&sampler{s, maxSamples}).value(name, schema)
}

// A sampler makes up values.
type sampler struct {
	shape *shape
	left  int // how many more
}

func (s *sampler) value(name string, schema gjson.Result) string {
	if s.left--; s.left < 0 {
		return "null"
	}
	v := s.shape.plain(schema)
	for _, path := range []string{"default", "const", "enum.0"} {
		if given := v.Get(path); given.Exists() {
			return ugly(given)
		}
	}
	if part := s.part(v); part.Exists() {
		return s.value(name, part)
	}
	switch k := s.shape.kinds(v); {
	case k == anything && v.Get("properties").Exists(), k&(aString|anObject) == anObject:
		return s.object(v)
	case k == anything && v.Get("items").Exists(), k&(aString|anArray) == anArray:
		return s.array(name, v)
	case k&aString != 0:
		return sampleText(name, v)
	case k&aNumber != 0:
		return sampleNumber(v)
	case k&aBoolean != 0:
		return "false"
	}
	return "null"
}

// part is the first of the schemas that v is put together of which says more
// than null; it does not exist if there is none.
func (s *sampler) part(v gjson.Result) (found gjson.Result) {
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if all := v.Get(key); all.IsArray() && !found.Exists() {
			all.ForEach(func(_, part gjson.Result) bool {
				if k := s.shape.kinds(part); k != aNull && k != anything {
					found = part
				}
				return !found.Exists()
			})
		}
	}
	return found
}

func (s *sampler) object(v gjson.Result) string {
	b := []byte("{")
	properties := v.Get("properties")
	for i, name := range v.Get("required").Array() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(wire.AppendString(b, name.Str), ':')
		b = append(b, s.value(name.Str, under(properties, name.Str))...)
	}
	return string(append(b, '}'))
}

func (s *sampler) array(name string, v gjson.Result) string {
	items, least := v.Get("items"), v.Get("minItems").Int()
	if items.IsObject() {
		least = max(1, least)
	}
	var all []string
	for range min(least, maxShown) {
		all = append(all, s.value(name, items))
	}
	return "[" + strings.Join(all, ",") + "]"
}

func sampleNumber(v gjson.Result) string {
	n := 1.0
	if least := v.Get("minimum"); least.Exists() {
		n = max(n, least.Num)
	}
	if below := v.Get("exclusiveMinimum"); below.Type == gjson.Number {
		n = max(n, below.Num+1)
	}
	if most := v.Get("maximum"); most.Exists() {
		n = min(n, most.Num)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

func sampleText(name string, v gjson.Result) string {
	switch v.Get("format").Str {
	case "date-time":
		return `"2026-01-31T12:00:00Z"`
	case "date":
		return `"2026-01-31"`
	case "uri", "url":
		return `"https://host.example/"`
	case "email":
		return `"name@host.example"`
	case "uuid":
		return `"00000000-0000-4000-8000-000000000000"`
	}
	return placeholder(name, int(v.Get("maxLength").Int()))
}

// nearestNames are at most n of the names that are spelled most like one.
func nearestNames(name string, names []string, n int) []string {
	page := []byte(`{"tools":[`)
	for i, other := range names {
		if i > 0 {
			page = append(page, ',')
		}
		page = append(wire.AppendString(append(page, `{"name":`...), other), '}')
	}
	c, _ := catalog.New([][]byte{append(page, "]}"...)})
	return c.Nearest(name, n)
}

// visible is JSON in which nothing is hidden from whoever reads it: what cannot
// be seen is escaped.
func visible(json string) string {
	var b strings.Builder
	for _, r := range json {
		switch s := string(r); {
		case r == ' ' || compact.Line(s) == s:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// ugly is JSON without white space between its parts.
func ugly(v gjson.Result) string {
	if v.Type != gjson.JSON {
		return v.Raw
	}
	return v.Get("@ugly").Raw
}
