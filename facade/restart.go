package facade

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"mcp-facade/facade/upstream"
)

// An upstream that ends at every start is not started again before restartWait
// is over, which doubles with each start that fails, up to restartLimit. The
// first failure costs no wait: what was amiss may be gone.
const (
	restartWait  = time.Second
	restartLimit = time.Minute
)

// steady is how long a connection lives that has not failed at its start,
// whatever became of it.
const steady = time.Minute

// A tired error is why the upstream is not even tried.
type tired struct {
	cause    error // how it ended the last time
	failures int
	until    time.Time
}

func (e *tired) Error() string {
	wait := max(time.Until(e.until), time.Second).Round(time.Second)
	return fmt.Sprintf("%v; it has failed %d times in a row and is started again in %v at the earliest", e.cause, e.failures, wait)
}

// Unwrap returns how it ended.
func (e *tired) Unwrap() error { return e.cause }

// failed counts a connection that has ended without being of use, and says when
// the next one may be opened. The caller holds mu.
func (f *Facade) failed(l *link, err error) {
	if ue := new(upstream.Error); l.useful || l.refused || f.closing || !errors.As(err, &ue) {
		return
	}
	failures := 1
	if f.tired != nil {
		failures += f.tired.failures
	}
	f.tired = &tired{cause: err, failures: failures}
	if failures > 1 {
		f.tired.until = time.Now().Add(backoff(restartWait, restartLimit, failures-2))
	}
}

// worked notes that a connection is of use. The caller holds mu.
func (f *Facade) worked(l *link) {
	if !l.useful && l.ready() {
		l.useful, f.tired = true, nil
	}
}

// backoff is how long to wait after n failures before: first, doubled for each,
// at most limit, and up to a quarter less, so that many do not come at once.
func backoff(first, limit time.Duration, n int) time.Duration {
	wait := min(limit, first<<min(n, 16))
	return wait - rand.N(wait/4)
}

// regain opens a connection without a request where the host follows something
// that only a connection tells of: at once, and after a while if that has not
// helped before.
func (f *Facade) regain(ctx context.Context, l *link) {
	f.mu.Lock()
	if f.following() == nil || f.closing || l.asleep {
		f.mu.Unlock()
		return
	}
	if time.Since(l.started) > steady {
		f.regained = 0
	}
	wait := time.Duration(0)
	if f.regained > 0 {
		wait = backoff(restartWait, restartLimit, f.regained-1)
	}
	f.regained++
	f.mu.Unlock()
	f.after(ctx, wait, nil, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if v := f.following(); v != nil && f.link == nil && !f.closing {
			f.connect(ctx, v)
		}
	})
}

// following is the view of a host that follows resources or has an open listen
// for more than its tools; nil: it does not. The caller holds mu.
func (f *Facade) following() *view {
	if len(f.subscribed) > 0 && f.current != nil {
		return f.current
	}
	for _, s := range f.listens {
		if s.forward != nil {
			return s.view
		}
	}
	return nil
}
