package facade

import (
	"fmt"
	"strings"
	"testing"

	"mcp-facade/catalog"

	"github.com/tidwall/gjson"
)

// maxSplitTokens is what the definitions of four meta-tools may cost.
const maxSplitTokens = 430

// What a model reads of the meta-tools before every vendor's catalog, with
// nothing used, and what that costs. Of the vendors' there are words of the
// names of their tools, and no more.
func TestRealMetaToolTexts(t *testing.T) {
	count := counter(t)
	var text strings.Builder
	realCatalogs(t, func(t *testing.T, name string, c *catalog.Catalog, handshake []byte) {
		var costs []string
		for _, way := range []struct {
			config string
			most   int
		}{{`,"used":[]`, maxMetaTokens}, {`,"used":[],"split":true`, maxSplitTokens}} {
			e := entry(t, way.config)
			e.Name = name
			s := New(Options{Server: e}).render(c, handshake)
			tools, cost := gjson.ParseBytes(s.tools).Array(), 0
			for _, tool := range tools {
				cost += count(string(modelText([]byte(tool.Raw))))
			}
			if cost > way.most {
				t.Errorf("%s: the meta-tools cost %d tokens, want at most %d", way.config, cost, way.most)
			}
			costs = append(costs, fmt.Sprintf("%d tools %d tokens", len(tools), cost))
			if way.most == maxMetaTokens {
				for _, tool := range tools {
					fmt.Fprintf(&text, "%s: %s: %s\n", name, tool.Get("name").Str, tool.Get("description").Str)
				}
			}
		}
		fmt.Fprintf(&text, "%s: %s\n\n", name, strings.Join(costs, ", "))
	})
	goldenFile(t, "realmeta.golden", text.String())
}
