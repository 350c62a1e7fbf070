package e2e

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"
)

// TestTwoColdStarts starts two facades at the same moment on an empty cache, as
// some hosts do, before a server that takes long to start: both hosts get the
// list, and what is cached is whole. Then a third start answers from it.
func TestTwoColdStarts(t *testing.T) {
	w := newWorld(t)
	c := w.serve(t, postman(t, vendor(t)), "getWorkspaces", "getCollection")
	want := []string{"getWorkspaces", "getCollection", "discover", "describe", "call"}
	// Both have started before either is asked for anything.
	both := []*process{start(t, c), start(t, c)}
	for _, p := range both {
		for _, step := range opening(`{}`) {
			p.send(step.frame)
		}
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	}
	for i, p := range both {
		list := p.until(answered("1"))
		if got := shown(list.Get("result").Raw); !slices.Equal(got, want) {
			t.Errorf("start %d lists %q, want %q", i+1, got, want)
		}
	}
	for _, p := range both {
		p.close()
	}
	wholeCatalog(t, w)

	variable := mark(t, &c)
	p := start(t, c)
	if got := shake(p); !slices.Equal(got, want) {
		t.Errorf("a warm start lists %q, want %q", got, want)
	}
	found := p.exchange(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"discover","arguments":{"query":"publish documentation"}}}`)
	expect(t, "discover from cache", found.Raw, "publishDocumentation")
	if linuxOnly(t); len(marked(t, variable)) != 1 {
		t.Errorf("a warm start that only lists and searches runs %v, want itself alone", marked(t, variable))
	}
}

// wholeCatalog checks that exactly one cached catalog is there, that it is as
// long as its first line says, and that nothing half written lies beside it.
func wholeCatalog(t *testing.T, w *world) {
	t.Helper()
	var found int
	for _, path := range w.catalogs(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, []byte("mcp-facade-catalog ")) {
			t.Logf("beside the catalog: %s, %d bytes", path, len(data))
			continue
		}
		found++
		var version, head, size int
		var crc string
		if _, err := fmt.Sscanf(string(data[:bytes.IndexByte(data, '\n')]), "mcp-facade-catalog %d %d %s %d", &version, &head, &crc, &size); err != nil {
			t.Errorf("%s: first line: %v", path, err)
		}
		if size != len(data) {
			t.Errorf("%s has %d bytes, and says %d", path, len(data), size)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if perm := info.Mode().Perm(); perm != 0o600 {
			t.Errorf("%s has the mode %o, want 600", path, perm)
		}
	}
	if found != 1 {
		t.Errorf("%d catalogs are cached, want 1: %q", found, w.catalogs(t))
	}
}
