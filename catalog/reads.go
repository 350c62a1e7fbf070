package catalog

import (
	"slices"
	"strings"
)

// What a tool counts of its score where a query only asks, as "which issues are
// open?" does, and it seems to read or to write; and, whatever is asked, if it
// is out of use. On the development half of the study's data the first two gain
// .1 points of recall@5; from .5 to .7 and from 1.1 to 1.3 it is nearly the same.
const (
	readsBonus     = 1.2
	writesMalus    = .6
	deprecatedPart = .4
)

// A nature is what a tool seems to do.
type nature uint8

const (
	reads      nature = 1 << iota // it only tells what is there
	writes                        // it changes something
	deprecated                    // its author says that it is out of use
)

// natureOf is what a tool seems to do: as its annotations say or, failing that,
// the first verb of its name.
func (b *indexBuilder) natureOf(t *Tool) (n nature) {
	switch {
	case t.ReadOnly:
		n = reads
	case t.Destructive:
		n = writes
	default:
		n = b.natureOfName(t.Name)
	}
	if t.Deprecated() {
		n |= deprecated
	}
	return n
}

func (b *indexBuilder) natureOfName(name string) nature {
	b.reader.reset(name)
	for n := 0; n < maxNameVerbs && b.reader.next(); n++ {
		switch {
		case reading(string(b.reader.word)):
			return reads
		case writing(string(b.reader.word)):
			return writes
		}
	}
	return 0
}

// getsMany reports whether a name says that a tool gets several things, as
// getIssues and issues_get_by_user do, and mark_issues_read does not.
func (b *indexBuilder) getsMany(name string) bool {
	b.reader.reset(name)
	gets, many := false, false
	for n := 0; n < maxNameVerbs && b.reader.next() && !limits(string(b.reader.word)); n++ {
		switch w := string(b.reader.word); {
		case getting(w):
			gets = true
		case !gets && writing(w):
			return false
		default:
			many = plural(w)
		}
	}
	return gets && many
}

// maxNameVerbs is how many words of a name are looked at for a verb.
const maxNameVerbs = 12

// A favour is what a tool of each nature counts for a query.
type favour [8]float32

// favour is that of the query.
func (q *query) favour() (all favour) {
	asks := q.asks()
	for i := range all {
		n := nature(i)
		all[i] = 1
		if n&deprecated != 0 {
			all[i] = deprecatedPart
		}
		switch {
		case asks && n&reads != 0:
			all[i] *= readsBonus
		case asks && n&writes != 0:
			all[i] *= writesMalus
		}
	}
	return all
}

func (f *favour) most() float32 { return slices.Max(f[:]) }

// asks reports whether a query asks for no change: it has no verb for one, and
// it is a question, but none such as "could you", or a few words without a verb.
func (q *query) asks() bool {
	if len(q.words) == 0 {
		return false
	}
	asked, few := q.question, len(q.words) <= fewWords
	for i := range q.words {
		w := string(q.word(i))
		if !reading(w) && (writing(w) || plainVerb(w) && w != "open") {
			return false
		}
		asked, few = asked && !requestWord(w), few && !verb(w) && !participle(w) && !stopWord(w)
	}
	return asked || few || questionWord(string(q.word(0)))
}

// fewWords is how many words name a thing.
const fewWords = 3

// participle reports whether a word may be a form of a verb.
func participle(w string) bool { return strings.HasSuffix(w, "ing") || strings.HasSuffix(w, "ed") }

// requestWord reports whether a question with the word is a polite order.
func requestWord(w string) bool {
	switch w {
	case "can", "could", "would", "will", "please", "help":
		return true
	}
	return false
}

// questionWord reports whether a question, and nothing else, begins with a word.
func questionWord(w string) bool {
	switch w {
	case "what", "whats", "which", "who", "whose", "whom", "where", "when", "why", "how", "is", "are", "was", "were", "does", "did", "has":
		return true
	}
	return false
}
