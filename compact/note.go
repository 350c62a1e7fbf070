package compact

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

const (
	// maxDescription is the length of a trimmed description, in characters.
	maxDescription = 140

	// maxDefault is the length up to which a scalar default is told in its
	// description, in characters.
	maxDefault = 20

	// maxEnding is the length up to which the "(default …)" that ends a
	// description is set aside before a cut: what we write there ourselves,
	// and a few words more for what authors do.
	maxEnding = maxDefault + 20
)

// A note is what becomes of a schema's description and default.
type note struct {
	text        string // the description, if changed
	changed     bool
	keepDefault bool
}

// note decides about the description and the default of the schema that has
// the given members. A schema that repeats one of them is left alone: readers
// of JSON differ about which counts.
func (t *trimmer) note(members []member) note {
	text, texts := lookUp(members, "description")
	def, defs := lookUp(members, "default")
	if !t.o.cuts() || texts > 1 || defs > 1 {
		return note{keepDefault: true}
	}
	value, short := shortScalar(def)
	short = short && defs == 1
	if text.Type != gjson.String || t.o.keeps("description") {
		return note{keepDefault: short || t.o.keeps("default")}
	}
	n := note{text: shorten(text.Str, maxDescription), keepDefault: t.o.keeps("default")}
	if short && !n.keepDefault {
		n.text, n.keepDefault = withDefault(n.text, value)
	}
	n.changed = n.text != text.Str
	return n
}

// lookUp returns the value of the member called name, and how many there are.
func lookUp(members []member, name string) (value gjson.Result, count int) {
	for i := range members {
		if members[i].name == name {
			value = members[i].value
			count++
		}
	}
	return value, count
}

// shortScalar returns a scalar default as it is told in a description.
func shortScalar(v gjson.Result) (string, bool) {
	text := v.Raw
	switch {
	case v.Type == gjson.JSON:
		return "", false
	case v.Type == gjson.String && v.Str == "":
		text = "''"
	case v.Type == gjson.String:
		text = v.Str
	}
	return text, utf8.RuneCountInString(text) <= maxDefault
}

// shorten returns the first sentence of a schema's description, and the
// "(default …)" at its end, if there is one, within limit characters.
func shorten(text string, limit int) string {
	s := Sentence(text, limit)
	if s == text {
		return s
	}
	body, ending := splitEnding(text)
	if ending == "" {
		return s
	}
	return join(body, ending, s, limit)
}

// withDefault returns the shortened description s with the default value told
// at its end, or s and true when the keyword has to stay for it to be known.
func withDefault(s, value string) (text string, keep bool) {
	if mentions(s, value) {
		return s, false
	}
	ending := " (default " + value + ")"
	if body, found := splitEnding(s + ending); s == "" || found != ending || body != s {
		return s, true
	}
	if _, another := splitEnding(s); another != "" {
		return s, true
	}
	joined := join(s, ending, "", maxDescription)
	return cmp.Or(joined, s), joined == ""
}

// join returns the first sentence of body with ending in place of its full
// stop, within limit. It returns otherwise when the sentence is empty or the
// whole would be read as something else the next time.
func join(body, ending, otherwise string, limit int) string {
	s := dropStop(Sentence(body, limit-utf8.RuneCountInString(ending)))
	if s == "" || Sentence(s+ending, limit) != s+ending {
		return otherwise
	}
	return s + ending
}

// splitEnding cuts a "(default …)", with a space if one is before it, off the
// end of text. A full stop after it goes. Without such an ending it returns text, "".
func splitEnding(text string) (body, ending string) {
	s := strings.TrimRightFunc(text, unicode.IsSpace)
	s = strings.TrimSuffix(s, ".")
	open := openingOf(s)
	if open <= 0 || utf8.RuneCountInString(s[open:]) > maxEnding {
		return text, ""
	}
	inside := s[open+1:]
	if len(inside) < len("default") || !strings.EqualFold(inside[:len("default")], "default") {
		return text, ""
	}
	if Line(s[open:]) != s[open:] {
		return text, ""
	}
	body = strings.TrimRightFunc(s[:open], unicode.IsSpace)
	if len(body) == open {
		return body, s[open:]
	}
	return body, " " + s[open:]
}

// openingOf returns where the parenthesis begins that ends s, or -1.
func openingOf(s string) int {
	if !strings.HasSuffix(s, ")") {
		return -1
	}
	depth := 0
	for i := len(s) - 1; i >= 0 && len(s)-i <= 4*maxEnding; i-- {
		switch s[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// dropStop removes the full stop that ends s, unless it is part of an
// ellipsis or of an abbreviation.
func dropStop(s string) string {
	if body, ok := strings.CutSuffix(s, "。"); ok {
		return body
	}
	body, ok := strings.CutSuffix(s, ".")
	if !ok || strings.HasSuffix(body, ".") || abbreviated(body) {
		return s
	}
	return body
}

// mentions reports whether s says that the default is value.
func mentions(s, value string) bool {
	i := indexFold(s, "default")
	if i < 0 {
		return false
	}
	if value == "''" && (strings.Contains(s[i:], `""`) || indexFold(s[i:], "empty") >= 0) {
		return true
	}
	return hasWord(s[i+len("default"):], value)
}

// hasWord reports whether s has word in it with no letter or digit, nor a
// decimal point, continuing it on either side.
func hasWord(s, word string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, n := utf8.DecodeRuneInString(s[i+len(word):])
		next, _ := utf8.DecodeRuneInString(s[i+len(word)+n:])
		if !continues(before) && !continues(after) && !(after == '.' && unicode.IsDigit(next)) {
			return true
		}
		_, n = utf8.DecodeRuneInString(s[i:])
		from = i + n
	}
}

func continues(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// indexFold is strings.Index without regard to case; word is lower-case ASCII.
func indexFold(s, word string) int {
	for i := 0; i+len(word) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}
