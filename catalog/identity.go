package catalog

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"mcp-facade/files"
)

// keySize is the length of the key that identities are hashed with, in bytes.
const keySize = 32

// IdentityDir is the folder below root for the upstream with that identity:
// the server's name, cleaned, and the HMAC of the identity under the user's
// key, so that the name tells nothing of what the identity is made of.
func IdentityDir(root, server string, identity, key []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(identity)
	sum := hex.EncodeToString(mac.Sum(nil)[:identitySize])
	return filepath.Join(root, clean(server, "server")+"-"+sum)
}

// identitySize is how much of the HMAC is in the name of a folder, in bytes.
const identitySize = 8

// sameServer reports whether two folders are, as far as their names tell, of one
// server.
func sameServer(a, b string) bool {
	server := len(b) - 2*identitySize
	return server > 0 && len(a) == len(b) && a[:server] == b[:server]
}

// LoadKey reads the user's key for [IdentityDir] from the file at path, and
// makes it when there is none: random, in a 0600 file in a 0700 folder.
// Processes that make it at once agree on one key. After an error every
// catalog has to count as not stored.
func LoadKey(path string) ([]byte, error) {
	key, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = createKey(path); err == nil {
			key, err = readKey(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of the cache: %w", err)
	}
	return key, nil
}

func readKey(path string) ([]byte, error) {
	f, info, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := files.Private(info); err != nil {
		return nil, fmt.Errorf("%s %w; remove it, and a new one is made", path, err)
	}
	key, err := io.ReadAll(io.LimitReader(f, keySize+1))
	if err != nil {
		return nil, err
	}
	if len(key) != keySize {
		return nil, fmt.Errorf("%s is not %d bytes long; remove it, and a new one is made", path, keySize)
	}
	return key, nil
}

// createKey makes the key file, unless another process was faster: a whole
// file is given its name by a link, which fails where there is one already.
func createKey(path string) error {
	dir := filepath.Dir(path)
	if err := files.MakeDir(dir); err != nil {
		return err
	}
	key := make([]byte, keySize)
	rand.Read(key)
	temp, err := files.WriteTemp(dir, func(w io.Writer) error { _, err := w.Write(key); return err })
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	err = os.Link(temp, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = createExclusive(path, key) // a file system without links
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	files.SyncDir(dir)
	return err
}

// createExclusive writes a new file in place. Another process may see it half
// written, and is cold once.
func createExclusive(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
