package facade

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/config"
)

// Audit says what of a server's config the tools of its catalog do not bear
// out, for a person, a sentence each: entries that match nothing, guards that
// guard nothing, tools that no host can take.
func Audit(s *config.Server, c *catalog.Catalog) []string {
	if len(c.Tools()) == 0 {
		return nil
	}
	f := New(Options{Server: s})
	all := f.idle(c)
	if NothingReads(s, c) && s.Split {
		all = append(all, `no tool is marked as read-only, so "split" leaves call nothing to run: name those that only read in "readOnly"`)
	}
	if why := Unguarded(s, c); why != "" {
		all = append(all, why)
	}
	reached := only(c, func(t catalog.Tool) bool { return !f.hidden(t.Name) })
	pick := f.choose(reached)
	for _, t := range pick.tools {
		if _, err := f.trim(t, t.Name, pick.level, false); err != nil {
			all = append(all, fmt.Sprintf("%s is not shown, as no host could take it: %s", spelled(t.Name), compact.Line(err.Error())))
		}
	}
	return all
}

// Shown are the tools of a catalog that a host is shown, as it is shown them, by
// the upstream's names. The meta-tools are not among them.
func Shown(o Options, c *catalog.Catalog) map[string][]byte {
	f := New(o)
	c = f.reachable(legacy, c, slog.LevelDebug)
	pick, names := f.choose(c), shownNames(c.Tools(), o.Server.Names)
	shown := make(map[string][]byte, len(pick.tools))
	for _, t := range pick.tools {
		if b, err := f.trim(t, names[t.Name], pick.level, false); err == nil {
			shown[t.Name] = b
		}
	}
	return shown
}

// Unguarded says that "confirm" asks for none of a catalog's tools, because none
// is marked as destructive; "" if it does.
func Unguarded(s *config.Server, c *catalog.Catalog) string {
	f := New(Options{Server: s})
	asks := func(t catalog.Tool) bool { return f.isDelicate(t) && !f.hidden(t.Name) }
	if s.Confirm != "destructive" || len(c.Tools()) == 0 || slices.ContainsFunc(c.Tools(), asks) {
		return ""
	}
	return fmt.Sprintf(`no tool of %s is marked destructive; "confirm" asks for none of its %d tools: use "writes", or name them in "destructive"`,
		s.Name, len(c.Tools()))
}

// idle are the entries of the config that no tool has.
func (f *Facade) idle(c *catalog.Catalog) (all []string) {
	s := f.o.Server
	for _, key := range []struct {
		name  string
		globs []string
	}{{"used", s.Used}, {"hide", s.Hide}, {"readOnly", s.ReadOnly}, {"destructive", s.Destructive},
		{"keywords", slices.Sorted(maps.Keys(s.Keywords))}} {
		for _, glob := range key.globs {
			has := func(t catalog.Tool) bool { return config.Match([]string{glob}, t.Name) }
			seen := func(t catalog.Tool) bool { return has(t) && !f.hidden(t.Name) }
			switch {
			case !slices.ContainsFunc(c.Tools(), has):
				why := fmt.Sprintf("no tool has the name %s of %q", quoted(glob), key.name)
				if near := c.Nearest(strings.Trim(glob, "*?"), 3); len(near) > 0 {
					why += "; nearest: " + joined(near)
				}
				all = append(all, why)
			case key.name == "used" && !slices.ContainsFunc(c.Tools(), seen):
				all = append(all, fmt.Sprintf(`%s of "used" is hidden by "hide"`, quoted(glob)))
			}
		}
	}
	return all
}
