package wire

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"

	"github.com/tidwall/gjson"
)

// maxDepth is how deep arrays and objects may nest. encoding/json draws the
// same line; a recursive reader behind us may not have one.
const maxDepth = 10_000

// A scanner checks JSON text in one pass, without recursion, and notes where
// the members of a JSON-RPC envelope are. Its zero value expects a text.
type scanner struct {
	want    wants // what may come next, 0 before the first run
	element wants // what comes after a comma: aKey if the open value is an object, else aValue
	depth   int
	objects [maxDepth/64 + 1]uint64 // bit d-1 is set if the open value at depth d is an object
	high    uint64                  // bytes of strings, combined by or: shows whether all are ASCII

	member member // whose value comes next, in the outermost object
	start  int    // where that value begins
	spans  [memberUnknown + 1]span
	reason string // why the envelope is none, "" so far
}

// A span is a range of the text that is scanned; its end is never 0.
type span struct{ start, end int }

// wants is a set of what may come next in a JSON text.
type wants uint8

const (
	aValue wants = 1 << iota
	aKey
	aColon
	aComma
	anEnd // of the open object or array
)

// A state is what a text has shown to be.
type state uint8

const (
	invalid    state = iota // nothing can make it JSON
	incomplete              // more text can make it JSON
	complete
)

// run scans b to the end of the JSON value that it begins with, and returns
// where that is. Of an incomplete text it may be called again with what
// follows; the texts must be split where white space may stand.
func (s *scanner) run(b []byte) (end int, _ state) {
	if s.want == 0 {
		s.want, s.member = aValue, memberUnknown
	}
	for i, ok := 0, true; i < len(b); {
		switch b[i] {
		case ' ', '\t', '\r', '\n':
			i++
			continue
		case ',':
			ok = s.want&aComma != 0
			i, s.want = i+1, s.element
		case ':':
			ok = s.want&aColon != 0
			i, s.want = i+1, aValue
		case '{', '[':
			ok = s.want&aValue != 0 && s.open(b[i] == '{', i)
			i++
		case '}', ']':
			ok = s.want&anEnd != 0 && s.close(b[i] == '}', i+1)
			i++
		case '"':
			i, ok = s.text(b, i)
		default:
			i, ok = s.scalar(b, i)
		}
		if !ok {
			return 0, invalid
		}
		if s.depth == 0 {
			return i, complete
		}
	}
	return len(b), incomplete
}

// open goes into the object or array that begins at start.
func (s *scanner) open(object bool, start int) bool {
	if s.depth == maxDepth {
		return false
	}
	if s.depth == 1 {
		s.start = start
	}
	word, bit := s.depth/64, uint64(1)<<(s.depth%64)
	s.objects[word] &^= bit
	s.element = aValue
	if object {
		s.objects[word] |= bit
		s.element = aKey
	}
	s.want = s.element | anEnd
	s.depth++
	return true
}

// close goes out of the open object or array, which must be of that kind.
func (s *scanner) close(object bool, end int) bool {
	if object != (s.element == aKey) {
		return false
	}
	s.depth--
	s.element = aValue
	if d := s.depth - 1; d >= 0 && s.objects[d/64]>>(d%64)&1 != 0 {
		s.element = aKey
	}
	s.ended(s.start, end)
	return true
}

// text goes over a string, which is a key or a value.
func (s *scanner) text(b []byte, start int) (int, bool) {
	end := s.skipString(b, start+1)
	switch {
	case end < 0:
		return 0, false
	case s.want&aValue != 0:
		s.ended(start, end)
	case s.want&aKey != 0:
		if s.depth == 1 {
			s.key(b[start:end])
		}
		s.want = aColon
	default:
		return 0, false
	}
	return end, true
}

// scalar goes over a number or a literal.
func (s *scanner) scalar(b []byte, start int) (int, bool) {
	end := skipScalar(b, start)
	if end < 0 || s.want&aValue == 0 {
		return 0, false
	}
	s.ended(start, end)
	return end, true
}

// ended notes that a value has ended.
func (s *scanner) ended(start, end int) {
	if s.depth == 1 {
		s.spans[s.member] = span{start, end}
	}
	s.want = aComma | anEnd
}

// skipString returns where the string ends whose first character is at i, or
// -1. It takes eight bytes at a time.
func (s *scanner) skipString(b []byte, i int) int {
	high := s.high
	for i+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[i:])
		high |= x
		stops := special(x)
		if stops == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(stops) / 8
		if b[i] == '"' {
			s.high = high
			return i + 1
		}
		if i = skipEscape(b, i); i < 0 {
			return -1
		}
	}
	s.high = high
	return s.skipTail(b, i)
}

// skipTail is skipString for the last bytes of a text.
func (s *scanner) skipTail(b []byte, i int) int {
	for i >= 0 && i < len(b) {
		c := b[i]
		s.high |= uint64(c)
		switch {
		case c == '"':
			return i + 1
		case c == '\\' || c < ' ':
			i = skipEscape(b, i)
		default:
			i++
		}
	}
	return -1
}

// special sets the highest bit of the bytes of x that a string cannot hold as
// they are: quote, backslash, control characters. Bytes above the lowest that
// is set may be set wrongly.
func special(x uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := x^ones*'"', x^ones*'\\'
	return ((x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash) & tops
}

// skipEscape returns the end of the escape sequence at i, or -1.
func skipEscape(b []byte, i int) int {
	if b[i] != '\\' || i+1 >= len(b) {
		return -1
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		if len(b) >= i+6 && isHex(b[i+2]) && isHex(b[i+3]) && isHex(b[i+4]) && isHex(b[i+5]) {
			return i + 6
		}
	}
	return -1
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// skipScalar returns the end of the number or literal at i, or -1.
func skipScalar(b []byte, i int) int {
	switch b[i] {
	case 't':
		return skipWord(b, i, "true")
	case 'f':
		return skipWord(b, i, "false")
	case 'n':
		return skipWord(b, i, "null")
	}
	return skipNumber(b, i)
}

func skipWord(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

func skipNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = skipDigits(b, i); i < 0 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i = skipDigits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return skipDigits(b, i)
	}
	return i
}

// skipDigits returns the end of the digits at i, or -1 if there are none.
func skipDigits(b []byte, i int) int {
	start := i
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// A member is one of the members of an envelope.
type member uint8

const (
	memberVersion member = iota
	memberID
	memberMethod
	memberParams
	memberResult
	memberError
	memberUnknown
)

// memberOf returns the member that key names, byte for byte.
func memberOf(key string) member {
	switch key {
	case "jsonrpc":
		return memberVersion
	case "id":
		return memberID
	case "method":
		return memberMethod
	case "params":
		return memberParams
	case "result":
		return memberResult
	case "error":
		return memberError
	}
	return memberUnknown
}

// key notes that the value of the quoted key comes next.
func (s *scanner) key(quoted []byte) {
	key := view(quoted[1 : len(quoted)-1])
	if strings.IndexByte(key, '\\') >= 0 {
		key = gjson.Parse(view(quoted)).Str
	}
	s.member = memberOf(key)
	switch {
	case s.member == memberUnknown && foldsToMember(key):
		s.reason = "a member that differs from JSON-RPC's own by the case of letters"
	case s.member != memberUnknown && s.spans[s.member].end > 0:
		s.reason = "a member that stands twice"
	}
}

// foldsToMember reports whether a reader that ignores case takes key for a
// member of the envelope.
func foldsToMember(key string) bool {
	const longest = 2 * len("jsonrpc") // some letters fold to ones of more bytes
	if len(key) > longest {
		return false
	}
	for _, name := range [...]string{"jsonrpc", "id", "method", "params", "result", "error"} {
		if strings.EqualFold(key, name) {
			return true
		}
	}
	return false
}

// message is the message that frame is, after a complete run over it.
func (s *scanner) message(frame []byte) (Message, error) {
	if frame[0] == '[' {
		return Message{}, ErrBatch
	}
	m := Message{
		Raw:    frame[:len(frame):len(frame)],
		ID:     s.value(frame, memberID),
		Params: s.value(frame, memberParams),
		Result: s.value(frame, memberResult),
		Error:  s.value(frame, memberError),
	}
	if m.Result.Exists() && m.Error.Raw == "null" { // as JSON-RPC 1.0 has it
		m.Error = gjson.Result{}
	}
	if m.Error.Exists() && m.Result.Raw == "null" {
		m.Result = gjson.Result{}
	}
	name := s.value(frame, memberMethod)
	if reason := s.fault(&m, s.value(frame, memberVersion), name); reason != "" {
		return Message{}, fmt.Errorf("%w: %s", ErrEnvelope, reason)
	}
	m.Method = strings.Clone(name.Str)
	return m, nil
}

func (s *scanner) value(frame []byte, which member) gjson.Result {
	sp := s.spans[which]
	if sp.end == 0 {
		return gjson.Result{}
	}
	v := gjson.Parse(view(frame[sp.start:sp.end]))
	v.Index = sp.start
	return v
}

// fault says why the envelope is none, or "".
func (s *scanner) fault(m *Message, version, method gjson.Result) string {
	isID := m.ID.Type == gjson.String || m.ID.Type == gjson.Number
	answers := m.Result.Exists() || m.Error.Exists()
	switch {
	case m.Raw[0] != '{':
		return "not an object"
	case s.reason != "":
		return s.reason
	case version.Type != gjson.String || version.Str != "2.0":
		return `"jsonrpc" is not "2.0"`
	case m.ID.Exists() && m.ID.Type != gjson.Null && !isID:
		return `"id" is neither a string nor a number`
	case method.Exists():
		return faultOfRequest(m, method, answers)
	case !answers:
		return `no "method", "result" or "error"`
	case m.Result.Exists() && m.Error.Exists():
		return `both "result" and "error"`
	case m.Result.Exists() && !isID:
		return `a result without an "id"`
	}
	return ""
}

func faultOfRequest(m *Message, method gjson.Result, answers bool) string {
	switch {
	case method.Type != gjson.String:
		return `"method" is not a string`
	case method.Str == "":
		return `"method" is empty`
	case answers:
		return `"method" beside "result" or "error"`
	case m.ID.Exists() && m.ID.Type == gjson.Null:
		return `a request whose "id" is null`
	}
	return ""
}
