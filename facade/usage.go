package facade

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"mcp-facade/compact"
	"mcp-facade/facade/ledger"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// ledgerWait is how long Run waits at its end for the ledger to be written.
const ledgerWait = time.Second

// maxCounted is how much of the arguments of a search is counted in tokens, in
// bytes: they are kept until then.
const maxCounted = 64 << 10

// note puts into the ledger what has become of a call, which p has stood for.
// fill completes the record when that is written, after the host was answered;
// nil: it is complete.
func (f *Facade) note(p *pending, r ledger.Record, fill func(*ledger.Record)) {
	if p == nil || p.began.IsZero() {
		return
	}
	r.Time, r.Dur = p.began, time.Since(p.began)
	f.o.Ledger.AddLater(r, func(r *ledger.Record) {
		if fill != nil {
			fill(r)
		}
		if !f.lists(r.Tool) { // it is a model's own words
			r.Tool = ""
		}
	})
}

// lists reports whether a tool of that name is in a catalog.
func (f *Facade) lists(tool string) bool {
	f.mu.Lock()
	var surfaces []*surface
	for _, v := range f.views {
		if v.surface != nil {
			surfaces = append(surfaces, v.surface)
		}
	}
	f.mu.Unlock()
	return slices.ContainsFunc(surfaces, func(s *surface) bool {
		_, ok := s.names().upstream(tool)
		return ok
	})
}

// noteReply is note for a call that was not submitted: we have answered it, or
// the host has cancelled it before we could.
func (f *Facade) noteReply(p *pending, r ledger.Record, fill func(*ledger.Record)) {
	if p != nil && p.cancelled != nil {
		r.Outcome, r.Out, r.Found, fill = ledger.Cancelled, 0, nil, nil
	}
	f.note(p, r, fill)
}

// noteCall is note for a call that was submitted.
func (f *Facade) noteCall(p *pending, outcome string, out int) {
	f.note(p, ledger.Record{Via: p.via, Tool: p.tool, In: p.in, Out: out, Outcome: outcome}, nil)
}

// noteAnswer notes a call by its last answer: one that asks for another round
// is not.
func (f *Facade) noteAnswer(p *pending, m wire.Message) {
	switch {
	case p.began.IsZero():
	case m.Error.Exists():
		f.noteCall(p, ledger.Failed, len(m.Error.Raw))
	case p.view.key.Era == modern && m.Result.Get("resultType").Str == "input_required":
	case saysFailed(m.Result.Raw):
		f.noteCall(p, ledger.Failed, len(m.Result.Raw))
	default:
		f.noteCall(p, ledger.OK, len(m.Result.Raw))
	}
}

// maxWhole is how large a result is of which all is looked at, and twice the size
// of the ends of another, in bytes.
const maxWhole = 16 << 10

// saysFailed reports whether a result has isError. A large one says so at one of
// its ends: for that it is not read through.
func saysFailed(result string) bool {
	const key = `"isError"`
	if n := len(result); n > maxWhole && !strings.Contains(result[:maxWhole/2], key) {
		end := result[n-maxWhole/2:]
		i := strings.LastIndex(end, key)
		return i >= 0 && isTrue(end[i+len(key):])
	}
	return strings.Contains(result, key) && gjson.Get(result, "isError").Bool()
}

// isTrue reports whether what follows a key says true.
func isTrue(rest string) bool {
	rest, colon := strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n"), ":")
	return colon && strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), "true")
}

// record is what the ledger has of a call that was not sent.
func (c *invocation) record(outcome string, out int) ledger.Record {
	in := len(c.args)
	if c.tool == "" {
		in = len(c.given().Raw)
	}
	return ledger.Record{Via: c.way(), Tool: c.tool, In: in, Out: out, Outcome: outcome}
}

// way is how a call has come, for the ledger.
func (c *invocation) way() string {
	if c.via == "call_write" {
		return ledger.Call
	}
	return cmp.Or(c.via, ledger.Direct)
}

// noteSearch notes a call of discover or describe that is answered.
func (f *Facade) noteSearch(p *pending, c *invocation, a answer, failed bool, out int) {
	outcome := ledger.OK
	if failed {
		outcome = ledger.Refused
	}
	r := c.record(outcome, out)
	for _, tool := range a.shows {
		r.Found = append(r.Found, strings.TrimPrefix(tool, described))
	}
	args, text := c.given().Raw, a.text
	args = strings.Clone(args[:min(len(args), maxCounted)])
	f.noteReply(p, r, func(r *ledger.Record) { r.Tokens = compact.Tokens([]byte(args)) + compact.Tokens([]byte(text)) })
}

// noteSession notes, once, that the host was given its list of tools.
func (f *Facade) noteSession(s *surface) {
	if f.o.Ledger == nil || f.met.Swap(true) {
		return
	}
	r := ledger.Record{Time: time.Now(), Via: ledger.Session, Out: len(s.tools), Surface: f.o.Server.Surface}
	f.o.Ledger.AddLater(r, func(r *ledger.Record) {
		gjson.ParseBytes(s.tools).ForEach(func(_, t gjson.Result) bool {
			r.Tools++
			r.Tokens += ModelTokens([]byte(t.Raw))
			return true
		})
	})
}

// closeLedger writes what is noted, and waits for "auto" to have chosen. If a
// file does not answer, that is left behind.
func (f *Facade) closeLedger(ctx context.Context, chosen <-chan struct{}) {
	if f.o.Ledger == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	closed, done := make(chan struct{}), make(chan struct{})
	go f.endLedger(ctx, closed, chosen, done)
	if !f.within(ledgerWait, done) {
		cancel()
		f.within(ledgerWait, closed) // it says what is missing
	}
}

// endLedger closes the ledger and then closed, and done when "auto" has chosen,
// too. It may be stuck in a file.
func (f *Facade) endLedger(ctx context.Context, closed chan<- struct{}, chosen <-chan struct{}, done chan<- struct{}) {
	f.o.Ledger.Close(ctx)
	close(closed)
	<-chosen
	close(done)
}
