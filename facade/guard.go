package facade

import (
	"strings"
	"unicode"

	"mcp-facade/compact"
	"mcp-facade/facade/config"
)

// allow is asked once for every call, after the name is resolved and before
// anything is sent. Its error is what the model is told: of a hidden tool, what
// it is told of one that does not exist.
func (f *Facade) allow(v *view, tool string) error {
	if f.hidden(tool) || f.hiddenBehind(v, tool) {
		return f.unknown(v, tool)
	}
	return nil
}

// hidden reports whether the config keeps a tool from the host and the model,
// whatever the case of its name and whatever invisible stands in it.
func (f *Facade) hidden(tool string) bool {
	return config.Match(f.o.Server.Hide, tool) || config.Match(f.o.Server.Hide, compact.Line(tool))
}

// hiddenBehind reports whether a name that is in no catalog may be made of that
// of a hidden tool: an upstream may understand what it does not list.
func (f *Facade) hiddenBehind(v *view, name string) bool {
	hide := f.o.Server.Hide
	if len(hide) == 0 {
		return false
	}
	if up, ok := f.surfaceOf(v).names().upstream(name); ok && up == name {
		return false
	}
	bare := make([]string, len(hide))
	for i, glob := range hide {
		bare[i] = strings.Join(lettered(glob, "*?"), "")
	}
	words := lettered(name, "")
	for i := range words { // the first ones may be somebody's prefix
		if config.Match(bare, strings.Join(words[i:], "")) {
			return true
		}
	}
	return false
}

// lettered are the parts of a name in lower case, of letters and digits, and
// of what else is kept.
func lettered(name, keep string) []string {
	return strings.FieldsFunc(strings.ToLower(compact.Line(name)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(keep, r)
	})
}
