package facade

import (
	"context"
	"slices"
	"strings"
	"time"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// A listen is an open subscriptions/listen of the host.
type listen struct {
	id      string // raw
	view    *view
	tools   bool   // it wants tools/list_changed
	forward []byte // what the upstream is to be sent of it; nil: nothing
	on      *link  // where it has been sent
	cuts    cuts
}

// subscribe acknowledges a listen of a modern host (MCP 2026-07-28,
// basic/subscriptions). toolsListChanged is ours; the rest goes to the
// upstream under the same id once that runs.
func (f *Facade) subscribe(ctx context.Context, v *view, m wire.Message) {
	filter := m.Params.Get("notifications")
	if !filter.IsObject() {
		f.refuse(m, codeInvalidParams, "subscriptions/listen: params.notifications is missing")
		return
	}
	rest := wire.DeleteMember([]byte(filter.Raw), "toolsListChanged")
	s := &listen{id: m.ID.Raw, view: v, tools: filter.Get("toolsListChanged").Bool()}
	if wants(rest) {
		s.forward = wire.Splice(m.Raw, filter, rest)
	}
	f.answer(m, acknowledgment(m.ID.Raw, filter.Raw))
	f.mu.Lock()
	f.listens[m.Key()] = s
	l := f.link
	live := l != nil && l.open[modern]
	f.mu.Unlock()
	if live {
		f.relisten(ctx, l)
	}
}

// wants reports whether a filter asks for anything.
func wants(filter []byte) (yes bool) {
	gjson.ParseBytes(filter).ForEach(func(_, v gjson.Result) bool {
		yes = v.Type == gjson.True || v.IsArray() && len(v.Array()) > 0 || v.IsObject()
		return !yes
	})
	return yes
}

func acknowledgment(id, filter string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"` +
		metaSubscription + `":` + id + `},"notifications":` + filter + `}}`)
}

// relisten sends a connection the listens of the host that it has not been
// sent yet. The host does not wait for their answers, which end them.
func (f *Facade) relisten(ctx context.Context, l *link) {
	var again []*pending
	f.mu.Lock()
	for key, s := range f.listens {
		if s.forward == nil || s.on == l || l.gone {
			continue
		}
		s.on, s.cuts.opened = l, time.Now()
		p := &pending{key: key, id: s.id, method: "subscriptions/listen", frame: s.forward, view: s.view, link: l, written: true, sending: true}
		f.add(p)
		again = append(again, p)
	}
	f.mu.Unlock()
	for _, p := range again {
		f.transmit(ctx, l, p)
	}
}

// unlistened takes the end of a listen's part at the upstream. It reports
// whether the host's goes on, for its tools. The caller holds mu.
func (f *Facade) unlistened(p *pending) bool {
	s := f.listens[p.key]
	if s == nil || p.method != "subscriptions/listen" {
		return false
	}
	if !s.tools {
		delete(f.listens, p.key)
	}
	return s.tools
}

// swallowed reports whether a notification is not for the host: it belongs to
// the listen of our own, or acknowledges one, which we have done.
func (f *Facade) swallowed(m wire.Message) bool {
	return m.Method == "notifications/subscriptions/acknowledged" ||
		strings.HasPrefix(m.Params.Get(subscriptionPath).Str, f.tag)
}

// subscriptionPath is where a notification says which listen it belongs to.
const subscriptionPath = `_meta.io\.modelcontextprotocol/subscriptionId`

// follows forwards the host's wish to follow a resource, or not to any more,
// and remembers it for a restart once the upstream agrees.
func (f *Facade) follows(ctx context.Context, v *view, m wire.Message) {
	uri := m.Params.Get("uri").Str
	f.submit(ctx, &pending{id: m.ID.Raw, key: m.Key(), method: m.Method, frame: m.Raw, view: v, learn: func(said wire.Message) {
		if said.Error.Exists() {
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.subscribed = slices.DeleteFunc(f.subscribed, func(s subscription) bool { return s.uri == uri })
		if m.Method == "resources/subscribe" {
			f.subscribed = append(f.subscribed, subscription{uri, []byte(m.Params.Raw)})
		}
	}})
}
