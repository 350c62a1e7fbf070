package e2e

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	diff "github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// An oddTool is a tool that costs a server with it a tool or the whole list in
// some host, and what becomes of it here.
type oddTool struct {
	kind   string
	tool   string // raw
	args   string // raw: what it is called with
	shown  string // the name that a host sees in lower case; "": the tool's own
	bent   string // what hosts make of the name for a model; "": nothing else
	absent bool   // no host could take it: it is not listed, and called all the same
	// alone is whether SDK v1 takes the list of the server without the facade.
	alone bool
}

// What a host does itself with a tool that it has taken is out of our reach. One
// drops tools with anyOf or oneOf at the root, with keys outside [A-Za-z0-9_.-],
// or with a name that is longer than 128 with the server's before it; others cut
// names or write "_" for "." and "/". All of these stay as they are, since other
// hosts take them: they cost no other tool its place, and a host that drops one
// still has call, which reaches it.
var oddTools = []oddTool{
	{kind: "anyOf at the root", alone: true, args: `{"id":"7"}`,
		tool: `{"name":"odd","inputSchema":{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"}},"anyOf":[{"required":["id"]},{"required":["name"]}]}}`},
	{kind: "oneOf at the root", alone: true, args: `{"name":"x"}`,
		tool: `{"name":"odd","inputSchema":{"type":"object","oneOf":[{"properties":{"id":{"type":"string"}},"required":["id"]},{"properties":{"name":{"type":"string"}},"required":["name"]}]}}`},
	{kind: "true as a property", args: `{"any":[1,"é",null]}`,
		tool: `{"name":"odd","inputSchema":{"type":"object","properties":{"any":true}}}`},
	{kind: "false as a property", args: `{"id":"7"}`,
		tool: `{"name":"odd","inputSchema":{"type":"object","properties":{"id":{"type":"string"},"never":false}}}`},
	{kind: "inputSchema without a type", args: `{"id":"7"}`,
		tool: `{"name":"odd","inputSchema":{"properties":{"id":{"type":"string"}},"required":["id"]}}`},
	{kind: "empty inputSchema", args: `{"whatever":{"deep":[9007199254740991]}}`,
		tool: `{"name":"odd","inputSchema":{}}`},
	{kind: "anyOf and no type", args: `{"id":"7"}`,
		tool: `{"name":"odd","inputSchema":{"anyOf":[{"type":"object","properties":{"id":{"type":"string"}}}]}}`},
	{kind: "property keys of all kinds", alone: true, args: `{"名前":"x","$schema":"y","two words":"z","a/b":"é"}`,
		tool: `{"name":"odd","inputSchema":{"type":"object","properties":{"名前":{"type":"string"},"$schema":{"type":"string"},"two words":{"type":"string"},"a/b":{"type":"string"}}}}`},
	{kind: "name of 200 characters", alone: true, args: `{"id":"7"}`,
		tool: `{"name":"` + strings.Repeat("odd_name_", 22) + `xx","inputSchema":{"type":"object","properties":{"id":{"type":"string"}}}}`},
	{kind: "dots and slashes in the name", alone: true, args: `{"id":"7"}`, shown: "files.read/all", bent: "files_read_all",
		tool: `{"name":"Files.read/All","inputSchema":{"type":"object","properties":{"id":{"type":"string"}}}}`},
	{kind: "description of 4600 characters", alone: true, args: `{"id":"7"}`,
		tool: `{"name":"odd","description":"` + strings.Repeat("Reads one thing. ", 271) + `","inputSchema":{"type":"object","properties":{"id":{"type":"string"}}}}`},
	{kind: "outputSchema of another type", args: `{"id":"7"}`,
		tool: `{"name":"odd","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}`},
	{kind: "no inputSchema", absent: true, args: `{"id":"7"}`,
		tool: `{"name":"odd"}`},
	{kind: "inputSchema of another type", absent: true, args: `{"id":"7"}`,
		tool: `{"name":"odd","inputSchema":{"type":"array"}}`},
}

func (o oddTool) name() string { return gjson.Get(o.tool, "name").Str }

// inPlace is the surface of a server that is in no file.
const inPlace = "in place"

// longestDescription is where a host cuts descriptions, in characters.
const longestDescription = 4096

// TestHostsTakeOddTools has a good tool and an odd one listed to the SDK that
// most hosts are built with, which fails a list for one bad tool, and to its
// successor, in both eras. All that can be listed is, and each call reaches the
// upstream as it was meant.
func TestHostsTakeOddTools(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			var visits []visit
			for _, odd := range oddTools {
				visits = append(visits, odd.through(t, "meta"), odd.through(t, "all"), odd.through(t, inPlace))
			}
			for i, got := range visitAll(t, era, visits) {
				t.Run(visits[i].name, func(t *testing.T) { visits[i].check(t, got) })
			}
		})
	}
}

// TestOddToolsAlone shows what the facade is good for: without it SDK v1, and
// so most hosts, refuse the whole list of a server for one of its tools.
func TestOddToolsAlone(t *testing.T) {
	var visits []visit
	for _, odd := range oddTools {
		w := newWorld(t)
		up := odd.upstream(t, w)
		visits = append(visits, visit{name: odd.kind, command: up.direct(w)})
	}
	for i, got := range visitAll(t, "legacy", visits) {
		if odd := oddTools[i]; got.Get("failed").Exists() == odd.alone {
			t.Errorf("%s: SDK v1 lists %q %s; that it takes the list should be %v", odd.kind, shown(got.Raw), got.Get("failed").Str, odd.alone)
		}
	}
}

// A visit is what a host does at a server, and what must come of it.
type visit struct {
	name    string
	command command
	calls   []hostCall
	lists   []string // the tools that the host is given
	reach   []string // the calls that reach the upstream: names and raw arguments
	record  string   // the file with those that have
	trimmed bool     // no description is too long for a host
}

// A hostCall is a tool by the name that the host knows, and its raw arguments.
type hostCall struct{ name, args string }

func (c hostCall) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{c.name, json.RawMessage(c.args)})
}

// through is a visit at the facade in front of a good tool and an odd one, which
// the host calls by their names and through call: with the surface given, or
// with the server in place, which is listed whole with the names that it has.
func (o oddTool) through(t *testing.T, surface string) visit {
	t.Helper()
	w := newWorld(t)
	up, name := o.upstream(t, w), o.name()
	v := visit{name: o.kind + ", " + surface, lists: []string{"good"}, record: w.path(oddRecord)}
	if surface == inPlace {
		v.command = w.wrap(up)
	} else {
		name, v.trimmed = cmp.Or(o.shown, name), true
		file := w.write(t, "facade.servers.json", map[string]any{"up": map[string]any{"upstream": up, "used": []string{"good", o.name()}, "surface": surface}})
		v.command = command{args: []string{os.Getenv(facadeVar), "--config", file, "--server", "up"}, env: w.env()}
	}
	if !o.absent {
		v.lists = append(v.lists, name)
	}
	if surface == "meta" || surface == inPlace && o.absent {
		v.lists = append(v.lists, "discover", "describe", "call")
	}
	v.calls = []hostCall{{"good", `{"id":"1"}`}, {name, o.args}, {"call", fmt.Sprintf(`{"tool":%q,"args":%s}`, name, o.args)}}
	v.reach = []string{`good {"id":"1"}`, o.name() + " " + o.args, o.name() + " " + o.args}
	if o.bent != "" {
		v.calls = append(v.calls, hostCall{"call", fmt.Sprintf(`{"tool":%q,"args":%s}`, o.bent, o.args)})
		v.reach = append(v.reach, o.name()+" "+o.args)
	}
	return v
}

func (v visit) check(t *testing.T, got gjson.Result) {
	t.Helper()
	if failed := got.Get("failed"); failed.Exists() {
		t.Errorf("the host gives up: %s", failed.Str)
	}
	if names := shown(got.Raw); !slices.Equal(names, v.lists) {
		t.Errorf("the host lists %q, want %q", names, v.lists)
	}
	for _, text := range got.Get("tools.#.description").Array() {
		if n := utf8.RuneCountInString(text.Str); n > longestDescription && v.trimmed {
			t.Errorf("a description of %d characters, which a host cuts at %d", n, longestDescription)
		}
	}
	for i, result := range got.Get("results").Array() {
		if text := result.Get("content.0.text").Str; result.Get("isError").Bool() || text != "done" {
			t.Errorf("%s gives %s", v.calls[i].name, excerpt(result.Raw))
		}
	}
	record, err := os.ReadFile(v.record)
	if err != nil {
		t.Fatal(err)
	}
	if diff := diff.Diff(v.reach, strings.Split(strings.TrimSuffix(string(record), "\n"), "\n")); diff != "" {
		t.Errorf("something else reaches the upstream (-want +got):\n%s", diff)
	}
}

// visitAll runs hostproof.mjs in an era.
func visitAll(t *testing.T, era string, visits []visit) []gjson.Result {
	t.Helper()
	module(t, "@modelcontextprotocol", "client")
	script, err := filepath.Abs("hostproof.mjs")
	if err != nil {
		t.Fatal(err)
	}
	var servers []map[string]any
	for _, v := range visits {
		servers = append(servers, map[string]any{
			"command": v.command.args[0], "args": v.command.args[1:], "env": variables(v.command.env), "calls": append([]hostCall{}, v.calls...),
		})
	}
	list, err := json.Marshal(servers)
	if err != nil {
		t.Fatal(err)
	}
	out := command{args: []string{"node", script, era, string(list)}}.output(t)
	seen := gjson.Parse(out).Array()
	if len(seen) != len(visits) {
		t.Fatalf("%d of %d visits: %s", len(seen), len(visits), excerpt(out))
	}
	return seen
}

const (
	// oddVar is the folder in which the server's files are.
	oddVar    = "E2E_ODD"
	oddList   = "tools.json"
	oddRecord = "calls"
)

// upstream is a server with a good tool and an odd one.
func (o oddTool) upstream(t *testing.T, w *world) upstream {
	t.Helper()
	good := json.RawMessage(`{"name":"good","description":"Is as it should be.","inputSchema":{"type":"object","properties":{"id":{"type":"string"}}}}`)
	list := fmt.Sprintf(`[%s,%s]`, good, o.tool)
	if err := os.WriteFile(w.path(oddList), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	return self(t, "odd", oddVar, w.dir)
}

// serveOddTools lists the tools in a file, raw, and records each call in another,
// in both eras.
func serveOddTools(in io.Reader, out io.Writer, dir string) error {
	list, err := os.ReadFile(filepath.Join(dir, oddList))
	if err != nil {
		return err
	}
	record, err := os.OpenFile(filepath.Join(dir, oddRecord), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer record.Close()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return nil
		}
		m := gjson.Parse(line)
		if !m.Get("id").Exists() {
			continue
		}
		if m.Get("method").Str == "tools/call" {
			fmt.Fprintln(record, m.Get("params.name").Str, m.Get("params.arguments").Raw)
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.Get("id").Raw, oddAnswer(m, string(list)))
	}
}

// oddAnswer is the raw result or error of a request.
func oddAnswer(m gjson.Result, list string) string {
	kind := ""
	if m.Get(metaVersion).Exists() {
		kind = `"resultType":"complete","ttlMs":60000,"cacheScope":"private",`
	}
	switch m.Get("method").Str {
	case "initialize":
		return `"result":{"protocolVersion":` + m.Get("params.protocolVersion").Raw + `,"capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}`
	case "server/discover":
		return `"result":{` + kind + `"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
	case "tools/list":
		return `"result":{` + kind + `"tools":` + list + `}`
	case "tools/call":
		return `"result":{` + kind + `"content":[{"type":"text","text":"done"}]}`
	}
	return `"error":{"code":-32601,"message":"no such method"}`
}
