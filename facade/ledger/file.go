package ledger

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mcp-facade/files"

	"github.com/gofrs/flock"
)

// maxSize is from how many bytes on a file becomes the older one, and the one
// before that is gone. A call takes some 170 bytes: the two files hold the last
// 25,000 to 50,000 calls of a server in 8 MiB.
const maxSize = 4 << 20

// lockWait is how long other processes are waited for that have the files, each
// for less than a millisecond when it writes; lockPause is how often it is tried.
const (
	lockWait  = 10 * time.Second
	lockPause = 5 * time.Millisecond
)

var errBusy = errors.New("another process has it")

// older is the file before that at path.
func older(path string) string { return path + ".1" }

// lock takes the lock of the files, for itself or with others who only read. It
// gives up when stop is closed. Nobody but us can put a file into the folder.
func lock(path string, stop <-chan struct{}, shared bool) (unlock func(), err error) {
	l := flock.New(path+".lock", flock.SetPermissions(0o600))
	try := l.TryLock
	if shared {
		try = l.TryRLock
	}
	pause := time.NewTicker(lockPause)
	defer pause.Stop()
	for limit := time.After(lockWait); ; {
		locked, err := try()
		if locked {
			return func() { l.Close() }, nil
		}
		select {
		case <-pause.C:
		case <-stop:
			err = cmp.Or(err, errBusy)
		case <-limit:
			err = cmp.Or(err, errBusy)
		}
		if err != nil {
			l.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
}

// appendTo appends whole lines to the file at path, which is made for us alone.
func appendTo(path string, lines []byte, stop <-chan struct{}) error {
	if err := files.MakeDir(filepath.Dir(path)); err != nil {
		return err
	}
	unlock, err := lock(path, stop, false)
	if err != nil {
		return err
	}
	defer unlock()
	f, size, err := open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	if size > 0 && size+int64(len(lines)) > maxSize {
		if err := errors.Join(f.Close(), os.Rename(path, older(path))); err != nil {
			return err
		}
		if f, size, err = open(path, os.O_RDWR|os.O_CREATE); err != nil {
			return err
		}
	}
	return errors.Join(put(f, size, lines), f.Close())
}

// A file is what put needs of one.
type file interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
}

// put writes lines after the size bytes of a file. The end of a process may have
// left the last line there without its end: it gets one. What could not be
// written whole is taken back.
func put(f file, size int64, lines []byte) error {
	if last := []byte{'\n'}; size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			lines = append([]byte{'\n'}, lines...)
		}
	}
	if _, err := f.WriteAt(lines, size); err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	return nil
}

// open opens a file that only we can have written, and returns its size.
func open(path string, flag int) (*os.File, int64, error) {
	f, info, err := files.OpenFile(path, flag)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// Read gives the records of a server's file and of the older one beside it, the
// oldest first, and how many lines could not be read. No file: no records.
func Read(path string) (records []Record, unread int, err error) {
	return readLast(path, 2*maxSize, nil) // more is not of ours
}

// readLast is Read of the last bytes of each file. It gives up when stop is closed.
func readLast(path string, limit int64, stop <-chan struct{}) (records []Record, unread int, err error) {
	texts, err := readFiles(path, limit, stop)
	if err != nil {
		return nil, 0, err
	}
	now := time.Now()
	for _, text := range texts {
		r, n := parseLines(text, now)
		records, unread = append(records, r...), unread+n
	}
	return records, unread, nil
}

// maxRecent is how much of each file Recent reads, in bytes: some 3,000 calls. It
// is done while a host waits for our end.
const maxRecent = 512 << 10

// Recent are the last records of the ledger, with those of this process. It
// waits for others that have the files until ctx ends. A nil Ledger has none.
func (l *Ledger) Recent(ctx context.Context) ([]Record, error) {
	if l == nil {
		return nil, nil
	}
	l.mu.Lock()
	started := l.timer != nil
	l.mu.Unlock()
	if flushed := make(chan struct{}); started {
		select {
		case l.flush <- flushed:
		case <-l.done:
			close(flushed)
		case <-ctx.Done():
		}
		select {
		case <-flushed:
		case <-ctx.Done():
			return nil, fmt.Errorf("write %s: %w", l.path, errBusy)
		}
	}
	records, _, err := readLast(l.path, maxRecent, ctx.Done())
	return records, err
}

// readFiles reads the end of the older file and then that of the newer one.
func readFiles(path string, limit int64, stop <-chan struct{}) (texts [][]byte, err error) {
	if err := files.CheckDir(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if !isThere(path) && !isThere(older(path)) {
		return nil, nil
	}
	unlock, err := lock(path, stop, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, path := range []string{older(path), path} {
		text, err := readFile(path, limit)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// isThere reports whether there is something at path, of whatever kind.
func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// readFile reads the last bytes of a file, from the start of a line on.
func readFile(path string, limit int64) ([]byte, error) {
	f, size, err := open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	start := max(0, size-limit)
	text, err := io.ReadAll(io.NewSectionReader(f, start, limit))
	if _, whole, ok := bytes.Cut(text, []byte("\n")); ok && start > 0 {
		text = whole
	}
	return text, err
}

// Size is how many bytes a server's files have.
func Size(path string) (size int64) {
	for _, path := range []string{path, older(path)} {
		if info, err := os.Lstat(path); err == nil {
			size += info.Size()
		}
	}
	return size
}
