package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	toml "github.com/pelletier/go-toml/v2/unstable"
)

// What a file may have, far more than one of a host does: a folder that was
// cloned from anywhere may have one that is there to keep us busy.
const (
	maxTOML      = 4 << 20 // bytes
	maxTOMLDepth = 100     // tables, one in the other
)

// A tomlDoc is a TOML file as it is written, and what it says.
type tomlDoc struct {
	data   []byte
	blocks []tomlBlock
	root   *tomlTable
}

// A tomlBlock is a header and the lines below it. The first block of a file has
// no header.
type tomlBlock struct {
	path   []string
	header span // its lines' text, without the line's end; empty in the first block
	lines  []tomlLine
}

// A tomlLine is a key and its value: at the top level with all that stands in
// its line or lines, in an inline table by itself.
type tomlLine struct {
	span           // from the key to the end of the value
	keys  []string // dotted
	parts []span   // of each key, as it is written
	value node
	inner []tomlLine // of an inline table
}

// A tomlTable is a table while it is being put together from its parts.
type tomlTable struct {
	node
	made  tomlMaker
	block int // which has made it by dotted keys
	names []string
	kids  map[string]*tomlTable
	list  []*tomlTable // one for each [[header]]
}

type tomlMaker uint8

const (
	byValue     tomlMaker = iota // nothing can be added to it
	byPath                       // a header of a table below: its own may follow
	byHeader                     // [a]
	byHeaders                    // [[a]]
	byDottedKey                  // a.b = 1
)

// parseTOML reads data. An error is a *syntaxError.
func parseTOML(data []byte) (*tomlDoc, error) {
	if len(data) > maxTOML {
		return nil, &syntaxError{0, fmt.Sprintf("is larger than %d MiB", maxTOML>>20)}
	}
	data = data[:len(data):len(data)] // the parser takes what is behind for its own
	d := &tomlDoc{data: data, blocks: make([]tomlBlock, 1), root: newTOMLTable(byHeader)}
	var p toml.Parser
	p.Reset(data)
	for p.NextExpression() {
		if err := d.take(p.Expression()); err != nil {
			return nil, err
		}
	}
	if err := p.Error(); err != nil {
		return nil, tomlSyntax(&p, err)
	}
	d.root.node = d.root.build("")
	return d, nil
}

func tomlSyntax(p *toml.Parser, err error) error {
	line := 0
	if pe := new(toml.ParserError); errors.As(err, &pe) {
		line = lineAt(p.Data(), int(p.Range(pe.Highlight).Offset))
	}
	return &syntaxError{line, err.Error()}
}

// take adds an expression.
func (d *tomlDoc) take(e *toml.Node) error {
	if e.Kind == toml.KeyValue {
		line := tomlLineOf(d.data, e)
		if line.depth() > maxTOMLDepth {
			return &syntaxError{lineAt(d.data, line.start), "a table is nested too deep"}
		}
		last := &d.blocks[len(d.blocks)-1]
		last.lines = append(last.lines, line)
		if !d.root.at(last.path).assign(line, len(d.blocks)) {
			return &syntaxError{lineAt(d.data, line.start), "a key is there twice"}
		}
		return nil
	}
	keys, parts := tomlKeys(e)
	if len(keys) > maxTOMLDepth {
		return &syntaxError{lineAt(d.data, parts[0].start), "a table is nested too deep"}
	}
	header := span{lineStart(d.data, parts[0].start), lineEnd(d.data, parts[len(parts)-1].end)}
	d.blocks = append(d.blocks, tomlBlock{path: keys, header: header})
	if !d.root.head(keys, e.Kind == toml.ArrayTable) {
		return &syntaxError{lineAt(d.data, parts[0].start), "a table is there twice"}
	}
	return nil
}

func tomlKeys(e *toml.Node) (keys []string, parts []span) {
	for it := e.Key(); it.Next(); {
		keys = append(keys, string(it.Node().Data))
		parts = append(parts, tomlSpan(it.Node()))
	}
	return keys, parts
}

func tomlSpan(n *toml.Node) span {
	return span{int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length)}
}

// tomlLineOf reads a key and its value.
func tomlLineOf(data []byte, e *toml.Node) tomlLine {
	l := tomlLine{span: tomlSpan(e)}
	l.keys, l.parts = tomlKeys(e)
	l.value, l.inner = tomlValue(data, e.Value(), skipTOMLSpace(data, l.parts[len(l.parts)-1].end, " \t="))
	return l
}

// depth is how many tables a line makes, one in the other.
func (l *tomlLine) depth() int {
	most := 0
	for i := range l.inner {
		most = max(most, l.inner[i].depth())
	}
	return len(l.keys) + most
}

// tomlValue reads a value that starts at start. The parser says of a list or an
// inline table neither where it starts nor where it ends.
func tomlValue(data []byte, n *toml.Node, start int) (v node, inner []tomlLine) {
	at := start + 1
	switch n.Kind {
	case toml.Array:
		v.kind = list
		for it := n.Children(); it.Next(); {
			item, inner := tomlValue(data, it.Node(), skipTOMLGap(data, at))
			v.nodes = append(v.nodes, withTOMLLines(item, inner))
			at = item.end
		}
		v.span = span{start, skipTOMLGap(data, at) + 1}
	case toml.InlineTable:
		v.kind = table
		for it := n.Children(); it.Next(); {
			inner = append(inner, tomlLineOf(data, it.Node()))
			at = inner[len(inner)-1].end
		}
		v.span = span{start, skipTOMLGap(data, at) + 1}
	case toml.String:
		v = node{kind: text, value: string(n.Data), span: span{start, start + int(n.Raw.Length)}}
	default:
		v = node{kind: scalar, value: string(n.Data), span: span{start, start + int(n.Raw.Length)}}
	}
	return v, inner
}

// withTOMLLines is a value in a list, with what is in it if it is a table.
func withTOMLLines(v node, inner []tomlLine) node {
	t := newTOMLTable(byValue)
	t.node = v
	for _, l := range inner {
		t.assign(l, -1)
	}
	return t.build("")
}

func newTOMLTable(made tomlMaker) *tomlTable {
	return &tomlTable{node: node{kind: table}, made: made, kids: map[string]*tomlTable{}}
}

// kid is the member called name, made if it is not there.
func (t *tomlTable) kid(name string, made tomlMaker, block int) *tomlTable {
	if k := t.kids[name]; k != nil {
		return k
	}
	k := newTOMLTable(made)
	k.block = block
	t.names = append(t.names, name)
	t.kids[name] = k
	return k
}

// at is the table to which the lines below a header belong.
func (t *tomlTable) at(path []string) *tomlTable {
	for _, name := range path {
		t = t.kids[name].last()
	}
	return t
}

// last is the table itself, or the one that the last [[header]] has begun.
func (t *tomlTable) last() *tomlTable {
	if t.made == byHeaders {
		return t.list[len(t.list)-1]
	}
	return t
}

// head begins a table, or tells that it cannot be.
func (t *tomlTable) head(path []string, many bool) bool {
	for _, name := range path[:len(path)-1] {
		t = t.kid(name, byPath, 0).last()
		if t.made == byValue {
			return false
		}
	}
	name := path[len(path)-1]
	old := t.kids[name]
	switch {
	case many && old == nil:
		t.kid(name, byHeaders, 0).list = []*tomlTable{newTOMLTable(byHeader)}
	case many && old.made == byHeaders:
		old.list = append(old.list, newTOMLTable(byHeader))
	case !many && old == nil:
		t.kid(name, byHeader, 0)
	case !many && old.made == byPath:
		old.made = byHeader
	default:
		return false
	}
	return true
}

// assign adds a key and its value, or tells that it cannot.
func (t *tomlTable) assign(l tomlLine, block int) bool {
	for _, name := range l.keys[:len(l.keys)-1] {
		t = t.kid(name, byDottedKey, block)
		if t.made != byDottedKey || t.block != block {
			return false
		}
	}
	name := l.keys[len(l.keys)-1]
	if t.kids[name] != nil {
		return false
	}
	v := t.kid(name, byValue, block)
	v.node = l.value
	for _, inner := range l.inner {
		if !v.assign(inner, -1) {
			return false
		}
	}
	return true
}

// build is the table as a node, with all that is in it.
func (t *tomlTable) build(key string) node {
	n := t.node
	n.key = key
	if t.made == byHeaders {
		n.kind = list
		for _, item := range t.list {
			n.nodes = append(n.nodes, item.build(""))
		}
	}
	for _, name := range t.names {
		n.nodes = append(n.nodes, t.kids[name].build(name))
	}
	return n
}

// skipTOMLSpace is where the first byte at or after at is that is none of space.
func skipTOMLSpace(data []byte, at int, space string) int {
	for at < len(data) && bytes.IndexByte([]byte(space), data[at]) >= 0 {
		at++
	}
	return at
}

// skipTOMLGap is where the next value, or the closing bracket, is.
func skipTOMLGap(data []byte, at int) int {
	for {
		at = skipTOMLSpace(data, at, " \t\r\n,")
		if at >= len(data) || data[at] != '#' {
			return at
		}
		at = lineEnd(data, at)
	}
}

// lineStart is where the line of an offset starts.
func lineStart(data []byte, at int) int {
	return bytes.LastIndexByte(data[:at], '\n') + 1
}

// lineEnd is where the line of an offset ends, before its "\n" or "\r\n".
func lineEnd(data []byte, at int) int {
	n := bytes.IndexByte(data[at:], '\n')
	if n < 0 {
		return len(data)
	}
	if n > 0 && data[at+n-1] == '\r' {
		n--
	}
	return at + n
}

// under tells whether path leads to prefix or below it.
func under(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}
