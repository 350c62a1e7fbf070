package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// An issuer is the authorization server of an upstream, as far as we need it.
type issuer struct {
	oauthex.AuthServerMeta
	resource string   // what tokens are asked for: RFC 8707
	scopes   []string // that the upstream wants
}

// A challenge is what an upstream says to a request without a token: RFC 6750,
// section 3, and RFC 9728, section 5.1.
type challenge struct {
	metadata string // where its description is; "" is not said
	scopes   []string
	code     string // "invalid_token", "insufficient_scope" …
}

// challengeOf reads the WWW-Authenticate headers. What is no such header says
// nothing.
func challengeOf(h http.Header) (c challenge) {
	all, _ := oauthex.ParseWWWAuthenticate(h.Values("Www-Authenticate"))
	for _, one := range all {
		if one.Scheme != "bearer" && one.Scheme != "dpop" {
			continue
		}
		if c.metadata == "" {
			c.metadata = one.Params["resource_metadata"]
		}
		if c.code == "" {
			c.code = one.Params["error"]
		}
		if c.scopes == nil {
			c.scopes = fields(one.Params["scope"])
		}
	}
	return c
}

// ask sends the upstream a request without a token, to see what it says. That it
// cannot be reached will show elsewhere.
func ask(ctx context.Context, c *http.Client, upstream string, headers http.Header) challenge {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, upstream, strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"ping"}`))
	if err != nil {
		return challenge{}
	}
	req.Header = headers.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := c.Do(req)
	if err != nil {
		return challenge{}
	}
	resp.Body.Close()
	return challengeOf(resp.Header)
}

// discover finds the authorization server of an upstream (MCP 2025-11-25,
// basic/authorization): by the upstream's description of itself, else, as MCP
// 2025-03-26 had it, at the upstream's own origin.
func discover(ctx context.Context, c *http.Client, upstream string, said challenge) (*issuer, error) {
	about, err := resource(ctx, c, upstream, said.metadata)
	if err != nil {
		return nil, err
	}
	i := &issuer{resource: about.Resource, scopes: said.scopes}
	if len(i.scopes) == 0 {
		i.scopes = about.ScopesSupported
	}
	return i, i.read(ctx, c, about.AuthorizationServers[0])
}

// resource is an upstream's description of itself, or what stands for one.
func resource(ctx context.Context, c *http.Client, upstream, said string) (*oauthex.ProtectedResourceMetadata, error) {
	var failed error
	for _, at := range resourcePlaces(upstream, said) {
		about, ok, err := document[oauthex.ProtectedResourceMetadata](ctx, c, at)
		switch {
		case err != nil:
			failed = errors.Join(failed, err)
		case !ok:
		case !covers(about.Resource, upstream):
			return nil, fmt.Errorf("%s describes %q, which is not this server", place(at), harmless(about.Resource))
		case len(about.AuthorizationServers) == 0:
			return nil, fmt.Errorf("%s names no authorization server", place(at))
		default:
			return about, nil
		}
	}
	if failed != nil {
		return nil, failed
	}
	u, _ := url.Parse(upstream)
	return &oauthex.ProtectedResourceMetadata{Resource: upstream, AuthorizationServers: []string{u.Scheme + "://" + u.Host}}, nil
}

// resourcePlaces are where an upstream may describe itself: where it says, for
// its path, for its origin (RFC 9728, section 3.1).
func resourcePlaces(upstream, said string) []string {
	const known = "/.well-known/oauth-protected-resource"
	u, _ := url.Parse(upstream)
	origin := u.Scheme + "://" + u.Host
	places := []string{said, origin + known + strings.TrimSuffix(u.EscapedPath(), "/"), origin + known}
	return slices.Compact(slices.DeleteFunc(places, func(p string) bool { return p == "" }))
}

// covers reports whether a description is about an upstream: it names its URL,
// or one of the same origin above it. RFC 9728, section 3.3, has the URL alone,
// but many a server describes its whole origin.
func covers(described, upstream string) bool {
	d, err := url.Parse(described)
	u, err2 := url.Parse(upstream)
	if err != nil || err2 != nil || d.Scheme != u.Scheme || !strings.EqualFold(d.Host, u.Host) || d.User != nil {
		return false
	}
	above := strings.TrimSuffix(d.Path, "/")
	rest, ok := strings.CutPrefix(u.Path, above)
	return ok && (rest == "" || rest[0] == '/')
}

// read reads the description of an authorization server: RFC 8414, or OpenID
// Connect Discovery. One without has the places of MCP 2025-03-26.
func (i *issuer) read(ctx context.Context, c *http.Client, name string) error {
	var failed error
	for _, at := range issuerPlaces(name) {
		switch ok, err := i.readAt(ctx, c, name, at); {
		case ok:
			return nil
		case err != nil:
			failed = errors.Join(failed, err)
		}
	}
	if failed != nil {
		return failed
	}
	base := strings.TrimSuffix(name, "/")
	i.AuthServerMeta = oauthex.AuthServerMeta{
		Issuer: name, AuthorizationEndpoint: base + "/authorize", TokenEndpoint: base + "/token", RegistrationEndpoint: base + "/register",
	}
	return nil
}

func (i *issuer) readAt(ctx context.Context, c *http.Client, name, at string) (ok bool, err error) {
	meta, ok, err := document[oauthex.AuthServerMeta](ctx, c, at)
	if !ok {
		return false, err
	}
	i.AuthServerMeta = *meta
	switch {
	case strings.TrimSuffix(meta.Issuer, "/") != strings.TrimSuffix(name, "/"):
		err = fmt.Errorf("%s describes %q, not %q", place(at), harmless(meta.Issuer), harmless(name))
	case meta.TokenEndpoint == "":
		err = fmt.Errorf("%s names no token endpoint", place(at))
	case meta.AuthorizationEndpoint != "" && !slices.Contains(meta.CodeChallengeMethodsSupported, "S256"):
		err = fmt.Errorf("%s: offers no PKCE with S256, without which MCP allows no login", place(at))
	}
	return err == nil, err
}

// issuerPlaces are where an authorization server may describe itself: RFC 8414,
// section 3.1 and 5, and OpenID Connect Discovery, section 4.
func issuerPlaces(name string) []string {
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		return nil
	}
	origin, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	const oauth, openid = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	return slices.Compact([]string{origin + oauth + path, origin + openid + path, origin + path + openid})
}
