package facade

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/facade/ledger"
	"mcp-facade/facade/upstream"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// A habit is an upstream that is used again and again, with "used": "auto".
type habit struct {
	t      *testing.T
	config string
	up     *fake
	dir    string
	cache  *catalog.Store
}

// large is a tool that costs about 500 tokens.
func large(name string) string {
	schema := `{"type":"object","properties":{`
	for i := range 56 {
		schema += fmt.Sprintf(`"property_%d":{"type":"string"},`, i)
	}
	return tool(name, "Does a lot.", strings.TrimSuffix(schema, ",")+"}}")
}

// newHabit has six tools, of which three fit into the budget.
func newHabit(t *testing.T, config string) *habit {
	t.Helper()
	h := &habit{t: t, config: config, dir: t.TempDir(), cache: store(t), up: &fake{}}
	for _, name := range []string{"alpha", "beta", "gamma", "delta", "omega", "last"} {
		h.up.tools = append(h.up.tools, large(name))
	}
	return h
}

func (h *habit) ledgerPath() string { return ledger.Path(filepath.Join(h.dir, "ledger"), "acme") }

func (h *habit) choice() *Choice { return OpenChoice(filepath.Join(h.dir, "auto", "acme.json")) }

func (h *habit) options() Options {
	return Options{Server: entry(h.t, h.config), Ledger: ledger.Open(h.ledgerPath(), nil), Choice: h.choice(), Store: h.cache, Version: "v"}
}

// session is a process in which tools are called through the meta-tool, and
// returns the tools that it has shown at its start and at its end.
func (h *habit) session(calls ...string) (first, last string) {
	h.t.Helper()
	synctest.Test(h.t, func(t *testing.T) {
		d := start(t, h.options(), h.up)
		d.open()
		first = strings.Join(d.names(), " ")
		for i, tool := range calls {
			d.call(fmt.Sprint(i+1), "call", `{"tool":"`+tool+`","args":{}}`)
		}
		d.said()
		last = strings.Join(d.names(), " ")
		d.close()
	})
	return first, last
}

// shows fails the test unless a session shows those tools before the meta-tools,
// all the time.
func (h *habit) shows(after, want string, calls ...string) {
	h.t.Helper()
	want = strings.TrimSpace(want + " discover describe call")
	if first, last := h.session(calls...); first != want || last != want {
		h.t.Errorf("%s: shown %q, at the end %q; want %q", after, first, last, want)
	}
}

// times is a list of the same.
func times(n int, tool string) []string { return slices.Repeat([]string{tool}, n) }

func TestAutoChoosesByTheLedger(t *testing.T) {
	h := newHabit(t, "")
	h.shows("at first", "", times(AutoCalls-1, "gamma")...)
	h.shows("with too few calls", "")
	if got := h.choice().Tools(); got != nil {
		t.Errorf("chosen with too few calls: %q", got)
	}
	h.shows("while the last call comes", "", "alpha")
	h.shows("once there are enough", "gamma alpha", times(2*AutoCalls, "beta")...)
	h.shows("when others are called more", "gamma alpha")
	if err := h.choice().Save(t.Context(), []string{"beta", "gamma"}); err != nil {
		t.Fatal(err)
	}
	h.shows("after Save", "beta gamma")
}

func TestAutoOfDamagedFiles(t *testing.T) {
	h := newHabit(t, "")
	h.session(times(AutoCalls, "gamma")...)
	path := filepath.Join(h.dir, "auto", "acme.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.ledgerPath()+".1", []byte("\x00{\n[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.shows("with a damaged choice", "")
	h.shows("after the next choice", "gamma")
}

// A tool that the upstream has no more gives its room to the one that is called
// most of those that are not shown.
func TestAutoWithoutATool(t *testing.T) {
	h := newHabit(t, `,"surfaceBudget":1200`) // two
	calls := slices.Concat(times(4, "alpha"), times(10, "beta"), times(6, "gamma"))
	h.session(calls...)
	h.shows("two fit", "beta gamma")
	without := func(gone string) {
		h.up.setTools(slices.DeleteFunc(slices.Clone(h.up.tools), func(t string) bool { return gjson.Get(t, "name").Str == gone })...)
	}
	without("beta")
	first, last := h.session("alpha")
	if !strings.HasPrefix(first, "beta gamma ") || last != "gamma alpha discover describe call" {
		t.Errorf("when a tool is gone: shown %q and then %q", first, last)
	}
	h.shows("the next time", "gamma alpha", times(30, "delta")...)
	h.shows("when another is called more", "gamma alpha")
	if got := h.choice().Tools(); !slices.Equal(got, []string{"gamma", "alpha"}) {
		t.Errorf("chosen: %q", got)
	}
}

// What a few tools are for a while, as before a login, changes nothing.
func TestAutoWhileFewToolsAreListed(t *testing.T) {
	h := newHabit(t, "")
	h.session(times(AutoCalls, "gamma")...)
	all := h.up.tools
	h.up.setTools(tool("log_in", "Log in.", ""))
	if _, last := h.session("log_in"); last != "log_in" {
		t.Errorf("before the login: shown %q", last)
	}
	h.up.setTools(all...)
	h.session("alpha")
	h.shows("after the login", "gamma")
}

func TestAutoHides(t *testing.T) {
	h := newHabit(t, "")
	h.session(slices.Concat(times(AutoCalls, "gamma"), times(3, "beta"))...)
	h.config = `,"hide":["gamma"]`
	if first, last := h.session("beta"); first != "beta discover describe call" && first != "discover describe call" || last != "beta discover describe call" {
		t.Errorf("with a hidden tool: shown %q and then %q", first, last)
	}
	h.shows("with a hidden tool", "beta")
}

// A tool that is there but withheld from the host keeps its place.
func TestAutoWithAWithheldTool(t *testing.T) {
	h := newHabit(t, "")
	if err := h.choice().Save(t.Context(), []string{"gamma", "alpha"}); err != nil {
		t.Fatal(err)
	}
	f := New(h.options())
	all, _ := catalog.New([][]byte{[]byte(`{"tools":[` + strings.Join(h.up.tools, ",") + `]}`)})
	f.mend(t.Context(), all, only(all, func(t catalog.Tool) bool { return t.Name != "gamma" }))
	if got := f.o.Choice.Tools(); !slices.Equal(got, []string{"gamma", "alpha"}) {
		t.Errorf("chosen: %q", got)
	}
}

// Where the host is shown all, the chosen ones are those that it is to load.
func TestAutoOfTheWholeSurface(t *testing.T) {
	h := newHabit(t, `,"surface":"all"`)
	synctest.Test(t, func(t *testing.T) {
		d := start(t, h.options(), h.up)
		d.open()
		for i := range AutoCalls {
			d.call(fmt.Sprint(i+1), "gamma", "{}")
		}
		d.close()
		d = start(t, h.options(), h.up)
		d.open()
		d.said()
		r, _ := d.ask("1", "tools/list", "{}")
		var loaded []string
		list := gjson.Get(r, "result.tools").Array()
		for _, t := range list {
			if t.Get("_meta.anthropic/alwaysLoad").Bool() {
				loaded = append(loaded, t.Get("name").Str)
			}
		}
		if len(list) != 6 || !slices.Equal(loaded, []string{"gamma"}) {
			t.Errorf("of %d tools %q are to be loaded; want gamma of 6", len(list), loaded)
		}
	})
}

// A host that is gone may not wait until the upstream is, too.
func TestAutoChoosesBeforeTheUpstreamEnds(t *testing.T) {
	h := newHabit(t, "")
	synctest.Test(t, func(t *testing.T) {
		o := h.options()
		dial := h.up.dial
		o.Dial = func(ctx context.Context, schema func(string) []byte) (upstream.Conn, error) {
			c, err := dial(ctx, schema)
			return slowEnd{c, func() {
				synctest.Wait()
				if got := h.choice().Tools(); !slices.Equal(got, []string{"gamma"}) {
					t.Errorf("chosen while the upstream ends: %q", got)
				}
			}}, err
		}
		d := start(t, o, h.up)
		d.open()
		for i := range AutoCalls {
			d.call(fmt.Sprint(i+1), "call", `{"tool":"gamma","args":{}}`)
		}
		d.close()
	})
}

// A slowEnd is a connection that takes its time to close.
type slowEnd struct {
	upstream.Conn
	ends func()
}

func (c slowEnd) Close() error {
	time.Sleep(time.Second)
	c.ends()
	return c.Conn.Close()
}

// A list in "used", or a catalog that fits as a whole, needs no choice: its file
// is neither read nor made.
func TestAutoIsNotAsked(t *testing.T) {
	for _, config := range []string{`,"used":[]`, `,"used":["alpha"]`, `,"surfaceBudget":100000`} {
		h := newHabit(t, config)
		before, _ := h.session(times(2*AutoCalls, "gamma")...)
		if after, _ := h.session(); after != before {
			t.Errorf("%s: shown %q, then %q", config, before, after)
		}
		if _, err := os.Stat(filepath.Join(h.dir, "auto")); !os.IsNotExist(err) {
			t.Errorf("%s: there is a choice: %v", config, err)
		}
	}
}

func TestAutoWithoutALedger(t *testing.T) {
	h := newHabit(t, "")
	if err := h.choice().Save(t.Context(), []string{"delta"}); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		o := h.options()
		o.Ledger = nil
		d := start(t, o, h.up)
		d.open()
		d.said()
		if got := d.names(); !slices.Equal(got, []string{"delta", "discover", "describe", "call"}) {
			t.Errorf("shown %q", got)
		}
	})
}

// Of two processes that end at once one chooses.
func TestAutoOfTwoProcesses(t *testing.T) {
	h := newHabit(t, "")
	synctest.Test(t, func(t *testing.T) {
		a, b := start(t, h.options(), h.up), start(t, h.options(), h.up)
		for i, d := range []*desk{a, b} {
			d.open()
			for j := range AutoCalls {
				d.call(fmt.Sprint(j+1), "call", `{"tool":"`+[]string{"alpha", "beta"}[i]+`","args":{}}`)
			}
			time.Sleep(time.Minute)
		}
		a.in.Close()
		b.close()
		a.close()
	})
	first := h.choice().Tools()
	if !slices.Contains(first, "alpha") || len(first) > 2 {
		t.Errorf("chosen: %q", first)
	}
	h.shows("after both", strings.Join(first, " "), times(9, "beta")...)
	h.shows("and then", strings.Join(first, " "))
}

func TestChoose(t *testing.T) {
	c, _ := catalog.New([][]byte{[]byte(`{"tools":[` + strings.Join([]string{
		tool("small", "Small.", ""), tool("Other", "Small.", ""), large("large"), large("larger"), tool("huge", strings.Repeat("word ", 5000), ""), `{"name":"odd","inputSchema":{"type":"string"}}`,
	}, ",") + `]}`)})
	tests := []struct {
		name, config string
		calls, want  []string
	}{
		{"takes the most called first", "", []string{"large", "small", "Other"}, []string{"large", "small", "Other"}},
		{"takes each once", "", []string{"small", "small"}, []string{"small"}},
		{"passes over what is not listed", "", []string{"gone", "other", "small"}, []string{"small"}},
		{"passes over what does not fit", `,"surfaceBudget":700`, []string{"large", "larger", "small"}, []string{"large", "small"}},
		{"counts what a host is shown", "", []string{"huge", "small"}, []string{"huge", "small"}},
		{"passes over what is hidden", `,"hide":["large"]`, []string{"large", "small"}, []string{"small"}},
		{"passes over what no host can take", "", []string{"odd", "small"}, []string{"small"}},
		{"takes none of no calls", "", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Choose(entry(t, tt.config), c, tt.calls)); diff != "" {
				t.Errorf("Choose (-want +got):\n%s", diff)
			}
		})
	}
}

// A host gets its list though another process has the ledger or the choice.
func TestAutoMendsWithoutHoldingBackTheList(t *testing.T) {
	for _, held := range []string{"ledger", "auto"} {
		t.Run(held, func(t *testing.T) {
			h := newHabit(t, "")
			h.session(slices.Concat(times(AutoCalls, "gamma"), times(3, "beta"))...)
			path := map[string]string{"ledger": h.ledgerPath(), "auto": filepath.Join(h.dir, "auto", "acme.json")}[held] + ".lock"
			h.up.setTools(slices.DeleteFunc(slices.Clone(h.up.tools), func(t string) bool { return gjson.Get(t, "name").Str == "gamma" })...)
			h.cache = store(t) // nothing is cached: the list is waited for
			lock := flock.New(path)
			if locked, err := lock.TryLock(); !locked || err != nil {
				t.Fatal(locked, err)
			}
			synctest.Test(t, func(t *testing.T) {
				d := start(t, h.options(), h.up)
				began := time.Now()
				d.open()
				if got, took := d.names(), time.Since(began); !slices.Equal(got, []string{"beta", "discover", "describe", "call"}) || took > time.Second {
					t.Errorf("shown %q after %v", got, took)
				}
				d.close()
			})
			if err := lock.Close(); err != nil {
				t.Fatal(err)
			}
			h.shows("when the lock is free", "beta")
		})
	}
}
