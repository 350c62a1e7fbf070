package facade

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// settle is how long a burst of list_changed notifications is left to end
// before the lists are asked for again. Servers that register tools one by one
// send one notification for each.
const settle = 200 * time.Millisecond

// settleLimit is how long one that does not end is waited for.
const settleLimit = 2 * time.Second

// listWait is how long an upstream may take for one page of a list.
const listWait = 60 * time.Second

// maxPages bounds a list whose cursors never end.
const maxPages = 1000

// pause is how long an upstream that could not be listed is left alone by
// requests that do not need it.
const pause = 10 * time.Second

// saveWait bounds the writing of the disk cache.
const saveWait = 5 * time.Second

// revalidate lists the view anew in the background, unless that has just
// failed.
func (f *Facade) revalidate(ctx context.Context, v *view) {
	f.mu.Lock()
	if v.missing != nil && time.Since(v.tried) < pause && f.link == nil && v.greet == nil {
		f.mu.Unlock()
		return
	}
	v.retest = v.handshake != nil
	overdue := v.listing != nil && v.missing != nil // it has been waited for
	if (v.catalog == nil || !f.o.Server.StaleOK) && !overdue {
		v.expect()
	}
	f.mu.Unlock()
	f.relistSoon(ctx, v)
}

// relistSoon lists the view in the background: on the connection there is, or
// by opening one, which lists by itself.
func (f *Facade) relistSoon(ctx context.Context, v *view) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l := f.connect(ctx, v); l.open[v.key.Era] {
		f.relist(ctx, l, v, false)
	}
}

// expect lets await wait for the next listing. The caller holds mu.
func (v *view) expect() {
	if !v.waiting {
		v.ready, v.waiting = make(chan struct{}), true
	}
}

// grace is what await leaves to a connection that is overdue just now: that
// knows what has taken so long.
const grace = 100 * time.Millisecond

// await waits until a listing of the view has come or failed, within
// startTimeout, which an upstream that is still starting may have used up.
func (f *Facade) await(ctx context.Context, v *view) {
	f.mu.Lock()
	ready := v.ready
	late := f.link != nil && f.link.late && !f.link.open[v.key.Era]
	f.mu.Unlock()
	if late {
		return
	}
	select {
	case <-ready:
	case <-time.After(f.o.Server.StartTimeout + grace):
	case <-f.end:
	case <-ctx.Done():
	}
}

// relist lists the view on a connection in the background, unless that is under
// way; again says that what is under way may be out of date already. The caller
// holds mu.
func (f *Facade) relist(ctx context.Context, l *link, v *view, again bool) {
	if v.listing != nil {
		v.again = v.again || again || v.listing != l
		return
	}
	v.listing = l
	f.spawn(func() { f.listing(ctx, l, v) })
}

// listing lists the view until no other listing is asked for.
func (f *Facade) listing(ctx context.Context, l *link, v *view) {
	for l != nil {
		if lists, err := f.list(ctx, l, v); err != nil {
			f.unlistedView(l, v, err)
		} else {
			f.install(ctx, l, v, lists)
		}
		f.mu.Lock()
		l = nil
		if v.again && f.link != nil && f.link.open[v.key.Era] {
			l = f.link
		}
		v.listing, v.again = l, false
		f.mu.Unlock()
	}
}

// list asks the upstream for all pages of all lists.
func (f *Facade) list(ctx context.Context, l *link, v *view) (catalog.Lists, error) {
	if err := f.rediscover(ctx, l, v); err != nil {
		return nil, err
	}
	f.follow(ctx, l, v)
	f.retest(l, v)
	f.mu.Lock()
	offers := gjson.GetBytes(v.handshake, "capabilities")
	f.mu.Unlock()
	tools, err := f.listAll(ctx, l, v, "tools/list")
	if err != nil && offers.Get("tools").Exists() {
		return nil, err
	}
	lists := catalog.Lists{"tools/list": tools}
	for _, other := range otherLists {
		if offers.Get(other.capability).Exists() {
			lists[other.method] = f.listOther(ctx, l, v, other.method)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.gone {
		return nil, errEnded
	}
	return lists, ctx.Err()
}

// errEnded is why a list is not whole.
var errEnded = errors.New("its connection has ended")

// otherLists are the lists besides that of the tools, and what an upstream
// says it offers that has them.
var otherLists = [...]struct{ method, capability string }{
	{"prompts/list", "prompts"},
	{"resources/list", "resources"},
	{"resources/templates/list", "resources"},
}

// listOther lists what is not needed to serve: if that fails, what there is
// stays.
func (f *Facade) listOther(ctx context.Context, l *link, v *view, method string) [][]byte {
	pages, err := f.listAll(ctx, l, v, method)
	if err == nil {
		return pages
	}
	f.log.Debug("not listed", "method", method, "err", err)
	f.mu.Lock()
	before := v.pages
	f.mu.Unlock()
	if before == nil {
		return nil
	}
	if pages, err = before(method); err != nil {
		f.log.Debug("not cached", "method", method, "err", err)
	}
	return pages
}

// rediscover asks a modern upstream for its handshake, unless this process has
// done so.
func (f *Facade) rediscover(ctx context.Context, l *link, v *view) error {
	f.mu.Lock()
	known := v.key.Era == legacy || v.handshake != nil && !v.due
	f.mu.Unlock()
	if known {
		return nil
	}
	m, err := f.call(ctx, l, "server/discover", v.params(""))
	if err != nil {
		return err
	}
	f.mu.Lock()
	v.handshake = []byte(m.Result.Raw)
	f.mu.Unlock()
	return nil
}

// follow asks a modern upstream, once for a connection, to say when its tools
// change. Only that: some servers keep one listen for each kind of change, and
// the host's must stay the one for the others.
func (f *Facade) follow(ctx context.Context, l *link, v *view) {
	f.mu.Lock()
	tells := v.key.Era == modern && gjson.GetBytes(v.handshake, "capabilities.tools.listChanged").Bool() && !l.followed
	if tells {
		l.followed, l.cuts.opened = true, time.Now()
	}
	f.mu.Unlock()
	if tells {
		params := wire.SetMember(v.params(""), "notifications", []byte(`{"toolsListChanged":true}`))
		f.ask(l, "subscriptions/listen", params, func(m wire.Message, err error) { f.unfollowed(ctx, l, v, m, err) })
	}
}

// unfollowed takes the end of that listen. If the upstream has not refused it,
// the tools are listed again after a while, since they may have changed
// meanwhile, and it is asked again.
func (f *Facade) unfollowed(ctx context.Context, l *link, v *view, m wire.Message, err error) {
	f.mu.Lock()
	wait, over := l.cuts.next(), l.gone || f.closing
	f.mu.Unlock()
	if over || err == nil && m.Error.Exists() {
		return
	}
	f.after(ctx, wait, l.over, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.link == l {
			l.followed = false
			f.relist(ctx, l, v, true)
		}
	})
}

// retest asks an upstream that was found to be legacy whether it still is, when
// its lists are renewed anyway. Nobody waits for the answer.
func (f *Facade) retest(l *link, v *view) {
	f.mu.Lock()
	old := v.retest && v.key.Era == legacy
	v.retest = false
	f.mu.Unlock()
	if !old || f.knownEra() != legacy {
		return
	}
	capabilities := gjson.GetBytes(v.opening, "capabilities").Raw
	if capabilities == "" {
		capabilities = "{}"
	}
	params := []byte(`{"_meta":{"io.modelcontextprotocol/protocolVersion":"` + firstModern +
		`","io.modelcontextprotocol/clientCapabilities":` + capabilities + `}}`)
	f.ask(l, "server/discover", params, func(m wire.Message, err error) {
		if err == nil && EraOf(m) == modern {
			f.setEra(modern)
		}
	})
}

// params is what our own list requests carry: the host's _meta in the modern
// era, and a raw cursor, if there is one.
func (v *view) params(cursor string) []byte {
	b := []byte("{}")
	if v.key.Era == modern {
		b = wire.SetMember(b, "_meta", v.opening)
	}
	if cursor != "" {
		b = wire.SetMember(b, "cursor", []byte(cursor))
	}
	return b
}

// listAll asks for the pages of one list: raw results, in order. A cursor that
// comes again ends it, so an empty one is asked once.
func (f *Facade) listAll(ctx context.Context, l *link, v *view, method string) ([][]byte, error) {
	var pages [][]byte
	asked := map[string]bool{}
	for cursor := ""; ; {
		m, err := f.call(ctx, l, method, v.params(cursor))
		if err != nil {
			return nil, err
		}
		if tools := m.Result.Get("tools"); method == "tools/list" && !tools.IsArray() && tools.Raw != "null" {
			return nil, f.failure(method, "the answer holds no tools")
		}
		pages = append(pages, []byte(m.Result.Raw))
		next := m.Result.Get("nextCursor")
		if next.Type != gjson.String {
			return pages, nil
		}
		if asked[next.Str] || len(pages) == maxPages {
			return f.endless(method, pages), nil
		}
		asked[next.Str] = true
		cursor = next.Raw
	}
}

// endless ends a list whose cursors do not: the last page loses its own. An
// upstream that takes the empty cursor for none has sent its one page twice.
func (f *Facade) endless(method string, pages [][]byte) [][]byte {
	last := len(pages) - 1
	if last > 0 && bytes.Equal(pages[last], pages[last-1]) {
		last--
	} else {
		f.log.Warn("list cut", "method", method, "err", "its cursors do not end")
	}
	pages[last] = wire.DeleteMember(pages[last], "nextCursor")
	return pages[:last+1]
}

// call sends a request of our own and waits for its answer.
func (f *Facade) call(ctx context.Context, l *link, method string, params []byte) (wire.Message, error) {
	type answer struct {
		m   wire.Message
		err error
	}
	answered := make(chan answer, 1)
	id := f.ask(l, method, params, func(m wire.Message, err error) { answered <- answer{m, err} })
	select {
	case a := <-answered:
		if a.err == nil && a.m.Error.Exists() {
			a.err = f.failure(method, a.m.Error.Get("message").Str)
		}
		return a.m, a.err
	case <-time.After(listWait):
		err := f.failure(method, fmt.Sprintf("no answer in %v", listWait))
		f.unsent(id, err)
		f.tell(l, "notifications/cancelled", cancellation(id))
		return wire.Message{}, err
	case <-ctx.Done():
		return wire.Message{}, ctx.Err()
	}
}

// install makes a new listing the view's, tells the host if its surface is
// another one now, and stores it.
func (f *Facade) install(ctx context.Context, l *link, v *view, lists catalog.Lists) {
	all := f.parsed(lists["tools/list"], slog.LevelWarn)
	stands := f.judged(ctx, v, all)
	f.warnOfDrift(stands)
	c := f.catalog(v.key.Era, all, stands, slog.LevelWarn)
	f.mu.Lock()
	handshake := v.handshake
	f.mu.Unlock()
	f.mend(ctx, all, c)
	s := f.renderAs(c, handshake, stands)
	ttl, fleeting := lifetime(v.key.Era, lists["tools/list"])
	f.mu.Lock()
	changed := v.serve(c, s)
	v.pages, v.all = func(method string) ([][]byte, error) { return lists[method], nil }, all
	v.listed, v.ttl, v.fleeting = time.Now(), ttl, fleeting
	v.due, v.fresh, v.known, v.missing, v.source = false, true, true, nil, nil
	if !l.settling && !v.again { // else it may be out of date already
		v.source = l
	}
	own := v.key.Era == modern || f.link != nil && f.link.host == v
	v.isReady()
	head := catalog.Head{View: v.key, Opening: v.opening, Handshake: handshake, Listed: v.listed, TTL: ttl, Revalidate: fleeting}
	f.mu.Unlock()
	f.log.Debug("listed", "tools", len(c.Tools()))
	if changed {
		f.announce(v)
	}
	if own { // else it is what another opening makes of the upstream
		f.save(ctx, head, lists, s)
	}
}

// serve makes a catalog and its surface the view's, and reports whether the host was
// shown another one. The caller holds mu.
func (v *view) serve(c *catalog.Catalog, s *surface) (changed bool) {
	v.catalog, v.surface = func() (*catalog.Catalog, error) { return c, nil }, s
	changed = v.shown != nil && !bytes.Equal(v.shown, s.tools)
	if changed {
		v.shown = s.tools
	}
	return changed
}

// isReady lets those go on who wait for a listing. The caller holds mu.
func (v *view) isReady() {
	if v.waiting {
		v.waiting = false
		close(v.ready)
	}
}

// lifetime reads the ttlMs of a list's pages, of which the shortest rules (MCP
// 2026-07-28, basic, "Caching"); fleeting means that it must be asked again
// each time. A legacy answer that says 0 or nothing says nothing.
func lifetime(era string, pages [][]byte) (ttl time.Duration, fleeting bool) {
	for _, page := range pages {
		ms := min(gjson.GetBytes(page, "ttlMs").Int(), int64(math.MaxInt64/time.Millisecond))
		said := time.Duration(ms) * time.Millisecond
		switch {
		case said <= 0 && era == modern:
			return 0, true
		case said > 0 && (ttl == 0 || said < ttl):
			ttl = said
		}
	}
	return ttl, false
}

// save stores a listing. What fails here costs the next start its speed only.
func (f *Facade) save(ctx context.Context, h catalog.Head, lists catalog.Lists, s *surface) {
	if f.o.Store == nil {
		return
	}
	if f.o.Version != "" {
		h.Renderings = []catalog.Rendering{{Fingerprint: f.fingerprint(s.accepted), JSON: s.json}}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWait)
	defer cancel()
	if err := f.o.Store.Save(ctx, h, lists); err != nil {
		f.log.Warn("catalog not stored", "err", err)
	}
}

// announce tells the host that its tools have changed: a legacy one once it is
// initialized, a modern one on each listen that asked.
func (f *Facade) announce(v *view) {
	var frames [][]byte
	f.mu.Lock()
	if v.key.Era == legacy {
		frame := []byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		if f.initialized == nil && f.current != nil {
			f.held = append(f.held, frame)
		} else {
			frames = append(frames, frame)
		}
	}
	for _, s := range f.listens {
		if s.tools && s.view == v {
			frames = append(frames, []byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"`+
				metaSubscription+`":`+s.id+`}}}`))
		}
	}
	f.mu.Unlock()
	for _, frame := range frames {
		f.send(frame)
	}
}

// changed lists anew after the upstream has said that a list is another one
// now, once for a burst of notifications.
func (f *Facade) changed(ctx context.Context, l *link, method string) {
	f.mu.Lock()
	if method != "notifications/tools/list_changed" {
		for _, v := range f.views {
			v.pages = nil
		}
	}
	for _, v := range f.views {
		if v.source == l && method == "notifications/tools/list_changed" {
			v.source = nil
		}
	}
	first := !l.settling
	l.settling, l.noted = true, time.Now()
	f.mu.Unlock()
	if first {
		f.spawn(func() { f.relistAll(ctx, l) })
	}
}

// relistAll lists every view of a connection once that has settled.
func (f *Facade) relistAll(ctx context.Context, l *link) {
	began := time.Now()
	for wait := settle; wait > 0; {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		f.mu.Lock()
		wait = min(settle-time.Since(l.noted), settleLimit-time.Since(began))
		l.settling = wait > 0
		f.mu.Unlock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range f.views {
		if f.link == l && l.open[v.key.Era] {
			f.relist(ctx, l, v, true)
		}
	}
}

// relistViews lists every view of an era, on a connection that is open now.
func (f *Facade) relistViews(ctx context.Context, l *link, era string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range f.views {
		if v.key.Era == era {
			f.relist(ctx, l, v, false)
		}
	}
}

// unlisted tells those who wait for a first listing that none comes from a
// connection.
func (f *Facade) unlisted(l *link, err error) {
	f.mu.Lock()
	var views []*view
	for _, v := range f.views {
		if !v.fresh {
			views = append(views, v)
		}
	}
	f.mu.Unlock()
	for _, v := range views {
		f.unlistedView(l, v, err)
	}
}

// unlistedView keeps what there is of a view that could not be listed on a
// connection. If there is another one already, that has still to say.
func (f *Facade) unlistedView(l *link, v *view, err error) {
	f.mu.Lock()
	if f.link != nil && f.link != l {
		f.mu.Unlock()
		return
	}
	if f.closing {
		err = errClosing
	}
	news := !f.closing && (v.missing == nil || v.missing.Error() != err.Error())
	v.missing, v.tried = err, time.Now()
	v.isReady()
	f.mu.Unlock()
	if news {
		f.log.Warn("not listed", "err", err)
	}
	f.greetNow(v, nil)
}

// failure is an error of the upstream in the words of the person at the
// terminal. What the upstream has said may hold secrets that it was given.
func (f *Facade) failure(op, text string) error {
	return &upstream.Error{Server: f.name(), Op: op, Err: errors.New(f.masked(text))}
}

// maxSaid is how much is repeated of an error of the upstream, in characters.
const maxSaid = 500

// masked is text of the upstream on one line, without the secrets that it was
// given, and not more than anybody wants to read.
func (f *Facade) masked(text string) string {
	const enough = 32 * maxSaid // bytes: much may go that is not shown
	text = text[:min(len(text), enough)]
	if plain := f.plainText.Load(); plain != nil {
		text = (*plain)(text)
	}
	return cut(compact.Line(text), maxSaid, "…")
}
