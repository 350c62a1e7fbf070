package upstream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"mcp-facade/facade/wire"
)

// maxResumes is how often a stream is resumed that brings nothing new.
const maxResumes = 5

// errCut is why a request has no answer whose stream has ended.
var errCut = errors.New("the stream ended before the answer")

// A cursor is where a stream of events can be resumed, and what was wrong with
// it.
type cursor struct {
	last  string        // the id of the last event that had one
	wait  time.Duration // that the server wants, 0 if it has not said
	fault error         // why an event could not be read
}

// stream reads the events that answer a request. A stream that was cut is
// resumed after the last event id, which the modern era does not know.
func (c *httpConn) stream(ctx context.Context, f *flight, rep *reply) *Failure {
	at := &cursor{}
	defer func() { rep.close() }()
	for tries := 0; ; tries++ {
		before := at.last
		if rep != nil {
			c.read(rep, f, at)
		}
		if at.last != before { // what has no id of its own will come again
			tries = 0
		}
		switch {
		case isClosed(f.done), ctx.Err() != nil:
			return nil
		case f.modern || at.last == "":
			return c.failure(f, at.word(errCut))
		case tries == maxResumes:
			return c.failure(f, at.word(fmt.Errorf("%w, and was resumed %d times in vain", errCut, tries)))
		}
		if !sleep(ctx, c.delay(at, tries)) {
			return nil
		}
		rep.close()
		var failure *Failure
		if rep, failure = c.resume(ctx, f, at); failure != nil {
			return failure
		}
	}
}

// word adds to the end of a stream what was wrong with it before.
func (at *cursor) word(err error) error {
	if at.fault == nil {
		return err
	}
	return fmt.Errorf("%w; one of its events could not be read: %w", err, at.fault)
}

// delay is how long to wait before a stream is opened again, after so many
// tries in vain. The server may want another time, but neither no time at all
// nor for ever, and not for all its clients the same.
func (c *httpConn) delay(at *cursor, tries int) time.Duration {
	first := c.tempo.retry
	if at.wait > 0 {
		first = max(at.wait, c.tempo.retry/10)
	}
	wait := min(first<<min(tries, 10), c.tempo.longest)
	return wait + rand.N(wait/8+1)
}

// events reads the events of a reply. done gives back what they hold.
func (c *httpConn) events(rep *reply) (e *events, done func()) {
	r := c.ration(rep)
	e = newEvents(rep.Body)
	e.max, e.hold = c.largest, r.hold
	return e, r.release
}

// read passes the messages of a stream on until it ends, and reports whether
// there was anything new in it.
func (c *httpConn) read(rep *reply, f *flight, at *cursor) (progress bool) {
	events, done := c.events(rep)
	defer done()
	for {
		ev, err := events.next()
		if err != nil && err != wire.ErrTooLarge {
			return progress
		}
		progress = progress || ev.HasID && ev.ID != at.last
		if ev.HasID {
			at.last = ev.ID
		}
		if ev.Retry > 0 {
			at.wait = ev.Retry
		}
		if err = c.take(ev, err, f); err != nil {
			at.fault = err
		} else {
			progress = progress || len(ev.Data) > 0 && !ev.HasID
		}
	}
}

// take takes an event of a stream that belongs to f, or to nobody if that is nil,
// or to all. err is what was wrong with it.
func (c *httpConn) take(ev event, err error, f *flight) error {
	switch {
	case err != nil:
		c.broken(ev.Data, err, f)
	case len(ev.Data) > 0 && (ev.Type == "" || ev.Type == "message"):
		err = c.receive(ev.Data, f)
	}
	if err != nil {
		c.log.Warn("an event could not be read", "err", err, "in", len(ev.Data))
	}
	return err
}

// resume opens the stream of a request again after the last event. It returns
// no reply if that is worth another try.
func (c *httpConn) resume(ctx context.Context, f *flight, at *cursor) (*reply, *Failure) {
	rep, err := c.do(ctx, httpRequest{method: http.MethodGet, accept: eventStream, last: at.last})
	if err != nil {
		c.log.Debug("resume a stream", "err", c.network(err))
		return nil, nil
	}
	if isStream(rep) {
		return rep, nil
	}
	defer rep.close()
	text := c.refusalText(rep)
	refusal := refusalIn(text)
	switch {
	case forgotten(rep, text, &refusal, nil):
		c.lose(rep, text)
	case passes(rep):
		return nil, nil
	}
	return nil, c.failure(f, fmt.Errorf("%w, and could not be resumed: %w", errCut, c.refusal(rep, text)))
}

// isStream reports whether a GET has been answered with a stream of events.
func isStream(rep *reply) bool {
	return rep.StatusCode == http.StatusOK && contentType(rep) == eventStream
}

// passes reports whether a refusal may pass if one waits.
func passes(rep *reply) bool {
	return rep.StatusCode >= 500 || rep.StatusCode == http.StatusTooManyRequests || rep.StatusCode == http.StatusRequestTimeout
}
