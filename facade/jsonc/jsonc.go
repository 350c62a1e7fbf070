// Package jsonc edits JSON with comments and trailing commas by its bytes, so
// that a file that somebody wrote stays theirs: an edit leaves every byte that it
// does not concern, and new text looks like its neighbours.
package jsonc

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Parse parses a text without a byte order mark. A comment in its last line may
// lack its line end, which the parser wants. The error is the parser's, and may
// repeat a value: "hujson: line 1, column 2: …".
func Parse(text []byte) (hujson.Value, error) {
	return hujson.Parse(append(slices.Clip(text), '\n'))
}

// Quote is a text as a JSON string, in which "&", "<" and ">" stay as they are.
func Quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(text) // of a string, into memory: it cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// Member is the value of the first member of an object with that name, or nil.
func Member(object *hujson.Object, name string) *hujson.Value {
	if i := index(object, name); i >= 0 {
		return &object.Members[i].Value
	}
	return nil
}

func index(object *hujson.Object, name string) int {
	return slices.IndexFunc(object.Members, func(m hujson.ObjectMember) bool { return m.Name.Value.(hujson.Literal).String() == name })
}

// TypeName names the type of a value for "have …".
func TypeName(v hujson.Value) string {
	switch v.Value.Kind() {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	default:
		return v.Value.(hujson.Literal).String() // null, true, false
	}
}
