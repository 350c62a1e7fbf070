package upstream

import (
	"bytes"
	"io"
	"strconv"
	"time"

	"mcp-facade/facade/wire"
)

// An event is one of a stream of server-sent events.
type event struct {
	Type  string // "" if none is given, which means "message"
	Data  []byte // nil if none is given
	ID    string
	HasID bool          // an id is given, which may be ""
	Retry time.Duration // 0 if none is given
}

const (
	// firstRead is how much is read at once of a stream's beginning, in bytes:
	// most answers are not longer. Reads grow with the lines, up to maxRead.
	firstRead = 4 << 10
	maxRead   = 256 << 10
	// maxRetry bounds the time that a server may keep a client away.
	maxRetry = time.Hour
	// findStep is how many bytes are searched for one line end before the other.
	findStep = 4 << 10
	// maxID is the longest event id that is taken, in bytes. It is sent back in
	// a header.
	maxID = 1 << 10
)

// events reads server-sent events (HTML Standard, 9.2.6 "Interpreting an event
// stream"). It holds little more than one event.
type events struct {
	r    io.Reader
	max  int               // the most bytes of a line, and of an event's data
	hold func(n int) error // told before each read how many bytes are held, and may wait; nil: nobody cares

	buf     []byte // allocated by the first read
	begin   int    // buf[begin:end] is not given out yet
	end     int
	seen    int      // buf[begin:seen] holds no line end
	pieces  [][]byte // the parts of the line that did not fit into buf
	size    int      // bytes in pieces
	data    int      // bytes of the event's data
	head    []byte   // the beginning of a line that is too long
	skip    bool     // its rest is to be skipped
	afterCR bool     // a line feed that follows belongs to the last line end
	begun   bool     // the first line was given out
	err     error    // what the stream ended with
}

func newEvents(r io.Reader) *events { return &events{r: r, max: wire.MaxFrame} }

// next returns the next event that has data, an id or a retry; its Data are the
// caller's. With wire.ErrTooLarge it returns an event with no more than the
// beginning of its data, and goes on after it when it is called again. After the last event
// it returns the stream's error, each time. An event is complete with the blank
// line after it and not before, and one that is not is dropped: so an answer
// that was cut with its stream is never taken for a whole one.
func (e *events) next() (event, error) {
	var ev event
	large := false
	for {
		e.data = len(ev.Data)
		line, own, err := e.line()
		if err == nil && !ev.add(line, own, e.max) {
			err = wire.ErrTooLarge
		} else if err == wire.ErrTooLarge {
			ev.addHead(line, e.max)
		}
		switch {
		case err == wire.ErrTooLarge:
			large = true
		case err != nil:
			return event{}, err
		case len(line) > 0:
		case large:
			ev.Data = bytes.Clone(ev.Data[:min(len(ev.Data), firstRead)])
			return ev, wire.ErrTooLarge
		case ev.Data != nil || ev.HasID || ev.Retry > 0:
			return ev, nil
		default:
			ev = event{} // of no more than a type
		}
	}
}

// add takes one line of the event, whose bytes it may keep if own. It reports
// false if the data would be more than limit bytes.
func (ev *event) add(line []byte, own bool, limit int) bool {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		return ev.addData(value, own, limit)
	case "event":
		ev.Type = string(value[:min(len(value), maxField)])
	case "id":
		if len(value) <= maxID && !bytes.ContainsFunc(value, isControl) {
			ev.ID, ev.HasID = string(value), true
		}
	case "retry":
		if wait, ok := retry(value); ok {
			ev.Retry = wait
		}
	}
	return true
}

// addHead takes the beginning of a line that is too long.
func (ev *event) addHead(head []byte, limit int) {
	if name, _, _ := bytes.Cut(head, []byte(":")); string(name) == "data" && ev.Data == nil {
		ev.add(head, false, limit)
	}
}

func (ev *event) addData(value []byte, own bool, limit int) bool {
	switch {
	case ev.Data == nil && own && len(value) > 0:
		ev.Data = value
	case ev.Data == nil:
		ev.Data = append(make([]byte, 0, len(value)), value...)
	case len(ev.Data)+1+len(value) > limit:
		return false
	default:
		ev.Data = append(append(ev.Data, '\n'), value...)
	}
	return true
}

// retry reads a time in milliseconds, which is written in digits only.
func retry(value []byte) (time.Duration, bool) {
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	ms, err := strconv.ParseUint(string(value), 10, 64)
	if ms > uint64(maxRetry/time.Millisecond) {
		return maxRetry, true // also if it is too large for a uint64
	}
	return time.Duration(ms) * time.Millisecond, err == nil
}

// line returns the next line without its end. It stays valid until the next
// call, and longer if own. With wire.ErrTooLarge it is the beginning of a line
// that was skipped. What follows the last line end is no line.
func (e *events) line() (line []byte, own bool, err error) {
	for {
		if e.afterCR && e.begin < e.end {
			e.afterCR = false
			if e.buf[e.begin] == '\n' {
				e.begin++
				e.seen = e.begin
			}
		}
		i := lineEnd(e.buf[e.seen:e.end])
		switch {
		case i >= 0:
			return e.take(e.seen + i)
		case e.err != nil:
			return nil, false, e.err
		}
		e.seen = e.end
		e.read()
	}
}

// lineEnd returns where the first carriage return or line feed is in b, or -1.
// It searches in steps, so that a stream that has only one of them is not
// searched to its end for the other at every line.
func lineEnd(b []byte) int {
	for at := 0; at < len(b); at += findStep {
		part := b[at:min(at+findStep, len(b))]
		i := bytes.IndexByte(part, '\n')
		if i >= 0 {
			part = part[:i]
		}
		if j := bytes.IndexByte(part, '\r'); j >= 0 {
			i = j
		}
		if i >= 0 {
			return at + i
		}
	}
	return -1
}

// take gives out the line that ends at end.
func (e *events) take(end int) (line []byte, own bool, err error) {
	line = e.buf[e.begin:end]
	switch {
	case e.skip:
		line, err = e.head, wire.ErrTooLarge
	case e.size+len(line) > e.max:
		line, err = e.beginning(line), wire.ErrTooLarge
	case len(e.pieces) > 0:
		line, own = bytes.Join(append(e.pieces, line), nil), true
	}
	if !e.begun {
		e.begun = true
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	e.afterCR = e.buf[end] == '\r'
	e.begin = end + 1
	e.seen = e.begin
	e.pieces, e.size, e.skip, e.head = nil, 0, false, nil
	return line, own, err
}

// beginning is how the line begins of which rest is in the buffer.
func (e *events) beginning(rest []byte) []byte {
	if len(e.pieces) > 0 {
		rest = e.pieces[0]
	}
	return rest[:min(len(rest), firstRead)]
}

// read reads once. It makes room first, by handing a full buffer to pieces.
func (e *events) read() {
	if !e.skip && e.size+e.end-e.begin > e.max {
		e.skip, e.head = true, bytes.Clone(e.beginning(e.buf[e.begin:e.end]))
	}
	if e.skip {
		e.begin, e.pieces, e.size = e.end, nil, 0
	}
	if e.hold != nil {
		if e.err = e.hold(e.data + e.size); e.err != nil {
			return
		}
	}
	switch {
	case e.begin == e.end:
		e.begin, e.end = 0, 0
	case e.end < len(e.buf):
	case e.begin > 0:
		e.end = copy(e.buf, e.buf[e.begin:])
		e.begin = 0
	default:
		e.pieces, e.size = append(e.pieces, e.buf), e.size+len(e.buf)
		e.buf, e.end = make([]byte, min(2*len(e.buf), maxRead)), 0
	}
	if e.buf == nil {
		e.buf = make([]byte, firstRead)
	}
	e.seen = e.end
	var n int
	n, e.err = io.ReadAtLeast(e.r, e.buf[e.end:], 1)
	e.end += n
}
