package facade

import (
	"strings"
	"testing"
	"testing/synctest"

	"mcp-facade/facade/wire"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

func TestBatch(t *testing.T) {
	up := func() *fake {
		f := &fake{tools: []string{tool("get_issue", "Get.", "")}}
		f.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
			if m.Method == "prompts/get" {
				return []string{string(wire.Response(m.ID.Raw, []byte(`{"p":1}`)))}, true
			}
			return nil, m.Method == "tools/call"
		}
		return f
	}
	open := func(t *testing.T, version string) *desk {
		d := start(t, Options{Server: entry(t, `,"used":["get_issue"]`)}, up())
		d.ask("0", "initialize", `{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
		d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		d.said()
		return d
	}
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, test := range []struct {
		name    string
		version string
		send    []string
		want    []string
	}{
		{"is answered in one frame", "2025-03-26",
			[]string{`[` + ping + `, {"jsonrpc":"2.0","method":"notifications/progress","params":{}}, {"jsonrpc":"2.0","id":"g","method":"prompts/get","params":{}}]`},
			[]string{`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":"g","result":{"p":1}}]`}},
		{"waits for no answer to what is cancelled", "2025-03-26",
			[]string{`[` + ping + `,{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_issue","arguments":{}}}]`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`},
			[]string{`[{"jsonrpc":"2.0","id":1,"result":{}}]`}},
		{"answers members that are no messages", "2025-03-26", []string{`[1,` + ping + `]`},
			[]string{`[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC 2.0 message: not an object"}},{"jsonrpc":"2.0","id":1,"result":{}}]`}},
		{"may be all wrong", "2025-03-26", []string{`[{}]`},
			[]string{`[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC 2.0 message: \"jsonrpc\" is not \"2.0\""}}]`}},
		{"of notifications is not answered", "2025-03-26", []string{`[{"jsonrpc":"2.0","method":"notifications/progress","params":{}}]`}, nil},
		{"may not be empty", "2025-03-26", []string{`[]`},
			[]string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"an empty batch"}}`}},
		{"is refused by other revisions", "2025-06-18", []string{`[` + ping + `]`},
			[]string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a batch: only MCP 2025-03-26 has them; send each message as a frame of its own"}}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := open(t, test.version)
				for _, frame := range test.send {
					d.send(frame)
				}
				said := d.said()
				for i, frame := range said { // the rig's reader takes an array for noise
					said[i] = strings.TrimSuffix(strings.TrimPrefix(frame, "noise: "), ": a batch")
				}
				if diff := cmp.Diff(test.want, said); diff != "" {
					t.Errorf("the host was told (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A request in a version that the upstream does not have, or without what each
// modern one carries, is answered as the specification says.
func TestMisfit(t *testing.T) {
	const newer = `{"io.modelcontextprotocol/protocolVersion":"2027-01-01","io.modelcontextprotocol/clientCapabilities":{}}`
	const bare = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	for _, test := range []struct {
		name, method, params string
		code                 int64
		has                  string
	}{
		{"a version that is not offered", "tools/list", `{"_meta":` + newer + `}`, codeUnsupportedVersion, `"supported":["2026-07-28"],"requested":"2027-01-01"`},
		{"no capabilities", "tools/list", `{"_meta":` + bare + `}`, codeInvalidParams, "io.modelcontextprotocol/clientCapabilities"},
		{"no _meta at all", "tools/list", `{}`, codeInvalidParams, "io.modelcontextprotocol/protocolVersion"},
		{"a probe without capabilities", "server/discover", `{"_meta":` + bare + `}`, codeInvalidParams, "io.modelcontextprotocol/clientCapabilities"},
		{"an initialize of this era", "initialize", `{"protocolVersion":"2026-07-28","capabilities":{},"_meta":` + modernMeta + `}`, codeMethodNotFound, ""},
		{"a cursor that is none of ours", "tools/list", `{"cursor":"x","_meta":` + modernMeta + `}`, codeInvalidParams, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := start(t, Options{}, &fake{modern: true, tools: []string{tool("get_issue", "Get.", "")}})
				d.ask("0", "server/discover", `{"_meta":`+modernMeta+`}`)
				d.said()
				if test.code == codeUnsupportedVersion {
					d.ask("1", "server/discover", `{"_meta":`+newer+`}`)
				}
				r, _ := d.ask("2", test.method, test.params)
				e := gjson.Get(r, "error")
				if e.Get("code").Int() != test.code || !gjson.Get(r, "error").Exists() || test.has != "" && !strings.Contains(e.Raw, test.has) {
					t.Errorf("the host was told %s; want %d with %s", r, test.code, test.has)
				}
			})
		})
	}
}
