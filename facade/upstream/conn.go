package upstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"mcp-facade/facade/wire"
)

// A Target says how to reach an upstream: a process by Command, or a server by
// URL.
type Target struct {
	Server  string          // its name in the servers file, for errors
	InPlace bool            // it stands in no file, but on our own command line
	Secrets []string        // values that are shown nowhere; those under 4 bytes are not looked for
	Hurry   <-chan struct{} // closed once a signal has reached us: the steps of closing shrink; nil is never
	Log     *slog.Logger    // what it writes beside the protocol goes there, at debug; nil drops it

	Noise func(text string) // is told what a process writes on its stdout beside the protocol, from a goroutine; nil: nobody

	Command string   // the program, looked up in the PATH of Env; with a separator in it, relative to Dir
	Args    []string // without the program's name
	Dir     string   // its current directory; "" is ours
	Env     []string // its whole environment, as "K=V"

	URL     string                                // http or https
	SSE     bool                                  // it speaks HTTP+SSE (MCP 2024-11-05); false: Streamable HTTP, or what it turns out to speak
	Headers []Header                              // sent with every request
	Auth    Auth                                  // nil: Headers say all
	Remedy  string                                // what a person can do when what Auth gives is refused; "": look at the config
	Check   string                                // what to look at when the config's own authorization is; "": the config
	Roots   []byte                                // certificate authorities beside the system's, in PEM; nil: none
	Proxy   func(*http.Request) (*url.URL, error) // nil: none
	Schema  func(tool string) []byte              // the inputSchema of a tool as the upstream lists it, nil where it is not known; nil: none is
	Agent   string                                // our User-Agent
}

// A Header is one header of an HTTP request.
type Header struct{ Name, Value string }

// An Auth is where the Authorization of HTTP requests comes from. Its methods
// may be called concurrently.
type Auth interface {
	// Token is the value of the Authorization header; "" sends none.
	Token(ctx context.Context) (string, error)
	// Refresh is called when the upstream has refused a request that carried
	// the value old. refusal is that answer, its body not to be read, or nil if
	// the refusal was none of HTTP. After nil the request is sent once more,
	// with what Token gives.
	Refresh(ctx context.Context, old string, refusal *http.Response) error
}

// An extender is an Auth whose values may come with headers of their own, which
// are sent where neither the config nor the protocol has set them.
type extender interface {
	Headers(authorization string) http.Header
}

// A wanter is an Auth whose values have scopes. Want is told those that the
// upstream misses in one, separated by spaces, and reports whether Remedy brings
// them.
type wanter interface {
	Want(ctx context.Context, scope string) bool
}

// Static is an Auth that has one value and cannot get another.
type Static string

// Token implements Auth.
func (s Static) Token(context.Context) (string, error) { return string(s), nil }

// Refresh implements Auth.
func (s Static) Refresh(context.Context, string, *http.Response) error {
	return errors.New("its Authorization is written in the config and cannot be renewed")
}

// A Conn is one live connection. Its methods may be called concurrently, except
// that Recv is called from one goroutine only.
type Conn interface {
	// Send queues one frame, which it keeps, and never waits. After an error,
	// which is an *Error, the frame has certainly not been written; it wraps
	// ErrFull while 64 MiB are queued.
	Send(frame []byte) error
	// Recv returns the next message. When all that was written has been
	// received, it returns an *Error that says how the upstream ended; after
	// Close, that wraps ErrClosed. A *Failure is not the end, but what became of
	// one request.
	Recv() (wire.Message, error)
	// Plain is text of the upstream for people: on one line, without secrets
	// and without what moves a cursor.
	Plain(text string) string
	// Close ends the upstream and returns when nothing of it is left, or with
	// an *Error that says what could not be ended. Calls after the first wait
	// for it and return the same.
	Close() error
}

// A Failure is what became of one request over HTTP instead of an answer. The
// connection goes on.
type Failure struct {
	Key         string       // wire.Key of the request's id; "" if it concerns none
	Frame       []byte       // the request as it was sent
	Answer      wire.Message // the upstream's own refusal, for the host if the request is not sent again; without Raw there is none
	Unprocessed bool         // it has certainly not been processed
	Err         *Error
}

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the *Error.
func (f *Failure) Unwrap() error { return f.Err }

var (
	// ErrClosed is what Recv and Send give after Close.
	ErrClosed = errors.New("connection closed")
	// ErrFull is what Send gives while too much waits for the upstream.
	ErrFull = fmt.Errorf("more than %d MiB wait for it", sendLimit>>20)
	// ErrSession is why a request was not processed that a new connection
	// will take.
	ErrSession = errors.New("the server has ended the session")
	// ErrHeaders is why a call was not processed whose headers were made from
	// a schema that has changed (MCP 2026-07-28, HeaderMismatch).
	ErrHeaders = errors.New("the headers do not match the call")
)

// Dial starts the upstream and does not wait for it to say anything; of a URL
// it sends nothing before the first frame. Its error is an *Error. ctx is looked
// at before the start only: whoever does not want to wait for a slow process
// leaves it or closes it, but a dial does not kill it.
func Dial(ctx context.Context, t Target) (Conn, error) {
	if t.URL != "" {
		c, err := dialHTTP(ctx, t)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	c, err := dial(ctx, t, usual())
	if err != nil {
		return nil, err
	}
	return c, nil
}

// An Error is a failure of one server, worded for the person at the terminal.
type Error struct {
	Server string // its name in the servers file
	Op     string // what was tried: "start", "run", "send", "close", or over HTTP a method
	Err    error
	Hint   string // what to do next: one imperative line, or ""
}

func (e *Error) Error() string { return e.Server + ": " + e.Op + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
