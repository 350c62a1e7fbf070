package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// columns is how many characters a line of f may have: as many as its terminal
// shows, 100 where it is none.
func columns(f *os.File) int {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info); err != nil {
		return 100
	}
	return int(info.Window.Right-info.Window.Left) + 1
}
