package facade

import (
	"mcp-facade/compact"
	"mcp-facade/facade/config"
)

// hidden reports whether the config keeps a tool from the host and the model,
// whatever the case of its name and whatever invisible stands in it.
func (f *Facade) hidden(tool string) bool {
	return config.Match(f.o.Server.Hide, tool) || config.Match(f.o.Server.Hide, compact.Line(tool))
}

// allow is asked once for every call, after the name is resolved and before
// anything is sent. Its error is what the model is told: of a hidden tool, what
// it is told of one that does not exist.
func (f *Facade) allow(v *view, tool string) error {
	if f.hidden(tool) {
		return f.unknown(v, tool)
	}
	return nil
}
