package wire

import (
	"bytes"
	"errors"
	"io"
)

// ErrTooLarge is why a line is skipped that is longer than MaxFrame.
var ErrTooLarge = errors.New("larger than 256 MiB")

const (
	// chunk is how much is read at once: what a pipe holds on Linux.
	chunk = 64 << 10
	// headOf is how much of a line that is too long is shown.
	headOf = 1 << 10
)

// lines cuts a stream into lines. It holds little more than one line.
type lines struct {
	r   io.Reader
	max int // the longest line, in bytes

	buf     []byte // allocated by the first read
	begin   int    // buf[begin:end] is not given out yet
	end     int
	seen    int   // buf[begin:seen] holds no line end
	skip    bool  // the rest of a line that was too long is to be skipped
	err     error // what the stream ended with
	pending [][]byte
	size    int // bytes in pending, the parts of a line that did not fit into buf
}

// next returns the next line that is not empty, without its line end; its
// bytes are the caller's. With ErrTooLarge it returns the line's beginning,
// and goes on after the line when it is called again. After the last line it
// returns the stream's error, each time.
func (l *lines) next() ([]byte, error) {
	for {
		i := bytes.IndexByte(l.buf[l.seen:l.end], '\n')
		if i >= 0 {
			i += l.seen
		} else {
			l.seen = l.end
		}
		switch {
		case !l.skip && l.tooLarge(i):
			return l.cut(), ErrTooLarge
		case i >= 0:
			if line := l.take(i, i+1); line != nil {
				return line, nil
			}
		case l.err != nil:
			if line := l.take(l.end, l.end); line != nil {
				return line, nil
			}
			return nil, l.err
		default:
			l.read()
		}
	}
}

// tooLarge reports whether the line is too long that ends at i, or later if i
// is negative.
func (l *lines) tooLarge(i int) bool {
	if i < 0 {
		i = l.end
	}
	return l.size+i-l.begin > l.max
}

// cut returns the beginning of a line that is too long and lets the rest be
// skipped.
func (l *lines) cut() []byte {
	l.pending = append(l.pending, l.buf[l.begin:l.end])
	head := l.pending[0]
	head = bytes.Clone(head[:min(len(head), headOf, l.max)])
	l.pending, l.size, l.skip = nil, 0, true
	return head
}

// take ends a line at end and lets the next begin at next. It returns nil if
// the line is blank or skipped.
func (l *lines) take(end, next int) []byte {
	var line []byte
	last := l.buf[l.begin:end]
	switch {
	case l.skip:
	case len(l.pending) > 0:
		line = trim(bytes.Join(append(l.pending, last), nil))
	default:
		line = bytes.Clone(trim(last))
	}
	l.begin, l.seen = next, next
	l.pending, l.size, l.skip = nil, 0, false
	if len(line) == 0 {
		return nil
	}
	return line
}

// read reads once. It makes room first, by handing a full buffer to pending.
func (l *lines) read() {
	switch {
	case l.begin == l.end || l.skip:
		l.begin, l.end = 0, 0
	case l.end < len(l.buf):
	case l.begin > 0:
		l.end = copy(l.buf, l.buf[l.begin:])
		l.begin = 0
	default:
		l.pending, l.size = append(l.pending, l.buf), l.size+len(l.buf)
		l.buf, l.end = nil, 0
	}
	if l.buf == nil {
		l.buf = make([]byte, chunk)
	}
	l.seen = l.end
	var n int
	n, l.err = read(l.r, l.buf[l.end:])
	l.end += n
}

// read reads at least one byte or returns an error.
func read(r io.Reader, p []byte) (int, error) {
	const tries = 100 // as bufio has it
	for range tries {
		if n, err := r.Read(p); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}
