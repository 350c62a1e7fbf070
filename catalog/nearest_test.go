package catalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		{"takes a name longer than any", "ping" + strings.Repeat("x", 1<<20), 5, []string{}},
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
		m := matcher{a: []rune(tt.a), b: []rune(tt.b)}
		if got := m.distance(tt.limit); got != tt.want {
			t.Errorf("distance(%q, %q, %d) = %d, want %d", tt.a, tt.b, tt.limit, got, tt.want)
		}
	}
}

func BenchmarkNearest(b *testing.B) {
	c, _ := New([][]byte{large()})
	c.Nearest("warm", 1)
	b.ReportAllocs()
	for b.Loop() {
		c.Nearest("calendarevent_export", 5)
	}
}
