package e2e

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tidwall/gjson"
)

// What the soak tells its upstream, as environment variables.
const (
	soakRecordVar = "E2E_SOAK_RECORD" // the file in which it keeps what it has done
	soakSeedVar   = "E2E_SOAK_SEED"
	soakLifeVar   = "E2E_SOAK_LIFE" // how many requests a process takes on average before it dies; 0: it does not
	soakAddrVar   = "E2E_SOAK_ADDR" // where it listens, over HTTP
)

// The ways in which a soaked process dies.
const (
	dieUnread = iota // it exits before it reads
	dieRead          // it exits when it has read a request
	dieRun           // it exits when it has done what was asked
	dieAnswer        // it exits in the middle of its answer
	dieKilled        // it is killed, whatever it is doing
	waysToDie
)

// A soakServer is one process of the soak's upstream. Each request is handled
// by a goroutine of its own, so that answers overtake each other.
type soakServer struct {
	record *os.File    // appended to, a line at a time, which outlives a kill
	number int         // how many have been started before it
	way    int         // it will die
	doomed atomic.Bool // it dies before it reads again

	mu    sync.Mutex
	life  int                    // requests until it dies; 0: it does not; guarded by mu, as are the others
	asked map[string]chan string // the nonces that the host answers with, by raw id of the question
	seq   int                    // ids of questions count from 1 in each process, as SDKs do
}

func newSoakServer() *soakServer {
	path := os.Getenv(soakRecordVar)
	before, _ := os.ReadFile(path)
	record, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s := &soakServer{record: record, number: strings.Count(string(before), "start "), asked: map[string]chan string{}}
	seed, _ := strconv.ParseUint(os.Getenv(soakSeedVar), 10, 64)
	life, _ := strconv.Atoi(os.Getenv(soakLifeVar))
	if random := rand.New(rand.NewPCG(seed, uint64(s.number))); life > 0 {
		s.life, s.way = 1+random.IntN(2*life), random.IntN(waysToDie)
		if s.number == 0 {
			s.life += life // enough to be listed
		}
	}
	s.note("start", strconv.Itoa(os.Getpid()))
	return s
}

// note keeps what has been done.
func (s *soakServer) note(what, nonce string) {
	fmt.Fprintf(s.record, "%s %d %s\n", what, s.number, nonce)
}

// serveSoak is the soak's upstream over stdio.
func serveSoak() int {
	s := newSoakServer()
	var mu sync.Mutex
	reply := func(frame string) {
		mu.Lock()
		defer mu.Unlock()
		io.WriteString(os.Stdout, frame)
	}
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for !s.doomed.Load() {
		line, err := lines.ReadString('\n')
		if err != nil {
			return 0
		}
		m := gjson.Parse(line)
		if !m.Get("id").Exists() || !m.Get("method").Exists() {
			s.hear(m)
			continue
		}
		go s.answer(m, s.fate(), "\n", reply)
	}
	s.die()
	return 1
}

// fate counts a request. It returns the way in which the process is to die
// over it, or -1, and does not return if that is before it is taken.
func (s *soakServer) fate() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life == 0 {
		return -1
	}
	s.life--
	switch {
	case s.life > 0:
		return -1
	case s.way == dieUnread:
		s.doomed.Store(true)
	case s.way == dieRead:
		s.die()
	case s.way == dieKilled:
		go s.die()
	}
	return s.way
}

// die ends the process. On Windows a killed process exits with status 1.
func (s *soakServer) die() {
	if s.way == dieKilled {
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
		select {}
	}
	fmt.Fprintf(os.Stderr, "soaked: way %d\n", s.way)
	os.Exit(3)
}

// hear takes a notification, or the host's answer to a question.
func (s *soakServer) hear(m gjson.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Get("method").Str == "notifications/cancelled" {
		s.note("cancelled", m.Get("params.reason").Str)
		return
	}
	if answer := s.asked[m.Get("id").Raw]; answer != nil {
		answer <- m.Get("result.content.nonce").Str
		delete(s.asked, m.Get("id").Raw)
	}
}

// answer does what a request asks for and replies frames that end so.
func (s *soakServer) answer(m gjson.Result, way int, end string, reply func(string)) {
	params := m.Get("params")
	nonce, id := soakNonce(params), m.Get("id").Raw
	if m.Get("method").Str == "tools/call" {
		s.note("run", nonce)
	}
	if way == dieRun {
		s.die()
	}
	body := `"error":{"code":-32601,"message":"no such method"}`
	switch method := m.Get("method").Str; method {
	case "initialize":
		body = `"result":{"protocolVersion":` + params.Get("protocolVersion").Raw + `,"capabilities":{"tools":{},"prompts":{},"resources":{}},"serverInfo":{"name":"soaked","version":"1"}}`
	case "tools/list":
		body = `"result":{"tools":[` + soakList() + `]}`
	case "prompts/list":
		body = `"result":{"prompts":[{"name":"one"}]}`
	case "resources/list":
		body = `"result":{"resources":[]}`
	case "resources/templates/list":
		body = `"result":{"resourceTemplates":[]}`
	case "tools/call", "prompts/get", "resources/read":
		said, ok := s.run(m, nonce, end, reply)
		switch {
		case !ok && way == dieAnswer:
			s.die()
		case !ok:
			return
		}
		body = `"result":` + said
	}
	frame := `{"jsonrpc":"2.0","id":` + id + `,` + body + `}`
	if way == dieAnswer {
		reply(frame[:rand.IntN(len(frame))])
		s.die()
	}
	reply(frame + end)
}

// soakNonce is the word that a request carries.
func soakNonce(params gjson.Result) string {
	if uri := params.Get("uri").Str; uri != "" {
		return strings.TrimPrefix(uri, "soaked://")
	}
	return params.Get("arguments.nonce").Str
}

// run returns the result of a request that carries a nonce, false if it is to
// have none.
func (s *soakServer) run(m gjson.Result, nonce, end string, reply func(string)) (result string, ok bool) {
	name := m.Get("params.name").Str
	if m.Get("method").Str != "tools/call" {
		name = m.Get("method").Str
	}
	switch name {
	case "hold":
		return "", false
	case "step":
		for i := range soakSteps {
			reply(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}%s`, m.Get("params._meta.progressToken").Raw, i, end))
		}
	case "ask":
		answer := make(chan string, 1)
		s.mu.Lock()
		s.seq++
		id := strconv.Itoa(s.seq)
		s.asked[id] = answer
		s.mu.Unlock()
		reply(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"message":%q,"requestedSchema":{"type":"object","properties":{"nonce":{"type":"string"}}}}}%s`, id, nonce, end))
		nonce = <-answer
	}
	return soakResult(name, nonce), true
}

// soakSteps is how often the tool step tells its progress.
const soakSteps = 3

// soakResult is the raw result of a tool, or of another method.
func soakResult(name, nonce string) string {
	switch name {
	case "prompts/get":
		return `{"messages":[{"role":"user","content":{"type":"text","text":"` + nonce + `"}}]}`
	case "resources/read":
		return `{"contents":[{"uri":"soaked://` + nonce + `","text":"` + nonce + `"}]}`
	case "large":
		return `{"content":[{"type":"text","text":"` + strings.Repeat(nonce+" ", 100_000/(len(nonce)+1)) + `"}]}`
	}
	return `{"content":[{"type":"text","text":"` + name + " " + nonce + `"}]}`
}

// soakTools are the names of the tools.
var soakTools = []string{"echo", "large", "hold", "step", "ask"}

func soakList() string {
	var tools []string
	for _, name := range soakTools {
		tools = append(tools, `{"name":"`+name+`","description":"Says what it is told.","inputSchema":{"type":"object","properties":{"nonce":{"type":"string"}},"required":["nonce"]}}`)
	}
	return strings.Join(tools, ",")
}

// serveSoakHTTP is the soak's upstream over Streamable HTTP. It answers each
// request by a stream of events, and knows its own sessions only.
func serveSoakHTTP() int {
	s := newSoakServer()
	session := "soaked-" + strconv.Itoa(s.number)
	http.ListenAndServe(os.Getenv(soakAddrVar), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.doomed.Load() {
			s.die()
		}
		body, err := io.ReadAll(r.Body)
		m := gjson.ParseBytes(body)
		request := m.Get("id").Exists() && m.Get("method").Exists()
		switch {
		case err != nil:
			return
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
			return
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case m.Get("method").Str == "initialize":
			w.Header().Set("Mcp-Session-Id", session)
		case r.Header.Get("Mcp-Session-Id") != session:
			w.WriteHeader(http.StatusNotFound)
			return
		case !request:
			s.hear(m)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		way := s.fate()
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w).Flush
		flush()
		s.answer(m, way, "\n\n", func(frame string) {
			io.WriteString(w, "data: "+frame)
			flush()
		})
		if m.Get("params.name").Str == "hold" {
			<-r.Context().Done()
		}
	}))
	return 1
}
