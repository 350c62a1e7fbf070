package upstream

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dieWithUs has the kernel tell the leader when the thread that starts it ends.
// Why not SIGKILL: see the package comment.
func dieWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }

// wait returns how the leader ended, once it has. It stays a zombie until reap,
// so that its pid, by which the group is signalled, cannot become another's.
func (g *group) wait() error {
	var info childInfo
	for {
		err := unix.Waitid(unix.P_PID, g.pid, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT, nil)
		switch err {
		case nil:
			return ended(info.waitStatus())
		case unix.EINTR:
		default:
			return os.NewSyscallError("waitid", err)
		}
	}
}

// A childInfo is the kernel's siginfo_t as waitid fills it in: the part about
// the child is aligned to a pointer. <asm-generic/siginfo.h>.
type childInfo struct {
	signo, errno, code int32
	child              struct {
		_      [0]uintptr
		pid    int32
		uid    uint32
		status int32
		_      [100]byte
	}
}

// Values of childInfo.code. <asm-generic/siginfo.h>.
const (
	childExited = 1
	childDumped = 3
)

func (i *childInfo) waitStatus() syscall.WaitStatus {
	switch i.code {
	case childExited:
		return syscall.WaitStatus(i.child.status << 8)
	case childDumped:
		return syscall.WaitStatus(i.child.status | 0x80)
	}
	return syscall.WaitStatus(i.child.status)
}

// left reports whether the group has members that live, after wait. Zombies do
// not count: in a container whose first process does not reap, they stay. Where
// /proc cannot be read nothing is found, and reap kills what there is.
func (g *group) left() bool {
	proc, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		if name[0] >= '1' && name[0] <= '9' && g.has(name) {
			return true
		}
	}
	return false
}

// has reports whether the process with that pid lives and is of the group.
// proc_pid_stat(5): "pid (comm) state ppid pgrp …"; comm may hold anything.
func (g *group) has(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(f) > 2 && f[0][0] != 'Z' && f[0][0] != 'X' && string(f[2]) == strconv.Itoa(g.pid)
}

// reap frees the leader's pid. What was born while left looked goes first.
func (g *group) reap() {
	g.kill()
	g.cmd.Wait() // how it ended is known
}
