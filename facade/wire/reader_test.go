package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

const (
	frame1 = `{"jsonrpc":"2.0","id":1,"result":{"a":"{}"}}`
	frame2 = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"n":[1,{"x":2}]}}`
	pretty = "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 3,\n  \"result\": {\n    \"x\": [\n      1\n    ]\n  }\n}"
	joined = `{"jsonrpc": "2.0","id": 3,"result": {"x": [1]}}`
)

// streams are what a Reader is given, the frames that it finds (each on one
// line) and what it says of the rest.
var streams = []struct {
	name, stream string
	frames       []string
	noise        []string
}{
	{"reads frames", frame1 + "\n" + frame2 + "\n", []string{frame1, frame2}, nil},
	{"reads the last line without its end", frame1 + "\n" + frame2, []string{frame1, frame2}, nil},
	{"reads CRLF, blank lines and white space", "\r\n\n  " + frame1 + " \t\r\n\r\n \n" + frame2 + "\r\n", []string{frame1, frame2}, nil},
	{"reads a byte order mark", "\uFEFF" + frame1 + "\n \uFEFF\n\uFEFF" + pretty, []string{frame1, joined}, nil},
	{"reports other text", "Server started\n" + frame1 + "\nbye", []string{frame1}, []string{"not JSON: Server started", "not JSON: bye"}},
	{"reports other JSON", "42\n[]\n\"x\"\n{\"level\":\"info\"}\n" + frame1, []string{frame1}, []string{
		"not a JSON-RPC 2.0 message: not an object: 42", "a batch: []", "not a JSON-RPC 2.0 message: not an object: \"x\"",
		`not a JSON-RPC 2.0 message: "jsonrpc" is not "2.0": {"level":"info"}`}},
	{"reports a batch", "[" + frame1 + "," + frame2 + "]\n" + frame1, []string{frame1}, []string{"a batch: [" + frame1 + "," + frame2 + "]"}},
	{"finds a frame after text", "foo" + frame1 + "\n> " + frame2 + "\n", []string{frame1, frame2}, []string{"not JSON: foo", "not JSON: > "}},
	{"finds a frame with other first keys after text", `foo{ "id":7,"jsonrpc":"2.0","result":{}}`, []string{`{ "id":7,"jsonrpc":"2.0","result":{}}`}, []string{"not JSON: foo"}},
	{"finds a frame after text with braces", "{x} {{[" + frame1, []string{frame1}, []string{"not JSON: {x} {{["}},
	{"finds a frame after many braces", strings.Repeat("{", 100) + frame1, []string{frame1}, []string{"not JSON: " + strings.Repeat("{", 100)}},
	{"finds a frame after another object", `{"level":"info"} ` + frame1, []string{frame1}, []string{`not JSON: {"level":"info"} `}},
	{"finds a frame after half a frame", `{"jsonrpc":"2.0","id":1,"res` + frame1, []string{frame1}, []string{`not JSON: {"jsonrpc":"2.0","id":1,"res`}},
	{"finds a frame after an open object", `{"a":` + frame1, []string{frame1}, []string{`not JSON: {"a":`}},
	{"finds frames on one line", frame1 + frame2 + " " + frame1 + "\n" + frame2, []string{frame1, frame2, frame1, frame2}, nil},
	{"finds frames on one line after text", "foo" + frame1 + frame2 + "\n", []string{frame1, frame2}, []string{"not JSON: foo"}},
	{"reports text after a frame", frame1 + " bar\n" + frame2, []string{frame1, frame2}, []string{"not JSON: bar"}},
	{"takes a frame within a line of text for text", "sent: " + frame1 + " to host\n", nil, []string{"not JSON: sent: " + frame1 + " to host"}},
	{"takes a frame within JSON for text", `{"level":"info","msg":` + frame1 + "}\n", nil, []string{`not a JSON-RPC 2.0 message: "jsonrpc" is not "2.0": {"level":"info","msg":` + frame1 + "}"}},
	{"joins a frame on several lines", pretty + "\n" + frame1 + "\n", []string{joined, frame1}, nil},
	{"joins frames on several lines", pretty + "\n" + pretty + "\r\n\n" + strings.ReplaceAll(pretty, "\n", "\r\n"), []string{joined, joined, joined}, nil},
	{"joins frames that follow each other within a line", pretty + pretty + frame1 + "x\n" + frame2, []string{joined, joined, frame1, frame2}, []string{"not JSON: x"}},
	{"reports an object on several lines", "{\n\"level\": 1\n}\n" + frame1, []string{frame1}, []string{
		`not a JSON-RPC 2.0 message: "jsonrpc" is not "2.0": {`, `not a JSON-RPC 2.0 message: "jsonrpc" is not "2.0": "level": 1`, `not a JSON-RPC 2.0 message: "jsonrpc" is not "2.0": }`}},
	{"reports what never becomes a frame", "{\nstarting\n}\n" + frame1, []string{frame1}, []string{"not JSON: {", "not JSON: starting", "not JSON: }"}},
	{"finds a frame within a frame that never ends", "{\n\"jsonrpc\": \"2.0\",\n" + frame1 + "\n\"id\": 1}\n" + frame2, []string{frame1, frame2}, []string{
		"not JSON: {", "not JSON: \"jsonrpc\": \"2.0\",", "not JSON: \"id\": 1}"}},
	{"finds a frame within a list that never ends", "{ \"a\": [\n" + frame1 + "\n" + frame2 + "\n", []string{frame1, frame2}, []string{"not JSON: { \"a\": ["}},
	{"joins a frame after half a frame", "{\n\"jsonrpc\": \"2.0\",\n" + pretty + "\n", []string{joined}, []string{"not JSON: {", "not JSON: \"jsonrpc\": \"2.0\","}},
	{"joins a frame within what never becomes one", "{ \"a\": [\n" + pretty + "\nend\n" + frame1, []string{joined, frame1}, []string{"not JSON: { \"a\": [", "not JSON: end"}},
	{"joins a frame within what the stream cuts off", "{ \"a\": [\n" + pretty, []string{joined}, []string{"not JSON: { \"a\": ["}},
	{"reports half a frame at the end", `{"jsonrpc":"2.0",` + "\n", nil, []string{`not JSON: {"jsonrpc":"2.0",`}},
	{"replaces what is not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"result\":\"a\xffb\xed\xa0\x80\"}\n" + frame1, []string{"{\"jsonrpc\":\"2.0\",\"id\":\"\ufffd\",\"result\":\"a\ufffdb\ufffd\"}", frame1},
		[]string{"not UTF-8: {\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"result\":\"a\xffb\xed\xa0\x80\"}"}},
	{"leaves text before a frame as it is", "\xff" + frame1, []string{frame1}, []string{"not JSON: \xff"}},
	{"leaves text that is not ASCII", `{"jsonrpc":"2.0","id":1,"result":"日本語 é 🎉 \ud800"}`, []string{`{"jsonrpc":"2.0","id":1,"result":"日本語 é 🎉 \ud800"}`}, nil},
	{"skips NUL", "\x00" + frame1 + "\n\x00\n", []string{frame1}, []string{"not JSON: \x00", "not JSON: \x00"}},
	{"reads nothing", "", nil, nil},
}

func TestReader(t *testing.T) {
	for _, test := range streams {
		t.Run("it "+test.name, func(t *testing.T) {
			for _, r := range []io.Reader{
				strings.NewReader(test.stream),
				iotest.OneByteReader(strings.NewReader(test.stream)),
				iotest.DataErrReader(iotest.HalfReader(strings.NewReader(test.stream))),
			} {
				frames, noise := readAll(t, r)
				if diff := cmp.Diff(test.frames, frames); diff != "" {
					t.Errorf("frames of %q (-want +got):\n%s", test.stream, diff)
				}
				if diff := cmp.Diff(test.noise, noise); diff != "" {
					t.Errorf("noise of %q (-want +got):\n%s", test.stream, diff)
				}
			}
		})
	}
}

func readAll(t *testing.T, stream io.Reader) (frames, noise []string) {
	t.Helper()
	r := NewReader(stream, func(line []byte, err error) { noise = append(noise, fmt.Sprintf("%v: %s", err, line)) })
	return drain(t, r), noise
}

func drain(t *testing.T, r *Reader) (frames []string) {
	t.Helper()
	for {
		m, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		checkRanges(t, m)
		frames = append(frames, string(OneLine(m.Raw)))
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("Next after the end: %v", err)
	}
	return frames
}

func TestReaderReturnsTheStreamsError(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(strings.NewReader(frame1+"\n"+frame2), iotest.ErrReader(broken)), nil)
	for _, want := range []string{frame1, frame2} {
		if m, err := r.Next(); err != nil || string(m.Raw) != want {
			t.Fatalf("Next() = %q, %v, want %q", m.Raw, err, want)
		}
	}
	for range 2 {
		if _, err := r.Next(); err != broken {
			t.Errorf("Next() at the end: %v, want %v", err, broken)
		}
	}
}

// stuck is a stream that neither gives bytes nor ends.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestReaderGivesUpOnAStuckStream(t *testing.T) {
	if _, err := NewReader(stuck{}, nil).Next(); err != io.ErrNoProgress {
		t.Errorf("Next() = %v, want %v", err, io.ErrNoProgress)
	}
}

func TestReaderSkipsWhatIsTooLarge(t *testing.T) {
	long := func(n int) string { return `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", n-36) + `"}` }
	for _, max := range []int{100, chunk - 1, chunk, chunk + 1, 3*chunk + 7} {
		for _, size := range []int{max + 1, max + chunk, 2 * max} {
			stream := "\n" + frame1 + "\n" + long(max) + "\n" + long(size) + frame1 + "\n" + frame2 + "\n" + long(size)
			var noise []error
			var head string
			r := NewReader(strings.NewReader(stream), func(line []byte, err error) {
				noise, head = append(noise, err), string(line)
			})
			r.lines.max = max
			if diff := cmp.Diff([]string{frame1, long(max), frame2}, drain(t, r)); diff != "" {
				t.Errorf("max %d, size %d: frames (-want +got):\n%s", max, size, diff)
			}
			if !slices.Equal(noise, []error{ErrTooLarge, ErrTooLarge}) || !strings.HasPrefix(long(size), head) || len(head) < 100 {
				t.Errorf("max %d, size %d: noise %v, %q", max, size, noise, head)
			}
		}
	}
}

// endless is a stream of n times the same byte.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = '{'
	}
	e.n -= len(p)
	return len(p), nil
}

func TestReaderBoundsItsMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := NewReader(&endless{n: 64 << 20}, nil)
	r.lines.max = 1 << 20
	if _, err := r.Next(); err != io.EOF {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("64 MiB without a line end took %d bytes of memory", got)
	}
}

func TestReaderBoundsWhatItHolds(t *testing.T) {
	for _, test := range []struct {
		name, line string
		count      int
	}{
		{"lines", "1,\n", maxHeldLines + 10},
		{"bytes", `"` + strings.Repeat("x", 100_000) + "\",\n", maxHeld/100_000 + 10},
	} {
		t.Run("it bounds "+test.name, func(t *testing.T) {
			lines := 0
			stream := "{\"a\":[\n" + strings.Repeat(test.line, test.count) + frame1 + "\n" + pretty
			r := NewReader(strings.NewReader(stream), func([]byte, error) { lines++ })
			if diff := cmp.Diff([]string{frame1, joined}, drain(t, r)); diff != "" {
				t.Errorf("frames (-want +got):\n%s", diff)
			}
			if want := strings.Count(stream, "\n") - strings.Count(pretty, "\n") - 1; lines != want {
				t.Errorf("%d lines of noise, want %d", lines, want)
			}
			if len(r.held) > 0 || len(r.again) > 0 {
				t.Errorf("%d bytes and %d lines are still held", len(r.held), len(r.again))
			}
		})
	}
}

func TestReaderBoundsItsWork(t *testing.T) {
	lines := 0
	r := NewReader(strings.NewReader(strings.Repeat("{\"a\":\n", 20_000)+frame1), func([]byte, error) { lines++ })
	if diff := cmp.Diff([]string{frame1}, drain(t, r)); diff != "" || lines != 20_000 {
		t.Errorf("%d lines of noise, frames (-want +got):\n%s", lines, diff)
	}
}

func TestReaderGivesItsBytesAway(t *testing.T) {
	r := NewReader(strings.NewReader(frame1+frame2+"\n"+frame1+"\n"+pretty+frame2), nil)
	for _, want := range []string{frame1, frame2, frame1, pretty, frame2} {
		m, err := r.Next()
		if err != nil || string(OneLine(m.Raw)) != string(unindent(want)) {
			t.Fatalf("Next() = %q, %v, want %q", m.Raw, err, want)
		}
		_ = append(m.Raw, bytes.Repeat([]byte("!"), 100)...)
		clear(m.Raw)
	}
}

// unindent is what OneLine and a Reader make of an indented frame.
func unindent(frame string) []byte {
	var out []byte
	for line := range strings.SplitSeq(frame, "\n") {
		out = append(out, strings.TrimSpace(line)...)
	}
	return out
}

func FuzzReader(f *testing.F) {
	for _, test := range streams {
		f.Add([]byte(test.stream), uint8(3))
	}
	f.Fuzz(func(t *testing.T, stream []byte, pick uint8) {
		r := NewReader(bytes.NewReader(stream), func([]byte, error) {})
		for {
			m, err := r.Next()
			if err != nil {
				break
			}
			if _, err := Parse(m.Raw); err != nil || !utf8.Valid(m.Raw) {
				t.Fatalf("%q: returned %q: %v", stream, m.Raw, err)
			}
			checkRanges(t, m)
		}
		checkInterleaved(t, stream, pick)
	})
}

// checkInterleaved reads frames with the fuzzed lines between them, those left
// out that hold frames or their beginning.
func checkInterleaved(t *testing.T, text []byte, pick uint8) {
	t.Helper()
	known := []string{frame1, frame2, pretty}
	var stream []byte
	var want []string
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		frame := known[int(pick)%len(known)]
		pick = pick*5 + 1
		want = append(want, string(unindent(frame)))
		if bytes.ContainsAny(line, "{") {
			line = nil
		}
		stream = append(append(append(stream, line...), '\n'), frame+"\n"...)
	}
	got, _ := readAll(t, bytes.NewReader(stream))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("frames of %q (-want +got):\n%s", stream, diff)
	}
}
