package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// catalogVar names the file with what the replayed upstream lists.
const catalogVar = "E2E_CATALOG"

// serveReplay is an upstream that answers with what a real server once did: the
// raw results in a captured catalog. It speaks the legacy era.
func serveReplay(in io.Reader, out io.Writer, path string) int {
	file, err := os.ReadFile(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return 0
		}
		if id := gjson.Get(line, "id").Raw; id != "" {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", id, replayed(gjson.ParseBytes(file), gjson.Get(line, "method").Str))
		}
	}
}

// replayed is the raw result or error of a request.
func replayed(catalog gjson.Result, method string) string {
	key := map[string]string{"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"}[method]
	switch list := catalog.Get(key); {
	case method == "initialize":
		return `"result":` + oneLine(catalog.Get("initialize").Raw)
	case method == "ping":
		return `"result":{}`
	case list.Exists() && key != "":
		return `"result":{"` + key + `":` + oneLine(list.Raw) + `}`
	}
	return `"error":{"code":-32601,"message":"no such method"}`
}

// oneLine takes the line ends out of JSON, which stand between its values only.
func oneLine(json string) string { return strings.ReplaceAll(json, "\n", "") }

// A captured is the list of a real server's tools.
type captured struct {
	name     string
	upstream upstream
	tools    []string // their names
}

// capturedCatalogs are all of ../shared.
func capturedCatalogs(t *testing.T) (all []captured) {
	t.Helper()
	paths, err := filepath.Glob("../../shared/catalogs/*.json")
	if err != nil || len(paths) == 0 {
		t.Skip("needs the catalogs in ../shared")
	}
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, captured{strings.TrimSuffix(filepath.Base(path), ".json"), self(t, "replay", catalogVar, path), shown(string(file))})
	}
	return all
}

// A way to list is a surface and what it must show.
type listing struct {
	command command
	want    []string
}

// listings are both surfaces of a captured catalog: five tools used, and all
// tools listed.
func (c captured) listings(t *testing.T, w *world) map[string]listing {
	t.Helper()
	five := c.tools[:min(5, len(c.tools))]
	meta := w.serve(t, c.upstream, five...)
	all := meta
	all.args = append(slices.Clone(meta.args), "--surface", "all")
	return map[string]listing{
		"meta": {meta, append(slices.Clone(five), "discover", "describe", "call")},
		"all":  {all, c.tools},
	}
}

// TestCapturedCatalogs lists the tools of real servers with go-sdk's client. A
// tool that is not shown is there for describe.
func TestCapturedCatalogs(t *testing.T) {
	for _, c := range capturedCatalogs(t) {
		t.Run(c.name, func(t *testing.T) {
			for surface, l := range c.listings(t, newWorld(t)) {
				h := connect(t, l.command, "2025-11-25", true)
				if got := names(h.tools()); !slices.Equal(got, l.want) {
					t.Errorf("surface %s lists %q, want %q", surface, got, l.want)
				}
				if surface == "meta" {
					c.describedBy(h)
				}
				h.Close()
			}
		})
	}
}

// describedBy looks for all tools with describe.
func (c captured) describedBy(h *host) {
	h.t.Helper()
	for _, tool := range c.tools {
		if text := h.use("describe", map[string]any{"tool": tool}); !strings.Contains(text, tool) {
			h.t.Errorf("describe %s: %s", tool, excerpt(text))
		}
	}
}

// TestCapturedCatalogsInTypeScript lists them with the SDK that most hosts are
// built with: it fails a whole list for one bad tool. One process lists many.
func TestCapturedCatalogsInTypeScript(t *testing.T) {
	module(t, "@modelcontextprotocol", "sdk")
	for batch := range slices.Chunk(capturedCatalogs(t), 11) {
		var names []string
		var servers []map[string]any
		var wants [][]string
		for _, c := range batch {
			for surface, l := range c.listings(t, newWorld(t)) {
				names = append(names, c.name+", surface "+surface)
				servers = append(servers, map[string]any{"command": l.command.args[0], "args": l.command.args[1:], "env": variables(l.command.env)})
				wants = append(wants, l.want)
			}
		}
		seen := typeScriptLists(t, servers)
		for i, want := range wants {
			if got := shown(seen[i].Raw); !slices.Equal(got, want) {
				t.Errorf("%s: the SDK's client lists %q %s, want %q", names[i], got, seen[i].Get("failed").Str, want)
			}
		}
	}
}

// typeScriptLists runs lists.mjs.
func typeScriptLists(t *testing.T, servers []map[string]any) []gjson.Result {
	t.Helper()
	script, err := filepath.Abs("lists.mjs")
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(servers)
	if err != nil {
		t.Fatal(err)
	}
	out := command{args: []string{"node", script, string(list)}}.output(t)
	seen := gjson.Parse(out).Array()
	if len(seen) != len(servers) {
		t.Fatalf("%d lists of %d servers: %s", len(seen), len(servers), excerpt(out))
	}
	return seen
}
