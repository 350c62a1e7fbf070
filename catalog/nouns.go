package catalog

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxNoun is how many characters a noun may have. What it is made of is the
// upstream's to choose, and it is shown where a model looks for our own words.
const maxNoun = 24

// A noun is what tools are about: a word of their names, singular and plural
// being one, or two words that go together.
type noun struct {
	text  string // as it is written most often
	tools []int  // the positions of the tools that have it
}

// nouns are the nouns of some tools' names.
type nouns struct {
	all   []noun
	order [][]int // by tool: its nouns, as positions in all, in the order of its name
}

// nounsOf finds the nouns of tools that are named as h says.
func nounsOf(tools []Tool, h habits) *nouns {
	b := nounBuilder{same: sameTerms(), ids: map[string]int{}, order: make([][]int, len(tools))}
	for i := range tools {
		b.add(i, h.telling(nameWords(tools[i].Name)))
	}
	return b.finish()
}

// A nounBuilder collects the words of names.
type nounBuilder struct {
	same  map[string]string
	ids   map[string]int // by stem: position in found
	found []found
	order [][]int
}

// A found is a noun in all forms that it is written in.
type found struct {
	forms  []tally[string]
	tools  []int
	next   []tally[int] // the nouns that come directly after it
	second bool         // whether it is hardly more than the second half of a pair
}

// add takes the telling words of a tool's name. Tools are added in order.
func (b *nounBuilder) add(tool int, name []string) {
	before := -1
	for _, w := range name {
		if w == "" {
			before = -1
			continue
		}
		id := b.id(w)
		b.found[id].forms = count(b.found[id].forms, w)
		if before >= 0 && before != id {
			b.found[before].next = count(b.found[before].next, id)
		}
		if !slices.Contains(b.order[tool], id) {
			b.found[id].tools = append(b.found[id].tools, tool)
			b.order[tool] = append(b.order[tool], id)
		}
		before = id
	}
}

// id is the position of the noun that a word is a form of.
func (b *nounBuilder) id(w string) int {
	stem := term(w)
	if first, ok := b.same[stem]; ok {
		stem = first
	}
	id, known := b.ids[stem]
	if !known {
		id = len(b.found)
		b.ids[stem] = id
		b.found = append(b.found, found{})
	}
	return id
}

// sameTerms is by term the one that stands for it and its other forms, as
// "document" does for "doc".
func sameTerms() map[string]string {
	same := map[string]string{}
	for group := range strings.SplitSeq(forms, ";") {
		first := ""
		for word := range strings.FieldsSeq(group) {
			first = cmp.Or(first, term(word))
			same[term(word)] = first
		}
	}
	return same
}

// finish names the nouns. One that is nearly always followed by the same other
// is named with it, and the other is none if it is hardly anywhere else.
func (b *nounBuilder) finish() *nouns {
	n := &nouns{all: make([]noun, len(b.found)), order: b.order}
	for i := range b.found {
		n.all[i] = noun{b.name(i), b.found[i].tools}
	}
	for i, f := range b.found {
		if f.second {
			n.all[i].tools = nil
		}
	}
	return n
}

func (b *nounBuilder) name(i int) string {
	f := &b.found[i]
	text, next := most(f.forms).what, most(f.next)
	if f.second || !nearlyAll(next.times, len(f.tools)) {
		return text
	}
	second := &b.found[next.what]
	pair := text + " " + most(second.forms).what
	if rare := len(second.tools) <= 2; next.times == 1 && !rare || utf8.RuneCountInString(pair) > maxNoun {
		return text
	}
	second.second = nearlyAll(next.times, len(second.tools))
	return pair
}

// A tally is how often something came.
type tally[T comparable] struct {
	what  T
	times int
}

// maxTallies is how many different things are counted in one place.
const maxTallies = 100

func count[T comparable](tallies []tally[T], what T) []tally[T] {
	for i := range tallies {
		if tallies[i].what == what {
			tallies[i].times++
			return tallies
		}
	}
	if len(tallies) == maxTallies {
		return tallies
	}
	return append(tallies, tally[T]{what, 1})
}

// most is what came most often, of those that came equally often the first.
func most[T comparable](tallies []tally[T]) (best tally[T]) {
	for _, t := range tallies {
		if t.times > best.times {
			best = t
		}
	}
	return best
}
