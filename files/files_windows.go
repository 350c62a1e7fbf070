package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// openNoFollow opens or makes a file, unless path is a link. The folder is in the
// user's profile, where nobody else can exchange a file between the two steps.
func openNoFollow(path string, flag int) (*os.File, error) {
	info, err := os.Lstat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s %w", path, errNotFile)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return os.OpenFile(path, flag, 0o600)
}

// trusted is always nil: on Windows the user's profile is closed to others by
// its access list, and mode bits say nothing.
func trusted(fs.FileInfo) error { return nil }

// Private is always nil, for the same reason.
func Private(fs.FileInfo) error { return nil }

// A file that another process has open cannot be replaced. Readers of ours
// hold one for less than a millisecond.
const (
	renameTries = 20
	renamePause = 10 * time.Millisecond
)

func rename(from, to string) error {
	for try := 1; ; try++ {
		err := os.Rename(from, to)
		busy := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if !busy || try == renameTries {
			return err
		}
		time.Sleep(renamePause)
	}
}

// SyncDir does nothing: a folder cannot be synced on Windows.
func SyncDir(string) {}

// Linked reports whether a file has another name: one of its names that is given
// another file leaves the old one to the others.
func Linked(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	var info windows.ByHandleFileInformation
	err = windows.GetFileInformationByHandle(windows.Handle(file.Fd()), &info)
	return err == nil && info.NumberOfLinks > 1
}

// KeepOwner does nothing: a file belongs to who is logged in.
func KeepOwner(*os.File, fs.FileInfo) {}
