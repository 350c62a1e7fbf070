package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// The lock file works with whatever registry npm is set up for: it names none.
func TestLockNamesNoRegistry(t *testing.T) {
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, pkg := range gjson.GetBytes(lock, "packages").Map() {
		if pkg.Get("resolved").Exists() {
			t.Errorf("%s is bound to %s; .npmrc has omit-lockfile-registry-resolved=true", name, pkg.Get("resolved"))
		}
	}
}

// surfaced is what the surface of server-everything shows here, in order.
var surfaced = []string{"echo", "get-structured-content", "discover", "describe", "call"}

// inspector is the inspector's command line with a configuration, a secret
// store and a home that are the test's own.
func inspector(t *testing.T, w *world, args ...string) command {
	t.Helper()
	return command{
		args: append([]string{"node", module(t, ".bin", "mcp-inspector"), "--cli"}, args...),
		env:  append(w.env(), "MCP_INSPECTOR_SECRET_STORE=memory"),
	}
}

func TestInspectorWithConfigFile(t *testing.T) {
	w := newWorld(t)
	serve := w.serve(t, everything(t), surfaced[:2]...)
	file := w.write(t, "host.json", map[string]any{"mcpServers": map[string]any{"up": map[string]any{
		"command": serve.args[0], "args": serve.args[1:], "env": variables(serve.env),
	}}})
	inspect(t, w, "--config", file, "--server", "up")
}

func TestInspectorWithCommand(t *testing.T) {
	w := newWorld(t)
	inspect(t, w, target(w.serve(t, everything(t), surfaced[:2]...))...)
}

func TestInspectorInPlace(t *testing.T) {
	w := newWorld(t)
	args := append([]string{"--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=it's me"}, target(w.wrap(everything(t)))...)
	expect(t, "echo", inspector(t, w, args...).output(t), "Echo: it's me")
}

// target is c as the inspector takes it. A server gets only the variables that
// are named to the inspector.
func target(c command) []string {
	var args []string
	for _, v := range c.env {
		args = append(args, "-e", v)
	}
	return append(append(args, "--"), c.args...)
}

// inspect lists on an empty cache, and on a full one lists again and calls a
// tool, a hidden tool and a meta-tool.
func inspect(t *testing.T, w *world, server ...string) {
	t.Helper()
	run := func(method string, args ...string) string {
		t.Helper()
		return inspector(t, w, append(append([]string{"--method", method}, args...), server...)...).output(t)
	}
	for _, state := range []string{"cold", "warm"} {
		if listed := shown(run("tools/list")); !slices.Equal(listed, surfaced) {
			t.Errorf("the inspector lists %q on a %s cache, want %q", listed, state, surfaced)
		}
	}
	expect(t, "echo", run("tools/call", "--tool-name", "echo", "--tool-arg", "message=it's me"), "Echo: it's me")
	expect(t, "get-sum through call", run("tools/call", "--tool-name", "call", "--tool-arg", "tool=get-sum", `args={"a":1,"b":2}`), "is 3")
	expect(t, "discover", run("tools/call", "--tool-name", "discover", "--tool-arg", "query=sum of two numbers"), "get-sum")
}

// shown are the names of the tools in a tools/list result.
func shown(result string) []string {
	var names []string
	for _, name := range gjson.Get(result, "tools.#.name").Array() {
		names = append(names, name.Str)
	}
	return names
}

func variables(env []string) map[string]string {
	vars := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	return vars
}

func TestTypeScriptClient(t *testing.T) {
	u := everything(t)
	w := newWorld(t)
	calls := []any{
		[]any{"echo", map[string]any{"message": "it's me"}},
		[]any{"get-structured-content", map[string]any{"location": "Chicago"}},
		[]any{"call", map[string]any{"tool": "get-sum", "args": map[string]any{"a": 1, "b": 2}}},
		[]any{"call", map[string]any{"tool": "get-structured-content", "args": map[string]any{"location": "Chicago"}}},
		[]any{"discover", map[string]any{"query": "sum of two numbers"}},
		[]any{"describe", map[string]any{"tool": "get-sum"}},
	}
	for _, state := range []string{"cold", "warm"} {
		t.Run(state, func(t *testing.T) {
			seen := typeScript(t, w.serve(t, u, surfaced[:2]...), calls)
			if listed := shown(seen.Raw); !slices.Equal(listed, surfaced) {
				t.Errorf("the SDK's client lists %q, want %q", listed, surfaced)
			}
			for i, part := range []string{"Echo: it's me", "Light rain", "is 3", "Light rain", "get-sum", "inputSchema"} {
				expect(t, "result "+seen.Get("results").Array()[i].Raw, seen.Get("results").Array()[i].Raw, part)
			}
			expect(t, "instructions", seen.Get("instructions").Str, "discover", "Everything Server")
			if n := len(seen.Get("prompts").Array()); n != 4 {
				t.Errorf("%d prompts, want 4", n)
			}
			if n := len(seen.Get("resources").Array()); n != 7 {
				t.Errorf("%d resources, want 7", n)
			}
		})
	}
}

// The whole of a vendor's list, as the facade passes it on with every tool
// used, still passes the checks of the SDK that most hosts are built with.
func TestTypeScriptClientTakesEveryTool(t *testing.T) {
	w := newWorld(t)
	seen := typeScript(t, w.serve(t, postman(t, vendor(t)), "*"), []any{})
	listed := shown(seen.Raw)
	if len(listed) < 204 || !slices.Contains(listed, "getWorkspaces") {
		t.Errorf("%d tools, want all 204", len(listed))
	}
}

// typeScript runs client.mjs with the calls before c.
func typeScript(t *testing.T, c command, calls []any) gjson.Result {
	t.Helper()
	script, err := filepath.Abs("client.mjs")
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	out := command{args: append([]string{"node", script, string(list)}, c.args...), env: c.env}.output(t)
	if !gjson.Valid(out) {
		t.Fatalf("no JSON: %s", excerpt(out))
	}
	return gjson.Parse(out)
}
