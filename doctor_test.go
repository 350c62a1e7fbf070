package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/facade/hosts"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// A codexLike host waits a second and puts something before names.
var codexLike = hosts.Host{Name: "codex", Title: "Codex", Patience: time.Second, GivesUp: 10 * time.Second, MaxName: 40, Prefix: "mcp__%s__"}

// newSubject is a server as if it had listed these tools, a line each.
func newSubject(t *testing.T, entry string, tools ...string) *subject {
	t.Helper()
	d := newDesk(t, `{"acme":`+entry+`}`)
	c := d.checkup(&options{}, "")
	if c.wrong != nil {
		t.Fatal(c.wrong)
	}
	c.found = []hostFile{{host: codexLike}}
	p := c.subjects()[0]
	if p.wrong != nil {
		t.Fatal(p.wrong)
	}
	page := []byte(`{"tools":[` + strings.Join(tools, ",") + `]}`)
	p.asked = true
	p.legacy = attempt{answered: true, version: "2025-11-25", offers: true, pages: [][]byte{page}, listed: time.Millisecond}
	return p
}

// lines are findings as text, a line each.
func findingLines(all []finding) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s: %s | %s | %s\n", f.Level, f.What, f.Why, f.Do)
	}
	return b.String()
}

// A diagnosis of all sorts of servers: the worst first, and what to do. The
// hosts that are known are left out: how long they wait, and how long it took
// here, is no matter of words.
func TestDoctorGolden(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the words of the system differ")
	}
	d := newDesk(t, "")
	stranger := &site{log: &buffer{}, status: 401, body: "who are you?"}
	stranger.serve()
	defer stranger.Close()
	for name, text := range map[string]string{
		d.configFile: strings.NewReplacer("$URL", stranger.URL, "$WORK", d.cwd).Replace(doctorServers),
		"tools": `{"name":"echo","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}` + "\n" +
			`{"name":"fail","inputSchema":{"type":"object"}}`,
		"odd": `{"name":"a/b","inputSchema":{"type":"object","anyOf":[{"required":["x"]}],"properties":{"x":{"type":"array"},"$y":true}}}` + "\n" +
			`{"name":"a_b","inputSchema":{"properties":{}},"outputSchema":{"type":"array"}}` + "\n" +
			`{"name":"hidden","inputSchema":{"type":"string"}}` + "\n" +
			`{"name":"esc\u001b[2J\u202e","inputSchema":{"properties":{}}}`,
	} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(d.cwd, name)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := d.checkup(&options{}, "")
	c.found, c.vars, c.broken = nil, nil, nil
	found := c.diagnose(t.Context())
	var text, doc strings.Builder
	found.print(&text)
	if err := printJSON(&doc, found); err != nil {
		t.Fatal(err)
	}
	scrubbed := func(s string) string {
		return duration.ReplaceAllString(strings.ReplaceAll(s, d.cwd, "$WORK"), "N ms")
	}
	sameAsGolden(t, "testdata/doctor.golden", scrubbed(text.String()))
	sameAsGolden(t, "testdata/doctor.json.golden", scrubbed(doc.String()))
}

const doctorServers = `{
  "good": { "command": "fake-upstream", "args": ["-tools", "$WORK/tools"] },
  "modern": { "command": "fake-upstream", "args": ["-tools", "$WORK/tools", "-modern"] },
  "newer": { "command": "fake-upstream", "args": ["-tools", "$WORK/tools", "-modern", "-only"] },
  "missing": { "command": "nosuch-server" },
  "silent": { "command": "fake-upstream", "args": ["-silent"], "startTimeout": "300ms" },
  "dies": { "command": "fake-upstream", "args": ["-dies", "no good:"] },
  "unset": { "command": "fake-upstream", "env": { "TOKEN": "${DOCTOR_UNSET}" } },
  "stranger": { "url": "$URL" },
  "login": { "url": "$URL", "oauth": true },
  "odd": { "command": "fake-upstream", "args": ["-tools", "$WORK/odd", "-name", "${HOME}"], "used": ["a/b", "a_b", "gone"], "confirm": "destructive" },
  "bad": { "comand": "fake-upstream" }
}`

// sameAsGolden compares a text with a file, or with -update rewrites it.
func sameAsGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is another text (-want +got):\n%s", path, diff)
	}
}

func TestDoctorLimits(t *testing.T) {
	const object = `"inputSchema":{"type":"object"}`
	described := func(characters int) string {
		return `{"name":"a","description":"` + strings.Repeat("é", characters) + `",` + object + `}`
	}
	tests := []struct {
		name, entry, tool, want string
	}{
		{"is content with a good tool", `{}`, `{"name":"a",` + object + `}`, ""},
		{"says what the facade mends", `{"surface":"all"}`, `{"name":"a","inputSchema":{"properties":{}}}`,
			"note: 1 tool has an inputSchema without a type: a | by itself, Claude Code and others that check the list as a whole then have none of the tools; the facade mends it | \n"},
		{"says what is not on the surface", `{"used":[]}`, `{"name":"a","inputSchema":{"type":"object","properties":{"x":true}}}`,
			"note: 1 tool has true or false as the schema of a property: a | by itself, OpenCode, Gemini CLI, Qwen Code and older Claude Code then have none of the tools, tiny-agents crashes; it is not on the surface, and call reaches it | \n"},
		{"finds a boolean below", `{"surface":"all"}`, `{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"array","items":{"properties":{"y":false}}}}}}`, "note: 1 tool has true or false"},
		{"takes a default for data", `{"surface":"all"}`, `{"name":"a","inputSchema":{"type":"object","properties":{"x":{"default":{"properties":{"y":false}}}}}}`, ""},
		{"warns of a root union that is shown", `{"surface":"all"}`, `{"name":"a","inputSchema":{"type":"object","oneOf":[{}]}}`,
			"warning: 1 tool has anyOf or oneOf at the root of the inputSchema: a | older Claude Code drops such a tool, newer ones and Codex rewrite it | set \"surface\": \"meta\", and leave it out of \"used\": call reaches it with any host"},
		{"warns of an odd property", `{"surface":"all"}`, `{"name":"a","inputSchema":{"type":"object","properties":{"名":{}}}}`, "warning: 1 tool has a property whose name"},
		{"warns of an odd name", `{"surface":"all"}`, `{"name":"a.b",` + object + `}`, "warning: 1 tool has a name that is not of"},
		{"warns of an array without items", `{"surface":"all"}`, `{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"array"}}}}`, "warning: 1 tool has an array without items: a"},
		{"knows an array with items", `{"surface":"all"}`, `{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"array","prefixItems":[{}]}}}}`, ""},
		{"says that a long description is cut", `{"surface":"all"}`, `{"name":"a","description":"` + strings.Repeat("Long text. ", 300) + `",` + object + `}`,
			"note: 1 tool has a description of more than 2048 characters: a | by itself, older Claude Code cuts it there; the facade mends it"},
		{"warns of one that is not", `{"surface":"all","compact":"off"}`, `{"name":"a","description":"` + strings.Repeat("Long text. ", 400) + `",` + object + `}`,
			"warning: 1 tool has a description of more than 4096 characters: a"},
		{"knows what fits", `{"surface":"all","compact":"off"}`, described(2048), ""},
		{"counts to older Claude Code's limit", `{"surface":"all","compact":"off"}`, described(2049), "warning: 1 tool has a description of more than 2048 characters: a"},
		{"counts to Claude Code's limit", `{"surface":"all","compact":"off"}`, described(4096), "warning: 1 tool has a description of more than 2048 characters: a"},
		{"counts beyond it", `{"surface":"all","compact":"off"}`, described(4097), "warning: 1 tool has a description of more than 4096 characters: a"},
		{"drops an outputSchema of no object", `{"surface":"all"}`, `{"name":"a","outputSchema":{"type":"array"},` + object + `}`, "note: 1 tool has an outputSchema that is not of the type object"},
		{"counts what a host puts before a name", `{"surface":"all"}`, `{"name":"` + strings.Repeat("n", 30) + `",` + object + `}`,
			`warning: 1 tool has too long a name for Codex: ` + strings.Repeat("n", 30) + ` | it puts "mcp__acme__" before them, and drops or cuts what is longer than 40`},
		{"does not count a name that is not shown", `{"used":[]}`, `{"name":"` + strings.Repeat("n", 30) + `",` + object + `}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entry := strings.TrimSuffix(`{"command":"x",`+tt.entry[1:], ",}")
			p := newSubject(t, strings.TrimSuffix(entry, "}")+"}", tt.tool)
			if got := findingLines(checkLimits(p)); got != tt.want && (tt.want == "" || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("of %s:\n%s\nwant\n%s", tt.tool, got, tt.want)
			}
		})
	}
}

func TestDoctorMeeting(t *testing.T) {
	tool := func(name string) string { return `{"name":"` + name + `","inputSchema":{"type":"object"}}` }
	tests := []struct {
		name  string
		names []string
		want  string
	}{
		{"tells names apart", []string{"a_b", "a_c"}, ""},
		{"warns of names that are bent to one", []string{"a.b", "a_b"}, "warning: names that meet in a host: a.b, a_b"},
		{"notes what Codex makes of a hyphen", []string{"a-b", "a_b"}, "note: names that meet in a host: a-b, a_b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var tools []string
			for _, name := range tt.names {
				tools = append(tools, tool(name))
			}
			got := findingLines(checkMeeting(newSubject(t, `{"command":"x","surface":"all"}`, tools...)))
			if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("%q: %s\nwant %q", tt.names, got, tt.want)
			}
		})
	}
}

func TestDoctorStart(t *testing.T) {
	tests := []struct {
		name   string
		listed time.Duration
		warm   time.Duration
		want   string
	}{
		{"is content with a fast server", 200 * time.Millisecond, 0, ""},
		{"says whose first turn is without tools", 1500 * time.Millisecond, 2 * time.Millisecond,
			"note: its tools are there 1500 ms after a start | without the facade a first turn has none of them: Codex waits 1s; the facade answers from its cache in 2.0 ms | \n"},
		{"wants a catalog in the cache", 1500 * time.Millisecond, 0,
			"warning: its tools are there 1500 ms after a start | without the facade a first turn has none of them: Codex waits 1s | mcp-facade refresh acme, from then on the facade answers at once\n"},
		{"says who gives up", 11 * time.Second, time.Millisecond,
			"note: its tools are there 11000 ms after a start | without the facade a first turn has none of them: Codex gives up after 10s; the facade answers from its cache in 1.0 ms | \n"},
		{"warns of a start that hardly fits", 16 * time.Second, time.Millisecond, "warning: takes 16000 ms to start, and startTimeout is 20s |  | set \"startTimeout\": \"40s\" for acme in the servers file\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newSubject(t, `{"command":"x"}`)
			p.legacy.listed, p.warm = tt.listed, tt.warm
			if got := findingLines(checkStart(p)); got != tt.want && (tt.want == "" || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("after %v: %s\nwant %s", tt.listed, got, tt.want)
			}
		})
	}
}

// Which of the hosts that were measured lose a server that is slow to start.
func TestDoctorPatience(t *testing.T) {
	for took, want := range map[time.Duration]string{
		800 * time.Millisecond:  "",
		801 * time.Millisecond:  "Codex waits 800ms",
		1500 * time.Millisecond: "Codex waits 800ms",
		1501 * time.Millisecond: "Claude Code up to 2.1.197 waits 1.5s; Codex waits 800ms",
		30 * time.Second:        "Claude Code up to 2.1.197 waits 1.5s; Codex waits 800ms",
		31 * time.Second:        "Claude Code up to 2.1.197 waits 1.5s; Codex waits 800ms; OpenCode gives up after 30s",
	} {
		p := newSubject(t, `{"command":"x"}`)
		p.legacy.listed, p.found = took, nil
		for _, h := range hosts.All() {
			p.found = append(p.found, hostFile{host: h})
		}
		if got := join("; ", p.losses()...); got != want {
			t.Errorf("after %v: %q, want %q", took, got, want)
		}
	}
}

func TestDoctorEra(t *testing.T) {
	legacy := attempt{answered: true, version: "2025-11-25"}
	refused := attempt{answered: true, refused: "-32601 Method not found", era: "legacy"}
	modern := attempt{answered: true, era: "modern", version: "2026-07-28"}
	silent := attempt{err: errors.New("no answer in 5s"), silent: true}
	tests := []struct {
		name           string
		stored         string
		legacy, modern attempt
		want           string
	}{
		{"is content with one era", "", legacy, refused, ""},
		{"is content with both", "modern", legacy, modern, ""},
		{"warns of a modern one alone", "", attempt{answered: true, refused: "-32022 no"}, modern, "warning: speaks only the modern era (2026-07-28)"},
		{"notes one that leaves a probe alone", "", legacy, silent, "note: gives no answer to server/discover | a host that asks first waits for it, with the facade 5s at most, until it is known | tell its author: "},
		{"says nothing of one that fails a probe at once", "", legacy, attempt{err: errors.New("HTTP 404 Not Found")}, ""},
		{"notes an era that is new", "legacy", legacy, modern, "note: is stored as of the legacy era, and has learnt the modern one |  | mcp-facade refresh acme"},
		{"warns of an era that is gone", "modern", legacy, refused, "warning: is stored as of the modern era, and does not speak it any more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newSubject(t, `{"command":"x"}`)
			p.legacy, p.modern = tt.legacy, tt.modern
			if _, store, err := p.store(p.o, p.server); err != nil {
				t.Fatal(err)
			} else if tt.stored != "" {
				if err := store.SetEra(tt.stored); err != nil {
					t.Fatal(err)
				}
			}
			if got := findingLines(checkEra(p)); !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestDoctorGuards(t *testing.T) {
	reads := newSubject(t, `{"command":"x","destructive":["ge*"]}`, `{"name":"get","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`)
	if got, want := findingLines(checkGuards(reads)), `note: marked as read-only by the server, and in "destructive" of the config: get | the config counts | take them out of "destructive", unless the server is wrong`+"\n"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	const destroys = `{"name":"drop","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}`
	p := newSubject(t, `{"command":"x","readOnly":["dr*"]}`, destroys)
	if got, want := findingLines(checkGuards(p)), `warning: marked as destructive by the server, and in "readOnly" of the config: drop | `; !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestDoctorHostEntries(t *testing.T) {
	d := newDesk(t, `{"acme":{"command":"x"},"key":{"command":"x","env":{"T":"${DOCTOR_TEST_KEY}"}},"shell":{"command":"x","env":{"T":"${DOCTOR_TEST_SHELL}"}},"bad":{}}`)
	d.environ = append(d.environ, "DOCTOR_TEST_SHELL=x")
	self := filepath.Join(d.cwd, "mcp-facade")
	other := filepath.Join(d.cwd, "other", "mcp-facade")
	same := filepath.Join(d.cwd, "same", "mcp-facade")
	for path, text := range map[string]string{self: "a", same: "a", other: "b"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.self = self
	entry := func(change func(*hosts.Entry)) []hosts.Entry {
		e := hosts.Entry{Name: "acme", Command: self, Ours: true, Server: "acme"}
		change(&e)
		return []hosts.Entry{e}
	}
	desktop := hosts.Host{Name: "claude-desktop", Title: "Claude Desktop", Desktop: true}
	tests := []struct {
		name    string
		host    hosts.Host
		entries []hosts.Entry
		want    string
	}{
		{"is content with a good one", codexLike, entry(func(*hosts.Entry) {}), "ok: acme serves acme |  | \n"},
		{"takes a copy for the same program", codexLike, entry(func(e *hosts.Entry) { e.Command = same }), "ok: "},
		{"leaves a foreign one alone", codexLike, entry(func(e *hosts.Entry) { e.Ours = false; e.Server = "x" }), ""},
		{"leaves one alone that is turned off", codexLike, entry(func(e *hosts.Entry) { e.Disabled = true; e.Server = "x" }), ""},
		{"finds a server that is not in the file", codexLike, entry(func(e *hosts.Entry) { e.Server = "acne" }), "problem: acme serves acne | not in "},
		{"says no second time that an entry is wrong", codexLike, entry(func(e *hosts.Entry) { e.Server = "bad" }), "ok: "},
		{"finds a servers file that is not there", codexLike, entry(func(e *hosts.Entry) { e.Config = filepath.Join(d.cwd, "gone.json") }), "problem: acme takes its server from " + filepath.Join(d.cwd, "gone.json") + " | there is no such file | correct --config"},
		{"leaves a placeholder of the host alone", codexLike, entry(func(e *hosts.Entry) { e.Config = "${workspaceFolder}/f.json" }), "ok: "},
		{"finds a program that is not there", codexLike, entry(func(e *hosts.Entry) { e.Command = filepath.Join(d.cwd, "gone", "mcp-facade") }), "problem: acme starts " + filepath.Join(d.cwd, "gone", "mcp-facade") + ", which is not there | the host has none of its tools | mcp-facade unwrap codex acme"},
		{"finds another program", codexLike, entry(func(e *hosts.Entry) { e.Command = other }), "warning: acme starts " + other + ", which is another program"},
		{"has nobody run the program of a project", codexLike, entry(func(e *hosts.Entry) { e.Command, e.Project = other, true }), "warning: acme starts " + other + ", which is another program than this one (" + self + ") | others may have written that file | look at "},
		{"finds a variable that is missing", codexLike, entry(func(e *hosts.Entry) { e.Server = "key" }), "problem: acme does not set DOCTOR_TEST_KEY, which key needs"},
		{"finds one that the entry sets", codexLike, entry(func(e *hosts.Entry) { e.Server, e.Env = "key", []hosts.Var{{Name: "DOCTOR_TEST_KEY", Value: "x"}} }), "ok: "},
		{"does not trust a desktop with our environment", desktop, entry(func(e *hosts.Entry) { e.Server = "shell" }), "warning: acme does not set DOCTOR_TEST_SHELL, which shell needs | Claude Desktop may be"},
		{"finds two of one server", codexLike, slices.Concat(entry(func(*hosts.Entry) {}), entry(func(e *hosts.Entry) { e.Name = "again" })), "ok: acme serves acme |  | \nwarning: acme and again serve the same server"},
		{"knows two projects apart", codexLike, slices.Concat(entry(func(e *hosts.Entry) { e.Scope = "/a" }), entry(func(e *hosts.Entry) { e.Scope = "/b" })), "ok: acme of /a serves acme |  | \nok: acme of /b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := d.checkup(&options{}, "")
			c.found, c.broken = []hostFile{{tt.host, filepath.Join(d.cwd, "host.json"), tt.entries, new(hosts.File)}}, nil
			if got := findingLines(checkHosts(c)); !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
}

// A host's file that cannot be read, and a server that alone is asked for.
func TestDoctorHostFiles(t *testing.T) {
	d := newDesk(t, `{"acme":{"command":"x"}}`)
	c := d.checkup(&options{}, "")
	c.found, c.broken = nil, []error{errors.New("mcp.json: 3: a comma is missing")}
	if got := findingLines(checkHosts(c)); !strings.HasPrefix(got, "warning: mcp.json: 3: a comma is missing | ") {
		t.Error(got)
	}
	c.only = "acme"
	if got := findingLines(checkHosts(c)); got != "" {
		t.Errorf("of one server: %s", got)
	}
}

func TestDoctorOrder(t *testing.T) {
	d := diagnosis{}
	d.add("x", "good", []finding{{Level: levelOK, What: "1"}, {Level: levelNote, What: "2"}})
	d.add("x", "bad", []finding{{Level: levelOK, What: "3"}, {Level: levelProblem, What: "4\n5\x1b[2J\u202e"}})
	d.add("x", "good", []finding{{Level: levelNote, What: "6"}})
	d.order()
	var got []string
	for _, f := range d.Findings {
		got = append(got, f.About+" "+f.What)
	}
	if want := []string{"bad 4; 5[2J", "bad 3", "good 2", "good 6", "good 1"}; !slices.Equal(got, want) || d.Problems != 1 {
		t.Errorf("%d problems in %q, want 1 in %q", d.Problems, got, want)
	}
}

func TestDoctorInterrupted(t *testing.T) {
	d := newDesk(t, `{"acme":{"command":"fake-upstream","args":["-silent"],"startTimeout":"1h"}}`)
	ctx, cancel := context.WithCancel(t.Context())
	d.err.saw = func(text string) {
		if strings.Contains(text, "msg=start ") {
			cancel()
		}
	}
	if code := run(ctx, d.env, []string{"--verbose", "doctor"}); code != 1 || d.out.String() != "" || !strings.HasSuffix(d.err.String(), "mcp-facade: interrupted\n") {
		t.Errorf("exit code %d, want 1, and \"interrupted\" last in\n%s", code, d.err)
	}
}

// TestDoctorTellsNoSecret: what doctor says of servers that have secrets, and
// that say them, holds none.
func TestDoctorTellsNoSecret(t *testing.T) {
	const inherited, literal = "s3cr3t-inherited-0123456789", "s3cr3t-literal-0123456789"
	d := newDesk(t, "{}")
	s := &site{fake: fake{tools: filepath.Join(d.cwd, "tools"), name: "fake"}, log: &buffer{}, least: 2}
	s.serve()
	defer s.Close()
	echoing := &site{log: &buffer{}, status: 500, body: "no good: " + inherited + " " + literal}
	echoing.serve()
	defer echoing.Close()
	servers := fmt.Sprintf(`{
		"header": {"url": "%s?key=${ACME_TOKEN}", "headers": {"X-Key": "${ACME_TOKEN}", "X-Api-Key": %q}},
		"issued": {"url": %q, "tokenCommand": ["fake-token", "issued"]},
		"fails": {"url": %[3]q, "tokenCommand": ["fake-token", "fails", "-fails", "no session for"]},
		"user": {"url": "http://user:%[2]s@127.0.0.1:1/?key=%[2]s"},
		"dies": {"command": "fake-upstream", "args": ["-dies", "no good:", "-tells", "TOKEN", "--token", "${ACME_TOKEN}"], "env": {"TOKEN": "${ACME_TOKEN}"}},
		"wrong": {"command": "fake-upstream", "env": {"TOKEN": "${DOCTOR_UNSET}%[2]s"}},
		"names": {"command": "fake-upstream", "args": ["-tools", "secretive"], "surface": "all", "env": {"TOKEN": %[2]q}}
	}`, echoing.URL, literal, s.URL)
	for name, text := range map[string]string{
		d.configFile:                      servers,
		filepath.Join(d.cwd, "tools"):     `{"name":"echo","inputSchema":{"type":"object"}}`,
		filepath.Join(d.cwd, "secretive"): `{"name":"a.` + literal + `","inputSchema":{"type":"object"}}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.environ = append(d.environ, "ACME_TOKEN="+inherited)
	written := map[string]string{}
	for _, args := range [][]string{{"doctor"}, {"doctor", "--json"}, {"doctor", "-v"}} {
		d.out, d.err = &buffer{}, &buffer{}
		d.stdout, d.stderr = d.out, d.err
		if code := run(t.Context(), d.env, args); code != 1 {
			t.Errorf("%q: exit code %d, want 1: %s", args, code, d.err)
		}
		written[strings.Join(args, " ")] = d.out.String() + d.err.String()
	}
	noSecret(t, written, issued, inherited, literal)
	for _, want := range []string{"no good:", "no session for", "HTTP 500"} {
		if !strings.Contains(written["doctor"], want) {
			t.Errorf("%q is not in\n%s", want, written["doctor"])
		}
	}
	if doc, _, _ := strings.Cut(written["doctor --json"], "mcp-facade: "); !gjson.Valid(doc) {
		t.Errorf("doctor --json: %s", written["doctor --json"])
	}
}

func TestDoctorCatalog(t *testing.T) {
	same, _ := catalog.New([][]byte{[]byte(`{"tools":[{"name":"a","inputSchema":{}}]}`)})
	other, _ := catalog.New([][]byte{[]byte(`{"tools":[{"name":"a","inputSchema":{"x":1}}]}`)})
	if !sameTools(same, same) || sameTools(same, other) {
		t.Error("catalogs are not told apart by what is in them")
	}
}
func TestQuotedPath(t *testing.T) {
	for word, want := range map[string]string{
		"acme":           "acme",
		"/home/a/b.json": "/home/a/b.json",
		"~x":             `"~x"`,
		"a b":            `"a b"`,
		`a\\b\`:          `'a\\b\'`,
		"it's":           `"it's"`,
		"$(touch x)":     `'$(touch x)'`,
		"`x`'s":          "'`x`'\\''s'",
		"":               `""`,
	} {
		if got := quotedPath(word); got != want {
			t.Errorf("quotedPath(%q) = %s, want %s", word, got, want)
		}
	}
}

// Of a name that is listed twice one tool can be called.
func TestDoctorLeftOut(t *testing.T) {
	p := newSubject(t, `{"command":"x"}`)
	p.asked = true
	p.legacy = attempt{answered: true, offers: true, listed: 1, pages: [][]byte{[]byte(`{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"a"},5]}`)}}
	const want = `warning: tool "a" is listed twice: the first is kept |  | tell its author
warning: an entry of the list is no object: left out: "5" | nobody can call it | tell its author
ok: 1 tool, listed in 0.0 ms |  | 
`
	if got := findingLines(checkTools(p)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// It is not advised to cache a catalog that cannot be listed.
func TestDoctorUnreadCatalog(t *testing.T) {
	p := newSubject(t, `{"command":"x"}`)
	p.asked, p.legacy = true, attempt{answered: true, offers: true, unread: errors.New("no answer in 20s")}
	if got := findingLines(checkCache(p)); got != "" {
		t.Errorf("%s\nwant nothing", got)
	}
}
