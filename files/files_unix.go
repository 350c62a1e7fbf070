//go:build unix

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openNoFollow opens or makes a file, unless path is a symbolic link. It does not
// wait for the other end of a named pipe.
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

// Private says why others could know what is in a file.
func Private(info fs.FileInfo) error {
	if info.Mode().Perm()&0o077 != 0 {
		return errReadable
	}
	return nil
}

func rename(from, to string) error { return os.Rename(from, to) }

// SyncDir makes a new name in dir outlive a loss of power, where the file
// system can do that. Without it the old file may come back, which is whole as
// well.
func SyncDir(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	_ = f.Sync()
}

// Linked reports whether a file has another name: one of its names that is given
// another file leaves the old one to the others.
func Linked(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && stat.Nlink > 1
}

// KeepOwner gives a file the owner of another, which only root can always do.
func KeepOwner(file *os.File, like fs.FileInfo) {
	if owner, ok := like.Sys().(*syscall.Stat_t); ok {
		_ = file.Chown(int(owner.Uid), int(owner.Gid))
	}
}
