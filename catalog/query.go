package catalog

import "strings"

// How much of a query counts: so many bytes, so many words that say something,
// and so many words that no tool has and that may be misspelt.
const (
	maxQueryBytes = 4 << 10
	maxQuery      = 60
	maxMisspelt   = 8
)

// faintWeight is what a word counts that is only manner of speaking.
const faintWeight = .3

// A query is what a text asks for. Its memory is used again.
type query struct {
	index    *searchIndex
	reader   wordReader
	text     []byte // all words, without what is between them
	words    []queryWord
	wishes   []wish
	accepted []choice // of all wishes, one after the other
	misspelt int      // how many words may still be
	question bool     // whether it ends with a question mark
	matcher  matcher
}

// A queryWord is a word of a query.
type queryWord struct {
	meaning
	from, to int  // where it is in the text
	apart    bool // whether more than a change of case or kind is before it
	hyphen   bool // whether a hyphen is, and nothing else
	capital  bool // whether it begins with a capital
}

// A wish is one word of a query, and what is accepted for it.
type wish struct {
	end    int     // of its choices
	weight float32 // of the most telling of them
}

// A choice is what is accepted for a wish.
type choice struct {
	postings []posting
	rare     float32
	weight   float32
	named    bool   // whether only names count
	number   number // in which names should have it
}

// read reads a text.
func (q *query) read(text string) {
	q.text, q.words, q.wishes, q.accepted = q.text[:0], q.words[:0], q.wishes[:0], q.accepted[:0]
	q.misspelt, q.question = maxMisspelt, strings.HasSuffix(strings.TrimRight(text, " )\"'\n"), "?")
	telling := q.split(text[:min(len(text), maxQueryBytes)])
	done := 0
	for i := range q.words {
		w := &q.words[i]
		if done = max(done, i+q.idiom(i)); i < done {
			continue
		}
		if w.sort == stop && telling > 0 {
			q.wish(i, q.whole)
		} else if !q.repeats(i) {
			q.wish(i, q.choices)
		}
	}
}

// split splits a text into words, and returns how many of them are no stop
// words.
func (q *query) split(text string) (telling int) {
	q.reader.reset(text)
	for telling < maxQuery && len(q.words) < 3*maxQuery && q.reader.next() {
		from := len(q.text)
		q.text = append(q.text, q.reader.word...)
		w := queryWord{q.index.meaning(q.reader.word), from, len(q.text), q.reader.apart, q.reader.hyphen, q.reader.capital}
		q.words = append(q.words, w)
		if w.sort != stop {
			telling++
		}
	}
	return telling
}

func (q *query) word(i int) []byte { return q.text[q.words[i].from:q.words[i].to] }

// repeats reports whether a word came before.
func (q *query) repeats(i int) bool {
	w := &q.words[i]
	for j := range q.words[:i] {
		if same := q.words[j].term == w.term; same && (w.term != none || string(q.word(j)) == string(q.word(i))) {
			return true
		}
	}
	return false
}

// wish adds what choose accepts for a word.
func (q *query) wish(i int, choose func(i int)) {
	start := len(q.accepted)
	choose(i)
	weight := float32(0)
	for j := range q.accepted[start:] {
		c := &q.accepted[start+j]
		if q.words[i].sort == faint {
			c.weight *= faintWeight
		}
		weight = max(weight, c.weight*c.rare)
	}
	if len(q.accepted) > start {
		q.wishes = append(q.wishes, wish{len(q.accepted), weight})
	}
}

// choices accepts a word itself, what means the same, the word that it makes
// with the next one, the two that it is made of and, if there is nothing, words
// that are spelt like it.
func (q *query) choices(i int) {
	w, start := &q.words[i], len(q.accepted)
	if w.term != none {
		q.accept(w.term, 1)
		q.index.related.of(w.term, q.acceptFor)
		for j := range q.accepted[start:] {
			q.accepted[start+j].number = numberOf(w.plural)
		}
		q.index.sayings.at(q.words[i:i+1], func(said *idiom) {
			if !said.alone {
				q.otherwise(said)
			}
		})
	}
	q.whole(i)
	q.parts(i, len(q.accepted) == start)
	if len(q.accepted) == start && q.misspelt > 0 && !q.properName(i) && w.sort != stop {
		q.misspelt--
		q.accepted = q.index.nearTerms(q.accepted, &q.matcher, q.word(i))
	}
}

// properName reports whether a word seems to be the name of somebody or
// something: it has a capital within a sentence.
func (q *query) properName(i int) bool {
	return i > 0 && q.words[i].capital && q.words[i].apart
}

// accept accepts a term.
func (q *query) accept(term int32, weight float32) {
	if q.index.known(term) {
		q.accepted = append(q.accepted, q.index.lists.choice(term, weight))
	}
}

// acceptFor accepts what stands for a term: in names alone, if it does so only
// among other things.
func (q *query) acceptFor(term int32, weight float32) {
	start := len(q.accepted)
	q.accept(term, weight)
	if len(q.accepted) > start {
		q.accepted[start].named = weight == wayWeight
	}
}

func (l *lists) choice(term int32, weight float32) choice {
	return choice{postings: l.of(term), rare: l.rare[term], weight: weight}
}

// whole accepts what a word makes with the next one: their being neighbours,
// with stop words between them or without, and the "worklog" of work log or of
// log work. A stop word makes something only with what follows at once, as in
// MySQL or to-do.
func (q *query) whole(i int) {
	if i+1 == len(q.words) {
		return
	}
	w, next := &q.words[i], &q.words[i+1]
	if w.sort != stop || !next.apart || next.hyphen {
		q.compound(i, i+1)
	}
	if w.sort == stop {
		return
	}
	q.neighbours(w.term, next.term)
	if j := q.telling(i + 1); j > 0 {
		q.compound(j, i)
		if j > i+1 {
			q.neighbours(w.term, q.words[j].term)
		}
	}
}

// compound accepts the word that two make.
func (q *query) compound(i, j int) {
	n := len(q.text)
	q.text = append(append(q.text, q.word(i)...), q.word(j)...)
	m, met := q.index.words[string(q.text[n:])]
	if !met && q.words[j].hyphen {
		m = q.index.meaning(q.text[n:])
		met = m.term != none
	}
	if met {
		q.accept(m.term, 1)
		if q.words[j].hyphen {
			q.index.related.of(m.term, q.acceptFor)
		}
	}
	q.text = q.text[:n]
}

// telling is the position of the first word from i on that is no stop word, or
// 0 if there is none.
func (q *query) telling(i int) int {
	for ; i < len(q.words); i++ {
		if q.words[i].sort != stop {
			return i
		}
	}
	return 0
}

// neighbours accepts two terms that are neighbours, and reports whether any
// tool has such.
func (q *query) neighbours(first, second int32) bool { return q.neighboursFor(first, second, 1) }

// neighboursFor is neighbours at another weight.
func (q *query) neighboursFor(first, second int32, weight float32) bool {
	id, met := q.index.pairs[pair{first, second}]
	if met {
		q.accepted = append(q.accepted, q.index.paired.choice(id, weight))
	}
	return met
}

// parts accepts the two words that a word is made of: as neighbours or, if it
// is unknown, each of them.
func (q *query) parts(i int, unknown bool) {
	const least = 2 // letters of a part
	word := q.word(i)
	for cut := least; cut <= len(word)-least; cut++ {
		a, met := q.index.words[string(word[:cut])]
		if !met {
			continue
		}
		b, met := q.index.singular(word[cut:])
		if !met {
			continue
		}
		if q.neighbours(a.term, b.term) {
			return
		}
		if unknown && cut > least && len(word)-cut > least {
			start := len(q.accepted)
			q.accept(a.term, 1)
			q.accept(b.term, 1)
			if len(q.accepted) > start {
				return
			}
		}
	}
}

// singular is what a word means that was met, or of which the singular was.
func (x *searchIndex) singular(word []byte) (meaning, bool) {
	m, met := x.words[string(word)]
	if n := len(word) - 1; !met && word[n] == 's' {
		m, met = x.words[string(word[:n])]
	}
	return m, met
}
