package facade

import (
	"bytes"
	"context"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// batchVersion is the one revision in which a frame may hold several messages
// (MCP 2025-03-26, basic/transports).
const batchVersion = "2025-03-26"

// A batch collects the answers to the requests of one frame, which are given in
// one frame too (JSON-RPC 2.0 §6). Its fields are guarded by Facade.mu.
type batch struct {
	left    int // requests that have no answer yet
	answers [][]byte
}

// batched takes an array of the host.
func (f *Facade) batched(ctx context.Context, array []byte) {
	f.mu.Lock()
	allowed := f.current != nil && f.current.key.Version == batchVersion
	f.mu.Unlock()
	messages, err := wire.Frames(bytes.Clone(array))
	wrong := int(gjson.GetBytes(array, "#").Int()) - len(messages)
	switch {
	case !allowed:
		f.send(wire.ErrorResponse("null", codeInvalidRequest, "a batch: only MCP "+batchVersion+" has them; send each message as a frame of its own", nil))
		return
	case wrong == 0 && len(messages) == 0:
		f.send(wire.ErrorResponse("null", codeInvalidRequest, "an empty batch", nil))
		return
	}
	b := &batch{left: wrong}
	for _, m := range messages {
		if m.IsRequest() {
			b.left++
		}
	}
	for range wrong {
		f.collect(b, wire.ErrorResponse("null", codeInvalidRequest, err.Error(), nil))
	}
	for _, m := range messages {
		f.handle(ctx, m, b)
	}
}

// respond gives the host the answer to one of its requests, which may be a
// member of a batch.
func (f *Facade) respond(b *batch, frame []byte) {
	if b == nil {
		f.send(frame)
		return
	}
	f.collect(b, frame)
}

// collect adds the answer to one request of a batch, nil if the host has
// cancelled it, and gives the host all when that was the last.
func (f *Facade) collect(b *batch, frame []byte) {
	f.mu.Lock()
	if frame != nil {
		b.answers = append(b.answers, frame)
	}
	b.left--
	answers := b.answers
	if b.left > 0 {
		answers = nil
	}
	f.mu.Unlock()
	if len(answers) > 0 {
		f.send(append(append([]byte("["), bytes.Join(answers, []byte(","))...), ']'))
	}
}
