package upstream

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"mcp-facade/facade/wire"
)

// annotated is the inputSchema of the tool that the tests call.
const annotated = `{
	"type": "object",
	"properties": {
		"region": {"type": "string", "x-mcp-header": "Region"},
		"limit": {"type": "integer", "x-mcp-header": "Limit"},
		"dry": {"type": "boolean", "x-mcp-header": "Dry-Run"},
		"query": {"type": "string"},
		"x-mcp-header": {"type": "string"},
		"at": {"type": "object", "properties": {
			"a.b*": {"type": "object", "properties": {"cluster": {"type": "string", "x-mcp-header": "cluster"}}}
		}}
	}
}`

// modernCall is a call of the tool t in the modern era.
func modernCall(arguments string) string {
	return modernRequest("tools/call", `"name":"t","arguments":`+arguments)
}

func modernRequest(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},%s}}`, method, params)
}

// mirrored returns the headers that mirror sets for a frame, but for the version.
func mirrored(t *testing.T, frame string) http.Header {
	t.Helper()
	m, err := wire.Parse([]byte(frame))
	if err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	h := http.Header{}
	mirror(h, m, func(tool string) []byte {
		if tool == "t" {
			return []byte(annotated)
		}
		return nil
	})
	if got := h.Get("MCP-Protocol-Version"); got != "2026-07-28" {
		t.Errorf("MCP-Protocol-Version of %s: %q", frame, got)
	}
	h.Del("MCP-Protocol-Version")
	return h
}

func TestMirror(t *testing.T) {
	for _, test := range []struct {
		name, frame string
		want        string // "Name: value", one a line
	}{
		{"mirrors a method", modernRequest("tools/list", `"name":"t"`), "Mcp-Method: tools/list"},
		{"mirrors a tool's name", modernRequest("tools/call", `"name":"u","arguments":{"region":"x"}`), "Mcp-Method: tools/call\nMcp-Name: u"},
		{"mirrors a prompt's name", modernRequest("prompts/get", `"name":"t","arguments":{"region":"x"}`), "Mcp-Method: prompts/get\nMcp-Name: t"},
		{"mirrors a resource's URI", modernRequest("resources/read", `"name":"t","uri":"file:///a b"`), "Mcp-Method: resources/read\nMcp-Name: file:///a b"},
		{"encodes a name", modernRequest("tools/call", `"name":"t\u00fc"`), "Mcp-Method: tools/call\nMcp-Name: =?base64?dMO8?="},
		{"mirrors no name that is not text", modernRequest("tools/call", `"name":7`), "Mcp-Method: tools/call"},
		{"mirrors no method that no header can hold", modernRequest("a\nb", `"name":"t"`), ""},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, headerLines(mirrored(t, test.frame))); diff != "" {
				t.Errorf("headers of %s (-want +got):\n%s", test.frame, diff)
			}
		})
	}
}

// headerLines writes headers as they are sent.
func headerLines(h http.Header) string {
	var b strings.Builder
	h.Write(&b)
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\r\n"), "\r\n", "\n")
}

// annotatedCalls are arguments of the tool t and the headers that go with them.
var annotatedCalls = []struct{ name, arguments, want string }{
	{"mirrors each type", `{"region":"us-west1","limit":42,"dry":true,"query":"q"}`, "Mcp-Param-Dry-Run: true\nMcp-Param-Limit: 42\nMcp-Param-Region: us-west1"},
	{"mirrors false and 0", `{"limit":0,"dry":false}`, "Mcp-Param-Dry-Run: false\nMcp-Param-Limit: 0"},
	{"mirrors what is nested", `{"at":{"a.b*":{"cluster":"c1"}}}`, "Mcp-Param-Cluster: c1"},
	{"leaves out null", `{"region":null,"limit":null,"at":{"a.b*":{"cluster":null}}}`, ""},
	{"leaves out what is absent", `{"at":null,"query":"q","a.b*":{"cluster":"c1"}}`, ""},
	{"leaves out a property that is called so", `{"x-mcp-header":"x"}`, ""},
	{"reads keys with escapes", `{"r\u0065gion":"a"}`, "Mcp-Param-Region: a"},
	{"writes 1.0 as an integer", `{"limit":1.0}`, "Mcp-Param-Limit: 1"},
	{"writes 1e2 as an integer", `{"limit":1e2}`, "Mcp-Param-Limit: 100"},
	{"writes -0 as an integer", `{"limit":-0.0}`, "Mcp-Param-Limit: 0"},
	{"writes the largest integer", `{"limit":9007199254740991}`, "Mcp-Param-Limit: 9007199254740991"},
	{"writes the least integer", `{"limit":-9.007199254740991e15}`, "Mcp-Param-Limit: -9007199254740991"},
	{"keeps spaces inside", `{"region":"a b"}`, "Mcp-Param-Region: a b"},
	{"encodes other letters", `{"region":"Hello, 世界"}`, "Mcp-Param-Region: =?base64?SGVsbG8sIOS4lueVjA==?="},
	{"encodes spaces around", `{"region":" padded "}`, "Mcp-Param-Region: =?base64?IHBhZGRlZCA=?="},
	{"encodes line ends", `{"region":"line1\nline2"}`, "Mcp-Param-Region: =?base64?bGluZTEKbGluZTI=?="},
	{"encodes what looks encoded", `{"region":"=?base64?literal?="}`, "Mcp-Param-Region: =?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
	{"encodes tabs", `{"region":"a\tb"}`, "Mcp-Param-Region: =?base64?YQli?="},
	{"encodes nothing at all", `{"region":""}`, "Mcp-Param-Region: =?base64??="},
	{"takes the last of two", `{"region":"a","region":"b"}`, "Mcp-Param-Region: b"},
}

func TestMirrorArguments(t *testing.T) {
	for _, test := range append(annotatedCalls, []struct{ name, arguments, want string }{
		{"leaves out an integer that is too large", `{"limit":9007199254740992}`, ""},
		{"leaves out a fraction", `{"limit":1.5}`, ""},
		{"leaves out what is no number", `{"limit":1e999}`, ""},
		{"leaves out objects and arrays", `{"region":{},"limit":[1]}`, ""},
		{"takes arguments that are none", `["region"]`, ""},
	}...) {
		t.Run("it "+test.name, func(t *testing.T) {
			h := mirrored(t, modernCall(test.arguments))
			h.Del("Mcp-Method")
			h.Del("Mcp-Name")
			if diff := cmp.Diff(test.want, headerLines(h)); diff != "" {
				t.Errorf("headers of %s (-want +got):\n%s", test.arguments, diff)
			}
		})
	}
}

// TestMirrorSatisfiesTheSDK has a server of the SDK compare the headers with the
// body, and shows that it does.
func TestMirrorSatisfiesTheSDK(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(annotated)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	post := func(t *testing.T, frame string, h http.Header) (int, string) {
		r := httptest.NewRequest("POST", "http://127.0.0.1/", strings.NewReader(frame))
		r.Header = h
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("MCP-Protocol-Version", "2026-07-28")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		body, _ := io.ReadAll(w.Body)
		return w.Code, string(body)
	}
	for _, test := range annotatedCalls {
		t.Run("it "+test.name, func(t *testing.T) {
			frame := modernCall(test.arguments)
			h := mirrored(t, frame)
			if status, body := post(t, frame, h.Clone()); status != 200 || strings.Contains(body, "-32020") {
				t.Errorf("%s with\n%s: %d %s", test.arguments, headerLines(h), status, body)
			}
			for name := range h {
				without := h.Clone()
				without.Del(name)
				if status, body := post(t, frame, without); status != 400 {
					t.Errorf("%s without %s: %d %s", test.arguments, name, status, body)
				}
			}
		})
	}
}

func TestCheckHeaders(t *testing.T) {
	property := func(rest string) string { return `{"type":"object","properties":{"a":{` + rest + `}}}` }
	const a = `"type":"string","x-mcp-header":"A"`
	for _, test := range []struct{ name, schema, want string }{
		{"takes valid ones", annotated, ""},
		{"takes a schema without", `{"type":"object"}`, ""},
		{"takes no schema", ``, ""},
		{"takes each character of a token", property(`"type":"string","x-mcp-header":"aZ09!#$%&'*+-.^_` + "`" + `|~"`), ""},
		{"takes a parameter that may be null", property(`"type":["null","integer"],"x-mcp-header":"A"`), ""},
		{"takes what only looks like one", property(`"default":{` + a + `},"enum":[{` + a + `}],"const":{` + a + `},"x-other":{` + a + `}`), ""},
		{"refuses an empty name", property(`"type":"string","x-mcp-header":""`),
			`inputSchema "/properties/a": x-mcp-header "": it is not the name of a header`},
		{"refuses a name with a space", property(`"type":"string","x-mcp-header":"A b"`),
			`inputSchema "/properties/a": x-mcp-header "A b": it is not the name of a header`},
		{"refuses a name with line ends", property(`"type":"string","x-mcp-header":"A\r\nB: c"`),
			`inputSchema "/properties/a": x-mcp-header "A\r\nB: c": it is not the name of a header`},
		{"refuses a name with other letters", property(`"type":"string","x-mcp-header":"Ä"`),
			`inputSchema "/properties/a": x-mcp-header "Ä": it is not the name of a header`},
		{"refuses a name that is no text", property(`"type":"string","x-mcp-header":true`),
			`inputSchema "/properties/a": x-mcp-header "true": it is not the name of a header`},
		{"refuses the same name in other letters", `{"properties":{"a":{` + a + `},"b":{"properties":{"c":{"type":"string","x-mcp-header":"a"}}}}}`,
			`inputSchema "/properties/b/properties/c": x-mcp-header "a": another parameter has the same`},
		{"refuses a number", property(`"type":"number","x-mcp-header":"A"`),
			`inputSchema "/properties/a": x-mcp-header "A": the parameter is not a string, an integer or a boolean`},
		{"refuses an object", property(`"x-mcp-header":"A","type":["string","object"]`),
			`inputSchema "/properties/a": x-mcp-header "A": the parameter is not a string, an integer or a boolean`},
		{"refuses null alone", property(`"type":"null","x-mcp-header":"A"`),
			`inputSchema "/properties/a": x-mcp-header "A": the parameter is not a string, an integer or a boolean`},
		{"refuses a parameter without a type", property(`"x-mcp-header":"A"`),
			`inputSchema "/properties/a": x-mcp-header "A": the parameter is not a string, an integer or a boolean`},
		{"refuses the arguments as a whole", `{"type":"object","x-mcp-header":"A"}`,
			`inputSchema "/": x-mcp-header "A": it stands where no argument can be found by name`},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			got := ""
			if err := CheckHeaders([]byte(test.schema)); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("CheckHeaders(%s):\n got %s\nwant %s", test.schema, got, test.want)
			}
		})
	}
	for path, schema := range map[string]string{
		"items":           `{"items":{%s}}`,
		"list of items":   `{"items":[{%s}]}`,
		"prefixItems":     `{"prefixItems":[true,{%s}]}`,
		"oneOf":           `{"oneOf":[{"properties":{"a":{%s}}}]}`,
		"anyOf":           `{"anyOf":[{%s}]}`,
		"allOf":           `{"allOf":[{"properties":{"a":{%s}}}]}`,
		"not":             `{"not":{%s}}`,
		"if":              `{"if":{"properties":{"a":{%s}}}}`,
		"then":            `{"then":{"properties":{"a":{%s}}}}`,
		"else":            `{"else":{"properties":{"a":{%s}}}}`,
		"$defs":           `{"$defs":{"properties":{"properties":{"a":{%s}}}}}`,
		"definitions":     `{"definitions":{"a":{%s}}}`,
		"additional":      `{"additionalProperties":{"properties":{"a":{%s}}}}`,
		"pattern":         `{"patternProperties":{"a":{%s}}}`,
		"items below":     `{"properties":{"b":{"items":{"properties":{"a":{%s}}}}}}`,
		"parameter's not": `{"properties":{"b":{"not":{%s}}}}`,
	} {
		t.Run("it refuses one in "+path, func(t *testing.T) {
			schema := fmt.Sprintf(schema, a)
			if err := CheckHeaders([]byte(schema)); err == nil || !strings.HasSuffix(err.Error(), `x-mcp-header "A": it stands where no argument can be found by name`) {
				t.Errorf("CheckHeaders(%s) = %v", schema, err)
			}
		})
	}
}

// TestMirrorSendsNothingOfAnInvalidSchema shows that no header is made by which a
// server could be told what it does not expect.
func TestMirrorSendsNothingOfAnInvalidSchema(t *testing.T) {
	m, err := wire.Parse([]byte(modernCall(`{"a":"1","b":"2"}`)))
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	mirror(h, m, func(string) []byte {
		return []byte(`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"B: c"}}}`)
	})
	if got := headerLines(h); strings.Contains(got, "Mcp-Param") {
		t.Errorf("headers:\n%s", got)
	}
}

// TestAnnotationsEndAtMaxSteps shows that nobody is kept busy by a schema that is
// nested without reason.
func TestAnnotationsEndAtMaxSteps(t *testing.T) {
	const deep = 2000
	schema := strings.Repeat(`{"properties":{"a":`, deep) + `{"type":"string","x-mcp-header":"A"}` + strings.Repeat("}}", deep)
	if found, err := annotations([]byte(schema)); err != nil || len(found) != 0 {
		t.Errorf("annotations below maxSteps: %v, %v", found, err)
	}
}

// TestMirrorCatalogs reads the annotations of real servers.
func TestMirrorCatalogs(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/catalogs/*.json")
	if len(files) == 0 {
		t.Skip("no ../shared/catalogs")
	}
	total := map[string]int{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list := gjson.ParseBytes(raw)
		if list.IsObject() {
			list = list.Get("tools")
		}
		for _, tool := range list.Array() {
			found, err := annotations([]byte(tool.Get("inputSchema").Raw))
			if err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(file), tool.Get("name"), err)
			}
			if len(found) > 0 {
				total[filepath.Base(file)]++
			}
		}
	}
	if total["github.json"] != 65 {
		t.Errorf("tools with annotations: %v, want 65 of github.json", total)
	}
}

// FuzzEncode shows that a value comes through a header as it was.
func FuzzEncode(f *testing.F) {
	for _, s := range []string{"", "a", " a", "ä", "=?base64?YQ==?=", "=?base64?=", "=?base64??=", "a\r\nB: c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b strings.Builder
		http.Header{"A": {encode(text)}}.Write(&b)
		got := strings.TrimSuffix(strings.TrimPrefix(b.String(), "A: "), "\r\n")
		if strings.HasPrefix(got, "=?base64?") && strings.HasSuffix(got, "?=") && len(got) >= len("=?base64??=") {
			raw, err := base64.StdEncoding.DecodeString(got[len("=?base64?") : len(got)-len("?=")])
			if err != nil {
				t.Fatalf("%q is sent as %q: %v", text, got, err)
			}
			got = string(raw)
		}
		if got != text {
			t.Errorf("%q comes as %q, %q", text, got, b.String())
		}
	})
}
