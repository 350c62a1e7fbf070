package catalog

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// What a digest has of words that are in no tool's name: how many there are at
// most, and how much of a description is read for them, in characters.
const (
	maxOwnNames = 2
	maxOfTexts  = 5
	maxRead     = 3000
)

// otherNouns are what tools are about whose names do not tell, as those of
// HTTP verbs do not: words of the server's own name, then words that most of
// their descriptions have. Of the latter only those count that our own lists of
// words know as things, so that nothing that an upstream writes can be read as
// anything but a list of them.
func otherNouns(tools []Tool, own string) []string {
	all := nameNouns(own)
	return append(all, slices.DeleteFunc(textNouns(tools), func(w string) bool { return slices.Contains(all, w) })...)
}

// nameNouns are telling words of a server's own names, the last ones first: an
// author comes before the "/".
func nameNouns(own string) (all []string) {
	for name := range strings.FieldsSeq(firstRunes(own, maxSpelling)) {
		for _, w := range nameWords(name[strings.LastIndexByte(name, '/')+1:]) {
			if !dull(w) && !chaff(w) && !verb(w) && !faintWord(w) && len(w) > 2 && !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	return all[max(0, len(all)-maxOwnNames):]
}

// chaff reports whether a word of a server's name says only that it is one.
func chaff(w string) bool {
	switch w {
	case "server", "official", "api", "client", "connector", "integration", "app", "service", "plugin", "proxy", "remote", "beta", "demo":
		return true
	}
	return false
}

// textNouns are the things that most is said of in the descriptions, by at least
// half of the tools.
func textNouns(tools []Tool) (all []string) {
	things, times, last, in := thingsWeKnow(), map[string]int{}, map[string]int{}, map[string]int{}
	for i := range tools {
		for r := (wordReader{rest: firstRunes(tools[i].Description, maxRead)}); r.next(); {
			thing, known := things[term(string(r.word))]
			if !known {
				continue
			}
			times[thing]++
			if last[thing] != i+1 {
				last[thing] = i + 1
				in[thing]++
			}
		}
	}
	for thing := range times {
		if 2*in[thing] >= len(tools) {
			all = append(all, thing)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b)) })
	return all[:min(len(all), maxOfTexts)]
}

// thingsWeKnow are the nouns of our synonyms by their terms.
func thingsWeKnow() map[string]string {
	things := map[string]string{}
	for word := range strings.FieldsFuncSeq(forms+" "+likewise, func(r rune) bool { return unicode.IsSpace(r) || r == ';' }) {
		if !verb(word) && !dull(word) && !faintWord(word) && !attribute(word) && !chaff(word) && !slices.Contains(formal(), word) {
			if shorter, known := things[term(word)]; !known || len(word) < len(shorter) {
				things[term(word)] = word
			}
		}
	}
	return things
}

// formal are nouns that descriptions have about their own form.
func formal() []string {
	return []string{"parameter", "argument", "param", "arg", "string", "text", "number", "type", "reply", "response", "answer", "description", "desc", "reference",
		"option", "property", "attribute", "field", "key", "token", "cost", "output", "format", "example", "return", "path", "method", "endpoint",
		"filter", "object", "array", "content", "order", "word", "name", "id", "identifier", "request", "error", "result", "state", "size", "length",
		"budget", "price", "fee", "maximum", "max", "minimum", "min", "small", "write", "wrote", "rate", "note", "link", "url", "uri", "web", "document", "documentation", "doc", "docs"}
}
