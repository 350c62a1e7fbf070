package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// Before a login the upstream is asked without a token, and says what it wants.
func TestNoLogin(t *testing.T) {
	s := newServer(t, nil)
	o := s.source(t, t.TempDir(), nil)
	status, err := s.use(t, o)
	if status != 401 || !errors.Is(err, ErrLogin) || err.Error() != "needs a login: nobody has logged in yet" {
		t.Errorf("a call before a login: got %d, %v", status, err)
	}
	if hint := new(LoginError); !errors.As(err, &hint) || hint.Hint() != "mcp-facade login acme" {
		t.Errorf("what to do: got %q", hint.Hint())
	}
	if st, err := o.Status(); st.State != "none" || err != nil {
		t.Errorf("the state: got %q, %v", st.State, err)
	}
	if err := s.logIn(t, s.source(t, o.Store.dir, nil)); err != nil {
		t.Fatal(err)
	}
	if status, err := s.use(t, o); status != 200 || err != nil {
		t.Errorf("a call of the same process after a login elsewhere: got %d, %v", status, err)
	}
}

// A token is renewed ahead of its end, once for all who want it, and the pair
// is kept for the next process.
func TestRenewedAhead(t *testing.T) {
	s := newServer(t, func(s *server) { s.lifetime, s.slow = 10*time.Second, 20*time.Millisecond })
	o := s.source(t, t.TempDir(), nil)
	if err := s.logIn(t, o); err != nil {
		t.Fatal(err)
	}
	o.now = func() time.Time { return time.Now().Add(9 * time.Second) }
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if status, err := s.use(t, o); status != 200 || err != nil {
				t.Errorf("got %d, %v", status, err)
			}
		})
	}
	wg.Wait()
	if s.refreshes != 1 || s.refused != 1 { // one is the login's question
		t.Errorf("20 calls with a token that is due: got %d refreshes and %d refusals, want 1 and 1", s.refreshes, s.refused)
	}
	if status, err := s.use(t, s.source(t, o.Store.dir, nil)); status != 200 || err != nil || s.refreshes != 1 {
		t.Errorf("the next process: got %d, %v and %d refreshes", status, err, s.refreshes)
	}
}

// Many refusals at once make one refresh.
func TestRefusedTogether(t *testing.T) {
	s := newServer(t, func(s *server) { s.slow = 20 * time.Millisecond })
	o := s.source(t, t.TempDir(), nil)
	if err := s.logIn(t, o); err != nil {
		t.Fatal(err)
	}
	s.endTokens()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if status, err := s.use(t, o); status != 200 || err != nil {
				t.Errorf("got %d, %v", status, err)
			}
		})
	}
	wg.Wait()
	if s.refreshes != 1 || s.replays != 0 {
		t.Errorf("20 refusals: got %d refreshes and %d replays, want 1 and 0", s.refreshes, s.replays)
	}
}

// What a refresh can come to. Nothing that fails takes the permit away.
func TestRefreshFails(t *testing.T) {
	for _, test := range []struct {
		name  string
		token http.HandlerFunc
		err   string
		login bool
		state string
	}{
		{"says that the login is over", func(w http.ResponseWriter, r *http.Request) {
			answerJSON(w, 400, map[string]any{"error": "invalid_grant", "error_description": "unknown: " + r.PostForm.Get("refresh_token")})
		}, "needs a login: the authorization server has ended the login: URL/token invalid_grant (unknown: [redacted])", true, "needs login"},
		{"says that the registration is gone", func(w http.ResponseWriter, r *http.Request) {
			answerJSON(w, 401, map[string]any{"error": "invalid_client"})
		},
			"needs a login: the authorization server has forgotten our registration: URL/token invalid_client", true, "expired"},
		{"says that the server is ill", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) },
			"refresh the token: URL/token answered 503 with nothing in it, not with a token", false, "expired"},
		{"says that the server has a page", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("<html>")) },
			"refresh the token: URL/token answered 200 with a web page, not with a token", false, "expired"},
		{"follows no redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/steal", 307) },
			"refresh the token: URL/token answered 307 with nothing in it, not with a token", false, "expired"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, nil)
			o := s.source(t, t.TempDir(), nil)
			if err := s.logIn(t, o); err != nil {
				t.Fatal(err)
			}
			s.endTokens()
			s.change(func() { s.handle["/token"] = test.token })
			_, err := s.use(t, o)
			if err == nil || strings.ReplaceAll(err.Error(), s.URL, "URL") != test.err || errors.Is(err, ErrLogin) != test.login {
				t.Errorf("got  %v\nwant %s", err, test.err)
			}
			next := s.source(t, o.Store.dir, nil)
			next.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
			if st, err := next.Status(); st.State != test.state || err != nil {
				t.Errorf("the state afterwards: got %q, %v, want %q", st.State, err, test.state)
			}
			if strings.Contains(strings.Join(s.seen, "\n"), "steal") {
				t.Error("a refresh token was sent where a redirect says")
			}
			s.change(func() { delete(s.handle, "/token") }) // the server is well again
			if status, err := s.use(t, s.source(t, o.Store.dir, nil)); status != 200 || err != nil {
				t.Errorf("the next process, with a server that takes the token: got %d, %v", status, err)
			}
		})
	}
}

// A refresh token that is refused is not sent again by the same process, until
// somebody has logged in.
func TestRefusedOnce(t *testing.T) {
	s := newServer(t, nil)
	o := s.source(t, t.TempDir(), nil)
	if err := s.logIn(t, o); err != nil {
		t.Fatal(err)
	}
	s.change(func() { clear(s.access); clear(s.refresh) })
	for range 3 {
		if _, err := s.use(t, o); !errors.Is(err, ErrLogin) {
			t.Fatalf("got %v, want a login", err)
		}
	}
	if s.refreshes != 1 {
		t.Errorf("three calls: got %d refreshes, want 1", s.refreshes)
	}
	if err := s.logIn(t, s.source(t, o.Store.dir, nil)); err != nil {
		t.Fatal(err)
	}
	if status, err := s.use(t, o); status != 200 || err != nil {
		t.Errorf("after a login elsewhere: got %d, %v", status, err)
	}
}

// A sibling's newer pair is adopted, also one that it has stored without the
// lock while we were asking.
func TestAdoptsASiblings(t *testing.T) {
	s := newServer(t, nil)
	o := s.source(t, t.TempDir(), nil)
	if err := s.logIn(t, o); err != nil {
		t.Fatal(err)
	}
	sibling := s.source(t, o.Store.dir, nil)
	old, _ := o.Token(t.Context())
	if err := sibling.Refresh(t.Context(), old, nil); err != nil {
		t.Fatal(err)
	}
	if status, err := s.use(t, o); status != 200 || err != nil || s.refreshes != 1 {
		t.Errorf("after a sibling's refresh: got %d, %v and %d refreshes", status, err, s.refreshes)
	}
	stale, _ := o.current()
	win := func(w http.ResponseWriter, r *http.Request) { // the sibling wins meanwhile
		next := *stale
		next.Access, next.Renewal = "at-sibling", "rt-sibling"
		o.Store.save(&next)
		answerJSON(w, 400, map[string]any{"error": "invalid_grant"})
	}
	s.change(func() { s.handle["/token"] = win })
	if err := o.Refresh(t.Context(), stale.authorization(), nil); err != nil {
		t.Errorf("invalid_grant after a sibling's refresh: got %v", err)
	}
	if token, _ := o.Token(t.Context()); token != "Bearer at-sibling" {
		t.Errorf("got the token %q, want the sibling's", token)
	}
}

// A call that is given up does not take the refresh with it: the server has
// spent the old refresh token by then.
func TestRefreshOutlivesItsCall(t *testing.T) {
	s := newServer(t, func(s *server) { s.slow = 100 * time.Millisecond })
	o := s.source(t, t.TempDir(), nil)
	if err := s.logIn(t, o); err != nil {
		t.Fatal(err)
	}
	old, _ := o.Token(t.Context())
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	o.Refresh(ctx, old, nil)
	if status, err := s.use(t, s.source(t, o.Store.dir, nil)); status != 200 || err != nil || s.refreshes != 1 || s.replays != 0 {
		t.Errorf("the next process: got %d, %v, %d refreshes, %d replays", status, err, s.refreshes, s.replays)
	}
}

// A pair that cannot be kept is used on, and kept when that is possible again.
func TestNoRoomToKeep(t *testing.T) {
	s := newServer(t, nil)
	o := s.source(t, t.TempDir(), nil)
	if err := s.logIn(t, o); err != nil {
		t.Fatal(err)
	}
	full := true
	o.Store.step = func(at string) {
		if full && at == "rename" { // the new file goes away under our hands
			entries, _ := os.ReadDir(o.Store.dir)
			for _, e := range entries {
				if strings.HasPrefix(e.Name(), "new-") {
					os.Remove(o.Store.dir + "/" + e.Name())
				}
			}
		}
	}
	for range 3 {
		s.endTokens()
		if status, err := s.use(t, o); status != 200 || err != nil {
			t.Fatalf("got %d, %v", status, err)
		}
	}
	full = false
	s.endTokens()
	if status, err := s.use(t, o); status != 200 || err != nil || s.replays != 0 {
		t.Fatalf("got %d, %v and %d replays", status, err, s.replays)
	}
	if status, err := s.use(t, s.source(t, o.Store.dir, nil)); status != 200 || err != nil {
		t.Errorf("the next process: got %d, %v", status, err)
	}
}

// A client that is allowed in itself needs no login, ever.
func TestClientCredentials(t *testing.T) {
	s := newServer(t, func(s *server) { s.clients["ours"], s.secret = "", "secret" })
	o := s.source(t, t.TempDir(), func(o *Options) {
		o.ClientID, o.TokenURL, o.Scopes = "ours", s.URL+"/token", []string{"read"}
		o.ClientSecret = func() (Secret, error) { return "secret", nil }
	})
	for range 2 {
		if status, err := s.use(t, o); status != 200 || err != nil {
			t.Fatalf("got %d, %v", status, err)
		}
		s.endTokens()
	}
	if text, _ := os.ReadFile(o.Store.permits(o.key, "ours")[0]); strings.Contains(string(text), `"secret"`) {
		t.Error("a secret of the config was stored")
	}
	o.ClientSecret = func() (Secret, error) { return "", errors.New(`clientSecretFrom "env:V": the variable V is not set`) }
	if _, err := s.use(t, o); err == nil || err.Error() != `clientSecretFrom "env:V": the variable V is not set` {
		t.Errorf("without the secret: got %v", err)
	}
}

// An issuer gets no tokens of another one, and a new login counts.
func TestTwoIssuers(t *testing.T) {
	s := newServer(t, nil)
	o := s.source(t, t.TempDir(), nil)
	for n, issuer := range []string{"https://a.example", "https://b.example", "https://a.example"} {
		p := &Permit{Upstream: o.key, Issuer: issuer, TokenURL: issuer + "/token", Access: Secret(fmt.Sprint("at-", n)), Begun: time.Now().Add(time.Duration(n))}
		if err := o.Store.save(p); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := o.Store.permit(o.key, ""); err != nil || p.Issuer != "https://a.example" || p.Access != "at-2" {
		t.Errorf("got %v, %v; want the last login", p, err)
	}
	if n := len(o.Store.permits(o.key, "")); n != 2 {
		t.Errorf("got %d files, want one for each issuer", n)
	}
}

// URLs that lead elsewhere than to the internet are not requested.
func TestWebStaysOutside(t *testing.T) {
	for _, test := range []struct{ upstream, to, err string }{
		{"https://mcp.example/mcp", "https://as.example/token", ""},
		{"https://mcp.example/mcp", "http://as.example/token", "the URL at as.example is not https"},
		{"https://mcp.example/mcp", "https://127.0.0.1/token", "127.0.0.1 is a host of this machine or of a private network, and the server itself is not"},
		{"https://mcp.example/mcp", "https://169.254.169.254/latest", "169.254.169.254 is a host of this machine or of a private network, and the server itself is not"},
		{"https://mcp.example/mcp", "https://user@as.example/", "a URL at as.example has a user or a fragment in it"},
		{"http://mcp.example/mcp", "http://mcp.example/.well-known/x", ""},
		{"http://127.0.0.1:1/mcp", "http://localhost:2/token", ""},
	} {
		u, _ := url.Parse(test.to)
		got := ""
		if err := (&web{upstream: test.upstream}).may(u); err != nil {
			got = err.Error()
		}
		if got != test.err {
			t.Errorf("from %s to %s: got %q, want %q", test.upstream, test.to, got, test.err)
		}
	}
	w := &web{upstream: "https://203.0.113.1/mcp"}
	if err := w.mayDial(t.Context(), "tcp", "10.0.0.1:443", nil); err == nil {
		t.Error("a public name may stand for a private address")
	}
	if err := w.mayDial(t.Context(), "tcp", "8.8.8.8:443", nil); err != nil {
		t.Errorf("a public address: got %v", err)
	}
}

// A browser opens web pages only.
func TestOpenBrowser(t *testing.T) {
	for _, to := range []string{"file:///etc/passwd", "javascript:alert(1)", "--help", "vscode://x", "https:///x", "://"} {
		if err := OpenBrowser(to, []string{"DISPLAY=:0"}); err == nil || err.Error() != "is no URL for a browser" {
			t.Errorf("%s: got %v", to, err)
		}
	}
}
