package facade

import (
	"slices"
	"strings"
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
	asked   sync.Map // the same for the last query
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
	cut    bool        // whether it does not show all parameters
	hidden []parameter // those that a signature does not show
	first  string      // the names of those that it has first, for a query
}

// A parameter is its name, and the words of that which the tool's name has not.
type parameter struct {
	name  string
	terms []string
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
	l := f.newLine(t, nil)
	m.lines.Store(t.Name, l)
	return l
}

// lineFor is line with the optional parameters that a query, as terms, seems to
// be about. Of each tool the last such line is kept.
func (f *Facade) lineFor(m *memo, t catalog.Tool, query []string) signatureLine {
	l := f.line(m, t)
	var first []string
	for _, p := range l.hidden {
		if p.in(query) {
			first = append(first, p.name)
		}
	}
	if first == nil {
		return l
	}
	key := strings.Join(first, "\x00")
	if known, ok := m.asked.Load(t.Name); ok && known.(signatureLine).first == key {
		return known.(signatureLine)
	}
	l = f.newLine(t, first)
	l.first = key
	m.asked.Store(t.Name, l)
	return l
}

func (f *Facade) newLine(t catalog.Tool, first []string) signatureLine {
	text, hidden := compact.SignatureWith(first, t.Name, t.InputSchema, t.Description)
	l := signatureLine{text: f.mark(t) + text, cut: len(hidden) > 0}
	l.tokens = compact.Tokens([]byte("\n" + l.text))
	said := catalog.Terms(t.Name)
	for _, name := range hidden {
		terms := slices.DeleteFunc(catalog.Terms(name), func(term string) bool { return slices.Contains(said, term) })
		l.hidden = append(l.hidden, parameter{name, terms})
	}
	return l
}

// in reports whether a query has most of the words of the parameter's name.
func (p parameter) in(query []string) bool {
	found := 0
	for _, term := range p.terms {
		if slices.Contains(query, term) {
			found++
		}
	}
	return 2*found > len(p.terms)
}

// parameters is all that is said of the parameters of a tool of the catalog, on
// a line of its own, trimmed as little as makes it fit into parametersTokens; ""
// if that is nothing, or too much. Where trimming would lose the parameters
// within parameters, it is only their names and types.
func (f *Facade) parameters(m *memo, t catalog.Tool) signatureLine {
	if known, ok := m.full.Load(t.Name); ok {
		return known.(signatureLine)
	}
	l := f.newParameters(t)
	m.full.Store(t.Name, l)
	return l
}

func (f *Facade) newParameters(t catalog.Tool) signatureLine {
	nested := 0
	for _, level := range []string{"lossless", "standard", "tight"} {
		schema := gjson.GetBytes(compact.Tool(t.Raw, compact.Options{Level: level}), "inputSchema")
		if !saysMore(schema) {
			return signatureLine{}
		}
		left := strings.Count(schema.Raw, `"properties"`)
		if nested = max(nested, left); left < nested {
			break
		}
		if l := parametersLine(t, ugly(schema), level == "tight"); l.tokens <= parametersTokens {
			return l
		}
	}
	if outline := compact.Outline(t.InputSchema, parametersTokens-parametersHead); nested > 1 && outline != "" {
		return parametersLine(t, outline, true)
	}
	return signatureLine{}
}

func parametersLine(t catalog.Tool, schema string, cut bool) signatureLine {
	l := signatureLine{text: "Parameters of " + spelled(t.Name) + ": " + visible(schema), cut: cut}
	l.tokens = compact.Tokens([]byte("\n" + l.text))
	return l
}

// parametersTokens is how much the parameters of a tool may cost that stands
// out: what leaves room for some others.
const parametersTokens = 300

// parametersHead is how much of that is left for the name of the tool.
const parametersHead = 30

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
