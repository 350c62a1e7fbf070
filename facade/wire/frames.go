package wire

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Frames makes messages of a text that is one frame or a batch of them (MCP
// 2025-03-26, basic, "Batching"), as the body of an HTTP answer or the data of
// an event is, and keeps it. A byte order mark before it is cut off, and what is
// not UTF-8 becomes U+FFFD.
//
// The error is about the first frame that could not be taken as it was; the
// messages are all others. It wraps ErrTooLarge, ErrNotJSON or ErrEnvelope, or
// ErrUTF8, with which nothing is missing.
func Frames(text []byte) ([]Message, error) {
	if len(text) > MaxFrame {
		return nil, ErrTooLarge
	}
	text = trimMark(trim(text))
	m, err := parseText(text)
	switch {
	case err == ErrBatch:
		return batched(text)
	case m.Raw == nil:
		return nil, err
	}
	return []Message{m}, err
}

// batched makes messages of the members of a batch, which is valid JSON.
func batched(text []byte) (ms []Message, first error) {
	count := 0
	gjson.Parse(view(text)).ForEach(func(_, v gjson.Result) bool {
		count++
		m, err := parseText(text[v.Index : v.Index+len(v.Raw)])
		if err == ErrBatch {
			err = fmt.Errorf("%w: a batch in a batch", ErrEnvelope)
		}
		if first == nil {
			first = err
		}
		if m.Raw != nil {
			ms = append(ms, m)
		}
		return true
	})
	if count == 0 {
		first = fmt.Errorf("%w: an empty batch", ErrEnvelope)
	}
	return ms, first
}

// parseText is Parse for a frame that may not be UTF-8. With ErrUTF8 there is a
// message, in which bytes were replaced.
func parseText(frame []byte) (Message, error) {
	var s scanner
	end, state := s.run(frame)
	if state != complete || end < len(frame) {
		return Message{}, ErrNotJSON
	}
	m, err := s.message(frame)
	if err != nil || s.isUTF8(frame) {
		return m, err
	}
	if m, err = Parse(replaced(frame)); err != nil {
		return Message{}, err
	}
	return m, ErrUTF8
}

// isUTF8 reports whether the text that was scanned is UTF-8. Outside strings it
// is ASCII, or it would not be JSON.
func (s *scanner) isUTF8(text []byte) bool {
	const notASCII = 0x8080808080808080
	return s.high&notASCII == 0 || utf8.Valid(text)
}

// replaced is text with U+FFFD for what is not UTF-8.
func replaced(text []byte) []byte { return bytes.ToValidUTF8(text, []byte("\uFFFD")) }
