package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-facade/catalog"
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
	if r == nil {
		return err
	}
	if o.json {
		return errors.Join(printJSON(e.stdout, r), err)
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
	return err
}

// A changeReport is what refresh --json prints.
type changeReport struct {
	Server   string          `json:"server"`
	Changes  []facade.Change `json:"changes"`
	Accepted bool            `json:"accepted"` // the tools as they are listed now

	again string // the command that accepts them
}

// refreshed lists the server and makes sure that what it said is stored. With an
// error there is a report if only some of its views could not be listed.
func (e *env) refreshed(ctx context.Context, o *options, s *config.Server) (*changeReport, error) {
	start := time.Now()
	fo := e.facadeOptions(o, s, slog.LevelError)
	first, run := fo.Accepted.IsEmpty(), facade.Refresh
	if o.accept {
		run = facade.Accept
	}
	changes, failed := run(ctx, fo)
	if changes == nil {
		return nil, failed
	}
	head, _, err := e.cached(o, s)
	if err == nil && failed == nil && head.Listed.Before(start) {
		err = fmt.Errorf("the cache still holds the lists of %s", head.Listed.Format(time.DateTime))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: refresh: nothing new was stored: %w", s.Name, err)
	}
	return &changeReport{s.Name, changes, first || o.accept || len(changes) == 0, fo.Refreshing(true)}, failed
}

// accepted is where it is kept how the user has accepted the server's tools; nil:
// it cannot be kept, because there is no key.
func (e *env) accepted(s *config.Server, key []byte) *catalog.Accepted {
	if key == nil {
		return nil
	}
	below := func(root string) string {
		return filepath.Join(catalog.IdentityDir(root, s.Name, s.Identity(e.environ), key), "accepted")
	}
	path := below(e.stateDir)
	if s.Path != "" {
		return catalog.OpenInherited(path)
	}
	// What stands in no file has no name of its own: no other server is to inherit from it.
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		path = below(filepath.Join(e.stateDir, "inplace"))
	}
	return catalog.OpenAccepted(path)
}

// printChange shows a change to a person: of a tool that was accepted otherwise,
// what has changed in it.
func printChange(w io.Writer, c facade.Change) {
	var words []string
	for _, p := range c.Parts {
		if c.What == "changed" {
			words = append(words, string(p.Part))
		}
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
	fmt.Fprintf(w, "%-7s  %s%s\n", c.What, facade.ExactName(c.Tool), why)
	for _, p := range c.Parts {
		printPart(w, p)
	}
}

// partLines is how many lines of the difference of one part are shown.
const partLines = 24

// printPart shows how a part of a tool differs.
func printPart(w io.Writer, p facade.PartChange) {
	before, after, whole := excerpts(p.Before, p.After)
	lines := differing(before, after)
	fmt.Fprintf(w, "    %s\n", p.Part)
	if len(lines) == 0 {
		fmt.Fprintln(w, "      only white space differs")
	}
	shown, more := selected(lines)
	for _, line := range shown {
		fmt.Fprintln(w, strings.TrimRight("      "+line, " "))
	}
	switch {
	case !whole:
		fmt.Fprintln(w, "      … and more: --json shows all")
	case more > 0:
		fmt.Fprintf(w, "      … %s more: --json shows all\n", plural(more, "line"))
	}
}

// selected are the lines of a difference that are shown, and how many are not: what
// has come is shown however much has gone before it.
func selected(lines []string) (shown []string, more int) {
	grows := slices.ContainsFunc(lines, func(line string) bool { return line[0] == '+' })
	gone := 0
	for _, line := range lines {
		if line[0] == '-' {
			gone++
		}
		if len(shown) < partLines && (line[0] != '-' || gone <= partLines/2 || !grows) {
			shown = append(shown, line)
		} else {
			more++
		}
	}
	return shown, more
}

// partBytes is how much of a part is compared for a person.
const partBytes = 64 << 10

// excerpts are two texts, or of long ones what stands where they begin to differ.
func excerpts(before, after string) (a, b string, whole bool) {
	if len(before)+len(after) <= partBytes {
		return before, after, true
	}
	same := 0
	for same < min(len(before), len(after)) && before[same] == after[same] {
		same++
	}
	from := strings.LastIndexByte(before[:same], '\n') + 1
	if same-from > partBytes/4 { // it is one long line
		from = same - 100
	}
	part := func(text string) string {
		return strings.ToValidUTF8(text[from:min(len(text), from+partBytes/2)], "")
	}
	return part(before), part(after), false
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
