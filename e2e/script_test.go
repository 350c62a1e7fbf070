package e2e

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// A step is one thing that a scripted host does: it writes a frame, then reads
// until a frame comes that it waits for.
type step struct {
	frame string
	until func(gjson.Result) bool // nil: does not wait
	what  string                  // what it waits for
	plain bool                    // never turned into a call of the meta-tool
}

// ask sends a request and waits for its response.
func ask(frame string) step {
	id := gjson.Get(frame, "id").Raw
	return step{frame: frame, until: responseTo(id), what: "response to " + excerpt(frame)}
}

// tell sends a frame and waits for nothing.
func tell(frame string) step { return step{frame: frame} }

// await waits for a notification or a request of the server.
func await(method string) step {
	return step{
		until: func(m gjson.Result) bool { return m.Get("method").Str == method },
		what:  method,
	}
}

// answered waits for the response to a request that an earlier step has told.
func answered(id string) step { return step{until: responseTo(id), what: "response to " + id} }

func responseTo(id string) func(gjson.Result) bool {
	return func(m gjson.Result) bool { return !m.Get("method").Exists() && m.Get("id").Raw == id }
}

// A script is what a host does from its first frame to its last.
type script struct {
	steps   []step
	answers map[string]string // raw result for each request of a server, by method; others are refused
}

// viaCall is the script with each call of a tool made through the meta-tool.
func (s script) viaCall() script {
	via := s
	via.steps = nil
	for _, step := range s.steps {
		if !step.plain && gjson.Get(step.frame, "method").Str == "tools/call" {
			step.frame = viaCall(step.frame)
		}
		via.steps = append(via.steps, step)
	}
	return via
}

// viaCall puts "call" in the place of the tool's name, and the name and the
// arguments in the place of the arguments; every other byte stays.
func viaCall(frame string) string {
	name, args := gjson.Get(frame, "params.name"), gjson.Get(frame, "params.arguments")
	put := func(at gjson.Result, raw string) {
		frame = frame[:at.Index] + raw + frame[at.Index+len(at.Raw):]
	}
	call := `{"tool":` + name.Raw + `,"args":` + args.Raw + `}`
	if name.Index < args.Index {
		put(args, call)
		put(name, `"call"`)
	} else {
		put(name, `"call"`)
		put(args, call)
	}
	return frame
}

// A numbering makes requests with ids that count up.
type numbering struct{ last int }

func (n *numbering) ask(method, params string) step {
	n.last++
	return ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, n.last, method, params))
}

func (n *numbering) call(tool, args string) step {
	return n.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
}

// plain is the step as it is also where calls go through the meta-tool.
func plain(s step) step {
	s.plain = true
	return s
}

// A transcript is what a host has seen.
type transcript struct {
	frames []string          // as they came, without the line's end
	asked  map[string]string // method of each request of the host, by raw id
}

// play starts c and does what the script says. At the end it closes the
// server's stdin and reads on until the server has ended.
func (s script) play(t *testing.T, c command) transcript {
	t.Helper()
	p := start(t, c)
	tr := transcript{asked: map[string]string{}}
	for _, step := range s.steps {
		if step.frame != "" {
			if method := gjson.Get(step.frame, "method").Str; gjson.Get(step.frame, "id").Exists() {
				tr.asked[gjson.Get(step.frame, "id").Raw] = method
			}
			p.send(step.frame)
		}
		s.read(t, p, &tr, step)
	}
	tr.frames = append(tr.frames, p.close()...)
	return tr
}

// read keeps frames until the one that the step waits for.
func (s script) read(t *testing.T, p *process, tr *transcript, step step) {
	t.Helper()
	for step.until != nil {
		frame, ok := p.next()
		if !ok {
			t.Fatalf("no %s; %s", step.what, p.ended())
		}
		tr.frames = append(tr.frames, frame)
		m := gjson.Parse(frame)
		if m.Get("method").Exists() && m.Get("id").Exists() {
			p.send(s.answer(m))
		}
		if step.until(m) {
			return
		}
	}
}

// answer is the host's answer to a request of the server.
func (s script) answer(m gjson.Result) string {
	id := m.Get("id").Raw
	if result, ok := s.answers[m.Get("method").Str]; ok {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"the scripted host knows no such method"}}`
}

// A process is a server that a test talks to in raw frames.
type process struct {
	t      *testing.T
	in     io.WriteCloser
	frames chan string   // closed when stdout ends
	gone   chan struct{} // closed when it has been waited for
	kill   func() error
	pid    int
	err    error // how it ended; valid once gone is closed
}

// start starts c. Whatever the test leaves running is killed at its end.
func start(t *testing.T, c command) *process {
	t.Helper()
	cmd := c.cmd(t)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, in: in, frames: make(chan string, 1<<16), gone: make(chan struct{}), kill: cmd.Process.Kill, pid: cmd.Process.Pid}
	go func() {
		defer close(p.gone)
		p.readAll(out)
		p.err = cmd.Wait()
	}()
	t.Cleanup(func() {
		p.kill()
		<-p.gone
	})
	return p
}

func (p *process) readAll(out io.Reader) {
	defer close(p.frames)
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			p.frames <- strings.TrimSuffix(line, "\n")
		}
		if err != nil {
			return
		}
	}
}

// send writes a frame. A server that has ended is noticed by the next read.
func (p *process) send(frame string) { _, _ = io.WriteString(p.in, frame+"\n") }

// next is the next frame; false when the server has ended or says nothing for long.
func (p *process) next() (string, bool) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case frame, ok := <-p.frames:
		return frame, ok
	case <-timer.C:
		return "", false
	}
}

// close closes the server's stdin and returns the frames it still writes. A
// server that does not end then is killed.
func (p *process) close() []string {
	p.in.Close()
	timer := time.AfterFunc(linger, func() { p.kill() })
	defer timer.Stop()
	var rest []string
	for frame := range p.frames {
		rest = append(rest, frame)
	}
	<-p.gone
	return rest
}

// ended says whether the server has ended, and how.
func (p *process) ended() string {
	select {
	case <-p.gone:
		return fmt.Sprintf("it has ended: %v", p.err)
	default:
		return fmt.Sprintf("it is silent for %v", patience)
	}
}

// exchange sends a request and returns the response; frames in between are lost.
func (p *process) exchange(frame string) gjson.Result {
	p.t.Helper()
	p.send(frame)
	return p.until(ask(frame))
}

// until returns the frame that the step waits for.
func (p *process) until(s step) gjson.Result {
	p.t.Helper()
	for {
		frame, ok := p.next()
		if !ok {
			p.t.Fatalf("no %s; %s", s.what, p.ended())
		}
		m := gjson.Parse(frame)
		if !gjson.Valid(frame) || !utf8.ValidString(frame) {
			p.t.Fatalf("not a frame: %q", excerpt(frame))
		}
		if s.until(m) {
			return m
		}
	}
}

// intercepted are the methods whose answer is the facade's own and never the
// upstream's bytes.
var intercepted = map[string]bool{"initialize": true, "server/discover": true, "tools/list": true, "subscriptions/listen": true}

// kept are the methods that the facade answers from what it keeps: the
// result is the upstream's, the frame around it is not.
var kept = map[string]bool{
	"ping": true, "logging/setLevel": true,
	"prompts/list": true, "resources/list": true, "resources/templates/list": true,
}

// relayed is the transcript without what the facade is there to change. It must
// be the same with and without the facade.
func (tr transcript) relayed() []string {
	var frames []string
	for _, frame := range tr.frames {
		m := gjson.Parse(frame)
		method := m.Get("method").Str
		if method == "" {
			method = tr.asked[m.Get("id").Raw]
		}
		switch {
		case intercepted[method], method == "notifications/tools/list_changed", method == "notifications/subscriptions/acknowledged":
		case kept[method]:
			frames = append(frames, method+" "+m.Get("id").Raw+": "+m.Get("result").Raw+m.Get("error").Raw)
		default:
			frames = append(frames, frame)
		}
	}
	return frames
}

// legible makes frames short enough for a failure message, and tells different
// ones apart still.
func legible(frames []string) []string {
	short := make([]string, len(frames))
	for i, frame := range frames {
		short[i] = frame
		if len(frame) > 4000 {
			short[i] = fmt.Sprintf("%s… %d bytes %x …%s", frame[:200], len(frame), sha256.Sum256([]byte(frame)), frame[len(frame)-100:])
		}
	}
	return short
}
