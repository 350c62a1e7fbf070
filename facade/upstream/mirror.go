package upstream

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"mcp-facade/facade/wire"
)

// MCP 2026-07-28, "Streamable HTTP", "Request Metadata".
const (
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
	paramPrefix   = "Mcp-Param-"

	versionKey = "io.modelcontextprotocol/protocolVersion" // in _meta
)

// mirror sets the headers that repeat what a modern message says. schema gives
// a tool's inputSchema, nil if it is not known; without one that is valid, no
// arguments are mirrored.
func mirror(h http.Header, m wire.Message, schema func(tool string) []byte) {
	setPlain(h, versionHeader, member(member(m.Params, "_meta"), versionKey).String())
	setPlain(h, methodHeader, m.Method)
	key := ""
	switch m.Method {
	case "tools/call", "prompts/get":
		key = "name"
	case "resources/read":
		key = "uri"
	}
	name := member(m.Params, key)
	if key == "" || name.Type != gjson.String {
		return
	}
	h.Set(nameHeader, encode(name.Str))
	if m.Method == "tools/call" && schema != nil {
		mirrorArguments(h, member(m.Params, "arguments"), schema(name.Str))
	}
}

// setPlain sets a header for which there is no encoding. A value that cannot
// stand in one is left to the server to miss.
func setPlain(h http.Header, name, value string) {
	if value != "" && isPlain(value) {
		h.Set(name, value)
	}
}

func mirrorArguments(h http.Header, arguments gjson.Result, schema []byte) {
	all, _ := annotations(schema)
	for _, a := range all {
		v := arguments
		for _, key := range a.path {
			v = member(v, key)
		}
		if text, ok := primitive(v); ok {
			h.Set(paramPrefix+a.name, encode(text))
		}
	}
}

// member is the value of a key of obj, the last if the key is there more than
// once, as most readers have it; one that does not exist if obj is no object.
func member(obj gjson.Result, key string) (v gjson.Result) {
	if obj.IsObject() {
		obj.ForEach(func(k, each gjson.Result) bool {
			if k.Str == key {
				v = each
			}
			return true
		})
	}
	return v
}

// primitive writes an argument as the text of a header. Null, what is absent
// and what no annotated parameter may be have none.
func primitive(v gjson.Result) (string, bool) {
	const safe = 1<<53 - 1
	switch v.Type {
	case gjson.String:
		return v.Str, true
	case gjson.True, gjson.False:
		return v.Raw, true
	case gjson.Number:
		if v.Num == math.Trunc(v.Num) && math.Abs(v.Num) <= safe {
			return strconv.FormatInt(int64(v.Num), 10), true // however it is written: 100, 100.0, 1e2
		}
	}
	return "", false
}

// encode makes any text the value of a header ("Value Encoding"). So that no
// empty value is taken for a missing one, it is encoded too.
func encode(text string) string {
	const before, after = "=?base64?", "?="
	if text != "" && isPlain(text) && !(strings.HasPrefix(text, before) && strings.HasSuffix(text, after)) {
		return text
	}
	return before + base64.StdEncoding.EncodeToString([]byte(text)) + after
}

// isPlain reports whether text is the same after its way through a header.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return strings.Trim(text, " ") == text
}

// An annotation is an x-mcp-header of an inputSchema.
type annotation struct {
	name string   // what follows "Mcp-Param-"
	path []string // of the parameter, from the arguments on
}

const annotationKey = "x-mcp-header"

// CheckHeaders says why a tool with this inputSchema must be left out over
// HTTP: one of its x-mcp-header annotations is invalid. MCP 2026-07-28,
// "Streamable HTTP", "Schema Extension".
func CheckHeaders(inputSchema []byte) error {
	_, err := annotations(inputSchema)
	return err
}

// annotations returns those of a schema, or why one of them is invalid.
func annotations(schema []byte) ([]annotation, error) {
	var w walk
	w.schema(gjson.ParseBytes(schema), nil)
	if w.err != nil {
		return nil, w.err
	}
	return w.found, nil
}

// A walk looks for annotations in a schema.
type walk struct {
	found []annotation
	err   error // the first that is wrong
}

// maxSteps bounds how deep a walk goes. What lies deeper has no annotation:
// each step reads all below it again.
const maxSteps = 100

// schema looks at one schema, path being the keys that led to it. It looks
// below the keywords of JSON Schema 2020-12 and of draft 7 whose values are
// schemas and nowhere else: what an example or a default holds is data.
func (w *walk) schema(v gjson.Result, path []string) {
	if !v.IsObject() || len(path) > maxSteps {
		return
	}
	v.ForEach(func(k, sub gjson.Result) bool {
		below := append(path[:len(path):len(path)], k.Str)
		switch k.Str {
		case annotationKey:
			w.annotation(v, sub, path)
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
			w.named(sub, below)
		case "allOf", "anyOf", "oneOf", "prefixItems":
			w.each(sub, below)
		case "items":
			w.each(sub, below)
			w.schema(sub, below)
		case "not", "if", "then", "else", "additionalItems", "contains", "additionalProperties", "propertyNames",
			"unevaluatedItems", "unevaluatedProperties", "contentSchema":
			w.schema(sub, below)
		}
		return w.err == nil
	})
}

// named looks at schemas that stand below names.
func (w *walk) named(v gjson.Result, path []string) {
	if !v.IsObject() {
		return
	}
	v.ForEach(func(k, sub gjson.Result) bool {
		w.schema(sub, append(path[:len(path):len(path)], k.Str))
		return w.err == nil
	})
}

// each looks at schemas in an array.
func (w *walk) each(v gjson.Result, path []string) {
	if !v.IsArray() {
		return
	}
	v.ForEach(func(_, sub gjson.Result) bool {
		w.schema(sub, path)
		return w.err == nil
	})
}

// annotation takes the annotation v of the schema that path leads to.
func (w *walk) annotation(schema, v gjson.Result, path []string) {
	names, reached := parameter(path)
	var why error
	switch {
	case !reached:
		why = errors.New("it stands where no argument can be found by name")
	case !isPrimitive(member(schema, "type")):
		why = errors.New("the parameter is not a string, an integer or a boolean")
	case v.Type != gjson.String || !isToken(v.Str):
		why = errors.New("it is not the name of a header")
	case slices.ContainsFunc(w.found, func(a annotation) bool { return strings.EqualFold(a.name, v.Str) }):
		why = errors.New("another parameter has the same")
	default:
		w.found = append(w.found, annotation{v.Str, names})
		return
	}
	w.err = fmt.Errorf("inputSchema %q: %s %.60q: %w", "/"+strings.Join(path, "/"), annotationKey, v.String(), why)
}

// parameter returns the names of the properties by which path, which consists of
// nothing else, leads to a parameter.
func parameter(path []string) (names []string, ok bool) {
	for len(path) >= 2 && path[0] == "properties" {
		names = append(names, path[1])
		path = path[2:]
	}
	return names, len(path) == 0 && len(names) > 0
}

// isPrimitive reports whether a schema's type is one that can be mirrored, or
// that or null.
func isPrimitive(typ gjson.Result) bool {
	some := false
	for _, one := range typ.Array() {
		switch one.Str {
		case "string", "integer", "boolean":
			some = true
		case "null":
		default:
			return false
		}
	}
	return some
}

// isToken reports whether s is a token of RFC 9110, 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && !('0' <= c && c <= '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}
