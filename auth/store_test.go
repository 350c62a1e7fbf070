package auth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/zalando/go-keyring"
)

// A mapRing is a keyring in memory.
type mapRing struct {
	mu   sync.Mutex
	held map[string]string
	err  error
	lock chan struct{} // nil: it is open
}

func newRing() *mapRing { return &mapRing{held: map[string]string{}} }

func (r *mapRing) Get(service, user string) (string, error) {
	if r.lock != nil {
		<-r.lock
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return "", r.err
	}
	if v, ok := r.held[service+"/"+user]; ok {
		return v, nil
	}
	return "", keyring.ErrNotFound
}

func (r *mapRing) Set(service, user, secret string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.held[service+"/"+user] = secret
	}
	return r.err
}

func ringStore(dir string, r ring) *Store {
	s := OpenStore(dir, nil)
	s.vault = newVault(r)
	return s
}

func somePermit() *Permit {
	return &Permit{
		Upstream: "https://mcp.example/mcp", Issuer: "https://as.example", Resource: "https://mcp.example/mcp", TokenURL: "https://as.example/token",
		Client: client{ID: "c", Secret: "s3cr3t", Style: "basic", Redirect: "http://127.0.0.1:1/callback"}, By: byCode,
		Access: "at-s3cr3t", Renewal: "rt-s3cr3t", Scopes: []string{"read"},
	}
}

// What is kept comes back, sealed where there is a keyring, and only we can read
// the file.
func TestStoreKeeps(t *testing.T) {
	for name, r := range map[string]*mapRing{
		"sealed":            newRing(),
		"without a keyring": {err: errors.New("no bus")},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "tokens")
			want := somePermit()
			s := ringStore(dir, r)
			if err := s.save(want); err != nil {
				t.Fatal(err)
			}
			got, err := ringStore(dir, r).permit(want.Upstream, "")
			if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b Secret) bool { return string(a) == string(b) })); err != nil || diff != "" {
				t.Errorf("error %v, and of what was kept came back (-kept +back)\n%s", err, diff)
			}
			text, _ := os.ReadFile(s.permitPath(want))
			if held := bytes.Contains(text, []byte("s3cr3t")); held == (name == "sealed") || s.isSealed(want) != (name == "sealed") {
				t.Errorf("the file holds a secret: %v, is sealed: %v", held, s.isSealed(want))
			}
			if runtime.GOOS == "windows" {
				return
			}
			folder, _ := os.Stat(dir)
			file, _ := os.Stat(s.permitPath(want))
			if folder.Mode().Perm() != 0o700 || file.Mode().Perm() != 0o600 {
				t.Errorf("modes: got %v and %v, want 0700 and 0600", folder.Mode().Perm(), file.Mode().Perm())
			}
		})
	}
}

// A keyring that comes or goes leaves what is kept readable, or says what to do.
func TestKeyringComesAndGoes(t *testing.T) {
	dir, r, p := t.TempDir(), newRing(), somePermit()
	none := &mapRing{err: errors.New("no bus")}
	if err := ringStore(dir, none).save(p); err != nil {
		t.Fatal(err)
	}
	s := ringStore(dir, r)
	if _, err := s.permit(p.Upstream, ""); err != nil {
		t.Errorf("a plain file, with a keyring now: got %v", err)
	}
	if s.save(p); !s.isSealed(p) {
		t.Error("the next write did not seal it")
	}
	if _, err := ringStore(dir, none).permit(p.Upstream, ""); err == nil || !strings.HasSuffix(err.Error(), "is sealed with a key of the keyring: no bus") {
		t.Errorf("a sealed file, without a keyring now: got %v", err)
	}
	if _, err := ringStore(dir, newRing()).permit(p.Upstream, ""); err == nil || !strings.HasSuffix(err.Error(), keyring.ErrNotFound.Error()) {
		t.Errorf("a sealed file, with another keyring: got %v", err)
	}
	if _, err := os.Stat(s.permitPath(p)); err != nil {
		t.Errorf("what could not be read is gone: %v", err)
	}
}

// A locked keyring that asks a person who is not there does not hold us up.
func TestLockedKeyring(t *testing.T) {
	dir, p := t.TempDir(), somePermit()
	synctest.Test(t, func(t *testing.T) {
		r := newRing()
		r.lock = make(chan struct{})
		s := ringStore(dir, r)
		if err := s.save(p); err != nil {
			t.Fatal(err)
		}
		if s.isSealed(p) {
			t.Error("it was sealed with a key that nobody has given")
		}
		if _, err := s.key(); !errors.Is(err, errRingTime) {
			t.Errorf("the key: got %v", err)
		}
		close(r.lock)
	})
}

// Several processes make one key.
func TestOneKey(t *testing.T) {
	dir, r := t.TempDir(), newRing()
	var wg sync.WaitGroup
	keys := make([][]byte, 8)
	for i := range keys {
		wg.Go(func() { keys[i], _ = ringStore(dir, r).keyOrNew(dir) })
	}
	wg.Wait()
	for _, key := range keys {
		if len(key) != keySize || !bytes.Equal(key, keys[0]) {
			t.Fatalf("got the keys %x", keys)
		}
	}
}

// What is damaged is no permit, and stays.
func TestDamaged(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "cut": "mcp-facade pla", "no JSON": "mcp-facade plain 1\n{", "another object": "mcp-facade plain 1\n{}",
		"sealed badly": "mcp-facade sealed 1\nxx", "of the future": "mcp-facade plain 2\n{}",
	} {
		t.Run(name, func(t *testing.T) {
			s, p := ringStore(t.TempDir(), newRing()), somePermit()
			s.save(p)
			os.WriteFile(s.permitPath(p), []byte(text), 0o600)
			if got, err := s.permit(p.Upstream, ""); got != nil || err == nil {
				t.Errorf("got %v, %v", got, err)
			}
			if err := s.save(p); err != nil {
				t.Error(err)
			}
			if got, err := s.permit(p.Upstream, ""); got == nil || err != nil {
				t.Errorf("after the next login: got %v, %v", got, err)
			}
		})
	}
}

// A sealed file does not open under another name.
func TestSealKnowsItsName(t *testing.T) {
	key := make([]byte, keySize)
	text := enseal(key, "a.permit", []byte("x"))
	if _, err := unseal(key, "b.permit", text); err == nil {
		t.Error("it opened")
	}
}

// Where a client's secret comes from.
func TestSecretFrom(t *testing.T) {
	r := newRing()
	r.held["acme/client"] = "from the ring"
	for _, test := range []struct{ from, want, err string }{
		{"env:V", "from the environment", ""},
		{"keyring:acme", "from the ring", ""},
		{"env:NONE", "", `clientSecretFrom "env:NONE": the variable NONE is not set`},
		{"keyring:none", "", `clientSecretFrom "keyring:none": secret not found in keyring`},
		{"file:x", "", `clientSecretFrom "file:x": want "env:VARIABLE", "keychain:SERVICE" or "keyring:SERVICE"`},
	} {
		got, err := secretFrom(r, test.from, "client", []string{"V=from the environment"})
		text := ""
		if err != nil {
			text = err.Error()
		}
		if string(got) != test.want || text != test.err {
			t.Errorf("%s: got %q, %q; want %q, %q", test.from, string(got), text, test.want, test.err)
		}
	}
}

// Without a session bus no keyring is asked: the library would start a bus.
func TestNoBus(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("needs no bus here")
	}
	if (systemRing{[]string{"XDG_RUNTIME_DIR=" + t.TempDir()}}).isThere() || (systemRing{}).isThere() {
		t.Error("there is a keyring without a bus")
	}
	if !(systemRing{[]string{"DBUS_SESSION_BUS_ADDRESS=unix:path=/x"}}).isThere() {
		t.Error("there is no keyring with a bus")
	}
}

// However a permit is encoded, its secrets are in none of it but the file.
func TestPermitHoldsNoSecret(t *testing.T) {
	p := somePermit()
	text, err := json.Marshal(p)
	if all := string(text) + fmt.Sprintf("%v %+v %#v", *p, *p, *p); err != nil || strings.Contains(all, "s3cr3t") {
		t.Errorf("error %v, text %s", err, all)
	}
}
