package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/facade/config"
	"mcp-facade/facade/ledger"
)

func TestSuggestChooses(t *testing.T) {
	var tools []string
	for name, size := range map[string]int{"big": 40, "small": 1, "tiny": 0, "mid": 10} {
		var properties []string
		for i := range size {
			properties = append(properties, fmt.Sprintf(`"property_%d":{"type":"string"}`, i))
		}
		tools = append(tools, `{"name":"`+name+`","inputSchema":{"type":"object","properties":{`+strings.Join(properties, ",")+`}}}`)
	}
	slices.Sort(tools) // big, mid, small, tiny
	c, _ := catalog.New([][]byte{[]byte(`{"tools":[` + strings.Join(tools, ",") + `]}`)})
	tests := []struct {
		name   string
		budget int
		calls  map[string]int
		shown  string
		write  string
	}{
		{"takes the most called until they cover enough", 2000, map[string]int{"big": 90, "small": 8, "tiny": 2}, "", "big small"},
		{"takes no more than cover it exactly", 2000, map[string]int{"big": 95, "small": 5}, "", "big"},
		{"takes one more if they cover a little less", 2000, map[string]int{"big": 949, "small": 51}, "", "big small"},
		{"takes the cheaper first of those called as often", 2000, map[string]int{"big": 5, "small": 5, "tiny": 5, "mid": 5}, "", "tiny small mid big"},
		{"leaves what is shown and called", 2000, map[string]int{"big": 90, "small": 8, "tiny": 2}, "tiny", "big small tiny"},
		{"drops what is shown and not called", 2000, map[string]int{"big": 90, "small": 8}, "tiny", "big small"},
		{"takes a large one if it is called most", 440, map[string]int{"big": 90, "mid": 5, "small": 5}, "mid", "big small"},
		{"gives a large one no room of more calls", 380, map[string]int{"big": 40, "mid": 38, "small": 20, "tiny": 2}, "mid small", "mid small"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &config.Server{Name: "acme", SurfaceBudget: tt.budget, Compact: "standard"}
			shown := map[string]bool{}
			for _, name := range strings.Fields(tt.shown) {
				shown[name] = true
			}
			var r suggestion
			r.choose(s, c, usesOf(s, c, tt.calls, shown))
			if got := strings.Join(r.Write, " "); got != tt.write {
				t.Errorf("it writes %q, want %q: %+v", got, tt.write, r.Tools)
			}
		})
	}
}

// Nobody knows whether they were sent.
func TestUnansweredCallsAreNotCounted(t *testing.T) {
	c, _ := catalog.New([][]byte{[]byte(`{"tools":[{"name":"get"}]}`)})
	var records []ledger.Record
	for _, outcome := range []string{ledger.Cancelled, ledger.Lost, ledger.Refused, ledger.OK, ledger.Failed} {
		records = append(records, ledger.Record{Time: time.Now(), Via: ledger.Call, Tool: "get", Outcome: outcome})
	}
	records = append(records, ledger.Record{Via: ledger.Describe, Tool: "get", Outcome: ledger.OK}, ledger.Record{Via: ledger.Session, Tool: "get", Outcome: ledger.OK})
	u := activityOf(&config.Server{Name: "acme"}, records, 0)
	if n := countCalls(c, records)["get"]; n != 2 || u.Calls != 2 || ledger.Calls(records)[0].Calls != 2 || countTools(records)["get"] != (toolCount{via: 2, failed: 1}) {
		t.Errorf("suggest has %d calls, report %d, auto %v, and by tool %v; want 2 of each", n, u.Calls, ledger.Calls(records), countTools(records))
	}
	if u.Unanswered != 2 || u.Refused != 1 || u.Failed != 1 {
		t.Errorf("%d unanswered, %d refused, %d failed; want 2, 1 and 1", u.Unanswered, u.Refused, u.Failed)
	}
}

// After few searches it says nothing of a tool that none has shown it.
func TestSuggestNamesUnfoundToolsAfterManySearches(t *testing.T) {
	c, _ := catalog.New([][]byte{[]byte(`{"tools":[{"name":"get"},{"name":"put"}]}`)})
	for _, n := range []int{0, 1, fewSearches - 1, fewSearches} {
		r := &suggestion{Searches: n}
		r.judge(&config.Server{}, c, nil, nil, nil)
		notes := strings.Join(r.notes(), "\n")
		if named := strings.Contains(notes, "get, put"); named != (n >= fewSearches) || named != (r.Unfound != nil) {
			t.Errorf("after %d searches: %q, it says %s", n, r.Unfound, notes)
		}
		if told := strings.Contains(notes, "2 tools") && strings.Contains(notes, searches(n)); told != (n > 0) {
			t.Errorf("after %d searches it says %s", n, notes)
		}
	}
}

// A name that means more than one tool in "used" is not written there. What auto has
// chosen are names, whatever is in them.
func TestSuggestWritesNamesAlone(t *testing.T) {
	names := []string{"get", "get*", "get?", "a,b", "[x]", " put", "p\u200but"}
	var tools []string
	for _, name := range names {
		tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
	}
	c, _ := catalog.New([][]byte{[]byte(`{"tools":[` + strings.Join(tools, ",") + `]}`)})
	calls := map[string]int{}
	for _, name := range names {
		calls[name] = 5
	}
	for used, want := range map[string][]string{`[]`: {"get"}, `"auto"`: slices.Sorted(slices.Values(names))} {
		file, err := config.Parse("facade.servers.json", []byte(`{"acme":{"command":"acme","used":`+used+`}}`))
		if err != nil {
			t.Fatal(err)
		}
		s, err := file.Server("acme")
		if err != nil {
			t.Fatal(err)
		}
		var r suggestion
		r.choose(s, c, usesOf(s, c, calls, map[string]bool{}))
		if got := slices.Sorted(slices.Values(r.Write)); !slices.Equal(got, want) {
			t.Errorf("used %s: it writes %q, want %q", used, got, want)
		}
	}
}
