//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner of another, which only root can always do.
func keepOwner(file *os.File, like fs.FileInfo) {
	if owner, ok := like.Sys().(*syscall.Stat_t); ok {
		file.Chown(int(owner.Uid), int(owner.Gid))
	}
}

// syncFolder makes a rename last. Without it the file is the old or the new one
// after a crash, which is enough.
func syncFolder(path string) {
	if folder, err := os.Open(path); err == nil {
		folder.Sync()
		folder.Close()
	}
}
