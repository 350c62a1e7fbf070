package hosts

import (
	"path"
	"strings"
)

// paths makes the paths of a Place, with its separator.
type paths struct{ Place }

// under is a path in a folder; "" if it is not known where that is.
func (p paths) under(folder, rest string) string {
	switch {
	case !isAbsolute(folder):
		return ""
	case p.OS == "windows":
		return strings.TrimRight(folder, `\/`) + `\` + strings.ReplaceAll(rest, "/", `\`)
	default:
		return path.Join(folder, rest)
	}
}

func (p paths) home(rest string) string { return p.under(p.Home, rest) }

// isAbsolute reports whether a path begins at a root, of Windows or another system.
// What does not may lead into a project that was cloned from anywhere.
func isAbsolute(path string) bool {
	return len(path) > 1 && path[1] == ':' || strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\`)
}

// env is a path in the folder that a variable names, else in the one given.
func (p paths) env(variable, otherwise, rest string) string {
	if folder := p.Getenv(variable); isAbsolute(folder) {
		return p.under(folder, rest)
	}
	return p.under(otherwise, rest)
}

// xdg is a path in the folder of the XDG Base Directory specification, which
// some programs also use where it is not usual.
func (p paths) xdg(rest string) string { return p.env("XDG_CONFIG_HOME", p.home(".config"), rest) }

// application is a path where desktop programs keep their settings.
func (p paths) application(rest string) string {
	switch p.OS {
	case "windows":
		return p.env("APPDATA", p.home("AppData/Roaming"), rest)
	case "darwin":
		return p.home("Library/Application Support/" + rest)
	default:
		return p.xdg(rest)
	}
}

func user(paths ...string) (all []place) {
	for _, path := range paths {
		all = append(all, place{path: path})
	}
	return all
}

// project are files in the folders of projects.
func (p paths) project(rest ...string) (all []place) {
	for _, folder := range p.Folders {
		for _, r := range rest {
			all = append(all, place{p.under(folder, r), true, folder})
		}
	}
	return all
}

func claudeFiles(p paths) []place {
	return append(user(p.env("CLAUDE_CONFIG_DIR", p.Home, ".claude.json")), p.project(".mcp.json")...)
}

// claudeSettings are where Claude Code keeps what its tools may do.
func claudeSettings(p paths) []place {
	return append(user(p.env("CLAUDE_CONFIG_DIR", p.home(".claude"), "settings.json")),
		p.project(".claude/settings.json", ".claude/settings.local.json")...)
}

func claudeDesktopFiles(p paths) []place {
	const file = "Claude/claude_desktop_config.json"
	files := user(p.application(file))
	if p.OS == "windows" { // as installed from a package, which sees a folder of its own
		files = append(files, place{path: p.env("LOCALAPPDATA", p.home("AppData/Local"),
			"Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/"+file)})
	}
	return files
}

func cursorFiles(p paths) []place {
	return append(user(p.home(".cursor/mcp.json")), p.project(".cursor/mcp.json")...)
}

// cursorSettings are where Cursor's command line keeps what its tools may do.
func cursorSettings(p paths) []place {
	return append(user(p.home(".cursor/cli-config.json")), p.project(".cursor/cli.json")...)
}

func codeFiles(p paths) []place {
	return append(user(p.application("Code/User/mcp.json"), p.application("Code - Insiders/User/mcp.json")),
		p.project(".vscode/mcp.json")...)
}

func windsurfFiles(p paths) []place { return user(p.home(".codeium/windsurf/mcp_config.json")) }

func zedFiles(p paths) []place {
	settings := p.xdg("zed/settings.json")
	switch p.OS {
	case "windows":
		settings = p.application("Zed/settings.json")
	case "darwin":
		settings = p.home(".config/zed/settings.json")
	}
	return append(user(settings), p.project(".zed/settings.json")...)
}

func codexFiles(p paths) []place {
	return append(user(p.env("CODEX_HOME", p.home(".codex"), "config.toml")), p.project(".codex/config.toml")...)
}

func geminiFiles(p paths) []place {
	return append(user(p.env("GEMINI_CLI_HOME", p.Home, ".gemini/settings.json")), p.project(".gemini/settings.json")...)
}

func geminiPolicies(p paths) []place {
	return append(user(p.env("GEMINI_CLI_HOME", p.Home, ".gemini/policies")), p.project(".gemini/policies")...)
}

func openCodeFiles(p paths) []place {
	return append(user(p.xdg("opencode/opencode.json"), p.xdg("opencode/opencode.jsonc")),
		p.project("opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc")...)
}
