package facade

import (
	"fmt"
	"time"

	"mcp-facade/facade/ledger"
	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// limit gives a call that is being sent callTimeout to be answered. Each
// progress notification for it gives it as much again; while the host has not
// answered a question of the upstream, time stands still. The caller holds mu.
func (f *Facade) limit(p *pending) {
	if f.o.Server.CallTimeout <= 0 || p.method != "tools/call" || p.timer != nil {
		return
	}
	p.moved, p.token = time.Now(), wire.Key(gjson.GetBytes(p.frame, "params._meta.progressToken"))
	p.timer = time.AfterFunc(f.o.Server.CallTimeout, func() {
		if f.enter() {
			f.impatient(p)
			f.wg.Done()
		}
	})
}

// impatient ends a call that has not moved for callTimeout: the upstream is
// told, and a late answer is swallowed.
func (f *Facade) impatient(p *pending) {
	limit := f.o.Server.CallTimeout
	f.mu.Lock()
	if !p.waited {
		f.mu.Unlock()
		return
	}
	wait := limit - time.Since(p.moved)
	for _, q := range f.fromUp {
		if q.link == p.link {
			wait = limit
		}
	}
	if wait > 0 {
		p.timer.Reset(wait)
		f.mu.Unlock()
		return
	}
	told := cancellation(p.id)
	batch, link, written := p.batch, p.link, p.written
	p.batch, p.swallow = nil, true
	tell := f.withdraw(p, told)
	f.mu.Unlock()
	if tell {
		f.tell(link, "notifications/cancelled", told)
	}
	err := &upstream.Error{Server: f.name(), Op: "call", Err: fmt.Errorf("no answer in %v", limit),
		Hint: fmt.Sprintf("a longer \"callTimeout\" for %s, if that is to be expected", f.name())}
	said := f.trouble(p.view, "call "+p.tool, err, written)
	f.respond(batch, wire.Response(p.id, said))
	f.noteCall(p, ledger.Lost, len(said))
}

// cancellation tells the upstream that nobody waits any more for the answer to
// the request with a raw id.
func cancellation(id string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"no answer in time"}}`)
}

// progressed notes that a call moves.
func (f *Facade) progressed(token gjson.Result) {
	if f.o.Server.CallTimeout <= 0 || !token.Exists() {
		return
	}
	key := wire.Key(token)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.move(func(p *pending) bool { return p.token == key })
}

// move lets the time of some calls begin again. The caller holds mu.
func (f *Facade) move(is func(*pending) bool) {
	for _, first := range f.toUp {
		for p := first; p != nil; p = p.next {
			if p.timer != nil && is(p) {
				p.moved = time.Now()
			}
		}
	}
}
