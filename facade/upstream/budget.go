package upstream

import (
	"context"
	"io"
	"sync"

	"mcp-facade/facade/wire"
)

const (
	// share is how many bytes of an answer are read without asking for more, so
	// that a small one waits for no other.
	share = 1 << 20
	// pool is how many bytes the answers that are read at once may hold beyond
	// their share; one more may hold as much as a frame may have.
	pool = 64 << 20
	// atOnce is how many bytes of room are made at most before they come: the
	// length that a server gives need not be true.
	atOnce = 16 << 20
)

// A budget bounds what the answers that are read at once hold in memory. What
// the pool has no room for waits, except for one answer at a time, which goes on
// to its end: so there is always one that does not wait.
type budget struct {
	mu      sync.Mutex
	left    int           // bytes of the pool; guarded by mu
	large   bool          // an answer goes on without the pool; guarded by mu
	changed chan struct{} // closed when there is more; guarded by mu
}

func newBudget() budget { return budget{left: pool, changed: make(chan struct{})} }

// A ration is what one answer holds of a budget. It is for one goroutine.
type ration struct {
	of    *budget
	ctx   context.Context // of the request
	held  int             // bytes beyond the share
	large bool            // they are not of the pool
}

// hold lets the answer have n bytes, and waits while there is no room for them.
// The error is that of the context.
func (r *ration) hold(n int) error {
	n -= n % share
	for n != r.held {
		changed := r.change(n)
		if changed != nil && !await(r.ctx, changed) {
			return context.Cause(r.ctx)
		}
	}
	return nil
}

// change lets the answer have n bytes. If there is no room, it returns what to
// wait for.
func (r *ration) change(n int) (wait <-chan struct{}) {
	b := r.of
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case r.large && n > 0:
		r.held = n
		return nil
	case r.large:
		r.large, b.large = false, false
	case n-r.held <= b.left:
		b.left -= n - r.held
	case !b.large:
		r.large, b.large = true, true
		b.left += r.held
	default:
		return b.changed
	}
	r.held = n
	close(b.changed)
	b.changed = make(chan struct{})
	return nil
}

// release gives back what is held.
func (r *ration) release() { r.hold(0) }

// ration is what the body of a reply may hold.
func (c *httpConn) ration(rep *reply) *ration {
	return &ration{of: &c.budget, ctx: rep.Request.Context()}
}

// readBody reads the body of an answer to its end. Beyond atOnce, room is made as
// the body comes.
func (c *httpConn) readBody(rep *reply, r *ration) ([]byte, error) {
	limit, room := c.largest, firstRead
	if n := rep.ContentLength; n > int64(limit) {
		return nil, wire.ErrTooLarge
	} else if n > 0 {
		limit, room = int(n), atOnce
	}
	var text []byte
	for len(text) < limit {
		if len(text) == cap(text) {
			room = min(room, limit)
			if err := r.hold(room); err != nil {
				return text, err
			}
			text = append(make([]byte, 0, room), text...)
			room *= 2
		}
		n, err := rep.Body.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return text, err
		}
	}
	if n, err := io.ReadFull(rep.Body, make([]byte, 1)); n == 0 && err == io.EOF {
		return text, nil
	} else if n == 0 {
		return text, err
	}
	return nil, wire.ErrTooLarge
}
