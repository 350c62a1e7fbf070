package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxFile bounds a servers file, in bytes; a host's own file can be large.
const maxFile = 4 << 20

// Load reads the servers file at path. It refuses a file that others may have
// written, because the file chooses which programs run; on Windows, where the
// mode says nothing of the kind, that is not checked. The error, an *Error,
// wraps fs.ErrNotExist when there is no such file.
func Load(path string) (*File, error) {
	data, warnings, err := load(path)
	if err != nil {
		return nil, loadError(path, err)
	}
	f, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	f.Warnings = append(f.Warnings, warnings...)
	return f, nil
}

// loadError words why a file could not be read.
func loadError(path string, err error) error {
	e := &Error{Path: path, Err: err}
	if pe := new(fs.PathError); errors.As(err, &pe) {
		e.Err = fmt.Errorf("%s: %w", pe.Op, pe.Err) // the path is in front already
	}
	if errors.Is(err, fs.ErrNotExist) {
		e.Hint = "mcp-facade init, which writes an example"
	}
	return e
}

// load reads the bytes. What the file is is asked before it is opened, because
// opening a pipe waits; whose it is, of the open file.
func load(path string) (data []byte, warnings []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if err := regular(info); err != nil {
		return nil, nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	if warnings, err = trusted(path, info); err != nil {
		return nil, nil, err
	}
	data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("is larger than %d MiB", maxFile>>20)
	}
	return data, warnings, err
}

// regular refuses what is not a file of bytes.
func regular(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errors.New("is a directory, want a file")
	default:
		return errors.New("is a pipe, a device or a socket, want a file")
	}
}
