package facade

import (
	"fmt"
	"slices"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// describeTokens is what a description may cost without full. One host cuts
// the middle out of results over 10 KB.
const describeTokens = 2400

// describe answers the meta-tool of that name: what the upstream says of one
// tool, or of several. It has failed if it knows none of them.
func (f *Facade) describe(v *view, c *catalog.Catalog, args gjson.Result) (text string, failed bool) {
	s := f.surfaceOf(v)
	var tools []catalog.Tool
	var parts []string
	for _, name := range wanted(args.Get("tool")) {
		t, ok := lookup(c, s, name)
		switch {
		case !ok:
			parts = append(parts, f.unknown(v, name).Error())
		case !slices.ContainsFunc(tools, func(other catalog.Tool) bool { return other.Name == t.Name }):
			tools = append(tools, t)
		}
	}
	switch {
	case tools != nil:
		parts = slices.Insert(parts, 0, f.description(tools, args.Get("full").Bool()))
	case parts == nil:
		parts = []string{(&refusal{`"tool" is missing: the name of a tool, or several with commas.`, s.kind["discover"] + " finds names."}).Error()}
	}
	return strings.Join(parts, "\n") + f.freshness(v), tools == nil
}

// wanted reads one name, several with commas, or an array of names.
func wanted(tool gjson.Result) (names []string) {
	all := []string{tool.String()}
	if tool.IsArray() {
		all = nil
		for _, name := range tool.Array() {
			all = append(all, name.String())
		}
	} else {
		all = strings.Split(all[0], ",")
	}
	for _, name := range all {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// description is tools as the upstream wrote them, a line each, without icons
// and without white space between their parts. Beyond describeTokens they are
// trimmed as little as makes them fit, unless they are to be full.
func (f *Facade) description(tools []catalog.Tool, full bool) string {
	whole := lined(tools, func(t catalog.Tool) string {
		return gjson.ParseBytes(wire.DeleteMember(t.Raw, "icons")).Get("@ugly").Raw
	})
	cost := compact.Tokens([]byte(whole))
	if full || cost <= describeTokens {
		return whole
	}
	note := fmt.Sprintf("\n(Shortened; \"full\": true gives all %d tokens.)", cost)
	for _, level := range []string{"lossless", "standard", "tight"} {
		text := lined(tools, func(t catalog.Tool) string { return string(compact.Tool(t.Raw, compact.Options{Level: level})) })
		if compact.Tokens([]byte(text+note)) <= describeTokens {
			return text + note
		}
	}
	return f.signatures(tools, describeTokens-compact.Tokens([]byte(note))) + note
}

// signatures are as many as fit.
func (f *Facade) signatures(tools []catalog.Tool, tokens int) string {
	const more = "and %d more: describe fewer at once"
	var lines []string
	for i, t := range tools {
		lines = append(lines, f.signature(t))
		if tokens -= compact.Tokens([]byte(lines[i])) + 1; tokens < len(more) {
			lines[i] = fmt.Sprintf(more, len(tools)-i)
			break
		}
	}
	return strings.Join(lines, "\n")
}

// lined puts each tool on a line.
func lined(tools []catalog.Tool, line func(catalog.Tool) string) string {
	all := make([]string, len(tools))
	for i, t := range tools {
		all[i] = line(t)
	}
	return strings.Join(all, "\n")
}

// lookup finds the tool that a model means by a name.
func lookup(c *catalog.Catalog, s *surface, name string) (catalog.Tool, bool) {
	if up, ok := s.names().upstream(name); ok {
		return c.Lookup(up)
	}
	return c.Lookup(name)
}
