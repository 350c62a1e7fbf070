package facade

import (
	"context"
	"errors"
	"time"

	"mcp-facade/facade/upstream"
)

// unanswered takes what became of one request over HTTP instead of an answer.
// What was certainly not processed, and will be when it is sent again, is sent
// again, once: in a new session, or with headers made from a new list.
func (f *Facade) unanswered(ctx context.Context, l *link, failure *upstream.Failure) {
	session := errors.Is(failure.Err, upstream.ErrSession)
	if session {
		f.retire(ctx, l)
	}
	f.mu.Lock()
	l.heard = l.heard || !failure.Unprocessed
	if o, ours := f.own[failure.Key]; ours && o.link == l {
		delete(f.own, failure.Key)
		f.mu.Unlock()
		o.done(failure.Answer, failure.Err)
		return
	}
	p := f.find(failure.Key, func(p *pending) bool { return p.link == l && p.written })
	if p == nil {
		f.mu.Unlock()
		f.log.Debug("request failed that nobody waits for", "err", failure.Err)
		return
	}
	again := (session || errors.Is(failure.Err, upstream.ErrHeaders)) && p.waited && !p.resent && !f.closing
	if again {
		p.frame, p.resent, p.written, p.sending, p.link = failure.Frame, true, false, false, nil
	}
	f.mu.Unlock()
	if p.probe {
		f.unprobed(l)
	}
	switch {
	case again && session:
		f.dispatch(ctx, p)
	case again:
		f.spawn(func() { f.relistFor(ctx, p); f.dispatch(ctx, p) })
	case p.method == "subscriptions/listen":
		f.unheard(ctx, l, p)
	case failure.Answer.Raw != nil:
		f.mu.Lock()
		f.worked(l)
		f.mu.Unlock()
		f.conclude(ctx, l, p, failure.Answer)
	default:
		f.mu.Lock()
		p.written = !failure.Unprocessed
		f.mu.Unlock()
		f.fail(p, failure.Err)
	}
}

// relistFor lists the tools anew before a call is sent again whose headers did
// not fit them.
func (f *Facade) relistFor(ctx context.Context, p *pending) {
	f.mu.Lock()
	p.view.expect()
	if l := f.link; l != nil && l.open[p.view.key.Era] {
		f.relist(ctx, l, p.view, true)
	}
	f.mu.Unlock()
	f.await(ctx, p.view)
}

// retire takes a connection out of use whose session the upstream has
// forgotten. What is under way on it may still be answered; it ends by itself.
func (f *Facade) retire(ctx context.Context, l *link) {
	f.mu.Lock()
	if f.link != l {
		f.mu.Unlock()
		return
	}
	f.link = nil
	f.retired = append(f.retired, l)
	withdrawn := f.withdrawQuestions(l)
	f.mu.Unlock()
	f.log.Info("session lost")
	for _, id := range withdrawn {
		f.send(retraction(id, serverEnded))
	}
	f.regain(ctx, l)
}

// A listen whose stream has ended is sent again after relistenWait, which
// doubles up to relistenLimit while that does not help.
const (
	relistenWait  = time.Second
	relistenLimit = time.Minute
)

// Cuts are how often in a row a stream has ended soon after it was opened.
type cuts struct {
	n      int
	opened time.Time
}

// next is how long to wait before the stream is opened again.
func (c *cuts) next() time.Duration {
	if time.Since(c.opened) > steady {
		c.n = 0
	}
	c.n++
	return backoff(relistenWait, relistenLimit, c.n-1)
}

// unheard takes the end of a listen's stream that the upstream did not mean:
// the listen is sent again after a while.
func (f *Facade) unheard(ctx context.Context, l *link, p *pending) {
	f.mu.Lock()
	f.forget(p)
	s := f.listens[p.key]
	if s == nil || s.on != l {
		f.mu.Unlock()
		return
	}
	wait := s.cuts.next()
	f.mu.Unlock()
	f.after(ctx, wait, l.over, func() {
		f.mu.Lock()
		if s.on == l {
			s.on = nil
		}
		f.mu.Unlock()
		f.relisten(ctx, l)
	})
}

// inputSchema is the schema of a tool as the upstream last listed it for a
// modern host, nil if it is not known.
func (f *Facade) inputSchema(tool string) []byte {
	var newest *view
	f.mu.Lock()
	for _, v := range f.views {
		if v.key.Era == modern && v.catalog != nil && (newest == nil || v.listed.After(newest.listed)) {
			newest = v
		}
	}
	f.mu.Unlock()
	if newest == nil {
		return nil
	}
	c, err := f.tools(newest)
	if err != nil {
		return nil
	}
	t, ok := c.Lookup(tool)
	if !ok || t.Name != tool {
		return nil
	}
	return t.InputSchema
}
