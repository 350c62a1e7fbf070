package demo

import (
	"regexp"
	"testing"

	"github.com/tidwall/gjson"
)

// TestMatchesLikeRegexp compares matches with package regexp, for each pattern
// that our schemas have.
func TestMatchesLikeRegexp(t *testing.T) {
	values := []string{"", "WEB", "web", "W", "WEBSHOP", "WEB-3", "WEB-", "WEB-3x", "3", "mobile", "mobile-2", "-", "a b", "grün",
		"#d73a4a", "#D73A4A", "#d73a4", "#d73a4a0", "d73a4a", "server.log", "a/b", `a\b`, "https://", "https://x", "http://x", "xhttps://"}
	for _, def := range gjson.Parse(toolsJSON).Array() {
		def.Get("inputSchema.properties").ForEach(func(name, prop gjson.Result) bool {
			pattern := prop.Get("pattern").Str
			for _, v := range values {
				if got, want := matches(pattern, v), regexp.MustCompile(pattern).MatchString(v); got != want {
					t.Errorf("%s: matches(%q, %q) = %v, want %v", def.Get("name").Str, pattern, v, got, want)
				}
			}
			return true
		})
	}
}
