package catalog

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

// openOwn opens a file that only we can have written: regular, no symbolic
// link, ours, not writable by others. The error names the path.
func openOwn(path string) (*os.File, fs.FileInfo, error) {
	f, err := openNoFollow(path)
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

// checkDir is checkFile for the folder that files are in.
func checkDir(dir string) error {
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

// makeDir makes the folder, and those above it that are missing, for us alone.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return checkDir(dir)
}

// tempPrefix and tempSuffix enclose the names of files that are being written.
const (
	tempPrefix = ".new-"
	tempSuffix = ".tmp"
)

// writeTemp writes a new file in dir, 0600 and synced, and returns its path.
// After an error nothing of it is left.
func writeTemp(dir string, write func(io.Writer) error) (string, error) {
	f, err := os.CreateTemp(dir, tempPrefix+"*"+tempSuffix)
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

// replaceFile puts what write writes in the place of the file at path, at
// once: a reader sees the old file or the new one, whole. prepare, if not nil,
// is called with the path of the new file before it takes its place.
func replaceFile(path string, write func(io.Writer) error, prepare func(temp string)) error {
	dir := filepath.Dir(path)
	temp, err := writeTemp(dir, write)
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
	syncDir(dir)
	return nil
}
