package catalog

import (
	"slices"
	"strings"
)

// A Hit is a tool that a search found. Scores of one search can be compared,
// those of two cannot.
type Hit struct {
	Tool  Tool
	Score float64
}

// How much of a query counts: so many bytes, and so many different words.
const (
	maxQueryBytes = 4 << 10
	maxQuery      = 60
)

// Search returns at most n tools that have words of the query, in whatever form
// of English, in their names, their descriptions or their parameters. The best
// comes first, equally good ones in the catalog's order. A query that is a
// tool's name finds that tool first. The first search of a catalog builds an
// index.
func (c *Catalog) Search(query string, n int) []Hit {
	x := c.index.get(func() *searchIndex { return buildIndex(c.tools) })
	scores := make([]float64, len(c.tools))
	x.score(scores, x.query(query))
	if i, ok := c.find(strings.TrimSpace(query)); ok {
		scores[i] = 1 + 2*slices.Max(scores)
	}
	top := best(scores, n)
	hits := make([]Hit, len(top))
	for i, tool := range top {
		hits[i] = Hit{c.tools[tool], scores[tool]}
	}
	return hits
}

// query returns the different terms of a query that any tool has: those of stop
// words only if the query has no other words.
func (x *searchIndex) query(query string) []int32 {
	var terms, stops []int32
	telling := false
	r := wordReader{rest: query[:min(len(query), maxQueryBytes)]}
	for len(terms) < maxQuery && r.next() {
		m, known := x.meaning(r.word)
		telling = telling || !m.stop
		switch {
		case known && m.stop:
			stops = appendOnce(stops, m.term)
		case known:
			terms = appendOnce(terms, m.term)
		}
	}
	if telling {
		return terms
	}
	return stops
}

func appendOnce(list []int32, t int32) []int32 {
	if slices.Contains(list, t) {
		return list
	}
	return append(list, t)
}

// score adds to each tool's score what the terms give it.
func (x *searchIndex) score(scores []float64, terms []int32) {
	for _, t := range terms {
		for _, p := range x.postings[x.first[t]:x.first[t+1]] {
			scores[p.tool] += float64(p.weight)
		}
	}
}

// best returns the positions of the n highest scores above 0, the highest
// first, equal ones in order.
func best(scores []float64, n int) []int {
	top := make([]int, 0, max(0, min(n, len(scores))))
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
