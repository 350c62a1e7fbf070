package facade

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
const surfaceFormat = "1"

// metaTools are the tools of ours, in the order in which they are listed.
var metaTools = [...]string{"discover", "describe", "call"}

// A surface is what tools/list shows of one catalog, and the names by which
// its tools are called. It does not change.
type surface struct {
	json  []byte            // the whole of it, as it is stored
	tools []byte            // raw array: what tools/list shows
	extra int               // tools of the catalog that are not shown
	empty bool              // the upstream has no tools, so we have none either
	meta  map[string]string // which meta-tool a name is
	kind  map[string]string // the name of a meta-tool
	names func() *names
}

// names finds the upstream's name of a tool in what a host or a model calls it.
type names struct {
	shown map[string]string   // by the name that the host is shown
	fold  map[string][]string // by the lower-case name
}

// upstream returns the upstream's spelling of a tool's name.
func (n *names) upstream(name string) (string, bool) {
	if up, ok := n.shown[name]; ok {
		return up, true
	}
	candidates := n.fold[strings.ToLower(name)]
	if slices.Contains(candidates, name) {
		return name, true
	}
	if len(candidates) == 1 {
		return candidates[0], true
	}
	return "", false
}

// openSurface reads what render has made.
func openSurface(stored []byte) *surface {
	r := gjson.ParseBytes(stored)
	s := &surface{json: stored, meta: map[string]string{}, kind: map[string]string{}}
	s.tools = []byte(r.Get("tools").Raw)
	s.extra, s.empty = int(r.Get("extra").Int()), r.Get("empty").Bool()
	r.Get("meta").ForEach(func(kind, name gjson.Result) bool {
		s.meta[name.Str], s.kind[kind.Str] = kind.Str, name.Str
		return true
	})
	s.names = sync.OnceValue(func() *names { return openNames(r.Get("names")) })
	return s
}

func openNames(stored gjson.Result) *names {
	n := &names{map[string]string{}, map[string][]string{}}
	stored.ForEach(func(up, shown gjson.Result) bool {
		n.shown[shown.Str] = up.Str
		low := strings.ToLower(up.Str)
		n.fold[low] = append(n.fold[low], up.Str)
		return true
	})
	return n
}

// fingerprint names everything besides the catalog that shapes a surface.
func (f *Facade) fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s", surfaceFormat, f.o.Version, f.name(), f.o.Server.Fingerprint())
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// render makes the surface of a catalog.
func (f *Facade) render(c *catalog.Catalog, handshake []byte) *surface {
	all := c.Tools()
	shown := shownNames(all, f.o.Server.Names)
	meta := f.metaNames(shown)
	pick := f.choose(c)
	hidden := len(all) - len(pick.tools)
	empty := len(all) == 0 && !gjson.GetBytes(handshake, "capabilities.tools").Exists()
	var tools [][]byte
	for _, t := range pick.tools {
		tools = append(tools, f.trim(t, shown[t.Name], pick.level, pick.used[t.Name]))
	}
	if pick.meta && !empty {
		tools = append(tools, f.metaTools(meta, hidden)...)
	}
	b := append([]byte(`{"tools":[`), bytes.Join(tools, []byte(","))...)
	b = append(b, `],"meta":`...)
	b = appendPairs(b, metaTools[:], func(kind string) string { return meta[kind] })
	b = append(b, `,"names":`...)
	b = appendPairs(b, toolNames(all), func(name string) string { return shown[name] })
	b = fmt.Appendf(b, `,"extra":%d,"empty":%t}`, hidden, empty)
	return openSurface(b)
}

// bare is the surface without a catalog: the meta-tools, which say why.
func (f *Facade) bare() *surface {
	c, _ := catalog.New(nil)
	s := f.render(c, []byte(`{"capabilities":{"tools":{}}}`))
	s.tools = append(append([]byte("["), bytes.Join(f.metaTools(s.kind, 0), []byte(","))...), ']')
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

func toolNames(tools []catalog.Tool) []string {
	all := make([]string, len(tools))
	for i, t := range tools {
		all[i] = t.Name
	}
	return all
}

// shownNames maps each tool's name to the one that the host is shown: in lower
// case if mode says so, but of two that would meet both keep their spelling.
func shownNames(tools []catalog.Tool, mode string) map[string]string {
	shown := make(map[string]string, len(tools))
	times := map[string]int{}
	for _, t := range tools {
		times[strings.ToLower(t.Name)]++
	}
	for _, t := range tools {
		shown[t.Name] = t.Name
		if low := strings.ToLower(t.Name); mode == "lower" && times[low] == 1 {
			shown[t.Name] = low
		}
	}
	return shown
}

// metaNames maps each meta-tool to the name it is shown by: with the prefix,
// and with the server's name before it if the upstream has a tool of that name.
func (f *Facade) metaNames(shown map[string]string) map[string]string {
	taken := map[string]bool{}
	for _, name := range shown {
		taken[strings.ToLower(name)] = true
	}
	meta := map[string]string{}
	for _, kind := range metaTools {
		name := f.o.Server.Prefix + kind
		for base := name; taken[strings.ToLower(name)]; {
			base = metaPrefix(f.name()) + "_" + base
			name = base
		}
		meta[kind] = name
	}
	return meta
}

// metaPrefix is a server's name as part of a tool's name.
func metaPrefix(server string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || nameRune(r) != '-' {
			return r
		}
		return '_'
	}, server)
}

// A choice is which tools of a catalog are shown, how far they are trimmed,
// and whether the meta-tools come after them.
type choice struct {
	tools []catalog.Tool
	used  map[string]bool // which of them the host is to load always, by name
	level string
	meta  bool
}

// choose picks the tools to show: the used ones, or all. Without "used" a
// catalog that fits surfaceBudget is shown whole.
func (f *Facade) choose(c *catalog.Catalog) choice {
	s, all := f.o.Server, c.Tools()
	tools, used := f.used(c)
	switch {
	case s.Surface == "all":
		return choice{all, used, s.Compact, false}
	case s.Auto && f.fits(all):
		for _, t := range all {
			used[t.Name] = true
		}
		return choice{all, used, "lossless", false}
	}
	return choice{tools, used, s.Compact, true}
}

// used finds the used tools, in the order of the config, a glob's in the order
// of the upstream.
func (f *Facade) used(c *catalog.Catalog) (tools []catalog.Tool, taken map[string]bool) {
	taken = map[string]bool{}
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
		if !matched && len(c.Tools()) > 0 {
			f.log.Warn("nothing matches an entry of \"used\"", "tool", glob, "nearest", joined(c.Nearest(strings.Trim(glob, "*?"), 3)))
		}
	}
	return tools, taken
}

// fits reports whether a catalog costs no more than surfaceBudget when it is
// shown whole.
func (f *Facade) fits(all []catalog.Tool) bool {
	sum := 0
	for _, t := range all {
		sum += ModelTokens(compact.Tool(t.Raw, compact.Options{Level: "lossless", Keep: f.o.Server.Keep}))
		if sum > f.o.Server.SurfaceBudget {
			return false
		}
	}
	return len(all) > 0
}

// ModelTokens estimates what a tool costs a model: its name, description and
// inputSchema.
func ModelTokens(tool []byte) int {
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
	return compact.Tokens(append(b, '}'))
}

// trim is a tool as the host is shown it.
func (f *Facade) trim(t catalog.Tool, name, level string, used bool) []byte {
	b := compact.Tool(t.Raw, compact.Options{Level: level, Keep: f.o.Server.Keep})
	if name != t.Name {
		b = wire.SetMember(b, "name", wire.AppendString(nil, name))
	}
	if load := f.o.Server.AlwaysLoad; used && (load == "true" || load == "used") {
		meta := []byte(gjson.GetBytes(b, "_meta").Raw)
		if len(meta) == 0 || meta[0] != '{' {
			meta = []byte("{}")
		}
		b = wire.SetMember(b, "_meta", wire.SetMember(meta, "anthropic/alwaysLoad", []byte("true")))
	}
	return b
}

// metaTools are the definitions of discover, describe and call. hidden is how
// many tools are reached through them only.
func (f *Facade) metaTools(meta map[string]string, hidden int) [][]byte {
	s := f.name()
	more := ""
	if hidden > 0 {
		more = strconv.Itoa(hidden) + " more tools. "
	}
	hint := f.o.Server.Hint
	if hint != "" {
		hint = compact.Line(hint) + " "
	}
	return [][]byte{
		f.metaTool(meta["discover"],
			"Search "+s+"'s tools. "+more+hint+"Use it before saying that "+s+" cannot do something. Returns signatures to use with "+meta["call"]+".",
			`{"type":"object","properties":{"query":{"type":"string","description":"What you want to do, in the language of the tool descriptions (usually English). Empty lists everything."}},"required":["query"]}`,
			`{"readOnlyHint":true,"openWorldHint":false}`),
		f.metaTool(meta["describe"],
			"Full description and schema of "+s+" tools, when a signature is not enough.",
			`{"type":"object","properties":{"tool":{"type":"string","description":"One name, or several with commas."},"full":{"type":"boolean"}},"required":["tool"]}`,
			`{"readOnlyHint":true,"openWorldHint":false}`),
		f.metaTool(meta["call"],
			"Run any "+s+" tool that "+meta["discover"]+" found.",
			`{"type":"object","properties":{"tool":{"type":"string"},"args":{"type":"object","description":"The tool's own arguments."}},"required":["tool"]}`,
			""),
	}
}

func (f *Facade) metaTool(name, description, schema, annotations string) []byte {
	b := wire.AppendString([]byte(`{"name":`), name)
	b = wire.AppendString(append(b, `,"description":`...), description)
	b = append(append(b, `,"inputSchema":`...), schema...)
	if annotations != "" {
		b = append(append(b, `,"annotations":`...), annotations...)
	}
	if load := f.o.Server.AlwaysLoad; load == "true" || load == "meta" {
		b = append(b, `,"_meta":{"anthropic/alwaysLoad":true}`...)
	}
	return append(b, '}')
}

// instructions say when to use the meta-tools, then what the upstream says of
// itself, within instructionsLimit.
func (f *Facade) instructions(s *surface, handshake []byte) string {
	name, own := f.name(), ""
	kind := f.metaNames(nil)
	if s != nil {
		kind = s.kind
	}
	if s == nil || s.extra > 0 {
		own = "Not every tool of " + name + " is listed. Use " + kind["discover"] + " to find the others and " + kind["call"] + " to run them."
	}
	theirs := gjson.GetBytes(handshake, "instructions").Str
	if theirs == "" {
		return own
	}
	if own != "" {
		own += "\n\nFrom " + name + ":\n"
	}
	return cut(own+lines(theirs), f.o.Server.InstructionsLimit, "\n[cut; "+kind["discover"]+" with an empty query gives all]")
}

// lines is text of others with its line breaks, each line cleaned. None may
// begin like a tool with a mark of ours.
func lines(text string) string {
	all := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range all {
		all[i] = compact.Line(line)
		if low := strings.ToLower(all[i]); strings.HasPrefix(low, readOnlyMark) || strings.HasPrefix(low, destructiveMark) {
			all[i] = "> " + all[i]
		}
	}
	return strings.TrimSpace(strings.Join(all, "\n"))
}

// cut shortens text to a number of characters, of which note, in ASCII, is the
// end, if it finds room.
func cut(text string, limit int, note string) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	if limit < len(note) {
		return string(runes[:limit])
	}
	return strings.TrimRight(string(runes[:limit-len(note)]), " \n") + note
}

// listTools answers tools/list: the surface on one page, at once when there is
// one, else when the upstream has listed its tools or startTimeout is over.
func (f *Facade) listTools(ctx context.Context, v *view, m wire.Message) {
	if m.Params.Get("cursor").Exists() {
		f.refuse(m, codeInvalidParams, "tools/list: there is one page only; ask without a cursor")
		return
	}
	f.mu.Lock()
	stale := v.surface == nil || f.stale(v)
	wait := v.surface == nil || stale && !f.o.Server.StaleOK
	f.mu.Unlock()
	if stale {
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

// showTools sends the surface as it is now.
func (f *Facade) showTools(v *view, m wire.Message) {
	f.mu.Lock()
	s := v.surface
	if s == nil || !f.o.Server.StaleOK && f.stale(v) {
		s = f.bare()
	}
	v.shown = s.tools
	f.mu.Unlock()
	b := append([]byte(`{"tools":`), s.tools...)
	if v.key.Era == modern {
		b = fmt.Appendf(b, `,"resultType":"complete","ttlMs":%d,"cacheScope":"private"`, f.left(v))
	}
	f.reply(m, append(b, '}'))
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
