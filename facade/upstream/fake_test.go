package upstream

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "fake" {
		os.Exit(fake(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// fake is an upstream that does one action after the other:
//
//	lifeline=ADDR,NAME   connect there, say the name, and hold the connection
//	ready, say=TEXT      write a notification, or a line, to stdout
//	err=TEXT, cut=TEXT   write a line to stderr, with and without its end
//	frame=N              write a notification of N bytes
//	env, args, dir       write a notification with what it was started with
//	echo, eof, line      copy stdin to stdout; read it to its end; read a line
//	closeout, closein    close stdout, stdin
//	noterm, lastword     ignore SIGTERM; on SIGTERM write a notification and exit
//	child ACTIONS ;      start another fake that holds the same files
//	dial ACTIONS ;       start another fake as an upstream of its own
//	hang                 wait for the other end of the lifeline to close
//	kill, exit=N         end
func fake(actions []string) int {
	f := &faker{in: bufio.NewReader(os.Stdin)}
	for len(actions) > 0 {
		action, arg, _ := strings.Cut(actions[0], "=")
		actions = actions[1:]
		switch action {
		case "child", "dial":
			inner := strings.Join(actions, "\x00")
			inner, rest, _ := strings.Cut(inner, "\x00;")
			actions = strings.FieldsFunc(rest, func(r rune) bool { return r == 0 })
			f.nest(action, strings.Split(inner, "\x00"))
		case "exit":
			status, _ := strconv.Atoi(arg)
			return status
		default:
			f.do(action, arg)
		}
	}
	return 0
}

type faker struct {
	in   *bufio.Reader
	life net.Conn
	conn Conn
}

func (f *faker) do(action, arg string) {
	switch action {
	case "lifeline":
		addr, name, _ := strings.Cut(arg, ",")
		f.life, _ = net.Dial("tcp", addr)
		fmt.Fprintln(f.life, name)
	case "ready":
		notify("ready", "null")
	case "say":
		fmt.Println(arg)
	case "err":
		fmt.Fprintln(os.Stderr, arg)
	case "cut":
		fmt.Fprint(os.Stderr, arg)
	case "frame":
		size, _ := strconv.Atoi(arg)
		os.Stdout.Write(append(frame(size), '\n'))
	case "env":
		notifyJSON("env", os.Environ())
	case "args":
		notifyJSON("args", os.Args)
	case "dir":
		dir, _ := os.Getwd()
		notifyJSON("dir", dir)
	case "echo":
		io.Copy(os.Stdout, f.in)
	case "eof":
		io.Copy(io.Discard, f.in)
	case "line":
		f.in.ReadString('\n')
	case "closeout":
		os.Stdout.Close()
	case "closein":
		os.Stdin.Close()
	case "noterm":
		signal.Ignore(syscall.SIGTERM)
	case "lastword":
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		go func() { <-term; notify("terminated", "null"); os.Exit(0) }()
	case "hang":
		io.Copy(io.Discard, f.life)
	case "kill":
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
		f.do("hang", "")
	default:
		panic("no such action: " + action)
	}
}

// nest starts another fake and, as an upstream, waits for its first message.
func (f *faker) nest(how string, actions []string) {
	exe, _ := os.Executable()
	if how == "dial" {
		f.conn, _ = Dial(context.Background(), Target{Server: "inner", Command: exe, Args: append([]string{"fake"}, actions...), Env: fakeEnv()})
		f.conn.Recv()
		return
	}
	cmd := exec.Command(exe, append([]string{"fake"}, actions...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

func notify(method, params string) {
	fmt.Printf(`{"jsonrpc":"2.0","method":%q,"params":%s}`+"\n", method, params)
}

func notifyJSON(method string, params any) {
	b, _ := json.Marshal(params)
	notify(method, string(b))
}

// frame returns a notification of that many bytes.
func frame(size int) []byte {
	head, foot := `{"jsonrpc":"2.0","method":"big","params":"`, `"}`
	return []byte(head + strings.Repeat("x", size-len(head)-len(foot)) + foot)
}

// fakeEnv is what a fake needs: the race detector would let it wait for a
// second before it exits.
func fakeEnv() []string {
	return []string{"GORACE=atexit_sleep_ms=0", "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
}

// quick is a pace for tests of what happens after a step.
func quick() pace {
	return pace{step: 300 * time.Millisecond, hurried: 50 * time.Millisecond, drain: 300 * time.Millisecond, last: 10 * time.Second}
}

// steady is a pace for tests of what is done within a step.
func steady() pace {
	p := quick()
	p.step = time.Second
	return p
}

// patient is a pace for tests in which no step may end.
func patient() pace {
	return pace{step: time.Minute, hurried: time.Minute, drain: time.Minute, last: time.Minute}
}

func target(t testing.TB, actions ...string) Target {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Target{Server: "acme", Command: exe, Args: append([]string{"fake"}, actions...), Env: fakeEnv()}
}

// open dials and closes at the end of the test.
func open(t testing.TB, tg Target, p pace) *stdio {
	t.Helper()
	c, err := dial(t.Context(), tg, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// expect receives one message, which must be a call of method.
func expect(t testing.TB, c Conn, method string) (params string) {
	t.Helper()
	m, err := c.Recv()
	if err != nil || m.Method != method {
		t.Fatalf("Recv = %.200q, %v; want a %q", m.Raw, err, method)
	}
	return m.Params.Raw
}

// expectEnd receives the end.
func expectEnd(t testing.TB, c Conn) *Error {
	t.Helper()
	m, err := c.Recv()
	ue := new(Error)
	if !errors.As(err, &ue) {
		t.Fatalf("Recv = %.200q, %v; want an *Error", m.Raw, err)
	}
	return ue
}

func mustClose(t testing.TB, c Conn) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// A lifeline is what fakes connect to, so that their end can be seen.
type lifeline struct {
	t     *testing.T
	l     net.Listener
	conns map[string]net.Conn
}

func newLifeline(t *testing.T) *lifeline {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	life := &lifeline{t: t, l: l, conns: map[string]net.Conn{}}
	t.Cleanup(func() {
		l.Close()
		for _, c := range life.conns {
			c.Close()
		}
	})
	return life
}

// action is the fake's action to connect under that name.
func (l *lifeline) action(name string) string { return "lifeline=" + l.l.Addr().String() + "," + name }

// await waits until the named fakes have connected.
func (l *lifeline) await(names ...string) {
	l.t.Helper()
	for _, name := range names {
		for l.conns[name] == nil {
			l.l.(*net.TCPListener).SetDeadline(time.Now().Add(20 * time.Second))
			c, err := l.l.Accept()
			if err != nil {
				l.t.Fatalf("%s has not connected: %v", name, err)
			}
			got, _ := bufio.NewReader(c).ReadString('\n')
			l.conns[strings.TrimSpace(got)] = c
		}
	}
}

// gone fails the test unless the named fakes end within d.
func (l *lifeline) gone(d time.Duration, names ...string) {
	l.t.Helper()
	for _, name := range names {
		l.conns[name].SetReadDeadline(time.Now().Add(d))
		_, err := l.conns[name].Read(make([]byte, 1))
		if ne := net.Error(nil); errors.As(err, &ne) && ne.Timeout() {
			l.t.Errorf("%s is still there", name)
		}
	}
}
