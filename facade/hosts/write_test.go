package hosts

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// steps are those of Write, in their order.
var steps = []string{"back up", "write backup", "write file", "replace", "done"}

const writeFile = `{"mcpServers": {"a": {"command": "a"}}}`

// ready is a file that is to be wrapped.
func ready(t testing.TB) (*desk, *File, string) {
	t.Helper()
	d := newDesk(t)
	path := d.put("cursor", false, []byte(writeFile))
	f := d.file()
	e := f.Entries()[0]
	tr, err := f.Translate(e)
	if err == nil {
		_, err = f.Wrap(e, tr, command(e))
	}
	if err != nil {
		t.Fatal(err)
	}
	return d, f, path
}

// After a failure at any step the file is the old one, and nothing partial is
// beside it.
func TestWriteFails(t *testing.T) {
	for i, step := range steps {
		t.Run(step, func(t *testing.T) {
			d, f, path := ready(t)
			at := 0
			f.interrupt = func(name string) error {
				if at++; name != steps[at-1] {
					t.Errorf("step %d is %q, want %q", at, name, steps[at-1])
				}
				if at == i+1 {
					return errors.New("no space left on device")
				}
				return nil
			}
			if _, err := f.Write(noon); err == nil || !strings.Contains(err.Error(), path+": write: no space left") {
				t.Errorf("error is %v", err)
			}
			if replaced := strings.Contains(d.read(path), "mcp-facade"); replaced != (step == "done") {
				t.Errorf("replaced: %v", replaced)
			}
			checkFolder(t, d, path, i >= 2)
		})
	}
}

// checkFolder wants the file, and perhaps one whole backup, and nothing else.
func checkFolder(t *testing.T, d *desk, path string, backup bool) {
	t.Helper()
	names, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	backups := 0
	for _, n := range names {
		switch {
		case n.Name() == filepath.Base(path):
		case !stampOf(n.Name(), filepath.Base(path)).IsZero() && d.read(filepath.Join(filepath.Dir(path), n.Name())) == writeFile:
			backups++
		default:
			t.Errorf("left: %s", n.Name())
		}
	}
	if (backups == 1) != backup {
		t.Errorf("%d backups", backups)
	}
}

// killed makes a copy of the test program wrap a file and die at a step.
const killed = "HOSTS_TEST_KILLED"

func TestMain(m *testing.M) {
	if at := os.Getenv(killed); at != "" {
		home, step, _ := strings.Cut(at, "\n")
		files, _ := Find(Place{OS: "linux", Home: home, Getenv: func(string) string { return "" }})
		f := files[0]
		e := f.Entries()[0]
		tr, _ := f.Translate(e)
		f.Wrap(e, tr, command(e))
		f.interrupt = func(name string) error {
			if name == step {
				p, _ := os.FindProcess(os.Getpid())
				p.Kill()
				select {}
			}
			return nil
		}
		f.Write(noon)
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// A process that is killed leaves the old file or the new one, and the next one
// can go on.
func TestWriteKilled(t *testing.T) {
	for _, step := range steps {
		t.Run(step, func(t *testing.T) {
			d := newDesk(t)
			path := d.put("cursor", false, []byte(writeFile))
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%s", killed, d.place.Home, step))
			if err := c.Run(); err == nil || c.ProcessState.ExitCode() == 3 {
				t.Fatalf("it was not killed: %v", err)
			}
			if now := d.read(path); (now == writeFile) == (step == "done") {
				t.Errorf("the file is\n%s", now)
			}
			backups, _ := filepath.Glob(path + "*.bak")
			for _, b := range backups {
				if d.read(b) != writeFile {
					t.Errorf("a backup is %q", d.read(b))
				}
			}
			f := d.file()
			wrapAll(t, f)
			if _, err := f.Write(noon); err != nil {
				t.Error(err)
			}
			unwrapAll(t, d)
			if now := d.read(path); now != writeFile {
				t.Errorf("unwrapped it is\n%s", now)
			}
		})
	}
}

// A file that was changed since it was read, also at the last moment, is left
// alone.
func TestWriteChanged(t *testing.T) {
	for _, step := range []string{"before", "back up", "write backup", "write file", "replace"} {
		t.Run(step, func(t *testing.T) {
			d, f, path := ready(t)
			theirs := func() { d.write(path, []byte(`{"theirs": true}`)) }
			if step == "before" {
				theirs()
			}
			f.interrupt = func(name string) error {
				if name == step {
					theirs()
				}
				return nil
			}
			if _, err := f.Write(noon); !errors.Is(err, errChanged) {
				t.Errorf("%v, want errChanged", err)
			}
			if got := d.read(path); got != `{"theirs": true}` {
				t.Errorf("overwritten: %s", got)
			}
		})
	}
}

// A file that has another name is left alone: as it is replaced, that would keep
// the old text.
func TestLinked(t *testing.T) {
	d, path := wrapped(t, "cursor", writeFile)
	link := path + ".link"
	if err := os.Link(path, link); err != nil {
		t.Skip(err)
	}
	f, e := d.file(), new(Error)
	if _, err := f.Unwrap(f.Entries()[0], lost); !errors.Is(err, errLinked) || !errors.As(err, &e) || e.Hint == "" {
		t.Errorf("unwrap: %v, want errLinked with a hint", err)
	}
	d.write(path, []byte(writeFile))
	f = d.file()
	if _, err := f.Wrap(f.Entries()[0], Translation{}, []string{"mcp-facade"}); !errors.Is(err, errLinked) {
		t.Errorf("wrap: %v, want errLinked", err)
	}
	if backup, err := f.Write(noon); backup != "" || err != nil {
		t.Errorf("written: %q, %v", backup, err)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Wrap(f.Entries()[0], Translation{}, []string{"mcp-facade"}); err != nil {
		t.Error(err)
	}
}

func TestWriteReadOnlyFolder(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("may write everywhere")
	}
	d, f, path := ready(t)
	os.Chmod(filepath.Dir(path), 0o500)
	defer os.Chmod(filepath.Dir(path), 0o700)
	_, err := f.Write(noon)
	e := new(Error)
	if !errors.As(err, &e) || e.Hint == "" || !errors.Is(err, os.ErrPermission) {
		t.Errorf("error is %v", err)
	}
	if d.read(path) != writeFile {
		t.Error("written")
	}
}

// A file that cannot be used is left alone, and the error says where and what
// without a word of it.
func TestBroken(t *testing.T) {
	for _, test := range []struct {
		name, host, data, want string
	}{
		{"a missing quote", "cursor", "{\n \"mcpServers\": {\"a\": {\"env\": {\"K\": s3cret}}}}", ":2: this is not a JSON value"},
		{"a control character", "cursor", "{\n\"a\": \"s3cret\x01\"}", ":2: this is not a JSON value"},
		{"no end", "cursor", `{"mcpServers": {"a": "s3cret"`, ":1: the file ends too early"},
		{"a missing comma", "cursor", "{\"a\": 1\n\"s3cret\": 2}", ":2: a comma or a closing bracket is missing"},
		{"something behind", "cursor", "{}\n s3cret", ":2: this is not JSON"},
		{"a server twice", "cursor", "{\"mcpServers\": {\n\"a\": {\"command\": \"x\"},\n\"a\": {}}}", ":3: mcpServers.a is there twice"},
		{"a root twice", "cursor", "{\"mcpServers\": {},\n\"mcpServers\": {}}", ":2: mcpServers is there twice"},
		{"a variable twice", "zed", "{\"context_servers\": {\"a\": {\"env\": {\"K\": \"s3cret\",\n\"K\": \"\"}}}}", ":2: context_servers.a.env.K is there twice"},
		{"a list of servers", "cursor", "{\"mcpServers\": [\"s3cret\"]}", ":1: mcpServers: want an object, have an array"},
		{"a list", "vscode", "[]", ":1: the file: want an object, have an array"},
		{"null", "vscode", "null", ":1: the file: want an object, have null"},
		{"a project that is a number", "claude-code", `{"projects": {"/p": 5}}`, `:1: projects["/p"]: want an object, have a number`},
		{"UTF-16", "cursor", "\xff\xfe{\x00}\x00", ": is UTF-16 or binary"},
		{"not UTF-8", "cursor", "{\n\"a\": \"\xe9\"}", ":2: this is not UTF-8"},
		{"brackets without end", "cursor", strings.Repeat("[", 100_000), ":1: more than 2000 brackets are open"},
		{"TOML", "codex", "[mcp_servers.a\ncommand = \"s3cret\"", ":1: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t)
			path := d.put(test.host, false, []byte(test.data))
			files, errs := Find(d.place)
			if len(files) != 0 || len(errs) != 1 {
				t.Fatalf("%d files, errors %v", len(files), errs)
			}
			if got := errs[0].Error(); !strings.HasPrefix(got, path+test.want) || strings.Contains(got, "s3cret") {
				t.Errorf("got  %s\nwant %s", got, path+test.want)
			}
			if d.read(path) != test.data {
				t.Error("it was touched")
			}
		})
	}
}

// Files without servers are no error.
func TestNoServers(t *testing.T) {
	for _, data := range []string{"", "\n", "{}", `{"mcpServers": null}`, `{"mcpServers": {}}`, "// only a comment\n{}", "\ufeff{}"} {
		d := newDesk(t)
		d.put("cursor", false, []byte(data))
		if f := d.file(); len(f.Entries()) != 0 {
			t.Errorf("%q has %v", data, f.Entries())
		}
	}
}

// After the clock was put back, the last backup is still the newest.
func TestWriteClockBack(t *testing.T) {
	d, path := wrapped(t, "cursor", writeFile)
	unwrapAll(t, d)
	const other = `{"mcpServers": {"a": {"command": "other"}}}`
	d.write(path, []byte(other))
	f := d.file()
	wrapAll(t, f)
	if _, err := f.Write(noon.AddDate(-1, 0, 0)); err != nil {
		t.Fatal(err)
	}
	if unwrapAll(t, d); d.read(path) != other {
		t.Errorf("unwrapped it is %s", d.read(path))
	}
}
