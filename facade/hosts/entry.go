package hosts

import (
	"slices"
	"strings"
)

// A shape is where a process stands in a server: the keys that lead to it.
type shape struct{ command, args, env []string }

// shape gives the keys of a server. Zed once had the process in a table called
// "command".
func (d *dialect) shape(n *node) shape {
	if c := n.get("command"); c != nil && c.kind == table {
		return shape{[]string{"command", "path"}, []string{"command", "args"}, []string{"command", "env"}}
	}
	return shape{[]string{"command"}, []string{"args"}, []string{d.env}}
}

// entry reads a server.
func (d *dialect) entry(s *found) Entry {
	n, keys := &s.node, d.shape(&s.node)
	e := Entry{
		Command: n.at(keys.command).text(),
		Args:    n.at(keys.args).texts(),
		Cwd:     n.get("cwd").text(),
		Env:     n.at(keys.env).vars(),
		Headers: n.get(d.headers).vars(),
	}
	e.Name, e.Scope = s.name()
	if words := n.get("command").texts(); d.one && len(words) > 0 {
		e.Command, e.Args = words[0], words[1:]
	}
	if at := d.url(n); at != nil {
		e.URL, e.Transport = at.value, transport(n.get("type").text(), at.key)
	}
	e.Disabled = n.get("disabled").literal() == "true" || n.get("enabled").literal() == "false"
	if args, ok := ours(e.Command, e.Args); ok {
		e.Ours, e.Server, e.Config, e.Surface = true, flagOf(args, "--server"), flagOf(args, "--config"), flagOf(args, "--surface")
	}
	return e
}

// url is the value of a server's URL, or nil.
func (d *dialect) url(n *node) *node {
	for _, key := range d.urls {
		if v := n.get(key); v != nil && v.kind == text {
			return v
		}
	}
	return nil
}

// transport is what a server with a URL speaks, "" when nothing says so.
func transport(kind, key string) string {
	switch {
	case strings.EqualFold(kind, "sse"):
		return "sse"
	case isHTTP(kind) || key == "httpUrl":
		return "http"
	}
	return ""
}

// isHTTP reports whether a "type" is one of the names of Streamable HTTP.
func isHTTP(kind string) bool {
	switch strings.ToLower(kind) {
	case "http", "streamable-http", "streamable_http", "streamablehttp":
		return true
	}
	return false
}

// ours gives the arguments of mcp-facade, if that is what a command starts.
func ours(command string, args []string) ([]string, bool) {
	switch program(command) {
	case "mcp-facade":
		return args, true
	case "cmd":
		if len(args) >= 2 && strings.EqualFold(args[0], "/c") && program(args[1]) == "mcp-facade" {
			return args[2:], true
		}
	}
	return nil, false
}

// program is the name of a command without its folder and ".exe".
func program(command string) string {
	name := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	return strings.TrimSuffix(name, ".exe")
}

// flagOf is the value of a flag of ours, "" if it is not given; of several the
// last.
func flagOf(args []string, flag string) string {
	if all := flagsOf(args, flag); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// flagsOf are the values of a flag of ours. What stands behind "--" is another's.
func flagsOf(args []string, flag string) (all []string) {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	for i := 0; i < len(args); i++ {
		if value, ok := strings.CutPrefix(args[i], flag+"="); ok {
			all = append(all, value)
		} else if args[i] == flag && i+1 < len(args) {
			i++
			all = append(all, args[i])
		}
	}
	return all
}
