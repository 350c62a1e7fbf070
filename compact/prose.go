package compact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRead is how much of a description is read for its first sentence, in
// bytes. The longest real one is 13 KB.
const maxRead = 16 << 10

// prose returns the first paragraph of prose in a description, as one line.
// Headings, tags, rules and code blocks before it are passed over; where there
// is nothing else, the first heading stands for it. A paragraph that opens a
// list has the list's items at its end.
func prose(s string) string {
	if isLine(s) && len(s) <= maxRead && !marked(s) {
		return s
	}
	r := reader{lines: cleanLines(s)}
	if text := r.paragraph(); text != "" {
		return text
	}
	return r.title
}

// marked reports whether a line may begin with a mark that is no prose.
func marked(s string) bool {
	return s != "" && strings.IndexByte("#<*->`=_~+", s[0]) >= 0
}

// cleanLines returns the lines of s as Line makes each of them.
func cleanLines(s string) []string {
	s = strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) || hidden(r) })
	s = strings.ReplaceAll(head(s, maxRead), "\r\n", "\n")
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		lines = append(lines, Line(line))
	}
	return lines
}

// head returns the first n bytes of s, or a few fewer so as not to cut inside
// a character.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// A reader goes through the lines of a description.
type reader struct {
	lines []string
	title string // the first heading that was passed over
}

// paragraph returns the first paragraph of prose, or "".
func (r *reader) paragraph() string {
	for len(r.lines) > 0 {
		if r.skipBlock() {
			continue
		}
		if text := r.gather(); text != "" {
			return text
		}
	}
	return ""
}

// next removes the first line and returns it.
func (r *reader) next() string {
	line := r.lines[0]
	r.lines = r.lines[1:]
	return line
}

// peek returns the line after the first, or "".
func (r *reader) peek() string {
	if len(r.lines) < 2 {
		return ""
	}
	return r.lines[1]
}

// skipBlock passes over what begins at the first line if that is no prose.
func (r *reader) skipBlock() bool {
	line := r.lines[0]
	switch {
	case line == "" || isRule(line):
		r.next()
	case isFence(line):
		r.skipTo(line[:3])
	case strings.HasPrefix(line, "<!--"):
		r.skipTo("-->")
	case r.skipTag(line):
	case r.skipHeading(line):
	default:
		return false
	}
	return true
}

// skipTo passes over the first line and all up to the one that has end in it;
// over the first alone when none has.
func (r *reader) skipTo(end string) {
	first := r.next()
	if rest, ok := strings.CutPrefix(first, "<!--"); ok {
		if _, after, closed := strings.Cut(rest, end); closed {
			r.lines = append([]string{strings.TrimSpace(after)}, r.lines...)
			return
		}
	}
	for i, line := range r.lines {
		if _, after, found := strings.Cut(line, end); found {
			r.lines = append([]string{strings.TrimSpace(after)}, r.lines[i+1:]...)
			return
		}
	}
}

func isFence(line string) bool {
	return strings.HasPrefix(line, "```") && !strings.Contains(line[3:], "`") || strings.HasPrefix(line, "~~~")
}

// isRule reports whether line is drawn: "---", "* * *", "=====".
func isRule(line string) bool {
	marks := strings.ReplaceAll(line, " ", "")
	return len(marks) >= 3 && strings.Trim(marks, "-=_*~#") == ""
}

// skipTag removes a tag that the first line begins with, if it stands alone or
// is closed later on. What follows the closing tag is a paragraph of its own.
func (r *reader) skipTag(line string) bool {
	name, rest, ok := cutTag(line)
	if !ok {
		return false
	}
	closing := "</" + name + ">"
	body, after, closed := strings.Cut(strings.Join(r.lines, "\n")[len(line)-len(rest):], closing)
	switch {
	case strings.HasPrefix(line, "</"), rest == "":
		r.lines[0] = strings.TrimSpace(rest)
		return true
	case !closed:
		return false
	}
	if inline(name) {
		r.lines = strings.Split(strings.TrimSpace(body)+after, "\n")
	} else {
		r.lines = strings.Split(strings.TrimSpace(body)+"\n\n"+strings.TrimSpace(after), "\n")
	}
	return true
}

// cutTag returns the name of the tag that s begins with and what follows it.
func cutTag(s string) (name, rest string, ok bool) {
	inside, rest, ok := strings.Cut(s, ">")
	if !ok || !strings.HasPrefix(inside, "<") || len(inside) > 100 {
		return "", "", false
	}
	name, _, _ = strings.Cut(strings.Trim(inside[1:], "/"), " ")
	if name == "" || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		return "", "", false
	}
	return name, rest, true
}

// inline reports whether a tag marks words rather than a part of the text.
func inline(tag string) bool {
	switch strings.ToLower(tag) {
	case "a", "b", "i", "u", "em", "strong", "code", "span", "kbd", "sub", "sup", "mark", "small":
		return true
	}
	return false
}

// skipHeading passes over a heading: "# Title", a line in bold, an underlined
// line, a label such as "Purpose:" with no list below it.
func (r *reader) skipHeading(line string) bool {
	title, ok := heading(line)
	if under := r.peek(); !ok && len(under) >= 3 && (strings.Trim(under, "=") == "" || strings.Trim(under, "-") == "") {
		title, ok = line, true
	}
	if !ok && isLabel(line) && len(r.lines) > 1 && !isItem(r.peek()) && r.peek() != "" {
		title, ok = line, true
	}
	if !ok {
		return false
	}
	if r.title == "" {
		r.title = title
	}
	r.next()
	return true
}

// heading returns the text of a line that is marked as one.
func heading(line string) (string, bool) {
	if text := strings.TrimLeft(line, "#"); len(text) < len(line) && len(line)-len(text) <= 6 && strings.HasPrefix(text, " ") {
		return strings.Trim(text, "# "), true
	}
	for _, mark := range []string{"**", "__"} {
		text, ok := strings.CutPrefix(strings.TrimSuffix(line, ":"), mark)
		if text, closed := strings.CutSuffix(text, mark); ok && closed && text != "" && !strings.Contains(text, mark) {
			return strings.TrimSuffix(text, ":"), true
		}
	}
	return "", false
}

// isLabel reports whether line is a word or two and a colon.
func isLabel(line string) bool {
	label, ok := strings.CutSuffix(line, ":")
	return ok && strings.Count(label, " ") <= 1 && !strings.ContainsAny(label, ".,`\"'(")
}

// gather returns the paragraph that begins at the first line.
func (r *reader) gather() string {
	if text, ok := item(r.lines[0]); ok && (isItem(r.peek()) || !isDigit(r.lines[0][0])) {
		if !isItem(r.peek()) {
			r.next()
			return text
		}
		return r.items()
	}
	text := strings.TrimPrefix(r.next(), "> ")
	for last := text; len(r.lines) > 0 && !r.breaks(last); {
		last = r.next()
		text += " " + strings.TrimPrefix(last, "> ")
	}
	if strings.HasSuffix(text, ":") {
		for len(r.lines) > 0 && r.lines[0] == "" {
			r.next()
		}
		if len(r.lines) > 0 && isItem(r.lines[0]) {
			text += " " + r.items()
		}
	}
	return text
}

// wrapped is the length from which on a line that ends without a full stop is
// taken to go on in the next one, in bytes. Authors who wrap do so later.
const wrapped = 60

// breaks reports whether the first line does not continue the line last.
func (r *reader) breaks(last string) bool {
	line := r.lines[0]
	if line == "" || isItem(line) || isFence(line) || isRule(line) || isTagLine(line) {
		return true
	}
	if _, ok := heading(line); ok || startsLabel(line) {
		return true
	}
	first, _ := utf8.DecodeRuneInString(line)
	return len(last) < wrapped && !unicode.IsLower(first) && !goesOn(last)
}

func isTagLine(line string) bool {
	_, rest, ok := cutTag(line)
	return ok && rest == ""
}

// goesOn reports whether line ends in the middle of a sentence.
func goesOn(line string) bool {
	if strings.HasSuffix(line, ",") || strings.HasSuffix(line, "(") {
		return true
	}
	switch line[strings.LastIndexByte(line, ' ')+1:] {
	case "a", "an", "and", "any", "as", "at", "by", "for", "from", "in", "into", "is", "of", "on", "or", "the", "this", "to", "with", "your":
		return true
	}
	return false
}

// startsLabel reports whether line begins with a label: "Format: a/b".
func startsLabel(line string) bool {
	label, rest, ok := strings.Cut(line, ":")
	first, _ := utf8.DecodeRuneInString(label)
	return ok && unicode.IsUpper(first) && (rest == "" || rest[0] == ' ') && isLabel(label+":")
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isItem(line string) bool {
	_, ok := item(line)
	return ok
}

// item returns the text of a line that is an item of a list.
func item(line string) (string, bool) {
	mark, text, ok := strings.Cut(line, " ")
	if !ok {
		return "", false
	}
	switch mark {
	case "-", "*", "+", "•", "–", "—", "◦", "▪", "·":
		return text, true
	}
	number := strings.TrimRight(mark, ".)")
	return text, len(number) == len(mark)-1 && len(number) <= 2 && isNumber(number)
}

// items returns the first sentences of the items of the list that begins at
// the first line.
func (r *reader) items() string {
	var b strings.Builder
	for len(r.lines) > 0 && b.Len() < maxRead {
		text, ok := item(r.next())
		if !ok {
			break
		}
		for len(r.lines) > 0 && !r.breaks(text) {
			text += " " + r.next()
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(strings.TrimRight(dropStop(firstSentence(text)), ";,"))
		for len(r.lines) > 1 && r.lines[0] == "" && isItem(r.lines[1]) {
			r.next()
		}
		if len(r.lines) > 0 && !isItem(r.lines[0]) {
			break
		}
	}
	return b.String()
}
