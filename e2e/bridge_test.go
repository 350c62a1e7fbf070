package e2e

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
)

// A bridge serves a stdio server to hosts that speak Streamable HTTP. Frames
// pass through it as bytes, and it answers no request itself, so that a host
// sees what the server wrote.
//
// Each session of the legacy era has a process of its own. The requests of the
// modern era, which has no sessions, share one as long as their ids differ; a
// request whose id is in flight goes to another one.
type bridge struct {
	t      *testing.T
	url    string
	server func(*http.Request) command // what serves the host that has sent the request
	web    *httptest.Server

	mu       sync.Mutex
	sessions map[string]*peer
	shared   []*peer // of the modern era
	all      []*peer
}

const (
	sessionHeader = "Mcp-Session-Id"
	metaVersion   = `params._meta.io\.modelcontextprotocol/protocolVersion`
	metaListener  = `params._meta.io\.modelcontextprotocol/subscriptionId`
)

// newBridge listens on a port of its own until it is closed.
func newBridge(t *testing.T, server func(*http.Request) command) *bridge {
	b := &bridge{t: t, server: server, sessions: map[string]*peer{}}
	b.web = httptest.NewServer(b)
	b.url = b.web.URL + "/mcp"
	return b
}

// close ends the processes, each as a host ends its server, and then the bridge.
func (b *bridge) close() {
	b.mu.Lock()
	all := slices.Clone(b.all)
	b.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(func() { p.close() })
	}
	wg.Wait()
	b.web.Close()
}

func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	m := gjson.ParseBytes(body)
	session := r.Header.Get(sessionHeader)
	switch {
	case session != "":
		b.serveSession(w, r, session, m)
	case r.Method != http.MethodPost:
		http.Error(w, "without a session there is only POST", http.StatusMethodNotAllowed)
	case !isRequest(m):
		http.Error(w, "without a session there are only requests", http.StatusBadRequest)
	case m.Get("method").Str == "initialize" && !m.Get(metaVersion).Exists():
		session, p := b.begin(r)
		w.Header().Set(sessionHeader, session)
		p.post(w, r, m)
	default:
		p, s := b.share(r, m)
		if !p.answer(w, r, s) {
			p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + m.Get("id").Raw + `}}`)
		}
	}
}

func (b *bridge) serveSession(w http.ResponseWriter, r *http.Request, session string, m gjson.Result) {
	p := b.session(session, r.Method == http.MethodDelete)
	switch {
	case p == nil:
		http.Error(w, "there is no such session", http.StatusNotFound)
	case r.Method == http.MethodDelete:
		p.close()
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet:
		p.listen(w, r)
	default:
		p.post(w, r, m)
	}
}

// begin starts a session.
func (b *bridge) begin(r *http.Request) (string, *peer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	session, p := rand.Text(), b.start(r)
	b.sessions[session] = p
	return session, p
}

// session is the process of a session, which it ends if asked to; nil if there
// is none.
func (b *bridge) session(session string, end bool) *peer {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.sessions[session]
	if end {
		delete(b.sessions, session)
	}
	return p
}

// share opens a stream for the request m on the first process that has no
// request with its id in flight.
func (b *bridge) share(r *http.Request, m gjson.Result) (*peer, *stream) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.shared {
		if s := p.open(m); s != nil {
			return p, s
		}
	}
	p := b.start(r)
	b.shared = append(b.shared, p)
	return p, p.open(m)
}

// start starts a process. b.mu is held.
func (b *bridge) start(r *http.Request) *peer {
	p := &peer{process: start(b.t, b.server(r))}
	b.all = append(b.all, p)
	go p.read()
	return p
}

// A peer is a process behind a bridge, and the HTTP responses in which its
// frames go out.
type peer struct {
	*process

	mu    sync.Mutex
	posts []*stream // of the requests in flight, the newest last
	get   *stream   // nil: no GET is open
	early []string  // came while there was no stream for it
	ended bool
}

// A stream is an HTTP response that is not at its end.
type stream struct {
	request gjson.Result  // zero for a GET
	frames  chan string   // closed when the process has ended
	left    chan struct{} // closed when nobody reads frames any more
}

func newStream(request gjson.Result) *stream {
	return &stream{request: request, frames: make(chan string), left: make(chan struct{})}
}

// open opens a stream for the answer to the request m. It is nil when the id is
// in flight or the process has ended.
func (p *peer) open(m gjson.Result) *stream {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || slices.ContainsFunc(p.posts, asked(m.Get("id"))) {
		return nil
	}
	s := newStream(m)
	p.posts = append(p.posts, s)
	return s
}

func isRequest(m gjson.Result) bool { return m.Get("method").Exists() && m.Get("id").Exists() }

// leave forgets a stream.
func (p *peer) leave(s *stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.posts = slices.DeleteFunc(p.posts, func(other *stream) bool { return other == s })
	if p.get == s {
		p.get = nil
	}
	close(s.left)
}

// read gives the process's frames to the streams, in order, until it ends.
func (p *peer) read() {
	for frame := range p.frames {
		if s := p.streamFor(frame); s != nil {
			select {
			case s.frames <- frame:
			case <-s.left:
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	for _, s := range append(p.posts, p.get) {
		if s != nil {
			close(s.frames)
		}
	}
}

// streamFor is the stream that a frame goes out on. An answer's is at its end
// with it. What has no stream yet is kept for the GET.
func (p *peer) streamFor(frame string) *stream {
	m := gjson.Parse(frame)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !m.Get("method").Exists() {
		i := slices.IndexFunc(p.posts, asked(m.Get("id")))
		if i < 0 {
			return nil // to a host that has left
		}
		s := p.posts[i]
		p.posts = slices.Delete(p.posts, i, i+1)
		return s
	}
	for _, s := range slices.Backward(p.posts) {
		if s.concerns(m) {
			return s
		}
	}
	if p.get == nil {
		p.early = append(p.early, frame)
	}
	return p.get
}

// asked says whether a stream is that of the request with an id.
func asked(id gjson.Result) func(*stream) bool {
	return func(s *stream) bool { return s.request.Get("id").Raw == id.Raw }
}

// concerns says whether a request or notification of the server belongs to the
// request of a stream: by its token or its subscription, and without these to
// any request but a subscription.
func (s *stream) concerns(m gjson.Result) bool {
	if token := m.Get("params.progressToken"); token.Exists() {
		return token.Raw == s.request.Get("params._meta.progressToken").Raw
	}
	if listener := m.Get(metaListener); listener.Exists() {
		return listener.Raw == s.request.Get("id").Raw
	}
	return s.request.Get("method").Str != "subscriptions/listen"
}

// post passes a frame of a session on, and answers it if it is a request.
func (p *peer) post(w http.ResponseWriter, r *http.Request, m gjson.Result) {
	if isRequest(m) {
		p.answer(w, r, p.open(m))
		return
	}
	p.send(m.Raw)
	w.WriteHeader(http.StatusAccepted)
}

// answer passes the request of a stream on, and what comes back as events, or
// with its status if it is only a refusal. It reports whether the host has stayed.
func (p *peer) answer(w http.ResponseWriter, r *http.Request, s *stream) bool {
	if s == nil {
		http.Error(w, "the server has ended, or the id is in flight", http.StatusBadGateway)
		return true
	}
	defer p.leave(s)
	p.send(s.request.Raw)
	frame, ok := s.next(r.Context())
	if !ok {
		http.Error(w, "the server has ended", http.StatusBadGateway)
		return r.Context().Err() == nil
	}
	if refusal := status(s.request, frame); refusal != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(refusal)
		io.WriteString(w, frame)
		return true
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for ; ok; frame, ok = s.next(r.Context()) {
		event(w, frame)
		if !gjson.Get(frame, "method").Exists() {
			return true
		}
	}
	return r.Context().Err() == nil
}

// listen passes on what belongs to no request.
func (p *peer) listen(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	if p.get != nil || p.ended {
		p.mu.Unlock()
		http.Error(w, "there is a stream, or the server has ended", http.StatusConflict)
		return
	}
	s := newStream(gjson.Result{})
	p.get = s
	early := p.early
	p.early = nil
	p.mu.Unlock()
	defer p.leave(s)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for _, frame := range early {
		event(w, frame)
	}
	for {
		frame, ok := s.next(r.Context())
		if !ok {
			return
		}
		event(w, frame)
	}
}

// next waits for a frame; false when the process has ended or the host has left.
func (s *stream) next(ctx context.Context) (string, bool) {
	select {
	case frame, ok := <-s.frames:
		return frame, ok
	case <-ctx.Done():
		return "", false
	}
}

func event(w http.ResponseWriter, frame string) {
	fmt.Fprintf(w, "event: message\ndata: %s\n\n", frame)
	w.(http.Flusher).Flush()
}

// status is that of the frame that refuses a request; 0: it is none that has
// one. MCP 2026-07-28, basic/transports/streamable-http.
func status(request gjson.Result, frame string) int {
	if !request.Get(metaVersion).Exists() {
		return 0 // a request of the legacy era
	}
	switch gjson.Get(frame, "error.code").Int() {
	case -32601:
		return http.StatusNotFound
	case -32602, -32020, -32021, -32022:
		return http.StatusBadRequest
	}
	return 0
}
