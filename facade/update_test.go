package facade

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/facade/wire"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

func TestRefreshWithoutAView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		o := Options{Server: entry(t, ""), Dial: up.dial, Store: store(t), Accepted: accepted(t), Version: "v1"}
		got, err := Refresh(t.Context(), o)
		if diff := cmp.Diff([]Change{{Tool: "get_issue", What: "added"}, {Tool: "list_issues", What: "added"}}, got); diff != "" || err != nil {
			t.Errorf("Refresh = %v (-want +got):\n%s", err, diff)
		}
		if got := gjson.Get(up.received("initialize")[0], "params.capabilities").Raw; got != "{}" {
			t.Errorf("it opened with capabilities %s, want none", got)
		}
		if _, err := o.Store.LoadExact(catalog.CommandView()); err != nil {
			t.Errorf("the view of commands: %v", err)
		}
		if got, err := Refresh(t.Context(), o); len(got) != 0 || err != nil {
			t.Errorf("the next Refresh = %v, %v, want no change", got, err)
		}
	})
}

// noArguments is the inputSchema of [two], as it is shown.
const noArguments = `"inputSchema": { "properties": { }, "type": "object" }`

func TestRefreshOfEveryView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := choosy() // its second tool is for hosts with sampling
		o := Options{Server: entry(t, `,"staleOk":false,"drift":"block"`), Dial: up.dial, Store: store(t), Accepted: accepted(t), Version: "v1"}
		for _, capabilities := range []string{`{}`, `{"sampling":{}}`} {
			d := start(t, o, up)
			d.openWith(capabilities)
			d.names()
			d.close()
		}
		added := []Change{{Tool: "list_issues", What: "added", Parts: []PartChange{{catalog.Description, "", "List all issues."}, {catalog.Schema, "", noArguments}}}}
		if got, err := Accept(t.Context(), o); !cmp.Equal(got, added) || err != nil {
			t.Errorf("Accept = %v, %v, want what the second view alone has", got, err)
		}
		time.Sleep(20 * 24 * time.Hour)
		now := &fake{tools: []string{tool("get_issue", "Changed.", ""), tool("new", "", "")}}
		o.Dial = now.dial
		got, err := Refresh(t.Context(), o)
		want := []Change{
			{Tool: "get_issue", What: "changed", Parts: []PartChange{{catalog.Description, "Get one issue.", "Changed."}}},
			{Tool: "list_issues", What: "removed"},
			{Tool: "new", What: "added", Parts: []PartChange{{catalog.Schema, "", noArguments}}},
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("Refresh = %v (-want +got):\n%s", err, diff)
		}
		var openings []string
		for _, frame := range now.received("initialize") {
			openings = append(openings, gjson.Get(frame, "params.capabilities").Raw)
		}
		if all := strings.Join(openings, " "); len(openings) != 2 || !strings.Contains(all, `{}`) || !strings.Contains(all, `{"sampling":{}}`) {
			t.Errorf("it opened with %q, want the openings of both views", openings)
		}
		if n := len(now.received("notifications/initialized")); n != 2 {
			t.Errorf("initialized %d times, want 2", n)
		}
	})
}

func TestRefreshOfAModernView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two(), modern: true}
		o := Options{Server: entry(t, ""), Dial: up.dial, Store: store(t), Accepted: accepted(t), Version: "v1"}
		d := start(t, o, up)
		d.ask("1", "server/discover", `{"_meta":`+modernMeta+`}`)
		d.ask("2", "tools/list", `{"_meta":`+modernMeta+`}`)
		d.close()
		up.setTools(two()[0])
		got, err := Refresh(t.Context(), o)
		if diff := cmp.Diff([]Change{{Tool: "list_issues", What: "removed"}}, got); diff != "" || err != nil {
			t.Errorf("Refresh = %v (-want +got):\n%s", err, diff)
		}
		list := up.received("tools/list")
		if got := gjson.Get(list[len(list)-1], "params._meta").Raw; got != modernMeta {
			t.Errorf("it listed with _meta %s, want the host's", got)
		}
		if n := len(up.received("initialize")); n != 0 {
			t.Errorf("a modern upstream got initialize %d times", n)
		}
	})
}

func TestRefreshTestsTheEraAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		o := Options{Server: entry(t, ""), Dial: up.dial, Store: store(t), Accepted: accepted(t), Version: "v1"}
		if _, err := Refresh(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if err := o.Store.SetEra(legacy); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{legacy, modern} {
			up.modern = want == modern
			if _, err := Refresh(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if got := o.Store.Era(); got != want {
				t.Errorf("after a refresh the era is %q, want %q", got, want)
			}
		}
	})
}

func TestFailedCommandRefresh(t *testing.T) {
	tests := []struct {
		name string
		hurt func(up *fake)
		want string
	}{
		{"says that there is no upstream", func(up *fake) { up.dialError = fmt.Errorf("it is gone") }, "it is gone"},
		{"says that the list failed", func(up *fake) {
			up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
				return []string{string(wire.ErrorResponse(m.ID.Raw, -32000, "no list today", nil))}, m.Method == "tools/list"
			}
		}, "acme: tools/list: no list today"},
		{"says that the list hangs", func(up *fake) {
			up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) { return nil, m.Method == "tools/list" }
		}, "acme: list tools: no answer in 20s"},
		{"says that the start hangs", func(up *fake) {
			up.answer = func(*fakeConn, wire.Message) ([]string, bool) { return nil, true }
		}, "acme: start: no answer in 20s, it is still starting"},
		{"says how the upstream ended", func(up *fake) {
			up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) { c.die("exit status 3"); return nil, true }
		}, "acme: run: exit status 3"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := Options{Server: entry(t, ""), Store: store(t), Accepted: accepted(t), Version: "v1"}
				visit(t, o, &fake{tools: two()}, nil)
				up := &fake{}
				tt.hurt(up)
				o.Dial = up.dial
				if got, err := Refresh(t.Context(), o); err == nil || err.Error() != tt.want {
					t.Errorf("Refresh = %v, %v, want %q", got, err, tt.want)
				}
				other := &fake{}
				visit(t, Options{Server: o.Server, Store: o.Store, Version: "v1"}, other, func(d *desk) {
					if got := d.names(); len(got) != 2 || other.dials() != 0 {
						t.Errorf("afterwards the cache shows %q, dials %d; want two tools, none", got, other.dials())
					}
				})
			})
		})
	}
}

func TestRefreshWithoutAStore(t *testing.T) {
	if _, err := Refresh(t.Context(), Options{Server: entry(t, "")}); err == nil {
		t.Error("Refresh without a store has no error")
	}
}

// A view that cannot be listed is told of, and does not hide what the others list
// nor keep it from being accepted. What stands accepted of it stays.
func TestRefreshWithoutOneView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := choosy() // its second tool is for hosts with sampling
		o := Options{Server: entry(t, ""), Dial: up.dial, Store: store(t), Accepted: accepted(t), Version: "v1"}
		for _, capabilities := range []string{`{}`, `{"sampling":{}}`} {
			d := start(t, o, up)
			d.openWith(capabilities)
			d.names()
			d.close()
		}
		if _, err := Accept(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		now := &fake{tools: []string{tool("get_issue", "Changed.", "")}}
		now.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
			opened := now.received("initialize")
			sampling := strings.Contains(opened[len(opened)-1], "sampling")
			return []string{string(wire.ErrorResponse(m.ID.Raw, -32000, "no list today", nil))}, m.Method == "tools/list" && sampling
		}
		o.Dial = now.dial
		want := []Change{{Tool: "get_issue", What: "changed", Parts: []PartChange{{catalog.Description, "Get one issue.", "Changed."}}}}
		for _, run := range []func(context.Context, Options) ([]Change, error){Refresh, Accept} {
			got, err := run(t.Context(), o)
			if diff := cmp.Diff(want, got); diff != "" || err == nil || err.Error() != "acme: tools/list: no list today (for t in 2025-11-25)" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		}
		is, err := o.Accepted.Load()
		if err != nil || len(is.Forms("get_issue")) != 2 || len(is.Forms("list_issues")) != 1 {
			t.Errorf("accepted is %+v, %v; want both forms of what has changed, and the rest", is, err)
		}
	})
}

// What could not be accepted is not said to be.
func TestAcceptWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		path := filepath.Join(t.TempDir(), "file", "accepted")
		write(t, filepath.Dir(path), "this is no folder")
		o := Options{Server: entry(t, ""), Dial: up.dial, Store: store(t), Accepted: catalog.OpenAccepted(path), Version: "v1"}
		if got, err := Accept(t.Context(), o); got != nil || err == nil || !strings.Contains(err.Error(), "acme: accept its tools: ") {
			t.Errorf("Accept = %v, %v, want no change and an error", got, err)
		}
	})
}

// A server that lists no tools any more can be accepted as such, but that is never
// the first that is accepted of it.
func TestAcceptNoTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{}
		o := Options{Server: entry(t, ""), Dial: up.dial, Store: store(t), Accepted: accepted(t), Version: "v1"}
		for _, run := range []func(context.Context, Options) ([]Change, error){Refresh, Accept} {
			if got, err := run(t.Context(), o); len(got) != 0 || err != nil || !o.Accepted.IsEmpty() {
				t.Fatalf("of no tools: %v, %v", got, err)
			}
		}
		up.setTools(two()...)
		if _, err := Refresh(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		up.setTools()
		if got, err := Accept(t.Context(), o); len(got) != 2 || err != nil {
			t.Errorf("Accept = %v, %v, want both tools removed", got, err)
		}
		if got, err := Refresh(t.Context(), o); len(got) != 0 || err != nil {
			t.Errorf("after that Refresh = %v, %v, want no change", got, err)
		}
	})
}
