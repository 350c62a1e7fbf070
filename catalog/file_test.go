package catalog

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fullHead has a value in every field, with line ends and broken UTF-8 where
// they could do harm.
func fullHead() Head {
	return Head{
		View:       View{Era: "legacy", Version: "2025-11-25\n", Capabilities: []string{"elicitation", "roots", "x=\"\xff\\\""}},
		Opening:    []byte("{\n  \"protocolVersion\": \"2025-11-25\"\r\n}"),
		Handshake:  []byte(`{"n":9007199254740993,"s":"\u0041"}`),
		Listed:     time.Unix(1_800_000_000, 123_456_789).UTC(),
		TTL:        90 * time.Second,
		Revalidate: true,
		Renderings: []Rendering{{"new \x00\x1f\x7f\xfe", []byte("[1,\n2]")}, {"", nil}},
	}
}

func fullLists() Lists {
	return Lists{
		"tools/list":   {[]byte("{\"tools\":[\n]}"), {}, []byte(`{"tools":[{"name":"a"}]}`)},
		"prompts/list": {[]byte(`{"prompts":[]}`)},
		"empty/list":   {},
		"odd \"\n\xff": {[]byte("\x00\n")},
	}
}

func encode(t testing.TB, h Head, l Lists) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := writeView(&out, h, l); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// decode reads everything in the file.
func decode(data []byte) (Head, Lists, error) {
	r := bytes.NewReader(data)
	f, err := readView(r, int64(len(data)))
	if err != nil {
		return Head{}, nil, err
	}
	lists := Lists{}
	for i := range f.sections {
		pages, err := f.sections[i].read(r)
		if err != nil {
			return Head{}, nil, err
		}
		lists[f.sections[i].method] = pages
	}
	return f.head, lists, nil
}

func TestFileRoundTrip(t *testing.T) {
	long := fullHead()
	long.Renderings = []Rendering{{"long", bytes.Repeat([]byte("x"), firstRead)}}
	tests := []struct {
		name string
		head Head
		l    Lists
	}{
		{"keeps everything byte for byte", fullHead(), fullLists()},
		{"keeps nothing", Head{}, Lists{}},
		{"keeps a head that is longer than the first read", long, fullLists()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := encode(t, tt.head, tt.l)
			h, l, err := decode(data)
			if err != nil {
				t.Fatalf("read %.200q: %v", data, err)
			}
			if diff := cmp.Diff(tt.head, h); diff != "" {
				t.Errorf("head (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.l, l); diff != "" {
				t.Errorf("lists (-want +got):\n%s", diff)
			}
			if again := encode(t, h, l); !bytes.Equal(again, data) {
				t.Errorf("written again:\n%q\nwant\n%q", again, data)
			}
		})
	}
}

func TestFileBegins(t *testing.T) {
	data := encode(t, commandHead(), Lists{"tools/list": {[]byte(`{"tools":[]}`)}})
	want := "mcp-facade-catalog 1 212 bf0e108f 0000000000272\n" +
		`{"era":"legacy","version":"2025-11-25","capabilities":[],"listed":1000000000,"ttl":0,"revalidate":false,` +
		`"opening":0,"handshake":2,"renderings":[],"lists":[{"method":"tools/list","crc":556916373,"pages":[12]}]}` + "\n" +
		`{}` + `{"tools":[]}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("a file (-want +got):\n%s\nThe format changed: raise formatVersion.", diff)
	}
}

// commandHead is the smallest head that is like a real one.
func commandHead() Head {
	return Head{View: CommandView(), Handshake: []byte("{}"), Listed: time.Unix(1, 0).UTC()}
}

func TestDamagedFileIsRefused(t *testing.T) {
	data := encode(t, fullHead(), fullLists())
	for n := range data {
		if _, _, err := decode(data[:n]); err == nil {
			t.Errorf("read the first %d of %d bytes without an error", n, len(data))
		}
		for _, bit := range []byte{0x01, 0x20, 0x80} {
			bad := bytes.Clone(data)
			bad[n] ^= bit
			if _, _, err := decode(bad); err == nil {
				t.Errorf("read without an error, with byte %d %q changed to %q", n, data[n], bad[n])
			}
		}
	}
	if _, _, err := decode(append(bytes.Clone(data), 'x')); err == nil {
		t.Error("read a file that is a byte longer than it says")
	}
}

func TestFileOfOthersIsRefused(t *testing.T) {
	tests := []struct{ name, data, want string }{
		{"is empty", "", "is not a catalog file"},
		{"is another's", "#!/bin/sh\nexit\n", "is not a catalog file"},
		{"has no lines", string(bytes.Repeat([]byte(magic), 1000)), "is not a catalog file"},
		{"is newer", "mcp-facade-catalog 2 0 00000000 000000000046\n", `has format "2", and this program reads 1`},
		{"says too little", "mcp-facade-catalog 1\n", "is damaged"},
		{"has a negative head", firstLineLike(-1, 0), "is damaged"},
		{"has a head beyond its end", firstLineLike(1<<40, 0), "is 58 bytes long instead of 1099511627834"},
		{"has no index", firstLineLike(0, 0), "is damaged"},
		{"has an index that is no JSON", sealed("{\n"), "is damaged"},
		{"has values beyond the head", sealed(`{"opening":9}` + "\n"), "is damaged"},
		{"has a negative value", sealed(`{"opening":-1}` + "\n"), "is damaged"},
		{"has more than its values", sealed(`{}` + "\nx"), "is damaged"},
		{"has pages beyond the end", sealed(`{"lists":[{"pages":[1]}]}` + "\n"), "is damaged"},
		{"has pages that overflow", sealed(`{"lists":[{"pages":[9223372036854775807,9223372036854775807,2]}]}` + "\n"), "is damaged"},
		{"has a negative page", sealed(`{"lists":[{"pages":[-1,1]}]}` + "\n"), "is damaged"},
		{"has odd types", sealed(`{"renderings":7,"lists":{"a":[]},"era":[],"capabilities":"x"}` + "\n"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := decode([]byte(tt.data))
			if got := fmt.Sprint(err); got != tt.want && !(err == nil && tt.want == "") {
				t.Errorf("read %q: %q, want %q", tt.data, got, tt.want)
			}
		})
	}
}

// firstLineLike is a first line with that head and body, and nothing after it.
func firstLineLike(head, body int64) string {
	return string(appendFirstLine(nil, head, 0, body))
}

// sealed is a file with that head, right sums and no sections.
func sealed(head string) string {
	line := appendFirstLine(nil, int64(len(head)), crc32.ChecksumIEEE([]byte(head)), 0)
	return string(line) + head
}

func TestWriteFails(t *testing.T) {
	for _, room := range []int{0, 10, 70_000} {
		lists := Lists{"tools/list": {bytes.Repeat([]byte("x"), 200_000)}}
		if err := writeView(&fullDisk{room: room}, fullHead(), lists); err != errDiskFull {
			t.Errorf("write with room for %d bytes: %v, want %v", room, err, errDiskFull)
		}
	}
}

// A fullDisk is a writer that fails after so many bytes.
type fullDisk struct{ room int }

var errDiskFull = fmt.Errorf("no space left on device")

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.room)
	d.room -= n
	if n < len(p) {
		return n, errDiskFull
	}
	return n, nil
}

// FuzzLoad reads any bytes as a file, and as the head of a file with right sums.
func FuzzLoad(f *testing.F) {
	f.Add(encode(f, fullHead(), fullLists()))
	f.Add(encode(f, commandHead(), Lists{}))
	f.Add([]byte(`{"renderings":[{"size":1}],"opening":1,"lists":[{"method":"a","pages":[0]}]}` + "\nab"))
	f.Add([]byte("mcp-facade-catalog 1 0 00000000 000000000046\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, []byte(sealed(string(data)))} {
			h, l, err := decode(data)
			if err != nil {
				continue
			}
			h2, l2, err := decode(encode(t, h, l))
			if err != nil || !cmp.Equal(h, h2) || !cmp.Equal(l, l2) {
				t.Errorf("read %q: %+v %q; written and read again: %+v %q, %v", data, h, l, h2, l2, err)
			}
		}
	})
}
