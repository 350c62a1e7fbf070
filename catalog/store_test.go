package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/files"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
)

// noon is the time of the tests' clock.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newStore is an empty store whose clock stands at noon.
func newStore(t testing.TB) *Store {
	t.Helper()
	s := OpenStore(filepath.Join(t.TempDir(), "cache", "acme-0123456789abcdef"), nil)
	s.now = func() time.Time { return noon }
	return s
}

// headOf is a head of that view, listed so long before noon.
func headOf(v View, ago time.Duration) Head {
	return Head{View: v, Opening: []byte(`{"o":1}`), Handshake: []byte(`{"h":1}`), Listed: noon.Add(-ago)}
}

func listsOf(tool string) Lists {
	return Lists{"tools/list": {page(fmt.Sprintf(`{"name":%q}`, tool))}}
}

func save(t testing.TB, s *Store, h Head, l Lists) {
	t.Helper()
	if err := s.Save(t.Context(), h, l); err != nil {
		t.Fatal(err)
	}
}

// filesIn are the names in the store's folder, without the lock's.
func filesIn(t testing.TB, s *Store) []string {
	t.Helper()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != lockName {
			names = append(names, e.Name())
		}
	}
	return names
}

// setAge makes a file of the store so old.
func setAge(t testing.TB, s *Store, path string, age time.Duration) {
	t.Helper()
	if err := os.Chtimes(path, noon.Add(-age), noon.Add(-age)); err != nil {
		t.Fatal(err)
	}
}

func age(t testing.TB, path string) time.Duration {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return noon.Sub(info.ModTime())
}

func TestSaveAndLoad(t *testing.T) {
	s := newStore(t)
	h, l := fullHead(), fullLists()
	save(t, s, h, l)
	entry, err := OpenStore(s.dir, nil).Load(h.View)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, entry.Head); diff != "" || !entry.Exact {
		t.Errorf("head, exact %t (-want +got):\n%s", entry.Exact, diff)
	}
	for method, want := range l {
		if got, err := entry.List(method); err != nil || !cmp.Equal(want, got) {
			t.Errorf("List(%q) = %q, %v; want %q", method, got, err, want)
		}
	}
	if got, err := entry.List("resources/list"); got != nil || err != nil {
		t.Errorf("List of what is not stored = %q, %v; want nil, nil", got, err)
	}
}

func TestListIsTheNewestOne(t *testing.T) {
	s := newStore(t)
	save(t, s, headOf(CommandView(), time.Hour), listsOf("old"))
	entry, err := s.Load(CommandView())
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, headOf(CommandView(), 0), listsOf("new"))
	pages, err := entry.List("tools/list")
	if err != nil || !bytes.Contains(pages[0], []byte("new")) {
		t.Errorf("List = %q, %v; want the new list", pages, err)
	}
	if err := os.Truncate(s.path(CommandView()), 400); err != nil {
		t.Fatal(err)
	}
	if _, err := entry.List("tools/list"); !errors.Is(err, ErrNotCached) {
		t.Errorf("List of a file that was damaged since: %v, want %v", err, ErrNotCached)
	}
}

func TestDamagedListIsNotCached(t *testing.T) {
	s := newStore(t)
	save(t, s, headOf(CommandView(), 0), listsOf("a"))
	path := s.path(CommandView())
	data := read(t, path)
	data[len(data)-2] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	entry, err := s.Load(CommandView())
	if err != nil {
		t.Fatalf("a start does not read the list, and yet: %v", err)
	}
	want := "not cached, because " + path + " is damaged"
	if _, err := entry.List("tools/list"); !errors.Is(err, ErrNotCached) || err.Error() != want {
		t.Errorf("List = %v, want %q", err, want)
	}
}

func TestLoadSaysWhyNot(t *testing.T) {
	v := CommandView()
	write := func(t *testing.T, s *Store, data []byte) {
		t.Helper()
		if err := os.WriteFile(s.path(v), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name string
		hurt func(*testing.T, *Store)
		want string // PATH and DIR stand for those of the view
	}{
		{"there is no folder", func(t *testing.T, s *Store) { os.RemoveAll(s.dir) }, "there is no DIR"},
		{"there is no file", func(t *testing.T, s *Store) { os.Remove(s.path(v)) }, "there is no PATH"},
		{"the file is empty", func(t *testing.T, s *Store) { write(t, s, nil) }, "PATH is not a catalog file"},
		{"the file is cut off", func(t *testing.T, s *Store) { os.Truncate(s.path(v), 200) }, "PATH is 200 bytes long instead of 306"},
		{"the file is of another view", func(t *testing.T, s *Store) {
			write(t, s, encode(t, headOf(View{Era: legacy}, 0), listsOf("a")))
		}, "PATH holds another view"},
		{"the file is a folder", func(t *testing.T, s *Store) {
			os.Remove(s.path(v))
			os.Mkdir(s.path(v), 0o700)
		}, "PATH is not a regular file"},
		{"the file is a symbolic link", func(t *testing.T, s *Store) {
			os.Rename(s.path(v), s.path(v)+".real")
			if err := os.Symlink(s.path(v)+".real", s.path(v)); err != nil {
				t.Skip(err)
			}
		}, "PATH is not a regular file"},
		{"the folder is a file", func(t *testing.T, s *Store) {
			os.RemoveAll(s.dir)
			os.WriteFile(s.dir, nil, 0o600)
		}, "DIR is not a folder"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t)
			save(t, s, headOf(v, 0), listsOf("a"))
			tt.hurt(t, s)
			want := "not cached, because " + strings.NewReplacer("PATH", s.path(v), "DIR", s.dir).Replace(tt.want)
			for _, load := range []func(View) (*Entry, error){s.Load, s.LoadExact} {
				if _, err := load(v); !errors.Is(err, ErrNotCached) || err.Error() != want {
					t.Errorf("load = %v, want %q", err, want)
				}
			}
		})
	}
}

func TestLoadTakesTheNearestView(t *testing.T) {
	caps := func(version string, caps ...string) View { return View{legacy, version, caps} }
	want := caps("2025-11-25", "elicitation", "roots", "sampling")
	type stored struct {
		view View
		ago  time.Duration
	}
	tests := []struct {
		name   string
		stored []stored
		want   int // index of stored, -1 for none
	}{
		{"takes the exact view first", []stored{{caps("2025-11-25", "elicitation", "roots"), 0}, {want, time.Hour}}, 1},
		{"takes the same version before capabilities", []stored{{caps("2025-06-18", want.Capabilities...), 0}, {caps("2025-11-25", "x"), time.Hour}}, 1},
		{"takes most capabilities of the same version", []stored{{caps("2025-11-25", "roots"), 0}, {caps("2025-11-25", "roots", "sampling"), time.Hour}}, 1},
		{"takes the newest of equals", []stored{{caps("2025-11-25", "a", "roots"), time.Hour}, {caps("2025-11-25", "b", "roots"), 0}}, 1},
		{"takes another version if there is nothing else", []stored{{caps("2024-11-05"), 0}}, 0},
		{"never crosses eras", []stored{{View{modern, "2025-11-25", want.Capabilities}, 0}}, -1},
		{"never takes the commands' view", []stored{{CommandView(), 0}}, -1},
		{"takes no view that nobody used for 30 days", nil, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t)
			for _, st := range tt.stored {
				save(t, s, headOf(st.view, st.ago), listsOf("a"))
			}
			if tt.stored == nil {
				old := caps("2025-11-25", "roots")
				save(t, s, headOf(old, 0), listsOf("a"))
				setAge(t, s, s.path(old), 31*24*time.Hour)
			}
			entry, err := s.Load(want)
			if tt.want < 0 {
				if !errors.Is(err, ErrNotCached) {
					t.Errorf("Load = %+v, %v; want %v", entry, err, ErrNotCached)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			near := tt.stored[tt.want].view
			if !entry.Head.View.equal(near) || entry.Exact != near.equal(want) {
				t.Errorf("Load = %+v, exact %t; want %+v", entry.Head.View, entry.Exact, near)
			}
			if _, err := s.LoadExact(want); (err == nil) != near.equal(want) {
				t.Errorf("LoadExact: %v", err)
			}
			if pages, err := entry.List("tools/list"); err != nil || len(pages) != 1 {
				t.Errorf("List of the nearest = %q, %v", pages, err)
			}
		})
	}
}

func TestCommandsTakeAHostsView(t *testing.T) {
	s := newStore(t)
	host := View{legacy, "2025-06-18", []string{"roots"}}
	save(t, s, headOf(host, 0), listsOf("a"))
	entry, err := s.Load(CommandView())
	if err != nil || entry.Exact || !entry.Head.View.equal(host) {
		t.Errorf("Load of the commands' view = %+v, %v; want the host's", entry, err)
	}
}

func TestDamagedViewGivesWayToTheNearest(t *testing.T) {
	s := newStore(t)
	var log bytes.Buffer
	s.log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	want, near := View{legacy, "1", nil}, View{legacy, "2", nil}
	save(t, s, headOf(want, 0), listsOf("a"))
	save(t, s, headOf(near, 0), listsOf("b"))
	os.Truncate(s.path(want), 10)
	entry, err := s.Load(want)
	if err != nil || !entry.Head.View.equal(near) {
		t.Fatalf("Load = %+v, %v; want %+v", entry, err, near)
	}
	if !strings.Contains(log.String(), "is not a catalog file") {
		t.Errorf("the log does not say why: %s", log.String())
	}
}

func TestNewerListingWins(t *testing.T) {
	tests := []struct {
		name          string
		stored, saved time.Duration // ago
		want          string
	}{
		{"a newer one replaces an older", time.Hour, 0, "saved"},
		{"an older one leaves a newer", time.Minute, time.Hour, "stored"},
		{"the first of two at the same time stays", time.Minute, time.Minute, "stored"},
		{"one from the future stays not", -time.Hour, 0, "saved"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t)
			save(t, s, headOf(CommandView(), tt.stored), listsOf("stored"))
			save(t, s, headOf(CommandView(), tt.saved), listsOf("saved"))
			if got := storedTool(t, s); got != tt.want {
				t.Errorf("the %s list is there, want the %s one", got, tt.want)
			}
		})
	}
}

// storedTool is the name of the only tool of the commands' view.
func storedTool(t testing.TB, s *Store) string {
	t.Helper()
	entry, err := s.LoadExact(CommandView())
	if err != nil {
		t.Fatal(err)
	}
	pages, err := entry.List("tools/list")
	if err != nil {
		t.Fatal(err)
	}
	c, _ := New(pages)
	return strings.Join(names(c), ",")
}

func TestSaveReplacesADamagedFile(t *testing.T) {
	s := newStore(t)
	save(t, s, headOf(CommandView(), 0), listsOf("old"))
	os.Truncate(s.path(CommandView()), 50)
	save(t, s, headOf(CommandView(), time.Hour), listsOf("new"))
	if got := storedTool(t, s); got != "new" {
		t.Errorf("the list of %s is there, want the new one", got)
	}
}

func TestSaveKeepsFourRenderings(t *testing.T) {
	s := newStore(t)
	h := headOf(CommandView(), 0)
	for i := range 6 {
		h.Renderings = append(h.Renderings, Rendering{fmt.Sprint(i), []byte("[]")})
	}
	save(t, s, h, nil)
	entry, err := s.Load(CommandView())
	if err != nil || len(entry.Head.Renderings) != 4 || entry.Head.Renderings[0].Fingerprint != "0" {
		t.Errorf("Load = %+v, %v; want the first four renderings", entry, err)
	}
}

func TestSaveRendering(t *testing.T) {
	s := newStore(t)
	v := CommandView()
	if err := s.SaveRendering(v, Rendering{"a", []byte("[]")}); err != nil {
		t.Errorf("a rendering of what is not stored: %v, want nothing done", err)
	}
	if _, err := os.Stat(s.dir); err == nil {
		t.Error("a rendering of what is not stored made a folder")
	}
	save(t, s, headOf(v, 0), fullLists())
	setAge(t, s, s.path(v), time.Hour)
	for _, r := range []Rendering{{"a", []byte("1")}, {"b", []byte("2")}, {"c", []byte("3")}, {"d", []byte("4")}, {"b", []byte("[\n5]")}, {"e", []byte("6")}, {"e", []byte("6")}} {
		if err := s.SaveRendering(v, r); err != nil {
			t.Fatal(err)
		}
	}
	h, l, err := decode(read(t, s.path(v)))
	want := headOf(v, 0)
	want.Renderings = []Rendering{{"e", []byte("6")}, {"b", []byte("[\n5]")}, {"d", []byte("4")}, {"c", []byte("3")}}
	if err != nil || !cmp.Equal(want, h) || !cmp.Equal(fullLists(), l) {
		t.Errorf("%v; head (-want +got):\n%s\nlists:\n%s", err, cmp.Diff(want, h), cmp.Diff(fullLists(), l))
	}
	if got := age(t, s.path(v)); got != time.Hour {
		t.Errorf("the last use is %v ago, want it kept at %v", got, time.Hour)
	}
	if got := filesIn(t, s); len(got) != 1 {
		t.Errorf("files %q, want one", got)
	}
}

func TestRenderingOfAnOldEntryIsNotSaved(t *testing.T) {
	s := newStore(t)
	save(t, s, headOf(CommandView(), time.Hour), listsOf("old"))
	entry, err := s.Load(CommandView())
	if err != nil {
		t.Fatal(err)
	}
	r := Rendering{"a", []byte("[]")}
	if err := entry.SaveRendering(r); err != nil {
		t.Fatal(err)
	}
	if entry, _ := s.Load(CommandView()); len(entry.Head.Renderings) != 1 {
		t.Errorf("%d renderings of the entry, want one", len(entry.Head.Renderings))
	}
	save(t, s, headOf(CommandView(), 0), listsOf("new"))
	if err := entry.SaveRendering(r); err != nil {
		t.Fatal(err)
	}
	if entry, _ := s.Load(CommandView()); len(entry.Head.Renderings) != 0 {
		t.Error("a rendering of the old list was saved with the new one")
	}
}

func TestUseIsWrittenDownOnceADay(t *testing.T) {
	tests := []struct {
		name      string
		age, want time.Duration
	}{
		{"not within a day", 23 * time.Hour, 23 * time.Hour},
		{"after a day", 25 * time.Hour, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t)
			save(t, s, headOf(CommandView(), 0), listsOf("a"))
			setAge(t, s, s.path(CommandView()), tt.age)
			if _, err := s.Load(CommandView()); err != nil {
				t.Fatal(err)
			}
			if got := age(t, s.path(CommandView())); got != tt.want {
				t.Errorf("after a load the last use is %v ago, want %v", got, tt.want)
			}
		})
	}
}

func TestListingIsNoUse(t *testing.T) {
	const day = 24 * time.Hour
	for before, want := range map[time.Duration]time.Duration{29 * day: 29 * day, 31 * day: 0} {
		s := newStore(t)
		save(t, s, headOf(CommandView(), time.Hour), listsOf("a"))
		setAge(t, s, s.path(CommandView()), before)
		save(t, s, headOf(CommandView(), 0), listsOf("b"))
		if got := age(t, s.path(CommandView())); got != want {
			t.Errorf("a view used %v ago was listed again: last use %v ago, want %v", before, got, want)
		}
	}
}

func TestSaveSweeps(t *testing.T) {
	s := newStore(t)
	old, young := View{Era: legacy, Version: "old"}, View{Era: legacy, Version: "young"}
	for _, v := range []View{old, young} {
		save(t, s, headOf(v, 0), listsOf("a"))
	}
	setAge(t, s, s.path(old), 31*24*time.Hour)
	setAge(t, s, s.path(young), 29*24*time.Hour)
	for name, age := range map[string]time.Duration{".new-1.tmp": 2 * time.Hour, ".new-2.tmp": time.Minute, "note.txt": 9999 * time.Hour} {
		path := filepath.Join(s.dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		setAge(t, s, path, age)
	}
	save(t, s, headOf(CommandView(), 0), listsOf("a"))
	want := []string{".new-2.tmp", CommandView().Key() + viewSuffix, young.Key() + viewSuffix, "note.txt"}
	if diff := cmp.Diff(want, filesIn(t, s)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestViews(t *testing.T) {
	s := newStore(t)
	if heads, err := s.Views(); heads != nil || err != nil {
		t.Errorf("Views without a folder = %v, %v; want nothing", heads, err)
	}
	first, second, bad := View{Era: legacy, Version: "1"}, View{Era: modern, Version: "2"}, View{Era: legacy, Version: "3"}
	save(t, s, headOf(second, time.Hour), listsOf("a"))
	save(t, s, headOf(first, time.Minute), listsOf("a"))
	save(t, s, headOf(bad, 0), listsOf("a"))
	os.Truncate(s.path(bad), 100)
	os.WriteFile(filepath.Join(s.dir, "copy"+viewSuffix), read(t, s.path(first)), 0o600)
	heads, err := s.Views()
	if diff := cmp.Diff([]Head{headOf(first, time.Minute), headOf(second, time.Hour)}, heads); diff != "" || err != nil {
		t.Errorf("Views: %v (-want +got):\n%s", err, diff)
	}
}

func TestSaveSaysWhatFailed(t *testing.T) {
	t.Run("a file in the place of the folder", func(t *testing.T) {
		s := newStore(t)
		os.MkdirAll(filepath.Dir(s.dir), 0o700)
		os.WriteFile(s.dir, nil, 0o600)
		wantSaveError(t, s.Save(t.Context(), headOf(CommandView(), 0), nil), s.dir)
	})
	t.Run("a file above the folder", func(t *testing.T) {
		s := newStore(t)
		os.WriteFile(filepath.Dir(s.dir), nil, 0o600)
		wantSaveError(t, s.Save(t.Context(), headOf(CommandView(), 0), nil), filepath.Dir(s.dir))
	})
	t.Run("a folder in the place of the file", func(t *testing.T) {
		s := newStore(t)
		os.MkdirAll(s.path(CommandView()), 0o700)
		wantSaveError(t, s.Save(t.Context(), headOf(CommandView(), 0), nil), s.path(CommandView()))
		if got := filesIn(t, s); len(got) != 1 {
			t.Errorf("files %q, want none left behind", got)
		}
	})
	t.Run("another process that does not let go", func(t *testing.T) {
		s := newStore(t)
		unlock := hold(t, s)
		synctest.Test(t, func(t *testing.T) { // so that the second passes at once
			err := s.Save(t.Context(), headOf(CommandView(), 0), nil)
			wantSaveError(t, err, filepath.Join(s.dir, lockName)+" is held by another process")
		})
		unlock()
		save(t, s, headOf(CommandView(), 0), nil)
	})
	t.Run("a context that ends while it waits", func(t *testing.T) {
		s := newStore(t)
		defer hold(t, s)()
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("the host went away")
		cancel(stop)
		err := s.Save(ctx, headOf(CommandView(), 0), nil)
		wantSaveError(t, err, stop.Error())
		if !errors.Is(err, stop) {
			t.Errorf("Save = %v, does not wrap the cause", err)
		}
	})
}

// hold takes the lock of the store as another process would.
func hold(t *testing.T, s *Store) (unlock func()) {
	t.Helper()
	os.MkdirAll(s.dir, 0o700)
	lock := flock.New(filepath.Join(s.dir, lockName))
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatalf("lock: %t, %v", ok, err)
	}
	return func() { lock.Unlock() }
}

func wantSaveError(t *testing.T, err error, want string) {
	t.Helper()
	if got := fmt.Sprint(err); !strings.HasPrefix(got, "save the catalog: ") || !strings.Contains(got, want) || !strings.HasSuffix(got, "; serving goes on without storing it") {
		t.Errorf("Save = %q, want what failed, %q and that serving goes on", got, want)
	}
}

func TestFullDiskLeavesTheOldFile(t *testing.T) {
	s := newStore(t)
	save(t, s, headOf(CommandView(), 0), listsOf("old"))
	write := func(w io.Writer) error {
		io.WriteString(w, "half")
		return errDiskFull
	}
	if err := files.Replace(s.path(CommandView()), write, nil); !errors.Is(err, errDiskFull) {
		t.Errorf("replaceFile = %v, want %v", err, errDiskFull)
	}
	if got := filesIn(t, s); len(got) != 1 || storedTool(t, s) != "old" {
		t.Errorf("files %q, tool %s; want the old file alone", got, storedTool(t, s))
	}
}

// A reader sees a whole file at any moment, and the newest listing is there in
// the end, whatever the order of writers.
func TestSavesAtOnce(t *testing.T) {
	s := newStore(t)
	const writers, saves = 4, 6
	save(t, s, headOf(CommandView(), time.Hour), listsOf("first"))
	var readers, wg sync.WaitGroup
	var done atomic.Bool
	for range 2 {
		readers.Go(func() {
			for !done.Load() {
				readWhole(t, s)
			}
		})
	}
	for w := range writers {
		wg.Go(func() {
			own := &Store{dir: s.dir, log: s.log, now: s.now}
			for i := range saves {
				ago := time.Duration(w*saves+i) * time.Second
				save(t, own, headOf(CommandView(), ago), listsOf(fmt.Sprint("ago", ago)))
				own.SaveRendering(CommandView(), Rendering{fmt.Sprint(w), []byte("[]")})
			}
		})
	}
	wg.Wait()
	done.Store(true)
	readers.Wait()
	if got := storedTool(t, s); got != "ago0s" {
		t.Errorf("the list of %s is there, want the newest", got)
	}
	if got := filesIn(t, s); len(got) != 1 {
		t.Errorf("files %q, want one", got)
	}
}

func readWhole(t *testing.T, s *Store) {
	entry, err := s.LoadExact(CommandView())
	if err != nil {
		t.Errorf("a reader among writers: %v", err)
		return
	}
	if pages, err := entry.List("tools/list"); err != nil || len(pages) != 1 {
		t.Errorf("a reader among writers: %q, %v", pages, err)
	}
}

// childDir is where a test process of ours is to save and to make a key.
const childDir = "MCP_FACADE_TEST_DIR"

// TestChild is not a test: it is what TestProcessesAtOnce starts.
func TestChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("for other tests")
	}
	key, err := LoadKey(filepath.Join(dir, "state", "key"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("key %x\n", key)
	s := OpenStore(filepath.Join(dir, "cache"), nil)
	for i := range 5 {
		h := headOf(CommandView(), 0)
		h.Listed = time.Now()
		save(t, s, h, listsOf(fmt.Sprint("tool", i)))
		readWhole(t, s)
	}
}

func TestProcessesAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := t.TempDir()
	var wg sync.WaitGroup
	outputs := make([]string, 4)
	for i := range outputs {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
			cmd.Env = append(os.Environ(), childDir+"="+dir)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("child: %v\n%s", err, out)
			}
			outputs[i], _, _ = strings.Cut(string(out), "\n")
		})
	}
	wg.Wait()
	for _, out := range outputs {
		if out != outputs[0] || len(out) != len("key ")+2*keySize {
			t.Errorf("keys of processes that start at once: %q", outputs)
		}
	}
	s := OpenStore(filepath.Join(dir, "cache"), nil)
	if got := storedTool(t, s); got != "tool4" {
		t.Errorf("the list of %s is there, want the newest", got)
	}
	if got := filesIn(t, s); len(got) != 1 {
		t.Errorf("files %q, want one", got)
	}
}

func TestEra(t *testing.T) {
	s := newStore(t)
	for _, era := range []string{"", "legacy", "legacy", "modern", "both", "", ""} {
		if err := s.SetEra(era); err != nil {
			t.Errorf("SetEra(%q): %v", era, err)
		}
		if got := OpenStore(s.dir, nil).Era(); got != era {
			t.Errorf("Era() = %q, want %q", got, era)
		}
	}
	if err := s.SetEra("stone"); err == nil || s.Era() != "" {
		t.Errorf("SetEra of an unknown era: %v, then %q", err, s.Era())
	}
}

func TestDamagedEraIsUnknown(t *testing.T) {
	for _, data := range []string{"", "modern\n", "mcp-facade-era 2 modern\n", "mcp-facade-era 1 modern", "mcp-facade-era 1 modern\nx", "mcp-facade-era 1 stone\n"} {
		s := newStore(t)
		os.MkdirAll(s.dir, 0o700)
		os.WriteFile(filepath.Join(s.dir, eraName), []byte(data), 0o600)
		if got := s.Era(); got != "" {
			t.Errorf("Era() with the file %q = %q, want unknown", data, got)
		}
		if err := s.SetEra("modern"); err != nil || s.Era() != "modern" {
			t.Errorf("SetEra with the file %q: %v, then %q", data, err, s.Era())
		}
	}
}

func BenchmarkLoadHead(b *testing.B) {
	for _, tools := range []int{85, 344} {
		b.Run(fmt.Sprint(tools, "tools"), func(b *testing.B) {
			s := newStore(b)
			h := headOf(CommandView(), 0)
			h.Handshake = bytes.Repeat([]byte("h"), 7_000)
			h.Renderings = []Rendering{{"a", bytes.Repeat([]byte("r"), 8_000)}, {"b", bytes.Repeat([]byte("r"), 8_000)}}
			save(b, s, h, Lists{"tools/list": {pageOf(tools, 6000)}})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Load(h.View); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	s := newStore(b)
	save(b, s, headOf(CommandView(), 0), Lists{"tools/list": {large()}})
	entry, err := s.Load(CommandView())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := entry.List("tools/list"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSave(b *testing.B) {
	s := newStore(b)
	lists := Lists{"tools/list": {large()}}
	h := headOf(CommandView(), time.Hour)
	b.ReportAllocs()
	for b.Loop() {
		h.Listed = h.Listed.Add(1)
		save(b, s, h, lists)
	}
}
