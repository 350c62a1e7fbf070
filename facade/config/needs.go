package config

import (
	"slices"
	"strings"
)

// Needs gives the variables without which the entry cannot be dialled and that
// environ, as "K=V", does not set: their names, each once, in the order of the
// entry.
func (s *Server) Needs(environ []string) (names []string) {
	vars := newEnvironment(environ, windows)
	for _, t := range append(s.elsewhere(), s.Upstream.Env...) {
		for _, p := range pieces(t.Value) {
			_, problem, _ := p.value(vars)
			if problem != "" && p.wrong == "" && !slices.Contains(tokenKeys[:], p.variable) && !slices.Contains(names, p.variable) {
				names = append(names, p.variable)
			}
		}
	}
	return names
}

// SetAtLogin reports whether a variable is one that is set wherever a person is
// logged in, and says nothing secret.
func SetAtLogin(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_") || slices.Contains(strings.Fields(loginVars), name)
}

const loginVars = "HOME USER USERNAME USERPROFILE LOGNAME PATH PWD SHELL LANG TZ APPDATA LOCALAPPDATA PROGRAMDATA TEMP TMP TMPDIR"
