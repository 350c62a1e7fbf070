package facade

import (
	"cmp"
	"context"
	"errors"
	"io"

	"mcp-facade/catalog"
	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// Refresh fetches the lists of every view that is cached, by the opening it
// was stored with; without one, those of a bare client. It returns what is not as
// the user has accepted it, by name; before anything is accepted, that is every
// tool. A view that cannot be listed stays as it is and does not keep the others
// from it.
func Refresh(ctx context.Context, o Options) ([]Change, error) {
	r, err := o.renewed(ctx)
	if err != nil {
		return nil, err
	}
	if r.unread != nil {
		return nil, errors.Join(r.failed, &upstream.Error{Server: o.Server.Name, Op: "refresh", Err: r.unread,
			Hint: o.Refreshing(true) + ", which accepts the tools as they are now: look at them first"})
	}
	if r.before != nil || o.Accepted == nil {
		return r.changes, r.failed
	}
	return r.changes, errors.Join(r.failed, r.accept(ctx)) // of several views only one was
}

// Accept is Refresh that accepts what it has listed. What was accepted before
// stays so only if a view could not be listed: it may be the form of that one.
func Accept(ctx context.Context, o Options) ([]Change, error) {
	r, err := o.renewed(ctx)
	if err != nil {
		return nil, err
	}
	if len(r.listed) == 0 {
		return nil, r.failed
	}
	return r.changes, errors.Join(r.failed, r.accept(ctx))
}

// A renewed upstream is what all views list now, and how that stands to what the
// user had accepted before.
type renewed struct {
	o       Options
	before  *catalog.Acceptance
	unread  error // why nobody knows what that is
	listed  []catalog.Tool
	changes []Change
	failed  error // why a view could not be listed
}

func (o Options) renewed(ctx context.Context) (*renewed, error) {
	heads, err := o.openings()
	if err != nil {
		return nil, err
	}
	server := *o.Server
	server.StaleOK = true // for the comparison
	o.Server = &server
	r := &renewed{o: o}
	if o.Accepted != nil {
		r.before, r.unread = o.Accepted.Load()
	}
	var errs []error
	for _, h := range heads {
		tools, err := New(o).renew(ctx, h)
		r.listed, errs = append(r.listed, tools...), append(errs, err)
	}
	r.failed = errors.Join(errs...)
	r.changes = New(o).changes(r.before, r.listed, r.failed == nil)
	return r, nil
}

// accept accepts what is listed.
func (r *renewed) accept(ctx context.Context) error {
	if r.o.Accepted == nil {
		return &upstream.Error{Server: r.o.Server.Name, Op: "accept its tools", Err: errUnkept}
	}
	tools := r.listed
	if r.failed != nil {
		tools = append(r.before.Tools(), tools...)
	}
	if len(tools) == 0 {
		return nil
	}
	if err := r.o.Accepted.Accept(ctx, tools); err != nil {
		return &upstream.Error{Server: r.o.Server.Name, Op: "accept its tools", Err: err}
	}
	return nil
}

// openings are the views to refresh.
func (o Options) openings() ([]catalog.Head, error) {
	if o.Store == nil {
		return nil, errors.New("refresh: nothing can be cached")
	}
	heads, err := o.Store.Views()
	if err != nil || len(heads) > 0 {
		return heads, err
	}
	return []catalog.Head{{View: catalog.CommandView(), Opening: []byte(bareOpening)}}, nil
}

// renew lists one view: all of its tools, also those that the config hides.
func (f *Facade) renew(ctx context.Context, h catalog.Head) ([]catalog.Tool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.hostless = true
	f.out = wire.NewWriter(io.Discard, hostQueue)
	capabilities := "capabilities"
	if h.View.Era == modern {
		capabilities = metaCapabilities
	}
	v := f.view(h.View.Era, h.View.Version, gjson.GetBytes(h.Opening, capabilities).Raw, string(h.Opening))
	f.mu.Lock()
	v.due, v.retest = true, true
	v.expect()
	f.mu.Unlock()
	f.relistSoon(ctx, v)
	f.await(ctx, v)
	f.mu.Lock()
	fresh, all, why := v.fresh, v.all, cmp.Or(v.missing, ctx.Err(), f.overdueError())
	f.mu.Unlock()
	f.hangUp(ctx)
	cancel()
	f.flush()
	if !fresh {
		return nil, why
	}
	return all.Tools(), nil
}
