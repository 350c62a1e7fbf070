package facade

import (
	"slices"
	"testing"

	"github.com/tidwall/gjson"
)

func TestServe(t *testing.T) {
	up := &fake{tools: []string{tool("Get_Issue", "Get one.", ""), tool("list_issues", "List all.", "")}}
	cache := store(t)
	o := Options{Server: entry(t, `,"used":["get_*"]`), Store: cache, Version: "v1"}
	d := start(t, o, up)
	if got := gjson.Get(d.open(), "capabilities.tools.listChanged").Raw; got != "true" {
		t.Errorf("cold initialize: tools.listChanged is %s, want true", got)
	}
	want := []string{"get_issue", "discover", "describe", "call"}
	if got := d.names(); !slices.Equal(got, want) {
		t.Errorf("cold tools/list shows %q, want %q", got, want)
	}
	if got := text(d.call("2", "get_issue", `{"n":9007199254740993}`)); got != `{"name":"Get_Issue","arguments":{"n":9007199254740993}}` {
		t.Errorf("direct call reached the upstream as %s", got)
	}
	if got := text(d.call("3", "call", `{"tool":"list_issues","args":{"a":1.0}}`)); got != `{"name":"list_issues","arguments":{"a":1.0}}` {
		t.Errorf("call reached the upstream as %s", got)
	}
	d.close()
	if n := up.dials(); n != 1 {
		t.Errorf("cold start dialled %d times, want 1", n)
	}

	warm := start(t, o, up)
	warm.open()
	if got := warm.names(); !slices.Equal(got, want) {
		t.Errorf("warm tools/list shows %q, want %q", got, want)
	}
	warm.close()
	if n := up.dials(); n != 1 {
		t.Errorf("warm start dialled the upstream")
	}
}
