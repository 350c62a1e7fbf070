package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mcp-facade/catalog"
	"mcp-facade/facade/config"

	"github.com/tidwall/gjson"
)

func TestNotesOnDeferringHosts(t *testing.T) {
	const load = `,"_meta":{"anthropic/alwaysLoad":true}`
	tool := func(name, more string) string { return `{"name":"` + name + `","inputSchema":{}` + more + `}` }
	tests := []struct {
		name, list, want string
	}{
		{"says that loaded tools cost more than names", tool("a", load) + "," + tool("b", load), "nothing is saved there, but loaded tools need no search."},
		{"says that names are names", tool("a", "") + "," + tool("b", ""), "nothing is saved there."},
		{"says what fewer names save", tool("a", ""), "50 % less."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := catalog.New([][]byte{[]byte(`{"tools":[` + tool("a", "") + "," + tool("b", "") + `]}`)})
			f := figuresOf("acme", c, gjson.Parse("["+tt.list+"]").Array())
			notes := f.notes(&config.Server{}, c, nil)
			if len(notes) != 1 || !strings.HasSuffix(notes[0], " with it: "+tt.want) {
				t.Errorf("notes %q, want one that ends in %q", notes, tt.want)
			}
		})
	}
	t.Run("says nothing without a catalog", func(t *testing.T) {
		f := figuresOf("acme", nil, nil)
		if notes := f.notes(&config.Server{}, nil, nil); notes == nil || len(notes) != 0 {
			t.Errorf("notes %q, want an empty list", notes)
		}
	})
}

func TestCostly(t *testing.T) {
	var tools []string
	var lines []toolLine
	for i := range 8 {
		name := fmt.Sprintf("t%d", i)
		tools = append(tools, `{"name":"`+name+`"}`)
		lines = append(lines, toolLine{Name: name, Tokens: costlyTokens + i, State: stateShown})
	}
	lines[7].State = stateFound
	c, _ := catalog.New([][]byte{[]byte(`{"tools":[` + strings.Join(tools, ",") + `]}`)})
	got := costly(&config.Server{Used: []string{"t*"}}, c, lines)
	var order []string
	for _, note := range got {
		order = append(order, strings.Fields(note)[0])
	}
	if want := []string{"t6", "t5", "t4", "t3", "t2", "1"}; !slices.Equal(order, want) {
		t.Errorf("notes %q, want them on %q: the dearest first, of those above the limit and shown", got, want)
	}
	if got := costly(&config.Server{}, c, lines); got != nil {
		t.Errorf("notes %q, want none on tools that are not in \"used\"", got)
	}
}

func TestSaved(t *testing.T) {
	for _, tt := range []struct {
		before, after int
		want          string
	}{
		{200, 50, "75 % less"}, {200, 199, "0 % less"}, {7, 7, "no less"}, {0, 0, "no less"},
		{50, 60, `10 more: better all listed, "surface": "all"`},
	} {
		if got := saved(tt.before, tt.after); got != tt.want {
			t.Errorf("saved(%d, %d) = %q, want %q", tt.before, tt.after, got, tt.want)
		}
	}
}
