package facade

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/facade/config"
	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// The two kinds of opening (DESIGN "Eras"): legacy up to 2025-11-25, modern
// from 2026-07-28 on.
const (
	legacy = "legacy"
	modern = "modern"
)

// firstModern is the first stateless revision; revisions are dates and compare
// as strings.
const firstModern = "2026-07-28"

// legacyVersions are the revisions that open with initialize, newest first.
var legacyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// _meta members of MCP 2026-07-28, basic, "_meta".
const (
	metaVersion      = `io\.modelcontextprotocol/protocolVersion`
	metaCapabilities = `io\.modelcontextprotocol/clientCapabilities`
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// A view is what one opening of a host (era, version, capabilities) makes of
// the upstream's lists. Its fields are guarded by Facade.mu, but for key and
// opening, which do not change.
type view struct {
	key     catalog.View
	opening []byte // raw params of initialize, or raw _meta of a modern request

	handshake []byte                                // raw result of initialize or server/discover; nil: not known
	listed    time.Time                             // when the catalog was listed
	ttl       time.Duration                         // the upstream's own; 0: none said
	fleeting  bool                                  // the upstream said 0
	due       bool                                  // it is to be listed anew whatever its age
	fresh     bool                                  // it was listed by this process
	known     bool                                  // it was listed, now or before
	source    *link                                 // the connection that has listed the tools as they are; nil: that is not certain
	surface   *surface                              // nil: there is no catalog
	catalog   func() (*catalog.Catalog, error)      // nil: there is none, or the stored one cannot be read
	all       *catalog.Catalog                      // all tools that this process has listed, also those that are not served
	pages     func(method string) ([][]byte, error) // the other lists; nil: there are none

	greet   func(refused error) // answers an initialize that waits for the upstream
	shown   []byte              // the tools as the host was last given them; nil: never
	missing error               // why there is no catalog, or why it could not be renewed
	tried   time.Time           // when that was found
	ready   chan struct{}       // closed when a listing has come or failed
	waiting bool                // ready is open
	listing *link               // where a listing is under way; nil: none is
	retest  bool                // ask whether the upstream is still a legacy one
	again   bool                // list once more after it
}

func isModern(m wire.Message) bool {
	return m.Params.Get("_meta."+metaVersion).Str >= firstModern
}

// viewOf finds the view of a request: by its own _meta, else by initialize.
func (f *Facade) viewOf(m wire.Message) *view {
	if isModern(m) {
		meta := m.Params.Get("_meta")
		return f.view(modern, meta.Get(metaVersion).Str, meta.Get(metaCapabilities).Raw, meta.Raw)
	}
	f.mu.Lock()
	v := f.current
	f.mu.Unlock()
	if v == nil { // a host that skips initialize is served as a bare client
		v = f.bareView()
	}
	return v
}

// bareView is the view of a client that has said nothing of itself.
func (f *Facade) bareView() *view {
	return f.view(legacy, catalog.CommandView().Version, "", bareOpening)
}

// bareOpening is how that client opens, in the version of [catalog.CommandView].
const bareOpening = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"mcp-facade","version":"1"}}`

// view returns the one view of an opening, read from the cache at first.
func (f *Facade) view(era, version, capabilities, opening string) *view {
	key := catalog.ViewOf(era, version, []byte(capabilities))
	name := key.Key()
	f.mu.Lock()
	v := f.views[name]
	f.mu.Unlock()
	if v != nil {
		return v
	}
	v = &view{key: key, opening: wire.DeleteMember([]byte(opening), "progressToken"), ready: make(chan struct{}), waiting: true}
	if f.o.Store != nil {
		f.warm(v)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.views[name]; known != nil {
		return known
	}
	f.forgetView()
	f.views[name] = v
	return v
}

// maxViews is how many openings of a host are held at once. A modern host may
// say other capabilities with each request, but hardly so many.
const maxViews = 64

// forgetView makes room for one more view. What it takes is still on the disk.
// The caller holds mu.
func (f *Facade) forgetView() {
	for name, v := range f.views {
		if len(f.views) < maxViews {
			return
		}
		if v != f.current && v.listing == nil && v.greet == nil && !v.waiting {
			delete(f.views, name)
		}
	}
}

// warm fills a new view from the disk cache.
func (f *Facade) warm(v *view) {
	e, err := f.o.Store.Load(v.key)
	if err != nil {
		f.log.Debug("no cached catalog", "err", err)
		return
	}
	v.known = e.Exact
	w := view{handshake: e.Head.Handshake, listed: e.Head.Listed, ttl: e.Head.TTL, fleeting: e.Head.Revalidate}
	w.due = !e.Exact || w.fleeting
	if !f.o.Server.StaleOK && f.stale(&w) {
		f.log.Debug("cached catalog not used", "err", "it is stale and staleOk is false")
		return
	}
	f.learnName(w.handshake)
	var s *standing // once load has been called
	load := sync.OnceValues(func() (c *catalog.Catalog, err error) {
		c, s, err = f.stored(e)
		return c, err
	})
	if w.surface = f.rendered(e.Head.Renderings); w.surface == nil {
		c, err := load()
		if err != nil {
			f.log.Debug("no cached catalog", "err", err)
			return
		}
		w.surface = f.renderAs(c, w.handshake, s)
		f.keepRendering(e, w.surface)
	}
	v.handshake, v.listed, v.ttl, v.fleeting, v.due = w.handshake, w.listed, w.ttl, w.fleeting, w.due
	v.surface, v.catalog, v.pages = w.surface, load, e.List
	v.waiting = false
	close(v.ready)
}

// stored reads the catalog of a cache entry.
func (f *Facade) stored(e *catalog.Entry) (*catalog.Catalog, *standing, error) {
	pages, err := e.List("tools/list")
	if err != nil {
		return nil, nil, err
	}
	all, s := f.parsed(pages, slog.LevelDebug), &standing{}
	if f.blocks() { // else only a listing is compared, and nothing is read for that here
		s = f.standing(all)
	}
	return f.catalog(e.Head.View.Era, all, s, slog.LevelDebug), s, nil
}

// parsed are all tools of the pages of tools/list.
func (f *Facade) parsed(pages [][]byte, level slog.Level) *catalog.Catalog {
	c, warnings := catalog.New(pages)
	for _, w := range warnings {
		f.log.Log(context.Background(), level, "catalog", "err", f.masked(w))
	}
	f.unmatched(c, level)
	return c
}

// catalog is what is served of all tools in an era: without those that the config
// hides, those that are withheld and those that cannot be called. They are not
// listed, found, described or called.
func (f *Facade) catalog(era string, all *catalog.Catalog, s *standing, level slog.Level) *catalog.Catalog {
	c := f.reachable(era, all, level)
	if len(s.held) > 0 {
		c = only(c, func(t catalog.Tool) bool { return s.held[t.Name] == "" })
	}
	return f.withKeywords(c)
}

// withKeywords is the catalog with the config's words for its tools.
func (f *Facade) withKeywords(c *catalog.Catalog) *catalog.Catalog {
	if len(f.o.Server.Keywords) == 0 {
		return c
	}
	words := map[string][]string{}
	for _, glob := range slices.Sorted(maps.Keys(f.o.Server.Keywords)) {
		for _, t := range c.Tools() {
			if config.Match([]string{glob}, t.Name) {
				words[t.Name] = append(words[t.Name], f.o.Server.Keywords[glob]...)
			}
		}
	}
	return c.WithKeywords(words)
}

// reachable is the catalog of the tools that may and can be called.
func (f *Facade) reachable(era string, c *catalog.Catalog, level slog.Level) *catalog.Catalog {
	mirrored := era == modern && f.o.Server.Upstream.URL != ""
	if len(f.o.Server.Hide) == 0 && !mirrored {
		return c
	}
	return only(c, func(t catalog.Tool) bool {
		return !f.hidden(t.Name) && (!mirrored || f.mirrors(t, level))
	})
}

// mirrors reports whether the headers that a tool wants to be called with over
// HTTP are possible. One whose are not must be left out (MCP 2026-07-28,
// server/tools, "x-mcp-header").
func (f *Facade) mirrors(t catalog.Tool, level slog.Level) bool {
	err := upstream.CheckHeaders(t.InputSchema)
	if err != nil {
		f.log.Log(context.Background(), level, "tool left out", "tool", f.masked(t.Name), "err", f.masked(err.Error()))
	}
	return err == nil
}

// only is the catalog of those tools of another that are kept.
func only(c *catalog.Catalog, keep func(catalog.Tool) bool) *catalog.Catalog {
	kept := slices.DeleteFunc(slices.Clone(c.Tools()), func(t catalog.Tool) bool { return !keep(t) })
	if len(kept) == len(c.Tools()) {
		return c
	}
	page := []byte(`{"tools":[`)
	for _, t := range kept {
		page = append(append(page, t.Raw...), ',')
	}
	c, _ = catalog.New([][]byte{append(bytes.TrimSuffix(page, []byte(",")), "]}"...)})
	return c
}

// unmatched warns of the config's globs that no tool has, above all of a guard
// that guards nothing.
func (f *Facade) unmatched(c *catalog.Catalog, level slog.Level) {
	s := f.o.Server
	if why := Unguarded(s, c); why != "" {
		f.log.Log(context.Background(), level, f.masked(why), "key", "confirm")
	}
	for _, key := range []struct {
		name  string
		globs []string
	}{{"used", s.Used}, {"hide", s.Hide}, {"readOnly", s.ReadOnly}, {"destructive", s.Destructive},
		{"keywords", slices.Sorted(maps.Keys(s.Keywords))}} {
		for _, glob := range key.globs {
			has := func(t catalog.Tool) bool { return config.Match([]string{glob}, t.Name) }
			if len(c.Tools()) > 0 && !slices.ContainsFunc(c.Tools(), has) {
				f.log.Log(context.Background(), level, "nothing matches an entry of the config",
					append([]any{"key", key.name, "tool", glob}, nearestTo(c, glob)...)...)
			}
		}
	}
}

// rendered finds the rendering that this program would make now.
func (f *Facade) rendered(stored []catalog.Rendering) *surface {
	if f.o.Version == "" {
		return nil
	}
	want := f.fingerprint(f.revision())
	for _, r := range stored {
		if r.Fingerprint == want {
			return openSurface(r.JSON)
		}
	}
	return nil
}

// keepRendering stores what was rendered from a stored catalog, in the background.
func (f *Facade) keepRendering(e *catalog.Entry, s *surface) {
	if f.o.Version == "" || !e.Exact {
		return
	}
	r := catalog.Rendering{Fingerprint: f.fingerprint(s.accepted), JSON: s.json}
	f.spawn(func() {
		if err := e.SaveRendering(r); err != nil {
			f.log.Warn("surface not stored", "err", err)
		}
	})
}

// stale says whether the view's lists must be asked for again. The caller
// holds mu.
func (f *Facade) stale(v *view) bool {
	return v.due || v.missing != nil || time.Since(v.listed) > f.ttl(v)
}

// ttl is how long the view's lists are good.
func (f *Facade) ttl(v *view) time.Duration {
	if v.ttl > 0 {
		return min(v.ttl, f.o.Server.TTL)
	}
	return f.o.Server.TTL
}

// left is how much longer the view's lists are good, in milliseconds, for the
// ttlMs of an answer of ours.
func (f *Facade) left(v *view) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if v.surface == nil || v.fleeting || f.stale(v) {
		return 0
	}
	return max(0, (f.ttl(v) - time.Since(v.listed)).Milliseconds())
}

// tools returns the view's catalog, or why there is none. One whose file turns
// out to be damaged is not cached: it is due to be listed anew.
func (f *Facade) tools(v *view) (*catalog.Catalog, error) {
	f.mu.Lock()
	load, why := v.catalog, cmp.Or(v.missing, errLoading)
	refused := !f.o.Server.StaleOK && f.stale(v)
	f.mu.Unlock()
	if load == nil || refused {
		return nil, why
	}
	c, err := load()
	if err == nil {
		return c, nil
	}
	f.log.Debug("no cached catalog", "err", err)
	f.mu.Lock()
	if !v.fresh {
		v.catalog, v.due = nil, true
	}
	f.mu.Unlock()
	return nil, why
}

var errLoading = errors.New("its catalog is still loading")

// name is what the upstream is called in what we say.
func (f *Facade) name() string { return *f.named.Load() }

// maxName is how long a name may be that an upstream gives itself.
const maxName = 32

// learnName takes the name that the upstream gives itself, where the config
// has none, cleaned to letters, digits and dashes.
func (f *Facade) learnName(handshake []byte) {
	if !f.o.Unnamed {
		return
	}
	if name := CleanName(serverName(handshake)); name != "" {
		f.named.Store(&name)
	}
}

// serverName is what the upstream calls itself in a handshake of either era.
func serverName(handshake []byte) string {
	if legacy := gjson.GetBytes(handshake, "serverInfo.name").Str; legacy != "" {
		return legacy
	}
	return gjson.GetBytes(handshake, `_meta.io\.modelcontextprotocol/serverInfo.name`).Str
}

// CleanName makes a server name of any text: [a-z0-9-]{0,32}.
func CleanName(s string) string {
	clean := strings.Trim(strings.Map(nameRune, s), "-")
	if len(clean) > maxName {
		clean = strings.TrimRight(clean[:maxName], "-")
	}
	return clean
}

func nameRune(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
		return r
	case r >= 'A' && r <= 'Z':
		return r - 'A' + 'a'
	}
	return '-'
}
