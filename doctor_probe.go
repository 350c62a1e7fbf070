package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"mcp-facade/compact"
	"mcp-facade/facade"
	"mcp-facade/facade/config"
	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// levelSilent logs nothing unless it is asked for by --verbose: all that matters
// becomes a finding.
const levelSilent = slog.LevelError + 1

// probesAtOnce is how many servers are asked at a time: each may start a process.
const probesAtOnce = 4

// probeWait is how long server/discover may stay without an answer of a server
// that has opened in the legacy era, beyond the time that took, or of one that has
// said nothing in that era. A Facade waits as long for the first.
const probeWait = 5 * time.Second

// maxProbePages bounds a list whose cursors never end.
const maxProbePages = 1000

// An attempt is a connection that was opened for one era.
type attempt struct {
	unstarted bool // it could not be started, or there is no way to it
	answered  bool
	silent    bool          // it had all the time there was
	era       string        // of the server, by its answer to server/discover: "legacy", "modern" or "" for neither
	version   string        // the protocol version that it has chosen, or its newest
	refused   string        // what it has refused the handshake with; "" if it has not
	took      time.Duration // from the start to that answer
	err       error         // why there is no answer

	offers bool          // it says that it has tools
	pages  [][]byte      // raw results of tools/list
	listed time.Duration // from the start to the last of them
	repeat string        // the cursor that was given twice, raw; "": none was
	unread error         // why they could not be listed

	noise noise
}

// A noise is what a server has written on its stdout that is no message.
type noise struct {
	lines int
	first string
}

// opened reports whether requests of the era may follow.
func (a *attempt) opened() bool { return a.answered && a.refused == "" }

// probeAll asks all servers, some at a time.
func probeAll(ctx context.Context, all []*subject) {
	var wg sync.WaitGroup
	turn := make(chan struct{}, probesAtOnce)
	for _, p := range all {
		wg.Go(func() {
			turn <- struct{}{}
			p.probe(ctx)
			<-turn
		})
	}
	wg.Wait()
}

// probe opens a connection of each era, one after the other: two processes of
// one server may be in each other's way.
func (p *subject) probe(ctx context.Context) {
	if p.server == nil {
		return
	}
	log := p.logger(p.o, p.name, levelSilent)
	d := &dialer{env: p.env, server: p.server, lease: p.lease(p.server, log), log: log}
	if p.isForHosts() {
		return
	}
	if p.warnings, p.wrong = d.check(ctx); p.wrong != nil {
		return
	}
	p.asked = true
	limit := p.server.StartTimeout
	p.legacy = p.attempt(ctx, d, limit, legacyTalk)
	if p.legacy.opened() || !p.legacy.answered {
		limit = min(limit, p.legacy.took+probeWait)
	}
	if !p.legacy.unstarted {
		p.modern = p.attempt(ctx, d, limit, modernTalk)
	}
	p.warm = p.warmStart(ctx)
}

// warmStart is how long this program takes to list the tools from its cache; 0
// if it has none. The server is not started.
func (p *subject) warmStart(ctx context.Context) time.Duration {
	if _, _, err := p.cached(p.o, p.server); err != nil {
		return 0
	}
	options := p.facadeOptions(p.o, p.server, levelSilent)
	options.Dial = func(context.Context, func(string) []byte) (upstream.Conn, error) {
		return nil, errors.New("not started")
	}
	began := time.Now()
	h := inProcess(ctx, p.name, options)
	_, err := h.open()
	if err == nil {
		_, err = h.tools()
	}
	took := time.Since(began)
	if h.close(); err != nil {
		return 0
	}
	return took
}

// check replaces the placeholders of the entry. The error is of the config, or
// of the program that gives the token.
func (d *dialer) check(ctx context.Context) (warnings []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.server.StartTimeout)
	defer cancel()
	prepare := d.process
	if d.server.Upstream.URL != "" {
		prepare = d.remote
	}
	_, warnings, err = prepare(ctx, d.server)
	return warnings, err
}

// attempt opens a connection and leads one talk on it, the handshake within
// limit and the list within startTimeout after it. Nothing of the server is left
// when it returns.
func (p *subject) attempt(ctx context.Context, d *dialer, limit time.Duration, talk func(context.Context, *talker, *attempt)) attempt {
	began := time.Now()
	first, cancel := context.WithDeadline(ctx, began.Add(limit))
	defer cancel()
	var mu sync.Mutex // guards heard
	var heard noise
	d.noise = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if heard.lines++; heard.lines == 1 {
			heard.first = text
		}
	}
	conn, err := d.dial(first, func(string) []byte { return nil })
	if err != nil {
		return attempt{unstarted: true, err: err}
	}
	a, t := attempt{}, newTalker(p.server, conn, began, limit)
	t.slow = p.watch() + `; or a longer "startTimeout" for it in the servers file`
	talk(ctx, t, &a)
	t.close()
	mu.Lock()
	defer mu.Unlock()
	a.noise = heard
	return a
}

// A talker asks an upstream one thing after the other. It is for one goroutine.
type talker struct {
	server  *config.Server
	conn    upstream.Conn
	began   time.Time
	limit   time.Duration // for the first answer, from began
	slow    string        // what to do about a server that takes longer
	id      int
	answers chan reply
	over    chan struct{} // closed when nobody waits for answers any more
	wg      sync.WaitGroup
}

// A reply is an answer, or why there is none.
type reply struct {
	m   wire.Message
	key string // of the request; "": the connection has ended
	err error
}

func newTalker(s *config.Server, conn upstream.Conn, began time.Time, limit time.Duration) *talker {
	t := &talker{server: s, conn: conn, began: began, limit: limit, answers: make(chan reply), over: make(chan struct{})}
	t.wg.Go(t.receive)
	return t
}

// close ends the upstream.
func (t *talker) close() {
	close(t.over)
	t.conn.Close()
	t.wg.Wait()
}

// receive takes what the upstream says until the connection ends.
func (t *talker) receive() {
	for {
		m, err := t.conn.Recv()
		r := reply{m: m, key: m.Key(), err: err}
		failure := new(upstream.Failure)
		switch {
		case errors.As(err, &failure):
			r = reply{m: failure.Answer, key: failure.Key, err: failure.Err}
		case err != nil:
			r.key = ""
		case m.IsRequest():
			t.decline(m)
			continue
		case m.IsNotification():
			continue
		}
		select {
		case t.answers <- r:
		case <-t.over:
		}
		if r.key == "" {
			return
		}
	}
}

// decline answers a request of the upstream: nobody is there to do it.
func (t *talker) decline(m wire.Message) {
	if m.Method == "ping" {
		t.conn.Send(wire.Response(m.ID.Raw, []byte("{}")))
		return
	}
	t.conn.Send(wire.ErrorResponse(m.ID.Raw, -32601, "doctor has no "+compact.Line(m.Method), nil))
}

// ask sends a request and waits for what becomes of it until limit has passed
// since from. The message may come with an error: an HTTP status that goes with
// a refusal.
func (t *talker) ask(ctx context.Context, method, params string, from time.Time, limit time.Duration) (wire.Message, error) {
	t.id++
	frame := `{"jsonrpc":"2.0","id":` + strconv.Itoa(t.id) + `,"method":"` + method + `","params":` + params + `}`
	if err := t.conn.Send([]byte(frame)); err != nil {
		return wire.Message{}, err
	}
	late := time.NewTimer(limit - time.Since(from))
	defer late.Stop()
	for {
		select {
		case r := <-t.answers:
			if r.key == "" || r.key == "n"+strconv.Itoa(t.id) {
				return r.m, r.err
			}
		case <-late.C:
			return wire.Message{}, t.failure(method, fmt.Sprintf("no answer in %v", limit), t.slow)
		case <-ctx.Done():
			return wire.Message{}, ctx.Err()
		}
	}
}

// failure is an error of the upstream. What it has said is masked.
func (t *talker) failure(op, text, hint string) error {
	return &upstream.Error{Server: t.server.Name, Op: op, Err: errors.New(t.conn.Plain(text)), Hint: hint}
}

// open asks for the handshake. It notes a refusal, which is an answer, too.
func (t *talker) open(ctx context.Context, a *attempt, method, params string) gjson.Result {
	m, err := t.ask(ctx, method, params, t.began, t.limit)
	if m.Raw == nil {
		a.err, a.silent = err, time.Since(t.began) >= t.limit
		return gjson.Result{}
	}
	a.answered, a.took = true, time.Since(t.began)
	if m.Error.Exists() {
		a.refused = fmt.Sprintf("%d %s", m.Error.Get("code").Int(), firstWords(t.conn.Plain(m.Error.Get("message").Str)))
		a.err = err
	}
	if method == "server/discover" {
		a.era = facade.EraOf(m)
	}
	a.offers = m.Result.Get("capabilities.tools").Exists()
	return m.Result
}

// legacyTalk opens as a host of the legacy era does, and lists the tools.
func legacyTalk(ctx context.Context, t *talker, a *attempt) {
	result := t.open(ctx, a, "initialize", hostOpening)
	if !a.opened() {
		return
	}
	a.version = firstWords(t.conn.Plain(result.Get("protocolVersion").Str))
	t.conn.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	t.list(ctx, a, "{")
}

// modernTalk opens as a host of the modern era does, and lists the tools if the
// server is of it.
func modernTalk(ctx context.Context, t *talker, a *attempt) {
	result := t.open(ctx, a, "server/discover", "{"+modernOpening+"}")
	if a.era != "modern" || !a.opened() {
		return
	}
	for _, v := range result.Get("supportedVersions").Array() {
		a.version = max(a.version, firstWords(t.conn.Plain(v.Str)))
	}
	t.list(ctx, a, "{"+modernOpening)
}

// modernOpening is what goes with every request of the modern era.
const modernOpening = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"mcp-facade","version":"1"}}`

// list asks for all pages of the tools; params is an object that is still open.
func (t *talker) list(ctx context.Context, a *attempt, params string) {
	if !a.offers {
		a.listed = time.Since(t.began)
		return
	}
	began, cursor, seen := time.Now(), "", map[string]bool{}
	for len(a.pages) < maxProbePages {
		m, err := t.ask(ctx, "tools/list", joinMembers(params, cursor), began, t.server.StartTimeout)
		switch {
		case m.Error.Exists():
			err = t.failure("tools/list", firstWords(m.Error.Get("message").Str), "")
		case err == nil && !m.Result.Get("tools").IsArray():
			err = t.failure("tools/list", "the answer holds no tools", "")
		}
		if err != nil {
			a.unread = err
			return
		}
		a.pages = append(a.pages, []byte(m.Result.Raw))
		next := m.Result.Get("nextCursor")
		if next.Type != gjson.String {
			break
		}
		if seen[next.Str] {
			a.endless(next.Raw)
			break
		}
		seen[next.Str] = true
		cursor = `"cursor":` + next.Raw
	}
	a.listed = time.Since(t.began)
}

// endless notes a cursor that came again. One page twice is what a server sends that
// takes the empty cursor for none.
func (a *attempt) endless(cursor string) {
	last := len(a.pages) - 1
	if bytes.Equal(a.pages[last], a.pages[last-1]) {
		a.pages = a.pages[:last]
	}
	if cursor != `""` {
		a.repeat = cursor
	}
}

// joinMembers closes an object after one more member, if there is one.
func joinMembers(open, member string) string {
	if member != "" && open != "{" {
		open += ","
	}
	return open + member + "}"
}

// maxWords is how much is repeated of what others say, in characters.
const maxWords = 200

// firstWords is text of others on one line, not more than anybody wants to read.
func firstWords(text string) string {
	runes := []rune(compact.Line(text[:min(len(text), 32*maxWords)]))
	if len(runes) > maxWords {
		return string(runes[:maxWords]) + "…"
	}
	return string(runes)
}
