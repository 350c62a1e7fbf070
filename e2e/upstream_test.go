package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tidwall/gjson"
)

// recordVar names the file in which the raw upstream keeps what reaches it.
const recordVar = "E2E_RECORD"

// A canned tool writes frames when it is called. In a frame, $ID is the raw id
// of the call and $TOKEN its raw progress token.
type canned struct {
	name   string
	frames []string
	then   []string // written when the host has answered the request with the id "up-" and the name
}

// ready tells whether the tool answers a call by itself, with the same frames each time.
func (c canned) ready() bool { return c.frames != nil || c.name == "huge" }

// cannedTools are the hard bytes: what typed clients and servers lose, reorder,
// round or refuse.
func cannedTools() []canned {
	result := func(name, result string) canned {
		return canned{name: name, frames: []string{`{"jsonrpc":"2.0","id":$ID,"result":` + result + `}`}}
	}
	return []canned{
		result("plain", `{"content":[{"type":"text","text":"plain"}]}`),
		result("integers", `{"content":[],"structuredContent":{"z":9007199254740993,"a":-9223372036854775809,"big":123456789012345678901234567890}}`),
		result("floats", `{"content":[],"structuredContent":{"one":1.0,"zero":-0.0,"exp":1E+2,"small":1e-400,"huge":1e400,"digits":0.1000000000000000055511151231257827}}`),
		result("escapes", `{"content":[{"type":"text","text":"it\u0027s \u003cb\u003e \/ \u00e9 \u0000 \u2028 \ud83d\ude00"}]}`),
		result("surrogates", `{"content":[{"type":"text","text":"high \ud800 low \udc00 turned \ude00\ud83d"}]}`),
		result("letters", "{\"content\":[{\"type\":\"text\",\"text\":\"é 日本語 😀 \u2028 \u200b \u202e \u007f\"}]}"),
		result("video", `{"content":[{"type":"video","data":"not base64!","fps":29.970,"poster":{"type":"image","data":"%%"}},{"type":"text","text":5}]}`),
		result("members", `{"vendor":{"b":1,"a":null},"content":[{"text":"t","type":"text","annotations":{"priority":0,"mood":"calm"},"x":[]}],"isError":false,"_meta":{"n":9007199254740993,"":""}}`),
		result("twice", `{"content":[],"structuredContent":{"a":1,"a":2,"":0}}`),
		result("null", `null`),
		result("bare", `"a string"`),
		result("task", `{"task":{"taskId":"7","status":"working","ttl":1.0}}`),
		result("iserror", `{"isError":true,"content":[{"type":"text","text":"it failed \u0026 says so"}]}`),
		result("deep", `{"content":[],"structuredContent":`+strings.Repeat(`[`, 2000)+strings.Repeat(`]`, 2000)+`}`),
		{name: "huge"}, // made when it is called
		{name: "envelope", frames: []string{`{"jsonrpc":"2.0","id":$ID,"x":1,"result":{"content":[]},"trace":{"span":[1.0,9007199254740993]}}`}},
		{name: "order", frames: []string{`{"result":{"isError":false,"content":[]},"id":$ID,"jsonrpc":"2.0"}`}},
		{name: "space", frames: []string{"{ \"jsonrpc\" : \"2.0\" ,\t\"id\" :  $ID , \"result\" : { \"content\" : [ ] , \"n\" : [ 1 , 2 ] } }"}},
		{name: "error", frames: []string{`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32050,"x":[1.0],"message":"no \u0027luck\u0027","data":{"n":9007199254740993,"why":null}},"y":{}}`}},
		{name: "error-code", frames: []string{`{"jsonrpc":"2.0","error":{"message":"","code":-9007199254740993},"id":$ID}`}},
		{name: "progress", frames: []string{
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":0.10,"total":1.0,"message":"one"}}`,
			`{"method":"notifications/progress","jsonrpc":"2.0","params":{"progress":9007199254740993,"progressToken":$TOKEN,"x":1}}`,
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"after two"}]}}`,
		}},
		{name: "log", frames: []string{
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"n":1.0}}}`,
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"emergency","logger":"\u0027","data":"after"}}`,
		}},
		{name: "notify", frames: []string{
			`{"jsonrpc":"2.0","method":"notifications/vendor/weather","params":[1.0,"positional"],"extra":true}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"made:\u002f\u002fa"}}`,
			`{"jsonrpc":"2.0","method":"$/odd"}`,
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`,
		}},
		{name: "ask",
			frames: []string{`{"jsonrpc":"2.0","id":"up-ask","method":"vendor/ask","params":{"n":9007199254740993},"x":1}`},
			then:   []string{`{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"was answered"}]}}`}},
		{name: "ask-unknown",
			frames: []string{`{"params":{},"method":"vendor/nobody-knows","id":"up-ask-unknown","jsonrpc":"2.0"}`},
			then:   []string{`{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"was refused"}]}}`}},
		{name: "elicit",
			frames: []string{`{"jsonrpc":"2.0","id":"up-elicit","method":"elicitation/create","params":{"message":"\u0027?","requestedSchema":{"type":"object","properties":{"b":{"type":"integer","maximum":9007199254740993},"a":{}}}}}`},
			then:   []string{`{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`}},
		{name: "input", frames: []string{`{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"\u0027"}}},"requestState":"a\u002fb=="}}`}},
		{name: "slow"},   // answered when "quick" is called
		{name: "quick"},  // answers itself, then "slow"
		{name: "silent"}, // never answered
		{name: "noise"},  // answers between lines that are no frames
	}
}

// serveRaw is an upstream that answers with canned frames, in both eras, and
// keeps each line that reaches it in the file record.
func serveRaw(in io.Reader, out io.Writer, record string) int {
	log := io.Discard
	if record != "" {
		file, err := os.OpenFile(record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer file.Close()
		log = file
	}
	r := raw{out: out, tools: map[string]canned{}, asked: map[string]string{}}
	for _, tool := range cannedTools() {
		r.tools[tool.name] = tool
	}
	lines := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return 0
		}
		io.WriteString(log, line)
		r.take(strings.TrimSuffix(line, "\n"))
	}
}

// raw is the state of one raw upstream.
type raw struct {
	out   io.Writer
	tools map[string]canned
	asked map[string]string // raw id of the call that waits for the host's answer, by tool
	slow  string            // raw id of the call of "slow" that waits
}

func (r *raw) take(frame string) {
	m := gjson.Parse(frame)
	id := m.Get("id").Raw
	switch method := m.Get("method").Str; {
	case method == "" && m.Get("id").Exists():
		tool := strings.TrimPrefix(m.Get("id").Str, "up-")
		r.write(r.tools[tool].then, r.asked[tool], "")
	case id == "": // a notification: kept, and no more
	case method == "subscriptions/listen":
		r.write([]string{`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":$ID},"notifications":` + m.Get("params.notifications").Raw + `}}`}, id, "")
	case method == "tools/call":
		r.call(m.Get("params"), id)
	default:
		r.write([]string{`{"jsonrpc":"2.0","id":$ID,` + r.answer(method, m.Get("params")) + `}`}, id, "")
	}
}

func (r *raw) call(params gjson.Result, id string) {
	name := params.Get("name").Str
	tool, ok := r.tools[name]
	switch {
	case !ok:
		r.write([]string{`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"no such tool","data":{"n":1.0}}}`}, id, "")
	case name == "huge":
		r.write([]string{`{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"` + strings.Repeat(`twenty megabytes \u0027 \u00e9 é `, 20<<20/32) + `"}]}}`}, id, "")
	case name == "slow":
		r.slow = id
	case name == "noise":
		r.write([]string{
			"Listening on stdio.", "42", "[]", `{"level":"info"}`, `{"half":`, "", "\ufeff", "\x1b[1mbold\x1b[0m",
			"{\n  \"jsonrpc\": \"2.0\",\n  \"method\": \"notifications/message\",\n  \"params\": {\n    \"data\": 1.0\n  }\n}",
			`{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"` + "bad \xff\xc3 bytes" + `"}]}}`,
		}, id, "")
	case name == "quick":
		r.write([]string{`{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"quick":1.0}}`}, id, "")
		r.write([]string{`{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"slow":1.0}}`}, r.slow, "")
	default:
		r.asked[name] = id
		r.write(tool.frames, id, params.Get("_meta.progressToken").Raw)
	}
}

// answer is the raw result or error to every other request.
func (r *raw) answer(method string, params gjson.Result) string {
	modern := params.Get(`_meta.io\.modelcontextprotocol/protocolVersion`).Exists()
	kind := ""
	if modern {
		kind = `"resultType":"complete","ttlMs":3600000,"cacheScope":"private",`
	}
	const capabilities = `"capabilities":{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true},"logging":{},"completions":{},"experimental":{"vendor":{"n":9007199254740993}}}`
	switch method {
	case "initialize":
		return `"result":{"protocolVersion":` + params.Get("protocolVersion").Raw + `,` + capabilities + `,"serverInfo":{"name":"raw","version":"1.0"},"instructions":"Raw."}`
	case "server/discover":
		return `"result":{` + kind + `"supportedVersions":["2026-07-28","2025-11-25"],` + capabilities + `,"instructions":"Raw."}`
	case "tools/list":
		return `"result":{` + kind + `"tools":[` + r.list() + `]}`
	case "prompts/list":
		if params.Get("cursor").Str == "p/2" {
			return `"result":{` + kind + `"prompts":[{"name":"second","n":9007199254740993}]}`
		}
		return `"result":{ "vendor" : 1.0 , ` + kind + `"prompts":[{"x":"\u0027","name":"first"}],"nextCursor":"p\u002f2"}`
	case "resources/list":
		return `"result":{` + kind + `"resources":[{"uri":"made://a","name":"","size":1.0,"priority":0}]}`
	case "resources/templates/list":
		return `"result":{` + kind + `"resourceTemplates":[],"_meta":{"n":1e400}}`
	case "ping", "logging/setLevel":
		return `"result":{}`
	case "vendor/thing":
		return `"result":{` + kind + `"echo":` + params.Raw + `}`
	case "resources/read":
		return `"result":{` + kind + `"contents":[{"uri":"made://a","text":"","blob":"%%"}]}`
	case "resources/subscribe", "resources/unsubscribe":
		return `"result":{ }`
	case "prompts/get":
		return `"result":{"messages":[{"role":"robot","content":{"type":"smell"}}]}`
	case "completion/complete":
		return `"result":{"completion":{"values":["\u0027"],"total":9007199254740993}}`
	default:
		return `"error":{"code":-32601,"message":"no such method","data":` + fmt.Sprintf("%q", method) + `}`
	}
}

func (r *raw) list() string {
	var tools []string
	for _, tool := range cannedTools() {
		tools = append(tools, fmt.Sprintf(`{"name":%q,"description":"Says something that is %s.","inputSchema":{"type":"object"}}`, tool.name, tool.name))
	}
	return strings.Join(tools, ",")
}

func (r *raw) write(frames []string, id, token string) {
	for _, frame := range frames {
		frame = strings.Replace(frame, "$ID", id, 1)
		frame = strings.Replace(frame, "$TOKEN", token, 1)
		io.WriteString(r.out, frame+"\n")
	}
}
