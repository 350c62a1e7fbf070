package hosts

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// wrapped is a desk with a file whose entries are wrapped, and where it is.
func wrapped(t *testing.T, host, data string) (d *desk, path string) {
	t.Helper()
	d = newDesk(t)
	path = d.put(host, false, []byte(data))
	f := d.file()
	wrapAll(t, f)
	if _, err := f.Write(noon); err != nil {
		t.Fatal(err)
	}
	return d, path
}

const remoteFile = `{
  "mcpServers": {
    "acme": {
      "url": "https://acme.example/mcp", // where
      "headers": { "Authorization": "Bearer s3cret" },
      "env": { "A": "1", "B": "2" },
      "alwaysAllow": ["x"]
    }, // end
    "other": { "command": "other" }
  }
}
`

// What was changed between wrap and unwrap stays; the rest is as it was.
func TestUnwrapLater(t *testing.T) {
	for _, test := range []struct {
		name          string
		change        []string // of the wrapped file: old, new, old, new, …
		wantRemainder []string // of the original: old, new, …
	}{
		{"nothing", nil, nil},
		{"another entry", []string{`"other": { "command"`, `"more": {}, "other": { "disabled": true, "command"`},
			[]string{`"other": { "command": "other" }`, `"more": {}, "other": { "command": "other", "disabled": true }`}},
		{"a variable", []string{`"A": "1"`, `"A": "changed"`}, []string{`"A": "1"`, `"A": "changed"`}},
		{"a new variable", []string{`"B": "2"`, `"B": "2", "C": "3"`}, []string{`"B": "2" }`, `"B": "2", "C": "3" }`}},
		{"a variable less", []string{`"B": "2", `, ``}, []string{`, "B": "2"`, ``}},
		{"the token", []string{`Bearer s3cret`, `Bearer other`}, []string{`Bearer s3cret`, `Bearer other`}},
		{"another member", []string{`["x"]`, `["x", "y"]`}, []string{`["x"]`, `["x", "y"]`}},
		{"a new member", []string{`"alwaysAllow"`, `"disabled": true, "alwaysAllow"`},
			[]string{`["x"]`, "[\"x\"],\n      \"disabled\": true"}},
		{"a member less", []string{",\n      \"alwaysAllow\": [\"x\"]", ""}, []string{",\n      \"alwaysAllow\": [\"x\"]", ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, path := wrapped(t, "cursor", remoteFile)
			now := d.change(path, test.change)
			want := strings.NewReplacer(test.wantRemainder...).Replace(remoteFile)
			f := d.file()
			for _, e := range f.Entries() {
				if !e.Ours {
					continue
				}
				c, err := f.Unwrap(e, lost)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(c.Before+c.After, "s3cret") || strings.Contains(c.Before+c.After, "Bearer") {
					t.Errorf("a secret is legible in %v", c)
				}
			}
			if _, err := f.Write(noon.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, d.read(path)); diff != "" {
				t.Errorf("(-want +got):\n%s\nwrapped:\n%s", diff, now)
			}
		})
	}
}

// A value that went into a variable comes back as it is by then, from wherever it
// came, and no other does.
func TestUnwrapRotated(t *testing.T) {
	for _, test := range []struct {
		name, host, data string
		change           []string // old, new, … in the wrapped file
		want             []string // old, new, … in the original
	}{
		{"an argument behind a flag", "cursor", `{"mcpServers": {"a": {"command": "a", "args": [ "--api-key", "OLD" /* mine */, "OLD" ]}}}`,
			[]string{`"MCP_A_API_KEY": "OLD"`, `"MCP_A_API_KEY": "NEW"`}, []string{`"OLD" /*`, `"NEW" /*`}},
		{"an argument with its flag", "opencode", `{"mcp": {"a": {"type": "local", "command": ["a", "--token=OLD"]}}}`,
			[]string{"OLD", "NEW"}, []string{"OLD", "NEW"}},
		{"a value that no longer looks like a token", "vscode", `{"servers": {"a": {"command": "a", "args": ["sk-proj-0123456789abcdefghij"]}}}`,
			[]string{"sk-proj-0123456789abcdefghij", "plain"}, []string{"sk-proj-0123456789abcdefghij", "plain"}},
		{"a URL", "windsurf", `{"mcpServers": {"u": {"serverUrl": "https://a.example/?token=OLD"}}}`,
			[]string{"=OLD", "=NEW"}, []string{"=OLD", "=NEW"}},
		{"a command", "zed", `{"context_servers": {"a": {"command": "%OLD%"}}}`, []string{"%OLD%", "NEW"}, []string{"%OLD%", "NEW"}},
		{"one of two headers", "claude-code", `{"mcpServers": {"h": {"type": "http", "url": "https://a.example/", "headers": {"A": "OLD", "B": "OLD"}}}}`,
			[]string{`"MCP_H_A": "OLD"`, `"MCP_H_A": "NEW"`}, []string{`"A": "OLD"`, `"A": "NEW"`}},
		{"a login", "cursor", `{"mcpServers": {"a": {"url": "https://a.example/", "auth": {"CLIENT_ID": "c", "CLIENT_SECRET": "OLD"}}}}`,
			[]string{"OLD", "NEW"}, []string{"OLD", "NEW"}},
		{"an argument in TOML", "codex", "[mcp_servers.a]\ncommand = 'a'\nargs = [\n  '--password', # mine\n  'OLD',\n]\n",
			[]string{"OLD", "NEW"}, []string{"'OLD'", `"NEW"`}},
		{"a header in TOML", "codex", "[mcp_servers.a]\nurl = 'https://a.example'\nhttp_headers = { A = 'OLD', B = 'OLD' } # mine\n",
			[]string{`MCP_A_B = "OLD"`, `MCP_A_B = "NEW"`, `env = {`, `env = { K = "v",`}, []string{`B = 'OLD'`, `B = "NEW"`}},
		{"a variable that is gone", "cursor", `{"mcpServers": {"a": {"command": "a", "args": ["--api-key", "OLD"], "env": {"K": "v"}}}}`,
			[]string{`, "MCP_A_API_KEY": "OLD"`, ``}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, path := wrapped(t, test.host, test.data)
			now := d.change(path, test.change)
			unwrapAll(t, d)
			if diff := cmp.Diff(strings.NewReplacer(test.want...).Replace(test.data), d.read(path)); diff != "" {
				t.Errorf("(-want +got):\n%s\nwrapped:\n%s", diff, now)
			}
		})
	}
}

// The newest backup in which an entry is not ours counts for it.
func TestUnwrapSeveral(t *testing.T) {
	d := newDesk(t)
	const data = `{"mcpServers": {"a": {"command": "a1"}, "b": {"command": "b"}}}`
	path := d.put("windsurf", false, []byte(data))
	change := func(at time.Time, do func(f *File, e Entry) error, names ...string) {
		t.Helper()
		f := d.file()
		for _, name := range names {
			for _, e := range f.Entries() {
				if e.Name != name {
					continue
				}
				if err := do(f, e); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := f.Write(at); err != nil {
			t.Fatal(err)
		}
	}
	wrap := func(f *File, e Entry) error {
		tr, err := f.Translate(e)
		if err == nil {
			_, err = f.Wrap(e, tr, command(e))
		}
		return err
	}
	unwrap := func(f *File, e Entry) error {
		_, err := f.Unwrap(e, lost)
		return err
	}
	change(noon, wrap, "a")
	change(noon, wrap, "b") // in the same second
	change(noon, unwrap, "a")
	d.write(path, []byte(strings.Replace(d.read(path), "a1", "a2", 1)))
	change(noon.Add(time.Minute), wrap, "a")
	change(noon.Add(time.Minute), unwrap, "a", "b")
	if got, want := d.read(path), strings.Replace(data, "a1", "a2", 1); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if n := len(d.file().backups()); n != 5 {
		t.Errorf("%d backups, want 5", n)
	}
}

// A backup counts for the server that was wrapped, and not for another that has
// come under its name.
func TestUnwrapOther(t *testing.T) {
	const data = `{"mcpServers": {"a": { "command": "old", "args": ["x"] }, "b": { "url": "https://b.example" }}}`
	upstreams := map[string]string{
		"a": `{"command": "old", "args": ["x"]}`,
		"b": `{"url": "https://b.example", "oauth": true, "headers": {"X": "${X}"}}`, // told more since
		"c": `{"command": "new"}`,
	}
	for _, test := range []struct {
		name      string
		change    []string // of the wrapped file: old, new, …
		upstreams map[string]string
		want      string
	}{
		{"the same", nil, upstreams, data},
		{"the same, without a servers file", nil, nil, data},
		{"one in place", []string{`"--server", "a"`, `"--", "new", "y"`}, nil,
			`{"mcpServers": {"a": { "command": "new", "args": ["y"] }, "b": { "url": "https://b.example" }}}`},
		{"one of the servers file", []string{`"--server", "a"`, `"--server", "c"`}, upstreams,
			`{"mcpServers": {"a": { "command": "new" }, "b": { "url": "https://b.example" }}}`},
		{"names that were swapped", []string{`"--server", "a"`, `A`, `"--server", "b"`, `"--server", "a"`, `A`, `"--server", "b"`}, upstreams,
			`{"mcpServers": {"a": { "url": "https://b.example", "type": "http", "headers": {"X": "${env:X}"} }, "b": { "command": "old", "args": ["x"] }}}`},
		{"names that were swapped, without a servers file", []string{`"--server", "a"`, `"--server", "b"`}, nil, "!"},
		{"one that another host has wrapped", []string{`"--server", "a"`, `"--server", "a-cursor-2"`}, nil, data},
		{"one that was changed in the servers file", nil, map[string]string{"a": `{"command": "old", "args": ["z"]}`, "b": upstreams["b"]},
			`{"mcpServers": {"a": { "command": "old", "args": ["z"] }, "b": { "url": "https://b.example" }}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, path := wrapped(t, "cursor", data)
			now := d.change(path, test.change)
			f := d.file()
			for _, e := range f.Entries() {
				_, err := f.Unwrap(e, known(test.upstreams[e.Server]))
				if test.want == "!" && e.Name == "a" {
					if err == nil || !strings.Contains(err.Error(), "there is no backup from before it started this server") {
						t.Errorf("error is %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if _, err := f.Write(noon.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, d.read(path)); diff != "" {
				t.Errorf("(-want +got):\n%s\nwrapped:\n%s", diff, now)
			}
		})
	}
}

// What the servers file says of an entry: nothing, or its upstream.
func lost() ([]byte, error) { return nil, errors.New("there is no servers file") }

func known(upstream string) func() ([]byte, error) {
	if upstream == "" {
		return lost
	}
	return func() ([]byte, error) { return []byte(upstream), nil }
}

// Without a backup an entry is made anew from the servers file, or from what it
// starts in place.
func TestUnwrapWithoutBackup(t *testing.T) {
	for _, test := range []struct {
		name, host, entry, upstream, want string
	}{
		{"a process", "cursor", `{"command":"mcp-facade","args":["--server","a"],"env":{"K":"v"}}`,
			`{"command": "npx", "args": ["-y", "x", "$${Y}"]}`,
			`{"command":"npx","args":["-y","x","${Y}"],"env":{"K":"v"}}`},
		{"a process with more", "claude-code", `{"command":"mcp-facade","args":["--server","a"],"env":{"K":"v"}}`,
			`{"command": "npx", "args": ["${A:-b}"], "cwd": "/w", "env": {"L": "1", "K": "2"}}`,
			`{"command":"npx","args":["${A:-b}"],"env":{"K":"v","L":"1"},"cwd":"/w"}`},
		{"a URL", "vscode", `{"type": "stdio", "command": "mcp-facade", "args": ["--server", "a"], "env": {"MCP_A_X": "s3cret"}}`,
			`{"url": "https://a.example/${T}", "headers": {"X": "${MCP_A_X}", "Y": "Bearer ${Y}"}}`,
			`{"type": "http", "url": "https://a.example/${env:T}", "headers": {"X": "s3cret", "Y": "Bearer ${env:Y}"}}`},
		{"a URL with events", "claude-code", `{"command":"mcp-facade","args":["--server","a"]}`,
			`{"url": "https://a.example", "transport": "sse"}`, `{"url":"https://a.example","type":"sse"}`},
		{"events for Gemini", "gemini", `{"command":"mcp-facade","args":["--server","a"]}`,
			`{"url": "https://a.example", "transport": "sse"}`, `{"url":"https://a.example"}`},
		{"for OpenCode", "opencode", `{"type":"local","command":["mcp-facade","--server","a"],"environment":{"MCP_A_X":"{file:x}","K":"v"}}`,
			`{"url": "https://a.example", "headers": {"X": "${MCP_A_X}"}}`,
			`{"type":"remote","environment":{"K":"v"},"url":"https://a.example","headers":{"X":"{file:x}"}}`},
		{"in place", "windsurf", `{"command":"/bin/mcp-facade","args":["--surface","all","--","npx","-y","x"]}`, "",
			`{"command":"npx","args":["-y","x"]}`},
		{"in place by URL", "windsurf", `{"command":"mcp-facade","args":["--url=https://a.example"]}`, "",
			`{"serverUrl":"https://a.example"}`},
		{"in place by URL, with its headers", "cursor",
			`{"command":"mcp-facade","args":["--url","https://a.example/${P}","--header","Authorization: Bearer ${T}","--header=X: ${E:-e}","--header","Y:1 ${env:Z}"],"env":{"T":"s3cret","E":""}}`, "",
			`{"url":"https://a.example/${env:P}","type":"http","headers":{"Authorization":"Bearer s3cret","X":"e","Y":"1 ${env:Z}"}}`},
		{"in place by URL, with a variable of its own left", "claude-code",
			`{"command":"mcp-facade","args":["--url","https://a.example","--header","X: ${T:-t}"],"env":{"K":"v"}}`, "",
			`{"env":{"K":"v"},"url":"https://a.example","type":"http","headers":{"X":"${T:-t}"}}`},
		{"in place, with variables in its arguments", "opencode",
			`{"type":"local","command":["mcp-facade","--","npx","${A}","${B}","$${C}","{env:D}"],"environment":{"B":"s3cret"}}`, "",
			`{"type":"local","command":["npx","{env:A}","s3cret","${C}","{env:D}"],"environment":{"B":"s3cret"}}`},
		{"in place by URL, with a variable in its path", "windsurf",
			`{"command":"mcp-facade","args":["--url=https://a.example/${K}"],"env":{"K":"s3cret"}}`, "",
			`{"serverUrl":"https://a.example/s3cret"}`},
		{"old Zed", "zed", `{"command": {"path": "mcp-facade", "args": ["--server", "a"]}}`,
			`{"command": "x", "args": []}`, `{"command": {"path": "x"}}`},

		{"not what only we know", "cursor", `{"command":"mcp-facade","args":["--server","a"]}`,
			`{"url": "https://a.example", "tokenCommand": ["x"]}`, `!"tokenCommand" in the servers file cannot be said to Cursor`},
		{"not a login that only we know", "cursor", `{"command":"mcp-facade","args":["--server","a"]}`,
			`{"url": "https://a.example", "oauth": {"clientId": "x"}}`, `!"oauth" in the servers file cannot be said to Cursor`},
		{"not a header without a colon", "cursor", `{"command":"mcp-facade","args":["--url","https://a.example","--header","X"]}`, ``, `!--header of it has no colon`},
		{"not a variable in place that nobody replaces", "zed", `{"command":"mcp-facade","args":["--url","https://${A}"]}`, ``, `!${A} in its arguments is nothing that Zed replaces`},
		{"not a variable that nobody replaces", "zed", `{"command":"mcp-facade","args":["--server","a"]}`,
			`{"command": "x", "args": ["${A}"]}`, `!${A} in its entry`},
		{"not nothing", "zed", `{"command":"mcp-facade","args":["--server","a"]}`, ``, `!there is no backup from before it started this server, and there is no servers file; write back`},
		{"not a serving of nothing", "zed", `{"command":"mcp-facade","args":["tools"]}`, ``, `!neither --server nor --url`},
		{"not an empty one", "zed", `{"command":"mcp-facade","args":["--server","a"]}`, `{}`, `!neither a command nor a URL`},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t)
			root := named(t, test.host).roots[len(named(t, test.host).roots)-1][0][0]
			around := func(entry string) string { return `{"` + root + `": {"a": ` + entry + `}}` }
			path := d.put(test.host, false, []byte(around(test.entry)))
			f := d.file()
			c, err := f.Unwrap(f.Entries()[0], known(test.upstream))
			if strings.Contains(c.Before+c.After, "s3cret") {
				t.Errorf("a secret is legible in %v", c)
			}
			if why, refused := strings.CutPrefix(test.want, "!"); refused {
				if err == nil || !strings.Contains(err.Error(), why) {
					t.Fatalf("%v, want %s", err, why)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(noon); err != nil {
				t.Fatal(err)
			}
			if got, want := d.read(path), around(test.want); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestUnwrapCodexWithoutBackup(t *testing.T) {
	d := newDesk(t)
	path := d.put("codex", false, []byte("[mcp_servers.a]\ncommand = \"mcp-facade\"\nargs = [\"--server\", \"a\"]\nenv_vars = [\"T\", \"R\"]\n"))
	f := d.file()
	if _, err := f.Unwrap(f.Entries()[0], known(`{"url": "https://a.example", "headers": {"Authorization": "Bearer ${T}", "X-R": "${R}", "X": "1"}}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(noon); err != nil {
		t.Fatal(err)
	}
	got := d.read(path)
	for _, want := range []string{`url = "https://a.example"`, `bearer_token_env_var = "T"`, `"R"`, `"1"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "mcp-facade") || strings.Contains(got, "env_vars") { // which Codex refuses beside a URL
		t.Errorf("not unwrapped:\n%s", got)
	}
}

// Codex takes scopes beside a command, too: they stay, and so are there when
// nothing else knows them.
func TestUnwrapCodexScopes(t *testing.T) {
	const data = "[mcp_servers.a]\nurl = \"https://a.example\"\nscopes = [\"read\"] # mine\n"
	d, path := wrapped(t, "codex", data)
	for _, backup := range d.file().backups() {
		if err := os.Remove(backup); err != nil {
			t.Fatal(err)
		}
	}
	f := d.file()
	if _, err := f.Unwrap(f.Entries()[0], known(`{"url": "https://a.example"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	const want = "[mcp_servers.a]\nscopes = [\"read\"] # mine\nurl = \"https://a.example\"\n"
	if diff := cmp.Diff(want, d.read(path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Codex refuses variables beside a URL.
func TestUnwrapCodexInPlace(t *testing.T) {
	d := newDesk(t)
	path := d.put("codex", false, []byte(`[mcp_servers.a]
command = "mcp-facade"
args = ["--url", "https://a.example", "--header", "Authorization: Bearer ${T}", "--header", "X: ${R}"]
cwd = "/w"
env_vars = ["R"]

[mcp_servers.a.env]
T = "s3cret"
K = "v"
`))
	f := d.file()
	if _, err := f.Unwrap(f.Entries()[0], lost); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(noon); err != nil {
		t.Fatal(err)
	}
	const want = `[mcp_servers.a]
url = "https://a.example"
http_headers = { Authorization = "Bearer s3cret" }
env_http_headers = { X = "R" }
`
	if diff := cmp.Diff(want, d.read(path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnwrapRefuses(t *testing.T) {
	d := newDesk(t)
	d.put("cursor", false, []byte(`{"mcpServers": {"a": {"command": "a"}}}`))
	f := d.file()
	if _, err := f.Unwrap(f.Entries()[0], lost); !errors.Is(err, errNotOurs) {
		t.Errorf("%v, want errNotOurs", err)
	}
	if _, err := f.Unwrap(Entry{Name: "b"}, lost); !errors.Is(err, errGone) {
		t.Errorf("%v, want errGone", err)
	}
	if _, err := f.Wrap(f.Entries()[0], Translation{}, []string{"/tmp/other"}); err == nil {
		t.Error("wrapped with a program that is not known again")
	}
}

// A host that hands on few variables is told of those that say where our files are,
// and only as long as a server is wrapped.
func TestPassOwn(t *testing.T) {
	set := map[string]string{"XDG_STATE_HOME": "/x/state", "XDG_CACHE_HOME": "/x/cache"}
	for name, data := range fixtures(t) {
		host, file, _ := strings.Cut(name, "/")
		if host != "codex" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.vars = set
			path := d.put(host, strings.HasPrefix(file, "project-"), data)
			f := d.file()
			wrapAll(t, f)
			if _, err := f.Write(noon); err != nil {
				t.Fatal(err)
			}
			unwrapAll(t, d)
			if diff := cmp.Diff(string(data), d.read(path)); diff != "" {
				t.Errorf("wrapping is not undone:\n%s", diff)
			}
		})
	}
	for _, test := range []struct{ name, entry, wrapped, edited, want string }{
		{"names them", "", `env_vars = ["XDG_STATE_HOME", "XDG_CACHE_HOME"]`, "", ""},
		{"adds them", `env_vars = ["T"]`, `env_vars = ["T", "XDG_STATE_HOME", "XDG_CACHE_HOME"]`, "", `env_vars = ["T"]`},
		{"leaves one that the entry has", `env_vars = ["XDG_CACHE_HOME"]`, `env_vars = ["XDG_CACHE_HOME", "XDG_STATE_HOME"]`, "", `env_vars = ["XDG_CACHE_HOME"]`},
		{"leaves one that the entry sets", `env = { XDG_STATE_HOME = "/y" }`, `env_vars = ["XDG_CACHE_HOME"]`, "", `env = { XDG_STATE_HOME = "/y" }`},
		{"keeps what was added since", "", `env_vars = ["XDG_STATE_HOME", "XDG_CACHE_HOME"]`, `env_vars = ["XDG_STATE_HOME", "U"]`, `env_vars = ["U"]`},
		{"keeps that all was taken out since", `env_vars = ["T"]`, `env_vars = ["T", "XDG_STATE_HOME", "XDG_CACHE_HOME"]`, `# none`, ""},
		{"leaves a list that it does not understand", `env_vars = [{ name = "R" }]`, `env_vars = [{ name = "R" }]`, "", `env_vars = [{ name = "R" }]`},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			d := newDesk(t)
			d.vars = set
			path := d.put("codex", false, []byte("[mcp_servers.a]\ncommand = \"a\"\n"+test.entry+"\n"))
			f := d.file()
			tr, err := f.Translate(f.Entries()[0])
			if err == nil {
				_, err = f.Wrap(f.Entries()[0], tr, command(f.Entries()[0]))
			}
			if err == nil {
				_, err = f.Write(noon)
			}
			if err != nil {
				t.Fatal(err)
			}
			got := d.read(path)
			if !strings.Contains(got, test.wrapped+"\n") {
				t.Fatalf("wrapped:\n%s\nwant %s in it", got, test.wrapped)
			}
			if strings.Contains(test.entry, "{ name") != (len(tr.Notes) == 1) {
				t.Errorf("notes: %q", tr.Notes)
			}
			if test.edited != "" {
				d.write(path, []byte(strings.Replace(got, test.wrapped, test.edited, 1)))
			}
			unwrapAll(t, d)
			got = d.read(path)
			if test.want == "" && strings.Contains(got, "env_vars") || !strings.Contains(got, test.want) {
				t.Errorf("unwrapped:\n%s\nwant %q", got, test.want)
			}
		})
	}
}
