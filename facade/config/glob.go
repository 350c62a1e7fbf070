package config

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Match reports whether one of the globs matches the whole name. In a glob "*"
// stands for any characters, also none, and "?" for one; upper and lower case
// are the same.
func Match(globs []string, name string) bool {
	for _, g := range globs {
		if matchGlob(g, name) {
			return true
		}
	}
	return false
}

// matchGlob keeps the last "*" and what it has taken so far: when the rest does
// not fit, that star takes one character more.
func matchGlob(glob, name string) bool {
	star, taken := -1, 0
	g, n := 0, 0
	for n < len(name) {
		r, size := utf8.DecodeRuneInString(name[n:])
		p, width := utf8.DecodeRuneInString(glob[g:])
		switch {
		case g < len(glob) && p == '*':
			star, taken = g+1, n
			g++
		case g < len(glob) && (p == '?' || sameLetter(p, r)):
			g, n = g+width, n+size
		case star >= 0:
			_, size = utf8.DecodeRuneInString(name[taken:])
			taken += size
			g, n = star, taken
		default:
			return false
		}
	}
	return strings.Trim(glob[g:], "*") == ""
}

// sameLetter reports whether two characters are equal but for their case.
func sameLetter(a, b rune) bool {
	if a == b {
		return true
	}
	for r := unicode.SimpleFold(a); r != a; r = unicode.SimpleFold(r) {
		if r == b {
			return true
		}
	}
	return false
}

// wrongGlob says why a text is not a glob, "" when it is. Characters that mean
// something in other programs' patterns and nothing here are refused: a guard
// that matches nothing must not look like one that does.
func wrongGlob(glob string) string {
	switch {
	case glob == "":
		return "an empty name matches nothing"
	case strings.TrimSpace(glob) != glob:
		return "a name does not begin or end with white space"
	case strings.ContainsFunc(glob, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "a name does not contain control characters"
	}
	if i := strings.IndexAny(glob, `[]{}\!,|^`); i >= 0 {
		return fmt.Sprintf("%q means nothing in a glob: only * and ? do, and each name stands by itself", glob[i:i+1])
	}
	return ""
}
