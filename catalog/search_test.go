package catalog

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"cuts camel case", "getIssueComment", []string{"get", "issue", "comment"}},
		{"cuts Pascal case", "ListUsers", []string{"list", "users"}},
		{"cuts snake and kebab case", "list_mail-folders", []string{"list", "mail", "folders"}},
		{"cuts after an acronym", "getHTTPStatus", []string{"get", "http", "status"}},
		{"keeps a plural acronym whole", "listAPIs", []string{"list", "apis"}},
		{"keeps an acronym that ends in s", "useHTTPS", []string{"use", "https"}},
		{"cuts before a capitalised word with s", "HTTPService", []string{"http", "service"}},
		{"cuts at digits", "oauth2token", []string{"oauth", "2", "token"}},
		{"lower-cases other letters", "ÄRGER über", []string{"ärger", "über"}},
		{"drops a possessive", "the user's files", []string{"the", "user", "files"}},
		{"cuts at dots, slashes and signs", "a.b/c:d (e)!", []string{"a", "b", "c", "d", "e"}},
		{"finds none in signs", "-_ ./", nil},
		{"finds none in nothing", "", nil},
		{"takes broken UTF-8", "a\xffb", []string{"a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, words(tt.in)); diff != "" {
				t.Errorf("words(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

// wiki is a small catalog to search in.
func wiki() *Catalog {
	c, _ := New([][]byte{page(
		`{"name":"create_page","description":"Create a page in a space."}`,
		`{"name":"getPage","title":"Read a page","description":"Returns a page with its body. Use list-spaces before."}`,
		`{"name":"list-spaces","description":"List all spaces that you can see."}`,
		`{"name":"export_csv","description":"Export a table as CSV."}`,
		`{"name":"start_export","description":"Start the export of a space in the background."}`,
		`{"name":"ping"}`,
		`{"name":"pong","description":"Twin of ping."}`,
		`{"name":"twin_a","description":"Alike."}`,
		`{"name":"twin_b","description":"Alike."}`,
	)})
	return c
}

func TestSearch(t *testing.T) {
	tests := []struct {
		name, query string
		n           int
		want        []string
	}{
		{"finds words of a name before those of a description", "export", 10, []string{"export_csv", "start_export"}},
		{"finds a word of a description", "background", 10, []string{"start_export"}},
		{"finds a word of a title", "read", 10, []string{"getPage"}},
		{"ignores stop words", "please show me the tool for the background", 10, []string{"start_export"}},
		{"searches for stop words if there is nothing else", "you can", 10, []string{"list-spaces"}},
		{"splits identifiers in the query", "createPage", 1, []string{"create_page"}},
		{"finds the exact name first", "ping", 10, []string{"ping", "pong"}},
		{"finds the name in another case", " GETPAGE ", 1, []string{"getPage"}},
		{"keeps the catalog's order for equal scores", "alike", 10, []string{"twin_a", "twin_b"}},
		{"returns no more than asked for", "alike twin", 1, []string{"twin_a"}},
		{"returns nothing if asked for nothing", "alike", 0, nil},
		{"returns nothing if asked for less", "alike", -1, nil},
		{"finds nothing for an unknown word", "zebra", 10, nil},
		{"finds nothing for an empty query", "", 10, nil},
		{"finds nothing for signs", "?!", 10, nil},
	}
	c := wiki()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hits := c.Search(tt.query, tt.n)
			var got []string
			for i, hit := range hits {
				got = append(got, hit.Tool.Name)
				if hit.Score <= 0 || i > 0 && hit.Score > hits[i-1].Score {
					t.Errorf("Search(%q): score %g of %s after %g", tt.query, hit.Score, hit.Tool.Name, hits[max(0, i-1)].Score)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Search(%q, %d) (-want +got):\n%s", tt.query, tt.n, diff)
			}
		})
	}
}

func TestSearchInAnEmptyCatalog(t *testing.T) {
	c, _ := New(nil)
	if hits := c.Search("anything", 10); len(hits) != 0 {
		t.Errorf("Search in an empty catalog = %v", hits)
	}
}

func TestSearchFindsANameWithoutWords(t *testing.T) {
	if hits := named("___", "a").Search("___", 10); len(hits) != 1 || hits[0].Tool.Name != "___" {
		t.Errorf(`Search("___") = %v`, hits)
	}
}

func TestSearchesAtOnce(t *testing.T) {
	c := wiki()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if hits := c.Search("export", 1); len(hits) != 1 {
				t.Errorf("Search = %v", hits)
			}
		})
	}
	wg.Wait()
}

func TestBest(t *testing.T) {
	scores := []float64{1, 3, 0, 2, 3, 1}
	for n, want := range [][]int{nil, {1}, {1, 4}, {1, 4, 3}, {1, 4, 3, 0}, {1, 4, 3, 0, 5}, {1, 4, 3, 0, 5}} {
		if got := best(scores, n); !slices.Equal(got, want) {
			t.Errorf("best(%v, %d) = %v, want %v", scores, n, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	c := named("start_export", "export_csv", "list_issues", "issue_write", "create_branch", "jira_add_worklog", "ping")
	tests := []struct {
		name, ask string
		n         int
		want      []string
	}{
		{"finds other separators, then shared words", "startexport", 5, []string{"start_export", "export_csv"}},
		{"finds another case", "START-EXPORT", 1, []string{"start_export"}},
		{"finds words in another order", "issues_list", 1, []string{"list_issues"}},
		{"finds a typing error", "exprot_csv", 1, []string{"export_csv"}},
		{"finds a typing error in one word", "create_isue", 1, []string{"issue_write"}},
		{"finds a short name with a typing error", "pnig", 5, []string{"ping"}},
		{"finds a prefix", "list_issues_of_repo", 1, []string{"list_issues"}},
		{"finds a part", "worklog", 5, []string{"jira_add_worklog"}},
		{"does not take the verb for the thing", "createissue", 5, []string{"issue_write"}},
		{"finds nothing for another name", "zebra", 5, []string{}},
		{"finds nothing for no letters", "--", 5, []string{}},
		{"returns nothing if asked for nothing", "ping", 0, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, c.Nearest(tt.ask, tt.n)); diff != "" {
				t.Errorf("Nearest(%q, %d) (-want +got):\n%s", tt.ask, tt.n, diff)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b  string
		limit int
		want  int
	}{
		{"", "", 3, 0}, {"abc", "abc", 3, 0}, {"abc", "abd", 3, 1}, {"abc", "acb", 3, 1}, {"abc", "ab", 3, 1},
		{"", "ab", 3, 2}, {"kitten", "sitting", 3, 3}, {"ca", "abc", 3, 3}, {"abcdef", "uvwxyz", 2, 3}, {"a", "abcdef", 2, 3},
	}
	for _, tt := range tests {
		if got := distance([]rune(tt.a), []rune(tt.b), tt.limit); got != tt.want {
			t.Errorf("distance(%q, %q, %d) = %d, want %d", tt.a, tt.b, tt.limit, got, tt.want)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	c, _ := New([][]byte{large()})
	c.Search("warm", 1)
	b.ReportAllocs()
	for b.Loop() {
		c.Search("export the calendar events of a user", 10)
	}
}

func BenchmarkIndex(b *testing.B) {
	c, _ := New([][]byte{large()})
	b.ReportAllocs()
	for b.Loop() {
		buildIndex(c.tools)
	}
}

func BenchmarkNearest(b *testing.B) {
	c, _ := New([][]byte{large()})
	b.ReportAllocs()
	for b.Loop() {
		c.Nearest("calendarevent_export", 5)
	}
}
