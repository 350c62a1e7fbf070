package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// The estimate of names is as far off the tokenizer as its comment says.
func TestNameTokens(t *testing.T) {
	files, err := filepath.Glob("../shared/catalogs/*.json")
	if err != nil || len(files) == 0 {
		t.Skip("there are no catalogs")
	}
	for _, path := range files {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		server := strings.TrimSuffix(filepath.Base(path), ".json")
		all := names(gjson.GetBytes(file, "tools").Array())
		text, got := "", 0
		for _, tool := range all {
			text += deferredName(server, tool)
			got += nameTokens(server, tool)
		}
		want := tokens(t, text)
		off, limit := 100*float64(got-want)/float64(want), math.Inf(1)
		switch {
		case len(all) >= 60:
			limit = 6
		case len(all) >= 6:
			limit = 10
		}
		if math.Abs(off) > limit {
			t.Errorf("the %d names of %s are %d tokens, and %d estimated: %.1f %%, want %.0f at most", len(all), server, want, got, off, limit)
		}
	}
}

// The words that are said to be one token each are, and stand in order.
func TestNameWords(t *testing.T) {
	before := ""
	for _, w := range strings.Fields(nameWords) {
		if n := tokens(t, w); n != 1 {
			t.Errorf("%q is %d tokens", w, n)
		}
		if w <= before {
			t.Errorf("%q stands after %q", w, before)
		}
		before = w
	}
}

func FuzzNameTokens(f *testing.F) {
	for _, name := range append(hostileNames, "", "_", "a", "ABCdef12345", "__x--", "get_Issue2") {
		f.Add(name, name)
	}
	f.Fuzz(func(t *testing.T, server, tool string) {
		if n := nameTokens(server, tool); n < 5 || n > 5+len(server)*3+len(tool)*3 {
			t.Errorf("%q, %q are %d tokens", server, tool, n)
		}
	})
}

// deferredName is what nameTokens estimates.
func deferredName(server, tool string) string { return "mcp__" + server + "__" + tool + "\n" }
