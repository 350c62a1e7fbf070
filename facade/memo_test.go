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
				if got, _, _ := f.discover(v, c, gjson.Parse(`{"query":"issue"}`)); !strings.Contains(got, want) {
					t.Errorf("discover says %q, want %q in it", got, want)
				}
				if got, _, _ := f.discover(v, c, gjson.Parse(`{}`)); strings.Contains(got, "list_issues") != (c == now) {
					t.Errorf("discover says %q", got)
				}
			}
		})
	}
	wg.Wait()
}

// A signature that is cut shows what the query speaks of, and says where the rest is.
func TestCutSignatures(t *testing.T) {
	props := `"id":{"type":"string"}`
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "due_date", "page"} {
		props += `,` + quote(name) + `:{"type":"string"}`
	}
	f, v, c := facadeWith(t, `,"used":[],"searchLimit":0`, []byte(`{"tools":[`+
		tool("write_issue", "Write an issue.", `{"type":"object","properties":{`+props+`},"required":["id"]}`)+`,`+tool("list_issues", "List issues.", "")+`]}`))
	for query, want := range map[string]string{
		"write an issue with a due date": "write_issue(id: string, due_date?: string, a?: string, b?: string, c?: string, d?: string, …+8)",
		"write an issue":                 "write_issue(id: string, a?: string, b?: string, c?: string, d?: string, e?: string, …+8)",
	} {
		for range 2 {
			if got, _, _ := f.discover(v, c, gjson.Parse(`{"query":`+quote(query)+`}`)); !strings.Contains(got, want) || !strings.HasSuffix(got, "\ndescribe write_issue shows all parameters.") {
				t.Errorf("discover %q says\n%s\nwant %s, and how to see all", query, got, want)
			}
		}
	}
	if got, _, _ := f.discover(v, c, gjson.Parse(`{"query":"list"}`)); strings.Contains(got, "shows all") {
		t.Errorf("where nothing is cut discover says\n%s", got)
	}
}

// What is in the parameters of the tool that stands out is told, if only by name.
func TestNestedParametersOfTheWinner(t *testing.T) {
	long := strings.Repeat("very long words ", 20)
	schema := `{"type":"object","properties":{"message":{"type":"object","description":` + quote(long) + `,"properties":{`
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		schema += quote(name) + `:{"type":"string","description":` + quote(long) + `},`
	}
	schema += `"to":{"type":"array","items":{"type":"object","properties":{"address":{"type":"string","description":` + quote(long) + `}}}}}}}}`
	f, v, c := facadeWith(t, `,"used":[]`, []byte(`{"tools":[`+tool("send_mail", "Send a mail.", schema)+`]}`))
	got, _, _ := f.discover(v, c, gjson.Parse(`{"query":"send a mail"}`))
	const want = "\nParameters of send_mail: {message?: {a?: string, b?: string, c?: string, d?: string, e?: string, f?: string, g?: string, h?: string, to?: {address?: string}[]}}\ndescribe send_mail shows all parameters."
	if !strings.HasSuffix(got, want) {
		t.Errorf("discover says\n%s\nwant it to end in%s", got, want)
	}
}
