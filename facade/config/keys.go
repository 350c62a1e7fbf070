package config

import (
	"time"

	"github.com/tailscale/hujson"
)

// A key is one row of the table of keys: its name, its default and how its
// value is read and checked. S is what it is a key of: Server or OAuth.
type key[S any] struct {
	name   string
	preset string                   // the default, as the file would say it; "" when there is none
	read   func(*reader, value, *S) // decodes, checks and stores; leaves a wrong value out
	show   func(*S) any             // what is stored
}

// row makes a key whose value goes to one field.
func row[S, T any](name, preset string, field func(*S) *T, read func(*reader, value) (T, bool)) key[S] {
	return key[S]{
		name:   name,
		preset: preset,
		read: func(r *reader, v value, s *S) {
			if got, ok := read(r, v); ok {
				*field(s) = got
			}
		},
		show: func(s *S) any { return *field(s) },
	}
}

// The table of keys, in four groups. The first two are the fields of
// "upstream", which may stand at the entry's top as well.

// httpKeys go with "url".
var httpKeys = []key[Server]{
	row("url", "", func(s *Server) *string { return &s.Upstream.URL }, webAddress),
	row("headers", "", func(s *Server) *[]Var { return &s.Upstream.Headers }, headers),
	row("transport", "", func(s *Server) *string { return &s.Upstream.Transport }, oneOf("http", "sse")),
	row("caFile", "", func(s *Server) *string { return &s.Upstream.CAFile }, word),
	row("credentialId", "", func(s *Server) *string { return &s.Upstream.CredentialID }, credentialID),
	row("tokenCommand", "", func(s *Server) *[]string { return &s.Upstream.TokenCommand }, tokenCommand),
	row("oauth", "", func(s *Server) **OAuth { return &s.Upstream.OAuth }, oauth),
}

// stdioKeys go with "command".
var stdioKeys = []key[Server]{
	row("command", "", func(s *Server) *string { return &s.Upstream.Command }, word),
	row("args", "", func(s *Server) *[]string { return &s.Upstream.Args }, anyStrings),
	row("cwd", "", func(s *Server) *string { return &s.Upstream.Cwd }, word),
	row("env", "", func(s *Server) *[]Var { return &s.Upstream.Env }, env),
	row("envFrom", "", func(s *Server) *string { return &s.Upstream.EnvFrom }, envFrom),
}

// surfaceKeys shape what the host is shown: they make the fingerprint of a
// rendered surface.
var surfaceKeys = []key[Server]{
	{"used", `"auto"`, readUsed, showUsed},
	row("hide", `[]`, func(s *Server) *[]string { return &s.Hide }, globs),
	row("readOnly", `[]`, func(s *Server) *[]string { return &s.ReadOnly }, globs),
	row("destructive", `[]`, func(s *Server) *[]string { return &s.Destructive }, globs),
	row("surface", `"meta"`, func(s *Server) *string { return &s.Surface }, oneOf("meta", "all")),
	row("names", `"lower"`, func(s *Server) *string { return &s.Names }, oneOf("lower", "keep")),
	row("prefix", `""`, func(s *Server) *string { return &s.Prefix }, prefix),
	row("alwaysLoad", `true`, func(s *Server) *string { return &s.AlwaysLoad }, alwaysLoad),
	row("compact", `"standard"`, func(s *Server) *string { return &s.Compact }, oneOf("standard", "lossless", "tight", "off")),
	row("keep", `[]`, func(s *Server) *[]string { return &s.Keep }, keep),
	row("hint", `""`, func(s *Server) *string { return &s.Hint }, hint),
	row("instructionsLimit", `2000`, func(s *Server) *int { return &s.InstructionsLimit }, count),
	row("surfaceBudget", `2000`, func(s *Server) *int { return &s.SurfaceBudget }, count),
	row("confirm", `"none"`, func(s *Server) *string { return &s.Confirm }, oneOf("none", "destructive", "writes")),
	row("confirmBy", `"elicitation"`, func(s *Server) *string { return &s.ConfirmBy }, oneOf("elicitation", "argument")),
	row("split", `false`, func(s *Server) *bool { return &s.Split }, flag),
}

// callKeys say how we search, call, cache and wait.
var callKeys = []key[Server]{
	row("keywords", "", func(s *Server) *map[string][]string { return &s.Keywords }, keywords),
	row("searchLimit", `3`, func(s *Server) *int { return &s.SearchLimit }, count),
	row("repeatLimit", `3`, func(s *Server) *int { return &s.RepeatLimit }, count),
	row("hints", `true`, func(s *Server) *bool { return &s.Hints }, flag),
	row("ttl", `"168h"`, func(s *Server) *time.Duration { return &s.TTL }, span),
	row("staleOk", `true`, func(s *Server) *bool { return &s.StaleOK }, flag),
	row("startTimeout", `"20s"`, func(s *Server) *time.Duration { return &s.StartTimeout }, span),
	row("callTimeout", `"none"`, func(s *Server) *time.Duration { return &s.CallTimeout }, spanOrNone),
	row("idleTimeout", `"none"`, func(s *Server) *time.Duration { return &s.IdleTimeout }, spanOrNone),
	row("retryResults", `false`, func(s *Server) *bool { return &s.RetryResults }, flag),
	row("ledger", `true`, func(s *Server) *bool { return &s.Ledger }, flag),
	row("drift", `"warn"`, func(s *Server) *string { return &s.Drift }, oneOf("warn", "block")),
}

// oauthKeys are the fields of "oauth".
var oauthKeys = []key[OAuth]{
	row("clientId", "", func(o *OAuth) *string { return &o.ClientID }, word),
	row("clientSecretFrom", "", func(o *OAuth) *string { return &o.ClientSecretFrom }, secretFrom),
	row("tokenUrl", "", func(o *OAuth) *string { return &o.TokenURL }, webAddress),
	row("authStyle", "", func(o *OAuth) *string { return &o.AuthStyle }, oneOf("body", "basic")),
	row("scopes", "", func(o *OAuth) *[]string { return &o.Scopes }, words),
}

// preset stores the defaults of a group.
func preset[S any](keys []key[S], s *S) {
	r := newReader(&parser{}, "", false)
	for _, k := range keys {
		if v, err := hujson.Parse([]byte(k.preset)); err == nil {
			k.read(r, value{v, k.name}, s)
		}
	}
}

// find gives the row of a name, nil when there is none.
func find[S any](name string, groups ...[]key[S]) *key[S] {
	for _, keys := range groups {
		for i := range keys {
			if keys[i].name == name {
				return &keys[i]
			}
		}
	}
	return nil
}

// keyNames gives the names of some groups, in the order of the table.
func keyNames[S any](groups ...[]key[S]) []string {
	var names []string
	for _, keys := range groups {
		for _, k := range keys {
			names = append(names, k.name)
		}
	}
	return names
}
