package hosts

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// hasURLSecret reports whether there is a URL with a user, or with something
// that may be secret in its host, path, query or fragment, in a text.
func hasURLSecret(text string) bool {
	for rest := text; ; {
		scheme, after, ok := strings.Cut(rest, "://")
		if !ok {
			return false
		}
		rest = after
		address := after
		if end := strings.IndexAny(after, space+`"'`); end >= 0 {
			address = after[:end]
		}
		if scheme != "" && isSecretAddress(address) {
			return true
		}
	}
}

// isSecretAddress judges what follows "://".
func isSecretAddress(address string) bool {
	address, fragment, _ := strings.Cut(address, "#")
	address, query, _ := strings.Cut(address, "?")
	host, path, _ := strings.Cut(address, "/")
	if strings.Contains(host, "@") || slices.ContainsFunc(strings.Split(host, "."), isToken) {
		return true
	}
	segments := strings.Split(path, "/")
	for i := range segments {
		if isSecretSegment(segments, i) {
			return true
		}
	}
	return slices.ContainsFunc(parameters(query+"&"+fragment), isSecretParameter)
}

// isSecretSegment reports whether a segment of a path may be secret: a token, a
// value whose name says so, or what stands behind "token".
func isSecretSegment(segments []string, i int) bool {
	segment := unescaped(segments[i])
	return segment != "" && i > 0 && isSecretWord(segments[i-1]) || isToken(segment) || tokenAt(segment) >= 0 || namedAt(segment) >= 0
}

func parameters(query string) []string {
	return strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' })
}

// isSecretParameter judges one of a query or a fragment.
func isSecretParameter(parameter string) bool {
	name, value, named := strings.Cut(parameter, "=")
	if !named {
		name, value = "", parameter
	}
	value = unescaped(value)
	return value != "" && (namesSecret(unescaped(name)) || tokenAt(value) >= 0 || !plainValue().MatchString(value))
}

// plainValue is one of words and numbers, or of placeholders without a fallback.
var plainValue = sync.OnceValue(func() *regexp.Regexp {
	const part, mark = `(?:[A-Za-z]{1,12}\d{0,2}|\d{1,12}|\$?\{(?:[a-z]+:)?[^}:]*\})`, `[-_.,:/@+ ~*]`
	return regexp.MustCompile(`^` + mark + `*(?:` + part + `(?:` + mark + `+` + part + `)*)?` + mark + `*$`)
})

// unescaped is a part of a URL as it is meant.
func unescaped(part string) string {
	if plain, err := url.PathUnescape(part); err == nil {
		return plain
	}
	return part
}

// hidden stands for what is not to be seen.
const hidden = "…"

// maskedURL is a URL without its user, the values of its query, its fragment, and
// what may be secret in its host and path.
func maskedURL(text string) string {
	scheme, address, ok := strings.Cut(text, "://")
	if !ok || secretInWord(scheme) >= 0 {
		return hidden
	}
	address, _, _ = strings.Cut(address, "#")
	address, query, _ := strings.Cut(address, "?")
	host, path, slash := strings.Cut(address, "/")
	masked := scheme + "://" + maskedHost(host)
	if slash {
		segments := strings.Split(path, "/")
		shown := slices.Clone(segments)
		for i, segment := range segments {
			if isSecretSegment(segments, i) || strings.Contains(segment, "@") {
				shown[i] = hidden
			}
		}
		masked += "/" + strings.Join(shown, "/")
	}
	mark := "?"
	for _, pair := range parameters(query) {
		name, _, named := strings.Cut(pair, "=")
		if masked += mark; named {
			masked += name + "="
		}
		masked += hidden
		mark = "&"
	}
	return masked
}

func maskedHost(host string) string {
	user := ""
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		user, host = hidden, host[at:]
	}
	labels := strings.Split(host, ".")
	for i, label := range labels {
		if isToken(label) {
			labels[i] = hidden
		}
	}
	return user + strings.Join(labels, ".")
}
