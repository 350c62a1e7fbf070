package auth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcp-facade/files"

	"github.com/gofrs/flock"
)

// A Store keeps permits, by upstream and issuer, and the clients that we have
// registered, by issuer. Each is a file in one folder that nobody else can read,
// sealed with a key of the system's keyring where there is one. Its methods may
// be called concurrently, and by several processes: who changes a permit holds
// its lock.
type Store struct {
	dir string
	vault
	step func(string) // told before each step of a write; tests stop there
}

// OpenStore is the store in a folder, which is made when something is kept.
// environ says where the keyring is.
func OpenStore(dir string, environ []string) *Store {
	return &Store{dir: dir, vault: newVault(systemRing{environ}), step: func(string) {}}
}

const (
	permitSuffix = ".permit"
	clientSuffix = ".client"
	lockSuffix   = ".lock"
	// lockWait is how long another process may hold a lock: longer than the
	// refresh it does meanwhile.
	lockWait = renewWait + 5*time.Second
	// lockPause is the time between two tries.
	lockPause = 10 * time.Millisecond
	// maxFile is the longest file that is read, in bytes.
	maxFile = 1 << 20
)

// digest names a file without saying what it is about.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:12])
}

// permit is the newest permit for an upstream; nil if there is none. Of several
// issuers the one counts that a person chose last.
func (s *Store) permit(upstream, account string) (*Permit, error) {
	var found *Permit
	var errs []error
	for _, path := range s.permits(upstream, account) {
		text, err := s.read(path)
		var p *Permit
		if err == nil {
			p, err = decodePermit(text)
		}
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, fmt.Errorf("%s: %w", path, bare(err)))
		case err == nil && p.Upstream == upstream && p.Account == account && (found == nil || p.Begun.After(found.Begun)):
			found = p
		}
	}
	if found != nil {
		return found, nil
	}
	return nil, errors.Join(errs...)
}

// globLiteral is a pattern that matches a folder of that name.
func globLiteral(dir string) string {
	if filepath.Separator == '\\' {
		return dir // there is nothing to escape with
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// save keeps a permit in the place of the one of the same key. The caller holds
// the lock.
func (s *Store) save(p *Permit) error {
	return s.write(s.permitPath(p), p.encode())
}

// forget removes a permit. The caller holds the lock.
func (s *Store) forget(p *Permit) error {
	return s.remove(s.permitPath(p))
}

// forgetAll removes the permits for an upstream, also those that cannot be read.
// The caller holds the lock.
func (s *Store) forgetAll(upstream, account string) (err error) {
	for _, path := range s.permits(upstream, account) {
		err = errors.Join(err, s.remove(path))
	}
	return err
}

// permits are the files of an upstream's permits.
func (s *Store) permits(upstream, account string) []string {
	paths, _ := filepath.Glob(filepath.Join(globLiteral(s.dir), digest(upstream, account)+"-*"+permitSuffix))
	return paths
}

// isSealed reports whether a permit is kept sealed.
func (s *Store) isSealed(p *Permit) bool {
	text, _ := os.ReadFile(s.permitPath(p))
	return bytes.HasPrefix(text, sealed)
}

func (s *Store) permitPath(p *Permit) string {
	return filepath.Join(s.dir, digest(p.Upstream, p.Account)+"-"+digest(p.Issuer)+permitSuffix)
}

// client is the client that we have registered with an issuer; nil if there is
// none that can be read.
func (s *Store) client(issuer string) *client {
	text, err := s.read(s.clientPath(issuer))
	if err != nil {
		return nil
	}
	return decodeClient(text)
}

func (s *Store) saveClient(issuer string, c *client) error {
	return s.write(s.clientPath(issuer), c.encode())
}

func (s *Store) forgetClient(issuer string) error {
	return s.remove(s.clientPath(issuer))
}

func (s *Store) clientPath(issuer string) string {
	return filepath.Join(s.dir, digest(issuer)+clientSuffix)
}

func (s *Store) remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// read gives the contents of a file.
func (s *Store) read(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, errDamaged
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return s.open(filepath.Base(path), text)
}

// write replaces a file, so that at any moment it is there whole, the old one or
// the new one: a refresh token that is lost cannot be asked for again.
func (s *Store) write(path string, text []byte) (err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	if text, err = s.seal(filepath.Base(path), text, s.dir); err != nil {
		return err
	}
	s.step("write")
	f, err := os.CreateTemp(s.dir, "new-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	s.step("sync")
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	s.step("rename")
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	s.step("renamed")
	files.SyncDir(s.dir)
	return nil
}

// lock is taken by who changes the permit of an upstream. The lock of a process
// that is killed is free.
func (s *Store) lock(ctx context.Context, upstream, account string) (unlock func(), err error) {
	return s.take(ctx, digest(upstream, account)+lockSuffix)
}

func (s *Store) take(ctx context.Context, name string) (unlock func(), err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock := flock.New(filepath.Join(s.dir, name), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPause); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%s is held by another process", lock.Path())
		}
		return nil, err
	}
	return func() { lock.Unlock() }, nil
}

// sealed and plain begin the two kinds of files.
var (
	sealed = []byte("mcp-facade sealed 1\n")
	plain  = []byte("mcp-facade plain 1\n")
)

// open takes the contents out of a file of that name.
func (v *vault) open(name string, text []byte) ([]byte, error) {
	if rest, ok := bytes.CutPrefix(text, plain); ok {
		return rest, nil
	}
	rest, ok := bytes.CutPrefix(text, sealed)
	if !ok {
		return nil, errDamaged
	}
	key, err := v.key()
	if err != nil {
		return nil, fmt.Errorf("is sealed with a key of the keyring: %w", err)
	}
	return unseal(key, name, rest)
}

// seal makes the contents of a file of that name: plain without a keyring.
func (v *vault) seal(name string, text []byte, dir string) ([]byte, error) {
	key, err := v.keyOrNew(dir)
	if err != nil {
		return append(bytes.Clone(plain), text...), nil
	}
	return append(bytes.Clone(sealed), enseal(key, name, text)...), nil
}
