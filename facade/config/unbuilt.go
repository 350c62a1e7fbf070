package config

import "errors"

// Unbuilt says which keys of the entry ask for something that this version
// does not do and without which it must not serve: a guard that is not there,
// or another way to reach the upstream. It is nil when there is none, else an
// *Error for each key, joined.
func (s *Server) Unbuilt() error {
	u := &s.Upstream
	guards := []struct {
		key string
		set bool
	}{
		{"confirm", s.Confirm != "none" && s.Confirm != ""},
		{"split", s.Split},
		{"drift", s.Drift == "block"},
		{"transport", u.URL == "" && u.Transport != ""},
		{"credentialId", u.URL == "" && u.CredentialID != ""},
		{"tokenCommand", u.URL == "" && u.TokenCommand != nil},
		{"oauth", u.URL == "" && u.OAuth != nil},
	}
	var errs []error
	if u.URL != "" {
		errs = append(errs, s.fault("url", errors.New("Streamable HTTP upstreams are not built yet"),
			`use a "command" that reaches it, or wait for a later version`))
	}
	for _, g := range guards {
		if g.set {
			errs = append(errs, s.fault(g.key, errors.New("not built yet: this version does not serve an entry that relies on it"),
				"remove the key"))
		}
	}
	return errors.Join(errs...)
}
