package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
)

// A Remote is where an HTTP upstream is, and what goes with its requests.
// Nothing in it is left to be replaced.
type Remote struct {
	URL           string   // without user and password, which are in Authorization
	Headers       []Var    // in the order of the file, without Authorization
	Authorization string   // the value of that header; "" sends none
	CAFile        string   // "" is none
	Variables     []string // that the headers are made of
	Secrets       []string
	Warnings      []string
}

// Remote replaces the placeholders of the entry by what they stand for in
// environ, our own environment as "K=V". A "~/" before caFile is the home
// directory; a relative path begins where the servers file is, as the current
// directory is a stranger's. The error joins an *Error for each thing that
// cannot be replaced or sent.
func (s *Server) Remote(environ []string) (Remote, error) {
	x := s.expansion(environ, windows)
	if s.Upstream.URL == "" {
		return Remote{}, s.Fault("url", errors.New(`is not set: a "command" is reached by no requests`), "")
	}
	var r Remote
	x.address(&r)
	for _, h := range s.Upstream.Headers {
		x.header(&r, h)
	}
	r.CAFile = x.path("caFile", s.Upstream.CAFile)
	if r.CAFile != "" && !filepath.IsAbs(r.CAFile) && s.Path != "" {
		r.CAFile = filepath.Join(filepath.Dir(s.Path), r.CAFile)
	}
	if len(x.errs) > 0 {
		return Remote{}, errors.Join(x.errs...)
	}
	x.proxies()
	r.Secrets = x.secrets.list()
	r.Warnings = s.remoteWarnings(&r)
	return r, nil
}

// Origin gives the scheme, the host and the port of the entry's URL, without
// what may be secret in the rest; "" when they are not known in environ.
func (s *Server) Origin(environ []string) string {
	x := s.expansion(environ, windows)
	var r Remote
	if x.address(&r); len(x.errs) > 0 {
		return ""
	}
	u, _ := url.Parse(r.URL)
	return u.Scheme + "://" + u.Host
}

// address takes the URL apart from the user and the password in it, which an
// Authorization says as well (RFC 9110, section 11.7.1; RFC 7617).
func (x *expansion) address(r *Remote) {
	text := x.text("url", x.server.Upstream.URL)
	if len(x.errs) > 0 {
		return
	}
	if why := wrongURL(text); why != "" {
		x.fail("url", why, "")
		return
	}
	u, _ := url.Parse(text)
	x.secrets.url(u, text)
	if user := u.User; user != nil {
		password, _ := user.Password()
		r.Authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password))
		x.secrets.add("authorization", r.Authorization)
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	r.URL = u.String()
}

// wrongURL says why a text is not the URL of an upstream, "" when it is.
func wrongURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return `want a URL that begins with "https://" or "http://" and a host`
	}
	return ""
}

// header adds one header.
func (x *expansion) header(r *Remote, h Var) {
	key := "headers." + h.Name
	value := strings.TrimSpace(x.text(key, h.Value))
	names := variables(h.Value)
	if why := wrongHeaderValue(value); why != "" {
		x.fail(key, why, fmt.Sprintf("correct the value of ${%s}", strings.Join(names, "}, ${")))
	}
	if len(names) > 0 || NamesSecret(h.Name) || IsToken(value) {
		x.secrets.configured(h.Name, value)
	}
	r.Variables = append(r.Variables, names...)
	for _, name := range names {
		part, _ := x.vars.get(name)
		x.secrets.configured(name, strings.TrimSpace(part))
	}
	if !strings.EqualFold(h.Name, "Authorization") {
		r.Headers = append(r.Headers, Var{h.Name, value})
		return
	}
	r.Authorization = value
	if isScheme(value) {
		x.fail(key, "is a scheme without a token", "set the variable that its token comes from")
	}
}

// isScheme reports whether an Authorization has nothing after its scheme.
func isScheme(value string) bool {
	switch strings.ToLower(value) {
	case "bearer", "basic", "token":
		return true
	}
	return false
}

// proxies adds the passwords of the proxies that the environment names.
func (x *expansion) proxies() {
	for _, entry := range x.vars.list {
		if name, value, _ := cutVar(entry); strings.HasSuffix(strings.ToLower(name), "_proxy") {
			x.secrets.passwords(value)
		}
	}
}

// remoteWarnings names what others may read of the entry that should be kept
// from them.
func (s *Server) remoteWarnings(r *Remote) (warnings []string) {
	warn := func(key, why string) {
		warnings = append(warnings, s.Fault(key, errors.New(why), "").Error())
	}
	if isClear(r.URL) && (r.Authorization != "" || len(r.Headers) > 0 || len(r.Secrets) > 0) {
		warn("url", "http:// sends headers and calls unencrypted; want https://")
	}
	switch {
	case !s.urlHolds():
	case s.Path == "":
		warn("url", "a secret in it stands on the command line, which process lists show; "+insteadOf)
	default:
		warn("url", "a secret in it stands in the file; "+fromVariable)
	}
	for _, h := range s.Upstream.Headers {
		switch {
		case !strings.EqualFold(h.Name, "Authorization") && !isInline(h.Name, h.Value), len(h.Value) < minSecret, variables(h.Value) != nil:
		case s.Path == "":
			warn("headers."+h.Name, "the token stands on the command line, which process lists show; "+insteadOf)
		case !strings.EqualFold(h.Name, "Authorization"):
			warn("headers."+h.Name, "the token stands in the file; "+fromVariable)
		default:
			warn("headers."+h.Name, `the token stands in the file; "Bearer ${VARIABLE}" takes it from the environment, "tokenCommand" from a program`)
		}
	}
	return append(warnings, s.unasked(r.Authorization != "")...)
}

// insteadOf is how a secret is kept off the command line.
const insteadOf = "write ${VARIABLE} in its place, which in a shell needs single quotes"

// fromVariable is how a secret is kept out of the servers file.
const fromVariable = `"${VARIABLE}" takes it from the environment`

// urlHolds reports whether there is a secret in the URL as it is written.
func (s *Server) urlHolds() bool {
	found := secrets{}
	if u, err := url.Parse(s.Upstream.URL); err == nil && variables(s.Upstream.URL) == nil {
		found.url(u, s.Upstream.URL)
	}
	return len(found) > 0
}

// isClear reports whether requests to a URL can be read on a network.
func isClear(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		return !ip.Unmap().IsLoopback()
	}
	return host != "localhost" && !strings.HasSuffix(host, ".localhost")
}
