package config

import (
	"errors"
	"fmt"
	"slices"

	"mcp-facade/facade/jsonc"

	"github.com/tailscale/hujson"
)

// A reader reads one entry, and goes on after an error, so that all that is
// wrong with the entry is said at once.
type reader struct {
	*parser
	name  string         // of the entry
	host  bool           // in a host's file, where its own keys are left alone
	lines map[string]int // of every value that was met, by its key
	errs  []error
}

func newReader(p *parser, name string, host bool) *reader {
	return &reader{parser: p, name: name, host: host, lines: map[string]int{}}
}

// server reads the entry.
func (r *reader) server(m hujson.ObjectMember) (*Server, error) {
	s := r.defaults
	s.Name, s.Path, s.Line, s.lines = r.name, r.path, r.line(m.Name.StartOffset), r.lines
	v := value{m.Value, ""}
	members, ok := r.members(v)
	for _, m := range members {
		r.field(m, &s)
	}
	if ok {
		r.checkTransport(s.Line)
		r.checkToken(&s)
	}
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	return &s, nil
}

// field reads one member of an entry.
func (r *reader) field(m member, s *Server) {
	switch k := find(m.name, httpKeys, stdioKeys, surfaceKeys, callKeys); {
	case m.name == "upstream":
		r.upstream(m, s)
	case k != nil:
		k.read(r, m.value, s)
	case r.host && isHostKey(m.name):
	default:
		r.unknown(m, append(keyNames(httpKeys, stdioKeys, surfaceKeys, callKeys), "upstream"))
	}
}

// upstream reads the object of that name, whose fields may stand beside it too,
// but not in both places.
func (r *reader) upstream(m member, s *Server) {
	members, _ := r.members(m.value)
	for _, m := range members {
		line, twice := r.lines[m.name]
		switch k := find(m.name, httpKeys, stdioKeys); {
		case k != nil && twice:
			r.failAt(m, "is also %s in line %d; want one of them", m.name, line)
		case k != nil:
			k.read(r, m.value, s)
		case find(m.name, surfaceKeys, callKeys) != nil:
			r.failAt(m, `stands in "upstream"; move it beside it`)
		default:
			r.unknown(m, keyNames(httpKeys, stdioKeys))
		}
	}
}

// checkTransport wants one way to reach the upstream, and nothing beside it
// that would go with the other way. A host's file may hold such a rest.
func (r *reader) checkTransport(line int) {
	url, command := r.has("url"), r.has("command")
	switch {
	case url == command:
		r.wantTransport(line, url)
	case r.host:
	case url:
		r.misplaced(stdioKeys, "url", "command")
	default:
		r.misplaced(slices.DeleteFunc(slices.Clone(httpKeys), func(k key[Server]) bool { return slices.Contains(tokenKeys[:], k.name) }), "command", "url")
	}
}

// wantTransport says that there are two ways to reach the upstream, or none.
func (r *reader) wantTransport(line int, both bool) {
	why, key := `want "command" or "url", one of them`, r.name
	if both {
		why += ", have both"
	}
	for _, alias := range []string{"serverUrl", "httpUrl"} {
		if _, ok := r.lines[alias]; ok && !both {
			why += fmt.Sprintf("; nearest: %q for %q", "url", alias)
		}
	}
	if at, ok := r.lines["upstream"]; ok {
		line, key = at, key+".upstream"
	}
	r.errs = append(r.errs, &Error{Path: r.path, Line: line, Key: key, Err: errors.New(why)})
}

// misplaced refuses the keys that go with the other way to reach an upstream.
func (r *reader) misplaced(keys []key[Server], have, want string) {
	for _, k := range keys {
		for _, at := range []string{"upstream." + k.name, k.name} {
			if line, ok := r.lines[at]; ok {
				r.errs = append(r.errs, &Error{Path: r.path, Line: line, Key: r.name + "." + at,
					Err: fmt.Errorf("goes with %q, not with %q", want, have)})
			}
		}
	}
}

// has reports whether a field of "upstream" is there, in either place.
func (r *reader) has(key string) bool {
	_, top := r.lines[key]
	_, below := r.lines["upstream."+key]
	return top || below
}

// unknown refuses a key, and names the nearest right one.
func (r *reader) unknown(m member, known []string) {
	if isHostKey(m.name) {
		r.failAt(m, "unknown key; it is one of hosts: leave it out, or put the servers under \"mcpServers\", where it is left alone")
		return
	}
	r.failAt(m, "unknown key%s", suggest(m.name, known))
}

// members gives the members of an object; ok is false when it is not one. Of
// two with the same name it gives the first, and says so.
func (r *reader) members(v value) (members []member, ok bool) {
	object, ok := v.Value.Value.(*hujson.Object)
	if !ok {
		r.want(v, "an object")
		return nil, false
	}
	for _, om := range object.Members {
		name := decoded(om.Name)
		m := member{name, om.Name.StartOffset, value{om.Value, name}}
		if v.key != "" {
			m.key = v.key + "." + m.name
		}
		if line, twice := r.lines[m.key]; twice {
			r.failAt(m, "twice in this object, first in line %d", line)
			continue
		}
		r.lines[m.key] = r.line(m.at)
		members = append(members, m)
	}
	return members, true
}

// elements gives the elements of an array; ok is false when it is not one.
func (r *reader) elements(v value, want string) (elements []value, ok bool) {
	array, ok := v.Value.Value.(*hujson.Array)
	if !ok {
		r.want(v, want)
		return nil, false
	}
	for i, e := range array.Elements {
		e := value{e, fmt.Sprintf("%s[%d]", v.key, i)}
		r.lines[e.key] = r.line(e.StartOffset)
		elements = append(elements, e)
	}
	return elements, true
}

// want refuses a value of the wrong type.
func (r *reader) want(v value, what string) {
	r.fail(v, "want %s, have %s", what, jsonc.TypeName(v.Value))
}

// fail adds an error about a value.
func (r *reader) fail(v value, format string, args ...any) {
	r.failLine(r.line(v.StartOffset), v.key, format, args...)
}

// failAt adds an error about a member: the line is that of its name.
func (r *reader) failAt(m member, format string, args ...any) {
	r.failLine(r.line(m.at), m.key, format, args...)
}

func (r *reader) failLine(line int, key, format string, args ...any) {
	name := r.name
	if key != "" {
		name += "." + key
	}
	r.errs = append(r.errs, &Error{Path: r.path, Line: line, Key: name, Err: fmt.Errorf(format, args...)})
}
