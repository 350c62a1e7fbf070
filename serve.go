package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/facade"
	"mcp-facade/facade/config"
	"mcp-facade/facade/demo"
	"mcp-facade/facade/ledger"
)

// memoryLimit is from how many bytes on the garbage of large frames is collected
// sooner than it would be by itself. It keeps a 10 MB result below 64 MB.
const memoryLimit = 52 << 20

// serve serves one server to the host on stdin and stdout.
func serve(ctx context.Context, e *env, o *options, _ []string) error {
	if !o.asks() {
		return &usageError{what: nothingToServe(), hint: "mcp-facade try, for a look; mcp-facade --help says the rest"}
	}
	s, err := e.server(o)
	if err != nil {
		return err
	}
	if err := e.splits(o, s); err != nil {
		return err
	}
	if e.terminal {
		fmt.Fprintf(e.stderr, "mcp-facade: %s: waiting for an MCP host on stdin: this command belongs in a host's config\n  try: mcp-facade try %s\n", s.Name, e.again(o, s))
	}
	debug.SetMemoryLimit(memoryLimit)
	if e.polled {
		// A frame goes through a chain of goroutines, one after the other. On
		// one processor the next one starts at once; on several each is woken
		// on another, which costs a third more a call and half more for 1 MB.
		runtime.GOMAXPROCS(1)
	}
	logs := newLogPipe(e.stderr)
	defer logs.close()
	served := *e
	served.stderr = logs
	options := served.facadeOptions(o, s, slog.LevelWarn)
	options.Ledger = served.ledger(s, options.Log)
	if err := facade.New(options).Run(ctx, e.stdin, e.stdout); err != nil {
		return fmt.Errorf("%s: read from the host: %w", s.Name, err)
	}
	return nil
}

// splits refuses a split that leaves call nothing to run, by the tools as they
// were listed last.
func (e *env) splits(o *options, s *config.Server) error {
	if !s.Split {
		return nil
	}
	_, c, err := e.cached(o, s)
	if err != nil || !facade.NothingReads(s, c) {
		return nil
	}
	return s.Fault("split", errors.New("no tool is marked as read-only: call would run none"), `name those that only read in "readOnly", or remove the key`)
}

// asks reports whether the flags name a server.
func (o *options) asks() bool { return o.server != "" || o.url != "" || o.inPlace != nil }

// again is how the same server is named to a subcommand. For what may hold a secret
// there is a word.
func (e *env) again(o *options, s *config.Server) string {
	name := ""
	if o.name != "" {
		name = "--name " + s.Name + " "
	}
	switch {
	case o.url != "":
		return name + "--url URL" + strings.Repeat(" --header 'NAME: VALUE'", len(o.headers))
	case o.inPlace != nil:
		return name + "-- COMMAND…"
	}
	return e.byName(o, s.Name)
}

// byName is how a server of the servers file is named to a subcommand, from any
// directory and whatever the environment says there.
func (e *env) byName(o *options, name string) string {
	return quotedPath(name) + e.configFlag(o)
}

// configFlag is what has a subcommand read the same servers file; "" if any does.
func (e *env) configFlag(o *options) string {
	if o.config == "" && !e.configVar {
		return ""
	}
	return " --config " + quotedPath(e.absolute(e.configPath(o)))
}

// server finds the server that is asked for, in the servers file or in place,
// if it can be served.
func (e *env) server(o *options) (*config.Server, error) {
	s, err := e.find(o)
	if err != nil {
		return nil, err
	}
	switch o.surface {
	case "":
	case "meta", "all":
		s.Surface = o.surface
	default:
		return nil, usage("--surface %q: want meta or all", o.surface)
	}
	return s, nil
}

func (e *env) find(o *options) (*config.Server, error) {
	name, err := o.inPlaceName()
	switch {
	case err != nil:
		return nil, err
	case o.inPlace != nil && (o.server != "" || o.url != ""), o.server != "" && o.url != "":
		return nil, usage("two servers are named: want one of --server, --url and a command after --")
	case o.inPlace != nil && len(o.inPlace) == 0:
		return nil, usage("there is no command after --")
	case o.headers != nil && o.url == "":
		return nil, usage(`--header goes with --url; in the servers file it is "headers"`)
	case o.inPlace != nil:
		return config.InPlace(name, o.inPlace[0], o.inPlace[1:]), nil
	case o.url != "":
		return o.remote(name)
	case o.name != "":
		return nil, usage("--name is for --url and a command after --: %s has its name from the servers file", o.server)
	}
	file, err := e.file(o)
	if err != nil {
		return nil, err
	}
	return file.Server(o.server)
}

// remote is the server at --url.
func (o *options) remote(name string) (*config.Server, error) {
	var headers []config.Var
	for _, h := range o.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return nil, usage(`--header: want "NAME: VALUE", have no colon`)
		}
		headers = append(headers, config.Var{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	s, err := config.InPlaceURL(name, o.url, headers)
	if err != nil {
		return nil, &usageError{what: err.Error(), hint: withScheme(o.url)}
	}
	return s, nil
}

// withScheme is how a URL is written that begins with its host, "" for another.
// Only the host is repeated: the rest may be secret.
func withScheme(text string) string {
	host, _, _ := strings.Cut(text, "/")
	u, err := url.Parse("http://" + host)
	switch {
	case err != nil || u.Hostname() == "" || u.Host != host || strings.HasSuffix(host, ":"):
		return ""
	case loopback(u.Hostname()):
		return "--url http://" + host + "/…"
	}
	return "--url https://" + host + "/…"
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// inPlaceName is what a server that is in no file is called until it says its
// own name: --name, else a word of the command, else the URL's host.
func (o *options) inPlaceName() (string, error) {
	name := facade.CleanName(o.name)
	if name == "" && o.name != "" {
		return "", usage("--name %q: want letters or digits", o.name)
	}
	if u, err := url.Parse(o.url); err == nil {
		name = cmp.Or(name, inWords(urlName(u)))
	}
	return cmp.Or(name, inWords(commandName(o.inPlace)), "upstream"), nil
}

// inWords is a text as a name that does not end within a word, if it has several.
func inWords(text string) string {
	name := facade.CleanName(text)
	rest := facade.CleanName(text[min(len(name), len(text)):])
	if end := strings.LastIndexByte(name, '-'); end > 0 && rest != "" && facade.CleanName(name+"x") == name {
		return name[:end]
	}
	return name
}

// urlName is the host of a URL. That of this machine says nothing: there it is
// the last word of the path that does, or the port.
func urlName(u *url.URL) string {
	if !loopback(u.Hostname()) {
		return u.Hostname()
	}
	words := strings.Split(u.Path, "/")
	slices.Reverse(words)
	for _, w := range words {
		if name := hostOf(w); name != "" && !slices.Contains(plainWords[:], name) && facade.CleanName(name) != "" {
			return name
		}
	}
	return strings.TrimSuffix("local-"+u.Port(), "-")
}

// plainWords are words of paths that say nothing of the server.
var plainWords = [...]string{"mcp", "sse", "api", "v1", "v2", "http", "stream", "message", "messages",
	"index", "main", "server", "cli", "start", "run", "dist", "build", "src", "lib", "bin", "out", "app"}

// commandName is the last word of a command that is not a flag and not the
// value of one: that may be a secret.
func commandName(words []string) (name string) {
	after := ""
	for _, w := range words {
		if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") && (!strings.HasPrefix(after, "-") || slices.Contains(switches[:], after)) {
			name = cmp.Or(hostOf(w), name)
		}
		after = w
	}
	name, _, _ = strings.Cut(name, "?")
	return pathName(filepath.ToSlash(name))
}

// pathName is the last word of a path that says something, without its ending.
func pathName(file string) string {
	last := strings.TrimSuffix(path.Base(file), path.Ext(file))
	for name, dir := last, path.Dir(file); ; name, dir = path.Base(dir), path.Dir(dir) {
		switch {
		case name == "." || name == "/" || name == "..":
			return last
		case !slices.Contains(plainWords[:], name):
			return name
		}
	}
}

// hostOf is a word of a command as a name: of a URL the host, without the user
// and the password in it; nothing of what may be a token.
func hostOf(word string) string {
	if u, err := url.Parse(word); err == nil && u.Host != "" {
		return strings.ReplaceAll(u.Hostname(), ".", "-")
	}
	if config.HasTokenPrefix(word) {
		return ""
	}
	return word
}

// switches are flags without a value of the programs that start servers.
var switches = [...]string{"-y", "--yes", "-q", "--quiet", "-i", "--rm", "--init", "-u", "-m", "--"}

// configPath is where the servers file is.
func (e *env) configPath(o *options) string { return cmp.Or(o.config, e.configFile) }

// file reads the servers file.
func (e *env) file(o *options) (*config.File, error) {
	file, err := config.Load(e.configPath(o))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, e.noFile(o)
	}
	if err != nil {
		return nil, err
	}
	file.Flag = e.configFlag(o)
	for _, w := range file.Warnings {
		fmt.Fprintln(e.stderr, "mcp-facade: warning:", w)
	}
	return file, nil
}

// noFile says where the servers file was looked for.
func (e *env) noFile(o *options) error {
	why := "--config and $MCP_FACADE_CONFIG are not set"
	hint := "mcp-facade wrap --list, which shows the servers of your hosts; or mcp-facade init, which writes an example there"
	switch {
	case o.config != "":
		why, hint = "where --config says", "mcp-facade init --config "+quotedPath(o.config)+", which writes an example there"
	case e.configVar:
		why = "where $MCP_FACADE_CONFIG says"
	}
	return &config.Error{Err: fmt.Errorf("no servers file: looked at %s (%s)", e.configPath(o), why), Hint: hint}
}

// facadeOptions is what a Facade of this server is made of. It logs what is at
// least as bad as level.
func (e *env) facadeOptions(o *options, s *config.Server, level slog.Level) facade.Options {
	log := e.logger(o, s.Name, level)
	key, store, err := e.store(o, s)
	if err != nil {
		log.Warn("nothing is cached", "err", err)
	}
	d := &dialer{env: e, server: s, lease: e.lease(s, log), log: log}
	options := facade.Options{
		Server:   s,
		Unnamed:  s.Path == "" && o.name == "",
		Dial:     d.dial,
		Store:    store,
		Lessons:  e.lessons(s, key, log),
		Again:    e.again(o, s),
		Choice:   e.choice(s),
		Version:  clean(e.version),
		Log:      log,
		Key:      key,
		Accepted: e.accepted(s, key),
		Hurry:    e.hurry,
	}
	if d.lease != nil {
		options.Renew, options.Remedy = d.lease.renew, d.lease.remedy
	}
	return options
}

// store is where the server's catalogs are cached, and the user's key.
func (e *env) store(o *options, s *config.Server) (key []byte, _ *catalog.Store, err error) {
	key, err = catalog.LoadKey(filepath.Join(e.stateDir, "key"))
	if err != nil {
		return nil, nil, err
	}
	dir := catalog.IdentityDir(e.cacheDir, s.Name, s.Identity(e.environ), key)
	return key, catalog.OpenStore(dir, e.logger(o, s.Name, slog.LevelWarn)), nil
}

// lessons is where it is kept which tools searches have led to; nil: nothing is,
// because the user does not want it or there is no key.
func (e *env) lessons(s *config.Server, key []byte, log *slog.Logger) *catalog.Book {
	if key == nil || !s.Ledger || e.noLedger {
		return nil
	}
	dir := catalog.IdentityDir(e.stateDir, s.Name, s.Identity(e.environ), key)
	return catalog.OpenBook(filepath.Join(dir, "lessons"), log)
}

// ledger is where it is kept how the tools of a server are used by a host; nil:
// nowhere, because the user does not want it.
func (e *env) ledger(s *config.Server, log *slog.Logger) *ledger.Ledger {
	if !s.Ledger || e.noLedger {
		return nil
	}
	return ledger.Open(e.ledgerPath(s), log)
}

// choice is where it is kept what "auto" has chosen.
func (e *env) choice(s *config.Server) *facade.Choice {
	path := ledger.Path(filepath.Join(e.stateDir, "auto"), s.Name)
	return facade.OpenChoice(strings.TrimSuffix(path, "l")) // .json
}

// demoUpstream is the embedded server that try starts.
func demoUpstream(_ context.Context, e *env, _ *options, _ []string) error {
	return demo.Serve(e.stdin, e.stdout)
}
