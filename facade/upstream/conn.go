package upstream

import (
	"context"
	"errors"
	"log/slog"

	"mcp-facade/facade/wire"
)

// A Target says how to reach an upstream.
type Target struct {
	Server  string          // its name in the servers file, for errors
	InPlace bool            // it stands in no file, but after -- of our own command line
	Command string          // the program, looked up in the PATH of Env; with a separator in it, relative to Dir
	Args    []string        // without the program's name
	Dir     string          // its current directory; "" is ours
	Env     []string        // its whole environment, as "K=V"
	Secrets []string        // values that are shown nowhere; those under 4 bytes are not looked for
	Hurry   <-chan struct{} // closed once a signal has reached us: the steps of closing shrink; nil is never
	Log     *slog.Logger    // what it writes beside the protocol goes there, at debug; nil drops it
}

// A Conn is one live connection. Its methods may be called concurrently, except
// that Recv is called from one goroutine only.
type Conn interface {
	// Send queues one frame, which it keeps. It waits while 64 MiB are
	// queued, never for an answer. After an error, which is an *Error, the
	// frame has certainly not been written.
	Send(frame []byte) error
	// Recv returns the next message. When all that was written has been
	// received, it returns an *Error that says how the upstream ended; after
	// Close, that wraps ErrClosed.
	Recv() (wire.Message, error)
	// Plain is text of the upstream for people: on one line, without secrets
	// and without what moves a cursor.
	Plain(text string) string
	// Close ends the upstream and returns when nothing of it is left, or with
	// an *Error that says what could not be ended. Calls after the first wait
	// for it and return the same.
	Close() error
}

// ErrClosed is what Recv and Send give after Close.
var ErrClosed = errors.New("connection closed")

// Dial starts the upstream and does not wait for it to say anything. Its error
// is an *Error. ctx is looked at before the start only: whoever does not want
// to wait for a slow process leaves it or closes it, but a dial does not kill it.
func Dial(ctx context.Context, t Target) (Conn, error) {
	c, err := dial(ctx, t, usual())
	if err != nil {
		return nil, err
	}
	return c, nil
}

// An Error is a failure of one server, worded for the person at the terminal.
type Error struct {
	Server string // its name in the servers file
	Op     string // what was tried: "start", "run", "send", "close"
	Err    error
	Hint   string // what to do next: one imperative line, or ""
}

func (e *Error) Error() string { return e.Server + ": " + e.Op + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
