package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Protocol versions that a server can be limited to.
var (
	modernOnly = []string{"2026-07-28"}
	legacyOnly = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
)

// A pairUpstream is one way to serve the pair server.
type pairUpstream struct {
	versions []string // that it speaks; nil: all that go-sdk knows
	// serve serves it over HTTP; nil: it is started over stdio.
	serve func(server func(*http.Request) *mcp.Server) http.Handler
	lax   bool // it answers initialize, whatever it speaks
	sse   bool // serve is of HTTP+SSE
	told  bool // the servers file says so
}

func stateful(server func(*http.Request) *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(server, nil)
}

func stateless(server func(*http.Request) *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
}

func statelessJSON(server func(*http.Request) *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true, JSONResponse: true})
}

// overSSE is for servers that are limited to the legacy era: go-sdk's names its
// endpoint a moment before it knows that this transport has no other.
func overSSE(server func(*http.Request) *mcp.Server) http.Handler {
	return mcp.NewSSEHandler(server, nil)
}

// A feature is what a host has of some servers only.
type feature string

const (
	progress  feature = "progress of a call"
	logs      feature = "logging"
	cancelled feature = "cancellation of a call"
	asking    feature = "elicitation, sampling and roots"
	changes   feature = "list_changed"
	following feature = "updates of a resource"
)

// sessionless is what go-sdk's server does not have for a host of the legacy era
// where it keeps no session: there is nobody to ask, and nobody to tell later.
var sessionless = []feature{cancelled, asking, changes, following}

// An outcome is what a host has of a server.
type outcome struct {
	version string    // that both speak; "": the one that the host has opened with
	refused string    // there is no session, but an error with this in it
	lacks   []feature // all others are there
}

// pairs is what must come of a host and a server, be it that they talk directly
// or through the facade: of each host of the legacy era, which open with the
// versions in legacyOnly, and of that of the modern one, which opens with
// server/discover and falls back.
var pairs = []struct {
	name           string
	upstream       pairUpstream
	legacy, modern outcome
}{
	{"stdio", pairUpstream{}, outcome{}, outcome{}},
	{"stdio, legacy only", pairUpstream{versions: legacyOnly}, outcome{}, outcome{version: "2025-11-25"}},
	{"stdio, modern only", pairUpstream{versions: modernOnly}, outcome{refused: "2026-07-28"}, outcome{}},
	{"HTTP with sessions", pairUpstream{serve: stateful}, outcome{}, outcome{version: "2025-11-25"}},
	{"HTTP", pairUpstream{serve: stateless}, outcome{lacks: sessionless}, outcome{}},
	{"HTTP without streams", pairUpstream{serve: statelessJSON}, outcome{lacks: append([]feature{progress, logs}, sessionless...)}, outcome{lacks: []feature{progress, logs}}},
	{"HTTP, modern only", pairUpstream{serve: stateless, versions: modernOnly}, outcome{refused: "2026-07-28"}, outcome{}},
	{"HTTP+SSE", pairUpstream{serve: overSSE, sse: true, versions: legacyOnly}, outcome{}, outcome{version: "2025-11-25"}},
	{"HTTP+SSE as configured", pairUpstream{serve: overSSE, sse: true, told: true, versions: legacyOnly}, outcome{}, outcome{version: "2025-11-25"}},
}

// outcomeOf is what the host has that opens with a version.
func outcomeOf(legacy, modern outcome, version string) outcome {
	o := legacy
	if version == modernOnly[0] {
		o = modern
	}
	o.version = cmp.Or(o.version, version)
	return o
}

// What the pair server lists, which with go-sdk is by name, and what the facade
// shows of it.
var (
	pairTools = []string{"compose", "confirm", "count", "fail", "greet", "grow", "locate", "new_year", "shrink", "tally", "touch", "wait"}
	pairUsed  = []string{"greet", "fail", "confirm", "new_*"}
	pairShown = []string{"greet", "fail", "confirm", "new_year", "discover", "describe", "call"}
)

// pairHosts are the versions with which hosts open.
var pairHosts = append(slices.Clone(legacyOnly), modernOnly...)

// TestPairs puts go-sdk on both ends, each host before each server: directly, and
// through the facade on an empty cache and on a full one, and with the server in
// no file.
func TestPairs(t *testing.T) {
	for _, pair := range pairs {
		for _, version := range pairHosts {
			want := outcomeOf(pair.legacy, pair.modern, version)
			t.Run(version+" "+pair.name, func(t *testing.T) {
				t.Parallel()
				s, w := pair.upstream.start(t), newWorld(t)
				t.Run("direct", func(t *testing.T) {
					if p := want.meet(t, s.transport(t, w), version, false); p != nil {
						p.all("new_direct", pairTools)
					}
				})
				for _, state := range []string{"cold", "warm"} {
					t.Run(state, func(t *testing.T) {
						if p := want.meet(t, s.configured(t, w), version, true); p != nil {
							p.all("new_"+state, pairShown)
						}
					})
				}
				t.Run("in place", func(t *testing.T) {
					if p := want.meet(t, s.inPlace(t, newWorld(t)), version, true); p != nil {
						p.shows(pairTools...)
						p.calls()
					}
				})
			})
		}
	}
}

// TestPairsShareACache has hosts of both eras take turns before each server, with
// the cache that the one before has left.
func TestPairsShareACache(t *testing.T) {
	for _, pair := range pairs {
		t.Run(pair.name, func(t *testing.T) {
			t.Parallel()
			s, w := pair.upstream.start(t), newWorld(t)
			for _, version := range []string{"2026-07-28", "2025-11-25", "2026-07-28", "2024-11-05"} {
				if p := outcomeOf(pair.legacy, pair.modern, version).meet(t, s.configured(t, w), version, true); p != nil {
					p.shows(pairShown...)
					p.calls()
					p.Close()
				}
			}
		})
	}
}

// TestModernOnlyThatAnswersInitialize has a host of the legacy era in front of a
// server that lets it open and refuses all else. It gets the meta-tools, which
// say why there is nothing more.
func TestModernOnlyThatAnswersInitialize(t *testing.T) {
	s := pairUpstream{versions: modernOnly, lax: true, serve: stateless}.start(t)
	h, err := meet(t, s.configured(t, newWorld(t)), "2025-11-25", true)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	h.shows("discover", "describe", "call")
	for _, params := range []*mcp.CallToolParams{
		{Name: "discover", Arguments: map[string]any{"query": "greet"}},
		{Name: "describe", Arguments: map[string]any{"tool": "greet"}},
		{Name: "call", Arguments: map[string]any{"tool": "greet", "args": map[string]any{}}},
	} {
		res, err := h.CallTool(h.ctx(), params)
		if err != nil {
			t.Fatalf("%s: %v", params.Name, err)
		}
		expect(t, params.Name, texts(res), "2026-07-28")
	}
}

// meet connects a host to a server. It returns nil when that is refused, as it
// must be then.
func (o outcome) meet(t *testing.T, transport mcp.Transport, version string, through bool) *pairRun {
	t.Helper()
	if through && o.refused == "" {
		quiet(t, transport)
	}
	h, err := meet(t, transport, version, through)
	switch {
	case o.refused != "":
		if err == nil || !strings.Contains(err.Error(), o.refused) {
			t.Errorf("connect: %v, want an error that names %s", err, o.refused)
		}
		return nil
	case err != nil:
		t.Fatalf("connect: %v", err)
	}
	if got := h.InitializeResult().ProtocolVersion; got != o.version {
		t.Errorf("host and server speak %s, want %s", got, o.version)
	}
	return &pairRun{h, o}
}

// meet connects a host to a server.
func meet(t *testing.T, transport mcp.Transport, version string, through bool) (*host, error) {
	t.Helper()
	h := &host{t: t, version: version, through: through, told: make(chan string, 1<<12)}
	client := mcp.NewClient(&mcp.Implementation{Name: "host", Version: "1"}, h.options())
	client.AddRoots(&mcp.Root{URI: "file:///srv/e2e", Name: "e2e"})
	session, err := client.Connect(h.ctx(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return nil, err
	}
	h.ClientSession = session
	t.Cleanup(func() { session.Close() })
	return h, nil
}

// A pairServer is a running pair server.
type pairServer struct {
	upstream pairUpstream
	stdio    upstream // when it is to be started
	url      string   // when it runs
}

// start starts what a server over HTTP needs.
func (u pairUpstream) start(t *testing.T) pairServer {
	t.Helper()
	if u.serve == nil {
		stdio := self(t, "pair", pairVar, strings.Join(u.versions, ",")+",")
		return pairServer{upstream: u, stdio: stdio}
	}
	state := newPairState(u.versions, u.lax)
	web := httptest.NewServer(u.serve(func(*http.Request) *mcp.Server { return state.server }))
	t.Cleanup(func() {
		close(state.over)
		web.CloseClientConnections()
		web.Close()
	})
	return pairServer{upstream: u, url: web.URL}
}

// transport reaches the server directly.
func (s pairServer) transport(t *testing.T, w *world) mcp.Transport {
	t.Helper()
	switch {
	case s.upstream.sse:
		return &mcp.SSEClientTransport{Endpoint: s.url}
	case s.url != "":
		return &mcp.StreamableClientTransport{Endpoint: s.url}
	}
	return over(t, s.stdio.direct(w))
}

// configured starts the facade with a servers file in front of the server.
func (s pairServer) configured(t *testing.T, w *world) mcp.Transport {
	t.Helper()
	var up any = s.stdio
	switch {
	case s.upstream.told:
		up = map[string]any{"url": s.url, "transport": "sse"}
	case s.url != "":
		up = map[string]any{"url": s.url}
	}
	file := w.write(t, "facade.servers.json", map[string]any{"up": map[string]any{"upstream": up, "used": pairUsed}})
	return over(t, command{args: []string{os.Getenv(facadeVar), "--config", file, "--server", "up"}, env: w.env()})
}

// inPlace starts the facade without a servers file in front of the server.
func (s pairServer) inPlace(t *testing.T, w *world) mcp.Transport {
	t.Helper()
	if s.url != "" {
		return over(t, command{args: []string{os.Getenv(facadeVar), "--url", s.url}, env: w.env()})
	}
	return over(t, w.wrap(s.stdio))
}

// over starts c, to talk to it over its pipes.
func over(t *testing.T, c command) mcp.Transport {
	t.Helper()
	return &mcp.CommandTransport{Command: c.cmd(t), TerminateDuration: linger}
}

// quiet fails the test where the facade has something to say on stderr, but for
// the tool that the pair server adds while it runs.
func quiet(t *testing.T, transport mcp.Transport) {
	t.Helper()
	stderr := transport.(*mcp.CommandTransport).Command.Stderr.(*os.File).Name()
	t.Cleanup(func() {
		said, _ := os.ReadFile(stderr)
		for line := range strings.Lines(string(said)) {
			if !t.Failed() && !strings.Contains(line, "tools are not as they were accepted") {
				t.Errorf("the facade says on stderr: %s", line)
			}
		}
	})
}

// pairVar are the versions that the pair server speaks, each with a comma after
// it.
const pairVar = "E2E_PAIR"

func servePair() error {
	versions := strings.FieldsFunc(os.Getenv(pairVar), func(r rune) bool { return r == ',' })
	return newPairState(versions, false).server.Run(context.Background(), &mcp.StdioTransport{})
}

// A pairState is the pair server and what it has seen.
type pairState struct {
	server *mcp.Server
	over   chan struct{}

	mu             sync.Mutex
	waits, cancels int
}

func newPairState(versions []string, lax bool) *pairState {
	state := &pairState{over: make(chan struct{})}
	s := mcp.NewServer(&mcp.Implementation{Name: "pair", Version: "1"}, &mcp.ServerOptions{
		SupportedProtocolVersions: versions,
		SubscribeHandler:          func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler:        func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{"Ada"}}}, nil
		},
	})
	state.server = s
	if slices.Equal(versions, modernOnly) && !lax {
		s.AddReceivingMiddleware(refuseInitialize)
	}
	s.AddPrompt(&mcp.Prompt{Name: "greeting", Arguments: []*mcp.PromptArgument{{Name: "name"}}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Greet " + r.Params.Arguments["name"]}}}}, nil
	})
	s.AddResource(&mcp.Resource{Name: "book", URI: "made://book"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "made://book", Text: "Once."}}}, nil
	})
	add := func(name, description string, f mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"Whom."}}}`)}, f)
	}
	add("greet", "Greets somebody by name.", greet)
	add("fail", "Fails.", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		failed := said("no luck")
		failed.IsError = true
		return failed, nil
	})
	add("new_year", "Greets with the new year.", greet)
	add("confirm", "Greets who the user says they are.", asks("who", &mcp.ElicitParams{Message: "Who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)}))
	add("compose", "Has a model compose a poem.", asks("poem", &mcp.CreateMessageParams{MaxTokens: 9, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "A poem."}}}}))
	add("locate", "Tells the folders that the host works in.", asks("where", &mcp.ListRootsParams{}))
	add("count", "Counts to three, and says so on the way.", countAloud)
	add("wait", "Waits until it is cancelled.", state.wait)
	add("tally", "Tells how often wait was called and cancelled.", state.tally)
	add("touch", "Changes the book.", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return said("touched"), s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "made://book"})
	})
	add("grow", "Adds a tool of a name.", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add(nameIn(r), "Was added.", greet)
		return said("grown"), nil
	})
	add("shrink", "Removes a tool of a name.", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.RemoveTools(nameIn(r))
		return said("shrunk"), nil
	})
	return state
}

// refuseInitialize does what a server of the modern era does: go-sdk's answers
// initialize whatever versions it is limited to.
func refuseInitialize(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if method != "initialize" {
			return next(ctx, method, r)
		}
		return nil, &jsonrpc.Error{Code: mcp.CodeUnsupportedProtocolVersion, Message: "only 2026-07-28 is spoken here", Data: json.RawMessage(`{"supported":["2026-07-28"]}`)}
	}
}

// countAloud is count where it is no error that nobody can be told.
func countAloud(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for i := range 3 {
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3})
		_ = r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: fmt.Sprint("at ", i+1)})
	}
	return said("three"), nil
}

func (s *pairState) wait(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	s.count(&s.waits)
	select {
	case <-ctx.Done():
		s.count(&s.cancels)
		return nil, ctx.Err()
	case <-s.over:
		return nil, errors.New("the server ends")
	}
}

func (s *pairState) count(n *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n++
}

func (s *pairState) tally(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return said(fmt.Sprintf("%d of %d", s.cancels, s.waits)), nil
}

// A pairRun goes through what a host has of a server.
type pairRun struct {
	*host
	want outcome
}

// all goes through all of it. The tools are these, to which one of the given name
// is added for a while.
func (p *pairRun) all(added string, tools []string) {
	p.t.Helper()
	p.shows(tools...)
	p.calls()
	p.runs()
	p.leaves()
	p.asks()
	p.lists()
	p.grows(added)
	// The last one: when a subscription ends, go-sdk's server forgets that the
	// host has asked for list_changed in another one.
	p.follows()
}

func (p *pairRun) lacks(f feature) bool { return slices.Contains(p.want.lacks, f) }

func (p *pairRun) must(what string, err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

// calls calls with arguments, and what fails.
func (p *pairRun) calls() {
	p.t.Helper()
	expect(p.t, "greet", p.use("greet", map[string]any{"name": "Ada ∑"}), "Hello, Ada ∑")
	expect(p.t, "greet through call", p.reach("greet", map[string]any{"name": "Bo"}), "Hello, Bo")
	for _, params := range []*mcp.CallToolParams{{Name: "fail"}, p.reaching("fail", map[string]any{})} {
		res, err := p.CallTool(p.ctx(), params)
		p.must("fail", err)
		if text := texts(res); !res.IsError || !strings.HasPrefix(text, "no luck") {
			p.t.Errorf("%s: is error %v: %q, want the tool's own error", params.Name, res.IsError, text)
		}
	}
}

// runs counts what is said during a call. go-sdk's client may hear of it only
// after the result.
func (p *pairRun) runs() {
	p.t.Helper()
	params := p.reaching("count", map[string]any{})
	// The modern era has the level in each request, the legacy one a method.
	if p.want.version == modernOnly[0] {
		params.Meta = mcp.Meta{"io.modelcontextprotocol/logLevel": "debug"}
	} else {
		p.must("set level", p.SetLoggingLevel(p.ctx(), &mcp.SetLoggingLevelParams{Level: "debug"}))
	}
	params.SetProgressToken("token")
	res, err := p.CallTool(p.ctx(), params)
	expect(p.t, "count", p.text("count", res, err), "three")
	want, heard := map[string]int{"progress": 3, "log": 3}, map[string]int{}
	if p.lacks(progress) {
		want["progress"] = 0
	}
	if p.lacks(logs) {
		want["log"] = 0
	}
	for heard["progress"] < want["progress"] || heard["log"] < want["log"] {
		kind, _, _ := strings.Cut(p.next(), " ")
		heard[kind]++
	}
	for kind, n := range want {
		if heard[kind] != n {
			p.t.Errorf("%d times %s during a call, want %d", heard[kind], kind, n)
		}
	}
}

// next waits for a notification.
func (p *pairRun) next() string {
	p.t.Helper()
	select {
	case told := <-p.told:
		return told
	case <-p.ctx().Done():
		p.t.Fatal("no notification")
		return ""
	}
}

// leaves cancels a call that has reached the server.
func (p *pairRun) leaves() {
	p.t.Helper()
	var before, waits int
	fmt.Sscanf(p.reach("tally", map[string]any{}), "%d of %d", &before, &waits)
	ctx, cancel := context.WithCancel(p.ctx())
	defer cancel()
	done := make(chan error)
	go func() {
		_, err := p.CallTool(ctx, p.reaching("wait", map[string]any{}))
		done <- err
	}()
	eventually(p.t, "call of wait at the server", func() bool {
		return strings.HasSuffix(p.reach("tally", map[string]any{}), fmt.Sprintf(" of %d", waits+1))
	})
	cancel()
	if err := <-done; err == nil {
		p.t.Error("a call that was cancelled has a result")
	}
	if !p.lacks(cancelled) {
		eventually(p.t, "cancellation at the server", func() bool {
			return p.reach("tally", map[string]any{}) == fmt.Sprintf("%d of %d", before+1, waits+1)
		})
	}
	expect(p.t, "greet after a cancelled call", p.use("greet", map[string]any{"name": "on"}), "Hello, on")
}

// asks calls tools that ask the host: by a request in the legacy era, by
// input_required and a second call in the modern one.
func (p *pairRun) asks() {
	p.t.Helper()
	for tool, parts := range map[string][]string{
		"confirm": {"state of who", "O'Neill"},
		"compose": {"state of poem", "it's sampled"},
		"locate":  {"state of where", "file:///srv/e2e"},
	} {
		ways := []*mcp.CallToolParams{p.reaching(tool, map[string]any{})}
		if tool == "confirm" {
			ways = append(ways, &mcp.CallToolParams{Name: tool})
		}
		for _, params := range ways {
			res, err := p.CallTool(p.ctx(), params)
			if !p.lacks(asking) {
				expect(p.t, tool, p.text(tool, res, err), parts...)
			} else if err == nil && !res.IsError {
				p.t.Errorf("%s: %s, want an error, as nobody can be asked", tool, texts(res))
			}
		}
	}
}

func (p *pairRun) lists() {
	p.t.Helper()
	ctx := p.ctx()
	prompts, err := p.ListPrompts(ctx, nil)
	p.must("list prompts", err)
	resources, err := p.ListResources(ctx, nil)
	p.must("list resources", err)
	if len(prompts.Prompts) != 1 || len(resources.Resources) != 1 {
		p.t.Errorf("%d prompts and %d resources, want one of each", len(prompts.Prompts), len(resources.Resources))
	}
	prompt, err := p.GetPrompt(ctx, &mcp.GetPromptParams{Name: "greeting", Arguments: map[string]string{"name": "Ada"}})
	p.must("get prompt", err)
	expect(p.t, "greeting", prompt.Messages[0].Content.(*mcp.TextContent).Text, "Greet Ada")
	complete, err := p.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "greeting"}, Argument: mcp.CompleteParamsArgument{Name: "name"}})
	p.must("complete", err)
	if !slices.Equal(complete.Completion.Values, []string{"Ada"}) {
		p.t.Errorf("completions: %q", complete.Completion.Values)
	}
	read, err := p.ReadResource(ctx, &mcp.ReadResourceParams{URI: "made://book"})
	p.must("read resource", err)
	expect(p.t, "book", read.Contents[0].Text, "Once.")
}

// follows subscribes to a resource that changes.
func (p *pairRun) follows() {
	p.t.Helper()
	if p.lacks(following) {
		return
	}
	p.must("subscribe", p.Subscribe(p.ctx(), &mcp.SubscribeParams{URI: "made://book"}))
	// go-sdk's Subscribe returns before its server has heard of it.
	p.hearsAfter("updated made://book", func() { p.reach("touch", map[string]any{}) })
	p.must("unsubscribe", p.Unsubscribe(p.ctx(), &mcp.UnsubscribeParams{URI: "made://book"}))
}

// grows has the server add a tool, and remove it.
func (p *pairRun) grows(tool string) {
	p.t.Helper()
	if p.lacks(changes) {
		return
	}
	has := func() bool { return slices.Contains(names(p.tools()), tool) }
	p.reach("grow", map[string]any{"name": tool})
	p.hears("tools changed")
	eventually(p.t, tool+" in the list", has)
	expect(p.t, tool, p.use(tool, map[string]any{"name": "Cy"}), "Hello, Cy")
	p.reach("shrink", map[string]any{"name": tool})
	p.hears("tools changed")
	eventually(p.t, "list without "+tool, func() bool { return !has() })
}
