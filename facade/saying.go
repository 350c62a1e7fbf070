package facade

import (
	"errors"
	"strconv"
	"strings"
	"unicode"

	"mcp-facade/compact"
	"mcp-facade/facade/config"
	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"
)

// result is a tools/call result of ours: one text.
func result(v *view, text string, failed bool) []byte {
	b := wire.AppendString([]byte(`{"content":[{"type":"text","text":`), text)
	b = append(b, `}]`...)
	if failed {
		b = append(b, `,"isError":true`...)
	}
	if v.key.Era == modern {
		b = append(b, `,"resultType":"complete"`...)
	}
	return append(b, '}')
}

// trouble is the result of a call that the upstream could not be asked.
func (f *Facade) trouble(v *view, op string, err error, sent bool) []byte {
	r := &refusal{f.describeError(op, err), tryAgain}
	if sent {
		r.next = "The call had been sent and may have been carried out: find out before you call again."
	}
	return result(v, r.Error(), true)
}

// describeError says what failed, on which server, why, and what to do next.
func (f *Facade) describeError(op string, err error) string {
	return f.name() + ": " + compact.Line(op) + ": " + strings.TrimPrefix(f.plain(err), f.name()+": ") + "."
}

// plain is an error as one line, with its hint.
func (f *Facade) plain(err error) string {
	text := strings.TrimRight(cut(compact.Line(err.Error()), 2*maxSaid, "…"), ".")
	if hint := hintOf(err); hint != "" {
		text += "; try: " + compact.Line(hint)
	}
	return text
}

// hintOf is what an error says to do next, or "".
func hintOf(err error) string {
	if ue := new(upstream.Error); errors.As(err, &ue) {
		return ue.Hint
	}
	if ce := new(config.Error); errors.As(err, &ce) {
		return ce.Hint
	}
	return ""
}

// maxQuoted is how much is repeated of what a model or an upstream has said, in
// characters.
const maxQuoted = 200

// quoted is text of others in quotes, on one line.
func quoted(s string) string {
	return string(wire.AppendString(nil, cut(compact.Line(s), maxQuoted, "...")))
}

// spelled is the name of a tool by which it can be called: as it is, or as a JSON
// string if it could be taken for something else. A long one is shortened, and
// that says so.
func spelled(name string) string {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:", r)
	}
	if name == "" || len(name) > maxQuoted || strings.ContainsFunc(name, odd) {
		return quotedName(name)
	}
	return name
}

// quotedName is the name of a tool as a JSON string in which nothing is hidden.
func quotedName(name string) string {
	whole := visible(string(wire.AppendString(nil, name)))
	if short := elided(whole, maxQuoted); short != whole {
		return short + " (not its whole name)"
	}
	return whole
}

// joined are names of tools with commas between.
func joined(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = spelled(name)
	}
	return strings.Join(all, ", ")
}

// ExactName is the name of a tool for a person who is to judge it: in quotes and
// escaped if it could be taken for another one or for words of ours. Of a long one
// the middle is left out.
func ExactName(name string) string {
	if len(name) <= maxQuoted && isUnmistakable(name) {
		return name
	}
	whole := strconv.QuoteToASCII(name)
	if short := elided(whole, maxQuoted); short != whole {
		return short + " (not its whole name)"
	}
	return whole
}

// isUnmistakable reports whether a name has the characters of common names alone, or
// is in a script that has none like them.
func isUnmistakable(name string) bool {
	latin, other := false, false
	odd := strings.ContainsFunc(name, func(r rune) bool {
		latin = latin || r <= unicode.MaxASCII && unicode.IsLetter(r)
		other = other || r > unicode.MaxASCII
		return !strings.ContainsRune("_-./:ー", r) && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)) &&
			!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	})
	return name != "" && !odd && !(latin && other) && visible(name) == name
}

// exactNames are such names with commas between.
func exactNames(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = ExactName(name)
	}
	return strings.Join(all, ", ")
}
