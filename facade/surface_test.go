package facade

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"mcp-facade/catalog"
	"mcp-facade/compact"

	"github.com/tidwall/gjson"
)

// named are tools of these names.
func named(names ...string) (tools []string) {
	for _, n := range names {
		tools = append(tools, tool(n, "Does "+n+".", ""))
	}
	return tools
}

// rendered is the surface of these tools for a config entry.
func rendered(t *testing.T, config string, tools ...string) (*surface, *journal) {
	t.Helper()
	log := &journal{}
	f := New(Options{Server: entry(t, config), Log: log.logger()})
	c := f.catalog(legacy, f.parsed([][]byte{[]byte(`{"tools":[` + strings.Join(tools, ",") + `]}`)}, slog.LevelWarn), &standing{}, slog.LevelWarn)
	return f.render(c, []byte(`{"capabilities":{"tools":{}}}`)), log
}

// listedNames are the names on a surface.
func listedNames(s *surface) string {
	var all []string
	for _, n := range gjson.GetBytes(s.tools, "#.name").Array() {
		all = append(all, n.Str)
	}
	return strings.Join(all, " ")
}

func TestSurfaceNames(t *testing.T) {
	long := tool("big", "Big.", `{"type":"object","properties":{"x":{"type":"string","description":"`+strings.Repeat("many words ", 2000)+`"}}}`)
	tests := []struct {
		name   string
		config string
		tools  []string
		want   string
	}{
		{"shows used tools in the order of the config", `,"used":["c","a"]`, named("a", "b", "c"), "c a discover describe call"},
		{"expands a glob in the upstream's order", `,"used":["x_*"]`, named("x_2", "a", "x_1"), "x_2 x_1 discover describe call"},
		{"shows a tool once", `,"used":["a","*","a"]`, named("b", "a"), "a b discover describe call"},
		{"matches names whatever their case", `,"used":["GET_*","LIST"]`, named("list", "get_a"), "get_a list discover describe call"},
		{"shows the meta-tools alone", `,"used":[]`, named("a"), "discover describe call"},
		{"lowers names", `,"used":["*"]`, named("GetIssue"), "getissue discover describe call"},
		{"keeps names", `,"used":["*"],"names":"keep"`, named("GetIssue"), "GetIssue discover describe call"},
		{"keeps both spellings of names that would meet", `,"used":["*"]`, named("Run", "rUN", "Other"), "Run rUN other discover describe call"},
		{"puts the prefix before the meta-tools", `,"used":["a"],"prefix":"acme_"`, named("a"), "a acme_discover acme_describe acme_call"},
		{"gives way with its prefix", `,"used":["a"],"prefix":"x_"`, named("a", "X_CALL"), "a x_discover x_describe acme_x_call"},
		{"gives way to a tool of the same name", `,"used":["*"]`, named("discover", "x"), "discover x acme_discover describe call"},
		{"gives way to a tool that is not shown", `,"used":[]`, named("Call"), "discover describe acme_call"},
		{"gives way twice", `,"used":[]`, named("call", "acme_call"), "discover describe acme_call_2"},
		{"does not give way to a hidden tool", `,"used":[],"hide":["call"]`, named("call"), "discover describe call"},
		{"shows all without the meta-tools", `,"surface":"all","used":["b"]`, named("a", "b"), "a b"},
		{"shows a catalog that fits without the meta-tools", ``, named("a", "b"), "a b"},
		{"shows none of a catalog that does not fit", ``, append(named("a"), long), "discover describe call"},
		{"shows a catalog that fits untouched", `,"compact":"off"`, named("a"), "a"},
		{"keeps to the budget", `,"surfaceBudget":10`, named("a", "b"), "discover describe call"},
		{"leaves hidden tools out", `,"used":["*"],"hide":["*_secret","B"]`, named("a", "b", "x_SECRET"), "a discover describe call"},
		{"leaves hidden tools out of all", `,"surface":"all","hide":["b"]`, named("a", "b"), "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, log := rendered(t, tt.config, tt.tools...)
			if got := listedNames(s); got != tt.want {
				t.Errorf("the surface shows %q, want %q", got, tt.want)
			}
			if got := log.lines("level=WARN"); got != nil {
				t.Errorf("warnings: %q", got)
			}
		})
	}
}

func TestUsedThatMatchesNothing(t *testing.T) {
	s, log := rendered(t, `,"used":["get_isue","get_issue","del_*"]`, named("get_issue", "list_issues")...)
	if got, want := listedNames(s), "get_issue discover describe call"; got != want {
		t.Errorf("the surface shows %q, want %q", got, want)
	}
	if got := log.lines("level=WARN", "tool=get_isue nearest=get_issue"); len(got) != 1 {
		t.Errorf("warnings for get_isue: %q, want one with the nearest name", got)
	}
	if got := log.lines("level=WARN"); len(got) != 2 {
		t.Errorf("warnings: %q, want two", got)
	}
}

func TestAlwaysLoad(t *testing.T) {
	with := `{"name":"a","_meta":{"x":1.0,"anthropic/alwaysLoad":false},"inputSchema":{"type":"object"}}`
	list := `{"name":"list","_meta":["x"],"inputSchema":{"type":"object"}}`
	twice := `{"name":"twice","_meta":{"x":1},"_meta":{"y":2},"inputSchema":{"type":"object"}}`
	tests := []struct {
		config string
		want   map[string]string // _meta by tool
	}{
		{`,"used":["*"]`, map[string]string{"a": `{"x":1.0,"anthropic/alwaysLoad":true}`, "b": `{"anthropic/alwaysLoad":true}`, "discover": `{"anthropic/alwaysLoad":true}`}},
		{`,"used":["*"],"alwaysLoad":"used"`, map[string]string{"list": `{"anthropic/alwaysLoad":true}`, "twice": `{"y":2,"anthropic/alwaysLoad":true}`}},
		{`,"used":["*"],"alwaysLoad":false`, map[string]string{"list": ""}},
		{`,"used":["*"],"alwaysLoad":true`, map[string]string{"b": `{"anthropic/alwaysLoad":true}`, "call": `{"anthropic/alwaysLoad":true}`}},
		{`,"used":["*"],"alwaysLoad":"used"`, map[string]string{"b": `{"anthropic/alwaysLoad":true}`, "discover": ""}},
		{`,"used":["*"],"alwaysLoad":"meta"`, map[string]string{"a": `{"x":1.0,"anthropic/alwaysLoad":false}`, "b": "", "describe": `{"anthropic/alwaysLoad":true}`}},
		{`,"used":["*"],"alwaysLoad":false`, map[string]string{"a": `{"x":1.0,"anthropic/alwaysLoad":false}`, "b": "", "discover": ""}},
		{`,"surface":"all","used":["b"]`, map[string]string{"a": `{"x":1.0,"anthropic/alwaysLoad":false}`, "b": `{"anthropic/alwaysLoad":true}`}},
		{`,"surface":"all"`, map[string]string{"b": ""}},
		{``, map[string]string{"b": `{"anthropic/alwaysLoad":true}`}},
	}
	for _, tt := range tests {
		s, _ := rendered(t, tt.config, append(named("b"), with, list, twice)...)
		for name, want := range tt.want {
			if got := gjson.GetBytes(s.tools, `#(name=="`+name+`")._meta`).Raw; got != want {
				t.Errorf("with %s: _meta of %s is %s, want %s", tt.config, name, got, want)
			}
		}
	}
}

func TestToolsAreTrimmed(t *testing.T) {
	raw := `{ "name":"Do","title":"T\u00e9","description":"Does it. At length.","icons":[{"src":"x:y"}],"outputSchema":{"type":"object"},
		"annotations":{"readOnlyHint":true},"execution":{"taskSupport":"optional"},"x-own":1.0,
		"inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"default":{"type":"integer","maximum":9007199254740993}}},
		"_meta":{"k":[1]}}`
	want := `{"name":"do","title":"T\u00e9","description":"Does it.","annotations":{"readOnlyHint":true},"execution":{"taskSupport":"optional"},"x-own":1.0,` +
		`"inputSchema":{"type":"object","properties":{"default":{"type":"integer","maximum":9007199254740993}}},` +
		`"_meta":{"k":[1],"anthropic/alwaysLoad":true}}`
	s, _ := rendered(t, `,"used":["do"]`, raw)
	if got := gjson.GetBytes(s.tools, "0").Raw; got != want {
		t.Errorf("the tool is shown as\n%s, want\n%s", got, want)
	}
	s, _ = rendered(t, `,"used":["do"],"keep":["outputSchema","icons"]`, raw)
	for _, key := range []string{"icons", "outputSchema"} {
		if !gjson.GetBytes(s.tools, "0."+key).Exists() {
			t.Errorf("%s is kept by config and gone", key)
		}
	}
	s, _ = rendered(t, `,"used":["do"],"compact":"off","names":"keep","alwaysLoad":false`, raw)
	if got := gjson.GetBytes(s.tools, "0").Raw; got != raw {
		t.Errorf("the tool is shown as\n%s, want it untouched:\n%s", got, raw)
	}
}

func TestEveryToolCanBeCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: named("GetIssue", "Run", "rUN", "discover", "plain")}
		d := start(t, Options{Server: entry(t, `,"used":["getissue","*run"]`)}, up)
		d.open()
		if got, want := strings.Join(d.names(), " "), "getissue Run rUN acme_discover describe call"; got != want {
			t.Errorf("the surface shows %q, want %q", got, want)
		}
		tests := []struct{ called, want string }{
			{"getissue", "GetIssue"}, {"GetIssue", "GetIssue"}, {"GETISSUE", "GetIssue"},
			{"Run", "Run"}, {"rUN", "rUN"},
			{"plain", "plain"}, {"PLAIN", "plain"},
			{"discover", "discover"}, {"Discover", "discover"},
		}
		for _, tt := range tests {
			want := `{"name":"` + tt.want + `","arguments":{"a":1.0}}`
			if got := text(d.call("1", tt.called, `{"a":1.0}`)); got != want {
				t.Errorf("a direct call of %s reaches the upstream as %s, want %s", tt.called, got, want)
			}
			if got := text(d.call("1", "call", `{"tool":"`+tt.called+`","args":{"a":1.0}}`)); got != want {
				t.Errorf("call of %s reaches the upstream as %s, want %s", tt.called, got, want)
			}
			if got := text(d.call("1", "describe", `{"tool":"`+tt.called+`"}`)); gjson.Get(got, "name").Str != tt.want {
				t.Errorf("describe of %s gives %s", tt.called, got)
			}
		}
		if got := text(d.call("1", "call", `{"tool":"RUN"}`)); !strings.HasPrefix(got, `"RUN" may mean 2 tools, so none was called.`) {
			t.Errorf("call of a name that two tools share in other cases: %s", got)
		}
		if got := text(d.call("1", "acme_discover", `{"query":"does plain"}`)); !strings.Contains(got, "plain()") {
			t.Errorf("acme_discover says %s", got)
		}
	})
}

func TestToolsListHasOnePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, Options{}, &fake{tools: two()})
		d.open()
		r, _ := d.ask("1", "tools/list", `{"cursor":"x"}`)
		if got := gjson.Get(r, "error.code").Int(); got != codeInvalidParams {
			t.Errorf("tools/list with a cursor = %s, want code %d", r, codeInvalidParams)
		}
	})
}

func TestMetaToolsAnswerWhenNotListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, Options{Server: entry(t, `,"surface":"all"`)}, &fake{tools: two()})
		d.open()
		if got := len(d.names()); got != 2 {
			t.Errorf("the surface shows %d tools, want 2", got)
		}
		if got := text(d.call("1", "discover", `{"query":"all issues"}`)); !strings.Contains(got, "list_issues(") {
			t.Errorf("discover says %s", got)
		}
		if got := text(d.call("1", "call", `{"tool":"list_issues"}`)); got != `{"name":"list_issues","arguments":{}}` {
			t.Errorf("call reaches the upstream as %s", got)
		}
	})
}

func TestModelTokens(t *testing.T) {
	for _, raw := range []string{`{"name":"a","description":"B.","inputSchema":{},"title":"no"}`, `{"inputSchema":{},"description":"B.","name":"a"}`} {
		if got, want := ModelTokens([]byte(raw)), compact.Tokens([]byte(`{"name":"a","description":"B.","inputSchema":{}}`)); got != want {
			t.Errorf("ModelTokens(%s) = %d, want %d", raw, got, want)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	for _, file := range []string{"github", "ms365"} {
		for name, config := range map[string]string{"used": `,"used":["*issue*","*mail*"]`, "all": `,"surface":"all"`} {
			b.Run(file+"/"+name, func(b *testing.B) {
				raw := realCatalog(b, file)
				c, _ := catalog.New([][]byte{raw})
				f := New(Options{Server: entry(b, config)})
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					f.render(c, nil)
				}
			})
		}
	}
}

func BenchmarkOpenSurface(b *testing.B) {
	c, _ := catalog.New([][]byte{realCatalog(b, "ms365")})
	stored := New(Options{Server: entry(b, `,"used":[]`)}).render(c, nil).json
	b.SetBytes(int64(len(stored)))
	b.ReportAllocs()
	for b.Loop() {
		openSurface(stored)
	}
}

// realCatalog is a vendor's tools/list result; without it the test is skipped.
func realCatalog(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "shared", "catalogs", name+".json"))
	if err != nil {
		t.Skip(err)
	}
	return raw
}

// checkSurface looks at what holds of every surface, whatever is listed: hosts
// take it, it comes out the same each time, and every tool can be called by the
// name that it is shown by, and by its own.
func checkSurface(t *testing.T, f *Facade, c *catalog.Catalog, handshake []byte) {
	t.Helper()
	s := f.render(c, handshake)
	if !gjson.ValidBytes(s.json) {
		t.Fatal("the surface is no JSON")
	}
	if again := f.render(c, handshake); !bytes.Equal(s.json, again.json) {
		t.Error("a second surface of the same catalog is another one")
	}
	names := map[string]bool{}
	for _, tool := range gjson.ParseBytes(s.tools).Array() {
		name := tool.Get("name").Str
		if names[name] {
			t.Errorf("%s is listed twice", name)
		}
		names[name] = true
		if err := rejected([]byte(tool.Raw)); err != nil {
			t.Errorf("hosts refuse %s: %v", name, err)
		}
	}
	if s.offered {
		for name := range s.meta {
			delete(names, name)
		}
	}
	if len(names)+s.hidden != len(c.Tools()) {
		t.Errorf("%d tools are shown and %d hidden, of %d", len(names), s.hidden, len(c.Tools()))
	}
	shown := shownNames(c.Tools(), f.o.Server.Names)
	for _, tool := range c.Tools() {
		for _, name := range []string{tool.Name, shown[tool.Name]} {
			if up, ok := s.names().upstream(name); !ok || up != tool.Name {
				t.Errorf("%s is called as %q, want %s", name, up, tool.Name)
			}
		}
		delete(names, shown[tool.Name])
	}
	if len(names) > 0 {
		t.Errorf("listed and no tool: %v", names)
	}
}

// surfaces are config entries that render a catalog in every way.
var surfaces = []string{
	`,"surface":"all","compact":"off"`,
	`,"surface":"all","compact":"lossless"`,
	`,"surface":"all"`,
	`,"surface":"all","compact":"tight","names":"keep"`,
	`,"surface":"all","keep":["outputSchema","icons","default","examples","$schema","x-mcp-header"]`,
	`,"used":["*"],"prefix":"x_","alwaysLoad":"meta"`,
	`,"used":["*get*","*list*"],"names":"keep","readOnly":["*"]`,
	`,"used":[],"hint":"Acme."`,
	`,"compact":"off","surfaceBudget":20000`,
	``,
}

func TestRealSurfaces(t *testing.T) {
	realCatalogs(t, func(t *testing.T, name string, c *catalog.Catalog, handshake []byte) {
		t.Parallel()
		for _, config := range surfaces {
			e := entry(t, config)
			e.Name = name
			checkSurface(t, New(Options{Server: e}), c, handshake)
		}
	})
}

// Nothing that is put on a surface is larger than the upstream lists it, unless
// the host is to load it always.
func TestRealSurfacesAreSmaller(t *testing.T) {
	realCatalogs(t, func(t *testing.T, name string, c *catalog.Catalog, handshake []byte) {
		before := 0
		for _, tool := range c.Tools() {
			before += len(tool.Raw)
		}
		for _, level := range []string{"off", "lossless", "standard", "tight"} {
			s := New(Options{Server: entry(t, `,"surface":"all","compact":"`+level+`"`)}).render(c, handshake)
			after := 0
			for i, tool := range gjson.ParseBytes(s.tools).Array() {
				after += len(tool.Raw)
				if was := c.Tools()[i]; len(tool.Raw) > len(was.Raw) {
					t.Errorf("%s: %s has %d bytes, %d as listed", level, was.Name, len(tool.Raw), len(was.Raw))
				}
			}
			if after > before {
				t.Errorf("%s: the surface has %d bytes, the list %d", level, after, before)
			}
			before = after
		}
	})
}

// oddTools are tools as some upstreams list them, and some never do.
func oddTools() (tools []string) {
	tools = append(tracker(), named("İstanbul", "istanbul", "ISTANBUL", "discover", "DESCRIBE", "acme_discover", "x_call", "搜索", "a.b/c", " ", "a\"b", strings.Repeat("n", 200))...)
	for _, t := range unfitTools {
		tools = append(tools, strings.Replace(t.tool, `"a"`, fmt.Sprintf(`"unfit_%d"`, len(tools)), 1))
	}
	return append(tools,
		`5`, `{}`, `{"name":5}`, `{"name":""}`, `{"name":"twice","inputSchema":{}}`, `{"name":"twice","inputSchema":{"type":"object"}}`,
		`{"name":"bool","inputSchema":{"properties":{"x":true,"y":{"items":false}}}}`,
		`{"name":"header","inputSchema":{"type":"object","properties":{"x":{"x-mcp-header":"X"}}}}`,
		`{"name":"wrong","title":5,"description":{},"annotations":"x","execution":1,"_meta":[],"icons":{},"outputSchema":[],"inputSchema":{"type":["object"],"properties":[],"required":null}}`,
		`{"name":"x","name":"members_twice","title":1,"title":"T","inputSchema":{"type":"string"},"inputSchema":{"type":"object"},"annotations":{"readOnlyHint":1,"readOnlyHint":true}}`,
		`{"name":"half","description":"\ud83d","inputSchema":{"type":"object","properties":{"\ud83d":{"enum":["\ude00"]}}}}`,
		`{"name":"fine","title":"F","annotations":{"title":"F"},"_meta":{"k":[1e-400,-1.5E+300]},"icons":[{"src":"x:y"}],"outputSchema":{"type":"object"},"inputSchema":{"type":"object"}}`,
	)
}

func TestOddSurfaces(t *testing.T) {
	for _, config := range surfaces {
		t.Run(config, func(t *testing.T) {
			checkSurface(t, New(Options{Server: entry(t, config)}), catalogOf(oddTools()...), nil)
		})
	}
}

func TestLevel(t *testing.T) {
	c, _ := catalog.New([][]byte{[]byte(`{"tools":[` + tool("a", "Does it.", "") + `]}`)})
	for _, tt := range []struct{ name, config, want string }{
		{"cuts nothing where all are shown because they are few", ``, "lossless"},
		{"leaves those untouched that are to be", `,"compact":"off"`, "off"},
		{"is the config's for used tools", `,"used":["a"],"compact":"tight"`, "tight"},
		{"is the config's where all are listed", `,"surface":"all"`, "standard"},
		{"does not count hidden tools", `,"hide":["a"],"compact":"tight"`, "tight"},
	} {
		if got := Level(entry(t, tt.config), c); got != tt.want {
			t.Errorf("it %s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// A catalog may be empty, or have thousands of tools and a name twice: the host
// is shown as little, and each tool can be found and called.
func TestSizesOfCatalogs(t *testing.T) {
	many := make([]string, 5000, 5001)
	for i := range many {
		many[i] = tool(fmt.Sprintf("list_thing_%d", i), fmt.Sprintf("Lists the things of kind %d.", i), "")
	}
	many = append(many, tool("list_thing_7", "A second one of the name.", ""))
	for _, test := range []struct {
		name  string
		tools []string
		last  string // a tool that is called
	}{{"none", nil, ""}, {"5,000 and a name twice", many, "list_thing_4999"}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := &fake{tools: test.tools}
				d := start(t, Options{Server: entry(t, `,"used":[]`)}, up)
				d.open()
				d.said()
				if got := d.names(); len(got) > 3 {
					t.Errorf("the host is shown %d tools; want at most the meta-tools", len(got))
				}
				if test.last == "" {
					return
				}
				if got := text(d.call("1", "discover", `{"query":"things of kind 4999"}`)); !strings.Contains(got, test.last+"(") || len(got) > 10_000 {
					t.Errorf("discover says %d bytes: %.300s; want %s in it", len(got), got, test.last)
				}
				if got := d.call("2", "call", `{"tool":"`+test.last+`","args":{}}`); strings.Contains(got, "isError") || !strings.Contains(got, test.last) {
					t.Errorf("the call is answered %s", got)
				}
				if got := text(d.call("3", "describe", `{"tool":"list_thing_7"}`)); !strings.Contains(got, "Lists the things of kind 7.") {
					t.Errorf("of two of a name describe shows %s; want the first", got)
				}
			})
		})
	}
}
