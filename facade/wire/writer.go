package wire

import (
	"errors"
	"io"
	"sync"
)

// batch is how many bytes of small frames are written at once.
const batch = 64 << 10

// small is what Send may write itself, in bytes with the line end.
const small = 4 << 10

// spare is how many bytes of small frames Offer takes beyond the limit: an
// answer or a cancellation may be what makes room.
const spare = 1 << 20

// ErrFull is why Offer does not take a frame.
var ErrFull = errors.New("too many bytes wait already")

// A Writer sends frames as lines, in the order of Send, from a goroutine of
// its own; a small frame goes out at once if nothing waits and w does not make
// it wait. Its methods may be called concurrently.
type Writer struct {
	w     io.Writer
	limit int
	now   func(p []byte) int // writes what w takes without waiting; nil: w cannot tell
	buf   []byte             // small frames, written at once; used by run only

	mu     sync.Mutex
	cond   *sync.Cond
	queue  [][]byte // guarded by mu
	busy   bool     // run is writing; guarded by mu
	line   []byte   // what atOnce writes; guarded by mu
	size   int      // bytes that w has not taken; guarded by mu
	ticket int      // calls of Send so far; guarded by mu
	turn   int      // the call of Send that may go on; guarded by mu
	closed bool     // guarded by mu
	err    error    // guarded by mu

	done      chan struct{} // closed when run has returned
	abandoned chan struct{} // closed by Abandon
	abandon   sync.Once
}

// NewWriter returns a Writer to w that holds at most limit bytes of frames
// that w has not taken; a single frame may be larger. Close ends it.
func NewWriter(w io.Writer, limit int) *Writer {
	s := &Writer{w: w, limit: limit, now: immediate(w), done: make(chan struct{}), abandoned: make(chan struct{})}
	s.cond = sync.NewCond(&s.mu)
	go s.run()
	return s
}

// Send queues one frame, which it keeps; it waits while the queue is full. A
// frame of several lines is sent as one. The error is the first that w gave,
// Abandon's, or io.ErrClosedPipe after Close.
func (s *Writer) Send(frame []byte) error {
	frame = OneLine(frame)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.cond.Broadcast()
	ticket := s.ticket
	s.ticket++
	for s.err == nil && !s.closed && (ticket != s.turn || s.full(len(frame))) {
		s.cond.Wait()
	}
	s.turn++
	return s.accept(frame)
}

// Offer is Send for those who cannot wait: where Send would, it gives ErrFull
// and the frame is not sent. It is not for a Writer that Send is used of.
func (s *Writer) Offer(frame []byte) error {
	frame = OneLine(frame)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.cond.Broadcast()
	size := len(frame)
	if size < small {
		size -= spare
	}
	if s.err == nil && !s.closed && s.full(size) {
		return ErrFull
	}
	return s.accept(frame)
}

// accept takes one frame. s.mu is held.
func (s *Writer) accept(frame []byte) error {
	switch {
	case s.err != nil:
		return s.err
	case s.closed:
		return io.ErrClosedPipe
	}
	if frame = s.atOnce(frame); frame != nil {
		s.queue = append(s.queue, frame)
		s.size += len(frame)
	}
	return nil
}

// atOnce writes a small frame, if it is the next one and w takes it without
// waiting: that spares the two switches to the goroutine and back. It returns
// what is left to be queued, nil if nothing is. s.mu is held.
func (s *Writer) atOnce(frame []byte) []byte {
	if s.now == nil || s.busy || len(s.queue) > 0 || len(frame) >= small {
		return frame
	}
	s.line = append(append(s.line[:0], frame...), '\n')
	switch n := s.now(s.line); {
	case n == len(s.line):
		return nil
	case n == len(frame): // its line end is left
		return []byte{}
	default:
		return frame[n:]
	}
}

// full reports whether n more bytes have to wait. s.mu is held.
func (s *Writer) full(n int) bool { return s.size > 0 && s.size+n > s.limit }

// Done is closed when nothing is written any more: w has failed, or Close has
// let everything be written.
func (s *Writer) Done() <-chan struct{} { return s.done }

// Close lets what is queued be written, ends the goroutine and returns the
// first error. It waits for w, unless Abandon is called.
func (s *Writer) Close() error {
	s.mu.Lock()
	s.closed = true
	s.cond.Broadcast()
	s.mu.Unlock()
	select {
	case <-s.done:
	case <-s.abandoned:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Abandon drops what is queued, makes Send fail with err, unless w has failed
// before, and lets Close return at once. A write that w is stuck in goes on,
// and with it the goroutine, until whoever owns w closes it.
func (s *Writer) Abandon(err error) {
	if err == nil {
		err = io.ErrClosedPipe
	}
	s.fail(err)
	s.abandon.Do(func() { close(s.abandoned) })
}

// fail keeps the first error and drops the queue.
func (s *Writer) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.queue, s.size = nil, 0
	s.cond.Broadcast()
}

// run writes what is queued until the Writer is closed or fails.
func (s *Writer) run() {
	defer close(s.done)
	for {
		frames := s.take()
		if len(frames) == 0 {
			return
		}
		if err := s.write(frames); err != nil {
			s.fail(err)
			return
		}
	}
}

// take waits for frames and returns all that are queued, none at the end.
func (s *Writer) take() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
	for len(s.queue) == 0 && s.err == nil && !s.closed {
		s.cond.Wait()
	}
	frames := s.queue
	s.queue, s.busy = nil, true
	return frames
}

// write writes the frames, small ones together, and lets go of each.
func (s *Writer) write(frames [][]byte) error {
	held := 0 // bytes of frames in buf
	for i, frame := range frames {
		frames[i] = nil
		if len(s.buf)+len(frame)+1 > batch {
			if err := s.put(s.buf, held); err != nil {
				return err
			}
			s.buf, held = s.buf[:0], 0
		}
		if len(frame)+1 > batch {
			if err := s.put(frame, len(frame)); err != nil {
				return err
			}
		} else {
			s.buf, held = append(s.buf, frame...), held+len(frame)
		}
		s.buf = append(s.buf, '\n')
	}
	err := s.put(s.buf, held)
	s.buf = s.buf[:0]
	return err
}

// put writes p, which stands for n bytes of the queue.
func (s *Writer) put(p []byte, n int) error {
	if len(p) == 0 {
		return nil
	}
	written, err := s.w.Write(p)
	if err == nil && written < len(p) {
		err = io.ErrShortWrite
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = max(0, s.size-n)
	if s.err == nil { // before those wake who wait for room
		s.err = err
	}
	s.cond.Broadcast()
	return s.err
}
