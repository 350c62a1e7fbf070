package facade

import (
	"slices"
	"strings"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// A mutation is what a broken or hostile peer writes in the place of a frame.
type mutation struct {
	name   string
	copies int // how often the frame is still there, whole; fewer may be found
	change func(c *corruption, frame string) string
}

// printed is the mutation that changes white space alone.
const printed = "is printed over several lines"

var mutations = []mutation{
	{"is cut", 0, func(c *corruption, s string) string { return s[:c.within(s)] }},
	{"has lost its beginning", 0, func(c *corruption, s string) string { return s[c.within(s):] }},
	{"has its halves exchanged", 0, func(c *corruption, s string) string { i := c.within(s); return s[i:] + s[:i] }},
	{"is missing", 0, func(*corruption, string) string { return "" }},
	{"has a bit flipped", 0, func(c *corruption, s string) string {
		b := []byte(s)
		b[c.within(s)] ^= 1 << c.IntN(8)
		return string(b)
	}},
	{"comes twice", 2, func(_ *corruption, s string) string { return s + "\n" + s }},
	{"comes twice on a line", 2, func(_ *corruption, s string) string { return s + s }},
	{"has a line feed in it", 0, func(c *corruption, s string) string { return c.insert(s, "\n") }},
	{"has a NUL in it", 0, func(c *corruption, s string) string { return c.insert(s, "\x00") }},
	{"has a byte in it that is no UTF-8", 0, func(c *corruption, s string) string { return c.insert(s, "\xff") }},
	{"is UTF-16", 0, func(_ *corruption, s string) string { return "\xff\xfe" + strings.Join(strings.Split(s, ""), "\x00") }},
	{"has a byte order mark", 1, func(_ *corruption, s string) string { return "\ufeff" + s }},
	{"ends in CRLF", 1, func(_ *corruption, s string) string { return "\r\n" + s + "\r\n\r" }},
	{printed, 1, func(_ *corruption, s string) string {
		return strings.ReplaceAll(strings.Replace(s, "{", "{\n  ", 1), `,"`, ",\r\n\t\"")
	}},
	{"stands behind text", 1, func(_ *corruption, s string) string { return "[1/2] listening {" + s }},
	{"stands before text", 1, func(_ *corruption, s string) string { return s + " # done" }},
	{"stands within text", 0, func(_ *corruption, s string) string { return "<<" + s + ">>" }},
	{"stands in a string", 0, func(_ *corruption, s string) string { return string(wire.AppendString(nil, s)) }},
	{"stands in an object", 0, func(_ *corruption, s string) string { return `{"jsonrpc":"2.0","frame":` + s + `}` }},
	{"stands in a batch", 0, func(_ *corruption, s string) string { return "[" + s + "," + s + "]" }},
	{"is nested 5,000 deep", 0, func(_ *corruption, s string) string { return set(s, payload(s), nest(5_000)) }},
	{"is nested too deep", 0, func(_ *corruption, s string) string { return set(s, payload(s), nest(20_000)) }},
	{"has objects nested too deep that are never closed", 0, func(_ *corruption, s string) string {
		return set(s, payload(s), strings.Repeat(`{"a":`, 20_000))
	}},
	{"has a string of 1 MB", 0, func(_ *corruption, s string) string { return set(s, "x", `"`+strings.Repeat(`\u0041`, 1<<20/6)+`"`) }},
	{"has the id null", 0, func(_ *corruption, s string) string { return set(s, "id", "null") }},
	{"has another's id", 0, func(c *corruption, s string) string { return set(s, "id", c.otherID()) }},
	{"has an object for an id", 0, func(_ *corruption, s string) string { return set(s, "id", `{"id":1}`) }},
	{"has a negative id", 0, func(_ *corruption, s string) string { return set(s, "id", "-9223372036854775809") }},
	{"has a fraction for an id", 0, func(_ *corruption, s string) string { return set(s, "id", "0.1e-7") }},
	{"has an id beyond all numbers", 0, func(_ *corruption, s string) string { return set(s, "id", "-1e999") }},
	{"has true for an id", 0, func(_ *corruption, s string) string { return set(s, "id", "true") }},
	{"has no id", 0, func(_ *corruption, s string) string { return del(s, "id") }},
	{"has no method", 0, func(_ *corruption, s string) string { return del(s, "method") }},
	{"has another method", 0, func(c *corruption, s string) string { return set(s, "method", c.otherMethod()) }},
	{"has a number for a method", 0, func(_ *corruption, s string) string { return set(s, "method", "1.0") }},
	{"has no jsonrpc", 0, func(_ *corruption, s string) string { return del(s, "jsonrpc") }},
	{"has JSON-RPC 1.0", 0, func(_ *corruption, s string) string { return set(s, "jsonrpc", `"1.0"`) }},
	{"has a result and an error", 0, func(_ *corruption, s string) string {
		return set(set(s, "result", "{}"), "error", `{"code":1,"message":"both"}`)
	}},
	{"has neither a result nor an error", 0, func(_ *corruption, s string) string { return del(del(s, "result"), "error") }},
	{"has an empty error", 0, func(_ *corruption, s string) string { return set(del(s, "result"), "error", "{}") }},
	{"has an array for its payload", 0, func(_ *corruption, s string) string { return set(s, payload(s), `[{"name":"call"}]`) }},
	{"has a string for its payload", 0, func(_ *corruption, s string) string { return set(s, payload(s), `"text"`) }},
	{"has null for its payload", 0, func(_ *corruption, s string) string { return set(s, payload(s), `null`) }},
	{"has a member twice", 0, func(c *corruption, s string) string {
		member := slices.Collect(pairs(s))
		if len(member) == 0 {
			return s
		}
		return strings.TrimSuffix(strings.TrimSpace(s), "}") + "," + member[c.IntN(len(member))] + "}"
	}},
	{"has its members in capitals", 0, func(_ *corruption, s string) string {
		return strings.NewReplacer(`"id"`, `"ID"`, `"result"`, `"Result"`).Replace(s)
	}},
}

// pairs are the members of an object as they are written.
func pairs(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		gjson.Parse(s).ForEach(func(k, v gjson.Result) bool { return yield(k.Raw + ":" + v.Raw) })
	}
}

func set(s, key, raw string) string { return string(wire.SetMember([]byte(s), key, []byte(raw))) }

func del(s, key string) string { return string(wire.DeleteMember([]byte(s), key)) }

func nest(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// payload is the member of a frame that holds what it is about.
func payload(s string) string {
	switch {
	case gjson.Get(s, "method").Exists():
		return "params"
	case gjson.Get(s, "error").Exists():
		return "error"
	}
	return "result"
}
