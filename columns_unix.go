//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns is how many characters a line of f may have: as many as its terminal
// shows, 100 where it is none.
func columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return 100
	}
	return int(size.Col)
}
