package hosts

import "slices"

// A node is a value in the data.
type node struct {
	kind  kind
	key   string // in its table; "" in a list
	value string // of a text what it says, of another scalar its literal: "true", "30"
	nodes []node // of a list or a table, in the order of the file
	span         // where the value's text stands, quotes included; empty for a TOML table that has a header or dotted keys
}

type kind uint8

const (
	scalar kind = iota // a number, a bool, null, a date
	text
	list
	table
)

// get is the member of a table, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for i := range n.nodes {
		if n.kind == table && n.nodes[i].key == key {
			return &n.nodes[i]
		}
	}
	return nil
}

// at is what a path leads to, or nil.
func (n *node) at(path []string) *node {
	for _, key := range path {
		n = n.get(key)
	}
	return n
}

// text is what a text says, "" if it is none.
func (n *node) text() string {
	if n == nil || n.kind != text {
		return ""
	}
	return n.value
}

// literal is a scalar as it is written, "" if it is none.
func (n *node) literal() string {
	if n == nil || n.kind != scalar {
		return ""
	}
	return n.value
}

// texts are the texts of a list.
func (n *node) texts() []string {
	if n == nil || n.kind != list {
		return nil
	}
	var all []string
	for _, kid := range n.nodes {
		all = append(all, kid.value)
	}
	return all
}

// isTexts reports whether it is a list of texts alone, or not there.
func (n *node) isTexts() bool {
	return n == nil || n.kind == list && !slices.ContainsFunc(n.nodes, func(kid node) bool { return kid.kind != text })
}

// kids are the members of a table or the values of a list, of anything else none.
func (n *node) kids() []node {
	if n == nil {
		return nil
	}
	return n.nodes
}

// vars are the members of a table that are no tables or lists themselves.
func (n *node) vars() []Var {
	if n == nil || n.kind != table {
		return nil
	}
	var all []Var
	for _, kid := range n.nodes {
		if kid.kind == text || kid.kind == scalar {
			all = append(all, Var{kid.key, kid.value})
		}
	}
	return all
}

// with is n with a value in the place of what path leads to. Null on the way is a
// table without members.
func (n node) with(path []string, value node) node {
	if len(path) == 0 {
		value.key = n.key
		return value
	}
	if n.literal() == "null" {
		n = node{kind: table, key: n.key}
	}
	n.nodes = slices.Clone(n.nodes)
	i := slices.IndexFunc(n.nodes, func(kid node) bool { return kid.key == path[0] })
	if i < 0 {
		i = len(n.nodes)
		n.nodes = append(n.nodes, node{kind: table, key: path[0]})
	}
	n.nodes[i] = n.nodes[i].with(path[1:], value)
	return n
}

// without is n without what path leads to.
func (n node) without(path []string) node {
	i := slices.IndexFunc(n.nodes, func(kid node) bool { return kid.key == path[0] })
	switch {
	case i < 0:
	case len(path) == 1:
		n.nodes = slices.Delete(slices.Clone(n.nodes), i, i+1)
	default:
		n.nodes = slices.Clone(n.nodes)
		n.nodes[i] = n.nodes[i].without(path[1:])
	}
	return n
}

// moved is a value whose text stands so many bytes further on.
func (n node) moved(by int) node {
	n.span = n.span.moved(by)
	n.nodes = slices.Clone(n.nodes)
	for i := range n.nodes {
		n.nodes[i] = n.nodes[i].moved(by)
	}
	return n
}

// says tells whether two values say the same. The order in a table says nothing,
// nor does an empty table.
func (n node) says(m node) bool {
	if n.kind != m.kind || n.value != m.value {
		return false
	}
	if n.kind != table {
		return slices.EqualFunc(n.nodes, m.nodes, node.says)
	}
	a, b := n.filled(), m.filled()
	for key, kid := range a {
		other, ok := b[key]
		if !ok || !kid.says(other) {
			return false
		}
	}
	return len(a) == len(b)
}

// filled are the members of a table that are not empty tables.
func (n node) filled() map[string]node {
	all := make(map[string]node, len(n.nodes))
	for _, kid := range n.nodes {
		if kid.kind != table || len(kid.filled()) > 0 {
			all[kid.key] = kid
		}
	}
	return all
}
