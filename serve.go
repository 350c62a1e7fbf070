package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/facade"
	"mcp-facade/facade/config"
	"mcp-facade/facade/demo"
	"mcp-facade/facade/upstream"
)

// serve serves one server to the host on stdin and stdout.
func serve(ctx context.Context, e *env, o *options) error {
	if o.server == "" && o.inPlace == nil && o.url == "" {
		fmt.Fprint(e.stderr, helpText)
		return usage("serve what? Give --server NAME, or a command after --")
	}
	s, err := e.server(o, o.server)
	if err != nil {
		return err
	}
	if err := s.Unbuilt(); err != nil {
		return err
	}
	if e.terminal {
		fmt.Fprintf(e.stderr, "mcp-facade: %s: waiting for an MCP host on stdin; this command is for a host's config. For a look: mcp-facade try %s\n", s.Name, s.Name)
	}
	return facade.New(e.facadeOptions(o, s)).Run(ctx, e.stdin, e.stdout)
}

// server finds the server that is asked for: by name in the servers file, or
// in place.
func (e *env) server(o *options, name string) (*config.Server, error) {
	s, err := e.find(o, name)
	if err != nil {
		return nil, err
	}
	switch o.surface {
	case "":
	case "meta", "all":
		s.Surface = o.surface
	default:
		return nil, usage("--surface is %q; want meta or all", o.surface)
	}
	return s, nil
}

func (e *env) find(o *options, name string) (*config.Server, error) {
	switch {
	case o.inPlace != nil && (name != "" || o.url != ""):
		return nil, usage("give one of --server, --url and a command after --")
	case o.inPlace != nil && len(o.inPlace) == 0:
		return nil, usage("there is no command after --")
	case o.inPlace != nil:
		return config.InPlace(o.inPlaceName(), o.inPlace[0], o.inPlace[1:]), nil
	case o.url != "":
		return config.InPlaceURL(o.inPlaceName(), o.url), nil
	}
	file, err := e.file(o)
	if err != nil {
		return nil, err
	}
	return file.Server(name)
}

// inPlaceName is --name, else the command's last word, cleaned.
func (o *options) inPlaceName() string {
	words := append([]string{o.name}, o.inPlace...)
	if o.name != "" {
		words = words[:1]
	}
	last := o.url
	for _, w := range words {
		if w != "" && !strings.HasPrefix(w, "-") {
			last = w
		}
	}
	last = strings.TrimSuffix(filepath.Base(last), filepath.Ext(last))
	if name := facade.CleanName(last); name != "" {
		return name
	}
	return "upstream"
}

// file reads the servers file.
func (e *env) file(o *options) (*config.File, error) {
	path := e.configFile
	if o.config != "" {
		path = o.config
	}
	file, err := config.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &config.Error{Err: fmt.Errorf("no servers file: looked at %s (--config and $MCP_FACADE_CONFIG name another)", path), Hint: "mcp-facade init"}
	}
	if err != nil {
		return nil, err
	}
	for _, w := range file.Warnings {
		fmt.Fprintln(e.stderr, "mcp-facade: warning:", w)
	}
	return file, nil
}

// facadeOptions is what a Facade of this server is made of.
func (e *env) facadeOptions(o *options, s *config.Server) facade.Options {
	log := e.logger(o, s.Name)
	store, err := e.store(o, s)
	if err != nil {
		log.Warn("nothing is cached", "err", err)
	}
	return facade.Options{
		Server:  s,
		Unnamed: s.Path == "" && o.name == "",
		Dial:    func(ctx context.Context) (upstream.Conn, error) { return e.dial(ctx, o, s) },
		Store:   store,
		Version: clean(e.version),
		Log:     log,
		Hurry:   e.hurry,
	}
}

// store is where the server's catalogs are cached.
func (e *env) store(o *options, s *config.Server) (*catalog.Store, error) {
	key, err := catalog.LoadKey(filepath.Join(e.stateDir, "key"))
	if err != nil {
		return nil, err
	}
	return catalog.OpenStore(catalog.IdentityDir(e.cacheDir, s.Name, s.Identity(e.environ), key), e.logger(o, s.Name)), nil
}

// dial starts the server.
func (e *env) dial(ctx context.Context, o *options, s *config.Server) (upstream.Conn, error) {
	var claude []byte
	if s.Upstream.EnvFrom != "" {
		claude, _ = os.ReadFile(filepath.Join(e.home, ".claude.json"))
	}
	p, err := s.Process(e.environ, claude, e.cwd)
	if err != nil {
		return nil, err
	}
	log := e.logger(o, s.Name)
	for _, w := range p.Warnings {
		log.Warn("config", "err", w)
	}
	return upstream.Dial(ctx, upstream.Target{
		Server: s.Name, Command: p.Command, Args: p.Args, Dir: p.Dir, Env: p.Env, Secrets: p.Secrets, Hurry: e.hurry, Log: log})
}

// demoUpstream is the embedded server that try starts.
func demoUpstream(_ context.Context, e *env, _ *options, _ []string) error {
	return demo.Serve(e.stdin, e.stdout)
}
