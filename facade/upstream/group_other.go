//go:build unix && !linux

package upstream

import "syscall"

// dieWithUs does nothing: only Linux has a signal for that.
func dieWithUs(*syscall.SysProcAttr) {}

// wait returns how the leader ended, once it has, and frees its pid. The
// number is not given away while a member of the group lives, and the group is
// signalled only while one does.
func (g *group) wait() error {
	err := g.cmd.Wait()
	if g.cmd.ProcessState == nil {
		return err
	}
	return ended(g.cmd.ProcessState.Sys().(syscall.WaitStatus))
}

// left reports whether the group has members that live, after wait. Of one that
// has only zombies the kernel says EPERM.
func (g *group) left() bool { return syscall.Kill(-g.pid, 0) == nil }

// reap does nothing: wait has.
func (g *group) reap() {}
