package compact

import (
	"fmt"
	"testing"
)

func TestOutline(t *testing.T) {
	const mail = `{"properties":{"id":{"type":"string"},"message":{"type":"object","required":["to"],"properties":{
		"createdAt":{"type":"string"},"subject":{"type":["string","null"]},"body":{"anyOf":[{"properties":{"text":{"type":"string"}}},{"type":"null"}]},
		"to":{"type":"array","items":{"$ref":"#/$defs/person"}}}}},"required":["message"],"$defs":{"person":{"properties":{"address":{"type":"string"}}}}}`
	tests := []struct {
		name, schema string
		tokens       int
		want         string
	}{
		{"goes into objects, arrays, unions and references", mail, 300,
			"{message: {to: {address?: string}[], subject?: string|null, body?: {text?: string}|null, createdAt?: string}, id?: string}"},
		{"goes less deep where there is no room", mail, 25, "{message: object, id?: string}"},
		{"is nothing where nothing fits", mail, 3, ""},
		{"is nothing without properties", `{"type":"object"}`, 300, ""},
		{"ends where a schema is in itself", `{"properties":{"a":{"$ref":"#"}}}`, 30, "{a?: {a?: {a?: {a?: {a?: {a?: any}}}}}}"},
	}
	for _, tt := range tests {
		if got := Outline([]byte(tt.schema), tt.tokens); got != tt.want {
			t.Errorf("an outline that %s is\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

func ExampleOutline() {
	schema := `{"properties":{"message":{"type":"object","properties":{"subject":{"type":"string"}}}},"required":["message"]}`
	fmt.Println(Outline([]byte(schema), 100))
	// Output: {message: {subject?: string}}
}

func ExampleDeprecated() {
	fmt.Println(Deprecated("Read a file. DEPRECATED: Use read_text_file instead."))
	// Output: DEPRECATED: Use read_text_file instead.
}
