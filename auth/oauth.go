package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// renewWait is how long a refresh may take, other processes' included that
	// we wait for.
	renewWait = 20 * time.Second
	// renewPause is how long a token that is still good is used on after it
	// could not be renewed.
	renewPause = 10 * time.Second
)

// Options say for which upstream an OAuth gets tokens, and how we are known to
// its authorization server.
type Options struct {
	Server   string      // its name in the servers file, for errors
	Upstream string      // its URL
	Headers  http.Header // sent to it beside the token

	ClientID     string                 // "": the one we register; the URL of a document: that, where the server takes it
	ClientSecret func() (Secret, error) // nil: ClientID has none
	TokenURL     string                 // "": as the authorization server says
	AuthStyle    string                 // "basic" or "body"; "": as the authorization server says
	Scopes       []string               // nil: those that the upstream names

	Store *Store
	Roots []byte // certificate authorities beside the system's, in PEM
	Proxy func(*http.Request) (*url.URL, error)
	Agent string // our User-Agent
	Log   *slog.Logger
}

// An OAuth is a source of tokens that an authorization server issues. It takes
// them from the store and renews them there, together with the other processes
// that use it; it never opens a browser and never removes what is kept. Its
// methods may be called concurrently.
type OAuth struct {
	Options
	key  string // Upstream, as the store has it
	web  web
	now  func() time.Time
	luck float64
	turn chan struct{} // holds one during a refresh

	mu      sync.Mutex
	permit  *Permit   // the last one seen; guarded by mu
	unsaved *Permit   // one that could not be kept; guarded by mu
	before  Secret    // the token that the store has in its place; guarded by mu
	rest    time.Time // no token that is good is renewed until then; guarded by mu
	dead    Secret    // a refresh token that has been refused; guarded by mu
	died    error     // how; guarded by mu
}

// NewOAuth makes a source. It reads nothing yet.
func NewOAuth(opt Options) *OAuth {
	key := canonical(opt.Upstream)
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &OAuth{
		Options: opt, key: key, now: time.Now, luck: luck(), turn: make(chan struct{}, 1),
		web: web{upstream: opt.Upstream, agent: opt.Agent, roots: opt.Roots, proxy: opt.Proxy},
	}
}

// canonical is the URL of an upstream as tokens are asked for it: RFC 8707,
// section 2, without a query, which may hold a secret.
func canonical(upstream string) string {
	u, err := url.Parse(upstream)
	if err != nil {
		return upstream
	}
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host) + strings.TrimSuffix(u.EscapedPath(), "/")
}

// ErrLogin is wrapped by errors after which only a login helps.
var ErrLogin = errors.New("needs a login")

// A LoginError says that an upstream needs a login, and why.
type LoginError struct {
	Server string
	Why    string
}

func (e *LoginError) Error() string { return ErrLogin.Error() + ": " + e.Why }

// Unwrap returns ErrLogin.
func (e *LoginError) Unwrap() error { return ErrLogin }

// Hint is what to do next.
func (e *LoginError) Hint() string { return "mcp-facade login " + e.Server }

// Token is the value of the Authorization header; "" before a login, as some
// upstreams answer all the same. A token that is about to end is renewed first;
// if that fails it is used, as the upstream knows best.
func (o *OAuth) Token(ctx context.Context) (string, error) {
	p, err := o.current()
	if err != nil {
		return "", &LoginError{o.Server, err.Error()}
	}
	switch {
	case p == nil && o.byCredentials():
		if err := o.renew(ctx, ""); err != nil {
			return "", err
		}
	case p == nil:
		return "", nil
	case p.isDue(o.now(), o.luck) && p.renewable() && !o.rests():
		if err := o.renew(ctx, p.Access); err != nil {
			o.Log.Debug("token not renewed ahead of its end", "err", err)
			o.pause()
		}
	}
	if p, err = o.current(); p == nil {
		return "", err
	}
	return p.authorization(), nil
}

// Refresh gets another token than old, which the upstream has refused. Its error
// wraps ErrLogin if only a login helps.
func (o *OAuth) Refresh(ctx context.Context, old string, _ *http.Response) error {
	return o.renew(ctx, Secret(Credentials(old)))
}

// current is the permit as it was seen last. While there is none the store is
// looked at each time: a login may have come.
func (o *OAuth) current() (*Permit, error) {
	o.mu.Lock()
	p := o.permit
	o.mu.Unlock()
	if p != nil {
		return p, nil
	}
	return o.load()
}

// load reads the permit from the store. One that could not be kept goes before
// the one it follows.
func (o *OAuth) load() (*Permit, error) {
	p, err := o.Store.permit(o.key, o.ClientID)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.unsaved != nil && (err != nil || p == nil || p.Access == o.before) {
		p, err = o.unsaved, nil
	}
	if err != nil || p == nil {
		return nil, err
	}
	o.permit = p
	return p, nil
}

// keep stores the permit that follows another one. If that fails, this process
// goes on with it. The caller holds the lock of the store.
func (o *OAuth) keep(p *Permit, before Secret) {
	err := o.Store.save(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.permit = p
	switch {
	case err == nil:
		o.unsaved, o.before = nil, ""
	case o.unsaved == nil:
		o.unsaved, o.before = p, before
	default:
		o.unsaved = p
	}
	if err != nil {
		o.Log.Error("a new token could not be kept; other processes will need a login", "err", bare(err))
	}
}

func (o *OAuth) rests() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now().Before(o.rest)
}

func (o *OAuth) pause() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest = o.now().Add(renewPause)
}

// byCredentials reports whether the config says that the client itself is
// allowed in: it has a secret and a place where tokens are, and no person.
func (o *OAuth) byCredentials() bool { return o.ClientSecret != nil && o.TokenURL != "" }

// renew gets another token than old: in this process one at a time, and across
// processes under a lock. Whoever finds that it has been done is done.
func (o *OAuth) renew(ctx context.Context, old Secret) error {
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if p, _ := o.current(); o.serves(p, old) {
		return nil
	}
	unlock, err := o.Store.lock(ctx, o.key, o.ClientID)
	if err != nil {
		return fmt.Errorf("refresh the token: %w", err)
	}
	defer unlock()
	p, err := o.load()
	switch {
	case err != nil:
		return &LoginError{o.Server, err.Error()}
	case o.serves(p, old):
		return nil
	case p == nil && o.byCredentials():
		p = o.first()
	case p == nil:
		return &LoginError{o.Server, "nobody has logged in yet"}
	case !p.renewable():
		return &LoginError{o.Server, "the token has been refused, and there is none to renew it with"}
	}
	return o.exchange(ctx, p)
}

// serves reports whether a permit is what a refresh of old would give.
func (o *OAuth) serves(p *Permit, old Secret) bool {
	return p != nil && p.Access != old && !p.isDue(o.now(), 0)
}

// first stands for the permit of a client that has had no token yet.
func (o *OAuth) first() *Permit {
	return &Permit{
		Upstream: o.key, Account: o.ClientID, Issuer: o.TokenURL, Resource: o.key,
		TokenURL: o.TokenURL, Client: client{ID: o.ClientID, Style: o.AuthStyle}, By: byCredentials, Scopes: o.Scopes, Begun: o.now(),
	}
}

// exchange turns a refresh token into the next pair and keeps that. The server
// takes a refresh token once, so nothing that ends the call may end this: it has
// a time of its own. The caller holds the lock.
func (o *OAuth) exchange(ctx context.Context, p *Permit) error {
	if err := o.refused(p); err != nil {
		return err
	}
	as, err := o.speaker(p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), webWait)
	defer cancel()
	c := o.web.client()
	defer c.CloseIdleConnections()
	a, err := renewed(ctx, c, p, as)
	switch {
	case isRefusal(err, "invalid_grant"):
		return o.lost(p, err)
	case isRefusal(err, "invalid_client") && p.Client.Redirect != "":
		o.Store.forgetClient(p.Issuer) // the next login registers anew
		return &LoginError{o.Server, "the authorization server has forgotten our registration: " + err.Error()}
	case err != nil:
		return fmt.Errorf("refresh the token: %w", err)
	}
	o.keep(p.with(a, o.now()), p.Access)
	return nil
}

// speaker is the client of a permit, with its secret.
func (o *OAuth) speaker(p *Permit) (client, error) {
	if o.ClientID == "" || p.Client.Redirect != "" {
		return p.Client, nil
	}
	as, err := o.configured(nil)
	if o.AuthStyle == "" && p.Client.Style != "" {
		as.Style = p.Client.Style
	}
	return as, err
}

// refused is why a refresh token need not be tried again.
func (o *OAuth) refused(p *Permit) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p.Renewal != "" && p.Renewal == o.dead {
		return o.died
	}
	return nil
}

// lost is what becomes of a refresh token that the server takes no more. If
// another process has stored a new pair meanwhile, that goes on; else the permit
// stays, marked, until somebody logs in. The caller holds the lock.
func (o *OAuth) lost(p *Permit, why error) error {
	if now, err := o.load(); err == nil && now != nil && now.Access != p.Access {
		return nil
	}
	err := &LoginError{o.Server, "the authorization server has ended the login: " + why.Error()}
	o.mu.Lock()
	o.dead, o.died = p.Renewal, err
	o.mu.Unlock()
	marked := *p
	marked.Refused = true
	o.keep(&marked, p.Access)
	return err
}

// Want notes scopes that the upstream misses in the token, separated by spaces, so
// that the next login asks for them (MCP 2025-11-25, basic/authorization, "Step-Up
// Authorization Flow"). It reports whether there is a login that could.
func (o *OAuth) Want(ctx context.Context, scope string) bool {
	scopes := fields(scope)
	if p, _ := o.current(); p == nil || len(union(p.Wanted, scopes)) == len(p.Wanted) {
		return p != nil
	}
	unlock, err := o.Store.lock(ctx, o.key, o.ClientID)
	if err != nil {
		return true
	}
	defer unlock()
	if p, _ := o.load(); p != nil {
		next := *p
		next.Wanted = union(p.Wanted, scopes)
		o.keep(&next, p.Access)
	}
	return true
}

// A Status is what is known of a token without asking anybody.
type Status struct {
	State  string    // "none", "good", "expired" (it is renewed when it is used), "needs login"
	Until  time.Time // of a good one; zero: not known
	Sealed bool      // it is kept sealed with a key of the system's keyring
}

// Status looks into the store.
func (o *OAuth) Status() (Status, error) {
	p, err := o.Store.permit(o.key, o.ClientID)
	if err != nil {
		return Status{State: "needs login"}, err
	}
	if p == nil {
		return Status{State: "none"}, nil
	}
	s := Status{State: "good", Until: p.expires(), Sealed: o.Store.isSealed(p)}
	switch over := p.isOver(o.now()); {
	case over && p.renewable() && !p.Refused:
		s.State = "expired"
	case over || p.Refused:
		s.State = "needs login"
	}
	return s, nil
}
