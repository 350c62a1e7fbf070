package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/tidwall/gjson"
)

// A client is who we are to an authorization server.
type client struct {
	ID       string    `json:"id"`
	Secret   Secret    `json:"-"`                  // "": a public client
	Style    string    `json:"style"`              // how Secret is sent: "basic" or "body"
	Redirect string    `json:"redirect,omitempty"` // of a client that we have registered; "": another one
	Ends     time.Time `json:"ends,omitzero"`      // when Secret does; zero: never
}

// A clientRecord is a client as it is written.
type clientRecord struct {
	client
	Secret string `json:"secret,omitempty"`
}

func (c *client) encode() []byte {
	text, _ := json.Marshal(clientRecord{*c, string(c.Secret)})
	return text
}

// decodeClient gives nil for what is damaged.
func decodeClient(text []byte) *client {
	var r clientRecord
	if err := json.Unmarshal(text, &r); err != nil || r.ID == "" {
		return nil
	}
	c := r.client
	c.Secret = Secret(r.Secret)
	return &c
}

// style is how a secret is sent that nobody has said it of: as the server says
// that it takes it, else by the default of RFC 7591, section 2.
func style(secret Secret, supported []string) string {
	body := slices.Contains(supported, "client_secret_post") && !slices.Contains(supported, "client_secret_basic")
	if secret == "" || body {
		return "body"
	}
	return "basic"
}

// isDocument reports whether a client id is the URL of a document about the
// client (MCP 2025-11-25, basic/authorization, "Client ID Metadata Documents").
func isDocument(id string) bool {
	u, err := url.Parse(id)
	return err == nil && u.Scheme == "https" && u.Host != "" && len(u.Path) > 1
}

// identify is who we are to an issuer: whom the config names, else the client
// that we have registered there for this redirect, else a new one.
func (o *OAuth) identify(ctx context.Context, c *http.Client, i *issuer, redirect string) (as client, reused bool, err error) {
	document := isDocument(o.ClientID)
	switch {
	case o.ClientID != "" && (!document || i.ClientIDMetadataDocumentSupported):
		as, err = o.configured(i.TokenEndpointAuthMethodsSupported)
		return as, false, err
	case i.RegistrationEndpoint == "" && document:
		return as, false, fmt.Errorf("%s takes neither a client that is described by a document nor new clients", place(i.Issuer))
	case i.RegistrationEndpoint == "":
		return as, false, fmt.Errorf("%s registers no new clients: \"oauth\" needs the \"clientId\" of one that is registered by hand", place(i.Issuer))
	}
	if kept := o.Store.client(i.Issuer); kept != nil && kept.Redirect == redirect && (kept.Ends.IsZero() || o.now().Before(kept.Ends)) {
		return *kept, true, nil
	}
	made, err := register(ctx, c, i, redirect)
	if err != nil {
		return as, false, err
	}
	if err := o.Store.saveClient(i.Issuer, made); err != nil {
		return as, false, fmt.Errorf("keep the registration: %w", bare(err))
	}
	return *made, false, nil
}

// configured is the client that the config names.
func (o *OAuth) configured(supported []string) (client, error) {
	as := client{ID: o.ClientID, Style: o.AuthStyle}
	if o.ClientSecret != nil {
		secret, err := o.ClientSecret()
		if err != nil {
			return client{}, err
		}
		as.Secret = secret
	}
	if as.Style == "" {
		as.Style = style(as.Secret, supported)
	}
	return as, nil
}

// register has a server make a client of us: RFC 7591.
func register(ctx context.Context, c *http.Client, i *issuer, redirect string) (*client, error) {
	text, _ := json.Marshal(oauthex.ClientRegistrationMetadata{
		ClientName: "mcp-facade", RedirectURIs: []string{redirect}, ApplicationType: "native",
		GrantTypes: []string{byCode, "refresh_token"}, ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
	})
	p, err := send(ctx, c, http.MethodPost, i.RegistrationEndpoint, "application/json", "", text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place(i.RegistrationEndpoint), err)
	}
	made, err := registered(p)
	if err != nil {
		return nil, fmt.Errorf("%s %w", place(i.RegistrationEndpoint), err)
	}
	made.Redirect = redirect
	return made, nil
}

// registered reads the answer to a registration: RFC 7591, section 3.2.
func registered(p *page) (*client, error) {
	v := gjson.ParseBytes(bytes.TrimSpace(p.body))
	isObject := gjson.ValidBytes(p.body) && v.IsObject()
	switch {
	case isObject && v.Get("error").Exists():
		return nil, fmt.Errorf("registers us not: %w", refusalOf(v))
	case !p.ok() || !isObject:
		return nil, fmt.Errorf("registers us not: it %v", p)
	case v.Get("client_id").String() == "":
		return nil, errors.New("registers us without a client_id")
	}
	made := &client{ID: v.Get("client_id").String(), Secret: Secret(v.Get("client_secret").String())}
	if ends := v.Get("client_secret_expires_at"); made.Secret != "" {
		made.Ends = unixTime(ends.Float())
	}
	switch method := v.Get("token_endpoint_auth_method").Str; method {
	case "none":
		made.Secret, made.Style = "", "body"
	case "client_secret_post":
		made.Style = "body"
	default:
		made.Style = style(made.Secret, fields(method))
	}
	return made, nil
}

// scopesFor are the scopes to ask an issuer for: those of the config, else those
// that the upstream names; those that it had before or has asked for since; and
// the one that brings a refresh token.
func (o *OAuth) scopesFor(i *issuer, before *Permit) []string {
	scopes := o.Scopes
	if scopes == nil {
		scopes = i.scopes
	}
	if before != nil && before.Issuer == i.Issuer {
		scopes = union(scopes, before.Wanted)
		if len(before.Wanted) > 0 {
			scopes = union(scopes, before.Scopes)
		}
	}
	if slices.Contains(i.ScopesSupported, "offline_access") {
		scopes = union(scopes, []string{"offline_access"})
	}
	return scopes
}
