package facade

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/config"
	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// How much discover says, in estimated tokens and in tools. The estimate is a
// little off, so an answer is filled to less than the 1,200 that it may cost.
const (
	discoverTokens = 1000
	discoverTools  = 10
)

// discover answers the meta-tool of that name: the tools that match a query,
// best first, as signatures.
func (f *Facade) discover(v *view, s *surface, args gjson.Result) string {
	c, err := f.tools(v)
	if err != nil {
		return f.unavailable(err)
	}
	kind := s.byKind(f)
	query := strings.TrimSpace(args.Get("query").String())
	if t, ok := c.Lookup(query); ok {
		return f.description(t, false) + f.freshness(v)
	}
	if query == "" {
		return f.everything(v, c, kind)
	}
	hits := c.Search(query, discoverTools)
	if len(hits) == 0 {
		return f.nothing(c, query, kind) + f.freshness(v)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Run one with %s {\"tool\": …, \"args\": {…}}:", kind["call"])
	spent := compact.Tokens([]byte(b.String()))
	for _, hit := range hits {
		line := "\n" + f.signature(hit.Tool)
		if spent += compact.Tokens([]byte(line)); spent > discoverTokens {
			break
		}
		b.WriteString(line)
	}
	return b.String() + f.freshness(v)
}

// signature is one line for a tool, with a mark of ours at its start.
func (f *Facade) signature(t catalog.Tool) string {
	return f.mark(t) + compact.Signature(t.Name, t.InputSchema, t.Description)
}

// mark says what a tool does to the upstream's data, as the config or, failing
// that, the tool's own annotations say.
func (f *Facade) mark(t catalog.Tool) string {
	switch s := f.o.Server; {
	case config.Match(s.Destructive, t.Name):
		return "[destructive] "
	case config.Match(s.ReadOnly, t.Name) || t.ReadOnly:
		return "[read-only] "
	case t.Destructive:
		return "[destructive] "
	}
	return ""
}

// nothing is what discover says when no tool matches.
func (f *Facade) nothing(c *catalog.Catalog, query string, kind map[string]string) string {
	text := fmt.Sprintf("No tool of %s matches %s.", f.name(), quoted(query))
	if near := c.Nearest(query, 5); len(near) > 0 {
		return text + " Nearest by name: " + joined(near) + ". " + kind["describe"] + " gives their schemas."
	}
	return text + " Try other words, in the language of the tool descriptions (usually English). All tools:\n" + nameList(c.Tools(), kind)
}

// everything is what discover says to an empty query.
func (f *Facade) everything(v *view, c *catalog.Catalog, kind map[string]string) string {
	text := fmt.Sprintf("%s has %d tools:\n%s", f.name(), len(c.Tools()), nameList(c.Tools(), kind))
	f.mu.Lock()
	handshake := v.handshake
	f.mu.Unlock()
	if theirs := gjson.GetBytes(handshake, "instructions").Str; theirs != "" {
		text += "\n\nFrom " + f.name() + ":\n" + lines(theirs)
	}
	return text + f.freshness(v)
}

// nameList is the names of tools within discoverTokens.
func nameList(tools []catalog.Tool, kind map[string]string) string {
	var b strings.Builder
	spent := 0
	for i, t := range tools {
		name := compact.Line(t.Name)
		if spent += compact.Tokens([]byte(name)) + 1; spent > discoverTokens {
			fmt.Fprintf(&b, ", and %d more: search for them with %s", len(tools)-i, kind["discover"])
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
	}
	return b.String()
}

// freshness says that the catalog is old, and why.
func (f *Facade) freshness(v *view) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if v.missing == nil {
		return ""
	}
	return fmt.Sprintf("\n(Listed %s ago; it could not be renewed: %s.)", age(time.Since(v.listed)), f.plain(v.missing))
}

// age is a duration in its largest unit.
func age(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", d/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return "a moment"
}

// unavailable is what a meta-tool says without a catalog.
func (f *Facade) unavailable(err error) string {
	return f.name() + "'s tools are not known: " + f.plain(err) + ". " + noResult + " Try again in a moment, or tell the user."
}

// noResult keeps a model from going on as if it had an answer.
const noResult = "No result was obtained; do not answer from memory."

// plain is an error as one line, with its hint.
func (f *Facade) plain(err error) string {
	text := strings.TrimRight(compact.Line(err.Error()), ".")
	if ue := new(upstream.Error); errors.As(err, &ue) && ue.Hint != "" {
		text += "; try: " + compact.Line(ue.Hint)
	}
	return text
}

func quoted(s string) string {
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return string(wire.AppendString(nil, compact.Line(s)))
}

func joined(names []string) string {
	clean := make([]string, len(names))
	for i, name := range names {
		clean[i] = compact.Line(name)
	}
	return strings.Join(clean, ", ")
}

// searching runs a meta-tool that needs the catalog: while that is still on
// its way it waits what is left of startTimeout.
func (f *Facade) searching(ctx context.Context, v *view, m wire.Message, answer func() string) {
	f.spawn(func() {
		f.mu.Lock()
		known := v.catalog != nil
		stale := !known || f.stale(v)
		f.mu.Unlock()
		if stale {
			f.revalidate(ctx, v)
		}
		if !known || stale && !f.o.Server.StaleOK {
			f.await(ctx, v)
		}
		text := answer()
		f.mu.Lock()
		failed := v.catalog == nil
		f.mu.Unlock()
		f.reply(m, result(v, text, failed))
	})
}

// result is a tools/call result of ours: one text.
func result(v *view, text string, failed bool) []byte {
	b := wire.AppendString([]byte(`{"content":[{"type":"text","text":`), text)
	b = append(b, `}]`...)
	if failed {
		b = append(b, `,"isError":true`...)
	}
	if v.key.Era == modern {
		b = append(b, `,"resultType":"complete"`...)
	}
	return append(b, '}')
}
