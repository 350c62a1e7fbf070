package facade

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcp-facade/compact"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// probeWait is how long an upstream of unknown era may leave server/discover
// unanswered before the host is told to open with initialize. Silence is no
// verdict.
const probeWait = 5 * time.Second

// hostWait is how long the upstream waits for a host's notifications/initialized
// before it is given one of ours.
const hostWait = 500 * time.Millisecond

// initialize answers a legacy host: from the cache, else by what the upstream
// says within startTimeout, else by a result of ours. A connection that is open
// already cannot be opened again; what it said then is said again.
func (f *Facade) initialize(ctx context.Context, m wire.Message) {
	version := m.Params.Get("protocolVersion").Str
	v := f.view(legacy, version, m.Params.Get("capabilities").Raw, m.Params.Raw)
	f.mu.Lock()
	f.current = v
	if v.handshake == nil && f.link != nil {
		v.handshake = f.link.handshake
	}
	known, stale := v.handshake != nil, f.stale(v)
	overdue := f.link != nil && f.link.late
	if !known {
		before := v.greet
		v.greet = func(refused error) {
			if before != nil {
				before(refused)
			}
			f.greet(m, v, version, refused)
		}
	}
	f.mu.Unlock()
	if known {
		f.reply(m, f.welcome(v, version))
	}
	if stale || !known {
		f.revalidate(ctx, v)
	}
	if overdue && !known {
		f.greetNow(v, nil)
	}
}

// greet answers an initialize that has waited for the upstream.
func (f *Facade) greet(m wire.Message, v *view, version string, refused error) {
	if only, ok := refused.(*modernOnly); ok {
		data := append([]byte(`{"supported":`), only.supported...)
		data = append(data, `,"requested":`...)
		data = append(wire.AppendString(data, version), '}')
		f.answer(m, wire.ErrorResponse(m.ID.Raw, codeInvalidParams, only.Error(), data))
		return
	}
	f.reply(m, f.welcome(v, version))
}

// greetAll lets every cold initialize be answered that waits: by the handshake,
// if it is not nil.
func (f *Facade) greetAll(handshake []byte, refused error) {
	var waiting []*view
	f.mu.Lock()
	for _, v := range f.views {
		if v.greet == nil {
			continue
		}
		waiting = append(waiting, v)
		if handshake != nil {
			v.handshake = handshake
		}
	}
	f.mu.Unlock()
	for _, v := range waiting {
		f.greetNow(v, refused)
	}
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
		const enough = 10
		if v.Str >= firstModern && len(v.Str) == len(firstModern) && len(names) < enough {
			names = append(names, compact.Line(v.Str))
		}
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
	switch {
	case err != nil:
		f.lost(ctx, l, err)
		f.greetAll(nil, nil)
		f.spawn(func() { f.closeConn(l.conn) })
		return
	case !m.Result.IsObject():
		f.unwelcome(ctx, l, v, m)
		return
	}
	handshake := []byte(m.Result.Raw)
	f.learnName(handshake)
	f.mu.Lock()
	v.handshake, l.handshake = handshake, handshake
	f.mu.Unlock()
	f.greetAll(handshake, nil)
	f.spawn(func() {
		f.tell(l, "notifications/initialized", f.readiness(ctx, l))
		f.opened(ctx, l, v)
	})
}

// readiness is the host's notifications/initialized, which comes at once where
// the host has only waited for our answer; one of ours if there is none.
func (f *Facade) readiness(ctx context.Context, l *link) []byte {
	f.mu.Lock()
	expected := f.current != nil
	f.mu.Unlock()
	if expected {
		select {
		case <-f.hostReady:
		case <-time.After(hostWait):
		case <-l.over:
		case <-ctx.Done():
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.initialized == nil {
		return []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return f.initialized
}

// unwelcome handles an upstream that refuses initialize: a process that was
// probed before is started anew, once, with initialize as its first message.
func (f *Facade) unwelcome(ctx context.Context, l *link, v *view, m wire.Message) {
	text := m.Error.Get("message").Str
	if !m.Error.Exists() {
		text = "its result is not an object"
	}
	err := f.failure("initialize", text)
	switch m.Error.Get("code").Int() {
	case codeUnsupportedVersion, codeMethodNotFound:
		if !l.probed {
			f.greetAll(nil, &modernOnly{f.name(), supported(m)})
		}
	}
	if !f.again(ctx, l, v, err) {
		f.lost(ctx, l, err)
		f.greetAll(nil, nil)
	}
	f.spawn(func() { f.closeConn(l.conn) })
}

// supported is what a refusal says of protocol versions: a raw array.
func supported(m wire.Message) []byte {
	if versions := m.Error.Get("data.supported"); versions.IsArray() {
		return []byte(versions.Raw)
	}
	return []byte("[]")
}

// again replaces a connection whose first message was a probe by a new one,
// for which everything waits that has not been sent.
func (f *Facade) again(ctx context.Context, l *link, v *view, err error) bool {
	f.mu.Lock()
	if !l.probed || f.link != l || f.closing {
		f.mu.Unlock()
		return false
	}
	waiting, size := l.backlog, l.size
	f.link = nil
	next := f.connect(ctx, v)
	next.backlog, next.size = waiting, size
	for _, p := range waiting {
		p.link = next
	}
	left := f.detach(l)
	l.why = err
	f.mu.Unlock()
	f.settleAll(ctx, left, err)
	f.unprobed(next)
	return true
}

// probe answers server/discover: from the cache if the upstream is known to be
// modern, with method not found if it is known to be legacy, else by the
// upstream.
func (f *Facade) probe(ctx context.Context, m wire.Message) {
	if !isModern(m) || f.knownEra() == legacy {
		f.refuse(m, codeMethodNotFound, "Method not found")
		return
	}
	if f.knownEra() == modern && f.incomplete(m) {
		return
	}
	v := f.viewOf(m)
	f.mu.Lock()
	handshake, stale := v.handshake, f.stale(v)
	f.mu.Unlock()
	if handshake == nil {
		f.forwardProbe(ctx, v, m)
		return
	}
	f.reply(m, f.discovered(v, handshake))
	if stale {
		f.revalidate(ctx, v)
	}
}

// forwardProbe makes the host's probe the first message of a new connection,
// or the next of the one that is there. Modern requests wait for the answer.
func (f *Facade) forwardProbe(ctx context.Context, v *view, m wire.Message) {
	p := &pending{id: m.ID.Raw, key: m.Key(), method: m.Method, frame: m.Raw, view: v, probe: true}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.promote(p) {
		return
	}
	l := f.link
	if l == nil {
		l = f.newLink(ctx)
	}
	p.link = l
	l.opening[modern] = true
	l.probed = l.probed || !l.ready()
	f.spawn(func() { f.sendProbe(ctx, l, p) })
	f.after(ctx, min(probeWait, f.o.Server.StartTimeout), l.over, func() { f.silent(l, p) })
}

// sendProbe sends a probe, if the host still waits for it once there is a
// connection.
func (f *Facade) sendProbe(ctx context.Context, l *link, p *pending) {
	if err := l.dial(); err != nil {
		f.lost(ctx, l, err)
		return
	}
	f.mu.Lock()
	wanted := p.waited
	p.written, p.sending = wanted, wanted
	f.mu.Unlock()
	if wanted {
		f.transmit(ctx, l, p)
	} else {
		f.unprobed(l)
	}
}

// unprobed takes that a connection is not open to modern requests after a
// probe: those that have waited for it are refused.
func (f *Facade) unprobed(l *link) {
	f.mu.Lock()
	l.opening[modern] = false
	var waiting []*pending
	for _, p := range slices.Clone(l.backlog) {
		if p.view != nil && p.view.key.Era == modern {
			l.dequeue(p)
			f.forget(p)
			f.release(p)
			waiting = append(waiting, p)
		}
	}
	f.mu.Unlock()
	for _, p := range waiting {
		f.respond(p.batch, unsupported(p.id, p.view, legacyList))
	}
}

// silent tells the host to open with initialize after a probe has stayed
// without an answer. The process is kept, and a late answer is swallowed.
func (f *Facade) silent(l *link, p *pending) {
	f.mu.Lock()
	late := p.waited
	if late {
		f.release(p)
		p.swallow = true
		if p.written {
			f.remember(p)
		} else {
			f.forget(p)
		}
	}
	f.mu.Unlock()
	if late {
		f.respond(p.batch, methodNotFound(p))
		f.unprobed(l)
	}
}

// methodNotFound makes a dual-era host open with initialize: the code is always
// this one, because hosts know it best.
func methodNotFound(p *pending) []byte {
	return wire.ErrorResponse(p.id, codeMethodNotFound, "Method not found", nil)
}

// verdict reads the upstream's answer to the host's probe; a late one is for
// the next start only.
func (f *Facade) verdict(ctx context.Context, l *link, p *pending, m wire.Message, late bool) {
	era := EraOf(m)
	complete := gjson.GetBytes(p.view.opening, metaCapabilities).IsObject()
	if !complete && m.Error.Exists() { // it is about what the probe lacks
		era = ""
	}
	if era != "" {
		f.setEra(era)
	}
	if late {
		return
	}
	if m.Result.Exists() && era == modern {
		handshake := []byte(m.Result.Raw)
		f.learnName(handshake)
		f.mu.Lock()
		p.view.handshake = handshake
		f.mu.Unlock()
		f.respond(p.batch, wire.Response(p.id, f.discovered(p.view, handshake)))
		f.spawn(func() { f.opened(ctx, l, p.view) })
		return
	}
	answer := methodNotFound(p)
	if era == modern || !complete {
		answer = m.Raw
	}
	f.respond(p.batch, answer)
	f.unprobed(l)
}

// EraOf reads an upstream's era, "modern" or "legacy", from its answer to
// server/discover: "" if that does not show it. The codes from -32019 to -32000 are left to the legacy era,
// those that follow are of the modern one (MCP 2026-07-28, basic, "Error Codes").
func EraOf(m wire.Message) string {
	if !m.Error.Exists() {
		return newest(m.Result.Get("supportedVersions"))
	}
	switch code := m.Error.Get("code").Int(); {
	case code == codeUnsupportedVersion:
		return newest(m.Error.Get("data.supported"))
	case code > codeUnsupportedVersion && code <= codeHeaderMismatch:
		return modern
	case code > codeHeaderMismatch && code <= -32000,
		code == codeMethodNotFound, code == codeInvalidParams, code == codeInvalidRequest:
		return legacy
	}
	return ""
}

// newest is the era of the newest of some protocol versions, "" if there is none.
func newest(versions gjson.Result) (era string) {
	for _, v := range versions.Array() {
		if v.Str >= firstModern {
			return modern
		}
		era = legacy
	}
	return era
}

// knownEra is the upstream's era as it was last found, or "".
func (f *Facade) knownEra() string {
	f.readEra.Do(func() {
		if f.o.Store == nil {
			return
		}
		era := f.o.Store.Era()
		f.mu.Lock()
		f.era = era
		f.mu.Unlock()
	})
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

// misfit answers a request that the upstream cannot take for the way it says its
// era: in a version that the upstream does not have, or without what every
// modern request carries (MCP 2026-07-28, basic, "_meta"). It reports whether it
// did.
func (f *Facade) misfit(m wire.Message, v *view) bool {
	f.mu.Lock()
	opened := f.current != nil
	offered := gjson.GetBytes(v.handshake, "supportedVersions")
	f.mu.Unlock()
	switch {
	case v.key.Era == legacy && !opened && f.knownEra() == modern:
		f.refuse(m, codeInvalidParams, m.Method+": params._meta lacks "+memberName(metaVersion)+", and no initialize has come before")
	case v.key.Era == legacy:
		return false
	case f.incomplete(m):
	case f.knownEra() == legacy:
		f.answer(m, unsupported(m.ID.Raw, v, legacyList))
	case offered.IsArray() && !slices.ContainsFunc(offered.Array(), func(o gjson.Result) bool { return o.Str == v.key.Version }):
		f.answer(m, unsupported(m.ID.Raw, v, offered.Raw))
	default:
		return false
	}
	return true
}

// incomplete answers a modern request that does not say what its host can. It
// reports whether it did.
func (f *Facade) incomplete(m wire.Message) bool {
	lacks := !m.Params.Get("_meta." + metaCapabilities).IsObject()
	if lacks {
		f.refuse(m, codeInvalidParams, m.Method+": params._meta lacks "+memberName(metaCapabilities))
	}
	return lacks
}

// memberName is the name in a gjson path.
func memberName(path string) string { return strings.ReplaceAll(path, `\`, "") }

// unsupported refuses the request with a raw id in a version that the upstream
// does not have: MCP 2026-07-28, basic/versioning. supported is a raw array.
func unsupported(id string, v *view, supported string) []byte {
	data := append([]byte(`{"supported":`+supported+`,"requested":`), wire.AppendString(nil, v.key.Version)...)
	return wire.ErrorResponse(id, codeUnsupportedVersion, "Unsupported protocol version", append(data, '}'))
}

// legacyList are the revisions of the legacy era: a raw array.
var legacyList = `["` + strings.Join(legacyVersions, `","`) + `"]`

// welcome is the result of initialize: the upstream's own with the version at
// most the host's, tools.listChanged and our instructions; without one, ours.
func (f *Facade) welcome(v *view, version string) []byte {
	f.mu.Lock()
	handshake := v.handshake
	f.mu.Unlock()
	if handshake == nil {
		handshake = []byte(`{"protocolVersion":` + string(wire.AppendString(nil, f.ourVersion(version))) +
			`,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":` +
			string(wire.AppendString(nil, f.name())) + `,"title":"mcp-facade","version":` +
			string(wire.AppendString(nil, cmp.Or(f.o.Version, "devel"))) + `}}`)
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
	offered := gjson.GetBytes(handshake, "capabilities.tools").Exists()
	if s == nil && !offered || s != nil && s.empty {
		return f.instructed(s, handshake)
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
	return f.instructed(s, wire.SetMember(handshake, "capabilities", capabilities))
}

// setLevel remembers the host's log level; it does not wake an upstream that
// is known to take one.
func (f *Facade) setLevel(ctx context.Context, v *view, m wire.Message) {
	f.mu.Lock()
	asleep := f.link == nil && gjson.GetBytes(v.handshake, "capabilities.logging").Exists()
	if asleep {
		f.level = []byte(m.Params.Raw)
	}
	f.mu.Unlock()
	if asleep {
		f.reply(m, []byte("{}"))
		return
	}
	f.submit(ctx, &pending{id: m.ID.Raw, key: m.Key(), method: m.Method, frame: m.Raw, view: v, learn: func(said wire.Message) {
		if said.Error.Exists() {
			return
		}
		f.mu.Lock()
		f.level = []byte(m.Params.Raw)
		f.mu.Unlock()
	}})
}
