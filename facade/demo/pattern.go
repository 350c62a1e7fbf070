package demo

import (
	"strconv"
	"strings"
)

// matches reports whether s matches a pattern as our schemas write them: an
// anchored row of characters and classes, each with "+", "{n}" or "{m,n}" or
// nothing after it, and perhaps an end. Each part takes all it can, so no part
// may begin with what the one before it takes. Package regexp would add about
// 200 KB to the program, which does not need it elsewhere.
func matches(pattern, s string) bool {
	pattern = strings.TrimPrefix(pattern, "^")
	for pattern != "" {
		if pattern == "$" {
			return s == ""
		}
		class, rest := cutClass(pattern)
		low, high, rest := cutCount(rest)
		n := 0
		for n < high && n < len(s) && inClass(class, s[n]) {
			n++
		}
		if n < low {
			return false
		}
		pattern, s = rest, s[n:]
	}
	return true
}

// cutClass cuts the first part off: a class without its brackets or a character.
func cutClass(pattern string) (class, rest string) {
	if pattern[0] == '[' {
		class, rest, _ = strings.Cut(pattern[1:], "]")
		return strings.ReplaceAll(class, `\\`, `\`), rest
	}
	return pattern[:1], pattern[1:]
}

// cutCount cuts off how often the part before it may occur.
func cutCount(pattern string) (low, high int, rest string) {
	const many = 1 << 30
	if rest, ok := strings.CutPrefix(pattern, "+"); ok {
		return 1, many, rest
	}
	rest, ok := strings.CutPrefix(pattern, "{")
	if !ok {
		return 1, 1, pattern
	}
	count, rest, _ := strings.Cut(rest, "}")
	from, to, ok := strings.Cut(count, ",")
	low, _ = strconv.Atoi(from)
	if !ok {
		return low, low, rest
	}
	high, _ = strconv.Atoi(to)
	return low, high, rest
}

// inClass reports whether a class such as "A-Z0-9-" or "^/" has the byte.
func inClass(class string, b byte) bool {
	if rest, ok := strings.CutPrefix(class, "^"); ok {
		return !inClass(rest, b)
	}
	for i := 0; i < len(class); i++ {
		if i+2 < len(class) && class[i+1] == '-' {
			if class[i] <= b && b <= class[i+2] {
				return true
			}
			i += 2
		} else if class[i] == b {
			return true
		}
	}
	return false
}
