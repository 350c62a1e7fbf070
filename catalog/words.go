package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// words cuts s into lower-case words: at everything that is neither letter nor
// digit, and inside of identifiers where the case or the kind changes, so that
// "getHTTPStatus2" is get, http, status, 2.
func words(s string) []string {
	var out []string
	start, kind := -1, other
	for i, r := range s {
		next := kindOf(r)
		if start >= 0 && cutBefore(kind, next, s[i:]) {
			out = appendWord(out, s[start:i])
			start = -1
		}
		if start < 0 && next != other {
			start = i
		}
		kind = next
	}
	if start >= 0 {
		out = appendWord(out, s[start:])
	}
	return out
}

// appendWord appends the word, unless it is the rest of a possessive 's.
func appendWord(out []string, word string) []string {
	if word == "s" && len(out) > 0 {
		return out
	}
	return append(out, strings.ToLower(word))
}

// A kind is what a character is in an identifier.
type kind int

const (
	other kind = iota
	lower
	upper
	digit
)

func kindOf(r rune) kind {
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

// stopWord reports whether a word says nothing about what a tool does: the
// English function words, and what people say around a wish.
func stopWord(w string) bool {
	switch w {
	case "a", "about", "after", "again", "all", "also", "am", "an", "and", "another", "any", "are", "as", "at",
		"be", "because", "been", "before", "being", "both", "but", "by",
		"can", "could", "currently", "did", "do", "does", "doing", "done", "don",
		"each", "either", "etc", "ever", "every", "exactly",
		"few", "for", "from", "further", "given", "had", "has", "have", "having", "hello", "help", "her", "here", "hey", "hi",
		"him", "his", "how", "however", "i", "if", "in", "into", "is", "it", "its", "itself",
		"just", "kind", "kindly", "let", "like", "ll", "may", "me", "might", "more", "most", "must", "my", "myself",
		"need", "no", "nor", "not", "now", "of", "off", "ok", "okay", "on", "once", "only", "or", "other", "our", "out", "own",
		"please", "re", "really", "same", "she", "should", "so", "some", "such",
		"t", "than", "thank", "thanks", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those",
		"through", "to", "too", "tool", "try", "under", "until", "up", "us", "use", "used", "using",
		"ve", "very", "via", "want", "was", "we", "were", "what", "when", "where", "whether", "which", "while", "who",
		"whose", "why", "will", "wish", "with", "within", "without", "would", "yes", "you", "your", "yours":
		return true
	}
	return false
}
