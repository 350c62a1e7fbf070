package catalog

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestIdentityDir(t *testing.T) {
	key := bytes.Repeat([]byte{7}, keySize)
	dir := IdentityDir("root", "My Server", []byte("identity"), key)
	if want := filepath.Join("root", "my-server-7a58bda47a084a16"); dir != want {
		t.Errorf("IdentityDir = %q, want %q", dir, want)
	}
	for name, other := range map[string]string{
		"another identity": IdentityDir("root", "My Server", []byte("identitz"), key),
		"another key":      IdentityDir("root", "My Server", []byte("identity"), key[1:]),
		"another server":   IdentityDir("root", "Server", []byte("identity"), key),
	} {
		if other == dir {
			t.Errorf("%s has the same folder", name)
		}
	}
	for _, server := range []string{"", "..", "a/b", `a\b`, "a\x00b"} {
		if got := IdentityDir("root", server, nil, key); filepath.Dir(got) != "root" || strings.ContainsAny(got[5:], `./\`+"\x00") {
			t.Errorf("IdentityDir of %q leaves the root: %q", server, got)
		}
	}
}

func TestLoadKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "mcp-facade", "key")
	key, err := LoadKey(path)
	if err != nil || len(key) != keySize || bytes.Equal(key, make([]byte, keySize)) {
		t.Fatalf("LoadKey = %x, %v", key, err)
	}
	again, err := LoadKey(path)
	if err != nil || !bytes.Equal(key, again) {
		t.Errorf("LoadKey again = %x, %v; want %x", again, err, key)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("files %v, %v; want the key alone", entries, err)
	}
}

func TestLoadKeySaysWhyNot(t *testing.T) {
	tests := []struct {
		name string
		hurt func(t *testing.T, path string)
		want string
	}{
		{"a file that is too short", func(t *testing.T, path string) { os.WriteFile(path, make([]byte, 31), 0o600) },
			"read the key of the cache: PATH is not 32 bytes long; remove it, and a new one is made"},
		{"a file that is too long", func(t *testing.T, path string) { os.WriteFile(path, make([]byte, 33), 0o600) },
			"read the key of the cache: PATH is not 32 bytes long; remove it, and a new one is made"},
		{"a folder", func(t *testing.T, path string) { os.Mkdir(path, 0o700) },
			"read the key of the cache: PATH is not a regular file"},
		{"a symbolic link", func(t *testing.T, path string) {
			if err := os.Symlink(path+".real", path); err != nil {
				t.Skip(err)
			}
		}, "read the key of the cache: PATH is not a regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key")
			tt.hurt(t, path)
			want := strings.ReplaceAll(tt.want, "PATH", path)
			if key, err := LoadKey(path); err == nil || err.Error() != want {
				t.Errorf("LoadKey = %x, %v; want %q", key, err, want)
			}
		})
	}
}

func TestKeysAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "key")
	keys := make([][]byte, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			key, err := LoadKey(path)
			if err != nil {
				t.Errorf("LoadKey: %v", err)
			}
			keys[i] = key
		})
	}
	wg.Wait()
	for _, key := range keys {
		if !bytes.Equal(key, keys[0]) {
			t.Fatalf("keys made at once differ: %x", keys)
		}
	}
}

func TestCreateExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := createExclusive(path, []byte("1")); err != nil {
		t.Fatal(err)
	}
	if err := createExclusive(path, []byte("2")); !os.IsExist(err) {
		t.Errorf("createExclusive over a file: %v", err)
	}
	if got := read(t, path); string(got) != "1" {
		t.Errorf("the file holds %q, want the first", got)
	}
}
