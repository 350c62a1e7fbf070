//go:build unix

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// trusted refuses a file that others may have written, and warns of one that a
// group may write.
func trusted(path string, info fs.FileInfo) (warnings []string, err error) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch mode := info.Mode().Perm(); {
	case !ok:
		return nil, errors.New("has no owner that could be checked")
	case mode&0o002 != 0:
		return nil, fmt.Errorf("everybody may write it (mode %04o), and it chooses what is run; run: chmod go-w %q", mode, path)
	case stat.Uid != 0 && int(stat.Uid) != os.Geteuid():
		return nil, fmt.Errorf("belongs to user %d, and it chooses what is run; want a file of yours or of root", stat.Uid)
	case mode&0o020 != 0:
		return []string{fmt.Sprintf("%s: its group may write it (mode %04o), and it chooses what is run; run: chmod g-w %[1]q", path, mode)}, nil
	}
	return nil, nil
}
