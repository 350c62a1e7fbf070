package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mcp-facade/auth"
	"mcp-facade/facade/config"
	"mcp-facade/facade/upstream"
)

// A lease is where a server's tokens come from at run time. It remembers the
// last one it has given away, which is the one that a server means that does
// not accept its token. Its methods may be called concurrently.
type lease struct {
	source upstream.Auth
	remedy string // what a person can do when its tokens are not accepted

	mu    sync.Mutex
	given []string // the tokens so far, the last maxGiven of them; guarded by mu
}

// maxGiven is how many tokens are remembered.
const maxGiven = 32

// lease is where the server's tokens come from, nil if they are in its config or
// it needs none.
func (e *env) lease(s *config.Server, log *slog.Logger) *lease {
	u := &s.Upstream
	switch s.TokenKey() {
	case "credentialId":
		c := auth.NewOmp(u.CredentialID, e.home, e.environ)
		c.Hide(config.Secrets(e.environ)...)
		return &lease{source: c, remedy: fmt.Sprintf("run `omp token %s`, and log in with omp again if that prints no other token", u.CredentialID)}
	case "tokenCommand":
		argv := slices.Clone(u.TokenCommand)
		if rest, ok := strings.CutPrefix(argv[0], "~/"); ok {
			argv[0] = filepath.Join(e.home, rest)
		}
		c := auth.NewCommand(argv, filepath.Dir(s.Path), e.environ)
		c.Hide(config.Secrets(e.environ)...)
		return &lease{source: c, remedy: fmt.Sprintf("run the \"tokenCommand\" of %s in a terminal, and log in again where it asks for that", s.Name)}
	}
	if u.OAuth == nil || u.URL == "" || s.Authorized() {
		return nil
	}
	source, err := e.oauth(s, log)
	if err != nil {
		return nil // the dial says it
	}
	return &lease{source: source, remedy: fmt.Sprintf("run `mcp-facade login %s`", s.Name)}
}

// Token implements upstream.Auth.
func (l *lease) Token(ctx context.Context) (string, error) {
	token, err := l.source.Token(ctx)
	if err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.given); n == 0 || l.given[n-1] != token {
		l.given = append(l.given, token)
		l.given = l.given[max(0, n+1-maxGiven):]
	}
	return token, nil
}

// Refresh implements upstream.Auth.
func (l *lease) Refresh(ctx context.Context, old string, refusal *http.Response) error {
	return l.source.Refresh(ctx, old, refusal)
}

// Headers are those that come with a token.
func (l *lease) Headers(token string) http.Header {
	if e, ok := l.source.(interface{ Headers(string) http.Header }); ok {
		return e.Headers(token)
	}
	return nil
}

// Want passes on which scope a token misses.
func (l *lease) Want(ctx context.Context, scope string) bool {
	w, ok := l.source.(interface {
		Want(context.Context, string) bool
	})
	return ok && w.Want(ctx, scope)
}

// renew gets another token than the last one: facade.Options has it.
func (l *lease) renew(ctx context.Context) error {
	given := l.all()
	if len(given) == 0 {
		return nil
	}
	return l.source.Refresh(ctx, given[len(given)-1], nil)
}

// all are the last tokens. What an old process says last may have an old one
// in it.
func (l *lease) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.given)
}
