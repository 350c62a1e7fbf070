package facade

import (
	"fmt"
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
// tool, or of several.
func (f *Facade) describe(v *view, s *surface, args gjson.Result) string {
	c, err := f.tools(v)
	if err != nil {
		return f.unavailable(err)
	}
	var parts []string
	for _, name := range wanted(args.Get("tool")) {
		if t, ok := f.lookup(c, s, name); ok {
			parts = append(parts, f.description(t, args.Get("full").Bool()))
		} else {
			parts = append(parts, f.unknown(c, s, name).Error())
		}
	}
	if parts == nil {
		return `"tool" is missing: the name of a tool, or several with commas. ` + s.byKind(f)["discover"] + " finds names."
	}
	return strings.Join(parts, "\n") + f.freshness(v)
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

// description is a tool as the upstream wrote it, without icons and without
// white space between its parts; a long one is trimmed unless it is to be full.
func (f *Facade) description(t catalog.Tool, full bool) string {
	whole := minified(wire.DeleteMember(t.Raw, "icons"))
	if full || compact.Tokens(whole) <= describeTokens {
		return string(whole)
	}
	for _, level := range []string{"lossless", "standard"} {
		b := minified(compact.Tool(t.Raw, compact.Options{Level: level}))
		if n := compact.Tokens(b); n <= describeTokens || level == "standard" {
			return fmt.Sprintf("%s\n(Shortened; \"full\": true gives all %d tokens.)", b, compact.Tokens(whole))
		}
	}
	return string(whole)
}

// minified is JSON without the white space between its parts; what stands in
// strings, and how numbers are written, stays.
func minified(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	inString := false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case inString && c == '\\' && i+1 < len(raw):
			out = append(out, c, raw[i+1])
			i++
			continue
		case c == '"':
			inString = !inString
		case !inString && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			continue
		}
		out = append(out, c)
	}
	return out
}

// lookup finds the tool that a model means by a name.
func (f *Facade) lookup(c *catalog.Catalog, s *surface, name string) (catalog.Tool, bool) {
	if up, ok := s.names().upstream(name); ok {
		return c.Lookup(up)
	}
	return c.Lookup(name)
}
