package catalog

import (
	"math"
	"slices"
	"strings"
)

// A Hit is a tool that a search found. Scores of one search can be compared,
// those of two cannot.
type Hit struct {
	Tool  Tool
	Score float64
}

// Search returns at most n tools that have words of the query, or others that
// mean or are spelt about the same, in their names, their descriptions, their
// parameters or the user's own words for them. The best comes first, equally
// good ones in the catalog's order; what is clearly not meant is left out. A
// query that is a tool's name finds that tool first. The first search of a
// catalog builds an index.
func (c *Catalog) Search(query string, n int) []Hit { return c.SearchTaught(nil, query, n) }

// SearchTaught is Search, but a tool that was called after such searches comes
// before others that are about as good, and is found where there is room. None
// of what Search returns is missing.
func (c *Catalog) SearchTaught(l *Lessons, query string, n int) []Hit {
	if n <= 0 {
		return nil
	}
	s := c.searchIndex().search()
	defer s.end()
	s.read(query)
	s.score()
	top := s.teach(l, s.meant(s.best(n)), n, func(tool string) (int, bool) { i, ok := c.exact[tool]; return i, ok })
	if i, ok := c.find(strings.TrimSpace(query)); ok {
		top = putFirst(top, int32(i), n)
	}
	hits := make([]Hit, len(top))
	for i, r := range top {
		hits[i] = Hit{c.tools[r.tool], float64(r.score)}
	}
	return hits
}

// searchIndex is the catalog's index, built when it is first asked for.
func (c *Catalog) searchIndex() *searchIndex {
	return c.index.get(func() *searchIndex { return buildIndex(c.tools, c.keywords) })
}

// A search is a query and what has been found for it, in memory that is used
// again.
type search struct {
	query
	tools   []account // of all
	found   []int32   // the tools that have anything of the query
	top     []ranked
	favours favour
}

// An account is what a tool has of a query: how much it is about the words that
// it has, how telling those are, and how telling those are that its name has.
// Each is the sum of what the wishes add to it.
type account struct {
	about, asked, name share
	said               int16 // how many wishes its name has, in the right number
	lastSaid           int16 // the last of them, from 1
	wish               int32 // the last one that it has anything of, from 1; 0 for none
}

// search is a search to begin with. Its end gives the memory back.
func (x *searchIndex) search() *search {
	s, ok := x.scratch.Get().(*search)
	if !ok {
		s = &search{query: query{index: x, reader: wordReader{search: true}}, tools: make([]account, len(x.names))}
	}
	return s
}

func (s *search) end() {
	for _, tool := range s.found {
		s.tools[tool] = account{}
	}
	s.found = s.found[:0]
	s.index.scratch.Put(s)
}

// score gives each tool what it has of each wish.
func (s *search) score() {
	start := 0
	for i, w := range s.wishes {
		for _, c := range s.accepted[start:w.end] {
			s.grant(int32(i+1), w.weight, c)
		}
		start = w.end
	}
}

// grant gives the tools that have what is accepted for a wish their share. Of
// several such things, a tool has the best.
func (s *search) grant(wish int32, weight float32, c choice) {
	for _, p := range c.postings {
		if c.named && !p.named() {
			continue
		}
		a := &s.tools[p.tool()]
		if a.wish != wish {
			if a.wish == 0 {
				s.found = append(s.found, int32(p.tool()))
			}
			a.wish, a.about.last, a.asked.last, a.name.last = wish, 0, 0, 0
		}
		a.about.raise(p.weight * c.weight)
		a.asked.raise(weight * c.weight)
		if p.named() {
			a.name.raise(c.rare * c.weight)
			a.say(wish, c.number.agrees(p.number()))
		}
	}
}

// say notes that the name has a wish, once, if that is in the right number.
func (a *account) say(wish int32, agrees bool) {
	if agrees && a.lastSaid != int16(wish) {
		a.said++
		a.lastSaid = int16(wish)
	}
}

// A share is a sum, and what the last wish added to it.
type share struct{ sum, last float32 }

// raise makes v what the last wish adds, if that is more.
func (s *share) raise(v float32) {
	if v > s.last {
		s.sum += v - s.last
		s.last = v
	}
}

// A ranked is a tool and its score.
type ranked struct {
	tool  int32
	score float32
}

// nameBonus is how much more a tool counts whose whole name was asked for, and
// onlyBonus how much more again if the query is that name in other words: if it
// says each of the name's, in the right number, and nothing else. In the study's
// data, whose queries are sentences, that hardly ever is so; for short ones it is
// nearly the same from .3 to 1. A tool that is out of use gains nothing by it.
const (
	nameBonus = 1
	onlyBonus = 1
)

// best are the n tools with the highest scores, the highest first, equal ones
// in order. A tool that has all of the query comes before one that has as much
// of a part of it.
func (s *search) best(n int) []ranked {
	s.top = s.top[:0]
	s.favours = s.favour()
	var all float32
	for _, w := range s.wishes {
		all += w.weight
	}
	for _, tool := range s.found {
		a := &s.tools[tool]
		r := ranked{tool, a.about.sum}
		if name := s.index.names[tool]; name.words > 0 {
			r.score *= 1 + nameBonus*min(1, a.name.sum/name.telling)
			if int(a.said) >= max(name.words, len(s.wishes)) && s.index.natures[tool]&deprecated == 0 {
				r.score *= 1 + onlyBonus
			}
		}
		r.score *= s.favours[s.index.natures[tool]]
		if len(s.top) == n && r.score < s.top[n-1].score {
			continue // as it would be with less
		}
		if a.asked.sum < all {
			r.score *= float32(math.Sqrt(math.Sqrt(float64(a.asked.sum / all))))
		}
		s.top = insert(s.top, r, n)
	}
	return s.top
}

// A tool is clearly not meant that has less than these parts both of the score
// of the best one and of what that has of the query. On the development half of
// the study's data this leaves out one tool of twelve, and costs .07 points of
// recall@5 and .32 of recall@10; a limit on the score alone that costs .5 points
// leaves out one of fifteen.
const (
	minScore = .35
	minAsked = .25
)

// meant are those of the best tools that may be meant.
func (s *search) meant(top []ranked) []ranked {
	if len(top) == 0 {
		return top
	}
	score, asked := minScore*top[0].score, minAsked*s.tools[top[0].tool].asked.sum
	return slices.DeleteFunc(top, func(r ranked) bool { return r.score < score && s.tools[r.tool].asked.sum < asked })
}

// insert inserts r where it belongs among at most n.
func insert(top []ranked, r ranked, n int) []ranked {
	at := len(top)
	for at > 0 && r.before(top[at-1]) {
		at--
	}
	if at == n {
		return top
	}
	return slices.Insert(top[:min(len(top), n-1)], at, r)
}

func (r ranked) before(other ranked) bool {
	return r.score > other.score || r.score == other.score && r.tool < other.tool
}

// putFirst puts a tool before all others.
func putFirst(top []ranked, tool int32, n int) []ranked {
	r := ranked{tool, 1}
	if len(top) > 0 {
		r.score += 2 * top[0].score
	}
	top = slices.DeleteFunc(top, func(r ranked) bool { return r.tool == tool })
	return insert(top, r, n)
}
