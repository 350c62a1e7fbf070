package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-facade/files"
)

// ErrNotCached is in the error of what the store does not have, or does not
// trust. Such a file costs a listing, nothing else.
var ErrNotCached = errors.New("not cached")

const (
	// unused is how long a view is kept that no host or command asks for.
	unused = 30 * 24 * time.Hour
	// touchEvery is how often the use of a view is written down.
	touchEvery = 24 * time.Hour
)

// viewSuffix ends the name of a view's file, after the view's key.
const viewSuffix = ".catalog"

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

func (s *Store) path(v View) string { return filepath.Join(s.dir, v.Key()+viewSuffix) }

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
	if err := files.CheckDir(s.dir); err != nil {
		return nil, notCached(err)
	}
	f, info, err := files.Open(filepath.Join(s.dir, name))
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
