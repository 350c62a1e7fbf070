package facade

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"
)

// backlogLimit is how many bytes of requests may wait for an upstream that is
// still starting.
const backlogLimit = 64 << 20

// A link is one connection to the upstream, from before its dial to its end.
// Its fields are guarded by Facade.mu.
type link struct {
	conn     upstream.Conn   // nil until the dial has returned
	dial     func() error    // dials, once
	started  time.Time       // when the dial began
	opening  map[string]bool // by era: being opened
	open     map[string]bool // by era: requests may be sent
	backlog  []*pending      // what waits for that, in order
	size     int             // bytes in backlog
	probed   bool            // its first message was server/discover
	settling bool            // a burst of list_changed is being waited out
	followed bool            // it has been asked to say when its tools change
	late     bool            // startTimeout has passed: requests do not wait any more
	gone     bool
}

// A pending is a frame of the host that the upstream has to take, and to
// answer if it is a request.
type pending struct {
	key       string // wire.Key of its id; "" for a notification
	id        string // raw
	method    string
	frame     []byte
	view      *view
	tool      string   // upstream's name of the tool that is called
	hint      string   // its signature, to be added to an error result
	link      *link    // where it waits or has been sent
	written   bool     // it has been handed to the connection
	cancelled bool     // the host does not wait for it
	answered  bool     // we have answered it: what still comes is swallowed
	probe     bool     // server/discover to an upstream of unknown era
	next      *pending // another request of the host with the same id
}

// A question is a request of the upstream that the host has to answer.
type question struct {
	id   string // raw
	link *link
}

// handle takes one message of the host. It never waits for the upstream.
func (f *Facade) handle(ctx context.Context, m wire.Message) {
	switch {
	case m.IsResponse():
		f.answered(m)
	case m.IsNotification():
		f.notified(m)
	default:
		f.accept()
		f.asked(ctx, m)
	}
}

// asked takes one request of the host: the table of DESIGN "The relay".
func (f *Facade) asked(ctx context.Context, m wire.Message) {
	switch m.Method {
	case "initialize":
		f.initialize(ctx, m)
		return
	case "server/discover":
		f.probe(ctx, m)
		return
	}
	v := f.viewOf(m)
	if v.key.Era == modern && f.knownEra() == legacy {
		f.refuseVersion(m, v)
		return
	}
	switch m.Method {
	case "ping":
		if v.key.Era == modern { // which has none: the upstream says so
			f.forward(ctx, v, m)
			return
		}
		f.reply(m, []byte("{}"))
	case "logging/setLevel":
		f.setLevel(ctx, v, m)
	case "tools/list":
		f.listTools(ctx, v, m)
	case "prompts/list", "resources/list", "resources/templates/list":
		f.listPages(ctx, v, m)
	case "tools/call":
		f.callTool(ctx, v, m)
	case "subscriptions/listen":
		f.subscribe(ctx, v, m)
	case "resources/subscribe", "resources/unsubscribe":
		f.noteSubscription(m)
		f.forward(ctx, v, m)
	default:
		f.forward(ctx, v, m)
	}
}

// notified takes one notification of the host.
func (f *Facade) notified(m wire.Message) {
	switch m.Method {
	case "notifications/initialized":
		f.ready(m.Raw)
	case "notifications/cancelled":
		f.cancelled(m)
	default:
		f.pass(m.Raw)
	}
}

// ready notes that the host is initialized and gives it what has waited for that.
func (f *Facade) ready(frame []byte) {
	f.mu.Lock()
	f.initialized = frame
	held := f.held
	f.held = nil
	f.mu.Unlock()
	for _, frame := range held {
		f.send(frame)
	}
}

// pass sends a notification of the host to a connection that is there; without
// one nobody waits for it.
func (f *Facade) pass(frame []byte) {
	f.mu.Lock()
	l := f.link
	if l == nil {
		f.mu.Unlock()
		return
	}
	if !l.open[legacy] && !l.open[modern] {
		l.backlog = append(l.backlog, &pending{frame: frame})
		f.mu.Unlock()
		return
	}
	f.mu.Unlock()
	l.conn.Send(frame)
}

// cancelled stops a request of the host: one that still waits is forgotten,
// one that was sent is cancelled at the upstream.
func (f *Facade) cancelled(m wire.Message) {
	key := wire.Key(m.Params.Get("requestId"))
	f.mu.Lock()
	delete(f.listens, key)
	p := f.toUp[key]
	if p == nil || p.cancelled {
		f.mu.Unlock()
		return
	}
	p.cancelled = true
	if !p.answered {
		f.releaseLocked()
	}
	sent, l := p.written, p.link
	p.frame = nil
	if !sent {
		f.forget(p)
	}
	f.mu.Unlock()
	if sent {
		l.conn.Send(m.Raw)
	}
}

// answered takes the host's answer to a request of the upstream: it goes to
// the connection that asked, if that is still there.
func (f *Facade) answered(m wire.Message) {
	f.mu.Lock()
	q, asked := f.fromUp[m.Key()]
	delete(f.fromUp, m.Key())
	live := asked && q.link == f.link
	f.mu.Unlock()
	if live {
		q.link.conn.Send(m.Raw)
		return
	}
	f.log.Debug("answer of the host to nothing that is asked", "in", len(m.Raw))
}

// forward sends a request of the host to the upstream as it is.
func (f *Facade) forward(ctx context.Context, v *view, m wire.Message) {
	f.submit(ctx, &pending{id: m.ID.Raw, key: m.Key(), method: m.Method, frame: m.Raw, view: v})
}

// submit sends p once the connection is open, opening it if there is none.
func (f *Facade) submit(ctx context.Context, p *pending) {
	f.mu.Lock()
	l := f.connect(ctx, p.view)
	p.link = l
	p.next = f.toUp[p.key]
	f.toUp[p.key] = p
	if l.open[p.view.key.Era] {
		p.written = true
		f.mu.Unlock()
		if err := l.conn.Send(p.frame); err != nil {
			f.log.Debug("not sent", "method", p.method, "err", err)
		}
		return
	}
	l.backlog = append(l.backlog, p)
	l.size += len(p.frame)
	late, full := l.late, l.size > backlogLimit
	f.mu.Unlock()
	switch {
	case late:
		f.fail(p, f.overdueError())
	case full:
		f.fail(p, fmt.Errorf("more than %d bytes wait for it to start", backlogLimit))
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
		f.spawn(func() { f.open(ctx, l, v) })
	}
	return l
}

// newLink is the link that requests wait for from now on. The caller holds mu.
func (f *Facade) newLink(ctx context.Context) *link {
	l := &link{started: time.Now(), opening: map[string]bool{}, open: map[string]bool{}}
	l.dial = sync.OnceValue(func() error { return f.dial(ctx, l) })
	if f.closing {
		l.dial = func() error { return errClosing }
	}
	timer := time.AfterFunc(f.o.Server.StartTimeout, func() { f.overdue(l) })
	context.AfterFunc(ctx, func() { timer.Stop() })
	f.link = l
	return l
}

// open dials, if that is not done, and makes the connection ready for the
// view's era: legacy by the host's own initialize, modern as it is.
func (f *Facade) open(ctx context.Context, l *link, v *view) {
	if err := l.dial(); err != nil {
		f.lost(l, err)
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
	conn, err := f.o.Dial(ctx)
	if err != nil {
		return err
	}
	f.mu.Lock()
	l.conn = conn
	gone := l.gone
	f.mu.Unlock()
	if gone {
		conn.Close()
		return errClosing
	}
	f.log.Info("upstream started", "dur", time.Since(l.started))
	f.spawn(func() { f.pump(ctx, l) })
	return nil
}

var errClosing = errors.New("the facade is closing")

// opened sends what has waited and lets requests pass from now on.
func (f *Facade) opened(ctx context.Context, l *link, v *view) {
	era := v.key.Era
	f.restore(l, era)
	f.mu.Lock()
	for {
		var batch []*pending
		batch, l.backlog = takeBacklog(l.backlog, era)
		if len(batch) == 0 {
			break
		}
		for _, p := range batch {
			p.written = true
			l.size -= len(p.frame)
		}
		f.mu.Unlock()
		for _, p := range batch {
			l.conn.Send(p.frame)
		}
		f.mu.Lock()
	}
	l.open[era] = true
	f.mu.Unlock()
	f.relistViews(ctx, era)
}

// takeBacklog splits off what an open era lets pass; notifications go along.
func takeBacklog(backlog []*pending, era string) (pass, stay []*pending) {
	for _, p := range backlog {
		switch {
		case p.cancelled || p.answered:
		case p.view == nil || p.view.key.Era == era:
			pass = append(pass, p)
		default:
			stay = append(stay, p)
		}
	}
	return pass, stay
}

// restore brings a new connection to where the last one was.
func (f *Facade) restore(l *link, era string) {
	f.mu.Lock()
	level, subscribed := f.level, f.subscribed
	var again [][]byte
	for key, s := range f.listens {
		if p := f.toUp[key]; era == modern && s.forward != nil && (p == nil || p.written && p.link != l) {
			again = append(again, s.forward)
			f.toUp[key] = &pending{key: key, id: s.id, method: "subscriptions/listen", frame: s.forward, view: s.view, link: l, written: true, cancelled: true}
		}
	}
	f.mu.Unlock()
	for _, frame := range again {
		l.conn.Send(frame)
	}
	if era != legacy {
		return
	}
	if level != nil {
		f.ask(l, "logging/setLevel", level, ignore)
	}
	for _, params := range subscribed {
		f.ask(l, "resources/subscribe", params, ignore)
	}
}

func ignore(wire.Message, error) {}

// overdue lets nobody wait any longer for an upstream that is still starting.
// The upstream itself goes on starting.
func (f *Facade) overdue(l *link) {
	f.mu.Lock()
	if l.gone {
		f.mu.Unlock()
		return
	}
	l.late = true
	waiting := l.backlog
	l.backlog, l.size = nil, 0
	f.mu.Unlock()
	err := f.overdueError()
	for _, p := range waiting {
		f.fail(p, err)
	}
	f.unlisted(err)
}

func (f *Facade) overdueError() error {
	return &upstream.Error{Server: f.name(), Op: "start",
		Err:  fmt.Errorf("no answer in %v, it is still starting", f.o.Server.StartTimeout),
		Hint: fmt.Sprintf("try again in a moment, or set a longer \"startTimeout\" for %s", f.name())}
}

// pump takes what the upstream writes until it ends.
func (f *Facade) pump(ctx context.Context, l *link) {
	for {
		m, err := l.conn.Recv()
		if err != nil {
			f.lost(l, err)
			l.conn.Close()
			return
		}
		switch {
		case m.IsResponse():
			f.responded(ctx, l, m)
		case m.IsRequest():
			f.requested(l, m)
		default:
			f.announced(ctx, l, m)
		}
	}
}

// responded takes one response of the upstream.
func (f *Facade) responded(ctx context.Context, l *link, m wire.Message) {
	key := m.Key()
	f.mu.Lock()
	if done := f.own[key]; done != nil {
		delete(f.own, key)
		f.mu.Unlock()
		done(m, nil)
		return
	}
	p := f.toUp[key]
	if p == nil || p.link != l || !p.written {
		f.mu.Unlock()
		f.log.Warn("upstream answered what nobody asked", "out", len(m.Raw))
		return
	}
	f.forget(p)
	if !p.cancelled && !p.answered {
		defer f.release()
	}
	s := f.listens[key]
	if s != nil && !s.tools {
		delete(f.listens, key)
	}
	f.mu.Unlock()
	switch {
	case p.probe:
		f.verdict(ctx, l, p, m)
	case s != nil && s.tools: // the upstream's part of it has ended, ours goes on
	case p.hint != "":
		f.send(f.hinting(p, m))
	default:
		f.send(m.Raw)
	}
}

// forget takes p out of what the upstream has to answer. The caller holds mu.
func (f *Facade) forget(p *pending) {
	first := f.toUp[p.key]
	if first == p {
		if p.next == nil {
			delete(f.toUp, p.key)
		} else {
			f.toUp[p.key] = p.next
		}
		return
	}
	for q := first; q != nil; q = q.next {
		if q.next == p {
			q.next = p.next
		}
	}
}

// requested takes one request of the upstream; before the host is initialized
// it waits. Where there is no host, nobody can answer it.
func (f *Facade) requested(l *link, m wire.Message) {
	if f.hostless {
		answer := wire.ErrorResponse(m.ID.Raw, codeMethodNotFound, "Method not found", nil)
		if m.Method == "ping" {
			answer = wire.Response(m.ID.Raw, []byte("{}"))
		}
		l.conn.Send(answer)
		return
	}
	f.mu.Lock()
	f.fromUp[m.Key()] = question{id: m.ID.Raw, link: l}
	wait := f.initialized == nil && f.current != nil
	if wait {
		f.held = append(f.held, m.Raw)
	}
	f.mu.Unlock()
	if !wait {
		f.send(m.Raw)
	}
}

// announced takes one notification of the upstream.
func (f *Facade) announced(ctx context.Context, l *link, m wire.Message) {
	switch m.Method {
	case "notifications/tools/list_changed":
		f.changed(ctx, l, m.Method)
		return
	case "notifications/prompts/list_changed", "notifications/resources/list_changed":
		f.changed(ctx, l, m.Method)
	}
	if !f.swallowed(m) {
		f.send(m.Raw)
	}
}

// ask sends a request of our own; done is called with its answer, or with the
// error that ended the connection, by the goroutine that found it.
func (f *Facade) ask(l *link, method string, params []byte, done func(wire.Message, error)) {
	if len(params) == 0 {
		params = []byte("{}")
	}
	f.mu.Lock()
	if l.gone {
		f.mu.Unlock()
		done(wire.Message{}, errClosing)
		return
	}
	id := f.nextID()
	f.own["s"+id[1:len(id)-1]] = done
	f.mu.Unlock()
	l.conn.Send(request(id, method, params))
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
func (f *Facade) lost(l *link, err error) {
	f.mu.Lock()
	if l.gone {
		f.mu.Unlock()
		return
	}
	l.gone = true
	if f.link == l {
		f.link = nil
	}
	var failed []*pending
	for _, first := range f.toUp {
		for p := first; p != nil; p = p.next {
			if p.link == l {
				failed = append(failed, p)
			}
		}
	}
	closing := f.closing
	own := f.own
	f.own = map[string]func(wire.Message, error){}
	var withdrawn []string
	for key, q := range f.fromUp {
		if q.link == l {
			delete(f.fromUp, key)
			withdrawn = append(withdrawn, q.id)
		}
	}
	f.mu.Unlock()
	if closing {
		err = errClosing
	}
	f.log.Info("upstream ended", "err", err)
	for _, id := range withdrawn {
		f.send(withdraw(id))
	}
	for _, p := range failed {
		f.fail(p, err)
	}
	for _, done := range own {
		done(wire.Message{}, err)
	}
	f.unlisted(err)
}

// withdraw tells the host not to answer a request of an upstream that is gone.
func withdraw(id string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"the server has ended"}}`)
}

// fail answers a request of the host whose answer cannot come any more.
func (f *Facade) fail(p *pending, err error) {
	f.mu.Lock()
	f.forget(p)
	if p.cancelled || p.answered || p.key == "" {
		f.mu.Unlock()
		return
	}
	p.answered = true
	f.mu.Unlock()
	switch {
	case p.probe:
		f.answer(wire.ErrorResponse(p.id, codeMethodNotFound, "Method not found", nil))
	case p.method == "tools/call":
		f.answer(wire.Response(p.id, f.trouble(p.view, "call "+p.tool, err, p.written)))
	default:
		f.answer(wire.ErrorResponse(p.id, codeInternal, f.describeError(p.method, err), nil))
	}
}

// hangUp closes the connection, letting it write its last frames.
func (f *Facade) hangUp() {
	f.mu.Lock()
	f.closing = true
	l := f.link
	var conn upstream.Conn
	if l != nil {
		conn = l.conn
		if conn == nil {
			l.gone = true
		}
	}
	f.mu.Unlock()
	if conn != nil {
		conn.Close()
	}
}
