package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"crypto/rand"

	"golang.org/x/oauth2"
)

// loginWait is how long a person has for a login.
const loginWait = 5 * time.Minute

// LoginOptions say how a person takes part in a login.
type LoginOptions struct {
	Port   int                    // of the redirect to this machine; 0: a free one
	Show   func(url string)       // shows the person the URL to open
	Open   func(url string) error // opens it in a browser; nil: the person does
	Pasted io.Reader              // lines, one of which is the URL that the browser has ended at; nil: none comes
	Wrong  func(why string)       // says what is wrong with a line that was pasted
	wait   time.Duration          // 0: loginWait
}

// Login gets a permit with the help of a person, in the place of the one that is
// there, or without one where the client itself is allowed in.
func (o *OAuth) Login(ctx context.Context, opt LoginOptions) error {
	if o.byCredentials() {
		return o.loginAlone(ctx, o.first())
	}
	if opt.wait == 0 {
		opt.wait = loginWait
	}
	ctx, cancel := context.WithTimeout(ctx, opt.wait)
	defer cancel()
	c := o.web.client()
	defer c.CloseIdleConnections()
	i, err := discover(ctx, c, o.Upstream, ask(ctx, c, o.Upstream, o.Headers))
	if err != nil {
		return fmt.Errorf("find its authorization server: %w", err)
	}
	if o.TokenURL != "" {
		i.TokenEndpoint = o.TokenURL
	}
	if !i.has(byCode) && i.has(byCredentials) && o.ClientSecret != nil {
		p := o.first()
		p.Issuer, p.Resource, p.TokenURL, p.RevokeURL = i.Issuer, i.resource, i.TokenEndpoint, i.RevocationEndpoint
		p.Client.Style = i.style(o.AuthStyle)
		p.Scopes = o.scopesFor(i, nil)
		return o.loginAlone(ctx, p)
	}
	return o.loginWith(ctx, c, i, opt)
}

// has reports whether an issuer offers a grant; by default it offers byCode.
func (i *issuer) has(grant string) bool {
	if len(i.GrantTypesSupported) == 0 {
		return grant == byCode
	}
	return slices.Contains(i.GrantTypesSupported, grant)
}

// style is how a secret is sent to an issuer.
func (i *issuer) style(configured string) string {
	if configured != "" {
		return configured
	}
	return style("?", i.TokenEndpointAuthMethodsSupported)
}

// loginAlone gets the first token of a client that is allowed in itself.
func (o *OAuth) loginAlone(ctx context.Context, p *Permit) error {
	unlock, err := o.Store.lock(ctx, o.key, o.ClientID)
	if err != nil {
		return err
	}
	defer unlock()
	return o.exchange(ctx, p)
}

// loginWith lets a person allow it in a browser.
func (o *OAuth) loginWith(ctx context.Context, c *http.Client, i *issuer, opt LoginOptions) error {
	page, err := url.Parse(i.AuthorizationEndpoint)
	if err == nil && page.Host == "" {
		err = errors.New("names no page to log in at")
	}
	if err == nil {
		err = o.web.may(page)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", place(i.Issuer), err)
	}
	listener, err := o.listen(i, opt.Port)
	if err != nil {
		return fmt.Errorf("wait for the browser: %w", err)
	}
	redirect := "http://" + listener.Addr().String() + callbackPath
	as, reused, err := o.identify(ctx, c, i, redirect)
	if err != nil {
		listener.Close()
		return err
	}
	f := &flow{OAuth: o, issuer: i, as: as, redirect: redirect, state: rand.Text(), verifier: oauth2.GenerateVerifier()}
	if f.before, err = o.Store.permit(o.key, o.ClientID); err != nil {
		o.Log.Debug("the old permit cannot be read", "err", err)
	}
	err = f.run(ctx, c, listener, opt)
	if err != nil && reused && !isRefusal(err, "access_denied") {
		o.Store.forgetClient(i.Issuer) // it may be what the server does not know any more
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("nobody came back from the browser in %v", opt.wait)
	}
	return err
}

// listen opens the port that a browser is sent back to. Without a wish it is the
// one that we are registered with, as some servers compare it, or a free one.
func (o *OAuth) listen(i *issuer, port int) (net.Listener, error) {
	if kept := o.Store.client(i.Issuer); port == 0 && kept != nil {
		if u, err := url.Parse(kept.Redirect); err == nil {
			if l, err := net.Listen("tcp", "127.0.0.1:"+u.Port()); err == nil {
				return l, nil
			}
		}
	}
	return net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
}

// A flow is one login by an authorization code.
type flow struct {
	*OAuth
	issuer          *issuer
	as              client
	redirect        string
	state, verifier string
	before          *Permit // the one to be replaced; nil: none
	scopes          []string
}

// run shows the person where to go, waits for what comes back, and turns that
// into a permit. It closes the listener.
func (f *flow) run(ctx context.Context, c *http.Client, listener net.Listener, opt LoginOptions) error {
	desk := newDesk(f.state)
	stop := desk.open(listener)
	defer stop()
	to := f.url()
	opt.Show(to)
	if opt.Open != nil {
		if err := opt.Open(to); err != nil {
			f.Log.Debug("no browser", "err", err)
		}
	}
	if opt.Pasted != nil {
		go desk.paste(opt.Pasted, opt.Wrong) // a read of a terminal cannot be ended
	}
	v, err := desk.wait(ctx)
	if err != nil {
		return err
	}
	err = f.finish(ctx, c, v.query)
	v.reply <- outcome(f.Server, err)
	return err
}

// url is the page of the authorization server, with what it is asked for.
func (f *flow) url() string {
	f.scopes = f.scopesFor(f.issuer, f.before)
	cfg := oauth2.Config{
		ClientID: f.as.ID, RedirectURL: f.redirect, Scopes: f.scopes,
		Endpoint: oauth2.Endpoint{AuthURL: f.issuer.AuthorizationEndpoint},
	}
	return cfg.AuthCodeURL(f.state, oauth2.S256ChallengeOption(f.verifier), oauth2.SetAuthURLParam("resource", f.issuer.resource))
}

// finish checks what the browser has brought, and gets and keeps the tokens.
func (f *flow) finish(ctx context.Context, c *http.Client, q url.Values) error {
	code, err := f.code(q)
	if err != nil {
		return err
	}
	form := url.Values{
		"grant_type": {byCode}, "code": {code}, "redirect_uri": {f.redirect},
		"code_verifier": {f.verifier}, "resource": {f.issuer.resource},
	}
	a, err := request(ctx, c, f.issuer.TokenEndpoint, f.as, form)
	if err != nil {
		return fmt.Errorf("get a token: %w", err)
	}
	now := f.now().Round(0)
	p := &Permit{
		Upstream: f.key, Account: f.ClientID, Issuer: f.issuer.Issuer, Resource: f.issuer.resource,
		TokenURL: f.issuer.TokenEndpoint, RevokeURL: f.issuer.RevocationEndpoint, Client: f.as, By: byCode,
		Scopes: f.scopes, Begun: now,
	}
	if f.ClientID != "" && f.as.Redirect == "" {
		p.Client.Secret = "" // is asked for where it is
	}
	return f.adopt(ctx, p.with(a, now))
}

// code is the authorization code that a browser has brought: from the issuer
// that we have sent it to (RFC 9207).
func (f *flow) code(q url.Values) (string, error) {
	iss := q.Get("iss")
	switch {
	case iss != "" && iss != f.issuer.Issuer:
		return "", fmt.Errorf("the answer is from %q, not from %q", harmless(iss), harmless(f.issuer.Issuer))
	case iss == "" && f.issuer.AuthorizationResponseIssParameterSupported:
		return "", fmt.Errorf("the answer does not say that it is from %q, as that server promises", harmless(f.issuer.Issuer))
	case q.Get("error") != "":
		return "", fmt.Errorf("%s: %w", place(f.issuer.Issuer), &refusal{harmless(q.Get("error")), harmless(q.Get("error_description"))})
	case q.Get("code") == "":
		return "", errors.New("the answer holds no code")
	}
	return q.Get("code"), nil
}

// adopt keeps the permit of a login, in the place of all there were.
func (o *OAuth) adopt(ctx context.Context, p *Permit) error {
	unlock, err := o.Store.lock(ctx, o.key, o.ClientID)
	if err != nil {
		return err
	}
	defer unlock()
	if err := o.Store.save(p); err != nil {
		return fmt.Errorf("keep the token: %w", bare(err))
	}
	o.mu.Lock()
	o.permit, o.unsaved = p, nil
	o.mu.Unlock()
	return nil
}

// Logout forgets the permit, and tells the authorization server where that takes
// it. told is why that failed; the permit is forgotten all the same. Without a
// permit none is forgotten, and found is false.
func (o *OAuth) Logout(ctx context.Context) (found bool, told, err error) {
	unlock, err := o.Store.lock(ctx, o.key, o.ClientID)
	if err != nil {
		return false, nil, err
	}
	defer unlock()
	for {
		p, err := o.Store.permit(o.key, o.ClientID)
		if err != nil {
			return found, told, o.Store.forgetAll(o.key, o.ClientID) // what cannot be read cannot be revoked
		}
		if p == nil {
			return found, told, nil
		}
		found = true
		told = errors.Join(told, o.tell(ctx, p))
		if err := o.Store.forget(p); err != nil {
			return found, told, fmt.Errorf("forget the token: %w", bare(err))
		}
	}
}

// tell has the server revoke a permit, if it does such a thing.
func (o *OAuth) tell(ctx context.Context, p *Permit) error {
	if p.RevokeURL == "" {
		return nil
	}
	as, err := o.speaker(p)
	if err != nil {
		return err
	}
	c := o.web.client()
	defer c.CloseIdleConnections()
	return revoke(ctx, c, p, as)
}

// outcome is what the browser is shown at the end.
func outcome(server string, err error) string {
	if err != nil {
		return "The login to " + server + " has failed. The terminal says why."
	}
	return "You are logged in to " + server + ". This window can be closed."
}

// pastedQuery is what the URL says that a browser has ended at; the part from
// its question mark on will do.
func pastedQuery(line string) (url.Values, error) {
	line = strings.Trim(strings.TrimSpace(line), `"'<>`)
	if _, after, ok := strings.Cut(line, "?"); ok {
		line = after
	}
	line, _, _ = strings.Cut(line, "#")
	q, err := url.ParseQuery(line)
	if err != nil || !q.Has("state") {
		return nil, errors.New("that is not the URL which the browser has ended at: it begins with http://127.0.0.1 and holds state=")
	}
	return q, nil
}
