package upstream

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// A flight is a request from Send to its answer.
type flight struct {
	m       wire.Message
	key     string // of its id
	modern  bool
	cancel  context.CancelFunc // ends its POST
	reached atomic.Bool        // there was a connection for it, so it may have been processed
	done    chan struct{}      // closed when it is over

	over   bool        // it has been answered, or has failed; guarded by httpConn.mu
	linger *time.Timer // ends what is left of its POST; nil before it is over; guarded by httpConn.mu
}

// request starts a request. The caller holds mu.
func (c *httpConn) request(m wire.Message) {
	ctx, cancel := context.WithCancel(c.life)
	f := &flight{m: m, key: m.Key(), modern: isModern(&m), cancel: cancel, done: make(chan struct{})}
	if c.over != nil {
		cancel()
		c.inbox.fail(c.unsent(f, c.over))
		return
	}
	c.flights[f.key] = f
	c.flying++
	c.sending += len(m.Raw)
	after := c.opened
	c.tasks.Go(func() { c.fly(ctx, f, after) })
}

// fly sends a request and reads what comes of it, to the end.
func (c *httpConn) fly(ctx context.Context, f *flight, after <-chan struct{}) {
	defer f.cancel()
	if f.m.Method != listenMethod && c.calls.take(ctx, c.listens) {
		defer c.calls.leave()
	}
	failure := c.call(ctx, f, after)
	if c.claim(f) {
		if failure != nil && ctx.Err() == nil {
			c.inbox.fail(failure)
		}
		c.settle(f)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.linger != nil {
		f.linger.Stop()
	}
}

// claim lets the caller say what became of a request, and nobody else. It
// reports false if somebody has.
func (c *httpConn) claim(f *flight) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.over {
		return false
	}
	f.over = true
	if c.flights[f.key] == f {
		delete(c.flights, f.key)
	}
	return true
}

// settle ends a request that was claimed, once it has been said what became of
// it. What is left of its POST has a little time.
func (c *httpConn) settle(f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.linger = time.AfterFunc(c.tempo.linger, f.cancel)
	close(f.done)
	c.flying--
	c.sending -= len(f.m.Raw)
	c.conclude()
}

// receive takes the text of one body or one event. f is the request to whose
// POST it belongs, nil if to none. The error is about what could not be read of
// it.
func (c *httpConn) receive(text []byte, f *flight) error {
	ms, err := wire.Frames(text)
	for _, m := range ms {
		c.deliver(m, f)
	}
	if err == wire.ErrUTF8 {
		c.badText.Do(func() { c.log.Warn("replaced bytes of a frame", "err", err, "in", len(text)) })
		return nil
	}
	if err != nil {
		c.broken(text, err, f)
	}
	return err
}

// broken fails the request that an answer is for which could not be read. One
// that was too large, of which there is no more than the beginning, is for own if
// no other can be read there.
func (c *httpConn) broken(text []byte, why error, own *flight) {
	var id, method gjson.Result
	if m := gjson.ParseBytes(text); m.IsObject() {
		id, method = m.Get("id"), m.Get("method")
	}
	if method.Exists() {
		return
	}
	f := c.asked(wire.Key(id), own)
	if f == nil && why == wire.ErrTooLarge && len(text) > 0 {
		f = own
	}
	if f != nil && c.claim(f) {
		c.inbox.fail(c.failure(f, fmt.Errorf("the answer could not be read: %w", why)))
		c.settle(f)
	}
}

// asked is the request with an id: own if it has it, as a host may use one twice,
// or nil.
func (c *httpConn) asked(key string, own *flight) *flight {
	if own != nil && own.key == key {
		return own
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flights[key]
}

// deliver gives a message to Recv. An answer that nobody waits for is dropped:
// it may be one of two, or to a request that was cancelled.
func (c *httpConn) deliver(m wire.Message, f *flight) {
	if !m.IsResponse() {
		c.inbox.put(m)
		return
	}
	if f != nil && isAnonymous(&m) {
		m = adopted(m, f)
	}
	asked := c.asked(m.Key(), f)
	if asked == nil || !c.claim(asked) {
		c.log.Debug("an answer that nobody waits for", "in", len(m.Raw))
		return
	}
	c.answer(asked, m)
}

// isAnonymous reports whether an error does not say which request it answers.
func isAnonymous(m *wire.Message) bool { return m.ID.Raw == "" || m.ID.Raw == "null" }

// adopted is an error with the id of the request that it is about.
func adopted(m wire.Message, f *flight) wire.Message {
	own, err := wire.Parse(wire.SetMember(m.Raw, "id", []byte(f.m.ID.Raw)))
	if err != nil {
		return m
	}
	return own
}

// answer gives the answer of a request that was claimed to Recv.
func (c *httpConn) answer(f *flight, m wire.Message) {
	const headerMismatch = -32020 // MCP 2026-07-28, "Server Validation"
	switch {
	case m.Error.Get("code").Int() == headerMismatch && f.m.Method == "tools/call":
		c.inbox.fail(&Failure{Key: f.key, Frame: f.m.Raw, Answer: m, Unprocessed: true, Err: c.fault(f, ErrHeaders)})
	default:
		c.learn(f, &m)
		c.inbox.put(m)
	}
	c.settle(f)
}

// fault words what became of a request.
func (c *httpConn) fault(f *flight, err error) *Error {
	return &Error{Server: c.server, Op: f.m.Method, Err: err}
}

// failure is what became of a request that may have been processed, unless it
// has reached nobody.
func (c *httpConn) failure(f *flight, err error) *Failure {
	return &Failure{Key: f.key, Frame: f.m.Raw, Unprocessed: !f.reached.Load(), Err: c.fault(f, err)}
}

// unsent is what becomes of a request after the session has been lost, or, which
// is the same to it, the connection has ended otherwise.
func (c *httpConn) unsent(f *flight, why error) *Failure {
	if !errors.Is(why, ErrSession) {
		why = ErrSession
	}
	return &Failure{Key: f.key, Frame: f.m.Raw, Unprocessed: true, Err: c.fault(f, why)}
}
