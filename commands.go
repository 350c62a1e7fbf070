package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade"
	"mcp-facade/facade/config"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

//go:embed facade.servers.example.json
var exampleFile []byte

// errTool marks a tool's own error: it has been printed, and the exit code is 1.
var errTool = errors.New("the tool answered with an error")

// initFile writes the example servers file where it is looked for.
func initFile(_ context.Context, e *env, o *options, args []string) error {
	if len(args) > 0 {
		return usage("init takes no arguments")
	}
	path := e.configFile
	if o.config != "" {
		path = o.config
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("init: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return &config.Error{Path: path, Err: errors.New("is there already and stays as it is"), Hint: "edit it, or give another place with --config"}
	}
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	_, err = file.Write(exampleFile)
	if err = errors.Join(err, file.Close()); err != nil {
		os.Remove(path)
		return fmt.Errorf("init: %w", err)
	}
	fmt.Fprintln(e.stdout, path)
	fmt.Fprintln(e.stderr, "Put your servers into it, then: mcp-facade try NAME")
	return nil
}

// A serverLine is one server as servers lists it.
type serverLine struct {
	Name     string     `json:"name"`
	Upstream string     `json:"upstream"`
	Tools    *int       `json:"tools"`  // null: not cached
	Listed   *time.Time `json:"listed"` // null: not cached
	Cached   string     `json:"cached"` // "fresh", "stale" or why it is not cached
	Error    string     `json:"error,omitempty"`
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
	lines := []serverLine{}
	for _, name := range file.Names() {
		lines = append(lines, e.serverLine(o, file, name))
	}
	if o.json {
		return printJSON(e.stdout, map[string]any{"file": file.Path, "servers": lines})
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		tools, cached := "-", l.Cached
		if l.Tools != nil {
			tools = fmt.Sprintf("%d tools", *l.Tools)
			cached = fmt.Sprintf("listed %s ago, %s", time.Since(*l.Listed).Round(time.Second), l.Cached)
		}
		if l.Error != "" {
			tools, cached = "-", "error: "+l.Error
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.Name, l.Upstream, tools, cached)
	}
	return w.Flush()
}

func (e *env) serverLine(o *options, file *config.File, name string) serverLine {
	l := serverLine{Name: name}
	s, err := file.Server(name)
	if err == nil {
		l.Upstream = s.Upstream.URL
		if s.Upstream.Command != "" {
			l.Upstream = s.Upstream.Command
		}
		err = s.Unbuilt()
	}
	if err != nil {
		l.Error = err.Error()
		return l
	}
	head, tools, err := e.cached(o, s)
	if err != nil {
		l.Cached = strings.TrimPrefix(err.Error(), "not cached: ")
		return l
	}
	n := len(tools)
	l.Tools, l.Listed, l.Cached = &n, &head.Listed, "fresh"
	if time.Since(head.Listed) > s.TTL {
		l.Cached = "stale"
	}
	return l
}

// cached is the newest catalog of a server on disk: its head and its tools.
func (e *env) cached(o *options, s *config.Server) (catalog.Head, []catalog.Tool, error) {
	store, err := e.store(o, s)
	if err != nil {
		return catalog.Head{}, nil, err
	}
	heads, err := store.Views()
	if err != nil {
		return catalog.Head{}, nil, err
	}
	if len(heads) == 0 {
		return catalog.Head{}, nil, errors.New("not cached yet")
	}
	newest := heads[0]
	for _, h := range heads {
		if h.Listed.After(newest.Listed) {
			newest = h
		}
	}
	entry, err := store.LoadExact(newest.View)
	if err != nil {
		return newest, nil, err
	}
	pages, err := entry.List("tools/list")
	if err != nil {
		return newest, nil, err
	}
	c, _ := catalog.New(pages)
	return newest, c.Tools(), nil
}

// withHost runs fn as the host of a server, opened in this process. args are
// the command's own, of which the first names the server unless that stands
// after --.
func withHost(ctx context.Context, e *env, o *options, args []string, fn func(h *host, s *config.Server, rest []string) error) error {
	name := o.server
	if name == "" && o.inPlace == nil && o.url == "" {
		if len(args) == 0 {
			return usage("which server? Give its name")
		}
		name, args = args[0], args[1:]
	}
	s, err := e.server(o, name)
	if err != nil {
		return err
	}
	if err := s.Unbuilt(); err != nil {
		return err
	}
	h := inProcess(ctx, s.Name, e.facadeOptions(o, s))
	_, err = h.open()
	if err == nil {
		err = fn(h, s, args)
	}
	return errors.Join(err, h.close())
}

// metaName is how a meta-tool of this surface is called: as listed, else by
// its plain name, which is answered too.
func metaName(s *config.Server, list []gjson.Result, kind string) string {
	for _, t := range list {
		if name := t.Get("name").Str; strings.HasSuffix(name, kind) && strings.HasPrefix(name, s.Prefix) {
			return name
		}
	}
	return s.Prefix + kind
}

// viaMeta calls a meta-tool and prints what it says.
func viaMeta(ctx context.Context, e *env, o *options, args []string, kind string, params func(rest []string) ([]byte, error)) error {
	return withHost(ctx, e, o, args, func(h *host, s *config.Server, rest []string) error {
		p, err := params(rest)
		if err != nil {
			return err
		}
		list, err := h.request("tools/list", []byte("{}"))
		if err != nil {
			return err
		}
		r, err := h.call(metaName(s, list.Get("tools").Array(), kind), p)
		if err != nil {
			return err
		}
		return printResult(e, o, r)
	})
}

// printResult prints a tool result: its texts, or the whole of it.
func printResult(e *env, o *options, r gjson.Result) error {
	if o.json {
		fmt.Fprintln(e.stdout, r.Raw)
	} else {
		fmt.Fprintln(e.stdout, text(r))
	}
	if r.Get("isError").Bool() {
		return errTool
	}
	return nil
}

// discover searches a server's tools.
func discover(ctx context.Context, e *env, o *options, args []string) error {
	return viaMeta(ctx, e, o, args, "discover", func(rest []string) ([]byte, error) {
		return object("query", strings.Join(rest, " ")), nil
	})
}

// describe prints tools in full.
func describe(ctx context.Context, e *env, o *options, args []string) error {
	return viaMeta(ctx, e, o, args, "describe", func(rest []string) ([]byte, error) {
		if len(rest) == 0 {
			return nil, usage("describe which tool?")
		}
		return wire.SetMember(object("tool", strings.Join(rest, ",")), "full", []byte("true")), nil
	})
}

// call runs a tool with the arguments that stand in the command line, or "-"
// for those on stdin.
func call(ctx context.Context, e *env, o *options, args []string) error {
	return viaMeta(ctx, e, o, args, "call", func(rest []string) ([]byte, error) {
		if len(rest) == 0 || len(rest) > 2 {
			return nil, usage("call takes a tool and one JSON object of arguments")
		}
		params := object("tool", rest[0])
		if len(rest) == 1 {
			return params, nil
		}
		raw := []byte(rest[1])
		if rest[1] == "-" {
			var err error
			if raw, err = io.ReadAll(e.stdin); err != nil {
				return nil, fmt.Errorf("call: read arguments: %w", err)
			}
		}
		if !gjson.ValidBytes(raw) || !gjson.ParseBytes(raw).IsObject() {
			return nil, usage("call: the arguments must be one JSON object")
		}
		return wire.SetMember(params, "args", bytes.TrimSpace(raw)), nil
	})
}

// object is a raw object with one string.
func object(key, value string) []byte {
	b := wire.AppendString([]byte("{"), key)
	return append(wire.AppendString(append(b, ':'), value), '}')
}

// A toolLine is one tool of the surface and what it costs a model.
type toolLine struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// A cost is what a list of tools costs a model.
type cost struct {
	Tools  int `json:"tools"`
	Tokens int `json:"tokens"`
}

// tools prints the surface and what it costs beside the whole catalog.
func tools(ctx context.Context, e *env, o *options, args []string) error {
	var server *config.Server
	var list []gjson.Result
	err := withHost(ctx, e, o, args, func(h *host, s *config.Server, rest []string) error {
		if len(rest) > 0 {
			return usage("tools takes one server")
		}
		r, err := h.request("tools/list", []byte("{}"))
		server, list = s, r.Get("tools").Array()
		return err
	})
	if err != nil {
		return err
	}
	all, err := e.whole(o, server)
	if err != nil {
		return err
	}
	lines, shown := costs(list)
	if o.json {
		return printJSON(e.stdout, map[string]any{"server": server.Name, "tools": lines, "surface": shown, "catalog": all, "estimator": estimator})
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, l := range lines {
		fmt.Fprintf(w, "%d\t  %s\n", l.Tokens, l.Name)
	}
	w.Flush()
	fmt.Fprintf(e.stdout, "%d tokens for %d tools; all %d tools of %s cost %d (%ss)\n", shown.Tokens, shown.Tools, all.Tools, server.Name, all.Tokens, estimator)
	return nil
}

// estimator names how tokens are counted.
const estimator = "o200k estimate"

// whole is what a server's catalog costs untrimmed. A server that has just
// been served has one, unless it could not be listed.
func (e *env) whole(o *options, s *config.Server) (cost, error) {
	_, tools, err := e.cached(o, s)
	if err != nil {
		return cost{}, fmt.Errorf("%s: its tools could not be listed: %w", s.Name, err)
	}
	all := make([]gjson.Result, len(tools))
	for i, t := range tools {
		all[i] = gjson.ParseBytes(t.Raw)
	}
	_, c := costs(all)
	return c, nil
}

// costs estimates what a model pays for each tool and for all: the tokens of
// name, description and inputSchema.
func costs(list []gjson.Result) ([]toolLine, cost) {
	lines := []toolLine{}
	var sum cost
	for _, t := range list {
		n := facade.ModelTokens([]byte(t.Raw))
		lines = append(lines, toolLine{compact.Line(t.Get("name").Str), n})
		sum.Tools++
		sum.Tokens += n
	}
	return lines, sum
}

// refresh fetches the lists of a server now and prints what changed.
func refresh(ctx context.Context, e *env, o *options, args []string) error {
	name := o.server
	if name == "" && o.inPlace == nil {
		if len(args) != 1 {
			return usage("refresh takes one server")
		}
		name = args[0]
	}
	s, err := e.server(o, name)
	if err != nil {
		return err
	}
	if err := s.Unbuilt(); err != nil {
		return err
	}
	changes, err := facade.Refresh(ctx, e.facadeOptions(o, s))
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(e.stdout, map[string]any{"server": s.Name, "changes": changes})
	}
	for _, c := range changes {
		fmt.Fprintln(e.stdout, c.What, compact.Line(c.Tool))
	}
	return nil
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
