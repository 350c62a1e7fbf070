//go:build unix

package wire

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// immediate returns a function that writes to w what that takes without
// waiting, or nil if w cannot tell: only files in non-blocking mode can.
func immediate(w io.Writer) func(p []byte) int {
	file, ok := w.(syscall.Conn)
	if !ok {
		return nil
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return nil
	}
	mode := 0
	conn.Control(func(fd uintptr) { mode, _ = unix.FcntlInt(fd, unix.F_GETFL, 0) })
	if mode&unix.O_NONBLOCK == 0 {
		return nil
	}
	return func(p []byte) (n int) {
		conn.Write(func(fd uintptr) bool {
			n, _ = unix.Write(int(fd), p)
			return true
		})
		return max(n, 0)
	}
}
