package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade"
	"mcp-facade/facade/config"

	"github.com/tidwall/gjson"
)

// A cost is what tools cost a model.
type cost struct {
	Tools  int `json:"tools"`
	Tokens int `json:"tokens"`
}

// figures are what a server costs a model, in tokens: with the facade and
// without it, in a host that shows a model every tool it is given, and in one
// that defers tools, showing names only until a tool is searched for.
type figures struct {
	Catalog   *cost  `json:"catalog"`  // without, every tool shown as the upstream lists it; null: nothing could be cached
	Names     *cost  `json:"names"`    // without, deferred; null likewise
	Surface   cost   `json:"surface"`  // with, every tool shown
	Deferred  cost   `json:"deferred"` // with, deferred, but for the tools that are marked to be loaded always
	Estimator string `json:"estimator"`

	loaded  int  // how many those are
	whole   bool // no tool is left to searches
	shownTo showing

	sessions, lists int // those recorded that were given a list of this kind, and the tokens of their lists
}

// estimator names how tokens are counted.
const estimator = "o200k estimate"

// figuresOf is figuresOf of a server in this world.
func (e *env) figuresOf(server string, c *catalog.Catalog, list []gjson.Result) figures {
	f := figuresOf(server, c, list)
	f.shownTo = e.shownTo
	return f
}

// figuresOf takes a server's catalog, nil if there is none, and its surface.
func figuresOf(server string, c *catalog.Catalog, list []gjson.Result) figures {
	f := figures{Surface: shownCost(list), Estimator: estimator}
	if c != nil {
		f.Catalog, f.Names = &cost{}, &cost{}
		for _, t := range c.Tools() {
			f.Catalog.add(facade.ModelTokens(t.Raw))
			f.Names.add(nameTokens(server, t.Name))
		}
	}
	f.whole = c != nil && leavesNone(c, list)
	for _, t := range list {
		if t.Get(`_meta.anthropic/alwaysLoad`).Bool() {
			f.loaded++
			f.Deferred.add(facade.ModelTokens([]byte(t.Raw)))
		} else {
			f.Deferred.add(nameTokens(server, t.Get("name").Str))
		}
	}
	return f
}

// leavesNone reports whether a surface leaves no tool to searches: there are no
// meta-tools on it, or all tools of the upstream.
func leavesNone(c *catalog.Catalog, list []gjson.Result) bool {
	listed := len(inCatalog(c, list))
	return listed == len(list) || listed == len(c.Tools())
}

// shownCost is the cost of tools of which a model is shown all.
func shownCost(list []gjson.Result) (sum cost) {
	for _, t := range list {
		sum.add(facade.ModelTokens([]byte(t.Raw)))
	}
	return sum
}

func (c *cost) add(tokens int) {
	c.Tools++
	c.Tokens += tokens
}

// print shows the figures to a person.
func (f *figures) print(w io.Writer) {
	line := func(what string, c cost, note string) {
		text := fmt.Sprintf("  %-18s  %6d tokens  %4d tools  %s", what, c.Tokens, c.Tools, note)
		fmt.Fprintln(w, strings.TrimRight(text, " "))
	}
	if f.Catalog == nil {
		line("with mcp-facade", f.Surface, "")
		return
	}
	line("without mcp-facade", *f.Catalog, "")
	line("names only", *f.Names, "in a host that defers tools by itself")
	line("with mcp-facade", f.Surface, saved(f.Catalog.Tokens, f.Surface.Tokens))
	if f.Deferred != f.Surface {
		line("with it, deferred", f.Deferred, "in a host that defers tools by itself")
	}
}

// saved says what share of the tokens is not spent any more, or that none is.
func saved(before, after int) string {
	switch {
	case after > before:
		return fmt.Sprintf(`%d more: better all listed, "surface": "all"`, after-before)
	case after == before:
		return "no less"
	}
	return fmt.Sprintf("%d %% less", 100*(before-after)/before)
}

// notes say what the facade is worth where the host itself spares a model the
// tools, which used tools cost much, and what of the config the tools do not bear
// out. There are none without a catalog.
func (f *figures) notes(s *config.Server, c *catalog.Catalog, lines []toolLine) []string {
	if c == nil {
		return []string{}
	}
	host := ", as Claude Code does,"
	if f.shownTo.defersOtherwise() {
		host = " and is shown this"
	}
	deferring := fmt.Sprintf("A host that defers tools by itself%s spends %d tokens on names without mcp-facade and %d with it: ",
		host, f.Names.Tokens, f.Deferred.Tokens)
	switch {
	case f.Deferred.Tokens < f.Names.Tokens:
		deferring += saved(f.Names.Tokens, f.Deferred.Tokens) + "."
	case f.loaded > 0:
		deferring += "nothing is saved there, but loaded tools need no search."
	default:
		deferring += "nothing is saved there."
	}
	return slices.Concat(f.shownTo.notes(), []string{deferring}, costly(s, c, lines), facade.Audit(s, c))
}

// costlyTokens is from where on a used tool is worth a second thought. The
// median tool of real servers costs 150.
const costlyTokens = 1000

// notesLimit is how many notes there are on costly tools.
const notesLimit = 5

// costly points at the tools of "used" that cost a model much, the dearest
// first, and says what would help.
func costly(s *config.Server, c *catalog.Catalog, lines []toolLine) (notes []string) {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l toolLine) bool {
		return l.Tokens <= costlyTokens || l.State != stateShown || !config.Match(s.Used, l.Name)
	})
	slices.SortStableFunc(lines, func(a, b toolLine) int { return b.Tokens - a.Tokens })
	for i, l := range lines {
		if i == notesLimit {
			return append(notes, fmt.Sprintf("%d more used tools cost over %d tokens each.", len(lines)-i, costlyTokens))
		}
		note := fmt.Sprintf("%s costs %d tokens", facade.ExactName(l.Name), l.Tokens)
		t, _ := c.Lookup(l.Name)
		if n := trimmedTokens(t, "tight", s.Keep); n < l.Tokens {
			note += fmt.Sprintf(`, %d with "compact": "tight"`, n)
		}
		notes = append(notes, note+`: is it worth its place in "used"?`)
	}
	return notes
}

// trimmedTokens estimates what a tool costs under a level of trimming.
func trimmedTokens(t catalog.Tool, level string, keep []string) int {
	return facade.ModelTokens(compact.Tool(t.Raw, compact.Options{Level: level, Keep: keep}))
}
