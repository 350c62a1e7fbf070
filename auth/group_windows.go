package auth

import (
	"os/exec"
	"strconv"
)

// asGroup lets the program end with all that it has started when its time is
// over.
func asGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error { killGroup(cmd); return cmd.Process.Kill() }
}

func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	}
}
