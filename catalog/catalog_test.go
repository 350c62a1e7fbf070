package catalog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// page is the raw result of one page of tools/list.
func page(tools ...string) []byte {
	return []byte(`{"tools":[` + strings.Join(tools, ",") + `]}`)
}

// named is a catalog of tools with these names and no descriptions.
func named(names ...string) *Catalog {
	var tools []string
	for _, name := range names {
		tools = append(tools, fmt.Sprintf(`{"name":%q}`, name))
	}
	c, _ := New([][]byte{page(tools...)})
	return c
}

func names(c *Catalog) []string {
	var out []string
	for _, tool := range c.Tools() {
		out = append(out, tool.Name)
	}
	return out
}

func TestNew(t *testing.T) {
	tests := []struct {
		name     string
		pages    []string
		want     []string // names
		warnings []string
	}{
		{"keeps the order of tools and pages",
			[]string{`{"tools":[{"name":"z"},{"name":"a"}],"nextCursor":"2"}`, ` {"ttlMs":1, "tools" : [ {"name":"m"} ]}`},
			[]string{"z", "a", "m"}, nil},
		{"takes no pages", nil, nil, nil},
		{"takes an empty list", []string{`{"tools":[]}`}, nil, nil},
		{"warns of a page without tools", []string{`{}`, `{"tools":{}}`, `null`, ``},
			nil, []string{
				"page 1 of the list holds no array of tools", "page 2 of the list holds no array of tools",
				"page 3 of the list holds no array of tools", "page 4 of the list holds no array of tools",
			}},
		{"leaves out what is no object", []string{`{"tools":["x",{"name":"a"},7]}`},
			[]string{"a"}, []string{
				`an entry of the list is no object: left out: "\"x\""`, `an entry of the list is no object: left out: "7"`,
			}},
		{"leaves out what has no name", []string{`{"tools":[{"name":7},{"name":""},{},{"name":"a"}]}`},
			[]string{"a"}, []string{
				`a tool without a name: left out: "{\"name\":7}"`, `a tool without a name: left out: "{\"name\":\"\"}"`,
				`a tool without a name: left out: "{}"`,
			}},
		{"keeps the first of two with one name", []string{`{"tools":[{"name":"a","title":"1"}]}`, `{"tools":[{"name":"\u0061","title":"2"}]}`},
			[]string{"a"}, []string{`tool "a" is listed twice: the first is kept`}},
		{"keeps names that differ in case", []string{`{"tools":[{"name":"a"},{"name":"A"}]}`}, []string{"a", "A"}, nil},
		{"escapes a stranger's text in a warning", []string{`{"tools":["\u001b[31m` + "\u202e" + `"]}`},
			nil, []string{`an entry of the list is no object: left out: "\"\\u001b[31m\u202e\""`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var pages [][]byte
			for _, p := range tt.pages {
				pages = append(pages, []byte(p))
			}
			c, warnings := New(pages)
			if diff := cmp.Diff(tt.want, names(c)); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.warnings, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewReadsATool(t *testing.T) {
	tests := []struct {
		name, raw string
		want      Tool
	}{
		{"with everything",
			`{ "name":"caf\u00e9", "title":"T\n", "x":9007199254740993, "description":"D \"q\"", "inputSchema": {"type": "object"}, "annotations":{"readOnlyHint":true,"destructiveHint":true}}`,
			Tool{Name: "café", Title: "T\n", Description: `D "q"`, InputSchema: []byte(`{"type": "object"}`), ReadOnly: true, Destructive: true}},
		{"with a name alone", `{"name":"a"}`, Tool{Name: "a"}},
		{"with a description that is no string", `{"name":"a","description":{"x":1}}`, Tool{Name: "a"}},
		{"with hints that are no booleans", `{"name":"a","annotations":{"readOnlyHint":"true","destructiveHint":1}}`, Tool{Name: "a"}},
		{"with annotations that are no object", `{"name":"a","annotations":[true]}`, Tool{Name: "a"}},
		{"with its title in the annotations", `{"name":"a","annotations":{"title":"T"}}`, Tool{Name: "a", Title: "T"}},
		{"with both titles", `{"annotations":{"title":"no"},"name":"a","title":"T"}`, Tool{Name: "a", Title: "T"}},
		{"with a schema that is none", `{"name":"a","inputSchema":null}`, Tool{Name: "a", InputSchema: []byte("null")}},
		{"with members given twice", `{"name":"no","name":"a"}`, Tool{Name: "a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, warnings := New([][]byte{page(`{"name":"before"}`, tt.raw)})
			if len(c.Tools()) != 2 || warnings != nil {
				t.Fatalf("New(%s) = %d tools, warnings %q", tt.raw, len(c.Tools()), warnings)
			}
			tt.want.Raw = []byte(tt.raw)
			if diff := cmp.Diff(tt.want, c.Tools()[1]); diff != "" {
				t.Errorf("New(%s) (-want +got):\n%s", tt.raw, diff)
			}
		})
	}
}

func TestNewIsBounded(t *testing.T) {
	var many []string
	for i := range maxTools + 5 {
		many = append(many, fmt.Sprintf(`{"name":"t%d"}`, i))
	}
	c, warnings := New([][]byte{page(many...)})
	if len(c.Tools()) != maxTools || len(warnings) != 1 {
		t.Errorf("New(%d tools) = %d tools, warnings %q; want %d and one", len(many), len(c.Tools()), warnings, maxTools)
	}
	_, warnings = New([][]byte{page(slices.Repeat([]string{"1"}, 1000)...)})
	if got, want := warnings[len(warnings)-1], "and 980 more warnings about the list"; len(warnings) != 21 || got != want {
		t.Errorf("New(1000 bad entries): %d warnings, the last %q; want 21 and %q", len(warnings), got, want)
	}
}

// Raw bytes of real lists come through untouched.
func TestNewKeepsRealListsRaw(t *testing.T) {
	for _, path := range realCatalogs(t) {
		data := read(t, path)
		c, warnings := New([][]byte{data})
		if warnings != nil {
			t.Errorf("%s: warnings %q", path, warnings)
		}
		var want [][]byte
		for _, tool := range gjson.GetBytes(data, "tools").Array() {
			want = append(want, []byte(tool.Raw))
		}
		if len(want) != len(c.Tools()) {
			t.Fatalf("%s: %d tools, want %d", path, len(c.Tools()), len(want))
		}
		for i, tool := range c.Tools() {
			if !bytes.Equal(tool.Raw, want[i]) || string(tool.InputSchema) != gjson.GetBytes(want[i], "inputSchema").Raw {
				t.Errorf("%s: tool %d: raw bytes differ:\n%s\n%s", path, i, tool.Raw, want[i])
			}
		}
	}
}

func TestLookup(t *testing.T) {
	c := named("getIssue", "list_users", "List_Users", "ÄNDERN")
	tests := []struct {
		name, ask, want string // want "" for not found
	}{
		{"finds the exact name", "getIssue", "getIssue"},
		{"finds another case", "GETISSUE", "getIssue"},
		{"prefers the exact name to another case", "List_Users", "List_Users"},
		{"finds none of two that differ in case", "LIST_USERS", ""},
		{"folds letters that are not ASCII", "ändern", "ÄNDERN"},
		{"does not find another name", "get_issue", ""},
		{"does not find the empty name", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tool, ok := c.Lookup(tt.ask)
			if tool.Name != tt.want || ok != (tt.want != "") {
				t.Errorf("Lookup(%q) = %q, %t; want %q", tt.ask, tool.Name, ok, tt.want)
			}
		})
	}
}

func FuzzNew(f *testing.F) {
	f.Add([]byte(`{"tools":[{"name":"a","annotations":{"readOnlyHint":true}},{"name":"a"}]}`))
	f.Add([]byte(`{"tools":[{"name":`))
	f.Add([]byte(" {\"tools\" : [ {}, [], \"\\ud800\" ] "))
	f.Fuzz(func(t *testing.T, page []byte) {
		before := bytes.Clone(page)
		c, _ := New([][]byte{page, page})
		if !bytes.Equal(before, page) {
			t.Fatalf("New changed the page %q to %q", before, page)
		}
		for _, tool := range c.Tools() {
			if got, ok := c.Lookup(tool.Name); !ok || !bytes.Equal(got.Raw, tool.Raw) || !bytes.Contains(page, tool.Raw) {
				t.Errorf("Lookup(%q) = %q, %t; want %q", tool.Name, got.Raw, ok, tool.Raw)
			}
			c.Search(tool.Name, 3)
			c.Nearest(tool.Name, 3)
		}
	})
}

// realCatalogs are the files of real lists, or the test is skipped.
func realCatalogs(t testing.TB) []string {
	t.Helper()
	paths, _ := filepath.Glob("../../shared/catalogs/*.json")
	if len(paths) == 0 {
		t.Skip("no real lists here")
	}
	return paths
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// large is a page of about 2 MB with 344 tools.
func large() []byte {
	return pageOf(344, 6000)
}

// pageOf is a page of n tools with schemas of that many bytes each.
func pageOf(n, schema int) []byte {
	verbs := []string{"get", "list", "create", "update", "delete", "search", "export"}
	nouns := []string{"issue", "branch", "calendar-event", "mail-folder", "user", "report", "pipelineRun"}
	var tools []string
	for i := range n {
		verb, noun := verbs[i%len(verbs)], nouns[i/len(verbs)%len(nouns)]
		tools = append(tools, fmt.Sprintf(
			`{"name":"%s-%s-%d","description":"%s the %s number %d. Needs the permission to do so, and an id from list-%s.","inputSchema":{"type":"object","properties":{"id":{"type":"string","description":"%s"}}}}`,
			verb, noun, i, verb, noun, i, noun, strings.Repeat("An id. ", schema/7)))
	}
	return page(tools...)
}

func BenchmarkNew(b *testing.B) {
	pages := [][]byte{large()}
	b.ReportAllocs()
	b.SetBytes(int64(len(pages[0])))
	for b.Loop() {
		New(pages)
	}
}
