package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"mcp-facade/catalog"
)

// answer is the result of an upstream's tools/list, in one page.
const answer = `{"tools":[
	{"name":"start_export","description":"Start the export of a space."},
	{"name":"export_csv","description":"Export a table as CSV.","annotations":{"readOnlyHint":true}},
	{"name":"getPage","description":"Returns a page with its body."}
]}`

func acme() *catalog.Catalog {
	c, _ := catalog.New([][]byte{[]byte(answer)})
	return c
}

func ExampleNew() {
	c, warnings := catalog.New([][]byte{
		[]byte(`{"tools":[{"name":"a"},{"title":"nameless"}],"nextCursor":"2"}`),
		[]byte(`{"tools":[{"name":"b"},{"name":"a"}]}`),
	})
	for _, tool := range c.Tools() {
		fmt.Println(tool.Name)
	}
	for _, w := range warnings {
		fmt.Println("warning:", w)
	}
	// Output:
	// a
	// b
	// warning: a tool without a name: left out: "{\"title\":\"nameless\"}"
	// warning: tool "a" is listed twice: the first is kept
}

func ExampleCatalog_Tools() {
	for _, tool := range acme().Tools() {
		fmt.Println(tool.Name, tool.ReadOnly)
	}
	// Output:
	// start_export false
	// export_csv true
	// getPage false
}

func ExampleCatalog_Lookup() {
	tool, ok := acme().Lookup("GetPage")
	fmt.Println(tool.Name, ok)
	// Output: getPage true
}

func ExampleCatalog_Nearest() {
	fmt.Println(acme().Nearest("startexport", 3))
	// Output: [start_export export_csv]
}

func ExampleCatalog_Search() {
	for _, hit := range acme().Search("export a table", 10) {
		fmt.Println(hit.Tool.Name)
	}
	// Output:
	// export_csv
	// start_export
}

func ExampleCatalog_WithKeywords() {
	c := acme().WithKeywords(map[string][]string{"getPage": {"wiki", "handbook"}})
	for _, hit := range c.Search("what the handbook says", 10) {
		fmt.Println(hit.Tool.Name)
	}
	// Output: getPage
}

func tracker() *catalog.Catalog {
	c, _ := catalog.New([][]byte{[]byte(`{"tools":[{"name":"create_issue"},{"name":"list_issues"},{"name":"get_project"},
		{"name":"merge_pull_request"},{"name":"list_pull_requests"},{"name":"add_issue_comment"}]}`)})
	return c
}

func ExampleCatalog_Groups() {
	for _, g := range tracker().Groups("acme") {
		fmt.Println(g.Noun, g.Tools)
	}
	// Output:
	// issue [create_issue list_issues add_issue_comment]
	// pull request [merge_pull_request list_pull_requests]
	// other [get_project]
}

func ExampleCatalog_Digest() {
	c := tracker()
	hidden := c.Tools()[1:]
	fmt.Println(c.Digest(hidden, "acme"))
	// Output: [issues pull request project comment]
}

func ExampleViewOf() {
	v := catalog.ViewOf("legacy", "2025-11-25", []byte(`{"roots":{"listChanged":true},"elicitation":{}}`))
	fmt.Println(v.Capabilities)
	// Output: [elicitation roots roots.listChanged]
}

func ExampleView_Key() {
	fmt.Println(catalog.CommandView().Key())
	// Output: legacy-2025-11-25-9e5ea857147b70ed
}

func ExampleCommandView() {
	v := catalog.CommandView()
	fmt.Println(v.Era, v.Version, len(v.Capabilities))
	// Output: legacy 2025-11-25 0
}

func ExampleIdentityDir() {
	key := make([]byte, 32)
	fmt.Println(filepath.Base(catalog.IdentityDir("cache", "Acme", []byte("https://mcp.acme.example"), key)))
	// Output: acme-000df82bba87ec39
}

func ExampleLoadKey() {
	dir, remove := tempDir()
	defer remove()
	first, _ := catalog.LoadKey(filepath.Join(dir, "key"))
	second, err := catalog.LoadKey(filepath.Join(dir, "key"))
	fmt.Println(len(first), string(first) == string(second), err)
	// Output: 32 true <nil>
}

func ExampleStore() {
	dir, remove := tempDir()
	defer remove()
	store := catalog.OpenStore(filepath.Join(dir, "acme"), nil)
	host := catalog.ViewOf("legacy", "2025-11-25", []byte(`{"roots":{}}`))

	_, err := store.Load(host)
	fmt.Println(errors.Is(err, catalog.ErrNotCached))

	head := catalog.Head{View: host, Handshake: []byte(`{"capabilities":{"tools":{}}}`), Listed: time.Now()}
	err = store.Save(context.Background(), head, catalog.Lists{"tools/list": {[]byte(answer)}})
	fmt.Println(err)

	entry, _ := store.Load(catalog.ViewOf("legacy", "2025-06-18", nil))
	pages, _ := entry.List("tools/list")
	c, _ := catalog.New(pages)
	fmt.Println(entry.Exact, len(c.Tools()))
	// Output:
	// true
	// <nil>
	// false 3
}

func ExampleStore_SaveRendering() {
	dir, remove := tempDir()
	defer remove()
	store := catalog.OpenStore(filepath.Join(dir, "acme"), nil)
	view := catalog.CommandView()
	store.Save(context.Background(), catalog.Head{View: view, Listed: time.Now()}, nil)
	store.SaveRendering(view, catalog.Rendering{Fingerprint: "f1", JSON: []byte(`{"tools":[]}`)})
	heads, _ := store.Views()
	fmt.Printf("%s %s\n", heads[0].Renderings[0].Fingerprint, heads[0].Renderings[0].JSON)
	// Output: f1 {"tools":[]}
}

func ExampleStore_SetEra() {
	dir, remove := tempDir()
	defer remove()
	store := catalog.OpenStore(filepath.Join(dir, "acme"), nil)
	fmt.Printf("%q\n", store.Era())
	store.SetEra("both")
	fmt.Printf("%q\n", store.Era())
	// Output:
	// ""
	// "both"
}

func tempDir() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "catalog")
	if err != nil {
		panic(err)
	}
	return dir, func() { os.RemoveAll(dir) }
}

func ExampleCatalog_SearchTaught() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	c, book := acme(), catalog.OpenBook(filepath.Join(dir, "acme", "lessons"), nil)
	fmt.Println(len(c.SearchTaught(book.Lessons(), "wiki", 10)))
	if err := book.Learn(context.Background(), c.Teaching("the wiki page"), "getPage"); err != nil {
		fmt.Println(err)
	}
	for _, hit := range c.SearchTaught(book.Lessons(), "wiki", 10) {
		fmt.Println(hit.Tool.Name)
	}
	// Output:
	// 0
	// getPage
}

func ExampleCatalog_Teaching() {
	fmt.Println(acme().Teaching("export the tables of Mr. Smith as CSV, no. 4711"))
	// Output: [export tabl csv]
}

func ExampleCatalog_Foreign() {
	fmt.Println(acme().Foreign("导出表格"), acme().Foreign("exportar una tabla para el equipo"), acme().Foreign("export a table"))
	// Output: true true false
}
