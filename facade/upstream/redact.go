package upstream

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// minSecret is the length in bytes of the shortest secret that is looked
	// for, and of the shortest piece of one at a cut.
	minSecret = 4
	// minCore is the length in bytes of the shortest piece of base64 that is
	// taken for a secret inside a longer value.
	minCore = 8

	redacted = "[redacted]"
)

// A redactor hides secrets in text and makes the text harmless. It does not
// change once made.
type redactor struct {
	forms [][]byte // each secret as it may be written
}

func newRedactor(secrets []string) *redactor {
	seen := map[string]bool{}
	r := &redactor{}
	for _, s := range secrets {
		for _, form := range forms(s) {
			if len(form) >= minSecret && !seen[form] {
				seen[form] = true
				r.forms = append(r.forms, []byte(form))
			}
		}
	}
	return r
}

// line returns raw as one harmless line without secrets.
func (r *redactor) line(raw []byte) string {
	return r.clean(r.hide(raw, false, false))
}

// clean makes raw, in which secrets are hidden, harmless. It looks for secrets
// again, as one may have been interrupted by what is not shown.
func (r *redactor) clean(raw []byte) string {
	return string(r.hide([]byte(harmless(raw)), false, false))
}

// hide replaces the secrets in b. Where b was cut from a longer text, a piece
// of a secret at that end is replaced, too.
func (r *redactor) hide(b []byte, cutStart, cutEnd bool) []byte {
	var found []span
	for _, form := range r.forms {
		found = appendAll(found, b, form)
		if cutStart {
			found = append(found, span{0, overlap(form, b)})
		}
		if cutEnd {
			found = append(found, span{len(b) - overlap(b, form), len(b)})
		}
	}
	return blot(b, found)
}

// A span is a range of bytes.
type span struct{ from, to int }

// appendAll appends where form is in b, also where it overlaps itself.
func appendAll(dst []span, b, form []byte) []span {
	for at := 0; ; at++ {
		i := bytes.Index(b[at:], form)
		if i < 0 {
			return dst
		}
		at += i
		dst = append(dst, span{at, at + len(form)})
	}
}

// overlap returns how many bytes the end of a has in common with the beginning
// of b; fewer than minSecret, or a whole one, do not count.
func overlap(a, b []byte) int {
	for n := min(len(a), len(b)); n >= minSecret; n-- {
		if bytes.Equal(a[len(a)-n:], b[:n]) {
			return n
		}
	}
	return 0
}

// blot replaces the spans of b, those that touch as one.
func blot(b []byte, spans []span) []byte {
	slices.SortFunc(spans, func(x, y span) int { return cmp.Compare(x.from, y.from) })
	var out []byte
	at := 0
	for i := 0; i < len(spans); {
		from, to := spans[i].from, spans[i].to
		for i++; i < len(spans) && spans[i].from <= to; i++ {
			to = max(to, spans[i].to)
		}
		if from == to {
			continue
		}
		out = append(append(out, b[at:from]...), redacted...)
		at = to
	}
	if at == 0 {
		return b
	}
	return append(out, b[at:]...)
}

// forms returns the ways in which programs write a secret. A secret of several
// lines is also looked for line by line, because it is logged so.
func forms(secret string) []string {
	if len(secret) < minSecret {
		return nil
	}
	var all []string
	for _, s := range append(strings.FieldsFunc(secret, isLineEnd), secret) {
		if s = strings.TrimSpace(s); len(s) >= minSecret {
			all = append(all, s)
			all = append(all, jsonForms(s)...)
			all = append(all, urlForms(s)...)
			all = append(all, base64Forms(s)...)
		}
	}
	return append(all, secret)
}

func isLineEnd(r rune) bool { return r == '\n' || r == '\r' }

func jsonForms(s string) []string {
	marshalled, _ := json.Marshal(s) // a string always can be
	html := string(marshalled[1 : len(marshalled)-1])
	plain := strings.NewReplacer(`\u003c`, `<`, `\u003e`, `>`, `\u0026`, `&`).Replace(html)
	ascii := strconv.QuoteToASCII(s)
	return []string{html, plain, strings.ReplaceAll(plain, `/`, `\/`), utf16Escapes(plain), ascii[1 : len(ascii)-1]}
}

// utf16Escapes writes all that is not ASCII as \uXXXX, as many encoders do.
func utf16Escapes(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xFFFF:
			r -= 0x10000
			b.WriteString(`\u` + strconv.FormatInt(int64(0xD800+r>>10), 16) + `\u` + strconv.FormatInt(int64(0xDC00+r&0x3FF), 16))
		default:
			b.WriteString(`\u` + strconv.FormatInt(int64(0x10000+r), 16)[1:])
		}
	}
	return b.String()
}

func urlForms(s string) []string {
	query := url.QueryEscape(s)
	component := strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(query)
	all := []string{query, component, url.PathEscape(s)}
	for _, form := range all {
		all = append(all, lowerEscapes(form))
	}
	return all
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// base64Forms returns s in base64 and, for each of the three places where it
// can begin in a longer value ("user:secret"), the characters that depend on s
// alone.
func base64Forms(s string) []string {
	var all []string
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		all = append(all, enc.EncodeToString([]byte(s)), enc.WithPadding(base64.StdPadding).EncodeToString([]byte(s)))
		for before := range 3 {
			whole := enc.EncodeToString(append(make([]byte, before), s...))
			core := whole[(before*8+5)/6 : (before+len(s))*8/6]
			if len(core) >= minCore {
				all = append(all, core)
			}
		}
	}
	return all
}

// harmless returns raw as text that does nothing to a terminal and hides
// nothing from a reader: escape sequences, control characters and characters
// that are not seen are removed, invalid UTF-8 becomes U+FFFD, white space a
// space.
func harmless(raw []byte) string {
	var b strings.Builder
	for len(raw) > 0 {
		if n := escapeLen(raw); n > 0 {
			raw = raw[n:]
			continue
		}
		r, n := utf8.DecodeRune(raw)
		raw = raw[n:]
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			b.WriteByte(' ')
		case !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// escapeLen returns the length of the terminal escape sequence at the
// beginning of b, or 0. ECMA-48, 5.4 (control sequences) and 5.6 (strings).
func escapeLen(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("\u009b")):
		return 2 + sequenceLen(b[2:], 0x40)
	case b[0] != 0x1b:
		return 0
	case len(b) == 1:
		return 1
	case b[1] == '[':
		return 2 + sequenceLen(b[2:], 0x40)
	case bytes.IndexByte([]byte("]PX^_"), b[1]) >= 0:
		return 2 + stringLen(b[2:])
	}
	return 1 + sequenceLen(b[1:], 0x30)
}

// sequenceLen returns the length of parameter and intermediate bytes and the
// final byte, which is the first from final on.
func sequenceLen(b []byte, final byte) int {
	for i, c := range b {
		switch {
		case c < 0x20 || c > 0x7e:
			return i
		case c >= final:
			return i + 1
		}
	}
	return len(b)
}

// stringLen returns the length of a control string up to its end, BEL or
// ESC \, or of all if it has none.
func stringLen(b []byte) int {
	for i, c := range b {
		switch {
		case c == 0x07:
			return i + 1
		case c == 0x1b && i+1 < len(b) && b[i+1] == '\\':
			return i + 2
		}
	}
	return len(b)
}
