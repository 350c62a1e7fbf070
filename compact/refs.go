package compact

import (
	"strings"

	"github.com/tidwall/gjson"
)

// maxDefinitions is how many definitions of one schema are looked into; one
// with more keeps them as they are. Real schemas have up to 30.
const maxDefinitions = 1000

// references say how the definitions of a schema are used, and so which of them
// may go. The zero value is that of a schema without definitions.
type references struct {
	fixed bool // nothing may be moved or removed, as something may point to it
	index map[address]int
	all   []definition // the first is the schema itself, without its definitions
}

// An address is where a definition is: below which keyword, under which name.
type address struct{ keyword, name string }

type definition struct {
	value  gjson.Result
	refs   []reference // those in it
	uses   int         // how many references to it are in what is used
	site   reference   // the last of them
	inline bool        // it is written in place of the one reference to it
}

type reference struct {
	to     int      // the definition that it points to
	whole  bool     // the definition that it is in is that reference and its siblings
	beside []string // the names of its siblings
}

// referencesOf looks through the schema v.
func referencesOf(v gjson.Result, o Options) references {
	if !mayRefer(v.Raw) {
		return references{}
	}
	r := references{
		fixed: o.keeps("$ref") || o.keeps("$defs") || o.keeps("definitions"),
		index: map[address]int{},
		all:   []definition{{value: v}},
	}
	r.collect(v)
	for i := range r.all {
		r.scan(i, r.all[i].value, true)
	}
	if r.fixed {
		return references{fixed: true}
	}
	r.follow(0)
	for i := 1; i < len(r.all); i++ {
		r.decide(i)
	}
	return r
}

// mayRefer reports whether a reference, or what one may point to but a path, is
// in raw, with or without an escape in its key.
func mayRefer(raw string) bool {
	for rest := raw; rest != ""; {
		var found bool
		if _, rest, found = strings.Cut(rest, "$"); found && mayBeTarget(rest) {
			return true
		}
	}
	return strings.Contains(raw, "definitions") || strings.Contains(raw, `\u`)
}

// mayBeTarget reports whether s begins like a keyword of references or their
// targets after its "$".
func mayBeTarget(s string) bool {
	for _, keyword := range []string{"ref", "defs", "id", "anchor", "dynamic", "recursive"} {
		if strings.HasPrefix(s, keyword) {
			return true
		}
	}
	return false
}

func defines(keyword string) bool { return keyword == "$defs" || keyword == "definitions" }

// collect finds the definitions of the schema v.
func (r *references) collect(v gjson.Result) {
	v.ForEach(func(key, names gjson.Result) bool {
		if defines(key.Str) && names.IsObject() {
			names.ForEach(func(name, value gjson.Result) bool {
				r.define(address{key.Str, name.Str}, value)
				return !r.fixed
			})
		}
		return !r.fixed
	})
}

func (r *references) define(a address, value gjson.Result) {
	_, twice := r.index[a]
	r.fixed = r.fixed || twice || len(r.all) > maxDefinitions
	r.index[a] = len(r.all)
	r.all = append(r.all, definition{value: value})
}

// scan notes the references in the schema v, which is the definition owner or
// a part of it.
func (r *references) scan(owner int, v gjson.Result, whole bool) {
	if !v.IsObject() || r.fixed {
		return
	}
	refs := 0
	v.ForEach(func(key, value gjson.Result) bool {
		switch {
		case key.Str == "$ref":
			r.add(owner, v, value, whole)
			refs++
		case moors(key.Str, value):
			r.fixed = true
		case !(whole && owner == 0 && defines(key.Str)): // those are owners themselves
			below(key.Str, value, func(s gjson.Result) { r.scan(owner, s, false) })
		}
		return !r.fixed
	})
	r.fixed = r.fixed || refs > 1
}

// add notes the reference ref of the schema v. One to anything but a definition
// fixes the whole schema.
func (r *references) add(owner int, v, ref gjson.Result, whole bool) {
	to, ok := r.target(ref.Str)
	if !ok {
		r.fixed = true
		return
	}
	site := reference{to: to, whole: whole}
	v.ForEach(func(key, _ gjson.Result) bool {
		if key.Str != "$ref" {
			site.beside = append(site.beside, key.Str)
		}
		return true
	})
	r.all[owner].refs = append(r.all[owner].refs, site)
}

// target returns which definition a reference points to.
func (r *references) target(ref string) (int, bool) {
	steps := strings.SplitN(ref, "/", 4)
	if len(steps) != 3 || steps[0] != "#" {
		return 0, false
	}
	i, ok := r.index[address{unescape(steps[1]), unescape(steps[2])}]
	return i, ok
}

// moors reports whether the keyword key may make its schema, or what is in it,
// the target of references that are not paths to a definition.
func moors(key string, value gjson.Result) bool {
	switch key {
	case "$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor":
		return true
	case "id":
		return value.Type == gjson.String
	case "$schema":
		return value.Type == gjson.String && dialectOf(value.Str) == unknown
	case "enum", "const", "default", "examples", "$comment", "x-mcp-header":
		return false
	}
	return placeOf(key) == nowhere && value.Type == gjson.JSON && strings.Contains(value.Raw, "#")
}

// below calls f with each schema that is directly below the keyword key.
func below(key string, v gjson.Result, f func(gjson.Result)) {
	place := placeOf(key)
	switch {
	case place == named && v.IsObject(), (place == one || place == listed) && v.IsArray():
		v.ForEach(func(_, s gjson.Result) bool { f(s); return true })
	case place == one, place == listed:
		f(v)
	}
}

// follow counts the uses of what definition i refers to.
func (r *references) follow(i int) {
	for _, ref := range r.all[i].refs {
		d := &r.all[ref.to]
		d.site = ref
		if d.uses++; d.uses == 1 {
			r.follow(ref.to)
		}
	}
}

// decide settles whether definition i is written in place of the reference to
// it. It must be the only one: then it is in no circle either. Siblings that
// bind keep it where it is, since drafts differ about them; so do texts that
// both have.
func (r *references) decide(i int) {
	d := &r.all[i]
	if d.inline || d.uses != 1 || !d.value.IsObject() {
		return
	}
	if next, ok := d.whole(); ok {
		r.decide(next)
	}
	beside := map[string]bool{}
	for _, name := range d.site.beside {
		if binds(name) {
			return
		}
		beside[name] = true
	}
	d.inline = !r.clashes(beside, i)
}

// whole returns the definition that d is nothing but a reference to.
func (d *definition) whole() (int, bool) {
	for _, ref := range d.refs {
		if ref.whole {
			return ref.to, true
		}
	}
	return 0, false
}

// clashes reports whether definition i, as it is written, has one of the names.
// What gives way does not count.
func (r *references) clashes(names map[string]bool, i int) bool {
	clash := false
	r.all[i].value.ForEach(func(key, _ gjson.Result) bool {
		clash = names[key.Str] && !yields(key.Str)
		return !clash
	})
	if next, ok := r.all[i].whole(); !clash && ok && r.all[next].inline {
		return r.clashes(names, next)
	}
	return clash
}

// yields reports whether the keyword of a definition gives way to that of the
// schema that it is written into.
func yields(key string) bool {
	switch key {
	case "default", "examples", "$comment", "$schema", "x-mcp-header", "$defs", "definitions":
		return true
	}
	return false
}

// inlined returns the definition that is written in place of the reference ref.
func (r *references) inlined(ref gjson.Result) (gjson.Result, bool) {
	i, ok := r.target(ref.Str)
	if !ok || !r.all[i].inline {
		return gjson.Result{}, false
	}
	return r.all[i].value, true
}

// drops reports whether the definition at a goes: none of what stays points to
// it.
func (r *references) drops(a address) bool {
	i, ok := r.index[a]
	return ok && (r.all[i].uses == 0 || r.all[i].inline)
}

// dropsAll reports whether all definitions below a keyword of the schema go.
func (r *references) dropsAll(keyword string) bool {
	for a := range r.index {
		if a.keyword == keyword && !r.drops(a) {
			return false
		}
	}
	return true
}
