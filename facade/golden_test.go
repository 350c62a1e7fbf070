package facade

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"mcp-facade/facade/wire"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// odd is a value that a typed relay spoils.
const odd = `{"big":12345678901234567890123, "f":1.0 ,"e":1e400,"esc":"\u0027\u003c<","half":"\ud800","nil":null,"dup":1,"dup":2,"é":"é` + "\u2028" + `"}`

// oddly is what an upstream says to some methods, in frames in which ID is
// the request's.
var oddly = map[string][]string{
	"vendor/members": {`{"vendor":` + odd + `,"result":{"content":[{"type":"video","x":` + odd + `}],"_meta":` + odd + `,"structuredContent":1.0},"jsonrpc":"2.0","id":ID, "after":[]}`},
	"vendor/spaces":  {` {"jsonrpc" :	"2.0" , "id"	: ID , "result" : { "a" :	1 } } `},
	"vendor/error":   {`{"jsonrpc":"2.0","id":ID,"error":{"x":` + odd + `,"code":-32000.0,"message":"\u006eo","data":` + odd + `,"y":1},"z":1}`},
	"vendor/null":    {`{"jsonrpc":"2.0","id":ID,"result":null}`},
	"vendor/order": {
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9007199254740993,"progress":1.0}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9007199254740993,"progress":2e0}}`,
		`{"jsonrpc":"2.0","id":ID,"result":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":` + odd + `}}`,
	},
	"vendor/asks": {
		`{"jsonrpc":"2.0","id":0,"method":"roots/list"}`,
		`{"jsonrpc":"2.0","method":"sampling/createMessage","id":"mcpf-00000000-1","params":` + odd + `,"x":1}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"vendor/question","params":[1.0]}`,
		`{"jsonrpc":"2.0","method":"notifications/vendor/x","params":` + odd + `,"x":1}`,
		`{"jsonrpc":"2.0","method":"notifications/elicitation/complete"}`,
		`{"jsonrpc":"2.0","id":ID,"result":{}}`,
	},
	"vendor/float":  {`{"jsonrpc":"2.0","id":1,"result":{"asked":"as 1.0"}}`},
	"vendor/round":  {`{"jsonrpc":"2.0","id":9007199254740992,"result":{"asked":"as ...993"}}`},
	"vendor/letter": {`{"jsonrpc":"2.0","id":"a","result":{"asked":"as \\u0061"}}`},
	"tools/call": {
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`,
		`{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"hologram","x":` + odd + `}],"isError":true,"_meta":` + odd + `}}`,
	},
}

// scripts are what a host says, one step after the other has come to rest.
var scripts = map[string][]string{
	"values": {
		`{"jsonrpc":"2.0","id":"m","method":"vendor/members","params":` + odd + `,"x":` + odd + `}`,
		` { "method" : "vendor/spaces" , "id" : 2 , "jsonrpc" : "2.0" } `,
		`{"jsonrpc":"2.0","id":3,"method":"vendor/error"}`,
		`{"jsonrpc":"2.0","id":4,"method":"vendor/null","params":[]}`,
		`{"jsonrpc":"2.0","id":5,"method":"vendor/unknown","params":{"_meta":{"progressToken":1.0}}}`,
		`{"jsonrpc":"2.0","id":6,"method":"completion/complete","params":` + odd + `}`,
		`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"a://\u0062"}}`,
		`{"jsonrpc":"2.0","id":8,"method":"tasks/get","params":{"taskId":"1"}}`,
	},
	"order": {
		`{"jsonrpc":"2.0","id":1,"method":"vendor/order"}`,
		`{"jsonrpc":"2.0","method":"notifications/vendor/y","params":` + odd + `,"x":1}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"vendor/order"}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/vendor/z"}` + "\n" +
			`{"jsonrpc":"2.0","id":3,"method":"vendor/error"}`,
	},
	"questions": {
		`{"jsonrpc":"2.0","id":1,"method":"vendor/asks"}`,
		`{"jsonrpc":"2.0","id":0,"result":{"roots":[],"x":` + odd + `},"y":1}`,
		`{"jsonrpc":"2.0","id":"mcpf-00000000-1","result":` + odd + `}`,
		`{"error":{"code":-1,"message":"no","x":1},"id":9007199254740993,"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.10}}`,
	},
	"ids": {
		`{"jsonrpc":"2.0","id":"text","method":"vendor/null"}`,
		`{"jsonrpc":"2.0","id":"","method":"vendor/null"}`,
		`{"jsonrpc":"2.0","id":0,"method":"vendor/null"}`,
		`{"jsonrpc":"2.0","id":-7,"method":"vendor/null"}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"vendor/null"}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"vendor/null"}`,
		`{"jsonrpc":"2.0","id":1e400,"method":"vendor/null"}`,
		`{"jsonrpc":"2.0","id":"\u0061","method":"vendor/null"}`,
		`{"jsonrpc":"2.0","id":1.0,"method":"vendor/float"}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"vendor/round"}`,
		`{"jsonrpc":"2.0","id":"\u0061","method":"vendor/letter"}`,
		`{"jsonrpc":"2.0","id":"mcpf-00000000-1","method":"vendor/null"}`,
	},
	"calls": {
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":` + odd + `,"name":"Get_Issue","_meta":` + odd + `,"x":1.0}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"not_listed"}}`,
	},
	"subscriptions": {
		`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a://\u0062","x":1.0}}`,
		`{"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{"uri":"a://b"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"late"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}`,
	},
}

func strange() *fake {
	return &fake{
		modern: true,
		tools:  []string{tool("Get_Issue", "Get one.", ""), tool("list_issues", "List all.", "")},
		answer: func(_ *fakeConn, m wire.Message) ([]string, bool) {
			frames, ok := oddly[m.Method]
			var said []string
			for _, frame := range frames {
				said = append(said, strings.Replace(frame, "ID", m.ID.Raw, 1))
			}
			return said, ok && m.IsRequest()
		},
	}
}

// An era's way of opening, and of making a request its own.
type manner struct {
	name    string
	opening []string
	dress   func(frame string) string
}

var manners = []manner{
	{legacy, []string{
		`{"jsonrpc":"2.0","id":"o","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":"l","method":"tools/list"}`,
	}, func(frame string) string { return frame }},
	{modern, []string{
		`{"jsonrpc":"2.0","id":"o","method":"server/discover","params":{"_meta":` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":"l","method":"tools/list","params":{"_meta":` + modernMeta + `}}`,
	}, modernised},
}

// modernised gives each request and notification of some lines a modern _meta.
func modernised(frames string) string {
	lines := strings.Split(frames, "\n")
	for i, line := range lines {
		params := gjson.Get(line, "params")
		switch {
		case !gjson.Get(line, "method").Exists():
		case !params.Exists():
			lines[i] = string(wire.SetMember([]byte(line), "params", []byte(`{"_meta":`+modernMeta+`}`)))
		case params.IsObject():
			lines[i] = string(wire.SetMember([]byte(line), "params", wire.SetMember([]byte(params.Raw), "_meta", []byte(modernMeta))))
		default:
			lines[i] = string(wire.SetMember([]byte(line), "params", []byte(`{"_meta":`+modernMeta+`}`)))
		}
	}
	return strings.Join(lines, "\n")
}

// talk says a script and returns what the host is told after each step.
func talk(d *desk, how manner, script []string) (told [][]string) {
	for _, frame := range how.opening {
		d.send(frame)
		d.said()
	}
	for _, step := range script {
		d.send(how.dress(step))
		told = append(told, d.said())
	}
	return told
}

// heard is what the host has made an upstream hear after its opening.
func heard(up *fake) (frames []string) {
	for _, frame := range up.received("") {
		switch method := gjson.Get(frame, "method").Str; {
		case method == "initialize", method == "notifications/initialized":
		case method == "server/discover", method == "tools/list" && gjson.Get(frame, "id").Str == "l":
		case strings.HasPrefix(gjson.Get(frame, "id").Str, "mcpf-") && !strings.HasPrefix(gjson.Get(frame, "id").Str, "mcpf-00000000"):
		default:
			frames = append(frames, frame)
		}
	}
	return frames
}

func TestGolden(t *testing.T) {
	for _, how := range manners {
		for name, script := range scripts {
			for _, state := range []string{"cold", "warm"} {
				t.Run("it relays "+name+" "+how.name+" "+state, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { golden(t, how, script, state == "warm") })
				})
			}
		}
	}
}

func golden(t *testing.T, how manner, script []string, warm bool) {
	plain := strange()
	want := talk(direct(t, plain), how, script)
	up := strange()
	o := Options{Server: entry(t, `,"names":"keep","used":["*"]`), Store: store(t), Version: "v"}
	if warm {
		first := start(t, o, strange())
		talk(first, how, nil)
		first.close()
	}
	got := talk(start(t, o, up), how, script)
	for i, step := range script {
		if diff := cmp.Diff(want[i], got[i]); diff != "" {
			t.Errorf("after %s the host is told (-directly +through the facade):\n%s", step, diff)
		}
	}
	if diff := cmp.Diff(heard(plain), heard(up)); diff != "" {
		t.Errorf("the upstream hears (-directly +through the facade):\n%s", diff)
	}
}

func TestGoldenLarge(t *testing.T) {
	up := strange()
	large := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + strings.Repeat(`<line \u0027\n>`, 20<<20/13) + `"}]}}`
	up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
		return []string{large}, m.Method == "vendor/large"
	}
	d := start(t, Options{}, up)
	d.open()
	if got, _ := d.ask("7", "vendor/large", "{}"); got != large {
		t.Errorf("a result of %d bytes came as one of %d bytes, or changed", len(large), len(got))
	}
}

func TestGoldenCall(t *testing.T) {
	const before = `{"jsonrpc":"2.0", "id":1.0 ,"x":1e400,"method":"tools/call","params":{"requestState":"\u0061", "name" : "call" ,"y":[1.0], "arguments":{"args":`
	const after = `,"tool":"list_issues","_meta":1},"inputResponses":` + odd + `,"_meta":` + odd + `,"task":{"ttl":1.0}},"z":{} }`
	for _, test := range []struct{ name, sent, want string }{
		{"replaces name and arguments only", before + odd + after,
			`{"jsonrpc":"2.0", "id":1.0 ,"x":1e400,"method":"tools/call","params":{"requestState":"\u0061", "name" : "list_issues" ,"y":[1.0], "arguments":` + odd +
				`,"inputResponses":` + odd + `,"_meta":` + odd + `,"task":{"ttl":1.0}},"z":{} }`},
		{"sends no arguments as an empty object", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call","arguments":{"tool":"Get_Issue"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Get_Issue","arguments":{}}}`},
		{"renames a direct call", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":` + odd + `, "name":"get_issue"}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":` + odd + `, "name":"Get_Issue"}}`},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := strange()
				d := start(t, Options{Server: entry(t, `,"used":["get_*"],"hints":false`)}, up)
				talk(d, manners[0], nil)
				d.send(test.sent)
				told := d.said()
				if got := up.received("tools/call"); !slices.Equal(got, []string{test.want}) {
					t.Errorf("the upstream hears\n%s\nwant\n%s", got, test.want)
				}
				id := gjson.Get(test.sent, "id").Raw
				want := []string{oddly["tools/call"][0], strings.Replace(oddly["tools/call"][1], "ID", id, 1)}
				if diff := cmp.Diff(want, told); diff != "" {
					t.Errorf("the host is told (-want +got):\n%s", diff)
				}
			})
		})
	}
}
