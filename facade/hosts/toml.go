package hosts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// tomlFormat is TOML, with the parser of go-toml and edits of our own, so that
// no byte changes which need not. What an edit or a transplant gives is read
// again: if it does not say what it should, it is refused.
type tomlFormat struct{}

func (tomlFormat) find(data []byte, roots [][]string) ([]found, error) {
	d, err := parseTOML(data)
	if err != nil {
		return nil, err
	}
	var all []found
	for _, root := range roots {
		if all, err = d.servers(all, d.root.node, nil, root, d.spans(root)); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.text[0].start, b.text[0].start) })
	return all, nil
}

// servers appends the servers in the table to which root leads from n.
func (d *tomlDoc) servers(all []found, n node, path, root []string, parts map[string][]span) ([]found, error) {
	if n.kind != table {
		return nil, d.wantTable(path)
	}
	for _, kid := range n.nodes {
		below := append(slices.Clip(path), kid.key)
		switch {
		case len(root) == 0:
			all = append(all, found{path: below, node: kid, text: parts[tomlID(below)]})
		case root[0] == kid.key || root[0] == "*":
			var err error
			if all, err = d.servers(all, kid, below, root[1:], parts); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func (d *tomlDoc) wantTable(path []string) error {
	return &syntaxError{lineAt(d.data, d.spansOf(path)[0].start), dotted(path) + ": want a table"}
}

// spans are where each server stands in the tables to which root leads, by
// tomlID. What has only comments and empty lines in between is one.
func (d *tomlDoc) spans(root []string) map[string][]span {
	all := tomlSpans{root: root, of: map[string][]span{}}
	for _, b := range d.blocks {
		if b.path != nil {
			all.add(b.header, b.path)
		}
		for i := range b.lines {
			l := &b.lines[i]
			all.line(span{lineStart(d.data, l.start), lineEnd(d.data, l.end)}, b.path, l)
		}
	}
	return all.of
}

// spansOf are where what path leads to stands.
func (d *tomlDoc) spansOf(path []string) []span {
	return d.spans(path[:len(path)-1])[tomlID(path)]
}

func tomlID(path []string) string { return fmt.Sprintf("%q", path) }

// A tomlSpans collects the parts of servers.
type tomlSpans struct {
	root []string
	of   map[string][]span
	last string // whose part was the last, "" if it was no server's
}

// add adds a part that says something of what path leads to, and tells whether
// that is in a server.
func (t *tomlSpans) add(s span, path []string) bool {
	if len(path) <= len(t.root) || !t.leads(path[:len(t.root)]) {
		t.last = ""
		return false
	}
	id := tomlID(path[:len(t.root)+1])
	if parts := t.of[id]; id == t.last {
		parts[len(parts)-1].end = s.end
	} else {
		t.of[id] = append(parts, s)
	}
	t.last = id
	return true
}

// leads tells whether path is the way to the servers, or its beginning.
func (t *tomlSpans) leads(path []string) bool {
	for i, key := range path {
		if i >= len(t.root) || t.root[i] != key && t.root[i] != "*" {
			return false
		}
	}
	return true
}

// line adds a line, or the servers in its inline table.
func (t *tomlSpans) line(s span, above []string, l *tomlLine) {
	path := append(slices.Clip(above), l.keys...)
	if t.add(s, path) || !t.leads(path) {
		return
	}
	for i := range l.inner {
		t.line(l.inner[i].span, path, &l.inner[i])
	}
	t.last = ""
}

func (tomlFormat) edit(data []byte, at found, edits []edit) ([]byte, error) {
	before, err := parseTOML(data)
	if err != nil {
		return nil, err
	}
	want, err := at.node.edited(edits)
	if err != nil {
		return nil, err
	}
	e := &tomlEditor{data: data, path: at.path, text: slices.Clone(at.text)}
	for _, edit := range edits {
		if err := e.edit(edit); err != nil {
			return nil, err
		}
	}
	if err := e.trim(); err != nil {
		return nil, err
	}
	return checkedTOML(e.data, before.root.node.with(at.path, want))
}

// checkedTOML is data, if that says what it should.
func checkedTOML(data []byte, want node) ([]byte, error) {
	after, err := parseTOML(data)
	if err != nil || !after.root.node.says(want) {
		return nil, errForm
	}
	return data, nil
}

// edited is what a table says after edits.
func (n node) edited(edits []edit) (node, error) {
	for _, e := range edits {
		if e.value == nil {
			n = n.without(e.path)
			continue
		}
		d, err := parseTOML([]byte("value = " + tomlOf(e.value)))
		if err != nil || len(d.root.node.nodes) != 1 {
			return node{}, errForm
		}
		n = n.with(e.path, d.root.node.nodes[0])
	}
	return n, nil
}

// tomlOf is a value of an edit as TOML has it.
func tomlOf(value any) string {
	switch value := value.(type) {
	case string:
		return tomlString(value)
	case []string:
		items := make([]string, len(value))
		for i, item := range value {
			items[i] = tomlString(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	default:
		return string(value.(literal))
	}
}

func (tomlFormat) quote(text string) string { return tomlString(text) }

// tomlString is a basic string. Invalid UTF-8, which TOML cannot have, becomes U+FFFD.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case !strconv.IsPrint(r):
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func tomlKey(s string) string {
	bare := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if s != "" && strings.TrimFunc(s, bare) == "" {
		return s
	}
	return tomlString(s)
}

// hideTOMLComments leaves of comments only their marks.
func hideTOMLComments(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		end := i + 1
		switch text[i] {
		case '#':
			for end < len(text) && text[end] != '\r' && text[end] != '\n' {
				end++
			}
			b.WriteString("# " + hidden)
		case '"', '\'':
			end = tomlStringEnd(text, i)
			fallthrough
		default:
			b.WriteString(text[i:end])
		}
		i = end
	}
	return b.String()
}

// tomlStringEnd is where the string ends that begins at start.
func tomlStringEnd(text string, start int) int {
	quote := text[start : start+1]
	mark := quote
	if many := strings.Repeat(quote, 3); strings.HasPrefix(text[start:], many) {
		mark = many
	}
	for i := start + len(mark); i < len(text); i++ {
		switch {
		case quote == `"` && text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], mark):
			end := i + len(mark)
			for len(mark) == 3 && strings.HasPrefix(text[end:], quote) {
				end++ // a quote or two before the mark are text
			}
			return end
		}
	}
	return len(text)
}
