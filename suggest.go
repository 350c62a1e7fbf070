package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"mcp-facade/catalog"
	"mcp-facade/facade"
	"mcp-facade/facade/config"
	"mcp-facade/facade/ledger"
	"mcp-facade/facade/upstream"

	"github.com/tidwall/gjson"
)

// covered is the share of all calls that the suggested tools have, in percent.
const covered = 95

// A suggestion is what suggest --json prints.
type suggestion struct {
	Server      string      `json:"server"`
	Estimator   string      `json:"estimator"`
	From        *time.Time  `json:"from"` // of the ledger; null: it has nothing
	To          *time.Time  `json:"to"`
	Transcripts *heard      `json:"transcripts"` // null: they were not read
	Calls       int         `json:"calls"`       // of tools that the catalog has
	Unlisted    int         `json:"unlisted"`    // further calls by the ledger, of names that it does not have
	Enough      bool        `json:"enough"`      // calls to go by
	Tools       []suggested `json:"tools"`       // that cover 95 % of them or are shown now, the most called first
	Tokens      int         `json:"tokens"`      // of those
	Budget      int         `json:"surfaceBudget"`
	Used        usedNow     `json:"used"`
	Unsearched  []string    `json:"unsearched"` // called by call, and no search has shown them
	Unfound     []string    `json:"unfound"`    // never called, and no search has shown them; null: too few searches to say so
	Write       []string    `json:"write"`      // what --write writes: those that fit the budget
	Searches    int         `json:"searches"`

	all     bool     // every tool is listed for hosts that defer tools by themselves
	place   string   // where
	whole   bool     // every tool is shown now, for they are few
	unfound int      // how many Unfound has, or would have
	unnamed []string // tools that fit the budget, and whose names mean something else in "used"
}

// A suggested tool is worth its place in "used".
type suggested struct {
	Name       string  `json:"name"`
	Calls      int     `json:"calls"`
	Share      float64 `json:"share"`      // of all calls, in percent
	Cumulative float64 `json:"cumulative"` // with those before it
	Tokens     int     `json:"tokens"`     // what it costs as a used tool
	Used       bool    `json:"used"`       // it is one now
	Fits       bool    `json:"fits"`       // surfaceBudget, with those before it

	exact string // its name for a person
}

// usedNow are the tools that a host is shown now, also those that it defers.
type usedNow struct {
	Tools  []string `json:"tools"`
	Tokens int      `json:"tokens"`
	Share  float64  `json:"share"` // of all calls, in percent
}

// suggest says which tools are worth being shown directly, by their use.
func suggest(ctx context.Context, e *env, o *options, args []string) error {
	s, rest, err := e.target(o, args)
	if err != nil {
		return err
	}
	switch {
	case len(rest) > 0:
		return usage("suggest takes one server")
	case o.write && s.Path == "":
		return usage("--write: %s is in no servers file", s.Name)
	}
	if err := e.fetch(ctx, o, s); err != nil {
		return err
	}
	r, err := e.suggestion(ctx, o, s)
	if err != nil {
		return err
	}
	if o.json {
		err = printJSON(e.stdout, r)
	} else {
		r.print(e.stdout)
	}
	if err == nil && o.write {
		err = e.writeUsed(ctx, s, r)
	}
	return err
}

// suggestion is what the use of a server says.
func (e *env) suggestion(ctx context.Context, o *options, s *config.Server) (*suggestion, error) {
	c, err := e.stored(o, s)
	if err != nil {
		return nil, err
	}
	records, _, err := ledger.Read(e.ledgerPath(s))
	if err != nil {
		return nil, unreadLedger(s, err)
	}
	list, err := e.asShown(ctx, o, s, "meta")
	if err != nil {
		return nil, err
	}
	r := &suggestion{Server: s.Name, Estimator: estimator, Budget: s.SurfaceBudget, Tools: []suggested{}, Write: []string{}}
	calls := countCalls(c, records)
	for _, n := range countTools(records) {
		r.Unlisted += n.direct + n.via
	}
	for _, n := range calls {
		r.Unlisted -= n
	}
	if u := activityOf(s, records, 0); u != nil {
		r.From, r.To, r.Searches = &u.From, &u.To, u.Discover.Times
	}
	if o.transcripts {
		if err := e.hear(s, c, r, calls); err != nil {
			return nil, err
		}
	}
	shown := inCatalog(c, list)
	if s.Surface == "all" { // where "used" says what is loaded at once
		r.all, r.place = true, e.shownTo.place()
		if list, err = e.asShown(ctx, o, s, "all"); err != nil {
			return nil, err
		}
	}
	listed := inCatalog(c, list)
	r.Used.Tools = []string{}
	for _, t := range list {
		if up, ok := c.Lookup(t.Get("name").Str); ok {
			r.Used.Tools = append(r.Used.Tools, shownName(up.Name))
			r.Used.Tokens += facade.ModelTokens([]byte(t.Raw))
		}
	}
	r.whole = s.Auto && !slices.ContainsFunc(c.Tools(), func(t catalog.Tool) bool { return !shown[t.Name] && !config.Match(s.Hide, t.Name) })
	r.choose(s, c, usesOf(s, c, calls, shown))
	r.Used.Share = tenth(percentOf(sumOf(calls, listed), r.Calls))
	r.judge(s, c, records, calls, listed)
	return r, nil
}

// inCatalog are the tools of a list that the upstream has, by its names.
func inCatalog(c *catalog.Catalog, list []gjson.Result) map[string]bool {
	names := map[string]bool{}
	for _, t := range list {
		if up, ok := c.Lookup(t.Get("name").Str); ok {
			names[up.Name] = true
		}
	}
	return names
}

// sumOf are the calls of some tools.
func sumOf(calls map[string]int, names map[string]bool) (sum int) {
	for name := range names {
		sum += calls[name]
	}
	return sum
}

// countCalls are the calls of each tool of the catalog that have reached it, by the ledger.
func countCalls(c *catalog.Catalog, records []ledger.Record) map[string]int {
	calls := map[string]int{}
	for name, n := range countTools(records) {
		if t, ok := c.Lookup(name); ok && n.direct+n.via > 0 {
			calls[t.Name] += n.direct + n.via
		}
	}
	return calls
}

// hear adds the calls that only the transcripts have. What was called while there
// was a ledger may stand in both: then the larger number counts.
func (e *env) hear(s *config.Server, c *catalog.Catalog, r *suggestion, calls map[string]int) (err error) {
	since := time.Time{}
	if r.From != nil {
		since = *r.From
	}
	if r.Transcripts, err = e.transcripts(s, c, since); err != nil {
		return fmt.Errorf("%s: read the transcripts: %w", s.Name, err)
	}
	for name, n := range r.Transcripts.since {
		calls[name] = max(calls[name], n)
	}
	for name, n := range r.Transcripts.before {
		calls[name] += n
	}
	return nil
}

// A use is that of a tool that was called.
type use struct {
	name          string
	calls, tokens int  // what it costs as a used tool
	shown         bool // now
}

// usesOf are the tools of a catalog that were called, the most called first, and
// the cheaper first of those that were called as often.
func usesOf(s *config.Server, c *catalog.Catalog, calls map[string]int, shown map[string]bool) (uses []use) {
	for _, t := range c.Tools() {
		if n := calls[t.Name]; n > 0 && !config.Match(s.Hide, t.Name) {
			uses = append(uses, use{t.Name, n, trimmedTokens(t, s.Compact, s.Keep), shown[t.Name]})
		}
	}
	slices.SortStableFunc(uses, func(a, b use) int { return cmp.Or(b.calls-a.calls, a.tokens-b.tokens) })
	return uses
}

// choose takes the most called tools until they cover enough, and those beyond
// that are shown now.
func (r *suggestion) choose(s *config.Server, c *catalog.Catalog, uses []use) {
	for _, u := range uses {
		r.Calls += u.calls
	}
	r.Enough = r.Calls >= facade.AutoCalls
	sum, chosen := 0, []use{}
	for _, u := range uses {
		if !u.shown && 100*sum >= covered*r.Calls {
			continue
		}
		sum += u.calls
		chosen = append(chosen, u)
		r.Tokens += u.tokens
		r.Tools = append(r.Tools, suggested{Name: shownName(u.name), Calls: u.calls, Share: tenth(percentOf(u.calls, r.Calls)),
			Cumulative: tenth(percentOf(sum, r.Calls)), Tokens: u.tokens, Used: u.shown, exact: facade.ExactName(u.name)})
	}
	fit := fitting(s, c, chosen)
	for i, u := range chosen {
		r.Tools[i].Fits = slices.Contains(fit, u.name)
		switch {
		case !r.Tools[i].Fits:
		case writesChoice(s) || plainGlob(u.name):
			r.Write = append(r.Write, u.name)
		default:
			r.unnamed = append(r.unnamed, u.name)
		}
	}
}

// fitting are the tools that fit the budget. A large one takes no room from those
// that are shown now and are called more together.
func fitting(s *config.Server, c *catalog.Catalog, uses []use) []string {
	var all, kept []string
	for _, u := range uses {
		all = append(all, u.name)
		if u.shown {
			kept = append(kept, u.name)
		}
	}
	calls := func(names []string) (sum int) {
		for _, u := range uses {
			if slices.Contains(names, u.name) {
				sum += u.calls
			}
		}
		return sum
	}
	anew, more := facade.Choose(s, c, all), facade.Choose(s, c, slices.Concat(kept, all))
	if calls(anew) < calls(more) {
		return more
	}
	return anew
}

func percentOf(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// tenth rounds to one digit.
func tenth(f float64) float64 { return float64(int(f*10+.5)) / 10 }

// writesChoice reports whether it is the choice of "auto" that --write writes, which
// has names and no globs.
func writesChoice(s *config.Server) bool { return s.Auto && s.Has("used") }

// plainGlob reports whether a name can stand in "used" and means that tool alone.
func plainGlob(name string) bool {
	return strings.TrimSpace(name) == name && !strings.ContainsAny(name, `*?[]{}\!,|^`) &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// fewSearches is below how many searches it says nothing of a tool that none has
// shown it.
const fewSearches = 20

// judge finds the tools that search does not lead to: those that were called
// though none had shown them, and those that none has shown at all.
func (r *suggestion) judge(s *config.Server, c *catalog.Catalog, records []ledger.Record, calls map[string]int, shown map[string]bool) {
	r.Unsearched = []string{}
	if r.Searches >= fewSearches {
		r.Unfound = []string{}
	}
	counts := countTools(records)
	for _, t := range c.Tools() {
		n := counts[t.Name]
		switch {
		case n.found > 0 || shown[t.Name] || config.Match(s.Hide, t.Name):
		case n.via > 0:
			r.Unsearched = append(r.Unsearched, shownName(t.Name))
		case calls[t.Name] == 0 && r.Searches > 0:
			if r.unfound++; r.Unfound != nil {
				r.Unfound = append(r.Unfound, shownName(t.Name))
			}
		}
	}
}

// writeUsed puts the suggestion into the servers file or, where that leaves the
// choice to us, into the file of what was chosen.
func (e *env) writeUsed(ctx context.Context, s *config.Server, r *suggestion) error {
	fault := func(why, hint string) error {
		return &upstream.Error{Server: s.Name, Op: "suggest", Err: errors.New(why), Hint: hint}
	}
	switch {
	case !r.Enough:
		return fault(fmt.Sprintf("%s recorded, and %d are needed to write: nothing was written", plural(r.Calls, "call"), facade.AutoCalls), r.more())
	case r.whole:
		return fault(`every tool is shown now, as together they fit into "surfaceBudget": nothing was written`, `a smaller "surfaceBudget", if fewer are to be shown`)
	case len(r.Write) == 0 && r.unnamed != nil:
		return fault(r.left()+": nothing was written", `"used": "auto", which needs no names`)
	case len(r.Write) == 0:
		return fault(`none of these tools fits into "surfaceBudget": nothing was written`, `a larger "surfaceBudget", or "compact": "tight"`)
	case writesChoice(s):
		if err := e.choice(s).Save(ctx, r.Write); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		fmt.Fprintf(e.stderr, "%s: \"used\" stays \"auto\", which now shows %s; hosts see it from their next start on\n", s.Name, r.written())
		return nil
	}
	before, err := config.Text(s.Path)
	if err != nil {
		return err
	}
	after, err := config.SetUsed(before, s.Name, r.Write)
	if err == nil {
		err = config.Replace(s.Path, before, after)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "%s: \"used\" in %s now has %s; hosts see it from their next start on\n", s.Name, s.Path, r.written())
	if s.Has("used") {
		fmt.Fprintf(e.stderr, "  it was: %s\n", array(s.Used))
	}
	if r.unnamed != nil {
		fmt.Fprintf(e.stderr, "  %s\n", r.left())
	}
	return nil
}

// written says how many tools were written, and that some were not.
func (r *suggestion) written() string {
	text := plural(len(r.Write), "tool")
	if left := len(r.Tools) - len(r.Write) - len(r.unnamed); left > 0 {
		text += fmt.Sprintf(", without %d that would go beyond \"surfaceBudget\"", left)
	}
	return text
}

// left says which tools "used" cannot name.
func (r *suggestion) left() string {
	return fmt.Sprintf(`in "used" these cannot stand, as their names mean something else there or nothing: %s`, listed(r.unnamed))
}

// more is how to have more calls to go by.
func (r *suggestion) more() string {
	if r.Transcripts == nil {
		return "with --transcripts, which also counts the calls that your hosts have logged"
	}
	return "again when the server has been used more"
}

// print shows the suggestion to a person.
func (r *suggestion) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s%s\n", r.Server, plural(r.Calls, "call"), r.sources())
	if r.Calls == 0 {
		fmt.Fprintf(w, "\n  There is nothing to go by yet. Try it %s.\n", r.more())
		printNotes(w, r.unlisted())
		return
	}
	fmt.Fprintf(w, "\nThe tools that cover %d %% of them, and called ones that are shown now (tokens: %ss, as used tools)\n\n", covered, estimator)
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "calls\tshare\tin all\ttokens\tused\t\n")
	for _, t := range r.Tools {
		mark, note := "", ""
		if t.Used {
			mark = "yes"
		}
		if !t.Fits {
			note = "  (beyond surfaceBudget)"
		}
		fmt.Fprintf(out, "%d\t%.1f %%\t%.1f %%\t%d\t%s\t  %s%s\n", t.Calls, t.Share, t.Cumulative, t.Tokens, mark, t.exact, note)
	}
	out.Flush()
	printNotes(w, r.notes())
}

// sources says where the calls are recorded.
func (r *suggestion) sources() string {
	var from []string
	if r.From != nil {
		u := activity{From: *r.From, To: *r.To}
		from = append(from, "the ledger of "+u.period())
	}
	if t := r.Transcripts; t != nil {
		from = append(from, fmt.Sprintf("%s of hosts", plural(t.Files, "transcript")))
	}
	if from == nil {
		return ""
	}
	return ", by " + strings.Join(from, " and ")
}

// namesNoted is how many tools a note names.
const namesNoted = 10

// notes compare the suggestion to what is shown now, and name the tools that
// search does not lead to.
func (r *suggestion) notes() []string {
	notes := []string{fmt.Sprintf("Suggested: %s for %d tokens; \"surfaceBudget\" is %d. Shown now: %s for %d tokens, which %.1f %% of the calls were of.",
		plural(len(r.Tools), "tool"), r.Tokens, r.Budget, plural(len(r.Used.Tools), "tool"), r.Used.Tokens, r.Used.Share)}
	if r.all {
		notes = append(notes, fmt.Sprintf("Every tool is listed%s, by --surface all: \"used\" only says which of them a host that defers tools loads at once.", r.place))
	}
	if r.whole {
		notes = append(notes, "Every tool is shown now, as together they fit into \"surfaceBudget\": there is no need for \"used\".")
	}
	if r.unnamed != nil {
		notes = append(notes, "For --write: "+r.left()+".")
	}
	if !r.Enough {
		notes = append(notes, fmt.Sprintf("These are few calls: --write wants %d. Try it %s.", facade.AutoCalls, r.more()))
	}
	notes = append(notes, r.unlisted()...)
	if t := r.Transcripts; t != nil && t.Unknown > 0 {
		notes = append(notes, fmt.Sprintf("The transcripts have %s of tools that the catalog does not have.", plural(t.Unknown, "call")))
	}
	if len(r.Unsearched) > 0 {
		notes = append(notes, fmt.Sprintf("Called though no search has shown them (worth words in \"keywords\"): %s.", listed(r.Unsearched)))
	}
	switch n := plural(r.unfound, "tool"); {
	case r.unfound == 0:
	case r.Unfound == nil:
		notes = append(notes, fmt.Sprintf("Neither found nor called so far: %s. That is after %s, too few to go by.", n, searches(r.Searches)))
	default:
		notes = append(notes, fmt.Sprintf("None of %s has shown, and nobody has called, %s (words in \"keywords\" would help, or \"hide\"): %s.", searches(r.Searches), n, listed(r.Unfound)))
	}
	return notes
}

// unlisted says that there are further calls, if there are any.
func (r *suggestion) unlisted() []string {
	if r.Unlisted == 0 {
		return nil
	}
	return []string{fmt.Sprintf("The ledger also has %s of names that are not listed now.", plural(r.Unlisted, "call"))}
}

// searches is a number of them.
func searches(n int) string {
	if n == 1 {
		return "1 search"
	}
	return fmt.Sprintf("%d searches", n)
}

// listed names the first of some tools.
func listed(names []string) string {
	var exact []string
	for _, name := range names[:min(len(names), namesNoted)] {
		exact = append(exact, facade.ExactName(name))
	}
	text := strings.Join(exact, ", ")
	if more := len(names) - namesNoted; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
