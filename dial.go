package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mcp-facade/auth"
	"mcp-facade/facade/config"
	"mcp-facade/facade/upstream"
)

// A dialer opens the connections to one server.
type dialer struct {
	*env
	server *config.Server
	lease  *lease // nil: it needs no token, or has it in its config
	log    *slog.Logger
	noise  func(text string) // is told what it writes on stdout beside the protocol; nil: nobody
	warned sync.Once
}

// dial starts the server, or gets ready to reach it. schema gives what is known
// of its tools.
func (d *dialer) dial(ctx context.Context, schema func(tool string) []byte) (upstream.Conn, error) {
	prepare, s := d.process, d.server
	if s.Upstream.URL != "" {
		prepare = d.remote
	}
	t, warnings, err := prepare(ctx, s)
	if err != nil {
		return nil, err
	}
	d.warned.Do(func() {
		for _, w := range warnings {
			d.log.Warn("config", "err", w)
		}
		for _, w := range d.server.Shown() {
			d.log.Info("config", "err", w)
		}
	})
	t.Server, t.InPlace, t.Hurry, t.Log = s.Name, s.Path == "", d.hurry, d.log
	t.Noise, t.Schema, t.Agent = d.noise, schema, "mcp-facade/"+d.version
	return upstream.Dial(ctx, t)
}

// process is a server that a command starts, with what to warn of.
func (d *dialer) process(ctx context.Context, s *config.Server) (upstream.Target, []string, error) {
	var claude []byte
	if s.Upstream.EnvFrom != "" {
		claude, _ = readRegular(filepath.Join(d.home, ".claude.json"), claudeLimit)
	}
	environ, secrets, err := d.withToken(ctx, s)
	if err != nil {
		return upstream.Target{}, nil, err
	}
	p, err := s.Process(environ, claude, d.cwd)
	secrets = append(secrets, p.Secrets...)
	return upstream.Target{Command: p.Command, Args: p.Args, Dir: p.Dir, Env: p.Env, Secrets: secrets}, p.Warnings, err
}

// withToken is our environment with the token that the process is to be given,
// and every token that one was.
func (d *dialer) withToken(ctx context.Context, s *config.Server) (environ, secrets []string, err error) {
	if d.lease == nil {
		return d.environ, nil, nil
	}
	token, err := d.lease.Token(ctx)
	if err != nil {
		return nil, nil, s.Fault(s.TokenKey(), err, d.lease.remedy)
	}
	for _, given := range d.lease.all() {
		secrets = append(secrets, given, auth.Credentials(given))
	}
	return append(slices.Clone(d.environ), s.TokenKey()+"="+auth.Credentials(token)), secrets, nil
}

// remote is a server that is reached over HTTP, with what to warn of.
func (d *dialer) remote(_ context.Context, s *config.Server) (upstream.Target, []string, error) {
	r, err := s.Remote(d.environ)
	if err != nil {
		return upstream.Target{}, nil, err
	}
	if name := wrongProxy(d.environ); name != "" {
		return upstream.Target{}, nil, &upstream.Error{Server: s.Name, Op: "start",
			Err: fmt.Errorf("%s of the environment is not the URL of a proxy", name), Hint: "correct " + name + ", or unset it"}
	}
	t := upstream.Target{URL: r.URL, SSE: s.Upstream.Transport == "sse", Secrets: r.Secrets, Proxy: http.ProxyFromEnvironment}
	for _, h := range r.Headers {
		t.Headers = append(t.Headers, upstream.Header{Name: h.Name, Value: h.Value})
	}
	if r.Variables != nil {
		t.Check = fmt.Sprintf("check %s, which the headers of %s are made of: in the environment, or in \"env\" of the host's entry", strings.Join(r.Variables, " and "), s.Name)
	}
	switch {
	case r.Authorization != "":
		t.Auth = upstream.Static(r.Authorization)
	case d.lease != nil:
		t.Auth, t.Remedy = d.lease, d.lease.remedy
	}
	if r.CAFile != "" {
		if t.Roots, err = roots(r.CAFile); err != nil {
			return t, nil, s.Fault("caFile", err, "want a file of certificate authorities in PEM")
		}
	}
	return t, r.Warnings, nil
}

// wrongProxy is the name of a variable that holds no URL of a proxy where it
// should, or "". net/http would go without a proxy then, which may be what
// nobody is meant to.
func wrongProxy(environ []string) string {
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		switch name {
		case "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy":
		default:
			continue
		}
		if _, err := url.Parse(value); err == nil {
			continue
		}
		if _, err := url.Parse("http://" + value); err != nil {
			return name
		}
	}
	return ""
}

// roots reads a file of certificates.
func roots(path string) ([]byte, error) {
	pem, err := readRegular(path, rootsLimit)
	if err == nil && !x509.NewCertPool().AppendCertsFromPEM(pem) {
		err = fmt.Errorf("%s holds no certificate", path)
	}
	return pem, err
}

// rootsLimit bounds a file of certificates, in bytes; those that systems have
// are some hundred kilobytes.
const rootsLimit = 4 << 20

// claudeLimit bounds ~/.claude.json, which holds a user's whole history.
const claudeLimit = 64 << 20

// readRegular reads a file that can be read without waiting and is within the
// limit, in bytes.
func readRegular(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > limit) {
		err = fmt.Errorf("%s is no file, or larger than %d MiB", path, limit>>20)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
