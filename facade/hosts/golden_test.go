package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// A desk is a home and a project in which hosts keep their files.
type desk struct {
	testing.TB
	place Place
	vars  map[string]string
}

func newDesk(t testing.TB) *desk {
	dir := t.TempDir()
	d := &desk{TB: t, vars: map[string]string{}}
	d.place = Place{OS: "linux", Home: filepath.Join(dir, "home"), Folders: []string{filepath.Join(dir, "project")},
		Getenv: func(name string) string { return d.vars[name] }}
	return d
}

// put writes a file where a host looks for one of its own, or of a project's.
func (d *desk) put(host string, project bool, data []byte) string {
	d.Helper()
	for _, known := range dialects() {
		for _, at := range known.files(paths{d.place}) {
			if known.Name == host && at.project == project {
				d.write(at.path, data)
				return at.path
			}
		}
	}
	d.Fatalf("no file of %s", host)
	return ""
}

func (d *desk) write(path string, data []byte) {
	d.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o640); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) read(path string) string {
	d.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		d.Fatal(err)
	}
	return string(data)
}

// change replaces texts of a file, each once, and returns what it holds then: pairs
// are old and new.
func (d *desk) change(path string, pairs []string) string {
	d.Helper()
	now := d.read(path)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(now, pairs[i]) {
			d.Fatalf("%q is not in\n%s", pairs[i], now)
		}
		now = strings.Replace(now, pairs[i], pairs[i+1], 1)
	}
	d.write(path, []byte(now))
	return now
}

// file is the only file that is found.
func (d *desk) file() *File {
	d.Helper()
	files, errs := Find(d.place)
	if len(files) != 1 || len(errs) > 0 {
		d.Fatalf("%d files, %v; want one", len(files), errs)
	}
	return files[0]
}

func command(e Entry) []string { return []string{"/opt/mcp-facade", "--server", e.Name} }

// wrapAll wraps what can be wrapped, and says what became of each entry.
func wrapAll(t testing.TB, f *File) string {
	t.Helper()
	var b strings.Builder
	for _, e := range f.Entries() {
		tr, err := f.Translate(e)
		if err != nil {
			fmt.Fprintf(&b, "== %s\nrefused: %s\n\n", e.Name, plainError(err))
			continue
		}
		c, err := f.Wrap(e, tr, command(e))
		if err != nil {
			t.Errorf("wrap %s: %v", e.Name, err)
			continue
		}
		if !json.Valid(tr.Upstream) {
			t.Errorf("upstream of %s is not JSON: %s", e.Name, tr.Upstream)
		}
		fmt.Fprintf(&b, "== %s\nupstream: %s\n", c.Where, tr.Upstream)
		if len(tr.Hide) > 0 {
			fmt.Fprintf(&b, "hide: %q\n", tr.Hide)
		}
		for _, v := range tr.Env {
			fmt.Fprintf(&b, "env: %s\n", v.Name)
		}
		for _, n := range tr.Notes {
			fmt.Fprintf(&b, "note: %s\n", n)
		}
		fmt.Fprintf(&b, "before:\n%safter:\n%s\n", c.Before, c.After)
		for _, text := range []string{string(tr.Upstream), c.Before, c.After, strings.Join(tr.Notes, "")} {
			if strings.Contains(text, "s3cret") {
				t.Errorf("%s: a secret is legible in\n%s", e.Name, text)
			}
		}
	}
	return b.String()
}

// plainError is an error without the folder of the test.
func plainError(err error) string {
	e := new(Error)
	if !errors.As(err, &e) {
		return err.Error()
	}
	return fmt.Sprintf("%d: %s: %s", e.Line, e.Key, e.Err)
}

// fixtures are the files of testdata, by host and name.
func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*", "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, file := range files {
		if ext := filepath.Ext(file); ext != ".json" && ext != ".toml" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel("testdata", file)
		all[filepath.ToSlash(name)] = data
	}
	return all
}

// shapes are the ways in which the same file may be written.
func shapes(data []byte) map[string][]byte {
	all := map[string][]byte{
		"as it is":          data,
		"with CRLF":         bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")),
		"with a mark":       append([]byte("\ufeff"), data...),
		"without an end":    bytes.TrimRight(data, "\n"),
		"with more at end":  append(bytes.Clone(data), "\n\n"...),
		"with tabs":         bytes.ReplaceAll(data, []byte("  "), []byte("\t")),
		"with four columns": bytes.ReplaceAll(data, []byte("  "), []byte("    ")),
	}
	if v, err := hujson.Parse(bytes.Clone(data)); err == nil {
		v.Minimize()
		all["on one line"] = v.Pack()
	}
	return all
}

// Whatever a file looks like: what wrapping does is taken back byte for byte, and
// wrapping again changes nothing.
func TestThereAndBack(t *testing.T) {
	for name, data := range fixtures(t) {
		host, file, _ := strings.Cut(name, "/")
		for shape, data := range shapes(data) {
			t.Run(name+" "+shape, func(t *testing.T) {
				d := newDesk(t)
				path := d.put(host, strings.HasPrefix(file, "project-"), data)
				f := d.file()
				said := wrapAll(t, f)
				backup, err := f.Write(noon)
				if err != nil {
					t.Fatal(err)
				}
				wrapped := d.read(path)
				if shape == "as it is" {
					golden(t, filepath.Join("testdata", host, strings.TrimSuffix(file, filepath.Ext(file))+".wrapped"), []byte(said+"== file\n"+wrapped))
				}
				if d.read(backup) != string(data) {
					t.Error("the backup is not what was there")
				}
				checkLineEnds(t, data, wrapped)
				twice(t, d)
				if d.read(path) != wrapped {
					t.Error("wrapping twice changes something")
				}
				unwrapAll(t, d)
				if diff := cmp.Diff(string(data), d.read(path)); diff != "" {
					t.Errorf("wrapping is not undone:\n%s\nwrapped:\n%s", diff, wrapped)
				}
			})
		}
	}
}

// twice wraps what is wrapped.
func twice(t *testing.T, d *desk) {
	t.Helper()
	f := d.file()
	for _, e := range f.Entries() {
		if !e.Ours {
			continue
		}
		if _, err := f.Translate(e); !errors.Is(err, errOurs) {
			t.Errorf("translate %s: %v, want errOurs", e.Name, err)
		}
		if _, err := f.Wrap(e, Translation{}, command(e)); !errors.Is(err, errOurs) {
			t.Errorf("wrap %s: %v, want errOurs", e.Name, err)
		}
	}
	if backup, err := f.Write(noon.Add(time.Minute)); backup != "" || err != nil {
		t.Errorf("write of nothing: %q, %v", backup, err)
	}
}

// unwrapAll unwraps what a backup knows.
func unwrapAll(t *testing.T, d *desk) {
	t.Helper()
	f := d.file()
	for _, e := range f.Entries() {
		if !e.Ours || e.Name == "ours" {
			continue
		}
		if _, err := f.Unwrap(e, lost); err != nil {
			t.Errorf("unwrap %s: %v", e.Name, err)
		}
	}
	if _, err := f.Write(noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

func checkLineEnds(t *testing.T, before []byte, after string) {
	t.Helper()
	if !bytes.Contains(before, []byte("\r\n")) {
		return
	}
	if lone := strings.Count(after, "\n") - strings.Count(after, "\r\n"); lone > 0 {
		t.Errorf("%d lines end without CR in\n%q", lone, after)
	}
}

// What Wrap makes of a file of JSON is JSON to another parser, and says the same
// but for the entries.
func TestWrappedIsJSON(t *testing.T) {
	for name, data := range fixtures(t) {
		host, file, _ := strings.Cut(name, "/")
		if !strings.HasSuffix(file, ".json") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			path := d.put(host, false, data)
			f := d.file()
			roots := slices.Concat(f.dialect.roots...)
			wrapAll(t, f)
			if _, err := f.Write(noon); err != nil {
				t.Fatal(err)
			}
			before, after := standard(t, data), standard(t, []byte(d.read(path)))
			for _, root := range roots {
				drop(before, root)
				drop(after, root)
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("something else changed:\n%s", diff)
			}
		})
	}
}

func standard(t testing.TB, data []byte) (v any) {
	t.Helper()
	plain, err := hujson.Standardize(bytes.Clone(data))
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(plain))
		d.UseNumber()
		err = d.Decode(&v)
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	return v
}

// drop takes a root out of a decoded file.
func drop(v any, root []string) {
	object, ok := v.(map[string]any)
	switch {
	case !ok:
	case len(root) == 1:
		delete(object, root[0])
	case root[0] == "*":
		for _, below := range object {
			drop(below, root[1:])
		}
	default:
		drop(object[root[0]], root[1:])
	}
}

// A file behind a symbolic link is replaced where it is, with its mode; so is
// its backup.
func TestWriteBehindLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and modes are others there")
	}
	d := newDesk(t)
	real := filepath.Join(d.place.Home, "dotfiles", "mcp.json")
	data := `{"mcpServers": {"acme": {"command": "acme"}}}`
	d.write(real, []byte(data))
	os.Chmod(real, 0o604)
	os.MkdirAll(filepath.Join(d.place.Home, ".cursor"), 0o700)
	link := filepath.Join(d.place.Home, ".cursor", "mcp.json")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	f := d.file()
	wrapAll(t, f)
	backup, err := f.Write(noon)
	if err != nil {
		t.Fatal(err)
	}
	if want := real + ".mcp-facade-20261130-120000.bak"; backup != want {
		t.Errorf("backup is %s, want %s", backup, want)
	}
	for _, path := range []string{real, backup} {
		info, err := os.Lstat(path)
		if err != nil || info.Mode() != 0o604 {
			t.Errorf("%s: mode %v, %v; want -rw----r--", path, info.Mode(), err)
		}
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is one no more")
	}
	if !strings.Contains(d.read(link), "/opt/mcp-facade") || d.read(backup) != data {
		t.Errorf("file %s, backup %s", d.read(link), d.read(backup))
	}
	names, _ := os.ReadDir(filepath.Dir(real))
	if len(names) != 2 {
		t.Errorf("left in the folder: %v", names)
	}
	if slices.ContainsFunc(names, func(n os.DirEntry) bool { return strings.HasSuffix(n.Name(), ".tmp") }) {
		t.Error("a temporary file is left")
	}
}
