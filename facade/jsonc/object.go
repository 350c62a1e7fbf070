package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// An Object is an object to be edited: a whole file without its byte order mark,
// or the part of one that is the object.
type Object struct {
	Text   []byte // an edit replaces it, and writes to none that it was
	EOL    string // the line end of the file: "\n" or "\r\n"
	Indent string // the white space that begins the line in which Text begins
}

// Set gives the member to which path leads a value; {"env", "TOKEN"} is the
// member TOKEN of the member env. It keeps its place; a new one becomes the last
// of its object, behind the comments there, and an object on the way that is
// missing, or null, is made. The value is JSON without comments, in one line or
// indented by two spaces. It gets the indentation and the line ends of the
// file, stands in one line if the object does, and a list has a line for each
// element if the one in its place had. The error is that of [Parse], or says that
// path leads through another value than an object; Text is then as it was.
func (o *Object) Set(path []string, value string) error { return o.set(path, value, false) }

// Copy is Set with a value that stays as it is written, comments included.
func (o *Object) Copy(path []string, value string) error { return o.set(path, value, true) }

func (o *Object) set(path []string, value string, asIs bool) error {
	p, path, err := o.find(path)
	if err != nil {
		return err
	}
	for ; len(path) > 1; path = path[:len(path)-1] {
		value = wrapped(path[len(path)-1], value, p.flat || asIs)
	}
	if old := Member(p.object, path[0]); old != nil {
		if !asIs {
			value = o.alike(p, *old, value)
		}
		o.splice(old.StartOffset, old.EndOffset, value)
		return nil
	}
	o.add(p, path[0], value, asIs)
	return nil
}

// Remove takes out the member to which path leads, if it is there: its comma and,
// if nothing else stands there, its line go, too. Comments stay. The error is
// that of Set.
func (o *Object) Remove(path []string) error {
	p, path, err := o.find(path)
	if err != nil || len(path) > 1 {
		return err
	}
	if i := index(p.object, path[0]); i >= 0 {
		o.remove(p.object, i)
	}
	return nil
}

// splice puts text in the place of the bytes from at to end.
func (o *Object) splice(at, end int, text string) {
	o.Text = slices.Concat(o.Text[:at], []byte(text), o.Text[end:])
}

// A place is an object in the text, and how it stands there.
type place struct {
	object *hujson.Object
	end    int    // its closing brace
	indent string // of the line in which it begins
	inside string // of the lines of its members
	unit   string // by which these are indented more
	flat   bool   // it stands in one line, as what is put into it shall
	tight  bool   // there is no white space behind its colons
}

// find follows path through objects that are there. The rest of path is one
// name, unless what has the first name of it is missing or null.
func (o *Object) find(path []string) (p place, rest []string, err error) {
	root, err := Parse(o.Text)
	if err != nil {
		return p, nil, err
	}
	p.unit = "  "
	if strings.HasPrefix(o.Indent, "\t") {
		p.unit = "\t"
	}
	for p, err = o.into(p, root); err == nil && len(path) > 1; path = path[1:] {
		next := Member(p.object, path[0])
		if next == nil || next.Value.Kind() == 'n' {
			break
		}
		p, err = o.into(p, *next)
	}
	return p, path, err
}

var errNoObject = errors.New("want an object on the way to what is edited")

// into is the place of a value in p. One without members stands like p.
func (o *Object) into(p place, v hujson.Value) (place, error) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return p, errNoObject
	}
	lines := bytes.Contains(o.Text[v.StartOffset:v.EndOffset], []byte("\n"))
	p.object, p.end, p.indent, p.flat = object, v.EndOffset-1, o.indentAt(v.StartOffset), p.flat && !lines
	p.inside = p.indent + p.unit
	for i, m := range object.Members {
		if i == 0 {
			p.flat, p.tight = !lines, len(bytes.TrimLeft(m.Value.BeforeExtra, " \t\r\n")) == len(m.Value.BeforeExtra)
		}
		if at := bytes.LastIndexByte(m.Name.BeforeExtra, '\n'); at >= 0 {
			p.inside = blanks(m.Name.BeforeExtra[at+1:])
		}
	}
	if unit, more := strings.CutPrefix(p.inside, p.indent); more && unit != "" {
		p.unit = unit
	}
	return p, nil
}

// indentAt is the white space that begins the line of an offset.
func (o *Object) indentAt(at int) string {
	line := bytes.LastIndexByte(o.Text[:at], '\n') + 1
	if line == 0 {
		return o.Indent
	}
	return blanks(o.Text[line:])
}

// blanks is the white space that begins a line.
func blanks(line []byte) string { return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]) }

// wrapped is an object with one member.
func wrapped(name, value string, flat bool) string {
	if flat {
		return "{" + Quote(name) + ": " + value + "}"
	}
	return "{\n  " + Quote(name) + ": " + indented(value, "\n  ", "  ") + "\n}"
}

// add makes a member the last of the object at p.
func (o *Object) add(p place, name, value string, asIs bool) {
	n, extra := len(p.object.Members), p.object.AfterExtra
	at := p.end - len(extra) + len(bytes.TrimRight(extra, " \t\r\n"))
	closes := bytes.Contains(o.Text[at:p.end], []byte("\n")) // the brace has a line
	p.flat = p.flat || n == 0 && !closes && !strings.Contains(value, "\n")
	if !asIs {
		value = p.laid(value, o.EOL+p.inside)
	}
	sep := ": "
	if p.tight {
		sep = ":"
	}
	member := Quote(name) + sep + value
	switch {
	case p.flat && n == 0:
		at = p.end
	case p.flat:
		member = sep[1:] + member
	case n == 0 && !closes:
		member = o.EOL + p.inside + member + o.EOL + p.indent
	default:
		member = o.EOL + p.inside + member
	}
	if n > 0 {
		if last := p.object.Members[n-1].Value; last.AfterExtra != nil { // a comma follows
			member += ","
		} else {
			o.splice(last.EndOffset, last.EndOffset, ",")
			at++
		}
	}
	o.splice(at, at, member)
}

// alike is a value in the place of an old one.
func (o *Object) alike(p place, old hujson.Value, value string) string {
	list, ok := old.Value.(*hujson.Array)
	if ok && len(list.Elements) > 0 && bytes.Contains(list.Elements[0].BeforeExtra, []byte("\n")) {
		value = rewritten(value, func(b *bytes.Buffer, value []byte) error { return json.Indent(b, value, "", "  ") })
	}
	return p.laid(value, o.EOL+o.indentAt(old.StartOffset))
}

// laid is a value as it stands in p. A line of it begins with eol.
func (p *place) laid(value, eol string) string {
	if p.flat {
		value = indented(value, " ", "")
	} else {
		value = indented(value, eol, p.unit)
	}
	if p.tight && !strings.Contains(value, "\n") {
		value = rewritten(value, json.Compact)
	}
	return value
}

// rewritten is a value with other white space; one that is not JSON stays.
func rewritten(value string, rewrite func(*bytes.Buffer, []byte) error) string {
	var b bytes.Buffer
	if rewrite(&b, []byte(value)) != nil {
		return value
	}
	return b.String()
}

// indented gives text of several lines, which are indented by two spaces, with
// another beginning of each line and another unit. No string of JSON has a line
// end in it.
func indented(text, eol, unit string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines[1:] {
		inner := strings.TrimLeft(line, " ")
		lines[i+1] = strings.Repeat(unit, (len(line)-len(inner))/2) + inner
	}
	return strings.Join(lines, eol)
}

// remove takes out a member.
func (o *Object) remove(object *hujson.Object, i int) {
	m, last := object.Members[i], i+1 == len(object.Members)
	start, end := m.Name.StartOffset, m.Value.EndOffset
	comma, follows := commaOf(m.Value), !last || m.Value.AfterExtra != nil
	switch {
	case !follows:
	case len(bytes.TrimSpace(m.Value.AfterExtra)) == 0:
		end = comma + 1
	default:
		o.splice(comma, comma+1, "")
	}
	o.cut(start, end, last)
	if !follows && i > 0 {
		comma = commaOf(object.Members[i-1].Value)
		o.splice(comma, comma+1, "")
	}
}

// commaOf is the offset of the comma behind the value of a member.
func commaOf(v hujson.Value) int { return v.EndOffset + len(v.AfterExtra) }

// cut takes out a part of the text with the line that it has for itself, or with
// the white space on one side of it.
func (o *Object) cut(start, end int, last bool) {
	before, behind := bytes.TrimRight(o.Text[:start], " \t"), bytes.TrimLeft(o.Text[end:], " \t")
	switch {
	case bytes.HasSuffix(before, []byte("\n")) && bytes.HasPrefix(bytes.TrimPrefix(behind, []byte("\r")), []byte("\n")):
		_, behind, _ = bytes.Cut(behind, []byte("\n"))
	case last:
		behind = o.Text[end:]
	default:
		before = o.Text[:start]
	}
	o.Text = slices.Concat(before, behind)
}
