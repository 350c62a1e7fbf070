package upstream

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"sync"
	"time"

	"mcp-facade/facade/wire"
)

// call sends a request once what it has to follow has been answered, and reads
// until it is over. It returns what became of it, unless it has been answered.
func (c *httpConn) call(ctx context.Context, f *flight, after <-chan struct{}) *Failure {
	switch {
	case !await(ctx, after):
		return nil
	case c.hasLost():
		return c.unsent(f, c.lost())
	case c.sse:
		if failure := c.fallBack(ctx, f); failure != nil {
			return failure
		}
	}
	moved := c.hasMoved()
	if moved && f.m.Method == "server/discover" {
		c.answerLegacy(f)
		return nil
	}
	rep, err := c.do(ctx, c.post(f))
	if err != nil {
		failure := c.failure(f, c.network(err))
		failure.Err.Hint = c.networkHint(err)
		return failure
	}
	defer rep.close()
	if rep.StatusCode/100 == 2 {
		return c.accepted(ctx, f, rep)
	}
	text := c.refusalText(rep)
	if !moved && mayBeSSE(f, rep, text) {
		switch failure := c.fallBack(ctx, f); {
		case failure == nil:
			return c.call(ctx, f, after)
		case errors.Is(failure, errEndpoint):
			return failure
		}
	}
	return c.refused(f, rep, text)
}

// post is the request that carries a frame.
func (c *httpConn) post(f *flight) httpRequest {
	return httpRequest{
		method: http.MethodPost, accept: jsonType + ", " + eventStream,
		message: &f.m, modern: f.modern, reached: &f.reached,
	}
}

// mayBeSSE reports whether a refusal of initialize is one that an HTTP+SSE
// server gives, or something before it (MCP 2025-11-25, basic/transports,
// "Backwards Compatibility").
func mayBeSSE(f *flight, rep *reply, text []byte) bool {
	switch rep.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired,
		http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return f.m.Method == "initialize" && rep.StatusCode/100 == 4 && refusalIn(text).Raw == nil
}

// accepted reads the answer of a request that the server has taken.
func (c *httpConn) accepted(ctx context.Context, f *flight, rep *reply) *Failure {
	c.join(f, rep.Header)
	kind, moved := contentType(rep), c.hasMoved()
	switch {
	case kind == eventStream && !moved:
		return c.stream(ctx, f, rep)
	case moved && kind != jsonType, rep.StatusCode == http.StatusAccepted, rep.StatusCode == http.StatusNoContent, rep.ContentLength == 0:
		return c.elsewhere(ctx, f, rep)
	}
	text, err := c.body(f, rep, moved || kind == "text/html")
	encoding := rep.Header.Get("Content-Encoding")
	switch {
	case isClosed(f.done):
		return nil
	case moved:
		return c.elsewhere(ctx, f, rep)
	case encoding != "":
		return c.failure(f, fmt.Errorf("the answer could not be read: its Content-Encoding is %s, which we did not ask for", c.words(encoding, maxField)))
	case kind != jsonType && err != wire.ErrTooLarge:
		return c.failure(f, c.unexpected(rep, kind, text))
	case err != nil:
		return c.failure(f, fmt.Errorf("the answer could not be read: %w", c.network(err)))
	}
	return c.failure(f, errors.New("the answer is to another request"))
}

// contentType is the media type of a body, without parameters.
func contentType(rep *reply) string {
	kind, _, _ := mime.ParseMediaType(rep.Header.Get("Content-Type"))
	return kind
}

// body reads and passes on the body of an answer. One that is doubtful, as it
// rather says something else, may not take long.
func (c *httpConn) body(f *flight, rep *reply, doubtful bool) ([]byte, error) {
	if doubtful {
		defer time.AfterFunc(c.tempo.refusal, rep.cancel).Stop()
	}
	r := c.ration(rep)
	defer r.release()
	text, err := c.readBody(rep, r)
	if err == nil {
		err = c.receive(text, f)
	}
	return text, err
}

// elsewhere waits for the answer of a request that was accepted without one: it
// may come on another stream, while one is open.
func (c *httpConn) elsewhere(ctx context.Context, f *flight, rep *reply) *Failure {
	c.discard(rep)
	select {
	case <-f.done:
	case <-ctx.Done():
	case <-c.silence():
		if !isClosed(f.done) {
			return c.failure(f, fmt.Errorf("%s without an answer, and no stream is open that may bring it", status(rep.Response)))
		}
	}
	return nil
}

// refused is what becomes of a request that the server has answered with
// another status than 2xx. A JSON-RPC error is its answer, unless it is about
// who may ask.
func (c *httpConn) refused(f *flight, rep *reply, text []byte) *Failure {
	refusal := refusalIn(text)
	lost := forgotten(rep, text, &refusal, f)
	if refusal.Raw != nil && refusal.Key() != f.key { // some servers have an id of their own for all refusals
		refusal = adopted(refusal, f)
	}
	denied := rep.StatusCode == http.StatusUnauthorized || rep.StatusCode == http.StatusForbidden
	switch {
	case lost:
		failure := c.unsent(f, c.lose(rep, text))
		failure.Answer = refusal
		return failure
	case refusal.Raw != nil && !denied:
		if c.claim(f) {
			c.answer(f, refusal)
		}
		return nil
	}
	failure := c.failure(f, c.refusal(rep, text))
	failure.Answer = refusal
	failure.Unprocessed = turnedAway(rep.StatusCode)
	failure.Err.Hint = c.hint(rep)
	if refusal.Raw != nil && c.remedy != "" && rep.remedy {
		failure.Answer = wire.Remark(refusal, c.advice(rep))
	}
	return failure
}

// turnedAway reports whether a status says that nobody has looked at the request.
func turnedAway(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusProxyAuthRequired, http.StatusTooManyRequests,
		http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// advice says why an authorization that was refused could not be renewed, and
// what to do about it.
func (c *httpConn) advice(rep *reply) string {
	why := ""
	if rep.renewal != nil {
		why = "renew the authorization: " + c.mask.Load().line([]byte(rep.renewal.Error())) + "; "
	}
	return why + "try: " + c.remedy
}

// refusalIn is the JSON-RPC error that a body is, or a message without Raw.
func refusalIn(text []byte) wire.Message {
	ms, _ := wire.Frames(text)
	if len(ms) != 1 || !ms[0].Error.Exists() {
		return wire.Message{}
	}
	return ms[0]
}

// notification queues a notification: they go one after the other. The caller
// holds mu.
func (c *httpConn) notification(m wire.Message) {
	before, turn := c.turn, make(chan struct{})
	c.turn = turn
	if m.Method == "notifications/initialized" {
		c.opened = turn
	}
	pass := sync.OnceFunc(func() { close(turn) })
	c.sending += len(m.Raw)
	c.tasks.Go(func() {
		defer c.sent(m)
		defer pass()
		if await(c.life, before) && !c.hasLost() {
			defer time.AfterFunc(c.tempo.order, pass).Stop()
			c.notify(m, pass)
		}
	})
}

// sent notes that a notification is not under way any more.
func (c *httpConn) sent(m wire.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sending -= len(m.Raw)
}

// notify sends a notification. It calls pass when the next one may go.
func (c *httpConn) notify(m wire.Message, pass func()) {
	c.tell(m, c.tempo.tell, func() {
		if m.Method == "notifications/initialized" && !c.hasMoved() {
			c.standing.Do(c.stand)
		}
		pass()
	})
}

// cancelled cancels a request: in the modern era by the end of its POST, in the
// legacy era by the notification, and then so. A request that has reached nobody
// needs no notification. The caller holds mu.
func (c *httpConn) cancelled(m wire.Message) {
	f := c.flights[wire.Key(m.Params.Get("requestId"))]
	switch {
	case f != nil && (f.modern || !f.reached.Load()):
		f.cancel()
	case f != nil:
		c.withdraw(m, f.cancel)
	case c.version != "":
		c.withdraw(m, func() {})
	}
}

// withdraw sends a cancellation, which waits for no other notification. It calls
// end when the server has taken it, or has not for a while. The caller holds mu.
func (c *httpConn) withdraw(m wire.Message, end func()) {
	c.parting.Add(1)
	finally := sync.OnceFunc(func() {
		end()
		c.parting.Done()
	})
	c.tasks.Go(func() {
		defer finally()
		defer time.AfterFunc(c.tempo.cancel, finally).Stop()
		if c.cancels.take(c.life, c.life) {
			defer c.cancels.leave()
			c.tell(m, c.tempo.order, finally)
		}
	})
}

// respond sends the host's answer to a request of the server.
func (c *httpConn) respond(m wire.Message, after <-chan struct{}) {
	if await(c.life, after) && c.answers.take(c.life, c.listens) && !c.hasLost() {
		defer c.answers.leave()
		c.tell(m, c.tempo.tell, func() {})
	}
}

// tell sends what gets no answer. It calls taken when the server has taken it,
// which must not take longer than limit. What the server says all the same is
// passed on.
func (c *httpConn) tell(m wire.Message, limit time.Duration, taken func()) {
	ctx, cancel := context.WithTimeoutCause(c.life, limit, fmt.Errorf("it was not taken in %v", limit))
	defer cancel()
	rep, err := c.do(ctx, httpRequest{
		method: http.MethodPost, accept: jsonType + ", " + eventStream, message: &m, modern: isModern(&m),
	})
	if err != nil {
		c.untold(m, c.network(err))
		return
	}
	defer rep.close()
	if rep.StatusCode/100 == 2 {
		taken()
		defer time.AfterFunc(c.tempo.linger, rep.cancel).Stop()
		c.overhear(rep)
		return
	}
	text := c.refusalText(rep)
	if refusal := refusalIn(text); forgotten(rep, text, &refusal, nil) {
		c.lose(rep, text)
	}
	c.untold(m, c.refusal(rep, text))
}

// overhear reads what the server says to a message that gets no answer.
func (c *httpConn) overhear(rep *reply) {
	if contentType(rep) == eventStream {
		c.read(rep, nil, &cursor{})
		return
	}
	c.discard(rep)
}

// untold tells that a message of no request has not been taken.
func (c *httpConn) untold(m wire.Message, err error) {
	if c.life.Err() != nil {
		return
	}
	op := m.Method
	if m.IsResponse() {
		op = "answer a request of the server"
	}
	c.inbox.fail(&Failure{Frame: m.Raw, Err: &Error{Server: c.server, Op: op, Err: err}})
}
