//go:build unix

package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOthersFilesAreNotTrusted(t *testing.T) {
	v := CommandView()
	tests := []struct {
		name string
		hurt func(*Store) error
		want string // PATH and DIR stand for those of the view
	}{
		{"a group-writable file", func(s *Store) error { return os.Chmod(s.path(v), 0o620) }, "PATH is writable by others"},
		{"a world-writable file", func(s *Store) error { return os.Chmod(s.path(v), 0o602) }, "PATH is writable by others"},
		{"a group-writable folder", func(s *Store) error { return os.Chmod(s.dir, 0o770) }, "DIR is writable by others"},
		{"a world-writable folder", func(s *Store) error { return os.Chmod(s.dir, 0o707) }, "DIR is writable by others"},
		{"another user's file", func(s *Store) error { return os.Chown(s.path(v), 12345, -1) }, "PATH belongs to another user"},
		{"another user's folder", func(s *Store) error { return os.Chown(s.dir, 12345, -1) }, "DIR belongs to another user"},
		{"a named pipe", func(s *Store) error {
			os.Remove(s.path(v))
			return syscall.Mkfifo(s.path(v), 0o600)
		}, "PATH is not a regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t)
			save(t, s, headOf(v, 0), listsOf("a"))
			if err := tt.hurt(s); errors.Is(err, os.ErrPermission) {
				t.Skip("only root can do that")
			} else if err != nil {
				t.Fatal(err)
			}
			want := "not cached, because " + strings.NewReplacer("PATH", s.path(v), "DIR", s.dir).Replace(tt.want)
			if _, err := s.Load(v); !errors.Is(err, ErrNotCached) || err.Error() != want {
				t.Errorf("Load = %v, want %q", err, want)
			}
			if strings.HasPrefix(tt.want, "DIR") {
				wantSaveError(t, s.Save(t.Context(), headOf(v, -1), nil), s.dir)
			}
		})
	}
}

func TestFilesAreForUsAlone(t *testing.T) {
	s := newStore(t)
	save(t, s, headOf(CommandView(), 0), listsOf("a"))
	if err := s.SetEra("legacy"); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(filepath.Dir(s.dir), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestReadableKeyIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if _, err := LoadKey(path); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]string{0o640: "is readable by others; remove it", 0o620: "is writable by others", 0o604: "is readable by others; remove it"} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadKey(path); err == nil || !strings.Contains(err.Error(), path+" "+want) {
			t.Errorf("LoadKey of a file with mode %v: %v, want %q", mode, err, want)
		}
	}
}

func TestSaveInAFolderThatCannotBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root can write everywhere")
	}
	s := newStore(t)
	save(t, s, headOf(CommandView(), 1), nil)
	if err := os.Chmod(s.dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(s.dir, 0o700) })
	wantSaveError(t, s.Save(t.Context(), headOf(CommandView(), 0), nil), s.dir)
}

// A real full device: what fails is named.
func TestWriteTempOnAFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	if err := writeView(full, fullHead(), fullLists()); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "/dev/full") {
		t.Errorf("write to a full device: %v", err)
	}
}
