package hosts

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
)

// If Wrap succeeds, the result parses, every byte outside the entry is the same,
// and Unwrap gives the original, with what variables have been given since.
func FuzzWrap(f *testing.F) {
	for name, data := range fixtures(f) {
		host, _, _ := strings.Cut(name, "/")
		for i, d := range dialects() {
			if d.Name == host {
				for _, shape := range shapes(data) {
					f.Add(uint8(i), shape)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, host uint8, data []byte) {
		all := dialects()
		d := all[int(host)%len(all)]
		mark, rest := cutMark(data)
		if readable(rest) != nil {
			return
		}
		servers, err := d.find(rest)
		if err != nil {
			return
		}
		file := &File{Host: d.Host, Path: "x", dialect: d, mark: mark, read: rest, data: rest, servers: servers}
		for _, e := range file.Entries() {
			wrapOne(t, file, e)
		}
	})
}

// However white space, comments and trailing commas stand in a file: the same.
func TestAnySpacing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	extras := []string{"", "", "", " ", "\n", "\t", "\r\n  ", "/* c, } */", " // c, \"]\n", "\n    // c\n    ", " /**/ ", "\n\n\t"}
	extra := func() hujson.Extra {
		return hujson.Extra(extras[random.IntN(len(extras))] + extras[random.IntN(len(extras))])
	}
	for name, data := range fixtures(t) {
		host, file, _ := strings.Cut(name, "/")
		if !strings.HasSuffix(file, ".json") {
			continue
		}
		d := named(t, host)
		for range 200 {
			v, err := hujson.Parse(bytes.Clone(data))
			if err != nil {
				t.Fatal(err)
			}
			v.Minimize()
			for v := range v.All() {
				v.BeforeExtra, v.AfterExtra = extra(), extra()
				if object, ok := v.Value.(*hujson.Object); ok {
					object.AfterExtra = extra()
				}
			}
			odd := v.Pack()
			servers, err := d.find(odd)
			if err != nil {
				t.Fatalf("%v in\n%s", err, odd)
			}
			f := &File{Host: d.Host, Path: "x", dialect: d, read: odd, data: odd, servers: servers}
			for _, e := range f.Entries() {
				was := f.data
				wrapOne(t, f, e)
				if bytes.Equal(was, f.data) && !e.Ours {
					if _, err := f.Translate(e); err == nil {
						t.Errorf("%s could not be wrapped in\n%q", e.Name, was)
					}
				}
			}
		}
	}
}

// wrapOne wraps an entry and takes it back.
func wrapOne(t *testing.T, f *File, e Entry) {
	tr, err := f.Translate(e)
	if err != nil {
		return
	}
	s, err := f.look(e)
	if err != nil {
		t.Fatal(err)
	}
	before, old := f.data, *s
	if _, err := f.Wrap(e, tr, command(e)); err != nil {
		return // refused: nothing has changed
	}
	after := f.data
	if again, err := f.dialect.find(after); err != nil || !reflect.DeepEqual(again, f.servers) {
		t.Fatalf("after wrapping %s its servers are %v, %v; taken for %v, in\n%q", e.Name, again, err, f.servers, after)
	}
	if d := f.dialect; d.format == (jsonFormat{}) {
		standard(t, after)
		head, tail := before[:old.text[0].start], before[old.text[0].end:]
		if !bytes.HasPrefix(after, head) || !bytes.HasSuffix(after, tail) {
			t.Fatalf("bytes outside of %s changed:\n%q\n%q", e.Name, before, after)
		}
	}
	if s, err = f.look(e); err != nil {
		t.Fatal(err)
	}
	rotated(t, f, s, tr, before, &old)
	back, err := f.restored(s, before, &old)
	if err != nil || !bytes.Equal(back, before) {
		t.Fatalf("%s: %v; from\n%q over\n%q to\n%q", e.Name, err, before, after, back)
	}
}

// rotated gives the variables of a wrapped entry other values, and takes it back.
func rotated(t *testing.T, f *File, s *found, tr Translation, before []byte, old *found) {
	var edits []edit
	for i, v := range tr.Env {
		edits = append(edits, edit{append(slices.Clone(f.dialect.shape(&s.node).env), v.Name), fmt.Sprintf("rotated%d", i)})
	}
	data, err := f.dialect.format.edit(f.data, *s, edits)
	if err != nil || bytes.Contains(tr.Upstream, []byte("oauth")) { // which some hosts' entries keep
		return
	}
	servers, err := f.dialect.find(data)
	if err != nil {
		t.Fatal(err)
	}
	g := &File{dialect: f.dialect, data: data}
	back, err := g.restored(&servers[slices.IndexFunc(servers, s.isAt)], before, old)
	for i, v := range tr.Env {
		if err != nil || !bytes.Contains(back, fmt.Appendf(nil, "rotated%d", i)) || bytes.Contains(back, []byte(v.Name)) && !bytes.Contains(before, []byte(v.Name)) {
			t.Fatalf("%s: %v; from\n%q over\n%q to\n%q", v.Name, err, before, data, back)
		}
	}
}

// A large file of Claude Code: what its user waits for.
func BenchmarkWrap(b *testing.B) {
	history := strings.Repeat(`{"display": "a prompt that goes on and on and on, as they do, for a line or two of text", "pastedContents": {}},`, 20_000)
	d := newDesk(b)
	d.put("claude-code", false, []byte(`{"projects": {"/p": {"history": [`+strings.TrimSuffix(history, ",")+`]}}, "mcpServers": {"a": {"command": "a"}}}`))
	b.SetBytes(int64(len(d.file().data)))
	b.ReportAllocs()
	for b.Loop() {
		f := d.file()
		e := f.Entries()[0]
		tr, err := f.Translate(e)
		if err == nil {
			_, err = f.Wrap(e, tr, command(e))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
