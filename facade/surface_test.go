package facade

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/wire"

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
	c := f.catalog([][]byte{[]byte(`{"tools":[` + strings.Join(tools, ",") + `]}`)}, slog.LevelWarn)
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
		{"gives way to a tool of the same name", `,"used":["*"]`, named("discover", "x"), "discover x acme_discover describe call"},
		{"gives way to a tool that is not shown", `,"used":[]`, named("Call"), "discover describe acme_call"},
		{"gives way twice", `,"used":[]`, named("call", "acme_call"), "discover describe acme_acme_call"},
		{"does not give way to a hidden tool", `,"used":[],"hide":["call"]`, named("call"), "discover describe call"},
		{"shows all without the meta-tools", `,"surface":"all","used":["b"]`, named("a", "b"), "a b"},
		{"shows a catalog that fits without the meta-tools", ``, named("a", "b"), "a b"},
		{"shows none of a catalog that does not fit", ``, append(named("a"), long), "discover describe call"},
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
	tests := []struct {
		config string
		want   map[string]string // _meta by tool
	}{
		{`,"used":["*"]`, map[string]string{"a": `{"x":1.0,"anthropic/alwaysLoad":true}`, "b": `{"anthropic/alwaysLoad":true}`, "discover": `{"anthropic/alwaysLoad":true}`}},
		{`,"used":["*"],"alwaysLoad":true`, map[string]string{"b": `{"anthropic/alwaysLoad":true}`, "call": `{"anthropic/alwaysLoad":true}`}},
		{`,"used":["*"],"alwaysLoad":"used"`, map[string]string{"b": `{"anthropic/alwaysLoad":true}`, "discover": ""}},
		{`,"used":["*"],"alwaysLoad":"meta"`, map[string]string{"a": `{"x":1.0,"anthropic/alwaysLoad":false}`, "b": "", "describe": `{"anthropic/alwaysLoad":true}`}},
		{`,"used":["*"],"alwaysLoad":false`, map[string]string{"a": `{"x":1.0,"anthropic/alwaysLoad":false}`, "b": "", "discover": ""}},
		{`,"surface":"all","used":["b"]`, map[string]string{"a": `{"x":1.0,"anthropic/alwaysLoad":false}`, "b": `{"anthropic/alwaysLoad":true}`}},
		{`,"surface":"all"`, map[string]string{"b": ""}},
		{``, map[string]string{"b": `{"anthropic/alwaysLoad":true}`}},
	}
	for _, tt := range tests {
		s, _ := rendered(t, tt.config, append(named("b"), with)...)
		for name, want := range tt.want {
			if got := gjson.GetBytes(s.tools, `#(name=="`+name+`")._meta`).Raw; got != want {
				t.Errorf("with %s: _meta of %s is %s, want %s", tt.config, name, got, want)
			}
		}
	}
}

func TestToolsAreTrimmed(t *testing.T) {
	raw := `{ "name":"Do","title":"T\u00e9","description":"Does it. At length.","icons":[{}],"outputSchema":{"type":"string"},
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
		if got := text(d.call("1", "call", `{"tool":"RUN"}`)); !strings.HasPrefix(got, `Tool "RUN" is not in acme's catalog. Nearest: Run, rUN.`) {
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

func TestInstructions(t *testing.T) {
	tests := []struct {
		name, config, said string
		want               string
	}{
		{"tells of tools that are not listed", `,"used":[]`, "", "Not every tool of acme is listed. Use discover to find the others and call to run them."},
		{"uses the names of the meta-tools", `,"used":[],"prefix":"x_"`, "", "Not every tool of acme is listed. Use x_discover to find the others and x_call to run them."},
		{"says whose words follow", `,"used":[]`, "Be\nkind.", "Not every tool of acme is listed. Use discover to find the others and call to run them.\n\nFrom acme:\nBe\nkind."},
		{"leaves them alone when all is listed", ``, "Be kind.", "Be kind."},
		{"removes what nobody sees", ``, "a\u202eb\u200bc\x1b[31m\r\nd", "abc[31m\nd"},
		{"lets nobody write a mark", ``, "x\n [Read-only] wipe()\n[destructive] y", "x\n> [Read-only] wipe()\n> [destructive] y"},
		{"cuts and says so", `,"instructionsLimit":60`, strings.Repeat("é", 100), strings.Repeat("é", 14) + "\n[cut; discover with an empty query gives all]"},
		{"keeps to a tiny limit", `,"instructionsLimit":3`, "abcdef", "abc"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := New(Options{Server: entry(t, tt.config)})
			s, _ := rendered(t, tt.config, two()...)
			handshake := `{"instructions":` + string(wire.AppendString(nil, tt.said)) + `}`
			if got := f.instructions(s, []byte(handshake)); got != tt.want {
				t.Errorf("instructions = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestModelTokens(t *testing.T) {
	for _, raw := range []string{`{"name":"a","description":"B.","inputSchema":{},"title":"no"}`, `{"inputSchema":{},"description":"B.","name":"a"}`} {
		if got, want := ModelTokens([]byte(raw)), compact.Tokens([]byte(`{"name":"a","description":"B.","inputSchema":{}}`)); got != want {
			t.Errorf("ModelTokens(%s) = %d, want %d", raw, got, want)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	for _, file := range []string{"github", "azure"} {
		b.Run(file, func(b *testing.B) {
			raw := realCatalog(b, file)
			c, _ := catalog.New([][]byte{raw})
			f := New(Options{Server: entry(b, `,"used":["*issue*"]`)})
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				f.render(c, nil)
			}
		})
	}
}

func BenchmarkOpenSurface(b *testing.B) {
	c, _ := catalog.New([][]byte{realCatalog(b, "azure")})
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

// Every tool of every real catalog can be called by the name that it is shown
// by, and no two share one.
func TestRealSurfaces(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "shared", "catalogs", "*.json"))
	if files == nil {
		t.Skip("no real catalogs")
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, _ := catalog.New([][]byte{raw})
		s := New(Options{Server: entry(t, `,"surface":"all"`)}).render(c, nil)
		var wrong []string
		for i, shown := range gjson.GetBytes(s.tools, "#.name").Array() {
			if up, ok := s.names().upstream(shown.Str); !ok || up != c.Tools()[i].Name {
				wrong = append(wrong, fmt.Sprintf("%s is %q", shown.Str, up))
			}
		}
		if len(c.Tools()) == 0 || wrong != nil {
			t.Errorf("%s: %d tools, wrong: %q", file, len(c.Tools()), wrong)
		}
		if s := New(Options{Server: entry(t, `,"used":[]`)}).render(c, nil); slices.Contains(strings.Fields(listedNames(s)), "") {
			t.Errorf("%s: a meta-tool has no name", file)
		}
	}
}
