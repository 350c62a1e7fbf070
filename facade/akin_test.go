package facade

import (
	"testing"

	"github.com/tidwall/gjson"
)

func TestNamesOfParameters(t *testing.T) {
	tests := []struct {
		name, sent, parameter, tool string
		want                        bool
	}{
		{"knows another case", "ISSUE_ID", "issueId", "", true},
		{"knows another separator", "issue-id", "issue_id", "", true},
		{"knows the plural", "label", "labels", "", true},
		{"knows two letters that are swapped", "nmae", "name", "", true},
		{"knows a letter too few", "stat", "state", "", true},
		{"knows another letter in a long word", "proiect", "project", "", true},
		{"takes no short word for another", "date", "data", "", false},
		{"knows what means the same", "issue_number", "issue_id", "", true},
		{"knows an abbreviation", "q", "query", "", true},
		{"knows what the tool is about", "issue_number", "id", "get_issue", true},
		{"knows the id of a thing", "project", "project_id", "", true},
		{"takes no id for that of another thing", "workspace_id", "id", "create_collection", false},
		{"takes no name for a place", "name", "workspace", "createCollection", false},
		{"takes no name for that of another thing", "name", "projectName", "create_issue", false},
		{"takes no part of a word", "work", "workspace", "", false},
		{"takes nothing for anything", "", "id", "", false},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			if got := sameName(tt.sent, tt.parameter) || akin(tt.sent, tt.parameter, wordsOfName(tt.tool)); got != tt.want {
				t.Errorf("%q for %q of %q: %t, want %t", tt.sent, tt.parameter, tt.tool, got, tt.want)
			}
		})
	}
}

// A value that was sent is never shown as that of another parameter.
func TestExampleMovesNoValue(t *testing.T) {
	collection := `{"type":"object","properties":{"workspace":{"type":"string"},"collection":{"type":"object"}},"required":["workspace"]}`
	tests := []struct{ name, tool, schema, sent, want string }{
		{"leaves a name alone", "createCollection", collection, `{"name":"x"}`, `{"workspace":"<workspace: string>"}`},
		{"keeps what else is there", "createCollection", collection, `{"collection":{"a":1},"name":"x"}`,
			`{"collection":{"a":1},"workspace":"<workspace: string>"}`},
		{"gives a value to the name that is meant", "createCollection", collection, `{"work_space":"w"}`, `{"workspace":"w"}`},
		{"takes neither of two that may be meant", "link_issue", `{"type":"object","properties":{"issue_id":{"type":"string"},"link_id":{"type":"string"}},"required":["issue_id","link_id"],"additionalProperties":false}`,
			`{"id":"1"}`, `{"issue_id":"<issue_id: string>","link_id":"<link_id: string>"}`},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			got := shapeOf([]byte(tt.schema)).exampleFor(tt.tool, members(gjson.Parse(tt.sent))).object()
			if got != tt.want {
				t.Errorf("the example for %s is\n%s\nwant\n%s", tt.sent, got, tt.want)
			}
		})
	}
}
