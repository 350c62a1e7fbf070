package main

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"
)

// issued begins the tokens that fakeToken and fakeOmp print; a number follows,
// one more with each.
const issued = "s3cr3t-issued-token-"

// fakeToken prints a token, and is asked for one as a tokenCommand is. It notes
// how in a file, from which it knows the number of the token too.
//
//	fake-token FILE [-json] [-fails TEXT]
func fakeToken() {
	asJSON := flag.Bool("json", false, "")
	fails := flag.String("fails", "", "")
	flag.CommandLine.Parse(os.Args[2:])
	n := note(os.Args[1], "token", "forced="+os.Getenv("MCP_FACADE_FORCE_REFRESH"))
	switch token := issued + strconv.Itoa(n); {
	case *fails != "":
		fmt.Fprintln(os.Stderr, *fails, token)
		os.Exit(1)
	case *asJSON:
		fmt.Printf(`{"token":%q,"expires_at":%d,"headers":{"X-Tenant":%q}}`+"\n", token, 4102444800, token+"-tenant")
	default:
		fmt.Println(token)
	}
}

// fakeOmp is omp, with its file where the variable OMP_ASKED says.
func fakeOmp() {
	if os.Args[1] != "token" {
		fatal(fmt.Errorf("omp %s: no such command", os.Args[1]))
	}
	fmt.Println(issued + strconv.Itoa(note(os.Getenv("OMP_ASKED"), os.Args[1:]...)))
}

// note adds a line to a file and returns how many there are.
func note(path string, words ...string) int {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	fatal(err)
	defer file.Close()
	fmt.Fprintln(file, strings.Join(words, " "))
	text, err := os.ReadFile(path)
	fatal(err)
	noteArgs()
	return strings.Count(string(text), "\n")
}

// noteArgs writes the command lines of this process and its parent where the
// variable ARGV_SEEN says: anybody can see them.
func noteArgs() {
	path := os.Getenv("ARGV_SEEN")
	if path == "" || runtime.GOOS != "linux" {
		return
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	fatal(err)
	defer file.Close()
	for _, pid := range []int{os.Getpid(), os.Getppid()} {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		fmt.Fprintln(file, strings.ReplaceAll(string(line), "\x00", " "))
	}
}

// denied is what a fake says that wants a token of at least a number, of one
// that is none; "" accepts it.
func denied(id, token string, least int) string {
	n, err := strconv.Atoi(strings.TrimPrefix(token, issued))
	if least == 0 || err == nil && n >= least {
		return ""
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"Unauthorized: token expired: %s"}}`, id, token)
}

// TestNoSecretLeaves: whatever is done with a token, it is in nothing that we
// write, neither for the host nor in a log, an error, a file or a command line.
func TestNoSecretLeaves(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	const inherited = "s3cr3t-inherited-0123456789"
	open := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"script","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"discover","arguments":{"query":"echo"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"fail","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"echo","arguments":{"text":"y"}}}`,
	}
	d := newDesk(t, "{}")
	s := &site{fake: fake{tools: filepath.Join(d.cwd, "tools"), name: "fake"}, log: &buffer{}}
	s.serve()
	defer s.Close()
	words := &site{fake: s.fake, log: &buffer{}, words: true, least: 2}
	words.serve()
	defer words.Close()
	strict := &site{fake: s.fake, log: &buffer{}, least: 2}
	strict.serve()
	defer strict.Close()
	mine := filepath.Join(d.cwd, "mine") // what the fakes write for themselves
	command := func(name, args string) string {
		return fmt.Sprintf(`"tokenCommand": ["fake-token", %q%s]`, filepath.Join(mine, name), args)
	}
	config := fmt.Sprintf(`{
		"json": {"url": "%s?key=${ACME_TOKEN}", %s, "headers": {"X-Key": "${ACME_TOKEN}"}},
		"http": {"url": "%s", %s},
		"words": {"url": "%s", %s},
		"omp": {"url": "%s", "credentialId": "acme"},
		"fails": {"url": "%s", %s},
		"stdio": {"command": "fake-upstream", "args": ["-tools", "tools", "-wants", "2"], %s, "env": {"TOKEN": "${tokenCommand}", "OTHER": "${ACME_TOKEN}"}},
		"dies": {"command": "fake-upstream", "args": ["-dies", "no good:", "-tells", "TOKEN"], %s, "env": {"TOKEN": "${tokenCommand}"}},
		"broken": {"command": "fake-upstream", %s, "env": {"TOKEN": "${tokenCommand}"}}
	}`, s.URL, command("1", `, "-json"`), strict.URL, command("2", ""), words.URL, command("3", ""), strict.URL, strict.URL, command("4", `, "-fails", "no session for"`),
		command("5", ""), command("6", ""), command("7", `, "-fails", "no session for"`))
	for name, text := range map[string]string{
		"facade.servers.json": config,
		"frames":              strings.Join(open, "\n"),
		"tools": `{"name":"echo","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}` + "\n" +
			`{"name":"fail","inputSchema":{"type":"object"}}` + "\n" + `{"name":"die","inputSchema":{"type":"object"}}`,
	} {
		if err := os.WriteFile(filepath.Join(d.cwd, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{mine, filepath.Join(d.cwd, "home")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	environ := append(d.environ, "ACME_TOKEN="+inherited, "OMP_ASKED="+filepath.Join(mine, "omp"), "ARGV_SEEN="+filepath.Join(d.cwd, "argv"))
	for name, dir := range map[string]string{"HOME": "home", "XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache", "XDG_STATE_HOME": "state", "XDG_DATA_HOME": "data", "XDG_RUNTIME_DIR": "run"} {
		environ = append(environ, name+"="+filepath.Join(d.cwd, dir))
	}
	run := func(args ...string) string {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = d.cwd, environ
		out, _ := cmd.CombinedOutput() // that some of them fail is the point
		return string(out)
	}
	written := map[string]string{}
	for _, name := range []string{"json", "http", "words", "omp", "fails", "stdio", "dies", "broken"} {
		for _, args := range [][]string{
			{"host", "frames", "mcp-facade", "--config", d.configFile, "-v", "--server", name},
			{"mcp-facade", "-v", "refresh", "--config", d.configFile, name},
			{"mcp-facade", "-v", "tools", "--config", d.configFile, "--json", name},
			{"mcp-facade", "-v", "call", "--config", d.configFile, "--json", name, "echo", "{}"},
			{"mcp-facade", "-v", "try", "--config", d.configFile, "--json", name},
		} {
			written[strings.Join(args, " ")] = run(args...)
		}
	}
	written["servers"] = run("mcp-facade", "-v", "servers", "--config", d.configFile, "--json")
	filepath.WalkDir(d.cwd, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && filepath.Dir(path) != mine {
			text, _ := os.ReadFile(path)
			written[path] = path + "\n" + string(text)
		}
		return err
	})
	noSecret(t, written, issued, inherited)
	showsThatItWorked(t, d.configFile, written)
	if len(written[filepath.Join(d.cwd, "argv")]) < 1000 {
		t.Errorf("the command lines were not noted: %s", written[filepath.Join(d.cwd, "argv")])
	}
}

// noSecret fails the test for each text that has a secret in it, in whatever
// form.
func noSecret(t *testing.T, written map[string]string, secrets ...string) {
	t.Helper()
	for where, text := range written {
		for _, s := range secrets {
			whole := base64.RawStdEncoding.EncodeToString([]byte(s))
			for _, form := range []string{s, whole[:len(whole)-2], strings.ToUpper(s), fmt.Sprintf("%x", s)} {
				if at := strings.Index(text, form); at >= 0 {
					t.Errorf("%s: a secret is in …%.200s…", where, text[max(0, at-100):])
				}
			}
		}
	}
}

// showsThatItWorked keeps the test from finding nothing because nothing was
// done.
func showsThatItWorked(t *testing.T, file string, written map[string]string) {
	t.Helper()
	for name, want := range map[string]string{
		"json": `echo {\"text\":\"y\"}`, "http": `echo {\"text\":\"y\"}`, "words": `echo {\"text\":\"y\"}`, "omp": `echo {\"text\":\"y\"}`, "stdio": `echo {\"text\":\"y\"}`,
		"fails": `no session for [redacted]`, "dies": `no good: [redacted]`, "broken": `no session for [redacted]`,
	} {
		got := written["host frames mcp-facade --config "+file+" -v --server "+name]
		if !strings.Contains(got, want) {
			t.Errorf("%s: the host and stderr were told\n%s\nwant %s in it", name, got, want)
		}
	}
	if !gjson.Valid(written["servers"]) {
		t.Errorf("servers --json: %s", written["servers"])
	}
}

// TestRefusedAtOnce: calls whose token is refused at the same time get one
// other token, and are sent once more each.
func TestRefusedAtOnce(t *testing.T) {
	const calls = 20
	d := newDesk(t, "")
	s := &site{fake: fake{tools: filepath.Join(d.cwd, "tools"), name: "fake"}, log: io.Discard}
	var first sync.WaitGroup
	first.Add(calls)
	var sent atomic.Int32
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		isCall := gjson.GetBytes(body, "method").Str == "tools/call"
		if isCall && sent.Add(1) <= calls {
			first.Done()
			first.Wait()
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if isCall && !strings.HasSuffix(r.Header.Get("Authorization"), issued+"2") {
			t.Errorf("a call was sent again with %q", r.Header.Get("Authorization"))
		}
		s.ServeHTTP(w, r)
	}))
	defer s.Close()
	frames := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for i := range calls {
		frames += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"n":%[1]d}}}`+"\n", i+1)
	}
	for name, text := range map[string]string{
		d.configFile: fmt.Sprintf(`{"acme":{"url":%q,"tokenCommand":["fake-token","issued"]}}`, s.URL),
		s.fake.tools: `{"name":"echo","inputSchema":{"type":"object"}}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.stdin = strings.NewReader(frames)
	if code := run(t.Context(), d.env, []string{"--server", "acme"}); code != 0 {
		t.Errorf("exit code %d: %s", code, d.err)
	}
	for i := range calls {
		if want := fmt.Sprintf(`echo {\"n\":%d}`, i+1); !strings.Contains(d.out.String(), want) {
			t.Errorf("the host was not told %s", want)
		}
	}
	asked, _ := os.ReadFile(filepath.Join(d.cwd, "issued"))
	if got := string(asked); got != "token forced=\ntoken forced=1\n" || sent.Load() != 2*calls {
		t.Errorf("%d calls were sent, want %d, and tokens asked for:\n%s", sent.Load(), 2*calls, got)
	}
}
