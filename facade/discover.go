package facade

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

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
func (f *Facade) discover(v *view, c *catalog.Catalog, args gjson.Result) string {
	kind := f.surfaceOf(v).kind
	query := strings.TrimSpace(args.Get("query").String())
	note := f.freshness(v)
	if query == "" {
		return f.everything(v, c, kind) + note
	}
	if t, ok := c.Lookup(query); ok {
		return f.description([]catalog.Tool{t}, false) + note
	}
	run := "Run one with " + kind["call"] + ` {"tool": …, "args": {…}}:`
	if found := matching(c, query); found != nil {
		return f.filled(run, found, note)
	}
	none := fmt.Sprintf("No tool of %s matches %s. Try other words, in the language of the tool descriptions (usually English).", f.name(), quoted(query))
	if near := nearest(c, query); near != nil {
		return f.filled(none+" These are spelled like it. "+run, near, note)
	}
	return none + "\n" + f.nameList(c.Tools(), kind) + note
}

// matching are the tools that have words of the query, best first.
func matching(c *catalog.Catalog, query string) (tools []catalog.Tool) {
	for _, hit := range c.Search(query, discoverTools) {
		tools = append(tools, hit.Tool)
	}
	return tools
}

// nearest are the tools whose names are spelled most like one.
func nearest(c *catalog.Catalog, name string) (tools []catalog.Tool) {
	for _, near := range c.Nearest(name, 3) {
		t, _ := c.Lookup(near)
		tools = append(tools, t)
	}
	return tools
}

// filled is a head, then signatures within discoverTokens, then a note.
func (f *Facade) filled(head string, tools []catalog.Tool, note string) string {
	spent := compact.Tokens([]byte(head + note))
	for _, t := range tools {
		line := "\n" + f.signature(t)
		if spent += compact.Tokens([]byte(line)); spent > discoverTokens {
			break
		}
		head += line
	}
	return head + note
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
		return destructiveMark + " "
	case config.Match(s.ReadOnly, t.Name) || t.ReadOnly:
		return readOnlyMark + " "
	case t.Destructive:
		return destructiveMark + " "
	}
	return ""
}

// The marks of a tool. Only we write them, at the start of a line.
const (
	readOnlyMark    = "[read-only]"
	destructiveMark = "[destructive]"
)

// everything is what discover says to an empty query.
func (f *Facade) everything(v *view, c *catalog.Catalog, kind map[string]string) string {
	text := f.nameList(c.Tools(), kind)
	f.mu.Lock()
	handshake := v.handshake
	f.mu.Unlock()
	if theirs := gjson.GetBytes(handshake, "instructions").Str; theirs != "" {
		text += "\n\nFrom " + f.name() + ":\n" + lines(theirs)
	}
	return text
}

// nameList is the names of all tools, as far as discoverTokens go.
func (f *Facade) nameList(tools []catalog.Tool, kind map[string]string) string {
	if len(tools) == 0 {
		return f.name() + " has no tools."
	}
	text := fmt.Sprintf("All %d tools of %s: ", len(tools), f.name())
	spent := 0
	for i, t := range tools {
		name := spelled(t.Name)
		if spent += compact.Tokens([]byte(name)) + 1; spent > discoverTokens {
			return fmt.Sprintf("%sand %d more. %s with a query finds them.", text, len(tools)-i, kind["discover"])
		}
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}

// freshness says that the catalog is old, and why; "" if it is not.
func (f *Facade) freshness(v *view) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch ago := age(time.Since(v.listed)); {
	case v.missing != nil:
		return fmt.Sprintf("\n(Listed %s ago; it could not be renewed: %s.)", ago, f.plain(v.missing))
	case f.stale(v):
		return fmt.Sprintf("\n(Listed %s ago; it is being renewed.)", ago)
	}
	return ""
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
func (f *Facade) unavailable(err error) error {
	return &refusal{f.name() + "'s tools are not known: " + f.plain(err) + ".", tryAgain}
}

// tryAgain is what a model can do about an upstream that cannot be asked.
const tryAgain = "Try again in a moment; if that does not help, tell the user."

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

// maxQuoted is how much is repeated of what a model or an upstream has said, in
// characters.
const maxQuoted = 200

// quoted is text of others in quotes, on one line.
func quoted(s string) string {
	return string(wire.AppendString(nil, cut(compact.Line(s), maxQuoted, "...")))
}

// spelled is the name of a tool: as it is, or in quotes if it could be taken
// for something else.
func spelled(name string) string {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:", r)
	}
	if name == "" || len(name) > maxQuoted || strings.ContainsFunc(name, odd) {
		return quoted(name)
	}
	return name
}

func joined(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = spelled(name)
	}
	return strings.Join(all, ", ")
}

// searching runs a meta-tool that needs the catalog.
func (f *Facade) searching(ctx context.Context, v *view, m wire.Message, answer func(*catalog.Catalog) (text string, failed bool)) {
	f.spawn(func() {
		c, err := f.listed(ctx, v)
		if err != nil {
			f.deny(v, m, f.unavailable(err))
			return
		}
		text, failed := answer(c)
		f.reply(m, result(v, text, failed))
	})
}

// listed is the catalog there is, stale or not. While there is none yet, it
// waits what is left of startTimeout.
func (f *Facade) listed(ctx context.Context, v *view) (*catalog.Catalog, error) {
	c, err := f.tools(v)
	f.mu.Lock()
	stale := err != nil || f.stale(v)
	f.mu.Unlock()
	if stale {
		f.revalidate(ctx, v)
	}
	if err == nil {
		return c, nil
	}
	f.await(ctx, v)
	return f.tools(v)
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
