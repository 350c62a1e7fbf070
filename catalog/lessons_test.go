package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// desk is a catalog in which several tools are about as good for a query.
func deskOf(n int) *Catalog {
	names := []string{"create_ticket", "update_ticket", "close_ticket", "search_ticket", "add_comment", "list_queues"}
	for i := range n {
		names = append(names, fmt.Sprintf("ticket_field_%c", 'a'+i))
	}
	return named(names...)
}

// after are the lessons of searches that each led to a tool.
func after(c *Catalog, pairs ...[2]string) (l *Lessons) {
	for _, p := range pairs {
		l = l.with(c.Teaching(p[0]), p[1], 1)
	}
	return l
}

func TestSearchTaught(t *testing.T) {
	c := deskOf(0)
	tests := []struct {
		name    string
		lessons *Lessons
		query   string
		first   string
		found   int
	}{
		{"finds as before without lessons", nil, "ticket", "search_ticket", 4},
		{"puts what was called first", after(c, [2]string{"ticket", "close_ticket"}), "ticket", "close_ticket", 4},
		{"does so for other forms of the words", after(c, [2]string{"open ticket", "close_ticket"}), "tickets opened", "close_ticket", 4},
		{"leaves other words alone", after(c, [2]string{"note", "close_ticket"}), "ticket", "search_ticket", 4},
		{"finds by words that no tool has", after(c, [2]string{"grumble", "add_comment"}), "grumble", "add_comment", 1},
		{"finds by words of another language", after(c, [2]string{"评论", "add_comment"}), "评论", "add_comment", 1},
		{"forgets tools that are gone", after(c, [2]string{"grumble", "no_such"}), "grumble", "", 0},
		{"does not let a habit win over the words", after(c, [2]string{"queues list", "add_comment"}), "list queues", "list_queues", 2},
		{"has the tool of that name first", after(c, [2]string{"create_ticket", "close_ticket"}), "create_ticket", "create_ticket", 3},
	}
	for _, tt := range tests {
		got := namesOf(c.SearchTaught(tt.lessons, tt.query, 10))
		if len(got) != tt.found || tt.first != "" && got[0] != tt.first {
			t.Errorf("a search that %s: %q finds %q, want %d tools, first %q", tt.name, tt.query, got, tt.found, tt.first)
		}
	}
}

// However often other tools were called, none of what is found is missing.
func TestLessonsDropNoTool(t *testing.T) {
	c := deskOf(12)
	l := after(c, [2]string{"ticket", "add_comment"}, [2]string{"ticket", "ticket_field_l"}, [2]string{"ticket", "list_queues"})
	for range 20 {
		l = l.with([]string{"ticket"}, "ticket_field_l", 1)
	}
	want, got := namesOf(c.Search("ticket", 10)), namesOf(c.SearchTaught(l, "ticket", 10))
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) || len(got) != 10 {
		t.Errorf("with lessons %q is found, want %q", got, want)
	}
}

// A log of the labelled queries, replayed: each leads to the first of its
// tools that is found. The second time that tool is found sooner, and whatever
// was found is still; so it is for other queries to the same tools.
func TestReplayedLog(t *testing.T) {
	var same, other gains
	for _, set := range dataSets(t) {
		c := set.catalog()
		found := make([][]string, len(set.questions))
		for i, q := range set.questions {
			found[i] = namesOf(c.Search(q.Query, depth))
		}
		every := func(int) bool { return true }
		even := func(i int) bool { return i%2 == 0 }
		same.add(t, set, c, found, lessonsOf(set, c, found, every), every)
		other.add(t, set, c, found, lessonsOf(set, c, found, even), func(i int) bool { return !even(i) })
	}
	same.want(t, "the same queries", .03)
	other.want(t, "other queries", .005)
}

// lessonsOf are the lessons of some questions, of each the first right tool
// that was found.
func lessonsOf(set dataSet, c *Catalog, found [][]string, some func(i int) bool) *Lessons {
	l := (*Lessons)(nil).alive(1)
	for i, q := range set.questions {
		right := slices.IndexFunc(found[i], func(name string) bool { return slices.Contains(q.Relevant, name) })
		if right < 0 || !some(i) {
			continue
		}
		for _, word := range c.Teaching(q.Query) {
			l.add(word, lesson{found[i][right], 1, 1})
		}
	}
	l.shrink()
	return l
}

// gains are how well data sets are searched without lessons and with them.
type gains struct{ before, after []quality }

// add measures some questions of a data set, and holds what is found with
// lessons to what is found without.
func (g *gains) add(t *testing.T, set dataSet, c *Catalog, found [][]string, l *Lessons, some func(i int) bool) {
	t.Helper()
	var before, after []quality
	for i, q := range set.questions {
		if !some(i) {
			continue
		}
		got := namesOf(c.SearchTaught(l, q.Query, depth))
		missing := slices.DeleteFunc(slices.Clone(found[i]), func(name string) bool { return slices.Contains(got, name) })
		if len(missing) > 0 || len(got) > depth {
			t.Errorf("after lessons %q finds %q, which lacks %q", q.Query, got, missing)
		}
		before, after = append(before, judge(found[i], q.Relevant)), append(after, judge(got, q.Relevant))
	}
	g.before, g.after = append(g.before, macro(before)), append(g.after, macro(after))
}

// want fails the test unless so much more is found first.
func (g *gains) want(t *testing.T, name string, gain float64) {
	t.Helper()
	before, after := macro(g.before), macro(g.after)
	t.Logf("%s: recall@1 %.4f, then %.4f; mrr %.4f, then %.4f", name, before.recall[0], after.recall[0], before.mrr, after.mrr)
	if after.recall[0] < before.recall[0]+gain || after.mrr < before.mrr+gain {
		t.Errorf("%s after lessons: recall@1 %.4f and mrr %.4f, want %.3f more than %.4f and %.4f",
			name, after.recall[0], after.mrr, gain, before.recall[0], before.mrr)
	}
}

func TestTeaching(t *testing.T) {
	c := deskOf(0)
	tests := []struct{ name, query, want string }{
		{"keeps terms", "please close the tickets", "close ticket"},
		{"keeps each once", "ticket Tickets ticket", "ticket"},
		{"keeps no number and no code", "ticket 4711 of tok3n-AbCdEf0123456789", "ticket"},
		{"keeps no long word", "ticket " + strings.Repeat("abc", 9), "ticket"},
		{"keeps no name of somebody", "close ticket of Bob Smith", "close ticket"},
		{"keeps what tools are about with a capital", "The Queues and Tickets", "queue ticket"},
		{"keeps other scripts", "Комментарий", "комментарий"},
		{"keeps a few of many", "ab ac ad ae af ag ah aj ak ba bc bd be bf bg bh", "ab ac ad ae af ag ah aj ak ba bc bd"},
		{"keeps nothing of nothing", "?!", ""},
	}
	for _, tt := range tests {
		if got := strings.Join(c.Teaching(tt.query), " "); got != tt.want {
			t.Errorf("Teaching %s: of %q it is %q, want %q", tt.name, tt.query, got, tt.want)
		}
	}
}

func TestLessonsAreBounded(t *testing.T) {
	l := (*Lessons)(nil).alive(0)
	word := func(i int) string {
		return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(i))
	}
	for i := range maxLessons + 50 {
		l.add(word(i), lesson{"a", 1, i / maxLessons})
	}
	l = l.with(nil, "a", 10)
	if l.pairs != maxLessons || len(l.list()) != maxLessons {
		t.Fatalf("%d lessons are kept, want %d", l.pairs, maxLessons)
	}
	if _, ok := l.byWord[word(maxLessons+49)]; !ok {
		t.Error("the newest lesson is dropped")
	}
	if n := len(l.alive(10 + maxLessonDays).list()); n != 0 {
		t.Errorf("%d lessons are kept for more than %d days", n, maxLessonDays)
	}
	for range 300 {
		l = l.with([]string{"word"}, "tool", 10)
	}
	if got := l.byWord["word"]; len(got) != 1 || got[0].times != 255 {
		t.Errorf("after 300 times the lesson is %v", got)
	}
	before := l.list()
	l.with([]string{"word", "12", "a b"}, "other", 11)
	if !slices.Equal(before, l.list()) {
		t.Error("lessons have changed that others may have")
	}
	if got := l.with([]string{"word"}, "a\nb", 10).byWord["word"]; len(got) != 1 {
		t.Errorf("a name of two lines is kept: %v", got)
	}
}

func BenchmarkSearchTaught(b *testing.B) {
	c, _ := New([][]byte{large()})
	var l *Lessons
	for i := range 200 {
		l = l.with(c.Teaching(c.tools[i].Description), c.tools[i].Name, 1)
	}
	for name, lessons := range map[string]*Lessons{"none": nil, "many": l} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.SearchTaught(lessons, "move a message to another folder", 10)
			}
		})
	}
}
