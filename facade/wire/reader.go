package wire

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

// MaxFrame is the largest frame that is read, in bytes.
const MaxFrame = 256 << 20

// ErrUTF8 is what a Reader says of a frame in which it had to replace bytes.
var ErrUTF8 = errors.New("not UTF-8")

const (
	// maxHeld and maxHeldLines bound the lines that are kept because they
	// may turn out to be one frame: a real list of 344 tools has 82,000
	// lines and 3.6 MB when it is printed with indentation.
	maxHeld      = 8 << 20
	maxHeldLines = 200_000
	// maxRetries is how often lines that did not turn out to be a frame are
	// searched for one that begins further down. It bounds the work.
	maxRetries = 8
	// maxStarts and maxPrefix bound the search for a frame that text stands
	// before, in frames tried and in bytes.
	maxStarts = 8
	maxPrefix = 64 << 10
)

// A Reader reads messages from a stream of lines in which other text may
// stand between, before and within the frames. It is for one goroutine.
type Reader struct {
	lines lines
	noise func(line []byte, err error)

	again   [][]byte // lines to look at before the stream's next, the last first
	retries int      // times that again was filled since it was empty

	held      []byte // lines that may be the beginning of a frame, or nil
	heldLines int
	scan      scanner // has scanned held
}

// NewReader returns a Reader of r. What is not a message goes to noise, line
// by line, with the reason: ErrNotJSON, ErrBatch, one that wraps ErrEnvelope,
// or ErrTooLarge, which comes with the line's beginning only. A frame that is
// not UTF-8 goes there with ErrUTF8 and is returned nevertheless, with U+FFFD
// in it. noise must not keep the bytes; it may be nil.
func NewReader(r io.Reader, noise func(line []byte, err error)) *Reader {
	if noise == nil {
		noise = func([]byte, error) {}
	}
	return &Reader{lines: lines{r: r, max: MaxFrame}, noise: noise}
}

// Next returns the next message, or at the end of the stream the error that
// ended it, io.EOF if none did. The message's bytes are the caller's. A frame
// that was printed over several lines keeps its line ends, see OneLine.
func (r *Reader) Next() (Message, error) {
	for {
		line, err := r.line()
		if err == ErrTooLarge {
			r.noise(line, err)
		}
		m, ok := Message{}, false
		switch {
		case err == nil:
			m, ok = r.frame(line)
		case r.held != nil:
			m, ok = r.giveUp()
		case err != ErrTooLarge:
			return Message{}, err
		}
		if ok {
			return m, nil
		}
	}
}

// line returns the next line that is not blank.
func (r *Reader) line() ([]byte, error) {
	if n := len(r.again); n > 0 {
		line := r.again[n-1]
		r.again[n-1] = nil
		r.again = r.again[:n-1]
		return line, nil
	}
	if r.held == nil {
		r.again, r.retries = nil, 0
	}
	return r.lines.next()
}

// look lets line be the next one that is looked at.
func (r *Reader) look(line []byte) {
	if line = trim(line); len(line) > 0 {
		r.again = append(r.again, line)
	}
}

// frame returns the frame that line begins with, or completes, or ends with.
func (r *Reader) frame(line []byte) (Message, bool) {
	if r.held != nil {
		return r.extend(line)
	}
	if line = trimMark(line); len(line) == 0 {
		return Message{}, false
	}
	var s scanner
	end, state := s.run(line)
	if state == incomplete && line[0] == '{' && len(line) <= maxHeld {
		r.held, r.heldLines, r.scan = line, 1, s
		return Message{}, false
	}
	if state != complete {
		return r.search(line)
	}
	m, err := s.message(line[:end])
	if err == nil {
		r.look(line[end:])
		return r.valid(m, &s)
	}
	if end == len(line) {
		r.noise(line, err)
		return Message{}, false
	}
	return r.search(line)
}

// trimMark cuts a byte order mark off.
func trimMark(line []byte) []byte { return trim(bytes.TrimPrefix(line, []byte("\uFEFF"))) }

// valid returns the message with what is not UTF-8 replaced. s has scanned its
// strings.
func (r *Reader) valid(m Message, s *scanner) (Message, bool) {
	if s.isUTF8(m.Raw) {
		return m, true
	}
	r.noise(m.Raw, ErrUTF8)
	m, err := Parse(replaced(m.Raw))
	return m, err == nil
}

// search looks for frames that end the line, after other text. A frame that
// other text follows too is rather part of a log.
func (r *Reader) search(line []byte) (Message, bool) {
	for _, first := range []string{`{`, `{"jsonrpc"`} {
		i := 0
		for range maxStarts {
			next := bytes.Index(line[i:min(len(line), maxPrefix)], []byte(first))
			if next < 0 {
				break
			}
			i += next
			if allFrames(line[i:]) {
				r.noise(line[:i], ErrNotJSON)
				return r.frame(line[i:])
			}
			i++
		}
	}
	r.noise(line, ErrNotJSON)
	return Message{}, false
}

// allFrames reports whether b is one frame or more, and nothing else.
func allFrames(b []byte) bool {
	for len(b) > 0 {
		var s scanner
		end, state := s.run(b)
		if state != complete {
			return false
		}
		if _, err := s.message(b[:end]); err != nil {
			return false
		}
		b = trim(b[end:])
	}
	return true
}

// extend adds a line to those that are held, and returns the frame if that
// completes one. A line that is a frame by itself ends the holding.
func (r *Reader) extend(line []byte) (Message, bool) {
	if line[0] == '{' {
		if _, err := Parse(line); err == nil {
			return r.giveUp(line)
		}
	}
	end, state := r.scan.run(line)
	if state == invalid || len(r.held)+len(line) > maxHeld || r.heldLines == maxHeldLines {
		return r.giveUp(line)
	}
	r.held = append(append(r.held, '\n'), line[:end]...)
	r.heldLines++
	if state == incomplete {
		return Message{}, false
	}
	r.look(line[end:])
	return r.joined()
}

// joined returns the message that the lines that are held make up.
func (r *Reader) joined() (Message, bool) {
	text := r.held
	r.held = nil
	m, err := Parse(text)
	if err != nil {
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			r.noise(line, err)
		}
		return Message{}, false
	}
	return r.valid(m, &r.scan)
}

// giveUp ends the holding: the first line is searched, the others are looked
// at again, and then more. None of them is a frame by itself, or it would have
// ended the holding.
func (r *Reader) giveUp(more ...[]byte) (Message, bool) {
	lines := bytes.Split(r.held, []byte("\n"))
	r.held = nil
	if r.retries++; r.retries > maxRetries {
		r.again = append(r.again, more...)
		for _, line := range lines {
			r.noise(line, ErrNotJSON)
		}
		return Message{}, false
	}
	rest := append(lines[1:], more...)
	slices.Reverse(rest)
	r.again = append(r.again, rest...)
	return r.search(lines[0])
}
