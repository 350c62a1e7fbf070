package compact_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"mcp-facade/compact"
)

func TestToolGolden(t *testing.T) {
	golden(t, "tools.golden", func(tool string) string {
		checkTool(t, tool, keeps...)
		var results []string
		before, names := tool, "off"
		for _, level := range levels[1:] {
			after := string(compact.Tool([]byte(tool), compact.Options{Level: level}))
			if after == before {
				names += ", " + level
				continue
			}
			results = append(results, names+": "+before)
			before, names = after, level
		}
		return strings.Join(append(results, names+": "+before), "\n")
	})
}

// TestToolsOnRealCatalogs holds all promises against the tools of real servers.
func TestToolsOnRealCatalogs(t *testing.T) {
	for _, c := range catalogs(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refused := 0
			for _, tool := range c.tools {
				schema := []byte(gjson.Get(tool, "inputSchema").Raw)
				for _, level := range levels[1:3] {
					checkStructure(t, schema, compact.Schema(schema, compact.Options{Level: level}))
				}
				if err := checkTool(t, tool, nil); err != nil {
					t.Logf("%s: the validator cannot compile it: %v", gjson.Get(tool, "name").Str, err)
					refused++
				}
			}
			if refused > 0 {
				t.Logf("%d of %d schemas were not judged by the validator", refused, len(c.tools))
			}
		})
	}
}

// checkTool fails t unless the tool and its schemas keep all promises. It
// returns why the validator could not say which instances its input takes.
func checkTool(t *testing.T, tool string, keeps ...[]string) error {
	t.Helper()
	for _, keep := range keeps {
		size := len(tool)
		for _, level := range levels {
			o := compact.Options{Level: level, Keep: keep}
			checkInvariants(t, compact.Tool, []byte(tool), o)
			n := utf8.RuneCount(compact.Tool([]byte(tool), o))
			if n > size {
				t.Fatalf("%+v: %d characters, more than a level that takes less: %s", o, n, tool)
			}
			size = n
		}
	}
	var failed error
	for _, key := range []string{"inputSchema", "outputSchema"} {
		schema := gjson.Get(tool, key)
		if !schema.Exists() {
			continue
		}
		o, err := consult([]byte(schema.Raw), 1, 9)
		if err != nil {
			failed = err
		}
		checkLevels(t, []byte(schema.Raw), o, keeps...)
	}
	return failed
}
