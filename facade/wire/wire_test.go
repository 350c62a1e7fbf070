package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// messages are frames that Parse takes, with the kind of each.
var messages = []struct{ name, frame, kind string }{
	{"takes a request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "request"},
	{"takes a request with a string id and params", `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{"n":9007199254740993}}}`, "request"},
	{"takes a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "notification"},
	{"takes a result", `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, "response"},
	{"takes a result that is null", `{"jsonrpc":"2.0","id":1,"result":null}`, "response"},
	{"takes an error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`, "response"},
	{"takes an error with a null id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`, "response"},
	{"takes an error without an id", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}`, "response"},
	{"takes white space everywhere", " \t{ \"jsonrpc\" : \"2.0\" ,\r\n \"params\" : { \"name\" : \"x\" } , \"id\" : -1.5e3 , \"method\" : \"m\" } \r\n", "request"},
	{"takes unknown members", `{"x":1,"jsonrpc":"2.0","x":[{"id":7,"method":"no"}],"id":1,"method":"m","":null}`, "request"},
	{"reads a method with escapes", `{"jsonrpc":"2.0","id":1,"method":"tools\/\u0063all"}`, "request"},
	{"reads keys with escapes", `{"\u006asonrpc":"2.0","\u0069d":1,"m\u0065thod":"m","p\u0061rams":{"n\u0061me":"x"}}`, "request"},
	{"reads a version with escapes", `{"jsonrpc":"\u0032.0","id":1,"method":"m"}`, "request"},
	{"takes text that is not ASCII", `{"jsonrpc":"2.0","id":"ü","method":"m","params":{"name":"日本語 🎉"}}`, "request"},
	{"takes bytes that are not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}", "response"},
	{"takes huge numbers", `{"jsonrpc":"2.0","id":1e400,"result":-1E-400}`, "response"},
}

// failures are frames that Parse does not take, with the reason.
var failures = []struct{ name, frame, want string }{
	{"refuses nothing", ``, "not JSON"},
	{"refuses white space", " \n", "not JSON"},
	{"refuses text", `Server started`, "not JSON"},
	{"refuses half a frame", `{"jsonrpc":"2.0","id":1,"method":"m"`, "not JSON"},
	{"refuses two frames", `{"jsonrpc":"2.0","id":1,"method":"m"}{"jsonrpc":"2.0","id":1,"method":"m"}`, "not JSON"},
	{"refuses other white space", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\u00a0", "not JSON"},
	{"refuses control characters in strings", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\n\"}", "not JSON"},
	{"refuses a trailing comma", `{"jsonrpc":"2.0","id":1,"method":"m",}`, "not JSON"},
	{"refuses leading zeros", `{"jsonrpc":"2.0","id":01,"method":"m"}`, "not JSON"},
	{"refuses a batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, "a batch"},
	{"refuses a number", `42`, "not a JSON-RPC 2.0 message: not an object"},
	{"refuses a string", `"jsonrpc"`, "not a JSON-RPC 2.0 message: not an object"},
	{"refuses a line of a log", `{"level":"info"}`, `not a JSON-RPC 2.0 message: "jsonrpc" is not "2.0"`},
	{"refuses a version that is a number", `{"jsonrpc":2.0,"id":1,"method":"m"}`, `not a JSON-RPC 2.0 message: "jsonrpc" is not "2.0"`},
	{"refuses another version", `{"jsonrpc":"1.0","id":1,"method":"m"}`, `not a JSON-RPC 2.0 message: "jsonrpc" is not "2.0"`},
	{"refuses an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"m"}`, `not a JSON-RPC 2.0 message: "id" is neither a string nor a number`},
	{"refuses an id that is true", `{"jsonrpc":"2.0","id":true,"result":1}`, `not a JSON-RPC 2.0 message: "id" is neither a string nor a number`},
	{"refuses a request with a null id", `{"jsonrpc":"2.0","id":null,"method":"m"}`, `not a JSON-RPC 2.0 message: a request whose "id" is null`},
	{"refuses a result with a null id", `{"jsonrpc":"2.0","id":null,"result":{}}`, `not a JSON-RPC 2.0 message: a result without an "id"`},
	{"refuses a result without an id", `{"jsonrpc":"2.0","result":{}}`, `not a JSON-RPC 2.0 message: a result without an "id"`},
	{"refuses an empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, `not a JSON-RPC 2.0 message: "method" is empty`},
	{"refuses a method that is no string", `{"jsonrpc":"2.0","id":1,"method":1}`, `not a JSON-RPC 2.0 message: "method" is not a string`},
	{"refuses a method that is null", `{"jsonrpc":"2.0","id":1,"method":null,"result":1}`, `not a JSON-RPC 2.0 message: "method" is not a string`},
	{"refuses a method beside a result", `{"jsonrpc":"2.0","id":1,"method":"m","result":null}`, `not a JSON-RPC 2.0 message: "method" beside "result" or "error"`},
	{"refuses a method beside an error", `{"jsonrpc":"2.0","id":1,"method":"m","error":{}}`, `not a JSON-RPC 2.0 message: "method" beside "result" or "error"`},
	{"refuses a result beside an error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, `not a JSON-RPC 2.0 message: both "result" and "error"`},
	{"refuses an id alone", `{"jsonrpc":"2.0","id":1}`, `not a JSON-RPC 2.0 message: no "method", "result" or "error"`},
	{"refuses the version alone", `{"jsonrpc":"2.0"}`, `not a JSON-RPC 2.0 message: no "method", "result" or "error"`},
	{"refuses two ids", `{"jsonrpc":"2.0","id":1,"method":"m","id":1}`, "not a JSON-RPC 2.0 message: a member that stands twice"},
	{"refuses two methods, one with escapes", `{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"tools/call"}`, "not a JSON-RPC 2.0 message: a member that stands twice"},
	{"refuses two params", `{"jsonrpc":"2.0","params":null,"id":1,"method":"m","params":{}}`, "not a JSON-RPC 2.0 message: a member that stands twice"},
	{"refuses a member in other letters", `{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}`, "not a JSON-RPC 2.0 message: a member that differs from JSON-RPC's own by the case of letters"},
	{"refuses a member in letters that fold to it", `{"jsonrpc":"2.0","id":1,"method":"ping","param\u017f":{}}`, "not a JSON-RPC 2.0 message: a member that differs from JSON-RPC's own by the case of letters"},
	{"refuses depth", strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), "not JSON"},
	{"refuses 50 MB of brackets", strings.Repeat("[", 50<<20), "not JSON"},
	{"refuses 50 MB of objects", strings.Repeat(`{"a":`, 10<<20), "not JSON"},
}

func TestParse(t *testing.T) {
	for _, test := range messages {
		t.Run("it "+test.name, func(t *testing.T) {
			m, err := Parse([]byte(test.frame))
			if err != nil {
				t.Fatalf("Parse(%q): %v", test.frame, err)
			}
			if got := kind(m); got != test.kind {
				t.Errorf("Parse(%q) is a %s, want a %s", test.frame, got, test.kind)
			}
			if got, want := string(m.Raw), strings.Trim(test.frame, " \t\r\n"); got != want {
				t.Errorf("Raw is %q, want %q", got, want)
			}
			checkRanges(t, m)
			checkMembers(t, m)
		})
	}
	for _, test := range failures {
		t.Run("it "+test.name, func(t *testing.T) {
			_, err := Parse([]byte(test.frame))
			if err == nil || err.Error() != test.want {
				t.Errorf("Parse(%.80q): %v, want %q", test.frame, err, test.want)
			}
			if strings.HasPrefix(test.want, ErrEnvelope.Error()) && !errors.Is(err, ErrEnvelope) {
				t.Errorf("%v does not wrap ErrEnvelope", err)
			}
		})
	}
}

func kind(m Message) string {
	switch {
	case m.IsRequest():
		return "request"
	case m.IsNotification():
		return "notification"
	case m.IsResponse():
		return "response"
	}
	return "nothing"
}

// checkRanges looks each value up in Raw by its range, and those of params too.
func checkRanges(t *testing.T, m Message) {
	t.Helper()
	values := []gjson.Result{m.ID, m.Params, m.Result, m.Error}
	if m.Params.IsObject() {
		values = append(values, m.Params.Get("name"), m.Params.Get("arguments"), m.Params.Get("arguments.n"))
		m.Params.ForEach(func(k, v gjson.Result) bool {
			values = append(values, k, v)
			return true
		})
	}
	for _, v := range values {
		if !v.Exists() {
			continue
		}
		if got := string(m.Raw[v.Index:min(len(m.Raw), v.Index+len(v.Raw))]); got != v.Raw {
			t.Errorf("%q: at %d stands %q, want %q", m.Raw, v.Index, got, v.Raw)
		}
		if got, want := string(Splice(m.Raw, v, []byte(`7`))), string(m.Raw[:v.Index])+"7"+string(m.Raw[v.Index+len(v.Raw):]); got != want {
			t.Errorf("Splice(%q, %q, 7) = %q, want %q", m.Raw, v.Raw, got, want)
		}
	}
}

// checkMembers compares m with what encoding/json reads.
func checkMembers(t *testing.T, m Message) {
	t.Helper()
	var want map[string]json.RawMessage
	if err := json.Unmarshal(m.Raw, &want); err != nil {
		t.Fatalf("encoding/json: %q: %v", m.Raw, err)
	}
	for key, v := range map[string]gjson.Result{"id": m.ID, "params": m.Params, "result": m.Result, "error": m.Error} {
		if got := v.Raw; got != string(want[key]) {
			t.Errorf("%q: %s is %q, want %q", m.Raw, key, got, want[key])
		}
	}
	var method string
	if raw, ok := want["method"]; ok {
		json.Unmarshal(raw, &method)
	}
	if m.Method != method {
		t.Errorf("%q: method is %q, want %q", m.Raw, m.Method, method)
	}
}

func TestParseRandomMessages(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		frame := randomFrame(rnd)
		m, err := Parse(frame)
		if err != nil {
			t.Fatalf("Parse(%q): %v", frame, err)
		}
		checkRanges(t, m)
		checkMembers(t, m)
	}
}

// randomFrame is a message with its members in any order, and others.
func randomFrame(rnd *rand.Rand) []byte {
	members := []string{`"jsonrpc":"2.0"`, `"x":` + randomValue(rnd, 0), `"y z":` + randomValue(rnd, 3)}
	switch rnd.IntN(4) {
	case 0:
		members = append(members, `"id":12`, `"method":"a\/b"`, `"params":{"name":`+randomValue(rnd, 0)+`}`)
	case 1:
		members = append(members, `"method":"n"`, `"params":`+randomValue(rnd, 0))
	case 2:
		members = append(members, `"id":"a\"b"`, `"result":`+randomValue(rnd, 0))
	case 3:
		members = append(members, `"id":null`, `"error":`+randomValue(rnd, 0))
	}
	rnd.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	space := []string{"", " ", "\t", "  "}[rnd.IntN(4)]
	return []byte(space + "{" + space + strings.Join(members, space+","+space) + space + "}")
}

func randomValue(rnd *rand.Rand, depth int) string {
	leaves := []string{"null", "true", "false", "0", "-0", "-1.50", "1E+2", "9007199254740993", `""`, `"é€🎉"`, `"\\\" \u00e9 \ud83c\udf89"`, `"]}{["`, "{}", "[]", "[ ]", `"long enough for several words \n at once, é included"`}
	if depth > 3 || rnd.IntN(3) == 0 {
		return leaves[rnd.IntN(len(leaves))]
	}
	var parts []string
	for range rnd.IntN(4) {
		parts = append(parts, randomValue(rnd, depth+1))
	}
	if rnd.IntN(2) == 0 {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	for i, key := range []string{"id", "method", "result", "a b"}[:len(parts)] {
		parts[i] = string(AppendString(nil, key)) + " :" + parts[i]
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestMessageKeepsNothingButWhatItShows(t *testing.T) {
	frame := []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"} tail`)
	m, err := Parse(frame[:len(frame)-4])
	if err != nil {
		t.Fatal(err)
	}
	_ = append(m.Raw, "!!!!!"...)
	if !bytes.HasSuffix(frame, []byte(" tail")) {
		t.Errorf("appending to Raw has changed the bytes after it: %q", frame)
	}
	clear(frame)
	if m.Method != "ping" {
		t.Errorf("the method changed with the frame: %q", m.Method)
	}
}

func TestKey(t *testing.T) {
	same := [][]string{
		{`1`, `1.0`, `1e0`, `10E-1`, `100e-2`},
		{`0`, `-0`, `0.0`, `-0e5`, `1e-400`},
		{`-7`, `-7.0`},
		{`1.5`, `15e-1`},
		{`1000000`, `1e6`, `1000000.0`},
		{`9007199254740992`, `9007199254740993`, `9007199254740992.0`}, // one float64
		{`9007199254740994`, `9.007199254740994e15`},
		{`123456789012345678901234567890`, `123456789012345678901234567890.0`, `1.2345678901234567890123456789e29`},
		{`1e300`, `10e299`},
		{`1e400`},
		{`1e401`},
		{`-1e400`},
		{`"1"`, `"\u0031"`},
		{`"1.0"`},
		{`""`},
		{`"null"`},
		{`null`},
		{`"n1"`},
		{`"s"`},
		{`"a/b"`, `"a\/b"`, `"\u0061\u002Fb"`},
		{`"🎉"`, `"\ud83c\udf89"`},
		{`"A"`},
		{`"a"`},
	}
	owner := map[string]int{}
	for i, ids := range same {
		for _, id := range ids {
			key := Key(gjson.Parse(id))
			if j, ok := owner[key]; ok && j != i {
				t.Errorf("Key(%s) = %q, which is that of %s too", id, key, same[j][0])
			}
			if want := Key(gjson.Parse(ids[0])); key != want {
				t.Errorf("Key(%s) = %q, want that of %s, %q", id, key, ids[0], want)
			}
			owner[key] = i
		}
	}
	if key := Key(gjson.Result{}); key != "" {
		t.Errorf("Key of no id is %q", key)
	}
}

func TestFramesOfOurs(t *testing.T) {
	for _, test := range []struct{ name, got, want string }{
		{"answers", string(Response(`"a"`, []byte(`{"x":1}`))), `{"jsonrpc":"2.0","id":"a","result":{"x":1}}`},
		{"refuses", string(ErrorResponse("null", -32700, "no \"<&>\"\n", nil)), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no \"<&>\"\n"}}`},
		{"refuses with data", string(ErrorResponse("1", -32603, "", []byte(`[1]`))), `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"","data":[1]}}`},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, test.got, test.want)
		}
		if _, err := Parse([]byte(test.got)); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestAppendString(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"leaves plain text", `a<b>&'/é日🎉`, `"a<b>&'/é日🎉"`},
		{"escapes what JSON wants escaped", "\"\\\x00\x1b\n\r\t\b", `"\"\\\u0000\u001b\n\r\t\u0008"`},
		{"escapes other line ends", "\u0085\u2028\u2029\x7f", `"\u0085\u2028\u2029\u007f"`},
		{"replaces what is not UTF-8", "a\xffb\xed\xa0\x80\ufffd", "\"a\ufffdb\ufffd\ufffd\ufffd\ufffd\""},
		{"takes nothing", "", `""`},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			if got := string(AppendString([]byte("x"), test.in)); got != "x"+test.want {
				t.Errorf("AppendString(%q) = %s, want %s", test.in, got[1:], test.want)
			}
		})
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\n\"\xff")
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		if err := json.Unmarshal(AppendString(nil, s), &back); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if want := string([]rune(s)); back != want {
			t.Errorf("%q came back as %q, want %q", s, back, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, test := range messages {
		f.Add([]byte(test.frame))
	}
	for _, test := range failures {
		if len(test.frame) < 1000 {
			f.Add([]byte(test.frame))
		}
	}
	f.Add([]byte(`[1,-2.5e+3,"\u00e9",{"a":[]},true,false,null]`))
	f.Fuzz(func(t *testing.T, frame []byte) {
		before := string(frame)
		m, err := Parse(frame)
		if string(frame) != before {
			t.Fatal("Parse changed the frame")
		}
		if deep := bytes.Count(frame, []byte("["))+bytes.Count(frame, []byte("{")) > maxDepth; !deep {
			if valid := gjson.ValidBytes(frame); valid != !errors.Is(err, ErrNotJSON) {
				t.Fatalf("Parse(%q): %v, but gjson says %v", frame, err, valid)
			}
		}
		checkPieces(t, frame)
		if err != nil {
			return
		}
		checkRanges(t, m)
		if !utf8.Valid(frame) {
			return // encoding/json replaces what gjson leaves
		}
		checkMembers(t, m)
		line, err := Parse(OneLine(m.Raw))
		if err != nil {
			t.Fatalf("OneLine(%q): %v", m.Raw, err)
		}
		if diff := cmp.Diff(m.ID.Value(), line.ID.Value()); diff != "" {
			t.Errorf("OneLine(%q) changed the id: %s", m.Raw, diff)
		}
	})
}

// checkPieces scans the text line by line, which must come to the same.
func checkPieces(t *testing.T, text []byte) {
	t.Helper()
	var whole, pieces scanner
	wantEnd, want := whole.run(text)
	end, state := 0, incomplete
	for piece := range bytes.SplitAfterSeq(text, []byte("\n")) {
		if state != incomplete {
			break
		}
		var n int
		n, state = pieces.run(piece)
		end += n
	}
	if state != want || state == complete && end != wantEnd {
		t.Errorf("%q: in pieces %v at %d, as a whole %v at %d", text, state, end, want, wantEnd)
	}
}

func TestNullBesideTheOther(t *testing.T) {
	for _, tt := range []struct{ name, frame string }{
		{"it takes a null error beside a result for none", `{"jsonrpc":"2.0","id":1,"result":{},"error":null}`},
		{"it takes a null result beside an error for none", `{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"x"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Parse([]byte(tt.frame))
			if err != nil || m.Result.Exists() == m.Error.Exists() || string(m.Raw) != tt.frame {
				t.Errorf("Parse(%s): result %s, error %s, %v", tt.frame, m.Result.Raw, m.Error.Raw, err)
			}
		})
	}
}
