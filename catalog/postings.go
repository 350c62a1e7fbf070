package catalog

import "math"

// The fields of a tool that are searched.
const (
	nameField          = iota
	sentenceField      // the title, and the first sentence of the description
	descriptionField   // the rest of it
	parameterField     // names of parameters, at any depth that is read
	parameterTextField // what is said about them
	enumField          // the values they may have
	keywordField       // the user's own words for the tool
	fields
)

// What a word counts in a field, and how much less it does in a long one
// (BM25F's weights and b): found by the study in the design's retrieval notes.
// Both are small tables, made anew so that nobody can change them.
func fieldWeights() [fields]float64 {
	return [...]float64{nameField: 2, sentenceField: 2, descriptionField: .35, parameterField: .8, parameterTextField: .35,
		enumField: .2, keywordField: 4}
}

func lengthNorms() [fields]float64 {
	return [...]float64{nameField: .15, sentenceField: .75, descriptionField: 0, parameterField: .5, parameterTextField: .9,
		enumField: .7, keywordField: 0}
}

// saturation is BM25's k1: how soon it stops to matter that a word comes again.
// rarity is the power of the inverse document frequency. Both from that study.
const (
	saturation = 3
	rarity     = 1.15
)

// lists are the tools that have each of some terms, or pairs of them.
type lists struct {
	rare     []float32 // by term: how telling it is
	first    []int32   // by term: where its postings begin; one more at the end
	postings []posting // of all terms, those of one term in the catalog's order
}

// A posting is one tool that has a term.
type posting struct {
	at     uint32  // four times the tool's position, and how its name has the term
	weight float32 // how rare the term is times how much of the tool is about it
}

// How a name has a term: if it does, and if it does so in the plural.
const (
	namedBit  = 1
	pluralBit = 2
)

func (p posting) tool() uint32   { return p.at >> 2 }
func (p posting) named() bool    { return p.at&namedBit != 0 }
func (p posting) number() number { return numberOf(p.at&pluralBit != 0) }

// of are the postings of a term.
func (l *lists) of(term int32) []posting { return l.postings[l.first[term]:l.first[term+1]] }

// A counter counts how often tools have terms.
type counter struct {
	newest  []int32 // by term: its last entry
	entries []entry // by tool
}

// An entry is a posting before the lengths of all fields are known.
type entry struct {
	term, tool int32
	times      [fields]uint8 // that the tool has the term, in each field: at most 255
	plural     bool          // whether its name has it in the plural
}

func newCounter(entries int) counter { return counter{entries: make([]entry, 0, entries)} }

// next is the number of a new term.
func (c *counter) next() int32 {
	c.newest = append(c.newest, none)
	return int32(len(c.newest) - 1)
}

// add counts a term of the tool that is being added.
func (c *counter) add(term, tool int32, field int) {
	if times := &c.of(term, tool).times[field]; *times < math.MaxUint8 {
		*times++
	}
}

// of is the entry of a term and the tool that is being added.
func (c *counter) of(term, tool int32) *entry {
	at := c.newest[term]
	if at == none || c.entries[at].tool != tool {
		at = int32(len(c.entries))
		c.newest[term] = at
		c.entries = append(c.entries, entry{term: term, tool: tool})
	}
	return &c.entries[at]
}

// weigh sorts the entries by term and weighs them. It is the end of the
// counter.
func (c *counter) weigh(factors [][fields]float64) lists {
	l := lists{make([]float32, len(c.newest)), c.firsts(), make([]posting, len(c.entries))}
	byTools := rarities(len(factors))
	for t := range l.rare {
		l.rare[t] = byTools[l.first[t+1]-l.first[t]]
	}
	next := c.newest // from here on, where a term's next posting goes
	copy(next, l.first)
	for i := range c.entries {
		e := &c.entries[i]
		p := posting{uint32(e.tool) << 2, l.rare[e.term] * float32(impact(e.times, &factors[e.tool]))}
		if e.times[nameField] > 0 {
			p.at |= namedBit
		}
		if e.plural {
			p.at |= pluralBit
		}
		l.postings[next[e.term]] = p
		next[e.term]++
	}
	return l
}

// firsts is where each term's postings begin, by how many there are.
func (c *counter) firsts() []int32 {
	first := make([]int32, len(c.newest)+1)
	for i := range c.entries {
		first[c.entries[i].term+1]++
	}
	for t := range c.newest {
		first[t+1] += first[t]
	}
	return first
}

// rarities is how telling a term is that so many of n tools have: its inverse
// document frequency.
func rarities(n int) []float32 {
	rare := make([]float32, n+1)
	for have := range rare {
		rare[have] = float32(math.Pow(math.Log(1+(float64(n-have)+.5)/(float64(have)+.5)), rarity))
	}
	return rare
}

// impact is how much of a tool is about a term.
func impact(times [fields]uint8, factors *[fields]float64) float64 {
	var x float64
	for f, n := range times {
		x += float64(n) * factors[f]
	}
	return x * (saturation + 1) / (saturation + x)
}

// lengths is how many words each field of each tool has.
type lengths [][fields]float64

// factors is what a word counts in each field of each tool: less in a field
// that is long for its kind.
func (l lengths) factors() [][fields]float64 {
	average, weights, norms := l.average(), fieldWeights(), lengthNorms()
	out := make([][fields]float64, len(l))
	for i, length := range l {
		for f := range length {
			out[i][f] = weights[f] / (1 - norms[f] + norms[f]*length[f]/average[f])
		}
	}
	return out
}

// average is the mean length of each field, at least 1.
func (l lengths) average() (mean [fields]float64) {
	for _, length := range l {
		for f := range mean {
			mean[f] += length[f]
		}
	}
	for f := range mean {
		mean[f] = max(1, mean[f]/float64(max(1, len(l))))
	}
	return mean
}
