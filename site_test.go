package main

import (
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// A site is an upstream over HTTP, as its flags say. It runs in the process of
// the tests, so that a script need not wait until it listens.
type site struct {
	*httptest.Server
	fake   fake
	status int         // what it answers every POST with; 0: as a server does
	body   string      // goes with status
	least  int         // the number of the first token that it accepts; 0: it wants none
	words  bool        // it says so in a JSON-RPC error, not by HTTP
	sse    bool        // it speaks HTTP+SSE (MCP 2024-11-05)
	frames chan string // what it has to say on its stream

	mu  sync.Mutex
	log io.Writer // what it is asked, a line for each header; guarded by mu
}

// sitesKey is where a script has what stops its sites, by name.
type sitesKey struct{}

// startSite starts a site and puts its URL into a variable, under which it is
// stopped too:
//
//	http NAME [-tools FILE] [-log FILE] [-status CODE -body TEXT] [-tls FILE] [-sse] [-token N [-words]]
//
// With -tls it speaks TLS, and its certificate is written to FILE. As a proxy of
// http:// it answers in the place of every server.
func startSite(ts *testscript.TestScript, _ bool, args []string) {
	s := &site{frames: make(chan string, 64)}
	flags := flag.NewFlagSet("http", flag.ContinueOnError)
	flags.StringVar(&s.fake.tools, "tools", "", "")
	flags.StringVar(&s.fake.name, "name", "fake", "")
	flags.IntVar(&s.status, "status", 0, "")
	flags.StringVar(&s.body, "body", "", "")
	flags.BoolVar(&s.sse, "sse", false, "")
	flags.IntVar(&s.least, "token", 0, "")
	flags.BoolVar(&s.words, "words", false, "")
	tls, asked := flags.String("tls", "", ""), flags.String("log", os.DevNull, "")
	ts.Check(flags.Parse(args[1:]))
	if s.fake.tools != "" {
		s.fake.tools = ts.MkAbs(s.fake.tools)
		ts.ReadFile(s.fake.tools)
	}
	file, err := os.Create(ts.MkAbs(*asked))
	ts.Check(err)
	s.log = file
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are refused
	if *tls == "" {
		s.Start()
	} else {
		s.StartTLS()
		certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
		ts.Check(os.WriteFile(ts.MkAbs(*tls), certificate, 0o600))
	}
	stop := sync.OnceFunc(func() { s.CloseClientConnections(); s.Close(); file.Close() })
	ts.Defer(stop)
	ts.Value(sitesKey{}).(map[string]func())[args[0]] = stop
	ts.Setenv(args[0], s.URL)
}

// stopSite stops a site: stop NAME
func stopSite(ts *testscript.TestScript, _ bool, args []string) {
	ts.Value(sitesKey{}).(map[string]func())[args[0]]()
}

// serve starts a site without a script.
func (s *site) serve() { s.Server = httptest.NewServer(s) }

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	frame, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.note(r, gjson.GetBytes(frame, "method").Str)
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	denial := denied(gjson.GetBytes(frame, "id").Raw, token, s.least)
	switch {
	case denial != "" && !s.words:
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintln(w, "no good:", token)
	case denial != "" && gjson.GetBytes(frame, "method").Str == "tools/call":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, denial)
	case r.Method == http.MethodPost && s.status != 0:
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(s.status)
		fmt.Fprintln(w, s.body)
	case s.sse:
		s.old(w, r, string(frame))
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		s.answer(w, string(frame))
	}
}

// note writes down what is asked.
func (s *site) note(r *http.Request, method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.log, r.Method, r.RequestURI, method)
	for name, values := range r.Header {
		fmt.Fprintf(s.log, "%s %s: %s\n", method, name, values[0])
	}
}

// answer is Streamable HTTP.
func (s *site) answer(w http.ResponseWriter, frame string) {
	answer := s.fake.handle(frame)
	if answer == "" {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if gjson.Get(frame, "method").Str == "initialize" {
		w.Header().Set("Mcp-Session-Id", "session-0a1b2c3d")
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintln(w, answer)
}

// old is HTTP+SSE: a GET opens the stream on which POSTs are answered.
func (s *site) old(w http.ResponseWriter, r *http.Request, frame string) {
	if r.Method == http.MethodPost {
		if r.URL.Path != "/messages" {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		if answer := s.fake.handle(frame); answer != "" {
			s.frames <- answer
		}
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "event: endpoint\ndata: /messages\n\n")
	for {
		w.(http.Flusher).Flush()
		select {
		case answer := <-s.frames:
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", answer)
		case <-r.Context().Done():
			return
		}
	}
}
