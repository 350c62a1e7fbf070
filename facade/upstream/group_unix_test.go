//go:build unix

package upstream

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestKilledBySignal(t *testing.T) {
	life := newLifeline(t)
	c := open(t, target(t, life.action("it"), "err=hm", "kill"), patient())
	if err, want := expectEnd(t, c), "acme: run: killed by SIGKILL; its last words: hm"; err.Error() != want {
		t.Errorf("Recv: %v\nwant: %s", err, want)
	}
}

func TestCloseTerminates(t *testing.T) {
	life := newLifeline(t)
	c := open(t, target(t, life.action("it"), "lastword", "ready", "hang"), steady())
	expect(t, c, "ready")
	life.await("it")
	began := time.Now()
	mustClose(t, c)
	if d := time.Since(began); d < steady().step {
		t.Errorf("Close took %v; want it to wait for %v first", d, steady().step)
	}
	life.gone(time.Second, "it")
	expect(t, c, "terminated") // what is written while Close waits is received
	if err := expectEnd(t, c); !errors.Is(err, ErrClosed) {
		t.Errorf("Recv: %v; want ErrClosed", err)
	}
}

func TestCloseKills(t *testing.T) {
	for _, tt := range []struct {
		name    string
		actions func(*lifeline) []string
		who     []string
	}{
		{"ends what ignores everything", func(l *lifeline) []string {
			return []string{"noterm", l.action("it"), "ready", "hang"}
		}, []string{"it"}},
		{"ends a child that holds the pipes", func(l *lifeline) []string {
			return []string{"child", l.action("child"), "ready", "hang", ";", "eof"}
		}, []string{"child"}},
		{"ends a child that ignores SIGTERM", func(l *lifeline) []string {
			return []string{"child", "noterm", l.action("child"), "ready", "hang", ";", "eof"}
		}, []string{"child"}},
		{"ends a family that ignores everything", func(l *lifeline) []string {
			return []string{"noterm", l.action("it"), "child", "noterm", l.action("child"), "ready", "hang", ";", "hang"}
		}, []string{"it", "child"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			life := newLifeline(t)
			c := open(t, target(t, tt.actions(life)...), quick())
			expect(t, c, "ready")
			life.await(tt.who...)
			mustClose(t, c)
			life.gone(time.Second, tt.who...)
			if err := expectEnd(t, c); !errors.Is(err, ErrClosed) {
				t.Errorf("Recv: %v; want ErrClosed", err)
			}
		})
	}
}

func TestLeaderLeavesChild(t *testing.T) {
	for _, tt := range []struct {
		name string
		how  []string
	}{
		{"ends a child", nil},
		{"ends a child that ignores SIGTERM", []string{"noterm"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			life := newLifeline(t)
			actions := append([]string{"child"}, tt.how...)
			actions = append(actions, life.action("child"), "ready", "hang", ";", "line", "exit=7")
			c := open(t, target(t, actions...), quick())
			expect(t, c, "ready")
			life.await("child")
			if err := c.Send([]byte(`{"jsonrpc":"2.0","method":"go"}`)); err != nil {
				t.Fatal(err)
			}
			if err, want := expectEnd(t, c), "acme: run: exited with status 7"; err.Error() != want {
				t.Errorf("Recv: %v; want %s", err, want)
			}
			life.gone(20*time.Second, "child")
			mustClose(t, c)
		})
	}
}

// A process that has left the group holds the pipes for as long as it wants;
// neither Recv nor Close waits for it.
func TestDeserterHoldsThePipes(t *testing.T) {
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip(err)
	}
	life := newLifeline(t)
	tg := target(t, life.action("deserter"), "hang")
	// The leader ends only when the deserter has left its group.
	tg.Args = append([]string{"-c", `"$0" --fork "$@"; read line; exit 0`, setsid, tg.Command}, tg.Args...)
	tg.Command = "/bin/sh"
	c := open(t, tg, quick())
	life.await("deserter")
	if err := c.Send([]byte(`{"jsonrpc":"2.0","method":"go"}`)); err != nil {
		t.Fatal(err)
	}
	if err, want := expectEnd(t, c), "acme: run: exited with status 0"; err.Error() != want {
		t.Errorf("Recv: %v; want %s", err, want)
	}
	mustClose(t, c)
	life.conns["deserter"].Close()
}

func TestCloseWithFullQueue(t *testing.T) {
	life := newLifeline(t)
	c := open(t, target(t, life.action("it"), "ready", "hang"), quick())
	expect(t, c, "ready")
	life.await("it")
	sent := make(chan error)
	go func() {
		for {
			if err := c.Send(frame(20 << 20)); err != nil {
				sent <- err
				return
			}
		}
	}()
	mustClose(t, c)
	life.gone(time.Second, "it")
	if err := <-sent; !errors.Is(err, ErrClosed) {
		t.Errorf("Send: %v; want ErrClosed", err)
	}
}

func TestCloseWithUnread(t *testing.T) {
	c := open(t, target(t, "frame=3000000", "frame=3000000", "frame=3000000", "eof"), patient())
	mustClose(t, c)
}

func TestHurry(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before bool
	}{{"shrinks the steps to come", true}, {"shrinks a step that has begun", false}} {
		t.Run(tt.name, func(t *testing.T) {
			hurry := make(chan struct{})
			life := newLifeline(t)
			tg := target(t, "noterm", life.action("it"), "ready", "eof", "ready", "hang")
			tg.Hurry = hurry
			p := patient()
			p.hurried = 50 * time.Millisecond
			c := open(t, tg, p)
			expect(t, c, "ready")
			life.await("it")
			began := time.Now()
			if tt.before {
				close(hurry)
			}
			go c.Close()
			expect(t, c, "ready") // it has seen the end of stdin: the first step has begun
			if !tt.before {
				close(hurry)
			}
			mustClose(t, c)
			life.gone(time.Second, "it")
			if d := time.Since(began); d > patient().step/2 {
				t.Errorf("Close took %v", d)
			}
		})
	}
}

func TestStartingThreadEnds(t *testing.T) {
	var c *stdio
	dialled := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocks: the thread ends with the goroutine
		var err error
		c, err = dial(t.Context(), target(t, "echo"), patient())
		dialled <- err
	}()
	if err := <-dialled; err != nil {
		t.Fatal(err)
	}
	if err := c.Send(frame(100)); err != nil {
		t.Fatal(err)
	}
	expect(t, c, "big")
	mustClose(t, c)
}

func TestKilledOutright(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a signal for that")
	}
	life := newLifeline(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	us := exec.Command(exe, "fake", life.action("us"), "dial", life.action("it"), "ready", "hang", ";", "kill")
	us.Env = fakeEnv()
	if err := us.Run(); err == nil || err.Error() != "signal: killed" {
		t.Fatalf("the one that dialled: %v; want it killed", err)
	}
	life.await("us", "it")
	life.gone(20*time.Second, "us", "it")
}

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"bin", "empty"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(exe, filepath.Join(dir, "bin", "prog")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"bin/script": "#!/no/such/interpreter\n", "bin/data": "x"} {
		mode := os.FileMode(0o700)
		if name == "bin/data" {
			mode = 0o600
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	path := "PATH=relative:" + filepath.Join(dir, "empty") + "::" + filepath.Join(dir, "bin")
	install := func(what string) string { return "install " + what + `, or correct "acme" in the servers file` }
	for _, tt := range []struct {
		name, command, dir string
		env                []string
		err, hint          string
	}{
		{"finds it in the PATH of its environment", "prog", "", []string{path}, "", ""},
		{"takes the last PATH", "prog", "", []string{"PATH=/nowhere", path}, "", ""},
		{"finds it by its full path", filepath.Join(dir, "bin", "prog"), "", nil, "", ""},
		{"finds it relative to the directory", "bin/prog", dir, nil, "", ""},
		{"finds it beside itself", "./prog", filepath.Join(dir, "bin"), nil, "", ""},
		{"does not look into our PATH", "sh", "", []string{"PATH=" + filepath.Join(dir, "empty")},
			`acme: start: exec: "sh": executable file not found in $PATH`, install("sh")},
		{"does not look into the current directory", "prog", filepath.Join(dir, "bin"), []string{"PATH=.:"},
			`acme: start: exec: "prog": executable file not found in $PATH`, install("prog")},
		{"misses a relative one", "./no", dir, nil,
			`acme: start: exec: "./no": no such file or directory`, install("./no")},
		{"wants it to be executable", "data", "", []string{path},
			`acme: start: exec: "data": permission denied`, `make data executable, or correct "acme" in the servers file`},
		{"misses the directory", "prog", filepath.Join(dir, "none"), []string{path},
			`acme: start: current directory "` + filepath.Join(dir, "none") + `": no such file or directory`,
			`make that directory, or correct "cwd" of "acme" in the servers file`},
		{"wants a directory", "prog", filepath.Join(dir, "bin", "data"), []string{path},
			`acme: start: current directory "` + filepath.Join(dir, "bin", "data") + `": not a directory`,
			`make that directory, or correct "cwd" of "acme" in the servers file`},
		{"misses the interpreter", "script", "", []string{path},
			`acme: start: exec: "script": no such file or directory`, "install the interpreter that the first line of script names"},
		{"hides secrets", "hunter22", "", []string{path},
			`acme: start: exec: "[redacted]": executable file not found in $PATH`, install("[redacted]")},
		{"wants a name", "", "", []string{path},
			`acme: start: exec: "": executable file not found in $PATH`, `give "acme" a "command" in the servers file`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tg := target(t, "ready", "eof")
			tg.Command, tg.Dir, tg.Env, tg.Secrets = tt.command, tt.dir, append(tt.env, fakeEnv()...), []string{"hunter22"}
			c, err := Dial(t.Context(), tg)
			if tt.err == "" {
				if err != nil {
					t.Fatal(err)
				}
				expect(t, c, "ready")
				mustClose(t, c)
				return
			}
			ue := new(Error)
			if !errors.As(err, &ue) || ue.Error() != tt.err || ue.Hint != tt.hint {
				t.Fatalf("Dial: %v, hint %q\nwant: %s, hint %q", err, ue.Hint, tt.err, tt.hint)
			}
			if c != nil {
				t.Error("a Conn beside an error")
			}
			if strings.Contains(tt.err, "not found") && !errors.Is(err, exec.ErrNotFound) {
				t.Error("the error does not wrap exec.ErrNotFound")
			}
		})
	}
}

func TestStoppedHearsTheEnd(t *testing.T) {
	life := newLifeline(t)
	c := open(t, target(t, life.action("it"), "lastword", "ready", "hang"), steady())
	expect(t, c, "ready")
	life.await("it")
	if err := syscall.Kill(c.group.pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	mustClose(t, c)
	expect(t, c, "terminated")
}
