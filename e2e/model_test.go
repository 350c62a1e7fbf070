package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
)

// A turn is what the model says next: a call of a tool, or its last words.
type turn struct {
	tool string // by the name that the server gives it; "" for text
	args string // raw
	text string
}

// A model stands in for the model of a host: it has one conversation, says what
// was planned, and keeps what it is sent. It speaks the Messages, the Chat
// Completions and the Responses API.
type model struct {
	*httptest.Server
	plan []turn
	idle turn          // said while the tool of the next turn is not offered; the zero value: nothing is
	done chan struct{} // closed once the last turn has been said

	mu       sync.Mutex
	idled    int // how often idle was said; guarded by mu
	ended    bool
	requests []gjson.Result // those that offer tools; guarded by mu
}

// newModel starts a model that says the turns one after the other.
func newModel(t *testing.T, idle turn, plan ...turn) *model {
	t.Helper()
	m := &model{plan: plan, idle: idle, done: make(chan struct{})}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// sent are the requests that offer tools, in order, from the first planned turn on.
func (m *model) sent() []gjson.Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests[min(m.idled, len(m.requests)):]
}

// maxIdle is how often a model waits for a tool.
const maxIdle = 200

// ServeHTTP implements http.Handler.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	request := gjson.ParseBytes(raw)
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/count_tokens"):
		fmt.Fprintf(w, `{"input_tokens":%d}`, len(raw)/4)
	case strings.HasSuffix(path, "/messages"):
		answer(w, request, m.next(request), messagesAPI{})
	case strings.HasSuffix(path, "/chat/completions"):
		answer(w, request, m.next(request), chatAPI{})
	case strings.HasSuffix(path, "/responses"):
		answer(w, request, m.next(request), responsesAPI{})
	case strings.HasSuffix(path, "/models"):
		fmt.Fprint(w, `{"object":"list","data":[{"id":"mock-model","object":"model","created":1,"owned_by":"mock"}]}`)
	default:
		http.NotFound(w, r)
	}
}

// next is the turn that follows a request: the results in it tell how many were
// before. A host that offers no tools wants a title or the like.
func (m *model) next(request gjson.Result) turn {
	offers := offered(request)
	if len(offers) == 0 {
		return turn{text: "a title"}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, request)
	n := min(len(results(request))-m.idled, len(m.plan)-1)
	offered := slices.ContainsFunc(offers, func(o offer) bool { return o.shows(m.plan[n].tool) })
	if m.idle.tool != "" && m.plan[n].tool != "" && !offered && m.idled < maxIdle {
		m.idled++
		return m.idle
	}
	if n == len(m.plan)-1 && !m.ended {
		m.ended = true
		defer close(m.done)
	}
	return m.plan[n]
}

// An offer is a tool as a host shows it to its model.
type offer struct {
	name      string
	namespace string // "" for none
	raw       string
}

// shows reports whether the offer is of a tool that a server calls so. Hosts put
// the server before the name.
func (o offer) shows(tool string) bool {
	name := strings.ReplaceAll(o.name, "-", "_")
	return name == tool || strings.HasSuffix(name, "_"+tool) && strings.Contains(name, "up_")
}

// offered are the tools of a request, in whichever API.
func offered(request gjson.Result) (all []offer) {
	for _, tool := range request.Get("tools").Array() {
		switch {
		case tool.Get("type").Str == "namespace":
			for _, inner := range tool.Get("tools").Array() {
				all = append(all, offer{inner.Get("name").Str, tool.Get("name").Str, inner.Raw})
			}
		case tool.Get("function").Exists():
			all = append(all, offer{tool.Get("function.name").Str, "", tool.Raw})
		default:
			all = append(all, offer{tool.Get("name").Str, "", tool.Raw})
		}
	}
	return all
}

// results are the raw results of tools in a request, in whichever API.
func results(request gjson.Result) (all []string) {
	for _, message := range append(request.Get("messages").Array(), request.Get("input").Array()...) {
		switch {
		case message.Get("role").Str == "tool", strings.HasSuffix(message.Get("type").Str, "_output"):
			all = append(all, message.Raw)
		}
		for _, part := range message.Get("content").Array() {
			if part.Get("type").Str == "tool_result" {
				all = append(all, part.Raw)
			}
		}
	}
	return all
}

// An api words a turn. The tool is the one that was offered.
type api interface {
	whole(t turn, tool offer, id string) any         // the answer in one
	stream(t turn, tool offer, id string) []sseEvent // the same in parts
}

type sseEvent struct {
	name string // "" for none
	data any
}

// answer writes a turn in the words of an API.
func answer(w http.ResponseWriter, request gjson.Result, t turn, a api) {
	tool := offer{name: t.tool}
	for _, o := range offered(request) {
		if t.tool != "" && o.shows(t.tool) {
			tool = o
		}
	}
	id := fmt.Sprint(len(results(request)))
	if !request.Get("stream").Bool() {
		json.NewEncoder(w).Encode(a.whole(t, tool, id))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range a.stream(t, tool, id) {
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		data, _ := json.Marshal(e.data)
		if text, ok := e.data.(string); ok {
			data = []byte(text)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

type object = map[string]any

// messagesAPI is Anthropic's.
type messagesAPI struct{}

func (messagesAPI) block(t turn, tool offer, id string) (block object, stop string) {
	if t.tool == "" {
		return object{"type": "text", "text": t.text}, "end_turn"
	}
	return object{"type": "tool_use", "id": "toolu_" + id, "name": tool.name, "input": json.RawMessage(t.args)}, "tool_use"
}

func (a messagesAPI) whole(t turn, tool offer, id string) any {
	block, stop := a.block(t, tool, id)
	return object{"id": "msg_" + id, "type": "message", "role": "assistant", "model": "mock-model", "content": []any{block}, "stop_reason": stop, "stop_sequence": nil, "usage": object{"input_tokens": 10, "output_tokens": 5}}
}

func (a messagesAPI) stream(t turn, tool offer, id string) []sseEvent {
	block, stop := a.block(t, tool, id)
	delta := object{"type": "text_delta", "text": t.text}
	if t.tool != "" {
		block["input"] = object{}
		delta = object{"type": "input_json_delta", "partial_json": t.args}
	}
	message := object{"id": "msg_" + id, "type": "message", "role": "assistant", "model": "mock-model", "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 10, "output_tokens": 5}}
	return []sseEvent{
		{"message_start", object{"type": "message_start", "message": message}},
		{"content_block_start", object{"type": "content_block_start", "index": 0, "content_block": block}},
		{"content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta}},
		{"content_block_stop", object{"type": "content_block_stop", "index": 0}},
		{"message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 5}}},
		{"message_stop", object{"type": "message_stop"}},
	}
}

// chatAPI is OpenAI's Chat Completions.
type chatAPI struct{}

func (chatAPI) message(t turn, tool offer, id string) (message object, finish string) {
	if t.tool == "" {
		return object{"role": "assistant", "content": t.text}, "stop"
	}
	call := object{"index": 0, "id": "call_" + id, "type": "function", "function": object{"name": tool.name, "arguments": t.args}}
	return object{"role": "assistant", "content": nil, "tool_calls": []any{call}}, "tool_calls"
}

func (a chatAPI) whole(t turn, tool offer, id string) any {
	message, finish := a.message(t, tool, id)
	return a.frame("chat.completion", id, object{"index": 0, "message": message, "finish_reason": finish})
}

func (a chatAPI) stream(t turn, tool offer, id string) []sseEvent {
	message, finish := a.message(t, tool, id)
	return []sseEvent{
		{"", a.frame("chat.completion.chunk", id, object{"index": 0, "delta": message, "finish_reason": nil})},
		{"", a.frame("chat.completion.chunk", id, object{"index": 0, "delta": object{}, "finish_reason": finish})},
		{"", "[DONE]"},
	}
}

func (chatAPI) frame(kind, id string, choice object) object {
	return object{"id": "chatcmpl-" + id, "object": kind, "created": 1, "model": "mock-model", "choices": []any{choice}, "usage": object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}
}

// responsesAPI is OpenAI's Responses.
type responsesAPI struct{}

func (responsesAPI) item(t turn, tool offer, id string) object {
	if t.tool == "" {
		return object{"type": "message", "id": "msg_" + id, "role": "assistant", "status": "completed", "content": []any{object{"type": "output_text", "text": t.text, "annotations": []any{}}}}
	}
	item := object{"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id, "name": tool.name, "arguments": t.args, "status": "completed"}
	if tool.namespace != "" {
		item["namespace"] = tool.namespace
	}
	return item
}

func (a responsesAPI) whole(t turn, tool offer, id string) any {
	usage := object{"input_tokens": 10, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 5, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 15}
	return object{"id": "resp_" + id, "object": "response", "created_at": 1, "model": "mock-model", "status": "completed", "output": []any{a.item(t, tool, id)}, "usage": usage}
}

func (a responsesAPI) stream(t turn, tool offer, id string) []sseEvent {
	item := a.item(t, tool, id)
	begun := object{"id": "resp_" + id, "object": "response", "created_at": 1, "model": "mock-model", "status": "in_progress", "output": []any{}}
	return []sseEvent{
		{"response.created", object{"type": "response.created", "response": begun}},
		{"response.output_item.added", object{"type": "response.output_item.added", "output_index": 0, "item": item}},
		{"response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item}},
		{"response.completed", object{"type": "response.completed", "response": a.whole(t, tool, id)}},
	}
}
