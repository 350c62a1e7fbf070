package compact_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"mcp-facade/compact"
)

func TestSentenceGolden(t *testing.T) {
	golden(t, "sentences.golden", func(input string) string {
		text, err := strconv.Unquote(input)
		if err != nil {
			t.Fatalf("%v: %s", err, input)
		}
		checkSentence(t, text, 140)
		return strconv.Quote(compact.Sentence(text, 140))
	})
}

func TestSentenceLimit(t *testing.T) {
	tests := []struct {
		name, in string
		limit    int
		want     string
	}{
		{"keeps what fits exactly", "One two three.", 14, "One two three."},
		{"cuts between words", "One two three.", 13, "One two…"},
		{"counts characters, not bytes", "Größe über alles.", 17, "Größe über alles."},
		{"removes a comma before the ellipsis", "One, two, three, four.", 12, "One, two…"},
		{"removes an open bracket before the ellipsis", "One two (three four five).", 16, "One two (three…"},
		{"removes words that only go on", "Gets a list of the items and others.", 15, "Gets a list…"},
		{"cuts a word when there is but one", "Pneumonoultramicroscopic", 10, "Pneumonou…"},
		{"never cuts inside a character", "e\u0301e\u0301e\u0301e\u0301", 4, "e\u0301…"},
		{"never cuts inside a flag", "🇩🇪🇫🇷🇮🇹", 4, "🇩🇪…"},
		{"never cuts off a skin tone", "👍🏽👍🏽👍🏽", 4, "👍🏽…"},
		{"cuts Chinese between any two characters", "创建一个新的工单", 5, "创建一个…"},
		{"keeps room for nothing else", "One two.", 1, "…"},
		{"is empty without room", "One two.", 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := compact.Sentence(tt.in, tt.limit); got != tt.want {
				t.Errorf("Sentence(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.want)
			}
			checkSentence(t, tt.in, tt.limit)
		})
	}
}

// checkSentence fails t unless Sentence keeps its promises for text.
func checkSentence(t *testing.T, text string, limit int) {
	t.Helper()
	got := compact.Sentence(text, limit)
	if n := utf8.RuneCountInString(got); n > limit {
		t.Fatalf("Sentence(%q, %d) has %d characters: %q", text, limit, n, got)
	}
	if again := compact.Sentence(got, limit); again != got {
		t.Fatalf("Sentence(%q, %d) = %q, whose own first sentence is %q", text, limit, got, again)
	}
	if line := compact.Line(got); line != got {
		t.Fatalf("Sentence(%q, %d) = %q, of which Line makes %q", text, limit, got, line)
	}
	if utf8.RuneCountInString(got) > utf8.RuneCountInString(text) {
		t.Fatalf("Sentence(%q, %d) is longer: %q", text, limit, got)
	}
}

func TestSentenceOnGenerated(t *testing.T) {
	for seed := range uint64(10000) {
		g := generator{rand.New(rand.NewPCG(seed, 3))}
		var text string
		if json.Unmarshal([]byte(g.text()), &text) == nil {
			checkSentence(t, text, []int{140, 60, 12, 1}[g.IntN(4)])
		}
	}
}

func TestSentenceOnRealCatalogs(t *testing.T) {
	for _, c := range catalogs(t) {
		for _, tool := range c.tools {
			eachDescription(gjson.Parse(tool), func(text string) {
				for _, limit := range []int{140, 60} {
					checkSentence(t, text, limit)
				}
				if strings.TrimSpace(text) != "" && compact.Sentence(text, 140) == "" {
					t.Errorf("%s: nothing is left of %q", c.name, text)
				}
			})
		}
	}
}

func eachDescription(v gjson.Result, f func(string)) {
	v.ForEach(func(key, value gjson.Result) bool {
		if key.Str == "description" && value.Type == gjson.String {
			f(value.Str)
		}
		if value.Type == gjson.JSON {
			eachDescription(value, f)
		}
		return true
	})
}

func TestLine(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"keeps plain text", "One two.", "One two."},
		{"keeps text in other scripts", "Größe 大きさ حجم", "Größe 大きさ حجم"},
		{"folds white space", " a\tb\n\n c\u00a0\u3000d\u2028e ", "a b c d e"},
		{"removes control characters", "a\x00b\x1b[31mc\x7fd\u0085e\u009bf", "ab[31mcd ef"},
		{"removes bidirectional controls", "a\u202ab\u202ec\u2066d\u2069e\u200ef", "abcdef"},
		{"removes zero-width characters", "a\u200bb\u200cc\u2060d\ufeffe\u00adf\u034fg\u3164h", "abcdefgh"},
		{"removes tag characters", "a\U000e0001\U000e0041\U000e007fb", "ab"},
		{"removes variation selectors that may spell text", "a\ufe00\ufe0e\U000e0100\U000e01efb", "ab"},
		{"keeps emoji as emoji", "❤\ufe0f", "❤\ufe0f"},
		{"takes a family of emoji apart", "👨\u200d👩", "👨👩"},
		{"replaces what is no UTF-8", "a\xffb", "a\ufffdb"},
		{"is empty for what nobody sees", " \u200b\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := compact.Line(tt.in)
			if got != tt.want {
				t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.want)
			}
			if again := compact.Line(got); again != got {
				t.Errorf("Line(%q) = %q, want no change", got, again)
			}
		})
	}
}

func FuzzSentence(f *testing.F) {
	for _, s := range []string{"One. Two.", "# T\n\nProse (e.g. a. B) `c. D`. More", "<a>b. c</a>d", "- a.\n- b.\n", "👨\u200d👩🇩🇪 e\u0301. 大。", "Use:\n1. a\n2. b", "(A. B.) C \"d. E.\" F"} {
		f.Add(s, 140)
		f.Add(s, 5)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit %= 1000
		checkSentence(t, text, max(0, limit))
		line := compact.Line(text)
		if strings.ContainsFunc(line, unicode.IsControl) || compact.Line(line) != line || !utf8.ValidString(line) {
			t.Fatalf("Line(%q) = %q", text, line)
		}
	})
}

func ExampleSentence() {
	fmt.Println(compact.Sentence("# Search\n\nFinds issues by text, e.g. their titles. Results come in pages.", 140))
	fmt.Println(compact.Sentence("Finds issues by text, e.g. their titles.", 20))
	// Output:
	// Finds issues by text, e.g. their titles.
	// Finds issues…
}

func ExampleLine() {
	fmt.Println(compact.Line("two\nlines,\u200b one \u202eof them hidden"))
	// Output:
	// two lines, one of them hidden
}
