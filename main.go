// Command mcp-facade stands between an AI host and one MCP server: the host
// keeps every tool, the model sees the few it needs and three small ones that
// reach the rest. Package facade says how.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"mcp-facade/facade/config"
	"mcp-facade/facade/upstream"

	"github.com/adrg/xdg"
	"github.com/spf13/pflag"
)

// env is the outside world as a subcommand sees it. Tests give it buffers.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	terminal       bool     // stdin is one
	environ        []string // "K=V"
	self           string   // this program's own file
	version        string
	cwd            string
	home           string
	configFile     string // where the servers file is looked for without --config
	cacheDir       string
	stateDir       string
	hurry          <-chan struct{} // closed once a signal has reached us
}

// errUsage marks an error of the command line: exit code 2.
var errUsage = errors.New("see mcp-facade --help")

func main() {
	ctx, hurry := signals()
	os.Exit(run(ctx, world(hurry), os.Args[1:]))
}

// signals returns a context and a channel that end when a signal asks us to.
func signals() (context.Context, <-chan struct{}) {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return ctx, ctx.Done()
}

// world reads what surrounds the program.
func world(hurry <-chan struct{}) *env {
	e := &env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), hurry: hurry, version: version()}
	if info, err := os.Stdin.Stat(); err == nil {
		e.terminal = info.Mode()&os.ModeCharDevice != 0
	}
	e.self, _ = os.Executable()
	e.cwd, _ = os.Getwd()
	e.home, _ = os.UserHomeDir()
	e.configFile = filepath.Join(xdg.ConfigHome, "mcp-facade", "facade.servers.json")
	if named := os.Getenv("MCP_FACADE_CONFIG"); named != "" {
		e.configFile = named
	}
	e.cacheDir = filepath.Join(xdg.CacheHome, "mcp-facade")
	e.stateDir = filepath.Join(xdg.StateHome, "mcp-facade")
	return e
}

// version is the one that the build stamped, "devel" without a stamp.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// clean is the version if it names one program: what another build rendered
// is not trusted otherwise.
func clean(version string) string {
	if version == "devel" || strings.HasSuffix(version, "+dirty") {
		return ""
	}
	return version
}

// run runs one subcommand and returns the exit code.
func run(ctx context.Context, e *env, args []string) int {
	return exitCode(e.stderr, dispatch(ctx, e, args))
}

// exitCode prints err, if there is one, and returns 0, 1 or 2.
func exitCode(stderr io.Writer, err error) int {
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(stderr, "mcp-facade:", err)
	if h := hint(err); h != "" {
		fmt.Fprintln(stderr, "  try:", h)
	}
	if errors.Is(err, errUsage) {
		return 2
	}
	return 1
}

// hint is what an error says to do next, or "".
func hint(err error) string {
	if ue := new(upstream.Error); errors.As(err, &ue) {
		return ue.Hint
	}
	if ce := new(config.Error); errors.As(err, &ce) {
		return ce.Hint
	}
	return ""
}

// A command is one subcommand.
type command struct {
	name string
	args string
	line string
	run  func(ctx context.Context, e *env, o *options, args []string) error
}

// commands are all there are, in the order of the help. demo is not shown: try
// starts it.
func commands() []command {
	return []command{
		{"try", "[NAME]", "act as a host: tools and tokens before and after, one search, one call", try},
		{"init", "", "write the example servers file", initFile},
		{"servers", "", "the configured servers, their catalogs and ages", servers},
		{"tools", "NAME", "the tools that a host is shown, and what they cost", tools},
		{"discover", "NAME QUERY…", "search a server's tools as a model does", discover},
		{"describe", "NAME TOOL…", "a tool's full description and schema", describe},
		{"call", "NAME TOOL [JSON]", "run a tool", call},
		{"refresh", "NAME", "fetch a server's lists now; print what changed", refresh},
		{"demo", "", "", demoUpstream},
	}
}

// options are the flags; each subcommand takes those that it names in the help.
type options struct {
	server, config, surface, name, url string
	json, verbose, help, version       bool
	inPlace                            []string // what stands after --
}

func (o *options) flags() *pflag.FlagSet {
	fs := pflag.NewFlagSet("mcp-facade", pflag.ContinueOnError)
	fs.SetInterspersed(false)
	fs.Usage = func() {}
	fs.StringVar(&o.server, "server", "", "")
	fs.StringVar(&o.config, "config", "", "")
	fs.StringVar(&o.surface, "surface", "", "")
	fs.StringVar(&o.name, "name", "", "")
	fs.StringVar(&o.url, "url", "", "")
	fs.BoolVar(&o.json, "json", false, "")
	fs.BoolVarP(&o.verbose, "verbose", "v", false, "")
	fs.BoolVarP(&o.help, "help", "h", false, "")
	fs.BoolVar(&o.version, "version", false, "")
	return fs
}

// dispatch reads the flags and runs what they ask for.
func dispatch(ctx context.Context, e *env, args []string) error {
	o := &options{}
	fs := o.flags()
	if err := fs.Parse(args); err != nil {
		return usage("%v", err)
	}
	rest := o.split(fs)
	switch {
	case o.version:
		fmt.Fprintln(e.stdout, "mcp-facade", e.version)
		return nil
	case o.help || len(rest) > 0 && rest[0] == "help":
		fmt.Fprint(e.stdout, helpText)
		return nil
	case len(rest) == 0:
		return serve(ctx, e, o)
	}
	for _, c := range commands() {
		if c.name == rest[0] {
			return subcommand(ctx, e, o, c, rest[1:])
		}
	}
	return usage("there is no command %q", rest[0])
}

// subcommand reads the flags that stand after the command's name.
func subcommand(ctx context.Context, e *env, o *options, c command, args []string) error {
	fs := o.flags()
	fs.SetInterspersed(true)
	if err := fs.Parse(args); err != nil {
		return usage("%s: %v", c.name, err)
	}
	if o.help {
		fmt.Fprint(e.stdout, helpText)
		return nil
	}
	return c.run(ctx, e, o, o.split(fs))
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

// usage is an error of the command line.
func usage(format string, args ...any) error {
	return fmt.Errorf(format+"; %w", append(args, errUsage)...)
}

// logger logs to stderr: what is wrong, or with --verbose everything.
func (e *env) logger(o *options, server string) *slog.Logger {
	level := slog.LevelWarn
	if o.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: level})).With("server", server)
}

const helpText = `mcp-facade: one MCP server, cheap, instant and hard to break

  mcp-facade --server NAME              serve NAME over stdio to a host: the main job
  mcp-facade [flags] -- COMMAND ARGS    serve the server that COMMAND starts
  mcp-facade try [NAME]                 act as a host: tools and tokens before and
                                        after, one search, one call (no NAME: a demo)
  mcp-facade init                       write the example servers file
  mcp-facade servers                    the configured servers, their catalogs and ages
  mcp-facade tools NAME                 the tools that a host is shown, and their cost
  mcp-facade discover NAME QUERY…       search a server's tools as a model does
  mcp-facade describe NAME TOOL…        a tool's full description and schema
  mcp-facade call NAME TOOL [JSON]      run a tool; JSON: an object of arguments
  mcp-facade refresh NAME               fetch a server's lists now; print what changed

Which server
  --config FILE      the servers file (default: $MCP_FACADE_CONFIG, else
                     mcp-facade/facade.servers.json in the user's config directory)
  --name NAME        what to call the server that stands after --
Serving
  --surface KIND     meta: the used tools and the meta-tools (default);
                     all: every tool, trimmed
Output
  --json             one JSON document instead of text
  -v, --verbose      log to stderr what is done, not only what is wrong
  --version, -h, --help

Exit code: 0 done, 1 it failed, 2 it was called wrongly.

Example: claude mcp add acme -- mcp-facade --server acme
`
