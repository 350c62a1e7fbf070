package facade

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// mutationsVar makes TestMutated play every mutation of every frame:
//
//	FACADE_MUTATIONS=all go test ./facade -run TestMutated
//
// Without it, a sample is played that takes a few seconds.
const mutationsVar = "FACADE_MUTATIONS"

// mutationSeed makes what is random in a mutation, and the sample.
const mutationSeed = 4

// sampled is of how many cases of TestMutated one is played. It has no factor in
// common with the number of mutations, so that each of them is.
const sampled = 79

// A corruption is one frame's, by one mutation.
type corruption struct {
	*rand.Rand
	mutation
	upstream bool // it is one of the upstream's, else of the host's
	at       int  // which of that end's frames

	done bool     // it has happened, or cannot any more
	hit  string   // the frame as it was meant; "" until it has come
	text string   // what was written in its place
	ids  []string // raw, all that have been seen
}

func (c *corruption) within(s string) int { return c.IntN(max(len(s), 1)) }

func (c *corruption) insert(s, what string) string { i := c.within(s); return s[:i] + what + s[i:] }

func (c *corruption) otherID() string {
	if len(c.ids) == 0 {
		return "1"
	}
	return c.ids[c.IntN(len(c.ids))]
}

func (c *corruption) otherMethod() string {
	methods := []string{
		"initialize", "notifications/initialized", "notifications/cancelled", "server/discover", "tools/list", "prompts/list",
		"tools/call", "subscriptions/listen", "ping", "logging/setLevel", "resources/subscribe", "notifications/tools/list_changed", "\u2028",
	}
	return quote(methods[c.IntN(len(methods))])
}

// apply returns what is written for the n-th frame of an end.
func (c *corruption) apply(upstream bool, n int, frame string) string {
	if id := gjson.Get(frame, "id"); id.Exists() {
		c.ids = append(c.ids, id.Raw)
	}
	if c.upstream != upstream || c.at != n || c.done {
		return frame
	}
	c.done, c.hit = true, frame
	c.text = c.change(c, frame)
	return c.text
}

// A brokenConn is a connection to a fake whose frames are read as they would be
// from a process.
type brokenConn struct {
	*fakeConn
	play   *mutated
	reader *wire.Reader
	rest   []byte
}

// Read gives what the fake writes, a frame at a time.
func (c *brokenConn) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		select {
		case frame := <-c.out:
			c.rest = []byte(c.play.written(frame) + "\n")
			continue
		default:
		}
		select {
		case frame := <-c.out:
			c.rest = []byte(c.play.written(frame) + "\n")
		case <-c.end:
			return 0, io.EOF
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// Recv implements upstream.Conn.
func (c *brokenConn) Recv() (wire.Message, error) {
	if m, err := c.reader.Next(); err == nil {
		return m, nil
	}
	return c.fakeConn.Recv()
}

// A mutated is one conversation in which at most one frame is corrupted.
type mutated struct {
	how  manner
	up   *fake
	desk *desk
	told []string // what the host has been told

	mu sync.Mutex
	*corruption
	sent  []string // what the host has meant to say, a frame each; guarded by mu, as is the corruption
	wrote []string // what the upstream has meant to say; guarded by mu

	asleep map[string]bool // notifications that the host has sent before there was an upstream
}

func (p *mutated) dial(ctx context.Context, schema func(string) []byte) (upstream.Conn, error) {
	conn, err := p.up.dial(ctx, schema)
	if err != nil {
		return nil, err
	}
	c := &brokenConn{fakeConn: conn.(*fakeConn), play: p}
	c.reader = wire.NewReader(c, nil)
	return c, nil
}

// written is what the upstream writes for a frame.
func (p *mutated) written(frame string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrote = append(p.wrote, frame)
	return p.apply(true, len(p.wrote)-1, frame)
}

// said is what the host writes for a frame.
func (p *mutated) said(frame string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, frame)
	if p.up.dials() == 0 {
		p.asleep[p.plainly(frame)] = true
	}
	return p.apply(false, len(p.sent)-1, frame)
}

// say lets the host say some frames, and listen until all is at rest.
func (p *mutated) say(lines string) {
	for frame := range strings.SplitSeq(lines, "\n") {
		p.desk.send(p.said(frame))
	}
	p.listen(0)
}

// listen lets the host listen for a while, until all is at rest.
func (p *mutated) listen(wait time.Duration) {
	time.Sleep(wait)
	p.told = append(p.told, p.desk.said()...)
}

// strict is a fake that refuses an initialize without a version.
func strict() *fake {
	up := strange()
	answer := up.answer
	up.answer = func(c *fakeConn, m wire.Message) ([]string, bool) {
		if m.Method == "initialize" && m.Params.Get("protocolVersion").Type != gjson.String {
			return []string{string(wire.ErrorResponse(m.ID.Raw, codeInvalidParams, "no protocolVersion", nil))}, true
		}
		return answer(c, m)
	}
	return up
}

// patiently is longer than anything of ours waits.
const patiently = 5 * time.Minute

// converse plays a script in which one frame is corrupted, waits for all that
// may still come of it, ends the upstream and starts it anew.
func converse(t *testing.T, how manner, script []string, warm bool, c *corruption) *mutated {
	t.Helper()
	p := &mutated{how: how, up: strict(), corruption: c, asleep: map[string]bool{}}
	o := Options{Server: entry(t, `,"names":"keep","used":["*"]`), Store: store(t), Version: "v", Dial: p.dial}
	if warm {
		first := start(t, Options{Server: o.Server, Store: o.Store, Version: "v"}, strange())
		talk(first, how, nil)
		first.close()
	}
	p.desk = start(t, o, p.up)
	for _, frame := range how.opening {
		p.say(frame)
	}
	for _, step := range script {
		p.say(how.dress(step))
	}
	p.say(how.dress(pinged))
	p.listen(patiently)
	p.mu.Lock()
	p.done = true
	p.mu.Unlock()
	if p.up.dials() > 0 {
		p.up.last().die("exit status 1")
	}
	p.listen(patiently)
	p.say(how.dress(afterwards))
	p.listen(patiently)
	return p
}

const (
	pinged     = `{"jsonrpc":"2.0","id":"ping","method":"ping"}`
	afterwards = `{"jsonrpc":"2.0","id":"after","method":"vendor/null"}`
)

// TestMutated corrupts each frame of the golden conversations, at either end and
// in every way. Whatever a peer writes, nothing crashes and nothing hangs: each
// request that was whole is answered once, and by nothing that is another's;
// whole frames arrive, in order; and when the upstream has ended, nothing is kept.
func TestMutated(t *testing.T) {
	n := 0
	all := os.Getenv(mutationsVar) == "all"
	for _, how := range manners {
		for _, name := range slices.Sorted(maps.Keys(scripts)) {
			for _, state := range []string{"cold", "warm"} {
				play := func(t *testing.T, c *corruption) (p *mutated) {
					synctest.Test(t, func(t *testing.T) {
						p = converse(t, how, scripts[name], state == "warm", c)
						p.keepsNothing(t)
					})
					return p
				}
				base := play(t, &corruption{done: true})
				for _, end := range []string{"host", "upstream"} {
					frames := map[string]int{"host": len(base.sent) - 2, "upstream": len(base.wrote)}[end]
					for i := range frames {
						for _, m := range mutations {
							if n++; !all && n%sampled != 0 {
								continue
							}
							t.Run(fmt.Sprintf("%s %s %s frame %d of the %s %s", name, how.name, state, i, end, m.name), func(t *testing.T) {
								c := &corruption{Rand: rand.New(rand.NewPCG(mutationSeed, uint64(n))), mutation: m, upstream: end == "upstream", at: i}
								p := play(t, c)
								p.check(t, base)
								if t.Failed() {
									t.Logf("in the place of\n%.1000s\ncame\n%.1000q\nthe host said\n%s\nthe host was told\n%s\nthe upstream heard\n%s\nthe upstream wrote\n%s",
										c.hit, c.text, brief(p.sent), brief(p.told), brief(p.up.received("")), brief(p.wrote))
								}
							})
						}
					}
				}
			}
		}
	}
}

// brief shows frames in a failure message.
func brief(frames []string) string {
	var b strings.Builder
	for _, frame := range frames {
		fmt.Fprintf(&b, "  %.300s\n", frame)
	}
	return b.String()
}

// keepsNothing fails the test if the facade still holds anything of what was
// asked.
func (p *mutated) keepsNothing(t *testing.T) {
	t.Helper()
	f := p.desk.facade
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.toUp)+len(f.fromUp)+len(f.own)+len(f.withdrawn)+len(f.behind)+f.asking != 0 {
		t.Errorf("%d requests are pending, %d questions, %d of ours, %d withdrawn, %d behind another; %d are asked",
			len(f.toUp), len(f.fromUp), len(f.own), len(f.withdrawn), len(f.behind), f.asking)
	}
}

// check holds what has come of a corrupted conversation against one that was not.
func (p *mutated) check(t *testing.T, base *mutated) {
	t.Helper()
	p.answersAll(t)
	p.answersOwn(t)
	p.tellsAll(t)
	p.forwardsAll(t, base)
}

// whole are the frames of one end that can be read, in order.
func (p *mutated) whole(upstream bool) (frames []string) {
	all := p.sent
	if upstream {
		all = p.wrote
	}
	hit := -1
	if p.hit != "" && p.upstream == upstream {
		hit = p.at
	}
	for i, frame := range all {
		n := 1
		if i == hit {
			n = p.copies
		}
		for range n {
			frames = append(frames, frame)
		}
	}
	return frames
}

var idPattern = regexp.MustCompile(`(?i)"id"\s*:\s*("(?:[^"\\]|\\.)*"|[-+.\w]+)`)

// doubtful are the ids, by wire.Key, that a corrupted frame of an end may have.
func (p *mutated) doubtful(upstream bool) map[string]bool {
	keys := map[string]bool{}
	if p.hit == "" || p.upstream != upstream {
		return keys
	}
	for _, text := range []string{p.hit, p.text} {
		for _, id := range idPattern.FindAllStringSubmatch(text, -1) {
			keys[wire.Key(gjson.Parse(id[1]))] = true
		}
	}
	return keys
}

func isRequest(frame string) bool {
	return gjson.Get(frame, "method").Exists() && gjson.Get(frame, "id").Exists()
}

func isResponse(frame string) bool { return !gjson.Get(frame, "method").Exists() }

func keyOf(frame string) string { return wire.Key(gjson.Get(frame, "id")) }

// answersAll: each whole request of the host has got one answer, or none if it
// was cancelled, and nobody else has got any.
func (p *mutated) answersAll(t *testing.T) {
	t.Helper()
	asked, cancelled, answers := map[string]int{}, map[string]bool{}, map[string]int{}
	for _, frame := range p.whole(false) {
		switch {
		case isRequest(frame):
			asked[keyOf(frame)]++
		case gjson.Get(frame, "method").Str == "notifications/cancelled":
			cancelled[wire.Key(gjson.Get(frame, "params.requestId"))] = true
		}
	}
	for _, frame := range p.told {
		if isResponse(frame) {
			answers[keyOf(frame)]++
		}
	}
	doubtful := p.doubtful(false)
	if !strings.Contains(p.text, `"method"`) && !isRequest(p.hit) {
		clear(doubtful) // it can be no request
	}
	if p.hit != "" && !p.upstream {
		doubtful["null"] = true // JSON-RPC 2.0 §5: "if there was an error in detecting the id"
	}
	for key := range answers {
		asked[key] += 0
	}
	for key, want := range asked {
		got := answers[key]
		least, most := want, want
		if doubtful[key] {
			most += 2
		}
		if cancelled[key] {
			least = 0
		}
		if got < least || got > most {
			t.Errorf("the id %s was asked %d times and answered %d times", key, want, got)
		}
	}
}

// answersOwn: what answers a request is what the upstream has said to it, as
// it was said, or ours.
func (p *mutated) answersOwn(t *testing.T) {
	t.Helper()
	ours := []string{"initialize", "server/discover", "tools/list", "ping"}
	methods, wrote := map[string]string{}, map[string]bool{}
	for _, frame := range p.sent {
		if isRequest(frame) {
			methods[keyOf(frame)] = gjson.Get(frame, "method").Str
		}
	}
	for _, frame := range p.wrote {
		wrote[strings.TrimSpace(frame)] = true
	}
	for _, frame := range p.told {
		if _, err := wire.Parse([]byte(frame)); err != nil {
			t.Errorf("the host is told %.200q: %v", frame, err)
		}
		result := gjson.Get(frame, "result")
		switch {
		case !isResponse(frame), wrote[frame], slices.Contains(ours, methods[keyOf(frame)]):
		case p.upstream && p.hit != "", p.doubtful(false)[keyOf(frame)]: // what came of the corrupted frame
		case result.Exists() && !strings.Contains(result.Raw, noResult):
			t.Errorf("nobody has said %.300s", frame)
		}
	}
}

// tellsAll: each whole frame of the upstream is told the host, in order.
func (p *mutated) tellsAll(t *testing.T) {
	t.Helper()
	asked := map[string]int{"so": -9, "sl": -9} // the opening is answered in our words
	for _, frame := range p.whole(false) {
		if isRequest(frame) {
			asked[keyOf(frame)]++
		}
	}
	for _, doubtful := range []map[string]bool{p.doubtful(false), p.doubtful(true)} {
		for key := range doubtful {
			asked[key] = -9
		}
	}
	uninitialized := !p.upstream && (gjson.Get(p.hit, "method").Str == "initialize" || gjson.Get(p.hit, "method").Str == "notifications/initialized")
	var want []string
	for _, frame := range p.whole(true) {
		key := keyOf(frame)
		switch {
		case isResponse(frame) && asked[key] <= 0, isRequest(frame) && uninitialized:
			continue
		case isResponse(frame):
			asked[key]--
		}
		want = append(want, p.plainly(frame))
	}
	var told []string
	for _, frame := range p.told {
		told = append(told, p.plainly(frame))
	}
	if missing, ok := inOrder(want, told); !ok {
		t.Errorf("the host is not told, or not in order: %.300s", missing)
	}
}

// forwardsAll: each whole frame of the host that the upstream hears otherwise
// is heard, in order. A request that is not has been answered by an error, or
// cancelled; a notification that is not came when there was no upstream.
func (p *mutated) forwardsAll(t *testing.T, base *mutated) {
	t.Helper()
	forwarded, failed, questions := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, frame := range base.up.received("") {
		forwarded[p.plainly(frame)] = true
	}
	for _, frame := range p.sent {
		if gjson.Get(frame, "method").Str == "notifications/cancelled" {
			failed[wire.Key(gjson.Get(frame, "params.requestId"))] = true
		}
	}
	for _, frame := range p.told {
		switch {
		case isRequest(frame):
			questions[keyOf(frame)] = true
		case gjson.Get(frame, "error").Exists(), strings.Contains(frame, noResult):
			failed[keyOf(frame)] = true
		}
	}
	for key := range p.doubtful(false) {
		delete(questions, key)
	}
	unopened := p.hit != "" && !hostsOwn(p.hit) || strings.Contains(p.text, `"initialize"`)
	var heard, want []string
	for _, frame := range p.up.received("") {
		heard = append(heard, p.plainly(frame))
	}
	for _, frame := range p.whole(false) {
		frame = p.plainly(frame)
		switch {
		case keyOf(frame) == "so", keyOf(frame) == "sl", gjson.Get(frame, "method").Str == "notifications/initialized":
		case keyOf(frame) == "sping": // it waits for nobody
		case !forwarded[frame] && !forwarded[p.plainly(p.hit)]:
		case isResponse(frame) && !questions[keyOf(frame)]:
		case isRequest(frame) && failed[keyOf(frame)] && !slices.Contains(heard, frame):
		case !isRequest(frame) && (unopened || p.asleep[frame]) && !slices.Contains(heard, frame):
		default:
			want = append(want, frame)
		}
	}
	if missing, ok := inOrder(want, heard); !ok {
		t.Errorf("the upstream does not hear, or not in order: %.300s", missing)
	}
}

// hostsOwn reports whether a frame's id is none of the facade's nor of an opening.
func hostsOwn(frame string) bool {
	id := gjson.Get(frame, "id").Str
	return id != "o" && (!strings.HasPrefix(id, "mcpf-") || strings.HasPrefix(id, "mcpf-00000000-"))
}

// plainly is a frame on one line, without the space around it, and without any
// where the corrupted frame may have other space than was meant.
func (p *mutated) plainly(frame string) string {
	frame = strings.TrimSpace(string(wire.OneLine([]byte(frame))))
	if p.name == printed {
		return gjson.Get(frame, "@ugly").Raw
	}
	return frame
}

// inOrder reports whether all of want stand in got, in that order, and if not,
// the first that does not.
func inOrder(want, got []string) (missing string, ok bool) {
	for _, frame := range want {
		i := slices.Index(got, frame)
		if i < 0 {
			return frame, false
		}
		got = got[i+1:]
	}
	return "", true
}

// TestHostAnswerBroken shows that an answer of the host that cannot be read is
// not answered under its id: among the host's own requests that is another's.
func TestHostAnswerBroken(t *testing.T) {
	for _, answer := range []string{
		`{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"both"}}`,
		`{"id":7,"result":{}}`,
		`{"jsonrpc":"2.0","id":7}`, // in JavaScript, a result that is undefined
	} {
		d := start(t, Options{}, issues())
		d.send(answer)
		if got := d.next(); gjson.Get(got, "id").Raw != "null" || !strings.Contains(got, "-32600") {
			t.Errorf("%s is answered by %s", answer, got)
		}
	}
}
