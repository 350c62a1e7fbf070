package facade

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

func TestSearchLimit(t *testing.T) {
	const (
		comment = `discover {"query":"comment"}`
		project = `discover {"query":"project"}`
		nothing = `discover {"query":"weather tomorrow"}`
		call    = `call {"tool":"list_projects"}`
	)
	tests := []struct {
		name, config string
		steps        []string // calls, or how long nothing is said
		want         string   // of each search whether it is answered (a) or the budget is exhausted (x)
	}{
		{"answers searches that show nothing new three times", ``, []string{comment, comment, comment, comment, comment}, "aaaxx"},
		{"counts other words with the same hits", ``, []string{comment, `discover {"query":"commenting"}`, comment, `discover {"query":"comments"}`}, "aaax"},
		{"does not count one that shows something new", ``, []string{comment, project, `discover {"query":"delete for good"}`, project}, "aaaa"},
		{"goes on counting after that", ``, []string{comment, comment, project, comment, comment}, "aaaax"},
		{"counts those that find nothing", ``, []string{nothing, nothing, nothing, nothing}, "aaax"},
		{"forgets after a minute", ``, []string{comment, comment, comment, "61s", comment, comment, comment, comment}, "aaaaaax"},
		{"counts from one to the next", ``, []string{comment, "59s", comment, "59s", comment, "59s", comment}, "aaax"},
		{"forgets at a call", ``, []string{comment, comment, comment, call, comment, comment, comment, comment}, "aaaaaax"},
		{"forgets at a direct call", ``, []string{comment, comment, comment, "list_projects {}", comment}, "aaaa"},
		{"does not forget at a call that is refused", ``, []string{comment, comment, comment, `call {"tool":"nosuch"}`, `call {}`, comment}, "aaax"},
		{"counts what is like the last, for agents share it", ``, []string{`discover {"query":"comment issue"}`, comment, `discover {"query":"commented"}`, `discover {"query":"issue comment"}`, `discover {"query":"a comment"}`, comment, comment}, "aaaaaxx"},
		{"counts others a third", `,"searchLimit":2`, []string{`discover {"query":"comment issue"}`, `discover {"query":"comment a"}`, `discover {"query":"comment b"}`, `discover {"query":"comment c"}`, `discover {"query":"comment d"}`, `discover {"query":"comment e"}`, `discover {"query":"comment f"}`}, "aaaaaax"},
		{"does not count the pages of all tools", ``, []string{comment, `discover {"query":""}`, comment, `discover {"query":"page 2"}`, comment}, "aaaaa"},
		{"does not count descriptions of what was found", ``, []string{`discover {"query":"issue"}`, `discover {"query":"get_issue"}`, `discover {"query":"create_issue"}`, `discover {"query":"search_issues"}`}, "aaaa"},
		{"counts the same description", ``, []string{`discover {"query":"get_issue"}`, `discover {"query":"get_issue"}`, `discover {"query":"get_issue"}`, `discover {"query":"get_issue"}`}, "aaax"},
		{"is what config says", `,"searchLimit":1`, []string{comment, comment}, "ax"},
		{"is none if config says 0", `,"searchLimit":0`, []string{comment, comment, comment, comment, comment, comment}, "aaaaaa"},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			d := start(t, Options{Server: entry(t, `,"used":["get_issue"]`+tt.config)}, &fake{tools: tracker()})
			d.open()
			got := ""
			for _, step := range tt.steps {
				if wait, err := time.ParseDuration(step); err == nil {
					time.Sleep(wait)
					continue
				}
				name, args, _ := strings.Cut(step, " ")
				result := d.call("1", name, args)
				if name == "discover" {
					got += map[bool]string{false: "a", true: "x"}[gjson.Get(result, "isError").Bool()]
				}
			}
			if got != tt.want {
				t.Errorf("a limit that %s: the searches among %q go %s, want %s", tt.name, tt.steps, got, tt.want)
			}
		})
	}
}

func TestExhaustedTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, Options{Server: entry(t, `,"used":["get_issue"],"searchLimit":1,"prefix":"acme_"`)}, &fake{tools: tracker()})
		d.open()
		for query, want := range map[string]string{
			"state and assignee": `{"error":"search-budget-exhausted","budgetCap":1,"hits":["[read-only] search_issues(text: string, limit?: integer, state?: open|closed) — Search issues by text, state and assignee."],` +
				`"next":"More searching shows the same tools. Call one of these or ask the user. No result was obtained; do not answer from memory."}`,
			"weather tomorrow": `{"error":"search-budget-exhausted","budgetCap":1,"hits":[],` +
				`"next":"More searching finds nothing. Call a tool that acme_discover lists with an empty query, or ask the user. No result was obtained; do not answer from memory."}`,
		} {
			time.Sleep(2 * searchWindow)
			args := `{"query":` + quote(query) + `}`
			d.call("1", "acme_discover", args)
			if got := text(d.call("1", "acme_discover", args)); got != want {
				t.Errorf("discover %q says the second time\n%s\nwant\n%s", query, got, want)
			}
		}
	})
}

// taughtDesk is a host before tools that are equally good for one query, and
// the book that is kept of it.
func taughtDesk(t *testing.T, up *fake) (*desk, *catalog.Book) {
	up.tools = named("ticket_x", "ticket_y", "ticket_z")
	book := catalog.OpenBook(filepath.Join(t.TempDir(), "acme", "lessons"), nil)
	d := start(t, Options{Server: entry(t, `,"used":[],"searchLimit":0`), Lessons: book}, up)
	d.open()
	return d, book
}

// firstHit is the first tool that a search shows.
func firstHit(d *desk, query string) string {
	d.t.Helper()
	lines := strings.Split(text(d.call("1", "discover", `{"query":`+quote(query)+`}`)), "\n")
	name, _, _ := strings.Cut(lines[min(1, len(lines)-1)], "(")
	return name
}

func TestLearnsFromCalls(t *testing.T) {
	fails := func(_ *fakeConn, m wire.Message) ([]string, bool) {
		return ok(m, `{"content":[],"isError":true}`), m.Method == "tools/call"
	}
	tests := []struct {
		name  string
		up    *fake
		steps []string
		want  string // what a search for tickets shows first after them
	}{
		{"shows first what was called", &fake{}, []string{`discover {"query":"ticket"}`, `call {"tool":"ticket_y"}`}, "ticket_y"},
		{"does so after a direct call", &fake{}, []string{`discover {"query":"ticket"}`, `ticket_z {}`}, "ticket_z"},
		{"learns of every tool that is called", &fake{}, []string{`discover {"query":"ticket"}`, `ticket_y {}`, `ticket_z {}`, `discover {"query":"ticket"}`, `ticket_z {}`}, "ticket_z"},
		{"learns once from one search", &fake{}, []string{`discover {"query":"ticket"}`, `ticket_z {}`, `ticket_z {}`, `discover {"query":"ticket"}`, `ticket_y {}`}, "ticket_y"},
		{"learns nothing of a call without a search", &fake{}, []string{`call {"tool":"ticket_y"}`}, "ticket_x"},
		{"learns nothing of what no search has shown", &fake{}, []string{`discover {"query":"weather"}`, `call {"tool":"ticket_y"}`}, "ticket_x"},
		{"learns nothing of a call that fails", &fake{answer: fails}, []string{`discover {"query":"ticket"}`, `call {"tool":"ticket_y"}`}, "ticket_x"},
		{"learns nothing of a call that comes late", &fake{}, []string{`discover {"query":"ticket"}`, "11m", `call {"tool":"ticket_y"}`}, "ticket_x"},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			d, _ := taughtDesk(t, tt.up)
			for _, step := range tt.steps {
				if wait, err := time.ParseDuration(step); err == nil {
					time.Sleep(wait)
					continue
				}
				name, args, _ := strings.Cut(step, " ")
				d.call("1", name, args)
				d.said() // what is learnt is written meanwhile
			}
			if got := firstHit(d, "tickets"); got != tt.want {
				t.Errorf("a facade that %s: after %q the first of the tickets is %s, want %s", tt.name, tt.steps, got, tt.want)
			}
		})
	}
}

// Another process knows what one has learnt; what is kept is words and names.
func TestLessonsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, book := taughtDesk(t, &fake{})
		d.call("1", "discover", `{"query":"grumble about the ticket of Bob, no. 4711"}`)
		d.call("2", "call", `{"tool":"ticket_y","args":{"secret":"hunter22"}}`)
		d.said()
		var words []string
		for _, query := range []string{"ticket", "grumble", "Bob", "4711", "hunter22"} {
			c := catalogOf(named("ticket_x", "ticket_y", "ticket_z")...)
			if hits := c.SearchTaught(book.Lessons(), query, 10); len(hits) > 0 && hits[0].Tool.Name == "ticket_y" {
				words = append(words, query)
			}
		}
		if got := fmt.Sprint(words); got != "[ticket grumble]" {
			t.Errorf("ticket_y is found first by %s, want by ticket and grumble", got)
		}
	})
}

func TestNothingIsLearntWithoutABook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, Options{Server: entry(t, `,"used":[],"searchLimit":0`)}, &fake{tools: named("ticket_x", "ticket_y")})
		d.open()
		d.call("1", "discover", `{"query":"ticket"}`)
		d.call("2", "call", `{"tool":"ticket_y"}`)
		if got := firstHit(d, "ticket"); got != "ticket_x" || d.facade.searches.open != nil {
			t.Errorf("the first hit is %s, and %v are waiting", got, d.facade.searches.open)
		}
	})
}

// What waits for a call is bounded.
func TestOpenSearchesAreBounded(t *testing.T) {
	s := &searches{}
	for range 3 * maxOpen {
		s.wait([]string{"a"}, []string{"b"})
		s.spend("a", nil)
	}
	if len(s.open) != maxOpen || len(s.take("b")) != maxOpen || s.led("b") {
		t.Errorf("%d searches wait, want %d until they are taken", len(s.open), maxOpen)
	}
}
