package catalog

import (
	"math/bits"
	"slices"
	"strings"
)

// maxNear is how many terms are tried for one that no tool has.
const maxNear = 4

// minNear is how many letters a word has that is compared with others: shorter
// ones are like too many.
const minNear = 4

// What a term counts that is spelt like a word, or that one is the beginning
// of, at most.
const (
	spellingWeight = .7
	prefixWeight   = .9
)

// A letterSet has a bit for each letter of a word, so that most of the words
// that are not alike need not be compared. It is empty for a word that is
// never compared.
type letterSet uint32

func lettersOf(word string) (set letterSet) {
	if len(word) < minNear || !smallLetters(word) {
		return 0
	}
	for i := range len(word) {
		set |= 1 << (word[i] - 'a')
	}
	return set
}

// differ is how many letters only one of two words has.
func (s letterSet) differ(t letterSet) int { return bits.OnesCount32(uint32(s ^ t)) }

// nearTerms appends the terms that are most like a word that no tool has.
func (x *searchIndex) nearTerms(choices []choice, m *matcher, word []byte) []choice {
	asked := term(string(word))
	letters, limit, start := lettersOf(asked), maxErrors(asked), len(choices)
	if letters == 0 {
		return choices
	}
	for t, other := range x.letters {
		if other == 0 || letters.differ(other) > 2*limit && letters&other != letters && letters&other != other {
			continue
		}
		weight := m.near(asked, x.texts[t], limit)
		if weight == 0 || !x.known(int32(t)) {
			continue
		}
		at := len(choices)
		for at > start && choices[at-1].weight < weight {
			at--
		}
		if at-start < maxNear {
			choices = slices.Insert(choices[:min(len(choices), start+maxNear-1)], at, x.lists.choice(int32(t), weight))
		}
	}
	return choices
}

// maxErrors is how many typing errors a word may have.
func maxErrors(word string) int {
	const long = 8
	if len(word) < long {
		return 1
	}
	return 2
}

// near is what a term counts for a word: it may be spelt like it, or one of
// them may be the beginning of the other.
func (m *matcher) near(word, term string, limit int) float32 {
	short, long := word, term
	if len(short) > len(long) {
		short, long = long, short
	}
	if strings.HasPrefix(long, short) {
		return prefixWeight * float32(len(short)) / float32(len(long))
	}
	if len(long)-len(short) > limit {
		return 0
	}
	m.a, m.b = appendRunes(m.a[:0], word), appendRunes(m.b[:0], term)
	if d := m.distance(limit); d <= limit {
		return spellingWeight * (1 - float32(d)/float32(len(word)))
	}
	return 0
}
