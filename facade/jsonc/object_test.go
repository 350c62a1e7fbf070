package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

const (
	block = "{\n  \"c\": \"x\",\n  \"l\": [\n    \"-y\"\n  ]\n}"
	list  = `["x", "y"]`
)

// sets are texts before and after a value was set.
var sets = []struct{ name, before, path, value, after string }{
	{"fills an empty object", "{}", "b", block, "{\n  \"b\": {\n    \"c\": \"x\",\n    \"l\": [\n      \"-y\"\n    ]\n  }\n}"},
	{"fills one in its line", `{"a": {}}`, "a/b", `"x"`, `{"a": {"b": "x"}}`},
	{"fills one with a comment", "{\n\t// none yet\n}\n", "b", block, "{\n\t// none yet\n  \"b\": {\n    \"c\": \"x\",\n    \"l\": [\n      \"-y\"\n    ]\n  }\n}\n"},
	{"indents by tabs, after a comment of the last one", "{\n\t\"a\": {\"c\": \"x\"} // mine\n}\n", "b", block,
		"{\n\t\"a\": {\"c\": \"x\"}, // mine\n\t\"b\": {\n\t\t\"c\": \"x\",\n\t\t\"l\": [\n\t\t\t\"-y\"\n\t\t]\n\t}\n}\n"},
	{"keeps a trailing comma", "{\n    \"a\": {\"c\": \"x\"}, // mine\n    // the end\n}", "b", block,
		"{\n    \"a\": {\"c\": \"x\"}, // mine\n    // the end\n    \"b\": {\n        \"c\": \"x\",\n        \"l\": [\n            \"-y\"\n        ]\n    },\n}"},
	{"stays in one line", `{ "a": {"c": "x"} }`, "b", block, `{ "a": {"c": "x"}, "b": { "c": "x", "l": [ "-y" ] } }`},
	{"stays without white space", `{"a":{"c":"x"}}`, "b", block, `{"a":{"c":"x"},"b":{"c":"x","l":["-y"]}}`},
	{"keeps CRLF", "{\r\n  \"a\": {\"c\": \"x\"}\r\n}\r\n", "b", block,
		"{\r\n  \"a\": {\"c\": \"x\"},\r\n  \"b\": {\r\n    \"c\": \"x\",\r\n    \"l\": [\r\n      \"-y\"\r\n    ]\r\n  }\r\n}\r\n"},
	{"goes into another", "{\n   \"x\": 1,\n   \"a\": {\n      \"c\": {\"c\": \"x\"}\n   }\n}", "a/b", block,
		"{\n   \"x\": 1,\n   \"a\": {\n      \"c\": {\"c\": \"x\"},\n      \"b\": {\n         \"c\": \"x\",\n         \"l\": [\n            \"-y\"\n         ]\n      }\n   }\n}"},
	{"takes the unit of the file", "{\n\t\"a\": {}\n}", "a/b", block, "{\n\t\"a\": {\n\t\t\"b\": {\n\t\t\t\"c\": \"x\",\n\t\t\t\"l\": [\n\t\t\t\t\"-y\"\n\t\t\t]\n\t\t}\n\t}\n}"},
	{"follows members that share a line", "{\"a\": {\n\"c\": \"x\"}, \"d\": {\"c\": \"y\"}}", "b", block,
		"{\"a\": {\n\"c\": \"x\"}, \"d\": {\"c\": \"y\"},\n  \"b\": {\n    \"c\": \"x\",\n    \"l\": [\n      \"-y\"\n    ]\n  }}"},
	{"makes an object on the way", "{\n  \"a\": 1\n}", "b/c", `"x"`, "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": \"x\"\n  }\n}"},
	{"makes two in the line", `{"a": 1}`, "b/c/d", `"x"`, `{"a": 1, "b": {"c": {"d": "x"}}}`},
	{"makes one of null", "{\n  \"a\": null // none\n}", "a/b", `"x"`, "{\n  \"a\": {\n    \"b\": \"x\"\n  } // none\n}"},
	{"replaces a value", `{"a": [ 1, 2 ] /* z */, "b":2}`, "a", list, `{"a": ["x", "y"] /* z */, "b":2}`},
	{"replaces a list in lines", "{\n   \"a\": [\n      1 // one\n   ],\n}", "a", list, "{\n   \"a\": [\n      \"x\",\n      \"y\"\n   ],\n}"},
	{"replaces it by an empty one", "{\n  \"a\": [\n    1\n  ]\n}", "a", `[]`, "{\n  \"a\": []\n}"},
	{"replaces a list by lines", "{\r\n\t\"a\": []\r\n}", "a", "[\n  1\n]", "{\r\n\t\"a\": [\r\n\t\t1\r\n\t]\r\n}"},
	{"knows a name by what it says", `{"\u0061": 1}`, "a", `2`, `{"\u0061": 2}`},
}

// object is a text to edit.
func object(text string) *Object {
	o := &Object{Text: []byte(text), EOL: "\n"}
	if strings.Contains(text, "\r\n") {
		o.EOL = "\r\n"
	}
	return o
}

func TestSet(t *testing.T) {
	for _, tt := range sets {
		t.Run(tt.name, func(t *testing.T) {
			o := object(tt.before)
			if err := o.Set(strings.Split(tt.path, "/"), tt.value); err != nil || string(o.Text) != tt.after {
				t.Errorf("Set(%q, %q) in %q, %v:\n got %q\nwant %q", tt.path, tt.value, tt.before, err, o.Text, tt.after)
			}
		})
	}
}

// A part of a file stands as the line in which it begins.
func TestSetPart(t *testing.T) {
	o := Object{Text: []byte("{\n\t\t}"), EOL: "\n", Indent: "\t\t"}
	if err := o.Set([]string{"a"}, "1"); err != nil || string(o.Text) != "{\n\t\t\t\"a\": 1\n\t\t}" {
		t.Errorf("Set in a part: %q, %v", o.Text, err)
	}
}

func TestCopy(t *testing.T) {
	const value = "[ 1, // one\r\n     2]"
	for before, after := range map[string]string{
		"{\n  \"a\":[\n    0\n  ]\n}": "{\n  \"a\":" + value + "\n}",
		`{"b":0}`:                     `{"b":0,"a":` + value + `}`,
	} {
		o := object(before)
		if err := o.Copy([]string{"a"}, value); err != nil || string(o.Text) != after {
			t.Errorf("Copy(%q) in %q, %v:\n got %q\nwant %q", value, before, err, o.Text, after)
		}
	}
}

func TestRemove(t *testing.T) {
	tests := []struct{ name, before, path, after string }{
		{"takes the line", "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}", "a", "{\r\n  \"b\": 2\r\n}"},
		{"takes the comma before the last", "{\n  \"a\": 1, // one\n  \"b\": 2\n}", "b", "{\n  \"a\": 1 // one\n}"},
		{"leaves a trailing comma", "{\n  \"a\": 1,\n  \"b\": 2,\n}", "b", "{\n  \"a\": 1,\n}"},
		{"leaves comments", "{\n  // one\n  \"a\": 1, // two\n  \"b\": 2\n}", "a", "{\n  // one\n  // two\n  \"b\": 2\n}"},
		{"takes a comma behind a comment", `{"a": 1 /* one */ , "b": 2}`, "a", `{/* one */  "b": 2}`},
		{"takes the first of a line", `{ "a": 1, "b": 2 }`, "a", `{ "b": 2 }`},
		{"takes the last of a line", `{ "a": 1, "b": 2 }`, "b", `{ "a": 1 }`},
		{"takes the only one", `{"a": {"b": 2}}`, "a/b", `{"a": {}}`},
		{"takes nothing that is not there", `{"a": {}, "b": null}`, "a/b", `{"a": {}, "b": null}`},
		{"takes nothing out of null", `{"b": null}`, "b/c", `{"b": null}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := object(tt.before)
			if err := o.Remove(strings.Split(tt.path, "/")); err != nil || string(o.Text) != tt.after {
				t.Errorf("Remove(%q) from %q, %v:\n got %q\nwant %q", tt.path, tt.before, err, o.Text, tt.after)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for before, want := range map[string]string{
		`{"a": `:      "hujson: line 2, column 1: parsing value: unexpected EOF",
		`[]`:          errNoObject.Error(),
		`{"a": true}`: errNoObject.Error(),
	} {
		o := object(before)
		for _, err := range []error{o.Set([]string{"a", "b"}, "1"), o.Copy([]string{"a", "b"}, "1"), o.Remove([]string{"a", "b"})} {
			if err == nil || err.Error() != want || string(o.Text) != before {
				t.Errorf("%q became %q, %v; want it as it is, and %q", before, o.Text, err, want)
			}
		}
	}
}

func ExampleObject() {
	o := Object{Text: []byte("{\n  // at work\n  \"acme\": { \"url\": \"https://mcp.acme.example\", \"old\": 1 }\n}\n"), EOL: "\n"}
	err := errors.Join(o.Set([]string{"files"}, `{ "command": "npx" }`), o.Remove([]string{"acme", "old"}))
	fmt.Print(string(o.Text), err)
	// Output:
	// {
	//   // at work
	//   "acme": { "url": "https://mcp.acme.example" },
	//   "files": { "command": "npx" }
	// }
	// <nil>
}

// FuzzEdit holds that an edit does what it says and nothing else: what is set is
// there, all else says what it said, and bytes are only added, or only taken.
func FuzzEdit(f *testing.F) {
	for _, tt := range sets {
		path := strings.Split(tt.path, "/")
		f.Add(tt.before, path[0], path[len(path)-1], "x", uint8(len(path)))
	}
	f.Add("{/*x*/\"a\":{\"b\":\"x\",\"c\":[\n]}/*y*/,/*z*/}//", "a", "\u2028<b>", `"`, uint8(2))
	f.Fuzz(func(t *testing.T, before, outer, name, value string, depth uint8) {
		if said(before) == nil || !utf8.ValidString(outer+"/"+name+"/"+value) {
			return
		}
		path := []string{outer, name}[depth%2:]
		for _, raw := range []string{Quote(value), "[" + Quote(value) + ", 1]", "{\n  " + Quote(value) + ": [\n    1\n  ]\n}", ""} {
			edits := []func(o *Object) error{
				func(o *Object) error { return o.Set(path, raw) },
				func(o *Object) error { return o.Copy(path, raw) },
			}
			if raw == "" {
				edits = []func(o *Object) error{func(o *Object) error { return o.Remove(path) }}
			}
			for _, edit := range edits {
				o := object(before)
				if edit(o) != nil {
					continue
				}
				after, want := string(o.Text), said(before)
				replaced := put(want, path, said(`{"v": ` + raw + `}`)["v"])
				if got := said(after); !reflect.DeepEqual(got, want) {
					t.Errorf("%q of %q became %q:\n%q", path, before, raw, after)
				}
				if raw == "" && !within(after, before) || raw != "" && !replaced && !within(before, after) {
					t.Errorf("%q of %q became %q, and other bytes changed:\n%q", path, before, raw, after)
				}
			}
		}
	})
}

// said is what an object says; nil: it is none, or says something twice.
func said(text string) (all map[string]any) {
	v, err := Parse([]byte(text))
	if err != nil {
		return nil
	}
	for v := range v.All() {
		object, ok := v.Value.(*hujson.Object)
		if !ok {
			continue
		}
		for i, m := range object.Members {
			if index(object, m.Name.Value.(hujson.Literal).String()) != i {
				return nil
			}
		}
	}
	v.Standardize()
	d := json.NewDecoder(bytes.NewReader(v.Pack()))
	d.UseNumber()
	if d.Decode(&all) != nil {
		return nil
	}
	return all
}

// put is what Set does; nil: what Remove does. It tells whether path led to something.
func put(object map[string]any, path []string, value any) (replaced bool) {
	old, there := object[path[0]]
	inner, ok := old.(map[string]any)
	switch {
	case len(path) > 1 && ok:
		return put(inner, path[1:], value)
	case value != nil && len(path) > 1:
		object[path[0]] = map[string]any{path[1]: value}
	case value != nil:
		object[path[0]] = value
	case len(path) == 1:
		delete(object, path[0])
	}
	return there
}

// within reports whether a text has all bytes of another, in their order.
func within(part, text string) bool {
	for i := 0; i < len(text) && part != ""; i++ {
		if text[i] == part[0] {
			part = part[1:]
		}
	}
	return part == ""
}
