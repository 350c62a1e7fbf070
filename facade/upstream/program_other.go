//go:build !windows

package upstream

import "os/exec"

// find returns the file that an absolute path means in a program's environment.
func find(path string, _ []string) (string, error) { return exec.LookPath(path) }

// adapt does nothing: arguments are passed as they are.
func adapt(*exec.Cmd) error { return nil }
