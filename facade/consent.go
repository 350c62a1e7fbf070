package facade

import (
	"context"
	"time"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// consentWait is how long the user may take to answer: longer than hosts wait
// for a call.
const consentWait = time.Hour

// greetWait is how long a question waits for the host to be initialized. Most
// hosts are at once, and those that never are must not wait for an hour.
const greetWait = 30 * time.Second

// A consent is a question of ours to the user that a legacy host has not
// answered yet. What stands above sent does not change; that and the rest are
// guarded by Facade.mu.
type consent struct {
	id    string // raw
	call  *invocation
	asked *pending // the host's request, which waits for it
	frame []byte
	timer *time.Timer // ends it

	sent  bool // the host has been given it, or will be once it is initialized
	ended bool // nobody waits for the answer any more
	early bool // the host was not initialized when it came
}

// confirm takes a call that the user is to agree to: it is sent if they have,
// refused if they have not or cannot be asked; else they are asked.
func (f *Facade) confirm(ctx context.Context, c *invocation) {
	switch {
	case f.asksModel() && c.agreed:
		f.proceed(ctx, c)
	case f.asksModel():
		f.deny(c, f.unagreed(c))
	case c.view.key.Era == modern:
		f.confirmByRound(ctx, c)
	case !elicits(gjson.GetBytes(c.view.opening, "capabilities")):
		f.deny(c, f.unaskable(c))
	case f.declinedForGood(c):
		f.deny(c, f.declined(c))
	default:
		f.consult(c)
	}
}

// asksModel reports whether the word of who calls counts as the user's.
func (f *Facade) asksModel() bool {
	return f.o.Server.ConfirmBy != "elicitation" && f.delicate(destroys)
}

// elicits reports whether a host of these capabilities can ask the user by a
// form. One that names no mode means that one (MCP 2025-11-25,
// client/elicitation, "Capabilities").
func elicits(capabilities gjson.Result) bool {
	modes := capabilities.Get("elicitation")
	return modes.IsObject() && (modes.Get("form").Exists() || !modes.Get("url").Exists())
}

// consult asks the user by a request of ours to the host, once that is
// initialized. Nothing else waits for the answer.
func (f *Facade) consult(c *invocation) {
	f.searches.called()
	params := f.elicitation(c)
	f.mu.Lock()
	q := f.newConsent(c, params)
	waits := q != nil && f.initialized == nil
	if waits {
		f.held = append(f.held, q.frame)
		q.sent = true
	}
	f.mu.Unlock()
	if q != nil && !waits {
		f.give(q)
	}
}

// newConsent notes a question, nil if the host has cancelled what it is about.
// The caller holds mu.
func (f *Facade) newConsent(c *invocation, params []byte) *consent {
	asked := f.find(c.m.Key(), (*pending).unsubmitted)
	switch {
	case asked == nil:
		return nil
	case asked.cancelled != nil:
		f.forget(asked)
		f.noteReply(asked, c.record("", 0), nil)
		return nil
	}
	q := &consent{id: questionID(), call: c, asked: asked}
	q.frame = request(q.id, "elicitation/create", params)
	wait := consentWait
	if q.early = f.initialized == nil; q.early {
		wait = greetWait
	}
	q.timer = time.AfterFunc(wait, func() {
		if f.enter() {
			f.unheeded(q)
			f.wg.Done()
		}
	})
	f.consents[wire.Key(gjson.Parse(q.id))] = q
	return q
}

// give sends a question to the host, and takes it back if the call has ended
// meanwhile.
func (f *Facade) give(q *consent) {
	f.send(q.frame)
	f.mu.Lock()
	unwanted := q.ended && !q.sent
	q.sent = true
	f.mu.Unlock()
	if unwanted {
		f.send(retraction(q.id, callEnded))
	}
}

const callEnded = "the call has ended"

// consulted is the question of ours that the host has answered, which is
// answered once; nil: it is none. The caller holds mu, as for endConsent.
func (f *Facade) consulted(m wire.Message) *consent {
	q := f.consents[m.Key()]
	if q != nil {
		q.sent = true
		f.endConsent(q)
	}
	return q
}

// endConsent lets nobody wait for an answer any more. It reports whether the
// host is to be told.
func (f *Facade) endConsent(q *consent) (tell bool) {
	delete(f.consents, wire.Key(gjson.Parse(q.id)))
	q.timer.Stop()
	q.ended = true
	return !f.unhold(question{frame: q.frame}) && q.sent
}

// unconsulted ends the question about a request that the host has cancelled. It
// returns its raw id if the host is to be told, else "". The caller holds mu.
func (f *Facade) unconsulted(p *pending) (id string) {
	for _, q := range f.consents {
		if q.asked != p {
			continue
		}
		f.forget(p)
		f.noteReply(p, q.call.record("", 0), nil)
		if f.endConsent(q) {
			return q.id
		}
	}
	return ""
}

// decided takes the host's answer to a question of ours.
func (f *Facade) decided(ctx context.Context, q *consent, m wire.Message) {
	if err := f.agreement(q.call, m.Result, m.Error.Get("message").Str); err != nil {
		f.deny(q.call, err)
		return
	}
	if !f.blocks() {
		f.proceed(ctx, q.call)
		return
	}
	f.consider(ctx, q.call, func(err error) { // again: the answer may have taken long
		if err == errUnconfirmed {
			err = nil
		}
		f.heed(ctx, q.call, err)
	})
}

// unheeded refuses a call about which nobody has said anything.
func (f *Facade) unheeded(q *consent) {
	f.mu.Lock()
	if q.early && f.initialized != nil {
		q.early = false
		q.timer.Reset(consentWait - greetWait)
		f.mu.Unlock()
		return
	}
	late := !q.ended
	tell := late && f.endConsent(q)
	f.mu.Unlock()
	if tell {
		f.send(retraction(q.id, callEnded))
	}
	if late {
		f.deny(q.call, f.unsettled(q.call, q.silence()))
	}
}

// silence is why nobody has answered.
func (q *consent) silence() string {
	if q.early {
		return "the host, which is to ask the user, has not sent notifications/initialized in " + greetWait.String()
	}
	return "nobody answered in " + consentWait.String()
}

// unattended refuses what the user has not agreed to when the host has gone.
func (f *Facade) unattended() {
	f.mu.Lock()
	var left []*consent
	for _, q := range f.consents {
		f.endConsent(q)
		left = append(left, q)
	}
	f.mu.Unlock()
	for _, q := range left {
		f.deny(q.call, f.unsettled(q.call, "the host has closed"))
	}
}

// proceed sends a call.
func (f *Facade) proceed(ctx context.Context, c *invocation) {
	f.searches.called()
	p := &pending{id: c.m.ID.Raw, key: c.m.Key(), method: c.m.Method, frame: c.frame, view: c.view, tool: c.tool, hint: c.hint,
		harmless: f.harmless(c.view, c.tool), learn: f.lesson(ctx, c), via: c.way(), in: len(c.args)}
	f.bind(p)
	f.submit(ctx, p)
}
