package main

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// An oauthSite is a site that wants a token of its own authorization server,
// where whoever comes is let in at once.
type oauthSite struct {
	*httptest.Server
	site *site

	mu     sync.Mutex
	asked  io.Writer       // paths that are asked for; guarded by mu
	codes  map[string]bool // those that are good; guarded by mu
	access map[string]bool // the same; guarded by mu
	spends map[string]bool // refresh tokens, the same; guarded by mu
}

// startOAuth starts an oauthSite and puts the URL of its upstream into a
// variable:
//
//	oauth NAME -tools FILE -log FILE
//
// and the URL of its authorization server into NAME_AS.
//
// The log has a line for each path that is asked for.
func startOAuth(ts *testscript.TestScript, _ bool, args []string) {
	s := &oauthSite{codes: map[string]bool{}, access: map[string]bool{}, spends: map[string]bool{}}
	s.site = &site{frames: make(chan string, 64), log: io.Discard, fake: fake{name: "fake"}}
	flags := flag.NewFlagSet("oauth", flag.ContinueOnError)
	tools, asked := flags.String("tools", "", ""), flags.String("log", "", "")
	ts.Check(flags.Parse(args[1:]))
	s.site.fake.tools = ts.MkAbs(*tools)
	file, err := os.Create(ts.MkAbs(*asked))
	ts.Check(err)
	s.asked = file
	s.Server = httptest.NewUnstartedServer(s)
	s.Start()
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL+"/mcp")
	ts.Setenv(args[0]+"_AS", s.URL)
}

func (s *oauthSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	io.WriteString(s.asked, r.Method+" "+r.URL.Path+"\n")
	switch r.URL.Path {
	case "/mcp":
		if !s.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")] {
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.mu.Unlock()
		s.site.ServeHTTP(w, r)
		s.mu.Lock()
	case "/.well-known/oauth-protected-resource/mcp":
		says(w, map[string]any{"resource": s.URL + "/mcp", "authorization_servers": []string{s.URL}})
	case "/.well-known/oauth-authorization-server":
		says(w, map[string]any{
			"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token", "registration_endpoint": s.URL + "/register",
			"revocation_endpoint": s.URL + "/revoke", "code_challenge_methods_supported": []string{"S256"},
		})
	case "/register":
		says(w, map[string]any{"client_id": "ours"})
	case "/authorize":
		back, _ := url.Parse(r.FormValue("redirect_uri"))
		code := rand.Text()
		s.codes[code] = true
		back.RawQuery = url.Values{"code": {code}, "state": {r.FormValue("state")}}.Encode()
		http.Redirect(w, r, back.String(), http.StatusFound)
	case "/token":
		s.token(w, r)
	case "/revoke":
		clear(s.access)
		clear(s.spends)
	case "/expire": // is no part of OAuth: every token has ended
		clear(s.access)
	default:
		http.NotFound(w, r)
	}
}

func (s *oauthSite) token(w http.ResponseWriter, r *http.Request) {
	held, name := s.codes, "code"
	if r.FormValue("grant_type") == "refresh_token" {
		held, name = s.spends, "refresh_token"
	}
	good := held[r.FormValue(name)]
	delete(held, r.FormValue(name))
	if !good {
		w.WriteHeader(http.StatusBadRequest)
		says(w, map[string]any{"error": "invalid_grant"})
		return
	}
	access, refresh := "at-"+rand.Text(), "rt-"+rand.Text()
	s.access[access], s.spends[refresh] = true, true
	says(w, map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": 3600})
}

func says(w http.ResponseWriter, doc any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(doc)
}

// browser is xdg-open in scripts: a browser in which the person says yes.
func browser() {
	resp, err := http.Get(os.Args[1])
	fatal(err)
	resp.Body.Close()
}

// paste runs a login without a browser, and pastes what a browser elsewhere has
// ended at: paste COMMAND ARGS…
func paste() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	in, err := cmd.StdinPipe()
	fatal(err)
	said, err := cmd.StderrPipe()
	fatal(err)
	fatal(cmd.Start())
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		fmt.Println(lines.Text())
		if to := strings.TrimSpace(lines.Text()); strings.HasPrefix(to, "http") {
			stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			resp, err := stay.Get(to)
			fatal(err)
			resp.Body.Close()
			fmt.Fprintf(in, "junk\n%s\n", resp.Header.Get("Location"))
		}
	}
	fatal(cmd.Wait())
}
