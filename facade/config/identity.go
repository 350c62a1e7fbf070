package config

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Identity gives the canonical text of what decides which upstream this is:
// the name, and all that says how to reach it. In url, command, args, cwd and
// env a placeholder counts by the value of its variable; in headers and auth by
// its name; envFrom and credentials count by their names. So a new token is the
// same upstream, and another URL is not.
//
// The text holds what the entry holds, secrets among it: the caller keeps an
// HMAC of it, and nothing else.
func (s *Server) Identity(environ []string) []byte {
	d := identity{vars: newEnvironment(environ, windows)}
	u := &s.Upstream
	d.line("server", s.Name)
	d.expanded("url", u.URL)
	d.line("transport", u.Transport, u.CAFile)
	for _, h := range sorted(u.Headers, strings.ToLower) {
		d.line("header", strings.ToLower(h.Name), h.Value)
	}
	d.path("command", u.Command)
	for _, arg := range u.Args {
		d.expanded("arg", arg)
	}
	d.path("cwd", u.Cwd)
	for _, v := range sorted(u.Env, d.vars.key) {
		d.expanded("env", v.Value, d.vars.key(v.Name))
	}
	d.line("envFrom", u.EnvFrom)
	d.line("credentialId", u.CredentialID)
	d.line("tokenCommand", u.TokenCommand...)
	if o := u.OAuth; o != nil {
		d.line("oauth", o.ClientID, o.ClientSecretFrom, o.TokenURL, o.AuthStyle)
		d.line("scopes", o.Scopes...)
	}
	return d.text
}

// sorted gives the variables in the order of their names, so that the order in
// the file does not matter.
func sorted(vars []Var, fold func(string) string) []Var {
	return slices.SortedStableFunc(slices.Values(vars), func(a, b Var) int {
		return cmp.Compare(fold(a.Name), fold(b.Name))
	})
}

// An identity is text of lines: a word, then values in Go's quotes, which give
// every byte string another form.
type identity struct {
	vars *environment
	text []byte
}

func (d *identity) line(word string, values ...string) {
	d.text = append(d.text, word...)
	for _, v := range values {
		d.text = strconv.AppendQuote(append(d.text, ' '), v)
	}
	d.text = append(d.text, '\n')
}

// expanded adds a line with the names given, then what a text stands for. A
// variable that is not set is said to be so, because it is not an empty one.
func (d *identity) expanded(word, text string, names ...string) {
	var b strings.Builder
	for _, p := range pieces(text) {
		value, problem, _ := p.value(d.vars)
		b.WriteString(value)
		if problem != "" {
			word += " unset " + strconv.Quote(p.raw)
		}
	}
	d.line(word, append(names, b.String())...)
}

// path is expanded for a text that may begin at the home directory.
func (d *identity) path(word, text string) {
	rest, ok := splitHome(text, d.vars.fold)
	if !ok {
		d.expanded(word, text)
		return
	}
	dir, _, ok := d.vars.home()
	if !ok {
		word += " homeless"
	}
	d.expanded(word, rest, dir)
}

// Fingerprint gives the canonical text of every key that shapes what the host
// is shown, for keying surfaces that are kept. Another order of "used" is
// another surface.
func (s *Server) Fingerprint() []byte {
	var text []byte
	for _, k := range surfaceKeys {
		value, err := json.Marshal(k.show(s))
		if err != nil {
			value = []byte(err.Error()) // cannot be: the table has strings, lists, numbers and flags
		}
		text = append(append(append(text, k.name...), ' '), value...)
		text = append(text, '\n')
	}
	return text
}
