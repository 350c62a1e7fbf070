package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"mcp-facade/compact"
	"mcp-facade/facade/config"
	"mcp-facade/facade/hosts"
)

// listedAtOnce is how many servers are listed at the same time. Each may be a
// program that is downloaded first.
const listedAtOnce = 4

// A wrapLine is one server of one host, and what wrapping is worth there.
type wrapLine struct {
	Host      string `json:"host"`
	File      string `json:"file"`
	Scope     string `json:"scope"`
	Name      string `json:"name"`
	Transport string `json:"transport"` // "stdio", "http" or "sse"
	State     string `json:"state"`     // "wrapped", "not wrapped" or "cannot be wrapped"
	Reason    string `json:"reason"`    // why it cannot be; "" when it can
	Defers    string `json:"defers"`    // whether the host defers tools by itself: "yes", "by model" or ""
	Tools     *int   `json:"tools"`     // null: not known
	Without   *int   `json:"without"`   // tokens without mcp-facade, in this host
	With      *int   `json:"with"`      // tokens with it
	Saves     *int   `json:"saves"`     // the difference; below 0 where it costs more
	Problem   string `json:"problem"`   // why that is not known; "" when it is

	entry  string         // its name in the servers file
	server *config.Server // to be listed; nil: it is not
	env    *env           // as the host would start it
}

// The states of a host's server.
const (
	stateWrapped = "wrapped"
	statePlain   = "not wrapped"
	stateRefused = "cannot be wrapped"
)

// A wrapReport is what wrap --list --json prints.
type wrapReport struct {
	Servers   []*wrapLine `json:"servers"`
	Estimator string      `json:"estimator"`
	Notes     []string    `json:"notes"`
}

// wrapList lists the servers of the hosts, what they cost a model and what
// wrapping saves.
func (e *env) wrapList(ctx context.Context, o *options, args []string) error {
	p, err := e.plan(o, args)
	if err == nil {
		err = p.readServers()
	}
	if err != nil {
		return err
	}
	r := wrapReport{Servers: []*wrapLine{}, Estimator: estimator}
	for _, k := range p.picks {
		r.Servers = append(r.Servers, p.wrapLine(k))
	}
	e.count(ctx, r.Servers)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.Notes = deferNotes(r.Servers)
	if o.json {
		return errors.Join(append(p.errs, printJSON(e.stdout, r))...)
	}
	if len(r.Servers) == 0 && len(p.errs) == 0 {
		fmt.Fprintln(e.stderr, "mcp-facade: no server is in any file of a known host")
	}
	r.print(e.stdout)
	return errors.Join(p.errs...)
}

// wrapLine is what the files say of a server.
func (p *plan) wrapLine(k pick) *wrapLine {
	h, entry := k.file.Host, k.entry
	l := &wrapLine{Host: h.Name, File: k.file.Path, Scope: entry.Scope, Name: entry.Name, Defers: h.Defers, State: statePlain,
		entry: cmp.Or(entry.Server, cleanServer(entry.Name))}
	l.Transport = "stdio"
	if entry.URL != "" {
		l.Transport = cmp.Or(entry.Transport, "http")
	}
	theirs := entry.Project && !k.named
	s, added, err := p.listedAs(k, l.entry)
	switch {
	case entry.Ours:
		l.State = stateWrapped
	case err != nil:
		l.State, l.Reason = stateRefused, l.why(err)
	}
	switch {
	case err != nil:
		l.Problem = l.why(err)
		return l
	case entry.Disabled:
		l.Problem = "not started: it is disabled in " + h.Title
	case theirs && entry.Ours: // by the user's own servers file
		l.server, l.env = s, p.env
	case theirs:
		l.Problem = p.notStarted(k.file.Path)
	default:
		l.server = s
		p.setFolder(s, entry)
		if l.env, l.Problem = p.asHost(h, entry, added); l.Problem != "" {
			l.server = nil
		}
	}
	surface := entry.Surface
	if !entry.Ours {
		surface = p.surfaceFor(h)
	}
	s.Surface = cmp.Or(surface, s.Surface)
	return l
}

// notStarted says why a server of a project's file is not started, and what
// starts it.
func (p *plan) notStarted(path string) string {
	if rel, err := filepath.Rel(p.cwd, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return fmt.Sprintf("not started: others may have written the file; to start it: mcp-facade wrap --list --file %s NAME", quotedPath(path))
}

// why is an error without the server's name, which stands beside it. What to do
// about it is said of the servers file, where only a wrapped server is.
func (l *wrapLine) why(err error) string {
	text := reason(err)
	if l.State != stateWrapped {
		text, _, _ = strings.Cut(text, "; try: ")
	}
	for _, mark := range []string{": ", "."} {
		text = strings.TrimPrefix(text, l.entry+mark)
	}
	return text
}

// listedAs is the entry of the servers file by which a server is listed, and the
// variables that the host's entry would get: the entry that it has already, or
// that it would have.
func (p *plan) listedAs(k pick, name string) (*config.Server, []hosts.Var, error) {
	if k.entry.Ours {
		s, err := p.served(k)
		return s, nil, err
	}
	t, err := k.file.Translate(k.entry)
	if err != nil {
		return nil, nil, err
	}
	p.addDenied(k, &t)
	s, err := parsedEntry(name, serverEntry(t))
	if err == nil {
		s.Path = p.path // in which it would have this name
	}
	return s, t.Env, err
}

// served is the server that an entry of ours serves. What others may have written
// chooses no file that is read.
func (p *plan) served(k pick) (*config.Server, error) {
	path := p.serversFileOf(k.entry)
	switch {
	case k.entry.Server == "":
		return nil, errors.New("it is served in place, without a servers file")
	case k.entry.Project && !k.named && path != p.path:
		return nil, errors.New(p.notStarted(k.file.Path))
	}
	f, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	return f.Server(k.entry.Server)
}

// setFolder has a server started in the folder in which the host starts it.
func (p *plan) setFolder(s *config.Server, entry hosts.Entry) {
	folder := cmp.Or(entry.Cwd, entry.Scope)
	if folder == "" || s.Upstream.Command == "" || s.Upstream.Cwd != "" {
		return
	}
	if info, err := os.Stat(p.absolute(folder)); err == nil && info.IsDir() {
		s.Upstream.Cwd = p.absolute(folder)
	}
}

// asHost is the world in which a host would start us for an entry, or why it
// cannot be had.
func (p *plan) asHost(h hosts.Host, entry hosts.Entry, added []hosts.Var) (_ *env, problem string) {
	e := *p.env
	e.environ = slices.Clone(e.environ)
	for _, v := range slices.Concat(entry.Env, added) {
		value, ok := p.expanded(v.Value)
		if !ok {
			return nil, fmt.Sprintf("not started: %s of its entry is what only %s replaces, or a variable that is not set", compact.Line(v.Name), h.Title)
		}
		e.environ = append(e.environ, v.Name+"="+value)
	}
	if entry.Scope != "" {
		e.cwd = entry.Scope
	}
	return &e, ""
}

// expanded replaces ${X} and ${env:X} in a value as most hosts do. What else a
// host knows, we do not.
func (e *env) expanded(value string) (_ string, known bool) {
	known = !strings.Contains(value, "{file:")
	replace := func(name string) string {
		name = strings.TrimPrefix(name, "env:")
		v := e.variable(name)
		known = known && v != ""
		return v
	}
	text := expandBraces(value, "${", replace)
	text = expandBraces(text, "{env:", replace)
	return text, known
}

// expandBraces replaces each name in braces that open in one way.
func expandBraces(text, open string, value func(name string) string) string {
	var b strings.Builder
	for {
		before, rest, opened := strings.Cut(text, open)
		name, after, closed := strings.Cut(rest, "}")
		if !opened || !closed {
			return b.String() + text
		}
		b.WriteString(before + value(name))
		text = after
	}
}

// count lists the servers and fills in what they cost, several at once.
func (e *env) count(ctx context.Context, lines []*wrapLine) {
	var wg sync.WaitGroup
	free := make(chan struct{}, min(listedAtOnce, max(2, runtime.NumCPU())))
	for _, l := range lines {
		if l.server == nil {
			continue
		}
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			l.count(ctx)
		})
	}
	wg.Wait()
}

// count fills in what the server costs a model of this host.
func (l *wrapLine) count(ctx context.Context) {
	o, s := &options{}, l.server
	if _, _, err := l.env.cached(o, s); err != nil {
		fmt.Fprintf(l.env.stderr, "%s: %s: listing its tools…\n", l.Host, compact.Line(l.Name))
	}
	ctx, cancel := context.WithTimeout(ctx, s.StartTimeout)
	defer cancel()
	list, err := l.env.surface(ctx, o, s)
	if err != nil {
		l.Problem = l.why(err)
		if ctx.Err() == context.DeadlineExceeded {
			l.Problem = fmt.Sprintf("no answer in %v", s.StartTimeout)
		}
		return
	}
	c, err := l.env.stored(o, s)
	if err != nil {
		l.Problem = l.why(err)
		return
	}
	f := figuresOf(s.Name, c, list)
	l.Tools, l.Without, l.With = &f.Catalog.Tools, &f.Catalog.Tokens, &f.Surface.Tokens
	if l.Defers == "yes" {
		l.Without, l.With = &f.Names.Tokens, &f.Deferred.Tokens
	}
	saves := *l.Without - *l.With
	l.Saves = &saves
}

// deferNotes say where hosts spare a model the tools by themselves.
func deferNotes(lines []*wrapLine) []string {
	notes := []string{}
	for _, h := range hosts.All() {
		if !slices.ContainsFunc(lines, func(l *wrapLine) bool { return l.Host == h.Name }) {
			continue
		}
		switch h.Defers {
		case "yes":
			notes = append(notes, deferNote(h, ", which is what is counted here"))
		case "by model":
			notes = append(notes, deferNote(h, "; counted is what the others are shown"))
		}
	}
	return notes
}

// deferNote says that a host spares a model the tools by itself, "" if it does
// not, and what is counted.
func deferNote(h hosts.Host, counted string) string {
	switch h.Defers {
	case "yes":
		return h.Title + " defers tools by itself: until a tool is searched for, a model is shown its name only" + counted + ". Little is gained there."
	case "by model":
		return h.Title + " defers tools by itself with some models. Little is gained with those" + counted + "."
	}
	return ""
}

// print shows the list to a person.
func (r *wrapReport) print(out io.Writer) {
	if len(r.Servers) == 0 {
		return
	}
	fmt.Fprintf(out, "What a model is shown at the start (tokens: %ss)\n\n", r.Estimator)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "HOST\tSERVER\tVIA\tTOOLS\tWITHOUT\tWITH\tSAVES\tSTATE")
	var why []string
	for _, l := range r.Servers {
		state := l.State
		text, _, _ := strings.Cut(cmp.Or(l.Reason, l.Problem), "; try: ") // each has its own, and doctor says it
		if text != "" {
			if !slices.Contains(why, text) {
				why = append(why, text)
			}
			state += fmt.Sprintf(" (%d)", slices.Index(why, text)+1)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", l.Host, compact.Line(l.Name), l.Transport, l.numbers(), state)
	}
	w.Flush()
	printWhy(out, why)
	r.printFiles(out)
	printNotes(out, r.Notes)
}

// printWhy explains the numbers in the table.
func printWhy(out io.Writer, why []string) {
	if len(why) > 0 {
		fmt.Fprintln(out)
	}
	for i, text := range why {
		for _, line := range wrapped(fmt.Sprintf("(%d) %s", i+1, text), shownWidth) {
			fmt.Fprintln(out, "  "+strings.TrimSpace(line))
		}
	}
}

// printFiles names the files, each once.
func (r *wrapReport) printFiles(out io.Writer) {
	fmt.Fprintln(out)
	seen := map[string]bool{}
	for _, l := range r.Servers {
		where := compact.Line(l.File)
		if l.Scope != "" {
			where += " (" + compact.Line(l.Scope) + ")"
		}
		if line := fmt.Sprintf("  %s: %s\n", l.Host, where); !seen[line] {
			seen[line] = true
			fmt.Fprint(out, line)
		}
	}
}

// numbers are the line's columns with numbers.
func (l *wrapLine) numbers() string {
	if l.Tools == nil {
		return "–\t–\t–\t–"
	}
	saves := "nothing"
	switch n := *l.Saves; {
	case n > 0:
		saves = fmt.Sprintf("%d (%d %%)", n, 100*n / *l.Without)
	case n < 0:
		saves = fmt.Sprintf("%d more", -n)
	}
	return fmt.Sprintf("%d\t%d\t%d\t%s", *l.Tools, *l.Without, *l.With, saves)
}
