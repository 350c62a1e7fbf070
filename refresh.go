package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade"
	"mcp-facade/facade/config"

	"github.com/rogpeppe/go-internal/diff"
)

// refresh fetches the lists of a server now and prints what is not as it was
// accepted.
func refresh(ctx context.Context, e *env, o *options, args []string) error {
	s, rest, err := e.target(o, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usage("refresh takes one server")
	}
	r, err := e.refreshed(ctx, o, s)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(e.stdout, r)
	}
	for _, c := range r.Changes {
		printChange(e.stdout, c)
	}
	switch {
	case len(r.Changes) == 0:
		fmt.Fprintf(e.stderr, "%s: no tool has changed\n", s.Name)
	case o.accept:
		fmt.Fprintf(e.stderr, "%s: accepted, with %s\n", s.Name, plural(len(r.Changes), "change"))
	case !r.Accepted:
		fmt.Fprintf(e.stderr, "%s: to accept what is listed now: %s\n", s.Name, r.again)
	}
	return nil
}

// A changeReport is what refresh --json prints.
type changeReport struct {
	Server   string          `json:"server"`
	Changes  []facade.Change `json:"changes"`
	Accepted bool            `json:"accepted"` // the tools as they are listed now

	again string // the command that accepts them
}

// refreshed lists the server and makes sure that what it said is stored.
func (e *env) refreshed(ctx context.Context, o *options, s *config.Server) (*changeReport, error) {
	start := time.Now()
	fo := e.facadeOptions(o, s, slog.LevelError)
	first, run := fo.Accepted.IsEmpty(), facade.Refresh
	if o.accept {
		run = facade.Accept
	}
	changes, err := run(ctx, fo)
	if err != nil {
		return nil, err
	}
	head, _, err := e.cached(o, s)
	if err == nil && head.Listed.Before(start) {
		err = fmt.Errorf("the cache still holds the lists of %s", head.Listed.Format(time.DateTime))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: refresh: nothing new was stored: %w", s.Name, err)
	}
	return &changeReport{s.Name, changes, first || o.accept || len(changes) == 0, fo.Refreshing(true)}, nil
}

// accepted is where it is kept how the user has accepted the server's tools; nil:
// it cannot be kept, because there is no key.
func (e *env) accepted(s *config.Server, key []byte) *catalog.Accepted {
	if key == nil {
		return nil
	}
	dir := catalog.IdentityDir(e.stateDir, s.Name, s.Identity(e.environ), key)
	return catalog.OpenAccepted(filepath.Join(dir, "accepted"))
}

// printChange shows a change to a person: of a tool that was accepted otherwise,
// what has changed in it.
func printChange(w io.Writer, c facade.Change) {
	var words []string
	for _, p := range c.Parts {
		words = append(words, string(p.Part))
	}
	why := strings.Join(words, ", ")
	if c.Withheld {
		why = strings.TrimPrefix(why+"; withheld", "; ")
	}
	if c.Hidden {
		why = strings.TrimPrefix(why+"; hidden", "; ")
	}
	if why != "" {
		why = "  (" + why + ")"
	}
	fmt.Fprintf(w, "%-7s  %s%s\n", c.What, compact.Line(c.Tool), why)
	for _, p := range c.Parts {
		printPart(w, p)
	}
}

// partLines is how many lines of the difference of one part are shown.
const partLines = 24

// printPart shows how a part of a tool differs.
func printPart(w io.Writer, p facade.PartChange) {
	lines := differing(p.Before, p.After)
	fmt.Fprintf(w, "    %s\n", p.Part)
	if len(lines) == 0 {
		fmt.Fprintln(w, "      only white space differs")
	}
	for i, line := range lines {
		if i == partLines {
			fmt.Fprintf(w, "      … %s more: --json shows all\n", plural(len(lines)-i, "line"))
			return
		}
		fmt.Fprintln(w, strings.TrimRight("      "+line, " "))
	}
}

// differing are the lines in which two texts differ, with those around them. Long
// ones are broken, so that none hides its end.
func differing(before, after string) (lines []string) {
	all := strings.Split(string(diff.Diff("before", broken(before), "after", broken(after))), "\n")
	for i, line := range all {
		switch {
		case i < 3 || line == "" || strings.HasPrefix(line, `\`): // the head of the diff
		case strings.HasPrefix(line, "@@"):
			if len(lines) > 0 {
				lines = append(lines, "…")
			}
		default:
			lines = append(lines, line[:1]+" "+line[1:])
		}
	}
	return lines
}

// broken is text of lines that are not too wide.
func broken(text string) []byte {
	if text == "" {
		return nil
	}
	var b strings.Builder
	for _, line := range strings.Split(text, "\n") {
		for _, part := range wrapped(line, shownWidth-8) {
			b.WriteString(part + "\n")
		}
	}
	return []byte(b.String())
}
