package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lessons are which tools were called after searches for which words: what the
// use of an upstream has taught. They never change once made. Nil are none.
type Lessons struct {
	byWord map[string][]lesson
	pairs  int // of a word and a tool
}

// A lesson is that a tool was called after searches for a word.
type lesson struct {
	tool  string
	times uint8
	day   int // of the last time, from 1970 on
}

// What is kept of the searches of one upstream: so many pairs of a word and a
// tool, those that came last; none for longer than half a year, no long word or
// name, and of a search no more words than a wish has.
const (
	maxLessons    = 4000
	maxLessonDays = 180
	maxLessonWord = 24 // bytes
	maxLessonTool = maxSpelling
	maxTaught     = 12
)

// Teaching are the words of a query that may be kept as a lesson: as terms, and
// neither numbers nor codes nor, where no tool has the word, what seems to be
// the name of somebody.
func (c *Catalog) Teaching(query string) (words []string) {
	s := c.searchIndex().search()
	defer s.end()
	s.read(query)
	for i := range s.words {
		w := &s.words[i]
		private := !s.index.known(w.term) && (s.properName(i) || s.inCode(i))
		if w.sort != telling || private || s.repeats(i) {
			continue
		}
		if text := s.term(i); teaches(text) && len(words) < maxTaught {
			words = append(words, text)
		}
	}
	return words
}

// inCode reports whether a word stands in a run of letters and digits, as in
// tok3n.
func (q *query) inCode(i int) bool {
	from, to := i, i+1
	for from > 0 && !q.words[from].apart {
		from--
	}
	for to < len(q.words) && !q.words[to].apart {
		to++
	}
	return slices.ContainsFunc(q.words[from:to], func(w queryWord) bool { return asciiKind(q.text[w.from]) == digit })
}

// teaches reports whether a word may be kept.
func teaches(word string) bool {
	notLetter := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }
	return word != "" && len(word) <= maxLessonWord && utf8.ValidString(word) && !strings.ContainsFunc(word, notLetter)
}

// teachable reports whether a tool's name may be kept.
func teachable(tool string) bool {
	return tool != "" && len(tool) <= maxLessonTool && utf8.ValidString(tool) && !strings.ContainsFunc(tool, unicode.IsControl)
}

// with are the lessons with one more: the tool was called after a search for
// these words, on that day. The oldest beyond maxLessons are dropped.
func (l *Lessons) with(words []string, tool string, today int) *Lessons {
	all := l.alive(today)
	for _, word := range words {
		if teaches(word) && teachable(tool) {
			all.add(word, lesson{tool, 1, today})
		}
	}
	all.shrink()
	return all
}

// alive is a copy of the lessons that are not too old. One in the future is of
// a clock that was wrong.
func (l *Lessons) alive(today int) *Lessons {
	all := &Lessons{byWord: map[string][]lesson{}}
	if l == nil {
		return all
	}
	for word, of := range l.byWord {
		for _, one := range of {
			one.day = min(one.day, today)
			if today-one.day <= maxLessonDays {
				all.add(word, one)
			}
		}
	}
	return all
}

// add adds a lesson to what is not yet seen by others.
func (l *Lessons) add(word string, one lesson) {
	of := l.byWord[word]
	if i := slices.IndexFunc(of, func(known lesson) bool { return known.tool == one.tool }); i >= 0 {
		of[i].times = uint8(min(int(of[i].times)+int(one.times), 255))
		of[i].day = max(of[i].day, one.day)
		return
	}
	l.byWord[word] = append(of, one)
	l.pairs++
}

// shrink drops the oldest lessons beyond maxLessons, of those of the same day
// those that came least often.
func (l *Lessons) shrink() {
	if l.pairs <= maxLessons {
		return
	}
	all := l.list()
	slices.SortStableFunc(all, func(a, b taught) int {
		return cmp.Or(cmp.Compare(b.day, a.day), cmp.Compare(b.times, a.times))
	})
	l.byWord, l.pairs = map[string][]lesson{}, 0
	for _, t := range all[:maxLessons] {
		l.add(t.word, t.lesson)
	}
}

// A taught is a lesson with its word.
type taught struct {
	word string
	lesson
}

// list are all lessons, in the order of their words.
func (l *Lessons) list() (all []taught) {
	if l == nil {
		return nil
	}
	for _, word := range slices.Sorted(maps.Keys(l.byWord)) {
		for _, one := range l.byWord[word] {
			all = append(all, taught{word, one})
		}
	}
	return all
}

// How much a tool gains at most by what its use has taught, as a part of its
// score or, where no text of it has anything of the query, of the best tool's;
// and how much of a query it must have been called for to be found by that
// alone. With this bonus the study's development queries, asked a second time,
// have a right tool first in 61.4 % instead of 57.0 %, other queries to the same
// tools in 57.9 % instead of 56.6 %; where all that was taught is one of the
// first three tools at random, in 56.0 %.
const (
	taughtBonus = .4
	minTaught   = .2
)

// teach puts tools that were called after such searches before others that are
// about as good. It puts none in the place of another: one that is not among
// the best is added to them only where there are fewer than n.
func (s *search) teach(l *Lessons, top []ranked, n int, find func(tool string) (int, bool)) []ranked {
	shares := s.shares(l, find)
	if len(shares) == 0 {
		return top
	}
	best := float32(1)
	if len(top) > 0 {
		best = top[0].score
	}
	for i := range top {
		if share := take(shares, top[i].tool); share > 0 { // whatever it seems to do, it was meant
			top[i].score *= (1 + taughtBonus*share) * s.favours.most() / s.favours[s.index.natures[top[i].tool]]
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(shares)) {
		if len(top) < n && shares[tool] >= minTaught {
			top = append(top, ranked{tool, best * taughtBonus * shares[tool]})
		}
	}
	slices.SortStableFunc(top, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	return top
}

// take removes a tool's share, and returns it.
func take(shares map[int32]float32, tool int32) float32 {
	share := shares[tool]
	delete(shares, tool)
	return share
}

// shares is by tool how much of the query it was called for, from 0 to 1: of
// telling words more than of common ones, and more the more often.
func (s *search) shares(l *Lessons, find func(tool string) (int, bool)) map[int32]float32 {
	if l == nil || l.pairs == 0 {
		return nil
	}
	var sums map[int32]float32
	var all float32
	for i := range s.words {
		if s.words[i].sort != telling || s.repeats(i) {
			continue
		}
		rare := s.rare(s.words[i].term)
		all += rare
		for _, one := range l.byWord[s.term(i)] {
			tool, ok := find(one.tool)
			if !ok {
				continue
			}
			if sums == nil {
				sums = map[int32]float32{}
			}
			sums[int32(tool)] += rare * float32(one.times) / float32(1+one.times)
		}
	}
	for tool := range sums {
		sums[tool] /= all
	}
	return sums
}

// rare is how telling a term is; one that no tool has is as telling as can be.
func (s *search) rare(term int32) float32 {
	if s.index.known(term) {
		return s.index.lists.rare[term]
	}
	return s.index.rarest
}

// term is a word of the query as it is searched by.
func (q *query) term(i int) string {
	if t := q.words[i].term; t != none {
		return q.index.texts[t]
	}
	return term(string(q.word(i)))
}
