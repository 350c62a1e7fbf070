//go:build unix

package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openNoFollow opens or makes a file, unless path is a symbolic link. It does
// not wait for the other end of a named pipe.
func openNoFollow(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s %w", path, errNotFile)
	}
	return f, err
}

// trusted says why a file or folder could hold what another user wrote.
func trusted(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || int(stat.Uid) != os.Geteuid():
		return errForeign
	case info.Mode().Perm()&0o022 != 0:
		return errWritable
	}
	return nil
}
