package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept")
	put := func(text string) error {
		return Replace(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }, nil)
	}
	if err := put("old"); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Replace(path, func(w io.Writer) error { io.WriteString(w, "ne"); return broken }, nil)
	if got, _ := os.ReadFile(path); !errors.Is(err, broken) || string(got) != "old" {
		t.Errorf("after a write that has failed with %v the file holds %q, want the old text", err, got)
	}
	if err := put("new"); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "new" {
		t.Errorf("the file holds %q, want the new text", got)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("%v is left in the folder (%v), want the file alone", left, err)
	}
}

func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{link, dir} {
		f, _, err := Open(path)
		if err == nil {
			f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("Open(%s) = %v, want an error that names it", path, err)
		}
	}
	if _, _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open of no file = %v, want that it does not exist", err)
	}
	f, _, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestMakeDirIsForUsAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := MakeDir(dir); err != nil {
		t.Fatal(err)
	}
	if err := CheckDir(dir); err != nil {
		t.Error(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckDir(file); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("CheckDir of a file = %v", err)
	}
}
