// Package wire reads and writes JSON-RPC 2.0 messages as bytes: it scans the
// envelope of a frame, replaces one value of it, and frames messages by lines.
// Nothing of a frame is decoded and encoded again, so what it does not look at
// comes out as it went in.
package wire

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"
)

// A Message is one JSON-RPC message. Raw is the whole frame without its line
// end; the values are ranges of Raw, by their Index. They share its memory, so
// Raw must not be changed. A value that is absent does not exist; one that is
// written as null does.
type Message struct {
	Raw    []byte
	ID     gjson.Result // a string or a number; null or absent only beside Error; absent in a notification
	Method string       // "" in a response; a copy, so that keeping it does not keep Raw
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

// Parse scans one frame, which must be valid JSON (its strings need not be
// UTF-8), and keeps it. The error is ErrNotJSON, also for what is nested more
// than 10,000 deep, ErrBatch for an array, or wraps ErrEnvelope with the
// reason. Members that JSON-RPC does not know are fine, but its own may stand
// there only once, in any case of letters: what two readers would read as two
// messages is none.
func Parse(frame []byte) (Message, error) {
	frame = trim(frame)
	var s scanner
	end, state := s.run(frame)
	if state != complete || end < len(frame) {
		return Message{}, ErrNotJSON
	}
	return s.message(frame)
}

// trim cuts JSON's white space off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

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
// are compared as float64, because that is what many peers make of them; those
// beyond its range as they are written.
func Key(id gjson.Result) string {
	switch id.Type {
	case gjson.String:
		return "s" + id.Str
	case gjson.Number:
		return "n" + number(id)
	}
	return id.Raw
}

func number(v gjson.Result) string {
	const exact = 1 << 53
	switch {
	case math.IsInf(v.Num, 0):
		return v.Raw
	case v.Num == math.Trunc(v.Num) && math.Abs(v.Num) <= exact:
		return strconv.FormatInt(int64(v.Num), 10) // also -0
	}
	return strconv.FormatFloat(v.Num, 'g', -1, 64)
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
// Invalid UTF-8 becomes U+FFFD. The characters that some readers of lines take
// for a line end are escaped too.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for {
		i := strings.IndexFunc(s, escaped)
		if i < 0 {
			break
		}
		dst = append(dst, s[:i]...)
		r, n := utf8.DecodeRuneInString(s[i:])
		dst = appendEscape(dst, r)
		s = s[i+n:]
	}
	dst = append(dst, s...)
	return append(dst, '"')
}

func escaped(r rune) bool {
	switch r {
	case '"', '\\', 0x7f, 0x85, 0x2028, 0x2029, utf8.RuneError:
		return true
	}
	return r < ' '
}

func appendEscape(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	case utf8.RuneError:
		return utf8.AppendRune(dst, r)
	}
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// view is b as a string that shares its memory.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
