package facade

import (
	"context"
	"time"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// rest ends a connection that has not been used for idleTimeout; the next
// request opens another one.
func (f *Facade) rest(ctx context.Context, l *link) {
	limit := f.o.Server.IdleTimeout
	for wait := limit; ; {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-l.over:
			timer.Stop()
			return
		case <-ctx.Done():
			timer.Stop()
			return
		}
		f.mu.Lock()
		wait = limit - time.Since(l.used)
		if f.busy(l) {
			wait = limit
		}
		if f.link != l || f.closing {
			f.mu.Unlock()
			return
		}
		if wait <= 0 {
			f.link, l.asleep = nil, true
			f.leaving = make(chan struct{})
			left := f.leaving
			f.mu.Unlock()
			f.log.Info("upstream idle", "dur", limit)
			f.closeConn(l.conn)
			close(left)
			return
		}
		f.mu.Unlock()
	}
}

// busy reports whether a connection is needed although nothing is said on it:
// somebody waits for an answer, it is still starting or being listed, the host
// follows a resource, or a task may run that nobody asks for at the moment. The
// caller holds mu.
func (f *Facade) busy(l *link) bool {
	if !l.ready() || l.tasks || len(f.subscribed) > 0 {
		return true
	}
	for _, v := range f.views {
		if v.listing == l {
			return true
		}
	}
	for _, q := range f.fromUp {
		if q.link == l {
			return true
		}
	}
	for _, first := range f.toUp {
		for p := first; p != nil; p = p.next {
			if p.link == l && p.waited {
				return true
			}
		}
	}
	for _, s := range f.listens {
		if s.forward != nil && len(gjson.GetBytes(s.forward, "params.notifications.resourceSubscriptions").Array()) > 0 {
			return true
		}
	}
	return false
}

// makesTask reports whether an answer says that work goes on after it (MCP
// 2025-11-25, tasks; extension io.modelcontextprotocol/tasks).
func makesTask(m wire.Message) bool {
	return m.Result.Get("resultType").Str == "task" || m.Result.Get("task").IsObject()
}
