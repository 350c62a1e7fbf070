package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// gate is a writer that lets writes through one by one, and keeps them.
type gate struct {
	open   chan struct{} // one write for each value, all when closed
	writes []string
	err    error
	short  bool
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	g.writes = append(g.writes, string(p))
	if g.short {
		return len(p) - 1, nil
	}
	return len(p), g.err
}

func opened() *gate {
	g := &gate{open: make(chan struct{})}
	close(g.open)
	return g
}

func TestWriterWritesSmallFramesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		w := NewWriter(g, 1<<20)
		send(t, w, "a")
		synctest.Wait() // "a" is being written
		send(t, w, "b", "{\n\"c\":\r\n1}", "")
		g.open <- struct{}{}
		synctest.Wait()
		close(g.open)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if want := []string{"a\n", "b\n{\"c\":1}\n\n"}; !slices.Equal(g.writes, want) {
			t.Errorf("writes %q, want %q", g.writes, want)
		}
	})
}

func send(t *testing.T, w *Writer, frames ...string) {
	t.Helper()
	for _, frame := range frames {
		if err := w.Send([]byte(frame)); err != nil {
			t.Errorf("Send(%.20q): %v", frame, err)
		}
	}
}

func TestWriterKeepsTheOrderOfLargeAndSmall(t *testing.T) {
	for _, size := range []int{batch - 2, batch - 1, batch, batch + 1, 3 * batch} {
		large := strings.Repeat("x", size)
		g := opened()
		w := NewWriter(g, 1<<30)
		frames := []string{"a", large, "b", "c", large, large, "d"}
		send(t, w, frames...)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if got, want := strings.Join(g.writes, ""), strings.Join(frames, "\n")+"\n"; got != want {
			t.Errorf("size %d: %d bytes in %d writes, want %d bytes in order", size, len(got), len(g.writes), len(want))
		}
		for _, p := range g.writes {
			if len(p) > max(batch, size) {
				t.Errorf("size %d: a write of %d bytes", size, len(p))
			}
		}
	}
}

func TestWriterDoesNotCopyLargeFrames(t *testing.T) {
	frame := bytes.Repeat([]byte("x"), 32<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := NewWriter(io.Discard, 1)
	for range 4 {
		if err := w.Send(frame); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("four frames of 32 MiB took %d bytes of memory", got)
	}
}

func TestWriterBoundsItsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		w := NewWriter(g, 10)
		send(t, w, strings.Repeat("x", 100)) // larger than the limit, but alone
		sent := make(chan string, 3)
		for _, frame := range []string{"123456", "654321", "z"} {
			go func() {
				send(t, w, frame)
				sent <- frame
			}()
			synctest.Wait() // so that they wait in this order
		}
		if len(sent) > 0 {
			t.Error("a frame was queued beside one that fills the queue")
		}
		g.open <- struct{}{}
		synctest.Wait()
		if len(sent) != 1 {
			t.Errorf("%d frames were queued, want the first alone, as the second does not fit", len(sent))
		}
		close(g.open)
		synctest.Wait()
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if got, want := strings.Join(g.writes, ""), strings.Repeat("x", 100)+"\n123456\n654321\nz\n"; got != want {
			t.Errorf("wrote %q, want %q", got, want)
		}
	})
}

func TestWriterKeepsTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		name string
		g    *gate
		want error
	}{
		{"w's", &gate{err: broken}, broken},
		{"that of a short write", &gate{short: true}, io.ErrShortWrite},
	} {
		t.Run("it keeps "+test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.g.open = make(chan struct{})
				w := NewWriter(test.g, 5)
				send(t, w, "first")
				waiting := make(chan error)
				go func() { waiting <- w.Send([]byte("second")) }()
				synctest.Wait()
				close(test.g.open)
				if err := <-waiting; err != test.want {
					t.Errorf("Send that was waiting: %v, want %v", err, test.want)
				}
				test.g.err, test.g.short = nil, false
				for _, err := range []error{w.Send([]byte("third")), w.Close(), w.Send([]byte("fourth")), w.Close()} {
					if err != test.want {
						t.Errorf("then: %v, want %v", err, test.want)
					}
				}
				if len(test.g.writes) != 1 {
					t.Errorf("writes after the error: %q", test.g.writes[1:])
				}
			})
		})
	}
}

func TestWriterCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		w := NewWriter(g, 3)
		send(t, w, "one")
		waiting := make(chan error)
		go func() { waiting <- w.Send([]byte("two")) }()
		synctest.Wait()
		closed := make(chan error)
		for range 2 {
			go func() { closed <- w.Close() }()
		}
		if err := <-waiting; err != io.ErrClosedPipe {
			t.Errorf("Send that was waiting: %v, want %v", err, io.ErrClosedPipe)
		}
		close(g.open)
		if err := errors.Join(<-closed, <-closed); err != nil {
			t.Error(err)
		}
		if err := w.Send([]byte("three")); err != io.ErrClosedPipe {
			t.Errorf("Send after Close: %v, want %v", err, io.ErrClosedPipe)
		}
		if !slices.Equal(g.writes, []string{"one\n"}) {
			t.Errorf("wrote %q, want what was queued before Close", g.writes)
		}
	})
}

func TestWriterIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("gone")
		g := &gate{open: make(chan struct{})}
		w := NewWriter(g, 3)
		send(t, w, "one") // w is stuck in this
		synctest.Wait()
		waiting, closed := make(chan error), make(chan error)
		go func() { waiting <- w.Send([]byte("two")) }()
		synctest.Wait()
		w.Abandon(gone)
		w.Abandon(errors.New("again"))
		go func() { closed <- w.Close() }()
		for _, err := range []error{<-waiting, <-closed, w.Send([]byte("three")), w.Close()} {
			if err != gone {
				t.Errorf("after Abandon: %v, want %v", err, gone)
			}
		}
		close(g.open) // the owner closes w, and the goroutine ends: synctest waits for it
		synctest.Wait()
		if !slices.Equal(g.writes, []string{"one\n"}) {
			t.Errorf("wrote %q, want no more than it was in", g.writes)
		}
	})
}

func TestWriterIsAbandonedWhileItCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		w := NewWriter(g, 3)
		send(t, w, "one")
		closed := make(chan error)
		go func() { closed <- w.Close() }()
		synctest.Wait()
		w.Abandon(nil)
		if err := <-closed; err != io.ErrClosedPipe {
			t.Errorf("Close: %v, want %v", err, io.ErrClosedPipe)
		}
		close(g.open)
	})
}

func TestWriterIsAbandonedWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWriter(opened(), 3)
		synctest.Wait()
		w.Abandon(io.ErrUnexpectedEOF)
		if err := w.Close(); err != io.ErrUnexpectedEOF {
			t.Errorf("Close: %v, want %v", err, io.ErrUnexpectedEOF)
		}
	})
}

func TestWriterTakesManySenders(t *testing.T) {
	read, write := io.Pipe()
	w := NewWriter(write, 1000)
	const senders, frames = 8, 500
	var wg sync.WaitGroup
	for i := range senders {
		wg.Go(func() {
			for j := range frames {
				send(t, w, fmt.Sprintf(`{"jsonrpc":"2.0","method":"m%d","params":%d}`, i, j))
			}
		})
	}
	go func() {
		wg.Wait()
		write.CloseWithError(w.Close())
	}()
	r := NewReader(read, func(line []byte, err error) { t.Errorf("%v: %s", err, line) })
	next := map[string]float64{}
	for range senders * frames {
		m, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if want := next[m.Method]; m.Params.Num != want {
			t.Errorf("%s: %v came, want %v", m.Method, m.Params.Num, want)
		}
		next[m.Method]++
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

// TestWriterAtOnce shows that a small frame that the pipe takes is written by
// Send, that one it does not take is written by the goroutine, and that what is
// taken in part is finished first.
func TestWriterAtOnce(t *testing.T) {
	var out bytes.Buffer
	takes := 1 << 20
	w := NewWriter(writerFunc(func(p []byte) (int, error) { return out.Write(p) }), 1<<20)
	w.now = func(p []byte) int {
		n := min(takes, len(p))
		out.Write(p[:n])
		return n
	}
	for _, n := range []int{1 << 20, 0, 3, len(`{"f":3}`)} {
		w.mu.Lock()
		for w.busy || len(w.queue) > 0 { // let run finish what came before
			w.mu.Unlock()
			w.mu.Lock()
		}
		takes = n
		w.mu.Unlock()
		if err := w.Send([]byte(`{"f":3}`)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), strings.Repeat("{\"f\":3}\n", 4); got != want {
		t.Errorf("written: %q, want %q", got, want)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestWriterOffer shows that Offer never waits: it says that the queue is full,
// and has a little room left for small frames.
func TestWriterOffer(t *testing.T) {
	r, w := io.Pipe()
	s := NewWriter(w, 1000*small)
	if err := s.Offer(bytes.Repeat([]byte("x"), 900*small)); err != nil {
		t.Fatalf("the first frame is refused: %v", err)
	}
	if err := s.Offer(bytes.Repeat([]byte("y"), 200*small)); err != ErrFull {
		t.Errorf("what is too much is taken: %v", err)
	}
	taken := 0
	for s.Offer(bytes.Repeat([]byte("z"), small-1)) == nil {
		taken++
	}
	if taken < 200 || taken > 400 {
		t.Errorf("%d small frames are taken beside a large one; want those that fit and some more", taken)
	}
	go io.Copy(io.Discard, r)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Offer([]byte("{}")); err != io.ErrClosedPipe {
		t.Errorf("after Close, Offer: %v", err)
	}
}
