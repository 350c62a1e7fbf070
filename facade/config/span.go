package config

import (
	"math"
	"strings"
	"time"
	"unicode"
)

// aSpan describes what span reads.
const aSpan = `a duration such as "20s", "1h30m" or "7d"`

// span reads a length of time, in Go's notation or in days. It is more than
// zero.
func span(r *reader, v value) (time.Duration, bool) { return r.span(v, aSpan) }

// spanOrNone also reads "none", as 0.
func spanOrNone(r *reader, v value) (time.Duration, bool) {
	if v.kind() == '"' && v.text() == "none" {
		return 0, true
	}
	return r.span(v, aSpan+`, or "none"`)
}

func (r *reader) span(v value, want string) (time.Duration, bool) {
	if v.kind() == '0' {
		r.fail(v, "want %s, have a number%s", want, nearSpan(v.text()))
		return 0, false
	}
	if v.kind() != '"' {
		r.want(v, want)
		return 0, false
	}
	switch d, ok := parseSpan(v.text()); {
	case !ok:
		r.fail(v, "want %s, have %s%s", want, quoted(v.text()), nearSpan(v.text()))
	case d <= 0:
		r.fail(v, "want %s of more than zero, have %s", want, quoted(v.text()))
	default:
		return d, true
	}
	return 0, false
}

// parseSpan reads what time.ParseDuration reads, and a number of days.
func parseSpan(s string) (time.Duration, bool) {
	days, ok := strings.CutSuffix(s, "d")
	if !ok {
		d, err := time.ParseDuration(s)
		return d, err == nil
	}
	if strings.ContainsFunc(days, unicode.IsLetter) {
		return 0, false
	}
	d, err := time.ParseDuration(days + "h")
	if err != nil || d > math.MaxInt64/24 || d < math.MinInt64/24 {
		return 0, false
	}
	return 24 * d, true
}

// nearSpan suggests what a number with another word for its unit, or with
// none, may have meant.
func nearSpan(s string) string {
	s = strings.ToLower(strings.Join(strings.Fields(s), ""))
	at := strings.IndexFunc(s, func(c rune) bool { return (c < '0' || c > '9') && c != '.' })
	if at < 0 {
		at = len(s)
	}
	unit, known := "s", at == len(s)
	units := [][2]string{{"ms", "ms"}, {"milli", "ms"}, {"s", "s"}, {"mo", "no unit"}, {"m", "m"}, {"h", "h"}, {"d", "d"}}
	for _, u := range units {
		if !known && strings.HasPrefix(s[at:], u[0]) {
			unit, known = u[1], true
		}
	}
	near := s[:at] + unit
	if d, ok := parseSpan(near); !known || !ok || d <= 0 {
		return ""
	}
	return "; nearest: " + quoted(near)
}
