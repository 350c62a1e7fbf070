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

	"mcp-facade/facade/config"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// demoUsed are the tools that the demo shows directly.
var demoUsed = [...]string{"search_issues", "get_issue", "create_issue", "update_issue", "add_comment"}

// The demo's search and its call.
const (
	demoQuery = "how much time was logged on an issue"
	demoTool  = "list_projects"
)

// try plays the host in front of this very program in serve mode, as a child
// over stdio, and shows what a host and a model get.
func try(ctx context.Context, e *env, o *options, args []string) error {
	if len(args) > 1 {
		return usage("try takes one server")
	}
	if len(args) == 0 && o.inPlace == nil && o.server == "" {
		return tryDemo(ctx, e, o)
	}
	if len(args) == 1 {
		o.server = args[0]
	}
	s, err := e.server(o, o.server)
	if err != nil {
		return err
	}
	if err := s.Unbuilt(); err != nil {
		return err
	}
	return e.show(ctx, o, s, e.serveArgs(o), e.environ, "", "")
}

// serveArgs are the arguments that serve what o names.
func (e *env) serveArgs(o *options) []string {
	var args []string
	for _, flag := range [][2]string{{"--server", o.server}, {"--config", o.config}, {"--surface", o.surface}, {"--name", o.name}} {
		if flag[1] != "" {
			args = append(args, flag[0], flag[1])
		}
	}
	if o.inPlace != nil {
		args = append(append(args, "--"), o.inPlace...)
	}
	return args
}

// tryDemo shows the embedded upstream, with a servers file and a cache of its
// own that are gone afterwards.
func tryDemo(ctx context.Context, e *env, o *options) (err error) {
	dir, err := os.MkdirTemp("", "mcp-facade-try-")
	if err != nil {
		return fmt.Errorf("try: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "facade.servers.json")
	entry := wire.AppendString([]byte(`{"demo":{"upstream":{"command":`), e.self)
	entry = append(entry, `,"args":["demo"]},"used":["`+strings.Join(demoUsed[:], `","`)+`"]}}`...)
	if err := os.WriteFile(path, entry, 0o600); err != nil {
		return fmt.Errorf("try: %w", err)
	}
	private := *e
	private.cacheDir, private.stateDir = filepath.Join(dir, "mcp-facade"), filepath.Join(dir, "mcp-facade")
	own := *o
	own.config, own.server = path, "demo"
	s, err := private.server(&own, "demo")
	if err != nil {
		return err
	}
	environ := append(slices.Clone(e.environ), "XDG_CACHE_HOME="+dir, "XDG_STATE_HOME="+dir)
	return private.show(ctx, &own, s, private.serveArgs(&own), environ, demoQuery, demoTool)
}

// A trial is what one start of the facade gave.
type trial struct {
	start    time.Duration // to the answer to tools/list
	list     []gjson.Result
	query    string
	found    string
	callTool string
	called   string
	describe string
}

// show starts the facade twice, so that the second start is a warm one, and
// prints what it is worth.
func (e *env) show(ctx context.Context, o *options, s *config.Server, args []string, environ []string, query, tool string) error {
	cold, err := e.trial(ctx, o, s, args, environ, query, "")
	if err != nil {
		return err
	}
	warm, err := e.trial(ctx, o, s, args, environ, query, tool)
	if err != nil {
		return err
	}
	_, shown := costs(warm.list)
	all, err := e.whole(o, s)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, warm.found)
	}
	if o.json {
		return printJSON(e.stdout, map[string]any{"server": s.Name, "surface": shown, "catalog": all,
			"coldStartMs": cold.start.Milliseconds(), "warmStartMs": warm.start.Milliseconds(),
			"query": warm.query, "found": warm.found})
	}
	w := e.stdout
	fmt.Fprintf(w, "%s, as a model sees it (tokens: o200k estimates)\n\n", s.Name)
	fmt.Fprintf(w, "  without mcp-facade  %6d tokens  %4d tools\n", all.Tokens, all.Tools)
	fmt.Fprintf(w, "  with mcp-facade     %6d tokens  %4d tools: %s\n", shown.Tokens, shown.Tools, namesOf(warm.list))
	fmt.Fprintf(w, "  first start %s, from now on %s to the list of tools\n", round(cold.start), round(warm.start))
	if warm.found != "" {
		fmt.Fprintf(w, "\ndiscover %q\n%s\n", warm.query, indented(warm.found))
	}
	if warm.describe != "" {
		fmt.Fprintf(w, "\ndescribe %s\n%s\n", warm.callTool, indented(warm.describe))
	}
	if warm.called != "" {
		fmt.Fprintf(w, "\ncall %s\n%s\n", warm.callTool, indented(warm.called))
	}
	return nil
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond / 10) }

// shownLines and shownWidth bound what is shown of an answer.
const (
	shownLines = 12
	shownWidth = 160
)

// indented is the beginning of a text, for a person to look at.
func indented(text string) string {
	lines := strings.Split(text, "\n")
	more := len(lines) - shownLines
	if more > 0 {
		lines = lines[:shownLines]
	}
	for i, line := range lines {
		if r := []rune(line); len(r) > shownWidth {
			line = string(r[:shownWidth]) + "…"
		}
		lines[i] = "  " + line
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("  … and %d more lines", more))
	}
	return strings.Join(lines, "\n")
}

func namesOf(list []gjson.Result) string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Get("name").Str
	}
	if len(names) > 8 {
		names = append(names[:5], "…", names[len(names)-2], names[len(names)-1])
	}
	return strings.Join(names, ", ")
}

// trial starts the facade once and plays the host.
func (e *env) trial(ctx context.Context, o *options, s *config.Server, args []string, environ []string, query, tool string) (t trial, err error) {
	h, err := e.child(ctx, s.Name, args, environ)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	t.start, err = timed(func() error {
		if _, err := h.open(); err != nil {
			return err
		}
		list, err := h.request("tools/list", []byte("{}"))
		t.list = list.Get("tools").Array()
		return err
	})
	if err != nil {
		return t, err
	}
	t.query = query
	if r, err := h.call(metaName(s, t.list, "discover"), object("query", query)); err != nil {
		return t, err
	} else {
		t.found = text(r)
	}
	if tool == "" {
		return t, nil
	}
	t.callTool = tool
	r, err := h.call(metaName(s, t.list, "describe"), object("tool", tool))
	if err != nil {
		return t, err
	}
	t.describe = text(r)
	if r, err = h.call(metaName(s, t.list, "call"), object("tool", tool)); err != nil {
		return t, err
	}
	t.called = text(r)
	return t, nil
}

// child starts this program in serve mode.
func (e *env) child(ctx context.Context, server string, args, environ []string) (*host, error) {
	cmd := exec.CommandContext(ctx, e.self, args...)
	cmd.Env, cmd.Stderr = environ, e.stderr
	cmd.WaitDelay = 5 * time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
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
