package config

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// one parses a file with the one entry "acme", whose members are given.
func one(t *testing.T, members string) (*Server, error) {
	t.Helper()
	f, err := Parse("f.json", []byte(`{"acme": {`+members+`}}`))
	if err != nil {
		t.Fatalf("Parse(%s): %v", members, err)
	}
	return f.Server("acme")
}

// must is one for an entry that is right.
func must(t *testing.T, members string) *Server {
	t.Helper()
	s, err := one(t, members)
	if err != nil {
		t.Fatalf("entry {%s}: %v", members, err)
	}
	return s
}

func sameServer(t *testing.T, what string, got, want *Server) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Server{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestDefault(t *testing.T) {
	got := Default()
	want := Server{
		Auto: true, Surface: "meta", Names: "lower", AlwaysLoad: "true", Compact: "standard",
		InstructionsLimit: 2000, SurfaceBudget: 2000, Confirm: "none", ConfirmBy: "elicitation",
		SearchLimit: 3, RepeatLimit: 3, Hints: true, TTL: 168 * time.Hour, StaleOK: true,
		StartTimeout: 20 * time.Second, Ledger: true, Drift: "warn",
	}
	sameServer(t, "Default()", &got, &want)
}

func TestInPlace(t *testing.T) {
	want := Default()
	want.Name, want.Names = "acme", "keep"
	want.Upstream = Upstream{Command: "npx", Args: []string{"-y", "@acme/mcp"}}
	sameServer(t, "InPlace", InPlace("acme", "npx", []string{"-y", "@acme/mcp"}), &want)

	want.Upstream = Upstream{URL: "https://mcp.acme.example", Headers: []Var{{"X-Org", "${ORG}"}}}
	got, err := InPlaceURL("acme", "https://mcp.acme.example", []Var{{"X-Org", "${ORG}"}})
	if err != nil {
		t.Fatal(err)
	}
	sameServer(t, "InPlaceURL", got, &want)
}

// Every key of the table is read, from both places where it has two.
func TestEveryKey(t *testing.T) {
	rest := `"used": ["get_issue", "search_*"], "hide": ["delete_?"], "readOnly": ["get_*"], "destructive": ["drop_*"],
		"surface": "all", "names": "keep", "prefix": "acme_", "alwaysLoad": "used", "compact": "tight",
		"keep": ["default", "outputSchema", "x-order"], "keywords": {"create_*": ["new", "add"]}, "hint": "Issues.",
		"instructionsLimit": 0, "surfaceBudget": 1500, "confirm": "writes", "confirmBy": "argument", "split": true,
		"searchLimit": 0, "repeatLimit": 9, "hints": false, "ttl": "7d", "staleOk": false, "startTimeout": "1m30s",
		"callTimeout": "2m", "idleTimeout": "none", "retryResults": true, "ledger": false, "drift": "block"`
	want := Server{
		Name: "acme", Path: "f.json", Line: 1,
		Used: []string{"get_issue", "search_*"}, Hide: []string{"delete_?"}, ReadOnly: []string{"get_*"},
		Destructive: []string{"drop_*"}, Surface: "all", Names: "keep", Prefix: "acme_", AlwaysLoad: "used",
		Compact: "tight", Keep: []string{"default", "outputSchema", "x-order"},
		Keywords: map[string][]string{"create_*": {"new", "add"}}, Hint: "Issues.", InstructionsLimit: 0, SurfaceBudget: 1500,
		Confirm: "writes", ConfirmBy: "argument", Split: true, SearchLimit: 0, RepeatLimit: 9, Hints: false,
		TTL: 7 * 24 * time.Hour, StaleOK: false, StartTimeout: 90 * time.Second, CallTimeout: 2 * time.Minute,
		RetryResults: true, Ledger: false, Drift: "block",
	}
	http := `"url": "https://u:p@mcp.acme.example/v1?a=b", "headers": {"X-Org": "${ACME_ORG}", "x-a": ""}, "transport": "sse",
		"caFile": "ca.pem", "credentialId": "acme", "tokenCommand": ["op", "read", ""],
		"oauth": {"clientId": "c", "clientSecretFrom": "env:S", "tokenUrl": "https://acme.example/token", "authStyle": "basic", "scopes": ["a", "b"]}`
	want.Upstream = Upstream{
		URL: "https://u:p@mcp.acme.example/v1?a=b", Headers: []Var{{"X-Org", "${ACME_ORG}"}, {"x-a", ""}}, Transport: "sse",
		CAFile: "ca.pem", CredentialID: "acme", TokenCommand: []string{"op", "read", ""},
		OAuth: &OAuth{ClientID: "c", ClientSecretFrom: "env:S", TokenURL: "https://acme.example/token", AuthStyle: "basic", Scopes: []string{"a", "b"}},
	}
	sameServer(t, "beside upstream", must(t, http+","+rest), &want)
	sameServer(t, "in upstream", must(t, rest+`, "upstream": {`+http+`}`), &want)

	stdio := `"command": "npx", "args": ["-y", ""], "cwd": "~/x", "env": {"B": "2", "A": ""}, "envFrom": "claude:x"`
	want.Upstream = Upstream{Command: "npx", Args: []string{"-y", ""}, Cwd: "~/x", Env: []Var{{"B", "2"}, {"A", ""}}, EnvFrom: "claude:x"}
	sameServer(t, "stdio", must(t, `"upstream": {`+stdio+`},`+rest), &want)
	sameServer(t, "in both places", must(t, strings.Replace(stdio, `"cwd"`, `"upstream": {"cwd"`, 1)+"},"+rest), &want)
}

func TestReadsAlso(t *testing.T) {
	tests := []struct {
		name, members string
		got           func(*Server) any
		want          any
	}{
		{"an empty used as no tool", `"used": []`, func(s *Server) any { return s.Used != nil && !s.Auto && len(s.Used) == 0 }, true},
		{`used "auto"`, `"used": "auto"`, func(s *Server) any { return s.Used == nil && s.Auto }, true},
		{"alwaysLoad false", `"alwaysLoad": false`, func(s *Server) any { return s.AlwaysLoad }, "false"},
		{"alwaysLoad meta", `"alwaysLoad": "meta"`, func(s *Server) any { return s.AlwaysLoad }, "meta"},
		{"a trailing comma", `"names": "keep",`, func(s *Server) any { return s.Names }, "keep"},
		{"escapes", `"\u006eames": "\u006beep"`, func(s *Server) any { return s.Names }, "keep"},
		{"half a day", `"ttl": "0.5d"`, func(s *Server) any { return s.TTL }, 12 * time.Hour},
		{"a glob of letters of any script", `"used": ["查*"]`, func(s *Server) any { return s.Used[0] }, "查*"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := must(t, `"command": "x",`+tt.members)
			if got := tt.got(s); got != tt.want {
				t.Errorf("{%s}: got %v, want %v", tt.members, got, tt.want)
			}
		})
	}
	if o := must(t, `"url": "http://a.example", "oauth": true`).Upstream.OAuth; o == nil || o.ClientID != "" {
		t.Errorf("oauth true: got %v, want a zero OAuth", o)
	}
	if u := must(t, `"url": "${SERVER}/mcp"`).Upstream.URL; u != "${SERVER}/mcp" {
		t.Errorf("url with a placeholder: got %q", u)
	}
}

// The table's own list, in its order: what this test names is a promise to the
// files that people have.
func TestKeyNames(t *testing.T) {
	want := strings.Fields(`url headers transport caFile credentialId tokenCommand oauth command args cwd env envFrom
		used hide readOnly destructive surface names prefix alwaysLoad compact keep hint instructionsLimit surfaceBudget
		confirm confirmBy split keywords searchLimit repeatLimit hints ttl staleOk startTimeout callTimeout idleTimeout
		retryResults ledger drift`)
	if diff := cmp.Diff(want, keyNames(httpKeys, stdioKeys, surfaceKeys, callKeys)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(strings.Fields("clientId clientSecretFrom tokenUrl authStyle scopes"), keyNames(oauthKeys)); diff != "" {
		t.Errorf("oauth keys (-want +got):\n%s", diff)
	}
	for _, name := range append(want, "upstream") {
		if isHostKey(name) {
			t.Errorf("%q is a key of ours, and among the hosts' own", name)
		}
	}
	for _, k := range oauthKeys {
		if isHostOAuthKey(k.name) {
			t.Errorf("oauth %q is a key of ours, and among the hosts' own", k.name)
		}
	}
}

// The table of keys in the design, and its defaults, are those of the decoder.
func TestDesignTable(t *testing.T) {
	design, err := os.ReadFile("../../../shared/DESIGN.md")
	if err != nil {
		t.Skip("the design is not there: ", err)
	}
	want := map[string]string{}
	for name, preset := range designKeys(string(design)) {
		want[name] = preset
	}
	got := map[string]string{}
	for _, group := range [][]key[Server]{httpKeys, stdioKeys, surfaceKeys, callKeys} {
		for _, k := range group {
			got[k.name] = k.preset
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys and defaults (-design +decoder):\n%s", diff)
	}
}

// designKeys reads the rows of the design's table of keys: names in backticks,
// then their defaults in the same order, or one for all of them.
func designKeys(design string) map[string]string {
	keys := map[string]string{}
	_, table, _ := strings.Cut(design, "| key | default | meaning |\n|---|---|---|\n")
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.ReplaceAll(row, `\|`, "¦"), "|")
		if len(cells) < 4 {
			break
		}
		names := strings.FieldsFunc(cells[1], func(r rune) bool { return strings.ContainsRune(" `,/", r) })
		presets := strings.Split(cells[2], " / ")
		for i, name := range names {
			name = strings.TrimPrefix(strings.TrimPrefix(name, "upstream"), ".")
			keys[name] = designDefault(presets[min(i, len(presets)-1)])
		}
	}
	return keys
}

func designDefault(cell string) string {
	switch cell = strings.Trim(cell, " `"); cell {
	case "–":
		return ""
	case "none":
		return `"none"`
	}
	return cell
}

func TestDefaultsAreValid(t *testing.T) {
	for _, group := range [][]key[Server]{surfaceKeys, callKeys} {
		for _, k := range group {
			if k.preset != "" {
				must(t, `"command": "x", "`+k.name+`": `+k.preset)
			}
		}
	}
}

func TestExample(t *testing.T) {
	f, err := Load("../../facade.servers.example.json")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"files", "tracker", "acme"}; !slices.Equal(f.Names(), want) {
		t.Errorf("names: got %q, want %q", f.Names(), want)
	}
	claude := []byte(`{"mcpServers": {"tracker": {"env": {"TRACKER_TOKEN": "t"}}}}`)
	for _, name := range f.Names() {
		s, err := f.Server(name)
		if err != nil {
			t.Errorf("Server(%q): %v", name, err)
			continue
		}
		if s.Upstream.URL != "" {
			_, err = s.Remote([]string{"ACME_TOKEN=t"})
		} else {
			_, err = s.Process([]string{"HOME=/home/me"}, claude, "/work")
		}
		if err != nil {
			t.Errorf("what to reach %s by: %v", name, err)
		}
	}
}

func TestServerIsACopy(t *testing.T) {
	f, err := Parse("f.json", []byte(`{"acme": {"command": "x"}}`))
	if err != nil {
		t.Fatal(err)
	}
	s, _ := f.Server("acme")
	s.Surface = "all"
	if again, _ := f.Server("acme"); again.Surface != "meta" {
		t.Error("a change to one Server changed the file's")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range seeds() {
		f.Add([]byte(seed), "A=1\nHOME=/home/me", []byte(`{"mcpServers": {"x": {"env": {"K": "${A}"}}}}`))
	}
	f.Fuzz(func(t *testing.T, data []byte, environ string, claude []byte) {
		file, err := Parse("f.json", data)
		if err != nil {
			return
		}
		vars := strings.Split(environ, "\n")
		for _, name := range file.Names() {
			s, err := file.Server(name)
			if err != nil {
				continue
			}
			p, err := s.Process(vars, claude, "/project")
			if err == nil && p.Command == "" {
				t.Errorf("%q: a process without a command", data)
			}
			r, err := s.Remote(vars)
			if err == nil && wrongURL(r.URL) != "" {
				t.Errorf("%q: requests without a URL", data)
			}
			if string(s.Identity(vars)) != string(s.Identity(vars)) || string(s.Fingerprint()) != string(s.Fingerprint()) {
				t.Errorf("%q: identity or fingerprint differ from one time to the next", data)
			}
			for line := range strings.Lines(string(s.Fingerprint())) {
				if _, value, _ := strings.Cut(line, " "); !json.Valid([]byte(value)) {
					t.Errorf("%q: fingerprint line %q", data, line)
				}
			}
		}
	})
}

// seeds are the files and entries of the tables.
func seeds() []string {
	var all []string
	for _, tt := range fileErrors {
		all = append(all, tt.text)
	}
	for _, tt := range entryErrors {
		all = append(all, `{"acme": {`+tt.members+`}}`, `{"mcpServers": {"acme": {`+tt.members+`}}}`)
	}
	for _, tt := range placeholders {
		raw, _ := json.Marshal(tt.raw)
		all = append(all, `{"a": {"command": "x", "envFrom": "claude:x", "args": [`+string(raw)+`]}}`,
			`{"a": {"url": "https://a.example/`+string(raw[1:])+`, "headers": {"Authorization": `+string(raw)+`}}}`)
	}
	return all
}

func BenchmarkParse(b *testing.B) {
	data, err := os.ReadFile("../../facade.servers.example.json")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		f, err := Parse("f.json", data)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Server("files"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStart is what each start does with an entry: its identity finds the
// cache, its fingerprint the rendered surface.
func BenchmarkStart(b *testing.B) {
	f, err := Load("../../facade.servers.example.json")
	if err != nil {
		b.Fatal(err)
	}
	s, err := f.Server("files")
	if err != nil {
		b.Fatal(err)
	}
	environ := os.Environ()
	b.ReportAllocs()
	for b.Loop() {
		s.Identity(environ)
		s.Fingerprint()
	}
}
