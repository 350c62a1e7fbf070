package config

import "slices"

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
