package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"mcp-facade/compact"
	"mcp-facade/facade"
	"mcp-facade/facade/config"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// discover searches a server's tools.
func discover(ctx context.Context, e *env, o *options, args []string) error {
	s, words, err := e.target(o, args)
	if err != nil {
		return err
	}
	if err := e.fetch(ctx, o, s); err != nil {
		return err
	}
	return e.meta(ctx, o, s, "discover", object("query", strings.Join(words, " ")))
}

// describe prints tools in full.
func describe(ctx context.Context, e *env, o *options, args []string) error {
	s, names, err := e.target(o, args)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return usage("describe which tool?")
	}
	if err := e.fetch(ctx, o, s); err != nil {
		return err
	}
	return e.meta(ctx, o, s, "describe", fmt.Appendf(nil, `{"tool":%s,"full":true}`, array(names)))
}

// call runs a tool.
func call(ctx context.Context, e *env, o *options, args []string) error {
	s, words, err := e.target(o, args)
	if err != nil {
		return err
	}
	if len(words) == 0 || len(words) > 2 {
		return usage("call takes a tool and one JSON object of arguments")
	}
	params := object("tool", words[0])
	if len(words) == 2 {
		given, err := e.arguments(ctx, words[1])
		if err != nil {
			return err
		}
		params = wire.SetMember(params, "args", given)
	}
	return e.meta(ctx, o, s, "call", params)
}

// arguments are those of a call: a raw object, or "-" for the one on stdin.
func (e *env) arguments(ctx context.Context, word string) ([]byte, error) {
	raw := []byte(word)
	if word == "-" {
		var err error
		if raw, err = readAll(ctx, e.stdin); err != nil {
			return nil, fmt.Errorf("call: read arguments: %w", err)
		}
	}
	if !gjson.ValidBytes(raw) || !gjson.ParseBytes(raw).IsObject() {
		return nil, &usageError{what: "call: the arguments are not one JSON object", hint: `mcp-facade call NAME TOOL '{"key": "value"}'`}
	}
	return bytes.TrimSpace(raw), nil
}

// readAll reads r to its end. The goroutine that reads outlives an interruption
// and ends with the program.
func readAll(ctx context.Context, r io.Reader) (all []byte, err error) {
	done := make(chan struct{})
	go func() { all, err = io.ReadAll(r); close(done) }()
	select {
	case <-done:
		return all, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// object is a raw object with one string.
func object(key, value string) []byte {
	b := wire.AppendString([]byte("{"), key)
	return append(wire.AppendString(append(b, ':'), value), '}')
}

// array is a raw array of strings.
func array(values []string) []byte {
	b := []byte("[")
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(b, v)
	}
	return append(b, ']')
}

// target takes the name of a server off a subcommand's words, unless the server
// stands after -- or has a URL.
func (e *env) target(o *options, words []string) (*config.Server, []string, error) {
	if !o.asks() {
		if len(words) == 0 {
			return nil, nil, usage("which server?")
		}
		o.server, words = words[0], words[1:]
	}
	s, err := e.server(o)
	return s, words, err
}

// fetch lists the server now if nothing of it is cached, so that what fails is
// an error and not an answer for a model.
func (e *env) fetch(ctx context.Context, o *options, s *config.Server) error {
	if _, _, err := e.cached(o, s); !errors.Is(err, errNothingCached) {
		return nil // there is a catalog, or no place for one
	}
	_, err := facade.Refresh(ctx, e.facadeOptions(o, s, slog.LevelError))
	return err
}

// meta calls a meta-tool and prints what it says. The host is shown these tools
// alone, whatever the servers file says, so that their names are known.
func (e *env) meta(ctx context.Context, o *options, s *config.Server, kind string, params []byte) error {
	s.Surface, s.Auto, s.Used = "meta", false, nil
	return e.withHost(ctx, o, s, slog.LevelError, func(h *host) error {
		list, err := h.tools()
		if err != nil {
			return err
		}
		r, err := h.call(metaName(s, list, kind), params)
		if err != nil {
			return err
		}
		return printResult(e, o, s, kind, r)
	})
}

// withHost runs fn as the host of a server, opened in this process.
func (e *env) withHost(ctx context.Context, o *options, s *config.Server, level slog.Level, fn func(h *host) error) error {
	h := inProcess(ctx, s.Name, e.facadeOptions(o, s, level))
	_, err := h.open()
	if err == nil {
		err = fn(h)
	}
	return errors.Join(err, h.close())
}

// metaTools are what a surface that hides tools ends with.
var metaTools = [...]string{"discover", "describe", "call"}

// metaName is how a meta-tool of this surface is called: as listed, which may
// be another name because the upstream has that one; else by its plain name,
// which is answered too.
func metaName(s *config.Server, list []gjson.Result, kind string) string {
	name := s.Prefix + kind
	for i, meta := range metaTools {
		if at := len(list) - len(metaTools) + i; at < 0 || !strings.HasSuffix(list[at].Get("name").Str, s.Prefix+meta) {
			return s.Prefix + kind
		} else if meta == kind {
			name = list[at].Get("name").Str
		}
	}
	return name
}

// printResult prints a tool result: its texts, or the whole of it.
func printResult(e *env, o *options, s *config.Server, kind string, r gjson.Result) error {
	if o.json {
		fmt.Fprintln(e.stdout, r.Raw)
	} else {
		fmt.Fprintln(e.stdout, text(r))
	}
	if r.Get("isError").Bool() {
		return fmt.Errorf("%s: %s: the answer is an error", s.Name, kind)
	}
	return nil
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

// A toolReport is what tools --json prints.
type toolReport struct {
	Server    string     `json:"server"`
	Catalog   *cost      `json:"catalog"` // what every tool costs, as the upstream lists it; null: nothing could be cached
	Surface   cost       `json:"surface"` // what is shown in its place
	Estimator string     `json:"estimator"`
	Tools     []toolLine `json:"tools"`
}

// estimator names how tokens are counted.
const estimator = "o200k estimate"

// tools prints the surface and what it costs beside the whole catalog.
func tools(ctx context.Context, e *env, o *options, args []string) error {
	s, rest, err := e.target(o, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usage("tools takes one server")
	}
	list, err := e.surface(ctx, o, s)
	if err != nil {
		return err
	}
	lines, shown := costs(list)
	all, err := e.whole(o, s)
	if o.json {
		return printJSON(e.stdout, toolReport{s.Name, all, shown, estimator, lines})
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, l := range lines {
		fmt.Fprintf(w, "%d\t  %s\n", l.Tokens, l.Name)
	}
	w.Flush()
	fmt.Fprintf(e.stdout, "%d tokens for %s (%ss)", shown.Tokens, plural(shown.Tools, "tool"), estimator)
	if err == nil {
		fmt.Fprintf(e.stdout, "; without mcp-facade %d for %d", all.Tokens, all.Tools)
	}
	fmt.Fprintln(e.stdout)
	return nil
}

// surface is what a host is shown.
func (e *env) surface(ctx context.Context, o *options, s *config.Server) (list []gjson.Result, err error) {
	if err := e.fetch(ctx, o, s); err != nil {
		return nil, err
	}
	err = e.withHost(ctx, o, s, slog.LevelWarn, func(h *host) error {
		list, err = h.tools()
		return err
	})
	return list, err
}

// whole is what a server's catalog costs untrimmed.
func (e *env) whole(o *options, s *config.Server) (*cost, error) {
	_, tools, err := e.cached(o, s)
	if err != nil {
		return nil, fmt.Errorf("%s: its catalog could not be stored: %w", s.Name, err)
	}
	all := make([]gjson.Result, len(tools))
	for i, t := range tools {
		all[i] = gjson.ParseBytes(t.Raw)
	}
	_, c := costs(all)
	return &c, nil
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
	s, rest, err := e.target(o, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usage("refresh takes one server")
	}
	changes, err := e.refreshed(ctx, o, s)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(e.stdout, changeReport{s.Name, changes})
	}
	for _, c := range changes {
		fmt.Fprintf(e.stdout, "%-7s  %s\n", c.What, compact.Line(c.Tool))
	}
	if len(changes) == 0 {
		fmt.Fprintf(e.stderr, "%s: no tool has changed\n", s.Name)
	}
	return nil
}

// A changeReport is what refresh --json prints.
type changeReport struct {
	Server  string          `json:"server"`
	Changes []facade.Change `json:"changes"`
}

// refreshed lists the server and makes sure that what it said is stored.
func (e *env) refreshed(ctx context.Context, o *options, s *config.Server) ([]facade.Change, error) {
	start := time.Now()
	changes, err := facade.Refresh(ctx, e.facadeOptions(o, s, slog.LevelError))
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
	return changes, nil
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
