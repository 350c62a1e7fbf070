package hosts

import "time"

// A dialect is how a host writes down its servers. Paths, keys and placeholders
// are those of the hosts' own documentation, November 2026.
type dialect struct {
	Host
	files  func(p paths) []place
	format format

	// roots are where the servers stand, by generation of the file: the first
	// that has servers counts.
	roots [][][]string

	urls    []string // the keys of a server's URL
	headers string   // the key of its headers
	env     string   // the key of its variables
	remote  []string // further keys that only a server with a URL has
	stdio   string   // "type" of a server that is a process; "": there is no such key
	one     bool     // "command" is a list, with the arguments in it

	deny  string // the key of the tools that the host keeps away
	allow string // the key of the only tools that the host lets through

	// rules are what the host was told of the tools of a server elsewhere than in
	// its lists. They stand under keys, in the files of settings or, if there are
	// none, in those of servers; without keys, in the server itself.
	rules    func(server *found, file *node) []rule
	settings func(p paths) []place
	keys     []string
	policies func(p paths) []place // folders of files with further rules, which are not understood

	// placeholder is a pattern for what the host replaces in the values of a
	// server, its variables included; "": it replaces nothing. Its groups are
	// "var", the name of a variable, and "or", what stands for it if it is not set.
	placeholder string
	blank       bool   // a variable that is not set is replaced by nothing
	write       string // the placeholder of a variable: "${env:%s}"
	inherits    bool   // a server gets all variables of the host
	pass        string // the key of the variables that a server gets from those of the host
}

// A place is where a file of a host may be.
type place struct {
	path    string
	project bool
	folder  string // the project's
}

// What the editors' placeholders look like: "${env:X}", "${input:x}",
// "${workspaceFolder}", "${/}".
const editorPlaceholder = `\$\{(?:env:(?P<var>[A-Za-z_][A-Za-z0-9_]*)|[^}]*)\}`

var mcpServers = [][][]string{{{"mcpServers"}}}

// dialects are the hosts. When and how a host defers tools, how long it waits and
// which names it cuts is measured, see HOSTS.md of the design; what is empty
// there is empty here.
func dialects() []*dialect {
	return []*dialect{
		{
			Host: Host{Name: "claude-code", Title: "Claude Code", Defers: "yes", Patience: 1500 * time.Millisecond, Until: "2.1.197",
				MaxName: 128, Prefix: "mcp__%s__"},
			files: claudeFiles, format: jsonFormat{},
			roots: [][][]string{{{"mcpServers"}, {"projects", "*", "mcpServers"}}},
			urls:  []string{"url"}, headers: "headers", env: "env", stdio: "stdio",
			remote: []string{"oauth", "headersHelper"},
			rules:  claudeRules, settings: claudeSettings, keys: []string{"permissions"},
			placeholder: `\$\{(?P<var>[A-Za-z_][A-Za-z0-9_]*)(?P<or>:-[^}]*)?\}`, write: "${%s}", inherits: true,
		},
		{
			Host:  Host{Name: "claude-desktop", Title: "Claude Desktop", Desktop: true},
			files: claudeDesktopFiles, format: jsonFormat{}, roots: mcpServers,
			urls: []string{"url"}, headers: "headers", env: "env", stdio: "stdio",
		},
		{
			Host:  Host{Name: "cursor", Title: "Cursor", Desktop: true},
			files: cursorFiles, format: jsonFormat{}, roots: mcpServers,
			urls: []string{"url", "serverUrl"}, headers: "headers", env: "env", stdio: "stdio",
			remote: []string{"auth", "oauth"},
			rules:  cursorRules, settings: cursorSettings, keys: []string{"permissions"},
			placeholder: editorPlaceholder, write: "${env:%s}",
		},
		{
			Host:  Host{Name: "vscode", Title: "VS Code", Desktop: true},
			files: codeFiles, format: jsonFormat{}, roots: [][][]string{{{"servers"}}},
			urls: []string{"url"}, headers: "headers", env: "env", stdio: "stdio",
			remote:      []string{"oauth"},
			placeholder: editorPlaceholder, blank: true, write: "${env:%s}", inherits: true,
		},
		{
			Host:  Host{Name: "windsurf", Title: "Windsurf", Desktop: true},
			files: windsurfFiles, format: jsonFormat{}, roots: mcpServers,
			urls: []string{"serverUrl", "url"}, headers: "headers", env: "env", deny: "disabledTools",
			remote:      []string{"oauth"},
			placeholder: editorPlaceholder, write: "${env:%s}",
		},
		{
			Host:  Host{Name: "zed", Title: "Zed", Desktop: true},
			files: zedFiles, format: jsonFormat{}, roots: [][][]string{{{"context_servers"}}},
			urls: []string{"url"}, headers: "headers", env: "env",
			remote: []string{"oauth"},
			rules:  zedRules, keys: []string{"agent"},
		},
		{
			Host: Host{Name: "codex", Title: "Codex", Defers: "by model", Patience: 800 * time.Millisecond,
				Prefix: "mcp__%s__"},
			files: codexFiles, format: tomlFormat{}, roots: [][][]string{{{"mcp_servers"}}},
			urls: []string{"url"}, headers: "http_headers", env: "env", pass: "env_vars",
			remote: []string{"bearer_token_env_var", "env_http_headers", "bearer_token", "oauth", "oauth_resource"},
			deny:   "disabled_tools", allow: "enabled_tools", rules: codexRules,
		},
		{
			Host:  Host{Name: "gemini", Title: "Gemini CLI", MaxName: 63, Prefix: "mcp_%s_"},
			files: geminiFiles, format: jsonFormat{}, roots: mcpServers,
			urls: []string{"httpUrl", "url"}, headers: "headers", env: "env",
			remote: []string{"oauth", "authProviderType", "targetAudience", "targetServiceAccount"},
			deny:   "excludeTools", allow: "includeTools",
			rules: geminiRules, keys: []string{"excludeTools", "tools"}, policies: geminiPolicies,
			// It keeps variables that look like secrets from a server unless "env" names them.
			placeholder: `\$(?:\{(?P<var>[A-Za-z_][A-Za-z0-9_]*)(?P<or>:-[^}]*)?\}|(?P<bare>[A-Za-z_][A-Za-z0-9_]*))`, write: "${%s}",
		},
		{
			Host:  Host{Name: "opencode", Title: "OpenCode", GivesUp: 30 * time.Second, Prefix: "%s_"},
			files: openCodeFiles, format: jsonFormat{}, roots: [][][]string{{{"mcp", "servers"}}, {{"mcp"}}},
			urls: []string{"url"}, headers: "headers", env: "environment", stdio: "local", one: true,
			remote: []string{"oauth"},
			rules:  openCodeRules, keys: []string{"tools", "permission", "permissions", "agent", "agents", "mode"},
			placeholder: `\{(?:env:(?P<var>[A-Za-z_][A-Za-z0-9_]*)|(?:env|file):[^}]*)\}`, blank: true, write: "{env:%s}", inherits: true,
		},
	}
}
