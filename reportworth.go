package main

import (
	"context"
	"errors"
	"fmt"

	"mcp-facade/catalog"
	"mcp-facade/facade/config"
	"mcp-facade/facade/ledger"
	"mcp-facade/facade/upstream"
)

// balances are what the sessions of a period cost with the facade and what they
// would have cost without it. Which kind of host they were in is not recorded:
// both are reckoned as if all had been in one.
type balances struct {
	Shown    balance `json:"shown"`    // in a host that shows a model every tool it is given
	Deferred balance `json:"deferred"` // in one that shows names only, but for what is to be loaded always
}

// A balance is in tokens. The list counts once in each session.
type balance struct {
	Without int `json:"without"`
	With    int `json:"with"`
	Traffic int `json:"traffic"` // of discover, describe and the envelopes of call
	Net     int `json:"net"`     // what was saved; below 0, what it has cost more
}

func newBalance(without, with, traffic int) balance {
	return balance{without, with, traffic, without - with - traffic}
}

func (b *balance) plus(c balance) {
	*b = newBalance(b.Without+c.Without, b.With+c.With, b.Traffic+c.Traffic)
}

// outcome words the net result.
func (b balance) outcome(written func(int) string) string {
	switch {
	case b.Net > 0:
		return written(b.Net) + " saved"
	case b.Net < 0:
		return written(-b.Net) + " lost"
	}
	return "nothing saved"
}

// errReportStarts is why a report has no connection to an upstream.
var errReportStarts = errors.New("a report starts no server")

func nothingStarted(context.Context, func(string) []byte) (upstream.Conn, error) {
	return nil, errReportStarts
}

// balancesOf reckons with the catalog as it is now, and with the list that each
// session was given. What is not recorded of that is taken from the surface as it
// is now, of the kind that the session was given.
func (e *env) balancesOf(ctx context.Context, o *options, s *config.Server, c *catalog.Catalog, r *serverSaving, records []ledger.Record) (*balances, error) {
	kinds := map[string]figures{s.Surface: r.figures, "": r.figures}
	var shown, deferred int
	for _, one := range sessionsOf(records) {
		f, ok := kinds[one.kind]
		alike := one.kind == s.Surface || one.kind == ""
		if !ok && (one.kind == "all" || one.kind == "meta") {
			list, err := e.asShown(ctx, o, s, one.kind)
			if err != nil {
				return nil, err
			}
			f = figuresOf(s.Name, c, list)
			kinds[one.kind] = f
		} else if !ok {
			f = r.figures
		}
		list, loaded := one.tokens, f.Deferred.Tokens
		if list == 0 {
			list = f.Surface.Tokens
		} else if f.Deferred == f.Surface { // such a list is loaded as a whole
			loaded = list
		}
		shown, deferred = shown+list, deferred+loaded
		if alike {
			r.sessions, r.lists = r.sessions+1, r.lists+list
		}
	}
	n, traffic := r.Use.Sessions, r.Use.tokens()
	return &balances{
		Shown:    newBalance(n*r.Catalog.Tokens, shown, traffic),
		Deferred: newBalance(n*r.Names.Tokens, deferred, traffic),
	}, nil
}

// A breakEven says from where on the facade is worth its place in a host that
// shows a model every tool.
//
// Let a tool cost what this server's tools cost on average as it lists them, a
// session's list what it has cost on average with the facade where it was of the
// kind that is shown now, a session's traffic likewise (without records of such
// sessions: the list as it is now, and no traffic), and a
// discovery all traffic divided by the searches, so that it has its share of what
// was described and of the envelopes of call. Then
//
//	Tools       = the first number above (list + traffic) / tool:
//	              fewer tools cost no more when all are listed
//	Discoveries = (all tools - list) / discovery, rounded down:
//	              with more in every session, all that is saved is spent on them
//
// Both are for the averages of this server, and for nothing else. Where no tool is
// left to searches there is neither: each tool saves what it is trimmed by.
type breakEven struct {
	PaysOff     bool `json:"paysOff"`
	Tools       *int `json:"tools"`       // null: the server has no tools, or none that is left to searches
	Discoveries *int `json:"discoveries"` // null likewise, or no search was recorded, or it does not pay off without any
}

// breakEvenOf takes a server's figures and what is recorded of it, nil and nil if
// nothing is.
func breakEvenOf(f figures, u *activity, b *balances) (e breakEven) {
	if f.whole {
		e.PaysOff = f.Catalog.Tokens > f.Surface.Tokens
		return e
	}
	sessions, list, traffic := 1, f.Surface.Tokens, 0
	if f.sessions > 0 {
		sessions, list, traffic = f.sessions, f.lists, b.Shown.Traffic
	}
	all := sessions * f.Catalog.Tokens
	e.PaysOff = all > list+traffic
	if all > 0 {
		n := (list+traffic)*f.Catalog.Tools/all + 1
		e.Tools = &n
	}
	if u != nil && u.Discover.Times > 0 && traffic > 0 && all > list {
		m := (all - list) * u.Discover.Times / (sessions * traffic)
		e.Discoveries = &m
	}
	return e
}

// words say it to a person.
func (e breakEven) words(r *serverSaving) string {
	host := "in a host that shows every tool"
	switch {
	case r.whole && e.PaysOff:
		return fmt.Sprintf("%s leaves no tool to searches: %s, what it shows costs %d tokens in place of %d. How many tools there are does not matter, as each saves what it is trimmed by.",
			r.Server, host, r.Surface.Tokens, r.Catalog.Tokens)
	case r.whole && r.Catalog.Tools > 0:
		return fmt.Sprintf("You do not need mcp-facade for %s: %s, its %s cost %d tokens without it, and what it shows costs %d.",
			r.Server, host, plural(r.Catalog.Tools, "tool"), r.Catalog.Tokens, r.Surface.Tokens)
	case e.Tools == nil:
		return r.Server + " lists no tools: you do not need mcp-facade for it."
	case !e.PaysOff && r.Catalog.Tokens <= r.Surface.Tokens:
		return fmt.Sprintf(`You do not need mcp-facade for %s: %s, its %s cost %d tokens without it and %d with it. It would be worth its place from %d tools of their average size on; "surface": "all" only trims them.`,
			r.Server, host, plural(r.Catalog.Tools, "tool"), r.Catalog.Tokens, r.Surface.Tokens, *e.Tools)
	case !e.PaysOff:
		return fmt.Sprintf(`As it was used, you do not need mcp-facade for %s: %s, lists, searches and envelopes cost more than all its tools. Show those that are called (mcp-facade suggest %s) or all of them ("surface": "all").`,
			r.Server, host, r.Server)
	}
	below := fmt.Sprintf("%s has %s: below %d of their average size", r.Server, plural(r.Catalog.Tools, "tool"), *e.Tools)
	rest := fmt.Sprintf(", you do not need mcp-facade for it %s.", host)
	if e.Discoveries == nil {
		return below + rest + " How many discoveries a session may make can be said when some are recorded."
	}
	return below + ", or if every session needs more than " + discoveries(*e.Discoveries) + rest
}

// discoveries is a number of them.
func discoveries(n int) string {
	if n == 1 {
		return "one discovery"
	}
	return fmt.Sprintf("%d discoveries", n)
}
