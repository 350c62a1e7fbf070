package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTokenKey(t *testing.T) {
	const url = `"url": "https://a.example"`
	tests := []struct{ name, members, want string }{
		{"is none by itself", url, ""},
		{"is a credential", url + `, "credentialId": "c"`, "credentialId"},
		{"is a command", url + `, "tokenCommand": ["x"]`, "tokenCommand"},
		{"is a credential first", url + `, "tokenCommand": ["x"], "credentialId": "c"`, "credentialId"},
		{"is none beside a header", url + `, "tokenCommand": ["x"], "headers": {"authorization": "Bearer ${T}"}`, ""},
		{"is none for oauth", url + `, "oauth": true`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := must(t, tt.members).TokenKey(); got != tt.want {
				t.Errorf("TokenKey of {%s} is %q, want %q", tt.members, got, tt.want)
			}
		})
	}
}

// TestTokenPlace: where the token of a process may stand. It never becomes an
// argument.
func TestTokenPlace(t *testing.T) {
	const command = `"command": "x", "tokenCommand": ["op"]`
	tests := []struct{ name, members, want string }{
		{"takes a variable", command + `, "env": {"T": "${tokenCommand}"}`, ""},
		{"takes a part of one, twice", command + `, "env": {"T": "Bearer ${tokenCommand}", "U": "${tokenCommand:-none}"}`, ""},
		{"takes a credential", `"command": "x", "credentialId": "c", "env": {"T": "${credentialId}"}`, ""},
		{"takes an escaped one for text", `"command": "x", "args": ["$${tokenCommand}"]`, ""},
		{"wants a variable", command, `f.json:1: acme.tokenCommand: its token goes nowhere; want ${tokenCommand} as the value of a variable in "env"`},
		{"wants none in an argument", command + `, "args": ["--token=${tokenCommand}"], "env": {"T": "${tokenCommand}"}`,
			`f.json:1: acme.args[0]: ${tokenCommand} is a value for "env" only, which is in no list of processes`},
		{"wants none in a header", `"url": "https://a.example", "tokenCommand": ["op"], "headers": {"X-A": "${tokenCommand}"}`,
			`f.json:1: acme.headers.X-A: ${tokenCommand} is a value for "env" only, which is in no list of processes`},
		{"wants a program for it", `"upstream": {"command": "x",` + "\n" + `"env": {"T": "${tokenCommand}"}}`,
			`f.json:2: acme.upstream.env.T: ${tokenCommand} stands for a token, and no "tokenCommand" is asked for one`},
		{"wants the one that is asked", `"command": "x", "tokenCommand": ["op"], "credentialId": "c", "env": {"T": "${tokenCommand}", "U": "${credentialId}"}`,
			`f.json:1: acme.env.T: ${tokenCommand} stands for a token, and no "tokenCommand" is asked for one`},
		{"wants no oauth for a process", `"command": "x", "oauth": true`, `f.json:1: acme.oauth: goes with "url", not with "command"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Parse("f.json", []byte(`{"acme": {`+tt.members+`}}`))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if _, err := f.Server("acme"); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("{%s}:\n got %s\nwant %s", tt.members, got, tt.want)
			}
		})
	}
}

// TestTokenOfProcess: the token goes where it is asked for and nowhere else, is
// hidden, and is no part of the identity.
func TestTokenOfProcess(t *testing.T) {
	s := must(t, `"command": "x", "tokenCommand": ["op"], "env": {"T": "Bearer ${tokenCommand}"}`)
	p, err := s.Process([]string{"A=1", "tokenCommand=s3cr3t-1"}, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"A=1", "T=Bearer s3cr3t-1"}; !slices.Equal(p.Env, want) {
		t.Errorf("the process has %q, want %q", p.Env, want)
	}
	if !slices.Contains(p.Secrets, "s3cr3t-1") {
		t.Errorf("the token is not hidden: %q", p.Secrets)
	}
	first, second := string(s.Identity([]string{"A=1"})), string(s.Identity([]string{"A=1"}))
	if first != second || strings.Contains(first, "s3cr3t") {
		t.Errorf("identity %q, then %q", first, second)
	}
}

func TestInlineTokens(t *testing.T) {
	const token = "sk-0123456789abcdef01"
	inFile := func(key string) []string {
		return []string{"f.json:1: acme." + key + ": the token stands in the file; " + fromVariable + `, "${tokenCommand}" from a program`}
	}
	inArgs := func(key string) []string {
		return []string{"f.json:1: acme." + key + `: a token stands there, which process lists show; "env" is not shown`}
	}
	tests := []struct {
		name, members string
		want          []string
	}{
		{"finds one by its looks", `"env": {"X": "` + token + `"}`, inFile("env.X")},
		{"finds one by its name", `"env": {"ACME_TOKEN": "0123456789abcdef01"}`, inFile("env.ACME_TOKEN")},
		{"finds one after a scheme", `"env": {"AUTH": "Bearer 0123456789abcdef01"}`, inFile("env.AUTH")},
		{"finds an argument by its flag", `"args": ["--api-key", "0123456789abcdef01"]`, inArgs("args[1]")},
		{"finds one in an argument", `"args": ["--api-key=0123456789abcdef01"]`, inArgs("args[0]")},
		{"leaves variables", `"env": {"ACME_TOKEN": "${ACME_TOKEN_0123456789}"}`, nil},
		{"leaves words", `"env": {"AUTH": "basic", "MODE": "production-eu-west-1"}`, nil},
		{"leaves paths", `"env": {"KEY_FILE": "/home/me/keys/2024-12-31.pem", "TOKENS": "https://a.example/x1y2z3"}`, nil},
		{"leaves packages", `"args": ["-y", "@acme/mcp-server-files@1.2.3"]`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := must(t, `"command": "x", `+tt.members).Process([]string{"ACME_TOKEN_0123456789=x"}, nil, "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, p.Warnings); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnasked(t *testing.T) {
	const header = `is not asked for a token: there is an Authorization in "headers" or in "url"`
	tests := []struct {
		name, members string
		want          []string
	}{
		{"tells nothing of one", `"tokenCommand": ["x"]`, nil},
		{"tells the second", `"tokenCommand": ["x"], "credentialId": "c"`, []string{`f.json:1: acme.tokenCommand: is not asked for a token: "credentialId" is`}},
		{"tells what stands beside a header", `"tokenCommand": ["x"], "oauth": true, "headers": {"Authorization": "Bearer ${T}"}`,
			[]string{"f.json:1: acme.tokenCommand: " + header, "f.json:1: acme.oauth: " + header}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := must(t, `"url": "https://a.example", `+tt.members).Remote([]string{"T=x"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, r.Warnings); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
