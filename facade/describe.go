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

// What a description may cost without full, in estimated tokens, and how long it
// may be: one host cuts the middle out of results over 10 KB.
const (
	describeTokens = 2400
	describeSize   = 10_000
)

// describe answers the meta-tool of that name: what the upstream says of one
// tool, or of several. It has failed if it knows none of them.
func (f *Facade) describe(v *view, c *catalog.Catalog, args gjson.Result) (text string, failed bool) {
	s := f.surfaceOf(v)
	var tools []catalog.Tool
	var parts []string
	names := wanted(c, args)
	for _, name := range names[:min(len(names), maxDescribed)] {
		t, err := f.described(v, s, c, name)
		switch {
		case err != nil:
			parts = append(parts, err.Error())
		case !slices.ContainsFunc(tools, func(other catalog.Tool) bool { return other.Name == t.Name }):
			tools = append(tools, t)
		}
	}
	if more := len(parts) - maxShown; more > 0 {
		parts = append(parts[:maxShown], fmt.Sprintf("%d more names are not known.", more))
	}
	if more := len(names) - maxDescribed; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more names were left out: %s takes %d at once.", more, s.kind["describe"], maxDescribed))
	}
	switch {
	case tools != nil:
		parts = slices.Insert(parts, 0, f.description(tools, args.Get("full").Bool()))
	case parts == nil:
		parts = []string{(&refusal{`"tool" is missing: the name of a tool, or several with commas.`, s.whereNames()}).Error()}
	}
	return strings.Join(parts, "\n") + f.freshness(v), tools == nil
}

// maxDescribed is how many tools are described at once.
const maxDescribed = 20

// described is the tool that a name means.
func (f *Facade) described(v *view, s *surface, c *catalog.Catalog, name string) (catalog.Tool, error) {
	switch all, _ := f.meant(f.ownNames(v), s, f.memoOf(c), name); len(all) {
	case 0:
		return catalog.Tool{}, f.unknown(v, name)
	case 1:
		t, _ := c.Lookup(all[0])
		return t, nil
	default:
		return catalog.Tool{}, &refusal{quotedName(name) + " may mean " + joined(all) + ".", "Use " + s.kind["describe"] + " with one of these."}
	}
}

// wanted are the names that a model asks for, under "tool" or what it takes for
// that: one, several with commas, or an array, also in a string.
func wanted(c *catalog.Catalog, args gjson.Result) (names []string) {
	var asked gjson.Result
	for _, key := range []string{"tool", "tools", "name", "names", "toolName"} {
		if asked = args.Get(key); asked.Exists() && asked.Type != gjson.Null {
			break
		}
	}
	if list, ok := packed(asked.Str, anArray); ok {
		asked = list
	}
	if !asked.IsArray() {
		return apart(c, asked.String())
	}
	for _, one := range asked.Array() {
		if name := one.Get("name"); one.IsObject() && name.Exists() {
			one = name
		}
		names = append(names, apart(c, one.String())...)
	}
	return names
}

// maxCommas is how many commas the name of a tool may have.
const maxCommas = 8

// apart takes names apart at commas and line ends, except at those that are in
// the name of a tool.
func apart(c *catalog.Catalog, text string) (names []string) {
	if _, ok := c.Lookup(text); ok {
		return []string{text}
	}
	parts := strings.Split(strings.ReplaceAll(text, "\n", ","), ",")
	for len(parts) > 0 {
		n := min(len(parts), maxCommas+1)
		for ; n > 1; n-- {
			if _, ok := c.Lookup(strings.TrimSpace(strings.Join(parts[:n], ","))); ok {
				break
			}
		}
		if name := strings.TrimSpace(strings.Join(parts[:n], ",")); name != "" {
			names = append(names, name)
		}
		parts = parts[n:]
	}
	return names
}

// description is tools as the upstream wrote them, a line each, without icons
// and without white space between their parts. Beyond describeTokens they are
// trimmed as little as makes them fit, unless they are to be full.
func (f *Facade) description(tools []catalog.Tool, full bool) string {
	whole := lined(tools, func(t catalog.Tool) string {
		return ugly(gjson.ParseBytes(wire.DeleteMember(f.overruled(t), "icons")))
	})
	cost := compact.Tokens([]byte(whole))
	if full || cost <= describeTokens && len(whole) <= describeSize {
		return whole
	}
	note := fmt.Sprintf("\n(Shortened; \"full\": true gives all %d tokens.)", cost)
	room := describeTokens - compact.Tokens([]byte(note))
	for _, o := range []compact.Options{
		{Level: "lossless", Keep: []string{"outputSchema"}}, {Level: "lossless"}, {Level: "standard"}, {Level: "tight"},
	} {
		text := lined(tools, func(t catalog.Tool) string { return string(compact.Tool(f.overruled(t), o)) })
		if compact.Tokens([]byte(text)) <= room && len(text)+len(note) <= describeSize {
			return text + note
		}
	}
	return f.signatures(tools, room) + note
}

// signatures are as many as fit into some tokens.
func (f *Facade) signatures(tools []catalog.Tool, tokens int) string {
	const more = "\nand %d more: describe fewer at once"
	all := make([]piece, len(tools))
	for i, t := range tools {
		all[i] = piece{join: "\n", text: f.signature(t)}
	}
	text, n := some(all, tokens-compact.Tokens([]byte(more)))
	if n < len(all) {
		text += fmt.Sprintf(more, len(all)-n)
	}
	return text
}

// lined puts each tool on a line.
func lined(tools []catalog.Tool, line func(catalog.Tool) string) string {
	all := make([]string, len(tools))
	for i, t := range tools {
		all[i] = line(t)
	}
	return strings.Join(all, "\n")
}
