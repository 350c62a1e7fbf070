package facade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"
)

// restoreWait is how long what has waited for a new connection waits for its
// answers to what restores the last one's state: many an upstream takes requests
// side by side, and would work before it knows how much to log.
const restoreWait = 2 * time.Second

// backlogLimit is how many bytes of frames may wait for an upstream that is
// still starting; a single one may be larger.
const backlogLimit = 64 << 20

// A link is one connection to the upstream, from before its dial to its end.
// Its fields are guarded by Facade.mu; conn does not change once it is set.
type link struct {
	conn      upstream.Conn   // nil until the dial has returned
	dial      func() error    // dials, once
	started   time.Time       // when the dial began
	over      chan struct{}   // closed when it is gone
	opening   map[string]bool // by era: being opened
	open      map[string]bool // by era: requests may be sent
	host      *view           // whose opening the legacy session has; nil: there is none
	handshake []byte          // raw result of initialize
	backlog   []*pending      // what waits for that, in order
	size      int             // bytes in backlog
	probed    bool            // its first message was server/discover
	settling  bool            // a burst of list_changed is being waited out
	noted     time.Time       // when the last list_changed came
	followed  bool            // it has been asked to say when its tools change
	cuts      cuts            // of the stream that says it
	late      bool            // startTimeout has passed: requests do not wait any more
	heard     bool            // the upstream has said something
	useful    bool            // it has answered more than its opening
	refused   bool            // it is not even tried, see tired
	used      time.Time       // when something was last sent or received
	tasks     bool            // work may go on that nobody asks for
	asleep    bool            // it was ended because nobody needed it
	gone      bool
	why       error // how it has ended, once it is gone
}

// An ownRequest is a request of ours that a connection has to answer.
type ownRequest struct {
	link     *link
	done     func(wire.Message, error)
	frame    []byte // to send it again with another token; nil: it is not
	renewals int    // Facade.renewals when it was sent
}

// A subscription is a resource that the host follows.
type subscription struct {
	uri    string
	params []byte
}

// ready reports whether anything may be sent. The caller holds mu, as for the
// next two.
func (l *link) ready() bool { return l.open[legacy] || l.open[modern] }

// enqueue puts p into the backlog. It reports false if that is full.
func (l *link) enqueue(p *pending) bool {
	if l.size > 0 && l.size+len(p.frame) > backlogLimit {
		return false
	}
	l.backlog = append(l.backlog, p)
	l.size += len(p.frame)
	return true
}

// dequeue takes p out of the backlog, if it is there.
func (l *link) dequeue(p *pending) {
	if i := slices.Index(l.backlog, p); i >= 0 {
		l.backlog = slices.Delete(l.backlog, i, i+1)
		l.size -= len(p.frame)
	}
}

// connect returns the connection, which it starts to open for the view's era
// if nobody has. The caller holds mu.
func (f *Facade) connect(ctx context.Context, v *view) *link {
	l := f.link
	if l == nil {
		l = f.newLink(ctx)
	}
	if !l.opening[v.key.Era] {
		l.opening[v.key.Era] = true
		if v.key.Era == legacy {
			l.host = v
		}
		f.spawn(func() { f.open(ctx, l, v) })
	}
	return l
}

// newLink is the link that requests wait for from now on. The caller holds mu.
func (f *Facade) newLink(ctx context.Context) *link {
	l := &link{started: time.Now(), over: make(chan struct{}), opening: map[string]bool{}, open: map[string]bool{}}
	l.dial = sync.OnceValue(func() error { return f.dial(ctx, l) })
	switch {
	case f.closing:
		l.dial = func() error { return errClosing }
	case f.tired != nil && time.Now().Before(f.tired.until):
		why := f.tired
		l.refused, l.dial = true, func() error { return why }
	}
	f.after(ctx, f.o.Server.StartTimeout, l.over, func() { f.overdue(ctx, l) })
	f.link = l
	return l
}

// open dials, if that is not done, and makes the connection ready for the
// view's era: legacy by the host's own initialize, modern as it is.
func (f *Facade) open(ctx context.Context, l *link, v *view) {
	if err := l.dial(); err != nil {
		f.lost(ctx, l, err)
		return
	}
	if v.key.Era == modern {
		f.opened(ctx, l, v)
		return
	}
	f.ask(l, "initialize", v.opening, func(m wire.Message, err error) { f.welcomed(ctx, l, v, m, err) })
}

// dial starts the connection.
func (f *Facade) dial(ctx context.Context, l *link) error {
	f.mu.Lock()
	left := f.leaving
	f.mu.Unlock()
	if left != nil { // two of one upstream might be in each other's way
		<-left
	}
	conn, err := f.o.Dial(ctx, f.inputSchema)
	switch {
	case ctx.Err() != nil && err != nil:
		return errClosing
	case err != nil:
		return err
	}
	plain := conn.Plain
	f.plainText.Store(&plain)
	f.mu.Lock()
	l.conn = conn
	gone := l.gone
	f.mu.Unlock()
	if gone {
		f.closeConn(conn)
		return errClosing
	}
	f.log.Info("upstream started", "dur", time.Since(l.started))
	f.spawn(func() { f.pump(ctx, l) })
	if f.o.Server.IdleTimeout > 0 {
		f.spawn(func() { f.rest(ctx, l) })
	}
	return nil
}

// opened sends what has waited and lets requests pass from now on. It may have
// to wait for the upstream to read, so it is not for the goroutine that reads
// the upstream.
func (f *Facade) opened(ctx context.Context, l *link, v *view) {
	era := v.key.Era
	f.restore(ctx, l, era)
	for waiting := f.takeBacklog(l, era); len(waiting) > 0; waiting = f.takeBacklog(l, era) {
		for _, p := range waiting {
			f.transmit(ctx, l, p)
		}
	}
	if era == modern { // those that came meanwhile
		f.relisten(ctx, l)
	}
	f.relistViews(ctx, l, era)
}

// takeBacklog takes what waits for an era, and notifications along with it.
// When nothing does, requests need not wait any more.
func (f *Facade) takeBacklog(l *link, era string) (pass []*pending) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var stay []*pending
	for _, p := range l.backlog {
		if p.view != nil && p.view.key.Era != era {
			stay = append(stay, p)
			continue
		}
		p.written, p.sending = true, true
		f.limit(p)
		l.size -= len(p.frame)
		pass = append(pass, p)
	}
	l.backlog = stay
	if len(pass) == 0 {
		l.open[era], l.late = true, false
	}
	return pass
}

// restore brings a new connection to where the last one was.
func (f *Facade) restore(ctx context.Context, l *link, era string) {
	if era == modern {
		f.relisten(ctx, l)
		return
	}
	f.mu.Lock()
	level, subscribed := f.level, slices.Clone(f.subscribed)
	f.mu.Unlock()
	if level == nil && subscribed == nil {
		return
	}
	var asked sync.WaitGroup
	answered := func(wire.Message, error) { asked.Done() }
	if level != nil {
		asked.Add(1)
		f.ask(l, "logging/setLevel", level, answered)
	}
	for _, s := range subscribed {
		asked.Add(1)
		f.ask(l, "resources/subscribe", s.params, answered)
	}
	restored := make(chan struct{})
	f.spawn(func() { asked.Wait(); close(restored) })
	select {
	case <-restored:
	case <-time.After(restoreWait):
	}
}

// overdue lets nobody wait any longer for an upstream that is still starting.
// The upstream itself goes on starting.
func (f *Facade) overdue(ctx context.Context, l *link) {
	f.mu.Lock()
	if l.gone {
		f.mu.Unlock()
		return
	}
	err := f.failure("list tools", fmt.Sprintf("no answer in %v", f.o.Server.StartTimeout))
	var waiting []*pending
	if l.ready() && !l.heard { // a modern connection is open before it has said anything
		err = f.overdueError()
		for _, first := range f.toUp {
			for p := first; p != nil; p = p.next {
				if p.link == l {
					waiting = append(waiting, p)
				}
			}
		}
	}
	if !l.ready() {
		l.late, err = true, f.overdueError()
		waiting = slices.Clone(l.backlog)
		l.backlog = slices.DeleteFunc(l.backlog, func(p *pending) bool { return p.key != "" })
		l.size = 0
		for _, p := range l.backlog {
			l.size += len(p.frame)
		}
	}
	silent := !l.ready() && l.conn != nil && f.o.Server.Upstream.URL != ""
	f.mu.Unlock()
	for _, p := range waiting {
		f.fail(p, err)
	}
	f.unlisted(l, err)
	if silent {
		f.after(ctx, f.o.Server.StartTimeout, l.over, func() { f.giveUp(ctx, l) })
	}
}

// giveUp ends a connection over HTTP that is not open long after startTimeout:
// its opening was lost, and the next request may have more luck. A process is
// left to start.
func (f *Facade) giveUp(ctx context.Context, l *link) {
	f.mu.Lock()
	open := l.ready()
	f.mu.Unlock()
	if !open {
		f.lost(ctx, l, f.overdueError())
		f.closeConn(l.conn)
	}
}

func (f *Facade) overdueError() error {
	return &upstream.Error{Server: f.name(), Op: "start",
		Err:  fmt.Errorf("no answer in %v, it is still starting", f.o.Server.StartTimeout),
		Hint: fmt.Sprintf("call again in a moment, or set a longer \"startTimeout\" for %s", f.name())}
}

// ask sends a request of our own; done is called with its answer, or with the
// error that ended the connection, by the goroutine that found it. It returns
// the raw id, "" if nothing was sent.
func (f *Facade) ask(l *link, method string, params []byte, done func(wire.Message, error)) (id string) {
	if len(params) == 0 {
		params = []byte("{}")
	}
	f.mu.Lock()
	if l.gone {
		f.mu.Unlock()
		done(wire.Message{}, errEnded)
		return ""
	}
	id = f.nextID()
	o, frame := ownRequest{link: l, done: done, renewals: f.renewals}, request(id, method, params)
	if f.o.Renew != nil {
		o.frame = frame
	}
	f.own[ownKey(id)] = o
	f.mu.Unlock()
	f.post(l, id, frame)
	return id
}

// post sends a request of our own, which is in own.
func (f *Facade) post(l *link, id string, frame []byte) {
	if err := l.conn.Send(frame); errors.Is(err, upstream.ErrFull) {
		f.unsent(id, err)
	}
}

// ownKey is the wire.Key of an id of ours.
func ownKey(id string) string { return "s" + id[1:len(id)-1] }

// unsent ends a request of our own that gets no answer any more.
func (f *Facade) unsent(id string, err error) {
	f.mu.Lock()
	o, waits := f.own[ownKey(id)]
	delete(f.own, ownKey(id))
	f.mu.Unlock()
	if waits {
		o.done(wire.Message{}, err)
	}
}

// tell sends the upstream what gets no answer.
func (f *Facade) tell(l *link, what string, frame []byte) {
	if err := l.conn.Send(frame); errors.Is(err, upstream.ErrFull) {
		f.log.Warn("dropped", "method", what, "err", err, "in", len(frame))
	}
}

// request is the frame of a request of ours.
func request(id, method string, params []byte) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(b, `,"method":`...)
	b = wire.AppendString(b, method)
	b = append(b, `,"params":`...)
	b = append(b, params...)
	return append(b, '}')
}

// lost ends a connection: whoever waits for it learns how it ended.
func (f *Facade) lost(ctx context.Context, l *link, err error) {
	f.mu.Lock()
	if l.gone {
		f.mu.Unlock()
		return
	}
	current := f.link == l
	left := f.detach(l)
	f.failed(l, err)
	if f.closing {
		err = errClosing
	}
	l.why = err
	f.mu.Unlock()
	switch {
	case l.refused:
	case errors.Is(err, errClosing), l.asleep:
		f.log.Info("upstream closed")
	default:
		f.log.Info("upstream ended", "err", err)
	}
	f.settleAll(ctx, left, err)
	f.unlisted(l, err)
	if current {
		f.regain(ctx, l)
	}
}

// What a connection leaves behind at its end.
type leftovers struct {
	failed    []*pending                  // it will not answer these
	own       []func(wire.Message, error) // nor these
	withdrawn []string                    // raw ids of what it has asked the host
}

// detach ends a link and takes what it leaves behind. The caller holds mu.
func (f *Facade) detach(l *link) (left leftovers) {
	l.gone = true
	close(l.over)
	if f.link == l {
		f.link = nil
	}
	f.retired = slices.DeleteFunc(f.retired, func(r *link) bool { return r == l })
	l.backlog, l.size = nil, 0
	for _, first := range f.toUp {
		for p := first; p != nil; p = p.next {
			if p.link == l && !p.sending {
				left.failed = append(left.failed, p)
			}
		}
	}
	f.withdrawn = slices.DeleteFunc(f.withdrawn, func(p *pending) bool { return p.link == l })
	for key, o := range f.own {
		if o.link == l {
			delete(f.own, key)
			left.own = append(left.own, o.done)
		}
	}
	left.withdrawn = f.withdrawQuestions(l)
	return left
}

// withdrawQuestions forgets what a connection has asked the host, and returns
// the raw ids of what the host has been given. The caller holds mu.
func (f *Facade) withdrawQuestions(l *link) (given []string) {
	for key, q := range f.fromUp {
		if q.link != l {
			continue
		}
		delete(f.fromUp, key)
		if !f.unhold(q) {
			f.estrange(q)
			given = append(given, q.id)
		}
	}
	return given
}

// settleAll lets everybody know who has waited for a connection that is gone.
func (f *Facade) settleAll(ctx context.Context, left leftovers, err error) {
	for _, id := range left.withdrawn {
		f.send(retraction(id, serverEnded))
	}
	for _, p := range left.failed {
		f.orphaned(ctx, p, err)
	}
	for _, done := range left.own {
		done(wire.Message{}, err)
	}
}

const serverEnded = "the server has ended"

// retraction tells the host not to answer a request any more.
func retraction(id, reason string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"` + reason + `"}}`)
}

// hangUp closes the connections, letting them write their last frames; none is
// opened any more.
func (f *Facade) hangUp(ctx context.Context) {
	f.mu.Lock()
	f.closing = true
	links := slices.Clone(f.retired)
	if f.link != nil {
		links = append(links, f.link)
	}
	f.mu.Unlock()
	var wg sync.WaitGroup
	for _, l := range links {
		wg.Go(func() { f.cut(ctx, l) })
	}
	wg.Wait()
}

// cut closes one connection.
func (f *Facade) cut(ctx context.Context, l *link) {
	f.mu.Lock()
	conn := l.conn
	f.mu.Unlock()
	if conn == nil { // whoever dials it closes it
		f.lost(ctx, l, errClosing)
		return
	}
	f.closeConn(conn)
}

// closeConn closes a connection. That something of the upstream is left is the
// one thing about its end that nobody else is told.
func (f *Facade) closeConn(conn upstream.Conn) {
	if err := conn.Close(); err != nil {
		f.log.Warn("upstream not ended", "err", err)
	}
}
