package facade

import (
	"sync"

	"mcp-facade/catalog"
	"mcp-facade/compact"

	"github.com/tidwall/gjson"
)

// A memo is what has been made of the tools of one catalog, which never change:
// each thing once, when it is first needed. Its methods may be called
// concurrently.
type memo struct {
	catalog *catalog.Catalog
	lines   sync.Map // signatureLine by the name of a tool
	full    sync.Map // the same for its parameters
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

// parameters is all that is said of the parameters of a tool of the catalog, on
// a line of its own, trimmed as little as makes it fit into parametersTokens; ""
// if that is nothing, or too much.
func (f *Facade) parameters(m *memo, t catalog.Tool) signatureLine {
	if known, ok := m.full.Load(t.Name); ok {
		return known.(signatureLine)
	}
	l := signatureLine{}
	for _, level := range []string{"lossless", "standard", "tight"} {
		schema := gjson.GetBytes(compact.Tool(t.Raw, compact.Options{Level: level}), "inputSchema")
		if !saysMore(schema) {
			break
		}
		l.text = "Parameters of " + spelled(t.Name) + ": " + visible(ugly(schema))
		if l.tokens = compact.Tokens([]byte("\n" + l.text)); l.tokens <= parametersTokens {
			break
		}
		l = signatureLine{}
	}
	m.full.Store(t.Name, l)
	return l
}

// parametersTokens is how much the parameters of a tool may cost that stands
// out: what leaves room for some others.
const parametersTokens = 300

// shownEnums is how many values of an enum a signature shows.
const shownEnums = 8

// saysMore reports whether a schema says anything that is not in a signature.
func saysMore(schema gjson.Result) (more bool) {
	schema.Get("properties").ForEach(func(_, p gjson.Result) bool {
		p.ForEach(func(key, v gjson.Result) bool {
			switch key.Str {
			case "type", "title":
			case "enum":
				more = len(v.Array()) > shownEnums
			case "items":
				more = v.Get("properties").Exists() || v.Get("description").Exists()
			default:
				more = true
			}
			return !more
		})
		return !more
	})
	return more
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
