package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/facade/wire"

	"github.com/spf13/pflag"
)

// A command is one subcommand.
type command struct {
	name  string
	args  string // what stands after the name
	flags string // what it takes beside --verbose
	run   func(ctx context.Context, e *env, o *options, args []string) error
}

// commands are all there are, in the order of the help. demo is not shown: try
// starts it.
func commands() []command {
	return []command{
		{"try", "[NAME]", "config name url header surface json", try},
		{"init", "", "config", initFile},
		{"servers", "", "config json", servers},
		{"tools", "NAME", "config name url header surface json all explain", tools},
		{"discover", "NAME [QUERY…]", "config name url header json", discover},
		{"describe", "NAME TOOL…", "config name url header json", describe},
		{"call", "NAME TOOL [JSON|-]", "config name url header json yes", call},
		{"refresh", "NAME", "config name url header json", refresh},
		{"login", "NAME", "config port no-browser", login},
		{"logout", "NAME", "config", logout},
		{"demo", "", "", demoUpstream},
	}
}

// serving is what is done without a subcommand.
func serving() command {
	return command{"", "--server NAME", "server config name url header surface", serve}
}

// A usageError is a command line that says nothing we can do: exit code 2.
type usageError struct {
	what string
	hint string
}

func (u *usageError) Error() string { return u.what }

func usage(format string, args ...any) error { return &usageError{what: fmt.Sprintf(format, args...)} }

// options are the flags.
type options struct {
	server, config, surface, name, url string
	explain                            string
	port                               int // 0: a free one
	noBrowser                          bool
	all, json, yes                     bool
	verbose, help, version             bool
	headers                            []string // "NAME: VALUE", for url
	inPlace                            []string // what stands after --; nil without it
	given                              []string // the names of the flags that are set
}

// parse reads flags, up to the first word or everywhere, and returns the words.
func (o *options) parse(args []string, everywhere bool) ([]string, error) {
	fs := pflag.NewFlagSet("mcp-facade", pflag.ContinueOnError)
	fs.SetInterspersed(everywhere)
	fs.Usage = func() {}
	fs.StringVar(&o.server, "server", o.server, "")
	fs.StringVar(&o.config, "config", o.config, "")
	fs.StringVar(&o.surface, "surface", o.surface, "")
	fs.StringVar(&o.name, "name", o.name, "")
	fs.StringVar(&o.url, "url", o.url, "")
	headers := fs.StringArray("header", nil, "")
	fs.StringVar(&o.explain, "explain", o.explain, "")
	fs.IntVar(&o.port, "port", o.port, "")
	fs.BoolVar(&o.noBrowser, "no-browser", o.noBrowser, "")
	fs.BoolVar(&o.all, "all", o.all, "")
	fs.BoolVar(&o.json, "json", o.json, "")
	fs.BoolVar(&o.yes, "yes", o.yes, "")
	fs.BoolVarP(&o.verbose, "verbose", "v", o.verbose, "")
	fs.BoolVarP(&o.help, "help", "h", o.help, "")
	fs.BoolVar(&o.version, "version", o.version, "")
	if err := fs.Parse(args); err != nil {
		return nil, usage("%v", err)
	}
	o.headers = append(o.headers, *headers...)
	fs.Visit(func(f *pflag.Flag) { o.given = append(o.given, f.Name) })
	return o.split(fs), nil
}

// split takes what stands after -- as the command to serve, and returns the rest.
func (o *options) split(fs *pflag.FlagSet) []string {
	rest, dash := fs.Args(), fs.ArgsLenAtDash()
	if dash < 0 {
		return rest
	}
	o.inPlace = rest[dash:]
	return rest[:dash]
}

// dispatch reads the command line and runs what it asks for. How the command
// is used goes with an error of the command line.
func dispatch(ctx context.Context, e *env, args []string) error {
	o := &options{}
	c, words, err := o.read(args)
	if err == nil {
		err = c.do(ctx, e, o, words)
	}
	if ue := new(usageError); errors.As(err, &ue) && ue.hint == "" {
		ue.hint = strings.TrimSpace("mcp-facade " + strings.TrimLeft(c.name+" "+c.args, " "))
		if c.name == "" {
			ue.hint = "mcp-facade --help"
		}
	}
	return err
}

// read finds the command and the words that are for it.
func (o *options) read(args []string) (command, []string, error) {
	words, err := o.parse(args, false)
	switch {
	case err != nil || len(words) == 0:
		return serving(), nil, err
	case words[0] == "help":
		o.help = true
		return serving(), nil, nil
	}
	for _, c := range commands() {
		if c.name == words[0] {
			words, err := o.parse(words[1:], true)
			return c, words, err
		}
	}
	return serving(), nil, unknown(words[0])
}

// unknown says that there is no such command, and which may have been meant.
func unknown(word string) error {
	err := &usageError{what: fmt.Sprintf("there is no command %q", word),
		hint: fmt.Sprintf("mcp-facade --help; a server is named by --server NAME, or started by what stands after --: mcp-facade -- %s …", word)}
	if near := nearest(word); near != "" {
		err.hint = "mcp-facade " + near
	}
	return err
}

// nearest is the command whose name is most like the word, or "".
func nearest(word string) string {
	page := []byte(`{"tools":[`)
	for _, c := range commands() {
		page = append(wire.AppendString(append(page, `{"name":`...), c.name), "},"...)
	}
	names, _ := catalog.New([][]byte{append(page[:len(page)-1], "]}"...)})
	if near := names.Nearest(word, 1); len(near) > 0 {
		return near[0]
	}
	return ""
}

// do runs a command, or shows what is asked for in its place.
func (c command) do(ctx context.Context, e *env, o *options, words []string) error {
	switch {
	case o.help:
		fmt.Fprint(e.stdout, helpText)
		return nil
	case o.version:
		fmt.Fprintln(e.stdout, "mcp-facade", e.version)
		return nil
	}
	for _, flag := range o.given {
		if flag != "verbose" && !slices.Contains(strings.Fields(c.flags), flag) {
			return usage("%s takes no --%s", c, flag)
		}
	}
	return c.run(ctx, e, o, words)
}

func (c command) String() string {
	if c.name == "" {
		return "serving"
	}
	return c.name
}

const helpText = `mcp-facade stands between an AI host and one MCP server: the host keeps every
tool, the model sees the few it needs and three small ones that reach the rest.

For a host
  mcp-facade --server NAME            serve NAME over stdio
  mcp-facade [flags] -- COMMAND…      serve the server that COMMAND starts
  mcp-facade [flags] --url URL        serve the server that URL reaches

For you
  mcp-facade try [NAME]               act as a host: tools and tokens before and
                                      after, one search (no NAME: a demo)
  mcp-facade init                     write an example servers file
  mcp-facade servers                  the configured servers and their catalogs
  mcp-facade tools NAME               the tools that a host is shown, and their cost
  mcp-facade discover NAME [QUERY…]   search a server's tools as a model does
  mcp-facade describe NAME TOOL…      a tool's full description and schema
  mcp-facade call NAME TOOL [JSON|-]  run a tool with an object of arguments;
                                      - reads it from stdin
  mcp-facade refresh NAME             list a server's tools now; print what changed

  Where NAME stands, a server that is in no file can stand at the end instead:
  mcp-facade tools -- npx -y @acme/mcp
  mcp-facade tools --url https://mcp.acme.example/v1

For a server of the file that has "oauth"
  mcp-facade login NAME               log in, in a browser
  mcp-facade logout NAME              forget that login, and end it at the server

Flags
  --config FILE    the servers file (default: $MCP_FACADE_CONFIG, else
                   mcp-facade/facade.servers.json in your config directory)
  --url URL        a server that is in no file and is reached over HTTP
  --header 'NAME: VALUE'
                   goes with its requests, as often as it is given; ${VARIABLE}
                   in it and in URL is replaced, so that no list of processes
                   shows a token
  --name NAME      what to call the server that stands after -- or --url
                   (default: what it calls itself)
  --surface KIND   what a host is shown, whatever the servers file says:
                   meta: the used tools, discover, describe and call;
                   all: every tool, trimmed
  --all            tools: every tool, not only those that are shown
  --explain TOOL   tools: one tool before and after it was trimmed, side by side,
                   and what was cut
  --yes            call: you agree to what "confirm" would have a host ask you
  --port N         login: the port of 127.0.0.1 that the browser is sent back to
                   (default: the one used before, or a free one)
  --no-browser     login: open no browser, and take the URL that one on another
                   machine has ended at, pasted into the terminal
  --json           one JSON document instead of text
  -v, --verbose    say on stderr what is done, not only what is wrong
  -h, --help       this text
  --version        the version

Exit code: 0 done, 1 it failed, 2 it was called wrongly.

Example: claude mcp add acme -- mcp-facade --server acme
`
