// Command upstream is a fast MCP server for benchmarks: it lists the tools of
// a file and answers each call with as many bytes of text as its argument n
// asks for. With -http it serves by Streamable HTTP, with JSON at /json and
// with events at /events, and writes its address to stdout.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"

	"github.com/tidwall/gjson"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "-http" {
		exit(serveHTTP(read(args[1:])))
	}
	exit(serveLines(read(args)))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A server is what is listed and said.
type server struct {
	tools []byte
	mu    sync.Mutex
	text  []byte // grows as long answers are asked for; guarded by mu
}

func read(args []string) *server {
	tools := []byte(`[{"name":"text","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}]`)
	if len(args) > 0 {
		file, err := os.ReadFile(args[0])
		if err != nil {
			exit(err)
		}
		tools = []byte(gjson.GetBytes(file, "tools").Raw)
	}
	return &server{tools: bytes.ReplaceAll(tools, []byte("\n"), nil)}
}

func serveLines(s *server) error {
	in, out := bufio.NewReaderSize(os.Stdin, 1<<16), bufio.NewWriterSize(os.Stdout, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil
		}
		if s.answer(out, gjson.ParseBytes(line)) {
			out.WriteByte('\n')
			out.Flush()
		}
	}
}

func serveHTTP(s *server) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var out bytes.Buffer
		events := r.URL.Path == "/events"
		if events {
			out.WriteString("event: message\ndata: ")
		}
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case !s.answer(&out, gjson.ParseBytes(body)):
			w.WriteHeader(http.StatusAccepted)
			return
		case events:
			out.WriteString("\n\n")
			w.Header().Set("Content-Type", "text/event-stream")
		default:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(out.Len()))
		}
		w.Write(out.Bytes())
	}))
}

// A writer is what an answer is written to.
type writer interface {
	io.Writer
	io.StringWriter
}

// answer writes the answer to a message; false if there is none.
func (s *server) answer(out writer, r gjson.Result) bool {
	id := r.Get("id").Raw
	if id == "" {
		return false
	}
	out.WriteString(`{"jsonrpc":"2.0","id":` + id + `,"result":`)
	switch r.Get("method").Str {
	case "initialize":
		out.WriteString(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}`)
	case "tools/list":
		out.WriteString(`{"tools":`)
		out.Write(s.tools)
		out.WriteString(`}`)
	default:
		n, _ := strconv.Atoi(r.Get("params.arguments.n").Raw)
		out.WriteString(`{"content":[{"type":"text","text":"`)
		out.Write(s.said(n))
		out.WriteString(`"}]}`)
	}
	out.WriteString("}")
	return true
}

// said is n bytes of text, or one less where that would end in half an escape.
func (s *server) said(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.text) < n {
		s.text = append(s.text, "All work and no play makes a dull benchmark, line after line.\\n"...)
	}
	if n > 0 && s.text[n-1] == '\\' {
		n--
	}
	return s.text[:n]
}
