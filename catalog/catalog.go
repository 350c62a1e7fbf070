// Package catalog holds an upstream's tools: a [Catalog] to look names up, to
// search in and to say in a few words what is there, and a [Store] that keeps
// what an upstream listed on disk, so that the next start needs no upstream.
package catalog

import (
	"fmt"
	"strings"
	"unsafe"

	"mcp-facade/compact"

	"github.com/tidwall/gjson"
)

// maxTools is how many tools a catalog takes. The largest real list we know
// has 1,083; beyond the limit an upstream is broken or hostile.
const maxTools = 20_000

// maxWarnings is how many warnings New gives before it only counts them.
const maxWarnings = 20

// A Tool is one tool as the upstream listed it. Its bytes must not be changed.
type Tool struct {
	Name        string // in the upstream's spelling
	Title       string // decoded; annotations.title where there is no title
	Description string // decoded; "" unless it is a string
	Raw         []byte // the whole object as written
	InputSchema []byte // as written; nil if absent
	ReadOnly    bool   // annotations.readOnlyHint is true
	Destructive bool   // annotations.destructiveHint is true; absent counts as false here
}

// Deprecated reports whether the tool says that it is out of use.
func (t *Tool) Deprecated() bool {
	return compact.Deprecated(t.Description) != "" || t.Title != "" && compact.Deprecated(t.Title) != ""
}

// A Catalog is an upstream's tools. It never changes once made, and its
// methods may be called concurrently.
type Catalog struct {
	tools    []Tool
	exact    map[string]int      // name → position in tools
	folded   map[string]int      // lower-case name → position, or ambiguous
	keywords map[string][]string // name → the user's own words for the tool
	index    lazy[*searchIndex]
	spelt    lazy[[]spelling]
}

// ambiguous is the position in Catalog.folded of a name that several tools
// have in different cases.
const ambiguous = -1

// New makes a catalog of the pages of a tools/list answer: its raw result
// objects, in order. It keeps the pages, so they must not be changed. What
// cannot be called is left out and told in the warnings: entries that are no
// objects or have no name, all but the first of those with the same name, and
// whatever comes after 20,000 tools.
func New(pages [][]byte) (*Catalog, []string) {
	b := builder{c: &Catalog{exact: map[string]int{}, folded: map[string]int{}}}
	for i, page := range pages {
		b.addPage(i+1, page)
	}
	return b.c, b.allWarnings()
}

// WithKeywords returns a catalog of the same tools, which Search also finds by
// the user's own words for them: those under a tool's name, spelled exactly so.
// The words must not be changed.
func (c *Catalog) WithKeywords(words map[string][]string) *Catalog {
	return &Catalog{tools: c.tools, exact: c.exact, folded: c.folded, keywords: words}
}

// Tools returns the tools in the upstream's order. The slice must not be
// changed.
func (c *Catalog) Tools() []Tool { return c.tools }

// Lookup returns the tool of that name: spelled exactly so or, failing that,
// the only one that differs in case alone.
func (c *Catalog) Lookup(name string) (Tool, bool) {
	i, ok := c.find(name)
	if !ok {
		return Tool{}, false
	}
	return c.tools[i], true
}

// find is Lookup by position.
func (c *Catalog) find(name string) (int, bool) {
	if i, ok := c.exact[name]; ok {
		return i, true
	}
	i, ok := c.folded[strings.ToLower(name)]
	return i, ok && i != ambiguous
}

// A builder collects tools into a catalog that nobody else sees yet.
type builder struct {
	c        *Catalog
	warnings []string
	untold   int // warnings beyond maxWarnings
}

func (b *builder) addPage(number int, page []byte) {
	list := gjson.Parse(view(page)).Get("tools")
	if !list.IsArray() {
		b.warn("page %d of the list holds no array of tools", number)
		return
	}
	list.ForEach(func(_, v gjson.Result) bool { return b.add(page, v) })
}

// add takes the tool v, found in page. It returns false when the catalog is
// full.
func (b *builder) add(page []byte, v gjson.Result) bool {
	if len(b.c.tools) == maxTools {
		b.warn("more than %d tools: the rest is left out", maxTools)
		return false
	}
	if !v.IsObject() {
		b.warn("an entry of the list is no object: left out: %s", quote(v.Raw))
		return true
	}
	tool := parseTool(page, v)
	switch _, seen := b.c.exact[tool.Name]; {
	case tool.Name == "":
		b.warn("a tool without a name: left out: %s", quote(v.Raw))
	case seen:
		b.warn("tool %s is listed twice: the first is kept", quote(tool.Name))
	default:
		b.keep(tool)
	}
	return true
}

func (b *builder) keep(tool Tool) {
	at := len(b.c.tools)
	b.c.tools = append(b.c.tools, tool)
	b.c.exact[tool.Name] = at
	fold := strings.ToLower(tool.Name)
	if _, seen := b.c.folded[fold]; seen {
		at = ambiguous
	}
	b.c.folded[fold] = at
}

func (b *builder) warn(format string, args ...any) {
	if len(b.warnings) == maxWarnings {
		b.untold++
		return
	}
	b.warnings = append(b.warnings, fmt.Sprintf(format, args...))
}

func (b *builder) allWarnings() []string {
	if b.untold > 0 {
		return append(b.warnings, fmt.Sprintf("and %d more warnings about the list", b.untold))
	}
	return b.warnings
}

// parseTool reads the object v, found in page. Of a member given twice the
// last one counts, as in the JSON parsers of most hosts.
func parseTool(page []byte, v gjson.Result) Tool {
	tool := Tool{Raw: span(page, v)}
	var notes gjson.Result
	v.ForEach(func(key, m gjson.Result) bool {
		switch key.Str {
		case "name":
			tool.Name = text(m)
		case "title":
			tool.Title = text(m)
		case "description":
			tool.Description = text(m)
		case "inputSchema":
			tool.InputSchema = span(page, m)
		case "annotations":
			notes = m
		}
		return true
	})
	if notes.IsObject() {
		tool.annotate(notes)
	}
	return tool
}

func (t *Tool) annotate(notes gjson.Result) {
	notes.ForEach(func(key, m gjson.Result) bool {
		switch key.Str {
		case "readOnlyHint":
			t.ReadOnly = m.Type == gjson.True
		case "destructiveHint":
			t.Destructive = m.Type == gjson.True
		case "title":
			if t.Title == "" {
				t.Title = text(m)
			}
		}
		return true
	})
}

// span is the value v as a range of page, the bytes that it was found in.
func span(page []byte, v gjson.Result) []byte {
	end := v.Index + len(v.Raw)
	return page[v.Index:end:end]
}

// view is b, which nobody changes, as a string that shares its memory.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// text is a decoded string, or "" for another type. It is a copy, so that a
// name does not hold on to a page.
func text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return strings.Clone(v.Str)
}

// quote shows a stranger's text in a warning: escaped, and cut.
func quote(s string) string {
	const limit = 64
	if len(s) > limit {
		return fmt.Sprintf("%q…", s[:limit])
	}
	return fmt.Sprintf("%q", s)
}
