package hosts

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Where each host keeps its files, by its own documentation.
func TestPlaces(t *testing.T) {
	linux := Place{OS: "linux", Home: "/home/u", Folders: []string{"/p"}}
	mac := Place{OS: "darwin", Home: "/Users/u", Folders: []string{"/p"}}
	windows := Place{OS: "windows", Home: `C:\Users\u`, Folders: []string{`C:\p`}}
	none := map[string]string{}
	for _, test := range []struct {
		host  string
		place Place
		vars  map[string]string
		want  []string
	}{
		{"claude-code", linux, none, []string{"/home/u/.claude.json", "/p/.mcp.json"}},
		{"claude-code", mac, none, []string{"/Users/u/.claude.json", "/p/.mcp.json"}},
		{"claude-code", windows, none, []string{`C:\Users\u\.claude.json`, `C:\p\.mcp.json`}},
		{"claude-code", linux, map[string]string{"CLAUDE_CONFIG_DIR": "/etc/claude"}, []string{"/etc/claude/.claude.json", "/p/.mcp.json"}},
		{"claude-desktop", linux, none, []string{"/home/u/.config/Claude/claude_desktop_config.json"}},
		{"claude-desktop", linux, map[string]string{"XDG_CONFIG_HOME": "/x"}, []string{"/x/Claude/claude_desktop_config.json"}},
		{"claude-desktop", mac, none, []string{"/Users/u/Library/Application Support/Claude/claude_desktop_config.json"}},
		{"claude-desktop", windows, map[string]string{"APPDATA": `D:\Roaming`, "LOCALAPPDATA": `D:\Local\`}, []string{
			`D:\Roaming\Claude\claude_desktop_config.json`,
			`D:\Local\Packages\Claude_pzs8sxrjxfjjc\LocalCache\Roaming\Claude\claude_desktop_config.json`}},
		{"cursor", linux, none, []string{"/home/u/.cursor/mcp.json", "/p/.cursor/mcp.json"}},
		{"cursor", mac, none, []string{"/Users/u/.cursor/mcp.json", "/p/.cursor/mcp.json"}},
		{"cursor", windows, none, []string{`C:\Users\u\.cursor\mcp.json`, `C:\p\.cursor\mcp.json`}},
		{"vscode", linux, none, []string{"/home/u/.config/Code/User/mcp.json", "/home/u/.config/Code - Insiders/User/mcp.json", "/p/.vscode/mcp.json"}},
		{"vscode", mac, none, []string{"/Users/u/Library/Application Support/Code/User/mcp.json",
			"/Users/u/Library/Application Support/Code - Insiders/User/mcp.json", "/p/.vscode/mcp.json"}},
		{"vscode", windows, none, []string{`C:\Users\u\AppData\Roaming\Code\User\mcp.json`,
			`C:\Users\u\AppData\Roaming\Code - Insiders\User\mcp.json`, `C:\p\.vscode\mcp.json`}},
		{"windsurf", linux, none, []string{"/home/u/.codeium/windsurf/mcp_config.json"}},
		{"windsurf", mac, none, []string{"/Users/u/.codeium/windsurf/mcp_config.json"}},
		{"windsurf", windows, none, []string{`C:\Users\u\.codeium\windsurf\mcp_config.json`}},
		{"zed", linux, none, []string{"/home/u/.config/zed/settings.json", "/p/.zed/settings.json"}},
		{"zed", mac, none, []string{"/Users/u/.config/zed/settings.json", "/p/.zed/settings.json"}},
		{"zed", windows, none, []string{`C:\Users\u\AppData\Roaming\Zed\settings.json`, `C:\p\.zed\settings.json`}},
		{"codex", linux, none, []string{"/home/u/.codex/config.toml", "/p/.codex/config.toml"}},
		{"codex", mac, none, []string{"/Users/u/.codex/config.toml", "/p/.codex/config.toml"}},
		{"codex", windows, none, []string{`C:\Users\u\.codex\config.toml`, `C:\p\.codex\config.toml`}},
		{"codex", windows, map[string]string{"CODEX_HOME": `D:\codex`}, []string{`D:\codex\config.toml`, `C:\p\.codex\config.toml`}},
		{"gemini", linux, none, []string{"/home/u/.gemini/settings.json", "/p/.gemini/settings.json"}},
		{"gemini", linux, map[string]string{"GEMINI_CLI_HOME": "/g"}, []string{"/g/.gemini/settings.json", "/p/.gemini/settings.json"}},
		{"gemini", windows, none, []string{`C:\Users\u\.gemini\settings.json`, `C:\p\.gemini\settings.json`}},
		{"gemini", mac, none, []string{"/Users/u/.gemini/settings.json", "/p/.gemini/settings.json"}},
		{"opencode", linux, none, []string{"/home/u/.config/opencode/opencode.json", "/home/u/.config/opencode/opencode.jsonc",
			"/p/opencode.json", "/p/opencode.jsonc", "/p/.opencode/opencode.json", "/p/.opencode/opencode.jsonc"}},
		{"opencode", mac, none, []string{"/Users/u/.config/opencode/opencode.json", "/Users/u/.config/opencode/opencode.jsonc",
			"/p/opencode.json", "/p/opencode.jsonc", "/p/.opencode/opencode.json", "/p/.opencode/opencode.jsonc"}},
		{"opencode", windows, none, []string{`C:\Users\u\.config\opencode\opencode.json`, `C:\Users\u\.config\opencode\opencode.jsonc`,
			`C:\p\opencode.json`, `C:\p\opencode.jsonc`, `C:\p\.opencode\opencode.json`, `C:\p\.opencode\opencode.jsonc`}},
	} {
		p := test.place
		p.Getenv = func(name string) string { return test.vars[name] }
		var got []string
		for _, at := range named(t, test.host).files(paths{p}) {
			got = append(got, at.path)
			if at.project != strings.HasPrefix(at.path, p.Folders[0]) {
				t.Errorf("%s: project is %v", at.path, at.project)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s on %s with %v (-want +got):\n%s", test.host, p.OS, test.vars, diff)
		}
	}
}

// How hosts name a server's tools to their models, and how long the names may be,
// as it was measured.
func TestToolNames(t *testing.T) {
	for host, want := range map[string]struct {
		prefix  string
		longest int
	}{
		"claude-code": {"mcp__%s__", 128},
		"codex":       {"mcp__%s__", 0},
		"gemini":      {"mcp_%s_", 63},
		"opencode":    {"%s_", 0},
	} {
		if d := named(t, host); d.Prefix != want.prefix || d.MaxName != want.longest {
			t.Errorf("%s: %q and %d, want %q and %d", host, d.Prefix, d.MaxName, want.prefix, want.longest)
		}
	}
}

func named(t testing.TB, host string) *dialect {
	t.Helper()
	all := dialects()
	i := slices.IndexFunc(all, func(d *dialect) bool { return d.Name == host })
	if i < 0 {
		t.Fatalf("no host %s", host)
	}
	return all[i]
}

// Nothing is looked for where home or the project are not known, and a file that
// is the user's and the project's counts once, as the user's.
func TestFindEdges(t *testing.T) {
	d := newDesk(t)
	d.put("cursor", false, []byte(`{"mcpServers":{"a":{"command":"a"}}}`))
	d.place.Folders = []string{d.place.Home}
	if f := d.file(); f.Entries()[0].Project {
		t.Error("the user's file counts as the project's")
	}
	if files, errs := Find(Place{OS: "linux", Getenv: func(string) string { return "" }}); len(files)+len(errs) > 0 {
		t.Errorf("found %v, %v without a home", files, errs)
	}
	if len(All()) != 9 {
		t.Errorf("%d hosts, want 9", len(All()))
	}
}

// A folder that is named from the current directory may be anybody's, and is not
// looked into.
func TestRelativeFolders(t *testing.T) {
	d := newDesk(t)
	t.Chdir(t.TempDir())
	d.write("relative/zed/settings.json", []byte(`{"context_servers": {"a": {"command": "a"}}}`))
	d.write("relative/.cursor/mcp.json", []byte(`{"mcpServers": {"a": {"command": "a"}}}`))
	d.vars["XDG_CONFIG_HOME"], d.place.Home = "relative", "relative"
	if files, errs := Find(d.place); len(files)+len(errs) > 0 {
		t.Errorf("found %v, %v", files, errs)
	}
}

// A link that leads to another file of the host is that file, of whichever kind
// it is.
func TestFindLinked(t *testing.T) {
	for name, link := range map[string]func(to, at string) error{"symbolic": os.Symlink, "hard": os.Link} {
		t.Run(name, func(t *testing.T) { findLinked(t, link) })
	}
}

func findLinked(t *testing.T, linked func(to, at string) error) {
	d := newDesk(t)
	path := d.put("cursor", false, []byte(`{"mcpServers":{"a":{"command":"a"}}}`))
	link := d.put("cursor", true, nil)
	if err := errors.Join(os.Remove(link), linked(path, link)); err != nil {
		t.Skip(err)
	}
	if f := d.file(); f.Path != path || f.Entries()[0].Project {
		t.Errorf("found as %s, of a project: %v", f.Path, f.Entries()[0].Project)
	}
}
