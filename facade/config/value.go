package config

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// A value is one JSON value of an entry, and the key by which an error calls
// it: "upstream.args[1]".
type value struct {
	hujson.Value
	key string
}

// A member is one name of an object and its value.
type member struct {
	name string
	at   int // where the name stands, as an offset
	value
}

// kind gives the first byte of what such a value begins with.
func (v value) kind() hujson.Kind { return v.Value.Value.Kind() }

func (v value) text() string { return decoded(v.Value) }

// decoded gives the text of a JSON string, and of any other literal what is
// written.
func decoded(v hujson.Value) string {
	literal, _ := v.Value.(hujson.Literal)
	if literal.Kind() == '"' && bytes.IndexByte(literal, '\\') < 0 {
		return string(literal[1 : len(literal)-1]) // the parser has checked it
	}
	return literal.String()
}

// lineEnds gives the offset of each line's end.
func lineEnds(data []byte) []int {
	var ends []int
	for i, b := range data {
		if b == '\n' {
			ends = append(ends, i)
		}
	}
	return ends
}

// line gives the line of an offset, from 1.
func (p *parser) line(offset int) int {
	before, _ := slices.BinarySearch(p.ends, offset)
	return before + 1
}

// list joins words for an error: "a", "b" or "c".
func list(words []string, last string) string {
	quotes := make([]string, len(words))
	for i, w := range words {
		quotes[i] = quoted(w)
	}
	if len(quotes) < 2 {
		return strings.Join(quotes, "")
	}
	end := len(quotes) - 1
	return strings.Join(quotes[:end], ", ") + " " + last + " " + quotes[end]
}
