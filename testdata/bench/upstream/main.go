// Command upstream is a fast MCP server for benchmarks: it lists the tools of
// a file and answers each call with as many bytes of text as its argument n
// asks for.
package main

import (
	"bufio"
	"bytes"
	"os"
	"strconv"

	"github.com/tidwall/gjson"
)

func main() {
	var tools []byte
	if len(os.Args) > 1 {
		file, err := os.ReadFile(os.Args[1])
		if err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		tools = []byte(gjson.GetBytes(file, "tools").Raw)
	} else {
		tools = []byte(`[{"name":"text","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}]`)
	}
	tools = bytes.ReplaceAll(tools, []byte("\n"), nil)
	in, out := bufio.NewReaderSize(os.Stdin, 1<<16), bufio.NewWriterSize(os.Stdout, 1<<16)
	var text []byte
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		r := gjson.ParseBytes(line)
		id := r.Get("id").Raw
		if id == "" {
			continue
		}
		out.WriteString(`{"jsonrpc":"2.0","id":` + id + `,"result":`)
		switch r.Get("method").Str {
		case "initialize":
			out.WriteString(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}`)
		case "tools/list":
			out.WriteString(`{"tools":`)
			out.Write(tools)
			out.WriteString(`}`)
		default:
			n, _ := strconv.Atoi(r.Get("params.arguments.n").Raw)
			for len(text) < n {
				text = append(text, "All work and no play makes a dull benchmark, line after line.\\n"...)
			}
			end := n
			if end > 0 && text[end-1] == '\\' {
				end--
			}
			out.WriteString(`{"content":[{"type":"text","text":"`)
			out.Write(text[:end])
			out.WriteString(`"}]}`)
		}
		out.WriteString("}\n")
		out.Flush()
	}
}
