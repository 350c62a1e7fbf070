package config

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRemote(t *testing.T) {
	f, err := Parse(filepath.Join("dir", "f.json"), []byte(`{"acme": {"url": "https://${HOST}/v1?org=${ORG}#x", "caFile": "ca.pem",
		"headers": {"X-B": "${ORG:-main} b", "authorization": "Bearer ${TOKEN}", "X-A": ""}}}`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Server("acme")
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Remote([]string{"HOST=mcp.acme.example", "ORG=o%2F1", "TOKEN=abcdefgh\n", "HTTPS_PROXY=http://me:swordfish@proxy.example"})
	if err != nil {
		t.Fatal(err)
	}
	want := Remote{
		URL: "https://mcp.acme.example/v1?org=o%2F1", Authorization: "Bearer abcdefgh",
		Headers: []Var{{"X-B", "o%2F1 b"}, {"X-A", ""}}, CAFile: filepath.Join("dir", "ca.pem"),
		Variables: []string{"ORG", "TOKEN"},
		Secrets:   []string{"Bearer abcdefgh", "abcdefgh\n", "swordfish", "abcdefgh", "o%2F1 b"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRemoteAddress(t *testing.T) {
	tests := []struct{ name, url, want, authorization string }{
		{"leaves a plain URL alone", "https://mcp.acme.example/a%2Fb?c=d&c=%20", "https://mcp.acme.example/a%2Fb?c=d&c=%20", ""},
		{"takes user and password out", "https://me:s%40cret@mcp.acme.example/", "https://mcp.acme.example/", "Basic bWU6c0BjcmV0"},
		{"takes a user out", "https://abc@mcp.acme.example", "https://mcp.acme.example", "Basic YWJjOg=="},
		{"keeps a port", "http://[::1]:8080/mcp", "http://[::1]:8080/mcp", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := must(t, `"url": "`+tt.url+`"`).Remote(nil)
			if err != nil || r.URL != tt.want || r.Authorization != tt.authorization {
				t.Errorf("%s: got %q, %q, %v; want %q, %q", tt.url, r.URL, r.Authorization, err, tt.want, tt.authorization)
			}
		})
	}
	r, err := must(t, `"url": "https://me:secret@a.example", "headers": {"Authorization": "Bearer abc"}`).Remote(nil)
	if err != nil || r.Authorization != "Bearer abc" {
		t.Errorf("a header beside a password: got %q, %v, want the header", r.Authorization, err)
	}
}

func TestOrigin(t *testing.T) {
	for url, want := range map[string]string{
		"https://me:sk1234567@mcp.acme.example:8443/sk1234567?key=sk1234567": "https://mcp.acme.example:8443",
		"http://${HOST}/v1": "http://mcp.acme.example",
		"http://${NO}/v1":   "",
		"${HOST}":           "",
	} {
		s := must(t, `"url": "`+url+`", "headers": {"A": "${NO}"}`)
		if got := s.Origin([]string{"HOST=mcp.acme.example"}); got != want {
			t.Errorf("Origin of %s is %q, want %q", url, got, want)
		}
	}
}

func TestRemoteCAFile(t *testing.T) {
	tests := []struct{ name, path, caFile, want string }{
		{"begins where the servers file is", "/etc/f.json", "ca.pem", "/etc/ca.pem"},
		{"takes the home directory", "/etc/f.json", "~/ca.pem", "/home/me/ca.pem"},
		{"takes a variable", "/etc/f.json", "${DIR}/ca.pem", "/srv/ca.pem"},
		{"takes a whole path", "/etc/f.json", "/ca.pem", "/ca.pem"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if windows {
				t.Skip("paths of Unix")
			}
			s := must(t, `"url": "https://a.example", "caFile": "`+tt.caFile+`"`)
			s.Path = tt.path
			r, err := s.Remote([]string{"HOME=/home/me", "DIR=/srv"})
			if err != nil || r.CAFile != tt.want {
				t.Errorf("got %q, %v, want %q", r.CAFile, err, tt.want)
			}
		})
	}
}

func TestRemoteErrors(t *testing.T) {
	const url = `"url": "https://a.example"`
	tests := []struct{ name, members, want string }{
		{"names every variable and its place", "\"url\": \"https://${X}\", \"caFile\": \"${Z}\",\n\"headers\": {\"A\": \"${Y}\"}",
			"f.json:1: acme.url: ${X} is not set\nf.json:2: acme.headers.A: ${Y} is not set\nf.json:1: acme.caFile: ${Z} is not set"},
		{"names a placeholder of another program", url + `, "headers": {"Authorization": "Bearer ${input:token}"}`,
			`f.json:1: acme.headers.Authorization: ${input:token} ` + foreign},
		{"does not show what became of a URL", `"url": "https://${LINES}"`, `f.json:1: acme.url: want a URL that begins with "https://" or "http://" and a host`},
		{"wants a URL of a whole one", `"url": "${PLAIN}"`, `f.json:1: acme.url: want a URL that begins with "https://" or "http://" and a host`},
		{"refuses a line end in a variable", url + `, "headers": {"A": "${LINES}"}`, `f.json:1: acme.headers.A: contains a line end`},
		{"refuses a control character in a variable", url + `, "headers": {"A": "x${ESC}"}`, `f.json:1: acme.headers.A: contains a control character`},
		{"refuses a scheme alone", url + `, "headers": {"Authorization": "Bearer ${EMPTY}"}`, `f.json:1: acme.headers.Authorization: is a scheme without a token`},
		{"reaches no command", `"command": "x"`, `f.json:1: acme.url: is not set: a "command" is reached by no requests`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := must(t, tt.members).Remote([]string{"LINES=sk1234567\nx", "PLAIN=sk1234567", "ESC=sk\x1b1234567", "EMPTY="})
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
	_, err := must(t, url+`, "headers": {"A": "${LINES}"}`).Remote([]string{"LINES=a\nb"})
	if e := new(Error); !errors.As(err, &e) || e.Hint != "correct the value of ${LINES}" {
		t.Errorf("%v: the hint does not name the variable: %q", err, e.Hint)
	}
}

func TestRemoteSecrets(t *testing.T) {
	environ := []string{"MY_TOKEN=abcdefgh", "ORG=acme-internal", "TENANT=123456", "PW=swordfish", "HOST=mcp.acme.example", "DAY=2"}
	tests := []struct {
		name, members string
		want          []string
	}{
		{"hides a token, whole and in part", `"headers": {"Authorization": "Bearer ${MY_TOKEN}"}`, []string{"Bearer abcdefgh", "abcdefgh"}},
		{"hides a token of any scheme", `"headers": {"Authorization": "ApiKey abcdefgh"}`, []string{"ApiKey abcdefgh", "abcdefgh"}},
		{"hides the password of Basic credentials", `"headers": {"Authorization": "Basic bWU6c3dvcmRmaXNo"}`,
			[]string{"Basic bWU6c3dvcmRmaXNo", "bWU6c3dvcmRmaXNo", "swordfish"}},
		{"hides what headers take from variables", `"headers": {"X-Org": "o/${ORG}"}`, []string{"o/acme-internal", "acme-internal"}},
		{"does not hide a number from a variable", `"headers": {"X-Tenant": "${TENANT}"}`, nil},
		{"hides headers by their names", `"headers": {"X-Api-Key": "abcd", "X-Team": "acme-team"}`, []string{"abcd"}},
		{"hides what looks like a token", `"headers": {"X-Id": "0a1b2c3d4e5f6071", "Accept-Language": "en-US, en;q=0.9"}`, []string{"0a1b2c3d4e5f6071"}},
		{"hides the password of a URL", `"url": "https://me:sword%20fish@a.example"`,
			[]string{"Basic bWU6c3dvcmQgZmlzaA==", "bWU6c3dvcmQgZmlzaA==", "sword%20fish", "sword fish"}},
		{"hides parameters by their names", `"url": "https://a.example/?api_key=a%2Fbcd&key=efgh&access_token=ijkl&toolsets=issues"`,
			[]string{"a%2Fbcd", "a/bcd", "efgh", "ijkl"}},
		{"hides a token in the path", `"url": "https://a.example/api/s/0a1b2c3d4e5f6071/mcp"`, []string{"0a1b2c3d4e5f6071"}},
		{"hides variables of a URL by their names", `"url": "https://${HOST}/?q=${MY_TOKEN}"`, []string{"abcdefgh"}},
		{"hides nothing without secrets", `"url": "https://a.example/v1/mcp?region=eu"`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			members := tt.members
			if !strings.Contains(members, `"url"`) {
				members += `, "url": "https://a.example"`
			}
			r, err := must(t, members).Remote(environ)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, r.Secrets); diff != "" {
				t.Errorf("{%s} (-want +got):\n%s", tt.members, diff)
			}
		})
	}
}

func TestRemoteWarnings(t *testing.T) {
	const (
		clear  = "acme.url: http:// sends headers and calls unencrypted; want https://"
		inFile = `acme.headers.authorization: the token stands in the file; "Bearer ${VARIABLE}" takes it from the environment, "tokenCommand" from a program`
		inURL  = `acme.url: a secret in it stands in the file; "${VARIABLE}" takes it from the environment`
		shown  = " stands on the command line, which process lists show; write ${VARIABLE} in its place, which in a shell needs single quotes"
	)
	token := []Var{{"authorization", "Bearer sk1234567"}}
	variable := []Var{{"Authorization", "Bearer ${TOKEN}"}}
	tests := []struct {
		name, path, url string
		headers         []Var
		want            []string
	}{
		{"has none for https", "f.json", "https://a.example", variable, nil},
		{"warns of http", "f.json", "http://a.example", variable, []string{clear}},
		{"warns of a password over http", "f.json", "http://me:sk1234567@a.example", nil, []string{clear, inURL}},
		{"has none for http without headers", "f.json", "http://a.example", nil, nil},
		{"has none for this machine", "f.json", "http://localhost:8080", variable, nil},
		{"has none for a name of this machine", "f.json", "http://mcp.LOCALHOST.:8080", variable, nil},
		{"has none for an address of this machine", "f.json", "http://127.0.1.1", variable, nil},
		{"has none for an IPv6 address of this machine", "f.json", "http://[::1]:1", variable, nil},
		{"warns of a name that only begins so", "f.json", "http://localhost.a.example", variable, []string{clear}},
		{"warns of any address", "f.json", "http://0.0.0.0:80", variable, []string{clear}},
		{"warns of a token in the file", "f.json", "https://a.example", token, []string{inFile}},
		{"warns of a key in the URL", "f.json", "https://a.example?key=sk1234567", nil, []string{inURL}},
		{"warns of another header in the file", "f.json", "https://a.example", []Var{{"X-Api-Key", "0123456789abcdef01"}},
			[]string{`acme.headers.X-Api-Key: the token stands in the file; "${VARIABLE}" takes it from the environment`}},
		{"has none for a header that is no secret", "f.json", "https://a.example", []Var{{"X-Org", "acme-internal-2024-12"}}, nil},
		{"warns of a token on the command line", "", "https://a.example", token, []string{"acme.headers.authorization: the token" + shown}},
		{"warns of a key on the command line", "", "https://a.example?key=sk1234567", nil, []string{"acme.url: a secret in it" + shown}},
		{"has none for a variable on the command line", "", "https://a.example?key=${TOKEN}", variable, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := InPlaceURL("acme", tt.url, tt.headers)
			if err != nil {
				t.Fatal(err)
			}
			s.Path = tt.path
			r, err := s.Remote([]string{"TOKEN=abcdefgh"})
			if err != nil {
				t.Fatal(err)
			}
			for i := range tt.want {
				tt.want[i] = strings.TrimPrefix(tt.path+": ", ": ") + tt.want[i]
			}
			if diff := cmp.Diff(tt.want, r.Warnings); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestInPlaceURLErrors(t *testing.T) {
	tests := []struct {
		name, url string
		headers   []Var
		want      string
	}{
		{"wants a URL", "mcp.acme.example?key=sk1234567", nil, `acme.url: want a URL that begins with "https://" or "http://" and a host`},
		{"wants header names", "https://a.example", []Var{{"X Org", "sk1234567"}}, `acme.headers.X Org: not a header name (RFC 9110, section 5.1)`},
		{"keeps our headers", "https://a.example", []Var{{"MCP-Session-Id", "1"}}, `acme.headers.MCP-Session-Id: is set by mcp-facade itself; leave it out`},
		{"wants one line", "https://a.example", []Var{{"X-Org", "sk1234567\nx"}}, `acme.headers.X-Org: contains a line end`},
		{"wants a header once", "https://a.example", []Var{{"X-Org", "a"}, {"x-org", "b"}}, `acme.headers.x-org: is given twice`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := InPlaceURL("acme", tt.url, tt.headers)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, %v, want the error %s", s, err, tt.want)
			}
		})
	}
	if _, err := InPlaceURL("acme", "${SERVER}/mcp", nil); err != nil {
		t.Errorf("a URL that is whole only once it is expanded: %v", err)
	}
}

func TestHostFileHeaders(t *testing.T) {
	f, err := Parse("f.json", []byte(`{"mcpServers": {"acme": {"type": "http", "url": "https://a.example",
		"headers": {"Accept": "application/json, text/event-stream", "X-Org": "main", "content-type": "application/json"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Server("acme")
	if err != nil {
		t.Fatalf("headers that are ours to set, in a host's file: %v", err)
	}
	if diff := cmp.Diff([]Var{{"X-Org", "main"}}, s.Upstream.Headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}
