package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/config"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// A tour is what try asks for.
type tour struct {
	query string // "": there is nothing to search for
	tool  string // to describe, and to call
	args  string // of the call, a raw object; "": the tool is not called
}

// demoUsed are the tools that the demo shows directly.
var demoUsed = [...]string{"search_issues", "get_issue", "create_issue", "update_issue", "add_comment"}

// demoTour goes to a tool that the demo does not show directly.
var demoTour = tour{"how much time did each person work", "get_time_report", `{"group_by":"author"}`}

// try plays the host in front of this very program in serve mode, as a child
// over stdio, and shows what a host and a model get.
func try(ctx context.Context, e *env, o *options, args []string) error {
	if len(args) == 0 && !o.asks() {
		return tryDemo(ctx, e, o)
	}
	s, rest, err := e.target(o, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usage("try takes one server")
	}
	return e.show(ctx, o, s, nil)
}

// tryDemo shows the embedded upstream, with a servers file and a cache of its
// own that are gone afterwards.
func tryDemo(ctx context.Context, e *env, o *options) (err error) {
	dir, err := os.MkdirTemp("", "mcp-facade-try-")
	if err != nil {
		return fmt.Errorf("try: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	own := *o
	own.server, own.config = "demo", filepath.Join(dir, "facade.servers.json")
	entry := wire.AppendString([]byte(`{"demo":{"upstream":{"command":`), e.self)
	entry = append(append(append(entry, `,"args":["demo"]},"used":`...), array(demoUsed[:])...), `}}`...)
	if err := os.WriteFile(own.config, entry, 0o600); err != nil {
		return fmt.Errorf("try: %w", err)
	}
	private := *e
	private.cacheDir, private.stateDir = filepath.Join(dir, "mcp-facade"), filepath.Join(dir, "mcp-facade")
	private.environ = append(slices.Clone(e.environ), "XDG_CACHE_HOME="+dir, "XDG_STATE_HOME="+dir)
	s, err := private.server(&own)
	if err != nil {
		return err
	}
	return private.show(ctx, &own, s, &demoTour)
}

// A trial is what is shown of a server. Its JSON is what try --json prints.
type trial struct {
	Server string `json:"server"`
	figures
	Notes    []string `json:"notes"`   // what else there is to say of the figures
	ListMs   float64  `json:"listMs"`  // what it took to start the server and list it; 0: it was cached
	StartMs  float64  `json:"startMs"` // from the start of the facade to its list of tools
	Search   *step    `json:"search"`  // null: no tool is left to searches
	Describe *step    `json:"describe"`
	Call     *step    `json:"call"` // null: no tool was called

	list []gjson.Result
}

// A step is one call of a meta-tool.
type step struct {
	Asked  string `json:"asked"`
	Answer string `json:"answer"`
}

// show lists the server if it is not cached yet, plays a host in front of the
// facade and prints what it was shown. Without a tour it looks for one.
func (e *env) show(ctx context.Context, o *options, s *config.Server, way *tour) error {
	t := trial{Server: s.Name}
	start := time.Now()
	_, _, uncached := e.cached(o, s)
	if err := e.fetch(ctx, o, s); err != nil {
		return err
	}
	if uncached != nil {
		t.ListMs = ms(time.Since(start))
	}
	c, err := e.stored(o, s)
	if err != nil {
		return err
	}
	if err := e.play(ctx, o, s, way, &t); err != nil {
		return err
	}
	t.figures = e.figuresOf(s.Name, c, t.list)
	t.Notes = append(t.notes(s, c, shownLines(c, t.list)), e.drift(o, s, c).notes()...)
	if o.json {
		return printJSON(e.stdout, t)
	}
	t.print(e.stdout)
	return nil
}

// ms is a duration in milliseconds, to a tenth.
func ms(d time.Duration) float64 { return float64(d.Round(100*time.Microsecond)) / 1e6 }

// play is the host: it starts the facade, takes its list and goes the way.
func (e *env) play(ctx context.Context, o *options, s *config.Server, way *tour, t *trial) (err error) {
	start := time.Now()
	served := *o
	served.surface = s.Surface
	h, err := e.child(ctx, s.Name, serveArgs(&served))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	as, _, _ := e.cached(o, s)
	if err := h.openAs(as); err != nil {
		return err
	}
	if t.list, err = h.tools(); err != nil {
		return err
	}
	t.StartMs = ms(time.Since(start))
	if way == nil {
		way = e.tour(o, s, t.list)
	}
	return way.walk(h, s, t)
}

// tour leads to the first tool that a host is not shown, by the words of its
// name, if the host is shown what finds it. It calls nothing: that could have
// effects.
func (e *env) tour(o *options, s *config.Server, list []gjson.Result) *tour {
	shown := map[string]bool{}
	for _, t := range list {
		shown[strings.ToLower(t.Get("name").Str)] = true
	}
	c, err := e.stored(o, s)
	if err != nil || leavesNone(c, list) {
		return &tour{}
	}
	held := e.drift(o, s, c).held
	for _, t := range c.Tools() {
		if !shown[strings.ToLower(t.Name)] && !config.Match(s.Hide, t.Name) && held[t.Name] == "" {
			return &tour{query: words(t), tool: t.Name}
		}
	}
	return &tour{}
}

// words are what somebody would search for to find a tool: its title, or the
// words of its name, or what it does. The name itself is no search.
func words(t catalog.Tool) string {
	split := strings.FieldsFunc(t.Name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, query := range []string{t.Title, strings.Join(split, " "), compact.Sentence(t.Description, 60)} {
		if query = strings.ToLower(compact.Line(query)); query != "" && query != strings.ToLower(t.Name) {
			return query
		}
	}
	return t.Name
}

// walk takes the steps of a tour.
func (way *tour) walk(h *host, s *config.Server, t *trial) (err error) {
	if way.query == "" {
		return nil
	}
	ask := func(kind string, params []byte, asked string) *step {
		r, failed := h.call(metaName(s, t.list, kind), params)
		err = errors.Join(err, failed)
		return &step{asked, text(r)}
	}
	t.Search = ask("discover", object("query", way.query), way.query)
	t.Describe = ask("describe", object("tool", way.tool), way.tool)
	if way.args != "" {
		t.Call = ask("call", wire.SetMember(object("tool", way.tool), "args", []byte(way.args)), way.tool+" "+way.args)
	}
	return err
}

// serveArgs are the arguments that serve what o names.
func serveArgs(o *options) []string {
	var args []string
	for _, flag := range [][2]string{{"--server", o.server}, {"--config", o.config}, {"--surface", o.surface}, {"--name", o.name}, {"--url", o.url}} {
		if flag[1] != "" {
			args = append(args, flag[0], flag[1])
		}
	}
	for _, header := range o.headers {
		args = append(args, "--header", header)
	}
	if o.verbose {
		args = append(args, "--verbose")
	}
	if o.inPlace != nil {
		args = append(append(args, "--"), o.inPlace...)
	}
	return args
}

// child starts this program in serve mode. The end of its stdin ends it. What a
// person looks at is no use of the tools: the ledger does not have it.
func (e *env) child(ctx context.Context, server string, args []string) (*host, error) {
	cmd := exec.CommandContext(ctx, e.self, args...)
	cmd.Env, cmd.Stderr = append(slices.Clone(e.environ), "MCP_FACADE_NO_LEDGER=1"), e.stderr
	cmd.WaitDelay = 5 * time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	cmd.Cancel = in.Close
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: start mcp-facade: %w", server, err)
	}
	return newHost(server, out, in, func() error {
		in.Close()
		io.Copy(io.Discard, out)
		return cmd.Wait()
	}), nil
}

// print shows a trial to a person.
func (t *trial) print(w io.Writer) {
	fmt.Fprintf(w, "%s, as a model is shown it%s (tokens: %ss)\n\n", t.Server, t.shownTo.place(), estimator)
	t.figures.print(w)
	fmt.Fprintln(w)
	printBlock(w, strings.Join(names(t.list), ", "), 4)
	printNotes(w, t.Notes)
	if t.ListMs > 0 {
		fmt.Fprintf(w, "\n  Starting the server and listing its tools took %g ms, once.", t.ListMs)
	}
	fmt.Fprintf(w, "\n  From the cache, a host has this list %g ms after it starts mcp-facade.\n", t.StartMs)
	t.printSteps(w)
}

// printSteps shows how the model reaches what it was not shown.
func (t *trial) printSteps(w io.Writer) {
	if t.Search == nil && t.Surface.Tools < t.Catalog.Tools {
		fmt.Fprintln(w, "\nNo tool is left to searches: discover is not listed.")
		return
	}
	if t.Search == nil {
		fmt.Fprintln(w, "\nEvery tool is listed: discover has nothing left to find.")
		return
	}
	fmt.Fprintf(w, "\ndiscover %q\n\n", t.Search.Asked)
	printBlock(w, t.Search.Answer, 12)
	fmt.Fprintf(w, "\ndescribe %s\n\n", t.Describe.Asked)
	printBlock(w, t.Describe.Answer, 6)
	if t.Call == nil {
		fmt.Fprintln(w, "\nNo tool was called: try leaves that to you, by mcp-facade call.")
		return
	}
	fmt.Fprintf(w, "\ncall %s\n\n", t.Call.Asked)
	printBlock(w, t.Call.Answer, 6)
}

// names are those of the tools in a list.
func names(list []gjson.Result) (all []string) {
	for _, t := range list {
		all = append(all, compact.Line(t.Get("name").Str))
	}
	return all
}

// shownWidth is how wide an answer is shown, in characters.
const shownWidth = 96

// printBlock shows the first lines of a text, indented.
func printBlock(w io.Writer, text string, limit int) {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		lines = append(lines, wrapped(line, shownWidth)...)
	}
	for _, line := range lines[:min(len(lines), limit)] {
		fmt.Fprintln(w, "  "+line)
	}
	if more := len(lines) - limit; more > 0 {
		fmt.Fprintf(w, "  … %s more\n", plural(more, "line"))
	}
}

// wrapped cuts a line to a width, between words where it can. What follows the
// first part is indented further than it is.
func wrapped(line string, width int) (lines []string) {
	text := strings.TrimLeft(line, " ")
	indent := line[:min(len(line)-len(text), width/2)]
	further := indent + "    "
	for rest := []rune(text); ; indent = further {
		room := width - len(indent)
		if len(rest) <= room {
			return append(lines, indent+string(rest))
		}
		cut := breakBefore(rest, room)
		lines = append(lines, indent+strings.TrimRight(string(rest[:cut]), " "))
		rest = []rune(strings.TrimLeft(string(rest[cut:]), " "))
	}
}

// breakBefore is where a text of more than width characters is cut: at the last
// space or after the last comma, else in a word.
func breakBefore(text []rune, width int) int {
	for i := width; i > width/2; i-- {
		if text[i] == ' ' || text[i-1] == ',' {
			return i
		}
	}
	return width
}
