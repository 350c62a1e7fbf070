package upstream

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcp-facade/facade/wire"
)

// An eventRead is one return of next.
type eventRead struct {
	event
	Err error
}

// readEvents calls next until the stream's end.
func readEvents(t *testing.T, e *events) []eventRead {
	t.Helper()
	var all []eventRead
	for {
		ev, err := e.next()
		if err == io.EOF {
			return all
		}
		if err != nil && err != wire.ErrTooLarge {
			t.Fatalf("next: %v", err)
		}
		if err != nil {
			ev.Data = nil
		}
		all = append(all, eventRead{ev, err})
	}
}

func dataEvent(s string) eventRead { return eventRead{event: event{Data: []byte(s)}} }

var streams = []struct {
	name, stream string
	want         []eventRead
}{
	{"reads an event", "data: {}\n\n", []eventRead{dataEvent("{}")}},
	{"reads each field", "event: message\nid: 7\nretry: 1500\ndata: {}\n\n",
		[]eventRead{{event: event{Type: "message", Data: []byte("{}"), ID: "7", HasID: true, Retry: 1500 * time.Millisecond}}}},
	{"takes lines that end in CR", "data: a\rdata: b\r\rdata: c\r\r", []eventRead{dataEvent("a\nb"), dataEvent("c")}},
	{"takes lines that end in CRLF", "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", []eventRead{dataEvent("a\nb"), dataEvent("c")}},
	{"takes lines that end in each", "data: a\rdata: b\ndata: c\r\n\r\r\n\ndata: d\n\r", []eventRead{dataEvent("a\nb\nc"), dataEvent("d")}},
	{"cuts a byte order mark", "\uFEFFdata: a\n\n", []eventRead{dataEvent("a")}},
	{"cuts one byte order mark", "\uFEFF\uFEFFdata: a\n\ndata: b\n\n", []eventRead{dataEvent("b")}},
	{"keeps a byte order mark in the data", "data: \uFEFFa\n\n", []eventRead{dataEvent("\uFEFFa")}},
	{"cuts one space", "data:  a \n\ndata:b\n\n", []eventRead{dataEvent(" a "), dataEvent("b")}},
	{"keeps colons", "data: a: b:\n\n", []eventRead{dataEvent("a: b:")}},
	{"takes fields without a colon", "data\n\ndata\ndata\n\n", []eventRead{dataEvent(""), dataEvent("\n")}},
	{"ignores comments", ": ping\ndata: a\n:data: b\n:\n\n: ping\n\n", []eventRead{dataEvent("a")}},
	{"ignores other fields", "Data: a\ndata : b\n data: c\ndatab: d\ndata: e\n\n", []eventRead{dataEvent("e")}},
	{"skips an event without data", "event: ping\n\ndata: a\n\n", []eventRead{dataEvent("a")}},
	{"returns an id without data", "id: 7\n\n", []eventRead{{event: event{ID: "7", HasID: true}}}},
	{"returns a retry without data", "retry: 10\n\n", []eventRead{{event: event{Retry: 10 * time.Millisecond}}}},
	{"takes an empty id", "id\ndata: a\n\n", []eventRead{{event: event{Data: []byte("a"), HasID: true}}}},
	{"ignores an id with NUL", "id: 7\nid: 8\x00\ndata: a\n\n", []eventRead{{event: event{Data: []byte("a"), ID: "7", HasID: true}}}},
	{"does not carry an id over", "id: 7\ndata: a\n\ndata: b\n\n",
		[]eventRead{{event: event{Data: []byte("a"), ID: "7", HasID: true}}, dataEvent("b")}},
	{"ignores a retry that is no number", "retry: 1.5\nretry: -1\nretry: +1\nretry\nretry: 1 \n\n", nil},
	{"bounds a retry", "retry: 86400000\n\nretry: 99999999999999999999999\n\n",
		[]eventRead{{event: event{Retry: maxRetry}}, {event: event{Retry: maxRetry}}}},
	{"drops an event that is cut", "data: a\n\ndata: b\n", []eventRead{dataEvent("a")}},
	{"drops a line that is cut", "data: a\n\ndata: b", []eventRead{dataEvent("a")}},
	{"reads nothing", "", nil},
	{"reads blank lines", "\n\r\n\r\n\n", nil},
	{"passes over data that are too large", "id: 1\ndata: " + strings.Repeat("x", 100) + "\nretry: 1\n\ndata: a\n\n",
		[]eventRead{{event{ID: "1", HasID: true, Retry: time.Millisecond}, wire.ErrTooLarge}, dataEvent("a")}},
	{"passes over lines that are too many", strings.Repeat("data: 1234567\n", 13) + "\ndata: a\n\n",
		[]eventRead{{Err: wire.ErrTooLarge}, dataEvent("a")}},
	{"takes as many lines as go in", strings.Repeat("data: 12345\n", 10) + "\n", []eventRead{dataEvent(strings.Repeat("12345\n", 9) + "12345")}},
	{"takes a line as long as goes in", "data: " + strings.Repeat("x", 94) + "\n\n", []eventRead{dataEvent(strings.Repeat("x", 94))}},
	{"drops an event that is too large and cut", "data: " + strings.Repeat("x", 100), nil},
}

// limited reads with buffers of a few bytes and a limit of 100.
func limited(r io.Reader, buf int) *events {
	e := newEvents(r)
	e.max, e.buf = 100, make([]byte, buf)
	return e
}

func TestEvents(t *testing.T) {
	for _, test := range streams {
		t.Run("it "+test.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"at once":      strings.NewReader(test.stream),
				"byte by byte": iotest.OneByteReader(strings.NewReader(test.stream)),
				"with the end": iotest.DataErrReader(strings.NewReader(test.stream)),
			} {
				if diff := cmp.Diff(test.want, readEvents(t, limited(r, 4)), sameRead); diff != "" {
					t.Errorf("%s: events of %q (-want +got):\n%s", name, test.stream, diff)
				}
			}
		})
	}
}

var sameRead = cmp.Options{
	cmp.AllowUnexported(eventRead{}),
	cmp.Comparer(func(a, b error) bool { return a == b }),
}

// TestEventsDoNotWait shows that an event is given out with the byte that ends
// its blank line, also when that is a carriage return that a line feed may follow.
func TestEventsDoNotWait(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r", "\n\r"} {
		r, w := io.Pipe()
		e := newEvents(r)
		for range 2 {
			go io.WriteString(w, "data: a"+end)
			ev, err := e.next() // hangs if it wants to read more
			if err != nil || string(ev.Data) != "a" {
				t.Errorf("event before %q: %q, %v", end, ev.Data, err)
			}
		}
		go func() {
			io.WriteString(w, "\ndata: b\n\n")
			w.Close()
		}()
		if got := readEvents(t, e); len(got) != 1 || string(got[0].Data) != "b" {
			t.Errorf("events after %q: %v", end, got)
		}
	}
}

func TestEventsEndWithTheStreamsError(t *testing.T) {
	broken := errors.New("broken")
	e := newEvents(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)))
	ev, err := e.next()
	if string(ev.Data) != "a" || err != nil {
		t.Errorf("first: %q, %v", ev.Data, err)
	}
	for range 2 {
		if ev, err := e.next(); err != broken {
			t.Errorf("then: %q, %v, want %v", ev.Data, err, broken)
		}
	}
}

func TestEventsGiveTheirDataAway(t *testing.T) {
	e := newEvents(strings.NewReader("data: first\n\ndata: second\n\n"))
	first, _ := e.next()
	first.Data = append(first.Data, "and more than there was"...)
	second, _ := e.next()
	if string(second.Data) != "second" || string(first.Data[:5]) != "first" {
		t.Errorf("after a change of the first: %q, %q", first.Data, second.Data)
	}
}

// endless is a stream that repeats itself up to n bytes.
type endless struct {
	text string
	n    int
}

func (r *endless) Read(p []byte) (int, error) {
	if r.n <= 0 {
		return 0, io.EOF
	}
	n := copy(p, r.text)
	r.n -= n
	r.text = r.text[n:] + r.text[:n]
	return n, nil
}

// TestEventsBoundTheirMemory shows how little is held of a stream that does not
// end an event.
func TestEventsBoundTheirMemory(t *testing.T) {
	for _, text := range []string{"x", ": comment\n", "data: x\n", "id: x\n"} {
		e := newEvents(&endless{strings.Repeat(text, 100), 10 << 20})
		e.max = 1 << 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if ev, err := e.next(); err != io.EOF {
			t.Errorf("a stream of %q has an event: %v, %v", text, ev, err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if held := int(after.HeapAlloc) - int(before.HeapAlloc); held > e.max {
			t.Errorf("of a stream of %q, %d bytes are held", text, held)
		}
		runtime.KeepAlive(e)
	}
}

// model reads a stream as the standard's text says it, all at once.
func model(stream string, limit int) []eventRead {
	whole := len(stream)
	stream = strings.TrimPrefix(stream, "\uFEFF")
	mark := whole - len(stream) // counts for the first line's length
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(stream, "\n")
	var all []eventRead
	var ev eventRead
	var values []string
	for i, line := range lines[:len(lines)-1] {
		if i > 0 {
			mark = 0
		}
		if line == "" {
			if values != nil {
				ev.Data = []byte(strings.Join(values, "\n"))
			}
			if len(ev.Data) > limit {
				ev.Err = wire.ErrTooLarge
			}
			if ev.Err != nil {
				ev.Data = nil
			}
			if ev.Err != nil || ev.Data != nil || ev.HasID || ev.Retry > 0 {
				all = append(all, ev)
			}
			ev, values = eventRead{}, nil
			continue
		}
		if len(line)+mark > limit {
			ev.Err = wire.ErrTooLarge
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			values = append(values, value)
		case "event":
			ev.Type = value
		case "id":
			if !strings.ContainsFunc(value, isControl) {
				ev.ID, ev.HasID = value, true
			}
		case "retry":
			if value != "" && strings.Trim(value, "0123456789") == "" {
				ms, err := strconv.Atoi(value)
				if err != nil || ms > int(maxRetry/time.Millisecond) {
					ms = int(maxRetry / time.Millisecond)
				}
				ev.Retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
	return all
}

// randomReads reads a stream in pieces of random length.
type randomReads struct {
	text string
	rand *rand.Rand
}

func (r *randomReads) Read(p []byte) (int, error) {
	if r.text == "" {
		return 0, io.EOF
	}
	n := copy(p, r.text[:1+r.rand.IntN(min(len(r.text), 20))])
	r.text = r.text[n:]
	return n, nil
}

// FuzzEvents compares next with the model, however the stream is cut.
func FuzzEvents(f *testing.F) {
	for i, test := range streams {
		f.Add(test.stream, uint64(i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, stream string, seed uint64, buf uint8) {
		e := limited(&randomReads{stream, rand.New(rand.NewPCG(seed, 0))}, max(1, int(buf)))
		got := readEvents(t, e)
		if diff := cmp.Diff(model(stream, e.max), got, sameRead); diff != "" {
			t.Errorf("events of %q (-model +next):\n%s", stream, diff)
		}
	})
}

func BenchmarkEvents(b *testing.B) {
	for _, size := range []int{200, 1 << 20} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			stream := []byte("event: message\nid: 17\ndata: " + strings.Repeat("x", size) + "\n\n")
			b.ReportAllocs()
			b.SetBytes(int64(len(stream)))
			for b.Loop() {
				ev, err := newEvents(bytes.NewReader(stream)).next()
				if err != nil || len(ev.Data) != size {
					b.Fatal(len(ev.Data), err)
				}
			}
		})
	}
}
