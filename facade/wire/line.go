package wire

import (
	"bufio"
	"bytes"
	"io"
	"sync"
)

// MaxFrame is the largest frame that is read, in bytes.
const MaxFrame = 256 << 20

// A Reader reads messages from a stream of lines.
type Reader struct {
	br    *bufio.Reader
	noise func(line []byte, err error)
}

// NewReader returns a Reader of r. What is not a message goes to noise, with
// the reason as Parse gives it; noise must not keep the bytes.
func NewReader(r io.Reader, noise func(line []byte, err error)) *Reader {
	return &Reader{br: bufio.NewReaderSize(r, 64<<10), noise: noise}
}

// Next returns the next message, or io.EOF at the end of the stream. The
// message's bytes are the caller's.
func (r *Reader) Next() (Message, error) {
	for {
		line, err := r.br.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			m, perr := Parse(line)
			if perr == nil {
				return m, nil
			}
			r.noise(line, perr)
		}
		if err != nil {
			return Message{}, err
		}
	}
}

// A Writer sends frames as lines, in the order of Send, from a goroutine of
// its own. Its methods may be called concurrently.
type Writer struct {
	w     io.Writer
	limit int

	mu     sync.Mutex
	cond   *sync.Cond
	queue  [][]byte // guarded by mu
	size   int      // bytes in queue; guarded by mu
	closed bool     // guarded by mu
	err    error    // guarded by mu
	done   chan struct{}
}

// NewWriter returns a Writer to w that holds at most limit bytes of frames
// that w has not taken; a single frame may be larger. Close ends it.
func NewWriter(w io.Writer, limit int) *Writer {
	s := &Writer{w: w, limit: limit, done: make(chan struct{})}
	s.cond = sync.NewCond(&s.mu)
	go s.run()
	return s
}

// Send queues one frame, which it keeps; it waits while the queue is full. Its
// error is the first that w gave, or io.ErrClosedPipe after Close.
func (s *Writer) Send(frame []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.size > 0 && s.size+len(frame) > s.limit && s.err == nil && !s.closed {
		s.cond.Wait()
	}
	if s.err != nil {
		return s.err
	}
	if s.closed {
		return io.ErrClosedPipe
	}
	s.queue = append(s.queue, frame)
	s.size += len(frame)
	s.cond.Broadcast()
	return nil
}

// Close lets what is queued be written, ends the goroutine and returns the
// first error. It waits for w: whoever must not wait closes w first.
func (s *Writer) Close() error {
	s.mu.Lock()
	s.closed = true
	s.cond.Broadcast()
	s.mu.Unlock()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *Writer) run() {
	defer close(s.done)
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && !s.closed {
			s.cond.Wait()
		}
		if len(s.queue) == 0 || s.err != nil {
			s.mu.Unlock()
			return
		}
		frame := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		_, err := s.w.Write(append(frame[:len(frame):len(frame)], '\n'))
		s.mu.Lock()
		s.size -= len(frame)
		s.err = err
		s.cond.Broadcast()
		s.mu.Unlock()
	}
}
