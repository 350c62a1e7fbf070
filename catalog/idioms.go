package catalog

import (
	"cmp"
	"slices"
	"strings"
)

// idiomWeight is what an idiom counts for another one of its group.
const idiomWeight = .8

// idioms are groups of words that mean one thing only together, and of what
// else it is called: general knowledge, like that of synonyms. What has a star
// counts only in names. What has an exclamation mark is only meant where the
// query says nothing else but perhaps "show".
const idioms = `
who am i; whoami; me*!; myself*!; current user!; authenticated user!; my account!; my profile!; my user!/
work item; workitem; issue; ticket; bug; story/ pull request; merge request; pr; mr/ mail message; email message; mail; email; message; inbox/
direct message; dm; private message/ to do list; to do item; to dos; todo; task/ how many; count*/
source code; code/ look for; looking for; look up; search; find/ recycle bin; trash; trash can`

// An idiom is what stands for one thing, in one way of saying it.
type idiom struct {
	terms  []int32
	group  int32
	first  int32 // the two terms that are neighbours where a tool has it;
	second int32 // none in one of a single word
	stop   bool  // whether it has stop words only
	named  bool  // whether it counts only in names
	alone  bool  // whether it is meant only alone
}

// sayings are the idioms of an index.
type sayings struct {
	byGroup []idiom // in the order of their groups
	byFirst []idiom // sorted by their first terms
}

// sayings gives each word of the idioms a term.
func (b *indexBuilder) sayings() (s sayings) {
	group := int32(0)
	for texts := range strings.SplitSeq(idioms, "/") {
		for text := range strings.SplitSeq(texts, ";") {
			s.byGroup = append(s.byGroup, b.idiom(text, group))
		}
		group++
	}
	s.byFirst = slices.Clone(s.byGroup)
	slices.SortStableFunc(s.byFirst, func(a, b idiom) int { return cmp.Compare(a.terms[0], b.terms[0]) })
	return s
}

func (b *indexBuilder) idiom(text string, group int32) idiom {
	i := idiom{group: group, first: none, second: none, stop: true}
	text, i.alone = strings.CutSuffix(text, "!")
	text, i.named = strings.CutSuffix(text, "*")
	var telling []int32
	for word := range strings.FieldsSeq(text) {
		t := b.term(term(word))
		i.terms = append(i.terms, t)
		if !stopWord(word) {
			telling, i.stop = append(telling, t), false
		}
	}
	if len(telling) < 2 {
		telling = i.terms
	}
	if len(telling) > 1 {
		i.first, i.second = telling[0], telling[1]
	}
	return i
}

// idiom adds a wish for what else the words from i on are called, if they are
// an idiom of several words or one that is all that the query says, and returns
// how many of them need not be searched for one by one.
func (q *query) idiom(i int) (done int) {
	q.index.sayings.at(q.words[i:], func(said *idiom) {
		if said.alone && !q.saysOnly(i, len(said.terms)) || !said.alone && len(said.terms) == 1 {
			return
		}
		before := len(q.wishes)
		q.wish(i, func(int) { q.otherwise(said) })
		if said.stop && len(q.wishes) > before {
			done = max(done, len(said.terms))
		}
	})
	return done
}

// saysOnly reports whether a query says nothing but n words from i on, and what
// says as little as "show".
func (q *query) saysOnly(i, n int) bool {
	for j := range q.words {
		if w := q.word(j); (j < i || j >= i+n) && q.words[j].sort == telling && !commonVerb(string(w)) {
			return false
		}
	}
	return true
}

// at calls visit with each idiom that words begin with.
func (s *sayings) at(words []queryWord, visit func(*idiom)) {
	first := words[0].term
	at, _ := slices.BinarySearchFunc(s.byFirst, first, func(i idiom, t int32) int { return cmp.Compare(i.terms[0], t) })
	for ; at < len(s.byFirst) && s.byFirst[at].terms[0] == first && first != none; at++ {
		i := &s.byFirst[at]
		if len(i.terms) <= len(words) && i.is(words) {
			visit(i)
		}
	}
}

func (i *idiom) is(words []queryWord) bool {
	for j, t := range i.terms {
		if words[j].term != t {
			return false
		}
	}
	return true
}

// otherwise accepts all idioms of the group of one, in the ways that tools may
// have them.
func (q *query) otherwise(said *idiom) {
	for j := range q.index.sayings.byGroup {
		i := &q.index.sayings.byGroup[j]
		switch start := len(q.accepted); {
		case i.group != said.group:
		case i.first != none:
			q.neighboursFor(i.first, i.second, idiomWeight)
		case len(said.terms) > 1 || said.alone || i.terms[0] != said.terms[0]:
			q.accept(i.terms[0], idiomWeight)
			if len(q.accepted) > start {
				q.accepted[start].named = i.named
			}
		}
	}
}
