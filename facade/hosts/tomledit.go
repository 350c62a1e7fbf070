package hosts

import (
	"bytes"
	"slices"
	"strings"
)

// A tomlEditor changes the text of one server.
type tomlEditor struct {
	data []byte
	path []string // the server's
	text []span   // all that may change
}

func (e *tomlEditor) edit(ed edit) error {
	path := append(slices.Clip(e.path), ed.path...)
	if ed.value == nil {
		return e.remove(path)
	}
	return e.set(path, tomlOf(ed.value))
}

// splice puts text in the place of a part of the server's.
func (e *tomlEditor) splice(at span, text string) error {
	i := slices.IndexFunc(e.text, func(s span) bool { return s.start <= at.start && at.end <= s.end })
	if i < 0 {
		return errForm
	}
	e.data = splice(e.data, at, text)
	grown := len(text) - (at.end - at.start)
	e.text[i].end += grown
	for j := i + 1; j < len(e.text); j++ {
		e.text[j].start += grown
		e.text[j].end += grown
	}
	return nil
}

// A tomlPlace is a line, or a member of an inline table, and where it is.
type tomlPlace struct {
	*tomlLine
	full   []string   // all keys that lead to it
	depth  int        // how many of them are not its own
	table  *tomlLine  // the inline table that it is in, or nil
	beside []tomlLine // the members of that table, or the lines of its block
	i      int        // among them
}

// places are those for which ok holds, in the order of the file.
func (d *tomlDoc) places(ok func(p tomlPlace) bool) (all []tomlPlace) {
	var walk func(path []string, in *tomlLine, lines []tomlLine)
	walk = func(path []string, in *tomlLine, lines []tomlLine) {
		for i := range lines {
			p := tomlPlace{&lines[i], append(slices.Clip(path), lines[i].keys...), len(path), in, lines, i}
			if ok(p) {
				all = append(all, p)
			}
			walk(p.full, p.tomlLine, p.inner)
		}
	}
	for _, b := range d.blocks {
		walk(b.path, nil, b.lines)
	}
	return all
}

// remove takes out all that path leads to.
func (e *tomlEditor) remove(path []string) error {
	for {
		d, err := parseTOML(e.data)
		if err != nil {
			return errForm
		}
		at, ok := d.first(path)
		if !ok {
			return nil
		}
		if err := e.splice(e.wholeLines(at), ""); err != nil {
			return err
		}
	}
}

// first is where the first part of what path leads to stands.
func (d *tomlDoc) first(path []string) (at span, ok bool) {
	if all := d.places(func(p tomlPlace) bool { return under(p.full, path) && p.depth < len(path) }); len(all) > 0 {
		return all[0].cut(d.data), true
	}
	for _, b := range d.blocks {
		if b.path != nil && under(b.path, path) {
			return b.whole(d.data), true
		}
	}
	return span{}, false
}

// whole is a header and the lines below it.
func (b *tomlBlock) whole(data []byte) span {
	s := b.header
	if n := len(b.lines); n > 0 {
		s.end = lineEnd(data, b.lines[n-1].end)
	}
	return s
}

// cut is what goes with a line, or with a member of an inline table.
func (p tomlPlace) cut(data []byte) span {
	switch {
	case p.table == nil:
		return span{lineStart(data, p.start), lineEnd(data, p.end)}
	case len(p.beside) == 1:
		return span{p.table.value.start + 1, p.table.value.end - 1}
	case p.i+1 < len(p.beside):
		return span{p.start, p.beside[p.i+1].start}
	default:
		return span{p.beside[p.i-1].end, p.end}
	}
}

// wholeLines is at and, if it is whole lines, the line's end, with the empty
// lines that would follow others.
func (e *tomlEditor) wholeLines(at span) span {
	i := slices.IndexFunc(e.text, func(s span) bool { return s.start <= at.start && at.end <= s.end })
	if i < 0 || at.start != lineStart(e.data, at.start) || at.end != lineEnd(e.data, at.end) {
		return at
	}
	end := e.text[i].end
	header := bytes.HasPrefix(bytes.TrimLeft(e.data[at.start:at.end], " \t"), []byte("["))
	for at.end < end {
		at.end += len(eolOf(e.data, at.end))
		next := skipTOMLSpace(e.data, at.end, " \t")
		if !header || lineEnd(e.data, next) != next {
			break
		}
		at.end = next
	}
	at.end = min(at.end, end)
	return at
}

// set puts a value where path leads to.
func (e *tomlEditor) set(path []string, value string) error {
	d, err := parseTOML(e.data)
	if err != nil {
		return errForm
	}
	if at := d.places(func(p tomlPlace) bool { return slices.Equal(p.full, path) }); len(at) > 0 {
		return e.splice(at[0].value.span, value)
	}
	if err := e.remove(path); err != nil {
		return err
	}
	return e.add(path, value)
}

// add puts a value where path leads to, and where nothing is.
func (e *tomlEditor) add(path []string, value string) error {
	d, err := parseTOML(e.data)
	if err != nil {
		return errForm
	}
	parent, key := path[:len(path)-1], tomlKey(path[len(path)-1])
	if all := d.places(func(p tomlPlace) bool { return slices.Equal(p.full, parent) }); len(all) > 0 {
		return e.addMember(all[0].tomlLine, key+" = "+value)
	}
	for i := range d.blocks {
		if b := &d.blocks[i]; b.path != nil && slices.Equal(b.path, parent) {
			return e.addLine(b.whole(e.data).end, b.indentation(e.data), key+" = "+value)
		}
	}
	all := d.places(func(p tomlPlace) bool { return under(p.full, parent) && p.depth < len(parent) })
	switch {
	case len(all) > 0:
		p := all[len(all)-1]
		prefix := e.data[p.start:p.parts[len(parent)-p.depth-1].end]
		return e.addBeside(p, string(prefix)+"."+key+" = "+value)
	case len(parent) <= len(e.path):
		return errForm
	case d.lastBelow(parent[:len(parent)-1]) != nil:
		return e.addBlock(d.lastBelow(parent[:len(parent)-1]), parent, key+" = "+value)
	default:
		return e.add(parent, "{ "+key+" = "+value+" }")
	}
}

// lastBelow is the last block of a table that has no text of its own, but headers
// of tables in it; else nil.
func (d *tomlDoc) lastBelow(path []string) (last *tomlBlock) {
	for i := range d.blocks {
		switch b := &d.blocks[i]; {
		case b.path != nil && slices.Equal(b.path, path):
			return nil
		case b.path != nil && under(b.path, path):
			last = b
		}
	}
	return last
}

// addBlock puts a table with one line after another.
func (e *tomlEditor) addBlock(after *tomlBlock, path []string, line string) error {
	keys := make([]string, len(path))
	for i, key := range path {
		keys[i] = tomlKey(key)
	}
	end, indentation := after.whole(e.data).end, lineIndent(e.data, after.header.start)
	eol := eolOf(e.data, end)
	return e.splice(span{end, end}, eol+eol+indentation+"["+strings.Join(keys, ".")+"]"+eol+after.indentation(e.data)+line)
}

// addLine puts a line after the one that ends at end.
func (e *tomlEditor) addLine(end int, indentation, text string) error {
	return e.splice(span{end, end}, eolOf(e.data, end)+indentation+text)
}

// addMember puts a member into an inline table.
func (e *tomlEditor) addMember(l *tomlLine, text string) error {
	if l.value.kind != table {
		return errForm
	}
	if n := len(l.inner); n > 0 {
		return e.splice(span{l.inner[n-1].end, l.inner[n-1].end}, e.comma(l.inner[n-1].start)+text)
	}
	return e.splice(span{l.value.start + 1, l.value.end - 1}, " "+text+" ")
}

// addBeside puts a line, or a member of an inline table, after another.
func (e *tomlEditor) addBeside(p tomlPlace, text string) error {
	if p.table != nil {
		return e.splice(span{p.end, p.end}, e.comma(p.start)+text)
	}
	return e.addLine(lineEnd(e.data, p.end), lineIndent(e.data, p.start), text)
}

// comma goes before a new member, which stands in a line of its own if the one
// before, which starts at start, does.
func (e *tomlEditor) comma(start int) string {
	if at := lineStart(e.data, start); at > 0 && skipTOMLSpace(e.data, at, " \t") == start {
		return "," + eolOf(e.data, start) + string(e.data[at:start])
	}
	return ", "
}

// indentation is what goes before a new line of the block.
func (b *tomlBlock) indentation(data []byte) string {
	if n := len(b.lines); n > 0 {
		return lineIndent(data, b.lines[n-1].start)
	}
	return lineIndent(data, b.header.start)
}

// trim takes away the comments and empty lines at the ends of what has changed:
// they would be left there when the server's text is put back.
func (e *tomlEditor) trim() error {
	d, err := parseTOML(e.data)
	if err != nil {
		return errForm
	}
	now := d.spansOf(e.path)
	for _, s := range slices.Backward(e.text) {
		kept := span{s.end, s.end}
		for _, part := range now {
			if s.start <= part.start && part.end <= s.end {
				kept = span{min(kept.start, part.start), part.end}
			}
		}
		e.data = splice(e.data, s, string(e.data[kept.start:kept.end]))
	}
	return nil
}

// inline is the text of a value, made of its members if it stands below headers.
func inline(data []byte, n *node) string {
	if n.end > n.start {
		return string(data[n.start:n.end])
	}
	var members []string
	for i := range n.nodes {
		member := inline(data, &n.nodes[i])
		if n.kind == table {
			member = tomlKey(n.nodes[i].key) + " = " + member
		}
		members = append(members, member)
	}
	if n.kind == table {
		return "{ " + strings.Join(members, ", ") + " }"
	}
	return "[" + strings.Join(members, ", ") + "]"
}
