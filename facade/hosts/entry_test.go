package hosts

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An entry is known to be ours by what it starts.
func TestOurs(t *testing.T) {
	for _, test := range []struct {
		name    string
		command string
		args    []string
		want    Entry
	}{
		{"by its name", "mcp-facade", []string{"--server", "acme"}, Entry{Ours: true, Server: "acme"}},
		{"with a path", "/usr/bin/mcp-facade", []string{"--server=acme", "--config=/c", "--surface=all"}, Entry{Ours: true, Server: "acme", Config: "/c", Surface: "all"}},
		{"on Windows", `C:\bin\MCP-Facade.EXE`, []string{"--config", `C:\c`, "--server", "x"}, Entry{Ours: true, Server: "x", Config: `C:\c`}},
		{"behind a shell", "cmd.exe", []string{"/C", "mcp-facade", "--server", "x"}, Entry{Ours: true, Server: "x"}},
		{"in place", "mcp-facade", []string{"--surface", "all", "--", "npx", "--server", "theirs"}, Entry{Ours: true, Surface: "all"}},
		{"in place with another's flags", "mcp-facade", []string{"--", "npx", "--surface", "theirs"}, Entry{Ours: true}},
		{"in place by URL", "mcp-facade", []string{"--url", "https://x.example"}, Entry{Ours: true}},
		{"with nothing", "mcp-facade", nil, Entry{Ours: true}},
		{"with a flag that ends", "mcp-facade", []string{"--server"}, Entry{Ours: true}},
		{"not by another name", "mcp-facade-2", []string{"--server", "x"}, Entry{}},
		{"not behind another shell", "sh", []string{"-c", "mcp-facade --server x"}, Entry{}},
		{"not as an argument", "npx", []string{"mcp-facade"}, Entry{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := node{kind: table, nodes: []node{{kind: text, key: "command", value: test.command}, {kind: list, key: "args"}}}
			for _, arg := range test.args {
				n.nodes[1].nodes = append(n.nodes[1].nodes, node{kind: text, value: arg})
			}
			got := named(t, "cursor").entry(&found{path: []string{"mcpServers", ""}, node: n})
			if got.Ours != test.want.Ours || got.Server != test.want.Server || got.Config != test.want.Config || got.Surface != test.want.Surface {
				t.Errorf("got %v %q %q %q", got.Ours, got.Server, got.Config, got.Surface)
			}
		})
	}
}

// What is secret in arguments and URLs is found, and what is not is left alone.
func TestSecrets(t *testing.T) {
	for _, test := range []struct {
		before, arg string
		want        string // what may be seen
	}{
		{"--token", "abc", "…"},
		{"--api-key", "abc", "…"},
		{"", "--api-key=abc", "--api-key=…"},
		{"-e", "GITHUB_TOKEN=abc", "GITHUB_TOKEN=…"},
		{"--header", "Authorization: Bearer abc", "Authorization: …"},
		{"--header", "X-Api-Key:abc", "X-Api-Key:…"},
		{"", "postgres://u:pw@db.example/x", "…"},
		{"", "--dsn=postgres://u:pw@db.example/x", "…"},
		{"", "https://x.example/mcp?key=abc", "…"},
		{"", "ghp_abcdefghijklmnopqrst", "…"},
		{"", "0123456789abcdef0123456789abcdef", "…"},
		{"-y", "@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-everything"},
		{"", "https://x.example/mcp?profile=free", "https://x.example/mcp?profile=free"},
		{"--token", "--verbose", "--verbose"},
		{"", "/home/u/projects/some-long-name-2026-with-digits", "/home/u/projects/some-long-name-2026-with-digits"},
		{"--token=x", "plain", "plain"},
		{"", "C:\\Users\\u", "C:\\Users\\u"},
		{"", "--env=KEY=abc", "--env=KEY=…"},
		{"--conn", "Server=h;Password=abc;", "Server=h;Password=…"},
		{"-c", "run --port 1 --password abc", "run --port 1 --password …"},
		{"-c", "A=b TOKEN='abc' run", "A=b TOKEN=…"},
		{"-c", "run ghp_abcdefghijklmnopqrst", "run …"},
		{"--json", `{"port": 1, "token": "abc"}`, `{"port": 1, "token": …`},
		{"-v", "/home/u/secrets:/data", "/home/u/secrets:/data"},
		{"-c", "run --key-file --verbose 1", "run --key-file --verbose 1"},
		{"", "npx -y srv --token abc", "npx -y srv --token …"},
		{"", "TOKEN=abc npx srv", "TOKEN=…"},
		{"--token", "${T:-abc}", "…"},
		{"", "${API_TOKEN:-abc}", "${API_TOKEN:…"},
		{"", "${T:-ghp_abcdefghijklmnopqrst}", "${T:-…"},
		{"", "${T:-u:abc@db}", "…"},
		{"", "${API_TOKEN}", "${API_TOKEN}"},
		{"", "${env:USER}@host", "${env:USER}@host"},
		{"--region", "${REGION:-eu}", "${REGION:-eu}"},
		{"--conn", "Server=h;UID=sa;Pwd=abc", "Server=h;UID=sa;Pwd=…"},
		{"--conn", "Server=h; Password = abc", "Server=h; Password …"},
		{"--conn", "Password =abc", "Password …"},
		{"-e", "PGPW=abc", "PGPW=…"},
		{"-e", "WORKSPACE=abc", "WORKSPACE=…"},
		{"", "--env=WORKSPACE=abc", "--env=WORKSPACE=…"},
		{"", "root:abc@tcp(db)/app", "…"},
		{"", "u:abc@host/db", "…"},
		{"", "--dsn=u:abc@host/db", "…"},
		{"", "npm:acme@1.2", "npm:acme@1.2"},
		{"", "jsr:@acme/mcp@1", "jsr:@acme/mcp@1"},
		{"", "git@github.com:acme/mcp.git", "git@github.com:acme/mcp.git"},
		{"", `C:\Users\a@b\x`, `C:\Users\a@b\x`},
		{"--header", "X-Workspace: abc", "X-Workspace: …"},
		{"-H", "X-Workspace:abc", "X-Workspace:…"},
		{"", "--header=X-Workspace: abc", "--header=…"},
		{"-c", `mcp-remote https://x.example --header "X-Workspace: abc"`, "mcp-remote https://x.example --header …"},
		{"--password", "-abc", "…"},
		{"--json", `{"token" : "abc"}`, `{"token" …`},
		{"token", "abc", "…"},
		{"", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "…"},
		{"", "zLIB9+aRkS3cretAbQ==", "…"},
		{"", "a1b2c3d4e5f6a7b8", "…"},
		{"", "abcdefghijklmnopqrstuvwx", "…"},
		{"-p", "abc", "…"},
		{"-P", "hunter2", "…"},
		{"-p", "8080", "8080"},
		{"-p", "127.0.0.1:8080:80", "127.0.0.1:8080:80"},
		{"-p", "./tsconfig.json", "./tsconfig.json"},
		{"-p", "/srv/x", "/srv/x"},
		{"-p", `C:\srv`, `C:\srv`},
		{"-p", "@acme/mcp", "@acme/mcp"},
		{"-p", "--verbose", "--verbose"},
		{"-c", "psql -U me -p 8080", "psql -U me -p …"},
		{"-c", "mcp-proxy --headers X-Workspace abc", "mcp-proxy --headers X-Workspace …"},
		{"-c", "mcp -H localhost --port 80", "mcp -H localhost --port 80"},
		{"-c", "docker run -u 1000:1000 -p 8080 acme", "docker run -u 1000:1000 -p 8080 acme"},
		{"-c", "docker run --user node -p 8080:80 acme", "docker run --user node -p 8080:80 acme"},
		{"-c", "mcp --db mysql -p 3306", "mcp --db mysql -p 3306"},
		{"-c", "exec mysql -uroot -pabc", "exec mysql -uroot -p…"},
		{"-c", "mysql -pabc", "mysql -p…"},
		{"", "-path", "-path"},
		{"", "-phunter2", "-p…"},
		{"", "-p8080", "-p8080"},
		{"", "Bearer abc", "Bearer …"},
		{"", "/password:abc", "/password:…"},
		{"", "/p:abc", "/p:…"},
		{"", "--token=/abc", "--token=…"},
		{"-v", "/secrets:/data", "/secrets:/data"},
		{"", "//u:abc@host", "…"},
		{"", "https://x.example:8080/@acme/mcp@1", "https://x.example:8080/@acme/mcp@1"},
		{"--login", "abc", "…"},
		{"", "--session-id=abc", "--session-id=…"},
		{"", "-Hx:abc", "-H…"},
		{"", "-ume:abc", "-u…"},
		{"", "--user=me:abc", "--user=…"},
		{"", "-url:https://x.example", "-url:https://x.example"},
		{"", "acme_0a1b2c3d4e5f", "…"},
		{"", "claude-3-5-sonnet-20241022", "claude-3-5-sonnet-20241022"},
		{"-c", "mysql -u root -pabc", "mysql -u root -p…"},
		{"-c", "npx -y -p acme acme-mcp", "npx -y -p acme acme-mcp"},
		{"-c", "npx -p abc", "npx -p …"},
		{"-c", "npx -y acme-mcp -p abc", "npx -y acme-mcp -p …"},
		{"-u", "me:abc", "…"},
		{"-u", "1000:1000", "1000:1000"},
		{"-t", "stdio", "stdio"},
		{"", "https://x.example/mcp?sig=Zx%2Bq%3D", "…"},
		{"", "https://x.example/mcp?sig=abc", "…"},
		{"", "https://x.example/mcp?u=Zx%2Babc%3D", "…"},
		{"", "https://x.example/mcp?u=aQpLmZxabcdefgh", "…"},
		{"", "https://x.example#access_token=abc", "…"},
		{"", "https://x.example/mcp?ws=${WS:-abc}", "…"},
		{"", "https://x.example/mcp?ws=${WS}&n=acme-eu,1.2", "https://x.example/mcp?ws=${WS}&n=acme-eu,1.2"},
		{"", "https://hooks.example/services/T0ABCDEFG/B0ABCDEFG/abcdefghijklmnopqrstuvwx", "…"},
		{"", "https://x.example/token/abc/mcp", "…"},
		{"", "https://x.example/mcp;jsessionid=abc", "…"},
		{"", "https://a1b2c3d4e5f6a7b8.x.example/mcp", "…"},
		{"", "https://auth.x.example:8080/oauth/mcp", "https://auth.x.example:8080/oauth/mcp"},
		{"", "https://x.example/@acme/mcp@1", "https://x.example/@acme/mcp@1"},
	} {
		got := test.arg
		if at := secretsIn([]string{"x", test.before, test.arg})[2]; at >= 0 {
			got = test.arg[:at] + hidden
		}
		if got != test.want {
			t.Errorf("%q %q: %q may be seen, want %q", test.before, test.arg, got, test.want)
		}
	}
	for text, want := range map[string]string{
		"https://u:p@x.example/a/0123456789abcdef0123456789abcdef/b?q=1&r#s": "https://…@x.example/a/…/b?q=…&…",
		"https://x.example/${env:TENANT}/mcp":                                "https://x.example/${env:TENANT}/mcp",
		"https://x.example":                                                  "https://x.example",
		"secret":                                                             "…",
		"https://x.example/token/abc#def":                                    "https://x.example/token/…",
		"https://a1b2c3d4e5f6a7b8.x.example/mcp":                             "https://….x.example/mcp",
	} {
		if got := maskedURL(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestEntry(t *testing.T) {
	d := newDesk(t)
	d.put("claude-code", false, []byte(`{"projects": {"/p": {"mcpServers": {"a": {
		"type": "sse", "url": "https://a.example", "headers": {"X": "1"}, "disabled": true}}}},
		"mcpServers": {"a": {"command": "c", "args": ["x"], "cwd": "/w", "env": {"K": "v", "N": 1}}}}`))
	want := []Entry{
		{Name: "a", Scope: "/p", URL: "https://a.example", Transport: "sse", Headers: []Var{{"X", "1"}}, Disabled: true},
		{Name: "a", Command: "c", Args: []string{"x"}, Cwd: "/w", Env: []Var{{"K", "v"}, {"N", "1"}}},
	}
	if diff := cmp.Diff(want, d.file().Entries()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The name of a variable that is added says nothing of an argument before.
func TestAddedName(t *testing.T) {
	d := newDesk(t)
	d.put("cursor", false, []byte(`{"mcpServers": {"a": {"command": "c", "args": ["--url=https://u:abc@x.example", "https://u:def@x.example",
		"-pghi", "https://u:jkl@x.example", "--db", "https://u:mno@x.example"]}}}`))
	f := d.file()
	tr, err := f.Translate(f.Entries()[0])
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range tr.Env {
		got = append(got, v.Name)
	}
	if diff := cmp.Diff([]string{"MCP_A_ARG1", "MCP_A_ARG2", "MCP_A_ARG4", "MCP_A_DB"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A server that is wrong is refused by itself, and the others of the file are not.
func TestWrongServer(t *testing.T) {
	for _, test := range []struct{ name, host, data string }{
		{"null", "cursor", `{"mcpServers": {"bad": null, "good": {"command": "g"}}}`},
		{"a text", "claude-code", `{"projects": {"/p": {"mcpServers": {"bad": "s3cret"}}}, "mcpServers": {"good": {"command": "g"}}}`},
		{"a number in TOML", "codex", "[mcp_servers]\nbad = 5\ngood.command = 'g'\n"},
		{"a list in TOML", "codex", "[[mcp_servers.bad]]\ncommand = 's3cret'\n[mcp_servers.good]\ncommand = 'g'\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t)
			d.put(test.host, false, []byte(test.data))
			f := d.file()
			for _, e := range f.Entries() {
				_, err := f.Translate(e)
				if (err == nil) != (e.Name == "good") || err != nil && strings.Contains(err.Error(), "s3cret") {
					t.Errorf("%s: %v", e.Name, err)
				}
			}
		})
	}
}

// What a host takes for nothing is nothing, and what stands twice where no server
// does is the host's business.
func TestOddIsWrapped(t *testing.T) {
	for _, test := range []struct{ host, data string }{
		{"cursor", `{"mcpServers": {"a": {"command": "c", "args": null, "env": null}}}`},
		{"cursor", `{"theme": 1, "mcpServers": {"a": {"command": "c"}}, "theme": 2}`},
		{"zed", `{"context_servers": {"a": {"command": "c", "args": ["--token", "s3cret"], "env": null}}}`},
		{"zed", `{"context_servers": {"a": {"command": {"path": "c", "args": ["--token", "s3cret"], "env": null}}}}`},
		{"vscode", `{"servers": {"a": {"type": "http", "url": "https://a.example", "headers": {"X": "s3cret"}, "env": null}}}`},
		{"vscode", `{"servers": {"a": {"url": "https://a.example", "headers": null, "env": null}}}`},
		{"vscode", "{\n  \"servers\": {\n    \"a\": {\n      \"command\": \"c\",\n      \"args\": [\"${input:x}\"],\n      \"env\": null // none\n    }\n  }\n}\n"},
		{"opencode", `{"mcp": {"a": {"type": "local", "command": ["c", "--token=s3cret"], "environment": null}}}`},
		{"gemini", `{"mcpServers": {"a": {"command": "c", "includeTools": null, "excludeTools": null}}}`},
	} {
		data := test.data
		d := newDesk(t)
		path := d.put(test.host, false, []byte(data))
		f := d.file()
		e := f.Entries()[0]
		tr, err := f.Translate(e)
		if err == nil {
			_, err = f.Wrap(e, tr, command(e))
		}
		if err == nil {
			_, err = f.Write(noon)
		}
		if err != nil || !strings.Contains(d.read(path), "mcp-facade") {
			t.Errorf("%s: %v; it is %s", data, err, d.read(path))
			continue
		}
		if unwrapAll(t, d); d.read(path) != data {
			t.Errorf("%s: unwrapped it is %s", data, d.read(path))
		}
	}
}
