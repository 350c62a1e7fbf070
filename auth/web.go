package auth

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
	"unicode"
)

const (
	// webWait is how long one request to an authorization server may take.
	webWait = 15 * time.Second
	// webLimit is how much of an answer is read, in bytes.
	webLimit = 1 << 20
	// webHops is how many redirects are followed.
	webHops = 5
	// shownText is how much of a text of a server an error repeats, in bytes.
	shownText = 200
)

// A web reaches the authorization server of an upstream, and only that: URLs
// that the upstream gives us must not lead into the network around us.
type web struct {
	upstream string
	agent    string
	roots    []byte
	proxy    func(*http.Request) (*url.URL, error)
}

// client makes what sends requests. Whoever has it closes its idle connections.
func (w *web) client() *http.Client {
	direct := w.transport()
	direct.DialContext = (&net.Dialer{Timeout: webWait, ControlContext: w.mayDial}).DialContext
	proxied := w.transport()
	proxied.Proxy = w.proxy
	return &http.Client{
		Timeout:       webWait,
		Transport:     &guarded{w, direct, proxied},
		CheckRedirect: follow,
	}
}

func (w *web) transport() *http.Transport {
	t := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	if w.roots != nil {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		pool.AppendCertsFromPEM(w.roots)
		t.TLSClientConfig.RootCAs = pool
	}
	return t
}

// follow goes where a redirect of a GET says. What carries a secret goes nowhere
// else than it was sent.
func follow(req *http.Request, via []*http.Request) error {
	if via[0].Method != http.MethodGet || len(via) > webHops {
		return http.ErrUseLastResponse
	}
	return nil
}

// A guarded sends what may be sent, each redirect anew.
type guarded struct {
	*web
	direct, proxied *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (g *guarded) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.may(req.URL); err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Header.Set("User-Agent", g.agent)
	if g.proxy != nil {
		if proxy, err := g.proxy(req); err != nil {
			return nil, errors.New("the environment's address of the proxy is not a URL")
		} else if proxy != nil {
			return g.proxied.RoundTrip(req)
		}
	}
	return g.direct.RoundTrip(req)
}

// CloseIdleConnections is what http.Client calls.
func (g *guarded) CloseIdleConnections() {
	g.direct.CloseIdleConnections()
	g.proxied.CloseIdleConnections()
}

// may says why a URL must not be requested. The upstream's own origin may.
func (w *web) may(u *url.URL) error {
	own, err := url.Parse(w.upstream)
	if err == nil && u.Scheme == own.Scheme && strings.EqualFold(u.Host, own.Host) && u.User == nil {
		return nil
	}
	_, err = CheckURL(u.String(), w.upstream)
	return err
}

// mayDial says why an address must not be connected to: a public name may be
// that of a host around us. The upstream's own may stand there.
func (w *web) mayDial(ctx context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || isPublic(at.Addr()) {
		return err
	}
	own, err := url.Parse(w.upstream)
	if err == nil && isNear(own.Hostname()) {
		return nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", own.Hostname())
	for _, ip := range ips {
		if err == nil && !isPublic(ip) {
			return nil
		}
	}
	return errors.New("its name stands for a host of this machine or of a private network, and the server itself is not there")
}

// A page is what a server has answered.
type page struct {
	status int
	kind   string // the media type of body
	body   []byte
	header http.Header
}

func (p *page) ok() bool { return p.status/100 == 2 }

// String says what came, for an error.
func (p *page) String() string {
	what := p.kind
	switch {
	case len(bytes.TrimSpace(p.body)) == 0:
		what = "nothing in it"
	case p.kind == "text/html":
		what = "a web page"
	case what == "":
		what = "a text of no kind"
	}
	return fmt.Sprintf("answered %d with %s", p.status, harmless(what))
}

// send sends a request and reads the answer. Its error is about the network and
// holds no URL.
func send(ctx context.Context, c *http.Client, method, to, kind, user string, body []byte) (*page, error) {
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("is no URL")
	}
	req.Header.Set("Accept", "application/json")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if user != "" {
		req.Header.Set("Authorization", user)
	}
	return exchange(c, req)
}

func exchange(c *http.Client, req *http.Request) (*page, error) {
	resp, err := c.Do(req)
	if err != nil {
		if ue := new(url.Error); errors.As(err, &ue) {
			if ue.Timeout() {
				return nil, fmt.Errorf("gave no answer in %v", webWait)
			}
			err = ue.Err
		}
		return nil, err
	}
	defer resp.Body.Close()
	p := &page{status: resp.StatusCode, header: resp.Header}
	p.kind, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if p.body, err = io.ReadAll(io.LimitReader(resp.Body, webLimit)); err != nil {
		return nil, fmt.Errorf("its answer could not be read: %w", err)
	}
	return p, nil
}

// document is the JSON object that is a server's description of itself. Without
// an error and without ok there is none at that place: some servers have a web
// page at every place.
func document[T any](ctx context.Context, c *http.Client, at string) (doc *T, ok bool, err error) {
	p, err := send(ctx, c, http.MethodGet, at, "", "", nil)
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("%s: %w", place(at), err)
	case p.status >= 500:
		return nil, false, fmt.Errorf("%s %v", place(at), p)
	case !p.ok() || p.kind == "text/html":
		return nil, false, nil
	}
	doc = new(T)
	if err := json.Unmarshal(p.body, doc); err != nil {
		return nil, false, fmt.Errorf("%s %v: %s", place(at), p, harmless(strings.TrimPrefix(err.Error(), "json: ")))
	}
	return doc, true, nil
}

// place is a URL for an error, without what may be secret in it.
func place(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "a URL"
	}
	return harmless(u.Scheme + "://" + u.Host + u.Path)
}

// harmless is a text of a server on one line, cut when long, without what moves
// a cursor.
func harmless(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}), " ")
	if len(text) > shownText {
		text = strings.ToValidUTF8(text[:shownText], "") + "…"
	}
	return text
}
