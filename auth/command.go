package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// forceVar tells a program that the token it gave has been refused, and that
// none from a cache of its own will do.
const forceVar = "MCP_FACADE_FORCE_REFRESH"

// A Command is a source of tokens that a program prints: a bare one, or a JSON
// object {"token", "expires_at", "headers"} of which "token" is needed. It is
// asked again a minute before that ends. Its methods may be called concurrently.
type Command struct {
	argv     []string // the program and its arguments
	forced   []string // the same, when a token has been refused
	dir      string
	environ  []string
	fallback string // where the program is looked for if it is not in PATH; "": nowhere
	hidden   []string
	now      func() time.Time
	limit    time.Duration

	turn chan struct{} // holds one while the program runs

	mu    sync.Mutex
	token *grant // what it has said last; nil: nothing; guarded by mu
	runs  int    // how often the program has come to an end; guarded by mu
	err   error  // what the last run came to; guarded by mu
}

// A grant is what a program has said.
type grant struct {
	value   Secret            // of the Authorization header
	headers map[string]Secret // that go with it
	until   time.Time         // when to ask again; zero: when it is refused
}

// NewCommand is the source that runs argv, without a shell, in an environment
// and a directory, where a program named by a relative path is looked for too.
func NewCommand(argv []string, dir string, environ []string) *Command {
	return newCommand(argv, argv, dir, environ)
}

func newCommand(argv, forced []string, dir string, environ []string) *Command {
	return &Command{argv: argv, forced: forced, dir: dir, environ: environ,
		now: time.Now, limit: commandLimit, turn: make(chan struct{}, 1)}
}

// Hide lets the values be shown in no error. It is for before the first Token.
func (c *Command) Hide(values ...string) { c.hidden = append(c.hidden, values...) }

// Token is the value of the Authorization header. It runs the program unless
// the last one is still good.
func (c *Command) Token(ctx context.Context) (string, error) {
	if g := c.good(); g != nil {
		return string(g.value), nil
	}
	if err := c.get(ctx, false, func() bool { return c.good() != nil }); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.token.value), nil
}

// Refresh gets another token than old, which the upstream has refused, unless
// that has been done. Of several at once, one runs the program.
func (c *Command) Refresh(ctx context.Context, old string, _ *http.Response) error {
	renewed := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.token != nil && string(c.token.value) != old
	}
	if renewed() {
		return nil
	}
	if err := c.get(ctx, true, renewed); err != nil {
		return err
	}
	if !renewed() {
		return c.fault("gives the token again that was refused")
	}
	return nil
}

// Headers are those that go with a token.
func (c *Command) Headers(token string) http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == nil || string(c.token.value) != token {
		return nil
	}
	h := http.Header{}
	for name, value := range c.token.headers {
		h.Set(name, string(value))
	}
	return h
}

// good is what the program has said last, nil if it has to be asked again.
func (c *Command) good() *grant {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == nil || !c.token.until.IsZero() && !c.now().Before(c.token.until) {
		return nil
	}
	return c.token
}

// get runs the program, unless done says that somebody else has meanwhile. Who
// has waited for a run takes what it came to for his own.
func (c *Command) get(ctx context.Context, force bool, done func() bool) error {
	c.mu.Lock()
	before := c.runs
	c.mu.Unlock()
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	c.mu.Lock()
	waited, err := c.runs > before, c.err
	c.mu.Unlock()
	if done() || waited && err != nil {
		return err
	}
	g, err := c.ask(ctx, force)
	if ctx.Err() != nil { // nobody's business but the caller's
		return ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs++
	if c.err = err; err == nil {
		c.token = g
	}
	return err
}

// ask runs the program for a token. One that is over already by our clock is
// asked for once more by force: it may come from a cache. If that is over too,
// a clock is wrong, and it is used until it is refused.
func (c *Command) ask(ctx context.Context, force bool) (*grant, error) {
	g, end, err := c.try(ctx, force)
	if err != nil || end.IsZero() {
		return g, err
	}
	if now := c.now(); end.After(now) {
		g.until = lastUse(now, end)
		return g, nil
	}
	if !force {
		return c.ask(ctx, true)
	}
	return g, nil
}

// try runs the program once and reads what it prints, and when that ends.
func (c *Command) try(ctx context.Context, force bool) (*grant, time.Time, error) {
	argv := c.argv
	if force {
		argv = c.forced
	}
	out, err := c.run(ctx, argv, force)
	if err != nil {
		return nil, time.Time{}, err
	}
	g, end, why := read(out)
	if why != "" {
		return nil, end, c.fault(why)
	}
	return g, end, nil
}

// read takes what a program has printed apart, or says why that is no token.
func read(out []byte) (g *grant, end time.Time, why string) {
	out = bytes.TrimSpace(bytes.TrimPrefix(out, []byte("\ufeff")))
	odd := func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }
	switch {
	case len(out) == 0:
		return nil, end, "printed nothing"
	case !utf8.Valid(out) || bytes.ContainsFunc(out, odd):
		return nil, end, "printed what is no text"
	case out[0] == '<':
		return nil, end, "printed a web page instead of a token"
	case out[0] == '{' || out[0] == '[' || out[0] == '"':
		return readObject(out)
	}
	if why := wrongToken(string(out)); why != "" {
		return nil, end, why
	}
	g = &grant{value: Secret(authorization(string(out)))}
	return g, jwtEnd(Credentials(string(out))), ""
}

// readObject reads a JSON object. What is not known in it is left alone.
func readObject(out []byte) (g *grant, end time.Time, why string) {
	v := gjson.ParseBytes(out)
	token, expires, headers := v.Get("token"), v.Get("expires_at"), v.Get("headers")
	switch {
	case !gjson.ValidBytes(out):
		return nil, end, "printed what begins like JSON and is none"
	case !v.IsObject():
		return nil, end, `printed JSON that is no object with a "token"`
	case token.Type != gjson.String || strings.TrimSpace(token.Str) == "":
		return nil, end, `printed JSON without a "token" that is a string`
	}
	text := strings.TrimSpace(token.Str)
	if why := wrongToken(text); why != "" {
		return nil, end, why
	}
	if end, why = moment(expires); why != "" {
		return nil, end, why
	}
	if end.IsZero() {
		end = jwtEnd(Credentials(text))
	}
	g = &grant{value: Secret(authorization(text)), headers: map[string]Secret{}}
	return g, end, g.read(headers)
}

// read takes the headers of a JSON object.
func (g *grant) read(headers gjson.Result) (why string) {
	if headers.Type == gjson.Null {
		return ""
	}
	if !headers.IsObject() {
		return `printed "headers" that are no object of strings`
	}
	headers.ForEach(func(name, value gjson.Result) bool {
		switch {
		case value.Type != gjson.String:
			why = `printed "headers" that are no object of strings`
		case !isHeaderName(name.Str) || strings.ContainsFunc(value.Str, unicode.IsControl):
			why = `printed "headers" that HTTP cannot have`
		}
		g.headers[name.Str] = Secret(value.Str)
		return why == ""
	})
	return why
}

// isHeaderName: RFC 9110, section 5.6.2.
func isHeaderName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// maxToken is the longest token, in bytes: many a server takes no headers of
// more than 16 KiB.
const maxToken = 16 << 10

// wrongToken says why a text is no token, or "".
func wrongToken(text string) string {
	scheme, _, _ := strings.Cut(text, " ")
	switch {
	case isScheme(text):
		return "printed the scheme of a token without the token"
	case isScheme(scheme):
		text = text[len(scheme)+1:]
	}
	switch {
	case len(text) > maxToken:
		return fmt.Sprintf("printed a token of %d bytes, more than %d", len(text), maxToken)
	case strings.ContainsFunc(text, unicode.IsSpace):
		return "printed several words or lines instead of a token"
	case strings.ContainsFunc(text, func(r rune) bool { return r < '!' || r > '~' }):
		return "printed a token with characters that no header can have"
	}
	return ""
}

// moment reads when a token ends: RFC 3339, or Unix seconds. The zero time has
// not been said.
func moment(v gjson.Result) (end time.Time, why string) {
	const want = `printed an "expires_at" that is neither RFC 3339 nor seconds since 1970`
	switch v.Type {
	case gjson.Null:
		return end, ""
	case gjson.Number:
		end = unixTime(v.Num)
	case gjson.String:
		var err error
		if end, err = time.Parse(time.RFC3339, strings.TrimSpace(v.Str)); err != nil {
			end = unixTime(gjson.Parse(v.Str).Num)
		}
	}
	if end.IsZero() {
		return end, want
	}
	return end, ""
}

// fault words what is wrong with the program.
func (c *Command) fault(what string) error {
	return errors.New(c.name() + " " + what)
}

// name is how an error calls the program: its arguments may be secret.
func (c *Command) name() string { return strconv.Quote(c.argv[0]) }

// secrets are what no error may show, of this run and of those before.
func (c *Command) secrets(out []byte) []string {
	all := map[string]bool{}
	for _, s := range c.hidden {
		all[s] = true
	}
	for _, word := range strings.FieldsFunc(string(out), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"',;{}`, r) }) {
		all[word] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token != nil {
		all[Credentials(string(c.token.value))] = true
		for _, v := range c.token.headers {
			all[string(v)] = true
		}
	}
	return slices.Collect(maps.Keys(all))
}
