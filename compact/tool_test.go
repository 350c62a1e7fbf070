package compact_test

import (
	"fmt"
	"testing"

	"mcp-facade/compact"
)

func TestTool(t *testing.T) {
	tests := []struct {
		name, in string
		o        compact.Options
		want     string
	}{
		{"cuts the description and trims the schema",
			`{"name":"a","description":"One thing. Two.","inputSchema":{"$comment":"c","type":"object"}}`, compact.Options{},
			`{"name":"a","description":"One thing.","inputSchema":{"type":"object"}}`},
		{"keeps all other members where they are",
			`{"_meta":{"description":"A b. C d."},"title":"T. U.","name":"a","annotations":{"title":"A b. C d.","readOnlyHint":true},"execution":{"taskSupport":"optional"},"x":[1, 2]}`, compact.Options{},
			`{"_meta":{"description":"A b. C d."},"title":"T. U.","name":"a","annotations":{"title":"A b. C d.","readOnlyHint":true},"execution":{"taskSupport":"optional"},"x":[1,2]}`},
		{"drops outputSchema and icons", `{"icons":[{"src":"x"}],"name":"a","outputSchema":{"type":"object"}}`, compact.Options{}, `{"name":"a"}`},
		{"drops them when lossless too", `{"name":"a","outputSchema":{},"icons":null}`, compact.Options{Level: "lossless"}, `{"name":"a"}`},
		{"keeps and trims them when told to keep them",
			`{"name":"a","outputSchema":{"$comment":"c","description":"One thing. Two."},"icons":[1]}`, compact.Options{Keep: []string{"outputSchema", "icons"}},
			`{"name":"a","outputSchema":{"description":"One thing."},"icons":[1]}`},
		{"keeps the description when lossless", `{"description":"One thing. Two."}`, compact.Options{Level: "lossless"}, `{"description":"One thing. Two."}`},
		{"keeps the description when told to keep it", `{"description":"One thing. Two."}`, compact.Options{Keep: []string{"description"}}, `{"description":"One thing. Two."}`},
		{"keeps the bytes of a description that it does not change", `{"description":"It\u0027s short."}`, compact.Options{}, `{"description":"It\u0027s short."}`},
		{"judges the dialect of each schema by itself",
			`{"inputSchema":{` + draft07 + `,"items":[{}]},"outputSchema":{` + draft07 + `,"type":"object"}}`, compact.Options{Keep: []string{"outputSchema"}},
			`{"inputSchema":{` + draft07 + `,"items":[{}]},"outputSchema":{"type":"object"}}`},
		{"touches nothing when off", `{ "name":"a", "icons":[], "description":"One thing. Two." }`, compact.Options{Level: "off"}, `{ "name":"a", "icons":[], "description":"One thing. Two." }`},
		{"copies wrong types", `{"name":5,"description":["One. Two."],"inputSchema":"x"}`, compact.Options{}, `{"name":5,"description":["One. Two."],"inputSchema":"x"}`},
		{"copies what is no object", `[1, 2]`, compact.Options{}, `[1, 2]`},
		{"copies what is no JSON", `{"name":`, compact.Options{}, `{"name":`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(compact.Tool([]byte(tt.in), tt.o)); got != tt.want {
				t.Errorf("Tool(%s, %+v)\n got %s\nwant %s", tt.in, tt.o, got, tt.want)
			}
			checkInvariants(t, compact.Tool, []byte(tt.in), tt.o)
		})
	}
}

func ExampleTool() {
	tool := []byte(`{"name":"get_page","description":"Reads a page. Slowly.","inputSchema":{"type":"object"},"icons":[]}`)
	fmt.Printf("%s\n", compact.Tool(tool, compact.Options{}))
	// Output:
	// {"name":"get_page","description":"Reads a page.","inputSchema":{"type":"object"}}
}
