//go:build unix

package hosts

import (
	"os"
	"slices"
	"syscall"
	"testing"
)

// The file stays its owner's and its group's, and so does its backup.
func TestWriteKeepsOwner(t *testing.T) {
	_, f, path := ready(t)
	owner, group := os.Getuid(), 12345
	if owner == 0 {
		owner = 54321
	} else {
		groups, _ := os.Getgroups()
		i := slices.IndexFunc(groups, func(g int) bool { return g != os.Getgid() })
		if i < 0 {
			t.Skip("only root can give a file away, and there is no second group")
		}
		group = groups[i]
	}
	if err := os.Chown(path, owner, group); err != nil {
		t.Skip(err)
	}
	backup, err := f.Write(noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, backup} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if is := info.Sys().(*syscall.Stat_t); int(is.Uid) != owner || int(is.Gid) != group {
			t.Errorf("%s belongs to %d:%d, want %d:%d", name, is.Uid, is.Gid, owner, group)
		}
	}
}
