//go:build !linux

package upstream

import "syscall"

// limitSilence is the Control of a net.Dialer. Elsewhere than on Linux the system's
// own patience rules with what is sent and not acknowledged.
func limitSilence(string, string, syscall.RawConn) error { return nil }
