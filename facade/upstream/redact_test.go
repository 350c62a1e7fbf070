package upstream

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	const tricky = `p"a/s+s w<ör>d\`
	marshalled, _ := json.Marshal(tricky)
	for _, tt := range []struct {
		name    string
		secrets []string
		in, out string
	}{
		{"leaves text alone", []string{"hunter22"}, "all is well", "all is well"},
		{"hides every occurrence", []string{"hunter22"}, "hunter22, hunter22", "[redacted], [redacted]"},
		{"hides those that touch as one", []string{"hunter22"}, "<hunter22hunter22>", "<[redacted]>"},
		{"prefers the longest", []string{"hunt", "hunter22"}, "hunter22 hunter", "[redacted] [redacted]er"},
		{"hides those that overlap whole", []string{"abcdef", "defghi"}, "-abcdefghi-", "-[redacted]-"},
		{"hides one that overlaps itself", []string{"abab"}, "-ababab-", "-[redacted]-"},
		{"passes over short ones", []string{"abc", ""}, "abc", "abc"},
		{"hides four bytes", []string{"abcd"}, "abcd", "[redacted]"},
		{"hides it in JSON", []string{tricky}, string(marshalled), `"[redacted]"`},
		{"hides it in JSON of other encoders", []string{tricky}, `"p\"a\/s+s w<ör>d\\" "p\"a/s+s w<\u00f6r>d\\"`, `"[redacted]" "[redacted]"`},
		{"hides a character of two units in JSON", []string{"key😀key"}, `key\ud83d\ude00key`, "[redacted]"},
		{"hides it in a query", []string{tricky}, "k=" + url.QueryEscape(tricky), "k=[redacted]"},
		{"hides it in a path", []string{tricky}, "/" + url.PathEscape(tricky), "/[redacted]"},
		{"hides it in lower-case escapes", []string{tricky}, strings.ToLower(url.QueryEscape(tricky)), "[redacted]"},
		{"hides it as encodeURIComponent writes it", []string{"it's (mine)!/"}, "it's%20(mine)!%2F", "[redacted]"},
		{"hides it in base64", []string{"hunter22"}, base64.RawURLEncoding.EncodeToString([]byte("hunter22")), "[redacted]"},
		{"hides it in basic authentication", []string{"hunter22"}, "Basic " + base64.StdEncoding.EncodeToString([]byte("me:hunter22")), "Basic bWU6[redacted]"},
		{"hides it with escape sequences in it", []string{"hunter22"}, "hun\x1b[1mter\x1b]0;title\x0722", "[redacted]"},
		{"hides it with unseen characters in it", []string{"hunter22"}, "hun\u200bter\u202e22", "[redacted]"},
		{"hides each line of a secret", []string{"first line\nsecond line\n"}, "second line", "[redacted]"},
		{"hides a secret that is not UTF-8", []string{"\xff\xfe\xfd\xfc"}, "a\xff\xfe\xfd\xfcb", "a[redacted]b"},
		{"removes escape sequences", nil, "\x1b[1;31mred\x1b[0m \x1b(Bb \u009b2Kc \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ \x1bMd", "red b c link d"},
		{"removes one that has no end", nil, "a\x1b[12", "a"},
		{"removes one that has not begun", nil, "a\x1b", "a"},
		{"removes control characters", nil, "a\x00\x07\x08\x7f\u0085b", "ab"},
		{"removes what changes direction", nil, "a\u202e\u2066b\u2069", "ab"},
		{"removes what is not seen", nil, "a\u200b\u200d\ufeff\u00ad\u034f\u3164\U000e0041\ufe0fb", "ab"},
		{"replaces invalid UTF-8", nil, "a\xffb\xc3", "a\ufffdb\ufffd"},
		{"makes white space spaces", nil, "\ta\tb\r\n", "a b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := newRedactor(tt.secrets).line([]byte(tt.in)); got != tt.out {
				t.Errorf("line(%q) = %q; want %q", tt.in, got, tt.out)
			}
		})
	}
}

func TestHideAtCuts(t *testing.T) {
	for _, tt := range []struct {
		name             string
		in               string
		cutStart, cutEnd bool
		out              string
	}{
		{"hides the beginning at the end", "is hunter", false, true, "is [redacted]"},
		{"hides the end at the beginning", "ter22 it is", true, false, "[redacted] it is"},
		{"passes over what is short", "is hun", false, true, "is hun"},
		{"passes over it where nothing was cut", "ter22 is hunter", false, false, "ter22 is hunter"},
		{"hides both", "ter22hunt", true, true, "[redacted]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRedactor([]string{"hunter22"})
			if got := string(r.hide([]byte(tt.in), tt.cutStart, tt.cutEnd)); got != tt.out {
				t.Errorf("hide(%q, %v, %v) = %q; want %q", tt.in, tt.cutStart, tt.cutEnd, got, tt.out)
			}
		})
	}
}

func FuzzLine(f *testing.F) {
	f.Add("hunter22", "hunt", []byte("a hunter22 \x1b[1mhun\u200bter22 aHVudGVyMjI= \xff"))
	f.Add("abab", "baba", []byte("abababab"))
	f.Add("[red", "ted]", []byte("[red]ted]"))
	f.Add("a b\tc", "\xff\xff\xff\xff", []byte("a b\tc\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, one, other string, text []byte) {
		r := newRedactor([]string{one, other})
		for _, in := range [][]byte{text, append([]byte(one), text...), append(text[:len(text):len(text)], other...)} {
			got := r.line(in)
			for _, piece := range strings.Split(got, redacted) {
				if len(one) >= minSecret && strings.Contains(piece, one) || len(other) >= minSecret && strings.Contains(piece, other) {
					t.Errorf("line(%q) = %q with secrets %q and %q", in, got, one, other)
				}
			}
			if !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) {
				t.Errorf("line(%q) = %q", in, got)
			}
		}
	})
}
