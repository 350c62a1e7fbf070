//go:build unix

package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openNoFollow opens path for reading, unless it is a symbolic link. It does
// not wait for the writer of a named pipe.
func openNoFollow(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
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

// secret says why others could know what is in a file.
func secret(info fs.FileInfo) error {
	if info.Mode().Perm()&0o077 != 0 {
		return errReadable
	}
	return nil
}

func rename(from, to string) error { return os.Rename(from, to) }

// syncDir makes a new name in dir outlive a loss of power, where the file
// system can do that. Without it the old file may come back, which is whole as
// well.
func syncDir(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	_ = f.Sync()
}
