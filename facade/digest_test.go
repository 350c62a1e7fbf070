package facade

import (
	"fmt"
	"strings"
	"testing"

	"mcp-facade/catalog"
)

// What the tools of every vendor are said to be about where all are hidden: the
// words of a file that is looked at, and no more of the vendors' than those.
func TestDigestsOfRealCatalogs(t *testing.T) {
	count := counter(t)
	var all strings.Builder
	realCatalogs(t, func(t *testing.T, name string, c *catalog.Catalog, handshake []byte) {
		about := digest(c, c.Tools(), name+" "+serverName(handshake))
		if n := count(about); n > maxDigestTokens {
			t.Errorf("the digest costs %d tokens, want at most %d: %s", n, maxDigestTokens, about)
		}
		fmt.Fprintf(&all, "%s (%d): %s\n", name, len(c.Tools()), about)
	})
	goldenFile(t, "digests.golden", all.String())
}
