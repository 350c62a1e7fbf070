package hosts

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What was measured with the hosts' own programs, as HOSTS.md of the design has it:
// "slow server at start", "too long a name", "name the model sees" and "defers MCP
// tools by itself". Of the others nobody knows.
func TestMeasuredHosts(t *testing.T) {
	type measured struct {
		Defers   string
		Patience time.Duration
		Until    string
		GivesUp  time.Duration
		MaxName  int
		Prefix   string
	}
	want := map[string]measured{
		"claude-code":    {Defers: "yes", Patience: 1500 * time.Millisecond, Until: "2.1.197", MaxName: 128, Prefix: "mcp__%s__"},
		"claude-desktop": {},
		"cursor":         {},
		"vscode":         {},
		"windsurf":       {},
		"zed":            {},
		"codex":          {Defers: "by model", Patience: 800 * time.Millisecond, Prefix: "mcp__%s__"},
		"gemini":         {MaxName: 63, Prefix: "mcp_%s_"},
		"opencode":       {GivesUp: 30 * time.Second, Prefix: "%s_"},
	}
	got := map[string]measured{}
	for _, h := range All() {
		got[h.Name] = measured{h.Defers, h.Patience, h.Until, h.GivesUp, h.MaxName, h.Prefix}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("of the hosts is said (-measured +got):\n%s", diff)
	}
}
