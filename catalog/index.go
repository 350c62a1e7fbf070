package catalog

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// A searchIndex says which tools have a term, and how much that tells. But for
// its scratch it never changes once built.
type searchIndex struct {
	words   map[string]meaning // each word that was met
	terms   map[string]int32   // term → its number
	texts   []string           // by term
	letters []letterSet        // by term
	lists   lists              // of the terms
	pairs   map[pair]int32     // neighbours in a name or a first sentence → their number
	paired  lists              // of the pairs
	related synonyms
	sayings sayings
	names   []nameMass // by tool
	natures []nature   // by tool
	rarest  float32    // how telling a term is that no tool has
	scratch sync.Pool  // of *search
}

// A meaning is what a word is to the index.
type meaning struct {
	term   int32 // -1 if no tool and no synonym has it
	sort   sort
	plural bool
}

// A nameMass is how many telling words a name has, and how telling they are
// together.
type nameMass struct {
	words   int
	telling float32
}

// A pair is two terms, the second after the first.
type pair struct{ first, second int32 }

// meaning is what a word of a query means.
func (x *searchIndex) meaning(word []byte) meaning {
	if m, met := x.words[string(word)]; met {
		return m
	}
	w := string(word)
	t, met := x.terms[term(w)]
	if !met {
		t = -1
	}
	return meaning{t, sortOf(w), plural(w)}
}

// known reports whether any tool has the term.
func (x *searchIndex) known(term int32) bool { return term >= 0 && len(x.lists.of(term)) > 0 }

// How much an index takes: so many words of a name, a title or a description,
// of which the longest real one has 2,000, and so many postings, which is five
// times what 5,000 real tools have. Tools beyond that are found by their names.
const (
	maxTextWords = 4000
	maxPostings  = 4 << 20
)

// An indexBuilder counts the words of tools.
type indexBuilder struct {
	words   map[string]meaning // every word met, so that each is stemmed once
	terms   map[string]int32
	texts   []string    // by term
	letters []letterSet // by term
	counts  counter
	pairs   map[pair]int32
	paired  counter
	lengths
	names  [][]int32 // by tool: the telling terms of its name
	nature []nature  // by tool
	reader wordReader
	joined []byte // the last word, and room for the one after it
	parameters
}

// buildIndex makes the index of tools, of which some have words of the user's.
func buildIndex(tools []Tool, keywords map[string][]string) *searchIndex {
	b := &indexBuilder{
		words:   make(map[string]meaning, wordsOf(len(tools))),
		terms:   make(map[string]int32, wordsOf(len(tools))),
		counts:  newCounter(100 * len(tools)),
		pairs:   map[pair]int32{},
		paired:  newCounter(8 * len(tools)),
		lengths: make(lengths, len(tools)),
		names:   make([][]int32, len(tools)),
		nature:  make([]nature, len(tools)),
		reader:  wordReader{search: true},
	}
	for i := range tools {
		b.add(int32(i), &tools[i], keywords[tools[i].Name])
	}
	return b.finish()
}

// wordsOf is about how many words so many tools have.
func wordsOf(n int) int { return 1000 + 5*n }

// add counts the words of a tool. Tools are added in order.
func (b *indexBuilder) add(i int32, tool *Tool, keywords []string) {
	b.count(i, nameField, tool.Name, maxTextWords)
	b.nature[i] = b.natureOf(tool)
	if b.getsMany(tool.Name) { // which is to list them
		b.counts.add(b.term("list"), i, nameField)
	}
	if len(b.counts.entries)+len(b.paired.entries) > maxPostings {
		return
	}
	for _, words := range keywords {
		b.count(i, keywordField, words, maxTextWords)
	}
	sentence, rest := cutSentence(tool.Description)
	b.count(i, sentenceField, tool.Title, maxTextWords)
	b.count(i, sentenceField, sentence, maxTextWords)
	b.count(i, descriptionField, rest, maxTextWords)
	b.parameters.count = func(field int, text string, limit int) int { return b.count(i, field, text, limit) }
	b.parameters.read(tool.InputSchema)
}

// cutSentence cuts a description after its first sentence: at the first line
// break or full stop, but not before minSentence bytes, where a full stop
// belongs to an abbreviation or a heading.
func cutSentence(s string) (sentence, rest string) {
	const minSentence = 15
	s = strings.TrimSpace(s)
	end := len(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		end = i
	}
	if i := strings.Index(s[min(minSentence, end):end], ". "); i >= 0 {
		end = minSentence + i
	}
	return s[:end], s[end:]
}

// count counts at most limit words of a text, and returns how many there were.
func (b *indexBuilder) count(tool int32, field int, text string, limit int) (n int) {
	b.reader.reset(text)
	before := pair{none, none}
	for ; n < limit && b.reader.next(); n++ {
		m := b.meaning(b.reader.word)
		b.countWord(m, tool, field)
		if field == nameField || field == sentenceField {
			before = b.countPairs(before, m, tool, field)
		}
		b.join(tool, field, n > 0)
	}
	return n
}

// countWord counts a word: one that says nothing only where a tool may consist
// of such, as whoami does.
func (b *indexBuilder) countWord(m meaning, tool int32, field int) {
	if m.sort != stop {
		b.lengths[tool][field]++
	}
	if m.sort != stop || field == nameField || field == sentenceField {
		b.counts.add(m.term, tool, field)
	}
	if m.plural && field == nameField {
		b.counts.of(m.term, tool).plural = true
	}
	if m.sort != stop && field == nameField && !slices.Contains(b.names[tool], m.term) {
		b.names[tool] = append(b.names[tool], m.term)
	}
}

// countPairs counts a word as the neighbour of the last telling word and, in a
// name, of the last word, which are the two of before. It returns those of the
// next word.
func (b *indexBuilder) countPairs(before pair, m meaning, tool int32, field int) pair {
	if m.sort != stop {
		b.countPair(pair{before.first, m.term}, tool, field)
	}
	if field == nameField && (m.sort == stop || before.first != before.second) {
		b.countPair(pair{before.second, m.term}, tool, field)
	}
	if m.sort == stop {
		return pair{before.first, m.term}
	}
	return pair{m.term, m.term}
}

func (b *indexBuilder) countPair(p pair, tool int32, field int) {
	if p.first == none {
		return
	}
	id, met := b.pairs[p]
	if !met {
		id = b.paired.next()
		b.pairs[p] = id
	}
	b.paired.add(id, tool, field)
}

// join counts a word and the one before it as one, if nothing is between them:
// the "mysql" of MySQL, and each two characters of a script without spaces. In
// identifiers, where most words are like that, being neighbours is enough.
func (b *indexBuilder) join(tool int32, field int, later bool) {
	before := len(b.joined)
	b.joined = append(b.joined, b.reader.word...)
	identifier := (field == nameField || field == parameterField) && b.reader.word[0] < utf8.RuneSelf
	if later && !b.reader.apart && !identifier && len(b.joined) <= maxWord {
		b.counts.add(b.meaning(b.joined).term, tool, field)
	}
	b.joined = b.joined[:copy(b.joined, b.joined[before:])]
}

func (b *indexBuilder) meaning(word []byte) meaning {
	m, met := b.words[string(word)]
	if met {
		return m
	}
	w := string(word)
	m = meaning{b.term(term(w)), sortOf(w), plural(w)}
	b.words[w] = m
	return m
}

// term is the number of a term.
func (b *indexBuilder) term(term string) int32 {
	t, met := b.terms[term]
	if !met {
		t = b.counts.next()
		b.terms[term] = t
		b.texts, b.letters = append(b.texts, term), append(b.letters, lettersOf(term))
	}
	return t
}

// finish weighs what was counted.
func (b *indexBuilder) finish() *searchIndex {
	related, sayings := b.synonyms(), b.sayings()
	factors := b.factors()
	x := &searchIndex{
		words: b.words, terms: b.terms, texts: b.texts, letters: b.letters, lists: b.counts.weigh(factors),
		pairs: b.pairs, paired: b.paired.weigh(factors),
		related: related, sayings: sayings, names: make([]nameMass, len(b.names)), natures: b.nature, rarest: rarities(len(b.names))[0],
	}
	for tool, terms := range b.names {
		x.names[tool].words = len(terms)
		for _, t := range terms {
			x.names[tool].telling += x.lists.rare[t]
		}
	}
	return x
}
