package config

import "errors"

// Unbuilt says which keys of the entry ask for something that this version
// does not do and without which it must not serve: a guard that is not there. It
// is nil when there is none, else an *Error for each key, joined.
func (s *Server) Unbuilt() error {
	const remove = "remove the key"
	guards := []struct {
		key  string
		set  bool
		hint string
	}{
		{"drift", s.Drift == "block", remove},
	}
	var errs []error
	for _, g := range guards {
		if g.set {
			errs = append(errs, s.Fault(g.key, errors.New("not built yet: this version does not serve an entry that relies on it"), g.hint))
		}
	}
	return errors.Join(errs...)
}
