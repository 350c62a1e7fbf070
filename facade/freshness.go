package facade

import (
	"context"
	"fmt"
	"time"

	"mcp-facade/catalog"
)

// searching runs a meta-tool that needs the catalog.
func (f *Facade) searching(ctx context.Context, c *invocation, find func(*catalog.Catalog) (a answer, failed bool)) {
	f.spawn(func() {
		all, err := f.listed(ctx, c.view)
		if err != nil {
			f.deny(c, f.unavailable(err))
			return
		}
		a, failed := find(all)
		said := result(c.view, a.text, failed)
		f.noteSearch(f.reply(c.m, said), c, a, failed, len(said))
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

// unavailable is what a meta-tool says without a catalog.
func (f *Facade) unavailable(err error) error {
	return &refusal{f.name() + "'s tools are not known: " + f.plain(err) + ".", tryAgain}
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
