// Package demo is an MCP server of its own, so that somebody new to the facade
// can see it at work without an upstream, an account or a network: some sixty
// tools of a made-up project tracker, described at the length that vendors
// like, over data in memory. What a tool changes, later calls see; when the
// connection ends, everything is forgotten.
//
// The data and the clock are fixed: the same calls give the same answers. Each
// call that changes something moves the clock on by a minute.
//
// A call goes through tools.go (find the tool, check the arguments against its
// schema and the data) to a verb: most are the general ones in records.go, the
// rest stand in the file of their subject.
package demo

import (
	"io"
	"sync"

	"github.com/tidwall/gjson"

	"mcp-facade/facade/wire"
)

// queueLimit bounds the answers that the host has not taken yet, in bytes.
const queueLimit = 1 << 20

// Serve speaks MCP as a stdio server, in both eras, until in ends. Calls that
// are under way then are answered before it returns. The error is the first
// that in (other than io.EOF) or out gave.
func Serve(in io.Reader, out io.Writer) error {
	s := &server{
		out:     wire.NewWriter(out, queueLimit),
		defs:    definitions(),
		store:   newStore(),
		running: map[string]chan struct{}{},
	}
	err := s.read(wire.NewReader(in, s.refuse))
	s.calls.Wait()
	s.endListens()
	if werr := s.out.Close(); err == nil || err == io.EOF {
		err = werr
	}
	return err
}

// A server is one connection and its data.
type server struct {
	out   *wire.Writer
	defs  map[string]gjson.Result // the tool objects by name; never changed
	calls sync.WaitGroup          // the calls that run beside the reader

	mu      sync.Mutex
	store   *store                   // guarded by mu
	running map[string]chan struct{} // closed to cancel; by request key; guarded by mu
	listens []listen                 // guarded by mu
	verbose bool                     // whether a legacy host wants info messages; guarded by mu
}

// read answers one message after the other, so that a call sees what the call
// before it did.
func (s *server) read(r *wire.Reader) error {
	for {
		m, err := r.Next()
		if err != nil {
			return err
		}
		switch {
		case m.IsRequest():
			s.request(m)
		case m.Method == "notifications/cancelled":
			s.cancel(wire.Key(m.Params.Get("requestId")))
		}
	}
}

// refuse answers a line that is no message.
func (s *server) refuse(_ []byte, err error) {
	code := codeInvalidRequest
	if err == wire.ErrNotJSON {
		code = codeParse
	}
	s.out.Send(wire.ErrorResponse("null", code, err.Error(), nil))
}
