package compact_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"mcp-facade/compact"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden runs f over the inputs in a golden file, the lines that begin with
// "< ", and compares the lines of its results with those after them, which
// begin with "> ". Other lines are comments.
func golden(t *testing.T, name string, f func(input string) string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	var want, got []string
	for _, line := range lines(t, path) {
		want = append(want, line)
		input, isInput := strings.CutPrefix(line, "< ")
		switch {
		case isInput:
			got = append(got, line)
			for result := range strings.SplitSeq(f(input), "\n") {
				got = append(got, "> "+result)
			}
		case !strings.HasPrefix(line, "> "):
			got = append(got, line)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: line %d\n got %s\nwant %s", path, i+1, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d lines, want %d", path, len(want), len(got))
	}
}

// lines returns the lines of a file.
func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// A realCatalog is the answer of a real server, kept beside the repository.
type realCatalog struct {
	name  string
	tools []string
}

// catalogs returns the real catalogs, or skips the test where there are none.
func catalogs(t testing.TB) []realCatalog {
	t.Helper()
	paths, _ := filepath.Glob("../../shared/catalogs/*.json")
	if len(paths) == 0 {
		t.Skip("no ../shared/catalogs beside the repository")
	}
	var all []realCatalog
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c := realCatalog{name: strings.TrimSuffix(filepath.Base(path), ".json")}
		for _, tool := range gjson.GetBytes(data, "tools").Array() {
			c.tools = append(c.tools, tool.Raw)
		}
		all = append(all, c)
	}
	return all
}

// checkInvariants fails t unless out is what a compactor may make of in.
func checkInvariants(t *testing.T, f func([]byte, compact.Options) []byte, in []byte, o compact.Options) {
	t.Helper()
	out := f(bytes.Clone(in), o)
	if !json.Valid(in) {
		if !bytes.Equal(in, out) {
			t.Fatalf("%+v changes what is no JSON:\n in %q\nout %q", o, in, out)
		}
		return
	}
	if !json.Valid(out) {
		t.Fatalf("%+v: no JSON:\n in %s\nout %s", o, in, out)
	}
	if n, m := utf8.RuneCount(in), utf8.RuneCount(out); m > n {
		t.Fatalf("%+v: %d characters became %d:\n in %s\nout %s", o, n, m, in, out)
	}
	if again := f(bytes.Clone(out), o); !bytes.Equal(again, out) {
		t.Fatalf("%+v: a second pass changes it:\n in %s\n 1st %s\n 2nd %s", o, in, out, again)
	}
}

// checkStructure fails t unless out is the schema in but for texts and the
// keywords that may go.
func checkStructure(t *testing.T, in, out []byte) {
	t.Helper()
	want, got := bones(decode(t, in)), bones(decode(t, out))
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("structure changed:\n in %s\nout %s", in, out)
	}
}

func decode(t *testing.T, data []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return v
}

// bones returns the decoded schema v without texts and the keywords that may
// go. It is written anew here so that it does not share a mistake.
func bones(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = bones(v[i])
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for key, value := range v {
			switch key {
			case "$schema", "$comment", "examples", "default", "x-mcp-header":
				continue
			case "description":
				if _, ok := value.(string); ok {
					continue
				}
			case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
				if names, ok := value.(map[string]any); ok {
					inside := map[string]any{}
					for name, schema := range names {
						if _, isSchema := schema.(map[string]any); isSchema {
							inside[name] = bones(schema)
						} else {
							inside[name] = schema
						}
					}
					object[key] = inside
					continue
				}
			case "items", "additionalProperties", "additionalItems", "unevaluatedItems", "unevaluatedProperties",
				"contains", "propertyNames", "not", "if", "then", "else", "contentSchema",
				"allOf", "anyOf", "oneOf", "prefixItems":
				object[key] = shallowBones(value)
				continue
			}
			object[key] = value
		}
		return object
	}
	return v
}

// shallowBones is bones for a schema or a list of them, where what is in
// a list inside the list is data.
func shallowBones(v any) any {
	list, ok := v.([]any)
	if !ok {
		return bones(v)
	}
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = e
		if _, isSchema := e.(map[string]any); isSchema {
			out[i] = bones(e)
		}
	}
	return out
}
