package wire

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"
)

// Splice returns raw with the range of v, a value found in raw by its keys,
// replaced. v must exist.
func Splice(raw []byte, v gjson.Result, repl []byte) []byte {
	out := make([]byte, 0, len(raw)-len(v.Raw)+len(repl))
	out = append(out, raw[:v.Index]...)
	out = append(out, repl...)
	return append(out, raw[v.Index+len(v.Raw):]...)
}

// SetMember returns the JSON object obj with the value of its member key
// replaced by raw, or with that member added at the end. A member that stands
// there more than once is replaced each time, so that every reader reads raw.
// All else stays byte for byte. What is not an object is returned as it is.
func SetMember(obj []byte, key string, raw []byte) []byte {
	o := gjson.Parse(view(obj))
	if !o.IsObject() {
		return obj
	}
	out := make([]byte, 0, len(obj)+len(key)+len(raw)+4)
	done, last := 0, 0 // up to where obj is copied; where its last value ends
	o.ForEach(func(k, v gjson.Result) bool {
		last = v.Index + len(v.Raw)
		if k.Str == key {
			out = append(append(out, obj[done:v.Index]...), raw...)
			done = last
		}
		return true
	})
	if done == 0 {
		out, done = appendMember(out, obj, o, last, key, raw)
	}
	return append(out, obj[done:]...)
}

// appendMember appends the beginning of obj, up to where its last value ends
// (0 if it has none), and one more member.
func appendMember(out, obj []byte, o gjson.Result, last int, key string, raw []byte) ([]byte, int) {
	if last == 0 {
		last = o.Index + 1
		out = append(out, obj[:last]...)
	} else {
		out = append(append(out, obj[:last]...), ',')
	}
	out = append(AppendString(out, key), ':')
	return append(out, raw...), last
}

// DeleteMember returns the JSON object obj without its member key, however
// often it stands there. All else stays byte for byte. It returns obj itself
// when there is nothing to delete.
func DeleteMember(obj []byte, key string) []byte {
	o := gjson.Parse(view(obj))
	if !o.IsObject() {
		return obj
	}
	begin := o.Index + 1
	out := append(make([]byte, 0, len(obj)), obj[:begin]...)
	first, kept, end := 0, 0, begin // where the first key begins; members kept; where the last value ends
	o.ForEach(func(k, v gjson.Result) bool {
		before := obj[end:k.Index]
		if first == 0 {
			first = k.Index
		}
		end = v.Index + len(v.Raw)
		if k.Str == key {
			return true
		}
		if kept == 0 {
			before = obj[begin:first]
		}
		kept++
		out = append(append(out, before...), obj[k.Index:end]...)
		return true
	})
	if out = append(out, obj[end:]...); len(out) == len(obj) {
		return obj
	}
	return out
}

// Duplicate returns the first of keys that is a key of obj more than once, or
// "". Keys that differ only by the case of letters count as the same, because
// some readers take them so.
func Duplicate(obj gjson.Result, keys ...string) string {
	if !obj.IsObject() {
		return ""
	}
	seen := make([]int, len(keys))
	obj.ForEach(func(k, _ gjson.Result) bool {
		for i, key := range keys {
			if strings.EqualFold(k.Str, key) {
				seen[i]++
			}
		}
		return true
	})
	for i, key := range keys {
		if seen[i] > 1 {
			return key
		}
	}
	return ""
}

// OneLine returns the frame, which must be valid JSON, without line ends: in
// JSON they can only stand between its tokens. It returns frame itself when
// there are none.
func OneLine(frame []byte) []byte {
	if bytes.IndexByte(frame, '\n') < 0 && bytes.IndexByte(frame, '\r') < 0 {
		return frame
	}
	out := make([]byte, 0, len(frame))
	for _, c := range frame {
		if c != '\n' && c != '\r' {
			out = append(out, c)
		}
	}
	return out
}

// Remark adds a note of ours to the text of an error. What is no error, or could
// not be read then, stays as it is.
func Remark(m Message, note string) Message {
	text := m.Error.Get("message")
	if text.Type != gjson.String {
		return m
	}
	noted, err := Parse(Splice(m.Raw, text, AppendString(nil, text.Str+" "+Noted(note))))
	if err != nil {
		return m
	}
	return noted
}

// Noted is a note of ours in the text of somebody else.
func Noted(note string) string { return "(mcp-facade: " + note + ")" }
