package facade

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// A Change is a tool that a refresh found otherwise than it was cached.
type Change struct {
	Tool string `json:"tool"`
	What string `json:"change"` // "added", "removed" or "changed"
}

// Refresh fetches the lists of every view that is cached, by the opening it
// was stored with; without one, those of a bare client. It returns what is
// another tool now than before, by name. A view that cannot be listed stays as
// it is and does not keep the others from it.
func Refresh(ctx context.Context, o Options) ([]Change, error) {
	heads, err := o.openings()
	if err != nil {
		return nil, err
	}
	server := *o.Server
	server.StaleOK = true // for the comparison
	o.Server = &server
	all := []Change{}
	var errs []error
	for _, h := range heads {
		changes, err := New(o).renew(ctx, h)
		all, errs = append(all, changes...), append(errs, err)
	}
	slices.SortFunc(all, func(a, b Change) int {
		return cmp.Or(strings.Compare(a.Tool, b.Tool), strings.Compare(a.What, b.What))
	})
	return slices.Compact(all), errors.Join(errs...)
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

// renew lists one view and compares it with what was cached of it.
func (f *Facade) renew(ctx context.Context, h catalog.Head) ([]Change, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.hostless = true
	f.out = wire.NewWriter(io.Discard, hostQueue)
	capabilities := "capabilities"
	if h.View.Era == modern {
		capabilities = metaCapabilities
	}
	v := f.view(h.View.Era, h.View.Version, gjson.GetBytes(h.Opening, capabilities).Raw, string(h.Opening))
	before, _ := f.tools(v)
	f.mu.Lock()
	v.due, v.retest = true, true
	v.expect()
	f.mu.Unlock()
	f.relistSoon(ctx, v)
	f.await(ctx, v)
	f.mu.Lock()
	fresh, why := v.fresh, cmp.Or(v.missing, ctx.Err(), f.overdueError())
	f.mu.Unlock()
	f.hangUp(ctx)
	cancel()
	f.flush()
	if !fresh {
		return nil, why
	}
	after, err := f.tools(v)
	return changes(before, after), err
}

// changes compares two catalogs by what the upstream wrote.
func changes(before, after *catalog.Catalog) (all []Change) {
	for _, t := range after.Tools() {
		old, ok := catalog.Tool{}, false
		if before != nil {
			old, ok = before.Lookup(t.Name)
		}
		switch {
		case !ok || old.Name != t.Name:
			all = append(all, Change{t.Name, "added"})
		case !bytes.Equal(old.Raw, t.Raw):
			all = append(all, Change{t.Name, "changed"})
		}
	}
	if before == nil {
		return all
	}
	for _, t := range before.Tools() {
		if now, ok := after.Lookup(t.Name); !ok || now.Name != t.Name {
			all = append(all, Change{t.Name, "removed"})
		}
	}
	return all
}
