package facade

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// A shape is what is certain about the arguments of a tool: what the root of
// its schema says by itself, through references of its own and allOf. All else
// that the schema says is for the upstream to judge. A shape does not change.
type shape struct {
	root     gjson.Result
	names    []string                // of the parameters, in their order
	schemas  map[string]gjson.Result // by the name of a parameter
	required []string                // the parameters without which no call is valid
	needed   []string                // those of them that have no default
	closed   bool                    // no other names are allowed
	loose    bool                    // any name is allowed, by the schema's own words or because it names none
	unsure   map[string]bool         // parameters of which more than one schema speaks, or one that does not bind
}

func shapeOf(schema []byte) *shape {
	s := &shape{root: gjson.ParseBytes(schema), schemas: map[string]gjson.Result{}, unsure: map[string]bool{}}
	s.closed = s.isClosed()
	s.loose = !s.closed
	s.read(s.root, true, s.budget())
	s.loose = s.loose || s.open()
	s.needed = slices.DeleteFunc(slices.Clone(s.required), s.hasDefault)
	return s
}

// hasDefault reports whether a parameter may be left out even if it is
// required: some generators of schemas list those with a default too.
func (s *shape) hasDefault(name string) bool { return s.plain(s.schemas[name]).Get("default").Exists() }

// read takes the parameters that the schema v names. binds says that every call
// must be valid against v.
func (s *shape) read(v gjson.Result, binds bool, b *budget) {
	if !b.allows(v) {
		return
	}
	if ref := v.Get("$ref"); ref.Type == gjson.String {
		s.read(s.target(ref.Str), binds, b)
		binds = false // some dialects ignore what stands beside a reference
	}
	v.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "properties":
			s.loose = false
			value.ForEach(func(name, schema gjson.Result) bool { s.add(name.Str, schema, binds); return true })
		case "required":
			if binds {
				s.require(value)
			}
		case "allOf":
			value.ForEach(func(_, part gjson.Result) bool { s.read(part, binds, b); return true })
		case "anyOf", "oneOf", "dependentSchemas":
			value.ForEach(func(_, part gjson.Result) bool { s.read(part, false, b); return true })
		case "if", "then", "else":
			s.read(value, false, b)
		}
		return true
	})
}

func (s *shape) add(name string, schema gjson.Result, binds bool) {
	if s.knows(name) {
		s.unsure[name] = true
		return
	}
	s.names = append(s.names, name)
	s.schemas[name] = schema
	s.unsure[name] = !binds
}

// open reports whether the schema speaks of other names than those of its
// properties, so that one that it does not name is a name all the same. That
// any are allowed, as many generators write of every tool, says nothing of them.
func (s *shape) open() bool {
	v := s.plain(s.root)
	other := v.Get("additionalProperties")
	return v.Get("patternProperties").Exists() || other.IsObject() && len(other.Map()) > 0
}

func (s *shape) require(names gjson.Result) {
	for _, name := range names.Array() {
		if name.Type == gjson.String && !slices.Contains(s.required, name.Str) {
			s.required = append(s.required, name.Str)
		}
	}
}

// isClosed reports whether the schema forbids all names but those of its
// properties. One that is put together of others may mean it otherwise than it
// says.
func (s *shape) isClosed() bool {
	v := s.plain(s.root)
	if v.Get("additionalProperties").Type != gjson.False {
		return false
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties"} {
		if v.Get(key).Exists() {
			return false
		}
	}
	return !s.root.Get("$ref").Exists() || !s.root.Get("properties").Exists()
}

// knows reports whether a name is that of a parameter.
func (s *shape) knows(name string) bool {
	_, known := s.schemas[name]
	return known
}

// A misfit is what is wrong with the names of arguments. Its zero value is
// nothing.
type misfit struct {
	missing []string // names that are needed
	unknown []string // names that are not allowed
	known   int      // how many names are those of parameters
	alien   bool     // there are names, and none is known
}

func (m *misfit) fits() bool { return m.refused() == 0 && !m.alien }

// refused is how many names the upstream cannot accept.
func (m *misfit) refused() int { return len(m.missing) + len(m.unknown) }

// judge compares the names of arguments with the parameters.
func (s *shape) judge(args []part) (m misfit) {
	given := map[string]bool{}
	for _, a := range args {
		switch {
		case s.knows(a.key):
			m.known++
		case s.closed && !given[a.key]:
			m.unknown = append(m.unknown, a.key)
		}
		given[a.key] = true
	}
	for _, name := range s.needed {
		if !given[name] {
			m.missing = append(m.missing, name)
		}
	}
	m.alien = len(given) > 0 && m.known == 0 && !s.loose
	return m
}

// maxReferences is how many references are followed in a row.
const maxReferences = 8

// plain is the schema v, or the one that it is a reference to.
func (s *shape) plain(v gjson.Result) gjson.Result {
	for range maxReferences {
		ref := v.Get("$ref")
		if ref.Type != gjson.String {
			break
		}
		v = s.target(ref.Str)
	}
	return v
}

// target is the schema that a reference within this one points to; it does not
// exist for any other.
func (s *shape) target(ref string) gjson.Result {
	path, own := strings.CutPrefix(ref, "#")
	if !own || path != "" && path[0] != '/' {
		return gjson.Result{}
	}
	v := s.root
	for _, step := range strings.Split(path, "/")[1:] {
		v = child(v, step)
	}
	return v
}

// child is where one step of a JSON pointer in a URL leads.
func child(v gjson.Result, step string) gjson.Result {
	if plain, err := url.PathUnescape(step); err == nil {
		step = plain
	}
	step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
	if !v.IsArray() {
		return under(v, step)
	}
	all := v.Array()
	if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(all) {
		return all[i]
	}
	return gjson.Result{}
}

// under is the value of a key of an object, the first if there are several; it
// does not exist if there is none.
func under(object gjson.Result, key string) (found gjson.Result) {
	if !object.IsObject() {
		return found
	}
	object.ForEach(func(k, v gjson.Result) bool {
		if k.Str == key {
			found = v
		}
		return !found.Exists()
	})
	return found
}

// A budget is how many bytes of a schema may still be read. References in
// circles would have no end, and unions of them no measure.
type budget int

// budget is enough for every real schema, of which few parts are read twice.
func (s *shape) budget() *budget {
	const times, least = 4, 1 << 12
	b := budget(times*len(s.root.Raw) + least)
	return &b
}

// allows reports whether the schema v may be read, and is one.
func (b *budget) allows(v gjson.Result) bool {
	*b -= budget(len(v.Raw)) + 1
	return *b >= 0 && v.IsObject()
}
