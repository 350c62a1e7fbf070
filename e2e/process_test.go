package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestNothingIsLeftBehind ends the facade in every way that a host ends it, with
// a server started in every way that people start one, and counts what still runs.
func TestNothingIsLeftBehind(t *testing.T) {
	linuxOnly(t)
	for _, way := range starts(t) {
		for _, end := range []struct {
			name string
			end  func(*testing.T, *process)
		}{
			{"stdin closed", func(t *testing.T, p *process) { p.in.Close() }},
			{"SIGTERM", func(t *testing.T, p *process) { signal(t, p, syscall.SIGTERM) }},
			{"SIGKILL", func(t *testing.T, p *process) { signal(t, p, syscall.SIGKILL) }},
		} {
			if way.stubborn && end.name == "SIGKILL" {
				continue // a grandchild that outlives its stdin is out of reach of a facade that is killed
			}
			t.Run(way.name+" "+end.name, func(t *testing.T) {
				m := startMarked(t, way)
				end.end(t, m.process)
				m.leavesNothing(t, end.name)
			})
		}
	}
}

// A startWay is one way to start server-everything.
type startWay struct {
	name     string
	upstream upstream
	// stubborn: the server goes on when its stdin is closed, and is not our direct child.
	stubborn bool
	first    string // called before the end, through "call"; "": nothing
}

func starts(t *testing.T) []startWay {
	t.Helper()
	node := everything(t)
	// The shell stays, as its command is not the last one.
	shell := upstream{Command: "sh", Args: []string{"-c", `node "$0"; exit $?`, node.Args[0]}}
	ways := []startWay{
		{name: "node", upstream: node},
		{name: "sh", upstream: shell},
		{name: "busy node", upstream: node, first: "toggle-simulated-logging"},
		{name: "busy sh", upstream: shell, first: "toggle-simulated-logging", stubborn: true},
	}
	if npx, err := exec.LookPath("npx"); err == nil {
		dir := filepath.Dir(module(t))
		ways = append(ways, startWay{name: "npx", upstream: upstream{Command: npx, Args: []string{"--no-install", "mcp-server-everything"}, Cwd: dir}})
	}
	return ways
}

// A markedProcess is a facade whose descendants can be told by a variable in
// their environment.
type markedProcess struct {
	*process
	mark string
}

// startMarked starts a facade, and by a call the server behind it.
func startMarked(t *testing.T, way startWay) markedProcess {
	t.Helper()
	w := newWorld(t)
	c := w.serve(t, way.upstream, "echo")
	m := markedProcess{mark: mark(t, &c)}
	m.process = start(t, c)
	shake(m.process)
	m.exchange(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"message":"x"}}}`)
	if way.first != "" {
		m.exchange(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"call","arguments":{"tool":%q,"args":{}}}}`, way.first))
	}
	if n := len(marked(t, m.mark)); n < 2 {
		t.Fatalf("%d processes run, want the facade and its server", n)
	}
	return m
}

// shake opens in the legacy era and lists the tools.
func shake(p *process) []string {
	p.t.Helper()
	for _, step := range opening(`{}`) {
		p.send(step.frame)
		if step.until != nil {
			p.until(step)
		}
	}
	return shown(p.exchange(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).Get("result").Raw)
}

// leavesNothing waits for the facade, and then for what it has started. After
// a SIGKILL only the kernel and the closed pipes end the others, in their own time;
// otherwise they are gone when the facade is.
func (m markedProcess) leavesNothing(t *testing.T, end string) {
	t.Helper()
	<-m.gone
	if end == "SIGKILL" {
		eventually(t, "end of all processes", func() bool { return len(marked(t, m.mark)) == 0 })
	}
	if left := marked(t, m.mark); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func signal(t *testing.T, p *process, s syscall.Signal) {
	t.Helper()
	process, err := os.FindProcess(p.pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// mark adds a variable to c's environment that no other test's processes have,
// kills at the end what still has it, and returns it.
func mark(t *testing.T, c *command) string {
	t.Helper()
	mark := "E2E_MARK=" + t.TempDir()
	c.env = append(c.env, mark)
	t.Cleanup(func() {
		for pid := range marked(t, mark) {
			if process, err := os.FindProcess(pid); err == nil {
				process.Kill()
			}
		}
	})
	return mark
}

// marked are the command lines of the processes with the variable mark, by pid.
func marked(t *testing.T, mark string) map[int]string {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]string{}
	for _, path := range procs {
		env, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(env, []byte(mark+"\x00")) {
			continue // ended in between, or a zombie, whose environment is empty
		}
		var pid int
		fmt.Sscanf(path, "/proc/%d/", &pid)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		found[pid] = string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
	}
	return found
}
