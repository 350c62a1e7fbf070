package compact

import (
	"slices"
	"unicode/utf8"
)

// appendKey appends the raw key of the next member of the object that is
// being written, with the comma before it if it is not the first.
func appendKey(dst []byte, raw string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, raw...)
	return append(dst, ':')
}

// cutMember removes the member of an object that was written to at, and one of
// the commas beside it.
func cutMember(dst []byte, at span) []byte {
	if dst[at.from] != ',' && dst[at.to] == ',' {
		at.to++
	}
	return slices.Delete(dst, at.from, at.to)
}

// appendCompact appends the JSON value raw without white space outside its
// strings.
func appendCompact(dst []byte, raw string) []byte {
	inString, from := false, 0
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && isJSONSpace(c):
			dst = append(dst, raw[from:i]...)
			from = i + 1
		}
	}
	return append(dst, raw[from:]...)
}

func isJSONSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// appendString appends s as a JSON string with no more escapes than JSON asks
// for, so that it is never longer than another writer's form of it.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
