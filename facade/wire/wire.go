// Package wire reads and writes JSON-RPC 2.0 messages as bytes: it scans the
// envelope of a frame, replaces one value of it, and frames messages by lines.
// Nothing of a frame is decoded and encoded again, so what it does not look at
// comes out as it went in.
package wire

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/tidwall/gjson"
)

// A Message is one JSON-RPC message. Raw is the whole frame without its line
// end; the values are ranges of Raw, by their Index.
type Message struct {
	Raw    []byte
	ID     gjson.Result // does not exist in a notification
	Method string       // "" in a response
	Params gjson.Result
	Result gjson.Result
	Error  gjson.Result
}

// Why a frame is not a message.
var (
	ErrNotJSON  = errors.New("not JSON")
	ErrBatch    = errors.New("a batch")
	ErrEnvelope = errors.New("not a JSON-RPC 2.0 message")
)

// Parse scans the envelope of one frame. The error is ErrNotJSON, ErrBatch or
// wraps ErrEnvelope.
func Parse(frame []byte) (Message, error) {
	frame = bytes.TrimSpace(frame)
	if len(frame) == 0 || !gjson.ValidBytes(frame) {
		return Message{}, ErrNotJSON
	}
	if frame[0] == '[' {
		return Message{}, ErrBatch
	}
	m := Message{Raw: frame}
	version := false
	gjson.ParseBytes(frame).ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "jsonrpc":
			version = v.Str == "2.0"
		case "id":
			m.ID = v
		case "method":
			m.Method = v.Str
		case "params":
			m.Params = v
		case "result":
			m.Result = v
		case "error":
			m.Error = v
		}
		return true
	})
	if !version || m.Method == "" && !m.ID.Exists() {
		return Message{}, ErrEnvelope
	}
	return m, nil
}

// IsRequest reports whether the message asks for a response.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID.Exists() }

// IsNotification reports whether the message is a notification.
func (m *Message) IsNotification() bool { return m.Method != "" && !m.ID.Exists() }

// IsResponse reports whether the message answers a request.
func (m *Message) IsResponse() bool { return m.Method == "" }

// Key is the message's id in a form that is equal for equal ids.
func (m *Message) Key() string { return Key(m.ID) }

// Key gives a JSON-RPC id in a form that is equal for ids that are equal as
// JSON values, however they are written: 1 and 1.0, "a" and "\u0061". Numbers
// are compared as float64, because that is what many peers make of them.
func Key(id gjson.Result) string {
	switch id.Type {
	case gjson.String:
		return "s" + id.Str
	case gjson.Number:
		return "n" + strconv.FormatFloat(id.Num, 'g', -1, 64)
	}
	return id.Raw
}

// Splice returns raw with the range of v, a value found in raw, replaced.
func Splice(raw []byte, v gjson.Result, repl []byte) []byte {
	out := make([]byte, 0, len(raw)-len(v.Raw)+len(repl))
	out = append(out, raw[:v.Index]...)
	out = append(out, repl...)
	return append(out, raw[v.Index+len(v.Raw):]...)
}

// Response is the frame that answers the request with the raw id by the raw
// result.
func Response(id string, result []byte) []byte {
	b := make([]byte, 0, len(id)+len(result)+40)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"result":`...)
	b = append(b, result...)
	return append(b, '}')
}

// ErrorResponse is the frame that answers the request with the raw id ("null"
// if it could not be read) by an error; data is raw JSON or nil.
func ErrorResponse(id string, code int, message string, data []byte) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(code), 10)
	b = append(b, `,"message":`...)
	b = AppendString(b, message)
	if data != nil {
		b = append(b, `,"data":`...)
		b = append(b, data...)
	}
	return append(b, "}}"...)
}

// AppendString appends s as a JSON string without escaping what need not be.
func AppendString(dst []byte, s string) []byte {
	return gjson.AppendJSONString(dst, s)
}
