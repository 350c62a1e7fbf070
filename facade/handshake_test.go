package facade

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/facade/wire"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

const (
	discoverID = `"d"`
	notFound   = `{"jsonrpc":"2.0","id":"d","error":{"code":-32601,"message":"Method not found"}}`
)

var discoverFrame = line(discoverID, "server/discover", `{"_meta":`+modernMeta+`}`)

// dual is an upstream of both eras.
func dual() *fake {
	up := issues()
	up.modern = true
	return up
}

func TestProbe(t *testing.T) {
	answering := func(answer string) func(*fakeConn, wire.Message) ([]string, bool) {
		return func(c *fakeConn, m wire.Message) ([]string, bool) {
			if m.Method != "server/discover" {
				return nil, false
			}
			if answer == "" {
				c.die("exit status 1")
				return nil, true
			}
			return []string{`{"jsonrpc":"2.0","id":` + m.ID.Raw + `,` + answer + `}`}, true
		}
	}
	for _, test := range []struct {
		name, answer string
		want         string // what the host is told; "": the answer as it is
		era          string
		dials        int // with the initialize that follows
	}{
		{"takes -32601 for legacy", `"error":{"code":-32601,"message":"x"}`, notFound, legacy, 1},
		{"takes -32602 for legacy", `"error":{"code":-32602,"message":"x"}`, notFound, legacy, 1},
		{"takes -32600 for legacy", `"error":{"code":-32600,"message":"x"}`, notFound, legacy, 1},
		{"takes -32000 for legacy", `"error":{"code":-32000,"message":"x"}`, notFound, legacy, 1},
		{"takes -32022 with old versions for legacy", `"error":{"code":-32022,"message":"x","data":{"supported":["2025-11-25"]}}`, notFound, legacy, 1},
		{"takes -32022 with new versions for modern", `"error":{"code":-32022,"message":"x","data":{"supported":["2027-01-01","2025-11-25"]}}`, "", modern, 1},
		{"takes -32021 for modern", `"error":{"code":-32021,"message":"x"}`, "", modern, 1},
		{"leaves -32022 without versions open", `"error":{"code":-32022,"message":"x"}`, notFound, "", 1},
		{"leaves -32603 open", `"error":{"code":-32603,"message":"x"}`, notFound, "", 1},
		{"leaves a code of the server's own open", `"error":{"code":401,"message":"x"}`, notFound, "", 1},
		{"takes a result with old versions only for legacy", `"result":{"supportedVersions":["2025-11-25","2024-11-05"]}`, notFound, legacy, 1},
		{"leaves an odd result open", `"result":{"ok":true}`, notFound, "", 1},
		{"leaves a result that is no object open", `"result":"2026-07-28"`, notFound, "", 1},
		{"leaves an exit open", "", notFound, "", 2},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := issues()
				up.answer = answering(test.answer)
				cache := store(t)
				d := start(t, Options{Store: cache}, up)
				if test.want == "" {
					test.want = `{"jsonrpc":"2.0","id":"d",` + test.answer + `}`
				}
				d.send(discoverFrame)
				d.expect("a probe", test.want)
				if got := cache.Era(); got != test.era {
					t.Errorf("the era stored is %q, want %q", got, test.era)
				}
				if got := up.received("server/discover"); !slices.Equal(got, []string{discoverFrame}) {
					t.Errorf("the upstream has got the probes %q", got)
				}
				holds(t, "initialize after it", d.open(), "Acme Server")
				if up.dials() != test.dials {
					t.Errorf("%d dials, want %d", up.dials(), test.dials)
				}
			})
		})
	}
}

func TestProbeModern(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := dual()
		cache := store(t)
		d := start(t, Options{Store: cache, Version: "v"}, up)
		d.send(discoverFrame + "\n" + line("1", "vendor/x", `{"_meta":`+modernMeta+`}`))
		told := d.said()
		if len(told) != 2 || gjson.Get(told[0], "id").Str != "d" {
			t.Fatalf("the host is told %q", told)
		}
		holds(t, "discover", told[0], `"supportedVersions":["2026-07-28"]`, `"listChanged":true`, `"ttlMs":0`, `"resultType":"complete"`, "Be kind.")
		if cache.Era() != modern {
			t.Errorf("the era stored is %q", cache.Era())
		}
		d.close()
		warm := start(t, Options{Store: cache, Version: "v"}, up)
		time.Sleep(10 * time.Second)
		warm.send(discoverFrame)
		told = warm.said()
		if len(told) != 1 || up.dials() != 1 {
			t.Fatalf("after %d dials, want 1, the warm host is told %q", up.dials(), told)
		}
		ttl := gjson.Get(told[0], "result.ttlMs").Int()
		holds(t, "warm discover", told[0], `"supportedVersions":["2026-07-28"]`, `"resultType":"complete"`, `"cacheScope":"private"`)
		if ttl < 45_000 || ttl > 50_000 {
			t.Errorf("ttlMs is %d, want what is left of a minute", ttl)
		}
		r, _ := warm.ask("2", "tools/list", `{"_meta":`+modernMeta+`}`)
		holds(t, "warm tools/list", r, `"resultType":"complete"`, `"cacheScope":"private"`)
		if got := gjson.Get(r, "result.ttlMs").Int(); got > ttl || got < 40_000 {
			t.Errorf("ttlMs of tools/list is %d", got)
		}
		r, _ = warm.ask("3", "prompts/list", `{"_meta":`+modernMeta+`}`)
		if got := gjson.Get(r, "result.ttlMs").Int(); got > ttl || got < 40_000 {
			t.Errorf("ttlMs of prompts/list is %d", got)
		}
		r, _ = warm.ask("4", "tools/call", `{"name":"discover","arguments":{"query":"issue"},"_meta":`+modernMeta+`}`)
		holds(t, "a meta-tool's result", r, `"resultType":"complete"`)
		time.Sleep(time.Hour)
		r, _ = warm.ask("5", "tools/list", `{"_meta":`+modernMeta+`}`)
		holds(t, "stale tools/list", r, `"ttlMs":0`)
	})
}

func TestProbeUnanswered(t *testing.T) {
	for _, test := range []struct {
		name, answer, era string
	}{
		{"stores a late modern answer", `"result":{"supportedVersions":["2026-07-28"]}`, modern},
		{"stores a late refusal", `"error":{"code":-32601,"message":"x"}`, legacy},
		{"stores nothing of an odd answer", `"result":{}`, ""},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := issues()
				up.answer = mute("server/discover")
				cache := store(t)
				d := start(t, Options{Store: cache}, up)
				began := time.Now()
				d.send(discoverFrame)
				if got := d.next(); got != notFound || time.Since(began) != probeWait {
					t.Errorf("after %v the host is told %s", time.Since(began), got)
				}
				holds(t, "initialize after it", d.open(), "Acme Server")
				if cache.Era() != "" || up.dials() != 1 {
					t.Errorf("era %q is stored after silence, %d dials", cache.Era(), up.dials())
				}
				d.said()
				up.last().write(`{"jsonrpc":"2.0","id":"d",` + test.answer + `}`)
				d.expect("a late answer to the probe")
				if cache.Era() != test.era {
					t.Errorf("era %q is stored, want %q", cache.Era(), test.era)
				}
				holds(t, "a call after it", text(d.call("1", "list_issues", "{}")), "list_issues")
			})
		})
	}
}

func TestProbeSlowDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := dual()
		dial, open := gated(up)
		d := start(t, Options{Dial: dial}, up)
		d.send(discoverFrame)
		time.Sleep(probeWait - time.Second)
		d.expect("a probe whose dial hangs", notFound)
		close(open)
		holds(t, "initialize after it", d.open(), "Acme Server")
		if got := up.received("server/discover"); got != nil {
			t.Errorf("the probe was sent though the host had its answer: %q", got)
		}
	})
}

func TestProbeCancelled(t *testing.T) {
	for _, when := range []string{"before the dial", "in flight"} {
		t.Run("it lets modern requests pass after one cancelled "+when, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := dual()
				late := ""
				up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
					if m.Method == "server/discover" && late == "" {
						late = `{"jsonrpc":"2.0","id":` + m.ID.Raw + `,"result":{"supportedVersions":["2026-07-28"]}}`
						return nil, true
					}
					return nil, false
				}
				dial, open := gated(up)
				d := start(t, Options{Dial: dial}, up)
				d.send(discoverFrame)
				if when == "in flight" {
					close(open)
					d.said()
				}
				d.send(line("", "notifications/cancelled", `{"requestId":"d"}`))
				d.expect("a probe that is cancelled")
				if when == "in flight" {
					up.last().write(late)
					d.said()
				} else {
					close(open)
				}
				d.said()
				r, _ := d.ask("1", "vendor/x", `{"_meta":`+modernMeta+`}`)
				holds(t, "a modern request", r, "Method not found: vendor/x")
			})
		})
	}
}

func TestListenWhileOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := listening()
		sending := make(chan struct{})
		up.hold = map[string]chan struct{}{"vendor/slow": sending}
		d := start(t, Options{}, up)
		d.send(line("1", "vendor/slow", `{"_meta":`+modernMeta+`}`))
		synctest.Wait()
		d.send(listenFrame("2", `{"promptsListChanged":true}`))
		d.said()
		close(sending)
		d.said()
		if got, want := theirs(up), []string{listenFrame("2", `{"promptsListChanged":true}`)}; !slices.Equal(got, want) {
			t.Errorf("the upstream is asked %q, want %q", got, want)
		}
	})
}

func TestStartTimeoutIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		up.answer = mute("server/discover", "initialize")
		d := start(t, Options{Server: entry(t, `,"startTimeout":"3s"`)}, up)
		began := time.Now()
		d.send(discoverFrame)
		d.next()
		holds(t, "initialize when startTimeout is used up", d.open(), `"listChanged":true`)
		if waited := time.Since(began); waited != 3*time.Second {
			t.Errorf("it took %v, want one startTimeout", waited)
		}
	})
}

func TestKnownEras(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		cache := store(t)
		if err := cache.SetEra(legacy); err != nil {
			t.Fatal(err)
		}
		d := start(t, Options{Store: cache}, up)
		d.send(discoverFrame)
		d.expect("a probe of a known legacy upstream", notFound)
		d.send(line("1", "tools/list", `{"_meta":`+modernMeta+`}`))
		d.expect("a modern request to it",
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2026-07-28"}}}`)
		if n := up.dials(); n != 0 {
			t.Errorf("it was dialled %d times", n)
		}
	})
}

// acknowledged is the frame that tells a host that its listen is open.
func acknowledged(id, filter string) string {
	return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `},"notifications":` + filter + `}}`
}

func tagged(id, method string) string {
	return line("", method, `{"_meta":{"io.modelcontextprotocol/subscriptionId":`+id+`}}`)
}

func listenFrame(id, filter string) string {
	return line(id, "subscriptions/listen", `{"notifications":`+filter+`,"_meta":`+modernMeta+`,"x":1.0}`)
}

// theirs are the listens of the host that an upstream has received, not ours.
func theirs(up *fake) (frames []string) {
	for _, frame := range up.received("subscriptions/listen") {
		if !strings.HasPrefix(gjson.Get(frame, "id").Str, "mcpf-") {
			frames = append(frames, frame)
		}
	}
	slices.Sort(frames)
	return frames
}

// listening is a modern upstream that takes listens.
func listening() *fake {
	up := dual()
	up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
		return []string{acknowledged(m.ID.Raw, `{"as":"agreed"}`)}, m.Method == "subscriptions/listen"
	}
	return up
}

func TestListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := listening()
		d := start(t, Options{Store: warmed(t, up), Version: "v"}, up)
		all := `{"toolsListChanged":true, "promptsListChanged":true,"resourceSubscriptions":["a"]}`
		rest := `{"promptsListChanged":true,"resourceSubscriptions":["a"]}`
		only := `{"toolsListChanged":true}`
		d.send(listenFrame("1", all))
		d.send(listenFrame(`"\u0061"`, only))
		d.send(listenFrame("2.0", `{"resourcesListChanged":true}`))
		d.expect("three listens of a cold upstream", acknowledged("1", all), acknowledged(`"\u0061"`, only), acknowledged("2.0", `{"resourcesListChanged":true}`))
		if up.dials() != 0 {
			t.Errorf("a listen dialled the upstream")
		}
		r, _ := d.ask("9", "tools/list", `{"_meta":`+modernMeta+`}`)
		holds(t, "tools/list", r, "list_issues")
		d.ask("10", "vendor/x", `{"_meta":`+modernMeta+`}`)
		d.expect("a start with listens")
		want := []string{listenFrame("1", rest), listenFrame("2.0", `{"resourcesListChanged":true}`)}
		if diff := cmp.Diff(want, theirs(up)); diff != "" {
			t.Errorf("the upstream is asked (-want +got):\n%s", diff)
		}

		up.last().write(tagged("1", "notifications/prompts/list_changed"))
		up.last().write(tagged("2", "notifications/resources/updated"))
		d.expect("notifications of the host's listens", tagged("1", "notifications/prompts/list_changed"), tagged("2", "notifications/resources/updated"))
		own := gjson.Get(up.received("subscriptions/listen")[0], "id").Raw
		for _, frame := range up.received("subscriptions/listen") {
			if id := gjson.Get(frame, "id"); strings.HasPrefix(id.Str, "mcpf-") {
				own = id.Raw
			}
		}
		up.setTools(tool("other", "", ""))
		up.last().write(tagged(own, "notifications/tools/list_changed"))
		up.last().write(tagged(own, "notifications/vendor/x"))
		told := d.said()
		slices.Sort(told)
		changed := []string{tagged(`"\u0061"`, "notifications/tools/list_changed"), tagged("1", "notifications/tools/list_changed")}
		if diff := cmp.Diff(changed, told); diff != "" {
			t.Errorf("new tools: the host is told (-want +got):\n%s", diff)
		}

		up.last().die("exit status 1")
		d.expect("the upstream's death")
		d.ask("11", "vendor/x", `{"_meta":`+modernMeta+`}`)
		d.expect("a restart")
		if diff := cmp.Diff(slices.Sorted(slices.Values(append(want, want...))), theirs(up)); diff != "" {
			t.Errorf("the restarted upstream is asked (-want +got):\n%s", diff)
		}
	})
}

func TestListenEnds(t *testing.T) {
	const end = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`
	for _, test := range []struct {
		name, filter string
		told         []string // when the upstream ends it
		open         bool     // it is open for tools after that
	}{
		{"ends when the upstream does", `{"promptsListChanged":true}`, []string{end}, false},
		{"goes on for tools", `{"toolsListChanged":true,"promptsListChanged":true}`, nil, true},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := listening()
				d := start(t, Options{}, up)
				talk(d, manners[1], nil)
				d.send(listenFrame("1", test.filter))
				d.expect("a listen of a running upstream", acknowledged("1", test.filter))
				up.last().write(end)
				d.expect("the upstream's end of it", test.told...)
				if _, open := d.facade.listens["n1"]; open != test.open {
					t.Errorf("it is open: %t, want %t", open, test.open)
				}
				d.send(listenFrame("2", `{"resourcesListChanged":true}`))
				d.said()
				if n := len(theirs(up)); n != 2 {
					t.Errorf("the upstream was asked %d times, want 2: %q", n, theirs(up))
				}
				up.last().write(line("", "notifications/cancelled", `{"requestId":99}`))
				d.said()
			})
		})
	}
}

func TestListenCancelled(t *testing.T) {
	cancel := line("", "notifications/cancelled", `{"requestId":1}`)
	for _, test := range []struct {
		name, filter string
		forwarded    int
	}{
		{"reaches the upstream", `{"promptsListChanged":true,"toolsListChanged":true}`, 1},
		{"stays with us", `{"toolsListChanged":true}`, 0},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := listening()
				d := start(t, Options{}, up)
				talk(d, manners[1], nil)
				d.send(listenFrame("1", test.filter))
				d.said()
				d.send(cancel)
				d.said()
				if n := len(up.received("notifications/cancelled")); n != test.forwarded {
					t.Errorf("the upstream has got %d cancellations, want %d", n, test.forwarded)
				}
				up.setTools(tool("other", "", ""))
				up.last().write(line("", "notifications/tools/list_changed", ""))
				d.expect("new tools after the listen was cancelled")
			})
		})
	}
}

func TestListenMalformed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, Options{}, listening())
		r, _ := d.ask("1", "subscriptions/listen", `{"_meta":`+modernMeta+`}`)
		holds(t, "a listen to nothing", r, "-32602", "params.notifications")
	})
}

func TestModernRestartKeepsOneListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := listening()
		d := start(t, Options{}, up)
		talk(d, manners[1], nil)
		for i := range 5 {
			d.ask(fmt.Sprint(i+1), "vendor/x", `{"_meta":`+modernMeta+`}`)
			d.said()
			up.last().die("exit status 1")
			d.said()
		}
		if ours := len(up.received("subscriptions/listen")); ours != up.dials() {
			t.Errorf("%d listens of ours on %d connections", ours, up.dials())
		}
	})
}

func TestEraIsStoredPerStore(t *testing.T) {
	for _, era := range []string{legacy, modern} {
		f := New(Options{Server: entry(t, ""), Store: catalog.OpenStore(t.TempDir()+"/acme", nil)})
		f.setEra(era)
		again := New(Options{Server: f.o.Server, Store: f.o.Store})
		if got := again.knownEra(); got != era {
			t.Errorf("era %q was stored, %q is known", era, got)
		}
	}
}

// TestProbeIncomplete shows that the refusal of a probe that does not say what
// its host can says nothing of the upstream, and is passed on.
func TestProbeIncomplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := dual()
		const refusal = `"error":{"code":-32602,"message":"no clientCapabilities"}`
		up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
			if m.Method == "server/discover" && !m.Params.Get("_meta."+metaCapabilities).Exists() {
				return []string{`{"jsonrpc":"2.0","id":` + m.ID.Raw + `,` + refusal + `}`}, true
			}
			return nil, false
		}
		cache := store(t)
		d := start(t, Options{Store: cache}, up)
		d.send(line("1", "server/discover", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`))
		d.expect("an incomplete probe", `{"jsonrpc":"2.0","id":1,`+refusal+`}`)
		if era := cache.Era(); era != "" {
			t.Errorf("the era stored is %q; want none", era)
		}
		r, _ := d.ask(`"d"`, "server/discover", `{"_meta":`+modernMeta+`}`)
		holds(t, "a whole probe after it", r, "supportedVersions")
	})
}
