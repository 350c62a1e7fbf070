package upstream

import (
	"sync"

	"mcp-facade/facade/wire"
)

// An inbox holds the messages that were read and not yet received. One
// goroutine puts, one takes.
type inbox struct {
	mu    sync.Mutex
	cond  sync.Cond
	queue []wire.Message // guarded by mu
	head  int            // the first of queue that was not taken; guarded by mu
	size  int            // bytes of what was not taken; guarded by mu
	room  int            // put waits while size would exceed it; guarded by mu
	err   error          // what take gives at the end; guarded by mu
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
	b.queue = append(b.queue, m)
	b.size += len(m.Raw)
	b.cond.Broadcast()
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

// take returns the next message; at the end, the reason.
func (b *inbox) take() (wire.Message, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.head == len(b.queue) && b.err == nil {
		b.cond.Wait()
	}
	if b.head == len(b.queue) {
		return wire.Message{}, b.err
	}
	m := b.queue[b.head]
	b.queue[b.head] = wire.Message{}
	b.head++
	if b.head == len(b.queue) {
		b.queue, b.head = b.queue[:0], 0
	}
	b.size -= len(m.Raw)
	b.cond.Broadcast()
	return m, nil
}
