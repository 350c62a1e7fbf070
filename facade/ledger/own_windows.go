package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
