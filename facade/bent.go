package facade

import (
	"regexp"
	"slices"
	"strings"
	"sync"

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

// folded is a name in its plainest form, without a prefix of ours. One that is too
// long to be looked for is cut.
func folded(own []string, name string) string {
	all := unprefixed(own, name[:min(len(name), maxNameLength)], nil)
	return strings.Trim(fold(all[len(all)-1]), "_")
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

// maxNameLength bounds the names that are looked for, in bytes: several times what
// the protocol and hosts allow.
const maxNameLength = 1 << 10

// isTooLong reports whether a name is that of no tool, whatever the catalog.
func isTooLong(name string) bool {
	bare, _ := cutTag(name)
	return len(bare) > maxNameLength
}

// meant are the tools of the catalog that a name may mean: the one of that
// name; failing that, those of which a host or a model may have made it. They are
// foreign if what stands before may be another server. A name that is rather that of
// a tool that is hidden or withheld means none.
func (f *Facade) meant(own []string, s *surface, m *memo, name string) (tools []string, foreign bool) {
	name = strings.TrimSpace(name)
	if isTooLong(name) {
		return nil, false
	}
	if up, ok := s.names().upstream(name); ok {
		return []string{up}, false
	}
	folded := m.folded()
	if bare, tag := cutTag(name); tag != "" {
		if !isSpecial(tag) && !swallowed(name).Exists() {
			return nil, false
		}
		return f.meant(own, s, m, bare)
	}
	if f.keepsBack(s, append([]string{name}, unprefixed(own, name, folded.foreign)...)) {
		return nil, false
	}
	if tools = folded.find(unprefixed(own, name, nil)); tools == nil {
		tools, foreign = folded.find(unprefixed(own, name, folded.foreign)), true
	}
	return tools, foreign && tools != nil
}

// keepsBack reports whether the first of some names that is one of a tool is that of
// a hidden or withheld one.
func (f *Facade) keepsBack(s *surface, names []string) bool {
	for _, name := range names {
		if _, ok := s.names().upstream(name); ok {
			return false
		}
		if f.hidden(name) {
			return true
		}
		for tool := range s.held() {
			if fold(tool) == fold(name) {
				return true
			}
		}
	}
	return false
}

// find are the tools that some names are those of.
func (n *foldedNames) find(names []string) (tools []string) {
	for _, name := range names {
		for _, tool := range n.byFold[fold(name)] {
			if !slices.Contains(tools, tool) {
				tools = append(tools, tool)
			}
		}
	}
	return tools
}

// ownNames are what the server is called, folded: in the config, in the names that
// the host is shown, and by itself.
func (f *Facade) ownNames(v *view) (own []string) {
	f.mu.Lock()
	itself := serverName(v.handshake)
	f.mu.Unlock()
	for _, name := range []string{f.name(), f.o.Server.Name, f.o.Server.Prefix, itself, CleanName(itself)} {
		if name = strings.Trim(fold(name), "_"); name != "" && !slices.Contains(own, name) {
			own = append(own, name)
		}
	}
	return own
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
	if before := wrongTag().FindString(tag); before != "" {
		return lone(tag[len(before):])
	}
	return gjson.Result{}
}

// wrongTag is what stands between the name of a tool and its arguments in formats
// with tags.
var wrongTag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\s*</[\w:-]+>)*\s*(?:<(?:[\w-]+:)?(?:args|arguments|params|parameters|input|parameter(?:\s+name="?(?:args|arguments|params|parameters|input)"?)?)>)?\s*`)
})

// isSpecial reports whether a tag and what follows it are tokens of a model's own
// format and say nothing of a call.
func isSpecial(tag string) bool { return specials().MatchString(tag) }

var specials = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:<[|｜][\w▁]+[|｜]>\s*(?:analysis|commentary|final|json)?\s*|</[\w:-]+>\s*)+$`)
})

// maxPrefixes is how many prefixes a name may have, one before the other.
const maxPrefixes = 3

// unprefixed is a name in lower case, and what is left of it without what hosts
// put before the name of a tool of a server that is called as own says:
// "mcp__acme__", "mcp_acme_", "acme_", "acme-", "functions." and the like. Before
// one of ends stands a server of any name.
func unprefixed(own []string, name string, ends []string) []string {
	low := strings.ToLower(strings.TrimSpace(compact.Line(name)))
	all := []string{low, strings.Trim(low, separators)}
	from := 0
	for range maxPrefixes {
		until := len(all)
		for _, name := range all[from:until] {
			for _, bare := range appendUnprefixed(nil, own, name, ends) {
				if !slices.Contains(all, bare) {
					all = append(all, bare)
				}
			}
		}
		from = until
	}
	return all
}

// appendUnprefixed appends what a name may be without its first prefix.
func appendUnprefixed(all, own []string, name string, ends []string) []string {
	rest, marked := cutMark(name)
	for _, server := range append([]string{"functions", "default_api"}, own...) {
		if n := len(server); n < len(rest) && fold(rest[:n]) == server && strings.ContainsRune(separators, rune(rest[n])) {
			all = append(all, strings.Trim(rest[n:], separators))
		}
	}
	if server, tool, found := strings.Cut(rest, "__"); found && isOwn(own, server) {
		all = append(all, strings.Trim(tool, separators))
	}
	if marked && ends != nil {
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
	for _, mark := range []string{"mcp__", "mcp_", "mcp-", "mcp.", "mcp/", "mcp:"} {
		if rest, marked = strings.CutPrefix(name, mark); marked {
			return rest, true
		}
	}
	return name, false
}
