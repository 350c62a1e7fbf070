package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

func TestEachLine(t *testing.T) {
	long := strings.Repeat("x", transcriptLine)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"reads lines", "a\nbb\n", []string{"a\n", "bb\n"}},
		{"reads a last line without its end", "a\nbb", []string{"a\n", "bb"}},
		{"has no lines of nothing", "", nil},
		{"reads a line that is larger than the buffer", long[:1<<20] + "\na\n", []string{long[:1<<20] + "\n", "a\n"}},
		{"leaves out what is too long, and goes on", "a\n" + long + "\nb\n" + long + "x", []string{"a\n", "b\n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			eachLine(strings.NewReader(tt.text), func(b []byte) { got = append(got, string(b)) })
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %d lines, want %d", len(got), len(tt.want))
			}
		})
	}
}

// hearing is a listener for a server "my.acme" with those tools.
func hearing(tools ...string) *listener {
	var list []string
	for _, name := range tools {
		list = append(list, string(object("name", name)))
	}
	c, _ := catalog.New([][]byte{[]byte(`{"tools":[` + strings.Join(list, ",") + `]}`)})
	return &listener{catalog: c, servers: []string{"mcp__my_acme__"}, names: foldedNames(c), seen: map[string]bool{},
		heard: &heard{since: map[string]int{}, before: map[string]int{}}}
}

func TestHeardNames(t *testing.T) {
	tests := []struct {
		name, called, input, want string
	}{
		{"takes the upstream's name", "mcp__my_acme__get_issue", ``, "get_issue"},
		{"knows the server as it is written", "mcp__my.acme__get_issue", ``, "get_issue"},
		{"knows a name in lower case", "mcp__my_acme__setlabel", ``, "SetLabel"},
		{"knows a name whose signs were bent", "mcp__my_acme__get_thing_now", ``, "get-thing.now"},
		{"guesses nothing between two", "mcp__my_acme__two_ways", ``, ""},
		{"knows a name that was cut", "mcp__my_acme__a_very_long_name_of", ``, "a_very_long_name_of_one"},
		{"knows a name that ends in a hash", "mcp__my_acme__a_very_long_na_0123abcd99", ``, "a_very_long_name_of_one"},
		{"guesses nothing of a short rest", "mcp__my_acme__a_ver", ``, ""},
		{"opens call", "mcp__my_acme__call", `{"tool":"get_issue","args":{}}`, "get_issue"},
		{"opens call as models bend it", "mcp__my_acme__call", `{"name":"GET_ISSUE"}`, "get_issue"},
		{"opens call_write", "mcp__my_acme__call_write", `{"tool":"SetLabel"}`, "SetLabel"},
		{"counts no search", "mcp__my_acme__discover", `{"query":"get_issue"}`, ""},
		{"leaves another server alone", "mcp__acme__get_issue", ``, ""},
		{"leaves a host's own tool alone", "Bash", `{"command":"mcp__my_acme__get_issue"}`, ""},
		{"bears a name of odd bytes", "mcp__my_acme__\xff\xfe", ``, ""},
		{"bears an input of another shape", "mcp__my_acme__call", `[1]`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := hearing("get_issue", "SetLabel", "get-thing.now", "two-ways", "two.ways", "a_very_long_name_of_one")
			l.call("", time.Time{}, tt.called, gjson.Parse(tt.input))
			want := "map[]"
			if tt.want != "" {
				want = fmt.Sprintf("map[%s:1]", tt.want)
			}
			if got := fmt.Sprint(l.heard.since); got != want {
				t.Errorf("counted %s, want %s", got, want)
			}
		})
	}
}

// A tool of the upstream that has a meta-tool's name is the upstream's.
func TestHeardCallOfUpstream(t *testing.T) {
	l := hearing("call", "get_issue")
	l.call("1", time.Time{}, "mcp__my_acme__call", gjson.Parse(`{"tool":"get_issue"}`))
	if got := fmt.Sprint(l.heard.since); got != "map[call:1]" {
		t.Errorf("counted %s, want the upstream's own call", got)
	}
}

func FuzzHeard(f *testing.F) {
	f.Add(`{"type":"assistant","timestamp":"2026-01-05T10:00:00Z","message":{"content":[{"type":"tool_use","id":"1","name":"mcp__my_acme__get_issue","input":{}}]}}`)
	f.Add(`{"type":"response_item","payload":{"type":"function_call","namespace":"mcp__my_acme","name":"call","arguments":"{\"tool\":\"get_issue\"}"}}`)
	f.Add(`{"type":"function_call","name":"mcp__my_acme__\u0000"}`)
	f.Fuzz(func(t *testing.T, text string) {
		l := hearing("get_issue", "get-issue", "list_issues")
		for _, read := range []func(gjson.Result){l.claude, l.codex} {
			eachLine(strings.NewReader(text), func(b []byte) { l.line(b, read) })
		}
		sum := 0
		for name, n := range l.heard.since {
			if _, ok := l.catalog.Lookup(name); !ok {
				t.Errorf("%q is counted, which no catalog has", name)
			}
			sum += n
		}
		if sum != l.heard.Calls {
			t.Errorf("%d calls by tool, %d in all", sum, l.heard.Calls)
		}
	})
}

// testdata/transcripts has the lines on calls of what Claude Code 2.1 and Codex
// have written in TestAgents of e2e: a search and a call of approve_invoice by call.
func TestHeardOfHosts(t *testing.T) {
	for name, read := range map[string]func(*listener, gjson.Result){"claude-code": (*listener).claude, "codex": (*listener).codex} {
		t.Run(name, func(t *testing.T) {
			file, err := os.Open(filepath.Join("testdata", "transcripts", name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			l := hearing("approve_invoice")
			l.servers = []string{"mcp__up__"}
			l.since = time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)
			eachLine(file, func(b []byte) { l.line(b, func(r gjson.Result) { read(l, r) }) })
			if got := fmt.Sprint(l.heard.since, l.heard.before, l.heard.Unknown); got != "map[approve_invoice:1] map[] 0" {
				t.Errorf("counted %s, want one call of approve_invoice", got)
			}
		})
	}
}

// Two servers files may have a server of that name: the entries of the other are
// not of this one.
func TestHostedAs(t *testing.T) {
	d := newDesk(t, `{"acme":{"command":"x"}}`)
	s, _, err := d.target(&options{}, []string{"acme"})
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	file := filepath.Join(d.cwd, ".mcp.json")
	if err := os.WriteFile(file, []byte(`{"mcpServers":{
		"mine":{"command":"mcp-facade","args":["--server","acme","--config",`+string(wire.AppendString(nil, d.configFile))+`]},
		"theirs":{"command":"mcp-facade","args":["--server","acme","--config",`+string(wire.AppendString(nil, other))+`]}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := d.hostedAs(s); !slices.Equal(got, []string{"acme", "mine"}) {
		t.Errorf("hosted as %q, want acme and mine", got)
	}
}
