package facade

import (
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
)

// What is kept of one catalog is not shown of another.
func TestMemoIsOfOneCatalog(t *testing.T) {
	f, v, old := facadeWith(t, `,"used":[]`, []byte(`{"tools":[`+tool("get_issue", "Get one.", "")+`]}`))
	now := catalogOf(tool("get_issue", "Fetch one.", ""), tool("list_issues", "List all.", ""))
	var wg sync.WaitGroup
	for i := range 8 {
		c, want := old, "get_issue() — Get one."
		if i%2 == 0 {
			c, want = now, "get_issue() — Fetch one."
		}
		wg.Go(func() {
			for range 100 {
				if got, _ := f.discover(v, c, gjson.Parse(`{"query":"issue"}`)); !strings.Contains(got, want) {
					t.Errorf("discover says %q, want %q in it", got, want)
				}
				if got, _ := f.discover(v, c, gjson.Parse(`{}`)); strings.Contains(got, "list_issues") != (c == now) {
					t.Errorf("discover says %q", got)
				}
			}
		})
	}
	wg.Wait()
}
