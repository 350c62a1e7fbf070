package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// A host plays the host for try and for the commands: one request at a time
// over a pair of streams.
type host struct {
	server string
	out    io.WriteCloser
	in     *wire.Reader
	id     int
	meta   []byte       // what every request of a modern host carries; nil: it is a legacy one
	close  func() error // ends it; needed once
}

// hostOpening is what such a host says of itself: legacy, and capable of nothing.
const hostOpening = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"mcp-facade","version":"1"}}`

// inProcess is a host in front of a Facade in this process.
func inProcess(ctx context.Context, server string, o facade.Options) *host {
	hostIn, facadeOut := io.Pipe()
	facadeIn, hostOut := io.Pipe()
	var wg sync.WaitGroup
	var err error
	wg.Go(func() {
		err = facade.New(o).Run(ctx, facadeIn, facadeOut)
		facadeOut.CloseWithError(io.EOF)
		facadeIn.Close()
	})
	return newHost(server, hostIn, hostOut, func() error {
		hostOut.Close()
		io.Copy(io.Discard, hostIn)
		wg.Wait()
		return err
	})
}

func newHost(server string, in io.Reader, out io.WriteCloser, close func() error) *host {
	return &host{server: server, out: out, in: wire.NewReader(in, func([]byte, error) {}), close: close}
}

// open is the handshake; it returns the server's result.
func (h *host) open() (gjson.Result, error) { return h.openLike([]byte(hostOpening)) }

// openAs opens as the host did that a stored view is of, so that it is shown the
// same tools. A modern one has no handshake. An empty head is nobody's.
func (h *host) openAs(head catalog.Head) (err error) {
	switch {
	case head.Opening == nil:
		_, err = h.open()
	case head.View.Era == catalog.CommandView().Era:
		_, err = h.openLike(head.Opening)
	default:
		h.meta = head.Opening
	}
	return err
}

func (h *host) openLike(opening []byte) (gjson.Result, error) {
	r, err := h.request("initialize", opening)
	if err != nil {
		return r, err
	}
	_, err = h.out.Write([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"))
	return r, err
}

// request sends one request and waits for its result.
func (h *host) request(method string, params []byte) (gjson.Result, error) {
	h.id++
	if h.meta != nil {
		params = wire.SetMember(params, "_meta", h.meta)
	}
	frame := []byte(`{"jsonrpc":"2.0","id":` + strconv.Itoa(h.id) + `,"method":"` + method + `","params":`)
	frame = append(append(frame, params...), "}\n"...)
	if _, err := h.out.Write(frame); err != nil {
		return gjson.Result{}, fmt.Errorf("%s: %s: %w", h.server, method, err)
	}
	for {
		m, err := h.in.Next()
		if errors.Is(err, io.EOF) {
			return gjson.Result{}, fmt.Errorf("%s: %s: the server ended without an answer", h.server, method)
		}
		if err != nil {
			return gjson.Result{}, fmt.Errorf("%s: %s: %w", h.server, method, err)
		}
		switch {
		case m.IsRequest():
			h.out.Write(append(wire.ErrorResponse(m.ID.Raw, -32601, "mcp-facade's commands have no "+m.Method, nil), '\n'))
		case m.Key() == "n"+strconv.Itoa(h.id):
			if m.Error.Exists() {
				return gjson.Result{}, fmt.Errorf("%s: %s: %s", h.server, method, compact.Line(m.Error.Get("message").Str))
			}
			return m.Result, nil
		}
	}
}

// tools are the raw tools of the surface.
func (h *host) tools() ([]gjson.Result, error) {
	r, err := h.request("tools/list", []byte("{}"))
	return r.Get("tools").Array(), err
}

// call runs one tool; args is a raw object.
func (h *host) call(tool string, args []byte) (gjson.Result, error) {
	params := wire.AppendString([]byte(`{"name":`), tool)
	params = append(append(append(params, `,"arguments":`...), args...), '}')
	return h.request("tools/call", params)
}

// text is the texts of a tool result, a line each; other content is named. It
// is for a terminal, and without the control characters that could move one.
func text(result gjson.Result) string {
	var parts []string
	for _, c := range result.Get("content").Array() {
		if kind := c.Get("type").Str; kind == "text" {
			parts = append(parts, strings.Map(printable, c.Get("text").Str))
		} else {
			parts = append(parts, fmt.Sprintf("[%s, %d bytes; --json shows it]", compact.Line(kind), len(c.Raw)))
		}
	}
	return strings.Join(parts, "\n")
}

// printable drops control characters other than tab and line feed.
func printable(r rune) rune {
	if r != '\t' && r != '\n' && unicode.IsControl(r) {
		return -1
	}
	return r
}
