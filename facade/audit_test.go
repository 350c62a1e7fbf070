package facade

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAudit(t *testing.T) {
	tests := []struct {
		name, config string
		tools        []string
		want         []string
	}{
		{"has nothing to say", `,"used":["get_issue"],"hide":["delete_*"],"confirm":"writes"`, mixed().tools, nil},
		{"tells of names that no tool has", `,"used":["get_isue"],"hide":["drop_*"],"keywords":{"x":["y"]}`, mixed().tools, []string{
			`no tool has the name "get_isue" of "used"; nearest: get_issue`,
			`no tool has the name "drop_*" of "hide"`,
			`no tool has the name "x" of "keywords"`,
		}},
		{"tells of used tools that are hidden", `,"used":["delete_issue"],"hide":["delete_*"]`, mixed().tools, []string{`"delete_issue" of "used" is hidden by "hide"`}},
		{"tells of a guard that asks for no tool", `,"used":[],"confirm":"destructive"`, two(), []string{
			`no tool of acme is marked destructive; "confirm" asks for none of its 2 tools: use "writes", or name them in "destructive"`}},
		{"tells of one whose tools are hidden", `,"used":[],"confirm":"destructive","hide":["delete_*"]`, mixed().tools, []string{
			`no tool of acme is marked destructive; "confirm" asks for none of its 3 tools: use "writes", or name them in "destructive"`}},
		{"is content with a tool that the config names", `,"used":[],"confirm":"destructive","destructive":["create_*"]`, mixed().tools[:2], nil},
		{"tells of a split without a use", `,"used":[],"split":true`, mixed().tools[1:], []string{
			`no tool is marked as read-only, so "split" leaves call nothing to run: name those that only read in "readOnly"`}},
		{"says nothing of an empty catalog", `,"used":["x"],"confirm":"destructive"`, nil, nil},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			got := Audit(entry(t, tt.config), catalogOf(tt.tools...))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s with %s (-want +got):\n%s", tt.config, strings.Join(tt.tools, " "), diff)
			}
		})
	}
}
