package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tidwall/gjson"
)

// What the upstream with many tools is about, and what it does with each.
var (
	manyThings = []string{
		"invoice", "customer", "shipment", "warehouse", "supplier", "contract", "payment", "refund", "coupon",
		"campaign", "meeting", "employee", "vehicle", "device", "certificate", "backup", "survey",
	}
	manyDeeds = []string{
		"list", "get", "create", "update", "delete", "search", "archive", "restore", "export", "import", "approve", "comment",
	}
)

// manyTools are the raw tools of that upstream: 204.
func manyTools() (tools []string) {
	for _, thing := range manyThings {
		for _, deed := range manyDeeds {
			tools = append(tools, manyTool(deed, thing))
		}
	}
	return tools
}

func manyTool(deed, thing string) string {
	text := func(description string) map[string]any {
		return map[string]any{"type": "string", "description": description}
	}
	properties := map[string]any{
		thing + "_id": text("The id of the " + thing + ", as list_" + thing + " and search_" + thing + " give it."),
		"fields":      map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": "The fields of the " + thing + " that are wanted in the answer. All of them if it is left out."},
		"state":       map[string]any{"type": "string", "enum": []string{"draft", "active", "archived"}, "description": "The state in which the " + thing + " has to be for the request to be carried out."},
		"options": map[string]any{"type": "object", "description": "How the request is carried out.", "properties": map[string]any{
			"dry_run": map[string]any{"type": "boolean", "default": false, "description": "Only say what would be done."},
			"reason":  text("Why, for the audit log."),
		}},
	}
	tool := map[string]any{
		"name":        deed + "_" + thing,
		"description": strings.ToUpper(deed[:1]) + deed[1:] + " a " + thing + ". The caller needs the right to " + deed + " each " + thing + " concerned; what is done is written to the audit log with the reason that is given.",
		"inputSchema": map[string]any{"type": "object", "properties": properties, "required": []string{thing + "_id"}},
		"annotations": map[string]any{"readOnlyHint": deed == "list" || deed == "get" || deed == "search"},
	}
	raw, _ := json.Marshal(tool)
	return string(raw)
}

// serveMany is an upstream with 204 tools, in the legacy era. It keeps the params
// of each call in the file record.
func serveMany(in io.Reader, out io.Writer, record string) int {
	file, err := os.OpenFile(record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer file.Close()
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return 0
		}
		m := gjson.Parse(line)
		if m.Get("method").Str == "tools/call" {
			fmt.Fprintln(file, m.Get("params").Raw)
		}
		if id := m.Get("id").Raw; id != "" {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", id, manyAnswer(m.Get("method").Str, m.Get("params")))
		}
	}
}

// manyAnswer is the raw result or error of a request.
func manyAnswer(method string, params gjson.Result) string {
	switch method {
	case "initialize":
		return `"result":{"protocolVersion":` + params.Get("protocolVersion").Raw + `,"capabilities":{"tools":{}},"serverInfo":{"name":"many","version":"1"}}`
	case "ping":
		return `"result":{}`
	case "tools/list":
		return `"result":{"tools":[` + strings.Join(manyTools(), ",") + `]}`
	case "tools/call":
		text, _ := json.Marshal("ran " + params.Get("name").Str + " with " + params.Get("arguments").Raw)
		return `"result":{"content":[{"type":"text","text":` + string(text) + `}]}`
	}
	return `"error":{"code":-32601,"message":"no such method"}`
}
