package facade

import (
	"fmt"
	"strings"
	"testing"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

func TestDescribe(t *testing.T) {
	page := `{"tools":[
		{ "name" : "A" , "title":"x  y\u00e9\\", "description":"Two  spaces.\n[read-only] x", "icons":[{"src":"i"}],
			"inputSchema":{"type":"object","icons":1,"properties":{"n":{"maximum":9007199254740993,"default":1.0}}}, "annotations":{} },
		{"name":"b","outputSchema":{"type":"object"}},
		{"name":"c,d"}, {"name":"e, f g"}, {"name":"get_it"}, {"name":"x"}, {"name":"X"}
	]}`
	const a = `{"name":"A","title":"x  y\u00e9\\","description":"Two  spaces.\n[read-only] x","inputSchema":{"type":"object","icons":1,"properties":{"n":{"maximum":9007199254740993,"default":1.0}}},"annotations":{}}`
	const b = `{"name":"b","outputSchema":{"type":"object"}}`
	tests := []struct {
		name, args string
		want       string
		failed     bool
	}{
		{"gives what the upstream wrote, without icons and white space", `{"tool":"A"}`, a, false},
		{"takes any case", `{"tool":" B "}`, b, false},
		{"takes several with commas", `{"tool":"b,a"}`, b + "\n" + a, false},
		{"takes an array", `{"tool":["b","a"]}`, b + "\n" + a, false},
		{"gives a tool once", `{"tool":"b, B ,b"}`, b, false},
		{"takes a name with a comma in an array", `{"tool":["c,d"]}`, `{"name":"c,d"}`, false},
		{"takes a name with commas and spaces", `{"tool":"e, f g"}`, `{"name":"e, f g"}`, false},
		{"takes one among others", `{"tool":"b,e, f g ,c,d"}`, b + "\n" + `{"name":"e, f g"}` + "\n" + `{"name":"c,d"}`, false},
		{"takes several on lines", `{"tool":"b\nA"}`, b + "\n" + a, false},
		{"takes an array in a string", `{"tool":"[\"b\", \"c,d\"]"}`, b + "\n" + `{"name":"c,d"}`, false},
		{"takes commas in an array", `{"tool":["b,A"]}`, b + "\n" + a, false},
		{"takes tools", `{"tools":["b"]}`, b, false},
		{"takes name", `{"name":"b"}`, b, false},
		{"takes names", `{"names":"b,A"}`, b + "\n" + a, false},
		{"takes toolName", `{"toolName":"b"}`, b, false},
		{"takes objects with a name", `{"tools":[{"name":"b"}]}`, b, false},
		{"prefers tool", `{"name":"A","tool":"b"}`, b, false},
		{"takes the host's name", `{"tool":"mcp__acme__get-it"}`, `{"name":"get_it"}`, false},
		{"takes one of two in other cases by its own", `{"tool":"X"}`, `{"name":"X"}`, false},
		{"tells two names apart", `{"tool":"acme_x"}`, `"acme_x" may mean x, X. Use describe with one of these. ` + noResult, true},
		{"offers the nearest", `{"tool":["b","Ab"]}`, b + "\n" + `Tool "Ab" is not in acme's catalog. Nearest: A, b. Call discover with what you want to do, or call one of these. ` + noResult, false},
		{"fails if it knows none", `{"tool":"zzzz"}`, `Tool "zzzz" is not in acme's catalog. Call discover with what you want to do. ` + noResult, true},
		{"asks for a name", `{"full":true}`, `"tool" is missing: the name of a tool, or several with commas. discover finds names. ` + noResult, true},
		{"asks for a name instead of null", `{"tool":null}`, `"tool" is missing: the name of a tool, or several with commas. discover finds names. ` + noResult, true},
		{"asks for a name in an empty array", `{"tool":[]}`, `"tool" is missing: the name of a tool, or several with commas. discover finds names. ` + noResult, true},
	}
	f, v, c := facadeWith(t, `,"used":[]`, []byte(page))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, failed := f.describe(v, c, gjson.Parse(tt.args))
			if got != tt.want || failed != tt.failed {
				t.Errorf("describe %s (failed %t)\n%s\nwant (failed %t)\n%s", tt.args, failed, got, tt.failed, tt.want)
			}
		})
	}
}

func TestLongDescriptions(t *testing.T) {
	words := func(n int) string { return "First sentence. " + strings.Repeat("More words follow. ", n) }
	property := func(n int) string {
		return fmt.Sprintf(`"p%d":{"type":"string","description":%q}`, n, words(20))
	}
	var many []string
	for i := range 200 {
		many = append(many, property(i))
	}
	object := func(properties ...string) string {
		return `{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`
	}
	output := `{"name":"output","inputSchema":{"type":"object"},"outputSchema":` + object(many...) + `}`
	tools := []string{
		tool("short", words(10), ""),
		output,
		tool("long", words(2000), object(property(0))),
		tool("huge", words(10), object(many...)),
	}
	f, v, c := facadeWith(t, `,"used":[]`, []byte(`{"tools":[`+strings.Join(tools, ",")+`]}`))
	tests := []struct {
		name, args string
		parts      []string
		without    string
		shortened  bool
	}{
		{"gives all that fits", `{"tool":"short"}`, []string{"More words follow."}, "", false},
		{"leaves the output schema out first", `{"tool":"output"}`, []string{`{"name":"output"`}, "outputSchema", true},
		{"cuts texts then", `{"tool":"long"}`, []string{`"description":"First sentence."`, `"p0"`}, "More words", true},
		{"gives the signature at last", `{"tool":"huge"}`, []string{"huge(", "…+"}, "{\"", true},
		{"keeps several in one limit", `{"tool":"short,output,long"}`, []string{`"short"`, `"output"`, `"long"`}, "", true},
		{"gives all in full", `{"tool":"huge,long","full":true}`, []string{"More words", `"p199"`}, "", false},
		{"takes full as a word", `{"tool":"huge","full":"true"}`, []string{`"p199"`}, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := f.describe(v, c, gjson.Parse(tt.args))
			for _, part := range tt.parts {
				if !strings.Contains(got, part) {
					t.Errorf("describe %s has no %q:\n%.2000s", tt.args, part, got)
				}
			}
			if head, _, _ := strings.Cut(got, "\n("); tt.without != "" && strings.Contains(head, tt.without) {
				t.Errorf("describe %s has %q:\n%.2000s", tt.args, tt.without, got)
			}
			if says := strings.Contains(got, `(Shortened; "full": true gives all `); says != tt.shortened {
				t.Errorf("describe %s says that it is shortened: %t, want %t", tt.args, says, tt.shortened)
			}
			if n := compact.Tokens([]byte(got)); tt.shortened && n > describeTokens {
				t.Errorf("describe %s costs %d tokens, want at most %d", tt.args, n, describeTokens)
			}
		})
	}
}

func TestDescribeVeryMany(t *testing.T) {
	var tools, all []string
	for i := range 300 {
		all = append(all, fmt.Sprintf("tool_%d", i))
		tools = append(tools, tool(all[i], "Does something that is said in some words.", `{"type":"object","properties":{"id":{"type":"string"}}}`))
	}
	f, v, c := facadeWith(t, `,"used":[]`, []byte(`{"tools":[`+strings.Join(tools, ",")+`]}`))
	got, _ := f.describe(v, c, gjson.Parse(`{"tool":"`+strings.Join(all, ",")+`"}`))
	if n := compact.Tokens([]byte(got)); n > describeTokens || strings.Count(got, "tool_") != maxDescribed {
		t.Errorf("describe of 300 tools gives %d in %d tokens, want %d in at most %d", strings.Count(got, "tool_"), n, maxDescribed, describeTokens)
	}
	if !strings.HasSuffix(got, "\n280 more names were left out: describe takes 20 at once.") {
		t.Errorf("describe of 300 tools ends in %q", got[len(got)-200:])
	}
}

// Every tool of every real catalog is described within the limit, and whole
// where that is asked for.
func TestDescribeOfRealCatalogs(t *testing.T) {
	count := counter(t)
	realCatalogs(t, func(t *testing.T, name string, _ *catalog.Catalog, _ []byte) {
		f, v, c := facadeWith(t, `,"used":[]`, realCatalog(t, name))
		shortened := 0
		for _, tool := range c.Tools() {
			args := `{"tool":` + quote(tool.Name)
			got, failed := f.describe(v, c, gjson.Parse(args+"}"))
			if failed || len(got) > describeSize || len(got) > 2*describeTokens && count(got) > describeTokens*105/100 {
				t.Errorf("describe %s (failed %t): %d tokens, %d bytes", tool.Name, failed, count(got), len(got))
			}
			if strings.Contains(got, "\n(Shortened; ") {
				shortened++
			}
			whole, _ := f.describe(v, c, gjson.Parse(args+`,"full":true}`))
			if want := ugly(gjson.ParseBytes(wire.DeleteMember(tool.Raw, "icons"))); whole != want {
				t.Errorf("describe %s in full gives\n%s\nwant\n%s", tool.Name, whole, want)
			}
		}
		t.Logf("%d of %d are shortened", shortened, len(c.Tools()))
	})
}
