package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tiktoken-go/tokenizer"
)

// An agent is a host with a model of its own choice.
type agent struct {
	name string
	file []string // of its program, in node_modules
	node bool     // which Node runs
	asks bool     // it reads what it is asked from stdin, and goes on until it is interrupted
	// idle is said until the meta-tools are there: this host does not wait for its
	// servers when it defers their tools, and sends the first request without them.
	idle  turn
	setup func(t *testing.T, w *world, url string, server command) (args, env []string)
}

// agents are the hosts that are tried.
func agents() []agent {
	claude := []string{"@anthropic-ai", "claude-code-linux-x64", "claude"}
	return []agent{
		{name: "tiny-agents", file: []string{"@huggingface", "tiny-agents", "dist", "cli.js"}, node: true, asks: true, setup: tinyAgents},
		{name: "opencode", file: []string{"opencode-linux-x64-baseline", "bin", "opencode"}, setup: openCode},
		{name: "codex", file: []string{"@openai", "codex-linux-x64", "vendor", "x86_64-unknown-linux-musl", "bin", "codex"}, setup: codex},
		{name: "claude-code", file: claude, setup: claudeCode},
		{name: "claude-code that defers", file: claude, idle: turn{tool: "ToolSearch", args: `{"query":"approve an invoice"}`}, setup: func(t *testing.T, w *world, url string, server command) (args, env []string) {
			args, env = claudeCode(t, w, url, server)
			return args, append(env, "ENABLE_TOOL_SEARCH=true")
		}},
	}
}

// program is the agent's program. Without it the test is skipped, or fails in CI.
func (a agent) program(t *testing.T) []string {
	t.Helper()
	if !a.node && (runtime.GOOS != "linux" || runtime.GOARCH != "amd64") {
		t.Skip("its program is for Linux on amd64")
	}
	path := module(t, a.file...)
	if a.node {
		return []string{"node", path}
	}
	return []string{path}
}

// tinyAgents writes agent.json, which names the model and the servers.
func tinyAgents(t *testing.T, w *world, url string, server command) (args, env []string) {
	w.write(t, "agent.json", object{"model": "mock-model", "endpointUrl": url + "/v1", "servers": []any{
		object{"type": "stdio", "command": server.args[0], "args": server.args[1:], "env": variables(server.env)},
	}})
	return []string{"run", w.dir}, []string{"API_KEY=x", "HF_TOKEN=x"}
}

// openCode writes opencode.json into the folder in which it is started.
func openCode(t *testing.T, w *world, url string, server command) (args, env []string) {
	w.write(t, "opencode.json", object{
		"model": "mock/mock-model", "autoupdate": false, "share": "disabled",
		"provider": object{"mock": object{
			"npm": "@ai-sdk/openai-compatible", "name": "mock", "options": object{"baseURL": url + "/v1", "apiKey": "x"},
			"models": object{"mock-model": object{"name": "mock", "tool_call": true, "limit": object{"context": 1000000, "output": 8000}}},
		}},
		"mcp": object{"up": object{"type": "local", "command": server.args, "environment": variables(server.env), "enabled": true}},
	})
	return []string{"run", question}, []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_PURE=1", "npm_config_registry=http://127.0.0.1:9", "npm_config_fetch_retries=0"}
}

// codex writes config.toml. JSON strings and arrays are TOML's too.
func codex(t *testing.T, w *world, url string, server command) (args, env []string) {
	text := fmt.Sprintf("model=\"mock-model\"\nmodel_provider=\"mock\"\napproval_policy=\"never\"\nsandbox_mode=\"danger-full-access\"\n"+
		"[model_providers.mock]\nname=\"mock\"\nbase_url=%q\nwire_api=\"responses\"\nenv_key=\"MOCK_KEY\"\n"+
		"[mcp_servers.up]\ncommand=%q\nargs=%s\n[mcp_servers.up.env]\n", url+"/v1", server.args[0], inJSON(t, server.args[1:]))
	for name, value := range variables(server.env) {
		text += fmt.Sprintf("%s=%q\n", name, value)
	}
	if err := os.MkdirAll(w.path("home", ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.path("home", ".codex", "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"exec", "--skip-git-repo-check", question}, []string{"MOCK_KEY=x"}
}

// claudeCode is given its servers by a file of the test's.
func claudeCode(t *testing.T, w *world, url string, server command) (args, env []string) {
	file := w.write(t, "mcp.json", object{"mcpServers": object{"up": object{"command": server.args[0], "args": server.args[1:], "env": variables(server.env)}}})
	return []string{"-p", question, "--mcp-config", file, "--strict-mcp-config", "--allowedTools", "mcp__up,ToolSearch"},
		[]string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
}

// question is what the host is asked.
const question = "use the tools"

func inJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// converse runs the agent with a server until the model has said its last turn.
// The agent has nothing of the environment but the path.
func (a agent) converse(t *testing.T, m *model, server command) {
	t.Helper()
	w := newWorld(t)
	if err := os.MkdirAll(w.path("home"), 0o700); err != nil {
		t.Fatal(err)
	}
	args, env := a.setup(t, w, m.URL, server)
	program := append(a.program(t), args...)
	cmd := exec.Command(program[0], program[1:]...)
	cmd.Dir = w.dir
	cmd.Env = append(append(env, w.env()...), "PATH="+os.Getenv("PATH"), "TERM=dumb", "LANG=C.UTF-8", "NO_COLOR=1", "TMPDIR="+w.dir)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = linger
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if a.asks {
		io.WriteString(stdin, question+"\n")
	} else {
		stdin.Close()
	}
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	select {
	case <-m.done:
	case err := <-gone:
		t.Fatalf("%s has ended (%v) after %d requests:\n%s", a.name, err, len(m.sent()), excerpt(said.String()))
	case <-time.After(patience):
		cmd.Process.Kill()
		<-gone
		t.Fatalf("%s has sent %d requests in %v:\n%s", a.name, len(m.sent()), patience, excerpt(said.String()))
	}
	if a.asks {
		cmd.Process.Signal(os.Interrupt)
	}
	select {
	case <-gone:
	case <-time.After(patience):
		cmd.Process.Kill()
		<-gone
		t.Errorf("%s does not end after the last turn:\n%s", a.name, excerpt(said.String()))
	}
}

// Each host finds and runs a tool of a server with 204 through the facade: its
// model is shown the three meta-tools only, and gets what they say.
func TestAgents(t *testing.T) {
	for _, a := range agents() {
		t.Run(a.name, func(t *testing.T) {
			a.program(t)
			record := filepath.Join(t.TempDir(), "calls")
			up := self(t, "many", recordVar, record)

			before := newModel(t, a.idle, turn{tool: "approve_invoice", args: `{"invoice_id":"I-1"}`}, turn{text: "done"})
			a.converse(t, before, up.direct(newWorld(t)))
			t.Logf("without the facade %s", cost(t, before.sent()[0], manyNames()))

			m := newModel(t, a.idle,
				turn{tool: "discover", args: `{"query":"approve an invoice"}`},
				turn{tool: "call", args: `{"tool":"approve_invoice","args":{"invoice_id":"I-17","options":{"reason":"it's paid"}}}`},
				turn{text: "done"})
			a.converse(t, m, newWorld(t).serve(t, up, []string{}...))
			a.check(t, m, record)
			t.Logf("with the facade %s", cost(t, m.sent()[0], metaNames))
		})
	}
}

// metaNames are the meta-tools.
var metaNames = []string{"discover", "describe", "call"}

func manyNames() (names []string) {
	for _, tool := range manyTools() {
		names = append(names, gjson.Get(tool, "name").Str)
	}
	return names
}

// check compares what the model was shown and what reached the upstream with
// what must have.
func (a agent) check(t *testing.T, m *model, record string) {
	t.Helper()
	sent := m.sent()
	first, last := sent[0], sent[len(sent)-1]
	for _, name := range metaNames {
		if n := shows(first, name); n != 1 {
			t.Errorf("%s shows its model %d tools called %s, want one", a.name, n, name)
		}
	}
	for _, name := range manyNames() {
		if shows(first, name) != 0 {
			t.Errorf("%s shows its model the hidden tool %s", a.name, name)
		}
	}
	got := results(last)
	if got = got[min(m.idled, len(got)):]; len(got) != 2 {
		t.Fatalf("%s gives its model %d results, want 2: %q", a.name, len(got), got)
	}
	expect(t, "what discover said", got[0], "Run one with", "approve_invoice(invoice_id: string")
	expect(t, "what the call gave", got[1], "ran approve_invoice with", "I-17", "it's paid")
	calls, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	call := gjson.Parse(lastLine(string(calls)))
	if call.Get("name").Str != "approve_invoice" ||
		call.Get("arguments").Raw != `{"invoice_id":"I-17","options":{"reason":"it's paid"}}` {
		t.Errorf("the upstream got, as its last call:\n%s", call.Raw)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// shows counts the tools of a request that a server calls so.
func shows(request gjson.Result, tool string) (n int) {
	for _, o := range offered(request) {
		if o.shows(tool) {
			n++
		}
	}
	return n
}

// cost is what a request shows of some tools, and what that costs in tokens: they
// alone, with the host's own, and all that the request says.
func cost(t *testing.T, request gjson.Result, names []string) string {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	count := func(text string) int {
		n, err := codec.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	n, theirs, all := 0, 0, 0
	for _, o := range offered(request) {
		tokens := count(o.raw)
		all += tokens
		if slices.ContainsFunc(names, o.shows) {
			n++
			theirs += tokens
		}
	}
	return fmt.Sprintf("%d of %d tools: %d tokens; with the host's own tools %d, the whole request %d", n, len(names), theirs, all, count(request.Raw))
}
