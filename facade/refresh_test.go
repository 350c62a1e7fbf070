package facade

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

const toolsChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`

// lists is how often the upstream has been asked for its tools.
func (f *fake) lists() int { return len(f.received("tools/list")) }

func TestListChanged(t *testing.T) {
	hidden := func(description string) string { return tool("list_issues", description, "") }
	shown := func(description string) string { return tool("get_issue", description, "") }
	tests := []struct {
		name string
		to   []string // tools after the change
		told bool
	}{
		{"is passed on when a shown tool has changed", []string{shown("Other."), hidden("All.")}, true},
		{"is passed on when a tool is gone", []string{shown("One issue.")}, true},
		{"is passed on when there are more hidden tools", []string{shown("One issue."), hidden("All."), tool("x", "", "")}, true},
		{"is not passed on for a hidden tool's description", []string{shown("One issue."), hidden("Every issue. Unicorns.")}, false},
		{"is not passed on for what is trimmed away", []string{shown("One issue. And more of it."), hidden("All.")}, false},
		{"is not passed on when nothing has changed", []string{shown("One issue."), hidden("All.")}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := &fake{tools: []string{shown("One issue."), hidden("All.")}}
				d := start(t, Options{Server: entry(t, `,"used":["get_issue"]`)}, up)
				d.open()
				d.names()
				d.said()
				up.setTools(tt.to...)
				before := up.lists()
				for range 50 { // a storm of a second
					up.last().write(toolsChanged)
					time.Sleep(20 * time.Millisecond)
				}
				var want []string
				if tt.told {
					want = []string{toolsChanged}
				}
				d.expect("a storm of list_changed", want...)
				if n := up.lists() - before; n != 1 {
					t.Errorf("a storm of list_changed: listed %d times, want once", n)
				}
				if got := text(d.call("1", "discover", `{"query":"unicorns"}`)); strings.Contains(got, "list_issues(") != (tt.to[len(tt.to)-1] == hidden("Every issue. Unicorns.")) {
					t.Errorf("discover afterwards: %q", got)
				}
			})
		})
	}
}

func TestListChangedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		d := start(t, Options{Server: entry(t, `,"used":["*"]`)}, up)
		d.open()
		d.names()
		d.said()
		before := up.lists()
		for range 100 { // ten seconds
			up.last().write(toolsChanged)
			time.Sleep(100 * time.Millisecond)
		}
		d.said()
		if n := up.lists() - before; n < 4 || n > 6 {
			t.Errorf("listed %d times in 10 s of list_changed, want about five times", n)
		}
	})
}

func TestChangeThereAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := tool("t", "A.", ""), tool("t", "B.", "")
		up := &fake{tools: []string{a}}
		d := start(t, Options{Server: entry(t, `,"used":["*"]`)}, up)
		d.open()
		d.names()
		d.said()
		for _, to := range []string{b, a} {
			up.setTools(to)
			up.last().write(toolsChanged)
			d.expect("the change", toolsChanged)
		}
		up.setTools(b)
		up.last().write(toolsChanged)
		time.Sleep(settle / 2)
		up.setTools(a)
		up.last().write(toolsChanged)
		d.expect("there and back before it has settled")
	})
}

func TestListChangedDuringAListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		slow := false
		up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			if m.Method != "tools/list" || !slow {
				return nil, false
			}
			up.mu.Lock()
			page := `{"tools":[` + strings.Join(up.tools, ",") + `]}`
			up.mu.Unlock()
			time.AfterFunc(time.Second, func() { c.write(ok(m, page)[0]) })
			return nil, true
		}
		d := start(t, Options{Server: entry(t, `,"used":["*"]`)}, up)
		d.open()
		d.names()
		d.said()
		up.setTools(two()[0])
		slow = true
		up.last().write(toolsChanged)
		time.Sleep(500 * time.Millisecond) // it is being listed
		up.setTools(tool("third", "", ""))
		up.last().write(toolsChanged)
		time.Sleep(2 * time.Second)
		d.said()
		if got := d.names(); got[0] != "third" {
			t.Errorf("tools/list shows %q, want the last state", got)
		}
	})
}

func TestListChangedWaitsForInitialized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		d := start(t, Options{Server: entry(t, `,"used":["*"]`)}, up)
		d.ask("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`)
		d.names()
		up.setTools(two()[0])
		up.last().write(toolsChanged)
		d.expect("a change before the host is initialized")
		d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		d.expect("initialized", toolsChanged)
	})
}

func TestOtherListsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		o := Options{Server: entry(t, ""), Store: store(t), Version: "v1"}
		prompt := "old"
		up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
			if m.Method != "prompts/list" {
				return nil, false
			}
			return ok(m, `{"prompts":[{"name":"`+prompt+`"}]}`), true
		}
		visit(t, o, up, func(d *desk) {
			d.said()
			prompt = "new"
			for _, what := range []string{"prompts", "resources"} {
				frame := `{"jsonrpc":"2.0","method":"notifications/` + what + `/list_changed","params":{"x":1.0}}`
				up.last().write(frame)
				d.expect(what+" changed", frame)
			}
			if r, _ := d.ask("1", "prompts/list", "{}"); !strings.Contains(r, "new") {
				t.Errorf("prompts/list of a running upstream = %s, want the new list", r)
			}
		})
		visit(t, o, up, func(d *desk) {
			if r, _ := d.ask("1", "prompts/list", "{}"); !strings.Contains(r, "new") {
				t.Errorf("prompts/list from the cache = %s, want the new list", r)
			}
		})
		if up.dials() != 1 {
			t.Errorf("dialled %d times, want once", up.dials())
		}
	})
}

func TestModernListChangedIsTagged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two(), modern: true}
		d := start(t, Options{Server: entry(t, `,"used":["*"]`)}, up)
		d.ask("1", "server/discover", `{"_meta":`+modernMeta+`}`)
		for _, id := range []string{`"a"`, `"b"`} {
			d.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"subscriptions/listen","params":{"_meta":` + modernMeta + `,"notifications":{"toolsListChanged":true}}}`)
		}
		d.send(`{"jsonrpc":"2.0","id":"c","method":"subscriptions/listen","params":{"_meta":` + modernMeta + `,"notifications":{"promptsListChanged":true}}}`)
		d.said()
		d.ask("2", "tools/list", `{"_meta":`+modernMeta+`}`)
		up.setTools(two()[0])
		up.last().write(toolsChanged)
		var ids []string
		for _, frame := range d.said() {
			if gjson.Get(frame, "method").Str == "notifications/tools/list_changed" {
				ids = append(ids, gjson.Get(frame, `params._meta.io\.modelcontextprotocol/subscriptionId`).Str)
			}
		}
		slices.Sort(ids)
		if !slices.Equal(ids, []string{"a", "b"}) {
			t.Errorf("list_changed went to the listens %q, want a and b", ids)
		}
	})
}

func TestFailedRefreshKeepsTheList(t *testing.T) {
	failures := map[string]func(m wire.Message) []string{
		"an error": func(m wire.Message) []string {
			return []string{string(wire.ErrorResponse(m.ID.Raw, -32000, "no", nil))}
		},
		"a result without tools": func(m wire.Message) []string { return ok(m, `{}`) },
		"an end in the middle":   nil,
	}
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := &fake{tools: two()}
				broken := false
				up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
					switch {
					case m.Method != "tools/list" || !broken:
						return nil, false
					case failure == nil:
						c.die("it has died")
						return nil, true
					}
					return failure(m), true
				}
				log := &journal{}
				o := Options{Server: entry(t, `,"used":["*"]`), Store: store(t), Version: "v1", Log: log.logger()}
				visit(t, o, up, func(d *desk) {
					d.names()
					d.said()
					broken = true
					up.last().write(toolsChanged)
					d.expect("a refresh that fails")
					if got := d.names(); len(got) != 5 {
						t.Errorf("tools/list shows %q, want the old list", got)
					}
					if got := text(d.call("1", "discover", `{"query":"issue"}`)); !strings.Contains(got, "could not be renewed: ") {
						t.Errorf("discover says %q", got)
					}
				})
				if log.lines("level=WARN", "not listed") == nil {
					t.Error("there is no warning")
				}
				dials := up.dials()
				visit(t, o, up, func(d *desk) {
					if got := d.names(); len(got) != 5 {
						t.Errorf("the next start shows %q, want the old list", got)
					}
				})
				if up.dials() != dials {
					t.Error("the old list is not fresh any more")
				}
			})
		})
	}
}

func TestFailedPromptsKeepTheirList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		broken := false
		up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
			return []string{string(wire.ErrorResponse(m.ID.Raw, -32000, "no", nil))}, m.Method == "prompts/list" && broken
		}
		o := Options{Server: entry(t, ""), Store: store(t), Version: "v1"}
		visit(t, o, up, nil)
		broken = true
		time.Sleep(8 * 24 * time.Hour)
		visit(t, o, up, nil)
		visit(t, o, up, func(d *desk) {
			if r, _ := d.ask("1", "prompts/list", "{}"); !strings.Contains(r, `"name":"p"`) {
				t.Errorf("prompts/list = %s, want the old list", r)
			}
		})
	})
}

func TestHangingRefreshHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		hangs := false
		up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) { return nil, hangs && m.Method == "tools/list" }
		d := start(t, Options{Server: entry(t, `,"used":["get_issue"]`)}, up)
		d.open()
		d.names()
		d.said()
		hangs = true
		up.last().write(toolsChanged)
		d.said()
		before := time.Now()
		d.names()
		d.call("1", "discover", `{"query":"issue"}`)
		d.call("2", "call", `{"tool":"list_issues"}`)
		d.call("3", "list_issues", `{}`)
		if took := time.Since(before); took > 0 {
			t.Errorf("while a refresh hangs, four answers took %v", took)
		}
	})
}

// A first list that hangs is waited for as long as startTimeout, once.
func TestHangingFirstList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		var hangs atomic.Bool
		hangs.Store(true)
		up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
			return nil, m.Method == "tools/list" && hangs.Load()
		}
		d := start(t, Options{Server: entry(t, `,"used":["get_issue"],"startTimeout":"5s"`)}, up)
		d.open()
		for _, want := range []time.Duration{5 * time.Second, 0, 0} {
			before := time.Now()
			got := d.call("1", "discover", `{"query":"issue"}`)
			if took := time.Since(before); took != want || !gjson.Get(got, "isError").Bool() {
				t.Errorf("after %v, want %v, discover says %s", took, want, got)
			}
		}
		if got := d.names(); len(got) != 3 {
			t.Errorf("tools/list shows %q, want the meta-tools", got)
		}
		synctest.Wait()
		if got := d.call("1", "describe", `{"tool":"get_issue"}`); !strings.Contains(got, "list tools: no answer in 5s") {
			t.Errorf("describe says %s", got)
		}
		hangs.Store(false)
		time.Sleep(listWait)
		d.names()
		time.Sleep(time.Second)
		if got := d.names(); len(got) != 4 {
			t.Errorf("when it lists again, tools/list shows %q", got)
		}
	})
}

func TestPages(t *testing.T) {
	page := func(name, next string) string {
		if next != "" {
			next = `,"nextCursor":` + next
		}
		return `{"tools":[` + tool(name, "", "") + `]` + next + `}`
	}
	tests := []struct {
		name  string
		pages map[string]string // by raw cursor
		want  string
		warns bool
		asks  int
	}{
		{"follow their cursors", map[string]string{"": page("a", `"x"`), `"x"`: page("b", `"\u0079"`), `"\u0079"`: page("c", "")}, "a b c", false, 3},
		{"end at a cursor that comes again", map[string]string{"": page("a", `"x"`), `"x"`: page("b", `"y"`), `"y"`: page("c", `"x"`)}, "a b c", true, 3},
		{"ask an empty cursor once", map[string]string{"": page("a", `""`), `""`: page("b", "")}, "a b", false, 2},
		{"take a first page again for the end", map[string]string{"": page("a", `""`), `""`: page("a", `""`)}, "a", false, 2},
		{"end at a cursor that is null", map[string]string{"": page("a", `null`)}, "a", false, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up, log := &fake{}, &journal{}
				up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
					if m.Method != "tools/list" {
						return nil, false
					}
					return ok(m, tt.pages[m.Params.Get("cursor").Raw]), true
				}
				visit(t, Options{Server: entry(t, `,"surface":"all"`), Log: log.logger()}, up, func(d *desk) {
					if got := strings.Join(d.names(), " "); got != tt.want {
						t.Errorf("tools/list shows %q, want %q", got, tt.want)
					}
				})
				if got := log.lines("level=WARN"); (got != nil) != tt.warns {
					t.Errorf("warnings: %q, want some: %t", got, tt.warns)
				}
				if n := up.lists(); n != tt.asks {
					t.Errorf("asked for %d pages, want %d", n, tt.asks)
				}
			})
		})
	}
}

func TestEndlessPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, log := &fake{}, &journal{}
		n := 0
		up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
			if m.Method != "tools/list" {
				return nil, false
			}
			n++
			return ok(m, fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, tool(fmt.Sprint("t", n), "", ""), n)), true
		}
		visit(t, Options{Server: entry(t, `,"surface":"all"`), Log: log.logger()}, up, func(d *desk) {
			if got := d.names(); len(got) != maxPages {
				t.Errorf("tools/list shows %d tools, want %d", len(got), maxPages)
			}
		})
		if log.lines("level=WARN", "cursors do not end") == nil {
			t.Error("there is no warning")
		}
	})
}

// A host that walks the cached pages of an endless list must come to an end.
func TestCachedPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
			if m.Method != "prompts/list" {
				return nil, false
			}
			next := map[string]string{"": "x", "x": "y", "y": "x"}[m.Params.Get("cursor").Str]
			return ok(m, `{"prompts":[{"name":"to_`+next+`"}],"nextCursor":"`+next+`"}`), true
		}
		o := Options{Server: entry(t, ""), Store: store(t), Version: "v1"}
		visit(t, o, up, nil)
		visit(t, o, up, func(d *desk) {
			var got []string
			for params := `{"cursor":null}`; params != "" && len(got) < 9; {
				r, _ := d.ask("1", "prompts/list", params)
				got = append(got, gjson.Get(r, "result.prompts.0.name").Str)
				next := gjson.Get(r, "result.nextCursor")
				if params = ""; next.Exists() {
					params = `{"cursor":` + next.Raw + `}`
				}
			}
			if want := []string{"to_x", "to_y", "to_x"}; !slices.Equal(got, want) {
				t.Errorf("the cached pages are %q, want %q", got, want)
			}
		})
		if up.dials() != 1 {
			t.Error("the cached pages were not used")
		}
	})
}

func TestUpstreamWithoutTools(t *testing.T) {
	for _, list := range []string{"an error", "an empty list"} {
		t.Run(list, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := &fake{capabilities: `{"prompts":{}}`}
				up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
					return []string{string(wire.ErrorResponse(m.ID.Raw, -32601, "no", nil))}, m.Method == "tools/list" && list == "an error"
				}
				o := Options{Server: entry(t, ""), Store: store(t), Version: "v1"}
				const want = `{"protocolVersion":"2025-11-25","capabilities":{"prompts":{}},"serverInfo":{"name":"Acme Server","version":"7"},"instructions":"Be kind."}`
				for _, age := range []string{"cold", "warm"} {
					d := start(t, o, up)
					if got := d.open(); got != want {
						t.Errorf("%s initialize = %s, want %s", age, got, want)
					}
					if got := d.names(); got != nil {
						t.Errorf("%s tools/list shows %q, want nothing", age, got)
					}
					d.close()
				}
				if up.dials() != 1 {
					t.Errorf("dialled %d times, want once", up.dials())
				}
			})
		})
	}
}

// An upstream that offers tools but has none yet gets the meta-tools: some
// come later.
func TestUpstreamWithNoToolsYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{}
		d := start(t, Options{Server: entry(t, "")}, up)
		d.open()
		if got := d.names(); len(got) != 3 {
			t.Errorf("tools/list shows %q, want the meta-tools", got)
		}
		if got := text(d.call("1", "discover", `{"query":"x"}`)); !strings.Contains(got, "acme has no tools") {
			t.Errorf("discover says %q", got)
		}
	})
}

func TestDegradedSurfaceAndRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &journal{}
		up := &fake{tools: two(), dialError: fmt.Errorf(`exec: "acme": not found`)}
		o := Options{Server: entry(t, `,"used":["get_issue"],"startTimeout":"5s"`), Store: store(t), Version: "v1", Log: log.logger()}
		d := start(t, o, up)
		if got := gjson.Get(d.open(), "capabilities").Raw; got != `{"tools":{"listChanged":true}}` {
			t.Errorf("initialize offers %s", got)
		}
		if got, want := d.names(), []string{"discover", "describe", "call"}; !slices.Equal(got, want) {
			t.Errorf("tools/list shows %q, want %q", got, want)
		}
		if log.lines("level=WARN", "not listed", "not found") == nil {
			t.Error("the log does not say why")
		}
		for _, call := range [][2]string{
			{"discover", `{"query":"issue"}`}, {"discover", `{}`}, {"describe", `{"tool":"get_issue"}`},
			{"call", `{"tool":"get_issue","args":{}}`}, {"get_issue", `{}`},
		} {
			got := d.call("1", call[0], call[1])
			if !gjson.Get(got, "isError").Bool() || !strings.Contains(text(got), `exec: "acme": not found`) || !strings.HasSuffix(text(got), noResult) {
				t.Errorf("%s %s = %s, want why and what to do", call[0], call[1], got)
			}
		}
		d.said()
		up.dialError = nil
		r, said := d.ask("2", "tools/call", `{"name":"call","arguments":{"tool":"get_issue","args":{"n":1}}}`)
		if got := text(gjson.Get(r, "result").Raw); got != `{"name":"get_issue","arguments":{"n":1}}` {
			t.Errorf("when the upstream is back, call reaches it as %s", got)
		}
		if said = append(said, d.said()...); !slices.Equal(said, []string{toolsChanged}) {
			t.Errorf("when the upstream is back, the host is told %q", said)
		}
		if got := d.names(); len(got) != 4 {
			t.Errorf("when the upstream is back, tools/list shows %q", got)
		}
	})
}
