package facade

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// probeWait is how long an upstream of unknown era may leave server/discover
// unanswered before the host is told to open with initialize. Silence is no
// verdict.
const probeWait = 5 * time.Second

// initialize answers a legacy host: from the cache, else by what the upstream
// says within startTimeout, else by a result of ours.
func (f *Facade) initialize(ctx context.Context, m wire.Message) {
	version := m.Params.Get("protocolVersion").Str
	v := f.view(legacy, version, m.Params.Get("capabilities").Raw, m.Params.Raw)
	f.mu.Lock()
	f.current = v
	handshake, stale := v.handshake, f.stale(v)
	f.mu.Unlock()
	if handshake != nil {
		f.reply(m, f.welcome(v, version))
		if stale {
			f.revalidate(ctx, v)
		}
		return
	}
	f.mu.Lock()
	v.greet = func(refused error) { f.greet(m, v, version, refused) }
	f.mu.Unlock()
	f.revalidate(ctx, v)
}

// greet answers an initialize that has waited for the upstream.
func (f *Facade) greet(m wire.Message, v *view, version string, refused error) {
	if only, ok := refused.(*modernOnly); ok {
		data := append([]byte(`{"supported":`), only.supported...)
		data = append(data, `,"requested":`...)
		data = append(wire.AppendString(data, version), '}')
		f.answer(wire.ErrorResponse(m.ID.Raw, codeInvalidParams, only.Error(), data))
		return
	}
	f.reply(m, f.welcome(v, version))
}

// greetNow lets the cold initialize of a view be answered, if one waits.
func (f *Facade) greetNow(v *view, refused error) {
	f.mu.Lock()
	greet := v.greet
	v.greet = nil
	f.mu.Unlock()
	if greet != nil {
		greet(refused)
	}
}

// A modernOnly is an upstream that has no initialize.
type modernOnly struct {
	server    string
	supported []byte // raw array of protocol versions
}

func (e *modernOnly) Error() string {
	return e.server + ": initialize: the server speaks only " + listed(e.supported) +
		", which opens with server/discover; this host opens with initialize"
}

func listed(array []byte) string {
	var names []string
	for _, v := range gjson.ParseBytes(array).Array() {
		names = append(names, v.Str)
	}
	if names == nil {
		return "MCP " + firstModern + " or later"
	}
	return "MCP " + strings.Join(names, ", ")
}

// welcomed takes the upstream's answer to our initialize, in the goroutine
// that reads the upstream, so that the host's own answer comes before
// whatever the upstream says next.
func (f *Facade) welcomed(ctx context.Context, l *link, v *view, m wire.Message, err error) {
	if err != nil { // the connection has ended; lost has told everybody
		f.greetNow(v, nil)
		return
	}
	if m.Error.Exists() {
		f.unwelcome(ctx, l, v, m)
		return
	}
	f.learnName([]byte(m.Result.Raw))
	f.mu.Lock()
	v.handshake = []byte(m.Result.Raw)
	l.late = false
	initialized := f.initialized
	f.mu.Unlock()
	f.greetNow(v, nil)
	if initialized == nil {
		initialized = []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	l.conn.Send(initialized)
	f.opened(ctx, l, v)
}

// unwelcome handles an upstream that refuses initialize: a process that was
// probed before is started anew, once, with initialize as its first message.
func (f *Facade) unwelcome(ctx context.Context, l *link, v *view, m wire.Message) {
	code, text := m.Error.Get("code").Int(), m.Error.Get("message").Str
	f.mu.Lock()
	again := l.probed && f.link == l
	if again {
		l.gone = true
		f.link = nil
		waiting := l.backlog
		next := f.connect(ctx, v)
		for _, p := range waiting {
			p.link = next
		}
		next.backlog, next.size = waiting, l.size
	}
	f.mu.Unlock()
	if again {
		f.spawn(func() { l.conn.Close() })
		return
	}
	if code == codeUnsupportedVersion || code == codeMethodNotFound {
		supported := []byte(m.Error.Get("data.supported").Raw)
		if len(supported) == 0 {
			supported = []byte("[]")
		}
		f.greetNow(v, &modernOnly{f.name(), supported})
	}
	f.lost(l, f.failure("initialize", text))
	f.greetNow(v, nil)
	f.spawn(func() { l.conn.Close() })
}

// probe answers server/discover: from the cache if the upstream is known to be
// modern, with method not found if it is known to be legacy, else by the
// upstream.
func (f *Facade) probe(ctx context.Context, m wire.Message) {
	if !isModern(m) || f.knownEra() == legacy {
		f.refuse(m, codeMethodNotFound, "Method not found")
		return
	}
	v := f.viewOf(m)
	f.mu.Lock()
	handshake, stale := v.handshake, f.stale(v)
	f.mu.Unlock()
	if handshake != nil {
		f.reply(m, f.discovered(v, handshake))
		if stale {
			f.revalidate(ctx, v)
		}
		return
	}
	p := &pending{id: m.ID.Raw, key: m.Key(), method: m.Method, frame: m.Raw, view: v, probe: true, written: true}
	f.spawn(func() { f.sendProbe(ctx, p) })
}

// sendProbe makes p the first message of a new connection, or the next of the
// one that is there.
func (f *Facade) sendProbe(ctx context.Context, p *pending) {
	f.mu.Lock()
	l := f.link
	if l == nil {
		l = f.newLink(ctx)
	}
	l.opening[modern] = true
	l.probed = true
	p.link = l
	p.next = f.toUp[p.key]
	f.toUp[p.key] = p
	f.mu.Unlock()
	if err := l.dial(); err != nil {
		f.lost(l, err)
		return
	}
	l.conn.Send(p.frame)
	timer := time.AfterFunc(min(probeWait, f.o.Server.StartTimeout), func() { f.silent(p) })
	context.AfterFunc(ctx, func() { timer.Stop() })
}

// silent tells the host to open with initialize after a probe has stayed
// without an answer. The process is kept, and a late answer is swallowed.
func (f *Facade) silent(p *pending) {
	f.mu.Lock()
	late := f.toUp[p.key] == p && !p.answered && !p.cancelled
	if late {
		p.answered = true
		p.link.opening[modern] = false
	}
	f.mu.Unlock()
	if late {
		f.answer(wire.ErrorResponse(p.id, codeMethodNotFound, "Method not found", nil))
	}
}

// verdict reads the upstream's answer to the host's probe.
func (f *Facade) verdict(ctx context.Context, l *link, p *pending, m wire.Message) {
	if versions := m.Result.Get("supportedVersions"); versions.IsArray() {
		f.setEra(modern)
		if p.answered || p.cancelled { // for the next start
			return
		}
		f.learnName([]byte(m.Result.Raw))
		f.mu.Lock()
		p.view.handshake = []byte(m.Result.Raw)
		f.mu.Unlock()
		f.send(wire.Response(m.ID.Raw, f.discovered(p.view, []byte(m.Result.Raw))))
		f.opened(ctx, l, p.view)
		return
	}
	if m.Error.Get("code").Int() == codeUnsupportedVersion && m.Error.Get("data.supported").IsArray() {
		f.setEra(modern)
	} else if m.Error.Exists() {
		f.setEra(legacy)
	}
	f.mu.Lock()
	l.opening[modern] = false
	f.mu.Unlock()
	if p.answered || p.cancelled {
		return
	}
	if f.knownEra() == modern {
		f.send(m.Raw)
		return
	}
	f.send(wire.ErrorResponse(p.id, codeMethodNotFound, "Method not found", nil))
}

// knownEra is the upstream's era as it was last found, or "".
func (f *Facade) knownEra() string {
	f.mu.Lock()
	read := f.eraRead
	f.eraRead = true
	f.mu.Unlock()
	if !read && f.o.Store != nil {
		era := f.o.Store.Era()
		f.mu.Lock()
		f.era = era
		f.mu.Unlock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.era
}

func (f *Facade) setEra(era string) {
	if f.knownEra() == era {
		return
	}
	f.mu.Lock()
	f.era = era
	f.mu.Unlock()
	if f.o.Store == nil {
		return
	}
	if err := f.o.Store.SetEra(era); err != nil {
		f.log.Warn("era not stored", "err", err)
	}
}

// refuseVersion answers a modern request that a legacy upstream cannot take:
// MCP 2026-07-28, basic/versioning.
func (f *Facade) refuseVersion(m wire.Message, v *view) {
	data := []byte(`{"supported":["` + strings.Join(legacyVersions, `","`) + `"],"requested":`)
	data = append(wire.AppendString(data, v.key.Version), '}')
	f.answer(wire.ErrorResponse(m.ID.Raw, codeUnsupportedVersion, "Unsupported protocol version", data))
}

// welcome is the result of initialize: the upstream's own with the version at
// most the host's, tools.listChanged and our instructions; without one, ours.
func (f *Facade) welcome(v *view, version string) []byte {
	f.mu.Lock()
	handshake := v.handshake
	f.mu.Unlock()
	if handshake == nil {
		handshake = []byte(`{"protocolVersion":` + string(wire.AppendString(nil, f.ourVersion(version))) +
			`,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":` +
			string(wire.AppendString(nil, f.name())) + `,"title":"mcp-facade","version":"0"}}`)
	}
	if upstream := gjson.GetBytes(handshake, "protocolVersion"); upstream.Str > version && version != "" {
		handshake = wire.SetMember(handshake, "protocolVersion", wire.AppendString(nil, version))
	}
	return f.dress(v, handshake)
}

// ourVersion is the version we answer without an upstream: the host's, if it
// is one that opens with initialize.
func (f *Facade) ourVersion(version string) string {
	if slices.Contains(legacyVersions, version) {
		return version
	}
	return legacyVersions[0]
}

// discovered is the result of server/discover: the upstream's own with the
// versions at most the host's, tools.listChanged, our instructions and ttlMs.
func (f *Facade) discovered(v *view, handshake []byte) []byte {
	var versions []byte
	for _, offered := range gjson.GetBytes(handshake, "supportedVersions").Array() {
		if offered.Str <= v.key.Version {
			versions = append(append(versions, ','), offered.Raw...)
		}
	}
	if versions != nil {
		versions[0] = '['
		handshake = wire.SetMember(handshake, "supportedVersions", append(versions, ']'))
	}
	return f.dress(v, wire.SetMember(handshake, "ttlMs", strconv.AppendInt(nil, f.left(v), 10)))
}

// dress puts tools.listChanged and our instructions into a handshake result.
func (f *Facade) dress(v *view, handshake []byte) []byte {
	f.mu.Lock()
	s := v.surface
	f.mu.Unlock()
	if s != nil && s.empty {
		return handshake
	}
	capabilities := []byte(gjson.GetBytes(handshake, "capabilities").Raw)
	if len(capabilities) == 0 {
		capabilities = []byte("{}")
	}
	tools := []byte(gjson.GetBytes(capabilities, "tools").Raw)
	if len(tools) == 0 {
		tools = []byte("{}")
	}
	capabilities = wire.SetMember(capabilities, "tools", wire.SetMember(tools, "listChanged", []byte("true")))
	handshake = wire.SetMember(handshake, "capabilities", capabilities)
	return wire.SetMember(handshake, "instructions", wire.AppendString(nil, f.instructions(s, handshake)))
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
	f.mu.Lock()
	f.listens[m.Key()] = s
	l := f.link
	f.mu.Unlock()
	f.send(acknowledgment(m.ID.Raw, filter.Raw))
	f.release()
	f.mu.Lock()
	live := l != nil && l == f.link && l.open[modern]
	f.mu.Unlock()
	if live {
		f.restore(l, modern)
	}
}

// A listen is an open subscriptions/listen of the host.
type listen struct {
	id      string // raw
	view    *view
	tools   bool   // it wants tools/list_changed
	forward []byte // what the upstream is to be sent of it; nil: nothing
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

// swallowed reports whether a notification is not for the host: it belongs to
// the listen of our own, or acknowledges one that we have acknowledged.
func (f *Facade) swallowed(m wire.Message) bool {
	id := m.Params.Get("_meta." + strings.ReplaceAll(metaSubscription, ".", `\.`))
	if strings.HasPrefix(id.Str, f.tag) {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return m.Method == "notifications/subscriptions/acknowledged" && f.listens[wire.Key(id)] != nil
}

// setLevel remembers the host's log level; it does not wake an upstream that
// is known to take one.
func (f *Facade) setLevel(ctx context.Context, v *view, m wire.Message) {
	f.mu.Lock()
	f.level = []byte(m.Params.Raw)
	asleep := f.link == nil && gjson.GetBytes(v.handshake, "capabilities.logging").Exists()
	f.mu.Unlock()
	if asleep {
		f.reply(m, []byte("{}"))
		return
	}
	f.forward(ctx, v, m)
}

// noteSubscription remembers which resources the host follows, for a restart.
func (f *Facade) noteSubscription(m wire.Message) {
	uri := m.Params.Get("uri").Str
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.Method == "resources/subscribe" {
		f.subscribed[uri] = []byte(m.Params.Raw)
	} else {
		delete(f.subscribed, uri)
	}
}
