//go:build unix

package config

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Root, who edits a user's file, leaves it the user's.
func TestReplaceKeepsOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := filepath.Join(t.TempDir(), "servers.json")
	if err := Replace(path, nil, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 0, 12345); err != nil {
		t.Skip(err)
	}
	if err := Replace(path, []byte("{}"), []byte("{ }")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if group := info.Sys().(*syscall.Stat_t).Gid; group != 12345 {
		t.Errorf("its group is %d, want 12345", group)
	}
}
