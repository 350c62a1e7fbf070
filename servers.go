package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/config"
)

//go:embed facade.servers.example.json
var exampleFile []byte

// initFile writes the example servers file where it is looked for.
func initFile(_ context.Context, e *env, o *options, args []string) error {
	if len(args) > 0 {
		return usage("init takes no arguments")
	}
	path := e.configPath(o)
	if err := writeNew(path, exampleFile); errors.Is(err, os.ErrExist) {
		return &config.Error{Path: path, Err: errors.New("is there already, and stays as it is"), Hint: "edit it, or mcp-facade init --config FILE for another"}
	} else if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	fmt.Fprintln(e.stdout, path)
	fmt.Fprintln(e.stderr, "Put your servers in the place of the examples, then: mcp-facade try NAME")
	return nil
}

// writeNew writes a file that must not be there yet, for us alone.
func writeNew(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		os.Remove(path)
	}
	return err
}

// A serverLine is one server as servers lists it.
type serverLine struct {
	Name      string     `json:"name"`
	Transport string     `json:"transport"` // "stdio", "http" or "sse"; "": not known
	Upstream  string     `json:"upstream"`  // its command, or the origin of its URL: without what may be secret
	State     string     `json:"state"`     // "fresh", "stale", "not cached" or "error"
	Tools     *int       `json:"tools"`     // null: not cached
	Listed    *time.Time `json:"listed"`    // null: not cached
	Token     *tokenLine `json:"token,omitempty"`
	Withheld  int        `json:"withheld,omitempty"` // tools that "drift" keeps back
	Reason    string     `json:"reason,omitempty"`

	drift drift
}

// A serverReport is what servers --json prints.
type serverReport struct {
	File    string       `json:"file"`
	Servers []serverLine `json:"servers"`
}

// servers lists the configured servers, their catalogs and ages.
func servers(_ context.Context, e *env, o *options, args []string) error {
	if len(args) > 0 {
		return usage("servers takes no arguments")
	}
	file, err := e.file(o)
	if err != nil {
		return err
	}
	lines, world := []serverLine{}, e.inHosts(o)
	for _, name := range file.Names() {
		lines = append(lines, e.serverLine(o, world, file, name))
	}
	if o.json {
		return printJSON(e.stdout, serverReport{file.Path, lines})
	}
	if len(lines) == 0 {
		fmt.Fprintln(e.stderr, "mcp-facade:", file.Path, "names no server")
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", compact.Line(l.Name), l.Transport, compact.Line(l.Upstream), compact.Line(l.state(file.Path)))
	}
	return w.Flush()
}

// serverLine is what is known of one server without starting it.
func (e *env) serverLine(o *options, world func(*config.Server) *env, file *config.File, name string) serverLine {
	l := serverLine{Name: name, State: "error"}
	s, err := file.Server(name)
	if err != nil {
		l.Reason = err.Error()
		return l
	}
	e = world(s)
	l.Transport, l.Upstream = e.whereabouts(s)
	l.Token = e.tokenLine(s)
	head, c, err := e.cached(o, s)
	if err != nil {
		l.State, l.Reason = "not cached", err.Error()
		return l
	}
	n := len(c.Tools())
	l.Tools, l.Listed, l.State = &n, &head.Listed, "fresh"
	if stale(s, head) {
		l.State = "stale"
	}
	l.drift = e.drift(o, s, c)
	l.Withheld = len(l.drift.held)
	return l
}

// whereabouts are how the server is reached and where: its command without its
// arguments, or the origin of its URL. The rest may hold secrets.
func (e *env) whereabouts(s *config.Server) (transport, where string) {
	if s.Upstream.Command != "" {
		return "stdio", s.Upstream.Command
	}
	return cmp.Or(s.Upstream.Transport, "http"), cmp.Or(s.Origin(e.environ), "a URL")
}

// stale reports whether a stored listing is past the server's TTL, or past the
// shorter one that the upstream said itself.
func stale(s *config.Server, head catalog.Head) bool {
	age := time.Since(head.Listed)
	return age > s.TTL || head.TTL > 0 && age > head.TTL || head.Revalidate
}

// state is the line's last column.
func (l serverLine) state(path string) string {
	if l.Token == nil {
		return l.catalog(path)
	}
	return l.catalog(path) + "; " + l.Token.String()
}

// catalog is the state of the line's catalog. The path of the servers file is
// left out of errors: it is the same for all.
func (l serverLine) catalog(path string) string {
	switch l.State {
	case "error":
		return "error: " + strings.NewReplacer(path+":", "line ", "\n", "; ").Replace(l.Reason)
	case "not cached":
		return l.Reason
	}
	text := fmt.Sprintf("%s, listed %s", plural(*l.Tools, "tool"), ago(time.Since(*l.Listed)))
	if l.State == "stale" {
		text += ", stale"
	}
	return text + l.drift.brief()
}

// plural is a number of things.
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// ago is an age in its largest unit.
func ago(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days ago", d/(24*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours ago", d/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d minutes ago", d/time.Minute)
	}
	return "just now"
}

// errNothingCached is why a server that was never listed has no catalog.
var errNothingCached = errors.New("not cached yet")

// cached is the catalog of a server on disk that was listed last, and its head: a
// host's, if there is one.
func (e *env) cached(o *options, s *config.Server) (catalog.Head, *catalog.Catalog, error) {
	_, store, err := e.store(o, s)
	if err != nil {
		return catalog.Head{}, nil, err
	}
	heads, err := store.Views()
	if err != nil {
		return catalog.Head{}, nil, err
	}
	if len(heads) == 0 {
		return catalog.Head{}, nil, errNothingCached
	}
	own := catalog.CommandView().Key()
	head := heads[max(0, slices.IndexFunc(heads, func(h catalog.Head) bool { return h.View.Key() != own }))]
	c, err := catalogOf(store, head.View)
	return head, c, err
}

// catalogOf is the catalog that is stored for exactly one view.
func catalogOf(store *catalog.Store, v catalog.View) (*catalog.Catalog, error) {
	entry, err := store.LoadExact(v)
	if err != nil {
		return nil, err
	}
	pages, err := entry.List("tools/list")
	if err != nil {
		return nil, err
	}
	c, _ := catalog.New(pages)
	return c, nil
}
