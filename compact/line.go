package compact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns text of others as one line that shows all it says: control,
// bidirectional, zero-width, tag and other invisible characters are removed,
// white space is folded, bytes that are no UTF-8 become U+FFFD. A zero-width
// joiner goes too, so that a family of emoji becomes its members.
func Line(s string) string {
	if isLine(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
		case !hidden(r):
			if space {
				b.WriteByte(' ')
			}
			space = false
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isLine reports whether s is plain ASCII on which Line has nothing to do.
func isLine(s string) bool {
	before := byte(' ')
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && before == ' ' {
			return false
		}
		before = c
	}
	return before != ' ' || s == ""
}

// hidden reports whether r is a character that nobody sees but a model reads.
// Variation selectors can spell out text, so only the one that makes an emoji
// of a character stays.
func hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	const emojiStyle = '\uFE0F'
	return r != emojiStyle && unicode.In(r, unicode.Cc, unicode.Cf,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
