package facade

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/ledger"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// callTool takes a tools/call: of a meta-tool, or of a tool by its own name.
func (f *Facade) callTool(ctx context.Context, v *view, m wire.Message) {
	if twice := wire.Duplicate(m.Params, "name", "arguments"); twice != "" {
		f.refuse(m, codeInvalidParams, fmt.Sprintf("tools/call: params has more than one %q", twice))
		return
	}
	named := m.Params.Get("name")
	if named.Type != gjson.String { // an upstream may read more into it than the guard does
		f.refuse(m, codeInvalidParams, "tools/call: params.name is not a string")
		return
	}
	f.compareAgain(v)
	name := named.Str
	s := f.surfaceOf(v)
	args := m.Params.Get("arguments")
	switch kind := s.metaTool(name); kind {
	case "discover":
		f.searching(ctx, &invocation{m: m, view: v, via: kind}, func(c *catalog.Catalog) (answer, bool) {
			text, shows, failed := f.discover(v, c, args)
			return answer{text: text, shows: shows}, failed
		})
	case "describe":
		f.searching(ctx, &invocation{m: m, view: v, via: kind}, func(c *catalog.Catalog) (answer, bool) {
			text, failed := f.describe(v, c, args)
			return answer{text: text}, failed
		})
	case "call", "call_write":
		f.metaCall(ctx, s, &invocation{m: m, view: v, via: kind})
	default:
		f.directCall(ctx, v, s, m, name)
	}
}

// surfaceOf is the view's surface, or the one without a catalog.
func (f *Facade) surfaceOf(v *view) *surface {
	f.mu.Lock()
	s := v.surface
	f.mu.Unlock()
	if s == nil {
		return f.bare()
	}
	return s
}

// directCall forwards a call of a tool by its own name, which is put into the
// upstream's spelling. A name that is in no catalog is forwarded once the
// catalog is confirmed: some servers take names that they do not list.
func (f *Facade) directCall(ctx context.Context, v *view, s *surface, m wire.Message, name string) {
	if up, ok := s.names().upstream(name); ok {
		f.runDirect(ctx, v, m, up)
		return
	}
	f.confirmed(ctx, v, func() {
		up, ok := f.surfaceOf(v).names().upstream(name)
		down := f.unreachable(v)
		switch {
		case ok:
			f.runDirect(ctx, v, m, up)
		case down != nil:
			f.strand(&invocation{m: m, view: v, tool: name}, down)
		default:
			f.runDirect(ctx, v, m, name)
		}
	})
}

// runDirect sends a call of a tool by its own name.
func (f *Facade) runDirect(ctx context.Context, v *view, m wire.Message, tool string) {
	f.run(ctx, &invocation{m: m, view: v, tool: tool, args: m.Params.Get("arguments").Raw, frame: renamed(m, tool)})
}

// unreachable is why there is no connection, where the tools have not been
// listed for that.
func (f *Facade) unreachable(v *view) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if v.fresh || f.link != nil {
		return nil
	}
	return cmp.Or(v.missing, errLoading)
}

// renamed is the frame of a tools/call with another tool name.
func renamed(m wire.Message, name string) []byte {
	old := m.Params.Get("name")
	if old.Str == name {
		return m.Raw
	}
	return wire.Splice(m.Raw, old, wire.AppendString(nil, name))
}

// metaCall takes a call of a meta-tool that runs others: the request goes to the
// upstream with the tool's name and arguments in place of ours. A call that is in
// any doubt waits until the catalog is confirmed.
func (f *Facade) metaCall(ctx context.Context, s *surface, c *invocation) {
	o, err := f.understand(c.view, s, c.given(), false)
	switch {
	case o.nameless:
		f.deny(c, err)
	case err == nil && o.plain():
		f.runInner(ctx, c, o)
	default:
		f.confirmed(ctx, c.view, func() { f.runDoubtful(ctx, c) })
	}
}

// given is what the host has passed to the tool that it has called.
func (c *invocation) given() gjson.Result { return c.m.Params.Get("arguments") }

// runDoubtful takes a call that was in doubt, now that the upstream has been
// asked. If it could not list its tools, none is refused for its name or its
// arguments.
func (f *Facade) runDoubtful(ctx context.Context, c *invocation) {
	f.mu.Lock()
	listed := c.view.fresh
	f.mu.Unlock()
	o, err := f.understand(c.view, f.surfaceOf(c.view), c.given(), !listed)
	down := f.unreachable(c.view)
	switch {
	case err != nil:
		f.deny(c, err)
	case down != nil:
		c.tool, c.args = o.tool, o.args
		f.strand(c, down)
	default:
		if o.bent != nil {
			f.log.Debug("call repaired", "tool", o.tool, "how", strings.Join(o.bent, ", "), "in", len(c.given().Raw), "out", len(o.args))
		}
		f.runInner(ctx, c, o)
	}
}

// deny answers a call that is not sent.
func (f *Facade) deny(c *invocation, why error) {
	said := result(c.view, f.insisting(c.view, c.m, why).Error(), true)
	r := c.record(ledger.Refused, len(said))
	if of := new(recurring); r.Tool == "" && errors.As(why, &of) {
		r.Tool = of.tool
	}
	f.noteReply(f.reply(c.m, said), r, nil)
}

// strand answers a call that cannot be sent, because there is no connection.
func (f *Facade) strand(c *invocation, down error) {
	said := f.trouble(c.view, "call "+c.tool, down, false)
	f.noteReply(f.reply(c.m, said), c.record(ledger.Lost, len(said)), nil)
}

// runInner sends the tool that a call of ours asks for. Only name and
// arguments of the params are replaced; _meta, inputResponses, requestState,
// task and whatever else is there stay.
func (f *Facade) runInner(ctx context.Context, c *invocation, o order) {
	c.tool, c.args, c.agreed = o.tool, o.args, agrees(c.given(), &o)
	params := wire.SetMember([]byte(c.m.Params.Raw), "name", wire.AppendString(nil, o.tool))
	params = wire.SetMember(params, "arguments", []byte(orNothing(o.args)))
	c.frame = wire.Splice(c.m.Raw, c.m.Params, params)
	if f.o.Server.Hints {
		c.hint = o.tool
	}
	f.run(ctx, c)
}

// run asks the guard and sends a call, or has the user asked.
func (f *Facade) run(ctx context.Context, c *invocation) {
	f.takeRound(c)
	f.consider(ctx, c, func(err error) { f.heed(ctx, c, err) })
}

// consider runs then with what the guard says to a call. Where what the tool does
// is hearsay, the upstream lists its tools first.
func (f *Facade) consider(ctx context.Context, c *invocation, then func(error)) {
	c.relisted = false
	if err := f.allow(c); err != errHearsay {
		then(err)
		return
	}
	f.holdUp(ctx, c.view, func() {
		down := f.witness(ctx, c.view)
		c.relisted = true
		err := f.allow(c)
		switch {
		case down != nil && err == errHearsay:
			f.strand(c, down)
			return
		case err == errHearsay && f.blocks():
			err = f.unlistable(c)
		case err == errHearsay:
			c.hearsay = true
			err = f.judge(c, destroys)
		}
		then(err)
	})
}

// heed does with a call what the guard has said.
func (f *Facade) heed(ctx context.Context, c *invocation, err error) {
	switch err {
	case nil:
		f.proceed(ctx, c)
	case errUnconfirmed:
		f.confirm(ctx, c)
	default:
		f.deny(c, err)
	}
}

// confirmed runs next once this process has listed the tools, or has failed to.
// What the host says meanwhile waits behind it (relay.go), so that it reaches
// the upstream in the host's order; when that is caught up with, next is run
// in turn.
func (f *Facade) confirmed(ctx context.Context, v *view, next func()) {
	f.mu.Lock()
	known := v.fresh || f.deciding == v
	tired := v.listing != nil && v.missing != nil // a listing that has been waited for
	known = known || tired
	if !known {
		v.expect()
	}
	f.mu.Unlock()
	if known {
		next()
		return
	}
	f.holdUp(ctx, v, func() {
		f.relistSoon(ctx, v)
		f.await(ctx, v)
		next()
	})
}

// holdUp runs what waits for a listing of the view. What the host says meanwhile
// is taken after it.
func (f *Facade) holdUp(ctx context.Context, v *view, wait func()) {
	f.mu.Lock()
	inTurn := f.deciding != nil
	f.deciding = v
	f.mu.Unlock()
	if inTurn {
		wait()
		return
	}
	f.spawn(func() { wait(); f.catchUp(ctx) })
}

// hinting is the upstream's answer to a call, with the tool's signature after
// an error result, once for each tool. It begins with a line break because some
// hosts put the texts of a result together without one.
func (f *Facade) hinting(p *pending, m wire.Message) []byte {
	content := m.Result.Get("content")
	if !m.Result.Get("isError").Bool() || !content.IsArray() {
		return m.Raw
	}
	c, err := f.tools(p.view)
	if err != nil {
		return m.Raw
	}
	t, ok := c.Lookup(p.hint)
	f.mu.Lock()
	again := f.hinted[p.hint]
	f.hinted[p.hint] = true
	f.mu.Unlock()
	if !ok || again {
		return m.Raw
	}
	return withText(m, "\nIts signature: "+compact.Signature(t.Name, t.InputSchema, t.Description))
}

// withText is the frame of a result with one more text in its content.
func withText(m wire.Message, text string) []byte {
	content := m.Result.Get("content")
	if !content.IsArray() {
		return m.Raw
	}
	list := bytes.TrimRight([]byte(content.Raw[:len(content.Raw)-1]), " \t\r\n")
	if len(content.Array()) > 0 {
		list = append(list, ',')
	}
	list = wire.AppendString(append(list, `{"type":"text","text":`...), text)
	return wire.Splice(m.Raw, content, append(list, "}]"...))
}
