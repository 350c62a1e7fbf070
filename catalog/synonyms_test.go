package catalog

import (
	"slices"
	"strings"
	"testing"
)

func TestSynonymGroups(t *testing.T) {
	for group := range strings.SplitSeq(forms+";"+likewise, ";") {
		var terms []string
		for word := range strings.FieldsSeq(group) {
			if got := words(strings.ToLower(word)); !slices.Equal(got, []string{word}) {
				t.Errorf("%q of %q is %q in a query", word, group, got)
			}
			if stopWord(word) {
				t.Errorf("%q of %q is a stop word", word, group)
			}
			terms = append(terms, term(word))
		}
		slices.Sort(terms)
		if different := slices.Compact(slices.Clone(terms)); len(terms) < 2 || len(different) < len(terms) {
			t.Errorf("the words of %q have the terms %q; want two or more, all different", group, terms)
		}
	}
}

func TestSynonyms(t *testing.T) {
	b := indexBuilder{terms: map[string]int32{}}
	var s synonyms
	b.addGroups(&s, "create add\nnew; repository repo", .5)
	b.addGroups(&s, "repo code", .4)
	tests := []struct{ name, of, want string }{
		{"are the others of the group", "add", "creat .5 new .5"},
		{"are those of all groups", "repo", "repositori .5 code .4"},
		{"are none without a group", "zebra", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			s.of(b.term(tt.of), func(term int32, weight float32) {
				got = append(got, b.texts[term], map[float32]string{.5: ".5", .4: ".4"}[weight])
			})
			if strings.Join(got, " ") != tt.want {
				t.Errorf("the synonyms of %q are %q, want %q", tt.of, got, tt.want)
			}
		})
	}
}
