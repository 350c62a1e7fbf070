package compact

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

const (
	// tightDescription is the length of a description that is left below an
	// optional property, in characters.
	tightDescription = 60

	// maxRounds is how often a schema is reduced again because definitions
	// went: what was in them may then be written where it is used.
	maxRounds = 8

	// maxBranches is how many schemas a union may have of which something is
	// left; one of more could be anything.
	maxBranches = 100

	// reduceWork bounds what is read to reduce one schema, as a multiple of its
	// size: references to unions of references grow without end otherwise.
	reduceWork = 10
)

// tight returns the schema v as standard leaves it and then with what is below
// optional properties reduced. Of the two the shorter one counts: a definition
// that is spelled out wherever it is used may take more than it saves.
func (t *trimmer) tight(v gjson.Result) []byte {
	standard := t.whole(nil, v)
	best := standard
	for range maxRounds {
		reduced := reduce(best, t.o)
		if bytes.Equal(reduced, best) {
			return best
		}
		next := t.whole(nil, gjson.ParseBytes(reduced))
		if utf8.RuneCount(next) >= utf8.RuneCount(best) {
			return best
		}
		best = next
	}
	return standard
}

// A reducer writes a schema with what is below optional properties reduced: of
// their schemas the type, the values and the beginning of the description are
// left. That only ever takes conditions away, so the result accepts what the
// schema does, as long as it is done nowhere where accepting more of a part
// means accepting less of the whole.
type reducer struct {
	o    Options
	refs references
	free bool // no part like that has a reference: definitions may be reduced too
	work int  // how many bytes may still be read
}

func reduce(raw []byte, o Options) []byte {
	v := gjson.ParseBytes(raw)
	r := reducer{o: o, refs: referencesOf(v, o), work: reduceWork * len(raw)}
	r.free = len(r.refs.all) > 0 && !refersInReverse(v)
	dst := make([]byte, 0, len(raw))
	if r.refs.fixed {
		return r.texts(dst, v, false)
	}
	return r.schema(dst, v)
}

// reverses reports whether a value may be refused for what a schema below the
// keyword key accepts.
func reverses(key string) bool {
	switch key {
	case "not", "if", "oneOf", "contains":
		return true
	}
	return false
}

// refersInReverse reports whether a reference may be below a keyword that
// reverses.
func refersInReverse(v gjson.Result) bool {
	found := false
	v.ForEach(func(key, value gjson.Result) bool {
		if reverses(key.Str) {
			found = mayRefer(value.Raw)
		} else {
			below(key.Str, value, func(s gjson.Result) { found = found || s.IsObject() && refersInReverse(s) })
		}
		return !found
	})
	return found
}

// schema appends the schema v of a value that has to be there.
func (r *reducer) schema(dst []byte, v gjson.Result) []byte {
	if !v.IsObject() {
		return append(dst, v.Raw...)
	}
	required := namesIn(factsOf(v).required)
	dst = append(dst, '{')
	v.ForEach(func(key, value gjson.Result) bool {
		dst = appendKey(dst, key.Raw)
		switch {
		case key.Str == "properties" && value.IsObject():
			dst = r.properties(dst, value, required)
		case reverses(key.Str), defines(key.Str) && !r.free:
			dst = append(dst, value.Raw...)
		default:
			dst = eachBelow(dst, key.Str, value, r.schema)
		}
		return true
	})
	return append(dst, '}')
}

func (r *reducer) properties(dst []byte, v gjson.Result, required map[string]bool) []byte {
	return appendNamed(dst, v, func(dst []byte, name string, s gjson.Result) []byte {
		if required[name] {
			return r.schema(dst, s)
		}
		return r.optional(dst, s)
	})
}

// eachBelow appends the value v of the keyword key with f's version of each
// schema directly below it.
func eachBelow(dst []byte, key string, v gjson.Result, f func([]byte, gjson.Result) []byte) []byte {
	place := placeOf(key)
	switch {
	case place == named && v.IsObject():
		return appendNamed(dst, v, func(dst []byte, _ string, s gjson.Result) []byte { return f(dst, s) })
	case (place == one || place == listed) && v.IsArray():
		return appendListed(dst, v, f)
	case place == one, place == listed:
		return f(dst, v)
	}
	return append(dst, v.Raw...)
}

// optional appends what is left of an optional property's schema.
func (r *reducer) optional(dst []byte, v gjson.Result) []byte {
	if !v.IsObject() {
		return append(dst, v.Raw...)
	}
	dst = r.core(append(dst, '{'), v, true, 0)
	return append(dst, '}')
}

// A sketch is a schema of which the members are left that tell its type.
type sketch struct {
	described bool // its description is left too
	depth     int  // how many schemas of such it is in
	typed     bool // it has a type, values or items of its own
	tuple     bool // its items come after some that have schemas of their own
	union     int  // which of its members is a union, -1 for none
}

func sketchOf(all []member, described bool, depth int) sketch {
	s := sketch{described: described, depth: depth, union: -1}
	for i, m := range all {
		switch m.name {
		case "type", "enum", "const", "items":
			s.typed = true
		case "prefixItems":
			s.tuple = true
		case "anyOf", "oneOf":
			if s.union < 0 {
				s.union = i
			}
		}
	}
	return s
}

// core appends the members of the schema v that are left.
func (r *reducer) core(dst []byte, v gjson.Result, described bool, depth int) []byte {
	if r.work -= len(v.Raw); r.work < 0 || depth > maxTypeDepth || !v.IsObject() {
		return dst
	}
	all := listMembers(nil, v)
	s := sketchOf(all, described, depth)
	if ref, n := lookUp(all, "$ref"); n > 0 {
		return r.referred(dst, all, ref, s)
	}
	for i, m := range all {
		if i == s.union {
			dst = r.union(dst, m.value, s)
		} else {
			dst = r.member(dst, m, s)
		}
	}
	return dst
}

// referred appends what is left of the definition that a schema refers to, with
// the schema's own description rather than the definition's. The schema's other
// members do not count: up to draft-07 nothing reads them.
func (r *reducer) referred(dst []byte, all []member, ref gjson.Result, s sketch) []byte {
	if text, n := lookUp(all, "description"); n == 1 {
		dst = r.member(dst, member{`"description"`, "description", text}, s)
		s.described = false
	}
	if i, ok := r.refs.target(ref.Str); ok {
		dst = r.core(dst, r.refs.all[i].value, s.described, s.depth+1)
	}
	return dst
}

// member appends a member of the schema s that is no union, if anything of it
// is left.
func (r *reducer) member(dst []byte, m member, s sketch) []byte {
	switch m.name {
	case "description":
		if s.described {
			return r.text(appendKey(dst, m.raw), m.value)
		}
	case "type", "enum", "const", "nullable":
		return append(appendKey(dst, m.raw), m.value.Raw...)
	case "items":
		if m.value.IsObject() && !s.tuple {
			return r.items(dst, m, s)
		}
	case "allOf":
		if m.value.IsArray() && !s.typed && s.union < 0 {
			return r.firstOf(dst, m.value, s)
		}
	default:
		if r.keeps(m) {
			return append(appendKey(dst, m.raw), m.value.Raw...)
		}
	}
	return dst
}

// keeps reports whether the member m stays because it is asked for and means
// the same by itself.
func (r *reducer) keeps(m member) bool {
	return r.o.keeps(m.name) && placeOf(m.name) == nowhere && lastReading(m.name, m.value) != draft04
}

// text appends a description, cut.
func (r *reducer) text(dst []byte, v gjson.Result) []byte {
	if v.Type == gjson.String && !r.o.keeps("description") {
		if s := shorten(v.Str, tightDescription); s != v.Str {
			return appendString(dst, s)
		}
	}
	return append(dst, v.Raw...)
}

// items appends the member m, which says what the items are, if that is known.
func (r *reducer) items(dst []byte, m member, s sketch) []byte {
	inner := r.core([]byte{'{'}, m.value, false, s.depth+1)
	if len(inner) == 1 {
		return dst
	}
	dst = append(appendKey(dst, m.raw), inner...)
	return append(dst, '}')
}

// firstOf appends what is left of the first schema in the list v of which
// anything is.
func (r *reducer) firstOf(dst []byte, v gjson.Result, s sketch) []byte {
	from := len(dst)
	v.ForEach(func(_, one gjson.Result) bool {
		dst = appendMembers(dst, r.core([]byte{'{'}, one, false, s.depth+1))
		return len(dst) == from
	})
	return dst
}

// appendMembers appends the members of the object that inner begins.
func appendMembers(dst, inner []byte) []byte {
	if len(inner) > 1 && dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(dst, inner[1:]...)
}

// union appends the union of the schemas in the list v, if something is left of
// each of them. It is written as anyOf, since two of which less is left may
// both accept a value; as a list of types, if that is all they say.
func (r *reducer) union(dst []byte, v gjson.Result, s sketch) []byte {
	branches, ok := r.branches(v, s)
	switch {
	case !ok, s.typed && len(branches) == 1:
		return dst
	case len(branches) == 1:
		return appendMembers(dst, branches[0])
	case !s.typed && !slices.ContainsFunc(branches, func(b []byte) bool { return typeOnly(b) == nil }):
		return appendTypes(dst, branches)
	}
	dst = append(appendKey(dst, `"anyOf"`), '[')
	dst = append(dst, bytes.Join(branches, []byte("},"))...)
	return append(dst, "}]"...)
}

// branches returns what is left of the schemas in the list v, without
// repetitions, each without its closing brace. It is not ok if that is nothing
// of one of them, or if there are too many.
func (r *reducer) branches(v gjson.Result, s sketch) (all [][]byte, ok bool) {
	ok = v.IsArray()
	v.ForEach(func(_, one gjson.Result) bool {
		if one.Type == gjson.False {
			return true
		}
		inner := r.core([]byte{'{'}, one, false, s.depth+1)
		ok = ok && len(inner) > 1 && len(all) < maxBranches
		if !slices.ContainsFunc(all, func(b []byte) bool { return bytes.Equal(b, inner) }) {
			all = append(all, inner)
		}
		return ok
	})
	return all, ok && len(all) > 0
}

// typeOnly returns the name in `{"type":"name"`, quoted, or nil for anything
// else.
func typeOnly(inner []byte) []byte {
	name, ok := bytes.CutPrefix(inner, []byte(`{"type":`))
	if !ok || name[0] != '"' || bytes.IndexByte(name[1:], '"') != len(name)-2 {
		return nil
	}
	return name
}

func appendTypes(dst []byte, branches [][]byte) []byte {
	dst = append(appendKey(dst, `"type"`), '[')
	for i, b := range branches {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, typeOnly(b)...)
	}
	return append(dst, ']')
}

// texts appends the schema v with nothing but descriptions cut, those at and
// below optional properties.
func (r *reducer) texts(dst []byte, v gjson.Result, optional bool) []byte {
	if !v.IsObject() {
		return append(dst, v.Raw...)
	}
	required := namesIn(factsOf(v).required)
	dst = append(dst, '{')
	v.ForEach(func(key, value gjson.Result) bool {
		dst = appendKey(dst, key.Raw)
		switch {
		case key.Str == "description" && optional:
			dst = r.text(dst, value)
		case key.Str == "properties" && value.IsObject():
			dst = appendNamed(dst, value, func(dst []byte, name string, s gjson.Result) []byte {
				return r.texts(dst, s, optional || !required[name])
			})
		default:
			dst = eachBelow(dst, key.Str, value, func(dst []byte, s gjson.Result) []byte {
				return r.texts(dst, s, optional)
			})
		}
		return true
	})
	return append(dst, '}')
}
