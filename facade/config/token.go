package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// tokenKeys are the keys that say which program gives the token, in the order in
// which they count. They go with "url", whose requests get the token as their
// Authorization, and with "command", whose "env" gets it where "${credentialId}"
// or "${tokenCommand}" stands.
var tokenKeys = [...]string{"credentialId", "tokenCommand"}

// TokenKey is the key of the program that gives the token: "credentialId",
// "tokenCommand", or "" when none does or a header has it. It is the name of the variable by which
// Process is given the token, too.
func (s *Server) TokenKey() string {
	switch {
	case s.Authorized():
	case s.Upstream.CredentialID != "":
		return tokenKeys[0]
	case s.Upstream.TokenCommand != nil:
		return tokenKeys[1]
	}
	return ""
}

// Authorized reports whether a header of the entry is the Authorization of its
// requests: no other source of a token is asked then.
func (s *Server) Authorized() bool {
	return slices.ContainsFunc(s.Upstream.Headers, func(h Var) bool { return strings.EqualFold(h.Name, "Authorization") })
}

// checkToken wants the token of a process to go into its environment, which
// process lists do not show, and no token to be asked for that there is not.
func (r *reader) checkToken(s *Server) {
	u, own, placed := &s.Upstream, s.TokenKey(), false
	fail := func(key, format string, args ...any) {
		r.errs = append(r.errs, s.Fault(key, fmt.Errorf(format, args...), ""))
	}
	for _, v := range u.Env {
		for _, name := range tokensIn(v.Value) {
			if placed = placed || name == own; name != own {
				fail("env."+v.Name, `${%s} stands for a token, and no %q is asked for one`, name, name)
			}
		}
	}
	for _, t := range s.elsewhere() {
		for _, name := range tokensIn(t.Value) {
			fail(t.Name, `${%s} is a value for "env" only, which is in no list of processes`, name)
		}
	}
	if u.Command != "" && own != "" && !placed {
		fail(own, `its token goes nowhere; want ${%s} as the value of a variable in "env"`, own)
	}
}

// elsewhere are the texts in which placeholders are replaced, but for env, by
// their keys.
func (s *Server) elsewhere() []Var {
	u := &s.Upstream
	all := []Var{{"command", u.Command}, {"cwd", u.Cwd}, {"url", u.URL}, {"caFile", u.CAFile}}
	for i, arg := range u.Args {
		all = append(all, Var{fmt.Sprintf("args[%d]", i), arg})
	}
	for _, h := range u.Headers {
		all = append(all, Var{"headers." + h.Name, h.Value})
	}
	return all
}

// tokensIn are the tokens that a text asks for.
func tokensIn(text string) []string {
	return slices.DeleteFunc(variables(text), func(name string) bool { return !slices.Contains(tokenKeys[:], name) })
}

// unasked names the sources of a token that are not asked, because another one
// is before them.
func (s *Server) unasked(authorized bool) (warnings []string) {
	u, first := &s.Upstream, s.TokenKey()
	why := fmt.Sprintf("is not asked for a token: %q is", first)
	if authorized {
		why, first = `is not asked for a token: there is an Authorization in "headers" or in "url"`, ""
	}
	for _, source := range []struct {
		key string
		set bool
	}{{tokenKeys[0], u.CredentialID != ""}, {tokenKeys[1], u.TokenCommand != nil}, {"oauth", u.OAuth != nil}} {
		if source.set && source.key != first && (authorized || first != "") {
			warnings = append(warnings, s.Fault(source.key, errors.New(why), "").Error())
		}
	}
	return warnings
}

// inline names the values of the entry that look like a token.
func (s *Server) inline() (warnings []string) {
	warn := func(key, why string) {
		warnings = append(warnings, s.Fault(key, errors.New(why), "").Error())
	}
	for _, v := range s.Upstream.Env {
		if isInline(v.Name, v.Value) {
			warn("env."+v.Name, "the token stands in the file; "+fromVariable+`, "${tokenCommand}" from a program`)
		}
	}
	flag := ""
	for i, arg := range s.Upstream.Args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			name, value = flag, arg
		}
		if flag = arg; isInline(name, value) && !strings.HasPrefix(arg, "-") || ok && isInline(name, value) {
			warn(fmt.Sprintf("args[%d]", i), `a token stands there, which process lists show; "env" is not shown`)
		}
	}
	return warnings
}

// isInline reports whether a value is a token that is written out, as far as its
// name or itself says.
func isInline(name, value string) bool {
	_, token, ok := strings.Cut(value, " ")
	if !ok {
		token = value
	}
	if variables(value) != nil || isPublic(token) || strings.Contains(token, "://") {
		return false
	}
	return IsToken(token) && (NamesSecret(name) || HasTokenPrefix(token))
}

// tokenPrefixes are what the tokens of well-known services begin with.
const tokenPrefixes = "sk- pk- rk_ sk_ ghp_ gho_ ghs_ ghu_ github_pat_ glpat- xox AKIA eyJ PMAK- figd_ ntn_ hf_ lin_ dop_v1_ AIza npm_ pat- pplx- tvly- gsk_ sbp_ sntrys_ shpat_ whsec_ xapp- SG. Bearer"

// HasTokenPrefix reports whether a word begins as the tokens of well-known
// services do.
func HasTokenPrefix(word string) bool {
	return slices.ContainsFunc(strings.Fields(tokenPrefixes), func(p string) bool { return strings.HasPrefix(word, p) })
}
