package config

import (
	"strings"
	"testing"
	"time"
)

// A change of an entry, or of the environment, between two identities.
type change struct {
	name   string
	server func(*Server)
	vars   string // "" for baseVars
}

const baseVars = "HOME=/home/me\nV=1\nEMPTY="

func baseServer() *Server {
	s := InPlace("acme", "~/bin/${V}", []string{"-a", "${V}", "-b"})
	s.Upstream.Cwd = "~/${V}"
	s.Upstream.Env = []Var{{"A", "${V}"}, {"B", "${EMPTY}"}}
	s.Upstream.Headers = []Var{{"X-A", "Bearer ${TOKEN:-none}"}, {"X-B", "b"}}
	s.Upstream.URL = "https://${V}.example"
	s.Upstream.EnvFrom = "claude:x"
	s.Upstream.CredentialID = "c"
	s.Upstream.TokenCommand = []string{"op", "read"}
	s.Upstream.OAuth = &OAuth{ClientID: "i", ClientSecretFrom: "env:TOKEN", Scopes: []string{"a"}}
	return s
}

func identityOf(c change) string {
	s, vars := baseServer(), baseVars
	if c.server != nil {
		c.server(s)
	}
	if c.vars != "" {
		vars = c.vars
	}
	return string(s.Identity(strings.Split(vars, "\n")))
}

func TestIdentityChanges(t *testing.T) {
	changes := []change{
		{"the name", func(s *Server) { s.Name = "b" }, ""},
		{"the URL", func(s *Server) { s.Upstream.URL += "/x" }, ""},
		{"the transport", func(s *Server) { s.Upstream.Transport = "sse" }, ""},
		{"the roots", func(s *Server) { s.Upstream.CAFile = "ca.pem" }, ""},
		{"the command", func(s *Server) { s.Upstream.Command = "y" }, ""},
		{"an argument", func(s *Server) { s.Upstream.Args[0] = "-c" }, ""},
		{"one more argument", func(s *Server) { s.Upstream.Args = append(s.Upstream.Args, "") }, ""},
		{"the order of arguments", func(s *Server) { s.Upstream.Args = []string{"-b", "${V}", "-a"} }, ""},
		{"where an argument ends", func(s *Server) { s.Upstream.Args = []string{"-a\" \"1", "-b"} }, ""},
		{"the directory", func(s *Server) { s.Upstream.Cwd = "~" }, ""},
		{"a variable's name", func(s *Server) { s.Upstream.Env[0].Name = "C" }, ""},
		{"a variable's value", func(s *Server) { s.Upstream.Env[0].Value = "2" }, ""},
		{"an empty variable that is not set", nil, "HOME=/home/me\nV=1"},
		{"the value of what is referred to", nil, "HOME=/home/me\nV=2\nEMPTY="},
		{"the home directory", nil, "HOME=/home/you\nV=1\nEMPTY="},
		{"no home directory", nil, "V=1\nEMPTY="},
		{"a header's name", func(s *Server) { s.Upstream.Headers[0].Name = "X-C" }, ""},
		{"a header's literal value", func(s *Server) { s.Upstream.Headers[1].Value = "c" }, ""},
		{"the variable of a header", func(s *Server) { s.Upstream.Headers[0].Value = "Bearer ${OTHER}" }, ""},
		{"whom to take variables from", func(s *Server) { s.Upstream.EnvFrom = "claude:y" }, ""},
		{"the credential's id", func(s *Server) { s.Upstream.CredentialID = "d" }, ""},
		{"the token command", func(s *Server) { s.Upstream.TokenCommand[1] = "write" }, ""},
		{"no oauth", func(s *Server) { s.Upstream.OAuth = nil }, ""},
		{"the client", func(s *Server) { s.Upstream.OAuth.ClientID = "j" }, ""},
		{"where its secret is", func(s *Server) { s.Upstream.OAuth.ClientSecretFrom = "env:B" }, ""},
		{"the token URL", func(s *Server) { s.Upstream.OAuth.TokenURL = "https://t.example" }, ""},
		{"the auth style", func(s *Server) { s.Upstream.OAuth.AuthStyle = "basic" }, ""},
		{"the scopes", func(s *Server) { s.Upstream.OAuth.Scopes = []string{"a", "b"} }, ""},
	}
	seen := map[string]string{identityOf(change{}): "nothing"}
	for _, c := range changes {
		id := identityOf(c)
		if other, ok := seen[id]; ok {
			t.Errorf("to change %s gives the identity of changing %s:\n%s", c.name, other, id)
		}
		seen[id] = c.name
	}
}

func TestIdentityStays(t *testing.T) {
	changes := []change{
		{"the order of variables", func(s *Server) { s.Upstream.Env = []Var{{"B", "${EMPTY}"}, {"A", "${V}"}} }, ""},
		{"the order of headers", func(s *Server) {
			s.Upstream.Headers = []Var{{"X-B", "b"}, {"X-A", "Bearer ${TOKEN:-none}"}}
		}, ""},
		{"the case of a header", func(s *Server) { s.Upstream.Headers[1].Name = "x-b" }, ""},
		{"the value of a header's variable", nil, baseVars + "\nTOKEN=sk1234567"},
		{"an unrelated variable", nil, "OTHER=1\n" + baseVars},
		{"what shapes the surface", func(s *Server) { s.Used, s.Auto, s.Hide, s.Compact = []string{"a"}, false, []string{"b"}, "off" }, ""},
		{"how long to keep it", func(s *Server) { s.TTL = time.Second }, ""},
		{"where it is written", func(s *Server) { s.Path, s.Line = "g.json", 7 }, ""},
	}
	want := identityOf(change{})
	for _, c := range changes {
		if got := identityOf(c); got != want {
			t.Errorf("%s changes the identity:\n%s\nwant\n%s", c.name, got, want)
		}
	}
	if strings.Contains(identityOf(change{vars: baseVars + "\nTOKEN=sk1234567"}), "sk1234567") {
		t.Error("the identity holds a token")
	}
}

func TestIdentityFoldsVariables(t *testing.T) {
	d := identity{vars: newEnvironment([]string{"UserProfile=C:\\me"}, true)}
	d.path("cwd", `~\x`)
	if want := "cwd \"C:\\\\me\" \"\\\\x\"\n"; string(d.text) != want {
		t.Errorf("got %q, want %q", d.text, want)
	}
}

func TestFingerprint(t *testing.T) {
	const base = `"command": "x"`
	want := string(must(t, base).Fingerprint())
	shaping := []string{
		`"used": []`, `"used": ["a", "b"]`, `"used": ["b", "a"]`, `"used": ["auto"]`, `"hide": ["a"]`, `"readOnly": ["a"]`, `"destructive": ["a"]`,
		`"surface": "all"`, `"names": "keep"`, `"prefix": "a"`, `"alwaysLoad": false`, `"alwaysLoad": "used"`, `"compact": "off"`,
		`"keep": ["default"]`, `"hint": "a"`, `"instructionsLimit": 1`, `"surfaceBudget": 1`, `"confirm": "writes"`,
		`"confirmBy": "argument"`, `"split": true`,
	}
	seen := map[string]string{want: "nothing"}
	covered := map[string]bool{}
	for _, members := range shaping {
		got := string(must(t, base+","+members).Fingerprint())
		if other, ok := seen[got]; ok {
			t.Errorf("%s gives the fingerprint of %s", members, other)
		}
		seen[got] = members
		covered[strings.Split(members, `"`)[1]] = true
	}
	for _, k := range surfaceKeys {
		if !covered[k.name] {
			t.Errorf("no case for %q", k.name)
		}
	}
	for _, members := range []string{
		`"used": "auto"`, `"hide": []`, `"keywords": {"a": ["b"]}`, `"searchLimit": 0`, `"repeatLimit": 0`, `"hints": false`, `"ttl": "1s"`,
		`"staleOk": false`, `"startTimeout": "1s"`, `"callTimeout": "1s"`, `"idleTimeout": "1s"`, `"retryResults": true`,
		`"ledger": false`, `"drift": "block"`, `"args": ["a"]`, `"env": {"A": "b"}`, `"cwd": "a"`,
	} {
		if got := string(must(t, base+","+members).Fingerprint()); got != want {
			t.Errorf("%s changes the fingerprint:\n%s\nwant\n%s", members, got, want)
		}
	}
}
