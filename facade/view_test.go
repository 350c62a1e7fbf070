package facade

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/facade/wire"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// A journal is what was logged. Its methods may be called concurrently.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

// lines are those lines that hold all words.
func (j *journal) lines(words ...string) (found []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for line := range strings.Lines(j.text.String()) {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			found = append(found, line)
		}
	}
	return found
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// ok is the upstream's answer to m.
func ok(m wire.Message, result string) []string {
	return []string{string(wire.Response(m.ID.Raw, []byte(result)))}
}

// openWith is the legacy handshake of a host with these capabilities.
func (d *desk) openWith(capabilities string) {
	d.t.Helper()
	d.ask("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"t","version":"1"}}`)
	d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// visit starts a Facade, opens it as a host, runs what that does, lets all
// settle and closes it. It is for a synctest bubble.
func visit(t *testing.T, o Options, up *fake, host func(d *desk)) {
	t.Helper()
	d := start(t, o, up)
	d.open()
	if host != nil {
		host(d)
	}
	d.said()
	d.close()
}

// two are tools of an upstream.
func two() []string {
	return []string{tool("get_issue", "Get one issue.", ""), tool("list_issues", "List all issues.", "")}
}

func TestWarmStartAsksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		o := Options{Server: entry(t, `,"used":["get_*"]`), Store: store(t), Version: "v1"}
		all := func(answers map[string]string) func(*desk) {
			return func(d *desk) {
				for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list", "ping"} {
					answers[method], _ = d.ask(`7`, method, `{}`)
				}
				answers["discover"] = d.call("8", "discover", `{"query":"all issues"}`)
				answers["describe"] = d.call("9", "describe", `{"tool":"get_issue"}`)
			}
		}
		cold, warm := map[string]string{}, map[string]string{}
		visit(t, o, up, all(cold))
		asked := len(up.received(""))
		visit(t, o, up, all(warm))
		if up.dials() != 1 || len(up.received("")) != asked {
			t.Errorf("the warm start dialled %d times and sent %q", up.dials()-1, up.received("")[asked:])
		}
		if diff := cmp.Diff(cold, warm); diff != "" {
			t.Errorf("warm answers (-cold +warm):\n%s", diff)
		}
		if want := `{"jsonrpc":"2.0","id":7,"result":{"prompts":[{"name":"p", "x":1}]}}`; warm["prompts/list"] != want {
			t.Errorf("prompts/list = %s, want %s", warm["prompts/list"], want)
		}
	})
}

// choosy is an upstream that lists its second tool to hosts with sampling only,
// and takes a moment for it. It is for a synctest bubble.
func choosy() *fake {
	up := &fake{}
	var mu sync.Mutex
	full := map[*fakeConn]bool{}
	up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
		mu.Lock()
		defer mu.Unlock()
		switch m.Method {
		case "initialize":
			full[c] = m.Params.Get("capabilities.sampling").Exists()
		case "tools/list":
			list := two()
			if !full[c] {
				list = list[:1]
			}
			time.AfterFunc(time.Millisecond, func() { c.write(ok(m, `{"tools":[`+strings.Join(list, ",")+`]}`)[0]) })
			return nil, true
		}
		return nil, false
	}
	return up
}

func TestViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bare, roots, full = `{}`, `{"roots":{}}`, `{"roots":{},"sampling":{}}`
		up := choosy()
		o := Options{Server: entry(t, `,"used":["*"],"names":"keep"`), Store: store(t), Version: "v1"}
		steps := []struct {
			name         string
			capabilities string
			want         int // tools at once
			dials        int
			then         int // tools after all has settled
		}{
			{"a bare host is listed one tool", bare, 1, 1, 1},
			{"a full host is never served the bare list", full, 2, 1, 2},
			{"a host with roots is served the nearest, then its own", roots, 2, 1, 1},
			{"the full host has a file of its own", full, 2, 0, 2},
			{"so has the one with roots", roots, 1, 0, 1},
			{"and the bare one", bare, 1, 0, 1},
		}
		for _, s := range steps {
			before := up.dials()
			d := start(t, o, up)
			d.openWith(s.capabilities)
			if n := len(d.names()) - 3; n != s.want {
				t.Errorf("%s: %d tools at once, want %d", s.name, n, s.want)
			}
			said := strings.Join(d.said(), "\n")
			if changed := strings.Contains(said, "tools/list_changed"); changed != (s.want != s.then) {
				t.Errorf("%s: list_changed %t after %q", s.name, changed, said)
			}
			if n := len(d.names()) - 3; n != s.then {
				t.Errorf("%s: %d tools in the end, want %d", s.name, n, s.then)
			}
			d.close()
			if n := up.dials() - before; n != s.dials {
				t.Errorf("%s: dialled %d times, want %d", s.name, n, s.dials)
			}
			if s.dials > 0 {
				opening := up.received("initialize")[up.dials()-1]
				if got := gjson.Get(opening, "params.capabilities").Raw; got != s.capabilities {
					t.Errorf("%s: dialled with capabilities %s, want %s", s.name, got, s.capabilities)
				}
			}
		}
	})
}

// A request before initialize opens the upstream as for a bare client; what is
// listed then must not become the list of the host that comes after it.
func TestListOfAnotherOpeningIsNotStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := choosy()
		o := Options{Server: entry(t, `,"used":["*"]`), Store: store(t), Version: "v1"}
		d := start(t, o, up)
		d.ask(`1`, "tools/list", `{}`)
		d.openWith(`{"sampling":{}}`)
		d.names()
		d.said()
		d.close()
		if _, err := o.Store.LoadExact(catalog.ViewOf(legacy, "2025-11-25", []byte(`{"sampling":{}}`))); err == nil {
			t.Error("the bare list is stored as that of a host with sampling")
		}
		if _, err := o.Store.LoadExact(catalog.CommandView()); err != nil {
			t.Errorf("the bare list: %v", err)
		}
	})
}

func TestTTL(t *testing.T) {
	page := func(ttl, next string) string {
		return `{"tools":[` + tool("t"+next, "T.", "") + `]` + ttl + next + `}`
	}
	const two = `,"nextCursor":"2"`
	tests := []struct {
		name   string
		config string
		pages  []string
		modern bool
		wait   time.Duration
		dials  bool // at the second start
		left   int64
	}{
		{"is fresh within a week", "", []string{page("", "")}, false, 167 * time.Hour, false, 0},
		{"is stale after a week", "", []string{page("", "")}, false, 169 * time.Hour, true, 0},
		{"keeps to the config", `,"ttl":"1h"`, []string{page("", "")}, false, 2 * time.Hour, true, 0},
		{"is shortened by the upstream", "", []string{page(`,"ttlMs":60000`, "")}, false, 2 * time.Minute, true, 0},
		{"is not lengthened by the upstream", `,"ttl":"1h"`, []string{page(`,"ttlMs":99999999`, "")}, false, 2 * time.Hour, true, 0},
		{"takes the shortest page", "", []string{page(`,"ttlMs":6000000`, two), page(`,"ttlMs":60000`, "")}, false, 2 * time.Minute, true, 0},
		{"takes a legacy 0 as unknown", "", []string{page(`,"ttlMs":0`, "")}, false, time.Hour, false, 0},
		{"survives an endless ttlMs", "", []string{page(`,"ttlMs":1e300`, "")}, false, time.Hour, false, 0},
		{"is told to a modern host", "", []string{page(`,"ttlMs":60000`, "")}, true, 10 * time.Second, false, 49_000},
		{"serves a modern 0 once", "", []string{page(`,"ttlMs":0`, "")}, true, time.Minute, true, 0},
		{"serves a modern page of 0 once", "", []string{page(`,"ttlMs":60000`, two), page("", "")}, true, time.Second, true, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := &fake{modern: tt.modern, capabilities: `{"tools":{}}`}
				up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
					if m.Method != "tools/list" {
						return nil, false
					}
					return ok(m, tt.pages[min(len(m.Params.Get("cursor").Str), 1)]), true
				}
				o := Options{Server: entry(t, tt.config), Store: store(t), Version: "v1"}
				params := `{}`
				if tt.modern {
					params = `{"_meta":` + modernMeta + `}`
				}
				var answers []string
				for range 2 {
					d := start(t, o, up)
					if tt.modern {
						d.ask(`1`, "server/discover", params)
					} else {
						d.open()
					}
					before := time.Now()
					r, _ := d.ask(`2`, "tools/list", params)
					if took := time.Since(before); took > 0 {
						t.Errorf("tools/list took %v", took)
					}
					answers = append(answers, gjson.Get(r, "result").Raw)
					d.said()
					d.close()
					time.Sleep(tt.wait)
				}
				if dialled := up.dials() == 2; dialled != tt.dials {
					t.Errorf("the second start dials %t, want %t", dialled, tt.dials)
				}
				if got, want := gjson.Get(answers[1], "tools.0").Raw, gjson.Get(answers[0], "tools.0").Raw; got != want {
					t.Errorf("the second start shows %s, want %s", got, want)
				}
				if got := gjson.Get(answers[1], "ttlMs"); got.Exists() != tt.modern || got.Int() != tt.left {
					t.Errorf("ttlMs = %s, want %d", got.Raw, tt.left)
				}
			})
		})
	}
}

func TestStaleListIsServedWhileTheUpstreamIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		o := Options{Server: entry(t, `,"used":["get_issue"]`), Store: store(t), Version: "v1"}
		visit(t, o, up, nil)
		time.Sleep(8 * 24 * time.Hour)
		up.dialError = fmt.Errorf("it is gone")
		visit(t, o, up, func(d *desk) {
			if got := d.names(); len(got) != 4 {
				t.Errorf("tools/list shows %q, want the stale list", got)
			}
			d.said()
			for _, call := range [][2]string{{"discover", `{"query":"issue"}`}, {"discover", `{}`}, {"discover", `{"query":"zzzzqq"}`}, {"describe", `{"tool":"get_issue"}`}} {
				result := d.call("3", call[0], call[1])
				if want := "\n(Listed 8 days ago; it could not be renewed: it is gone.)"; !strings.HasSuffix(text(result), want) || gjson.Get(result, "isError").Bool() {
					t.Errorf("%s %s = %s, want an end of %q", call[0], call[1], result, want)
				}
			}
		})
	})
}

func TestStaleListSaysThatItIsBeingRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		o := Options{Server: entry(t, ``), Store: store(t), Version: "v1"}
		visit(t, o, up, nil)
		time.Sleep(8 * 24 * time.Hour)
		up.answer = func(*fakeConn, wire.Message) ([]string, bool) { return nil, true } // it hangs
		d := start(t, o, up)
		d.open()
		if got, want := text(d.call("3", "discover", `{"query":"issue"}`)), "(Listed 8 days ago; it is being renewed.)"; !strings.HasSuffix(got, want) {
			t.Errorf("discover = %q, want an end of %q", got, want)
		}
	})
}

func TestStaleOKFalse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		o := Options{Server: entry(t, `,"used":["*"],"staleOk":false,"ttl":"1h"`), Store: store(t), Version: "v1"}
		visit(t, o, up, nil)
		time.Sleep(2 * time.Hour)
		up.setTools(tool("new", "New.", ""))
		visit(t, o, up, func(d *desk) {
			if got := d.names(); !slices.Contains(got, "new") {
				t.Errorf("after the ttl tools/list shows %q, want the new list", got)
			}
			time.Sleep(2 * time.Hour)
			up.setTools(tool("newer", "Newer.", ""))
			if got := d.names(); !slices.Contains(got, "newer") {
				t.Errorf("after the ttl of a running upstream tools/list shows %q, want the newer list", got)
			}
		})
		time.Sleep(2 * time.Hour)
		up.dialError = fmt.Errorf("it is gone")
		visit(t, o, up, func(d *desk) {
			if got, want := d.names(), []string{"discover", "describe", "call"}; !slices.Equal(got, want) {
				t.Errorf("with the upstream down tools/list shows %q, want %q", got, want)
			}
			if got := d.call("3", "discover", `{"query":"new"}`); !strings.Contains(got, "it is gone") || strings.Contains(got, "newer") {
				t.Errorf("with the upstream down discover says %s", got)
			}
		})
	})
}

// cachedAt is a store in a folder of the test's, and a function that damages
// the lists of its only view, not the head.
func cachedAt(t *testing.T) (*catalog.Store, func()) {
	dir := filepath.Join(t.TempDir(), "acme")
	return catalog.OpenStore(dir, nil), func() {
		t.Helper()
		files, _ := filepath.Glob(filepath.Join(dir, "*.catalog"))
		if len(files) != 1 {
			t.Fatalf("stored views: %q, want one", files)
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		data[bytes.LastIndex(data, []byte(`,"inputSchema"`))-3] ^= 1
		if err := os.WriteFile(files[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A start with a rendering that it trusts never reads the lists, so it does not
// notice that they are damaged.
func TestRenderings(t *testing.T) {
	tests := []struct {
		name   string
		change func(o *Options, t *testing.T) // for the second and third start
		reads  [2]bool                        // whether those read the lists
	}{
		{"is trusted by the same program and config", func(*Options, *testing.T) {}, [2]bool{false, false}},
		{"is not by another version", func(o *Options, _ *testing.T) { o.Version = "v2" }, [2]bool{true, false}},
		{"is not with another config", func(o *Options, t *testing.T) { o.Server = entry(t, `,"used":[]`) }, [2]bool{true, false}},
		{"is not with another --surface", func(o *Options, t *testing.T) {
			o.Server = entry(t, `,"used":["get_*"]`)
			o.Server.Surface = "all"
		}, [2]bool{true, false}},
		{"is not under another name", func(o *Options, t *testing.T) { o.Unnamed = true }, [2]bool{true, false}},
		{"is never by a build without a version", func(o *Options, _ *testing.T) { o.Version = "" }, [2]bool{true, true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := &fake{tools: two()}
				cache, damage := cachedAt(t)
				o := Options{Server: entry(t, `,"used":["get_*"]`), Store: cache, Version: "v1"}
				visit(t, o, up, nil)
				tt.change(&o, t)
				for i, reads := range tt.reads {
					if !reads {
						damage()
					}
					var cached []string
					visit(t, o, up, func(d *desk) { cached = d.names() })
					if up.dials() != 1 {
						t.Fatalf("start %d dials", i+2)
					}
					if !reads {
						damage() // mended: the same bit
						continue
					}
					fresh := o
					fresh.Store = nil
					other := &fake{tools: two()}
					visit(t, fresh, other, func(d *desk) {
						if want := d.names(); !slices.Equal(cached, want) {
							t.Errorf("start %d shows %q, want %q", i+2, cached, want)
						}
					})
				}
				damage()
				visit(t, o, up, func(d *desk) {
					if got := text(d.call("3", "discover", `{"query":"all issues"}`)); !strings.Contains(got, "list_issues(") {
						t.Errorf("with damaged lists discover says %q", got)
					}
				})
				if up.dials() != 2 {
					t.Errorf("damaged lists: dialled %d times, want once", up.dials()-1)
				}
				visit(t, o, up, func(d *desk) { d.call("3", "discover", `{"query":"all issues"}`) })
				if up.dials() != 2 {
					t.Error("the damaged file was not replaced")
				}
			})
		})
	}
}

func TestDamagedListsWithoutAnUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: two()}
		cache, damage := cachedAt(t)
		o := Options{Server: entry(t, `,"used":["get_*"]`), Store: cache, Version: "v1"}
		visit(t, o, up, nil)
		damage()
		up.dialError = fmt.Errorf("it is gone")
		visit(t, o, up, func(d *desk) {
			if got := d.names(); len(got) != 4 {
				t.Errorf("tools/list shows %q, want the rendered list", got)
			}
			if got := d.call("3", "discover", `{"query":"issues"}`); !strings.Contains(got, "it is gone") || !gjson.Get(got, "isError").Bool() {
				t.Errorf("discover says %s, want why there is no catalog", got)
			}
		})
	})
}

func TestTwoColdStartsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "acme")
		var desks []*desk
		var ups []*fake
		for range 2 {
			up := &fake{tools: two()}
			d := start(t, Options{Server: entry(t, `,"used":["*"]`), Store: catalog.OpenStore(dir, nil), Version: "v1"}, up)
			desks, ups = append(desks, d), append(ups, up)
		}
		var wg sync.WaitGroup
		for _, d := range desks {
			wg.Go(func() {
				d.open()
				if got := d.names(); len(got) != 5 {
					t.Errorf("tools/list shows %q", got)
				}
			})
		}
		wg.Wait()
		for i, d := range desks {
			d.said()
			d.close()
			if ups[i].dials() != 1 {
				t.Errorf("start %d dialled %d times", i, ups[i].dials())
			}
		}
		up := &fake{}
		visit(t, Options{Server: entry(t, `,"used":["*"]`), Store: catalog.OpenStore(dir, nil), Version: "v1"}, up, func(d *desk) {
			if got := text(d.call("1", "discover", `{"query":"list issues"}`)); !strings.Contains(got, "list_issues(") {
				t.Errorf("discover from what they have stored: %q", got)
			}
		})
		if up.dials() != 0 {
			t.Error("neither has stored its list")
		}
	})
}

func TestStoreThatCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		log := &journal{}
		up := &fake{tools: two()}
		o := Options{Server: entry(t, `,"used":["*"]`), Store: catalog.OpenStore(filepath.Join(file, "acme"), nil), Version: "v1", Log: log.logger()}
		visit(t, o, up, func(d *desk) {
			if got := d.names(); len(got) != 5 {
				t.Errorf("tools/list shows %q", got)
			}
		})
		if got := log.lines("level=WARN", "catalog not stored"); len(got) != 1 {
			t.Errorf("warnings: %q, want one", got)
		}
		if got := log.lines("level=ERROR"); got != nil {
			t.Errorf("errors: %q", got)
		}
	})
}

// A store whose lock another process keeps must not keep us from ending.
func TestSavingIsBoundedAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "acme")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		lock := flock.New(filepath.Join(dir, "lock"))
		if err := lock.Lock(); err != nil {
			t.Fatal(err)
		}
		defer lock.Unlock()
		up := &fake{tools: two()}
		d := start(t, Options{Server: entry(t, ""), Store: catalog.OpenStore(dir, nil), Version: "v1"}, up)
		d.open()
		d.names()
		before := time.Now()
		d.close()
		if took := time.Since(before); took > saveWait {
			t.Errorf("the end took %v, want at most %v", took, saveWait)
		}
	})
}

// A tool that no client can call over HTTP, because its headers are impossible,
// is left out there and only there.
func TestImpossibleHeaders(t *testing.T) {
	bad := tool("bad", "Bad.", `{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}`)
	good := tool("good", "Good.", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}`)
	for _, test := range []struct {
		name, era, url string
		want           int
	}{
		{"over HTTP, modern", modern, "https://mcp.acme.example/v1", 1},
		{"over HTTP, legacy", legacy, "https://mcp.acme.example/v1", 2},
		{"over stdio", modern, "", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := entry(t, "")
			s.Upstream.URL = test.url
			c := New(Options{Server: s}).catalog(test.era, catalogOf(bad, good), &standing{}, slog.LevelWarn)
			if len(c.Tools()) != test.want {
				t.Errorf("the catalog holds %d tools; want %d", len(c.Tools()), test.want)
			}
		})
	}
}
