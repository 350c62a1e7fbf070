package upstream

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mcp-facade/facade/wire"
)

// A tempo is how long the steps of HTTP last.
type tempo struct {
	order    time.Duration // how long one notification holds up what was sent after it
	linger   time.Duration // how long a stream is read on after its answer
	retry    time.Duration // before a stream that was cut is opened again, first
	longest  time.Duration // and at last
	refusal  time.Duration // how long the text of a refusal may take, or of what else is no answer
	cancel   time.Duration // how long a POST that is cancelled stays until the server has been told
	tell     time.Duration // how long the server may take to take what gets no answer
	endpoint time.Duration // how long an HTTP+SSE server may take to name its endpoint
	step     time.Duration // how long Close lets the server take leave
	hurried  time.Duration // step, once Target.Hurry is closed
}

// usualTempo is the tempo that the package comment promises.
func usualTempo() tempo {
	return tempo{
		order: 10 * time.Second, linger: 2 * time.Second, retry: time.Second, longest: time.Minute,
		refusal: 10 * time.Second, cancel: time.Second, tell: time.Minute, endpoint: 10 * time.Second, step: 2 * time.Second, hurried: 300 * time.Millisecond,
	}
}

// How many POSTs are under way at once. Those of the host's answers and of
// cancellations have places of their own: a call may wait for one. A listen is
// there to stay, so it takes no place.
const (
	maxCalls     = 128
	maxTells     = 64
	listenMethod = "subscriptions/listen"
)

// An httpConn is the Conn to a server by HTTP. Each frame is a POST in a
// goroutine of its own, which ends when the answer has come, or for a
// notification when the server has taken it. One more reads the standalone
// stream (standing.go).
type httpConn struct {
	server    string
	url       *url.URL
	headers   http.Header // that the config adds to every request
	host      string      // the Host header, if the config sets it
	agent     string
	auth      Auth
	remedy    string
	check     string
	schema    func(tool string) []byte
	sse       bool
	inPlace   bool
	hurry     <-chan struct{}
	log       *slog.Logger
	tempo     tempo
	limit     int // bytes of frames that may be under way; a single one may be larger
	largest   int // bytes that an answer may have
	budget    budget
	calls     places
	answers   places
	cancels   places
	transport *http.Transport
	inbox     *inbox
	mask      atomic.Pointer[redactor]

	life     context.Context // of all its requests, which outlive the calls of Send
	end      context.CancelFunc
	listens  context.Context // of the stream that belongs to no request
	hush     context.CancelFunc
	tasks    sync.WaitGroup // its goroutines
	parting  sync.WaitGroup // cancellations that Close waits for
	leaving  func()         // closes it, once
	badText  sync.Once      // warns of text that is not UTF-8
	standing sync.Once      // starts the standalone stream
	probing  chan struct{}  // holds one while it is found out whether the server speaks HTTP+SSE

	mu       sync.Mutex
	secrets  []string           // what mask hides; guarded by mu
	tokens   []string           // what it hides too, of those that Auth has given the last ones; guarded by mu
	flights  map[string]*flight // requests without an answer, by wire.Key; guarded by mu
	flying   int                // how many they are; guarded by mu
	sending  int                // bytes of frames that have not been answered; guarded by mu
	turn     <-chan struct{}    // closed when the next notification may be sent; guarded by mu
	opened   <-chan struct{}    // closed when notifications/initialized has been answered; guarded by mu
	session  string             // Mcp-Session-Id; guarded by mu
	version  string             // the protocol version that initialize has settled; guarded by mu
	endpoint *url.URL           // where frames go; guarded by mu
	moved    bool               // endpoint is one of HTTP+SSE; guarded by mu
	quiet    chan struct{}      // closed while no stream is open that may bring any answer; guarded by mu
	over     error              // why nothing is sent any more; guarded by mu
	ended    bool               // Recv has been told so; guarded by mu
	closed   bool               // Close was called; guarded by mu
}

// dialHTTP makes a connection and sends nothing yet.
func dialHTTP(ctx context.Context, t Target) (*httpConn, error) {
	c, err := newHTTP(ctx, t, usualTempo())
	if err != nil {
		return nil, &Error{Server: t.Server, Op: "start", Err: err}
	}
	return c, nil
}

func newHTTP(ctx context.Context, t Target, pace tempo) (*httpConn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	u, err := parseURL(t.URL)
	if err != nil {
		return nil, err
	}
	user := u.User
	u.User = nil
	c := &httpConn{
		server: t.Server, url: u, endpoint: u, agent: t.Agent, auth: t.Auth, remedy: t.Remedy, check: t.Check, schema: t.Schema, sse: t.SSE,
		inPlace: t.InPlace, hurry: t.Hurry, log: t.Log, tempo: pace, limit: sendLimit, inbox: newInbox(readAhead),
		largest: wire.MaxFrame, budget: newBudget(), calls: make(places, maxCalls), answers: make(places, maxTells), cancels: make(places, maxTells),
		flights: map[string]*flight{}, turn: passed, opened: passed, quiet: passed, probing: make(chan struct{}, 1),
	}
	c.leaving = sync.OnceFunc(c.leave)
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.headers, c.host, err = configured(t.Headers, user); err != nil {
		return nil, err
	}
	c.life, c.end = context.WithCancel(context.WithoutCancel(ctx))
	c.listens, c.hush = context.WithCancel(c.life)
	if c.transport, err = c.newTransport(t); err != nil {
		c.end()
		return nil, err
	}
	c.hide(slices.Concat(t.Secrets, ownSecrets(u, user, c.headers))...)
	return c, nil
}

// passed is a channel that has been closed.
var passed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// parseURL reads the URL of an upstream. Its error does not show it.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errors.New(`its URL is none that begins with "https://" or "http://" and a host`)
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// ownSecrets is what no text of ours may show, beside the target's secrets.
func ownSecrets(u *url.URL, user *url.Userinfo, headers http.Header) []string {
	password, _ := user.Password()
	all := append(querySecrets(u), user.Username(), password) // a user without a password is rather a token
	for _, values := range headers {
		all = append(all, values...)
	}
	for _, cookies := range headers["Cookie"] {
		for cookie := range strings.SplitSeq(cookies, ";") {
			_, value, _ := strings.Cut(cookie, "=")
			all = append(all, strings.TrimSpace(value))
		}
	}
	return all
}

// querySecrets is what no text may show of the query of a URL.
func querySecrets(u *url.URL) []string {
	all := []string{u.RawQuery}
	for name, values := range u.Query() {
		for _, v := range values {
			if len(v) >= minUnnamed || namesSecret(name) {
				all = append(all, v)
			}
		}
	}
	return all
}

// minUnnamed is the length in bytes of the shortest value that is hidden though
// nothing says that it is a secret: a shorter one is rather a word.
const minUnnamed = 8

// namesSecret reports whether the value with a name is a secret.
func namesSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "key", "token", "secret", "pass", "pwd", "pin", "code", "sig", "cred", "session"},
		func(word string) bool { return strings.Contains(name, word) })
}

// hide lets the values be shown nowhere from now on, nor what stands after the
// scheme of an Authorization, or is in that.
func (c *httpConn) hide(values ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range values {
		_, credentials, _ := strings.Cut(v, " ")
		basic, _ := base64.StdEncoding.DecodeString(credentials)
		user, password, _ := strings.Cut(string(basic), ":")
		for _, s := range []string{v, credentials, user, password} {
			if s != "" && !slices.Contains(c.secrets, s) {
				c.secrets = append(c.secrets, s)
			}
		}
	}
	c.remask()
}

// maxTokens is how many tokens are hidden: what an old one was is told by
// nobody for long.
const maxTokens = 32

// hideToken hides what Auth has given.
func (c *httpConn) hideToken(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token == "" || slices.Contains(c.tokens, token) {
		return
	}
	if c.tokens = append(c.tokens, token); len(c.tokens) > maxTokens {
		c.tokens = slices.Delete(c.tokens, 0, 1)
	}
	c.remask()
}

// remask makes the mask of what is to be hidden, and of what stands in it after
// the scheme of an Authorization. The caller holds mu.
func (c *httpConn) remask() {
	var all []string
	for _, s := range slices.Concat(c.secrets, c.tokens) {
		_, credentials, _ := strings.Cut(s, " ")
		all = append(all, s, credentials)
	}
	c.mask.Store(newRedactor(all))
}

// Plain implements Conn.
func (c *httpConn) Plain(text string) string { return c.mask.Load().clean([]byte(text)) }

func (c *httpConn) Recv() (wire.Message, error) { return c.inbox.take() }

// Send starts the POST of one frame.
func (c *httpConn) Send(frame []byte) error {
	m, err := wire.Parse(frame)
	if err != nil {
		return &Error{Server: c.server, Op: "send", Err: err}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	cancels := m.Method == "notifications/cancelled"
	full := c.sending > 0 && c.sending+len(frame) > c.limit
	switch {
	case c.closed:
		return &Error{Server: c.server, Op: "send", Err: ErrClosed}
	case c.ended:
		return &Error{Server: c.server, Op: "send", Err: c.over}
	case full && !cancels && !m.IsResponse(): // what makes room passes
		return &Error{Server: c.server, Op: "send", Err: ErrFull}
	case m.IsRequest():
		c.request(m)
	case cancels:
		c.cancelled(m)
	case m.IsNotification():
		c.notification(m)
	default:
		after := c.opened
		c.tasks.Go(func() { c.respond(m, after) })
	}
	return nil
}

// Close takes leave of the server and cancels what is under way.
func (c *httpConn) Close() error {
	c.leaving()
	return nil
}

// leave lets the notifications go that are queued, ends the session, and with it
// everything. The server has one step of time.
func (c *httpConn) leave() {
	c.mu.Lock()
	c.closed = true
	if c.over == nil {
		c.over = ErrClosed
	}
	turn, parted := c.turn, make(chan struct{})
	c.mu.Unlock()
	c.tasks.Go(func() {
		c.parting.Wait()
		close(parted)
	})
	ctx, cancel := c.step()
	await(ctx, turn)
	await(ctx, parted)
	c.deleteSession(ctx)
	cancel()
	c.end()
	c.inbox.end(&Error{Server: c.server, Op: "run", Err: ErrClosed})
	c.tasks.Wait()
	c.transport.CloseIdleConnections()
}

// step is a context that ends after one step of closing.
func (c *httpConn) step() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(c.life, c.tempo.step)
	if c.hurry == nil {
		return ctx, cancel
	}
	c.tasks.Go(func() {
		select {
		case <-c.hurry:
		case <-ctx.Done():
			return
		}
		sleep(ctx, c.tempo.hurried)
		cancel()
	})
	return ctx, cancel
}

// places bound how many do something at once. The others wait, first come, first
// served.
type places chan struct{}

// take waits for a place, and reports false if one of the contexts ends first.
func (p places) take(ctx, or context.Context) bool {
	select {
	case p <- struct{}{}:
		return true
	case <-ctx.Done():
	case <-or.Done():
	}
	return false
}

func (p places) leave() { <-p }

// await waits until the event has come, and reports false if ctx ends first.
func await(ctx context.Context, event <-chan struct{}) bool {
	select {
	case <-event:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// sleep waits for a time, and reports false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// finish says that nothing is sent any more, and why. Recv ends with it once
// all requests that are under way have been answered, or have failed.
func (c *httpConn) finish(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over == nil {
		c.over = why
	}
	c.hush()
	c.conclude()
}

// conclude ends Recv if there is nothing left to wait for. The caller holds mu.
func (c *httpConn) conclude() {
	if c.over == nil || c.closed || c.ended || c.flying > 0 {
		return
	}
	c.ended = true
	c.inbox.end(&Error{Server: c.server, Op: "run", Err: c.over})
}
