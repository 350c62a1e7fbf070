package upstream

import (
	"net/http"
	"strings"
)

// challenge returns a parameter of the WWW-Authenticate headers, "" if it is not
// there: RFC 9110, section 11.6.1. It is read leniently: the first place where
// the name stands alone before an equals sign counts.
func challenge(h http.Header, name string) string {
	for _, line := range h.Values("Www-Authenticate") {
		for rest := line; rest != ""; {
			var key, value string
			if key, value, rest = nextParameter(rest); strings.EqualFold(key, name) {
				return value
			}
		}
	}
	return ""
}

// nextParameter cuts the first name="value" or name=value off.
func nextParameter(s string) (key, value, rest string) {
	key, rest, _ = strings.Cut(s, "=")
	key = key[strings.LastIndexAny(key, " \t,")+1:] // a scheme may stand before it
	if !strings.HasPrefix(rest, `"`) {
		i := strings.IndexAny(rest, " \t,")
		if i < 0 {
			i = len(rest)
		}
		return key, rest[:i], rest[i:]
	}
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '"':
			return key, b.String(), rest[i+1:]
		case rest[i] == '\\' && i+1 < len(rest):
			i++
		}
		b.WriteByte(rest[i])
	}
	return key, b.String(), ""
}
