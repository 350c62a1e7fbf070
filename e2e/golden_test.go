package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// A conversation is a script and the upstream to play it to.
type conversation struct {
	upstream upstream
	used     []string
	script   script
	record   string           // the file in which the upstream keeps what reaches it; "": it keeps nothing
	reset    func(*testing.T) // puts back what the upstream has changed, before each play; nil: nothing
}

// run plays the script to the upstream itself and to the facade: on an empty
// cache, on a full one, and with each call made through the meta-tool. Each
// time the host must see, and the upstream must get, the same.
func (c conversation) run(t *testing.T) {
	t.Helper()
	var want, wantUp []string
	if !t.Run("direct", func(t *testing.T) { want, wantUp = c.play(t, c.script, c.upstream.direct(newWorld(t))) }) {
		return
	}
	if len(want) == 0 {
		t.Fatal("the upstream itself says nothing that can be compared")
	}
	w := newWorld(t)
	for _, way := range []struct {
		name   string
		script script
	}{
		{"cold", c.script},
		{"warm", c.script},
		{"through call", c.script.viaCall()},
	} {
		t.Run(way.name, func(t *testing.T) {
			got, gotUp := c.play(t, way.script, w.serve(t, c.upstream, c.used...))
			if diff := cmp.Diff(legible(want), legible(got)); diff != "" {
				t.Errorf("the host sees something else (-direct +facade):\n%s", diff)
			}
			if diff := cmp.Diff(legible(wantUp), legible(gotUp)); diff != "" {
				t.Errorf("the upstream gets something else (-direct +facade):\n%s", diff)
			}
			if len(w.catalogs(t)) == 0 {
				t.Error("nothing is cached")
			}
		})
	}
}

// play plays s to cmd and returns what the host saw and what the upstream got.
func (c conversation) play(t *testing.T, s script, cmd command) (host, up []string) {
	t.Helper()
	if c.reset != nil {
		c.reset(t)
	}
	if c.record == "" {
		return s.play(t, cmd).relayed(), nil
	}
	if err := os.WriteFile(c.record, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	host = s.play(t, cmd).relayed()
	got, err := os.ReadFile(c.record)
	if err != nil {
		t.Fatal(err)
	}
	return host, received(strings.Split(strings.TrimSuffix(string(got), "\n"), "\n"))
}

// received is what has reached an upstream, without what the facade keeps from
// it or adds on its own account. Of initialize, the params must be the host's.
func received(lines []string) []string {
	var frames []string
	for _, line := range lines {
		m := gjson.Parse(line)
		switch method := m.Get("method").Str; {
		case method == "initialize":
			frames = append(frames, "initialize: "+m.Get("params").Raw)
		case !intercepted[method] && !kept[method]:
			frames = append(frames, line)
		}
	}
	return frames
}

// oddIDs are request ids that a proxy may mistake, round or lose.
var oddIDs = []string{`0`, `-1`, `""`, `"s"`, `1.5`, `9007199254740993`, `"mcpf-00000000-1"`, `"7"`, `7`, `1e3`, `1.0`, `"\u0061\u0027"`}

func TestHardBytesLegacy(t *testing.T) {
	n := &numbering{last: 100}
	steps := []step{
		ask(`{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"x":1.0,"protocolVersion":"2025-11-25","capabilities":{"vendor":{"n":9007199254740993},"elicitation":{}},"clientInfo":{"version":"1","name":"golden"}}}`),
		tell(`{"method":"notifications/initialized","jsonrpc":"2.0","x":1}`),
	}
	for i, tool := range cannedTools() {
		if !tool.ready() {
			continue
		}
		id := fmt.Sprint(10 + i)
		if i < len(oddIDs) {
			id = oddIDs[i]
		}
		steps = append(steps, ask(`{ "method":"tools/call","params":{"_meta":{"progressToken":`+id+`,"v":1.0},"arguments":{"n":9007199254740993, "s":"\u0027\ud800","f":1.0},"x":[ ],"name":"`+tool.name+`"},"id":`+id+`,"jsonrpc":"2.0","trace":{} }`))
	}
	steps = append(steps,
		n.ask("vendor/thing", `{"n":9007199254740993,"f":1.0,"s":"\u0027"}`),
		ask(`{"jsonrpc":"2.0","id":"no params","method":"vendor/unknown"}`),
		ask(`{"jsonrpc":"2.0","id":"an array","method":"vendor/thing","params":[1.0,"\ud800"],"x":1}`),
		tell(`{"jsonrpc":"2.0","method":"notifications/vendor/host","params":{"n":9007199254740993},"x":1}`),
		tell(`{"method":"notifications/roots/list_changed","jsonrpc":"2.0"}`),
		tell(`{"jsonrpc":"2.0","method":"$/odd","params":[1.0]}`),
		plain(n.call("nobody-lists-me", `{}`)),
		n.ask("prompts/list", `{}`),
		n.ask("prompts/list", `{"cursor":"p/2"}`),
		n.ask("resources/list", `{}`),
		n.ask("resources/templates/list", `{}`),
		n.ask("prompts/get", `{"name":"first","arguments":{"n":"1"}}`),
		n.ask("resources/read", `{"uri":"made:\/\/a"}`),
		n.ask("resources/subscribe", `{"uri":"made://a"}`),
		n.call("notify", `{}`),
		n.ask("resources/unsubscribe", `{"uri":"made://a"}`),
		n.ask("completion/complete", `{"ref":{"type":"ref/prompt","name":"first"},"argument":{"name":"n","value":""}}`),
		n.ask("ping", `{}`),
		n.ask("logging/setLevel", `{"level":"debug"}`),
		tell(`{"jsonrpc":"2.0","id":"slow one","method":"tools/call","params":{"name":"slow","arguments":{}}}`),
		n.call("quick", `{}`),
		answered(`"slow one"`),
		tell(`{"jsonrpc":"2.0","id":"silent one","method":"tools/call","params":{"name":"silent","arguments":{}}}`),
		tell(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"silent one","reason":"\u0027","x":1.0}}`),
		n.call("plain", `{"big":"`+strings.Repeat(`five megabytes `, 5<<20/15)+`"}`),
	)
	golden(t, script{steps: steps, answers: map[string]string{
		"vendor/ask":         `{"n":9007199254740993,"s":"\u0027\ud800" , "f":1.0}`,
		"elicitation/create": `{"action":"accept","content":{"b":9007199254740993,"a":1.0}}`,
	}})
}

func TestHardBytesModern(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"golden","version":"1.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"vendor":{"n":9007199254740993}}},"progressToken":"\u0027"}`
	n := &numbering{}
	steps := []step{ask(`{"jsonrpc":"2.0","id":"open","method":"server/discover","params":{` + meta + `}}`)}
	for _, tool := range cannedTools() {
		if !tool.ready() || tool.then != nil { // no request of a server in this era
			continue
		}
		steps = append(steps, n.ask("tools/call", `{"name":"`+tool.name+`","x":1,"arguments":{"n":9007199254740993},`+meta+`}`))
	}
	steps = append(steps,
		n.ask("tools/call", `{"inputResponses":{"k":{"action":"accept","content":{"n":9007199254740993,"f":1.0}}},"name":"input","arguments":{"s":"\ud800"},"requestState":"a\u002fb==",`+meta+`}`),
		n.ask("vendor/thing", `{"n":9007199254740993,`+meta+`}`),
		n.ask("resources/read", `{"uri":"made://a",`+meta+`}`),
		tell(`{"jsonrpc":"2.0","id":"listen","method":"subscriptions/listen","params":{`+meta+`,"notifications":{"resourceSubscriptions":["made://a"]}}}`),
		await("notifications/subscriptions/acknowledged"),
		n.ask("tools/call", `{"name":"notify","arguments":{},`+meta+`}`),
		tell(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"listen",`+meta+`}}`),
		n.ask("tools/call", `{"name":"plain","arguments":{},`+meta+`}`),
	)
	golden(t, script{steps: steps})
}

// TestAtOnce has a host that waits for nothing: not for the handshake, and not
// for one answer before the next request. Requests and notifications reach the
// upstream in the order in which they were written, and the answers come back in its order.
func TestAtOnce(t *testing.T) {
	n := &numbering{}
	var steps []step
	for _, s := range opening(`{}`) {
		steps = append(steps, tell(s.frame))
	}
	for i := range 100 {
		steps = append(steps,
			tell(n.call("plain", fmt.Sprintf(`{"n":%d}`, i)).frame),
			tell(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/vendor/host","params":[%d]}`, i)),
			tell(n.ask("tools/call", fmt.Sprintf(`{"name":"progress","arguments":{},"_meta":{"progressToken":%d}}`, i)).frame),
			tell(n.ask("vendor/thing", fmt.Sprintf(`[%d]`, i)).frame),
		)
	}
	golden(t, script{steps: append(steps, n.call("plain", `{}`))})
}

// TestNoise has an upstream that writes more to its stdout than frames. Played
// to it directly, many hosts would end the session. Here the host sees frames
// alone, each on a line of its own and in valid UTF-8.
func TestNoise(t *testing.T) {
	p := start(t, newWorld(t).serve(t, self(t, "raw"), "plain"))
	shake(p)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"noise","arguments":{}}}`)
	p.until(await("notifications/message"))
	answer := p.until(answered("2"))
	expect(t, "answer", answer.Raw, "bad \ufffd", "bytes")
	for _, frame := range p.close() {
		t.Errorf("the host also sees %q", frame)
	}
}

// golden plays s to the upstream of canned frames.
func golden(t *testing.T, s script) {
	t.Helper()
	record := filepath.Join(t.TempDir(), "record")
	conversation{upstream: self(t, "raw", recordVar, record), used: []string{"plain"}, script: s, record: record}.run(t)
}

func opening(capabilities string) []step {
	return []step{
		ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"golden","version":"1"}}}`),
		tell(`{"jsonrpc":"2.0","method":"notifications/initialized"}`),
	}
}

// Left out, because they differ from run to run without any facade: get-env
// (the environment), dynamic resources (the time of day), simulated logging
// (random levels) and research (random task ids).
func TestGoldenEverything(t *testing.T) {
	n := &numbering{}
	steps := append(opening(`{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}`),
		// The server asks for the roots 350 ms after it is initialized, or for
		// this call, whichever comes first; and says that it has them. The order
		// is the same.
		n.call("get-roots-list", `{}`),
		n.call("echo", `{"message":"it's <b> 😀"}`),
		n.call("get-sum", `{"a":1.5,"b":2}`),
		n.call("get-structured-content", `{"location":"New York"}`),
		n.call("get-annotated-message", `{"messageType":"error","includeImage":true}`),
		n.call("get-tiny-image", `{}`),
		n.call("get-resource-links", `{"count":3}`),
		n.call("trigger-sampling-request", `{"prompt":"hi","maxTokens":7}`),
		n.call("trigger-elicitation-request", `{}`),
		n.ask("tools/call", `{"name":"trigger-long-running-operation","arguments":{"duration":0.2,"steps":4},"_meta":{"progressToken":"p"}}`),
		plain(n.call("echo", `{}`)),
		plain(n.call("nobody-lists-me", `{}`)),
		n.ask("prompts/list", `{}`),
		n.ask("prompts/get", `{"name":"simple-prompt"}`),
		n.ask("prompts/get", `{"name":"args-prompt","arguments":{"city":"Paris","state":"Texas"}}`),
		n.ask("prompts/get", `{"name":"args-prompt"}`),
		n.ask("resources/list", `{}`),
		n.ask("resources/templates/list", `{}`),
		n.ask("resources/read", `{"uri":"demo://resource/static/document/architecture.md"}`),
		n.ask("resources/read", `{"uri":"demo://nothing"}`),
		n.ask("completion/complete", `{"ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"name","value":"A"},"context":{"arguments":{"department":"Engineering"}}}`),
		n.ask("resources/subscribe", `{"uri":"demo://resource/static/document/features.md"}`),
		n.call("toggle-subscriber-updates", `{}`),
		n.call("toggle-subscriber-updates", `{}`),
		n.ask("resources/unsubscribe", `{"uri":"demo://resource/static/document/features.md"}`),
		n.ask("tasks/list", `{}`),
		n.ask("vendor/thing", `{}`),
		n.ask("ping", `{}`),
		tell(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`),
		await("roots/list"),
		await("notifications/message"),
		n.ask("logging/setLevel", `{"level":"error"}`),
		n.call("echo", `{"message":"last"}`),
	)
	conversation{upstream: everything(t), used: []string{"echo", "get-*"}, script: script{steps: steps, answers: map[string]string{
		"roots/list":             `{"roots":[{"uri":"file:///srv/e2e","name":"e2e"}]}`,
		"sampling/createMessage": `{"role":"assistant","model":"none","stopReason":"endTurn","content":{"type":"text","text":"it's sampled"}}`,
		"elicitation/create":     `{"action":"accept","content":{"name":"O'Neill","integer":42}}`,
	}}}.run(t)
}

// Left out: get_file_info and everything else that shows times.
func TestGoldenFilesystem(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	arg := func(format string, elem ...any) string {
		for i, e := range elem {
			elem[i] = gjson.AppendJSONString(nil, filepath.Join(dir, e.(string)))
		}
		return fmt.Sprintf(format, elem...)
	}
	n := &numbering{}
	steps := append(opening(`{}`),
		n.call("list_allowed_directories", `{}`),
		n.call("write_file", arg(`{"path":%s,"content":"one\ntwo \ud83d\ude00\n"}`, "a.txt")),
		n.call("read_text_file", arg(`{"path":%s,"head":1}`, "a.txt")),
		n.call("edit_file", arg(`{"path":%s,"edits":[{"oldText":"one","newText":"1.0"}]}`, "a.txt")),
		n.call("create_directory", arg(`{"path":%s}`, "sub")),
		n.call("move_file", arg(`{"source":%s,"destination":%s}`, "a.txt", "sub/b.txt")),
		n.call("read_multiple_files", arg(`{"paths":[%s,%s]}`, "sub/b.txt", "none")),
		n.call("directory_tree", arg(`{"path":%s}`, "")),
		n.call("search_files", arg(`{"path":%s,"pattern":"**/*.txt"}`, "")),
		n.call("read_media_file", arg(`{"path":%s}`, "sub/b.txt")),
		n.call("read_text_file", `{"path":"/etc/hostname"}`),
		plain(n.call("read_text_file", `{}`)),
	)
	conversation{upstream: filesystem(t, dir), used: []string{"read_*", "list_*"}, script: script{steps: steps}, reset: func(t *testing.T) {
		for _, name := range []string{"a.txt", "sub"} {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}}.run(t)
}

func TestGoldenMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "memory.jsonl")
	n := &numbering{}
	steps := append(opening(`{}`),
		n.call("create_entities", `{"entities":[{"name":"O'Neill","entityType":"person","observations":["likes \u0027","9007199254740993"]},{"name":"日本","entityType":"place","observations":[]}]}`),
		n.call("create_relations", `{"relations":[{"from":"O'Neill","to":"日本","relationType":"visited"}]}`),
		n.call("add_observations", `{"observations":[{"entityName":"日本","contents":["far"]}]}`),
		n.call("add_observations", `{"observations":[{"entityName":"nobody","contents":["x"]}]}`),
		n.call("read_graph", `{}`),
		n.call("search_nodes", `{"query":"FAR"}`),
		n.call("open_nodes", `{"names":["O'Neill"]}`),
		n.call("delete_entities", `{"entityNames":["O'Neill"]}`),
		n.call("read_graph", `{}`),
	)
	conversation{upstream: memory(t, file), used: []string{"read_graph"}, script: script{steps: steps}, reset: func(t *testing.T) {
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
	}}.run(t)
}

// The vendor's interface is played by a server of ours that refuses the key, or
// answers with what was asked for.
func TestGoldenPostman(t *testing.T) {
	n := &numbering{}
	steps := append(opening(`{}`),
		n.call("getAuthenticatedUser", `{}`),
		n.call("getWorkspaces", `{"limit":2}`),
		n.call("getCollection", `{"collectionId":"11111111-2222-3333-4444-555555555555"}`),
		n.call("createWorkspace", `{"workspace":{"name":"it's","type":"personal","description":"1.0"}}`),
		plain(n.call("getCollection", `{}`)),
		n.ask("resources/list", `{}`),
		n.ask("resources/read", `{"uri":"postman://instructions"}`),
	)
	conversation{upstream: postman(t, vendor(t)), used: []string{"getWorkspaces", "getCollection*"}, script: script{steps: steps}}.run(t)
}

// vendor is the address of a server that stands for postman's.
func vendor(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/me" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":{"name":"AuthenticationError","message":"Invalid API Key"}}`)
			return
		}
		fmt.Fprintf(w, `{"asked":%q,"n":9007199254740993}`, r.Method+" "+r.URL.RequestURI())
	}))
	t.Cleanup(s.Close)
	return s.URL
}
