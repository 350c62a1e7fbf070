package compact

import (
	"slices"
	"unicode/utf8"

	"github.com/tidwall/gjson"
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

// appendNamed appends the object v with f's version of each value.
func appendNamed(dst []byte, v gjson.Result, f func(dst []byte, name string, s gjson.Result) []byte) []byte {
	dst = append(dst, '{')
	v.ForEach(func(name, s gjson.Result) bool {
		dst = f(appendKey(dst, name.Raw), name.Str, s)
		return true
	})
	return append(dst, '}')
}

// appendListed appends the list v with f's version of each element.
func appendListed(dst []byte, v gjson.Result, f func([]byte, gjson.Result) []byte) []byte {
	dst = append(dst, '[')
	v.ForEach(func(_, s gjson.Result) bool {
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = f(dst, s)
		return true
	})
	return append(dst, ']')
}

// namesIn returns the strings in the list v.
func namesIn(v gjson.Result) map[string]bool {
	if !v.IsArray() {
		return nil
	}
	names := map[string]bool{}
	v.ForEach(func(_, name gjson.Result) bool {
		names[name.Str] = true
		return true
	})
	return names
}

// appendCompact appends the JSON value v without white space outside its
// strings.
func appendCompact(dst []byte, v gjson.Result) []byte {
	if v.Type != gjson.JSON {
		return append(dst, v.Raw...)
	}
	raw, from := v.Raw, 0
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '"':
			i = stringEnd(raw, i)
		case isJSONSpace(raw[i]):
			dst = append(dst, raw[from:i]...)
			from = i + 1
		}
	}
	return append(dst, raw[from:]...)
}

// stringEnd returns where the string ends that begins at i, its closing quote.
func stringEnd[T string | []byte](s T, i int) int {
	for i++; i < len(s) && s[i] != '"'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return i
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
