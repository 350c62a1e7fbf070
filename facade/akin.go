package facade

import (
	"slices"
	"strings"
	"unicode"
)

// sameName reports whether two names of parameters are one: in another case,
// with other separators, with one typing error, or in other words for the same.
func sameName(a, b string) bool {
	return slices.Equal(wordsOfName(a), wordsOfName(b)) || slips(letters(a), letters(b))
}

// letters are those of a name, and its digits.
func letters(name string) string { return strings.Join(lettered(name, ""), "") }

// akin reports whether one of two names has the words of the other, and besides
// only such as the subject has, or one for an id: in get_issue, "issue_number"
// may be "id" and "issue" may be "issue_id".
func akin(a, b string, subject []string) bool {
	few, many := wordsOfName(a), wordsOfName(b)
	if len(few) > len(many) {
		few, many = many, few
	}
	for _, w := range few {
		if !slices.Contains(many, w) {
			return false
		}
	}
	for _, w := range many {
		if !slices.Contains(few, w) && !slices.Contains(subject, w) && w != "id" {
			return false
		}
	}
	return len(few) > 0
}

// wordsOfName are the words of a name, singular, in lower case, each in the form
// that stands for all that mean the same.
func wordsOfName(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if lower && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
	}
	words := strings.Fields(b.String())
	for i, w := range words {
		if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			w = w[:len(w)-1]
		}
		for _, group := range alike {
			if slices.Contains(group, w) {
				w = group[0]
			}
		}
		words[i] = w
	}
	return words
}

// alike are groups of words that stand for one another in the names of
// parameters.
var alike = [...][]string{
	{"id", "ids", "identifier", "uid", "uuid", "guid", "iid", "key", "number", "num", "no", "nr"},
	{"query", "q", "search", "term", "keyword"},
	{"text", "content", "body", "message", "msg"},
	{"title", "name", "subject"},
	{"path", "file", "filename", "filepath"},
	{"url", "uri", "link", "href"},
	{"repository", "repo"},
	{"organization", "organisation", "org"},
	{"directory", "dir", "folder"},
	{"description", "desc"},
	{"language", "lang"},
}

// slips reports whether two words differ by one typing error: a letter too many,
// two letters swapped or, in a long word, another letter. In short ones that is
// often another word.
func slips(a, b string) bool {
	const least, long = 4, 6
	if max(len(a), len(b)) < least {
		return false
	}
	size := min(len(a), len(b))
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	switch {
	case len(a)+len(b) <= 1:
		return true
	case len(a) == 1 && len(b) == 1:
		return size >= long
	}
	return len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}
