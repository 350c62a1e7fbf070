package catalog

import (
	"math"
	"strings"
)

// The fields of a tool that are searched.
const (
	nameField          = iota
	sentenceField      // the title, and the first sentence of the description
	descriptionField   // the rest of it
	parameterField     // names of parameters, at any depth that is read
	parameterTextField // what is said about them
	fields
)

// What a word counts in a field, and how much less it does in a long one
// (BM25F's weights and b): found by the study in the design's retrieval notes.
// Both are small tables, made anew so that nobody can change them.
func fieldWeights() [fields]float64 {
	return [...]float64{nameField: 2, sentenceField: 2, descriptionField: .35, parameterField: .8, parameterTextField: .35}
}

func lengthNorms() [fields]float64 {
	return [...]float64{nameField: .15, sentenceField: .75, descriptionField: 0, parameterField: .5, parameterTextField: .9}
}

// How much an index takes: so many words of a name, a title or a description,
// of which the longest real one has 2,000, and so many postings, which is five
// times what 5,000 real tools have. Tools beyond that are found by their names.
const (
	maxTextWords = 4000
	maxPostings  = 4 << 20
)

// saturation is BM25's k1: how soon it stops to matter that a word comes again.
// rarity is the power of the inverse document frequency. Both from that study.
const (
	saturation = 3
	rarity     = 1.15
)

// A searchIndex says which tools have a term, and how much that tells. It never
// changes once built.
type searchIndex struct {
	words    map[string]meaning // each word that was met
	terms    map[string]int32   // term → its number
	first    []int32            // by term: where its postings begin; one more at the end
	postings []posting          // of all terms, those of one term in the catalog's order
}

// A meaning is what a word is to the index.
type meaning struct {
	term int32
	stop bool // a stop word: can be found, but makes no text longer
}

// A posting is one tool that has a term.
type posting struct {
	tool   int32
	weight float32 // how rare the term is times how much of the tool is about it
}

// meaning is what a word of a query means, and whether any tool has it.
func (x *searchIndex) meaning(word []byte) (meaning, bool) {
	if m, known := x.words[string(word)]; known {
		return m, true
	}
	w := string(word)
	t, known := x.terms[term(w)]
	return meaning{t, stopWord(w)}, known
}

// An entry is a posting before the lengths of all fields are known.
type entry struct {
	term, tool int32
	times      [fields]uint8 // that the tool has the term, in each field: at most 255
}

// An indexBuilder counts the terms of tools.
type indexBuilder struct {
	words   map[string]meaning // every word met, so that each is stemmed once
	terms   map[string]int32
	newest  []int32 // by term: its last entry
	entries []entry // by tool
	lengths [][fields]float64
	reader  wordReader
	parameters
}

func buildIndex(tools []Tool) *searchIndex {
	b := &indexBuilder{
		words:   map[string]meaning{},
		terms:   map[string]int32{},
		entries: make([]entry, 0, 64*len(tools)), // real tools have 50 to 150 terms
		lengths: make([][fields]float64, len(tools)),
	}
	for i := range tools {
		b.add(int32(i), &tools[i])
	}
	return b.finish()
}

// add counts the words of a tool. Tools are added in order.
func (b *indexBuilder) add(i int32, tool *Tool) {
	b.count(i, nameField, tool.Name, maxTextWords)
	if len(b.entries) > maxPostings {
		return
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
	for n < limit && b.reader.next() {
		n++
		m := b.meaning(b.reader.word)
		e := b.entry(m.term, tool)
		if e.times[field] < math.MaxUint8 {
			e.times[field]++
		}
		if !m.stop {
			b.lengths[tool][field]++
		}
	}
	return n
}

func (b *indexBuilder) meaning(word []byte) meaning {
	m, known := b.words[string(word)]
	if known {
		return m
	}
	w := string(word)
	m.stop = stopWord(w)
	m.term = b.term(term(w))
	b.words[w] = m
	return m
}

// term is the number of a term.
func (b *indexBuilder) term(term string) int32 {
	t, known := b.terms[term]
	if !known {
		t = int32(len(b.newest))
		b.terms[term] = t
		b.newest = append(b.newest, -1)
	}
	return t
}

// entry is the entry of a term for the tool that is being added.
func (b *indexBuilder) entry(term, tool int32) *entry {
	at := b.newest[term]
	if at < 0 || b.entries[at].tool != tool {
		at = int32(len(b.entries))
		b.newest[term] = at
		b.entries = append(b.entries, entry{term: term, tool: tool})
	}
	return &b.entries[at]
}

// finish sorts the entries by term and weighs them.
func (b *indexBuilder) finish() *searchIndex {
	x := &searchIndex{b.words, b.terms, b.firsts(), make([]posting, len(b.entries))}
	factors := b.factors()
	rare := make([]float64, len(b.newest))
	for t := range rare {
		rare[t] = idf(len(b.lengths), int(x.first[t+1]-x.first[t]))
	}
	next := b.newest // not needed any more: from here on, where a term's next posting goes
	copy(next, x.first)
	for i := range b.entries {
		e := &b.entries[i]
		x.postings[next[e.term]] = posting{e.tool, float32(rare[e.term] * impact(e.times, &factors[e.tool]))}
		next[e.term]++
	}
	return x
}

// firsts is where each term's postings begin, by how many there are.
func (b *indexBuilder) firsts() []int32 {
	first := make([]int32, len(b.newest)+1)
	for i := range b.entries {
		first[b.entries[i].term+1]++
	}
	for t := range b.newest {
		first[t+1] += first[t]
	}
	return first
}

// factors is what a word counts in each field of each tool: less in a field
// that is long for its kind.
func (b *indexBuilder) factors() [][fields]float64 {
	average, weights, norms := b.average(), fieldWeights(), lengthNorms()
	out := make([][fields]float64, len(b.lengths))
	for i, length := range b.lengths {
		for f := range length {
			out[i][f] = weights[f] / (1 - norms[f] + norms[f]*length[f]/average[f])
		}
	}
	return out
}

// average is the mean length of each field, at least 1.
func (b *indexBuilder) average() (mean [fields]float64) {
	for _, length := range b.lengths {
		for f := range mean {
			mean[f] += length[f]
		}
	}
	for f := range mean {
		mean[f] = max(1, mean[f]/float64(max(1, len(b.lengths))))
	}
	return mean
}

// idf is how telling a term is that df of n tools have.
func idf(n, df int) float64 {
	return math.Pow(math.Log(1+(float64(n-df)+.5)/(float64(df)+.5)), rarity)
}

// impact is how much of a tool is about a term.
func impact(times [fields]uint8, factors *[fields]float64) float64 {
	var x float64
	for f, n := range times {
		x += float64(n) * factors[f]
	}
	return x * (saturation + 1) / (saturation + x)
}
