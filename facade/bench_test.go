package facade

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"mcp-facade/facade/config"
	"mcp-facade/facade/ledger"
	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"
)

// A pipeConn is a connection to a server in memory, framed as one to a process
// is.
type pipeConn struct {
	w     *wire.Writer
	r     *wire.Reader
	close func()
}

func (c *pipeConn) Send(frame []byte) error     { return c.w.Send(frame) }
func (c *pipeConn) Recv() (wire.Message, error) { return c.r.Next() }
func (c *pipeConn) Plain(text string) string    { return text }
func (c *pipeConn) Close() error                { c.close(); return c.w.Close() }

// echo serves in and out: it answers every request, tools/call by result.
func echo(in io.Reader, out io.Writer, result []byte) {
	r := wire.NewReader(in, nil)
	for m, err := r.Next(); err == nil; m, err = r.Next() {
		if !m.IsRequest() {
			continue
		}
		answer := result
		switch m.Method {
		case "initialize":
			answer = []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`)
		case "tools/list":
			answer = []byte(`{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`)
		}
		if _, err := out.Write(append(wire.Response(m.ID.Raw, answer), '\n')); err != nil {
			return
		}
	}
}

// A client is a host that waits for each answer.
type client struct {
	b  *testing.B
	in io.Writer
	r  *bufio.Reader
}

// ask writes a request and returns how many bytes have come up to the end of
// the next line.
func (c *client) ask(frame string) (n int) {
	if _, err := io.WriteString(c.in, frame+"\n"); err != nil {
		c.b.Fatal(err)
	}
	for {
		part, err := c.r.ReadSlice('\n')
		n += len(part)
		if err == nil {
			return n
		}
		if err != bufio.ErrBufferFull {
			c.b.Fatal(err)
		}
	}
}

// duplex is a server in memory: what writes to it, what reads from it, and
// what waits for its end.
func duplex(serve func(in io.Reader, out io.Writer)) (w *io.PipeWriter, r *io.PipeReader, wait func()) {
	in, w := io.Pipe()
	r, out := io.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() {
		serve(in, out)
		in.Close()
		out.Close()
	})
	return w, r, wg.Wait
}

// roundTrips measures calls whose result has size bytes: of the server itself,
// and through a Facade with a ledger.
func roundTrips(b *testing.B, size int) {
	result := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat(`The quick \"brown\" fox.\n`, max(1, size/25)) + `"}]}`)
	direct := func(in io.Reader, out io.Writer) { echo(in, out, result) }
	dial := func(context.Context, func(string) []byte) (upstream.Conn, error) {
		w, r, wait := duplex(direct)
		return &pipeConn{wire.NewWriter(w, hostQueue), wire.NewReader(r, nil), func() { w.Close(); wait() }}, nil
	}
	server := config.InPlace("echo", "echo", nil)
	through := func(in io.Reader, out io.Writer) {
		o := Options{Server: server, Dial: dial, Ledger: ledger.Open(ledger.Path(b.TempDir(), "echo"), nil)}
		if err := New(o).Run(b.Context(), in, out); err != nil {
			b.Error(err)
		}
	}
	var alone float64
	b.Run("direct", func(b *testing.B) { alone = calls(b, direct, len(result)) })
	b.Run("facade", func(b *testing.B) {
		b.ReportMetric(calls(b, through, len(result))-alone, "added-ns/op")
	})
}

// calls measures one call after the other, and returns ns for each.
func calls(b *testing.B, serve func(io.Reader, io.Writer), size int) float64 {
	w, r, wait := duplex(serve)
	c := &client{b, w, bufio.NewReaderSize(r, 64<<10)}
	c.ask(line("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`))
	io.WriteString(w, line("", "notifications/initialized", "")+"\n")
	c.ask(line("1", "tools/list", "{}"))
	b.ReportAllocs()
	b.SetBytes(int64(size))
	i := 2
	for b.Loop() {
		if n := c.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{}}}`, i)); n < size {
			b.Fatalf("an answer of %d bytes, want more than %d", n, size)
		}
		i++
	}
	each := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	w.Close()
	wait()
	return each
}

func BenchmarkCall(b *testing.B)      { roundTrips(b, 100) }
func BenchmarkRelay1MB(b *testing.B)  { roundTrips(b, 1<<20) }
func BenchmarkRelay10MB(b *testing.B) { roundTrips(b, 10<<20) }
