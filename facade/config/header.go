package config

import (
	"slices"
	"strings"
	"unicode"
)

// wrongHeader says why a header of requests cannot have that name, "" when it
// can.
func wrongHeader(name string) string {
	switch {
	case name == "" || strings.ContainsFunc(name, func(c rune) bool { return !isTokenChar(c) }):
		return "not a header name (RFC 9110, section 5.1)"
	case isOwnHeader(name):
		return "is set by mcp-facade itself; leave it out"
	}
	return ""
}

// wrongHeaderValue says why a header cannot have that value, "" when it can.
// RFC 9110, section 5.5.
func wrongHeaderValue(value string) string {
	switch {
	case strings.ContainsAny(value, "\r\n"):
		return "contains a line end"
	case strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == '\x7f' }):
		return "contains a control character"
	}
	return ""
}

// isTokenChar reports whether a header name may contain the character:
// "tchar" of RFC 9110, section 5.6.2.
func isTokenChar(c rune) bool {
	return c <= unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("!#$%&'*+-.^_`|~", c))
}

// ownHeaders are those that say how a message is carried: they differ from
// message to message, or from hop to hop. Those of MCP are of 2026-07-28,
// basic/transports/streamable-http, and of the revisions before.
const ownHeaders = `
	accept content-type mcp-session-id mcp-protocol-version mcp-method mcp-name last-event-id
	content-length content-encoding accept-encoding transfer-encoding connection keep-alive te trailer upgrade expect
	proxy-authorization proxy-connection
`

// isOwnHeader reports whether a header is ours to set.
func isOwnHeader(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "mcp-param-") || slices.Contains(strings.Fields(ownHeaders), name)
}
