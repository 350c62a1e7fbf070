package catalog

import (
	"strings"
	"testing"

	"github.com/kljensen/snowball/english"
)

// The stems are those of a library that is tested against the algorithm's own
// vocabulary, but takes more than twice as long.
func sameStem(t *testing.T, word string) {
	t.Helper()
	if got, want := stem(word), english.Stem(word, true); got != want {
		t.Errorf("stem(%q) = %q, want %q", word, got, want)
	}
}

func TestStem(t *testing.T) {
	for _, word := range stemmable() {
		sameStem(t, word)
	}
}

func TestStemOfRealWords(t *testing.T) {
	seen := map[string]bool{}
	for _, path := range realCatalogs(t) {
		for _, word := range words(string(read(t, path))) {
			if len(word) > 2 && smallLetters(word) && !seen[word] {
				seen[word] = true
				sameStem(t, word)
			}
		}
	}
}

// stemmable are words for each rule.
func stemmable() []string {
	return strings.Fields(`skis skies dying idly gently ugly early only singly sky news howe atlas cosmos bias andes
		generation generously communism communities arsenal yoyo say boyish hypothesis
		caresses ties cries status misses gas gaps this kiwis innings outing proceed succeeded
		agreed feed feedly agreedly bleed hopped hoping hopping luxuriated troubled sized falling filing rebel bed red
		cry by say happy apologies apology geology conditionally relational valency hesitancy possibly differently
		vietnamization organizer predication operator feudalism decisiveness hopefully hopefulness callously callousness
		formality sensitivity sensibility analogies restlessly badly quickly
		triplicate formative formalize electricity electrical hopeful goodness cooperative
		revival allowance inference airliner gyroscopic adjustable defensible irritant replacement adjustment dependent
		adoption discussion communion activate angularity homologous effective bowdlerize controller roll cease rate ease`)
}

func FuzzStem(f *testing.F) {
	for _, w := range stemmable() {
		f.Add(w)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if len(word) < 3 || len(word) > maxWord || !smallLetters(word) {
			t.Skip()
		}
		sameStem(t, word)
	})
}
func BenchmarkStem(b *testing.B) {
	all := stemmable()
	b.ReportAllocs()
	for b.Loop() {
		for _, word := range all {
			stem(word)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(all)), "ns/word")
}
