package hosts

import (
	"bytes"
	gocmp "cmp"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// tomlWrap is what becomes of a server when the facade is put before it.
func tomlWrap(server node) []edit {
	edits := []edit{
		{path: []string{"command"}, value: "/opt/mcp-facade"},
		{path: []string{"args"}, value: []string{"--server", server.key}},
	}
	if server.get("url") == nil {
		return edits
	}
	for _, key := range []string{"url", "bearer_token_env_var", "http_headers", "env_http_headers"} {
		edits = append(edits, edit{path: []string{key}})
	}
	return append(edits,
		edit{path: []string{"env", "ACME_X_ORG"}, value: "s3cret"},
		edit{path: []string{"env", "ACME_X_ODD"}, value: "s3cret two"},
		edit{path: []string{"env_vars"}, value: []string{"ACME_TOKEN"}})
}

var update = flag.Bool("update", false, "rewrite the golden files")

var codexRoots = [][]string{{"mcp_servers"}}

// tomlNamed is the server that is called name.
func tomlNamed(t testing.TB, data []byte, path []string) found {
	t.Helper()
	all, err := tomlFormat{}.find(data, codexRoots)
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	i := slices.IndexFunc(all, func(f found) bool { return slices.Equal(f.path, path) })
	if i < 0 {
		t.Fatalf("%q is not in\n%s", path, data)
	}
	return all[i]
}

// tomlShapes are the files of testdata/codex, each as it is, with CRLF, and
// without the last line's end.
func tomlShapes(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "codex", "*.toml"))
	if err != nil || len(files) == 0 {
		t.Fatal("testdata/codex has no files: ", err)
	}
	shapes := map[string][]byte{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".toml")
		shapes[name] = data
		shapes[name+" with CRLF"] = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
		shapes[name+" without an end"] = bytes.TrimSuffix(data, []byte("\n"))
	}
	return shapes
}

// Whatever a server looks like, what wrapping does to it is taken back byte for
// byte, doing it twice does nothing more, and no line's end is another's.
func TestTOMLThereAndBack(t *testing.T) {
	for name, data := range tomlShapes(t) {
		t.Run(name, func(t *testing.T) {
			all, err := tomlFormat{}.find(data, codexRoots)
			if err != nil || len(all) == 0 {
				t.Fatalf("%d servers, %v", len(all), err)
			}
			wrapped := data
			for _, server := range all {
				before := tomlNamed(t, wrapped, server.path)
				once, err := tomlFormat{}.edit(wrapped, before, tomlWrap(before.node))
				if err != nil {
					t.Fatalf("wrap %q: %v", server.path, err)
				}
				after := tomlNamed(t, once, server.path)
				back, err := tomlFormat{}.transplant(once, after, wrapped, before)
				if err != nil {
					t.Fatalf("unwrap %q: %v in\n%s", server.path, err, once)
				}
				if diff := cmp.Diff(string(wrapped), string(back)); diff != "" {
					t.Errorf("wrapping %q is not undone:\n%s", server.path, diff)
				}
				twice, err := tomlFormat{}.edit(once, after, tomlWrap(after.node))
				if err != nil || !bytes.Equal(once, twice) {
					t.Errorf("wrapping %q twice: %v\n%s", server.path, err, cmp.Diff(string(once), string(twice)))
				}
				wrapped = once
			}
			if lone := bytes.Count(wrapped, []byte("\n")) - bytes.Count(wrapped, []byte("\r\n")); bytes.Contains(data, []byte("\r\n")) && lone > 0 {
				t.Errorf("%d lines end without CR:\n%q", lone, wrapped)
			}
			// From one backup, made before all.
			for _, server := range all {
				if wrapped, err = (tomlFormat{}).transplant(wrapped, tomlNamed(t, wrapped, server.path), data, server); err != nil {
					t.Fatalf("unwrap %q: %v", server.path, err)
				}
			}
			if diff := cmp.Diff(string(data), string(wrapped)); diff != "" {
				t.Errorf("wrapping all is not undone:\n%s", diff)
			}
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// What others change in the file stays when a server is put back.
func TestTOMLOthersStay(t *testing.T) {
	const (
		tables = "a = 1\n\n[mcp_servers.acme]\nurl = \"u\"\n\n[mcp_servers.acme.http_headers]\nX = \"y\"\n\n[tui]\ntheme = \"dark\"\n"
		apart  = "[mcp_servers.acme]\nurl = \"u\"\n[tui]\ntheme = \"dark\"\n# headers\n[mcp_servers.acme.http_headers]\nX = \"y\"\n[z]\n"
	)
	for _, test := range []struct{ name, data, old, new string }{
		{"when a line before is changed", tables, "a = 1\n", "# one\na = 2\nb = 3\n"},
		{"when a server is added before", tables, "[mcp_servers.acme]", "[mcp_servers.beta]\ncommand = \"b\"\n[mcp_servers.acme]"},
		{"when a table behind is changed", tables, "[tui]\n", "[tui]\nx = 1\n"},
		{"when the table behind is gone", tables, "\n[tui]\ntheme = \"dark\"\n", ""},
		{"when a comment behind is added", tables, "[tui]\n", "# new\n[tui]\n"},
		{"when what is between is changed", apart, "theme = \"dark\"", "theme = \"light\"\nmore = 1"},
		{"when a table is added between", apart, "# headers\n", "[new]\nn = 1\n# headers\n"},
		{"when a table is added behind", apart, "[z]\n", "[z]\n[y]\n"},
		{"when what is behind is gone", apart, "[z]\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := []string{"mcp_servers", "acme"}
			before := tomlNamed(t, []byte(test.data), path)
			wrapped, err := tomlFormat{}.edit([]byte(test.data), before, tomlWrap(before.node))
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(wrapped), test.old, test.new, 1)
			if changed == string(wrapped) {
				t.Fatalf("%q is not in\n%s", test.old, wrapped)
			}
			back, err := tomlFormat{}.transplant([]byte(changed), tomlNamed(t, []byte(changed), path), []byte(test.data), before)
			if err != nil {
				t.Fatalf("%v in\n%s", err, changed)
			}
			want := strings.Replace(test.data, test.old, test.new, 1)
			if diff := cmp.Diff(want, string(back)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Where nothing shows where a part was, all parts are together.
func TestTOMLGathers(t *testing.T) {
	before := []byte("[mcp_servers.a]\nurl = \"u\"\n[b]\n# headers\n[mcp_servers.a.http_headers]\nX = \"y\"\n[c]\n")
	path := []string{"mcp_servers", "a"}
	for _, test := range []struct{ name, now, want string }{
		{"at the only part that is left", "[z]\n[mcp_servers.a]\ncommand = \"x\"\n# mine\n[y]\n", "[z]\n[mcp_servers.a]\nurl = \"u\"\n[mcp_servers.a.http_headers]\nX = \"y\"\n# mine\n[y]\n"},
		{"at the first of three", "[mcp_servers.a]\ncommand = \"x\"\n[y]\n[mcp_servers.a.env]\nA = \"1\"\n[z]\n[mcp_servers.a.tools]\n", "[mcp_servers.a]\nurl = \"u\"\n[mcp_servers.a.http_headers]\nX = \"y\"\n[y]\n[z]\n"},
		{"not in an inline table", "mcp_servers = { a = { command = \"x\" } }\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := tomlFormat{}.transplant([]byte(test.now), tomlNamed(t, []byte(test.now), path), before, tomlNamed(t, before, path))
			if (err != nil) != (test.want == "") || string(got) != test.want {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestTOMLEdit(t *testing.T) {
	path := []string{"mcp_servers", "a"}
	for _, test := range []struct {
		name, data string
		edits      []edit
		want       string // "": refused
	}{
		{"adds to an empty table", "[mcp_servers.a]", []edit{{[]string{"command"}, "x"}}, "[mcp_servers.a]\ncommand = \"x\""},
		{"adds to an empty inline table", "mcp_servers.a = {}", []edit{{[]string{"command"}, "x"}}, "mcp_servers.a = { command = \"x\" }"},
		{"makes the table of a variable", "[mcp_servers.a]\n", []edit{{[]string{"env", "A B"}, "x"}}, "[mcp_servers.a]\nenv = { \"A B\" = \"x\" }\n"},
		{"adds to a table with a header", "[mcp_servers.a]\n[mcp_servers.a.env]\nB = \"1\"\n", []edit{{[]string{"env", "C"}, "x"}}, "[mcp_servers.a]\n[mcp_servers.a.env]\nB = \"1\"\nC = \"x\"\n"},
		{"adds beside a dotted key", "[mcp_servers.a]\nenv.B = \"1\" # one\n", []edit{{[]string{"env", "C"}, "x"}}, "[mcp_servers.a]\nenv.B = \"1\" # one\nenv.C = \"x\"\n"},
		{"adds after the lines of its table only", "[mcp_servers.a]\n# none yet\n\n[b]\n", []edit{{[]string{"command"}, "x"}}, "[mcp_servers.a]\ncommand = \"x\"\n# none yet\n\n[b]\n"},
		{"escapes what needs it", "[mcp_servers.a]\n", []edit{{[]string{"command"}, "C:\\a \"b\"\n\t\u202e\x00é"}}, "[mcp_servers.a]\ncommand = \"C:\\\\a \\\"b\\\"\\n\\t\\U0000202E\\U00000000é\"\n"},
		{"copies a literal", "[mcp_servers.a]\n", []edit{{[]string{"command"}, literal("'a\\b'")}}, "[mcp_servers.a]\ncommand = 'a\\b'\n"},
		{"refuses a literal that is more", "[mcp_servers.a]\n", []edit{{[]string{"command"}, literal("1\nb = 2")}}, ""},
		{"puts a value in the place of a table", "[mcp_servers.a.env]\nB = \"1\"\n[mcp_servers.a]\ncommand = \"x\"\n", []edit{{[]string{"env"}, literal(`{ A = "1" }`)}}, "[mcp_servers.a]\ncommand = \"x\"\nenv = { A = \"1\" }\n"},
		{"removes the only member of an inline table", "mcp_servers.a = { command = \"x\", env = { A = \"1\", } }", []edit{{[]string{"env", "A"}, nil}}, "mcp_servers.a = { command = \"x\", env = {} }"},
		{"removes the first member", "mcp_servers.a = { command = \"x\", url = \"1\" }", []edit{{[]string{"command"}, nil}}, "mcp_servers.a = { url = \"1\" }"},
		{"removes the last member", "mcp_servers.a = { command = \"x\", url = \"1\" }", []edit{{[]string{"url"}, nil}}, "mcp_servers.a = { command = \"x\" }"},
		{"removes nothing that is not there", "mcp_servers.a = { command = \"x\" }", []edit{{[]string{"url"}, nil}, {[]string{"env", "A"}, nil}}, "mcp_servers.a = { command = \"x\" }"},
		{"removes a table between two", "[mcp_servers.a]\nurl = \"u\"\n\n[mcp_servers.a.http_headers]\nX = \"y\"\n\n[mcp_servers.a.tools.t]\napproval_mode = \"x\"\n", []edit{{[]string{"http_headers"}, nil}}, "[mcp_servers.a]\nurl = \"u\"\n\n[mcp_servers.a.tools.t]\napproval_mode = \"x\"\n"},
		{"adds a table beside those of a table without a header", "[mcp_servers.a]\n[mcp_servers.a.tools.t]\nb = 1\n[c]\n", []edit{{[]string{"tools", "u v", "b"}, "x"}, {[]string{"tools", "u v", "c"}, "y"}}, "[mcp_servers.a]\n[mcp_servers.a.tools.t]\nb = 1\n\n[mcp_servers.a.tools.\"u v\"]\nb = \"x\"\nc = \"y\"\n[c]\n"},
		{"refuses a table without a place of its own", "[mcp_servers.a.env]\nB = \"1\"\n", []edit{{[]string{"command"}, "y"}}, ""},
		{"refuses a variable where no table is", "[mcp_servers.a]\nenv = 1\n", []edit{{[]string{"env", "A"}, "y"}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := tomlFormat{}.edit([]byte(test.data), tomlNamed(t, []byte(test.data), path), test.edits)
			if (err != nil) != (test.want == "") || string(got) != test.want {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestTOMLSyntax(t *testing.T) {
	for _, test := range []struct{ name, data, want string }{
		{"a broken line", "a = 1\nb = s3cret\n", "2: unexpected character U+0073 's' at start of value"},
		{"an open list", "a = 1\nb = [\n1,\n", "3: array is incomplete"},
		{"a key twice", "[mcp_servers.a]\ncommand = \"s3cret\"\n'command' = \"s3cret\"\n", "3: a key is there twice"},
		{"a table twice", "[mcp_servers.a]\n[b]\n[mcp_servers.a]\n", "3: a table is there twice"},
		{"a header for an inline table", "[mcp_servers]\na = {}\n[mcp_servers.a.env]\n", "3: a table is there twice"},
		{"a key twice in an inline table", "[mcp_servers]\n\na = { b.c = 1, b.c = 2 }\n", "3: a key is there twice"},
		{"servers that are no table", "\nmcp_servers = 5\n", `2: mcp_servers: want a table`},
		{"a list of servers", "[[mcp_servers]]\n", `1: mcp_servers: want a table`},
		{"too much", strings.Repeat("#", 5<<20), "is larger than 4 MiB"},
		{"too deep a line", strings.Repeat("a.", 200) + "a = 1\n", "1: a table is nested too deep"},
		{"too deep a table", "[" + strings.Repeat("a.", 200) + "a]\n", "1: a table is nested too deep"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := tomlFormat{}.find([]byte(test.data), codexRoots)
			if want := new(syntaxError); !errors.As(err, &want) || err.Error() != test.want {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

func TestTOMLCommentsAreHidden(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a = 1 # s3cret\n# s3cret\r\nb = 2 # s3cret", "a = 1 # …\n# …\r\nb = 2 # …"},
		{`a = "# \" # kept" # s3cret`, `a = "# \" # kept" # …`},
		{`a = '# \' # s3cret`, `a = '# \' # …`},
		{`a = "" # s3cret`, `a = "" # …`},
		{`a = ["""" # kept " \""" # kept""""", ""] # s3cret`, `a = ["""" # kept " \""" # kept""""", ""] # …`},
		{"a = '''it's # kept\n# kept''' # s3cret", "a = '''it's # kept\n# kept''' # …"},
		{`a = "open # kept`, `a = "open # kept`},
	} {
		if got := hideTOMLComments(test.text); got != test.want {
			t.Errorf("%s\ngives\n%s\nwant\n%s", test.text, got, test.want)
		}
	}
}

// What was added to a wrapped server stays when it is unwrapped, also in a table
// of its own: Codex writes one when its user allows a tool for good.
func TestTOMLAddedMeanwhile(t *testing.T) {
	const data = "[mcp_servers.acme]\nurl = \"https://mcp.acme.example\"\n\n[mcp_servers.acme.http_headers]\nX-Org = \"s3cret\"\n\n[tui]\ntheme = \"dark\"\n"
	for _, test := range []struct{ name, added, want string }{
		{"a line", "tool_timeout_sec = 5\n", "tool_timeout_sec = 5\n"},
		{"a table", "[mcp_servers.acme.tools.read]\napproval_mode = \"approve\"\n", "tools = { read = { approval_mode = \"approve\" } }\n"},
		{"tables of a list", "[[mcp_servers.acme.x]]\na = [1] # mine\n[mcp_servers.acme.x.b]\n'c d' = 'd'\n[[mcp_servers.acme.x]]\n", "x = [{ a = [1], b = { \"c d\" = 'd' } }, {  }]\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, path := wrapped(t, "codex", data)
			d.write(path, []byte(strings.Replace(d.read(path), "\n[tui]", test.added+"\n[tui]", 1)))
			f := d.file()
			if _, err := f.Unwrap(f.Entries()[0], lost); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(noon.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(data, "\n\n[mcp_servers.acme.http", "\n"+test.want+"\n[mcp_servers.acme.http", 1)
			if diff := cmp.Diff(want, d.read(path)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A tool was allowed before, and another one since, in a table wherever the host
// puts it.
func TestTOMLAllowedMeanwhile(t *testing.T) {
	const (
		server = "[mcp_servers.a]\ncommand = 'npx' # mine\n\n[mcp_servers.a.tools.t]\napproval_mode = \"approve\"\n"
		added  = "\n[mcp_servers.a.tools.u]\napproval_mode = \"approve\"\n"
		rest   = "\n[tui]\ntheme = \"dark\"\n"
	)
	for _, test := range []struct {
		name   string
		change func(wrapped string) string
		want   string
	}{
		{"behind the other", func(w string) string { return strings.TrimSuffix(w, rest) + added + rest }, server + added + rest},
		{"at the end of the file", func(w string) string { return w + added }, server + added + rest + "\n"},
		{"before the other", func(w string) string {
			return strings.Replace(w, "\n[mcp_servers.a.tools", added+"\n[mcp_servers.a.tools", 1)
		}, server + added + rest},
		{"in the place of the other", func(w string) string { return strings.Replace(w, "tools.t", "tools.u", 1) }, strings.Replace(server, "tools.t", "tools.u", 1) + rest},
		{"and the other no more", func(w string) string {
			return strings.Replace(w, "\n[mcp_servers.a.tools.t]\napproval_mode = \"approve\"\n", "", 1)
		},
			"[mcp_servers.a]\ncommand = 'npx' # mine\n" + rest},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, path := wrapped(t, "codex", server+rest)
			now := d.read(path)
			if test.change(now) == now {
				t.Fatalf("nothing was changed in\n%s", now)
			}
			d.write(path, []byte(test.change(now)))
			unwrapAll(t, d)
			if diff := cmp.Diff(test.want, d.read(path)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// In a file that was written anew a server says again what it said; what cannot
// be is refused, and where it stands is said.
func TestTOMLWrittenAnew(t *testing.T) {
	for _, test := range []struct{ name, now, want string }{
		{"in one line", "mcp_servers = { a = { command = \"mcp-facade\", args = [\"--server\", \"a\"], env = { B = \"2\" }, tools = { u = 1, t = {} } } }\n",
			"mcp_servers = { a = { command = \"a\", env = { B = \"2\" }, tools = { t = {}, u = 1 } } }\n"},
		{"by dotted keys", "[mcp_servers.a]\ncommand = \"mcp-facade\"\nargs = [\"--server\", \"a\"]\ntools.t.x = 3\n[c]\n",
			"[mcp_servers.a]\ncommand = \"a\"\n[mcp_servers.a.tools.t]\nx = 3\n[c]\n"},
		{"without a place for its command", "[mcp_servers]\na.command.path = \"mcp-facade\"\na.command.args = [\"--server\", \"a\"]\nb.command = \"b\"\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, path := wrapped(t, "codex", "[mcp_servers.a]\ncommand = \"a\"\n[b]\n[mcp_servers.a.env]\nA = \"1\"\n[mcp_servers.a.tools.t]\nx = [1, # one\n2]\n")
			d.write(path, []byte(test.now))
			f := d.file()
			_, err := f.Unwrap(f.Entries()[0], lost)
			if err == nil {
				_, err = f.Write(noon.Add(time.Hour))
			}
			if want := "change it by hand: what it was stands in config.toml.mcp-facade-20261130-120000.bak"; err != nil && (test.want != "" || !strings.HasSuffix(err.Error(), want)) {
				t.Errorf("error is %v, want %q at its end", err, want)
			}
			if diff := cmp.Diff(gocmp.Or(test.want, test.now), d.read(path)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever the file is, an edit that is not refused leaves TOML, changes no
// byte of the others, and is taken back byte for byte; and a server that is put
// into another file says there what it said.
func FuzzTOML(f *testing.F) {
	shapes := tomlShapes(f)
	for _, data := range shapes {
		f.Add(data, shapes["url"])
		f.Add(shapes["apart"], data)
	}
	f.Fuzz(func(t *testing.T, data, other []byte) {
		if !utf8.Valid(data) || !utf8.Valid(other) {
			return
		}
		all, err := tomlFormat{}.find(data, codexRoots)
		if err != nil {
			return
		}
		for _, server := range all {
			wrapped, err := tomlFormat{}.edit(data, server, tomlWrap(server.node))
			if err != nil {
				continue
			}
			first, last := server.text[0].start, server.text[len(server.text)-1].end
			if !bytes.HasPrefix(wrapped, data[:first]) || !bytes.HasSuffix(wrapped, data[last:]) {
				t.Fatalf("wrapping %q changes others:\n%q\n%q", server.path, data, wrapped)
			}
			after := tomlNamed(t, wrapped, server.path)
			if got := after.node.get("command"); got == nil || got.value != "/opt/mcp-facade" || after.node.get("url") != nil {
				t.Fatalf("wrapping %q gives\n%q", server.path, wrapped)
			}
			back, err := tomlFormat{}.transplant(wrapped, after, data, server)
			if err != nil || !bytes.Equal(back, data) {
				t.Fatalf("wrapping %q is not undone: %v\n%q\n%q\n%q", server.path, err, data, wrapped, back)
			}
		}
		others, err := tomlFormat{}.find(other, codexRoots)
		if err != nil {
			return
		}
		for _, to := range others {
			for _, server := range all {
				if !slices.Equal(to.path, server.path) {
					continue
				}
				moved, err := tomlFormat{}.transplant(other, to, data, server)
				if err == nil && !tomlNamed(t, moved, to.path).node.says(server.node) {
					t.Fatalf("%q of\n%q\nput into\n%q\ngives\n%q", to.path, data, other, moved)
				}
			}
		}
	})
}
