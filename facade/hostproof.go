package facade

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// maxToolNesting is how deep a tool may nest. serde_json, with which hosts written
// in Rust read a frame, gives up at 128; real tools stay below 40.
const maxToolNesting = 100

// hostproof is a tool as every host takes it. Many check tools/list as a whole,
// as the TypeScript SDK v1 does (types.ts, ToolSchema), so that one tool costs
// all the others their place. What would do that is mended or dropped, never so
// that a schema accepts less; the error says why a tool cannot be mended.
func hostproof(tool []byte) ([]byte, error) {
	if err := unreadable(tool); err != nil {
		return nil, err
	}
	o := gjson.ParseBytes(tool)
	if err := unfit(lastOf(o, "inputSchema")); err != nil {
		return nil, err
	}
	return wholePairs([]byte(fitted(o, toolFits))), nil
}

// unfit is why no host takes a tool with this inputSchema. Arguments are always
// an object.
func unfit(schema gjson.Result) error {
	if !schema.IsObject() {
		return errors.New("its inputSchema is no object")
	}
	if kind := lastOf(schema, "type"); kind.Exists() && !slices.ContainsFunc(kind.Array(), isObjectType) {
		return fmt.Errorf("its inputSchema is not of the type object but %s", quoted(kind.Raw))
	}
	return nil
}

func isObjectType(kind gjson.Result) bool { return kind.Str == "object" }

// unreadable is why some JSON parsers refuse a text that is valid JSON, and
// with it the frame that it is in.
func unreadable(raw []byte) error {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case c == '{' || c == '[':
			if depth++; depth > maxToolNesting {
				return fmt.Errorf("it is nested more than %d deep", maxToolNesting)
			}
		case c == '}' || c == ']':
			depth--
		case c == '-' || c >= '0' && c <= '9':
			number := raw[i : i+numberSize(raw[i:])]
			if _, err := strconv.ParseFloat(string(number), 64); err != nil {
				return fmt.Errorf("it has the number %.20s", number)
			}
			i += len(number) - 1
		}
	}
	return nil
}

// numberSize is how many bytes the number has that a text begins with.
func numberSize(text []byte) int {
	for i, c := range text {
		if strings.IndexByte("+-.0123456789eE", c) < 0 {
			return i
		}
	}
	return len(text)
}

// lastOf is the value of a member. The last one counts, as in the JSON parsers
// of most hosts.
func lastOf(o gjson.Result, key string) (last gjson.Result) {
	o.ForEach(func(k, v gjson.Result) bool {
		if k.Str == key {
			last = v
		}
		return true
	})
	return last
}

// A fit returns the value of a member as it may stand, "" if it may not.
type fit func(v gjson.Result) string

// A member is one of an object. raw is its value as it may stand.
type member struct {
	key   string // decoded
	name  string // as it is written
	value gjson.Result
	raw   string
}

// fitted is an object in which each member is as its fit says, and stands once:
// serde refuses one that stands twice. It is as written if all fit.
func fitted(o gjson.Result, fits map[string]fit) string {
	members, last := make([]member, 0, 8), make(map[string]int, 8)
	o.ForEach(func(k, v gjson.Result) bool {
		last[k.Str] = len(members)
		members = append(members, member{k.Str, k.Raw, v, v.Raw})
		return true
	})
	same := len(last) == len(members)
	for i := range members {
		m := &members[i]
		if f := fits[m.key]; f != nil && last[m.key] == i {
			m.raw = f(m.value)
		}
		same = same && m.raw == m.value.Raw
	}
	if same {
		return o.Raw
	}
	out := []byte{'{'}
	for i, m := range members {
		if m.raw == "" || last[m.key] != i {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, m.name...), ':'), m.raw...)
	}
	return string(append(out, '}'))
}

// The members that hosts check, of a tool and of what is in it.
var (
	toolFits = map[string]fit{
		"title":        ofText,
		"description":  ofText,
		"inputSchema":  inputSchema,
		"outputSchema": outputSchema,
		"annotations":  ofObject(annotationFits),
		"execution":    ofObject(executionFits),
		"_meta":        ofObject(nil),
		"icons":        allOf(icon),
	}
	annotationFits = map[string]fit{
		"title":           ofText,
		"readOnlyHint":    ofBool,
		"destructiveHint": ofBool,
		"idempotentHint":  ofBool,
		"openWorldHint":   ofBool,
	}
	executionFits = map[string]fit{"taskSupport": oneOf("required", "optional", "forbidden")}
	schemaFits    = map[string]fit{"properties": properties, "required": allOf(ofText)}
	iconFits      = map[string]fit{"src": ofText, "mimeType": ofText, "sizes": allOf(ofText), "theme": oneOf("light", "dark")}
)

func when(fits bool, v gjson.Result) string {
	if fits {
		return v.Raw
	}
	return ""
}

func ofText(v gjson.Result) string { return when(v.Type == gjson.String, v) }
func ofBool(v gjson.Result) string { return when(v.IsBool(), v) }

func oneOf(texts ...string) fit {
	return func(v gjson.Result) string { return when(v.Type == gjson.String && slices.Contains(texts, v.Str), v) }
}

func ofObject(fits map[string]fit) fit {
	return func(v gjson.Result) string {
		if !v.IsObject() {
			return ""
		}
		return fitted(v, fits)
	}
}

// allOf takes a list, if each element fits as it is.
func allOf(element fit) fit {
	return func(v gjson.Result) string {
		misfit := func(e gjson.Result) bool { return element(e) != e.Raw }
		return when(v.IsArray() && !slices.ContainsFunc(v.Array(), misfit), v)
	}
}

// icon takes an icon that fits as it is.
func icon(v gjson.Result) string {
	return when(v.IsObject() && v.Get("src").Exists() && fitted(v, iconFits) == v.Raw, v)
}

// inputSchema is the schema of arguments, whose type unfit has looked at.
func inputSchema(v gjson.Result) string {
	raw := fitted(v, schemaFits)
	if lastOf(v, "type").Str != "object" {
		raw = string(wire.SetMember([]byte(raw), "type", []byte(`"object"`)))
	}
	return plain(raw)
}

// outputSchema is a schema that is of the type object.
func outputSchema(v gjson.Result) string {
	if !v.IsObject() || lastOf(v, "type").Str != "object" {
		return ""
	}
	return plain(fitted(v, schemaFits))
}

// properties are those at the root of a schema: hosts look whether each is an
// object. What is no schema allows everything.
func properties(v gjson.Result) string {
	if !v.IsObject() {
		return ""
	}
	var p patches
	v.ForEach(func(_, property gjson.Result) bool {
		if !property.IsObject() && !property.IsBool() {
			p.replace(property, "{}")
		}
		return true
	})
	return p.apply(v)
}

// wholePairs is a JSON text in which no half of a surrogate pair is escaped
// alone, as where a server has cut an emoji in two: serde_json refuses the frame.
// Such a half becomes U+FFFD.
func wholePairs(text []byte) []byte {
	mended := false
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++
		switch first := unit(text[i-1:]); {
		case !utf16.IsSurrogate(first):
		case utf16.DecodeRune(first, unit(text[i+5:])) != utf8.RuneError:
			i += 10
		default:
			if !mended {
				text, mended = bytes.Clone(text), true
			}
			copy(text[i+1:], "fffd")
			i += 4
		}
	}
	return text
}

// unit is the UTF-16 code unit of the escape that a text begins with, or 0.
func unit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	n, _ := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n)
}
