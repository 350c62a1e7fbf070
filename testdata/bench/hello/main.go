// Command hello is what a Go program costs at least: it writes two lines and
// waits for the end of its input.
package main

import (
	"io"
	"os"
)

func main() {
	os.Stdout.WriteString("hello\nworld\n")
	io.Copy(io.Discard, os.Stdin)
}
