package catalog

import (
	"math"
	"slices"
	"strings"
)

// maxDigest is how many nouns a digest has at most: more than anybody shows.
const maxDigest = 64

// Digest returns the nouns that some of the tools are about, most telling first:
// those that most tools share and speak of in their descriptions, that say
// something about tools which the nouns before do not, and that are short. Each
// is one or two words of the tools' names, singular or plural as they mostly
// are, in lower-case letters and digits and of at most 24 characters. own are
// names of the server itself, whose words are left out; "" if they are not
// known. Only where no name tells anything, as those of HTTP verbs do not, the
// nouns are two words of own and a few things that the descriptions speak of,
// of those that our synonyms know.
func (c *Catalog) Digest(tools []Tool, own string) []string {
	n := nounsOf(tools, c.habits(own))
	common := n.common(tools)
	covered := make([]bool, len(tools))
	left := make([]int, len(n.all))
	for id := range left {
		left[id] = id
	}
	var digest []string
	for len(digest) < maxDigest {
		id := pick(left, func(_, id int) float64 { return n.news(id, covered) * common[id] })
		if id == none {
			break
		}
		digest = append(digest, n.all[id].text)
		for _, t := range n.all[id].tools {
			covered[t] = true
		}
		left = slices.DeleteFunc(left, func(other int) bool { return other == id })
	}
	if digest == nil && len(tools) > 0 {
		return otherNouns(tools, own)
	}
	return digest
}

// news is how much a noun says about its tools: less about one that another
// noun has told of.
func (n *nouns) news(id int, covered []bool) (sum float64) {
	const again = .25
	for _, t := range n.all[id].tools {
		w := weight(slices.Index(n.order[t], id))
		if covered[t] {
			w *= again
		}
		sum += w
	}
	return sum
}

// common is by noun how much more it is worth for being a word that people use:
// one that other descriptions have, and that costs few tokens.
func (n *nouns) common(tools []Tool) []float64 {
	const spokenOf = .2
	times := n.mentions(tools)
	all := make([]float64, len(n.all))
	for id := range all {
		all[id] = (1 + spokenOf*math.Log2(1+float64(times[id]))) / math.Sqrt(n.all[id].cost())
	}
	return all
}

// cost is about how many tokens a noun takes, with the comma after it.
func (n *noun) cost() float64 {
	const perToken = 8 // letters, in common words
	cost := 1.0
	for word := range strings.FieldsSeq(n.text) {
		cost += math.Ceil(float64(len(word)) / perToken)
	}
	return cost
}

// maxSpoken is how many characters of a description are read for a digest.
const maxSpoken = 200

// mentions is by noun how many tools have it in the first sentences of their
// descriptions, in any form.
func (n *nouns) mentions(tools []Tool) []int {
	r := mentionReader{ids: n.byTerms(), stems: map[string]string{}, last: make([]int, len(n.all)), times: make([]int, len(n.all))}
	for i := range tools {
		sentence, _ := cutSentence(tools[i].Description)
		r.read(i+1, firstRunes(sentence, maxSpoken))
	}
	return r.times
}

// byTerms are the nouns by their terms, two of them with a space between.
func (n *nouns) byTerms() map[string]int {
	ids := make(map[string]int, len(n.all))
	for id, noun := range n.all {
		var terms []string
		for word := range strings.FieldsSeq(noun.text) {
			terms = append(terms, term(word))
		}
		ids[strings.Join(terms, " ")] = id
	}
	return ids
}

// A mentionReader counts how many texts have each of some nouns.
type mentionReader struct {
	ids   map[string]int
	stems map[string]string // by word, so that each is stemmed once
	last  []int             // by noun: the last text that has it, from 1
	times []int             // by noun
}

func (r *mentionReader) read(text int, s string) {
	before := ""
	for words := (wordReader{rest: s, digits: true}); words.next(); {
		stem, met := r.stems[string(words.word)]
		if !met {
			stem = term(string(words.word))
			r.stems[string(words.word)] = stem
		}
		r.count(text, stem)
		if before != "" {
			r.count(text, before+" "+stem)
		}
		before = stem
	}
}

func (r *mentionReader) count(text int, terms string) {
	if id, ok := r.ids[terms]; ok && r.last[id] != text {
		r.last[id] = text
		r.times[id]++
	}
}
