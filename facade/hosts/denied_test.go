package hosts

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDenied(t *testing.T) {
	const openCode, claude = `"mcp": {"sl.ack": {"type": "local", "command": ["slack"]}}`, `{"mcpServers": {"slack": {"command": "slack"}}}`
	const zed, gemini = `"context_servers": {"slack": {"command": "slack"}}`, `"mcpServers": {"slack": {"command": "slack"}}`
	for _, test := range []struct {
		name, host, file string
		other            string // of the project: the host's file, or what else it reads there
		user             string // the user's settings of Claude Code
		hide             string
		notes            []string // the beginning of each
	}{
		{name: "hides a tool that is off", host: "opencode", file: `{` + openCode + `, "tools": {"sl_ack_wipe": false, "other_wipe": false, "bash": false}}`, hide: "wipe"},
		{name: "hides what a glob stands for", host: "opencode", file: `{` + openCode + `, "permission": {"sl_ack_wipe*": "deny", "*_purge_?": "deny"}}`, hide: "wipe* *_purge_? purge_?"},
		{name: "leaves a host that keeps away call itself", host: "opencode", file: `{` + openCode + `, "tools": {"sl_ack_*": false}, "permission": {"*": "ask"}}`},
		{name: "names what leaves single tools and not ours", host: "opencode", file: `{` + openCode + `, "tools": {"sl_ack_*": false, "sl_ack_get_me": true}}`,
			notes: []string{`tools["sl_ack_*"] in FILE keeps sl_ack_discover, sl_ack_describe, sl_ack_call away, without which`}},
		{name: "names that of all servers", host: "opencode", file: `{` + openCode + `, "permission": {"*": "deny", "sl_ack_get*": "allow", "sl_ack_call": "ask"}}`,
			notes: []string{`permission["*"] in FILE keeps sl_ack_discover, sl_ack_describe away, without which`}},
		{name: "names that of an agent", host: "opencode", file: `{` + openCode + `, "tools": {"sl_ack_*": false}, "agent": {"a": {"tools": {"sl_ack_get_me": true}}, "b": {"tools": {"sl_ack_*": true}}}}`,
			notes: []string{`tools["sl_ack_*"] in FILE keeps sl_ack_discover, sl_ack_describe, sl_ack_call away`}},
		{name: "counts the last rule", host: "opencode", file: `{` + openCode + `, "tools": {"sl_ack_wipe": false}, "permission": {"sl_ack_wipe": "allow"}}`},
		{name: "does not guess exceptions", host: "opencode", file: `{` + openCode + `, "permission": {"sl_ack_w*": "deny", "sl_ack_wink": "allow"}}`,
			notes: []string{`permission["sl_ack_w*"] in FILE has exceptions`}},
		{name: "does not guess exceptions of an agent", host: "opencode", file: `{` + openCode + `, "tools": {"sl_ack_wipe": false}, "agent": {"a": {"tools": {"sl_ack_wipe": true}}}}`,
			notes: []string{"tools.sl_ack_wipe in FILE has exceptions"}},
		{name: "names a rule for one agent", host: "opencode", file: `{` + openCode + `, "agent": {"plan": {"tools": {"sl_ack_wipe": false}}}}`,
			notes: []string{"agent.plan.tools.sl_ack_wipe in FILE counts for that one only"}},
		{name: "names a rule that asks", host: "opencode", file: `{` + openCode + `, "permission": {"sl_ack_wipe": "ask", "sl_ack_send": {"*": "deny"}}}`, hide: "send",
			notes: []string{`permission.sl_ack_wipe in FILE has the host ask before a tool runs, which "call" runs unasked: have it ask before sl_ack_call, too`}},
		{name: "names what it cannot say", host: "opencode", file: `{` + openCode + `, "permission": {"sl_ack_wipe": {"a": "deny", "*": "allow"}, "sl_ack_[x]": "deny"}}`,
			notes: []string{"permission.sl_ack_wipe in FILE may", `permission["sl_ack_[x]"] in FILE may`}},
		{name: "reads the rules of the second generation", host: "opencode", file: `{` + openCode + `, "permissions": [{"action": "sl_ack_wipe", "resource": "*", "effect": "deny"}, {"action": "shell", "resource": "rm *", "effect": "deny"}]}`, hide: "wipe"},
		{name: "names a rule of a project", host: "opencode", file: `{` + openCode + `}`, other: `{"tools": {"sl_ack_wipe": false}}`,
			notes: []string{"tools.sl_ack_wipe in OTHER counts in that project only"}},
		{name: "names a file that it does not understand", host: "opencode", file: `{` + openCode + `, "tools": {"sl_ack_wipe": false, "sl_ack_wipe": true}}`,
			notes: []string{"What FILE keeps away is not known: 1: tools.sl_ack_wipe is there twice."}},

		{name: "hides what the user denied", host: "claude-code", file: claude, user: `{"permissions": {"deny": ["Bash(rm *)", "mcp__slack__wipe", "mcp__slack__x(y)", "mcp__other"], "ask": ["mcp__slack__send"]}}`,
			hide: "wipe", notes: []string{`permissions.ask.mcp__slack__send in USER has the host ask before a tool runs, which "call" runs unasked: have it ask before mcp__slack__call`}},
		{name: "leaves a server that is denied", host: "claude-code", file: claude, user: `{"permissions": {"deny": ["mcp__slack", "mcp__slack__*"]}}`},
		{name: "names what a project denies", host: "claude-code", file: claude, other: `{"permissions": {"deny": ["mcp__slack__wipe"]}}`,
			notes: []string{"permissions.deny.mcp__slack__wipe in OTHER counts in that project only"}},

		{name: "hides what a profile turns off", host: "zed", file: `{` + zed + `, "agent": {"profiles": {"write": {"context_servers": {"slack": {"tools": {"wipe": false, "send": true}}}}}}}`, hide: "wipe"},
		{name: "names what only one profile turns off", host: "zed", file: `{` + zed + `, "agent": {"profiles": {"write": {}, "mine": {"enable_all_context_servers": true, "context_servers": {"slack": {"tools": {"wipe": false}}}}}}}`,
			notes: []string{"agent.profiles.mine.context_servers.slack.tools.wipe in FILE counts for that one only"}},
		{name: "leaves a profile without call", host: "zed", file: `{` + zed + `, "agent": {"profiles": {"mine": {"context_servers": {"slack": {"tools": {"wipe": false}}}}}}}`},
		{name: "names a profile with single tools", host: "zed", file: `{` + zed + `, "agent": {"profiles": {"mine": {"context_servers": {"slack": {"tools": {"get_me": true, "call": true}}}}, "ask": {}}}}`,
			notes: []string{"agent.profiles.mine.context_servers.slack.tools in FILE keeps discover, describe away"}},
		{name: "hides what Zed denies", host: "zed", file: `{` + zed + `, "agent": {"tool_permissions": {"default": "allow", "tools": {"mcp:slack:wipe": {"default": "deny"}, "mcp:slack:send": {"default": "confirm"},
			"mcp:slack:x": {"always_deny": [{"pattern": "."}]}, "mcp:slack2:wipe": {"default": "deny"}}}}}`, hide: "wipe",
			notes: []string{`agent.tool_permissions.tools["mcp:slack:send"] in FILE has the host ask`, `agent.tool_permissions.tools["mcp:slack:x"] in FILE may`}},
		{name: "leaves what asks where call does", host: "zed", file: `{` + zed + `, "agent": {"tool_permissions": {"tools": {"mcp:slack:send": {"default": "confirm"}}}}}`},

		{name: "hides what Gemini CLI excludes", host: "gemini", file: `{` + gemini + `, "tools": {"exclude": ["mcp_slack_wipe", "run_shell_command", "run_shell_command(rm)", "purge", "mcp_other_x"]}, "excludeTools": ["slack__send"]}`, hide: "send wipe purge"},
		{name: "names what Codex asks for", host: "codex", file: "[mcp_servers.a]\ncommand = \"a\"\ndefault_tools_approval_mode = \"approve\"\n[mcp_servers.a.tools.wipe]\napproval_mode = \"prompt\"\n",
			notes: []string{"mcp_servers.a.tools.wipe in FILE has the host ask"}},
		{name: "names what Cursor's command line denies", host: "cursor", file: claude, other: `{"permissions": {"allow": ["Mcp(slack:send)"], "deny": ["Shell(rm)", "Mcp(slack:wipe)", "Mcp(slack, purge)", "Mcp(other:x)", "Mcp(slack:*)"]}}`,
			notes: []string{`permissions.deny["Mcp(slack:wipe)"] in OTHER counts for that one only, for whom "call" reaches what it keeps away: keep Mcp(slack:call) away`, `permissions.deny["Mcp(slack, purge)"] in OTHER`}},
		{name: "names the policies of Gemini CLI", host: "gemini", file: `{` + gemini + `}`, other: "[[rule]]\nmcpName = \"slack\"\ntoolName = \"wipe\"\ndecision = \"deny\"\n",
			notes: []string{`OTHER has rules for it`}},
		{name: "leaves policies for others", host: "gemini", file: `{` + gemini + `}`, other: "[[rule]]\ntoolName = \"run_shell_command\"\n"},
		{name: "hides what the entry of a host without rules turns off", host: "windsurf", file: `{"mcpServers": {"slack": {"command": "mcp-facade", "disabledTools": ["wipe", "a[b]"]}}}`, hide: "wipe"},
		{name: "leaves a host without rules", host: "vscode", file: `{"servers": {"slack": {"command": "slack"}}}`},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			d := newDesk(t)
			path := d.put(test.host, false, []byte(test.file))
			other := filepath.Join(d.place.Folders[0], map[string]string{"opencode": "opencode.json", "claude-code": ".claude/settings.local.json",
				"cursor": ".cursor/cli.json", "gemini": ".gemini/policies/mine.toml"}[test.host])
			user := filepath.Join(d.place.Home, ".claude", "settings.json")
			if test.other != "" {
				d.write(other, []byte(test.other))
			}
			if test.user != "" {
				d.write(user, []byte(test.user))
			}
			names := strings.NewReplacer(path, "FILE", other, "OTHER", user, "USER")
			files, errs := Find(d.place)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			hide, notes := files[0].Denied(files[0].Entries()[0])
			if diff := cmp.Diff(strings.Fields(test.hide), hide, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("hide:\n%s", diff)
			}
			if len(notes) != len(test.notes) {
				t.Fatalf("notes: %q, want %q", notes, test.notes)
			}
			for i, note := range notes {
				if got := names.Replace(note); !strings.HasPrefix(got, test.notes[i]) {
					t.Errorf("note %q, want %q", got, test.notes[i])
				}
			}
		})
	}
}
