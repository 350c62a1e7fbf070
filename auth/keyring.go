package auth

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/zalando/go-keyring"
)

const (
	// ringService and ringUser name our key in the keyring. There it is alone:
	// the keyring of Windows holds 2560 bytes, less than some tokens.
	ringService = "mcp-facade"
	ringUser    = "key of the store"
	// ringWait is how long the keyring may take. One that is locked may ask the
	// person for a password, who may not be there.
	ringWait = 3 * time.Second
	// ringPause is how long a keyring is left alone that could not be reached.
	ringPause = time.Minute
)

// A ring holds a few short secrets: the system's keyring in the program, a map
// in tests.
type ring interface {
	// Get gives keyring.ErrNotFound for what is not there.
	Get(service, user string) (string, error)
	Set(service, user, secret string) error
}

// systemRing is the keyring of the system.
type systemRing struct{ environ []string }

func (r systemRing) Get(service, user string) (string, error) {
	if !r.isThere() {
		return "", errNoRing
	}
	return keyring.Get(service, user)
}

func (r systemRing) Set(service, user, secret string) error {
	if !r.isThere() {
		return errNoRing
	}
	return keyring.Set(service, user, secret)
}

var errNoRing = errors.New("this session has no keyring")

// isThere reports whether there is a session bus where one is needed. Without
// it the library would start one, which would stay.
func (r systemRing) isThere() bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" || variable(r.environ, "DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	dir := variable(r.environ, "XDG_RUNTIME_DIR")
	if dir == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, "bus"))
	return err == nil
}

var errRingTime = fmt.Errorf("the keyring gave no answer in %v; it may be locked", ringWait)

// timely calls the keyring, whose library has no way to give up. A call that
// takes too long is left to itself.
func timely(call func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := call()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-time.After(ringWait):
		return "", errRingTime
	}
}

// A vault seals what is written to files with a key that is in the keyring.
type vault struct {
	ring ring
	keep *kept
}

// kept is what a vault remembers.
type kept struct {
	mu    sync.Mutex
	key   []byte    // guarded by mu
	err   error     // why there is none; guarded by mu
	until time.Time // err counts until then; guarded by mu
}

func newVault(r ring) vault { return vault{r, &kept{}} }

// key is the key that seals, as the keyring has it.
func (v *vault) key() ([]byte, error) {
	v.keep.mu.Lock()
	defer v.keep.mu.Unlock()
	if v.keep.key != nil || v.keep.err != nil && time.Now().Before(v.keep.until) {
		return v.keep.key, v.keep.err
	}
	text, err := timely(func() (string, error) { return v.ring.Get(ringService, ringUser) })
	var key []byte
	if err == nil {
		if key, err = base64.StdEncoding.DecodeString(text); err == nil && len(key) != keySize {
			err = errors.New("the keyring holds another secret in the place of the key")
		}
	}
	if err != nil {
		key = nil
	}
	v.keep.key, v.keep.err, v.keep.until = key, err, time.Now().Add(ringPause)
	return key, err
}

const keySize = 32

// keyOrNew is the key, made if the keyring has none yet. Only one of several
// processes makes it.
func (v *vault) keyOrNew(dir string) ([]byte, error) {
	key, err := v.key()
	if !errors.Is(err, keyring.ErrNotFound) {
		return key, err
	}
	lock := flock.New(filepath.Join(dir, "key"+lockSuffix), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	if _, err := lock.TryLockContext(ctx, lockPause); err != nil {
		return nil, err
	}
	defer lock.Unlock()
	v.forgetKey()
	if key, err = v.key(); !errors.Is(err, keyring.ErrNotFound) {
		return key, err
	}
	made := make([]byte, keySize)
	rand.Read(made)
	text := base64.StdEncoding.EncodeToString(made)
	if _, err = timely(func() (string, error) { return "", v.ring.Set(ringService, ringUser, text) }); err != nil {
		return nil, err
	}
	v.forgetKey()
	return v.key()
}

func (v *vault) forgetKey() {
	v.keep.mu.Lock()
	defer v.keep.mu.Unlock()
	v.keep.key, v.keep.err = nil, nil
}

// enseal encrypts the contents of a file. Under another name it does not open.
func enseal(key []byte, name string, text []byte) []byte {
	return gcm(key).Seal(nil, nil, text, []byte(name))
}

func unseal(key []byte, name string, text []byte) ([]byte, error) {
	text, err := gcm(key).Open(nil, nil, text, []byte(name))
	if err != nil {
		return nil, errors.New("was sealed with another key than the keyring has")
	}
	return text, nil
}

// gcm is AES-256-GCM with a random nonce in front.
func gcm(key []byte) cipher.AEAD {
	block, _ := aes.NewCipher(key) // its only error is the length of the key
	aead, _ := cipher.NewGCMWithRandomNonce(block)
	return aead
}

// SecretFrom reads a client's secret from where the config says it is:
// "env:VAR", "keychain:SERVICE" (macOS) or "keyring:SERVICE", where account
// names which of a service's secrets is meant.
func SecretFrom(from, account string, environ []string) (Secret, error) {
	return secretFrom(systemRing{environ}, from, account, environ)
}

func secretFrom(r ring, from, account string, environ []string) (Secret, error) {
	kind, name, _ := strings.Cut(from, ":")
	var text string
	var err error
	switch {
	case kind == "env":
		if text = variable(environ, name); text == "" {
			err = fmt.Errorf("the variable %s is not set", name)
		}
	case kind == "keychain" && runtime.GOOS == "darwin":
		text, err = timely(func() (string, error) { return keychain(name) })
	case kind == "keychain":
		err = errors.New(`"keychain:" is for macOS; want "keyring:" or "env:"`)
	case kind == "keyring":
		text, err = timely(func() (string, error) { return r.Get(name, account) })
	default:
		err = errors.New(`want "env:VARIABLE", "keychain:SERVICE" or "keyring:SERVICE"`)
	}
	if err != nil {
		return "", fmt.Errorf("clientSecretFrom %q: %w", from, err)
	}
	return Secret(strings.TrimSpace(text)), nil
}

// keychain is a password that the keychain of macOS holds for a service, of
// whichever account.
func keychain(service string) (string, error) {
	out, err := exec.Command("/usr/bin/security", "find-generic-password", "-s", service, "-w").Output()
	if err != nil {
		return "", keyring.ErrNotFound
	}
	return string(out), nil
}
