package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

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
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range p.picks {
		made, err := p.wrapped(k)
		p.note(k, made, err)
	}
	if len(p.changed) != 1 || len(p.errs) > 0 {
		t.Fatalf("%d files are to be changed, %v; want one", len(p.changed), p.errs)
	}
	return p
}

// TestWrapKilled: between the two writes the host still starts what it did, and
// wrapping again uses the entry that is there.
func TestWrapKilled(t *testing.T) {
	d, file := wrapDesk(t, oneServer)
	if err := planned(t, d).writeServers(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, file); got != oneServer {
		t.Errorf("the host's file is %q, want it unchanged", got)
	}
	servers := read(t, d.configFile)
	if code := run(t.Context(), d.env, []string{"wrap", "acme", "--write"}); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, d.err)
	}
	if got := read(t, d.configFile); got != servers {
		t.Errorf("the servers file was\n%s\nand is\n%s", servers, got)
	}
	if got := read(t, file); !strings.Contains(got, d.self) || !strings.Contains(got, `"--server"`) {
		t.Errorf("the host's file does not start mcp-facade: %s", got)
	}
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
