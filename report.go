package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade"
	"mcp-facade/facade/config"
	"mcp-facade/facade/ledger"
	"mcp-facade/facade/upstream"

	"github.com/tidwall/gjson"
)

// A savingReport is what report --json prints. All tokens in it are estimates,
// and all that was used is what the ledger of this machine has of it.
type savingReport struct {
	Estimator string         `json:"estimator"`
	Servers   []serverSaving `json:"servers"`
	Missing   []missing      `json:"missing"` // configured, and nothing is known of them
	Total     *saving        `json:"total"`   // null: there are not several servers
}

// A serverSaving is the report of one server.
type serverSaving struct {
	Server string `json:"server"`
	figures
	Use       *activity `json:"use"`     // null: nothing was recorded
	Balance   *balances `json:"balance"` // null likewise
	BreakEven breakEven `json:"breakEven"`
	Notes     []string  `json:"notes"`
	Tools     []toolUse `json:"tools"`

	unread int // lines of the ledger
}

// A missing server is one without a catalog.
type missing struct {
	Server string `json:"server"`
	Reason string `json:"reason"`

	try string // what helps, "" if the reason says it all
}

// A saving is the sum of several servers.
type saving struct {
	Catalog  cost     `json:"catalog"`
	Names    cost     `json:"names"`
	Surface  cost     `json:"surface"`
	Deferred cost     `json:"deferred"`
	Sessions int      `json:"sessions"` // each of one server
	Calls    int      `json:"calls"`
	Balance  balances `json:"balance"`
}

// report says what the facade has saved, by the ledger, and what it would save.
func report(ctx context.Context, e *env, o *options, args []string) error {
	if o.json && slices.Contains(o.given, "html") {
		return usage("--json and --html: want one of them")
	}
	if slices.Contains(o.given, "html") && o.html == "" {
		return usage("--html into which file?")
	}
	r, err := e.savings(ctx, o, args)
	switch {
	case err != nil:
		return err
	case o.json:
		return printJSON(e.stdout, r)
	case o.html != "":
		return e.writePage(o.html, r)
	}
	r.print(e.stdout)
	return nil
}

// savings is the report of the server that is asked for, or of all that are
// configured.
func (e *env) savings(ctx context.Context, o *options, args []string) (*savingReport, error) {
	r := &savingReport{Estimator: estimator, Servers: []serverSaving{}, Missing: []missing{}}
	if len(args) == 0 && !o.asks() {
		return r, e.allSavings(ctx, o, r)
	}
	s, rest, err := e.target(o, args)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, usage("report takes one server")
	}
	if err := e.fetch(ctx, o, s); err != nil {
		return nil, err
	}
	saved, err := e.savingOf(ctx, o, s)
	r.Servers = append(r.Servers, saved)
	return r, err
}

// allSavings reports on every server of the file. It lists none of them: that
// would start them all.
func (e *env) allSavings(ctx context.Context, o *options, r *savingReport) error {
	file, err := e.file(o)
	if err != nil {
		return err
	}
	world := e.inHosts(o)
	for _, name := range file.Names() {
		s, err := file.Server(name)
		var saved serverSaving
		if err == nil {
			saved, err = world(s).savingOf(ctx, o, s)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.Missing = append(r.Missing, missingOf(name, err))
		default:
			r.Servers = append(r.Servers, saved)
		}
	}
	if len(r.Servers) > 1 {
		r.Total = totalOf(r.Servers)
	}
	return nil
}

// missingOf says why a server is missing, as far as its name does not say it.
func missingOf(server string, err error) missing {
	var fault *upstream.Error
	switch {
	case errors.Is(err, errNothingCached):
		return missing{server, errNothingCached.Error(), "mcp-facade report " + server}
	case errors.As(err, &fault):
		return missing{server, compact.Line(fault.Op + ": " + fault.Err.Error()), compact.Line(fault.Hint)}
	}
	return missing{server, compact.Line(err.Error()), ""}
}

// savingOf is the report of one server whose catalog is cached.
func (e *env) savingOf(ctx context.Context, o *options, s *config.Server) (serverSaving, error) {
	c, err := e.stored(o, s)
	if err != nil {
		return serverSaving{}, err
	}
	records, unread, err := ledger.Read(e.ledgerPath(s))
	if err != nil {
		return serverSaving{}, unreadLedger(s, err)
	}
	list, err := e.asShown(ctx, o, s, "")
	if err != nil {
		return serverSaving{}, err
	}
	r := serverSaving{Server: s.Name, figures: e.figuresOf(s.Name, c, list), unread: unread}
	r.Use = activityOf(s, records, unread)
	r.Tools = toolUses(s, c, list, records)
	if r.Use != nil {
		if r.Balance, err = e.balancesOf(ctx, o, s, c, &r, records); err != nil {
			return r, err
		}
	}
	r.BreakEven = breakEvenOf(r.figures, r.Use, r.Balance)
	r.Notes = r.remarks(e, s)
	return r, nil
}

// unreadLedger words why the ledger of a server cannot be read.
func unreadLedger(s *config.Server, err error) error {
	return &upstream.Error{Server: s.Name, Op: "read the ledger", Err: err, Hint: "again or, if that does not help, with that file moved away; another is begun then"}
}

// ledgerPath is where the ledger of a server is.
func (e *env) ledgerPath(s *config.Server) string {
	return ledger.Path(filepath.Join(e.stateDir, "ledger"), s.Name)
}

// asShown is the surface of a server whose catalog is cached, as the host is shown
// it whose list that is: of that kind, "meta" or "all", or as the config says.
// Nothing is started for it.
func (e *env) asShown(ctx context.Context, o *options, s *config.Server, kind string) (list []gjson.Result, err error) {
	own := *s
	own.Surface = cmp.Or(kind, s.Surface)
	head, _, err := e.cached(o, s)
	if err != nil {
		return nil, err
	}
	settings := e.facadeOptions(o, &own, slog.LevelError)
	settings.Dial = nothingStarted
	h := inProcess(ctx, s.Name, settings)
	if err = h.openAs(head); err == nil {
		list, err = h.tools()
	}
	return list, errors.Join(err, h.close())
}

// totalOf sums up several servers.
func totalOf(servers []serverSaving) *saving {
	t := &saving{}
	for _, s := range servers {
		t.Catalog.plus(*s.Catalog)
		t.Names.plus(*s.Names)
		t.Surface.plus(s.Surface)
		t.Deferred.plus(s.Deferred)
		if s.Use != nil {
			t.Sessions += s.Use.Sessions
			t.Calls += s.Use.Calls
			t.Balance.Shown.plus(s.Balance.Shown)
			t.Balance.Deferred.plus(s.Balance.Deferred)
		}
	}
	return t
}

func (c *cost) plus(d cost) {
	c.Tools += d.Tools
	c.Tokens += d.Tokens
}

// remarks are what else there is to say of a server.
func (r *serverSaving) remarks(e *env, s *config.Server) []string {
	notes := append(r.shownTo.notes(), r.BreakEven.words(r))
	switch {
	case r.Use == nil && (!s.Ledger || e.noLedger):
		return append(notes, `What was used is not recorded: "ledger" is false or MCP_FACADE_NO_LEDGER is set.`)
	case r.Use == nil && r.unread > 0:
		return append(notes, fmt.Sprintf("Of the ledger no line could be read, of %d.", r.unread))
	case r.Use == nil:
		return append(notes, "Nothing was recorded yet: once hosts have used "+r.Server+" through mcp-facade, this says how it was used and what came of it.")
	}
	notes = append(notes, ofSessions)
	if n := r.Use.Whole; n > 0 {
		which := fmt.Sprintf("In %d of the %d sessions", n, r.Use.Sessions)
		if n == r.Use.Sessions {
			which = "In every session"
		}
		notes = append(notes, which+" every tool was listed, as is right for a host that defers tools by itself.")
	}
	if n := r.Use.Sessions - r.Use.Whole; n > 0 && s.Surface == "all" {
		notes = append(notes, fmt.Sprintf("In %s the list was another one: the used tools and the meta-tools.", plural(n, "session")))
	}
	if r.Balance.Deferred.Net < 0 && s.Surface != "all" && r.Use.Discover.Times+r.Use.Describe.Times > 0 {
		notes = append(notes, `A host that defers tools by itself searches them itself, too: there "surface": "all" spares it the searches through mcp-facade.`)
	}
	notes = append(notes, "What a host that defers tools would have spent on searches of its own is not known, and not counted.", notCounted)
	if r.Use.Unread > 0 {
		notes = append(notes, plural(r.Use.Unread, "line")+" of the ledger could not be read.")
	}
	return notes
}

// ofSessions says what is counted as a session.
const ofSessions = "A session is each start of mcp-facade by a host that asked for the tools. A host that checks or restarts its servers makes some, too; each counts the list of tools once, with mcp-facade and without."

// notCounted says which costs the ledger does not have. Our instructions were
// measured with the catalogs of real servers.
const notCounted = "Not counted, either: the instructions of mcp-facade itself (about 100 tokens in each session, where tools are left to searches), the texts by which it refuses a call, and the signature that it adds to a tool's error, once for each tool."

// print shows the report to a person: all there is of one server, and a line for
// each of several.
func (r *savingReport) print(w io.Writer) {
	if len(r.Servers) == 1 && len(r.Missing) == 0 {
		r.Servers[0].print(w)
		return
	}
	if len(r.Servers) > 0 {
		r.printLines(w)
	}
	for i, m := range r.Missing {
		if i == 0 && len(r.Servers) > 0 {
			fmt.Fprintln(w)
		}
		text := m.Server + ": " + m.Reason
		if m.try != "" {
			text += "; try: " + m.try
		}
		fmt.Fprintln(w, text)
	}
}

// printLines shows several servers, their total first.
func (r *savingReport) printLines(w io.Writer) {
	fmt.Fprintf(w, "Tokens (%ss) of the tools, and what came of all sessions on this machine\n\n", estimator)
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "tools\twithout\tnames\twith\tsessions\tcalls\tall shown\tdeferred\t\n")
	line := func(name string, without, names, with cost, sessions, calls int, b *balances) {
		shown, deferred := "", ""
		if sessions > 0 {
			shown, deferred = b.Shown.outcome(strconv.Itoa), b.Deferred.outcome(strconv.Itoa)
		}
		fmt.Fprintf(out, "%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t  %s\n", without.Tools, without.Tokens, names.Tokens, with.Tokens, sessions, calls, shown, deferred, name)
	}
	if t := r.Total; t != nil {
		line(fmt.Sprintf("all %d servers", len(r.Servers)), t.Catalog, t.Names, t.Surface, t.Sessions, t.Calls, &t.Balance)
	}
	for _, s := range r.Servers {
		sessions, calls := 0, 0
		if s.Use != nil {
			sessions, calls = s.Use.Sessions, s.Use.Calls
		}
		line(s.Server+s.shownTo.place(), *s.Catalog, *s.Names, s.Surface, sessions, calls, s.Balance)
	}
	out.Flush()
	printNotes(w, []string{
		"without: as the servers list their tools; names: of their names alone; with: as mcp-facade lists them; all shown, deferred: what came of the sessions in hosts that show every tool, and in hosts that defer tools by themselves.",
		ofSessions,
		"mcp-facade report NAME says more of one of them.",
	})
}

func (r *serverSaving) print(w io.Writer) {
	fmt.Fprintf(w, "%s%s (tokens: %ss)\n\n", r.Server, r.shownTo.place(), estimator)
	r.figures.print(w)
	if u := r.Use; u != nil {
		fmt.Fprintf(w, "\nUsed on this machine, %s\n\n", u.period())
		u.print(w)
		fmt.Fprintln(w, "\nTokens of all these sessions, the list of tools counted once in each")
		fmt.Fprintln(w)
		r.Balance.print(w)
	}
	fmt.Fprintln(w)
	r.printTools(w)
	printNotes(w, r.Notes)
}

// print shows how a server was used.
func (u *activity) print(w io.Writer) {
	fmt.Fprintf(w, "  %-10s %6d\n", "sessions", u.Sessions)
	fmt.Fprintf(w, "  %-10s %6d  %d by the tool's own name, %d by call; %d failed\n", "calls", u.Calls, u.Direct, u.Via, u.Failed)
	if u.Refused > 0 {
		fmt.Fprintf(w, "  %-10s %6d  not sent\n", "refused", u.Refused)
	}
	if u.Unanswered > 0 {
		fmt.Fprintf(w, "  %-10s %6d  cancelled or lost, perhaps not sent\n", "unanswered", u.Unanswered)
	}
	for _, l := range []struct {
		what string
		traffic
		note string
	}{{"discover", u.Discover, ""}, {"describe", u.Describe, ""}, {"call", u.Envelope, " more than direct calls would have taken"}} {
		text := fmt.Sprintf("  %-10s %6d", l.what, l.Times)
		if l.Times > 0 {
			text += "  " + plural(l.Tokens, "token") + l.note
		}
		fmt.Fprintln(w, text)
	}
}

// period is the time that the records span, by the days of UTC.
func (u *activity) period() string {
	from, to := u.From.Format(time.DateOnly), u.To.Format(time.DateOnly)
	if from == to {
		return from
	}
	return from + " to " + to
}

// print shows both balances.
func (b *balances) print(w io.Writer) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "without\twith\tsearches and envelopes\tnet\t\n")
	for _, l := range []struct {
		b    balance
		host string
	}{{b.Shown, "in a host that shows every tool"}, {b.Deferred, "in a host that defers tools by itself"}} {
		fmt.Fprintf(out, "%d\t%d\t%d\t%s\t  %s\n", l.b.Without, l.b.With, l.b.Traffic, l.b.outcome(strconv.Itoa), l.host)
	}
	out.Flush()
}

// toolsShown is how many tools a person is shown that are not on the surface.
const toolsShown = 40

// printTools shows the tools that are shown or were called, the others as a sum.
func (r *serverSaving) printTools(w io.Writer) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "listed\tnames\tours\tdirect\tby call\tfound\t\n")
	var rest cost
	others := 0
	for _, t := range r.Tools {
		if t.State != stateShown && t.State != stateUnknown {
			if others++; t.calls() == 0 || others > toolsShown {
				rest.add(number(t.Listed))
				continue
			}
		}
		fmt.Fprintf(out, "%s\t%s\t%d\t%d\t%d\t%d\t  %s\n", optional(t.Listed), optional(t.Names), t.Ours, t.Direct, t.Via, t.Found, t.named())
	}
	out.Flush()
	if rest.Tools > 0 {
		fmt.Fprintf(w, "  and %s not shown, of %s as listed; --json has them all\n", plural(rest.Tools, "tool"), plural(rest.Tokens, "token"))
	}
	fmt.Fprintln(w, "  listed: tokens as the server lists it; names: of its name; ours: as it is shown; found: by searches")
}

func number(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func optional(n *int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

// A toolUse is one tool, what it costs and how it was used.
type toolUse struct {
	Name   string `json:"name"`   // "": of calls by names that were never listed
	Listed *int   `json:"listed"` // in tokens, as the upstream lists it; null: not of the upstream
	Names  *int   `json:"names"`  // its name alone; null likewise
	Ours   int    `json:"ours"`   // as it is shown; 0: it is not, until it is searched for
	State  string `json:"state"`
	Direct int    `json:"direct"` // calls by its own name
	Via    int    `json:"call"`   // calls by call
	Failed int    `json:"failed"`
	Found  int    `json:"found"` // searches that have shown it
}

func (t *toolUse) calls() int { return t.Direct + t.Via }

// The states of a tool that was called and is not in the catalog: it was in one,
// or it is any that never was.
const (
	stateGone    = "gone"
	stateUnknown = "unknown"
)

// named is the tool's name, and that it is gone.
func (t *toolUse) named() string {
	switch t.State {
	case stateGone:
		return t.Name + " (not listed any more)"
	case stateUnknown:
		return "(names that were never listed)"
	}
	return t.Name
}

// toolUses are the tools of a surface, then those that are not on it, the most
// called first.
func toolUses(s *config.Server, c *catalog.Catalog, list []gjson.Result, records []ledger.Record) []toolUse {
	counts := countTools(records)
	uses := []toolUse{}
	seen := map[string]bool{}
	for _, raw := range list {
		t := toolUse{Name: shownName(raw.Get("name").Str), Ours: facade.ModelTokens([]byte(raw.Raw)), State: stateShown}
		if up, ok := c.Lookup(raw.Get("name").Str); ok {
			t.ofUpstream(s, up, counts)
			seen[up.Name] = true
		}
		uses = append(uses, t)
	}
	shown := len(uses)
	for _, up := range c.Tools() {
		if seen[up.Name] {
			continue
		}
		t := toolUse{Name: shownName(up.Name), State: stateFound}
		if config.Match(s.Hide, up.Name) {
			t.State = stateHidden
		}
		t.ofUpstream(s, up, counts)
		uses = append(uses, t)
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if _, ok := c.Lookup(name); !ok && counts[name].direct+counts[name].via > 0 {
			t := toolUse{Name: shownName(name), State: stateGone}
			if name == "" {
				t.State = stateUnknown
			}
			t.count(counts[name])
			uses = append(uses, t)
		}
	}
	slices.SortStableFunc(uses[shown:], func(a, b toolUse) int { return b.calls() - a.calls() })
	return uses
}

// ofUpstream fills in what the upstream's tool costs and how it was used.
func (t *toolUse) ofUpstream(s *config.Server, up catalog.Tool, counts map[string]toolCount) {
	listed, names := facade.ModelTokens(up.Raw), nameTokens(s.Name, up.Name)
	t.Listed, t.Names = &listed, &names
	t.count(counts[up.Name])
}

func (t *toolUse) count(n toolCount) {
	t.Direct, t.Via, t.Failed, t.Found = n.direct, n.via, n.failed, n.found
}

// shownName is a tool's name for a person: one line, and not endless.
func shownName(name string) string {
	const limit = 128
	line := []rune(compact.Line(name))
	if len(line) > limit {
		return string(line[:limit]) + "…"
	}
	return string(line)
}
