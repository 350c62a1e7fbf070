//go:build !unix

package wire

import "io"

// immediate is for files in non-blocking mode, which only Unix has.
func immediate(io.Writer) func(p []byte) int { return nil }
