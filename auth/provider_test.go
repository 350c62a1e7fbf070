package auth

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// A provider is an OpenID provider that others have written, with a page to log
// in at, in front of an upstream that asks it about each token.
type provider struct {
	*storage.Storage
	url      string // of the upstream
	lifetime time.Duration
	renewals atomic.Int32
	replays  atomic.Int32 // refresh tokens that it does not know, or no more
}

// CreateAccessAndRefreshTokens has access tokens end early.
func (p *provider) CreateAccessAndRefreshTokens(ctx context.Context, r op.TokenRequest, current string) (access, refresh string, end time.Time, err error) {
	if access, refresh, end, err = p.Storage.CreateAccessAndRefreshTokens(ctx, r, current); current != "" {
		p.renewals.Add(1)
	}
	return access, refresh, time.Now().Add(p.lifetime), err
}

// TokenRequestByRefreshToken counts what comes twice.
func (p *provider) TokenRequestByRefreshToken(ctx context.Context, token string) (op.RefreshTokenRequest, error) {
	r, err := p.Storage.TokenRequestByRefreshToken(ctx, token)
	if err != nil {
		p.replays.Add(1)
	}
	return r, err
}

const (
	providerClient   = "mcp-facade"
	providerPassword = "verysecure" // of the user that the provider comes with
)

func newProvider(t *testing.T, lifetime time.Duration) *provider {
	t.Helper()
	p := &provider{lifetime: lifetime}
	var issuer http.Handler
	as := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { issuer.ServeHTTP(w, r) }))
	t.Cleanup(as.Close)
	storage.RegisterClients(storage.NativeClient(providerClient, "http://127.0.0.1/callback"))
	p.Storage = storage.NewStorage(storage.NewUserStore(as.URL))
	issuer = exampleop.SetupServer(as.URL, p, slog.New(slog.DiscardHandler), false)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
			answerJSON(w, 200, map[string]any{"resource": p.url, "authorization_servers": []string{as.URL}})
			return
		}
		if !known(as.URL, r.Header.Get("Authorization")) {
			w.WriteHeader(401)
		}
	}))
	t.Cleanup(upstream.Close)
	p.url = upstream.URL + "/mcp"
	return p
}

// known asks a provider whether a token is good.
func known(issuer, authorization string) bool {
	req, _ := http.NewRequest("GET", issuer+"/userinfo", nil)
	req.Header.Set("Authorization", authorization)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == 200
}

func (p *provider) source(dir string) *OAuth {
	return NewOAuth(Options{
		Server: "acme", Upstream: p.url, ClientID: providerClient, Scopes: []string{"openid", "offline_access"}, Store: testStore(dir),
	})
}

// fillIn logs in at the provider's page, as a browser does.
func fillIn(t *testing.T) func(string) error {
	jar, _ := cookiejar.New(nil)
	c := &http.Client{Jar: jar}
	page := func(resp *http.Response, err error) string {
		if err != nil {
			t.Error(err)
			return ""
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return string(text)
	}
	return func(to string) error {
		go func() {
			form := page(c.Get(to))
			id := regexp.MustCompile(`name="id" value="([^"]*)"`).FindStringSubmatch(form)
			if id == nil {
				t.Errorf("the page has no form:\n%s", form)
				return
			}
			u, _ := url.Parse(to)
			end := page(c.PostForm("http://"+u.Host+"/login/username", url.Values{
				"id": {id[1]}, "username": {"test-user@127.0.0.1"}, "password": {providerPassword},
			}))
			if !strings.Contains(end, "You are logged in to acme.") {
				t.Errorf("the browser has ended at:\n%s", end)
			}
		}()
		return nil
	}
}

// A login, calls, refreshes and a logout with a provider that others have
// written.
func TestProvider(t *testing.T) {
	p := newProvider(t, time.Hour)
	o := p.source(t.TempDir())
	if err := o.Login(t.Context(), LoginOptions{Show: func(string) {}, Open: fillIn(t), wait: 20 * time.Second}); err != nil {
		t.Fatal(err)
	}
	s := &server{}
	for n := range 3 {
		next := p.source(o.Store.dir)
		if status, err := s.use(t, next); status != 200 || err != nil {
			t.Fatalf("call %d: got %d, %v", n, status, err)
		}
		old, _ := next.Token(t.Context())
		if err := next.Refresh(t.Context(), old, nil); err != nil {
			t.Fatalf("refresh %d: %v", n, err)
		}
	}
	if p.renewals.Load() != 3 || p.replays.Load() != 0 {
		t.Errorf("got %d refreshes and %d replays, want 3 and none", p.renewals.Load(), p.replays.Load())
	}
	thief := p.source(t.TempDir())
	stolen, _ := o.Store.permit(o.key, providerClient)
	if err := thief.Store.save(stolen); err != nil {
		t.Fatal(err)
	}
	if found, told, err := p.source(o.Store.dir).Logout(t.Context()); !found || told != nil || err != nil {
		t.Errorf("Logout: got %v, %v, %v", found, told, err)
	}
	if status, err := s.use(t, thief); status != 401 || !errors.Is(err, ErrLogin) {
		t.Errorf("a copy of the permit after the logout: got %d, %v", status, err)
	}
}

// Several processes share a login at that provider.
func TestProviderManyProcesses(t *testing.T) {
	p := newProvider(t, 2*time.Second)
	o := p.source(t.TempDir())
	if err := o.Login(t.Context(), LoginOptions{Show: func(string) {}, Open: fillIn(t), wait: 20 * time.Second}); err != nil {
		t.Fatal(err)
	}
	var finish []func() string
	for range 4 {
		j := job{Upstream: p.url, Dir: o.Store.dir, Client: providerClient, Calls: 25, Pause: 100 * time.Millisecond}
		finish = append(finish, j.start(t))
	}
	for _, f := range finish {
		if said := f(); strings.Contains(said, "call ") {
			t.Error(said)
		}
	}
	if p.replays.Load() != 0 || p.renewals.Load() < 2 {
		t.Errorf("got %d replays and %d refreshes, want none and some", p.replays.Load(), p.renewals.Load())
	}
}

// A person logs in with a browser: Chromium, which .ci/run installs.
func TestBrowser(t *testing.T) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	p := newProvider(t, time.Hour)
	o := p.source(t.TempDir())
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	defer stop()
	ctx, end := chromedp.NewContext(ctx)
	defer end()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	seen := make(chan string, 1)
	click := func(to string) error {
		go func() {
			err := chromedp.Do(ctx,
				chromedp.Navigate(to),
				chromedp.SendKeys("#username", "test-user@127.0.0.1"),
				chromedp.SendKeys("#password", providerPassword),
				chromedp.Click("button"),
			)
			text := ""
			if err == nil {
				text, err = chromedp.Run(ctx, chromedp.Text("body > p:only-of-type"))
			}
			if err != nil {
				text = err.Error()
			}
			seen <- text
		}()
		return nil
	}
	if err := o.Login(t.Context(), LoginOptions{Show: func(string) {}, Open: click, wait: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if text := <-seen; text != "You are logged in to acme. This window can be closed." {
		t.Errorf("the browser shows %q", text)
	}
	if status, err := (&server{}).use(t, p.source(o.Store.dir)); status != 200 || err != nil {
		t.Errorf("a call: got %d, %v", status, err)
	}
}
