//go:build unix

package ledger

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestFilesAreForUsAlone(t *testing.T) {
	path := place(t)
	write(t, path, call("a"))
	if err := OpenChoice(filepath.Join(filepath.Dir(path), "choice")).Save(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(filepath.Dir(path), func(path string, d fs.DirEntry, err error) error {
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

func TestOthersFilesAreNotTouched(t *testing.T) {
	tests := []struct {
		name string
		hurt func(path string) error
		want string // PATH and DIR stand for those of the ledger
	}{
		{"a group-writable file", func(path string) error { return os.Chmod(path, 0o620) }, "PATH is writable by others"},
		{"a world-writable folder", func(path string) error { return os.Chmod(filepath.Dir(path), 0o707) }, "DIR is writable by others"},
		{"another user's file", func(path string) error { return os.Chown(path, 12345, -1) }, "PATH belongs to another user"},
		{"another user's folder", func(path string) error { return os.Chown(filepath.Dir(path), 12345, -1) }, "DIR belongs to another user"},
		{"a symbolic link", func(path string) error {
			return errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path))
		}, "PATH is not a regular file"},
		{"a link in the place of the folder", func(path string) error {
			dir := filepath.Dir(path)
			return errors.Join(os.Rename(dir, dir+".real"), os.Symlink(dir+".real", dir))
		}, "DIR is not a folder"},
		{"a named pipe", func(path string) error {
			return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600))
		}, "PATH is not a regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := place(t)
			write(t, path, call("a"))
			if err := tt.hurt(path); errors.Is(err, os.ErrPermission) {
				t.Skip("only root can do that")
			} else if err != nil {
				t.Fatal(err)
			}
			size := Size(path)
			want := strings.NewReplacer("PATH", path, "DIR", filepath.Dir(path)).Replace(tt.want)
			var log bytes.Buffer
			l := Open(path, slog.New(slog.NewTextHandler(&log, nil)))
			l.Add(call("b"))
			l.Close(t.Context())
			if !strings.Contains(log.String(), want) || !strings.Contains(log.String(), "calls=1 ") {
				t.Errorf("the log says %q, want %q", &log, want)
			}
			if Size(path) != size {
				t.Errorf("%d bytes, there were %d", Size(path), size)
			}
			if size > 0 {
				if _, _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("Read = %v, want %q", err, want)
				}
			}
		})
	}
}

func TestAnOlderFileOfOthersIsNotRead(t *testing.T) {
	path := place(t)
	write(t, path, call("a"))
	if err := os.Symlink(path, older(path)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read(path); err == nil || !strings.Contains(err.Error(), older(path)+" is not a regular file") {
		t.Errorf("Read = %v", err)
	}
}
