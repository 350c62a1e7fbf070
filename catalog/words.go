package catalog

import (
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// maxWord is how many bytes of a word are kept. Longer ones are codes, data, or
// clauses of a script without spaces.
const maxWord = 64

// A wordReader cuts a text into lower-case words: at everything that is neither
// letter nor digit, and inside of identifiers where the case or the kind
// changes, so that "getHTTPStatus2" is get, http, status, 2.
type wordReader struct {
	rest   string // what is left of the text
	digits bool   // whether digits stay with the letters before and after them
	word   []byte // the word that next has found, until it is called again
	later  bool   // whether a word came before, so that an s may be a possessive
}

// reset makes r read another text.
func (r *wordReader) reset(text string) { r.rest, r.later = text, false }

// next finds the next word. It returns false at the end of the text.
func (r *wordReader) next() bool {
	r.word = r.word[:0]
	last := other
	for i := 0; i < len(r.rest); {
		c, n := rune(r.rest[i]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRuneInString(r.rest[i:])
		}
		kind := r.kindOf(c)
		if len(r.word) > 0 && cutBefore(last, kind, r.rest[i:]) && r.ended() {
			r.rest = r.rest[i:]
			return true
		}
		if kind != other && len(r.word) < maxWord {
			r.word = appendLower(r.word, c)
		}
		last, i = kind, i+n
		if kind == lower {
			i += r.small(r.rest[i:])
		}
	}
	r.rest = ""
	return len(r.word) > 0 && r.ended()
}

// small appends the small ASCII letters that text begins with, of which most
// words consist, and returns how many there are.
func (r *wordReader) small(text string) (n int) {
	for n < len(text) && 'a' <= text[n] && text[n] <= 'z' {
		n++
	}
	r.word = append(r.word, text[:min(n, max(0, maxWord-len(r.word)))]...)
	return n
}

// ended reports whether the word that is now complete is one, and not the rest
// of a possessive 's, which it drops.
func (r *wordReader) ended() bool {
	if r.later && string(r.word) == "s" {
		r.word = r.word[:0]
		return false
	}
	r.later = true
	return true
}

func (r *wordReader) kindOf(c rune) kind {
	if kind := kindOf(c); kind != digit || !r.digits {
		return kind
	}
	return lower
}

func appendLower(word []byte, c rune) []byte {
	switch {
	case c >= utf8.RuneSelf:
		return utf8.AppendRune(word, unicode.ToLower(c))
	case 'A' <= c && c <= 'Z':
		c += 'a' - 'A'
	}
	return append(word, byte(c))
}

// words are the words of s.
func words(s string) []string {
	var out []string
	for r := (wordReader{rest: s}); r.next(); {
		out = append(out, string(r.word))
	}
	return out
}

// A kind is what a character is in an identifier.
type kind uint8

const (
	other kind = iota
	lower
	upper
	digit
)

func kindOf(r rune) kind {
	if r < utf8.RuneSelf {
		return asciiKind(byte(r))
	}
	switch {
	case unicode.IsUpper(r):
		return upper
	case unicode.IsLetter(r), unicode.IsMark(r):
		return lower
	case unicode.IsDigit(r):
		return digit
	}
	return other
}

func asciiKind(c byte) kind {
	switch {
	case 'a' <= c && c <= 'z':
		return lower
	case 'A' <= c && c <= 'Z':
		return upper
	case '0' <= c && c <= '9':
		return digit
	}
	return other
}

// cutBefore reports whether a word ends between a character of kind last and
// one of kind next, the first of rest.
func cutBefore(last, next kind, rest string) bool {
	switch {
	case next == other:
		return true
	case last == upper && next == upper:
		return endsAcronym(rest)
	case last == upper && next == lower:
		return false
	}
	return last != next
}

// endsAcronym reports whether the capital that rest begins with is the first
// letter of a new word: the S of "HTTPStatus", but not of "APIs" or "HTTPS".
func endsAcronym(rest string) bool {
	_, n := utf8.DecodeRuneInString(rest)
	small, m := utf8.DecodeRuneInString(rest[n:])
	if kindOf(small) != lower {
		return false
	}
	after, _ := utf8.DecodeRuneInString(rest[n+m:])
	return small != 's' || kindOf(after) == lower
}

// term is what a word is searched by: its stem, if it may be English.
func term(word string) string {
	if len(word) < 3 || stopWord(word) || !smallLetters(word) {
		return word
	}
	return english.Stem(word, true)
}

func smallLetters(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}
