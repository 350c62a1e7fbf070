package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// An Error is what is wrong with a servers file or with one key of it, worded
// for the person who wrote it. It never holds a value that may be a secret.
type Error struct {
	Path   string // the file; "" for an upstream given on the command line
	Line   int    // from 1; 0 when no line is meant
	Column int    // in bytes from 1; 0 when no column is meant
	Key    string // "acme.upstream.url", "" when the file itself is meant
	Err    error
	Hint   string // what to do next: one imperative line, or ""
}

// Error gives "path:line:column: key: what", without the parts that are not
// known. The hint is not in it.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path)
		for _, n := range []int{e.Line, e.Column} {
			if n > 0 {
				fmt.Fprintf(&b, ":%d", n)
			}
		}
		b.WriteString(": ")
	}
	if e.Key != "" {
		b.WriteString(plain(e.Key) + ": ")
	}
	return b.String() + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// shown is how many bytes of somebody's text an error repeats.
const shown = 80

// plain gives a key as it is written where that is harmless on a terminal,
// else quoted; a long one is cut.
func plain(key string) string {
	odd := strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsPrint(r) })
	if len(key) > shown {
		key = strings.ToValidUTF8(key[:shown], "") + "…"
	}
	if odd || key == "" {
		return strconv.Quote(key)
	}
	return key
}

// quoted gives somebody's text for an error: in quotes, and cut when long.
func quoted(text string) string {
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "…"
	}
	return strconv.Quote(text)
}
