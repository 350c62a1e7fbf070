package facade

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/facade/config"
	"mcp-facade/facade/ledger"
)

// AutoCalls is how many calls the ledger has before "auto" chooses by it: fewer
// say little of what will be called.
const AutoCalls = 20

// A Choice keeps what "auto" has chosen.
type Choice = ledger.Choice

// OpenChoice is the choice in that file, which is read when it is first needed.
func OpenChoice(path string) *Choice { return ledger.OpenChoice(path) }

// Choose picks the used tools of "auto" from a catalog: of those that were called,
// the most called first, what fits into surfaceBudget as a host is shown it. One
// that does not fit is passed over for the next.
func Choose(s *config.Server, c *catalog.Catalog, calls []string) []string {
	f := New(Options{Server: s})
	return f.fill(f.reachable(legacy, c, slog.LevelDebug), nil, calls)
}

// fill adds to chosen tools of a catalog those that were called and that fit.
func (f *Facade) fill(c *catalog.Catalog, chosen, calls []string) []string {
	left := f.o.Server.SurfaceBudget
	for _, name := range chosen {
		cost, _ := f.costOf(c, name)
		left -= cost
	}
	for _, name := range calls {
		cost, shown := f.costOf(c, name)
		if !shown || cost > left || slices.Contains(chosen, name) {
			continue
		}
		chosen, left = append(chosen, name), left-cost
	}
	return chosen
}

// costOf is what a used tool costs a model. It reports false for one that no host
// can be shown.
func (f *Facade) costOf(c *catalog.Catalog, name string) (tokens int, shown bool) {
	t, ok := c.Lookup(name)
	if !ok || t.Name != name {
		return 0, false
	}
	b, err := f.trim(t, name, f.o.Server.Compact, false)
	return ModelTokens(b), err == nil
}

// chosen are the tools of "auto" that a catalog has, in order.
func (f *Facade) chosen(c *catalog.Catalog) (tools []catalog.Tool) {
	if !f.o.Server.Auto {
		return nil
	}
	for _, name := range f.o.Choice.Tools() {
		if t, ok := c.Lookup(name); ok && t.Name == name {
			tools = append(tools, t)
		}
	}
	return tools
}

// chooseFirst has "auto" choose, when the host is gone, if nothing is chosen yet,
// and closes what it returns, for which closeLedger waits. What this process shows, and may be about to store,
// stays as it is.
func (f *Facade) chooseFirst(ctx context.Context) <-chan struct{} {
	chosen := make(chan struct{})
	if f.o.Ledger == nil || !f.o.Server.Auto {
		close(chosen)
		return chosen
	}
	go f.chooseNow(context.WithoutCancel(ctx), chosen)
	return chosen
}

func (f *Facade) chooseNow(ctx context.Context, chosen chan<- struct{}) {
	defer close(chosen)
	v := f.newest()
	if f.o.Choice == nil || v == nil || f.o.Choice.Tools() != nil {
		return
	}
	if f.o.Server.Surface != "all" && !f.surfaceOf(v).offered { // all are shown
		return
	}
	calls, n, err := f.calls(ctx)
	if err != nil {
		f.log.Debug("nothing chosen", "err", err)
	}
	if n < AutoCalls {
		return
	}
	c, err := f.tools(v)
	if err != nil || f.choose(c).whole {
		return
	}
	f.rechoose(ctx, f.o.Choice.Anew(), func(now []string) []string {
		if now != nil { // another process was first
			return now
		}
		return f.fill(c, nil, calls)
	})
}

// mend has "auto" choose anew in the place of chosen tools that are not among all
// of the upstream any more, or are hidden; c are those of them that may be shown
// now. The others keep their order. If another process has the files for long, the
// next listing does it.
func (f *Facade) mend(ctx context.Context, all, c *catalog.Catalog) {
	gone := func(name string) bool {
		t, ok := all.Lookup(name)
		return !ok || t.Name != name || f.hidden(name)
	}
	s := f.o.Server
	if !s.Auto || f.o.Ledger == nil || !slices.ContainsFunc(f.o.Choice.Tools(), gone) || s.Surface != "all" && f.fits(c.Tools()) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, mendWait)
	defer cancel()
	calls, _, err := f.calls(ctx)
	if err != nil {
		f.log.Debug("nothing chosen", "err", err)
		return
	}
	f.rechoose(ctx, f.o.Choice, func(now []string) []string {
		if !slices.ContainsFunc(now, gone) { // another process has done so
			return now
		}
		return f.fill(c, slices.DeleteFunc(now, gone), calls)
	})
}

// mendWait is how long a host waits for its list while others have the ledger or
// the choice; each writes for less than a millisecond.
const mendWait = 200 * time.Millisecond

func (f *Facade) rechoose(ctx context.Context, c *Choice, choose func(now []string) []string) {
	if err := c.Change(ctx, choose); err != nil {
		f.log.Debug("nothing chosen", "err", err)
	}
}

// calls are the tools that were called, the most called first, and how many calls
// the ledger has.
func (f *Facade) calls(ctx context.Context) (tools []string, n int, err error) {
	records, err := f.o.Ledger.Recent(ctx)
	for _, count := range ledger.Calls(records) {
		tools = append(tools, count.Tool)
		n += count.Calls
	}
	return tools, n, err
}

// newest is the view that was listed last, nil if none has a catalog.
func (f *Facade) newest() (newest *view) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range f.views {
		if v.catalog != nil && (newest == nil || v.listed.After(newest.listed)) {
			newest = v
		}
	}
	return newest
}
