package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-facade/files"
)

// Write replaces the file, after a copy of it as it was read has been put beside
// it, whose path is returned. A file that is to be as it was read is left alone,
// and backup is "". It is refused when the file is not as it was read. The error
// is an *Error; after an error the file is as it was, and there may be a backup.
func (f *File) Write(now time.Time) (backup string, err error) {
	if bytes.Equal(f.read, f.data) {
		return "", nil
	}
	path, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		return "", f.wrong(err)
	}
	if servers, err := f.dialect.find(f.data); err != nil || !slices.EqualFunc(servers, f.servers, found.is) {
		return "", f.wrong(errForm)
	}
	backup, err = f.write(path, now)
	if err != nil {
		return backup, f.unwritten(err)
	}
	f.read = f.data
	return backup, nil
}

// is reports whether two servers stand in one place and say the same.
func (s found) is(other found) bool {
	return slices.Equal(s.path, other.path) && slices.Equal(s.text, other.text) && s.node.says(other.node)
}

// write does it at the real path.
func (f *File) write(path string, now time.Time) (backup string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if err := f.unchanged(path); err != nil {
		return "", err
	}
	if backup, err = f.backUp(path, info, now); err != nil {
		return "", err
	}
	temporary, err := f.prepare(path, "file", f.data, info)
	if err != nil {
		return backup, err
	}
	defer os.Remove(temporary) // gone already, if it has become the file
	if err := f.step("replace"); err != nil {
		return backup, err
	}
	if err := f.unchanged(path); err != nil {
		return backup, err
	}
	if err := os.Rename(temporary, path); err != nil {
		return backup, err
	}
	files.SyncDir(filepath.Dir(path))
	return backup, f.step("done")
}

// step is where a test fails.
func (f *File) step(name string) error {
	if f.interrupt == nil {
		return nil
	}
	return f.interrupt(name)
}

// unchanged fails if the file is not as it was read.
func (f *File) unchanged(path string) error {
	is, err := readFile(path)
	if err == nil && !bytes.Equal(is, f.bytes(f.read)) {
		err = errChanged
	}
	return err
}

func (f *File) bytes(data []byte) []byte { return append(bytes.Clone(f.mark), data...) }

// A backup's name is that of the file with the time between these.
const (
	backupMark = ".mcp-facade-"
	backupTime = "20060102-150405"
	backupEnd  = ".bak"
)

// stampOf is the time in the name of a backup of file; zero: it is none.
func stampOf(name, file string) time.Time {
	stamp, ok := strings.CutPrefix(name, file+backupMark)
	stamp, ended := strings.CutSuffix(stamp, backupEnd)
	at, err := time.Parse(backupTime, stamp)
	if !ok || !ended || err != nil {
		return time.Time{}
	}
	return at
}

// backUp writes the file as it was read beside it, and never over another. Names
// sort by age: of two in one second, or after the clock was put back, the later one
// has the second after the earlier one's in its name.
func (f *File) backUp(path string, info fs.FileInfo, now time.Time) (string, error) {
	if err := f.step("back up"); err != nil {
		return "", err
	}
	if old := f.backups(); len(old) > 0 {
		if last := stampOf(filepath.Base(old[0]), filepath.Base(path)).Add(time.Second); last.After(now) {
			now = last
		}
	}
	name := path + backupMark + now.UTC().Format(backupTime) + backupEnd
	if _, err := os.Lstat(name); err == nil {
		return "", fmt.Errorf("%s is there already", filepath.Base(name))
	}
	temporary, err := f.prepare(path, "backup", f.read, info)
	if err != nil {
		return "", err
	}
	return name, os.Rename(temporary, name)
}

// prepare writes data into a temporary file beside the file, so that nothing that
// has a name is ever there in part.
func (f *File) prepare(path, what string, data []byte, info fs.FileInfo) (string, error) {
	name := fmt.Sprintf("%s%s%d.tmp", path, backupMark, os.Getpid())
	os.Remove(name) // left by one with this number that was killed
	return name, writeNew(name, f.bytes(data), info, func() error { return f.step("write " + what) })
}

// writeNew writes a file that is not there yet, with the mode and, where that is
// allowed, the owner of another. It is on the disk, or there is none.
func writeNew(name string, data []byte, like fs.FileInfo, step func() error) (err error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
		if err != nil {
			os.Remove(name)
		}
	}()
	if err := step(); err != nil {
		return err
	}
	if _, err := file.Write(data); err != nil {
		return err
	}
	files.KeepOwner(file, like)
	if err := file.Chmod(like.Mode().Perm()); err != nil {
		return err
	}
	return file.Sync()
}

// unwritten words why the file could not be replaced.
func (f *File) unwritten(err error) error {
	e := &Error{Path: f.Path, Err: fmt.Errorf("write: %w", err)}
	if errors.Is(err, errChanged) {
		e.Err, e.Hint = err, "run the command again"
	}
	if path := new(fs.PathError); errors.As(err, &path) {
		e.Err = fmt.Errorf("write: %s %s: %w", path.Op, filepath.Base(path.Path), path.Err)
	}
	if link := new(os.LinkError); errors.As(err, &link) {
		e.Err = fmt.Errorf("write: %s: %w", link.Op, link.Err)
	}
	if errors.Is(err, fs.ErrPermission) {
		e.Hint = "make the folder of the file writable: a backup and the new file are written there"
	}
	return e
}
