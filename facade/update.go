package facade

import (
	"bytes"
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
// another tool now than before, by name.
func Refresh(ctx context.Context, o Options) ([]Change, error) {
	heads, err := o.openings()
	if err != nil {
		return nil, err
	}
	found := map[Change]bool{}
	for _, h := range heads {
		changes, err := New(o).renew(ctx, h)
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			found[c] = true
		}
	}
	all := make([]Change, 0, len(found))
	for c := range found {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Change) int { return strings.Compare(a.Tool+"\x00"+a.What, b.Tool+"\x00"+b.What) })
	return all, nil
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
	v := New(o).bareView()
	return []catalog.Head{{View: v.key, Opening: v.opening}}, nil
}

// renew lists one view and compares it with what was cached of it.
func (f *Facade) renew(ctx context.Context, h catalog.Head) ([]Change, error) {
	f.hostless = true
	f.out = wire.NewWriter(io.Discard, hostQueue)
	defer f.out.Close()
	caps := ""
	if h.View.Era == legacy {
		caps = gjson.GetBytes(h.Opening, "capabilities").Raw
	} else {
		caps = gjson.GetBytes(h.Opening, metaCapabilities).Raw
	}
	v := f.view(h.View.Era, h.View.Version, caps, string(h.Opening))
	before, _ := f.tools(v)
	f.mu.Lock()
	v.due = true
	v.expect()
	f.mu.Unlock()
	f.relistSoon(ctx, v)
	f.await(ctx, v)
	f.mu.Lock()
	err := v.missing
	fresh := v.fresh
	f.mu.Unlock()
	f.hangUp()
	f.wg.Wait()
	if err != nil {
		return nil, err
	}
	if !fresh {
		return nil, ctx.Err()
	}
	after, err := f.tools(v)
	if err != nil {
		return nil, err
	}
	return changes(before, after), nil
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
