package main

import (
	"context"
	"slices"
	"strings"
)

// Everything that is said of the command line comes from the tables in this
// file: what is read, --help, the manual page and what shells complete.

// A command is one subcommand, or one way to serve.
type command struct {
	name    string // "": serving
	args    string // what stands after the name
	group   string // the title that it is shown below; "": it is not shown
	does    string // what it does; "\n" where a line has to end
	flags   string // what it takes beside the common flags
	example string // one that can be pasted
	run     func(ctx context.Context, e *env, o *options, args []string) error
}

// The titles of the help, in its order.
const (
	forHost    = "For a host"
	forConfig  = "For the config of a host"
	forYou     = "For you"
	forTrouble = "When something does not work"
	forOAuth   = `For a server of the file that has "oauth"`
	forShell   = "For your shell"
)

// groups are those titles.
func groups() []string { return []string{forHost, forConfig, forYou, forTrouble, forOAuth, forShell} }

// commands are all there are.
func commands() []command {
	return []command{
		{"wrap", "[HOST] [NAME…]", forConfig, "put mcp-facade before a host's servers\n(shows what would change; --write does it)",
			"config surface file list write json", "mcp-facade wrap cursor acme --write", wrap},
		{"unwrap", "[HOST] [NAME…]", forConfig, "put back what was there before",
			"config file write json", "mcp-facade unwrap cursor acme --write", unwrap},

		{"try", "[NAME]", forYou, "act as a host: tools and tokens before and after, one search (no NAME: a demo)",
			"config name url header surface json", "mcp-facade try acme", try},
		{"init", "", forYou, "write an example servers file",
			"config", "mcp-facade init", initFile},
		{"servers", "", forYou, "the configured servers and their catalogs",
			"config json", "mcp-facade servers", servers},
		{"tools", "NAME", forYou, "the tools a host is shown, and their cost",
			"config name url header surface json all explain", "mcp-facade tools acme --explain get_issue", tools},
		{"discover", "NAME [QUERY…]", forYou, "search a server's tools as a model does",
			"config name url header json", "mcp-facade discover acme who worked on what", discover},
		{"describe", "NAME TOOL…", forYou, "a tool's full description and schema",
			"config name url header json", "mcp-facade describe acme get_issue", describe},
		{"call", "NAME TOOL [JSON|-]", forYou, "run a tool with an object of arguments;\n- reads it from stdin",
			"config name url header json yes", `mcp-facade call acme get_issue '{"key": "AC-1"}'`, call},
		{"refresh", "NAME", forYou, "list its tools now; print what differs\nfrom those that you accepted",
			"config name url header json accept", "mcp-facade refresh acme --accept", refresh},
		{"suggest", "NAME", forYou, "which tools to show directly, by their use",
			"config name url header transcripts write json", "mcp-facade suggest acme", suggest},
		{"report", "[NAME]", forYou, "what it saved, and what it cost",
			"config name url header html json", "mcp-facade report --html report.html", report},

		{"doctor", "[NAME]", forTrouble, "what is wrong, and what to do about it",
			"config json", "mcp-facade doctor", doctor},

		{"login", "NAME", forOAuth, "log in, in a browser",
			"config port no-browser", "mcp-facade login acme", login},
		{"logout", "NAME", forOAuth, "forget that login, here and at the server",
			"config", "mcp-facade logout acme", logout},

		{"completion", "SHELL", forShell, "the script that has the shell complete\ncommands, flags and names",
			"", "mcp-facade completion fish > ~/.config/fish/completions/mcp-facade.fish", completion},
		{"man", "", forShell, "the manual page",
			"", "mcp-facade man | man -l -", man},

		{name: "demo", run: demoUpstream},
		{name: completing, run: complete},
	}
}

// servings are the ways to serve, which is what is done without a subcommand.
func servings() []command {
	const flags = "server config name url header surface"
	const example = "claude mcp add acme -- mcp-facade --server acme"
	return []command{
		{"", "--server NAME", forHost, "serve NAME over stdio", flags, example, serve},
		{"", "[flags] -- COMMAND…", forHost, "serve the server that COMMAND starts", flags, example, serve},
		{"", "[flags] --url URL", forHost, "serve the server that URL reaches", flags, example, serve},
	}
}

func serving() command { return servings()[0] }

// commandNamed finds a subcommand.
func commandNamed(name string) (command, bool) {
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		return serving(), false
	}
	return all[i], true
}

// usage is how a command is called.
func (c command) usage() string {
	return strings.Join(strings.Fields("mcp-facade "+c.name+" "+c.args), " ")
}

// commonFlags go with every command.
const commonFlags = " verbose help version"

// takes reports whether a command has the flag of that name.
func (c command) takes(name string) bool {
	return slices.Contains(strings.Fields(c.flags+commonFlags), name)
}

// A flagSpec is one flag.
type flagSpec struct {
	name, short string
	value       string               // what stands after it; "": nothing does
	does        string               // what it does; "\n" where a line has to end
	at          func(o *options) any // where its value goes
}

// allFlags are all there are, in the order of the help.
func allFlags() []flagSpec {
	return []flagSpec{
		{name: "server", value: "NAME", at: func(o *options) any { return &o.server },
			does: "the server of the servers file to serve"},
		{name: "config", value: "FILE", at: func(o *options) any { return &o.config },
			does: "the servers file (default: $MCP_FACADE_CONFIG, else mcp-facade/facade.servers.json in your config directory)"},
		{name: "url", value: "URL", at: func(o *options) any { return &o.url },
			does: "a server that is in no file and is reached over HTTP"},
		{name: "header", value: "'NAME: VALUE'", at: func(o *options) any { return &o.headers },
			does: "goes with its requests, as often as it is given; ${VARIABLE} in it and in URL is replaced, so that no list of processes shows a token"},
		{name: "name", value: "NAME", at: func(o *options) any { return &o.name },
			does: "what to call the server that stands after -- or --url (default: what it calls itself)"},
		{name: "surface", value: "KIND", at: func(o *options) any { return &o.surface },
			does: "what a host is shown, whatever the servers file says:\nmeta: the used tools, discover, describe and call;\nall: every tool, trimmed; wrap chooses it for a host that defers tools by itself"},
		{name: "write", at: func(o *options) any { return &o.write },
			does: "write the change; without it nothing is changed"},
		{name: "list", at: func(o *options) any { return &o.list },
			does: "the servers of your hosts, which are started for this: their tools and tokens, and what there is to save"},
		{name: "file", value: "FILE", at: func(o *options) any { return &o.file },
			does: "of the files of hosts this one alone"},
		{name: "all", at: func(o *options) any { return &o.all },
			does: "every tool, not only those that are shown"},
		{name: "explain", value: "TOOL", at: func(o *options) any { return &o.explain },
			does: "one tool before and after it was trimmed, side by side, and what was cut"},
		{name: "yes", at: func(o *options) any { return &o.yes },
			does: `you agree to what "confirm" would have a host ask you`},
		{name: "accept", at: func(o *options) any { return &o.accept },
			does: `accept the tools as they are now: "drift" is about what is not accepted`},
		{name: "transcripts", at: func(o *options) any { return &o.transcripts },
			does: "the calls in the logs of Claude Code and Codex count, too; nothing but numbers is taken from them"},
		{name: "html", value: "FILE", at: func(o *options) any { return &o.html },
			does: "write it as one page for a browser"},
		{name: "port", value: "N", at: func(o *options) any { return &o.port },
			does: "the port of 127.0.0.1 that the browser is sent back to (default: the one used before, or a free one)"},
		{name: "no-browser", at: func(o *options) any { return &o.noBrowser },
			does: "open no browser, and take the URL that one on another machine has ended at, pasted into the terminal"},
		{name: "json", at: func(o *options) any { return &o.json },
			does: "one JSON document instead of text"},
		{name: "verbose", short: "v", at: func(o *options) any { return &o.verbose },
			does: "say on stderr what is done, not only what is wrong"},
		{name: "help", short: "h", at: func(o *options) any { return &o.help },
			does: "this text; after a command: how that is used"},
		{name: "version", at: func(o *options) any { return &o.version },
			does: "the version"},
	}
}

// usage is how a flag is written.
func (f flagSpec) usage() string {
	text := "--" + f.name
	if f.short != "" {
		text = "-" + f.short + ", " + text
	}
	return strings.TrimSpace(text + " " + f.value)
}

// text is what a flag does, and for which command.
func (f flagSpec) text() string {
	if names := f.of(); names != "" {
		return names + ": " + f.does
	}
	return f.does
}

// of names the commands that a flag is for, "" if they are many.
func (f flagSpec) of() string {
	var names []string
	for _, c := range append(commands(), serving()) {
		if c.takes(f.name) {
			names = append(names, c.String())
		}
	}
	if len(names) > 3 || slices.Contains(names, serving().String()) {
		return ""
	}
	return strings.Join(names, ", ")
}
