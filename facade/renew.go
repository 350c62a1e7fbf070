package facade

import (
	"context"
	"time"

	"mcp-facade/compact"
	"mcp-facade/facade/config"
	"mcp-facade/facade/wire"
)

// renewPause is how long an upstream is believed no more that it does not accept
// the token, after it has said so of a new one too: it means something else.
const renewPause = time.Minute

// outliveEvery is how often a process that is out of use is looked at.
const outliveEvery = 50 * time.Millisecond

// A renewal is the getting of another token. err is set before done is closed.
type renewal struct {
	done chan struct{}
	err  error
}

// denial reports whether an answer says that the token is not accepted, so that
// whether to send the request again is the question. A result is asked only
// where the config allows that: a call may have done its work, and have a text
// that reads so.
func (f *Facade) denial(m wire.Message) bool {
	switch {
	case f.o.Renew == nil:
		return false
	case m.Error.Exists():
		return isDenial(m.Error)
	}
	return f.o.Server.RetryResults && isResultDenial(m.Result)
}

// renews reports whether p, which the upstream has denied by m, is to be sent
// again with another token. The caller holds mu.
func (f *Facade) renews(p *pending, m wire.Message) bool {
	switch {
	case p.frame == nil, p.renewed, p.probe, !p.waited, p.cancelled != nil, f.closing:
		return false
	case time.Since(f.vain) < renewPause && p.renewals == f.renewals:
		return false
	}
	return m.Error.Exists() || p.harmless
}

// harmless reports whether a call of a tool may be sent twice.
func (f *Facade) harmless(v *view, tool string) bool {
	s := f.o.Server
	if f.o.Renew == nil || !s.RetryResults {
		return false
	}
	c, err := f.tools(v)
	if err != nil {
		return config.Match(s.ReadOnly, tool) && !config.Match(s.Destructive, tool)
	}
	t, ok := c.Lookup(tool)
	return ok && t.Name == tool && f.effectOf(t) == reads
}

// resend gets another token and sends p with it, the same bytes. If there is none,
// the host is given what the upstream has said, and why.
func (f *Facade) resend(ctx context.Context, l *link, p *pending, m wire.Message) {
	if err := f.retoken(ctx, p.renewals); err != nil {
		f.conclude(ctx, l, p, remarked(m, f.remark(err)))
		return
	}
	f.replace(ctx, l)
	f.mu.Lock()
	p.renewed = true
	f.mu.Unlock()
	f.dispatch(ctx, p)
}

// resendOwn is resend for a request of our own. A process cannot be asked twice:
// another one is started, which is asked for the lists by itself.
func (f *Facade) resendOwn(ctx context.Context, l *link, id string, o ownRequest, m wire.Message) {
	if err := f.retoken(ctx, o.renewals); err != nil {
		o.done(remarked(m, f.remark(err)), nil)
		return
	}
	if f.replace(ctx, l) {
		o.done(m, nil)
		f.succeed(ctx, l)
		return
	}
	frame := o.frame
	o.frame = nil
	f.mu.Lock()
	gone := l.gone
	if !gone {
		f.own[ownKey(id)] = o
	}
	f.mu.Unlock()
	if gone {
		o.done(wire.Message{}, errEnded)
		return
	}
	f.post(l, id, frame)
}

// retoken gets another token than the one of which there had been so many
// renewals. Of several at once, one asks for it.
func (f *Facade) retoken(ctx context.Context, renewals int) error {
	f.mu.Lock()
	if f.renewals > renewals {
		f.mu.Unlock()
		return nil
	}
	r := f.renewal
	if r == nil {
		r = &renewal{done: make(chan struct{})}
		f.renewal = r
		f.spawn(func() { f.getToken(ctx, r) })
	}
	f.mu.Unlock()
	<-r.done
	return r.err
}

func (f *Facade) getToken(ctx context.Context, r *renewal) {
	began := time.Now()
	r.err = f.o.Renew(ctx)
	f.log.Info("token renewed", "dur", time.Since(began), "err", r.err)
	f.mu.Lock()
	if f.renewal = nil; r.err == nil {
		f.renewals++
	}
	f.mu.Unlock()
	close(r.done)
}

// remark says why a denial stands, and what to do about it.
func (f *Facade) remark(err error) string {
	note := ""
	if err != nil {
		note = "renew the authorization: " + compact.Line(err.Error())
		if plain := f.plainText.Load(); plain != nil {
			note = (*plain)(note)
		}
		note += "; "
	}
	return note + "try: " + f.o.Remedy
}

// replace takes a process out of use whose token is out of date; the next
// request starts another one. What is under way on it may still be answered. It
// reports whether the connection is to a process: over HTTP each request has the
// token of its own.
func (f *Facade) replace(ctx context.Context, l *link) bool {
	if f.o.Server.Upstream.URL != "" {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.link == l && l.conn != nil {
		f.link, l.asleep, l.useful = nil, true, true
		f.retired = append(f.retired, l)
		f.spawn(func() { f.outlive(ctx, l) })
	}
	return true
}

// succeed opens another connection in the place of one that is out of use.
func (f *Facade) succeed(ctx context.Context, l *link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.host != nil && f.link == nil && !f.closing {
		f.connect(ctx, l.host)
	}
}

// outlive closes a connection that is out of use once nobody waits for it.
func (f *Facade) outlive(ctx context.Context, l *link) {
	look := time.NewTicker(outliveEvery)
	defer look.Stop()
	for f.owes(l) {
		select {
		case <-look.C:
		case <-l.over:
			return
		case <-ctx.Done():
			return
		}
	}
	f.closeConn(l.conn)
}

// owes reports whether a connection has answers to give.
func (f *Facade) owes(l *link) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, first := range f.toUp {
		for p := first; p != nil; p = p.next {
			if p.link == l && p.waited {
				return true
			}
		}
	}
	for _, o := range f.own {
		if o.link == l {
			return true
		}
	}
	return false
}
