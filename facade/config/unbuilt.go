package config

import "errors"

// Unbuilt says which keys of the entry ask for something that this version
// does not do and without which it must not serve: a guard that is not there,
// or a way to get a token. It is nil when there is none, else an *Error for each
// key, joined.
func (s *Server) Unbuilt() error {
	u := &s.Upstream
	const remove, header = "remove the key", `remove the key, and give a token as a header: "headers": {"Authorization": "Bearer ${TOKEN}"}`
	guards := []struct {
		key  string
		set  bool
		hint string
	}{
		{"drift", s.Drift == "block", remove},
		{"credentialId", u.CredentialID != "", header},
		{"tokenCommand", u.TokenCommand != nil, header},
		{"oauth", u.OAuth != nil, header},
	}
	var errs []error
	for _, g := range guards {
		if g.set {
			errs = append(errs, s.Fault(g.key, errors.New("not built yet: this version does not serve an entry that relies on it"), g.hint))
		}
	}
	return errors.Join(errs...)
}
