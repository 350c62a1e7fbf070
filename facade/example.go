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

// exampleFor is arguments that fit, made of those that do not: what is known and
// may be so stays, what is misspelt gets its right name, what is missing is made
// up. The name of the tool says what its parameters are about.
func (s *shape) exampleFor(tool string, sent []part) *exampler {
	e := &exampler{shape: s, subject: wordsOfName(tool), values: map[string]string{}, inside: map[string][]part{}}
	var strays []part
	for _, a := range sent {
		switch {
		case !s.knows(a.key):
			strays = append(strays, a)
		case s.suits(a.key, a.value):
			e.set(a.key, s.brief(a))
		case a.value.Type == gjson.JSON || a.value.Type == gjson.Null:
			e.makeUp(a.key)
		default:
			e.ask(a.key)
		}
	}
	for _, a := range strays {
		e.place(a)
	}
	for _, name := range e.missing() {
		e.fill(name)
	}
	return e
}

// An exampler puts an example together.
type exampler struct {
	shape   *shape
	subject []string // what the tool is about
	names   []string
	values  map[string]string // raw, by name
	inside  map[string][]part // what belongs into those that are missing, by name
	madeUp  bool              // there is a value that nobody has given and that looks as if
	lost    []part            // what was given and has no place
}

func (e *exampler) set(name, raw string) {
	if e.values[name] == "" {
		e.names = append(e.names, name)
		e.values[name] = raw
	}
}

// makeUp sets a value that nobody has given.
func (e *exampler) makeUp(name string) {
	schema := e.shape.schemas[name]
	value := e.shape.sample(name, schema)
	v := e.shape.plain(schema)
	if !strings.Contains(value, `"<`) && !v.Get("default").Exists() && !v.Get("const").Exists() && len(v.Get("enum").Array()) != 1 {
		e.madeUp = true
	}
	e.set(name, value)
}

func (e *exampler) missing() []string {
	return slices.DeleteFunc(slices.Clone(e.shape.required), func(name string) bool { return e.values[name] != "" })
}

// ask sets what the model is to put its own value for.
func (e *exampler) ask(name string) {
	what := "value"
	if v := e.shape.plain(e.shape.schemas[name]); v.Get("enum").Exists() {
		var values []string
		for _, value := range v.Get("enum").Array() {
			values = append(values, value.String())
		}
		what = strings.Join(values, "|")
	} else if k := e.shape.kinds(v); k&(k-1) == 0 {
		what = strings.TrimPrefix(strings.TrimPrefix(k.String(), "a "), "an ")
	}
	e.set(name, placeholder(name+": "+what, 0))
}

// keep makes an example hold a place for what was lost, so that it never does more
// than was asked for: for the parameter that a text names or a name is like; for
// the first one, if there is nothing else. It returns what has no place at all.
func (e *exampler) keep() (lost []part) {
	for _, a := range e.lost {
		var free []string
		for _, name := range e.shape.names {
			if e.values[name] == "" {
				free = append(free, name)
			}
		}
		names := nearestNames(a.key, free, 1)
		if a.key == "" {
			names = slices.DeleteFunc(free, func(name string) bool { return !strings.Contains(a.value.Str, name) })
		}
		for _, name := range names {
			e.ask(name)
		}
		if len(names) == 0 {
			lost = append(lost, a)
		}
	}
	if len(e.lost) > 0 && len(e.names) == 0 && len(e.shape.names) > 0 {
		e.ask(e.shape.names[max(0, slices.IndexFunc(e.shape.names, e.shape.takesText))])
	}
	return lost
}

// takesText reports whether a parameter takes any string.
func (s *shape) takesText(name string) bool {
	v := s.plain(s.schemas[name])
	return s.kinds(v)&aString != 0 && !v.Get("enum").Exists()
}

// isOpen reports whether there is something in an example to put a value for.
func (e *exampler) isOpen() bool {
	for _, value := range e.values {
		if strings.Contains(value, `"<`) {
			return true
		}
	}
	return false
}

// fill makes up a value that is missing, around what belongs into it.
func (e *exampler) fill(name string) {
	if e.inside[name] == nil {
		e.makeUp(name)
		return
	}
	value := []byte(e.shape.sample(name, e.shape.schemas[name]))
	for _, a := range e.inside[name] {
		value = wire.SetMember(value, a.key, []byte(e.shape.brief(a)))
	}
	e.set(name, string(value))
}

// place finds a place for an argument whose name is not known: in an object that
// is missing and has that name; under a name that means the same; as it is,
// where the schema says that there are others. A value never becomes that of another parameter.
func (e *exampler) place(a part) {
	if a.prose {
		e.lost = append(e.lost, a)
		return
	}
	for _, name := range e.missing() {
		if under(e.shape.plain(e.shape.schemas[name]).Get("properties"), a.key).Exists() {
			e.inside[name] = append(e.inside[name], a)
			return
		}
	}
	switch name := e.meant(a); {
	case name != "":
		e.set(name, e.shape.brief(a))
	case e.shape.loose && a.key != "":
		e.set(a.key, e.shape.brief(a))
	default:
		e.lost = append(e.lost, a)
	}
}

// meant is the parameter that the name of an argument means, "" if that is not
// clear. One without a name means the only parameter that is missing.
func (e *exampler) meant(a part) string {
	free := func(names []string, means func(string) bool) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return e.values[name] != "" || !means(name) || !e.shape.suits(name, a.value)
		})
	}
	found := free(e.shape.names, func(name string) bool { return sameName(a.key, name) })
	if len(found) == 0 {
		found = free(e.missing(), func(name string) bool { return akin(a.key, name, e.subject) })
	}
	if missing := e.missing(); a.key == "" && len(missing) == 1 {
		found = free(missing, func(string) bool { return true })
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
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
	return placeholder(name+": string", int(v.Get("maxLength").Int()))
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

// brailleBlank looks like a space, but is none.
const brailleBlank = '\u2800'

// visible is JSON in which nothing is hidden from whoever reads it: what cannot
// be seen is escaped.
func visible(json string) string {
	var b strings.Builder
	for _, r := range json {
		switch s := string(r); {
		case r == ' ' || r != brailleBlank && compact.Line(s) == s:
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
