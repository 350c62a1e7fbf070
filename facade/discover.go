package facade

import (
	"fmt"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/compact"
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
// best first, as signatures. It has failed if the model only searches on.
func (f *Facade) discover(v *view, c *catalog.Catalog, args gjson.Result) (text string, shows []string, failed bool) {
	query := strings.TrimSpace(wish(args))
	note := f.freshness(v)
	_, named := c.Lookup(query)
	if page, ok := pageAsked(query); ok && !named {
		return f.overview(v, c, f.surfaceOf(v).kind, page, note), nil, false
	}
	a := f.found(v, c, query, note)
	if limit := f.o.Server.SearchLimit; f.searches.spend(query, a.shows) >= limit && limit > 0 {
		return f.exhausted(v, a, limit), a.shows, true
	}
	return a.text, a.shows, false
}

// An answer is what discover says to a query.
type answer struct {
	text  string
	shows []string // the tools in it
	lines []string // their signatures
}

// found is what is found for a query: the description of the tool of that name,
// tools that match, or the nearest names and then all.
func (f *Facade) found(v *view, c *catalog.Catalog, query, note string) answer {
	if t, ok := c.Lookup(query); ok {
		line := f.line(f.memoOf(c), t)
		return answer{f.description([]catalog.Tool{t}, false) + note, []string{described + t.Name}, []string{line.text}}
	}
	kind := f.surfaceOf(v).kind
	m, foreign := f.memoOf(c), c.Foreign(query)
	run := f.howToRun(kind) + ` {"tool": …, "args": {…}}:`
	if hits := c.SearchTaught(f.o.Lessons.Lessons(), query, discoverTools); len(hits) > 0 {
		if foreign {
			note = "\n(Write the query in the language of the tool descriptions to find more.)" + note
		}
		a := f.filled(run, m, query, kind["describe"], hits, !foreign, note)
		f.keepSearch(c, query, a.shows)
		return a
	}
	none := fmt.Sprintf("No tool of %s matches %s. %s.", f.name(), quoted(query), otherwise(foreign))
	a := answer{text: none}
	if near := nearest(c, query); near != nil {
		a = f.filled(none+" These are spelled like it. "+run, m, "", kind["describe"], near, true, "")
		f.keepSearch(c, query, a.shows)
	}
	a.text += f.someNames(v, m, kind, discoverTokens-compact.Tokens([]byte(a.text+note))) + note
	return a
}

// described stands before the name of a tool that is shown as it is described:
// that is more than its signature, so that it is new after that.
const described = "\x00"

// otherwise says how else to ask.
func otherwise(foreign bool) string {
	if foreign {
		return "Write the query in the language of the tool descriptions (usually English)"
	}
	return "Try other words, in the language of the tool descriptions (usually English)"
}

// keepSearch keeps what a search has shown, where the use of tools is learnt from.
func (f *Facade) keepSearch(c *catalog.Catalog, query string, shows []string) {
	if f.o.Lessons != nil {
		f.searches.wait(c.Teaching(query), shows)
	}
}

// exhausted is the answer to a search that shows nothing new, like those before.
func (f *Facade) exhausted(v *view, a answer, limit int) string {
	next := "More searching shows the same tools. Call one of these or ask the user."
	if len(a.shows) == 0 {
		next = "More searching finds nothing. Call a tool that " + f.surfaceOf(v).kind["discover"] + " lists with an empty query, or ask the user."
	}
	b := fmt.Appendf(nil, `{"error":"search-budget-exhausted","budgetCap":%d,"hits":[`, limit)
	for i, line := range a.lines {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(b, line)
	}
	b = wire.AppendString(append(b, `],"next":`...), next+" "+noResult)
	return string(append(b, '}'))
}

// howToRun says which meta-tool runs the tools that are shown.
func (f *Facade) howToRun(kind map[string]string) string {
	if f.o.Server.Split {
		return "Run a " + readOnlyMark + " one with " + kind["call"] + ", another with " + kind["call_write"]
	}
	return "Run one with " + kind["call"]
}

// wish is what a model wants to find: its query or, where that goes by another
// name, the strings there are.
func wish(args gjson.Result) string {
	if !args.IsObject() {
		return args.String()
	}
	if query := args.Get("query"); query.Exists() {
		return query.String()
	}
	var all []string
	args.ForEach(func(_, v gjson.Result) bool {
		if v.Type == gjson.String {
			all = append(all, v.Str)
		}
		return true
	})
	return strings.Join(all, " ")
}

// nearest are the tools whose names are spelled most like one. They are equally
// good.
func nearest(c *catalog.Catalog, name string) (hits []catalog.Hit) {
	for _, near := range c.Nearest(name, 3) {
		t, _ := c.Lookup(near)
		hits = append(hits, catalog.Hit{Tool: t, Score: 1})
	}
	return hits
}

// filled is a head, then signatures within discoverTokens, then more of the
// first tool if it is certain and stands out, then how describe shows what is
// cut, then a note.
func (f *Facade) filled(head string, m *memo, query, describe string, hits []catalog.Hit, certain bool, note string) answer {
	text := append(make([]byte, 0, 4096), head...)
	spent := compact.Tokens([]byte(head + note))
	more := signatureLine{}
	if certain && standsOut(hits) {
		more = f.parameters(m, hits[0].Tool)
		spent += more.tokens
	}
	a := answer{shows: make([]string, 0, len(hits)), lines: make([]string, 0, len(hits))}
	asked := catalog.Terms(query)
	var cut []string
	for i, hit := range hits {
		line := f.lineFor(m, hit.Tool, asked)
		isCut := line.cut && (i > 0 || more.text == "") || i == 0 && more.cut
		if isCut && len(cut) == 0 {
			spent += cutNote
		}
		if spent += line.tokens; spent > discoverTokens {
			break
		}
		if isCut {
			cut = append(cut, hit.Tool.Name)
		}
		text = append(append(text, '\n'), line.text...)
		a.shows, a.lines = append(a.shows, hit.Tool.Name), append(a.lines, line.text)
	}
	if more.text != "" {
		text = append(append(text, '\n'), more.text...)
	}
	a.text = string(append(append(text, howToSeeAll(cut, describe)...), note...))
	return a
}

// cutNote is what the line costs that says how to see what is cut, in tokens.
const cutNote = 25

// howToSeeAll says how to see all parameters of tools that are shown without some.
func howToSeeAll(cut []string, describe string) string {
	switch {
	case len(cut) == 0:
		return ""
	case len(cut) > 1 || len(cut[0]) > longName:
		return "\n" + describe + " NAME shows all parameters."
	}
	return "\n" + describe + " " + spelled(cut[0]) + " shows all parameters."
}

// longName is how long a name is that is not said again, in bytes.
const longName = 40

// clearLead is how many times the score of the second tool the first one has if
// it stands out. On the development half of the study's data that is so for 44 %
// of the queries, and 87 % of those tools are right, of all that come first
// 70 %.
const clearLead = 1.5

// standsOut reports whether the first tool is most probably the one.
func standsOut(hits []catalog.Hit) bool {
	return len(hits) == 1 || hits[0].Score >= clearLead*hits[1].Score
}

// signature is one line for a tool, with a mark of ours at its start.
func (f *Facade) signature(t catalog.Tool) string {
	return f.mark(t) + compact.Signature(t.Name, t.InputSchema, t.Description)
}

// mark says what a tool does to the upstream's data, as the config or, failing
// that, the tool's own annotations say.
func (f *Facade) mark(t catalog.Tool) string {
	switch f.effectOf(t) {
	case reads:
		return readOnlyMark + " "
	case destroys:
		return destructiveMark + " "
	}
	return ""
}

// The marks of a tool. Only we write them, at the start of a line.
const (
	readOnlyMark    = "[read-only]"
	destructiveMark = "[destructive]"
)
