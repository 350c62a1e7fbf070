package catalog

import (
	"cmp"
	"slices"
)

// A Group is the tools that are about one thing.
type Group struct {
	Noun  string   // one or two words of the tools' names, or Leftovers
	Tools []string // names, in the catalog's order
}

// Leftovers is the Group.Noun of the tools that are about nothing that another
// tool is about.
const Leftovers = "other"

// smallest is how many tools make a group.
const smallest = 2

// Groups returns all tools, grouped by what their names say they are about: the
// largest group first, equally large ones in the order of their first tools,
// the leftovers last. own are names of the server itself, whose words make no
// group; "" if they are not known.
func (c *Catalog) Groups(own string) []Group {
	n := nounsOf(c.tools, c.habits(own))
	var groups []Group
	at := map[int]int{} // noun → position in groups
	rest := Group{Noun: Leftovers}
	for i, id := range n.choose() {
		if id == none {
			rest.Tools = append(rest.Tools, c.tools[i].Name)
			continue
		}
		if _, known := at[id]; !known {
			at[id] = len(groups)
			groups = append(groups, Group{Noun: n.all[id].text})
		}
		g := &groups[at[id]]
		g.Tools = append(g.Tools, c.tools[i].Name)
	}
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(len(b.Tools), len(a.Tools)) })
	if rest.Tools != nil {
		groups = append(groups, rest)
	}
	return groups
}

// none is the choice of a tool that belongs to no group.
const none = -1

// choose picks for each tool the noun whose group it belongs to: the one that
// most tools share, where a later word of the name counts less than the first.
// A tool that is alone with its noun goes to the largest group it fits in.
func (n *nouns) choose() []int {
	chosen := make([]int, len(n.order))
	size := make([]int, len(n.all))
	for i, ids := range n.order {
		chosen[i] = pick(ids, func(at, id int) float64 { return shared(len(n.all[id].tools)) * weight(at) })
		if chosen[i] != none {
			size[chosen[i]]++
		}
	}
	for i, id := range chosen {
		if id != none && size[id] < smallest {
			chosen[i] = pick(n.order[i], func(_, id int) float64 { return shared(size[id]) })
		}
	}
	return chosen
}

// shared is what a noun of n tools is worth as a group: nothing if they are too
// few.
func shared(n int) float64 {
	if n < smallest {
		return 0
	}
	return float64(n)
}

// weight is what the noun at a position of a name says about a tool: the first
// is what it belongs to, the others say more and more exactly which part.
func weight(at int) float64 { return 1 / float64(1+at) }

// pick returns the noun with the highest worth above 0, the first of equals,
// or none.
func pick(ids []int, worth func(at, id int) float64) int {
	chosen, best := none, 0.0
	for at, id := range ids {
		if w := worth(at, id); w > best {
			chosen, best = id, w
		}
	}
	return chosen
}
