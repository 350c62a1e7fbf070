package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"mcp-facade/facade/wire"
)

const (
	modernVersion = "2026-07-28"
	legacyLatest  = "2025-11-25"
	versions      = `["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]`

	serverInfo   = `{"name":"tracker","title":"Demo project tracker","version":"1.0.0"}`
	capabilities = `{"completions":{},"logging":{},"prompts":{},"resources":{"subscribe":true},"tools":{}}`

	instructions = "Tracker is the project tracker of a small, made-up company. Work is kept as issues in projects; every issue has a key such as WEB-3. " +
		"Find issues with search_issues, which takes free text and field:value terms, or with list_issues if you know the filters; do not guess keys. " +
		"Move issues along the workflow with transition_issue and not with update_issue. People are named by username: see list_users, and get_current_user for the one you act for. " +
		"Plan with sprints and releases, record time with log_work in minutes, and use the report tools for sums instead of adding up lists. " +
		"Look for duplicates before you create anything, change many issues with bulk_update_issues, and ask before you delete, archive or publish. " +
		"All data is an example in memory: it is forgotten when the connection ends."
)

// JSON-RPC's error codes, and the one for a protocol version (MCP 2026-07-28, basic/versioning).
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeNoVersion      = -32022
)

// A failure is a JSON-RPC error. It is not for tools that fail: those answer
// with a result, which a model can read.
type failure struct {
	code    int
	message string
	data    []byte
}

func invalid(format string, args ...any) *failure {
	return &failure{code: codeInvalidParams, message: fmt.Sprintf(format, args...)}
}

// A request is a message that wants an answer, and the era it belongs to.
type request struct {
	wire.Message
	modern bool
}

// meta is the value that the request has under a name of the protocol's own.
func (r *request) meta(name string) gjson.Result {
	return r.Params.Get(`_meta.io\.modelcontextprotocol/` + name)
}

func (s *server) request(m wire.Message) {
	r := &request{Message: m}
	if f := r.era(); f != nil {
		s.respond(r, "", f)
		return
	}
	switch {
	case r.Method == "subscriptions/listen" && r.modern:
		s.listen(r)
	case r.Method == "tools/call" && slow(r.Params.Get("name").Str):
		s.callSlowly(r)
	default:
		result, f := s.answer(r)
		s.respond(r, result, f)
		s.announce()
	}
}

// era finds out which era the request belongs to: the modern one names its
// version in each request.
func (r *request) era() *failure {
	v := r.meta("protocolVersion")
	if r.modern = v.Str == modernVersion; r.modern && !r.meta("clientCapabilities").IsObject() {
		return invalid("missing _meta field \"io.modelcontextprotocol/clientCapabilities\"")
	}
	if !v.Exists() || knownVersion(v.Str) {
		return nil
	}
	data := object("supported", versions, "requested", v.Raw)
	return &failure{codeNoVersion, "unsupported protocol version", []byte(data)}
}

func knownVersion(v string) bool {
	return slices.ContainsFunc(gjson.Parse(versions).Array(), func(known gjson.Result) bool { return known.Str == v })
}

func (s *server) answer(r *request) (string, *failure) {
	switch r.Method {
	case "tools/list":
		return object("tools", strings.ReplaceAll(toolsJSON, "\n", "")), nil
	case "tools/call":
		return s.call(r)
	case "prompts/list":
		return object("prompts", prompts), nil
	case "prompts/get":
		return s.prompt(r)
	case "resources/list":
		return s.resources(), nil
	case "resources/templates/list":
		return object("resourceTemplates", resourceTemplates), nil
	case "resources/read":
		return s.readResource(r)
	case "completion/complete":
		return s.completion(r)
	}
	if r.modern {
		return s.answerModern(r)
	}
	return s.answerLegacy(r)
}

func (s *server) answerModern(r *request) (string, *failure) {
	if r.Method == "server/discover" {
		return object("supportedVersions", versions, "capabilities", capabilities, "instructions", quote(instructions)), nil
	}
	return "", noMethod(r)
}

func (s *server) answerLegacy(r *request) (string, *failure) {
	switch r.Method {
	case "initialize":
		return initialize(r.Params), nil
	case "ping":
		return "{}", nil
	case "logging/setLevel":
		return s.setLevel(r.Params.Get("level").Str)
	case "resources/subscribe":
		return s.subscribe(r.Params.Get("uri").Str)
	case "resources/unsubscribe":
		s.unlisten(func(l listen) bool { return l.id == "" && l.uri == r.Params.Get("uri").Str })
		return "{}", nil
	}
	return "", noMethod(r)
}

func noMethod(r *request) *failure {
	return &failure{code: codeNoMethod, message: fmt.Sprintf("method %q not found", r.Method)}
}

func initialize(params gjson.Result) string {
	version := params.Get("protocolVersion").Str
	if version == modernVersion || !knownVersion(version) {
		version = legacyLatest
	}
	return object("protocolVersion", quote(version), "capabilities", capabilities, "serverInfo", serverInfo, "instructions", quote(instructions))
}

func (s *server) setLevel(level string) (string, *failure) {
	levels := []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
	if !slices.Contains(levels, level) {
		return "", invalid("unknown level %q; want one of %s", level, strings.Join(levels, ", "))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verbose = level == "debug" || level == "info"
	return "{}", nil
}

// respond sends the answer, with what the modern era wants in each result.
func (s *server) respond(r *request, result string, f *failure) {
	if f != nil {
		s.out.Send(wire.ErrorResponse(r.ID.Raw, f.code, f.message, f.data))
		return
	}
	if r.modern {
		result = complete(r.Method, result)
	}
	s.out.Send(wire.Response(r.ID.Raw, []byte(result)))
}

// complete adds the members of a modern result. Lists of what is compiled in
// may be kept for an hour; what depends on the data is stale at once.
func complete(method, result string) string {
	switch method {
	case "server/discover", "tools/list", "prompts/list", "resources/templates/list":
		result = set(set(result, "ttlMs", "3600000"), "cacheScope", `"public"`)
	case "resources/list", "resources/read":
		result = set(set(result, "ttlMs", "0"), "cacheScope", `"private"`)
	}
	result = set(result, "resultType", `"complete"`)
	return set(result, "_meta", object("io.modelcontextprotocol/serverInfo", serverInfo))
}

func (s *server) notify(method string, params ...string) {
	s.out.Send([]byte(object("jsonrpc", `"2.0"`, "method", quote(method), "params", object(params...))))
}

// pages is into how many steps a slow call is divided, and pause how long each
// takes: long enough that a host can show progress and cancel.
const (
	pages = 5
	pause = 40 * time.Millisecond
)

// callSlowly answers a call beside the reader, with progress, unless it is
// cancelled first.
func (s *server) callSlowly(r *request) {
	stop := make(chan struct{})
	s.mu.Lock()
	s.running[r.Key()] = stop
	s.mu.Unlock()
	s.calls.Go(func() {
		if !s.proceed(r.Params.Get("_meta.progressToken"), stop) || !s.finish(r) {
			return
		}
		result, f := s.answer(r)
		s.respond(r, result, f)
		s.announce()
	})
}

// proceed lets the time of a slow call pass. It reports whether the call may
// go on.
func (s *server) proceed(token gjson.Result, stop <-chan struct{}) bool {
	for page := 1; page <= pages; page++ {
		select {
		case <-stop:
			return false
		case <-time.After(pause):
		}
		if token.Exists() {
			s.notify("notifications/progress", "progressToken", token.Raw, "progress", fmt.Sprint(page),
				"total", fmt.Sprint(pages), "message", quote(fmt.Sprintf("page %d of %d", page, pages)))
		}
	}
	return true
}

// finish takes the call out of those that can be cancelled. It reports whether
// the call was still there.
func (s *server) finish(r *request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.running[r.Key()]
	delete(s.running, r.Key())
	return ok
}

// cancel ends the running call or the listening with this key. Neither is
// answered any more.
func (s *server) cancel(key string) {
	s.mu.Lock()
	if stop, ok := s.running[key]; ok {
		close(stop)
		delete(s.running, key)
	}
	s.mu.Unlock()
	s.unlisten(func(l listen) bool { return l.id != "" && l.key == key })
}
