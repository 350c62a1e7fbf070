package facade

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/facade/config"
	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// A fake is an upstream in memory. Its methods may be called concurrently.
type fake struct {
	tools        []string // raw tool objects
	capabilities string   // raw; "" offers tools, prompts, resources and logging
	modern       bool     // it answers server/discover
	noLegacy     bool     // it refuses initialize
	dialError    error

	// hold keeps Send from taking a frame of some methods.
	hold map[string]chan struct{}

	full atomic.Bool // it takes no frame for lack of room

	// answer overrides what is said to a request: the frames to write, and
	// whether it does so at all.
	answer func(c *fakeConn, m wire.Message) (frames []string, ok bool)

	mu    sync.Mutex
	conns []*fakeConn   // guarded by mu
	seen  []string      // every frame received, in order; guarded by mu
	got   chan struct{} // receives when a frame has come
}

// A fakeConn is one connection to a fake.
type fakeConn struct {
	fake *fake
	out  chan string // what it writes
	bad  chan *upstream.Failure
	once sync.Once
	end  chan struct{} // closed at its end
	mu   sync.Mutex
	err  error // how it ended; guarded by mu
}

func (f *fake) dial(context.Context, func(string) []byte) (upstream.Conn, error) {
	if f.dialError != nil {
		return nil, f.dialError
	}
	c := &fakeConn{fake: f, out: make(chan string, 1000), bad: make(chan *upstream.Failure, 100), end: make(chan struct{})}
	f.mu.Lock()
	f.conns = append(f.conns, c)
	f.mu.Unlock()
	return c, nil
}

// dials is how often it was dialled.
func (f *fake) dials() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.conns)
}

// last is the newest connection.
func (f *fake) last() *fakeConn {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.conns[len(f.conns)-1]
}

// received are the frames of a method that it has received.
func (f *fake) received(method string) (frames []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, frame := range f.seen {
		if gjson.Get(frame, "method").Str == method || method == "" {
			frames = append(frames, frame)
		}
	}
	return frames
}

// Send implements upstream.Conn.
func (c *fakeConn) Send(frame []byte) error {
	select {
	case <-c.end:
		return io.ErrClosedPipe
	default:
	}
	if c.fake.full.Load() {
		return &upstream.Error{Server: "acme", Op: "send", Err: upstream.ErrFull}
	}
	m, err := wire.Parse(append([]byte(nil), frame...))
	if held := c.fake.hold[m.Method]; held != nil {
		<-held
	}
	c.fake.mu.Lock()
	c.fake.seen = append(c.fake.seen, string(frame))
	c.fake.mu.Unlock()
	if err != nil {
		return nil
	}
	for _, line := range c.fake.respond(c, m) {
		c.write(line)
	}
	return nil
}

// write makes the upstream say one frame.
func (c *fakeConn) write(frame string) {
	select {
	case c.out <- frame:
	case <-c.end:
	}
}

// Recv implements upstream.Conn.
func (c *fakeConn) Recv() (wire.Message, error) {
	for {
		select {
		case frame := <-c.out:
			m, err := wire.Parse([]byte(frame))
			if err == nil {
				return m, nil
			}
			continue
		default:
		}
		select {
		case frame := <-c.out:
			if m, err := wire.Parse([]byte(frame)); err == nil {
				return m, nil
			}
		case failure := <-c.bad:
			return wire.Message{}, failure
		case <-c.end:
			c.mu.Lock()
			defer c.mu.Unlock()
			return wire.Message{}, &upstream.Error{Server: "acme", Op: "run", Err: c.err}
		}
	}
}

// die ends the connection as if the process had.
func (c *fakeConn) die(why string) {
	c.once.Do(func() {
		c.mu.Lock()
		c.err = errors.New(why)
		c.mu.Unlock()
		close(c.end)
	})
}

// Plain implements upstream.Conn.
func (c *fakeConn) Plain(text string) string {
	return strings.ReplaceAll(text, "hunter22", "[redacted]")
}

// Close implements upstream.Conn.
func (c *fakeConn) Close() error {
	c.die("connection closed")
	return nil
}

// respond is what the fake says to one frame.
func (f *fake) respond(c *fakeConn, m wire.Message) []string {
	if f.answer != nil {
		if frames, ok := f.answer(c, m); ok {
			return frames
		}
	}
	if !m.IsRequest() {
		return nil
	}
	modern := ""
	if isModern(m) {
		modern = `,"resultType":"complete","ttlMs":60000,"cacheScope":"private"`
	}
	ok := func(result string) []string {
		return []string{`{"jsonrpc":"2.0","id":` + m.ID.Raw + `,"result":{` + result + `}}`}
	}
	capabilities := f.capabilities
	if capabilities == "" {
		capabilities = `{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true},"logging":{}}`
	}
	switch {
	case m.Method == "initialize" && !f.noLegacy:
		return ok(`"protocolVersion":` + m.Params.Get("protocolVersion").Raw + `,"capabilities":` + capabilities + `,"serverInfo":{"name":"Acme Server","version":"7"},"instructions":"Be kind."`)
	case m.Method == "server/discover" && f.modern:
		return ok(`"supportedVersions":["2026-07-28"],"capabilities":` + capabilities + `,"instructions":"Be kind."` + modern)
	case m.Method == "tools/list":
		f.mu.Lock()
		tools := strings.Join(f.tools, ",")
		f.mu.Unlock()
		return ok(`"tools":[` + tools + `]` + modern)
	case m.Method == "prompts/list":
		return ok(`"prompts":[{"name":"p", "x":1}]` + modern)
	case m.Method == "resources/list":
		return ok(`"resources":[]` + modern)
	case m.Method == "resources/templates/list":
		return ok(`"resourceTemplates":[]` + modern)
	case m.Method == "tools/call":
		return ok(`"content":[{"type":"text","text":` + string(wire.AppendString(nil, m.Params.Raw)) + `}]` + modern)
	case m.Method == "logging/setLevel":
		return ok("")
	}
	return []string{string(wire.ErrorResponse(m.ID.Raw, codeMethodNotFound, "Method not found: "+m.Method, nil))}
}

// setTools makes the upstream have other tools, without a word.
func (f *fake) setTools(tools ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tools = tools
}

// tool is a raw tool object.
func tool(name, description, schema string) string {
	if schema == "" {
		schema = `{"type":"object","properties":{}}`
	}
	return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":%s}`, name, description, schema)
}

// entry is a config entry with its defaults, changed by the members of raw.
func entry(t testing.TB, raw string) *config.Server {
	t.Helper()
	file, err := config.Parse("facade.servers.json", []byte(`{"acme":{"upstream":{"command":"acme"}`+raw+`}}`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := file.Server("acme")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A desk is the host's side of a Facade that runs.
type desk struct {
	t      *testing.T
	facade *Facade // nil: none is between
	in     *io.PipeWriter
	frames chan string // what the facade says
	done   chan struct{}
	err    error
}

// start runs a Facade in front of a fake. The test ends it, unless close has.
func start(t *testing.T, o Options, up *fake) *desk {
	t.Helper()
	if o.Server == nil {
		o.Server = entry(t, "")
	}
	if o.Dial == nil {
		o.Dial = up.dial
	}
	facadeIn, hostOut := io.Pipe()
	hostIn, facadeOut := io.Pipe()
	d := &desk{t: t, facade: New(o), in: hostOut, frames: make(chan string, 1000), done: make(chan struct{})}
	go func() {
		d.err = d.facade.Run(t.Context(), facadeIn, facadeOut)
		facadeOut.Close()
		facadeIn.Close()
	}()
	go func() {
		defer close(d.done)
		defer close(d.frames)
		r := wire.NewReader(hostIn, func(line []byte, err error) { d.frames <- fmt.Sprintf("noise: %s: %v", line, err) })
		for {
			m, err := r.Next()
			if err != nil {
				return
			}
			d.frames <- string(m.Raw)
		}
	}()
	t.Cleanup(d.close)
	return d
}

// direct is the host's side of a fake without a Facade between.
func direct(t *testing.T, up *fake) *desk {
	t.Helper()
	in, hostOut := io.Pipe()
	d := &desk{t: t, in: hostOut, frames: make(chan string, 1000), done: make(chan struct{})}
	conn, err := up.dial(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		r := wire.NewReader(in, nil)
		for m, err := r.Next(); err == nil; m, err = r.Next() {
			conn.Send(m.Raw)
		}
		conn.Close()
	}()
	go func() {
		defer close(d.done)
		defer close(d.frames)
		for m, err := conn.Recv(); err == nil; m, err = conn.Recv() {
			d.frames <- string(m.Raw)
		}
	}()
	t.Cleanup(d.close)
	return d
}

// said is what the facade says until nothing happens any more. It is for a
// synctest bubble.
func (d *desk) said() (frames []string) {
	time.Sleep(time.Second)
	synctest.Wait()
	for {
		select {
		case frame, ok := <-d.frames:
			if !ok {
				return frames
			}
			frames = append(frames, frame)
		default:
			return frames
		}
	}
}

// expect fails the test unless the facade says exactly that until nothing
// happens any more. It is for a synctest bubble.
func (d *desk) expect(after string, want ...string) {
	d.t.Helper()
	if diff := cmp.Diff(want, d.said()); diff != "" {
		d.t.Errorf("%s: the host was told (-want +got):\n%s", after, diff)
	}
}

// close closes the host's side and waits for the Facade to end.
func (d *desk) close() {
	d.in.Close()
	<-d.done
}

// send writes one frame to the facade.
func (d *desk) send(frame string) {
	d.t.Helper()
	if _, err := io.WriteString(d.in, frame+"\n"); err != nil {
		d.t.Errorf("write to the facade: %v", err)
	}
}

// next is the next frame that the facade says.
func (d *desk) next() string {
	d.t.Helper()
	select {
	case frame, ok := <-d.frames:
		if !ok {
			d.t.Fatal("the facade has ended")
		}
		return frame
	case <-time.After(time.Minute):
		d.t.Fatal("the facade says nothing")
	}
	return ""
}

// silent fails the test if the facade says anything within a while. Use it in
// a synctest bubble.
func (d *desk) silent(wait time.Duration) {
	d.t.Helper()
	select {
	case frame := <-d.frames:
		d.t.Fatalf("the facade says %s; want nothing", frame)
	case <-time.After(wait):
	}
}

// ask sends a request and returns its response; what comes before it is kept
// in order and returned too.
func (d *desk) ask(id, method, params string) (response string, before []string) {
	d.t.Helper()
	d.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`)
	for {
		frame := d.next()
		if gjson.Get(frame, "id").Raw == id && !gjson.Get(frame, "method").Exists() {
			return frame, before
		}
		before = append(before, frame)
	}
}

// open is the legacy handshake; it returns the result of initialize.
func (d *desk) open() string {
	d.t.Helper()
	r, _ := d.ask("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}`)
	d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return gjson.Get(r, "result").Raw
}

// modernMeta is the _meta of a modern request.
const modernMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// call calls one tool; it returns the result.
func (d *desk) call(id, name, args string) string {
	d.t.Helper()
	r, _ := d.ask(id, "tools/call", `{"name":"`+name+`","arguments":`+args+`}`)
	return gjson.Get(r, "result").Raw
}

// text is the first text of a tool result.
func text(result string) string { return gjson.Get(result, "content.0.text").Str }

// names are the names of the tools that tools/list shows.
func (d *desk) names() (names []string) {
	d.t.Helper()
	r, _ := d.ask(`"list"`, "tools/list", "{}")
	for _, n := range gjson.Get(r, "result.tools.#.name").Array() {
		names = append(names, n.Str)
	}
	return names
}

// store is a disk cache of the test's own.
func store(t *testing.T) *catalog.Store {
	return catalog.OpenStore(t.TempDir()+"/acme", nil)
}

// accepted is a file of the test's own for what the user accepts.
func accepted(t testing.TB) *catalog.Accepted {
	return catalog.OpenAccepted(t.TempDir() + "/acme/accepted")
}

// warmed is a disk cache that has what a legacy and, if the fake is one, a
// modern host are shown of it.
func warmed(t *testing.T, up *fake) *catalog.Store {
	t.Helper()
	cache := store(t)
	for _, how := range manners {
		d := start(t, Options{Store: cache, Version: "v"}, &fake{tools: up.tools, capabilities: up.capabilities, modern: up.modern})
		talk(d, how, nil)
		d.close()
	}
	return cache
}

// gated makes the dial of a fake wait for open to be closed.
func gated(up *fake) (dial func(context.Context, func(string) []byte) (upstream.Conn, error), open chan struct{}) {
	open = make(chan struct{})
	return func(ctx context.Context, _ func(string) []byte) (upstream.Conn, error) {
		select {
		case <-open:
			return up.dial(ctx, nil)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}, open
}

// mute makes a fake leave some methods without an answer.
func mute(methods ...string) func(*fakeConn, wire.Message) ([]string, bool) {
	return func(_ *fakeConn, m wire.Message) ([]string, bool) {
		return nil, slices.Contains(methods, m.Method)
	}
}

// line is a frame of a request, or without an id of a notification.
func line(id, method, params string) string {
	if id != "" {
		id = `"id":` + id + `,`
	}
	if params != "" {
		params = `,"params":` + params
	}
	return `{"jsonrpc":"2.0",` + id + `"method":"` + method + `"` + params + `}`
}
