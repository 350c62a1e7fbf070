package facade

import "mcp-facade/facade/config"

// hidden reports whether the config keeps a tool from the host and the model,
// whatever the case of its name.
func (f *Facade) hidden(tool string) bool { return config.Match(f.o.Server.Hide, tool) }

// allow is asked once for every call, after the name is resolved and before
// anything is sent. Its error is what the model is told.
func (f *Facade) allow(tool string) error {
	if f.hidden(tool) {
		return &refusal{what: quoted(tool) + " is not in " + f.name() + "'s catalog."}
	}
	return nil
}
