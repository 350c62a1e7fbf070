package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// The soak has 8 callers make calls of all kinds through one facade, whose
// upstream dies again and again. It makes 1,000 of them; its long form, which
// also holds the facade's memory at the end against that at the beginning, is
//
//	E2E_SOAK=10000 go test ./e2e -run TestSoak -v
//
// What is random comes from a seed, which a failure shows; E2E_SOAK_SEED=N takes
// another one. Who dies when depends on the machine too.
const (
	soakVar     = "E2E_SOAK"
	soakCallers = 8
	soakLife    = 50 // requests that a process of the upstream takes on average
)

// soakRestart is what a caller waits for an upstream that is not back yet: else
// most calls would be refused.
const soakRestart = 20 * time.Millisecond

// A soak is one run.
type soak struct {
	*process
	t      *testing.T
	seed   uint64
	record string // the file in which the upstream keeps what it does

	mu      sync.Mutex
	random  *rand.Rand           // guarded by mu, as are the others
	calls   map[string]*soakCall // all there were, by nonce
	waiting map[int]*soakCall    // those without an answer, by id
	late    []soakAnswer         // what the host answers the upstream
	heard   int                  // frames
	lastID  int
	wrong   []string       // what should not have been
	why     map[string]int // how often calls have failed, by why
	reader  sync.WaitGroup
}

// A soakCall is one call.
type soakCall struct {
	kind   string // "": not judged
	nonce  string
	id     int
	over   chan struct{} // closed when it has been answered
	answer gjson.Result  // valid once over is closed
	fate   string        // what the host knows of it: answered, perhaps or never done, or cancelled
	steps  int           // of its progress
}

// A soakAnswer is the host's answer to a question of the upstream. People take
// their time: it is given when some more frames have come.
type soakAnswer struct {
	id, frame string
	due       int // how many frames have come then
}

// soakThought is how many frames a person takes to answer, at most. Where
// nothing comes, a hundredth of a second counts as soakIdle frames.
const (
	soakThought = 200
	soakIdle    = 20
)

// TestSoak promises that every call ends, in its own right answer or in an
// error that says why and whether it may have been carried out; that no tool is
// run twice for one call; and that nothing is left at the end.
func TestSoak(t *testing.T) {
	for _, row := range []struct {
		name  string
		serve func(*soak) command
		idle  int // connections that the facade may keep for the next call
	}{
		{"a process that dies", (*soak).stdio, 0},
		{"a server that is restarted", (*soak).http, soakCallers},
	} {
		t.Run("it serves "+row.name, func(t *testing.T) {
			s := newSoak(t)
			c := row.serve(s)
			mark := mark(t, &c)
			c.env = append(c.env, "GOGC=10") // so that what it holds is not lost in what it has not collected
			s.begin(c)
			start := s.usage()
			s.make(soakFirst)
			calls := max(soakFirst, soakNumber(t, soakVar, 0))
			first := s.settled(calls)
			last := first
			if calls > soakFirst {
				s.make(calls - soakFirst)
				last = s.settled(calls)
			}
			s.ends(mark)
			s.check()
			s.compare(start, first, last, row.idle)
		})
	}
}

// TestSoakGoroutines promises that calls leave no goroutine behind: a facade
// that has made many, and has started its upstream as often as that has died, has
// no more than one that has made none.
func TestSoakGoroutines(t *testing.T) {
	linuxOnly(t)
	count := map[int]int{}
	for _, calls := range []int{0, soakFirst} {
		t.Run(fmt.Sprintf("after %d calls", calls), func(t *testing.T) {
			s := newSoak(t)
			c := s.stdio()
			mark(t, &c)
			c.env = append(c.env, "GOTRACEBACK=all")
			s.begin(c)
			s.make(calls)
			s.settled(soakFirst)
			signal(t, s.process, syscall.SIGQUIT)
			<-s.gone
			count[calls] = s.goroutines()
		})
	}
	const ending = 5 // those that are about to
	if before, after := count[0], count[soakFirst]; before == 0 || after > before+ending {
		t.Errorf("%d goroutines run after %d calls, want the %d of before and at most %d", after, soakFirst, before, ending)
	}
}

// goroutines counts those of the facade's dump.
func (s *soak) goroutines() int {
	files, err := filepath.Glob(filepath.Join(filepath.Dir(s.t.TempDir()), "*", "stderr*"))
	if err != nil || len(files) != 1 {
		s.t.Fatalf("stderr is in %q, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return len(regexp.MustCompile(`(?m)^goroutine \d+ `).FindAll(text, -1))
}

// soakFirst is how many calls there are in the short form, and after how many
// the facade's memory is looked at first in the long one.
const soakFirst = 1_000

// soakNumber is a number from the environment.
func soakNumber(t *testing.T, name string, otherwise int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return otherwise
	}
	return n
}

func newSoak(t *testing.T) *soak {
	seed := uint64(soakNumber(t, soakSeedVar, 1))
	s := &soak{t: t, seed: seed, record: filepath.Join(t.TempDir(), "record"), random: rand.New(rand.NewPCG(seed, 0)),
		calls: map[string]*soakCall{}, waiting: map[int]*soakCall{}, why: map[string]int{}}
	t.Cleanup(func() {
		t.Logf("%s=%d; calls that failed: %v", soakSeedVar, seed, s.why)
	})
	return s
}

// env is what the upstream is told, as environment variables.
func (s *soak) env(more ...string) []string {
	return append([]string{soakRecordVar, s.record, soakSeedVar, fmt.Sprint(s.seed), soakLifeVar, fmt.Sprint(soakLife)}, more...)
}

// stdio has the facade start the upstream.
func (s *soak) stdio() command {
	return newWorld(s.t).serve(s.t, self(s.t, "soak", s.env()...), "echo", "large")
}

// http starts the upstream again and again on one port.
func (s *soak) http() command {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	w := newWorld(s.t)
	c := self(s.t, "soak-http", s.env(soakAddrVar, addr)...).direct(w)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			cmd := exec.CommandContext(ctx, c.args[0])
			cmd.Env = append(os.Environ(), c.env...)
			cmd.Run()
		}
	}()
	s.t.Cleanup(func() { cancel(); <-ended })
	eventually(s.t, "server", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	file := w.write(s.t, "facade.servers.json", map[string]any{"up": map[string]any{"url": "http://" + addr, "used": []string{"echo", "large"}, "names": "keep"}})
	return command{args: []string{os.Getenv(facadeVar), "--config", file, "--server", "up"}, env: w.env()}
}

// begin starts the facade and opens in the legacy era.
func (s *soak) begin(c command) {
	s.process = start(s.t, c)
	s.reader.Go(s.listen)
	s.await(s.ask("", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"soak","version":"1"}}`))
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	shown := s.await(s.ask("", "tools/list", `{}`))
	expect(s.t, "tools/list", shown.Raw, `"discover"`, `"call"`)
}

// make makes some calls from all callers at once.
func (s *soak) make(n int) {
	var callers sync.WaitGroup
	for i := range soakCallers {
		random := rand.New(rand.NewPCG(s.seed, uint64(n+i+1)))
		callers.Go(func() {
			for j := i; j < n && !s.t.Failed(); j += soakCallers {
				s.call(random)
			}
		})
	}
	callers.Wait()
}

// soakKinds are the kinds of calls, the commoner ones more often.
var soakKinds = strings.Fields(`echo echo echo echo echo echo large discover describe prompts/get resources/read hold step ask`)

// call makes one call, and judges what comes of it.
func (s *soak) call(random *rand.Rand) {
	kind := soakKinds[random.IntN(len(soakKinds))]
	nonce := fmt.Sprintf("zq%x", random.Uint64())
	method, params := kind, ""
	switch kind {
	case "discover":
		method, params = "tools/call", `{"name":"discover","arguments":{"query":"`+nonce+`"}}`
	case "describe":
		method, params = "tools/call", `{"name":"describe","arguments":{"tool":"`+nonce+`"}}`
	case "prompts/get":
		params = `{"name":"one","arguments":{"nonce":"` + nonce + `"}}`
	case "resources/read":
		params = `{"uri":"soaked://` + nonce + `"}`
	default:
		method, params = "tools/call", `{"name":"`+kind+`","arguments":{"nonce":"`+nonce+`"},"_meta":{"progressToken":"`+nonce+`"}}`
		if random.IntN(2) == 0 {
			params = `{"name":"call","arguments":{"tool":"` + kind + `","args":{"nonce":"` + nonce + `"}},"_meta":{"progressToken":"` + nonce + `"}}`
		}
	}
	c := s.ask(nonce, method, params)
	if kind == "hold" {
		s.cancel(c, random)
		return
	}
	s.await(c)
	s.judge(c, kind)
}

// ask sends a request.
func (s *soak) ask(nonce, method, params string) *soakCall {
	c := &soakCall{nonce: nonce, over: make(chan struct{})}
	s.mu.Lock()
	s.lastID++
	c.id = s.lastID
	s.waiting[c.id] = c
	if nonce != "" {
		s.calls[nonce] = c
	}
	s.mu.Unlock()
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.id, method, params))
	return c
}

// await waits for the end of a call.
func (s *soak) await(c *soakCall) gjson.Result {
	select {
	case <-c.over:
	case <-time.After(patience):
		s.t.Errorf("%s has no answer after %v", c.nonce, patience)
	}
	return c.answer
}

// cancel cancels a call that is never answered otherwise: at once, or when
// another has been answered that came after it.
func (s *soak) cancel(c *soakCall, random *rand.Rand) {
	if random.IntN(2) == 0 {
		s.await(s.ask("", "ping", `{}`))
	}
	s.mu.Lock()
	c.fate = "cancelled"
	s.mu.Unlock()
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":%q}}`, c.id, c.nonce))
}

// judge holds an answer against the call.
func (s *soak) judge(c *soakCall, kind string) {
	result := c.answer.Get("result")
	text := result.Get("content.0.text").Str
	fate := "answered"
	switch {
	case (kind == "discover" || kind == "describe") && strings.Contains(text, c.nonce):
	case result.Exists() && result.Raw == soakResult(kind, c.nonce):
		if kind == "step" && c.steps != soakSteps {
			s.complain("%s has been told %d steps of %d", c.nonce, c.steps, soakSteps)
		}
	default:
		fate = s.judgeFailure(c, kind)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.kind, c.fate = kind, fate
}

var (
	// soakWhy is why a call can fail.
	soakWhy = regexp.MustCompile(`run: (exited with status \d|exit status \d|killed|signal: killed)|could not be read|stream ended|refused|reset|EOF|closed|session`)
	// soakDone is what a model is told of a call that may have been carried out.
	soakDone = "may have been carried out"
)

// judgeFailure holds an error against a call. It returns what that says of it.
func (s *soak) judgeFailure(c *soakCall, kind string) (fate string) {
	text := c.answer.Get("error.message").Str
	if c.answer.Get("result.isError").Bool() {
		text = c.answer.Get("result.content.0.text").Str
	}
	why := soakWhy.FindString(text)
	s.mu.Lock()
	s.why[why]++
	s.mu.Unlock()
	if why == "refused" || why == "reset" || strings.Contains(text, "is started again") {
		<-time.After(soakRestart)
	}
	if why == "" || !strings.HasPrefix(text, "up: ") {
		s.complain("%s (%s) was answered by %s", c.nonce, kind, excerpt(c.answer.Raw))
	}
	if strings.Contains(text, soakDone) || strings.Contains(kind, "/") {
		return "perhaps"
	}
	return "never"
}

func (s *soak) complain(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

// listen hears the facade to its end.
func (s *soak) listen() {
	for {
		select {
		case frame, ok := <-s.frames:
			if !ok {
				return
			}
			s.hear(gjson.Parse(frame))
			s.answerLate(1)
		case <-time.After(10 * time.Millisecond):
			s.answerLate(soakIdle)
		}
	}
}

// hear takes one frame of the facade.
func (s *soak) hear(m gjson.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch method := m.Get("method").Str; method {
	case "":
		c := s.waiting[int(m.Get("id").Int())]
		if c == nil {
			s.wrong = append(s.wrong, "nobody waits for "+excerpt(m.Raw))
			return
		}
		delete(s.waiting, c.id)
		c.answer = m
		close(c.over)
	case "elicitation/create":
		id := m.Get("id").Raw
		frame := `{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept","content":{"nonce":` + m.Get("params.message").Raw + `}}}`
		s.late = append(s.late, soakAnswer{id, frame, s.heard + s.random.IntN(soakThought)})
	case "notifications/cancelled":
		if id := m.Get("params.requestId").Raw; s.random.IntN(2) == 0 { // a person may answer all the same
			s.late = slices.DeleteFunc(s.late, func(a soakAnswer) bool { return a.id == id })
		}
	case "notifications/progress":
		c := s.calls[m.Get("params.progressToken").Str]
		if c == nil || s.waiting[c.id] == nil || m.Get("params.progress").Int() != int64(c.steps) {
			s.wrong = append(s.wrong, "out of place: "+m.Raw)
			return
		}
		c.steps++
	case "notifications/tools/list_changed":
	default:
		s.wrong = append(s.wrong, "not expected: "+excerpt(m.Raw))
	}
}

// answerLate lets the host answer what it has thought about long enough, n
// frames later.
func (s *soak) answerLate(n int) {
	var ready []string
	s.mu.Lock()
	s.heard += n
	s.late = slices.DeleteFunc(s.late, func(a soakAnswer) bool {
		if a.due > s.heard {
			return false
		}
		ready = append(ready, a.frame)
		return true
	})
	s.mu.Unlock()
	for _, frame := range ready {
		s.send(frame)
	}
}

// ends closes the facade's stdin: it ends well, and nothing is left of it.
func (s *soak) ends(mark string) {
	s.in.Close()
	select {
	case <-s.gone:
	case <-time.After(linger):
		s.t.Errorf("after %v the facade still runs", linger)
	}
	s.kill()
	<-s.gone
	s.reader.Wait()
	if s.err != nil {
		s.t.Errorf("the facade ends with %v", s.err)
	}
	if runtime.GOOS == "linux" {
		if left := marked(s.t, mark); len(left) > 0 {
			s.t.Errorf("left behind: %v", left)
		}
	}
}

// check holds what the host knows of its calls against what the upstream has
// kept of them.
func (s *soak) check() {
	record, err := os.ReadFile(s.record)
	if err != nil {
		s.t.Fatal(err)
	}
	starts, last := 0, ""
	ran, cancelled := map[string]string{}, map[string]string{}
	for line := range strings.Lines(string(record)) {
		f := strings.Fields(line)
		switch f[0] {
		case "start":
			starts++
			last = f[1]
		case "cancelled":
			cancelled[f[2]] = f[1]
		case "run":
			if before, twice := ran[f[2]]; twice {
				s.complain("%s has been run by processes %s and %s", f[2], before, f[1])
			}
			ran[f[2]] = f[1]
		}
	}
	for nonce, c := range s.calls {
		process, done := ran[nonce]
		switch {
		case c.fate == "answered" && !done && slices.Contains(soakTools, c.kind):
			s.complain("%s has been answered, and was not run", nonce)
		case c.fate == "never" && done:
			s.complain("%s is said never to have been sent, and has been run", nonce)
		case c.fate == "cancelled" && process == last && cancelled[nonce] != last:
			s.complain("%s was cancelled, and the upstream has not been told", nonce)
		}
	}
	for nonce, process := range ran {
		if s.calls[nonce] == nil {
			s.complain("process %s has run %q, which nobody has called", process, nonce)
		}
	}
	if least := len(s.calls) / soakLife / 4; starts < least {
		s.t.Errorf("the upstream was started %d times, want %d at least", starts, least)
	}
	s.t.Logf("%d calls, %d starts of the upstream", len(s.calls), starts)
	for _, wrong := range s.wrong[:min(len(s.wrong), 20)] {
		s.t.Error(wrong)
	}
	s.t.Logf("%d things went wrong", len(s.wrong))
}

// A soakUsage is what the facade uses of the machine.
type soakUsage struct{ fds, threads, memory int }

// usage looks at what the facade uses, on Linux.
func (s *soak) usage() (u soakUsage) {
	if runtime.GOOS != "linux" {
		return u
	}
	fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.pid))
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	u.fds = len(fds)
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) > 1 {
			n, _ := strconv.Atoi(f[1])
			switch f[0] {
			case "Threads:":
				u.threads = n
			case "RssAnon:":
				u.memory = n
			}
		}
	}
	return u
}

// settled is what the facade uses when it has had time to give back what it
// does not need: the least of what is seen for a while, in which pings keep its
// collector running. The more calls there are, the longer it takes.
func (s *soak) settled(calls int) soakUsage {
	least := s.usage()
	for end := time.Now().Add(time.Duration(min(calls, 10_000)) * 300 * time.Microsecond); time.Now().Before(end); {
		for range 100 {
			s.await(s.ask("", "ping", `{}`))
		}
		u := s.usage()
		least = soakUsage{min(least.fds, u.fds), min(least.threads, u.threads), min(least.memory, u.memory)}
	}
	return least
}

// compare holds what the facade uses at the end against the beginning.
func (s *soak) compare(start, first, last soakUsage, idle int) {
	s.t.Logf("descriptors, threads, kB: %v at the start, %v after %d calls, %v at the end", start, first, soakFirst, last)
	if last.fds > start.fds+idle {
		s.t.Errorf("%d descriptors are open, want the %d of the start and at most %d", last.fds, start.fds, idle)
	}
	// The threads that start processes are kept for the next ones.
	if most := start.threads + soakCallers; last.threads > most {
		s.t.Errorf("it has %d threads, want %d at most", last.threads, most)
	}
	// In the short form both are the same, and the race detector keeps memory of
	// its own. From run to run the least of what is seen differs by some 300 kB.
	const noise = 500
	if most := first.memory + first.memory/10 + noise; !raceEnabled() && last.memory > most {
		s.t.Errorf("it holds %d kB, and held %d kB after the first %d calls: want %d kB at most", last.memory, first.memory, soakFirst, most)
	}
}
