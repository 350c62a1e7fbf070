package demo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// parseQuery reads the query language that search_issues describes.
func parseQuery(k *kind, query string) (func(row string) bool, error) {
	var terms []func(row string) bool
	for _, word := range words(query) {
		term, err := parseTerm(k, word)
		if err != nil {
			return nil, err
		}
		terms = append(terms, term)
	}
	return func(row string) bool {
		return !slices.ContainsFunc(terms, func(term func(string) bool) bool { return !term(row) })
	}, nil
}

func parseTerm(k *kind, word string) (func(row string) bool, error) {
	if rest, ok := strings.CutPrefix(word, "-"); ok && rest != "" {
		term, err := parseTerm(k, rest)
		return func(row string) bool { return !term(row) }, err
	}
	name, value, ok := strings.Cut(word, ":")
	if !ok || k.name != "issues" || strings.HasPrefix(word, `"`) {
		text := strings.ToLower(strings.ReplaceAll(word, `"`, ""))
		return func(row string) bool { return mentions(row, text) }, nil
	}
	name, known := fieldNamed(strings.ToLower(name))
	if !known {
		return nil, fmt.Errorf("query: unknown field %q; the fields are %s", name, strings.Join(queryFields[:], ", "))
	}
	value = strings.Trim(value, `"`)
	return func(row string) bool { return holds(get(row, name), value) }, nil
}

// words cuts a query at its spaces, save for those in double quotes.
func words(query string) []string {
	var out []string
	start, open := 0, false
	for i := 0; i <= len(query); i++ {
		switch {
		case i == len(query) || query[i] == ' ' && !open:
			if i > start {
				out = append(out, query[start:i])
			}
			start = i + 1
		case query[i] == '"':
			open = !open
		}
	}
	return out
}

var queryFields = [...]string{"project", "type", "status", "priority", "assignee", "reporter", "label", "sprint", "release", "parent"}

// fieldNamed is the field of an issue that a query calls by a shorter name.
func fieldNamed(name string) (string, bool) {
	switch name {
	case "project", "parent":
		return name + "_key", true
	case "sprint", "release":
		return name + "_id", true
	case "label":
		return "labels", true
	}
	return name, slices.Contains(queryFields[:], name)
}

// holds reports whether a field has the value, as a query writes it.
func holds(v gjson.Result, value string) bool {
	if value == "none" {
		return len(v.Array()) == 0
	}
	if value == "me" {
		value = me
	}
	return slices.ContainsFunc(texts(v), func(s string) bool { return strings.EqualFold(s, value) })
}

// mentions reports whether some value of the record has the lower-case text
// in it.
func mentions(row, text string) bool {
	found := false
	gjson.Parse(row).ForEach(func(_, v gjson.Result) bool {
		found = slices.ContainsFunc(texts(v), func(s string) bool { return strings.Contains(strings.ToLower(s), text) })
		return !found
	})
	return found
}
