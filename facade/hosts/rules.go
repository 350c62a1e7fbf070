package hosts

import (
	"slices"
	"strings"
)

// claudeRules are those of the permissions. Claude Code ignores one of such a tool
// with something in parentheses.
func claudeRules(s *found, file *node) (all []rule) {
	prefix := "mcp__" + plainName(s) + "__"
	add := func(key string, does verdict) {
		for _, name := range file.at([]string{"permissions", key}).texts() {
			if !strings.Contains(name, "(") {
				all = append(all, s.rules(prefix, name, does, "permissions", key, name)...)
			}
		}
	}
	add("deny", denies)
	add("ask", asks)
	return all
}

// cursorRules are those of the permissions, which count for Cursor's command line
// alone: "Mcp(server:tool)".
func cursorRules(s *found, file *node) (all []rule) {
	name, _ := s.name()
	for _, text := range file.at([]string{"permissions", "deny"}).texts() {
		inner, ok := strings.CutPrefix(text, "Mcp(")
		inner, closed := strings.CutSuffix(inner, ")")
		if !ok || !closed {
			continue
		}
		for _, r := range s.rules(name+":", strings.ReplaceAll(inner, ", ", ":"), denies, "permissions", "deny", text) {
			r.one, r.call = true, "Mcp("+r.call+")"
			all = append(all, r)
		}
	}
	return all
}

// openCodeRules are those of all agents and then those of each. The last that
// matches counts; tools come before permissions.
func openCodeRules(s *found, file *node) []rule {
	all := openCodeRulesIn(s, file)
	for _, key := range []string{"agent", "agents", "mode"} {
		for i := range file.get(key).kids() {
			agent := &file.get(key).nodes[i]
			for _, r := range openCodeRulesIn(s, agent) {
				r.path, r.one = slices.Concat([]string{key, agent.key}, r.path), true
				all = append(all, r)
			}
		}
	}
	return all
}

func openCodeRulesIn(s *found, n *node) (all []rule) {
	prefix := plainName(s) + "_"
	for _, tool := range n.get("tools").kids() {
		does := allows
		if tool.literal() == "false" {
			does = denies
		}
		all = append(all, s.rules(prefix, tool.key, does, "tools", tool.key)...)
	}
	for _, tool := range n.get("permission").kids() {
		does := openCodeVerdict(tool.text())
		if inputs := tool.kids(); len(inputs) == 1 && inputs[0].key == "*" {
			does = openCodeVerdict(inputs[0].text())
		}
		all = append(all, s.rules(prefix, tool.key, does, "permission", tool.key)...)
	}
	for _, p := range n.get("permissions").kids() {
		does := openCodeVerdict(p.get("effect").text())
		if does != allows && p.get("resource").text() != "*" {
			does = unclear
		}
		all = append(all, s.rules(prefix, p.get("action").text(), does, "permissions", p.get("action").text())...)
	}
	return all
}

func openCodeVerdict(word string) verdict {
	switch word {
	case "allow":
		return allows
	case "ask":
		return asks
	case "deny":
		return denies
	}
	return unclear
}

// geminiRules are the tools that are excluded by their whole names, or by their
// own, of whatever server.
func geminiRules(s *found, file *node) (all []rule) {
	name, _ := s.name()
	for _, path := range [][]string{{"excludeTools"}, {"tools", "exclude"}} {
		for _, tool := range file.at(path).texts() {
			below := append(slices.Clip(path), tool)
			rules := slices.Concat(s.rules("mcp_"+plainName(s)+"_", tool, denies, below...), s.rules(name+"__", tool, denies, below...))
			if len(rules) == 0 && isGeminiOther(tool) {
				rules = []rule{{path: below, tool: tool, does: denies}}
			}
			all = append(all, rules...)
		}
	}
	return all
}

// isGeminiOther reports whether a name without that of a server may be one of a
// server's tools: it is none of Gemini's own.
func isGeminiOther(name string) bool {
	own := []string{"list_directory", "read_file", "read_many_files", "write_file", "replace", "glob", "search_file_content", "grep_search",
		"run_shell_command", "web_fetch", "google_web_search", "save_memory", "write_todos", "activate_skill", "ask_user",
		"enter_plan_mode", "exit_plan_mode", "get_internal_docs"}
	return !slices.Contains(own, name) && !strings.Contains(name, "(") && !strings.HasSuffix(name, "Tool") &&
		!strings.HasPrefix(name, "mcp_") && !strings.Contains(name, "__")
}

// codexRules are the tools that are to be asked for, if others are not.
func codexRules(s *found, _ *node) (all []rule) {
	if s.node.get("default_tools_approval_mode").text() == "prompt" {
		return nil
	}
	for _, tool := range s.node.get("tools").kids() {
		if tool.get("approval_mode").text() == "prompt" {
			all = append(all, rule{path: append(slices.Clip(s.path), "tools", tool.key), tool: tool.key, does: asks, call: "call"})
		}
	}
	return all
}

// zedRules are those of the tool permissions and of the profiles.
func zedRules(s *found, file *node) (all []rule) {
	name, _ := s.name()
	permissions := file.at([]string{"agent", "tool_permissions"})
	for _, p := range permissions.get("tools").kids() {
		tool, ok := strings.CutPrefix(p.key, "mcp:"+name+":")
		if !ok {
			continue
		}
		r := rule{path: []string{"agent", "tool_permissions", "tools", p.key}, tool: tool, call: "mcp:" + name + ":call"}
		switch mode := p.get("default").text(); {
		case mode == "deny":
			r.does = denies
		case len(p.get("always_deny").kids()) > 0:
			r.does = unclear
		case mode == "confirm" && permissions.get("default").text() == "allow":
			r.does = asks
		}
		all = append(all, r)
	}
	profiles := file.at([]string{"agent", "profiles"})
	for i := range profiles.kids() {
		all = append(all, zedOmits(&profiles.nodes[i], name)...)
		for _, tool := range zedTools(&profiles.nodes[i], name).kids() {
			if tool.literal() == "false" && zedShows(&profiles.nodes[i], name, "call") {
				all = append(all, rule{path: []string{"agent", "profiles", profiles.nodes[i].key, "context_servers", name, "tools", tool.key},
					tool: tool.key, does: denies, one: zedShowsElsewhere(profiles, name, tool.key), call: "call"})
			}
		}
	}
	return all
}

// zedOmits are rules for those tools of ours that a profile leaves out, if it has
// others of the server.
func zedOmits(profile *node, server string) (all []rule) {
	isOn := func(tool node) bool { return tool.literal() == "true" }
	if !slices.ContainsFunc(zedTools(profile, server).kids(), isOn) {
		return nil
	}
	for _, own := range ownTools {
		if !zedShows(profile, server, own) {
			all = append(all, rule{path: []string{"agent", "profiles", profile.key, "context_servers", server, "tools"}, tool: own, does: omits, one: true, call: "call"})
		}
	}
	return all
}

// zedTools are the tools of a server that a profile turns on or off.
func zedTools(profile *node, server string) *node {
	return profile.at([]string{"context_servers", server, "tools"})
}

// zedDefault is the profile that shows the tools of all servers if it is not told
// otherwise.
const zedDefault = "write"

// zedShows reports whether a tool is on in a profile.
func zedShows(profile *node, server, tool string) bool {
	all := profile.get("enable_all_context_servers").literal()
	switch zedTools(profile, server).get(tool).literal() {
	case "true":
		return true
	case "false":
		return false
	}
	return all == "true" || all == "" && profile.key == zedDefault
}

// zedShowsElsewhere reports whether a tool is on in any profile.
func zedShowsElsewhere(profiles *node, server, tool string) bool {
	return profiles.get(zedDefault) == nil ||
		slices.ContainsFunc(profiles.nodes, func(p node) bool { return zedShows(&p, server, tool) })
}
