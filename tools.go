package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade"
	"mcp-facade/facade/config"

	"github.com/tidwall/gjson"
)

// A toolLine is one tool and what it costs a model.
type toolLine struct {
	Name   string `json:"name"`
	Before *int   `json:"before"` // as the upstream lists it; null: a tool of the facade's own
	Tokens int    `json:"tokens"` // as it is shown, or would be
	State  string `json:"state"`

	exact string // its name for a person
}

// The states of a tool: the model is shown it, it is found by discover, or "hide"
// or "drift" keeps it away.
const (
	stateShown    = "shown"
	stateFound    = "found"
	stateHidden   = "hidden"
	stateWithheld = "withheld"
)

// A toolReport is what tools --json prints.
type toolReport struct {
	Server string `json:"server"`
	figures
	Notes []string   `json:"notes"` // what else there is to say of the figures
	Tools []toolLine `json:"tools"`
}

// tools prints what a host is shown and what it costs a model, before and
// after; with --all every tool, with --explain one of them.
func tools(ctx context.Context, e *env, o *options, args []string) error {
	s, rest, err := e.target(o, args)
	switch {
	case err != nil:
		return err
	case len(rest) > 0:
		return usage("tools takes one server")
	case o.all && o.explain != "":
		return usage("--all and --explain: want one of them")
	case slices.Contains(o.given, "explain") && o.explain == "":
		return usage("--explain which tool?")
	}
	list, err := e.surface(ctx, o, s)
	if err != nil {
		return err
	}
	c, err := e.stored(o, s)
	switch {
	case err != nil && (o.all || o.explain != ""):
		return err
	case o.explain != "":
		return e.explain(o, s, c, list)
	}
	r := toolReport{Server: s.Name, figures: e.figuresOf(s.Name, c, list), Tools: shownLines(c, list)}
	drift := e.drift(o, s, c)
	r.Notes = append(r.notes(s, c, r.Tools), drift.notes()...)
	if o.all {
		r.Tools = append(r.Tools, otherLines(s, c, list, drift.held)...)
	}
	if o.json {
		return printJSON(e.stdout, r)
	}
	r.print(e.stdout, o.all)
	return nil
}

// surface is what a host is shown: the one whose list is the newest, if any had
// one. What is to be said of it is in the notes.
func (e *env) surface(ctx context.Context, o *options, s *config.Server) (list []gjson.Result, err error) {
	if err := e.fetch(ctx, o, s); err != nil {
		return nil, err
	}
	as, _, _ := e.cached(o, s)
	err = e.withHost(ctx, o, s, as, func(h *host) error {
		list, err = h.tools()
		return err
	})
	return list, err
}

// stored is the catalog of a server that was listed; nil if it could not be
// stored.
func (e *env) stored(o *options, s *config.Server) (*catalog.Catalog, error) {
	_, c, err := e.cached(o, s)
	if err != nil {
		return nil, fmt.Errorf("%s: its catalog could not be stored: %w", s.Name, err)
	}
	return c, nil
}

// shownLines are the tools of a surface. c is nil if there is no catalog.
func shownLines(c *catalog.Catalog, list []gjson.Result) []toolLine {
	lines := []toolLine{}
	for _, t := range list {
		name := t.Get("name").Str
		l := toolLine{Name: compact.Line(name), Tokens: facade.ModelTokens([]byte(t.Raw)), State: stateShown, exact: facade.ExactName(name)}
		if c != nil {
			if up, ok := c.Lookup(name); ok {
				before := facade.ModelTokens(up.Raw)
				l.Before = &before
			}
		}
		lines = append(lines, l)
	}
	return lines
}

// otherLines are the tools of a catalog that are not in the surface, with what
// they would cost there.
func otherLines(s *config.Server, c *catalog.Catalog, list []gjson.Result, held map[string]string) (lines []toolLine) {
	shown := map[string]bool{}
	for _, name := range names(list) {
		t, _ := c.Lookup(name)
		shown[t.Name] = true
	}
	level := facade.Level(s, c)
	for _, t := range c.Tools() {
		if shown[t.Name] {
			continue
		}
		before := facade.ModelTokens(t.Raw)
		l := toolLine{compact.Line(t.Name), &before, trimmedTokens(t, level, s.Keep), stateFound, facade.ExactName(t.Name)}
		switch {
		case config.Match(s.Hide, t.Name):
			l.State = stateHidden
		case held[t.Name] != "":
			l.State = stateWithheld
		}
		lines = append(lines, l)
	}
	return lines
}

// print shows a report to a person, with the states of the tools if they differ.
func (r *toolReport) print(out io.Writer, states bool) {
	fmt.Fprintf(out, "%s, as %s is shown it (tokens: %ss)\n\n", r.Server, cmp.Or(titles(r.shownTo.by), "a host"), estimator)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "before\tafter\t\n")
	for _, l := range r.Tools {
		before, state := "", ""
		if l.Before != nil {
			before = fmt.Sprint(*l.Before)
		}
		if states {
			state = l.State + "\t"
		}
		fmt.Fprintf(w, "%s\t%d\t%s  %s\n", before, l.Tokens, state, l.exact)
	}
	w.Flush()
	fmt.Fprintln(out)
	r.figures.print(out)
	printNotes(out, r.Notes)
}

// printNotes shows what else there is to say, a paragraph each.
func printNotes(w io.Writer, notes []string) {
	for _, n := range notes {
		fmt.Fprintln(w)
		for _, line := range wrapped(n, shownWidth) {
			fmt.Fprintln(w, "  "+strings.TrimSpace(line))
		}
	}
}
