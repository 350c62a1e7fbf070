package catalog

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// ErrNotCached is in the error of what the store does not have, or does not
// trust. Such a file costs a listing, nothing else.
var ErrNotCached = errors.New("not cached")

const (
	// unused is how long a view is kept that no host or command asks for.
	unused = 30 * 24 * time.Hour
	// touchEvery is how often the use of a view is written down.
	touchEvery = 24 * time.Hour
	// abandoned is how old a temporary file is whose writer must have died.
	abandoned = time.Hour
	// lockTries and lockPause bound the wait for another process that writes:
	// together about a second, some hundred times what writing takes.
	lockTries = 20
	lockPause = 50 * time.Millisecond
	// maxRenderings is how many renderings a view keeps: as many as there are
	// differently configured hosts that look at the same view.
	maxRenderings = 4
)

// The names of the files in a store's folder.
const (
	viewSuffix = ".catalog" // after the view's key
	lockName   = "lock"
	eraName    = "era"
)

// A Head is what a start needs of a view. All of it is read without reading
// the lists.
type Head struct {
	View       View
	Opening    []byte        // the raw params of initialize (legacy) or the raw _meta (modern)
	Handshake  []byte        // the raw result of initialize or of server/discover
	Listed     time.Time     // when the tools were listed
	TTL        time.Duration // the upstream's own, the shortest page's; 0: it gave none
	Revalidate bool          // the upstream's own ttlMs was 0, in a modern answer: to be served once, then listed again
	Renderings []Rendering   // newest first, at most 4
}

// A Rendering is a surface as it was shown, with a fingerprint of all that
// made it. This package looks into neither.
type Rendering struct {
	Fingerprint string
	JSON        []byte // one raw value
}

// Lists are the raw result objects of each list, all pages in order, by the
// method that gives them: "tools/list", "prompts/list", "resources/list",
// "resources/templates/list".
type Lists map[string][][]byte

// A Store keeps the lists of one upstream, a file for each view of it. Its
// methods may be called concurrently, and several processes may share the
// folder. Files are for us alone: one that others could have written counts as
// not cached.
type Store struct {
	dir string
	log *slog.Logger
	now func() time.Time
}

// OpenStore is the store in that folder (see [IdentityDir]), which is made on
// the first write. A nil log is silent.
func OpenStore(dir string, log *slog.Logger) *Store {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Store{dir: dir, log: log, now: time.Now}
}

// An Entry is a view that the store has.
type Entry struct {
	Head  Head
	Exact bool // it is the view that was asked for, not the nearest one
	store *Store
}

// Load returns the view's entry or, if it is not stored, that of the nearest
// view of the same era: of the same protocol version, if there is one, then
// with the most capabilities in common, then the one listed last. The error
// wraps [ErrNotCached] and says why not.
func (s *Store) Load(v View) (*Entry, error) {
	entry, err := s.LoadExact(v)
	if err == nil {
		return entry, nil
	}
	near, ok := s.nearest(v)
	if !ok {
		return nil, err
	}
	s.log.Debug("nearest view served", "want", v.Key(), "have", near.Key(), "err", err)
	if entry, nearErr := s.LoadExact(near); nearErr == nil {
		entry.Exact = false
		return entry, nil
	}
	return nil, err
}

// LoadExact returns the view's entry. The error wraps [ErrNotCached] and says
// why not.
func (s *Store) LoadExact(v View) (*Entry, error) {
	f, err := s.open(v)
	if err != nil {
		return nil, err
	}
	f.Close() // first: Windows changes no times of an open file
	s.touch(f)
	return &Entry{Head: f.head, Exact: true, store: s}, nil
}

// List reads the pages of one list. It is nil, without an error, if that list
// is not stored. If the view was listed again since the entry was loaded, it
// is the newer list. The error wraps [ErrNotCached].
func (e *Entry) List(method string) ([][]byte, error) {
	f, err := e.store.open(e.Head.View)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sec := f.find(method)
	if sec == nil {
		return nil, nil
	}
	pages, err := sec.read(f)
	if err != nil {
		return nil, notCached(fmt.Errorf("%s %w", f.Name(), err))
	}
	return pages, nil
}

// SaveRendering adds a rendering that was made of this entry. It does nothing
// if the view was listed again since.
func (e *Entry) SaveRendering(r Rendering) error {
	return e.store.saveRendering(e.Head.View, e.Head.Listed, r)
}

// Views returns the heads of all views that can be read and were used in the
// last 30 days, the one listed last first.
func (s *Store) Views() ([]Head, error) {
	files, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the stored catalogs: %w", err)
	}
	var heads []Head
	for _, file := range files {
		if head, ok := s.viewIn(file.Name()); ok {
			heads = append(heads, head)
		}
	}
	slices.SortStableFunc(heads, func(a, b Head) int { return b.Listed.Compare(a.Listed) })
	return heads, nil
}

// viewIn reads the head of the view whose file has that name.
func (s *Store) viewIn(name string) (Head, bool) {
	if !strings.HasSuffix(name, viewSuffix) {
		return Head{}, false
	}
	f, err := s.openFile(name)
	if err != nil {
		s.log.Debug("stored view left out", "path", name, "err", err)
		return Head{}, false
	}
	defer f.Close()
	named := f.head.View.Key()+viewSuffix == name
	return f.head, named && s.now().Sub(f.used) <= unused
}

// nearest is the view to serve in place of v.
func (s *Store) nearest(v View) (View, bool) {
	heads, err := s.Views()
	if err != nil {
		s.log.Debug("no nearest view", "err", err)
	}
	heads = slices.DeleteFunc(heads, func(h Head) bool {
		return h.View.Era != v.Era || h.View.equal(v) || h.View.equal(CommandView())
	})
	if len(heads) == 0 {
		return View{}, false
	}
	best := slices.MaxFunc(heads, func(a, b Head) int { return compareNear(v, a, b) })
	return best.View, true
}

// compareNear is positive if a is nearer to v than b.
func compareNear(v View, a, b Head) int {
	return cmp.Or(
		cmp.Compare(match(a.View.Version, v.Version), match(b.View.Version, v.Version)),
		cmp.Compare(a.View.shared(v), b.View.shared(v)),
		a.Listed.Compare(b.Listed),
		strings.Compare(b.View.Key(), a.View.Key()),
	)
}

// match is 1 for equal strings, else 0.
func match(a, b string) int {
	if a == b {
		return 1
	}
	return 0
}

// An openView is a view's file, open for reading.
type openView struct {
	*os.File
	*viewFile
	size int64
	used time.Time // last use of the view: the file's modification time
}

// open opens the file of the view.
func (s *Store) open(v View) (*openView, error) {
	f, err := s.openFile(v.Key() + viewSuffix)
	if err != nil {
		return nil, err
	}
	if !f.head.View.equal(v) {
		f.Close()
		return nil, notCached(fmt.Errorf("%s %w", f.Name(), errOtherView))
	}
	return f, nil
}

// openFile opens the view's file of that name and reads its head. The error
// wraps ErrNotCached.
func (s *Store) openFile(name string) (*openView, error) {
	if err := checkDir(s.dir); err != nil {
		return nil, notCached(err)
	}
	f, info, err := openOwn(filepath.Join(s.dir, name))
	if err != nil {
		return nil, notCached(err)
	}
	contents, err := readView(f, info.Size())
	if err != nil {
		f.Close()
		return nil, notCached(fmt.Errorf("%s %w", f.Name(), err))
	}
	return &openView{File: f, viewFile: contents, size: info.Size(), used: info.ModTime()}, nil
}

// notCached makes the reason an error that wraps ErrNotCached.
func notCached(why error) error {
	if path := new(fs.PathError); errors.As(why, &path) && errors.Is(why, fs.ErrNotExist) {
		return fmt.Errorf("%w, because there is no %s", ErrNotCached, path.Path)
	}
	return fmt.Errorf("%w, because %w", ErrNotCached, why)
}

// touch writes down that the view was used.
func (s *Store) touch(f *openView) {
	now := s.now()
	if now.Sub(f.used) < touchEvery {
		return
	}
	if err := os.Chtimes(f.Name(), now, now); err != nil {
		s.log.Debug("use of a view not written down", "err", err)
	}
}

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
	if err := makeDir(s.dir); err != nil {
		return err
	}
	unlock, err := s.lock(done)
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
	return replaceFile(s.path(h.View), write, func(temp string) { s.setUsed(temp, used) })
}

// saveError says what failed, and what it means; nil stays nil.
func saveError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("save the catalog: %w; serving goes on without storing it", err)
}

func (s *Store) path(v View) string { return filepath.Join(s.dir, v.Key()+viewSuffix) }

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
	unlock, err := s.lock(nil)
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
	return replaceFile(f.Name(), write, func(temp string) {
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

// errStopped is lock's error after done was closed.
var errStopped = errors.New("stopped while waiting for another process")

// lock takes the folder's lock. It tries for about a second, unless done is
// closed.
func (s *Store) lock(done <-chan struct{}) (unlock func(), err error) {
	lock := flock.New(filepath.Join(s.dir, lockName))
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

// sweep removes views that nobody uses, except keep, and temporary files that
// a process left when it was killed. What it cannot remove stays.
func (s *Store) sweep(keep View) {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, file := range files {
		limit := lifetime(file.Name())
		info, err := file.Info()
		if limit == 0 || err != nil || file.Name() == keep.Key()+viewSuffix {
			continue
		}
		if s.now().Sub(info.ModTime()) > limit {
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
	case strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix):
		return abandoned
	}
	return 0
}

// eraLine is the whole content of the era's file.
func eraLine(era string) string { return "mcp-facade-era 1 " + era + "\n" }

// Era is the era that the upstream is known to speak: "legacy", "modern" or
// "both", or "" if that is not known.
func (s *Store) Era() string {
	f, _, err := openOwn(filepath.Join(s.dir, eraName))
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, len(eraLine(legacy))+1)
	n, _ := f.ReadAt(buf, 0)
	for _, era := range []string{legacy, modern, both} {
		if string(buf[:n]) == eraLine(era) {
			return era
		}
	}
	return ""
}

// SetEra stores what [Store.Era] returns.
func (s *Store) SetEra(era string) error {
	if era == s.Era() {
		return nil
	}
	if err := s.setEra(era); err != nil {
		return fmt.Errorf("save the era: %w; it is found out again at the next start", err)
	}
	return nil
}

func (s *Store) setEra(era string) error {
	path := filepath.Join(s.dir, eraName)
	switch era {
	case "":
		return os.Remove(path)
	case legacy, modern, both:
	default:
		return fmt.Errorf("no era is called %q", era)
	}
	if err := makeDir(s.dir); err != nil {
		return err
	}
	write := func(w io.Writer) error { _, err := io.WriteString(w, eraLine(era)); return err }
	return replaceFile(path, write, nil)
}
