package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"mcp-facade/catalog"
	"mcp-facade/facade"
	"mcp-facade/facade/config"
	"mcp-facade/facade/hosts"

	"github.com/tidwall/gjson"
)

// A limit is something in a tool that not every host takes. What hosts do with
// it was measured with their own programs.
type limit struct {
	has string // "have a description of …"
	why string // which host does what
	do  string // "": keep it off the surface
	hit func(tool gjson.Result) bool
}

// limits are those of hosts, the dearest first.
func limits() []limit {
	return []limit{
		{"have an inputSchema that is not of the type object", "hosts that check the list as a whole then have none of the tools, and no host can call such a one", "", isUnfit},
		{"have an inputSchema without a type", "Claude Code and others that check the list as a whole then have none of the tools", "", isTypeless},
		{"have true or false as the schema of a property", "OpenCode, Gemini CLI, Qwen Code and older Claude Code then have none of the tools, tiny-agents crashes", "", hasBooleanProperty},
		{"have an outputSchema that is not of the type object", "hosts that check the list as a whole then have none of the tools", `take "outputSchema" out of "keep"`, hasBadOutput},
		{"have anyOf or oneOf at the root of the inputSchema", "older Claude Code drops such a tool, newer ones and Codex rewrite it", "", hasRootUnion},
		{"have a property whose name is not of [A-Za-z0-9_.-]", "Claude Code drops such a tool", "", hasOddProperty},
		{"have a name that is not of [A-Za-z0-9_-], or longer than 64", "APIs of models refuse it, so hosts bend it (Claude Code, Codex and OpenCode to _, Copilot CLI to -) or pass it on: rules by its name do not match", "", hasOddName},
		{"have an array without items", "some APIs of models refuse the schema, and with it the request", "", hasBareArray},
		{"have a description of more than 4096 characters", "Claude Code cuts it there", `set "compact": "standard"`, longerThan(4096, 1<<30)},
		{"have a description of more than 2048 characters", "older Claude Code cuts it there", `set "compact": "standard"`, longerThan(2048, 4096)},
	}
}

// checkLimits is about what hosts make of the tools, as the server lists them
// and as they are on the surface.
func checkLimits(p *subject) (all []finding) {
	c := p.tools()
	if c == nil {
		return nil
	}
	s, shown := p.widest(), p.shown(c)
	for _, l := range limits() {
		if f, ok := l.finding(s, c.Tools(), shown); ok {
			all = append(all, f)
		}
	}
	return append(all, p.tooLong(c)...)
}

// A shownServer is a server as hosts are shown it.
type shownServer struct {
	*config.Server
	by []hosts.Host // whose entries set its surface, and the servers file does not
}

// widest is the server as those hosts are shown it that are shown most of it.
func (p *subject) widest() shownServer {
	w := showingOf(p.server.Surface, p.vars[p.name])
	s := shownServer{p.as(w.surface), w.by}
	if w.other != nil && w.surface == "meta" {
		s = shownServer{p.as("all"), w.other}
	}
	return s
}

// as is the server with a surface.
func (p *subject) as(surface string) *config.Server {
	s := *p.server
	s.Surface = surface
	return &s
}

// shown are the tools that a host is shown, as it is shown them.
func (p *subject) shown(c *catalog.Catalog) map[string][]byte {
	return facade.Shown(p.facadeOptions(p.o, p.widest().Server, levelSilent), c)
}

// shownIn are the tools that one host is shown.
func (p *subject) shownIn(h hosts.Host, c *catalog.Catalog) (shownServer, map[string][]byte) {
	own := slices.DeleteFunc(slices.Clone(p.vars[p.name]), func(v hostVars) bool { return v.host.Name != h.Name })
	w := showingOf(p.server.Surface, own)
	s := p.as(w.surface)
	return shownServer{s, w.by}, facade.Shown(p.facadeOptions(p.o, s, levelSilent), c)
}

// finding is what there is to say of a limit, if there is anything.
func (l limit) finding(s shownServer, tools []catalog.Tool, shown map[string][]byte) (finding, bool) {
	var raw, open []string
	mended := 0
	for _, t := range tools {
		if !l.hit(gjson.ParseBytes(t.Raw)) {
			continue
		}
		raw = append(raw, t.Name)
		if b := shown[t.Name]; b != nil && l.hit(gjson.ParseBytes(b)) {
			open = append(open, t.Name)
		} else if b != nil {
			mended++
		}
	}
	f := finding{Level: levelNote, Why: "by itself, " + l.why + "; "}
	switch {
	case len(raw) == 0:
		return f, false
	case len(open) > 0:
		f.Level, f.Why, f.Do = levelWarning, l.why, cmp.Or(l.do, offSurface(s, "it"))
		raw = open
	case mended == len(raw):
		f.Why += "the facade mends it"
	case mended > 0:
		f.Why += "the facade mends those it shows, and " + s.reaches("the others")
	case len(raw) == 1:
		f.Why += "it is not on the surface, and " + s.reaches("it")
	default:
		f.Why += "none of them is on the surface, and " + s.reaches("them")
	}
	f.What = fmt.Sprintf("%s %s: %s", plural(len(raw), "tool"), inNumber(l.has, len(raw)), some(raw))
	return f, true
}

// reaches says what reaches tools that are not on the surface.
func (s shownServer) reaches(them string) string {
	if s.Surface == "all" {
		return "only --surface meta has call, which reaches " + them
	}
	return "call reaches " + them
}

// offSurface is how a tool, which it names, is kept from the hosts and for the
// model.
func offSurface(s shownServer, it string) string {
	const reached = "call reaches it with any host"
	switch {
	case s.Surface == "all" && s.by != nil:
		return "write --surface meta into what " + titles(s.by) + ` starts, and leave ` + it + ` out of "used": ` + reached
	case s.Surface == "all":
		return `set "surface": "meta", and leave ` + it + ` out of "used": ` + reached
	case s.Auto:
		return `name the tools to show in "used", without ` + it + ": " + reached
	}
	return "leave " + it + ` out of "used": ` + reached
}

// inNumber is a text that begins with "have", for one or several.
func inNumber(text string, n int) string {
	if rest, ok := strings.CutPrefix(text, "have "); ok && n == 1 {
		return "has " + rest
	}
	return text
}

// maxNamed is how many names stand in a finding.
const maxNamed = 4

// some are names of the upstream, not all of them if they are many.
func some(names []string) string {
	var shown []string
	for _, name := range names[:min(len(names), maxNamed)] {
		shown = append(shown, facade.ExactName(name))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// tooLong names the tools on the surface of a host whose name is too long for it,
// as it puts something before them.
func (p *subject) tooLong(c *catalog.Catalog) (all []finding) {
	for _, h := range p.hosts() {
		if h.MaxName == 0 {
			continue
		}
		var long []string
		s, shown := p.shownIn(h, c)
		before := strings.Replace(h.Prefix, "%s", p.name, 1)
		for _, t := range c.Tools() {
			if b := shown[t.Name]; b != nil && utf8.RuneCountInString(before+gjson.GetBytes(b, "name").Str) > h.MaxName {
				long = append(long, t.Name)
			}
		}
		if len(long) > 0 {
			all = append(all, finding{Level: levelWarning, What: fmt.Sprintf("%s %s for %s: %s", plural(len(long), "tool"), inNumber("have too long a name", len(long)), h.Title, some(long)),
				Why: fmt.Sprintf("it puts %q before them, and drops or cuts what is longer than %d", before, h.MaxName),
				Do:  "give the server a shorter name in the host, or " + offSurface(s, "it")})
		}
	}
	return all
}

// checkMeeting is about names that hosts make one of.
func checkMeeting(p *subject) (all []finding) {
	c := p.tools()
	if c == nil {
		return nil
	}
	shown := p.shown(c)
	for _, bend := range []struct {
		odd *regexp.Regexp
		f   finding
	}{
		{regexp.MustCompile(`[^A-Za-z0-9_-]`), finding{Level: levelWarning, Why: "hosts that bend other characters to _ call one for the other, or have one of them only"}},
		{regexp.MustCompile(`-`), finding{Level: levelNote, Why: "Codex writes _ for -, and then adds a hash to tell them apart: rules by their names do not match there"}},
	} {
		meeting := map[string][]string{}
		for _, t := range c.Tools() {
			if shown[t.Name] != nil {
				bent := bend.odd.ReplaceAllString(t.Name, "_")
				meeting[bent] = append(meeting[bent], t.Name)
			}
		}
		for _, t := range c.Tools() {
			if names := meeting[bend.odd.ReplaceAllString(t.Name, "_")]; len(names) > 1 && names[0] == t.Name {
				f := bend.f
				if f.Level == levelWarning {
					f.Do = offSurface(p.widest(), "one of them")
				}
				f.What = "names that meet in a host: " + some(names)
				all = append(all, f)
			}
		}
	}
	return all
}

func isTypeless(tool gjson.Result) bool {
	schema := tool.Get("inputSchema")
	return schema.IsObject() && schema.Get("type").Str != "object" && !isUnfit(tool)
}

// isUnfit reports whether no host can take the tool: arguments are an object.
func isUnfit(tool gjson.Result) bool {
	schema := tool.Get("inputSchema")
	kind := schema.Get("type")
	return !schema.IsObject() || kind.Exists() && !slices.ContainsFunc(kind.Array(), func(k gjson.Result) bool { return k.Str == "object" })
}

func hasBooleanProperty(tool gjson.Result) bool {
	return anySchema(tool.Get("inputSchema"), func(s gjson.Result) bool {
		found := false
		s.Get("properties").ForEach(func(_, v gjson.Result) bool {
			found = found || v.IsBool()
			return !found
		})
		return found
	})
}

func hasBadOutput(tool gjson.Result) bool {
	output := tool.Get("outputSchema")
	return output.Exists() && output.Get("type").Str != "object"
}

func hasRootUnion(tool gjson.Result) bool {
	return tool.Get("inputSchema.anyOf").Exists() || tool.Get("inputSchema.oneOf").Exists()
}

// These are compiled when they are needed, so that no start of a server pays for it.
var (
	goodKey  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]+$`) })
	goodName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`) })
)

func hasOddName(tool gjson.Result) bool { return !goodName().MatchString(tool.Get("name").Str) }

// hasOddProperty looks at the root: what is below, no host was seen to check.
func hasOddProperty(tool gjson.Result) bool {
	odd := false
	tool.Get("inputSchema.properties").ForEach(func(k, _ gjson.Result) bool {
		odd = odd || !goodKey().MatchString(k.Str)
		return !odd
	})
	return odd
}

func hasBareArray(tool gjson.Result) bool {
	return anySchema(tool.Get("inputSchema"), func(s gjson.Result) bool {
		isArray := slices.ContainsFunc(s.Get("type").Array(), func(t gjson.Result) bool { return t.Str == "array" })
		return isArray && !s.Get("items").Exists() && !s.Get("prefixItems").Exists()
	})
}

// longerThan counts characters: more than least, and not more than most.
func longerThan(least, most int) func(gjson.Result) bool {
	return func(tool gjson.Result) bool {
		n := utf8.RuneCountInString(tool.Get("description").Str)
		return n > least && n <= most
	}
}

// anySchema reports whether a schema or one that stands in it hits.
func anySchema(s gjson.Result, hit func(gjson.Result) bool) bool {
	if !s.IsObject() {
		return false
	}
	found := hit(s)
	s.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "anyOf", "oneOf", "allOf", "prefixItems":
			v.ForEach(func(_, inner gjson.Result) bool {
				found = found || anySchema(inner, hit)
				return !found
			})
		case "items", "contains", "not", "if", "then", "else", "additionalProperties", "additionalItems":
			found = found || anySchema(v, hit)
		}
		return !found
	})
	return found
}
