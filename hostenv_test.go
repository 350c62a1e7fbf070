package main

import (
	"strings"
	"testing"

	"mcp-facade/facade/hosts"
)

// A server is started with the variables that its host sets, but for those of a
// project, which others may have written, those that only the host knows and what
// is for this program.
func TestInHost(t *testing.T) {
	d := newDesk(t, `{"acme":{"command":"x"}}`)
	d.environ = append(d.environ, "SHELL_VAR=s")
	entry := func(project bool, server, name, value string) hosts.Entry {
		return hosts.Entry{Name: "acme", Ours: true, Server: server, Project: project, Env: []hosts.Var{{Name: name, Value: value}}}
	}
	tests := []struct {
		name       string
		entry      hosts.Entry
		set, known string
	}{
		{"takes those of the user's own file", entry(false, "acme", "A", "a"), "A=a", ""},
		{"takes a value with braces", entry(false, "acme", "A", `{"Authorization":"x"}`), `A={"Authorization":"x"}`, ""},
		{"leaves a project's", entry(true, "acme", "A", "a"), "", "A"},
		{"leaves those of another server", entry(false, "other", "A", "a"), "", ""},
		{"leaves placeholders of the host", entry(false, "acme", "A", "${input:a}"), "", "A"},
		{"replaces those of the environment", entry(false, "acme", "A", "${env:SHELL_VAR}"), "A=s", ""},
		{"leaves what is for this program", entry(false, "acme", "MCP_FACADE_NO_LEDGER", "1"), "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := d.hostVars([]hostFile{{host: codexLike, path: "host.json", entries: []hosts.Entry{tt.entry}}}, d.configFile)["acme"]
			there, by := d.inHost(all)
			if set := strings.Join(there.environ[len(d.environ):], " "); set != tt.set || (by.host.Title == "Codex") != (tt.set != "") {
				t.Errorf("%s sets %q, want %q", by.host.Title, set, tt.set)
			}
			var known []string
			for _, v := range all {
				known = append(known, v.known...)
			}
			if got := strings.Join(known, " "); got != tt.known {
				t.Errorf("only the host knows %q, want %q", got, tt.known)
			}
		})
	}
}
