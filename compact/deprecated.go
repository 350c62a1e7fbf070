package compact

import (
	"slices"
	"strings"
	"unicode"
)

// maxNotice is how much of a description is looked at for a notice, in bytes.
const maxNotice = 2000

// Deprecated returns the sentence of a description that says that its tool is
// out of use, or "": one that begins with the word, has it in capitals or says
// it of "this tool", or "Use other_tool instead" where that is said first. What
// is deprecated about other things does not count.
func Deprecated(description string) string {
	notice, _ := cutNotice(description)
	return notice
}

// cutNotice cuts the notice out of a description. What is left may begin with
// the end of a long one.
func cutNotice(description string) (notice, rest string) {
	at := noticeAt(description[:min(len(description), maxNotice)])
	if at < 0 {
		return "", description
	}
	end := len(description)
	for _, stop := range []string{"\n", ". ", "! "} {
		if i := strings.Index(description[at:end], stop); i >= 0 {
			end = at + i + 1
		}
	}
	const marks = "*_`[]() \n"
	word, said, _ := strings.Cut(description[at:end], " ")
	notice = strings.TrimRight(word, marks) + " " + strings.Trim(said, marks)
	return Sentence(notice, maxDescription), strings.TrimRight(description[:at], marks) + " " + description[end:]
}

// toldOf is the first sentence of a description, after what it says about the
// tool being out of use, so that this is not cut off.
func toldOf(description string) string {
	notice, rest := cutNotice(description)
	if notice == "" {
		return Sentence(description, maxDescription)
	}
	return strings.TrimSpace(cut(notice+" "+Sentence(rest, maxDescription), maxDescription))
}

// noticeAt returns where a notice begins, or -1.
func noticeAt(s string) int {
	begin := strings.IndexFunc(s, unicode.IsLetter)
	if begin < 0 || insteadOf(s[begin:]) {
		return begin
	}
	const word = "deprecated"
	if !strings.Contains(s, word[1:]) && !strings.Contains(s, strings.ToUpper(word)[1:]) {
		return -1
	}
	for at := 0; at+len(word) <= len(s); at++ {
		c := s[at]
		if c != 'd' && c != 'D' || !strings.EqualFold(s[at:at+len(word)], word) || inWord(s, at, at+len(word)) {
			continue
		}
		if at == begin || s[at:at+len(word)] == strings.ToUpper(word) {
			return at
		}
		if from := ofThis(s[:at]); from >= 0 {
			return from
		}
	}
	return -1
}

// insteadOf reports whether s begins with "Use X instead".
func insteadOf(s string) bool {
	words := strings.Fields(s[:min(len(s), 200)])
	return len(words) > 2 && strings.EqualFold(words[0], "use") && strings.EqualFold(strings.TrimRight(words[2], ".,;:!*"), "instead")
}

// inWord reports whether s[from:to] is only a part of a word.
func inWord(s string, from, to int) bool {
	letter := func(i int) bool { return i >= 0 && i < len(s) && (isLetter(s[i]) || isDigit(s[i]) || s[i] == '_') }
	return letter(from-1) || letter(to)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// ofThis returns where the "this tool is" begins that s ends with, or -1.
func ofThis(s string) int {
	at := strings.LastIndex(strings.ToLower(s), "this ")
	if at < 0 || len(strings.ToLower(s)) != len(s) {
		return -1
	}
	words := strings.Fields(strings.ToLower(s[at:]))
	things := []string{"tool", "endpoint", "method", "function", "command", "action", "operation", "api"}
	if len(words) < 3 || len(words) > 5 || !slices.Contains(things, words[1]) {
		return -1
	}
	for _, w := range words[2:] {
		if !slices.Contains([]string{"is", "was", "has", "been", "now", "being"}, w) {
			return -1
		}
	}
	return at
}
