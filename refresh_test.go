package main

import (
	"strings"
	"testing"

	"mcp-facade/catalog"
	"mcp-facade/facade"
)

// Of a part of any size it is shown where it begins to differ, in little time.
func TestPrintLongPart(t *testing.T) {
	const size = 20 << 20
	for name, unit := range map[string]string{"one long line": "é", "many lines": "a line\n"} {
		t.Run(name, func(t *testing.T) {
			long := strings.Repeat(unit, size/len(unit))
			for _, p := range []facade.PartChange{
				{Part: catalog.Description, Before: long + "was" + long, After: long + "NEW" + long},
				{Part: catalog.Description, Before: "was" + long, After: "NEW"},
				{Part: catalog.Description, After: "NEW" + long},
			} {
				var b strings.Builder
				printPart(&b, p)
				if got := b.String(); !strings.Contains(got, "NEW") || strings.Contains(got, "\ufffd") || len(got) > 10_000 || !strings.HasSuffix(got, "  … and more: --json shows all\n") {
					t.Errorf("%.2000s", got)
				}
			}
		})
	}
}
