package facade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"mcp-facade/facade/ledger"
	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// maxWithdrawn is how many requests are remembered that the host has cancelled
// and the upstream has not answered: most never are.
const maxWithdrawn = 1000

// maxEstranged is how many ids of withdrawn questions are remembered. When there
// are as many, every question gets an id of ours.
const maxEstranged = 1000

// maxHeld is how many frames of the upstream may wait for the host to be
// initialized.
const maxHeld = 1000

// A pending is a request of the host that has no answer yet, or a notification
// that waits for the connection. What stands above link does not change once
// it is submitted, but frame, which is let go when it has been sent, unless the
// token can be renewed; that and the rest are guarded by Facade.mu.
type pending struct {
	key      string // wire.Key of its id; "" for a notification
	id       string // raw
	method   string
	frame    []byte
	view     *view
	tool     string             // upstream's name of the tool that is called
	hint     string             // the same, if its signature is to be added to an error result
	probe    bool               // server/discover to an upstream of unknown era
	harmless bool               // a call that may be carried out twice
	learn    func(wire.Message) // is shown the upstream's answer first; nil: nobody
	via      string             // how the tool is called, for the ledger
	in       int                // bytes of its arguments
	bound    bool               // it is sent only where its tool was found to be as accepted

	judged    *link       // where that was; nil: it is not certain any more
	link      *link       // where it waits or has been sent; nil: it is not submitted
	waited    bool        // the host waits for an answer: it is counted in asking
	written   bool        // it has been handed to the connection
	sending   bool        // it is being handed to it
	resent    bool        // it has been sent twice
	renewed   bool        // it has been sent again with another token
	renewals  int         // Facade.renewals when it was sent
	cancelled []byte      // the host's cancellation; nil: none
	swallow   bool        // we have answered it, what still comes is swallowed
	batch     *batch      // the frame it came in, if that held others; nil: it did not
	began     time.Time   // when it came; zero: the ledger does not have it
	timer     *time.Timer // ends it, see limit; nil: nothing does
	moved     time.Time   // when it was sent or has last progressed
	token     string      // wire.Key of its progress token, if it has a timer
	next      *pending    // another request of the host with the same id
}

// A question is a request of the upstream that the host has to answer.
type question struct {
	id     string // raw, as the host knows it
	theirs string // raw, as the upstream does
	frame  []byte // of one that had to wait; nil: it had not
	link   *link
}

// handle takes one message of the host, which may be a member of a batch. It
// never waits for the upstream.
func (f *Facade) handle(ctx context.Context, m wire.Message, b *batch) {
	switch {
	case m.IsResponse():
		f.answered(ctx, m)
	case m.IsNotification():
		f.inTurn(ctx, m)
	default:
		f.accept(m, b)
		f.inTurn(ctx, m)
	}
}

// inTurn takes a request or a notification of the host: at once, or after a
// call that waits for the catalog, if both may go to the upstream.
func (f *Facade) inTurn(ctx context.Context, m wire.Message) {
	f.mu.Lock()
	waits := f.deciding != nil && !alone(m.Method)
	full := waits && f.behindSize > 0 && f.behindSize+len(m.Raw) > backlogLimit
	if waits && !full {
		f.behind = append(f.behind, m)
		f.behindSize += len(m.Raw)
	}
	f.mu.Unlock()
	switch {
	case full && m.IsRequest():
		f.refuse(m, codeInternal, f.describeError(m.Method, errFull))
	case full:
		f.log.Warn("notification dropped", "method", m.Method, "in", len(m.Raw))
	case !waits:
		f.take(ctx, m)
	}
}

// alone reports whether a method is answered by us whatever was asked before.
func alone(method string) bool {
	switch method {
	case "initialize", "server/discover", "ping", "tools/list", "subscriptions/listen",
		"notifications/initialized", "notifications/cancelled":
		return true
	}
	return false
}

// take takes a request or a notification of the host.
func (f *Facade) take(ctx context.Context, m wire.Message) {
	if m.IsRequest() {
		f.asked(ctx, m)
	} else {
		f.notified(ctx, m)
	}
}

// catchUp takes what has waited behind a call, in order.
func (f *Facade) catchUp(ctx context.Context) {
	for {
		f.mu.Lock()
		if len(f.behind) == 0 {
			f.deciding, f.behind = nil, nil
			f.mu.Unlock()
			return
		}
		m := f.behind[0]
		f.behind[0] = wire.Message{}
		f.behind = f.behind[1:]
		f.behindSize -= len(m.Raw)
		f.mu.Unlock()
		f.take(ctx, m)
	}
}

// asked takes one request of the host: the table of DESIGN "The relay".
func (f *Facade) asked(ctx context.Context, m wire.Message) {
	if f.disguised(m.Method) {
		f.refuse(m, codeMethodNotFound, "Method not found")
		return
	}
	switch m.Method {
	case "initialize":
		if isModern(m) && f.knownEra() == modern { // which has no such method
			f.refuse(m, codeMethodNotFound, "Method not found")
			return
		}
		f.initialize(ctx, m)
		return
	case "server/discover":
		f.probe(ctx, m)
		return
	}
	v := f.viewOf(m)
	if f.misfit(m, v) {
		return
	}
	switch m.Method {
	case "tools/list":
		f.listTools(ctx, v, m)
	case "prompts/list", "resources/list", "resources/templates/list":
		f.listPages(ctx, v, m)
	case "tools/call":
		f.callTool(ctx, v, m)
	case "subscriptions/listen":
		f.subscribe(ctx, v, m)
	default:
		f.askedSession(ctx, v, m)
	}
}

// askedSession takes what belongs to a session of the legacy era, which the
// modern one does not have: there the upstream says so.
func (f *Facade) askedSession(ctx context.Context, v *view, m wire.Message) {
	if v.key.Era == modern {
		f.forward(ctx, v, m)
		return
	}
	switch m.Method {
	case "ping":
		f.reply(m, []byte("{}"))
	case "logging/setLevel":
		f.setLevel(ctx, v, m)
	case "resources/subscribe", "resources/unsubscribe":
		f.follows(ctx, v, m)
	default:
		f.forward(ctx, v, m)
	}
}

// accept notes a request that the host waits for.
func (f *Facade) accept(m wire.Message, b *batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asking++
	p := &pending{key: m.Key(), id: m.ID.Raw, method: m.Method, waited: true, batch: b}
	if f.o.Ledger != nil && m.Method == "tools/call" {
		p.began = time.Now()
	}
	f.add(p)
}

// add puts p into toUp. The caller holds mu, as for the next four.
func (f *Facade) add(p *pending) {
	p.next = f.toUp[p.key]
	f.toUp[p.key] = p
}

// forget takes p out of toUp.
func (f *Facade) forget(p *pending) {
	first := f.toUp[p.key]
	switch {
	case first != p:
		for q := first; q != nil; q = q.next {
			if q.next == p {
				q.next = p.next
			}
		}
	case p.next == nil:
		delete(f.toUp, p.key)
	default:
		f.toUp[p.key] = p.next
	}
}

// find returns the newest request with a key for which is holds, or nil.
func (f *Facade) find(key string, is func(*pending) bool) *pending {
	p := f.toUp[key]
	for p != nil && !is(p) {
		p = p.next
	}
	return p
}

// release notes that the host does not wait for p any more.
func (f *Facade) release(p *pending) {
	if !p.waited {
		return
	}
	p.waited = false
	if p.timer != nil {
		p.timer.Stop()
	}
	f.asking--
	if f.asking == 0 && f.settled != nil {
		close(f.settled)
		f.settled = nil
	}
}

// promote puts p in the place of what accept has noted. It reports false if
// the host has cancelled that meanwhile.
func (f *Facade) promote(p *pending) bool {
	q := f.find(p.key, (*pending).unsubmitted)
	if q == nil {
		return false
	}
	f.forget(q)
	p.began = q.began
	if q.cancelled != nil {
		f.noteCall(p, ledger.Cancelled, 0)
		return false
	}
	p.waited, p.batch = true, q.batch
	f.add(p)
	return true
}

func (p *pending) unsubmitted() bool { return p.link == nil }

// answer sends the host a response of ours to a request that was not
// submitted, unless the host has cancelled it. It returns what has stood for it.
func (f *Facade) answer(m wire.Message, frame []byte) *pending {
	f.mu.Lock()
	p := f.find(m.Key(), (*pending).unsubmitted)
	if p != nil {
		f.forget(p)
		f.release(p)
	}
	f.mu.Unlock()
	if p != nil && p.cancelled == nil {
		f.respond(p.batch, frame)
	}
	return p
}

// reply answers a request of the host by a raw result.
func (f *Facade) reply(m wire.Message, result []byte) *pending {
	return f.answer(m, wire.Response(m.ID.Raw, result))
}

// refuse answers a request of the host by an error.
func (f *Facade) refuse(m wire.Message, code int, text string) {
	p := f.answer(m, wire.ErrorResponse(m.ID.Raw, code, text, nil))
	f.noteReply(p, (&invocation{m: m}).record(ledger.Refused, len(text)), nil)
}

// forward sends a request of the host to the upstream as it is.
func (f *Facade) forward(ctx context.Context, v *view, m wire.Message) {
	f.submit(ctx, &pending{id: m.ID.Raw, key: m.Key(), method: m.Method, frame: m.Raw, view: v})
}

// submit sends p once the connection is open, unless the host has cancelled it.
func (f *Facade) submit(ctx context.Context, p *pending) {
	f.mu.Lock()
	wanted := f.promote(p)
	f.mu.Unlock()
	if wanted {
		f.dispatch(ctx, p)
	}
}

// dispatch sends p, which is in toUp, once the connection is open, opening it if
// there is none.
func (f *Facade) dispatch(ctx context.Context, p *pending) {
	f.mu.Lock()
	if p.cancelled != nil {
		f.forget(p)
		f.mu.Unlock()
		return
	}
	l := f.connect(ctx, p.view)
	if p.bound && p.judged != l {
		p.link, p.written = nil, false
		f.mu.Unlock()
		f.spawn(func() { f.rejudge(ctx, p) })
		return
	}
	p.link = l
	late, waits := l.late, false
	p.written = l.open[p.view.key.Era]
	p.sending = p.written
	if p.written {
		f.limit(p)
	}
	if !p.written && !late {
		waits = l.enqueue(p)
	}
	written := p.written
	f.mu.Unlock()
	switch {
	case written:
		f.transmit(ctx, l, p)
	case late:
		f.fail(p, f.overdueError())
	case !waits:
		f.fail(p, errFull)
	}
}

// transmit hands p to the connection. A cancellation that came meanwhile must
// not overtake it, and neither must the connection's end be told before it is
// known whether p was taken.
func (f *Facade) transmit(ctx context.Context, l *link, p *pending) {
	f.mu.Lock()
	frame, resent, renewed := p.frame, p.resent, p.renewed
	p.renewals = f.renewals
	f.mu.Unlock()
	err := l.conn.Send(frame)
	f.mu.Lock()
	l.used = time.Now()
	if p.link != l || p.resent != resent || p.renewed != renewed { // it has failed meanwhile, and is being sent again
		f.mu.Unlock()
		return
	}
	p.sending, p.written = false, err == nil
	if err == nil && (f.o.Renew == nil || p.key == "") {
		p.frame = nil // which may be large
	}
	cancelled, gone, why := p.cancelled, l.gone, l.why
	f.mu.Unlock()
	switch {
	case errors.Is(err, upstream.ErrFull):
		f.fail(p, err)
	case gone:
		f.orphaned(ctx, p, why)
	case err != nil: // lost learns why
		f.log.Debug("not sent", "method", p.method, "err", err)
	case cancelled != nil:
		f.tell(l, "notifications/cancelled", cancelled)
	}
}

// orphaned takes a request whose connection has ended. One that was not sent,
// of a connection that was of use, is sent on the next one, once.
func (f *Facade) orphaned(ctx context.Context, p *pending, why error) {
	f.mu.Lock()
	again := !p.written && p.frame != nil && p.link.useful && p.waited && !p.probe && !p.resent && !f.closing
	if again {
		p.resent, p.link = true, nil
	}
	f.mu.Unlock()
	if again {
		f.dispatch(ctx, p)
		return
	}
	f.fail(p, why)
}

// notified takes one notification of the host.
func (f *Facade) notified(ctx context.Context, m wire.Message) {
	switch {
	case m.Method == "notifications/initialized":
		f.ready(m.Raw)
	case m.Method == "notifications/cancelled":
		f.cancel(ctx, m)
	case m.Method == "tools/call", f.disguised(m.Method): // no notification: an upstream that runs it all the same would pass the guard by
		f.log.Warn("a call without an id is not sent", "in", len(m.Raw))
	default:
		f.pass(ctx, m)
	}
}

// ready gives the host what has waited for it to be initialized, and notes
// that it is.
func (f *Facade) ready(frame []byte) {
	for {
		f.mu.Lock()
		held := f.held
		f.held = nil
		if len(held) == 0 {
			if f.initialized == nil {
				close(f.hostReady)
			}
			f.initialized = frame
			f.mu.Unlock()
			return
		}
		f.mu.Unlock()
		for _, frame := range held {
			f.send(frame)
		}
	}
}

// pass sends a notification of the host to the upstream. Most start it, as a
// request does; some mean nothing to one that has just started.
func (f *Facade) pass(ctx context.Context, m wire.Message) {
	v := f.wakes(m)
	f.mu.Lock()
	l := f.link
	if l == nil && v != nil {
		l = f.connect(ctx, v)
	}
	if l == nil {
		f.mu.Unlock()
		return
	}
	ready := l.ready()
	taken := ready || l.enqueue(&pending{frame: m.Raw})
	f.mu.Unlock()
	switch {
	case ready:
		f.tell(l, m.Method, m.Raw)
	case !taken:
		f.log.Warn("notification dropped", "method", m.Method, "in", len(m.Raw))
	}
}

// wakes returns the view for which a notification of the host starts the
// upstream; nil: it does not.
func (f *Facade) wakes(m wire.Message) *view {
	switch {
	case m.Method == "notifications/cancelled", m.Method == "notifications/progress",
		m.Method == "notifications/roots/list_changed":
		return nil
	case isModern(m) && f.knownEra() == legacy:
		return nil
	case isModern(m):
		return f.viewOf(m)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.current
}

// cancel stops a request of the host. A cancellation of what is answered, or
// was never seen, is no business of ours.
func (f *Facade) cancel(ctx context.Context, m wire.Message) {
	key := wire.Key(m.Params.Get("requestId"))
	f.mu.Lock()
	p := f.find(key, func(p *pending) bool { return p.cancelled == nil })
	_, listens := f.listens[key]
	delete(f.listens, key)
	var left *batch
	if p != nil && p.waited && p.method != "initialize" {
		left, p.batch = p.batch, nil
	}
	if p != nil && p.via != "" { // else whoever works on it notes it
		f.noteCall(p, ledger.Cancelled, 0)
	}
	send := p != nil && f.withdraw(p, m.Raw)
	asked := f.unconsulted(p)
	f.mu.Unlock()
	if asked != "" {
		f.send(retraction(asked, callEnded))
	}
	if left != nil {
		f.collect(left, nil)
	}
	switch {
	case send:
		f.tell(p.link, m.Method, m.Raw)
	case p == nil && !listens:
		f.pass(ctx, m)
	}
}

// withdraw cancels p: if it still waits it is forgotten. It reports whether the
// upstream is to be told; while p is being sent, transmit does that. An
// initialize cannot be cancelled. The caller holds mu.
func (f *Facade) withdraw(p *pending, cancellation []byte) bool {
	if p.method == "initialize" {
		return false
	}
	f.release(p)
	p.cancelled = cancellation
	switch {
	case p.link == nil: // whoever works on it finds out
	case p.written:
		f.remember(p)
	default:
		f.forget(p)
		p.link.dequeue(p)
	}
	return p.written && !p.sending
}

// remember keeps a cancelled request for a late answer, which the host is
// given, and drops the oldest if there are too many. The caller holds mu.
func (f *Facade) remember(p *pending) {
	f.withdrawn = append(f.withdrawn, p)
	if len(f.withdrawn) > maxWithdrawn {
		f.forget(f.withdrawn[0])
		f.withdrawn = slices.Delete(f.withdrawn, 0, 1)
	}
}

// answered takes the host's answer: to a question of ours, or to a request of
// the upstream, which goes to the connection that asked, if that is still there.
func (f *Facade) answered(ctx context.Context, m wire.Message) {
	f.mu.Lock()
	if q := f.consulted(m); q != nil {
		f.mu.Unlock()
		f.decided(ctx, q, m)
		return
	}
	q, asked := f.fromUp[m.Key()]
	delete(f.fromUp, m.Key())
	if !asked {
		delete(f.estranged, m.Key())
	}
	if asked && f.o.Server.CallTimeout > 0 {
		f.move(func(p *pending) bool { return p.link == q.link })
	}
	f.mu.Unlock()
	if !asked {
		f.log.Debug("answer of the host to nothing that is asked", "in", len(m.Raw))
		return
	}
	if q.id != q.theirs {
		m.Raw = wire.Splice(m.Raw, m.ID, []byte(q.theirs))
	}
	f.tell(q.link, "answer", m.Raw)
}

// pump takes what the upstream writes until it ends.
func (f *Facade) pump(ctx context.Context, l *link) {
	for {
		m, err := l.conn.Recv()
		if failure, ok := err.(*upstream.Failure); ok {
			f.unanswered(ctx, l, failure)
			continue
		}
		if err != nil {
			f.lost(ctx, l, err)
			f.closeConn(l.conn)
			return
		}
		f.mu.Lock()
		l.heard = true
		if m.IsRequest() || m.IsResponse() {
			l.used = time.Now()
		}
		f.mu.Unlock()
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
	key, denied := m.Key(), f.denial(m)
	f.mu.Lock()
	f.worked(l)
	if o, ours := f.own[key]; ours && o.link == l {
		delete(f.own, key)
		again := denied && o.frame != nil && !f.closing
		f.mu.Unlock()
		if again {
			f.spawn(func() { f.resendOwn(ctx, l, m.ID.Raw, o, m) })
			return
		}
		o.done(m, nil)
		return
	}
	p := f.find(key, func(p *pending) bool { return p.link == l && p.written && p.cancelled == nil })
	if p == nil {
		p = f.find(key, func(p *pending) bool { return p.link == l && p.written })
	}
	if p == nil {
		f.mu.Unlock()
		f.log.Warn("upstream answered what nobody asked", "out", len(m.Raw))
		return
	}
	if denied && f.renews(p, m) {
		p.link, p.written, p.sending = nil, false, false
		f.mu.Unlock()
		f.spawn(func() { f.resend(ctx, l, p, m) })
		return
	}
	if denied && p.renewed {
		f.vain = time.Now()
	}
	f.mu.Unlock()
	if denied && (m.Error.Exists() || p.harmless) {
		m = remarked(m, f.remark(nil))
	}
	f.conclude(ctx, l, p, m)
}

// conclude takes the upstream's answer to p for the last one.
func (f *Facade) conclude(ctx context.Context, l *link, p *pending, m wire.Message) {
	f.mu.Lock()
	if f.find(p.key, func(q *pending) bool { return q == p }) == nil { // it has failed meanwhile
		f.mu.Unlock()
		return
	}
	f.forget(p)
	waited := p.waited
	f.release(p)
	if p.cancelled != nil {
		p.batch = nil
	}
	if f.o.Server.IdleTimeout > 0 && makesTask(m) {
		l.tasks = true
	}
	swallow := p.swallow || f.unlistened(p)
	f.mu.Unlock()
	f.deliver(ctx, l, p, m, swallow)
	if waited {
		f.noteAnswer(p, m)
	}
}

// deliver gives the host the upstream's answer to p.
func (f *Facade) deliver(ctx context.Context, l *link, p *pending, m wire.Message, swallow bool) {
	if p.learn != nil {
		p.learn(m)
	}
	if p.tool != "" {
		f.forgive(p.tool, m)
	}
	switch {
	case p.probe:
		f.verdict(ctx, l, p, m, swallow)
	case swallow:
	case p.hint != "":
		f.respond(p.batch, f.hinting(p, m))
	default:
		f.respond(p.batch, m.Raw)
	}
}

// requested takes one request of the upstream; before the host is initialized
// it waits. Where there is no host, nobody can answer it.
func (f *Facade) requested(l *link, m wire.Message) {
	if f.hostless {
		f.answerAlone(l, m)
		return
	}
	f.mu.Lock()
	wait := f.initialized == nil && f.current != nil
	full := wait && len(f.held) >= maxHeld
	if !full {
		q := question{id: m.ID.Raw, theirs: m.ID.Raw, link: l}
		if f.ambiguous(m.Key(), l) {
			q.id = questionID()
			m.Raw = wire.Splice(m.Raw, m.ID, []byte(q.id))
		}
		if wait {
			q.frame = m.Raw
			f.held = append(f.held, m.Raw)
		}
		f.fromUp[wire.Key(gjson.Parse(q.id))] = q
	}
	f.mu.Unlock()
	switch {
	case full:
		f.tell(l, "answer", wire.ErrorResponse(m.ID.Raw, codeInternal, "too many requests before notifications/initialized", nil))
	case !wait:
		f.send(m.Raw)
	}
}

// ambiguous reports whether an answer of the host under a key may be meant for
// another connection than the one that asks now, or for us: each process counts
// its ids from the same number, and what was withdrawn may be answered all the same. The
// caller holds mu, as for the next two.
func (f *Facade) ambiguous(key string, l *link) bool {
	return f.estranged[key] || len(f.estranged) == maxEstranged || f.foreign(key, l)
}

// foreign reports whether the host knows a key as that of a question that
// another connection, or we, have asked.
func (f *Facade) foreign(key string, l *link) bool {
	q, asked := f.fromUp[key]
	return f.consents[key] != nil || asked && q.link != l
}

// estrange notes that the host has been given a question that is withdrawn.
func (f *Facade) estrange(q question) {
	if q.id == q.theirs && len(f.estranged) < maxEstranged {
		f.estranged[wire.Key(gjson.Parse(q.id))] = true
	}
}

// answerAlone answers a request of the upstream without a host.
func (f *Facade) answerAlone(l *link, m wire.Message) {
	answer := wire.ErrorResponse(m.ID.Raw, codeMethodNotFound, "Method not found", nil)
	if m.Method == "ping" {
		answer = wire.Response(m.ID.Raw, []byte("{}"))
	}
	f.tell(l, "answer", answer)
}

// announced takes one notification of the upstream.
func (f *Facade) announced(ctx context.Context, l *link, m wire.Message) {
	switch m.Method {
	case "notifications/tools/list_changed":
		f.changed(ctx, l, m.Method)
		return
	case "notifications/prompts/list_changed", "notifications/resources/list_changed":
		f.changed(ctx, l, m.Method)
	case "notifications/cancelled":
		if m.Raw = f.unasked(l, m); m.Raw == nil {
			return
		}
	case "notifications/progress":
		f.progressed(m.Params.Get("progressToken"))
	}
	if !f.swallowed(m) {
		f.send(m.Raw)
	}
}

// unasked takes the upstream's cancellation of a request of its own. It
// returns what the host is told, nil if it has not been given that request, or
// knows the id as that of another's.
func (f *Facade) unasked(l *link, m wire.Message) []byte {
	id := m.Params.Get("requestId")
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, q := range f.fromUp {
		if q.link != l || wire.Key(gjson.Parse(q.theirs)) != wire.Key(id) {
			continue
		}
		delete(f.fromUp, key)
		if f.unhold(q) {
			return nil
		}
		f.estrange(q)
		if q.id != q.theirs {
			return wire.Splice(m.Raw, id, []byte(q.id))
		}
		return m.Raw
	}
	if f.foreign(wire.Key(id), l) {
		return nil
	}
	return m.Raw
}

// unhold reports whether a question still waits for the host to be
// initialized, and lets it wait no longer. The caller holds mu.
func (f *Facade) unhold(q question) bool {
	before := len(f.held)
	f.held = slices.DeleteFunc(f.held, func(frame []byte) bool { return q.frame != nil && &frame[0] == &q.frame[0] })
	return len(f.held) < before
}

// fail answers a request of the host whose answer cannot come any more.
func (f *Facade) fail(p *pending, err error) {
	f.mu.Lock()
	f.forget(p)
	waited, written, b := p.waited, p.written, p.batch
	f.release(p)
	f.mu.Unlock()
	switch {
	case !waited:
	case p.probe:
		f.respond(b, methodNotFound(p))
	case p.method == "tools/call":
		said := f.trouble(p.view, "call "+p.tool, err, written)
		f.respond(b, wire.Response(p.id, said))
		f.noteCall(p, ledger.Lost, len(said))
	default:
		f.respond(b, wire.ErrorResponse(p.id, codeInternal, f.describeError(p.method, err), nil))
	}
}

var (
	errClosing = errors.New("the facade is closing")
	errFull    = fmt.Errorf("more than %d bytes wait for it to start", backlogLimit)
)
