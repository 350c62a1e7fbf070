package catalog

import (
	"math"
	"slices"
	"strings"
	"sync"
)

// A Hit is a tool that a search found. Scores of one search can be compared,
// those of two cannot.
type Hit struct {
	Tool  Tool
	Score float64
}

// maxQuery is how many different words of a query count.
const maxQuery = 60

// Search returns at most n tools whose names or descriptions have words of the
// query, best first, equally good ones in the catalog's order. A query that is
// a tool's name finds that tool first. The first search of a catalog builds an
// index.
func (c *Catalog) Search(query string, n int) []Hit {
	scores := c.index().scores(queryTerms(query), len(c.tools))
	if i, ok := c.find(strings.TrimSpace(query)); ok {
		scores[i] = 1 + 2*slices.Max(scores)
	}
	var hits []Hit
	for _, i := range best(scores, n) {
		hits = append(hits, Hit{c.tools[i], scores[i]})
	}
	return hits
}

// best returns the positions of the n highest scores above 0, the highest
// first, equal ones in order.
func best(scores []float64, n int) []int {
	var top []int
	for i, score := range scores {
		at := len(top)
		for at > 0 && scores[top[at-1]] < score {
			at--
		}
		if score > 0 && at < n {
			top = slices.Insert(top[:min(len(top), n-1)], at, i)
		}
	}
	return top
}

// queryTerms are the different words of a query without stop words, or with
// them if there is nothing else.
func queryTerms(query string) []string {
	all := words(query)
	terms := slices.DeleteFunc(slices.Clone(all), stopWord)
	if len(terms) == 0 {
		terms = all
	}
	var once []string
	for _, t := range terms {
		if len(once) < maxQuery && !slices.Contains(once, t) {
			once = append(once, t)
		}
	}
	return once
}

// The fields of a tool that are searched.
const (
	nameField = iota
	descriptionField
	fields
)

// lazyIndex is the index of a catalog, built when it is first asked for.
type lazyIndex struct {
	once  sync.Once
	index *searchIndex
}

func (c *Catalog) index() *searchIndex {
	c.lazy.once.Do(func() { c.lazy.index = buildIndex(c.tools) })
	return c.lazy.index
}

// A searchIndex says which tools have a term, and how much that tells. It never
// changes once built.
type searchIndex struct {
	terms map[string]int // term → position in postings and idf
	lists [][]posting    // by term, in the catalog's order
	idf   []float64      // by term
}

// A posting is one tool that has a term.
type posting struct {
	tool   int
	impact float64
}

// scores gives each of n tools its score for the terms.
func (x *searchIndex) scores(terms []string, n int) []float64 {
	scores := make([]float64, n)
	for _, term := range terms {
		t, known := x.terms[term]
		if !known {
			continue
		}
		for _, p := range x.lists[t] {
			scores[p.tool] += x.idf[t] * p.impact
		}
	}
	return scores
}

// counts are how often a tool has a term, in each field.
type counts [fields]float64

// A counted is a posting before the lengths of all fields are known.
type counted struct {
	tool int
	counts
}

// An indexBuilder counts words.
type indexBuilder struct {
	terms   map[string]int
	lists   [][]counted
	lengths []counts // by tool: how many words each field has
}

func buildIndex(tools []Tool) *searchIndex {
	b := &indexBuilder{terms: map[string]int{}, lengths: make([]counts, len(tools))}
	for i := range tools {
		b.add(i, nameField, tools[i].Name)
		b.add(i, descriptionField, tools[i].Title)
		b.add(i, descriptionField, tools[i].Description)
	}
	return b.finish()
}

// add counts the words of one text of the tool. Tools are added in order.
func (b *indexBuilder) add(tool, field int, text string) {
	for _, w := range words(text) {
		b.lengths[tool][field]++
		t, known := b.terms[w]
		if !known {
			t = len(b.lists)
			b.terms[w] = t
			b.lists = append(b.lists, nil)
		}
		list := &b.lists[t]
		if len(*list) == 0 || (*list)[len(*list)-1].tool != tool {
			*list = append(*list, counted{tool: tool})
		}
		(*list)[len(*list)-1].counts[field]++
	}
}

func (b *indexBuilder) finish() *searchIndex {
	x := &searchIndex{terms: b.terms, lists: make([][]posting, len(b.lists)), idf: make([]float64, len(b.lists))}
	average := b.average()
	for t, list := range b.lists {
		x.idf[t] = idf(len(b.lengths), len(list))
		x.lists[t] = make([]posting, len(list))
		for i, c := range list {
			x.lists[t][i] = posting{c.tool, impact(c.counts, b.lengths[c.tool], average)}
		}
	}
	return x
}

// average is the mean length of each field, at least 1.
func (b *indexBuilder) average() (mean counts) {
	for _, l := range b.lengths {
		for f := range mean {
			mean[f] += l[f]
		}
	}
	for f := range mean {
		mean[f] = max(1, mean[f]/float64(max(1, len(b.lengths))))
	}
	return mean
}

// idf is how telling a term is that df of n tools have.
func idf(n, df int) float64 {
	return math.Log(1 + (float64(n-df)+.5)/(float64(df)+.5))
}

// impact is how much of a tool is about a term: BM25F with the parameters of
// the study in the design's retrieval notes.
func impact(tf, length, average counts) float64 {
	const saturation = 3                                        // k1
	weight := counts{nameField: 2, descriptionField: 1}         // how much a word in a field counts
	lengthNorm := counts{nameField: .15, descriptionField: .75} // b: how much less in a long one
	var x float64
	for f := range tf {
		x += weight[f] * tf[f] / (1 - lengthNorm[f] + lengthNorm[f]*length[f]/average[f])
	}
	return x * (saturation + 1) / (saturation + x)
}
