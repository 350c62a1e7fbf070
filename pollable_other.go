//go:build !unix

package main

import "os"

// pollable is for Unix, where files can be in non-blocking mode.
func pollable(f *os.File) (file *os.File, ok bool) { return f, false }
