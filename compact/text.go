package compact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence returns the first sentence of a description, at most limit
// characters long. Headings, tags and code blocks before the prose are passed
// over, a sentence that only opens a list takes the list with it, and what is
// too long is cut between words and ends in "…". The result is clean as Line
// makes it, and its own first sentence.
func Sentence(s string, limit int) string {
	for {
		next := cut(firstSentence(prose(s)), limit)
		if next == s {
			return s
		}
		s = next
	}
}

// firstSentence returns the first sentence of one line of prose. One of a
// single word ("Required.") takes the next one with it.
func firstSentence(s string) string {
	s = skipAside(s)
	if i := forgottenStop(s); i > 0 {
		s = s[:i]
	}
	from, end := 0, 0
	for end < len(s) && oneWord(s[from:end]) {
		from, end = end, sentenceEnd(s, end)
	}
	return s[:end]
}

// skipAside passes over sentences in brackets that s begins with, if prose
// follows them: "(Alpha. Ask for access.) Runs a query."
func skipAside(s string) string {
	if !strings.HasPrefix(s, "(") {
		return s
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth > 0 {
			continue
		}
		if rest, more := strings.CutPrefix(s[i+1:], " "); more && s[i-1] == '.' {
			return rest
		}
		break
	}
	return s
}

// forgottenStop returns where a sentence ends that its author forgot to end
// before saying when the tool is for, or 0.
func forgottenStop(s string) int {
	if !strings.Contains(s, " Use ") {
		return 0
	}
	for _, next := range []string{" Use when ", " Use this "} {
		i := strings.Index(s, next)
		if i <= 0 {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		if unicode.IsLetter(before) || unicode.IsDigit(before) || before == ')' {
			return i
		}
	}
	return 0
}

// oneWord reports whether s is at most a single word. Text in a script without
// spaces is never one.
func oneWord(s string) bool {
	s = strings.TrimSpace(s)
	if strings.ContainsRune(s, ' ') {
		return false
	}
	return !strings.ContainsFunc(s, unspaced)
}

// unspaced reports whether r is of a script that puts no spaces between words,
// or punctuation of it.
func unspaced(r rune) bool {
	if r < 0x0e00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) ||
		r >= 0x3000 && r <= 0x303f || r >= 0xff01 && r <= 0xff65
}

// sentenceEnd returns where the sentence ends that begins at from, closing
// quotes and brackets included. Full stops in brackets, quotes and code do not
// end it, unless nothing else does.
func sentenceEnd(s string, from int) int {
	end, open := scanSentence(s, from, true)
	if open {
		end, _ = scanSentence(s, from, false)
	}
	return end
}

// scanSentence returns where the sentence ends that begins at from, and whether
// that is the end of s with a bracket still open.
func scanSentence(s string, from int, nesting bool) (end int, open bool) {
	depth := 0
	for i := from; i < len(s); {
		if c := s[i]; c >= 'a' && c <= 'z' || c == ' ' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '`':
			n = spanEnd(s, i) - i
		case isTerminal(r):
			stop := terminalsEnd(s, i)
			end, closed := closersEnd(s, stop)
			if closed >= depth && ends(s, from, i, stop, end) {
				return end, false
			}
			n = stop - i
		case !nesting:
		case isQuote(r):
			end := quoteEnd(s, i, r)
			if end > 0 && depth == 0 && endsInside(s, i, end) {
				return end, false
			}
			n = max(n, end-i)
		default:
			depth = max(0, depth+bracket(r))
		}
		i += n
	}
	return len(s), depth > 0
}

// bracket returns 1 for a bracket that opens, -1 for one that closes.
func bracket(r rune) int {
	switch r {
	case '(', '[', '{', '（':
		return 1
	case ')', ']', '}', '）':
		return -1
	}
	return 0
}

// spanEnd returns where the code span ends that begins at i, or where its
// opening backticks do when nothing closes it.
func spanEnd(s string, i int) int {
	open := i
	for i < len(s) && s[i] == '`' {
		i++
	}
	if j := strings.Index(s[i:], s[open:i]); j >= 0 {
		return i + j + (i - open)
	}
	return i
}

func isQuote(r rune) bool { return r == '"' || r == '\'' || r == '“' || r == '«' }

// maxQuote is how far a quotation is looked for, in bytes; a longer one is
// taken for an apostrophe or a mark of inches.
const maxQuote = 160

// quoteEnd returns where the quotation ends that the quote r at i opens, or 0
// when it opens none.
func quoteEnd(s string, i int, r rune) int {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	if i > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before)) {
		return 0
	}
	closing := r
	switch r {
	case '“':
		closing = '”'
	case '«':
		closing = '»'
	}
	from := i + utf8.RuneLen(r)
	rest := s[from:min(len(s), from+maxQuote)]
	for at := 0; ; {
		j := strings.IndexRune(rest[at:], closing)
		if j < 0 {
			return 0
		}
		at += j + utf8.RuneLen(closing)
		next, _ := utf8.DecodeRuneInString(s[from+at:])
		if !unicode.IsLetter(next) && !unicode.IsDigit(next) || from+at == len(s) {
			return from + at
		}
	}
}

// endsInside reports whether the quotation s[i:end] ends a sentence with a
// full stop of its own: “Foo is “bar.” Next.”
func endsInside(s string, i, end int) bool {
	_, n := utf8.DecodeLastRuneInString(s[:end])
	last, m := utf8.DecodeLastRuneInString(s[i : end-n])
	if !isTerminal(last) || end == len(s) {
		return false
	}
	return ends(s, i, end-n-m, end-n, end)
}

func isTerminal(r rune) bool {
	switch r {
	case '.', '!', '?', '…', '。', '！', '？', '｡', '．', '؟', '۔', '।', '॥':
		return true
	}
	return false
}

// terminalsEnd returns where the run of terminal marks at i ends.
func terminalsEnd(s string, i int) int {
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !isTerminal(r) {
			break
		}
		i += n
	}
	return i
}

// closersEnd returns where the closing quotes, brackets and emphasis marks at
// i end, and how many of them are brackets.
func closersEnd(s string, i int) (end, brackets int) {
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch r {
		case ')', ']', '}', '）', '］':
			brackets++
		case '"', '\'', '”', '’', '»', '*', '_', '」', '』', '】', '》':
		default:
			return i, brackets
		}
		i += n
	}
	return i, brackets
}

// ends reports whether the terminal marks s[i:stop], which quotes and brackets
// close at end, end the sentence that began at from.
func ends(s string, from, i, stop, end int) bool {
	if end == len(s) {
		return true
	}
	mark, _ := utf8.DecodeRuneInString(s[i:])
	next, n := utf8.DecodeRuneInString(s[end:])
	if mark > 0x3000 { // 。！？ and their like need no space
		return end == stop || !unicode.IsLetter(next)
	}
	if next != ' ' {
		return mark != '.' && unspaced(next) || mark == '.' && unicode.IsUpper(next) && glued(s[from:i], s[end:])
	}
	next, _ = utf8.DecodeRuneInString(s[end+n:])
	switch {
	case unicode.IsLower(next) && (mark != '.' || end > stop):
		return false
	case mark == '…' || stop-i > 1 && s[i:min(stop, i+2)] == "..":
		return i > from && s[i-1] != ' ' && s[i-1] != ',' && !unicode.IsLower(next) && next != '('
	case mark == '.':
		return !continued(s[from:i], s[end+n:])
	}
	return true
}

// glued reports whether before and after are two sentences between which only
// the space was forgotten: "on a server.This command", but not "Node.The".
func glued(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	return unicode.IsLower(last) && strings.Contains(after, " ") && startsSentence(after)
}

// continued reports whether a sentence goes on after before and a full stop,
// with after: the full stop is part of an abbreviation or of a number.
func continued(before, after string) bool {
	word := lastWord(before)
	next, _ := utf8.DecodeRuneInString(after)
	switch {
	case word == "" || !strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		return strings.TrimSpace(before) == ""
	case len(word) == len(strings.TrimSpace(before)) && isNumber(word): // "1. Do this"
		return true
	case neverLast[strings.ToLower(word)]:
		return true
	case isInitials(word):
		return !startsSentence(after)
	case mayBeLast(strings.ToLower(word)):
		return !unicode.IsUpper(next)
	}
	return false
}

// abbreviated reports whether the full stop after before belongs to its last
// word.
func abbreviated(before string) bool {
	word := lastWord(before)
	lower := strings.ToLower(word)
	return neverLast[lower] || lower == "etc" || strings.Contains(word, ".") && isInitials(word)
}

// lastWord returns what stands between the last space, bracket or quote in s
// and its end.
func lastWord(s string) string {
	return s[strings.LastIndexAny(s, " ([{\"'`/,*")+1:]
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// neverLast has abbreviations, in lower case and without their last full stop,
// after which a sentence always goes on.
var neverLast = map[string]bool{
	"e.g": true, "i.e": true, "eg": true, "ie": true, "vs": true, "cf": true, "viz": true,
	"approx": true, "resp": true, "esp": true, "incl": true, "excl": true, "ca": true,
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "fig": true, "vol": true,
}

// mayBeLast reports whether word, in lower case, is an abbreviation that also
// ends sentences: what follows it decides.
func mayBeLast(word string) bool {
	switch word {
	case "etc", "inc", "ltd", "co", "corp", "jr", "sr", "al", "no", "nr", "max", "min", "num", "opt",
		"req", "dept", "ver", "sec", "ext", "temp", "abbr", "misc", "a.m", "p.m", "a.k.a":
		return true
	}
	return false
}

// isInitials reports whether word is one capital letter, or letters with full
// stops between them: "J", "U.S", "z.B".
func isInitials(word string) bool {
	count := 0
	for _, r := range word {
		if count%2 == 1 && r != '.' || count%2 == 0 && !unicode.IsLetter(r) {
			return false
		}
		count++
	}
	first, _ := utf8.DecodeRuneInString(word)
	return count%2 == 1 && (count > 1 || unicode.IsUpper(first))
}

// startsSentence reports whether s begins with a word that, capitalized, begins
// sentences rather than names.
func startsSentence(s string) bool {
	word, _, _ := strings.Cut(s, " ")
	switch strings.TrimRight(word, ",:;") {
	case "The", "This", "These", "Those", "That", "There", "It", "Its", "If", "When", "Where", "You", "Your",
		"We", "Use", "Used", "A", "An", "For", "In", "On", "To", "By", "Only", "Not", "No", "Must", "Can",
		"May", "Should", "Will", "Default", "Defaults", "Optional", "Required", "Returns", "Requires",
		"Note", "See", "Set", "Otherwise", "However", "Each", "All", "Any", "One", "Also", "Then", "Example":
		return true
	}
	return false
}

// cut returns s, shortened to limit characters between two words and with "…"
// at its end if it is longer.
func cut(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	if limit <= 0 {
		return ""
	}
	word, char := cutPoints(s, limit-1)
	if kept := trimCut(s[:word]); kept != "" {
		return kept + "…"
	}
	return trimCut(s[:char]) + "…"
}

// cutPoints returns the last places in the first limit characters of s where
// it may be cut: between two words, and between two characters as readers see
// them. Either is 0 if there is none.
func cutPoints(s string, limit int) (word, char int) {
	count, before := 0, rune(' ')
	for i, r := range s {
		if !joined(s[:i], before, r) {
			char = i
			if r == ' ' || unspaced(before) || unspaced(r) && before != ' ' {
				word = i
			}
		}
		if count == limit {
			break
		}
		count++
		before = r
	}
	return word, char
}

// joined reports whether r belongs to the character that ends s with before.
func joined(s string, before, r rune) bool {
	if r < 0x300 && before < 0x300 {
		return false
	}
	const joiner = '\u200d'
	switch {
	case r == joiner || before == joiner, unicode.Is(unicode.M, r), r >= 0x1f3fb && r <= 0x1f3ff:
		return true
	case isFlag(r) && isFlag(before):
		return flagsBefore(s)%2 == 1
	}
	return false
}

// isFlag reports whether r is a regional indicator: two of them are one flag.
func isFlag(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// flagsBefore counts the regional indicators that end s.
func flagsBefore(s string) int {
	return (len(s) - len(strings.TrimRightFunc(s, isFlag))) / utf8.RuneLen(0x1f1e6)
}

// trimCut removes what should not stand before "…".
func trimCut(s string) string {
	for {
		s = strings.TrimRight(s, " ,;:.…—–-([{\"'“‘«*_、，；：（「『【《/|&+=")
		word := lastWord(s)
		if !goesOn(word) && !neverLast[word] || len(word) == len(s) {
			return s
		}
		s = s[:len(s)-len(word)]
	}
}
