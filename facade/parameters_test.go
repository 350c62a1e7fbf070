package facade

import (
	"fmt"
	"strings"
	"testing"

	"mcp-facade/catalog"

	"github.com/tidwall/gjson"
)

func TestParametersOfTheWinner(t *testing.T) {
	described := func(n, length int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"p%d":{"type":"string","description":%q}`, i, strings.Repeat("very long words ", length)+"here. More."))
		}
		return `{"type":"object","properties":{` + strings.Join(all, ",") + `}}`
	}
	tests := []struct {
		name, schema string
		others       []string
		want         string // "": nothing of the parameters
	}{
		{"are told with all that is said of them", `{"type":"object","properties":{"id":{"type":"string","description":"The key. As in A-1.","examples":["A-1"]}}}`, nil,
			`{"type":"object","properties":{"id":{"type":"string","description":"The key. As in A-1.","examples":["A-1"]}}}`},
		{"are not told where the signature says all", `{"type":"object","properties":{"id":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"state":{"enum":["a","b"]}},"required":["id"]}`, nil, ""},
		{"are told with all values", `{"type":"object","properties":{"state":{"enum":["a","b","c","d","e","f","g","h","i"]}}}`, nil, `{"type":"object","properties":{"state":{"enum":["a","b","c","d","e","f","g","h","i"]}}}`},
		{"are told with what is in them", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{}}}}}}`, nil, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{}}}}}}`},
		{"are not told where there are none", `{"type":"object"}`, nil, ""},
		{"are shortened if they are long", described(10, 6), nil, `{"type":"object","properties":{"p0":{"type":"string","description":"very long words very`},
		{"are not told if they are too long even so", described(80, 6), nil, ""},
		{"are not told where another is as good", `{"type":"object","properties":{"id":{"type":"string","description":"The key."}}}`, []string{"wipe_disc"}, ""},
	}
	for _, tt := range tests {
		tools := append([]string{tool("wipe_disk", "Wipes.", tt.schema)}, named(tt.others...)...)
		f, v, c := facadeWith(t, `,"used":[]`, []byte(`{"tools":[`+strings.Join(tools, ",")+`]}`))
		got, _, _ := f.discover(v, c, gjson.Parse(`{"query":"please wipe"}`))
		_, said, _ := strings.Cut(got, "\nParameters of wipe_disk: ")
		if !strings.HasPrefix(said, tt.want) || (said == "") != (tt.want == "") {
			t.Errorf("parameters that %s: discover says\n%s\nwant %q of them", tt.name, got, tt.want)
		}
	}
}

func TestStandsOut(t *testing.T) {
	hits := func(scores ...float64) (all []catalog.Hit) {
		for _, s := range scores {
			all = append(all, catalog.Hit{Score: s})
		}
		return all
	}
	for _, tt := range []struct {
		name string
		hits []catalog.Hit
		want bool
	}{{"alone", hits(1), true}, {"far before the second", hits(3, 2, 2), true}, {"little before the second", hits(3, 2.1), false}, {"as good as the second", hits(1, 1), false}} {
		if got := standsOut(tt.hits); got != tt.want {
			t.Errorf("the first tool, %s: standsOut = %t", tt.name, got)
		}
	}
}

// What discover says of the demo's tools, within what it may cost.
func TestDiscoverTextsOfTheDemo(t *testing.T) {
	count := counter(t)
	f, v, c := facadeWith(t, `,"used":[],"searchLimit":0`, []byte(`{"tools":[`+strings.Join(demoTools(t), ",")+`]}`))
	var all strings.Builder
	for _, query := range []string{"log work on an issue", "who watches a ticket", "what did we ship in the last release", "attachment", "trello boards", "creat isue",
		"zzzz", "crear una incidencia para el equipo", "誰がこの課題を見ていますか", "the a of", "export everything to a spreadsheet and send it by mail"} {
		got, _, _ := f.discover(v, c, gjson.Parse(`{"query":`+quote(query)+`}`))
		n := count(got)
		if n > maxDiscoverTokens {
			t.Errorf("discover %q costs %d tokens, want at most %d", query, n, maxDiscoverTokens)
		}
		fmt.Fprintf(&all, "# %s\n%s\n%d tokens\n\n", query, got, n)
	}
	goldenFile(t, "discover-demo.golden", all.String())
}
