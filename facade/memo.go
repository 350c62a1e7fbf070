package facade

import (
	"sync"

	"mcp-facade/catalog"
	"mcp-facade/compact"
)

// A memo is what has been made of the tools of one catalog, which never change:
// each thing once, when it is first needed. Its methods may be called
// concurrently.
type memo struct {
	catalog *catalog.Catalog
	lines   sync.Map // signatureLine by the name of a tool
	shapes  sync.Map // *shape by the name of a tool
	folded  func() foldedNames

	grouping sync.Once
	groups   []catalog.Group // once grouping is done
}

// A signatureLine is a tool on a line of its own, and what that costs.
type signatureLine struct {
	text   string
	tokens int
}

// memoOf is the memo of a catalog. Only that of the last one is kept.
func (f *Facade) memoOf(c *catalog.Catalog) *memo {
	if m := f.memo.Load(); m != nil && m.catalog == c {
		return m
	}
	m := &memo{catalog: c, folded: sync.OnceValue(func() foldedNames { return foldNames(c.Tools()) })}
	f.memo.Store(m)
	return m
}

// grouped are the groups of the catalog. own are names of the server itself.
func (m *memo) grouped(own string) []catalog.Group {
	m.grouping.Do(func() { m.groups = m.catalog.Groups(own) })
	return m.groups
}

// line is the signature of a tool of the catalog, with a mark of ours at its
// start.
func (f *Facade) line(m *memo, t catalog.Tool) signatureLine {
	if known, ok := m.lines.Load(t.Name); ok {
		return known.(signatureLine)
	}
	l := signatureLine{text: f.signature(t)}
	l.tokens = compact.Tokens([]byte("\n" + l.text))
	m.lines.Store(t.Name, l)
	return l
}

// shape is what is certain about the arguments of a tool of the catalog.
func (m *memo) shape(t catalog.Tool) *shape {
	if known, ok := m.shapes.Load(t.Name); ok {
		return known.(*shape)
	}
	s := shapeOf(t.InputSchema)
	m.shapes.Store(t.Name, s)
	return s
}
