package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestMessages(t *testing.T) {
	big := string(frame(17 << 20))
	for _, tt := range []struct {
		name    string
		actions []string
		send    []string
		want    []string
	}{
		{"returns what it is sent", []string{"echo"},
			[]string{`{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}`, `{"jsonrpc":"2.0","id":"b","result":{"z":1,"a":1.0}}`},
			[]string{`{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}`, `{"jsonrpc":"2.0","id":"b","result":{"z":1,"a":1.0}}`}},
		{"passes over noise", []string{"say=starting…", "ready", "say=42", "say=", "say={\"level\":\"info\"}", "say=oops {", "ready", "eof"},
			nil, []string{`{"jsonrpc":"2.0","method":"ready","params":null}`, `{"jsonrpc":"2.0","method":"ready","params":null}`}},
		{"takes a batch apart", []string{`say=[{"jsonrpc":"2.0","id":1,"result":{}}, 7, {"jsonrpc":"2.0","method":"m"}]`, "eof"},
			nil, []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"m"}`}},
		{"takes 17 MB both ways", []string{"echo"}, []string{big, big}, []string{big, big}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := open(t, target(t, tt.actions...), patient())
			for _, s := range tt.send {
				if err := c.Send([]byte(s)); err != nil {
					t.Fatalf("Send(%.80q): %v", s, err)
				}
			}
			for _, want := range tt.want {
				if m, err := c.Recv(); err != nil || string(m.Raw) != want {
					t.Fatalf("Recv = %.80q, %v; want %.80q", m.Raw, err, want)
				}
			}
			mustClose(t, c)
			if err := expectEnd(t, c); !errors.Is(err, ErrClosed) {
				t.Errorf("after Close, Recv: %v; want ErrClosed", err)
			}
			if err := c.Send([]byte("{}")); !errors.Is(err, ErrClosed) {
				t.Errorf("after Close, Send: %v; want ErrClosed", err)
			}
		})
	}
}

func TestStartedWith(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tg := target(t, "env", "args", "dir", "a b\n\"c")
	tg.Args = append(tg.Args[:4:4], "exit=0", "a b\n\"c")
	tg.Dir = dir
	tg.Env = append(tg.Env, "EMPTY=", "X=a=b", "=odd")
	t.Setenv("MCP_TEST_OURS", "1")
	c := open(t, tg, patient())
	for _, tt := range []struct {
		method string
		want   any
	}{{"env", tg.Env}, {"args", append([]string{tg.Command}, tg.Args...)}, {"dir", dir}} {
		want, _ := json.Marshal(tt.want)
		if got := expect(t, c, tt.method); got != string(want) && runtime.GOOS != "windows" {
			t.Errorf("%s is %s; want %s", tt.method, got, want)
		}
	}
}

func TestEnvironmentIsNotOursWhenEmpty(t *testing.T) {
	tg := target(t, "env")
	tg.Env = nil
	c := open(t, tg, quick())
	if got := expect(t, c, "env"); got != "[]" && got != "null" && runtime.GOOS != "windows" {
		t.Errorf("environment is %s; want none", got)
	}
}

func TestEndedByItself(t *testing.T) {
	for _, tt := range []struct {
		name    string
		actions []string
		want    string
	}{
		{"tells the status", []string{"exit=7"}, "acme: run: exited with status 7"},
		{"tells a status of 0", nil, "acme: run: exited with status 0"},
		{"tells the last words", []string{"err=boom", "exit=7"}, "acme: run: exited with status 7; its last words: boom"},
		{"tells five lines", []string{"err=1", "err=2", "err=", "err=3", "err=4", "err=5", "err=6", "exit=7"},
			"acme: run: exited with status 7; its last words: 2 | 3 | 4 | 5 | 6"},
		{"tells the error that stands before them", []string{"err=loader:1210", "err=  throw err;", "err=  ^", "err=Error: Cannot find module x",
			"err=    at resolve (loader:1207:15)", "err=    at run:28:49 {", "err=  code: 1,", "err=  stack: []", "err=}", "err=a", "err=b", "err=Node.js v20", "exit=1"},
			"acme: run: exited with status 1; its last words: Error: Cannot find module x | stack: [] | a | b | Node.js v20"},
		{"hides secrets", []string{"err=token is hunter22 or aHVudGVyMjI=", "exit=7"},
			"acme: run: exited with status 7; its last words: token is [redacted] or [redacted]"},
		{"hides a secret that its death cut", []string{"cut=token is hunter", "exit=7"},
			"acme: run: exited with status 7; its last words: token is [redacted]"},
		{"shows what only resembles a secret", []string{"err=token is hunter", "exit=7"},
			"acme: run: exited with status 7; its last words: token is hunter"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tg := target(t, append([]string{"ready"}, tt.actions...)...)
			tg.Secrets = []string{"hunter22", "is"}
			c := open(t, tg, patient())
			expect(t, c, "ready")
			if err := expectEnd(t, c); err.Error() != tt.want {
				t.Errorf("Recv: %v\nwant: %s", err, tt.want)
			}
			if again := expectEnd(t, c); again.Error() != tt.want {
				t.Errorf("Recv once more: %v\nwant: %s", again, tt.want)
			}
			mustClose(t, c)
		})
	}
}

func TestClosedItsOutput(t *testing.T) {
	life := newLifeline(t)
	c := open(t, target(t, life.action("it"), "err=bye", "ready", "closeout", "hang"), quick())
	expect(t, c, "ready")
	if err, want := expectEnd(t, c), "acme: run: closed its output; its last words: bye"; err.Error() != want {
		t.Errorf("Recv: %v\nwant: %s", err, want)
	}
	life.await("it")
	life.gone(20*time.Second, "it")
	mustClose(t, c)
}

func TestClosedItsInput(t *testing.T) {
	life := newLifeline(t)
	c := open(t, target(t, life.action("it"), "closein", "ready", "hang"), quick())
	expect(t, c, "ready")
	if err := c.Send([]byte(`{"jsonrpc":"2.0","method":"x"}`)); err != nil {
		t.Errorf("first Send: %v", err)
	}
	if err, want := expectEnd(t, c), "acme: run: closed its input"; err.Error() != want {
		t.Errorf("Recv: %v\nwant: %s", err, want)
	}
	if err, want := c.Send([]byte(`{}`)), "acme: send: it takes no more input"; err == nil || err.Error() != want {
		t.Errorf("Send: %v; want %s", err, want)
	}
	life.await("it")
	life.gone(20*time.Second, "it")
}

func TestWrittenBeforeTheEnd(t *testing.T) {
	c := open(t, target(t, "eof", "ready", "frame=3000000", "ready"), patient())
	mustClose(t, c)
	for _, method := range []string{"ready", "big", "ready"} {
		expect(t, c, method)
	}
	if err := expectEnd(t, c); !errors.Is(err, ErrClosed) {
		t.Errorf("Recv: %v; want ErrClosed", err)
	}
}

func TestReceivedOneByOne(t *testing.T) {
	actions := slices.Repeat([]string{"frame=600000"}, 10)
	c := open(t, target(t, append(actions, "exit=7")...), patient())
	for range 10 {
		expect(t, c, "big")
	}
	if err, want := expectEnd(t, c), "acme: run: exited with status 7"; err.Error() != want {
		t.Errorf("Recv: %v; want %s", err, want)
	}
}

func TestQueuedBeforeClose(t *testing.T) {
	c := open(t, target(t, "echo"), patient())
	const frames = 40
	for range frames {
		if err := c.Send(frame(100_000)); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, c)
	for range frames {
		expect(t, c, "big")
	}
}

func TestNoise(t *testing.T) {
	var log bytes.Buffer
	tg := target(t, "say=a \x1b[31mred\x1b[0m hunter22 \xff"+strings.Repeat("x", 600), "err=hunter22 on stderr", "eof")
	tg.Secrets = []string{"hunter22"}
	tg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := open(t, tg, patient())
	mustClose(t, c)
	for _, want := range []string{
		`level=DEBUG msg="noise on stdout" err="not JSON" in=625 text="a red [redacted] �xxx`,
		`level=DEBUG msg=stderr text="[redacted] on stderr"`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("logged: %s\nwant in it: %s", log.String(), want)
		}
	}
	if strings.Contains(log.String(), strings.Repeat("x", maxNoise)) {
		t.Errorf("logged: %s\nwant less of the noise", log.String())
	}
}

func TestWarnsOfBadText(t *testing.T) {
	var log bytes.Buffer
	bad := "say={\"jsonrpc\":\"2.0\",\"method\":\"bad\",\"params\":\"\xff\"}"
	tg := target(t, bad, bad, "eof")
	tg.Log = slog.New(slog.NewTextHandler(&log, nil))
	c := open(t, tg, patient())
	for range 2 {
		if got := expect(t, c, "bad"); got != `"�"` {
			t.Errorf("params are %s; want U+FFFD", got)
		}
	}
	mustClose(t, c)
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("logged: %s\nwant one warning", log.String())
	}
}

func TestCloseByMany(t *testing.T) {
	life := newLifeline(t)
	c := open(t, target(t, life.action("it"), "ready", "hang"), quick())
	life.await("it")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			mustClose(t, c)
			if !c.gone() {
				t.Error("Close has returned before it was gone")
			}
		})
	}
	wg.Wait()
	life.gone(time.Second, "it")
	mustClose(t, c)
}

func TestNothingIsLeft(t *testing.T) {
	cycle := func(i int) {
		actions := [][]string{{"echo"}, {"ready", "exit=3"}, {"child", "echo", ";", "exit=0"}, {"closeout", "eof"}}[i%4]
		c, err := dial(t.Context(), target(t, actions...), quick())
		if err != nil {
			t.Fatal(err)
		}
		c.Send([]byte(`{"jsonrpc":"2.0","method":"x"}`))
		mustClose(t, c)
		for err == nil {
			_, err = c.Recv()
		}
	}
	for i := range 4 {
		cycle(i) // what the runtime keeps, such as its poller
	}
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	for i := range 50 {
		cycle(i)
	}
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > goroutines && time.Now().Before(end); {
		runtime.Gosched() // one that has said that it ends may not have ended
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines; %d before", n, goroutines)
	}
	if n := openFiles(t); n > files {
		t.Errorf("%d open files; %d before", n, files)
	}
}

// openFiles counts our open files, where the system shows them.
func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Log(err)
	}
	return len(files)
}

func BenchmarkRoundTrip(b *testing.B) {
	for _, size := range []int{100, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			c := open(b, target(b, "echo"), patient())
			f := frame(size)
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				if err := c.Send(f); err != nil {
					b.Fatal(err)
				}
				if _, err := c.Recv(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestUnreadableAnswer shows that an answer that is no message fails the request
// with its id, because somebody waits for it; and that a piece of one, of which
// the id may be cut, fails none.
func TestUnreadableAnswer(t *testing.T) {
	for _, said := range []string{`{"id":7,"result":{}}`, `[{"jsonrpc":"1.0","id":7,"result":{}}]`, `{"jsonrpc":"2.0","id":7,"result":NaN}`} {
		c := open(t, target(t, "say="+said, "eof"), patient())
		m, err := c.Recv()
		failure, failed := err.(*Failure)
		if !failed || failure.Key != "n7" || failure.Unprocessed {
			t.Errorf("%s is received as %s, %v", said, m.Raw, err)
		}
		c.Close()
	}
	for _, said := range []string{`{"jsonrpc":"2.0","result":{},"id":1`, `{"jsonrpc":"2.0","id":1,"para`} {
		c := open(t, target(t, "say="+said, "eof"), patient())
		mustClose(t, c)
		if m, err := c.Recv(); m.Raw != nil || errors.As(err, new(*Failure)) {
			t.Errorf("%s is received as %s, %v", said, m.Raw, err)
		}
	}
}
