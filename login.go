package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"mcp-facade/auth"
	"mcp-facade/facade/config"
)

// login has a person allow us in, in a browser.
func login(ctx context.Context, e *env, o *options, args []string) error {
	s, source, err := e.oauthNamed(o, args, "login")
	if err != nil {
		return err
	}
	opt := auth.LoginOptions{Port: o.port, Show: func(url string) { e.showLogin(o, s.Name, url) }}
	switch {
	case o.port < 0 || o.port > 65535:
		return usage("--port %d: want 1 to 65535", o.port)
	case o.noBrowser:
		opt.Pasted, opt.Wrong = e.stdin, func(why string) { fmt.Fprintln(e.stderr, "mcp-facade:", why) }
	default:
		opt.Open = func(url string) error { return auth.OpenBrowser(url, e.environ) }
	}
	if err := source.Login(ctx, opt); err != nil {
		return loginError(s, "log in", err)
	}
	status, err := source.Status()
	if err != nil {
		return loginError(s, "log in", err)
	}
	fmt.Fprintf(e.stderr, "Logged in to %s. The login is kept in %s.\n", s.Name, kept(status))
	return nil
}

// showLogin says which page to open.
func (e *env) showLogin(o *options, name, url string) {
	fmt.Fprintf(e.stderr, "To log in to %s, open this page:\n\n  %s\n\n", name, url)
	if o.noBrowser {
		fmt.Fprintln(e.stderr, "Then paste the URL that the browser ends at, even if it shows an error:")
	}
}

// kept says where a token is.
func kept(s auth.Status) string {
	if s.Sealed {
		return "a file that is sealed with a key of the keyring"
	}
	return "a file that only you can read"
}

// logout forgets a login, and tells the authorization server.
func logout(ctx context.Context, e *env, o *options, args []string) error {
	s, source, err := e.oauthNamed(o, args, "logout")
	if err != nil {
		return err
	}
	found, told, err := source.Logout(ctx)
	switch {
	case err != nil:
		return loginError(s, "log out", err)
	case !found:
		fmt.Fprintf(e.stderr, "%s: nobody was logged in\n", s.Name)
	case told != nil:
		fmt.Fprintf(e.stderr, "mcp-facade: %s: warning: the login is forgotten here, but could not be ended at the server: %v\n", s.Name, told)
	}
	return nil
}

// loginError says for which server something failed. The hint is that of the
// error, if it has one.
func loginError(s *config.Server, op string, err error) error {
	return fmt.Errorf("%s: %s: %w", s.Name, op, err)
}

// oauthNamed finds the one server that is named, and the source of its tokens.
func (e *env) oauthNamed(o *options, args []string, command string) (*config.Server, *auth.OAuth, error) {
	if len(args) != 1 {
		return nil, nil, usage("%s takes one server", command)
	}
	file, err := e.file(o)
	if err != nil {
		return nil, nil, err
	}
	s, err := file.Server(args[0])
	if err != nil {
		return nil, nil, err
	}
	if s.Upstream.OAuth == nil {
		return nil, nil, s.Fault("oauth", errors.New("is not set: there is nothing to log in to"), fmt.Sprintf(`add "oauth": true to %s in the servers file`, s.Name))
	}
	*e = *e.inHosts(o)(s)
	source, err := e.oauth(s, e.logger(o, s.Name, slog.LevelWarn))
	return s, source, err
}

// oauth is the source of a server's tokens that an authorization server issues.
func (e *env) oauth(s *config.Server, log *slog.Logger) (*auth.OAuth, error) {
	r, err := s.Remote(e.environ)
	if err != nil {
		return nil, err
	}
	u := s.Upstream.OAuth
	opt := auth.Options{
		Server: s.Name, Upstream: r.URL, Headers: http.Header{},
		ClientID: u.ClientID, TokenURL: u.TokenURL, AuthStyle: u.AuthStyle, Scopes: u.Scopes,
		Store: auth.OpenStore(filepath.Join(e.stateDir, "tokens"), e.environ),
		Proxy: http.ProxyFromEnvironment, Agent: "mcp-facade/" + e.version, Log: log,
	}
	for _, h := range r.Headers {
		opt.Headers.Set(h.Name, h.Value)
	}
	if from := u.ClientSecretFrom; from != "" {
		opt.ClientSecret = func() (auth.Secret, error) { return auth.SecretFrom(from, u.ClientID, e.environ) }
	}
	if r.CAFile != "" {
		if opt.Roots, err = roots(r.CAFile); err != nil {
			return nil, s.Fault("caFile", err, "want a file of certificate authorities in PEM")
		}
	}
	return auth.NewOAuth(opt), nil
}

// A tokenLine is what servers says of a server's token; it is not the token.
type tokenLine struct {
	State string     `json:"state"`           // "none", "good", "expired" (it is renewed when it is used) or "needs login"
	Until *time.Time `json:"until,omitempty"` // when a good one ends; absent: not known
	Store string     `json:"store,omitempty"` // "keyring" or "file"; absent: there is none
}

// tokenLine is what is known of a server's token without asking anybody; nil
// without "oauth".
func (e *env) tokenLine(s *config.Server) *tokenLine {
	if s.Upstream.OAuth == nil {
		return nil
	}
	source, err := e.oauth(s, nil)
	if err != nil {
		return nil // whatever is wrong with the entry is said of the dial
	}
	status, err := source.Status()
	l := &tokenLine{State: status.State}
	switch {
	case err != nil, status.State == "none":
	case status.Sealed:
		l.Store = "keyring"
	default:
		l.Store = "file"
	}
	if status.State == "good" && !status.Until.IsZero() {
		l.Until = &status.Until
	}
	return l
}

// String is a token's state as servers prints it.
func (l *tokenLine) String() string {
	where := map[string]string{"keyring": " (kept with the keyring)", "file": " (kept in a file)"}[l.Store]
	switch {
	case l.State == "none":
		return "not logged in"
	case l.State == "expired":
		return "token expired, renewed at its next use" + where
	case l.State == "needs login":
		return "needs a login" + where
	case l.Until != nil && time.Until(*l.Until) < 12*time.Hour:
		return "token good until " + l.Until.Local().Format(time.TimeOnly) + where
	case l.Until != nil:
		return "token good until " + l.Until.Local().Format(time.DateTime) + where
	}
	return "token good" + where
}
