package demo

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"
)

var rewrite = flag.Bool("update", false, "rewrite the golden files")

// talk is what Serve writes if all frames lie ready.
func talk(t *testing.T, frames ...string) []string {
	t.Helper()
	var out bytes.Buffer
	if err := Serve(strings.NewReader(strings.Join(frames, "\n")+"\n"), &out); err != nil {
		t.Fatalf("Serve: %v", err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func req(id int, method, params string) string {
	return object("jsonrpc", `"2.0"`, "id", fmt.Sprint(id), "method", quote(method), "params", params)
}

// modern is params with what the modern era wants in each request.
func modern(params string) string {
	return set(params, "_meta", `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`)
}

// conversations are golden: what is said, line by line, is in testdata.
var conversations = []struct {
	name   string
	frames []string
}{
	{"legacy", []string{
		req(1, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`),
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		req(2, "ping", `{}`),
		req(3, "logging/setLevel", `{"level":"info"}`),
		req(4, "resources/subscribe", `{"uri":"tracker://issues/WEB-6"}`),
		req(5, "tools/call", `{"name":"log_work","arguments":{"issue_key":"WEB-6","minutes":30,"note":"Measured"}}`),
		req(6, "tools/call", `{"name":"get_issue","arguments":{"issue_key":"WEB-6","include":["worklogs"]}}`),
		req(7, "tools/call", `{"name":"update_issue","arguments":{"issue_key":"WEB-6","priority":"urgent"}}`),
		req(8, "prompts/list", `{}`),
		req(9, "prompts/get", `{"name":"plan_sprint","arguments":{"project_key":"API","goal":"Sell nothing twice."}}`),
		req(10, "resources/list", `{}`),
		req(11, "resources/templates/list", `{}`),
		req(12, "resources/read", `{"uri":"tracker://issues/WEB-4"}`),
		req(13, "completion/complete", `{"ref":{"type":"ref/prompt","name":"triage_issue"},"argument":{"name":"issue_key","value":"web-1"}}`),
		req(14, "server/discover", `{}`),
	}},
	{"modern", []string{
		req(1, "server/discover", modern(`{}`)),
		req(2, "subscriptions/listen", modern(`{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["tracker://issues/WEB-6"]}}`)),
		req(3, "tools/call", modern(`{"name":"assign_issue","arguments":{"issue_key":"WEB-6","assignee":"tomas"}}`)),
		req(4, "resources/read", modern(`{"uri":"tracker://guide"}`)),
		req(5, "ping", modern(`{}`)),
		req(6, "tools/call", modern(`{"name":"nosuch"}`)),
	}},
}

func TestConversations(t *testing.T) {
	for _, tt := range conversations {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(talk(t, tt.frames...), "\n") + "\n"
			path := "testdata/" + tt.name + ".jsonl"
			if *rewrite {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
				t.Errorf("the %s conversation is not as in %s (-update rewrites it):\n%s", tt.name, path, got)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	for _, tt := range []struct{ name, frame, path, want string }{
		{"echoes an old version", req(1, "initialize", `{"protocolVersion":"2024-11-05"}`), "result.protocolVersion", "2024-11-05"},
		{"offers the last legacy version for an unknown one", req(1, "initialize", `{"protocolVersion":"2099-01-01"}`), "result.protocolVersion", "2025-11-25"},
		{"does not initialize into the modern era", req(1, "initialize", `{"protocolVersion":"2026-07-28"}`), "result.protocolVersion", "2025-11-25"},
		{"lists its tools on one page", req(1, "tools/list", `{}`), "result.tools.#", "66"},
		{"lists legacy tools without cache hints", req(1, "tools/list", `{}`), "result.ttlMs", ""},
		{"lists modern tools with cache hints", req(1, "tools/list", modern(`{}`)), "result.cacheScope", "public"},
		{"completes modern results", req(1, "tools/list", modern(`{}`)), "result.resultType", "complete"},
		{"knows no initialize in the modern era", req(1, "initialize", modern(`{}`)), "error.code", "-32601"},
		{"knows no discover in the legacy era", req(1, "server/discover", `{}`), "error.code", "-32601"},
		{"refuses versions that it does not speak", req(1, "server/discover", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}`), "error.data",
			`{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2099-01-01"}`},
		{"wants the capabilities of a modern host", req(1, "tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`), "error.code", "-32602"},
		{"refuses a log level that there is not", req(1, "logging/setLevel", `{"level":"loud"}`), "error.code", "-32602"},
		{"refuses a resource that there is not", req(1, "resources/read", `{"uri":"tracker://issues/WEB-99"}`), "error.code", "-32602"},
		{"refuses a prompt that there is not", req(1, "prompts/get", `{"name":"nosuch"}`), "error.message", `unknown prompt "nosuch"`},
		{"wants the prompt's argument", req(1, "prompts/get", `{"name":"triage_issue"}`), "error.message", `missing argument "issue_key"`},
		{"refuses an unknown method", req(1, "tasks/list", `{}`), "error.code", "-32601"},
		{"refuses a listen for nothing", req(1, "subscriptions/listen", modern(`{}`)), "error.code", "-32602"},
		{"keeps a large id", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "id", "9007199254740993"},
		{"says that a line is not JSON", `{"jsonrpc":`, "error.code", "-32700"},
		{"says that a line is no message", `[]`, "error.code", "-32600"},
		{"takes a call without arguments", req(1, "tools/call", `{"name":"get_current_user"}`), "result.structuredContent.username", "maya"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := talk(t, tt.frame)
			if got := gjson.Get(out[0], tt.path); len(out) != 1 || got.Raw != tt.want && got.String() != tt.want {
				t.Errorf("%s of the answer to %s is %q, want %q", tt.path, tt.frame, got.Raw, tt.want)
			}
		})
	}
}

func TestEveryFrameIsOneLineOfJSON(t *testing.T) {
	var frames []string
	for i, tt := range every {
		frames = append(frames, req(i, "tools/call", object("name", quote(tt.name), "arguments", tt.args)))
	}
	for i, line := range talk(t, append(frames, req(len(every), "tools/list", modern(`{}`)))...) {
		if !gjson.Valid(line) {
			t.Errorf("line %d is not JSON: %s", i, line)
		}
	}
}

// host is the other end of a connection to Serve.
type host struct {
	in    *io.PipeWriter
	lines chan string
	done  chan error
}

// connect starts Serve; it must be called within a synctest bubble.
func connect(t *testing.T) *host {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	h := &host{inW, make(chan string, 100), make(chan error, 1)}
	go func() {
		h.done <- Serve(inR, outW)
		outW.Close()
	}()
	go func() {
		defer close(h.lines)
		for lines := bufio.NewScanner(outR); lines.Scan(); {
			h.lines <- lines.Text()
		}
	}()
	return h
}

func (h *host) send(frame string) { io.WriteString(h.in, frame+"\n") }

// end closes the connection and returns what was not read yet.
func (h *host) end(t *testing.T) []string {
	t.Helper()
	h.in.Close()
	if err := <-h.done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	var rest []string
	for line := range h.lines {
		rest = append(rest, line)
	}
	return rest
}

const export = `{"name":"start_export","arguments":{"format":"csv"},"_meta":{"progressToken":"p"}}`

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := connect(t)
		h.send(req(1, "tools/call", export))
		h.send(req(2, "ping", `{}`))
		out := h.end(t)
		if len(out) != pages+2 || gjson.Get(out[0], "id").Int() != 2 {
			t.Fatalf("got %q, want the ping, %d notifications and the result", out, pages)
		}
		for i, line := range out[1 : pages+1] {
			p := gjson.Get(line, "params")
			if p.Get("progressToken").Str != "p" || p.Get("progress").Int() != int64(i+1) || p.Get("total").Int() != pages {
				t.Errorf("notification %d is %s", i, line)
			}
		}
		if last := out[pages+1]; gjson.Get(last, "id").Int() != 1 || gjson.Get(last, "result.isError").Bool() {
			t.Errorf("the last line is %s, want the result of the export", last)
		}
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := connect(t)
		h.send(req(1, "tools/call", export))
		time.Sleep(2*pause + pause/2)
		h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		synctest.Wait()
		h.send(req(2, "tools/call", `{"name":"get_export","arguments":{"export_id":"exp_1"}}`))
		out := h.end(t)
		if len(out) != 3 || !gjson.Get(out[2], "result.isError").Bool() {
			t.Errorf("got %q, want two notifications and that there is no export", out)
		}
	})
}

func TestListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := connect(t)
		change := func(id int, priority string) {
			h.send(req(id, "tools/call", modern(object("name", `"update_issue"`, "arguments", object("issue_key", `"WEB-6"`, "priority", quote(priority))))))
		}
		listen := modern(`{"notifications":{"resourceSubscriptions":["tracker://issues/WEB-6"]}}`)
		h.send(req(1, "subscriptions/listen", listen))
		h.send(req(2, "subscriptions/listen", listen))
		change(3, "high")
		h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		change(4, "low")
		var got []string
		for _, line := range h.end(t) {
			v := gjson.Parse(line)
			got = append(got, v.Get("method").Str+v.Get("id").Raw+v.Get(`params._meta.io\.modelcontextprotocol/subscriptionId`).Raw)
		}
		ack, updated := "notifications/subscriptions/acknowledged", "notifications/resources/updated"
		want := []string{ack + "1", ack + "2", "3", updated + "1", updated + "2", "4", updated + "2", "2"}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	})
}

// broken is a writer that fails.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestServeReturnsTheWriterError(t *testing.T) {
	if err := Serve(strings.NewReader(req(1, "ping", `{}`)+"\n"), broken{}); err != io.ErrShortWrite {
		t.Errorf("got %v, want %v", err, io.ErrShortWrite)
	}
}

func FuzzServe(f *testing.F) {
	for _, c := range conversations {
		f.Add(strings.Join(c.frames, "\n"))
	}
	f.Add(req(1, "tools/call", `{"name":"search_issues","arguments":{"query":"-\":\" a:b \"c"}}`))
	f.Fuzz(func(t *testing.T, frames string) {
		if strings.Contains(frames, "start_export") {
			t.Skip("waits")
		}
		for _, line := range talk(t, frames) {
			if line != "" && !gjson.Valid(line) {
				t.Errorf("not JSON: %s", line)
			}
		}
	})
}

func BenchmarkList(b *testing.B) {
	frame := req(1, "tools/list", `{}`) + "\n"
	b.ReportAllocs()
	b.SetBytes(int64(len(toolsJSON)))
	for b.Loop() {
		if err := Serve(strings.NewReader(frame), io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
