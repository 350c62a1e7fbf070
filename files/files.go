// Package files reads and writes files that hold what this program relies on: one
// that others could have written is not read, and one that is replaced is the
// old one or the new one, whole.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Why a file or folder is not trusted, as the end of a sentence about it.
var (
	errForeign  = errors.New("belongs to another user")
	errWritable = errors.New("is writable by others")
	errReadable = errors.New("is readable by others")
	errNotFile  = errors.New("is not a regular file")
	errNotDir   = errors.New("is not a folder")
)

// Open opens a file that only we can have written: regular, no symbolic
// link, ours, not writable by others. The error names the path.
func Open(path string) (*os.File, fs.FileInfo, error) {
	return OpenFile(path, os.O_RDONLY)
}

// OpenFile is Open with flags of [os.OpenFile]; a file that is made is for us alone.
func OpenFile(path string, flag int) (*os.File, fs.FileInfo, error) {
	f, err := openNoFollow(path, flag)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = checkFile(path, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func checkFile(path string, info fs.FileInfo) error {
	err := trusted(info)
	if !info.Mode().IsRegular() {
		err = errNotFile
	}
	if err != nil {
		return fmt.Errorf("%s %w", path, err)
	}
	return nil
}

// CheckDir is Open's check for the folder that files are in.
func CheckDir(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	err = trusted(info)
	if !info.IsDir() {
		err = errNotDir
	}
	if err != nil {
		return fmt.Errorf("%s %w", dir, err)
	}
	return nil
}

// MakeDir makes the folder, and those above it that are missing, for us alone.
func MakeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return CheckDir(dir)
}

// TempPrefix and TempSuffix enclose the names of files that are being written.
const (
	TempPrefix = ".new-"
	TempSuffix = ".tmp"
)

// WriteTemp writes a new file in dir, 0600 and synced, and returns its path.
// After an error nothing of it is left.
func WriteTemp(dir string, write func(io.Writer) error) (string, error) {
	f, err := os.CreateTemp(dir, TempPrefix+"*"+TempSuffix)
	if err != nil {
		return "", err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// Replace puts what write writes in the place of the file at path, at
// once: a reader sees the old file or the new one, whole. prepare, if not nil,
// is called with the path of the new file before it takes its place.
func Replace(path string, write func(io.Writer) error, prepare func(temp string)) error {
	dir := filepath.Dir(path)
	temp, err := WriteTemp(dir, write)
	if err != nil {
		return err
	}
	if prepare != nil {
		prepare(temp)
	}
	if err := rename(temp, path); err != nil {
		os.Remove(temp)
		return err
	}
	SyncDir(dir)
	return nil
}
