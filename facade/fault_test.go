package facade

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// holds fails the test unless text holds all of parts.
func holds(t *testing.T, after, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s:\n%.1000s\nholds no %q", after, text, part)
		}
	}
}

func TestUpstreamMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		up.dialError = &upstream.Error{Server: "acme", Op: "start", Err: errors.New(`"acme": executable file not found`), Hint: "install acme"}
		d := start(t, Options{}, up)
		holds(t, "a cold initialize", d.open(), "2025-11-25", `"listChanged":true`)
		if got := len(d.names()); got != len(d.facade.kinds()) {
			t.Errorf("tools/list shows %d tools, want the meta-tools", got)
		}
		holds(t, "discover", d.call("1", "discover", `{"query":"x"}`), "executable file not found")
		holds(t, "call", d.call("2", "call", `{"tool":"x","args":{}}`), "executable file not found", `"isError":true`, noResult)
		r, _ := d.ask("3", "resources/read", "{}")
		holds(t, "another method", r, "-32603", "executable file not found")
	})
}

func TestDeathInHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			c.die("exit status 3; its last words: no key")
			return nil, true
		}
		d := start(t, Options{}, up)
		d.send(line("0", "initialize", `{"protocolVersion":"2025-06-18","capabilities":{}}`))
		d.send(line("1", "vendor/x", ""))
		told := d.said()
		if len(told) != 2 {
			t.Fatalf("the host is told %q", told)
		}
		both := told[0] + told[1]
		holds(t, "a death in the handshake", both, `"protocolVersion":"2025-06-18"`, "-32603", "no key")
		holds(t, "discover", d.call("1", "discover", `{"query":"x"}`), "no key")
	})
}

func TestDeathInCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		up.answer = mute("vendor/slow", "tools/call")
		d := start(t, Options{}, up)
		d.open()
		d.said()
		d.send(line("1", "tools/call", `{"name":"list_issues"}`))
		d.send(line("2", "vendor/slow", ""))
		d.said()
		first := up.last()
		first.write(line("77", "vendor/question", ""))
		first.write(line(`"b"`, "vendor/question", ""))
		d.expect("two questions", line("77", "vendor/question", ""), line(`"b"`, "vendor/question", ""))
		d.send(`{"jsonrpc":"2.0","id":"b","result":{}}`)
		d.said()
		first.die("exit status 3")
		told := d.said()
		if len(told) != 3 {
			t.Fatalf("after the death the host is told %q", told)
		}
		holds(t, "the first word after a death", told[0], "notifications/cancelled", `"requestId":77`)
		rest := told[1] + told[2]
		holds(t, "pending requests", rest, "exit status 3", "may have been carried out", `"isError":true`, noResult, "-32603")
		if strings.Count(rest, "carried out") != 1 {
			t.Errorf("what is no call may have been carried out: %s", rest)
		}
		d.send(`{"jsonrpc":"2.0","id":77,"result":{}}`)
		d.send(line("3", "vendor/x", ""))
		d.said()
		if n := up.dials(); n != 2 {
			t.Errorf("the next request made %d connections, want 2", n)
		}
		var opened []string
		for _, frame := range up.received("initialize") {
			opened = append(opened, gjson.Get(frame, "params").Raw)
		}
		want := `{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}`
		if diff := cmp.Diff([]string{want, want}, opened); diff != "" {
			t.Errorf("initialize (-want +got):\n%s", diff)
		}
		want2 := []string{line("1", "tools/call", `{"name":"list_issues"}`), line("2", "vendor/slow", ""), `{"jsonrpc":"2.0","id":"b","result":{}}`, line("3", "vendor/x", "")}
		if diff := cmp.Diff(want2, heard(up)); diff != "" {
			t.Errorf("the upstream hears (-want +got):\n%s", diff)
		}
	})
}

func TestRestartRestores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
			refused := strings.Contains(m.Params.Raw, "bad")
			if strings.HasPrefix(m.Method, "resources/") && m.Params.Get("uri").Exists() && !refused {
				return []string{string(wire.Response(m.ID.Raw, []byte("{}")))}, true
			}
			return nil, false
		}
		d := start(t, Options{}, up)
		d.open()
		for i, frame := range []string{
			`"resources/subscribe","params":{"uri":"a","x":1.0}`,
			`"resources/subscribe","params":{"uri":"gone"}`,
			`"resources/subscribe","params":{"uri":"bad"}`,
			`"resources/subscribe","params":{"uri":"b"}`,
			`"resources/unsubscribe","params":{"uri":"gone"}`,
			`"logging/setLevel","params":{"level":"info","x":1.0}`,
		} {
			d.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%s}`, i, frame))
		}
		d.said()
		before := len(up.received(""))
		up.last().die("exit status 1")
		d.said()
		d.send(line("9", "vendor/x", ""))
		d.said()
		var restored []string
		for _, frame := range up.received("")[before:] {
			if method := gjson.Get(frame, "method").Str; !strings.HasSuffix(method, "/list") {
				restored = append(restored, method+" "+gjson.Get(frame, "params").Raw)
			}
		}
		want := []string{
			`initialize {"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}`,
			`notifications/initialized `,
			`logging/setLevel {"level":"info","x":1.0}`,
			`resources/subscribe {"uri":"a","x":1.0}`,
			`resources/subscribe {"uri":"b"}`,
			`vendor/x `,
		}
		if diff := cmp.Diff(want, restored); diff != "" {
			t.Errorf("a restarted upstream hears (-want +got):\n%s", diff)
		}
	})
}

func TestHeldQuestionsDieWithTheUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		d := start(t, Options{}, up)
		d.send(line("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`))
		d.said()
		up.last().write(line("1", "roots/list", ""))
		d.said()
		up.last().die("exit status 1")
		d.expect("the death of one whose question was held")
		d.send(line("", "notifications/initialized", ""))
		d.expect("initialized")
	})
}

func TestNeverAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		up.answer = mute("initialize")
		d := start(t, Options{Server: entry(t, `,"used":["*"],"startTimeout":"3s"`)}, up)
		d.send(line("0", "initialize", `{"protocolVersion":"2025-06-18","capabilities":{}}`))
		d.send(line("8", "vendor/y", ""))
		d.send(line("", "notifications/vendor/z", ""))
		began := time.Now()
		d.expect("initialize to one that does not answer")
		first, welcome := d.next(), d.next()
		holds(t, "a request that has waited", first, `"id":8`, "-32603", "3s")
		if waited := time.Since(began); waited != 3*time.Second {
			t.Errorf("initialize was answered after %v, want startTimeout", waited)
		}
		holds(t, "our own result", welcome, `"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"acme"`)
		d.send(line("", "notifications/initialized", ""))
		if got := len(d.names()); got != len(d.facade.kinds()) {
			t.Errorf("tools/list shows %d tools, want the meta-tools", got)
		}
		holds(t, "a call meanwhile", d.call("1", "list_issues", "{}"), "startTimeout", "3s", noResult)
		holds(t, "a call by call meanwhile", d.call("2", "call", `{"tool":"list_issues"}`), "startTimeout", "3s", noResult)
		r, _ := d.ask("3", "vendor/x", "{}")
		holds(t, "a request meanwhile", r, "-32603", "3s")
		d.said()
		if up.dials() != 1 || len(up.received("tools/call")) != 0 {
			t.Fatalf("it dialled %d times and sent %q", up.dials(), up.received("tools/call"))
		}
		id := gjson.Get(up.received("initialize")[0], "id").Raw
		up.last().write(`{"jsonrpc":"2.0","id":` + id + `,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}}`)
		d.expect("a late answer", line("", "notifications/tools/list_changed", ""))
		holds(t, "a call after it", text(d.call("4", "list_issues", "{}")), "list_issues")
		if got := len(d.names()); got != 2+len(d.facade.kinds()) {
			t.Errorf("tools/list shows %d tools, want the used ones and the meta-tools", got)
		}
		r, _ = d.ask("9", "vendor/x", `{"_meta":`+modernMeta+`}`)
		holds(t, "a modern request after it", r, "Method not found: vendor/x")
		want := []string{
			line("", "notifications/vendor/z", ""),
			line("4", "tools/call", `{"name":"list_issues","arguments":{}}`),
			line("9", "vendor/x", `{"_meta":`+modernMeta+`}`),
		}
		if diff := cmp.Diff(want, heard(up)); diff != "" {
			t.Errorf("the upstream hears (-want +got):\n%s", diff)
		}
	})
}

func TestLateBacklogDoesNotGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		up.answer = mute("initialize")
		d := start(t, Options{}, up)
		d.send(line("0", "initialize", `{"protocolVersion":"2025-06-18","capabilities":{}}`))
		time.Sleep(time.Minute)
		for range 100 {
			d.send(line("1", "vendor/x", ""))
		}
		d.said()
		if l := d.facade.link; len(l.backlog) != 0 || l.size != 0 || len(d.facade.toUp) != 0 {
			t.Errorf("%d frames wait, %d bytes; %d are noted", len(l.backlog), l.size, len(d.facade.toUp))
		}
	})
}

// refusing is an upstream that refuses the first n initialize.
func refusing(n int, refusal string) *fake {
	up := issues()
	up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
		if m.Method != "initialize" || len(up.received("initialize")) > n {
			return nil, false
		}
		return []string{`{"jsonrpc":"2.0","id":` + m.ID.Raw + `,` + refusal + `}`}, true
	}
	return up
}

func TestInitializeRefused(t *testing.T) {
	const opening = `{"protocolVersion":"2025-11-25","capabilities":{}}`
	for _, test := range []struct {
		name, refusal string
		want          []string
	}{
		{"serves without it", `"error":{"code":-32000,"message":"no licence"}`, []string{`"result"`, `"listChanged":true`}},
		{"serves without one that says nonsense", `"result":5`, []string{`"result"`, `"listChanged":true`}},
		{"names the versions of a modern one", `"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}`,
			[]string{`"error"`, "-32602", "2026-07-28", `"requested":"2025-11-25"`}},
		{"names the versions of one without initialize", `"error":{"code":-32601,"message":"no"}`, []string{`"error"`, "2026-07-28 or later"}},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := refusing(9, test.refusal)
				d := start(t, Options{}, up)
				d.send(line("0", "initialize", opening))
				told := d.said()
				if len(told) != 1 || up.dials() != 1 {
					t.Fatalf("after %d dials the host is told %q", up.dials(), told)
				}
				holds(t, "initialize", told[0], test.want...)
			})
		})
	}
}

func TestInitializeRefusedAfterProbe(t *testing.T) {
	for refusals, dials := range map[int]int{1: 2, 2: 2} {
		t.Run(fmt.Sprintf("it restarts once after %d refusals", refusals), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := refusing(refusals, `"error":{"code":-32000,"message":"already open"}`)
				d := start(t, Options{}, up)
				d.send(line("0", "server/discover", `{"_meta":`+modernMeta+`}`))
				d.expect("a probe", `{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"Method not found"}}`)
				d.send(line("1", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`) + "\n" + line("2", "vendor/x", ""))
				told := d.said()
				if len(told) != 2 || up.dials() != dials {
					t.Fatalf("%d dials; the host is told %q", up.dials(), told)
				}
				both := told[0] + told[1]
				want := map[int][]string{1: {"Acme Server", "-32601"}, 2: {`"listChanged":true`, "already open"}}
				holds(t, "initialize after a probe", both, want[refusals]...)
			})
		})
	}
}

func TestHostEnds(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer time.Duration // when the upstream answers
		dial   time.Duration // how long the dial takes
		lasts  time.Duration // how long Run may go on
		want   string
	}{
		{"still gets an answer", time.Second, 0, time.Second, `"late":true`},
		{"does not wait for ever", time.Hour, 0, drain, "closing"},
		{"still gets an answer through a slow dial", 0, time.Second, time.Second, `"late":true`},
		{"does not wait for a dial for ever", 0, time.Hour, drain, "closing"},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := issues()
				up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
					if m.Method != "vendor/slow" {
						return nil, false
					}
					time.AfterFunc(test.answer, func() { c.write(`{"jsonrpc":"2.0","id":5,"result":{"late":true}}`) })
					return nil, true
				}
				o := Options{Store: warmed(t, up), Version: "v", Dial: func(ctx context.Context, _ func(string) []byte) (upstream.Conn, error) {
					select {
					case <-time.After(test.dial):
						return up.dial(ctx, nil)
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}}
				d := start(t, o, up)
				d.open()
				d.send(line("5", "vendor/slow", ""))
				d.in.Close()
				began := time.Now()
				var told []string
				for frame := range d.frames {
					told = append(told, frame)
				}
				if lasted := time.Since(began); lasted > test.lasts {
					t.Errorf("Run went on for %v, want %v at most", lasted, test.lasts)
				}
				if len(told) != 1 {
					t.Fatalf("the host is told %q", told)
				}
				holds(t, "a host that has closed its side", told[0], test.want)
			})
		})
	}
}

func TestContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, dialled := range []bool{true, false} {
			up := issues()
			up.answer = mute("vendor/slow")
			dial, open := gated(up)
			if dialled {
				close(open)
			}
			ctx, cancel := context.WithCancel(t.Context())
			in, host := io.Pipe()
			out := make(chan string, 10)
			ended := make(chan error)
			go func() {
				ended <- New(Options{Server: entry(t, ""), Dial: dial, Store: warmed(t, up)}).Run(ctx, in, lineWriter(out))
			}()
			fmt.Fprintln(host, line("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"roots":{}}}`))
			fmt.Fprintln(host, line("1", "vendor/slow", ""))
			<-out
			synctest.Wait()
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("Run: %v", err)
			}
			holds(t, "a request under way", <-out, `"id":1`, "closing")
			fmt.Fprintln(host, line("2", "vendor/slow", "")) // to the reader that stays behind
			host.Close()
			synctest.Wait()
		}
	})
}

func TestDialOutlastsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		d := start(t, Options{Dial: func(ctx context.Context, _ func(string) []byte) (upstream.Conn, error) {
			time.Sleep(5 * time.Second)
			return up.dial(ctx, nil)
		}}, up)
		d.send(line("0", "vendor/x", ""))
		d.close()
		if c := up.last(); c.Send(nil) == nil {
			t.Error("a connection that came after the end is still open")
		}
	})
}

// A deafConn takes no calls.
type deafConn struct{ *fakeConn }

func (c deafConn) Send(frame []byte) error {
	if gjson.GetBytes(frame, "method").Str == "tools/call" {
		return io.ErrClosedPipe
	}
	return c.fakeConn.Send(frame)
}

// A call that was certainly not sent is sent to the next process, once.
func TestDeathBeforeSend(t *testing.T) {
	for _, test := range []struct {
		name string
		deaf int // how many connections do not take it
	}{{"the next one takes it", 1}, {"the next one does not either", 2}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := issues()
				d := start(t, Options{Dial: func(ctx context.Context, _ func(string) []byte) (upstream.Conn, error) {
					c, err := up.dial(ctx, nil)
					if up.dials() <= test.deaf {
						return deafConn{c.(*fakeConn)}, err
					}
					return c, err
				}}, up)
				d.open()
				d.names()
				d.send(line("1", "tools/call", `{"name":"list_issues"}`))
				var told []string
				for range test.deaf {
					told = append(told, d.said()...)
					up.last().die("exit status 3")
				}
				told = append(told, d.said()...)
				if len(told) != 1 {
					t.Fatalf("the host is told %q; want one answer", told)
				}
				if test.deaf == 1 {
					if gjson.Get(told[0], "result.isError").Bool() {
						t.Errorf("the call is answered %s; want the second process's answer", told[0])
					}
					return
				}
				holds(t, "a call that was not sent", told[0], "exit status 3", noResult)
				if strings.Contains(told[0], "carried out") {
					t.Errorf("a call that was not sent may have been carried out: %s", told[0])
				}
			})
		})
	}
}

// A lineWriter gives each write to a channel.
type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

// A wideConn has much white space behind what it says.
type wideConn struct {
	*fakeConn
	size int
}

func (c wideConn) Recv() (wire.Message, error) {
	m, err := c.fakeConn.Recv()
	m.Raw = append(m.Raw, bytes.Repeat([]byte(" "), c.size)...)
	return m, err
}

func TestHostStopsReading(t *testing.T) {
	signalled := make(chan struct{})
	close(signalled)
	for _, test := range []struct {
		name  string
		size  int // of an answer
		hurry chan struct{}
		lasts time.Duration
	}{
		{"waits for it a while", 10, nil, drain},
		{"waits as long when the queue is full", hostQueue / 2, nil, drain},
		{"waits less after a signal", 10, signalled, hurried},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := issues()
				dial := func(ctx context.Context, _ func(string) []byte) (upstream.Conn, error) {
					c, err := up.dial(ctx, nil)
					return wideConn{c.(*fakeConn), test.size}, err
				}
				ctx, cancel := context.WithCancel(t.Context())
				in, host := io.Pipe()
				hostIn, out := io.Pipe()
				ended := make(chan error)
				go func() {
					ended <- New(Options{Server: entry(t, ""), Dial: dial, Hurry: test.hurry}).Run(ctx, in, out)
				}()
				fmt.Fprintln(host, line("1", "vendor/x", ""))
				time.Sleep(time.Minute)
				fmt.Fprintln(host, line("2", "vendor/x", ""))
				fmt.Fprintln(host, line("3", "vendor/x", ""))
				time.Sleep(time.Minute)
				cancel()
				began := time.Now()
				<-ended
				if lasted := time.Since(began); lasted != test.lasts {
					t.Errorf("Run went on for %v, want %v", lasted, test.lasts)
				}
				host.Close()
				hostIn.Close()
			})
		})
	}
}

func TestHostBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		in, host := io.Pipe()
		hostIn, out := io.Pipe()
		ended := make(chan error)
		go func() { ended <- New(Options{Server: entry(t, ""), Dial: up.dial}).Run(t.Context(), in, out) }()
		fmt.Fprintln(host, line("0", "vendor/x", ""))
		hostIn.Close()
		synctest.Wait()
		fmt.Fprintln(host, line("1", "ping", "")) // the first frame that it does not take is enough
		<-ended
		host.Close()
		if c := up.last(); c.Send(nil) == nil {
			t.Error("the upstream is still connected")
		}
	})
}

func TestUpstreamDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		stuck := make(chan struct{})
		up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			if m.Method == "vendor/stuck" {
				<-c.end
				close(stuck)
			}
			return nil, false
		}
		ctx, cancel := context.WithCancel(t.Context())
		in, host := io.Pipe()
		ended := make(chan error)
		go func() { ended <- New(Options{Server: entry(t, ""), Dial: up.dial}).Run(ctx, in, io.Discard) }()
		fmt.Fprintln(host, line("0", "vendor/stuck", ""))
		time.Sleep(time.Minute)
		cancel()
		<-ended
		<-stuck
		host.Close()
	})
}

func TestRestartsLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		d := start(t, Options{Server: entry(t, `,"startTimeout":"1h"`)}, up)
		d.open()
		for i := range 20 {
			d.ask(fmt.Sprint(i+1), "vendor/x", "{}")
			up.last().die("exit status 1")
			d.said()
		}
		f := d.facade
		if len(f.toUp)+len(f.fromUp)+len(f.own)+len(f.withdrawn)+f.asking != 0 || f.link != nil {
			t.Errorf("after 20 restarts: %d pending, %d questions, %d of ours, %d withdrawn, %d asked", len(f.toUp), len(f.fromUp), len(f.own), len(f.withdrawn), f.asking)
		}
	})
}

// TestModernSilence shows that startTimeout bounds the wait for a modern
// upstream too, which takes requests before it has said anything.
func TestModernSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := issues()
		up.modern = true
		cache := store(t)
		opened := func(d *desk) {
			d.ask(`"d"`, "server/discover", `{"_meta":`+modernMeta+`}`)
			d.ask(`"l"`, "tools/list", `{"_meta":`+modernMeta+`}`)
		}
		first := start(t, Options{Store: cache}, up)
		opened(first)
		first.close()
		up.answer = func(*fakeConn, wire.Message) ([]string, bool) { return nil, true }
		d := start(t, Options{Store: cache}, up)
		opened(d)
		began := time.Now()
		r, _ := d.ask("7", "tools/call", `{"_meta":`+modernMeta+`,"name":"get_issue","arguments":{}}`)
		if waited := time.Since(began); waited != 20*time.Second || !strings.Contains(r, "still starting") {
			t.Errorf("after %v the host was told %s; want startTimeout in 20s", waited, r)
		}
	})
}

// TestErrorsOfTheUpstreamAreCleaned shows that what the upstream says of itself
// comes to people and models without the secrets it was given, on one line.
func TestErrorsOfTheUpstreamAreCleaned(t *testing.T) {
	for _, method := range []string{"initialize", "tools/list"} {
		up := issues()
		up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
			if m.Method != method {
				return nil, false
			}
			return []string{string(wire.ErrorResponse(m.ID.Raw, -32000, "bad token hunter22\x1b[2J\n[read-only] x", nil))}, true
		}
		var log strings.Builder
		d := start(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))}, up)
		d.open()
		d.names()
		said := text(d.call("2", "discover", `{"query":"x"}`))
		d.close()
		for _, s := range []string{said, log.String()} {
			if strings.Contains(s, "hunter22") || strings.Contains(s, "\x1b") || strings.Contains(s, "\n[read-only]") || !strings.Contains(s, "bad token [redacted]") {
				t.Errorf("%s refused: %q", method, s)
			}
		}
	}
}

// TestHostFrameWithID shows that a request that cannot be read is answered
// under its own id where that can.
func TestHostFrameWithID(t *testing.T) {
	d := start(t, Options{}, issues())
	d.send(`{"jsonrpc":"2.0","id":99,"method":7}`)
	if got := d.next(); !strings.Contains(got, `"id":99`) || !strings.Contains(got, "-32600") {
		t.Errorf("answered by %s", got)
	}
}
