package facade

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/config"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// surfaceFormat is raised when a rendering comes out otherwise than before for
// the same program version, catalog and config.
const surfaceFormat = "3"

// A surface is what tools/list shows of one catalog, and the names by which
// its tools are called. It does not change.
type surface struct {
	json    []byte            // the whole of it, as it is stored
	tools   []byte            // raw array: what tools/list shows
	hidden  int               // tools of the catalog that are not shown
	about   string            // what those are about, for a model; "": nothing is known of it
	offered bool              // the meta-tools are among those shown
	empty   bool              // the upstream has no tools, so we have none either
	meta    map[string]string // which meta-tool a name is
	kind    map[string]string // the name of a meta-tool
	names   func() *names
	effects func() map[string]effect // of the tools that do not simply write, by the upstream's name; only if it matters

	accepted string                   // the revision of what was accepted when it was made, if that counts
	held     func() map[string]string // why a tool is withheld, by the upstream's name
}

// openSurface reads what render has made.
func openSurface(stored []byte) *surface {
	s := &surface{json: stored, meta: map[string]string{}, kind: map[string]string{}}
	s.names = func() *names { return openNames(gjson.Result{}, nil) }
	s.effects = func() map[string]effect { return nil }
	s.held = func() map[string]string { return nil }
	gjson.ParseBytes(stored).ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "hidden":
			s.hidden = int(v.Int())
		case "about":
			s.about = v.Str
		case "offered":
			s.offered = v.Bool()
		case "empty":
			s.empty = v.Bool()
		case "meta":
			s.nameMetaTools(v)
		case "tools":
			s.tools = []byte(v.Raw)
		case "names":
			s.names = sync.OnceValue(func() *names { return openNames(v, s.held()) })
		case "effects":
			s.effects = sync.OnceValue(func() map[string]effect { return openEffects(v) })
		case "accepted":
			s.accepted = v.Str
		case "held":
			s.held = sync.OnceValue(func() map[string]string { return openPairs(v) })
		}
		return true
	})
	return s
}

// nameMetaTools reads an object of the meta-tools' names.
func (s *surface) nameMetaTools(stored gjson.Result) {
	stored.ForEach(func(kind, name gjson.Result) bool {
		s.meta[name.Str], s.kind[kind.Str] = kind.Str, name.Str
		return true
	})
}

func openEffects(stored gjson.Result) map[string]effect {
	effects := map[string]effect{}
	stored.ForEach(func(tool, e gjson.Result) bool {
		effects[tool.Str] = effect(e.Int())
		return true
	})
	return effects
}

// openPairs reads what appendPairs has written.
func openPairs(stored gjson.Result) map[string]string {
	pairs := map[string]string{}
	stored.ForEach(func(key, value gjson.Result) bool {
		pairs[key.Str] = value.Str
		return true
	})
	return pairs
}

// changing are the tools that do not only read.
func (s *surface) changing() (tools []string) {
	for _, tool := range s.names().shown {
		if s.effects()[tool] != reads {
			tools = append(tools, tool)
		}
	}
	return tools
}

// fingerprint names everything besides the catalog that shapes a surface: accepted
// is the revision of what is accepted.
func (f *Facade) fingerprint(accepted string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s\n%s", surfaceFormat, f.o.Version, f.name(), accepted, f.o.Server.Fingerprint())
	if f.o.Server.Auto {
		fmt.Fprintf(h, "chosen %q", f.o.Choice.Tools())
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// render makes the surface of a catalog.
func (f *Facade) render(c *catalog.Catalog, handshake []byte) *surface {
	all := c.Tools()
	shown := shownNames(all, f.o.Server.Names)
	meta := f.metaNames(shown)
	pick := f.choose(c)
	tools, hidden := f.show(all, pick, shown)
	empty := len(all) == 0 && !gjson.GetBytes(handshake, "capabilities.tools").Exists()
	about := ""
	if f.o.Server.Split && f.nothingReads(c) {
		f.log.Warn("no tool is marked as read-only: call runs none", "key", "split")
	}
	offered := !empty && (pick.meta || pick.whole && len(hidden) > 0 || f.asksModel() && slices.ContainsFunc(all, f.isDelicate))
	if offered {
		r := f.reached(c, hidden, handshake)
		about = r.about
		tools = append(tools, f.metaTools(meta, r)...)
	}
	b := fmt.Appendf(nil, `{"hidden":%d,"offered":%t,"empty":%t,"about":`, len(hidden), offered, empty)
	b = append(wire.AppendString(b, about), `,"meta":`...)
	b = appendPairs(b, f.kinds(), func(kind string) string { return meta[kind] })
	b = append(append(b, `,"tools":[`...), bytes.Join(tools, []byte(","))...)
	b = append(b, `],"names":`...)
	b = appendPairs(b, toolNames(all), func(name string) string { return shown[name] })
	return openSurface(append(f.appendEffects(b, all), '}'))
}

// appendEffects appends what the tools do, so that a call needs no catalog to be
// judged.
func (f *Facade) appendEffects(b []byte, all []catalog.Tool) []byte {
	if !f.guarded() {
		return b
	}
	b = append(b, `,"effects":{`...)
	for _, t := range all {
		if e := f.effectOf(t); e != writes {
			b = append(wire.AppendString(b, t.Name), ':')
			b = append(strconv.AppendInt(b, int64(e), 10), ',')
		}
	}
	return append(bytes.TrimSuffix(b, []byte(",")), '}')
}

// bare is the surface without a catalog: the meta-tools, which say why.
func (f *Facade) bare() *surface {
	c, _ := catalog.New(nil)
	s := f.render(c, []byte(`{"capabilities":{"tools":{}}}`))
	s.tools = append(append([]byte("["), bytes.Join(f.metaTools(s.kind, reach{}), []byte(","))...), ']')
	return s
}

// appendPairs appends an object of strings.
func appendPairs(b []byte, keys []string, value func(string) string) []byte {
	for i, key := range keys {
		b = append(b, "{,"[min(i, 1)])
		b = append(wire.AppendString(b, key), ':')
		b = wire.AppendString(b, value(key))
	}
	if len(keys) == 0 {
		b = append(b, '{')
	}
	return append(b, '}')
}

// A choice is which tools of a catalog are shown, how far they are trimmed,
// and whether the meta-tools come after them.
type choice struct {
	tools []catalog.Tool
	used  map[string]bool // which of them the host is to load always, by name
	level string
	meta  bool
	whole bool // without "used", all fits: the meta-tools come only if a tool cannot be shown
}

// Level is how far the tools of a catalog are trimmed for a host: as "compact"
// says, but less where they are all shown because they are few.
func Level(s *config.Server, c *catalog.Catalog) string {
	f := New(Options{Server: s})
	return f.choose(f.reachable(legacy, c, slog.LevelDebug)).level
}

// NothingReads reports whether a catalog has tools, none of which only reads.
func NothingReads(s *config.Server, c *catalog.Catalog) bool {
	f := New(Options{Server: s})
	return f.nothingReads(f.reachable(legacy, c, slog.LevelDebug))
}

func (f *Facade) nothingReads(c *catalog.Catalog) bool {
	only := func(t catalog.Tool) bool { return f.effectOf(t) == reads }
	return len(c.Tools()) > 0 && !slices.ContainsFunc(c.Tools(), only)
}

// choose picks the tools to show: the used ones, or all. With "auto" a catalog
// that fits surfaceBudget is shown whole, and else the used ones are those that
// were chosen by the ledger.
func (f *Facade) choose(c *catalog.Catalog) choice {
	s, all := f.o.Server, c.Tools()
	tools, used := f.used(c)
	switch {
	case s.Surface == "all":
		return choice{tools: all, used: used, level: s.Compact}
	case s.Auto && f.fits(all):
		for _, t := range all {
			used[t.Name] = true
		}
		return choice{tools: all, used: used, level: f.gentle(), whole: true}
	}
	return choice{tools: tools, used: used, level: s.Compact, meta: true}
}

// used finds the used tools, in the order of the config, a glob's in the order
// of the upstream; with "auto" as they were chosen.
func (f *Facade) used(c *catalog.Catalog) (tools []catalog.Tool, taken map[string]bool) {
	taken = map[string]bool{}
	for _, t := range f.chosen(c) {
		taken[t.Name] = true
		tools = append(tools, t)
	}
	for _, glob := range f.o.Server.Used {
		matched := false
		for _, t := range c.Tools() {
			if !config.Match([]string{glob}, t.Name) {
				continue
			}
			matched = true
			if !taken[t.Name] {
				taken[t.Name] = true
				tools = append(tools, t)
			}
		}
		hides := func(hide string) bool { return config.Match([]string{glob}, hide) }
		if !matched && len(c.Tools()) > 0 && (f.hidden(glob) || slices.ContainsFunc(f.o.Server.Hide, hides)) {
			f.log.Warn("an entry of \"used\" is hidden by \"hide\"", "tool", glob)
		}
	}
	return tools, taken
}

// nearestTo is the attribute of a log record that names the tools nearest to a
// glob, if there are any.
func nearestTo(c *catalog.Catalog, glob string) []any {
	if near := c.Nearest(strings.Trim(glob, "*?"), 3); len(near) > 0 {
		return []any{"nearest", joined(near)}
	}
	return nil
}

// fits reports whether a catalog costs no more than surfaceBudget when it is
// shown whole.
func (f *Facade) fits(all []catalog.Tool) bool {
	sum := 0
	for _, t := range all {
		sum += ModelTokens(compact.Tool(t.Raw, compact.Options{Level: f.gentle(), Keep: f.o.Server.Keep}))
		if sum > f.o.Server.SurfaceBudget {
			return false
		}
	}
	return len(all) > 0
}

// gentle is the level of a catalog that fits as a whole: nothing of it needs to
// be cut.
func (f *Facade) gentle() string {
	if f.o.Server.Compact == "off" {
		return "off"
	}
	return "lossless"
}

// ModelTokens estimates what a tool costs a model: its name, description and
// inputSchema.
func ModelTokens(tool []byte) int { return compact.Tokens(modelText(tool)) }

// modelText is what of a tool a host hands to its model.
func modelText(tool []byte) []byte {
	b := []byte("{")
	for _, key := range []string{"name", "description", "inputSchema"} {
		if v := gjson.GetBytes(tool, key); v.Exists() {
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = append(wire.AppendString(b, key), ':')
			b = append(b, v.Raw...)
		}
	}
	return append(b, '}')
}

// show renders the tools of a choice, and tells which of all are not shown:
// those that were not chosen and those that no host can take.
func (f *Facade) show(all []catalog.Tool, pick choice, shown map[string]string) (tools [][]byte, hidden []catalog.Tool) {
	listed := make(map[string]bool, len(pick.tools))
	for _, t := range pick.tools {
		b, err := f.trim(t, shown[t.Name], pick.level, pick.used[t.Name])
		if err != nil {
			f.log.Warn("tool left off the surface", "tool", ExactName(t.Name), "err", err)
			continue
		}
		tools, listed[t.Name] = append(tools, b), true
	}
	for _, t := range all {
		if !listed[t.Name] {
			hidden = append(hidden, t)
		}
	}
	return tools, hidden
}

// trim is a tool as the host is shown it. The error says why no host can take
// it.
func (f *Facade) trim(t catalog.Tool, name, level string, used bool) ([]byte, error) {
	b := compact.Tool(f.overruled(t), compact.Options{Level: level, Keep: f.o.Server.Keep})
	if name != t.Name {
		b = wire.SetMember(b, "name", wire.AppendString(nil, name))
	}
	b, err := hostproof(b)
	if err != nil {
		return nil, err
	}
	if load := f.o.Server.AlwaysLoad; used && (load == "true" || load == "used") {
		meta := []byte(gjson.GetBytes(b, "_meta").Raw)
		if len(meta) == 0 {
			meta = []byte("{}")
		}
		b = wire.SetMember(b, "_meta", wire.SetMember(meta, "anthropic/alwaysLoad", []byte("true")))
	}
	return b, nil
}

// listTools answers tools/list: the surface on one page, at once when there is
// one, else when the upstream has listed its tools or startTimeout is over.
func (f *Facade) listTools(ctx context.Context, v *view, m wire.Message) {
	if m.Params.Get("cursor").Exists() {
		f.refuse(m, codeInvalidParams, "tools/list: there is one page only; ask without a cursor")
		return
	}
	f.compareAgain(v)
	f.mu.Lock()
	stale := v.surface == nil || f.stale(v)
	wait := f.surfaceless(v)
	f.mu.Unlock()
	if stale || f.outdated(v) {
		f.revalidate(ctx, v)
	}
	if !wait {
		f.showTools(v, m)
		return
	}
	f.spawn(func() {
		f.await(ctx, v)
		f.showTools(v, m)
	})
}

// surfaceless reports whether the view has no surface that may be shown. The caller
// holds mu.
func (f *Facade) surfaceless(v *view) bool {
	return v.surface == nil || !f.o.Server.StaleOK && f.stale(v)
}

// showTools sends the surface as it is now.
func (f *Facade) showTools(v *view, m wire.Message) {
	var bare *surface
	f.mu.Lock()
	if f.surfaceless(v) { // rendered without the lock, so there may be one by then
		f.mu.Unlock()
		bare = f.bare()
		f.mu.Lock()
	}
	s := v.surface
	if f.surfaceless(v) {
		s = bare
	}
	v.shown = s.tools
	f.mu.Unlock()
	b := append([]byte(`{"tools":`), s.tools...)
	if v.key.Era == modern {
		b = fmt.Appendf(b, `,"resultType":"complete","ttlMs":%d,"cacheScope":"private"`, f.left(v))
	}
	f.reply(m, append(b, '}'))
	f.noteSession(s)
}

// listPages answers the other lists from the cache while no connection is
// open; an upstream that runs is asked itself.
func (f *Facade) listPages(ctx context.Context, v *view, m wire.Message) {
	f.mu.Lock()
	live := f.link != nil && f.link.open[v.key.Era]
	pages, stale := v.pages, f.stale(v)
	f.mu.Unlock()
	if live || pages == nil || stale && !f.o.Server.StaleOK {
		f.forward(ctx, v, m)
		return
	}
	stored, err := pages(m.Method)
	page := pageAt(stored, m.Params.Get("cursor"))
	if err != nil || page == nil {
		f.forward(ctx, v, m)
		return
	}
	if v.key.Era == modern {
		page = wire.SetMember(page, "ttlMs", strconv.AppendInt(nil, f.left(v), 10))
	}
	f.reply(m, page)
	if stale {
		f.revalidate(ctx, v)
	}
}

// pageAt finds the stored page that a cursor asks for.
func pageAt(pages [][]byte, cursor gjson.Result) []byte {
	if cursor.Type == gjson.Null { // or absent
		if len(pages) == 0 {
			return nil
		}
		return pages[0]
	}
	for i := 1; i < len(pages); i++ {
		if gjson.GetBytes(pages[i-1], "nextCursor").Str == cursor.Str {
			return pages[i]
		}
	}
	return nil
}
