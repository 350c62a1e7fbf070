package catalog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-facade/files"

	"github.com/gofrs/flock"
)

const (
	// lockName is the file in a folder of ours that a writer locks.
	lockName = "lock"
	// lockTries and lockPause bound the wait for another process that writes:
	// together about a second, some hundred times what writing takes.
	lockTries = 20
	lockPause = 50 * time.Millisecond
	// abandoned is how old a temporary file is whose writer must have died.
	abandoned = time.Hour
	// maxRenderings is how many renderings a view keeps: as many as there are
	// differently configured hosts that look at the same view.
	maxRenderings = 4
)

// Save stores the lists of the view h.View, in the place of older ones: if the
// stored ones were listed at the same time or later, it does nothing. Views
// that were not used for 30 days are removed. Another process that writes is
// waited for, one second at most, unless ctx ends. After an error the folder
// is as it was.
func (s *Store) Save(ctx context.Context, h Head, l Lists) error {
	err := s.save(ctx.Done(), h, l)
	if errors.Is(err, errStopped) {
		err = context.Cause(ctx)
	}
	return saveError(err)
}

func (s *Store) save(done <-chan struct{}, h Head, l Lists) error {
	if err := files.MakeDir(s.dir); err != nil {
		return err
	}
	unlock, err := lockDir(s.dir, done)
	if err != nil {
		return err
	}
	defer unlock()
	used, newer := s.stored(h)
	if newer {
		return nil
	}
	s.sweep(h.View)
	h.Renderings = h.Renderings[:min(len(h.Renderings), maxRenderings)]
	write := func(w io.Writer) error { return writeView(w, h, l) }
	return files.Replace(s.path(h.View), write, func(temp string) { s.setUsed(temp, used) })
}

// saveError says what failed, and what it means; nil stays nil.
func saveError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("save the catalog: %w; serving goes on without storing it", err)
}

// stored says when the stored view that h would replace was used last, and
// whether it is to stay. A listing in the future is one of a clock that was
// wrong, and never stays.
func (s *Store) stored(h Head) (used time.Time, newer bool) {
	now := s.now()
	f, err := s.open(h.View)
	if err != nil {
		return now, false
	}
	defer f.Close()
	newer = !f.head.Listed.Before(h.Listed) && !f.head.Listed.After(now)
	if now.Sub(f.used) > unused {
		return now, newer
	}
	return f.used, newer
}

// setUsed gives a new file the time of its view's last use: a listing is no
// use, else commands that list all views would keep all of them for ever.
func (s *Store) setUsed(path string, used time.Time) {
	if err := os.Chtimes(path, used, used); err != nil {
		s.log.Debug("use of a view not written down", "err", err)
	}
}

// SaveRendering adds a rendering of the stored lists to the view's file, in
// front, and drops the oldest beyond four. It does nothing if the view is not
// stored. Another process that writes is waited for, one second at most.
func (s *Store) SaveRendering(v View, r Rendering) error {
	return s.saveRendering(v, time.Time{}, r)
}

// saveRendering does nothing if the view's lists are not those of the time
// listed; the zero time stands for any.
func (s *Store) saveRendering(v View, listed time.Time, r Rendering) error {
	if _, err := s.LoadExact(v); err != nil {
		s.log.Debug("rendering not stored", "err", err)
		return nil
	}
	unlock, err := lockDir(s.dir, nil)
	if err != nil {
		return saveError(err)
	}
	defer unlock()
	f, err := s.open(v) // again: another process may have replaced it before the lock
	if err != nil {
		s.log.Debug("rendering not stored", "err", err)
		return nil
	}
	defer f.Close()
	stale := !listed.IsZero() && !f.head.Listed.Equal(listed)
	if stale || len(f.head.Renderings) > 0 && sameRendering(f.head.Renderings[0], r) {
		return nil
	}
	return saveError(s.addRendering(f, r))
}

// addRendering replaces the open file by one with a rendering more.
func (s *Store) addRendering(f *openView, r Rendering) error {
	head := f.head
	head.Renderings = prepend(head.Renderings, r)
	write := func(w io.Writer) error {
		out := bufio.NewWriterSize(w, firstRead)
		out.Write(appendHead(nil, head, f.sections))
		if _, err := io.Copy(out, io.NewSectionReader(f, f.bodyAt, f.size-f.bodyAt)); err != nil {
			return err
		}
		return out.Flush()
	}
	return files.Replace(f.Name(), write, func(temp string) {
		f.Close() // Windows replaces no open file
		s.setUsed(temp, f.used)
	})
}

func sameRendering(a, b Rendering) bool {
	return a.Fingerprint == b.Fingerprint && bytes.Equal(a.JSON, b.JSON)
}

// prepend puts r in front of the others, in the place of one with its
// fingerprint.
func prepend(others []Rendering, r Rendering) []Rendering {
	all := []Rendering{r}
	for _, other := range others {
		if other.Fingerprint != r.Fingerprint && len(all) < maxRenderings {
			all = append(all, other)
		}
	}
	return all
}

// errStopped is lockDir's error after done was closed.
var errStopped = errors.New("stopped while waiting for another process")

// lockDir takes a folder's lock. It tries for about a second, unless done is
// closed.
func lockDir(dir string, done <-chan struct{}) (unlock func(), err error) {
	lock := flock.New(filepath.Join(dir, lockName))
	if info, err := os.Lstat(lock.Path()); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", lock.Path()) // one could wait for ever to open it
	}
	for range lockTries {
		if ok, err := lock.TryLock(); ok || err != nil {
			return func() { lock.Unlock() }, err
		}
		select {
		case <-done:
			return nil, errStopped
		case <-time.After(lockPause):
		}
	}
	return nil, fmt.Errorf("%s is held by another process", lock.Path())
}

// maxViews is how many views of one upstream are kept. Hosts have a handful;
// one that changes its capabilities with each request must not fill the disk.
const maxViews = 32

// sweep removes views that nobody uses, those beyond maxViews that were used
// longest ago, except keep, and temporary files that a process left when it was
// killed. What it cannot remove stays.
func (s *Store) sweep(keep View) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && lifetime(e.Name()) > 0 && e.Name() != keep.Key()+viewSuffix {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	views := 1 // keep
	for _, file := range files {
		if strings.HasSuffix(file.Name(), viewSuffix) {
			views++
		}
		if s.now().Sub(file.ModTime()) > lifetime(file.Name()) || views > maxViews && strings.HasSuffix(file.Name(), viewSuffix) {
			err := os.Remove(filepath.Join(s.dir, file.Name()))
			s.log.Debug("old file removed", "path", file.Name(), "err", err)
		}
	}
}

// lifetime is how old a file of that name may become, 0 for any age.
func lifetime(name string) time.Duration {
	switch {
	case strings.HasSuffix(name, viewSuffix):
		return unused
	case strings.HasPrefix(name, files.TempPrefix) && strings.HasSuffix(name, files.TempSuffix):
		return abandoned
	}
	return 0
}
