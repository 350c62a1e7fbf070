package facade

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// An envelope is an object in which a model may name a tool and its arguments,
// by the keys that call has or by others.
type envelope struct {
	tool  part   // what stands under "tool"
	args  part   // what stands under "args"
	names []part // strings under other keys that name a tool
	boxes []part // objects under other keys that hold arguments
	rest  []part // everything else
}

// A part is one member of an envelope.
type part struct {
	key   string
	raw   string // the key as it is written
	at    int    // where that stands
	value gjson.Result
	prose bool // it is words about the call, and no member
}

// A role is what a member of an envelope may be.
type role int

const (
	aStray role = iota
	aTool
	aName
	theArgs
	aBox
	aServer // a word of those who reach many servers
)

// roleOf is the role of a key, however it is written.
func roleOf(key string) role {
	switch strings.ReplaceAll(strings.ToLower(key), "_", "") {
	case "tool":
		return aTool
	case "name", "toolname", "function":
		return aName
	case "args":
		return theArgs
	case "arguments", "params", "parameters", "input", "kwargs", "argsjson",
		"toolargs", "toolinput", "toolarguments", "toolparams", "toolcall", "toolcalls":
		return aBox
	case "server", "servername":
		return aServer
	}
	return aStray
}

// open reads an envelope. Of "tool" and of "args" the first counts; null is
// nothing.
func open(object gjson.Result) (e envelope) {
	for _, m := range members(object) {
		switch role := roleOf(m.key); {
		case role == aTool:
			e.tool = first(e.tool, m)
		case role == theArgs:
			e.args = first(e.args, m)
		case role == aName && m.value.Type == gjson.String:
			e.names = append(e.names, m)
		case m.isBox():
			e.boxes = append(e.boxes, m)
		case m.value.Type != gjson.Null || role == aStray:
			e.rest = append(e.rest, m)
		}
	}
	return e.withoutAPI()
}

// isBox reports whether a part may hold arguments, or a call, by its key: an API
// puts the name and the arguments under "function".
func (m *part) isBox() bool {
	switch role := roleOf(m.key); {
	case role == aBox, role == aName && m.value.Type != gjson.String:
		return held(m.value).Exists()
	}
	return false
}

// first is what was known, or what was found if that is no null.
func first(known, found part) part {
	if known.value.Exists() || found.value.Type == gjson.Null {
		return known
	}
	return found
}

// maxPacking is how many strings and arrays an object may be in, one in the other.
const maxPacking = 3

// held is the object that a value is, or holds as a string, as a string in a
// string, or as the only element of an array; it does not exist if that is none
// of these.
func held(v gjson.Result) gjson.Result {
	for range maxPacking {
		switch {
		case v.Type == gjson.String && gjson.Valid(v.Str):
			v = gjson.Parse(v.Str)
		case v.Type == gjson.String:
			v = lone(v.Str)
		case v.IsArray():
			if all := v.Array(); len(all) == 1 {
				v = all[0]
			}
		}
	}
	if !v.IsObject() {
		return gjson.Result{}
	}
	return v
}

// lone is the object in a text that says nothing else: some models put arguments
// in a code fence, and leave closing brackets, closing tags or special tokens of
// their own format behind them.
func lone(text string) gjson.Result {
	before, object, after := around(text)
	if !object.Exists() || !fence().MatchString(before) || !leftover().MatchString(after) {
		return gjson.Result{}
	}
	return object
}

// These are compiled when they are first needed: few calls need any, and a start
// should not pay for it.
var (
	fence    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^\\s*(?:```[a-zA-Z]*\\s*)?$") })
	leftover = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("^(?:[\\s}\\])]|```|</[\\w:-]+>|<[|｜][^<>{}=]{0,40}[|｜]>)*$")
	})
)

// around is the first object in a text, and what stands before and after it; it
// does not exist if there is none that is whole.
func around(text string) (before string, object gjson.Result, after string) {
	from := strings.IndexByte(text, '{')
	if from < 0 {
		return text, gjson.Result{}, ""
	}
	var raw json.RawMessage
	d := json.NewDecoder(strings.NewReader(text[from:]))
	if d.Decode(&raw) != nil {
		return text, gjson.Result{}, ""
	}
	return text[:from], gjson.ParseBytes(raw), text[from+int(d.InputOffset()):]
}

// isBlank reports whether a value is what some write for nothing.
func isBlank(v gjson.Result) bool {
	if v.Type != gjson.String {
		return v.IsArray() && isEmpty(v)
	}
	switch strings.ToLower(strings.TrimSpace(v.Str)) {
	case "", "null", "none", "undefined":
		return true
	}
	return false
}

// isEmpty reports whether an object or an array has nothing in it.
func isEmpty(v gjson.Result) bool {
	first := strings.TrimLeft(v.Raw[1:], " \t\r\n")[0]
	return first == '}' || first == ']'
}

// members are those of an object, none of what is no object.
func members(object gjson.Result) (all []part) {
	if object.IsObject() {
		object.ForEach(func(key, v gjson.Result) bool {
			all = append(all, part{key: key.Str, raw: key.Raw, at: key.Index, value: v})
			return true
		})
	}
	return all
}

// naming are the members that may name the tool: "tool" and no other, if it is
// there.
func (e *envelope) naming() []part {
	switch {
	case e.tool.value.Type == gjson.String:
		return []part{e.tool}
	case e.tool.value.Exists():
		return nil
	}
	return e.names
}

// call is the object that stands in the place of a name; it does not exist if
// there is none.
func (e *envelope) call() gjson.Result {
	if v := e.tool.value; v.Type != gjson.String || gjson.Valid(v.Str) {
		return held(v)
	}
	return gjson.Result{}
}

// holders are the members that hold an object in which the arguments may be.
func (e *envelope) holders() []part {
	if held(e.args.value).Exists() {
		return append([]part{e.args}, e.boxes...)
	}
	return e.boxes
}

// only is the member that holds an object, where there are no others; else it
// does not exist.
func (e *envelope) only() part {
	holders := e.holders()
	if len(holders) != 1 || len(e.names)+len(e.rest) > 0 || e.tool.value.Exists() {
		return part{}
	}
	return holders[0]
}

// byKey is the envelope of a call whose only member has the name of a tool for
// its key, and the arguments for its value.
func (e *envelope) byKey() (call envelope, ok bool) {
	if len(e.rest) != 1 || len(e.names)+len(e.boxes) > 0 || e.tool.value.Exists() || e.args.value.Exists() {
		return envelope{}, false
	}
	m := e.rest[0]
	name := part{key: "tool", at: -1, value: gjson.Result{Type: gjson.String, Str: m.key}}
	return envelope{tool: name, args: m}, held(m.value).Exists()
}

// adopting is an envelope that stands in the place of a name, with what stands
// beside it if it has nothing of its own; else that stays behind.
func (e envelope) adopting(outer envelope) (adopted, behind envelope) {
	behind = outer.without(outer.tool)
	if !e.args.value.Exists() && e.boxes == nil && e.rest == nil {
		e.args, e.boxes, e.rest = outer.args, outer.boxes, outer.rest
		behind = envelope{names: outer.names}
	}
	return e, behind
}

// all are the members of an envelope.
func (e *envelope) all() []part {
	return slices.Concat([]part{e.tool, e.args}, e.names, e.boxes, e.rest)
}

// without is an envelope without one of its members.
func (e envelope) without(m part) envelope {
	if m.is(e.tool) {
		e.tool = part{}
	}
	if m.is(e.args) {
		e.args = part{}
	}
	same := func(other part) bool { return other.is(m) }
	e.names = slices.DeleteFunc(slices.Clone(e.names), same)
	e.boxes = slices.DeleteFunc(slices.Clone(e.boxes), same)
	e.rest = slices.DeleteFunc(slices.Clone(e.rest), same)
	return e
}

// is reports whether two parts are the same member.
func (m part) is(other part) bool {
	return m.at == other.at && m.key == other.key && m.value.Raw == other.value.Raw
}

// object is an object of some members, as they were sent.
func object(members []part) gjson.Result {
	all := make([]string, len(members))
	for i, m := range members {
		all[i] = m.raw + ":" + m.value.Raw
	}
	return gjson.Parse("{" + strings.Join(all, ",") + "}")
}
