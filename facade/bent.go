package facade

import (
	"slices"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/compact"

	"github.com/tidwall/gjson"
)

// separators are the characters that stand between the parts of a tool's name,
// and that hosts put for each other.
const separators = "_-./: "

// fold is a name in lower case and with one separator only.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(separators, r) {
			return '_'
		}
		return r
	}, strings.ToLower(name))
}

// foldedNames find the names of tools in what hosts and models make of them.
type foldedNames struct {
	byFold  map[string][]string
	foreign []string // what can only end a prefix, since no tool has it in its name
}

func foldNames(tools []catalog.Tool) foldedNames {
	n := foldedNames{map[string][]string{}, serverEnds()}
	for _, t := range tools {
		n.byFold[fold(t.Name)] = append(n.byFold[fold(t.Name)], t.Name)
		n.foreign = slices.DeleteFunc(n.foreign, func(end string) bool { return strings.Contains(t.Name, end) })
	}
	return n
}

// serverEnds are what hosts put between a server and a tool.
func serverEnds() []string { return []string{"__", "/", ".", ":"} }

// meant are the tools of the catalog that a name may mean: the one of that
// name; failing that, those of which a host or a model may have made it.
func (f *Facade) meant(s *surface, m *memo, name string) []string {
	name = strings.TrimSpace(name)
	if up, ok := s.names().upstream(name); ok {
		return []string{up}
	}
	var tools []string
	folded := m.folded()
	for _, bare := range f.unprefixed(name, folded.foreign) {
		for _, tool := range folded.byFold[fold(bare)] {
			if !slices.Contains(tools, tool) {
				tools = append(tools, tool)
			}
		}
	}
	if bare, tag := cutTag(name); tools == nil && tag != "" {
		return f.meant(s, m, bare)
	}
	return tools
}

// cutTag is a name without a tag and what follows it, which a model's own format
// has left there, as in "get_issue<|channel|>commentary".
func cutTag(name string) (bare, tag string) {
	if bare, _, found := strings.Cut(name, "<"); found && bare != "" {
		return bare, name[len(bare):]
	}
	return name, ""
}

// swallowed are the arguments that became part of a name, because a wrong tag
// stands between; they do not exist if there are none.
func swallowed(name string) gjson.Result {
	_, tag := cutTag(name)
	return lone(tag)
}

// maxPrefixes is how many prefixes a name may have, one before the other.
const maxPrefixes = 3

// unprefixed is a name in lower case, and what is left of it without what hosts
// put before a tool's name: "mcp__acme__", "mcp_acme_", "acme_", "acme-",
// "functions." and the like. Before one of ends stands a server of any name.
func (f *Facade) unprefixed(name string, ends []string) []string {
	low := strings.ToLower(strings.TrimSpace(compact.Line(name)))
	all := []string{low, strings.Trim(low, separators)}
	from := 0
	for range maxPrefixes {
		until := len(all)
		for _, name := range all[from:until] {
			all = f.appendUnprefixed(all, name, ends)
		}
		from = until
	}
	return all
}

// appendUnprefixed appends what a name may be without its first prefix.
func (f *Facade) appendUnprefixed(all []string, name string, ends []string) []string {
	rest, marked := cutMark(name)
	for _, server := range []string{f.name(), f.o.Server.Prefix, "functions", "default_api"} {
		server = strings.Trim(fold(server), "_")
		if n := len(server); n > 0 && n < len(rest) && fold(rest[:n]) == server && strings.ContainsRune(separators, rune(rest[n])) {
			all = append(all, strings.Trim(rest[n:], separators))
		}
	}
	if marked {
		ends = append(ends[:len(ends):len(ends)], "__")
	}
	for _, end := range ends {
		if _, tool, found := strings.Cut(rest, end); found {
			all = append(all, strings.Trim(tool, separators))
		}
	}
	return all
}

// cutMark cuts off a name what says that it is a tool of an MCP server.
func cutMark(name string) (rest string, marked bool) {
	for _, mark := range []string{"mcp__", "mcp_", "mcp-", "mcp.", "mcp/"} {
		if rest, marked = strings.CutPrefix(name, mark); marked {
			return rest, true
		}
	}
	return name, false
}
