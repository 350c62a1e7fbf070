package facade

import (
	"fmt"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/config"

	"github.com/tidwall/gjson"
)

// How much discover says, in estimated tokens and in tools. The estimate is a
// little off, so an answer is filled to less than the 1,200 that it may cost.
const (
	discoverTokens = 1000
	discoverTools  = 10
)

// discover answers the meta-tool of that name: the tools that match a query,
// best first, as signatures.
func (f *Facade) discover(v *view, c *catalog.Catalog, args gjson.Result) string {
	kind := f.surfaceOf(v).kind
	query := strings.TrimSpace(wish(args))
	note := f.freshness(v)
	if t, ok := c.Lookup(query); ok {
		return f.description([]catalog.Tool{t}, false) + note
	}
	if page, ok := pageAsked(query); ok {
		return f.overview(v, c, kind, page, note)
	}
	m := f.memoOf(c)
	run := "Run one with " + kind["call"] + ` {"tool": …, "args": {…}}:`
	if found := matching(c, query); found != nil {
		return f.filled(run, m, found, note)
	}
	none := fmt.Sprintf("No tool of %s matches %s. Try other words, in the language of the tool descriptions (usually English).", f.name(), quoted(query))
	if near := nearest(c, query); near != nil {
		none = f.filled(none+" These are spelled like it. "+run, m, near, "")
	}
	return none + f.someNames(v, m, kind, discoverTokens-compact.Tokens([]byte(none+note))) + note
}

// wish is what a model wants to find: its query or, where that goes by another
// name, the strings there are.
func wish(args gjson.Result) string {
	if !args.IsObject() {
		return args.String()
	}
	if query := args.Get("query"); query.Exists() {
		return query.String()
	}
	var all []string
	args.ForEach(func(_, v gjson.Result) bool {
		if v.Type == gjson.String {
			all = append(all, v.Str)
		}
		return true
	})
	return strings.Join(all, " ")
}

// matching are the tools that have words of the query, best first.
func matching(c *catalog.Catalog, query string) (tools []catalog.Tool) {
	for _, hit := range c.Search(query, discoverTools) {
		tools = append(tools, hit.Tool)
	}
	return tools
}

// nearest are the tools whose names are spelled most like one.
func nearest(c *catalog.Catalog, name string) (tools []catalog.Tool) {
	for _, near := range c.Nearest(name, 3) {
		t, _ := c.Lookup(near)
		tools = append(tools, t)
	}
	return tools
}

// filled is a head, then signatures within discoverTokens, then a note.
func (f *Facade) filled(head string, m *memo, tools []catalog.Tool, note string) string {
	text := append(make([]byte, 0, 4096), head...)
	spent := compact.Tokens([]byte(head + note))
	for _, t := range tools {
		line := f.line(m, t)
		if spent += line.tokens; spent > discoverTokens {
			break
		}
		text = append(append(text, '\n'), line.text...)
	}
	return string(append(text, note...))
}

// signature is one line for a tool, with a mark of ours at its start.
func (f *Facade) signature(t catalog.Tool) string {
	return f.mark(t) + compact.Signature(t.Name, t.InputSchema, t.Description)
}

// mark says what a tool does to the upstream's data, as the config or, failing
// that, the tool's own annotations say.
func (f *Facade) mark(t catalog.Tool) string {
	switch s := f.o.Server; {
	case config.Match(s.Destructive, t.Name):
		return destructiveMark + " "
	case config.Match(s.ReadOnly, t.Name) || t.ReadOnly:
		return readOnlyMark + " "
	case t.Destructive:
		return destructiveMark + " "
	}
	return ""
}

// The marks of a tool. Only we write them, at the start of a line.
const (
	readOnlyMark    = "[read-only]"
	destructiveMark = "[destructive]"
)
