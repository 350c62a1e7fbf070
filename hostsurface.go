package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcp-facade/facade/hosts"
)

// A showing is the surface that a server is shown with here, and the hosts whose
// entries set one.
type showing struct {
	surface string       // "meta" or "all"
	by      []hosts.Host // whose entries set that, and the servers file does not
	other   []hosts.Host // that are given the other one
	again   string       // how the server is named to a subcommand
}

// showingOf chooses among the surfaces that hosts give a server: the one that the
// servers file says, if any of them does or none starts it, else theirs.
func showingOf(said string, all []hostVars) showing {
	given := map[string][]hosts.Host{}
	for _, v := range all {
		kind := cmp.Or(v.surface, said)
		if !slices.ContainsFunc(given[kind], func(h hosts.Host) bool { return h.Name == v.host.Name }) {
			given[kind] = append(given[kind], v.host)
		}
	}
	other := otherSurface(said)
	if given[said] == nil && given[other] != nil {
		return showing{surface: other, by: given[other]}
	}
	return showing{surface: said, other: given[other]}
}

// asked is the surface that somebody wants to see, and the hosts whose entries say
// that they are given the other one.
func asked(surface string, all []hostVars) showing {
	said := slices.DeleteFunc(slices.Clone(all), func(v hostVars) bool { return v.surface == "" })
	w := showingOf(surface, said)
	return showing{surface: surface, other: append(w.other, w.by...)}
}

// notes say which hosts are shown this, and how to see what others are shown.
func (w *showing) notes() []string {
	switch {
	case w.by != nil:
		return []string{w.entries(w.by, w.surface) + "."}
	case w.other != nil:
		other := otherSurface(w.surface)
		return []string{fmt.Sprintf("%s; for that: mcp-facade tools --surface %s %s", w.entries(w.other, other), other, w.again)}
	}
	return nil
}

// entries says what hosts are shown, by their entries.
func (w *showing) entries(all []hosts.Host, surface string) string {
	shown, entry, has := "is shown", "its entry", "has"
	if len(all) > 1 {
		shown, entry, has = "are shown", "their entries", "have"
	}
	what := "the used tools and the meta-tools"
	if surface == "all" {
		what = "every tool, trimmed"
	}
	return fmt.Sprintf("%s %s %s, as %s %s --surface %s", titles(all), shown, what, entry, has, surface)
}

// place is where this is shown, for the head of a table.
func (w *showing) place() string {
	if w.by == nil {
		return ""
	}
	return " in " + titles(w.by)
}

// defersOtherwise reports whether a host that defers tools by itself is given the
// other surface.
func (w *showing) defersOtherwise() bool {
	return slices.ContainsFunc(w.other, func(h hosts.Host) bool { return h.Defers == "yes" })
}

func otherSurface(surface string) string {
	if surface == "all" {
		return "meta"
	}
	return "all"
}

// titles are the names of hosts for a person.
func titles(all []hosts.Host) string {
	var names []string
	for _, h := range all {
		names = append(names, h.Title)
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}
