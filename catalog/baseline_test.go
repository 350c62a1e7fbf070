package catalog

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// The searches that ours is compared with.

// substring finds the tools whose name or description has the whole query.
func substring(c *Catalog) ranker {
	texts := lowered(c)
	return func(query string, n int) []string {
		return c.rank(n, func(i int) float64 { return has(texts[i], strings.ToLower(query)) })
	}
}

// anyWord finds the tools whose name or description has words of the query
// within its own, those with more of them first.
func anyWord(c *Catalog) ranker {
	texts := lowered(c)
	return func(query string, n int) []string {
		asked := slices.DeleteFunc(plainWords(query), stopWord)
		return c.rank(n, func(i int) (score float64) {
			for _, w := range asked {
				score += has(texts[i], w)
			}
			return score
		})
	}
}

// plainBM25 finds words of names and descriptions, as they are written.
func plainBM25(c *Catalog) ranker {
	const k1, b = 1.2, .75
	times := make([]map[string]float64, len(c.tools))
	length := make([]float64, len(c.tools))
	tools := map[string]float64{}
	average := 0.0
	for i, text := range lowered(c) {
		times[i] = map[string]float64{}
		for _, w := range plainWords(text) {
			if times[i][w]++; times[i][w] == 1 {
				tools[w]++
			}
			length[i]++
		}
		average += length[i] / float64(len(c.tools))
	}
	return func(query string, n int) []string {
		asked := plainWords(query)
		return c.rank(n, func(i int) (score float64) {
			for _, w := range asked {
				idf := math.Log(1 + (float64(len(c.tools))-tools[w]+.5)/(tools[w]+.5))
				tf := times[i][w]
				score += idf * tf * (k1 + 1) / (tf + k1*(1-b+b*length[i]/average))
			}
			return score
		})
	}
}

func lowered(c *Catalog) (texts []string) {
	for _, t := range c.tools {
		texts = append(texts, strings.ToLower(t.Name+" "+t.Description))
	}
	return texts
}

// plainWords are the different words of a text between all that is neither
// letter nor digit, in no order; "_" separates.
func plainWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return kindOf(r) == other })
}

func has(text, part string) float64 {
	if part != "" && strings.Contains(text, part) {
		return 1
	}
	return 0
}

// rank returns the names of the n tools with the highest scores above 0, equal
// ones in the catalog's order.
func (c *Catalog) rank(n int, score func(i int) float64) (names []string) {
	type scored struct {
		tool  int
		score float64
	}
	var all []scored
	for i := range c.tools {
		if s := score(i); s > 0 {
			all = append(all, scored{i, s})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	for _, s := range all[:min(n, len(all))] {
		names = append(names, c.tools[s.tool].Name)
	}
	return names
}
