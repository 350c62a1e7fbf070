package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"mcp-facade/facade/jsonc"

	"github.com/tailscale/hujson"
)

// A File is a servers file that could be read. An entry in it may still be
// wrong; that costs only this entry.
type File struct {
	Path     string
	Flag     string   // " --config …", if a subcommand needs it to read this file
	Warnings []string // what is wrong with the file and does not keep us from using it

	root    []string // the keys that lead to the entries
	entries []entry
}

// An entry is a server, or what is wrong with it.
type entry struct {
	name   string
	server *Server
	err    error
}

// Names gives the names of all entries, in the order of the file.
func (f *File) Names() []string {
	names := make([]string, len(f.entries))
	for i, e := range f.entries {
		names[i] = e.name
	}
	return names
}

// Server gives the entry with that name, a copy that the caller may change.
// The error holds everything that is wrong with the entry, an *Error each.
func (f *File) Server(name string) (*Server, error) {
	for _, e := range f.entries {
		if e.name != name {
			continue
		}
		if e.err != nil {
			return nil, e.err
		}
		s := *e.server
		return &s, nil
	}
	return nil, f.unknown(name)
}

// unknown says that there is no such entry, and which there are.
func (f *File) unknown(name string) error {
	why := "not in " + f.Path
	if len(f.entries) == 0 {
		why += ", which names no server"
	}
	if near := nearest(name, f.Names(), 3); len(near) > 0 {
		why += "; nearest: " + list(near, "or")
	}
	return &Error{Key: name, Err: fmt.Errorf("look up: %s", why), Hint: "mcp-facade servers" + f.Flag}
}

// bom is the byte order mark that some editors write.
var bom = []byte("\ufeff")

// maxBrackets bounds the objects and arrays of a file, and with them how deep
// the parser, which calls itself for each level, can go.
const maxBrackets = 100_000

// Parse reads a servers file. The path is for messages only. The error, an
// *Error, is of the syntax or of the file as a whole.
func Parse(path string, data []byte) (*File, error) {
	data = bytes.TrimPrefix(data, bom)
	if err := readable(path, data); err != nil {
		return nil, err
	}
	root, err := jsonc.Parse(data)
	if err != nil {
		return nil, syntaxError(path, err)
	}
	p := parser{path: path, ends: lineEnds(data), defaults: Default(), file: &File{Path: path}, seen: map[string]int{}}
	if err := p.root(root); err != nil {
		return nil, err
	}
	return p.file, nil
}

// readable refuses what the parser is not to see.
func readable(path string, data []byte) error {
	fail := func(line int, why string) error {
		return &Error{Path: path, Line: line, Err: errors.New(why)}
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return fail(0, "is UTF-16; save it as UTF-8")
	}
	for rest, line := data, 1; len(rest) > 0; line++ {
		text, after, _ := bytes.Cut(rest, []byte("\n"))
		if !utf8.Valid(text) {
			return fail(line, "is not UTF-8 here; save the file as UTF-8")
		}
		rest = after
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return &Error{Path: path, Err: errors.New("is empty"), Hint: "mcp-facade init, which writes an example"}
	}
	if bytes.Count(data, []byte("{"))+bytes.Count(data, []byte("[")) > maxBrackets {
		return fail(0, fmt.Sprintf("has more than %d brackets", maxBrackets))
	}
	return nil
}

// syntaxError words an error of the JSON parser. Its own text repeats what it
// could not read, which may be a secret that lacks its quotes.
func syntaxError(path string, err error) error {
	e := &Error{Path: path, Err: err}
	fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &e.Line, &e.Column)
	text := cmp.Or(errors.Unwrap(err), err).Error()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Err = errors.New("the file ends too early: a bracket, a quote or a comment is not closed")
	case strings.HasPrefix(text, `invalid literal: "`):
		e.Err = errors.New("not a JSON string: a quote is missing, or a line end, a control character or an unknown escape stands in it")
	case strings.HasPrefix(text, "invalid literal"):
		e.Err = errors.New("not a JSON value: a string stands in double quotes")
	default:
		e.Err = errors.New(text)
	}
	return e
}

// A parser turns the syntax tree of one file into its entries.
type parser struct {
	path     string
	ends     []int // of each line, as an offset
	defaults Server
	file     *File
	seen     map[string]int // the entries of the file, by name
}

// root reads the outermost object: entries, or an object "mcpServers" of
// entries in a host's file. What else stands in a host's file is the host's.
func (p *parser) root(v hujson.Value) error {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return p.fail(v, "want an object of servers, have "+jsonc.TypeName(v))
	}
	servers, err := p.hostServers(object)
	if err != nil {
		return err
	}
	for _, m := range object.Members {
		switch name := decoded(m.Name); {
		case Reserved(name):
		case servers == nil:
			p.entry(m, false)
		case hasUpstream(m.Value):
			p.bad(m.Name, fmt.Sprintf("stands beside %q, want it in there", hostRoot))
		}
	}
	if servers != nil {
		p.file.root = []string{hostRoot}
		for _, m := range servers.Members {
			p.entry(m, true)
		}
	}
	return nil
}

// Reserved reports whether a name means something else than a server, where servers
// stand at the top of a file.
func Reserved(name string) bool { return name == "$schema" || name == hostRoot }

// hostRoot is the member of a host's file that holds its servers.
const hostRoot = "mcpServers"

// hostServers finds the servers of a host's file; nil in a file of ours.
func (p *parser) hostServers(root *hujson.Object) (*hujson.Object, error) {
	var found *hujson.Object
	for _, m := range root.Members {
		if decoded(m.Name) != hostRoot {
			continue
		}
		object, ok := m.Value.Value.(*hujson.Object)
		if !ok {
			return nil, p.fail(m.Value, fmt.Sprintf("%q: want an object of servers, have %s", hostRoot, jsonc.TypeName(m.Value)))
		}
		if found != nil {
			return nil, p.fail(m.Name, fmt.Sprintf("%q: twice in this file", hostRoot))
		}
		found = object
	}
	return found, nil
}

// hasUpstream reports whether a value beside "mcpServers" was meant as an entry.
func hasUpstream(v hujson.Value) bool {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return false
	}
	for _, m := range object.Members {
		switch decoded(m.Name) {
		case "upstream", "command", "url":
			return true
		}
	}
	return false
}

// entry reads one server. A name that is there already makes that entry wrong:
// nobody can say which of the two was meant.
func (p *parser) entry(m hujson.ObjectMember, host bool) {
	name := decoded(m.Name)
	if i, twice := p.seen[name]; twice {
		e := &p.file.entries[i]
		e.err = errors.Join(e.err, p.fault(m.Name, name, "twice in this file"))
		return
	}
	p.seen[name] = len(p.file.entries)
	if why := wrongName(name); why != "" {
		p.bad(m.Name, why)
		return
	}
	r := newReader(p, name, host)
	server, err := r.server(m)
	p.file.entries = append(p.file.entries, entry{name, server, err})
}

// wrongName says why a server cannot have that name, "" when it can. The name
// becomes part of a file name, of messages and of what a model reads.
func wrongName(name string) string {
	switch {
	case name == "":
		return "a server's name cannot be empty"
	case strings.TrimSpace(name) != name:
		return "a server's name cannot begin or end with white space"
	case strings.ContainsAny(name, `/\`):
		return "a server's name cannot contain a slash"
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "a server's name cannot contain control characters"
	case len(name) > maxName:
		return fmt.Sprintf("a server's name cannot be longer than %d bytes", maxName)
	}
	return ""
}

// maxName is the longest name of a server, in bytes: with it, the names we
// derive stay under the 255 bytes that file systems allow.
const maxName = 128

// bad adds an entry that cannot be used.
func (p *parser) bad(name hujson.Value, why string) {
	p.file.entries = append(p.file.entries, entry{decoded(name), nil, p.fault(name, decoded(name), why)})
}

// fault words what is wrong with an entry.
func (p *parser) fault(at hujson.Value, key, why string) *Error {
	return &Error{Path: p.path, Line: p.line(at.StartOffset), Key: cmp.Or(key, `""`), Err: errors.New(why)}
}

// fail words what is wrong with the file.
func (p *parser) fail(at hujson.Value, why string) *Error {
	return &Error{Path: p.path, Line: p.line(at.StartOffset), Err: errors.New(why)}
}
