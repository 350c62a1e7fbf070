package config

import (
	"errors"
	"strings"
	"testing"
)

// entryErrors are the members of entries that are wrong, and all that is said
// of each; "acme" begins every key and "f.json:1: " every line.
var entryErrors = []struct{ name, members, want string }{
	// keys
	{"names the nearest key", `"command": "x", "usedd": []`, `acme.usedd: unknown key; nearest: "used"`},
	{"names the nearest key in another case", `"command": "x", "readonly": []`, `acme.readonly: unknown key; nearest: "readOnly"`},
	{"names the nearest key for two swapped letters", `"command": "x", "hnit": ""`, `acme.hnit: unknown key; nearest: "hint"`},
	{"names the nearest key for a longer word", `"command": "x", "environment": {}`, `acme.environment: unknown key; nearest: "env"`},
	{"names no key when none is near", `"command": "x", "qwertyuiop": 1`, `acme.qwertyuiop: unknown key`},
	{"quotes a key that would move the cursor", `"command": "x", "\u001b[2J": 1`, `"acme.\x1b[2J": unknown key`},
	{"does not take a host's own key", `"command": "x", "autoApprove": []`, `acme.autoApprove: unknown key; it is one of hosts: leave it out, or put the servers under "mcpServers", where it is left alone`},
	{"names the nearest key of upstream", `"upstream": {"comand": "x"}`, "acme.upstream.comand: unknown key; nearest: \"command\"\nacme.upstream: want \"command\" or \"url\", one of them"},
	{"moves a key out of upstream", `"upstream": {"command": "x", "used": []}`, `acme.upstream.used: stands in "upstream"; move it beside it`},
	{"refuses a key that is there twice", `"command": "x", "command": "y"`, `acme.command: twice in this object, first in line 1`},
	{"refuses a variable that is there twice", `"command": "x", "env": {"A": "", "\u0041": ""}`, `acme.env.A: twice in this object, first in line 1`},
	{"refuses a key in both places", `"command": "x", "upstream": {"command": "x"}`, `acme.upstream.command: is also command in line 1; want one of them`},
	{"refuses a key in both places, the other first", `"upstream": {"command": "x"}, "command": "x"`, `acme.upstream.command: is also command in line 1; want one of them`},

	// transports
	{"wants a transport", ``, `acme: want "command" or "url", one of them`},
	{"wants a transport in upstream", `"upstream": {}`, `acme.upstream: want "command" or "url", one of them`},
	{"refuses two transports", `"command": "x", "upstream": {"url": "https://a.example"}`, `acme.upstream: want "command" or "url", one of them, have both`},
	{"refuses headers of a process", `"command": "x", "upstream": {"headers": {}}`, `acme.upstream.headers: goes with "url", not with "command"`},
	{"refuses the environment of a URL", `"url": "https://a.example", "env": {}`, `acme.env: goes with "command", not with "url"`},
	{"says no more of a wrong command", `"command": 1`, `acme.command: want a string, have a number; put it in quotes`},

	// types
	{"wants upstream to be an object", `"upstream": "x"`, "acme.upstream: want an object, have a string\nacme.upstream: want \"command\" or \"url\", one of them"},
	{"wants a string", `"command": ["x"]`, `acme.command: want a string, have an array`},
	{"wants a string, not null", `"command": "x", "cwd": null`, `acme.cwd: want a string, have null`},
	{"refuses an empty command", `"command": ""`, `acme.command: is empty`},
	{"refuses a NUL", `"command": "x\u0000"`, `acme.command: contains a NUL character`},
	{"wants args to be an array", `"command": "x", "args": "-y"`, `acme.args: want an array of strings, have a string`},
	{"wants args to be strings", `"command": "x", "args": ["-p", 80, true]`, "acme.args[1]: want a string, have a number; put it in quotes\nacme.args[2]: want a string, have true; put it in quotes"},
	{"wants variables to be strings", `"command": "x", "env": {"PORT": 8080, "D": false}`, "acme.env.PORT: want a string, have a number; put it in quotes\nacme.env.D: want a string, have false; put it in quotes"},
	{"wants variables to have names", `"command": "x", "env": {"": "", "A=B": ""}`, "acme.env.: a variable's name cannot be empty, or contain \"=\" or control characters\nacme.env.A=B: a variable's name cannot be empty, or contain \"=\" or control characters"},
	{"wants true or false", `"command": "x", "split": "true"`, `acme.split: want true or false, have a string`},
	{"wants a number", `"command": "x", "searchLimit": "3"`, `acme.searchLimit: want a whole number from 0, have a string`},
	{"wants a whole number", `"command": "x", "repeatLimit": 1.5`, `acme.repeatLimit: want a whole number from 0, have 1.5`},
	{"wants a number from 0", `"command": "x", "surfaceBudget": -1`, `acme.surfaceBudget: want a whole number from 0, have -1`},
	{"wants a number that fits", `"command": "x", "instructionsLimit": 1e99`, `acme.instructionsLimit: want a whole number from 0, have 1e99`},
	{"wants a number with a bound", `"command": "x", "instructionsLimit": 1000000001`, `acme.instructionsLimit: want at most 1000000000, have 1000000001`},
	{"wants keywords to be arrays", `"command": "x", "keywords": {"a": "b"}`, `acme.keywords.a: want an array of strings, have a string`},
	{"wants keywords for a name", `"command": "x", "keywords": {"": ["b"]}`, `acme.keywords.: "": an empty name matches nothing`},

	// words
	{"wants one of the words", `"command": "x", "surface": "mta"`, `acme.surface: want "meta" or "all", have "mta"; nearest: "meta"`},
	{"wants one of three words", `"command": "x", "confirm": "write"`, `acme.confirm: want "none", "destructive" or "writes", have "write"; nearest: "writes"`},
	{"wants a word of confirmBy", `"command": "x", "confirmBy": "arg"`, `acme.confirmBy: want "elicitation" or "argument", have "arg"; nearest: "argument"`},
	{"wants a word of names", `"command": "x", "names": "upper"`, `acme.names: want "lower" or "keep", have "upper"`},
	{"wants a word of compact", `"command": "x", "compact": "lossles"`, `acme.compact: want "standard", "lossless", "tight" or "off", have "lossles"; nearest: "lossless"`},
	{"wants a word of drift", `"command": "x", "drift": true`, `acme.drift: want a string, have true; put it in quotes`},
	{"wants true without quotes", `"command": "x", "alwaysLoad": "true"`, `acme.alwaysLoad: want true, "used", "meta" or false, have "true"; nearest: true without quotes`},
	{"wants a word of alwaysLoad", `"command": "x", "alwaysLoad": "metas"`, `acme.alwaysLoad: want true, "used", "meta" or false, have "metas"; nearest: "meta"`},
	{"wants a type of alwaysLoad", `"command": "x", "alwaysLoad": 1`, `acme.alwaysLoad: want true, "used", "meta" or false, have a number`},
	{"takes a slip in keep for one", `"command": "x", "keep": ["exmaples"]`, `acme.keep[0]: unknown keyword "exmaples"; nearest: "examples"`},
	{"wants a prefix that hosts keep", `"command": "x", "prefix": "ac me."`, `acme.prefix: want at most 32 of A–Z, a–z, 0–9, "_" and "-", have "ac me."`},
	{"wants a short prefix", `"command": "x", "prefix": "abcdefghijabcdefghijabcdefghijabc"`, `acme.prefix: want at most 32 of A–Z, a–z, 0–9, "_" and "-", have "abcdefghijabcdefghijabcdefghijabc"`},
	{"wants a hint of one line", `"command": "x", "hint": "a\nb"`, `acme.hint: want one line without control characters`},
	{"wants a short hint", `"command": "x", "hint": "` + strings.Repeat("é", 401) + `"`, `acme.hint: want at most 400 characters, have 401`},

	// globs
	{"wants used to be an array", `"command": "x", "used": "get_issue"`, `acme.used: want an array of names and globs, or "auto", have "get_issue"; nearest: ["get_issue"]`},
	{"wants used to be strings", `"command": "x", "used": ["a", 3]`, `acme.used[1]: want a string, have a number; put it in quotes`},
	{"refuses an empty glob", `"command": "x", "hide": [""]`, `acme.hide[0]: "": an empty name matches nothing`},
	{"refuses a class of characters", `"command": "x", "hide": ["get_[ab]"]`, `acme.hide[0]: "get_[ab]": "[" means nothing in a glob: only * and ? do, and each name stands by itself`},
	{"refuses two names in one", `"command": "x", "readOnly": ["a,b"]`, `acme.readOnly[0]: "a,b": "," means nothing in a glob: only * and ? do, and each name stands by itself`},
	{"refuses white space around a name", `"command": "x", "destructive": ["a "]`, `acme.destructive[0]: "a ": a name does not begin or end with white space`},
	{"refuses a control character in a name", `"command": "x", "hide": ["a\u0007"]`, `acme.hide[0]: "a\a": a name does not contain control characters`},

	// durations
	{"wants a unit", `"command": "x", "ttl": "30"`, `acme.ttl: want a duration such as "20s", "1h30m" or "7d", have "30"; nearest: "30s"`},
	{"wants a unit of a number", `"command": "x", "ttl": 30`, `acme.ttl: want a duration such as "20s", "1h30m" or "7d", have a number; nearest: "30s"`},
	{"wants a known unit", `"command": "x", "startTimeout": "5 minutes"`, `acme.startTimeout: want a duration such as "20s", "1h30m" or "7d", have "5 minutes"; nearest: "5m"`},
	{"knows no months", `"command": "x", "ttl": "1 month"`, `acme.ttl: want a duration such as "20s", "1h30m" or "7d", have "1 month"`},
	{"wants days alone", `"command": "x", "ttl": "1h30d"`, `acme.ttl: want a duration such as "20s", "1h30m" or "7d", have "1h30d"; nearest: "1h"`},
	{"refuses days beyond time", `"command": "x", "ttl": "200000d"`, `acme.ttl: want a duration such as "20s", "1h30m" or "7d", have "200000d"`},
	{"refuses zero", `"command": "x", "ttl": "0s"`, `acme.ttl: want a duration such as "20s", "1h30m" or "7d" of more than zero, have "0s"`},
	{"refuses less than zero", `"command": "x", "callTimeout": "-5s"`, `acme.callTimeout: want a duration such as "20s", "1h30m" or "7d", or "none" of more than zero, have "-5s"`},
	{"wants a start to be bounded", `"command": "x", "startTimeout": "none"`, `acme.startTimeout: want a duration such as "20s", "1h30m" or "7d", have "none"`},
	{"wants a duration to be a string", `"command": "x", "idleTimeout": null`, `acme.idleTimeout: want a duration such as "20s", "1h30m" or "7d", or "none", have null`},

	// reaching an upstream, and what could be secret in it
	{"wants a URL", `"url": "mcp.acme.example/v1?key=sk1234567"`, `acme.url: want a URL that begins with "https://" or "http://" and a host`},
	{"wants a URL with a host", `"url": "https:///v1"`, `acme.url: want a URL that begins with "https://" or "http://" and a host`},
	{"wants a known transport", `"url": "https://a.example", "transport": "ssse"`, `acme.transport: want "http" or "sse", have "ssse"; nearest: "sse"`},
	{"wants header names", `"url": "https://a.example", "headers": {"X Org": "sk1234567"}`, `acme.headers.X Org: not a header name (RFC 9110, section 5.1)`},
	{"wants a header once", `"url": "https://a.example", "headers": {"X-Org": "", "x-org": ""}`, `acme.headers.x-org: twice in this object, in another case`},
	{"wants headers of one line", `"url": "https://a.example", "headers": {"X-Org": "a\r\nb"}`, `acme.headers.X-Org: contains a line end`},
	{"wants headers without control characters", `"url": "https://a.example", "headers": {"X-Org": "a\u001b"}`, `acme.headers.X-Org: contains a control character`},
	{"keeps the headers of a message", `"url": "https://a.example", "headers": {"content-type": "text/plain", "X-A": "", "Connection": "close"}`,
		"acme.headers.content-type: is set by mcp-facade itself; leave it out\nacme.headers.Connection: is set by mcp-facade itself; leave it out"},
	{"keeps the headers of MCP", `"url": "https://a.example", "headers": {"Mcp-Session-Id": "1", "MCP-Protocol-Version": "1", "Mcp-Param-Org": "1", "Mcp-Method": "1"}`,
		"acme.headers.Mcp-Session-Id: is set by mcp-facade itself; leave it out\nacme.headers.MCP-Protocol-Version: is set by mcp-facade itself; leave it out\n" +
			"acme.headers.Mcp-Param-Org: is set by mcp-facade itself; leave it out\nacme.headers.Mcp-Method: is set by mcp-facade itself; leave it out"},
	{"wants a credential's id", `"url": "https://a.example", "credentialId": "--all"`, `acme.credentialId: a credential's id cannot begin with "-" or contain control characters`},
	{"wants a command in parts", `"url": "https://a.example", "tokenCommand": "op read sk1234567"`, `acme.tokenCommand: want an array of the program and its arguments, have a string; nearest: ["program", "argument"]`},
	{"wants a command", `"url": "https://a.example", "tokenCommand": []`, `acme.tokenCommand: names no program`},
	{"wants oauth to be true", `"url": "https://a.example", "oauth": false`, `acme.oauth: want true or an object, have false`},
	{"wants keys of oauth", `"url": "https://a.example", "oauth": {"clientID": "x"}`, `acme.oauth.clientID: unknown key; nearest: "clientId"`},
	{"wants the place of a secret", `"url": "https://a.example", "oauth": {"clientSecretFrom": "sk1234567"}`, `acme.oauth.clientSecretFrom: want "env:VARIABLE", "keychain:SERVICE" or "keyring:SERVICE": where the secret is kept, not the secret`},
	{"wants an auth style", `"url": "https://a.example", "oauth": {"authStyle": "bsic"}`, `acme.oauth.authStyle: want "body" or "basic", have "bsic"; nearest: "basic"`},
	{"wants scopes in parts", `"url": "https://a.example", "oauth": {"scopes": "a b"}`, `acme.oauth.scopes: want an array of strings, have a string`},
	{"wants a server of Claude's", `"command": "x", "envFrom": "sk1234567"`, `acme.envFrom: want "claude:NAME", the name of a server in ~/.claude.json`},
	{"wants the name of a server of Claude's", `"command": "x", "envFrom": "claude:"`, `acme.envFrom: want "claude:NAME", the name of a server in ~/.claude.json`},
}

func TestEntryErrors(t *testing.T) {
	for _, tt := range entryErrors {
		t.Run(tt.name, func(t *testing.T) {
			s, err := one(t, tt.members)
			if err == nil {
				t.Fatalf("{%s}: got %+v, want an error", tt.members, s)
			}
			want := "f.json:1: " + strings.ReplaceAll(tt.want, "\n", "\nf.json:1: ")
			if err.Error() != want {
				t.Errorf("{%s}:\n got %s\nwant %s", tt.members, err, want)
			}
			if strings.Contains(err.Error(), "sk1234567") {
				t.Errorf("{%s}: %s shows what may be a secret", tt.members, err)
			}
			if e := new(Error); !errors.As(err, &e) {
				t.Errorf("{%s}: got a %T, want an *Error", tt.members, err)
			}
		})
	}
}

func TestLines(t *testing.T) {
	text := `{
  // a comment
  "acme": {
    "upstream": {
      "command": "x",
      "args": [
        "-y",
        7
      ],
      "env": {
        "A": 1
      }
    },
    "used":
      "all",
    "hid": []
  }
}`
	f, err := Parse("dir/f.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := `dir/f.json:8: acme.upstream.args[1]: want a string, have a number; put it in quotes
dir/f.json:11: acme.upstream.env.A: want a string, have a number; put it in quotes
dir/f.json:15: acme.used: want an array of names and globs, or "auto", have "all"; nearest: ["all"]
dir/f.json:16: acme.hid: unknown key; nearest: "hide"`
	if _, err := f.Server("acme"); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestHostEntryErrors(t *testing.T) {
	tests := []struct{ name, members, want string }{
		{"refuses a key that is no host's", `"command": "x", "autoAprove": []`, `f.json:1: acme.autoAprove: unknown key`},
		{"knows another word for url", `"serverUrl": "https://a.example"`, `f.json:1: acme: want "command" or "url", one of them; nearest: "url" for "serverUrl"`},
		{"refuses two transports", `"command": "x", "url": "https://a.example"`, `f.json:1: acme: want "command" or "url", one of them, have both`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Parse("f.json", []byte(`{"mcpServers": {"acme": {`+tt.members+`}}}`))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Server("acme"); err == nil || err.Error() != tt.want {
				t.Errorf("{%s}:\n got %v\nwant %s", tt.members, err, tt.want)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	tests := []struct {
		word string
		from []string
		want string
	}{
		{"githib", []string{"gitlab", "github"}, "github gitlab"},
		{"GitHub", []string{"github"}, "github"},
		{"", []string{"a", ""}, ""},
		{"x", []string{"yy"}, ""},
		{"timeout", []string{"startTimeout", "callTimeout", "idleTimeout"}, "callTimeout idleTimeout startTimeout"},
		{strings.Repeat("a", 100), []string{strings.Repeat("a", 100)}, ""},
	}
	for _, tt := range tests {
		if got := strings.Join(nearest(tt.word, tt.from, 3), " "); got != tt.want {
			t.Errorf("nearest(%q, %q): got %q, want %q", tt.word, tt.from, got, tt.want)
		}
	}
}

func TestMatch(t *testing.T) {
	tests := []struct {
		globs string
		name  string
		want  bool
	}{
		{"get_issue", "get_issue", true},
		{"get_issue", "GET_Issue", true},
		{"get_issue", "get_issues", false},
		{"get_*", "get_", true},
		{"get_*", "forget_it", false},
		{"*", "", true},
		{"*issue*", "list_issues", true},
		{"*a*b", "xaxbxb", true},
		{"*a*b", "xaxbxbx", false},
		{"**x", "x", true},
		{"get_?", "get_é", true},
		{"get_?", "get_", false},
		{"???", "äöü", true},
		{"?*", "", false},
		{"ÄB*", "äbc", true},
		{"a b", "b", true},
		{"a b", "c", false},
		{"*" + strings.Repeat("a*", 50) + "b", strings.Repeat("a", 2000), false},
		{"a\xff*", "a\xffb", true},
	}
	for _, tt := range tests {
		if got := Match(strings.Fields(tt.globs), tt.name); got != tt.want {
			t.Errorf("Match(%q, %q): got %v, want %v", tt.globs, tt.name, got, tt.want)
		}
	}
	if Match(nil, "x") {
		t.Error("no glob matches")
	}
}
