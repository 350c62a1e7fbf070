package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade"
	"mcp-facade/facade/config"
	"mcp-facade/facade/upstream"
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
	if err := hidden(s, "describe", names); err != nil {
		return err
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
	if err := hidden(s, "call", words[:1]); err != nil {
		return err
	}
	params := object("tool", words[0])
	if len(words) == 2 {
		given, err := e.arguments(ctx, words[1])
		if err != nil {
			return err
		}
		params = wire.SetMember(params, "args", given)
	}
	if s.Split {
		fmt.Fprintf(e.stderr, "mcp-facade: %s: \"split\" is for hosts: here call runs tools that write, too\n", s.Name)
	}
	if o.yes {
		params = wire.SetMember(params, "confirm", []byte("true"))
	}
	return e.meta(ctx, o, s, "call", params)
}

// hidden says that the config keeps away a tool that is asked for by its name: a
// person may know, a model is told that there is none.
func hidden(s *config.Server, op string, names []string) error {
	for _, name := range names {
		if config.Match(s.Hide, name) {
			return &upstream.Error{Server: s.Name, Op: op, Err: fmt.Errorf("%q is hidden by the config", name), Hint: `take it out of "hide"`}
		}
	}
	return nil
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
func readAll(ctx context.Context, r io.Reader) ([]byte, error) {
	type input struct {
		all []byte
		err error
	}
	done := make(chan input, 1)
	go func() { all, err := io.ReadAll(r); done <- input{all, err} }()
	select {
	case in := <-done:
		return in.all, in.err
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
// stands after -- or has a URL. From then on e is the world in which a host starts
// that server.
func (e *env) target(o *options, words []string) (*config.Server, []string, error) {
	if !o.asks() {
		if len(words) == 0 {
			return nil, nil, usage("which server?%s", e.choices(o))
		}
		o.server, words = words[0], words[1:]
	}
	s, err := e.server(o)
	if err == nil && s.Path != "" {
		*e = *e.inHosts(o)(s)
	}
	return s, words, err
}

// maxChoices is how many servers are named to choose from.
const maxChoices = 20

// choices says which servers there are, if that can be known.
func (e *env) choices(o *options) string {
	file, err := config.Load(e.configPath(o))
	if err != nil || len(file.Names()) == 0 {
		return ""
	}
	names := file.Names()
	text := compact.Line(strings.Join(names[:min(len(names), maxChoices)], ", "))
	if more := len(names) - maxChoices; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return " There are: " + text
}

// fetch lists the server now if nothing of it is cached, so that what fails is
// an error and not an answer for a model; or if more has to be withheld than what
// is cached for its hosts says.
func (e *env) fetch(ctx context.Context, o *options, s *config.Server) error {
	if head, c, err := e.cached(o, s); !errors.Is(err, errNothingCached) && !e.holdsMore(o, s, head, c) {
		return nil // there is a catalog, or no place for one
	}
	_, err := facade.Refresh(ctx, e.facadeOptions(o, s, slog.LevelError))
	return err
}

// holdsMore reports whether tools are withheld by a list of the server, for
// whatever host, that is newer than this one, and not by this one.
func (e *env) holdsMore(o *options, s *config.Server, head catalog.Head, c *catalog.Catalog) bool {
	_, store, err := e.store(o, s)
	if s.Drift != "block" || c == nil || err != nil {
		return false
	}
	heads, _ := store.Views()
	held := e.drift(o, s, c).held
	for _, h := range heads {
		newer, err := catalogOf(store, h.View)
		if err != nil || !h.Listed.After(head.Listed) {
			continue
		}
		for tool := range e.drift(o, s, newer).held {
			if _, listed := c.Lookup(tool); listed && held[tool] == "" {
				return true
			}
		}
	}
	return false
}

// meta calls a meta-tool and prints what it says. The host is shown these tools
// alone, whatever the servers file says, so that their names are known. A person
// needs no other tool for what writes, and agrees by a flag.
func (e *env) meta(ctx context.Context, o *options, s *config.Server, kind string, params []byte) error {
	s.Surface, s.Auto, s.Used = "meta", false, nil
	s.Split, s.ConfirmBy = false, config.ByFlag
	as := catalog.Head{} // who calls can do nothing that an upstream may ask for
	if kind != "call" {
		as, _, _ = e.cached(o, s)
	}
	return e.withHost(ctx, o, s, as, func(h *host) error {
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

// withHost runs fn as a host of a server that is served in this process: as the
// one that a stored view is of, if there is one.
func (e *env) withHost(ctx context.Context, o *options, s *config.Server, as catalog.Head, fn func(h *host) error) error {
	h := inProcess(ctx, s.Name, e.facadeOptions(o, s, slog.LevelError))
	err := h.openAs(as)
	if err == nil {
		err = fn(h)
	}
	return errors.Join(err, h.close())
}

// metaTools are what a surface that hides tools ends with.
func metaTools(s *config.Server) []string {
	if s.Split {
		return []string{"discover", "describe", "call", "call_write"}
	}
	return []string{"discover", "describe", "call"}
}

// metaName is how a meta-tool of this surface is called: as listed, which may
// be another name because the upstream has that one; else by its plain name,
// which is answered too.
func metaName(s *config.Server, list []gjson.Result, kind string) string {
	if all := metaTools(s); hasMeta(s, list) {
		return list[len(list)-len(all)+slices.Index(all, kind)].Get("name").Str
	}
	return s.Prefix + kind
}

// hasMeta reports whether a surface ends with the meta-tools.
func hasMeta(s *config.Server, list []gjson.Result) bool {
	all := metaTools(s)
	last := list[max(0, len(list)-len(all)):]
	for i, t := range last {
		if !strings.HasSuffix(t.Get("name").Str, s.Prefix+all[i]) {
			return false
		}
	}
	return len(last) == len(all)
}

// printResult prints a tool result: its texts, or the whole of it.
func printResult(e *env, o *options, s *config.Server, kind string, r gjson.Result) error {
	if o.json {
		fmt.Fprintln(e.stdout, r.Raw)
	} else {
		fmt.Fprintln(e.stdout, facade.ForPerson(text(r)))
	}
	if !r.Get("isError").Bool() {
		return nil
	}
	return &upstream.Error{Server: s.Name, Op: kind, Err: errors.New("the answer is an error")}
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
