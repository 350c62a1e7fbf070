package config

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// placeholders are values and what becomes of them, with A=1, EMPTY= and
// SPACED="a b" in the environment; want is the value, or else the problem.
var placeholders = []struct{ name, raw, want, problem string }{
	{"leaves text alone", "a$b{c}%d", "a$b{c}%d", ""},
	{"replaces a variable", "${A}", "1", ""},
	{"replaces inside of a text", "x${A}y${A}", "x1y1", ""},
	{"replaces once", "${SPACED}${EMPTY}.", "a b.", ""},
	{"takes an empty variable as it is", "${EMPTY}", "", ""},
	{"takes a variable before its fallback", "${A:-2}", "1", ""},
	{"takes the fallback of a variable that is not set", "${NO:-a:-b}", "a:-b", ""},
	{"takes the fallback of an empty variable", "${EMPTY:-2}", "2", ""},
	{"takes an empty fallback", "${NO:-}", "", ""},
	{"keeps an escaped placeholder", "$${A}", "${A}", ""},
	{"keeps an escape before a placeholder apart", "$$${A}${A}", "$${A}1", ""},
	{"keeps what is never closed", "a${A", "a${A", ""},
	{"names a variable that is not set", "x${NO}", "", "${NO} is not set"},
	{"names a placeholder of VS Code", "${env:A}", "", "${env:A} " + foreign},
	{"names an input of VS Code", "Bearer ${input:token}", "", "${input:token} " + foreign},
	{"names a directory of an editor", "${workspaceFolder}/x", "", "${workspaceFolder} " + foreign},
	{"names a placeholder of Windows", "%A%", "", "%A% " + foreign},
	{"leaves percent signs in a text alone", "100%A%", "100%A%", ""},
	{"names a variable of a shell", "$A", "", "$A " + foreign},
	{"leaves a small word after a dollar sign alone", "$ecret", "$ecret", ""},
	{"names a placeholder of OpenCode", "{env:A}", "", "{env:A} " + foreign},
	{"names an empty placeholder", "${}", "", "${} " + foreign},
	{"names an expansion of a shell", "${A%x}", "", "${A%x} " + foreign},
	{"does not show a fallback", "${env:A:-sk1234567}", "", "${env:A:-…} " + foreign},
	{"refuses a placeholder in a fallback", "${NO:-${A}}", "", "${NO:-…} holds a placeholder in its fallback"},
}

func TestPlaceholders(t *testing.T) {
	environ := []string{"A=1", "EMPTY=", "SPACED=a b"}
	for _, tt := range placeholders {
		t.Run(tt.name, func(t *testing.T) {
			s := InPlace("acme", "x", []string{tt.raw})
			s.Upstream.Cwd = "/" + tt.raw
			s.Upstream.Env = []Var{{"V", tt.raw}}
			p, err := s.Process(environ, nil, "")
			if tt.problem != "" {
				want := "acme.args[0]: " + tt.problem
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "acme.env.V: "+tt.problem) {
					t.Fatalf("%q: got %q, %v, want the error %q", tt.raw, p.Args, err, want)
				}
				if e := new(Error); !errors.As(err, &e) || e.Hint == "" {
					t.Errorf("%q: %v has no hint", tt.raw, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%q: %v", tt.raw, err)
			}
			if p.Args[0] != tt.want || !slices.Contains(p.Env, "V="+tt.want) {
				t.Errorf("%q: got %q and %q, want %q", tt.raw, p.Args, p.Env, tt.want)
			}
		})
	}
}

func TestProcess(t *testing.T) {
	s := must(t, `"command": "~/bin/${TOOL}", "args": ["-y", "${A}", "x"], "cwd": "~",
		"env": {"B": "2", "A": "${A}${A}", "MCP_FACADE_CONFIG": "inner.json"}`)
	environ := []string{"HOME=/home/me", "A=1", "TOOL=npx", "MCP_FACADE_CONFIG=x", "MCP_FACADE_NO_LEDGER=1", "A=3"}
	got, err := s.Process(environ, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	want := Process{
		Command: "/home/me/bin/npx", Args: []string{"-y", "3", "x"}, Dir: "/home/me",
		Env:     []string{"HOME=/home/me", "A=33", "TOOL=npx", "B=2", "MCP_FACADE_CONFIG=inner.json"},
		Secrets: []string{"inner.json"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	shown := []string{`f.json:1: acme.args[1]: ${A} becomes part of an argument, which process lists show; "env" is not shown`}
	if diff := cmp.Diff(shown, s.Shown()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again, _ := s.Process(environ, nil, ""); !cmp.Equal(got, again) {
		t.Error("a second time gives another process")
	}
}

func TestProcessErrors(t *testing.T) {
	tests := []struct{ name, members, want string }{
		{"names every variable and its place", "\"upstream\": {\"command\": \"${X}\",\n\"env\": {\"T\": \"${Y}\"}}",
			"f.json:1: acme.upstream.command: ${X} is not set\nf.json:2: acme.upstream.env.T: ${Y} is not set"},
		{"needs a home for ~", `"command": "x", "cwd": "~/y"`, `f.json:1: acme.cwd: "~" is not known: HOME is not set`},
		{"needs a command", `"command": "${X:-}"`, `f.json:1: acme.command: is empty`},
		{"starts nothing for a URL", `"url": "https://a.example"`, `f.json:1: acme.command: is not set: no process is started for a "url"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if windows {
				tt.want = strings.ReplaceAll(tt.want, "HOME", "USERPROFILE")
			}
			_, err := must(t, tt.members).Process([]string{"A=1"}, nil, "")
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestAuthOnly(t *testing.T) {
	s := InPlace("acme", "x", []string{"${SHARED_ARG}"})
	s.Upstream.Headers = []Var{{"Authorization", "Bearer ${HEADER_ONLY}"}, {"X-A", "${SHARED_ARG}"}, {"X-B", "${SHARED_ENV:-x}"}}
	s.Upstream.OAuth = &OAuth{ClientSecretFrom: "env:CLIENT_SECRET"}
	s.Upstream.Env = []Var{{"E", "${SHARED_ENV}"}}
	p, err := s.Process([]string{"HEADER_ONLY=1", "SHARED_ARG=2", "SHARED_ENV=3", "CLIENT_SECRET=4", "OTHER=5"}, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"SHARED_ARG=2", "SHARED_ENV=3", "OTHER=5", "E=3"}; !slices.Equal(p.Env, want) {
		t.Errorf("got %q, want %q", p.Env, want)
	}
}

func TestEnvironmentFold(t *testing.T) {
	e := newEnvironment([]string{"=C:=C:\\x", "Path=a", "broken", "", "mcp_facade_x=1", "UserProfile=C:\\me", "HOME=/me"}, true)
	e.set("PATH", "b")
	e = e.without(func(name string) bool { return strings.HasPrefix(name, ours) })
	if want := []string{"=C:=C:\\x", "PATH=b", "UserProfile=C:\\me", "HOME=/me"}; !slices.Equal(e.list, want) {
		t.Errorf("got %q, want %q", e.list, want)
	}
	if v, ok := e.get("pAtH"); !ok || v != "b" {
		t.Errorf("get: got %q, %v", v, ok)
	}
	if dir, _, ok := e.home(); !ok || dir != `C:\me` {
		t.Errorf("home: got %q, %v", dir, ok)
	}
	if rest, ok := splitHome(`~\x`, true); !ok || rest != `\x` {
		t.Errorf("splitHome: got %q, %v", rest, ok)
	}
	for _, path := range []string{"~me/x", "/~", `~\x`} {
		if _, ok := splitHome(path, false); ok {
			t.Errorf("splitHome(%q) finds a home", path)
		}
	}
}

func TestEnvFrom(t *testing.T) {
	const both = `{"mcpServers": {"t": {"env": {"K": "top", "L": "${A}"}}, "bare": {}},
		"projects": {"/w.x/p": {"mcpServers": {"t": {"env": {"K": "project"}}, "bare": {"env": {"K": "project"}}, "only": {"env": {"K": "only", "A": "2"}}}}}}`
	const missing = `f.json:1: acme.envFrom: ~/.claude.json: no mcpServers["t"].env, neither at the top level nor in projects["/w.x/p"]`
	tests := []struct {
		name, server, data string
		want               []string
		err                string
	}{
		{"takes the top level first", "t", both, []string{"A=1", "K=top", "L=1", "E=own"}, ""},
		{"takes the project's second", "only", both, []string{"A=2", "K=only", "E=own"}, ""},
		{"takes the project's for a server without env", "bare", both, []string{"A=1", "K=project", "E=own"}, ""},
		{"lets env win", "t", `{"mcpServers": {"t": {"env": {"E": "theirs", "A": "3"}}}}`, []string{"A=3", "E=own"}, ""},
		{"takes an env without variables", "t", `{"mcpServers": {"t": {"env": {}}}}`, []string{"A=1", "E=own"}, ""},
		{"names both places", "t", `{"mcpServers": {"T": {"env": {}}}}`, nil, missing},
		{"is not put off by other types", "t", `{"mcpServers": [], "projects": {"/w.x/p": 1}}`, nil, missing},
		{"does not show broken JSON", "t", `{"mcpServers": {"t": sk1234567`, nil, `f.json:1: acme.envFrom: ~/.claude.json: not valid JSON`},
		{"does not show a wrong value", "t", `{"mcpServers": {"t": {"env": {"K": ["sk1234567"]}}}}`, nil,
			`f.json:1: acme.envFrom: ~/.claude.json: "K" is not a variable with a string for its value`},
		{"names a placeholder in it", "t", `{"mcpServers": {"t": {"env": {"K": "${env:X}"}}}}`, nil, `f.json:1: acme.envFrom: ${env:X} ` + foreign},
		{"survives any depth", "t", strings.Repeat("[", 1_000_000), nil, `f.json:1: acme.envFrom: ~/.claude.json: not valid JSON`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := must(t, `"command": "x", "env": {"E": "own"}, "envFrom": "claude:`+tt.server+`"`)
			p, err := s.Process([]string{"A=1"}, []byte(tt.data), "/w.x/p")
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Fatalf("got  %v\nwant %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(p.Env, tt.want) {
				t.Errorf("got %q, want %q", p.Env, tt.want)
			}
		})
	}
	_, err := must(t, `"command": "x", "envFrom": "claude:t"`).Process(nil, nil, "")
	if want := "f.json:1: acme.envFrom: ~/.claude.json: not found"; err == nil || err.Error() != want {
		t.Errorf("without the file: got %v, want %s", err, want)
	}
}

func TestSecrets(t *testing.T) {
	tests := []struct {
		name    string
		members string
		environ []string
		want    []string
	}{
		{"hides what env gives", `"command": "x", "env": {"WORKSPACE": "acme-internal"}`, nil, []string{"acme-internal"}},
		{"hides what env gives by a variable, whole and in part", `"command": "x", "env": {"AUTH": "Bearer ${MY_TOKEN}"}`, []string{"MY_TOKEN=abcdefgh"},
			[]string{"Bearer abcdefgh", "abcdefgh"}},
		{"hides the token of an authorization", `"command": "x", "env": {"H": "Basic abcdefgh"}`, nil, []string{"Basic abcdefgh", "abcdefgh"}},
		{"does not hide what is plainly public", `"command": "x", "env": {"A": "true", "B": "8080", "C": "1234567890", "D": "/home/me/docs", "E": "false", "F": "short"}`, nil, nil},
		{"hides what looks public and is named a secret", `"command": "x", "env": {"PASSWORD": "12345", "KEY": "/abcdef/", "TOKEN": "abc"}`, nil, []string{"/abcdef/", "12345"}},
		{"hides a secret that looks like a path at first", `"command": "x", "env": {"V": "/9j4AAQSk+bc="}`, nil, []string{"/9j4AAQSk+bc="}},
		{"hides inherited variables by their names", `"command": "x"`,
			[]string{"GITHUB_PAT=ghp_abcdef", "aws_secret_access_key=abcdefgh", "DB_PWD=swordfish", "SESSION_COOKIE=yummy1", "LANG=en_US.UTF-8", "PATH=/bin:/usr/bin", "PWD=/home/me"},
			[]string{"ghp_abcdef", "swordfish", "abcdefgh", "yummy1"}},
		{"hides passwords of URLs", `"command": "x", "args": ["postgres://me:sword%20fish@db.acme.example/x"]`, []string{"DATABASE_URL=mysql://root:hunter22@db"},
			[]string{"sword%20fish", "sword fish", "hunter22"}},
		{"hides a token that is a URL's user", `"command": "x", "args": ["https://ghp_abcdefghijkl@git.acme.example/", "https://me@git.acme.example"]`, nil, []string{"ghp_abcdefghijkl"}},
		{"hides what arguments name", `"command": "x", "args": ["--token", "abcdefgh", "--api-key=ijklmnop", "API_KEY=qrstuvwx", "--header", "X-Auth: yzabcd", "--port", "123456"]`, nil,
			[]string{"abcdefgh", "ijklmnop", "qrstuvwx", "yzabcd"}},
		{"hides variables in arguments by their names", `"command": "x", "args": ["-q", "${ACME_SECRET}x", "${REGION}"]`, []string{"ACME_SECRET=abcdefgh", "REGION=eu-central"}, []string{"abcdefgh"}},
		{"hides the lines of a key", `"command": "x", "env": {"PEM": "-----BEGIN-----\nabcdefghijklmnop\n-----END-----\n"}`, nil,
			[]string{"-----BEGIN-----\nabcdefghijklmnop\n-----END-----\n", "abcdefghijklmnop"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := must(t, tt.members).Process(tt.environ, nil, "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, p.Secrets); diff != "" {
				t.Errorf("{%s} (-want +got):\n%s", tt.members, diff)
			}
		})
	}
}

func TestPasswordsAreFoundInTime(t *testing.T) {
	s := secrets{}
	s.passwords(strings.Repeat("://", 1_000_000) + "u:password@h")
	if !s["password"] {
		t.Errorf("got %v", s.list())
	}
}
