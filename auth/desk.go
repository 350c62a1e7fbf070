package auth

import (
	"bufio"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// callbackPath is where a browser is sent back to.
const callbackPath = "/callback"

// A desk waits for the browser that one login has sent away.
type desk struct {
	state string
	came  chan visit
	once  sync.Once
	over  chan struct{} // closed when nobody is waited for any more
}

// A visit is what a browser, or the person, has brought.
type visit struct {
	query url.Values
	reply chan string // takes what the browser is shown
}

func newDesk(state string) *desk {
	return &desk{state: state, came: make(chan visit), over: make(chan struct{})}
}

// open serves the listener until stop is called, which lets the last page out.
func (d *desk) open(listener net.Listener) (stop func()) {
	server := &http.Server{Handler: d, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	var wg sync.WaitGroup
	wg.Go(func() { server.Serve(listener) })
	return func() {
		close(d.over)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			server.Close()
		}
		wg.Wait()
	}
}

// wait returns the first visit of this login.
func (d *desk) wait(ctx context.Context) (visit, error) {
	select {
	case v := <-d.came:
		return v, nil
	case <-ctx.Done():
		return visit{}, ctx.Err()
	}
}

// ServeHTTP takes the redirect of this login. Anything else that a page in the
// browser may send here changes nothing.
func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch q := r.URL.Query(); {
	case r.URL.Path != callbackPath || r.Method != http.MethodGet:
		show(w, http.StatusNotFound, "There is nothing here.")
	case !d.isOurs(q):
		show(w, http.StatusBadRequest, "This is not the login that is under way.")
	default:
		text, ok := d.take(r.Context(), q)
		if !ok {
			show(w, http.StatusGone, "This login is over.")
			return
		}
		show(w, http.StatusOK, text)
	}
}

func (d *desk) isOurs(q url.Values) bool {
	return subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(d.state)) == 1
}

// take hands a visit to who waits, once, and returns what the browser is shown.
func (d *desk) take(ctx context.Context, q url.Values) (text string, ok bool) {
	d.once.Do(func() {
		v := visit{q, make(chan string, 1)}
		select {
		case d.came <- v:
			text, ok = <-v.reply
		case <-d.over:
		case <-ctx.Done():
		}
	})
	return text, ok
}

// paste reads lines until one of them is the URL of this login.
func (d *desk) paste(from io.Reader, wrong func(string)) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if lines.Text() == "" {
			continue
		}
		q, err := pastedQuery(lines.Text())
		if err == nil && !d.isOurs(q) {
			err = errors.New("that URL is of another login")
		}
		if err != nil {
			wrong(err.Error())
			continue
		}
		d.take(context.Background(), q)
		return
	}
}

// show answers with a page that loads and tells nothing.
func show(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Connection", "close")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<!doctype html><title>mcp-facade</title><p>%s</p>\n", html.EscapeString(text))
}
