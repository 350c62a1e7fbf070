package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fileErrors are texts that are no servers file.
var fileErrors = []struct{ name, text, want string }{
	{"refuses an empty file", " \n", "f.json: is empty"},
	{"refuses UTF-16", "\xff\xfe{\x00}\x00", "f.json: is UTF-16; save it as UTF-8"},
	{"refuses what is not UTF-8", "{\n\"a\": \"\xe9\"}", "f.json:2: is not UTF-8 here; save the file as UTF-8"},
	{"refuses an array", "\n[]", "f.json:2: want an object of servers, have an array"},
	{"says where a comma is missing", "{\n  \"a\": {}\n  \"b\": {}\n}", `f.json:3:3: invalid character '"' after object value (expecting ',' or '}')`},
	{"says that a bracket is open", `{"a": {`, "f.json:2:1: the file ends too early: a bracket, a quote or a comment is not closed"},
	{"says that a comment is open", "{} /* x", "f.json:1:4: the file ends too early: a bracket, a quote or a comment is not closed"},
	{"does not repeat a secret without quotes", `{"a": {"env": {"TOKEN": sk1234567}}}`, "f.json:1:25: not a JSON value: a string stands in double quotes"},
	{"does not repeat a secret with a bad escape", `{"a": {"env": {"TOKEN": "sk\1234567"}}}`,
		"f.json:1:25: not a JSON string: a quote is missing, or a line end, a control character or an unknown escape stands in it"},
	{"refuses text after the object", "{} x", "f.json:1:4: invalid character 'x' after top-level value"},
	{"refuses too many brackets", "[" + strings.Repeat("[", maxBrackets), "f.json: has more than 100000 brackets"},
	{"refuses mcpServers that is no object", `{"mcpServers": []}`, `f.json:1: "mcpServers": want an object of servers, have an array`},
	{"refuses two mcpServers", "{\"mcpServers\": {},\n\"mcpServers\": {}}", `f.json:2: "mcpServers": twice in this file`},
}

func TestParseErrors(t *testing.T) {
	for _, tt := range fileErrors {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Parse("f.json", []byte(tt.text))
			if err == nil {
				t.Fatalf("Parse(%q): got %v, want an error", tt.text, f.Names())
			}
			if e := new(Error); err.Error() != tt.want || !errors.As(err, &e) {
				t.Errorf("Parse(%.80q):\n got %s\nwant %s", tt.text, err, tt.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"reads no entry", `{}`, []string{}},
		{"keeps the order of the file", `{"b": {"command": "x"}, "a": {"command": "x"}}`, []string{"b", "a"}},
		{"leaves $schema alone", `{"$schema": "https://a.example", "a": {"command": "x"}}`, []string{"a"}},
		{"reads comments, a last one without a line end", "// x\n{/* y */\"a\": {\"command\": \"x\",},} // z", []string{"a"}},
		{"reads a file with a byte order mark and CRLF", "\ufeff{\r\n\"a\": {\"command\": \"x\"}\r\n}\r\n", []string{"a"}},
		{"reads a host's file", `{"theme": "dark", "tools": {"x": 1}, "mcpServers": {"a": {"type": "stdio", "command": "x", "disabled": false,
			"autoApprove": ["b"], "timeout": 60, "env": {}}}, "projects": {"/p": {}}}`, []string{"a"}},
		{"leaves the rest of another transport in a host's file alone", `{"mcpServers": {"a": {"url": "http://localhost:3000/sse", "env": {"K": "v"}},
			"b": {"url": "https://b.example", "oauth": {"callbackPort": 8080, "clientId": "b"}}}}`, []string{"a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Parse("f.json", []byte(tt.text))
			if err != nil {
				t.Fatalf("Parse(%q): %v", tt.text, err)
			}
			if got := f.Names(); !slices.Equal(got, tt.want) {
				t.Errorf("Names: got %q, want %q", got, tt.want)
			}
			for _, name := range f.Names() {
				if _, err := f.Server(name); err != nil {
					t.Errorf("Server(%q): %v", name, err)
				}
			}
		})
	}
}

func TestServerErrors(t *testing.T) {
	const text = `{
  "acme": {"command": "x"},
  "linear": {"command": "x", "colour": 1, "used": 3},
  "acme": {"command": "y"},
  "": {"command": "x"},
  "a/b": {"command": "x"},
  "a\nb": {"command": "x"},
  " a": {"command": "x"},
  "fine": {"command": "x"},
  "nothing": null
}`
	f, err := Parse("f.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, server, want string }{
		{"is right beside wrong ones", "fine", ""},
		{"joins all that is wrong", "linear", "f.json:3: linear.colour: unknown key\nf.json:3: linear.used: want an array of names and globs, or \"auto\", have a number"},
		{"cannot be two", "acme", "f.json:4: acme: twice in this file"},
		{"needs a name", "", `f.json:5: "": a server's name cannot be empty`},
		{"cannot have a slash", "a/b", "f.json:6: a/b: a server's name cannot contain a slash"},
		{"cannot have a control character", "a\nb", `f.json:7: "a\nb": a server's name cannot contain control characters`},
		{"cannot begin with white space", " a", "f.json:8:  a: a server's name cannot begin or end with white space"},
		{"is an object", "nothing", "f.json:10: nothing: want an object, have null"},
		{"is looked for among the near ones", "linaer", `linaer: look up: not in f.json; nearest: "linear"`},
		{"is looked for in vain", "zzzzzzzzz", `zzzzzzzzz: look up: not in f.json`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if _, err := f.Server(tt.server); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("Server(%q):\n got %s\nwant %s", tt.server, got, tt.want)
			}
		})
	}
	_, err = f.Server("zzzzzzzzz")
	if e := new(Error); !errors.As(err, &e) || e.Hint != "mcp-facade servers" {
		t.Errorf("an unknown server: got %#v, want a hint", err)
	}
}

func TestBesideMCPServers(t *testing.T) {
	f, err := Parse("f.json", []byte("{\"mcpServers\": {},\n\"acme\": {\"command\": \"x\"}, \"other\": {}}"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Server("acme")
	if want := `f.json:2: acme: stands beside "mcpServers", want it in there`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// write makes a file with the mode given, whatever the umask.
func write(t *testing.T, mode os.FileMode, data string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.json")
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	path := write(t, 0o600, `{"acme": {"command": "x"}}`)
	f, err := Load(path)
	if err != nil || f.Path != path || len(f.Warnings) != 0 || !slices.Equal(f.Names(), []string{"acme"}) {
		t.Errorf("Load: got %+v, %v", f, err)
	}

	_, err = Load(path + "x")
	if e := new(Error); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &e) || e.Hint == "" {
		t.Errorf("no file: got %v, want an *Error that wraps fs.ErrNotExist, with a hint", err)
	}
	if got := strings.Count(err.Error(), path); got != 1 {
		t.Errorf("no file: %q names the path %d times", err, got)
	}

	dir := filepath.Dir(path)
	if _, err = Load(dir); err == nil || err.Error() != dir+": is a directory, want a file" {
		t.Errorf("a directory: got %v", err)
	}

	big := write(t, 0o600, strings.Repeat(" ", maxFile+1))
	if _, err = Load(big); err == nil || err.Error() != big+": is larger than 4 MiB" {
		t.Errorf("a big file: got %v", err)
	}

	if _, err = Load(write(t, 0o600, `{`)); err == nil || !strings.Contains(err.Error(), "f.json:2:1: the file ends too early") {
		t.Errorf("a broken file: got %v", err)
	}
}
