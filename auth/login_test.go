package auth

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// What servers are like, and that a login and a call come through.
func TestLogin(t *testing.T) {
	type config = func(*server, *Options)
	body := func(status int, kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			io.WriteString(w, text)
		}
	}
	preregistered := func(style string) config {
		return func(s *server, o *Options) {
			s.clients["ours"], s.secret = "", "s e&cret"
			o.ClientID, o.AuthStyle = "ours", style
			o.ClientSecret = func() (Secret, error) { return "s e&cret", nil }
		}
	}
	for _, test := range []struct {
		name string
		set  func(*server)
		opt  config
		want string // a part of what the server has seen
		err  string // "": the login succeeds
	}{
		{"finds what the challenge names", func(s *server) { s.prmAt = "/elsewhere" }, nil, "GET /elsewhere", ""},
		{"finds the description for the path", func(s *server) { s.challenge = "Bearer" }, nil, "GET /.well-known/oauth-protected-resource/mcp", ""},
		{"finds the description for the origin", func(s *server) { s.prmAt, s.challenge = "/.well-known/oauth-protected-resource", "Bearer" }, nil, "GET /.well-known/oauth-protected-resource", ""},
		{"takes a description of the whole origin", func(s *server) { s.prm["resource"] = s.URL + "/" }, nil, "", ""},
		{"takes a challenge that is malformed", func(s *server) { s.challenge = `Bearer realm="x` }, nil, "", ""},
		{"reads OpenID's description", func(s *server) { s.metaAt = "/.well-known/openid-configuration" }, nil, "GET /.well-known/openid-configuration", ""},
		{"reads the description of an issuer with a path", func(s *server) {
			s.metaAt, s.meta["issuer"], s.prm["authorization_servers"] = "/.well-known/oauth-authorization-server/tenant", s.URL+"/tenant", []string{s.URL + "/tenant"}
		}, nil, "GET /.well-known/oauth-authorization-server/tenant", ""},
		{"reads OpenID's description behind a path", func(s *server) {
			s.metaAt, s.meta["issuer"], s.prm["authorization_servers"] = "/tenant/.well-known/openid-configuration", s.URL+"/tenant", []string{s.URL + "/tenant"}
		}, nil, "GET /tenant/.well-known/openid-configuration", ""},
		{"takes web pages in the place of descriptions", func(s *server) {
			s.handle["/.well-known/oauth-authorization-server"] = body(200, "text/html", "<html>")
			s.metaAt = "/.well-known/openid-configuration"
		}, nil, "", ""},
		{"falls back to the upstream's own origin", func(s *server) { s.noPRM = true }, nil, "", ""},
		{"falls back to the places of 2025-03-26", func(s *server) { s.noPRM, s.metaAt = true, "/nowhere" }, nil, "POST /register", ""},
		{"registers a client with a secret", func(s *server) { s.secret = "given" }, nil, "POST /register", ""},
		{"uses a client of the config, basic", nil, preregistered("basic"), "POST /token authorization_code basic", ""},
		{"uses a client of the config, body", nil, preregistered("body"), "POST /token authorization_code body", ""},
		{"sends a secret as by default", nil, preregistered(""), "POST /token authorization_code basic", ""},
		{"sends a secret as the server likes it", func(s *server) { s.meta["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"} },
			preregistered(""), "POST /token authorization_code body", ""},
		{"uses a document where the server takes one", func(s *server) {
			s.meta["client_id_metadata_document_supported"] = true
			s.clients["https://acme.example/client.json"] = ""
		}, func(_ *server, o *Options) { o.ClientID = "https://acme.example/client.json" }, "", ""},
		{"registers where the server takes no document", nil, func(_ *server, o *Options) { o.ClientID = "https://acme.example/client.json" }, "POST /register", ""},
		{"needs no browser for a client that is allowed in", func(s *server) { s.meta["grant_types_supported"] = []string{"client_credentials"} }, preregistered(""), "POST /token client_credentials", ""},
		{"needs no discovery with a tokenUrl", nil, func(s *server, o *Options) {
			preregistered("basic")(s, o)
			o.TokenURL = s.URL + "/token"
		}, "POST /token client_credentials", ""},
		{"takes the issuer of the answer", func(s *server) {
			s.meta["authorization_response_iss_parameter_supported"] = true
			s.redirect = func(v url.Values) { v.Set("iss", s.URL) }
		}, nil, "", ""},

		{"refuses the description of another server", func(s *server) { s.prm["resource"] = "https://other.example/mcp" }, nil, "",
			`find its authorization server: URL/.well-known/oauth-protected-resource/mcp describes "https://other.example/mcp", which is not this server`},
		{"refuses the description of another path", func(s *server) { s.prm["resource"] = s.URL + "/mc" }, nil, "",
			`find its authorization server: URL/.well-known/oauth-protected-resource/mcp describes "URL/mc", which is not this server`},
		{"refuses a description without a server", func(s *server) { s.prm["authorization_servers"] = nil }, nil, "",
			`find its authorization server: URL/.well-known/oauth-protected-resource/mcp names no authorization server`},
		{"refuses a server that describes another", func(s *server) { s.meta["issuer"] = "https://other.example" }, nil, "",
			`find its authorization server: URL/.well-known/oauth-authorization-server describes "https://other.example", not "URL"`},
		{"refuses a server without PKCE", func(s *server) { s.meta["code_challenge_methods_supported"] = []string{"plain"} }, nil, "",
			`find its authorization server: URL/.well-known/oauth-authorization-server: offers no PKCE with S256, without which MCP allows no login`},
		{"refuses a server without a token endpoint", func(s *server) { s.meta["token_endpoint"] = nil }, nil, "",
			`find its authorization server: URL/.well-known/oauth-authorization-server names no token endpoint`},
		{"refuses a description of wrong types", func(s *server) { s.meta["token_endpoint"] = 7 }, nil, "",
			`find its authorization server: URL/.well-known/oauth-authorization-server answered 200 with application/json: cannot unmarshal number into Go struct field AuthServerMeta.token_endpoint of type string`},
		{"says that a description cannot be had", func(s *server) {
			s.handle["/.well-known/oauth-protected-resource/mcp"] = body(502, "text/html", "<html>")
		}, nil, "",
			`find its authorization server: URL/.well-known/oauth-protected-resource/mcp answered 502 with a web page`},
		{"opens no page that is no web page", func(s *server) { s.meta["authorization_endpoint"] = "file:///etc/passwd" }, nil, "",
			`URL: names no page to log in at`},
		{"opens no page of a program", func(s *server) { s.meta["authorization_endpoint"] = "vscode://x/y" }, nil, "",
			`URL: the URL at x is not https`},
		{"sends nothing in the clear", func(s *server) { s.meta["token_endpoint"] = "http://as.example/token" }, nil, "",
			`get a token: http://as.example/token: the URL at as.example is not https`},
		{"says that a server registers nobody", func(s *server) { s.meta["registration_endpoint"] = nil }, nil, "",
			`URL registers no new clients: "oauth" needs the "clientId" of one that is registered by hand`},
		{"says that a server takes no document and registers nobody", func(s *server) { s.meta["registration_endpoint"] = nil },
			func(_ *server, o *Options) { o.ClientID = "https://acme.example/client.json" }, "",
			`URL takes neither a client that is described by a document nor new clients`},
		{"says why a registration is refused", func(s *server) {
			s.handle["/register"] = body(400, "application/json", `{"error":"invalid_redirect_uri","error_description":"no\nloopback"}`)
		}, nil, "",
			`URL/register registers us not: invalid_redirect_uri (no loopback)`},
		{"says what a registration is answered with", func(s *server) { s.handle["/register"] = body(403, "text/html", `<html>secret`) }, nil, "",
			`URL/register registers us not: it answered 403 with a web page`},
		{"says that a registration gives no id", func(s *server) { s.handle["/register"] = body(201, "application/json", `{"client_secret":"x"}`) }, nil, "",
			`URL/register registers us without a client_id`},
		{"says that the person refused", func(s *server) {
			s.redirect = func(v url.Values) {
				v.Del("code")
				v.Set("error", "access_denied")
				v.Set("error_description", "not today")
			}
		}, nil, "", `URL: access_denied (not today)`},
		{"refuses the answer of another issuer", func(s *server) { s.redirect = func(v url.Values) { v.Set("iss", "https://evil.example") } }, nil, "",
			`the answer is from "https://evil.example", not from "URL"`},
		{"refuses an answer without the issuer it promises", func(s *server) { s.meta["authorization_response_iss_parameter_supported"] = true }, nil, "",
			`the answer does not say that it is from "URL", as that server promises`},
		{"refuses an answer without a code", func(s *server) { s.redirect = func(v url.Values) { v.Del("code") } }, nil, "", `the answer holds no code`},
		{"says why the code is refused", func(s *server) { s.redirect = func(v url.Values) { v.Set("code", "another") } }, nil, "",
			`get a token: URL/token invalid_grant`},
		{"waits no longer than it says", func(s *server) { s.redirect = func(v url.Values) { v.Set("state", "another") } }, nil, "",
			`nobody came back from the browser in 300ms`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, test.set)
			o := s.source(t, t.TempDir(), func(o *Options) {
				if test.opt != nil {
					test.opt(s, o)
				}
			})
			wait := 10 * time.Second
			if strings.Contains(test.err, "300ms") {
				wait = 300 * time.Millisecond
			}
			err := o.Login(t.Context(), LoginOptions{Show: func(string) {}, Open: browse(t), wait: wait})
			got := ""
			if err != nil {
				got = strings.ReplaceAll(err.Error(), s.URL, "URL")
			}
			if got != test.err {
				t.Fatalf("Login: got error\n%q, want\n%q", got, test.err)
			}
			if seen := strings.Join(s.seen, "\n"); !strings.Contains(seen, test.want) {
				t.Errorf("the server has seen\n%s\nwant %q among it", seen, test.want)
			}
			if test.err != "" {
				return
			}
			if status, err := s.use(t, s.source(t, o.Store.dir, func(opt *Options) { *opt = o.Options })); status != 200 || err != nil {
				t.Errorf("a call after the login: got %d, %v", status, err)
			}
		})
	}
}

// A client is registered once for an issuer, as long as it works.
func TestRegistrationIsKept(t *testing.T) {
	s := newServer(t, func(s *server) { s.strict = true })
	dir := t.TempDir()
	for range 3 {
		if err := s.logIn(t, s.source(t, dir, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if s.registered != 1 {
		t.Errorf("three logins: got %d registrations, want 1", s.registered)
	}
	s.change(func() { clear(s.clients) }) // the server has forgotten it, and shows a page that brings nobody back
	o := s.source(t, dir, nil)
	if err := o.Login(t.Context(), LoginOptions{Show: func(string) {}, Open: browse(t), wait: 200 * time.Millisecond}); err == nil {
		t.Fatal("a login with a forgotten client succeeded")
	}
	if err := s.logIn(t, o); err != nil || s.registered != 2 {
		t.Errorf("the login after it: got %v and %d registrations, want a second one", err, s.registered)
	}
}

// Whose port is taken by somebody else registers anew, as a strict server
// compares it.
func TestRegistrationFollowsThePort(t *testing.T) {
	s := newServer(t, func(s *server) { s.strict = true })
	o := s.source(t, t.TempDir(), nil)
	if err := s.logIn(t, o); err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(o.Store.client(s.URL).Redirect)
	taken, err := net.Listen("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if err := s.logIn(t, o); err != nil || s.registered != 2 {
		t.Errorf("a login with the port taken: got %v and %d registrations, want a second one", err, s.registered)
	}
}

// Where no browser can come back, the person brings what it has ended at.
func TestPaste(t *testing.T) {
	s := newServer(t, nil)
	in, out := io.Pipe()
	var wrong []string
	show := func(to string) {
		go func() {
			stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			resp, err := stay.Get(to)
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			fmt.Fprintf(out, "\nwhat?\nhttp://127.0.0.1:1/callback?code=x&state=other\n  %s\n", resp.Header.Get("Location"))
		}()
	}
	o := s.source(t, t.TempDir(), nil)
	err := o.Login(t.Context(), LoginOptions{Show: show, Pasted: in, Wrong: func(why string) { wrong = append(wrong, why) }, wait: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(wrong) != 2 || !strings.HasPrefix(wrong[0], "that is not the URL") || wrong[1] != "that URL is of another login" {
		t.Errorf("got %q about the wrong lines", wrong)
	}
}

// A refusal for want of a scope names it, and the next login asks for it.
func TestStepUp(t *testing.T) {
	s := newServer(t, func(s *server) { s.challenge = `Bearer scope="read"` })
	o := s.source(t, t.TempDir(), nil)
	if err := s.logIn(t, o); err != nil {
		t.Fatal(err)
	}
	s.change(func() { s.scope = "admin" })
	if status, err := s.use(t, o); status != 403 || err != nil {
		t.Fatalf("a call that wants another scope: got %d, %v", status, err)
	}
	if !o.Want(t.Context(), "admin") || !o.Want(t.Context(), "admin") {
		t.Error("it was not noted")
	}
	if s.refreshes != 0 {
		t.Errorf("%d refreshes for want of a scope", s.refreshes)
	}
	if err := s.logIn(t, s.source(t, o.Store.dir, nil)); err != nil {
		t.Fatal(err)
	}
	again := s.source(t, o.Store.dir, nil)
	if status, err := s.use(t, again); status != 200 || err != nil {
		t.Errorf("a call after the login: got %d, %v", status, err)
	}
	if p, _ := again.current(); strings.Join(p.Scopes, " ") != "read admin" {
		t.Errorf("the scopes after the login: got %q", p.Scopes)
	}
}

// Logout forgets the permit and has the server end it.
func TestLogout(t *testing.T) {
	for name, set := range map[string]func(*server){
		"revokes":                 nil,
		"forgets without a place": func(s *server) { s.meta["revocation_endpoint"] = nil },
		"forgets when the server is ill": func(s *server) {
			s.handle["/revoke"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, set)
			o := s.source(t, t.TempDir(), nil)
			if err := s.logIn(t, o); err != nil {
				t.Fatal(err)
			}
			found, told, err := s.source(t, o.Store.dir, nil).Logout(t.Context())
			if !found || err != nil || (told != nil) != (name == "forgets when the server is ill") {
				t.Errorf("Logout: got %v, %v, %v", found, told, err)
			}
			if want := map[bool]int{true: 1}[name == "revokes"]; s.revoked != want {
				t.Errorf("%d grants revoked, want %d", s.revoked, want)
			}
			if st, err := o.Status(); st.State != "none" || err != nil {
				t.Errorf("the state afterwards: got %q, %v", st.State, err)
			}
			if found, _, _ := o.Logout(t.Context()); found {
				t.Error("a second logout found something")
			}
		})
	}
}

// Only the redirect of this login is taken, and once.
func TestDesk(t *testing.T) {
	d := newDesk("right")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := d.open(l)
	defer stop()
	go func() {
		if v, err := d.wait(context.Background()); err == nil {
			v.reply <- "<done>"
		}
	}()
	for _, test := range []struct {
		method, path string
		status       int
		text         string
	}{
		{"GET", "/", 404, "There is nothing here."},
		{"GET", "/callback?code=x&state=wrong", 400, "This is not the login that is under way."},
		{"GET", "/callback", 400, "This is not the login that is under way."},
		{"POST", "/callback?code=x&state=right", 404, "There is nothing here."},
		{"GET", "/callback?code=x&state=right", 200, "&lt;done&gt;"},
		{"GET", "/callback?code=x&state=right", 410, "This login is over."},
	} {
		req, _ := http.NewRequest(test.method, "http://"+l.Addr().String()+test.path, nil)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != test.status || !strings.Contains(string(text), test.text) {
			t.Errorf("%s %s: got %d %q, want %d %q", test.method, test.path, resp.StatusCode, text, test.status, test.text)
		}
	}
}
