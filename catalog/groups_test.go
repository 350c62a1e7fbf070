package catalog

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Each file of testdata/names is a server's name and its tools' names.
func TestDigestAndGroups(t *testing.T) {
	paths, _ := filepath.Glob("testdata/names/*.txt")
	if len(paths) == 0 {
		t.Fatal("no names in testdata")
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			own, list, _ := strings.Cut(string(read(t, path)), "\n")
			golden(t, strings.TrimSuffix(path, ".txt")+".golden", overview(named(strings.Fields(list)...), own))
		})
	}
}

// overview is the digest and the groups of a catalog as text.
func overview(c *Catalog, own string) string {
	var b strings.Builder
	fmt.Fprintln(&b, strings.Join(c.Digest(c.Tools(), own), ", "))
	for _, g := range c.Groups(own) {
		fmt.Fprintf(&b, "\n%s: %s", g.Noun, strings.Join(g.Tools, " "))
	}
	return b.String() + "\n"
}

// golden compares text with a file, or writes it there.
func golden(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, path)), text); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

func TestDigestOfRealTools(t *testing.T) {
	for _, path := range realCatalogs(t) {
		data := read(t, path)
		c, _ := New([][]byte{data})
		own := gjson.GetBytes(data, "initialize.serverInfo.name").Str
		for _, hidden := range [][]Tool{c.Tools(), c.Tools()[len(c.Tools())/2:], c.Tools()[:1], nil} {
			digest := c.Digest(hidden, own)
			checkDigest(t, path, digest, hidden, own)
			if again := c.Digest(hidden, own); !slices.Equal(again, digest) {
				t.Errorf("%s: the digest is %q, and the second time %q", path, digest, again)
			}
		}
	}
}

// checkDigest holds a digest to what DESIGN promises: it is made of words of
// the tools' names or, where those tell nothing, of the server's and of ours, of
// letters and digits, and each noun is short and told once.
func checkDigest(t *testing.T, path string, digest []string, hidden []Tool, own string) {
	t.Helper()
	known := map[string]bool{}
	if others := otherNouns(hidden, own); len(hidden) > 0 && slices.Equal(digest, others) {
		for _, w := range slices.Concat(nameWords(own), slices.Collect(maps.Values(thingsWeKnow()))) {
			known[w] = true
		}
	}
	for _, tool := range hidden {
		for _, w := range nameWords(tool.Name) {
			known[w] = true
		}
	}
	for i, noun := range digest {
		if slices.Contains(digest[:i], noun) || utf8.RuneCountInString(noun) > maxNoun || strings.Count(noun, " ") > 1 {
			t.Errorf("%s: noun %q is told twice, or too long", path, noun)
		}
		for _, w := range strings.Split(noun, " ") {
			if !known[w] || strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
				t.Errorf("%s: %q is no word of a tool's name", path, w)
			}
		}
	}
	if len(digest) > maxDigest || len(hidden) > 5 && len(digest) < 3 && !strings.Contains(path, "jira") {
		t.Errorf("%s: a digest of %d nouns for %d tools", path, len(digest), len(hidden))
	}
}

// Every tool is in one group, and the groups are in order.
func TestGroupsOfRealTools(t *testing.T) {
	for _, path := range realCatalogs(t) {
		c, _ := New([][]byte{read(t, path)})
		groups := c.Groups("")
		position := map[string]int{}
		for i, tool := range c.Tools() {
			position[tool.Name] = i
		}
		for i, g := range groups {
			rest := g.Noun == Leftovers
			if rest && i != len(groups)-1 || !rest && len(g.Tools) < smallest || !rest && i > 0 && len(g.Tools) > len(groups[i-1].Tools) {
				t.Errorf("%s: group %d, %q, of %d tools is out of order", path, i, g.Noun, len(g.Tools))
			}
			if !slices.IsSortedFunc(g.Tools, func(a, b string) int { return position[a] - position[b] }) {
				t.Errorf("%s: the tools of %q are not in the catalog's order", path, g.Noun)
			}
			for _, name := range g.Tools {
				delete(position, name)
			}
		}
		if len(position) > 0 {
			t.Errorf("%s: in no group: %v", path, position)
		}
		if diff := cmp.Diff(groups, c.Groups("")); diff != "" {
			t.Errorf("%s: groups differ the second time:\n%s", path, diff)
		}
	}
}

// Tools that are few among the hidden ones are named as their catalog is.
func TestDigestKnowsTheCatalogsHabits(t *testing.T) {
	c := named("browser_click", "browser_drag", "browser_tabs", "browser_cookie_list", "browser_cookie_set")
	if got, want := c.Digest(c.Tools()[2:4], ""), []string{"tabs", "cookie"}; !slices.Equal(got, want) {
		t.Errorf("Digest = %q, want %q", got, want)
	}
}

func TestDigest(t *testing.T) {
	tests := []struct {
		name, own string
		tools     []string // names, and what is said of them after a space
		want      []string
	}{
		{"names first what the tools speak of", "", []string{"alpha_get", "beta_get Gets the beta.", "gamma_get Puts a beta into the gamma.", "delta_get"}, []string{"beta", "gamma", "alpha", "delta"}},
		{"names short nouns before long ones", "", []string{"workspacemembership_get", "gist_get"}, []string{"gist", "workspacemembership"}},
		{"names things without what they are like", "", []string{"list_starred_repositories", "get_visible_area", "feed_get"}, []string{"area", "feed", "repositories"}},
		{"leaves out which of them are meant", "", []string{"list_folders_with_sizes", "search_notes_for_user", "find_by_tag"}, []string{"folders", "notes", "tag"}},
		{"takes forms of a word for one", "", []string{"doc_get", "document_put", "document_get", "sheet_get"}, []string{"document", "sheet"}},
		{"knows the server's own name", "acme acme-search-server", []string{"web_search_acme", "web_fetch_acme"}, []string{"web", "search"}},
		{"knows a part of that from a word", "xlint XLint", []string{"lint-files"}, []string{"lint files"}},
	}
	for _, tt := range tests {
		var all []string
		for _, tool := range tt.tools {
			name, said, _ := strings.Cut(tool, " ")
			all = append(all, fmt.Sprintf(`{"name":%q,"description":%q}`, name, said))
		}
		c, _ := New([][]byte{[]byte(`{"tools":[` + strings.Join(all, ",") + `]}`)})
		if got := c.Digest(c.Tools(), tt.own); !slices.Equal(got, tt.want) {
			t.Errorf("a digest that %s: of %q it is %q, want %q", tt.name, tt.tools, got, tt.want)
		}
	}
}

func TestDigestIsBounded(t *testing.T) {
	var names []string
	for i := range maxTools {
		names = append(names, fmt.Sprintf("same_other%s_%s", strings.Repeat("x", i%30), strings.Repeat(string(rune('a'+i%26)), 1+i/26)))
	}
	c := named(names...)
	if got := c.Digest(c.Tools(), strings.Repeat("own ", 1<<18)); len(got) > maxDigest {
		t.Errorf("a digest of %d nouns", len(got))
	}
	c.Groups("")
}

func BenchmarkDigest(b *testing.B) {
	c, _ := New([][]byte{large()})
	b.ReportAllocs()
	for b.Loop() {
		c.Digest(c.Tools(), "acme")
	}
}

func BenchmarkGroups(b *testing.B) {
	c, _ := New([][]byte{large()})
	b.ReportAllocs()
	for b.Loop() {
		c.Groups("acme")
	}
}
