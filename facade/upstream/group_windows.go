package upstream

import (
	"fmt"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A group is a process and all that it starts, held by a Job Object. left,
// terminate and kill may be called until reap.
type group struct {
	cmd *exec.Cmd
	pid int // the leader's
	job windows.Handle
}

// newGroup has cmd start suspended: it must not start anything before it is in
// the job. Its window, if it makes one, is not shown.
func newGroup(cmd *exec.Cmd) *group {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.HideWindow = true
	cmd.SysProcAttr.CreationFlags = windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED
	return &group{cmd: cmd}
}

func (g *group) start() error {
	job, err := newJob()
	if err != nil {
		return fmt.Errorf("make a job object: %w", err)
	}
	g.job = job
	if err := g.cmd.Start(); err != nil {
		windows.CloseHandle(job)
		return err
	}
	g.pid = g.cmd.Process.Pid
	if err := g.release(); err != nil {
		g.cmd.Process.Kill()
		g.cmd.Wait()
		windows.CloseHandle(job)
		return err
	}
	return nil
}

// newJob returns a job that kills what is in it when its last handle, which is
// ours, is closed.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// release puts the suspended process into the job and lets it run.
func (g *group) release() error {
	var err error
	held := g.cmd.Process.WithHandle(func(process uintptr) {
		err = windows.AssignProcessToJobObject(g.job, windows.Handle(process))
	})
	if held != nil {
		return held
	}
	if err != nil {
		return fmt.Errorf("put it into a job object: %w", err)
	}
	if err := resume(uint32(g.pid)); err != nil {
		return fmt.Errorf("resume it: %w", err)
	}
	return nil
}

// resume lets the threads of a process run; one that was started suspended has
// one, whose handle os/exec does not keep.
func resume(pid uint32) error {
	threads, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(threads)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(threads, &entry); err == nil; err = windows.Thread32Next(threads, &entry) {
		if entry.OwnerProcessID == pid {
			return resumeThread(entry.ThreadID)
		}
	}
	return err
}

func resumeThread(id uint32) error {
	thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, id)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(thread)
	_, err = windows.ResumeThread(thread)
	return err
}

// wait returns how the leader ended, once it has.
func (g *group) wait() error {
	err := g.cmd.Wait()
	if g.cmd.ProcessState == nil {
		return err
	}
	return fmt.Errorf("exited with status %d", g.cmd.ProcessState.ExitCode())
}

// terminate sends Ctrl-Break, which only those hear that share our console.
func (g *group) terminate() {
	windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.pid))
}

func (g *group) kill() { windows.TerminateJobObject(g.job, 1) }

// An accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	times     [4]int64
	faults    uint32
	processes uint32
	active    uint32
	ended     uint32
}

// basicAccounting is JobObjectBasicAccountingInformation.
const basicAccounting = 1

// left reports whether processes of the job live, after wait.
func (g *group) left() bool {
	var info accounting
	err := windows.QueryInformationJobObject(g.job, basicAccounting,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err == nil && info.active > 0
}

// reap closes the job, which kills what may be left in it.
func (g *group) reap() { windows.CloseHandle(g.job) }
