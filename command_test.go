package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/facade/config"

	"github.com/tidwall/gjson"
)

// A buffer is written to by several goroutines. saw, if set, is called with
// each write.
type buffer struct {
	mu  sync.Mutex
	all bytes.Buffer // guarded by mu
	saw func(text string)
}

func (b *buffer) Write(p []byte) (int, error) {
	if b.saw != nil {
		b.saw(string(p))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

// A desk is an env whose directories are temporary and whose streams are
// buffers.
type desk struct {
	*env
	out, err *buffer
}

func newDesk(t *testing.T, servers string) desk {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "facade.servers.json")
	if err := os.WriteFile(path, []byte(servers), 0o600); err != nil {
		t.Fatal(err)
	}
	d := desk{out: &buffer{}, err: &buffer{}}
	d.env = &env{
		stdin: strings.NewReader(""), stdout: d.out, stderr: d.err,
		environ: append(os.Environ(), "GORACE=atexit_sleep_ms=0"), cwd: dir, home: dir, version: "devel",
		configFile: path, cacheDir: filepath.Join(dir, "cache"), stateDir: filepath.Join(dir, "state"),
	}
	return d
}

func TestServeOnTerminal(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"says what it waits for", []string{"--server", "acme"}, "mcp-facade: acme: waiting for an MCP host on stdin: this command belongs in a host's config\n  try: mcp-facade try acme\n"},
		{"repeats no URL", []string{"--url", "https://mcp.acme.example/v1?key=hunter2"}, "mcp-facade: mcp-acme-example: waiting for an MCP host on stdin: this command belongs in a host's config\n  try: mcp-facade try --url URL\n"},
		{"repeats no header, but that there is one", []string{"--name", "Acme 2", "--url", "https://mcp.acme.example", "--header", "Authorization: hunter2"}, "mcp-facade: acme-2: waiting for an MCP host on stdin: this command belongs in a host's config\n  try: mcp-facade try --name acme-2 --url URL --header 'NAME: VALUE'\n"},
		{"repeats no command line", []string{"--", "server", "hunter2"}, "mcp-facade: hunter2: waiting"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, `{"acme":{"command":"fake-upstream"}}`)
			d.terminal = true
			if code := run(t.Context(), d.env, tt.args); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
			if got := d.err.String(); !strings.HasPrefix(got, tt.want) {
				t.Errorf("stderr:\n%s\nwant it to begin with\n%s", got, tt.want)
			}
			if got := d.out.String(); got != "" {
				t.Errorf("stdout: %q, want nothing", got)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	const silent = `{"acme":{"command":"fake-upstream","args":["-silent"],"startTimeout":"1h"}}`
	for _, args := range [][]string{{"tools", "acme"}, {"discover", "acme", "x"}, {"call", "acme", "x"}, {"refresh", "acme"}, {"try", "acme"}} {
		t.Run("it ends "+args[0], func(t *testing.T) {
			d := newDesk(t, silent)
			ctx, cancel := context.WithCancel(t.Context())
			d.err.saw = func(text string) {
				if strings.Contains(text, "msg=start ") {
					cancel()
				}
			}
			code := run(ctx, d.env, append([]string{"--verbose"}, args...))
			if got := d.err.String(); code != 1 || !strings.HasSuffix(got, "mcp-facade: interrupted\n") {
				t.Errorf("exit code %d, want 1, and \"interrupted\" last in\n%s", code, got)
			}
		})
	}
	t.Run("it ends reading stdin", func(t *testing.T) {
		d := newDesk(t, silent)
		r, w := io.Pipe()
		defer w.Close()
		d.stdin = r
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if code := run(ctx, d.env, []string{"call", "acme", "x", "-"}); code != 1 || d.err.String() != "mcp-facade: interrupted\n" {
			t.Errorf("exit code %d, want 1, and \"interrupted\" in\n%s", code, d.err)
		}
	})
}

// TestHostGone: a host that does not read any more must not kill us before the
// upstream is closed.
func TestHostGone(t *testing.T) {
	d := newDesk(t, `{"acme":{"command":"fake-upstream","args":["-tools","tools"]}}`)
	tools := filepath.Join(d.cwd, "tools")
	if err := os.WriteFile(tools, []byte(`{"name":"echo","inputSchema":{"type":"object"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("mcp-facade", "--config", d.configFile, "--server", "acme")
	cmd.Dir = d.cwd
	cmd.Env = append(d.environ, "XDG_CACHE_HOME="+d.cacheDir, "XDG_STATE_HOME="+d.stateDir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h := newHost("acme", out, in, nil)
	if _, err := h.open(); err != nil {
		t.Fatal(err)
	}
	out.Close()
	for err == nil { // until it has ended
		_, err = fmt.Fprintln(in, `{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("mcp-facade ended with %v, want it to end in order", err)
	}
}

func TestExitCode(t *testing.T) {
	hinted := &config.Error{Err: errors.New("a"), Hint: "b"}
	tests := []struct {
		name string
		err  error
		code int
		text string
	}{
		{"is silent without an error", nil, 0, ""},
		{"prints an error", errors.New("a"), 1, "mcp-facade: a\n"},
		{"prints what to do", fmt.Errorf("x: %w", hinted), 1, "mcp-facade: x: a\n  try: b\n"},
		{"prints joined errors one by one", errors.Join(hinted, errors.New("c")), 1, "mcp-facade: a\n  try: b\nmcp-facade: c\n"},
		{"prints a joined error that is alone", errors.Join(nil, hinted), 1, "mcp-facade: a\n  try: b\n"},
		{"keeps an error of two causes", fmt.Errorf("%w, because %w", errors.New("a"), errors.New("b")), 1, "mcp-facade: a, because b\n"},
		{"knows wrong use", &usageError{"a", "b"}, 2, "mcp-facade: a\n  try: b\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if code := exitCode(&b, tt.err); code != tt.code || b.String() != tt.text {
				t.Errorf("exitCode(%v) = %d, printed %q; want %d, %q", tt.err, code, &b, tt.code, tt.text)
			}
		})
	}
}

func TestInPlaceName(t *testing.T) {
	tests := []struct{ name, flags, want string }{
		{"takes the last word", "-- npx -y @acme/mcp-server", "mcp-server"},
		{"takes a file's name", "-- node /srv/acme-server.js", "acme-server"},
		{"takes its folder's if that says more", "-- node /srv/acme/dist/index.js", "acme"},
		{"has no better one", "-- node server.js", "server"},
		{"cuts no word of a long one", "-- node /srv/the-acme-server-with-quite-a-long-name.js", "the-acme-server-with-quite-a"},
		{"cuts one that is all there is", "-- node /srv/abcdefghijklmnopqrstuvwxyzabcdefghijkl.js", "abcdefghijklmnopqrstuvwxyzabcdef"},
		{"takes the path of this machine's URL", "--url http://127.0.0.1:3000/acme/mcp", "acme"},
		{"takes its port where the path says nothing", "--url http://localhost:3000/mcp", "local-3000"},
		{"takes no token from a path", "--url http://[::1]:3000/sk-live-hunter2", "local-3000"},
		{"leaves out flags", "-- acme-mcp --stdio", "acme-mcp"},
		{"leaves out the value of a flag", "-- acme-mcp --token hunter2", "acme-mcp"},
		{"leaves out the value of a short flag", "-- acme-mcp -k hunter2", "acme-mcp"},
		{"leaves out a variable", "-- env TOKEN=hunter2 acme-mcp TOKEN=hunter2", "acme-mcp"},
		{"takes the host of a URL", "-- mcp-remote https://mcp.acme.example/sse?hunter2", "mcp-acme-example"},
		{"leaves out a password", "-- mcp-remote https://me:hunter2@mcp.acme.example/sse", "mcp-acme-example"},
		{"leaves out a token", "-- acme-mcp sk-live-hunter2", "acme-mcp"},
		{"takes an image", "-- docker run -i --rm -e TOKEN ghcr.io/acme/mcp:latest", "mcp-latest"},
		{"takes --name before", "--name Mine -- acme-mcp", "mine"},
		{"keeps the dots of --name", "--name v1.2 -- acme-mcp", "v1-2"},
		{"takes a URL's host", "--url https://user:hunter2@mcp.acme.example/v1", "mcp-acme-example"},
		{"has a last resort", "-- /", "upstream"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := &options{}
			if _, err := o.parse(strings.Fields(tt.flags), false); err != nil {
				t.Fatal(err)
			}
			if got, err := o.inPlaceName(); got != tt.want || err != nil {
				t.Errorf("the name for %q is %q, %v; want %q", tt.flags, got, err, tt.want)
			}
		})
	}
}

func TestWords(t *testing.T) {
	tests := []struct {
		name string
		tool catalog.Tool
		want string
	}{
		{"takes the title", catalog.Tool{Name: "a_b", Title: "Do It"}, "do it"},
		{"takes the words of the name", catalog.Tool{Name: "list_worklogs"}, "list worklogs"},
		{"does not search for the name itself", catalog.Tool{Name: "Fail", Title: "fail", Description: "Answers with an error. Always."}, "answers with an error."},
		{"has nothing else", catalog.Tool{Name: "fail"}, "fail"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := words(tt.tool); got != tt.want {
				t.Errorf("words(%+v) = %q, want %q", tt.tool, got, tt.want)
			}
		})
	}
}

func TestMetaName(t *testing.T) {
	tests := []struct {
		name, prefix, list, want string
	}{
		{"takes the plain name", "", `[{"name":"a"},{"name":"discover"},{"name":"describe"},{"name":"call"}]`, "call"},
		{"takes a prefix", "x_", `[{"name":"x_discover"},{"name":"x_describe"},{"name":"x_call"}]`, "x_call"},
		{"takes a name that makes way", "", `[{"name":"call"},{"name":"discover"},{"name":"describe"},{"name":"acme_call"}]`, "acme_call"},
		{"leaves an upstream's tool alone", "", `[{"name":"a"},{"name":"b"},{"name":"make_call"}]`, "call"},
		{"does without a list", "", `[]`, "call"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &config.Server{Prefix: tt.prefix}
			if got := metaName(s, gjson.Parse(tt.list).Array(), "call"); got != tt.want {
				t.Errorf("metaName(%s) = %q, want %q", tt.list, got, tt.want)
			}
		})
	}
}

func TestAgo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "just now", 119 * time.Second: "just now", 2 * time.Minute: "2 minutes ago",
		119 * time.Minute: "119 minutes ago", 47 * time.Hour: "47 hours ago", 49 * time.Hour: "2 days ago",
	} {
		if got := ago(d); got != want {
			t.Errorf("ago(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestWrapped(t *testing.T) {
	tests := []struct {
		name, line string
		lines      int
	}{
		{"leaves a short line", "short", 1},
		{"leaves an empty line", "", 1},
		{"cuts at spaces", strings.Repeat("word ", 50), 3},
		{"cuts after commas", strings.Repeat("word,", 50), 3},
		{"cuts a word that is too long", strings.Repeat("x", 200), 3},
		{"counts characters", strings.Repeat("ä", 96), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := wrapped(tt.line, shownWidth)
			if len(got) != tt.lines {
				t.Errorf("wrapped(%q) = %q, want %d lines", tt.line, got, tt.lines)
			}
			for _, line := range got {
				if n := len([]rune(line)); n > shownWidth {
					t.Errorf("wrapped(%q) has a line of %d characters, want %d at most", tt.line, n, shownWidth)
				}
			}
			squash := strings.NewReplacer(" ", "")
			if whole := squash.Replace(strings.Join(got, "")); whole != squash.Replace(tt.line) {
				t.Errorf("wrapped(%q) = %q, which is another text", tt.line, got)
			}
		})
	}
}

func TestText(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"joins texts", `[{"type":"text","text":"a"},{"type":"text","text":"b\tc\n"}]`, "a\nb\tc\n"},
		{"drops what moves a terminal", `[{"type":"text","text":"a\u001b[2Jb\u0007\r"}]`, "a[2Jb"},
		{"names other content", `[{"type":"image","data":"AAAA"}]`, "[image, 30 bytes; --json shows it]"},
		{"is empty without content", `[]`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := text(gjson.Parse(`{"content":` + tt.content + `}`)); got != tt.want {
				t.Errorf("text(%s) = %q, want %q", tt.content, got, tt.want)
			}
		})
	}
}

// A folder or a server may be called what would move a terminal's cursor, or its
// title.
func TestExitCodeIsLegible(t *testing.T) {
	var out bytes.Buffer
	exitCode(&out, &usageError{what: "\x1b]0;pwned\x07 is no\nserver", hint: "mcp-facade\u009b2J"})
	if want := "mcp-facade: ]0;pwned is no\nserver\n  try: mcp-facade2J\n"; out.String() != want {
		t.Errorf("exitCode prints %q, want %q", out.String(), want)
	}
}
