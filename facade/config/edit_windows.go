package config

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a file belongs to who is logged in.
func keepOwner(*os.File, fs.FileInfo) {}

// syncFolder does nothing: a folder cannot be opened for it.
func syncFolder(string) {}
