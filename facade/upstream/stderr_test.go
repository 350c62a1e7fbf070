package upstream

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	secret := strings.Repeat("s3cr3t", 20)
	for _, tt := range []struct {
		name  string
		write []string
		want  string
	}{
		{"says nothing of nothing", nil, ""},
		{"says nothing of blank lines", []string{"\n \r\n\x1b[0m\n"}, ""},
		{"takes a line without its end", []string{"a\nb"}, "a | b"},
		{"takes the last five", []string{"1\n2\n3\n", "4\n5\n6\n7\n"}, "3 | 4 | 5 | 6 | 7"},
		{"passes over blank lines", []string{"1\n\n2\n\n\n3\n"}, "1 | 2 | 3"},
		{"takes a return for a line's end", []string{"10%\r20%\r\n"}, "10% | 20%"},
		{"takes the last 500 bytes", []string{strings.Repeat("x", 600) + "\nend\n"}, "…" + strings.Repeat("x", 491) + " | end"},
		{"cuts between characters", []string{strings.Repeat("é", 300)}, "…" + strings.Repeat("é", 248)},
		{"hides a secret that the 500 bytes cut", []string{secret + strings.Repeat("x", 450)}, "[redacted]" + strings.Repeat("x", 450)},
		{"hides a secret of several writes", []string{"a " + secret[:50], secret[50:] + " b\n"}, "a [redacted] b"},
		{"hides a secret whose beginning it forgot", []string{secret, strings.Repeat(secret, 3*tailSize/len(secret)), "\n"}, "[redacted]"},
		{"hides a secret that is not ended", []string{"a " + secret[:50]}, "a [redacted]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ts := &tail{}
			for _, s := range tt.write {
				ts.Write([]byte(s))
			}
			if got := ts.words(newRedactor([]string{secret})); got != tt.want {
				t.Errorf("words = %q\nwant    %q", got, tt.want)
			}
		})
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	ts := &tail{}
	var all []byte
	for i := range 50_000 {
		line := fmt.Sprintln("line", i)
		ts.Write([]byte(line))
		all = append(all, line...)
	}
	if len(ts.buf) < tailSize || len(ts.buf) > 2*tailSize || !strings.HasSuffix(string(all), string(ts.buf)) {
		t.Errorf("%d bytes are kept, ending in %q", len(ts.buf), ts.buf[max(0, len(ts.buf)-20):])
	}
}

// No order of writes shows a secret, or more than is promised.
func TestWordsAreBounded(t *testing.T) {
	secrets := []string{"hunter22", "22hunt", "two\nlines"}
	pieces := append(secrets, "hunter", "é", "\n", "\xff", "\x1b[1m", " ", strings.Repeat("y", 99))
	mask := newRedactor(secrets)
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		ts := &tail{}
		for range rnd.IntN(400) {
			ts.Write([]byte(pieces[rnd.IntN(len(pieces))]))
		}
		got := ts.words(mask)
		if len(got) > lastBytes || !utf8.ValidString(got) || strings.Count(got, " | ") >= lastLines ||
			slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(got, s) }) {
			t.Fatalf("seed %d: words = %q", seed, got)
		}
	}
}

func TestLineLog(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, tt := range []struct {
		name  string
		write []string
		want  []string
	}{
		{"gives lines", []string{"a\nb\n"}, []string{"a", "b"}},
		{"joins what came in pieces", []string{"a", "b\nc", "d\n"}, []string{"ab", "cd"}},
		{"gives the last one without its end", []string{"a\nb"}, []string{"a", "b"}},
		{"passes over empty lines", []string{"\n\na\n\n"}, []string{"a"}},
		{"keeps the longest that fits", []string{long + "\n"}, []string{long}},
		{"cuts what is longer", []string{long, "y", "y\nz\n"}, []string{long + "…", "z"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			l := &lineLog{emit: func(line []byte, cut bool) {
				if cut {
					line = append(line[:len(line):len(line)], "…"...)
				}
				got = append(got, string(line))
			}}
			for _, s := range tt.write {
				l.write([]byte(s))
			}
			l.flush()
			if !slices.Equal(got, tt.want) {
				t.Errorf("lines %.50q; want %.50q", got, tt.want)
			}
		})
	}
}

func TestFirstOf(t *testing.T) {
	for _, tt := range []struct{ name, in, out string }{
		{"leaves what fits", "abcdefghij", "abcdefghij"},
		{"cuts what does not", "abcdefghijk", "abcdefg…"},
		{"cuts between characters", "abcdefé-ijk", "abcdef…"},
	} {
		if got := firstOf(tt.in, 10); got != tt.out {
			t.Errorf("it %s: firstOf(%q) = %q; want %q", tt.name, tt.in, got, tt.out)
		}
	}
}
