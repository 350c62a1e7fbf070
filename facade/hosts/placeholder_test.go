package hosts

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-facade/facade/config"
)

// What a host replaces in an argument is the same behind us: of variables that are
// set (SET, to "x") and of such as are not.
func TestPlaceholders(t *testing.T) {
	for _, test := range []struct{ name, host, arg, want string }{
		{"is empty in OpenCode when unset", "opencode", "{env:NOPE}", ""},
		{"is empty in VS Code when unset", "vscode", "a${env:NOPE}b", "ab"},
		{"is the fallback in Claude Code when unset", "claude-code", "${NOPE:-y}", "y"},
		{"is an empty fallback in Claude Code", "claude-code", "${NOPE:-}", ""},
		{"is replaced in OpenCode", "opencode", "{env:SET}", "x"},
		{"is replaced in VS Code", "vscode", "${env:SET}", "x"},
		{"keeps a dollar before it in Claude Code", "claude-code", "pa$${SET}", "pa$x"},
		{"keeps a dollar before it in VS Code", "vscode", "$${env:SET}", "$x"},
		{"keeps a dollar before it in OpenCode", "opencode", "${env:SET}", "$x"},
		{"keeps a dollar between two", "claude-code", "${SET}$${SET}", "x$x"},
		{"keeps a dollar before a secret one", "claude-code", "--token=$${SET}", "--token=$x"},
		{"is none in Claude Desktop", "claude-desktop", "$${SET}", "$${SET}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t)
			d.put(test.host, false, process(test.host, test.arg))
			f := d.file()
			e := f.Entries()[0]
			tr, err := f.Translate(e)
			if err != nil {
				t.Fatal(err)
			}
			env := []string{"SET=x"}
			for _, v := range tr.Env {
				env = append(env, v.Name+"="+asHost(test.host, v.Value))
			}
			if got := started(t, tr, env); got != test.want {
				t.Errorf("%s is started with %q, want %q; upstream %s, variables %q", test.arg, got, test.want, tr.Upstream, tr.Env)
			}
		})
	}
}

// process is a host's file with a server that has one argument.
func process(host, arg string) []byte {
	root := map[string]string{"opencode": "mcp", "vscode": "servers"}[host]
	if root == "" {
		root = "mcpServers"
	}
	quoted, _ := json.Marshal(arg)
	if host == "opencode" {
		return fmt.Appendf(nil, `{"%s": {"a": {"type": "local", "command": ["c", %s]}}}`, root, quoted)
	}
	return fmt.Appendf(nil, `{"%s": {"a": {"command": "c", "args": [%s]}}}`, root, quoted)
}

// asHost replaces SET as the host does in a variable.
func asHost(host, value string) string {
	for of, set := range map[string]string{"opencode": "{env:SET}", "vscode": "${env:SET}", "claude-code": "${SET}"} {
		if of == host {
			value = strings.ReplaceAll(value, set, "x")
		}
	}
	return value
}

// started is the argument with which the servers file starts a translation.
func started(t *testing.T, tr Translation, env []string) string {
	t.Helper()
	file, err := config.Parse("f", fmt.Appendf(nil, `{"x": {"upstream": %s}}`, tr.Upstream))
	if err != nil {
		t.Fatal(err)
	}
	s, err := file.Server("x")
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Process(env, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	return p.Args[0]
}

// Without a backup a placeholder comes back from the servers file as it was.
func TestPlaceholderAnew(t *testing.T) {
	for host, data := range map[string]string{
		"opencode":    string(process("opencode", "{env:NOPE}")),
		"vscode":      string(process("vscode", "${env:NOPE}")),
		"claude-code": string(process("claude-code", "${NOPE:-}")),
		"codex":       "[mcp_servers.a]\nurl = \"https://a.example\"\nenv_http_headers = { X-Org = \"NOPE\" }\n",
	} {
		t.Run(host, func(t *testing.T) {
			d := newDesk(t)
			path := d.put(host, false, []byte(data))
			f := d.file()
			was := f.Entries()[0]
			tr, err := f.Translate(was)
			if err != nil {
				t.Fatal(err)
			}
			wrapAll(t, f)
			backup, err := f.Write(noon)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(filepath.Dir(path), filepath.Base(backup))); err != nil {
				t.Fatal(err)
			}
			f = d.file()
			if _, err := f.Unwrap(f.Entries()[0], func() ([]byte, error) { return tr.Upstream, nil }); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(noon.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			now, err := d.file().Translate(d.file().Entries()[0])
			if err != nil || string(now.Upstream) != string(tr.Upstream) || strings.Contains(d.read(path), ":-") != strings.Contains(data, ":-") {
				t.Errorf("%v; it is\n%s\nwant\n%s", err, d.read(path), data)
			}
		})
	}
}
