package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const newEntry = "{\n  \"upstream\": {\n    \"command\": \"x\",\n    \"args\": [\n      \"-y\"\n    ]\n  },\n  \"names\": \"keep\"\n}"

func TestAddEntry(t *testing.T) {
	edits := []struct{ name, before, after string }{
		{"makes a file", "", "{\n  \"b\": {\n    \"upstream\": {\n      \"command\": \"x\",\n      \"args\": [\n        \"-y\"\n      ]\n    },\n    \"names\": \"keep\"\n  }\n}\n"},
		{"keeps a byte order mark and CRLF", "\ufeff{\r\n  \"a\": {\"command\": \"x\"}\r\n}\r\n",
			"\ufeff{\r\n  \"a\": {\"command\": \"x\"},\r\n  \"b\": {\r\n    \"upstream\": {\r\n      \"command\": \"x\",\r\n      \"args\": [\r\n        \"-y\"\r\n      ]\r\n    },\r\n    \"names\": \"keep\"\r\n  }\r\n}\r\n"},
		{"goes into mcpServers", "{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  }\n}",
			"{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"},\n    \"b\": {\n      \"upstream\": {\n        \"command\": \"x\",\n        \"args\": [\n          \"-y\"\n        ]\n      },\n      \"names\": \"keep\"\n    }\n  }\n}"},
	}
	for _, tt := range edits {
		t.Run(tt.name, func(t *testing.T) {
			got, err := AddEntry([]byte(tt.before), "b", []byte(newEntry))
			if err != nil || string(got) != tt.after {
				t.Errorf("AddEntry(%q), %v:\n got %q\nwant %q", tt.before, err, got, tt.after)
			}
		})
	}
}

func TestAddEntryErrors(t *testing.T) {
	tests := []struct{ name, data, server, entry, want string }{
		{"refuses a name that means something else", `{}`, "mcpServers", newEntry, "mcpServers: means something else in a servers file; want another name"},
		{"refuses a name that is there", `{"b": {"command": "x"}}`, "b", newEntry, "b: is there already"},
		{"refuses a name that no server can have", `{}`, "a/b", newEntry, "a/b: a server's name cannot contain a slash"},
		{"refuses a broken file", `{"a": `, "b", newEntry, "the file ends too early: a bracket, a quote or a comment is not closed"},
		{"refuses a wrong entry", `{}`, "b", `{"comand": "x"}`, `b.comand: unknown key; nearest: "command"` + "\n" + `b: want "command" or "url", one of them`},
		{"refuses an entry that is no JSON", `{}`, "b", `{`, "the file ends too early: a bracket, a quote or a comment is not closed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := AddEntry([]byte(tt.data), tt.server, []byte(tt.entry))
			if e := new(Error); err == nil || !strings.HasSuffix(err.Error(), tt.want) || !errors.As(err, &e) {
				t.Errorf("AddEntry(%q, %q): %q, %v; want the error %q", tt.data, tt.server, got, err, tt.want)
			}
		})
	}
}

func TestSetUsed(t *testing.T) {
	long := make([]string, 12)
	for i := range long {
		long[i] = fmt.Sprintf("list_things_%d", i)
	}
	tests := []struct {
		name, before string
		used         []string
		after        string
	}{
		{"adds the key", "{\n  \"a\": {\n    \"command\": \"x\" // y\n  }\n}\n", []string{"b", "c_*"},
			"{\n  \"a\": {\n    \"command\": \"x\", // y\n    \"used\": [\"b\", \"c_*\"]\n  }\n}\n"},
		{"adds it in the line", `{"a": {"command": "x"}}`, []string{"b"}, `{"a": {"command": "x", "used": ["b"]}}`},
		{"replaces a list", "{\"a\": {\"used\": [ /* old */ \"z\" ], \"command\": \"x\"}} // end", []string{},
			"{\"a\": {\"used\": [], \"command\": \"x\"}} // end"},
		{"replaces a word", `{"a": {"used": "auto", "command": "x"}}`, []string{`"b"`}, `{"a": {"used": ["\"b\""], "command": "x"}}`},
		{"gives each name a line", "{\r\n\t\"a\": {\r\n\t\t\"command\": \"x\",\r\n\t\t\"used\": [],\r\n\t},\r\n}", long,
			"{\r\n\t\"a\": {\r\n\t\t\"command\": \"x\",\r\n\t\t\"used\": [\r\n\t\t\t\"" + strings.Join(long, "\",\r\n\t\t\t\"") + "\"\r\n\t\t],\r\n\t},\r\n}"},
		{"finds it in mcpServers", `{"mcpServers": {"a": {"command": "x"}}}`, []string{"b"}, `{"mcpServers": {"a": {"command": "x", "used": ["b"]}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := SetUsed([]byte(tt.before), "a", tt.used)
			if err != nil || string(got) != tt.after {
				t.Errorf("SetUsed(%q, %q), %v:\n got %q\nwant %q", tt.before, tt.used, err, got, tt.after)
			}
		})
	}
	t.Run("names the nearest of an unknown entry", func(t *testing.T) {
		_, err := SetUsed([]byte(`{"acme": {"command": "x"}}`), "acne", nil)
		if e := new(Error); !errors.As(err, &e) || !strings.Contains(err.Error(), `nearest: "acme"`) {
			t.Errorf("SetUsed of an unknown entry: %v", err)
		}
	})
}

func TestRawUpstream(t *testing.T) {
	tests := []struct{ name, data, want string }{ // "!": the end of the error
		{"gives the object", "{\"a\": {\"upstream\": { // x\n\"command\": \"y\", }}}", "{     \n\"command\": \"y\" }"},
		{"gathers what stands at the top", `{"a": {"command": "y", "used": [], "args": ["z"]}}`, `{"command": "y", "args": ["z"]}`},
		{"finds no other", `{"b": {"command": "y"}}`, `!a: look up: not in s.json; nearest: "b"`},
		{"reads no broken file", `{"a": `, "!s.json:2:1: the file ends too early: a bracket, a quote or a comment is not closed"},
		{"reads no other value", `{"a": 1}`, "!s.json:1: a: want an object, have a number"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.json")
			if err := os.WriteFile(path, []byte(tt.data), 0o600); err != nil {
				t.Fatal(err)
			}
			raw, err := RawUpstream(path, "a")
			got := string(raw)
			if err != nil {
				got = "!" + strings.ReplaceAll(err.Error(), filepath.Dir(path)+string(filepath.Separator), "")
			}
			if got != tt.want {
				t.Errorf("RawUpstream(%q) = %q, want %q", tt.data, got, tt.want)
			}
		})
	}
	if _, err := RawUpstream(filepath.Join(t.TempDir(), "none"), "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("RawUpstream of no file: %v", err)
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "servers.json")
	check := func(what string, err error, want string) {
		t.Helper()
		got, _ := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Fatalf("%s: %v, and the file holds %q, want %q", what, err, got, want)
		}
	}
	check("a new file", Replace(path, nil, []byte("one")), "one")
	if runtime.GOOS != "windows" {
		for at, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
			if info, err := os.Stat(at); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: mode %v, %v; want %v", at, info.Mode(), err, want)
			}
		}
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
	}
	check("a file that is as it was", Replace(path, []byte("one"), []byte("two")), "two")
	if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o640) {
		t.Errorf("the mode is %v, %v; want it kept", info.Mode(), err)
	}
	for _, before := range [][]byte{nil, []byte("one"), {}} {
		err := Replace(path, before, []byte("three"))
		if e := new(Error); !errors.As(err, &e) || !strings.HasSuffix(err.Error(), "was changed by somebody else meanwhile, and is left as it is") {
			t.Errorf("a file that was changed: %v", err)
		}
		check("a file that was changed", nil, "two")
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("%d files are there, %v; want one", len(left), err)
	}
}

func TestReplaceLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	if err := Replace(link, nil, []byte("one")); err == nil || !strings.Contains(err.Error(), "leads nowhere") {
		t.Errorf("a link that leads nowhere: %v", err)
	}
	if err := os.WriteFile(real, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Replace(link, []byte("one"), []byte("two")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if got, _ := os.ReadFile(real); err != nil || info.Mode()&os.ModeSymlink == 0 || string(got) != "two" {
		t.Errorf("the link is %v, %v, and leads to %q", info.Mode(), err, got)
	}
}

// A file that has another name is left alone.
func TestReplaceHardLink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, path+".link"); err != nil {
		t.Skip(err)
	}
	err := Replace(path, []byte("one"), []byte("two"))
	if e := new(Error); !errors.As(err, &e) || e.Hint == "" || !strings.Contains(err.Error(), "a hard link") {
		t.Errorf("error is %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "one" {
		t.Errorf("the file holds %q", got)
	}
}

func ExampleAddEntry() {
	file := "{\n  // at work\n  \"acme\": { \"url\": \"https://mcp.acme.example/v1\" }\n}\n"
	after, err := AddEntry([]byte(file), "files", []byte(`{ "command": "npx", "args": ["-y", "@acme/files"] }`))
	fmt.Print(string(after), err)
	// Output:
	// {
	//   // at work
	//   "acme": { "url": "https://mcp.acme.example/v1" },
	//   "files": { "command": "npx", "args": ["-y", "@acme/files"] }
	// }
	// <nil>
}

func ExampleSetUsed() {
	after, err := SetUsed([]byte(`{ "acme": { "url": "https://mcp.acme.example/v1", "used": [] } }`), "acme", []string{"get_issue"})
	fmt.Println(string(after), err)
	// Output: { "acme": { "url": "https://mcp.acme.example/v1", "used": ["get_issue"] } } <nil>
}

func ExampleReplace() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "facade.servers.json")
	fmt.Println(Replace(path, nil, []byte("{}\n")))
	err := Replace(path, []byte("{ }"), []byte(`{"acme":{}}`))
	fmt.Println(strings.TrimPrefix(err.Error(), path))
	// Output:
	// <nil>
	// : was changed by somebody else meanwhile, and is left as it is
}

func TestHiding(t *testing.T) {
	tests := []struct{ name, before, after string }{
		{"copies all else as it is", "\ufeff{\"mcpServers\": {\r\n\t\"a\": { // mine\r\n\t\t// why\r\n\t\t\"upstream\": {\"command\": \"x\"}, \"hide\": [\"b\"], // not b\r\n\t\t\"confirm\": \"writes\",\r\n\t},\r\n}}",
			"{\r\n\t\t\"upstream\": {\"command\": \"x\"}, \"hide\": [\"b\", \"c\"],\r\n\t\t\"confirm\": \"writes\"\r\n\t}"},
		{"hides what the entry did not", "{\n    \"a\": {\n        \"command\": \"x\"\n    }\n}", "{\n        \"command\": \"x\",\n        \"hide\": [\"b\", \"c\"]\n    }"},
		{"stays in its line", `{"a":{"command":"x"}}`, `{"command":"x","hide":["b","c"]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Hiding([]byte(tt.before), "a", []string{"b", "c"})
			if err != nil || string(got) != tt.after {
				t.Fatalf("Hiding(%q), %v:\n got %q\nwant %q", tt.before, err, got, tt.after)
			}
			text, err := AddEntries([]byte(tt.before), []Entry{{Name: "z", Raw: got, Copy: true}})
			if err != nil || !strings.Contains(string(text), tt.after) {
				t.Errorf("AddEntries(%q), %v: %q", tt.before, err, text)
			}
		})
	}
}
