package upstream

import (
	"sync"

	"mcp-facade/facade/wire"
)

// An inbox holds the messages that were read and not yet received, and what
// became of requests that were not answered, in the order in which they came.
// Several goroutines may put, one takes.
type inbox struct {
	mu    sync.Mutex
	cond  sync.Cond
	queue []entry // guarded by mu
	head  int     // the first of queue that was not taken; guarded by mu
	size  int     // bytes of what was not taken; guarded by mu
	room  int     // put waits while size would exceed it; guarded by mu
	err   error   // what take gives at the end; guarded by mu
}

// An entry is a message, or a failure in the place of one.
type entry struct {
	message wire.Message
	failure *Failure
}

// newInbox returns an inbox that holds room bytes; a single message may be
// larger.
func newInbox(room int) *inbox {
	b := &inbox{room: room}
	b.cond.L = &b.mu
	return b
}

// put appends m, and waits while there is no room. After end, m is dropped.
func (b *inbox) put(m wire.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.size > 0 && b.size+len(m.Raw) > b.room && b.err == nil {
		b.cond.Wait()
	}
	if b.err != nil {
		return
	}
	b.queue = append(b.queue, entry{message: m})
	b.size += len(m.Raw)
	b.cond.Broadcast()
}

// fail appends a failure, which takes no room: its frame is ours. After end, it
// is dropped.
func (b *inbox) fail(f *Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.queue = append(b.queue, entry{failure: f})
		b.cond.Broadcast()
	}
}

// widen makes room for at least n bytes.
func (b *inbox) widen(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.room = max(b.room, n)
	b.cond.Broadcast()
}

// end says that nothing more comes, and why. The first reason stays.
func (b *inbox) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
	b.cond.Broadcast()
}

// take returns the next message, or the next failure as an error; at the end,
// the reason.
func (b *inbox) take() (wire.Message, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.head == len(b.queue) && b.err == nil {
		b.cond.Wait()
	}
	if b.head == len(b.queue) {
		return wire.Message{}, b.err
	}
	next := b.queue[b.head]
	b.queue[b.head] = entry{}
	b.head++
	if b.head == len(b.queue) {
		b.queue, b.head = b.queue[:0], 0
	}
	b.size -= len(next.message.Raw)
	b.cond.Broadcast()
	if next.failure != nil {
		return wire.Message{}, next.failure
	}
	return next.message, nil
}
