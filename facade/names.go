package facade

import (
	"slices"
	"strconv"
	"strings"

	"mcp-facade/catalog"

	"github.com/tidwall/gjson"
)

// names finds the upstream's name of a tool in what a host or a model calls it.
type names struct {
	shown map[string]string   // by the name that the host is shown
	fold  map[string][]string // by the lower-case name
	held  map[string]bool     // the lower-case names of tools that are withheld
}

// upstream returns the upstream's spelling of a tool's name. One that may be that of
// a tool that is withheld is not taken for another one.
func (n *names) upstream(name string) (string, bool) {
	if up, ok := n.shown[name]; ok {
		return up, true
	}
	candidates := n.fold[strings.ToLower(name)]
	if slices.Contains(candidates, name) {
		return name, true
	}
	if len(candidates) == 1 && !n.held[strings.ToLower(name)] {
		return candidates[0], true
	}
	return "", false
}

func openNames(stored gjson.Result, held map[string]string) *names {
	n := &names{map[string]string{}, map[string][]string{}, map[string]bool{}}
	for tool := range held {
		n.held[strings.ToLower(tool)] = true
	}
	stored.ForEach(func(up, shown gjson.Result) bool {
		n.shown[shown.Str] = up.Str
		low := strings.ToLower(up.Str)
		n.fold[low] = append(n.fold[low], up.Str)
		return true
	})
	return n
}

func toolNames(tools []catalog.Tool) []string {
	all := make([]string, len(tools))
	for i, t := range tools {
		all[i] = t.Name
	}
	return all
}

// shownNames maps each tool's name to the one that the host is shown: in lower
// case if mode says so, but of two that would meet both keep their spelling.
func shownNames(tools []catalog.Tool, mode string) map[string]string {
	shown := make(map[string]string, len(tools))
	times := map[string]int{}
	for _, t := range tools {
		times[strings.ToLower(t.Name)]++
	}
	for _, t := range tools {
		shown[t.Name] = t.Name
		if low := strings.ToLower(t.Name); mode == "lower" && times[low] == 1 {
			shown[t.Name] = low
		}
	}
	return shown
}

// metaNames maps each meta-tool to the name it is shown by: with the prefix,
// and with the server's name before it if the upstream has a tool of that name.
func (f *Facade) metaNames(shown map[string]string) map[string]string {
	taken := map[string]bool{}
	for _, name := range shown {
		taken[strings.ToLower(name)] = true
	}
	meta := map[string]string{}
	for _, kind := range f.kinds() {
		name := f.o.Server.Prefix + kind
		if taken[strings.ToLower(name)] {
			name = metaPrefix(f.name()) + "_" + name
			name = name[max(0, len(name)-maxMetaName):]
		}
		for base, n := name, 2; taken[strings.ToLower(name)]; n++ {
			name = base + "_" + strconv.Itoa(n)
		}
		meta[kind] = name
	}
	return meta
}

// metaTool is which meta-tool a name is, in any case, unless the upstream has a
// tool of that name; "" if it is none.
func (s *surface) metaTool(name string) string {
	if kind := s.meta[name]; kind != "" {
		return kind
	}
	if _, theirs := s.names().upstream(name); theirs || s.held()[name] != "" {
		return ""
	}
	for shown, kind := range s.meta {
		if strings.EqualFold(shown, name) {
			return kind
		}
	}
	return ""
}

// maxMetaName bounds the name that a meta-tool is given beside those of the
// upstream. Hosts put their own prefix before it.
const maxMetaName = 48

// metaPrefix is a server's name as part of a tool's name.
func metaPrefix(server string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || nameRune(r) != '-' {
			return r
		}
		return '_'
	}, server)
}
