package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// openNoFollow opens path for reading, unless it is a link. The folders that
// we write to are in the user's profile, where nobody else can exchange a file
// between the two steps.
func openNoFollow(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s %w", path, errNotFile)
	}
	return os.Open(path)
}

// trusted is always nil: on Windows the user's profile is closed to others by
// its access list, and mode bits say nothing.
func trusted(fs.FileInfo) error { return nil }

// secret is always nil, for the same reason.
func secret(fs.FileInfo) error { return nil }

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

// syncDir does nothing: a folder cannot be synced on Windows.
func syncDir(string) {}
