// Command mcp-facade stands between an AI host and one MCP server: the host
// keeps every tool, the model sees the few it needs and three small ones that
// reach the rest. Package facade says how.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"mcp-facade/auth"
	"mcp-facade/facade/config"
	"mcp-facade/facade/hosts"
	"mcp-facade/facade/upstream"

	"github.com/adrg/xdg"
)

// env is the outside world as a subcommand sees it. Tests give it buffers.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	polled         bool     // no thread waits in stdin or stdout
	terminal       bool     // stdin is one
	columns        int      // how wide stdout is
	environ        []string // "K=V"
	self           string   // this program's own file
	version        string
	cwd            string
	home           string
	configFile     string // where the servers file is looked for without --config
	configVar      bool   // $MCP_FACADE_CONFIG says so
	cacheDir       string
	stateDir       string
	noLedger       bool            // $MCP_FACADE_NO_LEDGER: nothing of the use of tools is kept
	shownTo        showing         // how hosts are shown the server, in the world where they start it
	hurry          <-chan struct{} // closed once a signal has reached us
}

func main() {
	log.SetOutput(io.Discard) // net/http tells it what a server says unasked, whatever is in it
	ctx, hurry := signals()
	os.Exit(run(ctx, world(hurry), os.Args[1:]))
}

// signals returns a context and a channel that end when a signal asks us to. A
// host that is gone does not end us, as it would by SIGPIPE: writing to it
// fails, and the upstream is closed in order.
func signals() (context.Context, <-chan struct{}) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return ctx, ctx.Done()
}

// world reads what surrounds the program.
func world(hurry <-chan struct{}) *env {
	stdin, polledIn := pollable(os.Stdin)
	stdout, polledOut := pollable(os.Stdout)
	e := &env{stdin: stdin, stdout: stdout, polled: polledIn && polledOut, stderr: os.Stderr, environ: os.Environ(), hurry: hurry, version: version()}
	e.terminal, e.columns = isTerminal(os.Stdin), columns(os.Stdout)
	e.self, _ = os.Executable()
	e.cwd, _ = os.Getwd()
	e.home, _ = os.UserHomeDir()
	e.configFile = filepath.Join(xdg.ConfigHome, "mcp-facade", "facade.servers.json")
	if named := os.Getenv("MCP_FACADE_CONFIG"); named != "" {
		e.configFile, e.configVar = named, true
	}
	unwanted := os.Getenv("MCP_FACADE_NO_LEDGER")
	e.noLedger = unwanted != "" && unwanted != "0"
	e.cacheDir = filepath.Join(xdg.CacheHome, "mcp-facade")
	e.stateDir = filepath.Join(xdg.StateHome, "mcp-facade")
	return e
}

// isTerminal reports whether a person may be typing into f: it is a character
// device, and not the null one.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
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

// errInterrupted is all that is said when a signal has ended a command.
var errInterrupted = errors.New("interrupted")

// run runs one subcommand and returns the exit code.
func run(ctx context.Context, e *env, args []string) int {
	err := dispatch(ctx, e, args)
	if err != nil && ctx.Err() != nil {
		err = errInterrupted
	}
	return exitCode(e.stderr, err)
}

// exitCode prints err, if there is one, and returns 0, 1 or 2.
func exitCode(stderr io.Writer, err error) int {
	for _, err := range parts(err) {
		fmt.Fprintln(stderr, "mcp-facade:", strings.Map(printable, err.Error()))
		if h := hint(err); h != "" {
			fmt.Fprintln(stderr, "  try:", strings.Map(printable, h))
		}
	}
	switch ue := new(usageError); {
	case err == nil:
		return 0
	case errors.As(err, &ue):
		return 2
	}
	return 1
}

// parts are the errors that were joined to make err, each with a hint of its
// own. One that wraps two errors in one line is a single one.
func parts(err error) (all []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok || len(joined.Unwrap()) > 1 && !strings.Contains(err.Error(), "\n"):
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		all = append(all, parts(e)...)
	}
	return all
}

// hint is what an error says to do next, or "".
func hint(err error) string {
	if ue := new(upstream.Error); errors.As(err, &ue) {
		return ue.Hint
	}
	if ce := new(config.Error); errors.As(err, &ce) {
		return ce.Hint
	}
	if he := new(hosts.Error); errors.As(err, &he) {
		return he.Hint
	}
	if le := new(auth.LoginError); errors.As(err, &le) {
		return le.Hint()
	}
	if ue := new(usageError); errors.As(err, &ue) {
		return ue.hint
	}
	return ""
}

// logger logs to stderr: what is at least so bad, or with --verbose everything.
func (e *env) logger(o *options, server string, level slog.Level) *slog.Logger {
	if o.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: level})).With("server", server)
}
