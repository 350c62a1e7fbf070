package catalog

import (
	"unicode"
	"unicode/utf8"
)

// maxWord is how many bytes of a word are kept. Longer ones are codes, data, or
// clauses of a script without spaces.
const maxWord = 64

// A wordReader cuts a text into lower-case words: at everything that is neither
// letter nor digit, and inside of identifiers where the case or the kind
// changes, so that "getHTTPStatus2" is get, http, status, 2.
type wordReader struct {
	rest    string // what is left of the text
	digits  bool   // whether digits stay with the letters before and after them
	search  bool   // whether letters lose their accents, and each character of a script without spaces is a word
	word    []byte // the word that next has found, until it is called again
	capital bool   // whether it begins with a capital
	hyphen  bool   // whether a hyphen is between it and the one before, and nothing else
	apart   bool   // whether more than a change of case or kind is between it and the one before
	later   bool   // whether a word came before, so that an s may be a possessive
}

// reset makes r read another text.
func (r *wordReader) reset(text string) { r.rest, r.later = text, false }

// next finds the next word. It returns false at the end of the text.
func (r *wordReader) next() bool {
	r.word, r.apart, r.hyphen = r.word[:0], false, false
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
		switch {
		case kind == other:
			r.hyphen = c == '-' && !r.apart
			r.apart = true
		case len(r.word) < maxWord:
			if len(r.word) == 0 {
				r.capital = kind == upper
			}
			r.word = r.appendLower(r.word, c)
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
	switch kind := kindOf(c); {
	case kind == digit && r.digits:
		return lower
	case kind == lower && r.search && c >= utf8.RuneSelf && unspaced(c):
		return glyph
	default:
		return kind
	}
}

// unspaced reports whether a character is of a script without spaces, or with
// few of them, so that what is between two says nothing about words.
func unspaced(c rune) bool {
	const longVowel = 'ー' // of no script of its own
	return c == longVowel || unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func (r *wordReader) appendLower(word []byte, c rune) []byte {
	switch {
	case c >= utf8.RuneSelf && r.search:
		return appendPlain(word, unicode.ToLower(c))
	case c >= utf8.RuneSelf:
		return utf8.AppendRune(word, unicode.ToLower(c))
	case 'A' <= c && c <= 'Z':
		c += 'a' - 'A'
	}
	return append(word, byte(c))
}

// The letters without accents of those from U+00C0 to U+017F and from U+1E00
// to U+1EFF; a space for what has none.
const (
	plainLatin = "aaaaaaaceeeeiiiidnooooo ouuuuytsaaaaaaaceeeeiiiidnooooo ouuuuyty" +
		"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnnnnoooooooo" +
		"rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"
	plainAdditional = "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooo" +
		"pppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwyas  s " +
		"aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy      "
)

// appendPlain appends a letter without its accent, which people leave out when
// they search. An accent that is a character of its own is nothing.
func appendPlain(word []byte, c rune) []byte {
	const latin, accents, additional = 0xC0, 0x300, 0x1E00
	table, first := plainLatin, rune(latin)
	switch {
	case accents <= c && c < accents+0x70:
		return word
	case c >= additional:
		table, first = plainAdditional, additional
	}
	if i := int(c - first); 0 <= i && i < len(table) && table[i] != ' ' {
		return append(word, table[i])
	}
	return utf8.AppendRune(word, c)
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
	glyph // of a script without spaces: only where that is asked for
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
	case next == other || last == glyph:
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
	if kindOf(small) != lower || small >= utf8.RuneSelf && unspaced(small) {
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
	return stem(word)
}

// Terms are the words of a text by which it is searched for: without stop words,
// and each in the form that stands for all others.
func Terms(text string) (terms []string) {
	for r := (wordReader{rest: text[:min(len(text), maxQueryBytes)], search: true}); r.next(); {
		if w := string(r.word); !stopWord(w) {
			terms = append(terms, term(w))
		}
	}
	return terms
}

func smallLetters(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}
