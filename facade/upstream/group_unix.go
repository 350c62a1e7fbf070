//go:build unix

package upstream

import (
	"fmt"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// A group is a process and all that it starts, as far as that stays in its
// process group. left, terminate and kill may be called until reap.
type group struct {
	cmd *exec.Cmd
	pid int // the leader's, and so the group's
}

func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithUs(cmd.SysProcAttr)
	return &group{cmd: cmd}
}

func (g *group) start() error {
	if err := g.cmd.Start(); err != nil {
		return err
	}
	g.pid = g.cmd.Process.Pid
	return nil
}

// terminate asks all processes of the group to end. One that is stopped must
// go on to hear it.
func (g *group) terminate() {
	g.signal(syscall.SIGTERM)
	g.signal(syscall.SIGCONT)
}

func (g *group) kill() { g.signal(syscall.SIGKILL) }

// signal ignores the error: a group that is gone is what it is for.
func (g *group) signal(s syscall.Signal) { syscall.Kill(-g.pid, s) }

// ended words how a process ended.
func ended(status syscall.WaitStatus) error {
	if !status.Signaled() {
		return fmt.Errorf("exited with status %d", status.ExitStatus())
	}
	name := unix.SignalName(status.Signal())
	if name == "" {
		name = fmt.Sprintf("signal %d", int(status.Signal()))
	}
	return fmt.Errorf("killed by %s", name)
}
