package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"mcp-facade/facade/hosts"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// holding counts the files below $WORK that have a word in them: holding 1 secret
func holding(ts *testscript.TestScript, _ bool, args []string) {
	var found []string
	ts.Check(filepath.WalkDir(ts.Getenv("WORK"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), args[1]) {
			found = append(found, path)
		}
		return err
	}))
	if fmt.Sprint(len(found)) != args[0] {
		ts.Fatalf("%d files hold %s, want %s: %q", len(found), args[1], args[0], found)
	}
}

// setin replaces a word in a file: setin FILE WORD TEXT
func setin(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(string(text), args[1], args[2])), 0o600))
}

const oneServer = `{"mcpServers":{"acme":{"command":"fake-upstream","args":["-name","acme"]}}}`

// wrapDesk is a desk with a host's file, and without a servers file.
func wrapDesk(t *testing.T, text string) (d desk, file string) {
	t.Helper()
	d = newDesk(t, "")
	d.self = filepath.Join(d.home, "bin", "mcp-facade")
	if err := os.Remove(d.configFile); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(d.home, ".gemini", "settings.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, file, text)
	return d, file
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// planned is the plan of wrap acme --write, before anything is written.
func planned(t *testing.T, d desk) *plan {
	t.Helper()
	p, err := d.plan(&options{write: true}, []string{"acme"})
	if err == nil {
		err = p.readServers()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range p.picks {
		made, err := p.wrapped(k)
		p.note(k, made, err, true)
	}
	if err := p.addEntries(); err != nil {
		t.Fatal(err)
	}
	if len(p.changed) != 1 || len(p.errs) > 0 {
		t.Fatalf("%d files are to be changed, %v; want one", len(p.changed), p.errs)
	}
	return p
}

// killedVar has TestWrapKilled, in a process of its own, wrap all in a home and
// die when so many files are written.
const killedVar = "WRAP_KILLED"

// TestWrapKilled: wherever wrap is killed, each host's file is the old one or the
// new one, what a host starts is in the servers file, and wrapping again ends as if
// nothing had been.
func TestWrapKilled(t *testing.T) {
	if at, home, ok := strings.Cut(os.Getenv(killedVar), " "); ok {
		wrapAndDie(t, at, home)
	}
	const other = "[mcp_servers.acme]\ncommand = \"fake-upstream\"\n"
	prepare := func(t *testing.T) (d desk, files map[string]string) {
		d, file := wrapDesk(t, oneServer)
		codex := filepath.Join(d.home, ".codex", "config.toml")
		if err := os.MkdirAll(filepath.Dir(codex), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, codex, other)
		return d, map[string]string{file: oneServer, codex: other}
	}
	for written := 1; written <= 3; written++ {
		t.Run(fmt.Sprintf("with %d files written", written), func(t *testing.T) {
			d, files := prepare(t)
			c := exec.Command(os.Args[0], "-test.run=^TestWrapKilled$")
			c.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", killedVar, written, d.home))
			if err := c.Run(); err == nil || c.ProcessState.ExitCode() == wrapSurvived {
				t.Fatalf("it was not killed: %v", err)
			}
			changed := 0
			for file, old := range files {
				if now := read(t, file); now != old {
					changed++
					if !strings.Contains(now, `"--server"`) {
						t.Errorf("%s is neither the old one nor the new one:\n%s", file, now)
					}
				}
			}
			if servers := gjson.Parse(read(t, d.configFile)); changed != written-1 || len(servers.Map()) != 2 {
				t.Errorf("%d files of hosts are changed, want %d; the servers file is %s", changed, written-1, servers)
			}
			servers := read(t, d.configFile)
			if code := run(t.Context(), d.env, []string{"wrap", "--write"}); code != 0 {
				t.Fatalf("again: exit code %d:\n%s", code, d.err)
			}
			if got := read(t, d.configFile); got != servers {
				t.Errorf("the servers file was\n%s\nand is\n%s", servers, got)
			}
			for file := range files {
				if got := read(t, file); !strings.Contains(got, `"--server"`) {
					t.Errorf("%s does not start mcp-facade:\n%s", file, got)
				}
			}
			if code := run(t.Context(), d.env, []string{"unwrap", "--write"}); code != 0 {
				t.Fatalf("unwrap: exit code %d:\n%s", code, d.err)
			}
			for file, old := range files {
				if got := read(t, file); got != old {
					t.Errorf("unwrapped, %s is\n%s", file, got)
				}
			}
		})
	}
}

// wrapSurvived is the exit code of wrapAndDie if nothing has ended it.
const wrapSurvived = 3

// wrapAndDie wraps all in a home, and is killed when it says that so many files
// are written.
func wrapAndDie(t *testing.T, at, home string) {
	d := newDesk(t, "")
	d.home, d.cwd, d.self = home, home, filepath.Join(home, "bin", "mcp-facade")
	d.configFile, d.stateDir = filepath.Join(home, "facade.servers.json"), filepath.Join(home, "state")
	written := 0
	d.out.saw = func(text string) {
		if written += strings.Count(text, "wrote "); fmt.Sprint(written) == at {
			p, _ := os.FindProcess(os.Getpid())
			p.Kill()
			select {}
		}
	}
	run(t.Context(), d.env, []string{"wrap", "--write"})
	os.Exit(wrapSurvived)
}

func TestWrapChangedMeanwhile(t *testing.T) {
	t.Run("it leaves all alone when the servers file is another", func(t *testing.T) {
		d, file := wrapDesk(t, oneServer)
		p := planned(t, d)
		write(t, d.configFile, "{}")
		p.write()
		if len(p.errs) != 1 || !strings.Contains(p.errs[0].Error(), "was changed by somebody else meanwhile") {
			t.Errorf("errors: %v", p.errs)
		}
		if servers, host := read(t, d.configFile), read(t, file); servers != "{}" || host != oneServer {
			t.Errorf("the files are\n%s\n%s\nwant them unchanged", servers, host)
		}
	})
	t.Run("it leaves a host's file alone that is another", func(t *testing.T) {
		d, file := wrapDesk(t, oneServer)
		p := planned(t, d)
		write(t, file, oneServer+"\n")
		p.write()
		if len(p.errs) != 1 || !strings.Contains(p.errs[0].Error(), file) {
			t.Errorf("errors: %v", p.errs)
		}
		if got := read(t, file); got != oneServer+"\n" {
			t.Errorf("the host's file is %q, want it unchanged", got)
		}
	})
}

// TestWrapAtOnce: of processes that wrap servers of one name at the same time,
// none takes the entry of another.
func TestWrapAtOnce(t *testing.T) {
	d, _ := wrapDesk(t, oneServer)
	files := map[string]string{"cursor": ".cursor/mcp.json", "gemini": ".gemini/settings.json", "windsurf": ".codeium/windsurf/mcp_config.json"}
	var wg sync.WaitGroup
	for host, file := range files {
		file = filepath.Join(d.home, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, file, `{"mcpServers":{"acme":{"command":"of-`+host+`"}}}`)
		wg.Go(func() {
			e := *d.env
			e.stdout, e.stderr = io.Discard, io.Discard
			if code := run(t.Context(), &e, []string{"wrap", host, "--write"}); code != 0 {
				t.Errorf("%s: exit code %d", host, code)
			}
		})
	}
	wg.Wait()
	servers := gjson.Parse(read(t, d.configFile))
	for host, file := range files {
		name := gjson.Get(read(t, filepath.Join(d.home, file)), "mcpServers.acme.args.1").Str
		if got := servers.Get(name + ".upstream.command").Str; got != "of-"+host {
			t.Errorf("%s starts %q, which is %q in\n%s", host, name, got, servers.Raw)
		}
	}
}

// TestWrapUnwritable: beside a file with so long a name no backup can be written.
// That holds for every user, unlike the mode of a folder.
func TestWrapUnwritable(t *testing.T) {
	d, file := wrapDesk(t, oneServer)
	long := filepath.Join(d.home, strings.Repeat("x", 240))
	if err := errors.Join(os.Rename(file, long), os.Symlink(long, file)); err != nil {
		t.Skip(err)
	}
	other := filepath.Join(d.home, ".codex", "config.toml")
	if err := os.MkdirAll(filepath.Dir(other), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, other, "[mcp_servers.acme]\ncommand = \"fake-upstream\"\n")
	if code := run(t.Context(), d.env, []string{"wrap", "--write"}); code != 1 || !strings.Contains(d.err.String(), "mcp-facade: "+file) {
		t.Errorf("exit code %d, want 1, and the file in\n%s", code, d.err)
	}
	if got := read(t, long); got != oneServer {
		t.Errorf("the file is %q, want it unchanged", got)
	}
	if got := read(t, other); !strings.Contains(got, d.self) {
		t.Errorf("the other file does not start mcp-facade: %s", got)
	}
	left, err := filepath.Glob(filepath.Join(d.home, "*"))
	for _, path := range left {
		if err != nil || strings.Contains(filepath.Base(path), "xxx") && path != long || strings.HasSuffix(path, ".tmp") {
			t.Errorf("%s was left there", path)
		}
	}
}

func TestProgram(t *testing.T) {
	d, _ := wrapDesk(t, oneServer)
	installed := filepath.Join(d.home, "bin", "mcp-facade")
	if err := os.MkdirAll(filepath.Dir(installed), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, installed, "x")
	if err := os.Chmod(installed, 0o700); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "mcp-facade")
	write(t, other, "y")
	tests := []struct {
		name, self, path string
		desktop          bool
		want             string
	}{
		{"takes the name that PATH finds", installed, filepath.Dir(installed), false, "mcp-facade"},
		{"takes the path for a desktop program", installed, filepath.Dir(installed), true, installed},
		{"takes the path where PATH finds another", other, filepath.Dir(installed), false, other},
		{"takes the path where PATH finds nothing", installed, filepath.Join(d.home, "none"), false, installed},
		{"refuses a file of go run", filepath.Join(d.home, "go-build123", "b001", "exe", "mcp-facade"), "", false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := *d.env
			e.self, e.environ = tt.self, []string{"PATH=" + tt.path}
			got, err := e.program(tt.desktop)
			if got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("program = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestCleanServer(t *testing.T) {
	tests := []struct{ name, server, want string }{
		{"leaves a name", "acme", "acme"},
		{"leaves spaces and capitals", "Acme Files", "Acme Files"},
		{"replaces slashes", "com.acme/mcp", "com.acme-mcp"},
		{"drops what is invisible", "ac\u200bme\x1b", "acme"},
		{"cuts between characters", strings.Repeat("ä", 60), strings.Repeat("ä", 40)},
		{"finds one for nothing", " ", "server"},
		{"finds another for what means something else in a servers file", "mcpServers", "server"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := cleanServer(tt.server); got != tt.want {
				t.Errorf("cleanServer(%q) = %q, want %q", tt.server, got, tt.want)
			}
		})
	}
}

func TestExpandBraces(t *testing.T) {
	d, _ := wrapDesk(t, oneServer)
	d.environ = []string{"A=x"}
	p := &plan{env: d.env}
	for text, want := range map[string]string{"a": "a", "${A}": "x", "${env:A}-${A}": "x-x", "${": "${", "${B}": "", "${input:a}": "", "{env:A}": "x", "{file:a}": "{file:a}"} {
		got, known := p.expanded(text)
		if got != want || known != slices.Contains([]string{"a", "${A}", "${env:A}-${A}", "${", "{env:A}"}, text) {
			t.Errorf("expanded(%q) = %q, %v; want %q", text, got, known, want)
		}
	}
}

func TestServersFileOf(t *testing.T) {
	d, _ := wrapDesk(t, oneServer)
	at := func(parts ...string) string { return filepath.Join(append([]string{d.home}, parts...)...) }
	named := func(path string) []hosts.Var {
		return []hosts.Var{{Name: "A", Value: "b"}, {Name: "MCP_FACADE_CONFIG", Value: path}}
	}
	tests := []struct {
		name  string
		entry hosts.Entry
		want  string
	}{
		{"takes ours where none is named", hosts.Entry{Cwd: at("w")}, d.configFile},
		{"takes the flag before the variable", hosts.Entry{Config: at("a.json"), Env: named(at("b.json"))}, at("a.json")},
		{"takes the variable", hosts.Entry{Env: named(at("b.json"))}, at("b.json")},
		{"begins in the entry's folder", hosts.Entry{Cwd: at("w"), Config: "a.json"}, at("w", "a.json")},
		{"begins in the project's folder", hosts.Entry{Scope: at("p"), Env: named("b.json")}, at("p", "b.json")},
		{"begins in ours", hosts.Entry{Cwd: "w", Config: "a.json"}, at("w", "a.json")},
		{"leaves what only the host knows", hosts.Entry{Cwd: at("w"), Config: "${workspaceFolder}/a.json"}, at("${workspaceFolder}", "a.json")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := d.serversFileOf(tt.entry); got != tt.want {
				t.Errorf("serversFileOf(%+v) = %s, want %s", tt.entry, got, tt.want)
			}
		})
	}
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	at := func(path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }
	for _, path := range []string{"home/repo/.git", "home/repo/a/b", "home/plain/a", "dots/.git", "dots/home/a", "out/.git", "out/a"} {
		if err := os.MkdirAll(at(path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name, home, cwd string
		want            []string
	}{
		{"goes up to the root of the repository", "home", "home/repo/a/b", []string{"home/repo/a/b", "home/repo/a", "home/repo"}},
		{"goes no further", "home", "home/repo", []string{"home/repo"}},
		{"stays where there is no repository", "home", "home/plain/a", []string{"home/plain/a"}},
		{"stays where the home directory is in one", "dots/home", "dots/home/a", []string{"dots/home/a"}},
		{"stays above the home directory", "dots/home", "dots", []string{"dots"}},
		{"goes up elsewhere", "home", "out/a", []string{"out/a", "out"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := &env{home: at(tt.home), cwd: at(tt.cwd)}
			var want []string
			for _, path := range tt.want {
				want = append(want, at(path))
			}
			if got := e.folders(); !slices.Equal(got, want) {
				t.Errorf("folders = %q, want %q", got, want)
			}
		})
	}
}

func TestWrapNumbers(t *testing.T) {
	ten := 10
	for saves, want := range map[int]string{4: "10\t10\t10\t4 (40 %)", 0: "10\t10\t10\tnothing", -376: "10\t10\t10\t376 more"} {
		l := wrapLine{Tools: &ten, Without: &ten, With: &ten, Saves: &saves}
		if got := l.numbers(); got != want {
			t.Errorf("%d saved: %q, want %q", saves, got, want)
		}
	}
}
