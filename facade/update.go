package facade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"mcp-facade/catalog"
	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// Refresh fetches the lists of every view that is cached, by the opening it
// was stored with; without one, those of a bare client. It returns what is not as
// the user has accepted it, by name; before anything is accepted, that is every
// tool. A view that cannot be listed stays as it is and does not keep the others
// from it: with the error come the changes of those, nil if there are none.
func Refresh(ctx context.Context, o Options) ([]Change, error) {
	r, err := o.renewed(ctx)
	if err != nil {
		return nil, err
	}
	if r.unread != nil {
		return nil, errors.Join(r.failed, &upstream.Error{Server: o.Server.Name, Op: "refresh", Err: r.unread,
			Hint: o.Refreshing(true) + ", which accepts the tools as they are now: look at them first"})
	}
	if r.before == nil && o.Accepted != nil {
		err = r.accept(ctx) // of several views only one was
	}
	return r.result(err)
}

// Accept is Refresh that accepts what it has listed. What was accepted before
// stays so only if a view could not be listed: it may be the form of that one.
func Accept(ctx context.Context, o Options) ([]Change, error) {
	r, err := o.renewed(ctx)
	if err != nil {
		return nil, err
	}
	return r.result(r.accept(ctx))
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
	r.failed = whyUnlisted(heads, errs)
	r.changes = New(o).changes(r.before, r.listed, r.failed == nil)
	return r, nil
}

// whyUnlisted joins why views could not be listed: once, if none could be for the
// same reason, else for which host.
func whyUnlisted(heads []catalog.Head, errs []error) error {
	same := func(err error) bool { return err != nil && errs[0] != nil && err.Error() == errs[0].Error() }
	if !slices.ContainsFunc(errs, func(err error) bool { return !same(err) }) {
		return errs[0]
	}
	for i, err := range errs {
		if err != nil {
			errs[i] = fmt.Errorf("%w (for %s)", err, hostOf(heads[i]))
		}
	}
	return errors.Join(errs...)
}

// hostOf is what the host called itself for which a view was stored.
func hostOf(h catalog.Head) string {
	opening := gjson.ParseBytes(h.Opening)
	name := cmp.Or(opening.Get("clientInfo.name").Str, opening.Get(`io\.modelcontextprotocol/clientInfo.name`).Str)
	return spelled(name) + " in " + h.View.Version
}

// result is what has changed, unless that could not be accepted or nobody knows.
func (r *renewed) result(unkept error) ([]Change, error) {
	if unkept != nil || r.failed != nil && len(r.listed) == 0 {
		return nil, errors.Join(r.failed, unkept)
	}
	return r.changes, r.failed
}

// accept accepts what is listed. That there is nothing is not the first that is
// accepted of a server.
func (r *renewed) accept(ctx context.Context) error {
	tools := r.listed
	switch {
	case r.o.Accepted == nil:
		return &upstream.Error{Server: r.o.Server.Name, Op: "accept its tools", Err: errUnkept}
	case len(tools) == 0 && (r.failed != nil || r.before == nil):
		return nil
	case r.failed != nil:
		tools = append(r.before.Tools(), tools...)
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
