package upstream

import (
	"context"
	"net/http"
	"time"
)

// stand starts to listen.
func (c *httpConn) stand() {
	stop := c.listening()
	c.tasks.Go(func() { c.listen(stop) })
}

// listen holds the standalone stream open, on which a legacy server says what
// belongs to no request (MCP 2025-11-25, basic/transports, "Listening for
// Messages from the Server"), while the server offers it and the session lasts.
// stop notes that no answer comes on it.
func (c *httpConn) listen(stop func()) {
	defer func() { stop() }()
	at := &cursor{}
	for fails, known := 0, false; ; fails++ {
		began := time.Now()
		open, progress := c.watch(c.listens, at, &known)
		if !open {
			return
		}
		if progress || time.Since(began) > c.tempo.order {
			fails = 0
		}
		if at.last == "" || fails >= maxResumes { // what was to come is lost
			stop()
			stop = c.listening()
		}
		if !sleep(c.listens, c.delay(at, fails)) {
			return
		}
	}
}

// watch opens the stream and reads it to its end. It reports whether it is
// worth another try, and whether something new has come. known is set once the
// server has offered the stream.
func (c *httpConn) watch(ctx context.Context, at *cursor, known *bool) (again, progress bool) {
	rep, err := c.do(ctx, httpRequest{method: http.MethodGet, accept: eventStream, last: at.last})
	if err != nil {
		c.log.Debug("listen", "err", c.network(err))
		return true, false
	}
	defer rep.close()
	if isStream(rep) {
		*known = true
		return true, c.read(rep, nil, at)
	}
	if passes(rep) {
		return true, false
	}
	c.unoffered(rep, *known)
	return false, false
}

// unoffered takes a refusal of the standalone stream. Many servers that do not
// offer it answer 404 as to any unknown path, so that says something about the
// session only if it names it, or if the stream was offered before.
func (c *httpConn) unoffered(rep *reply, known bool) {
	text := c.refusalText(rep)
	refusal := refusalIn(text)
	if forgotten(rep, text, &refusal, nil) && (known || namesSession(text)) {
		c.lose(rep, text)
		return
	}
	if rep.StatusCode != http.StatusMethodNotAllowed {
		c.log.Debug("no standalone stream", "err", c.refusal(rep, text))
	}
}
