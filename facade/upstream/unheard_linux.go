package upstream

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// limitSilence is the Control of a net.Dialer: what a connection sends and nobody
// acknowledges ends it after aliveIdle and aliveCount times aliveEvery, as
// silence does. Left alone, Linux tries for a quarter of an hour.
func limitSilence(_, _ string, c syscall.RawConn) error {
	const limit = aliveIdle + aliveCount*aliveEvery
	return c.Control(func(fd uintptr) {
		unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(limit/time.Millisecond)) // without it, later
	})
}
