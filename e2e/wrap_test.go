package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

// A wrappedHost has a server called "up" in a file of its own, in front of which
// wrap puts the facade.
type wrappedHost struct {
	name    string // for wrap
	program []string
	env     []string
	file    string   // in the world
	text    string   // of the file, with a server that it starts; $COMMAND, $ARGS and $ENV are in JSON
	remote  string   // of the file, with a server at a URL; $URL is in JSON; "": not tried
	lists   string   // what it prints about the server, as a regular expression; $COMMAND starts it, or is its URL
	starts  []string // the arguments with which it starts its servers; nil: it does when it lists them
}

// wrappedHosts are the hosts from npm that list their servers.
func wrappedHosts(t *testing.T) map[string]wrappedHost {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the programs are for Linux on amd64")
	}
	claude := wrappedHost{
		name:    "claude-code",
		program: []string{module(t, "@anthropic-ai", "claude-code-linux-x64", "claude")},
		env:     []string{"ANTHROPIC_BASE_URL=http://127.0.0.1:9", "ANTHROPIC_API_KEY=x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"},
		file:    "home/.claude.json",
		text:    `{"theme":"dark","mcpServers":{"up":{"type":"stdio","command":$COMMAND,"args":$ARGS,"env":$ENV}}}`,
		remote:  `{"theme":"dark","mcpServers":{"up":{"type":"http","url":$URL,"headers":{"Authorization":"Bearer ${UP_TOKEN}","X-Org":"s3cret"}}}}`,
		lists:   `(?m)^up: $COMMAND .*Connected$`,
	}
	project := claude
	project.file = "project/.mcp.json"
	project.text = "{ \"mcpServers\":\t{\r\n\t\"up\": {\"args\": $ARGS, \"command\": $COMMAND,\r\n\t\t\"env\": $ENV}\r\n} }"
	project.remote = ""
	llm := newModel(t, turn{}, turn{text: "done"})
	mock := "model=\"mock-model\"\nmodel_provider=\"mock\" # plays\n[model_providers.mock]\nname=\"mock\"\nbase_url=\"" + llm.URL + "/v1\"\nwire_api=\"responses\"\nenv_key=\"MOCK_KEY\"\n\n"
	return map[string]wrappedHost{
		"claude-code":              claude,
		"claude-code of a project": project,
		"codex": {
			name:    "codex",
			program: []string{module(t, "@openai", "codex-linux-x64", "vendor", "x86_64-unknown-linux-musl", "bin", "codex")},
			env:     []string{"MOCK_KEY=x"},
			file:    "home/.codex/config.toml",
			text: mock + "[mcp_servers.up]\n# up it goes\n  command=$COMMAND # here\n  args = $ARGS\n  startup_timeout_sec = 60\n  required = true\n\n" +
				"[mcp_servers.up.env] # for the server\n$VARIABLES\n\n# the end",
			remote: mock + "[mcp_servers.up]\n# there\nurl=$URL\nbearer_token_env_var = 'UP_TOKEN'\nstartup_timeout_sec = 60\nrequired = true\n\n" +
				"[mcp_servers.up.http_headers]\nX-Org = 's3cret'\n",
			lists:  `(?m)^up +$COMMAND .* enabled `,
			starts: []string{"exec", "--skip-git-repo-check", question},
		},
		"gemini": {
			name:    "gemini",
			program: []string{"node", module(t, "@google", "gemini-cli", "bundle", "gemini.js")},
			env:     []string{"GEMINI_CLI_TRUST_WORKSPACE=true"},
			file:    "home/.gemini/settings.json",
			text:    "// mine\n{\n    \"mcpServers\": {\n        /* up it goes */ \"up\": {\n            \"command\": $COMMAND, // here\n            \"args\": $ARGS,\n            \"env\": $ENV,\n            \"timeout\": 60000\n        }\n    }\n}\n",
			remote:  "{\n    \"mcpServers\": {\n        \"up\": {\n            \"httpUrl\": $URL,\n            \"headers\": { \"Authorization\": \"Bearer $UP_TOKEN\", \"X-Org\": \"s3cret\" }\n        }\n    }\n}\n",
			lists:   `(?m)^✓ up: $COMMAND .*Connected$`,
		},
		"opencode": {
			name:    "opencode",
			program: []string{module(t, "opencode-linux-x64-baseline", "bin", "opencode")},
			env:     []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_PURE=1", "npm_config_registry=http://127.0.0.1:9", "npm_config_fetch_retries=0"},
			file:    "project/opencode.json",
			text:    "{\n  // up it goes\n  \"mcp\": { \"up\": { \"type\": \"local\", \"command\": [$COMMAND, \"-y\", \"up\"], \"environment\": $ENV, \"enabled\": true, }, },\n}\n",
			remote:  "{\n  \"mcp\": {\n    \"up\": {\n      \"type\": \"remote\", \"url\": $URL, // there\n      \"headers\": {\n        \"Authorization\": \"Bearer {env:UP_TOKEN}\",\n        \"X-Org\": \"s3cret\"\n      }\n    }\n  }\n}\n",
			lists:   `✓ up connected\s+│\s+$COMMAND\s`,
		},
	}
}

// Each host reaches its server through the facade after wrap, and as before
// after unwrap, which leaves no byte in the host's file that was not there.
func TestWrap(t *testing.T) {
	for name, h := range wrappedHosts(t) {
		t.Run(name, func(t *testing.T) {
			record := filepath.Join(t.TempDir(), "record")
			up := self(t, "raw", recordVar, record)
			up.Args = []string{"-y", "up"}
			var lines []string
			for name, value := range up.Env {
				lines = append(lines, fmt.Sprintf("  %s = %s", name, inJSON(t, value)))
			}
			text := strings.NewReplacer("$COMMAND", inJSON(t, up.Command), "$ARGS", inJSON(t, up.Args), "$ENV", inJSON(t, up.Env), "$VARIABLES", strings.Join(lines, "\n")).Replace(h.text)
			h.wrapAndUnwrap(t, text, up.Command, record)
		})
	}
}

// The same with a server at a URL, which lets nobody in without a header that
// the host's file has and one that it takes from the environment.
func TestWrapRemote(t *testing.T) {
	for name, h := range wrappedHosts(t) {
		if h.remote == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			record := filepath.Join(t.TempDir(), "record")
			url := guarded(t, record)
			h.env = append(h.env, "UP_TOKEN=t0ken")
			w := h.wrapAndUnwrap(t, strings.ReplaceAll(h.remote, "$URL", inJSON(t, url)), url, record)
			if servers := w.read(t, "home/.config/mcp-facade/facade.servers.json"); strings.Contains(servers, "s3cret") || strings.Contains(servers, "t0ken") {
				t.Errorf("a secret is in the servers file:\n%s", servers)
			}
		})
	}
}

// guarded is the URL of a server that wants two headers and keeps what it is sent.
func guarded(t *testing.T, record string) string {
	t.Helper()
	up := stateless(func(*http.Request) *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: "up", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "plain"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return nil, nil, nil
		})
		return s
	})
	var mu sync.Mutex // guards the file
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t0ken" || r.Header.Get("X-Org") != "s3cret" {
			http.Error(w, "who are you?", http.StatusForbidden)
			return
		}
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		mu.Lock()
		if file, err := os.OpenFile(record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintf(file, "%s\n", body)
			file.Close()
		}
		mu.Unlock()
		up.ServeHTTP(w, r)
	}))
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	return server.URL + "/mcp"
}

// wrapAndUnwrap tries the host before, between and after. The server, started by
// command or at that URL, keeps in the file record what is written to it.
func (h wrappedHost) wrapAndUnwrap(t *testing.T, text, command, record string) *world {
	t.Helper()
	w := newWorld(t)
	h.install(t, w, text)
	h.use(t, w, command)
	if h.reached(t, record) {
		t.Fatal("the facade is between them before wrap")
	}
	before := w.read(t, h.file) // the host may have written to it

	h.facade(t, w, "wrap", h.name, "up", "--write")
	h.use(t, w, os.Getenv(facadeVar))
	if !h.reached(t, record) {
		t.Errorf("the facade is not between them after wrap; %s is\n%s", h.file, w.read(t, h.file))
	}

	h.facade(t, w, "unwrap", h.name, "up", "--write")
	if after := w.read(t, h.file); after != before {
		t.Errorf("%s was\n%q\nand is after unwrap\n%q", h.file, before, after)
	}
	h.use(t, w, command)
	if h.reached(t, record) {
		t.Error("the facade is between them after unwrap")
	}
	return w
}

// install writes the host's file. The world has a home and a project, in which
// everything is started.
func (h wrappedHost) install(t *testing.T, w *world, text string) {
	t.Helper()
	for name, text := range map[string]string{
		"project/.keep": "",
		// A server of a project's own file must be approved, or the user says that
		// all are. (In the project's settings that counts only in a trusted folder.)
		"home/.claude/settings.json": `{"enableAllProjectMcpServers":true}`,
		h.file:                       text,
	} {
		if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// use lets the host list its servers and start them, and compares what it prints.
func (h wrappedHost) use(t *testing.T, w *world, command string) {
	t.Helper()
	said := h.run(t, w, append(h.program, "mcp", "list")...)
	want := strings.ReplaceAll(h.lists, "$COMMAND", regexp.QuoteMeta(command))
	if !regexp.MustCompile(want).MatchString(said) {
		t.Errorf("%s lists, instead of %s:\n%s", h.name, want, excerpt(said))
	}
	if h.starts != nil {
		h.run(t, w, append(h.program, h.starts...)...)
	}
}

// facade runs the program under test.
func (h wrappedHost) facade(t *testing.T, w *world, args ...string) {
	t.Helper()
	h.run(t, w, append([]string{os.Getenv(facadeVar)}, args...)...)
}

// ansi are the colours that a host prints whatever it is told.
var ansi = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

// run runs a program in the project, with nothing of the environment but the
// path, and returns what it prints.
func (h wrappedHost) run(t *testing.T, w *world, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = w.path("project")
	cmd.Env = append(slices.Clip(h.env), "HOME="+w.path("home"), "PATH="+os.Getenv("PATH"), "TERM=dumb", "LANG=C.UTF-8", "NO_COLOR=1", "TMPDIR="+w.dir, "GORACE=atexit_sleep_ms=0")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = linger
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	text := ansi.ReplaceAllString(said.String(), "")
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, excerpt(text))
	}
	return text
}

// reached tells whether the facade has written to the server, whose record it
// removes: the facade's own requests have ids that no host gives.
func (h wrappedHost) reached(t *testing.T, record string) bool {
	t.Helper()
	data, err := os.ReadFile(record)
	if err != nil {
		t.Fatalf("%s has not started its server: %v", h.name, err)
	}
	if err := os.Remove(record); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(gjson.Get(line, "id").Str, "mcpf-") {
			return true
		}
	}
	return false
}

// read is the text of a file of the world.
func (w *world) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
