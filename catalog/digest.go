package catalog

import "slices"

// maxDigest is how many nouns a digest has at most: more than anybody shows.
const maxDigest = 64

// Digest returns the nouns that some of the tools are about, most telling first: those that
// most tools share and that say something about tools which the nouns before
// do not. Each is one or two words of the tools' names, singular or plural as
// they mostly are, in lower-case letters and digits and of at most 24
// characters. own are names of the server itself, whose words are left out; ""
// if they are not known.
func (c *Catalog) Digest(tools []Tool, own string) []string {
	n := nounsOf(tools, c.habits(own))
	covered := make([]bool, len(tools))
	left := make([]int, len(n.all))
	for id := range left {
		left[id] = id
	}
	var digest []string
	for len(digest) < maxDigest {
		id := pick(left, func(_, id int) float64 { return n.news(id, covered) })
		if id == none {
			break
		}
		digest = append(digest, n.all[id].text)
		for _, t := range n.all[id].tools {
			covered[t] = true
		}
		left = slices.DeleteFunc(left, func(other int) bool { return other == id })
	}
	return digest
}

// news is how much a noun says about its tools: less about one that another
// noun has told of.
func (n *nouns) news(id int, covered []bool) (sum float64) {
	const again = .25
	for _, t := range n.all[id].tools {
		w := weight(slices.Index(n.order[t], id))
		if covered[t] {
			w *= again
		}
		sum += w
	}
	return sum
}
