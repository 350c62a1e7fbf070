package facade

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"mcp-facade/facade/wire"
)

// repeatWindow is how long a refusal is remembered after it was given for the last
// time: a loop that is kept up is not forgotten. A process is not a conversation:
// parallel agents share it.
const repeatWindow = 5 * time.Minute

// maxRepeats is how many refusals are remembered.
const maxRepeats = 1000

// A recurring error is a refusal that is known again when it comes again, though
// its words may differ.
type recurring struct {
	error
	tool   string
	reason string
	full   func() error // the same at length; nil: there is no more to say
}

// A repeatKey is what was refused: by which name the host called, which tool, and
// why. Two refusals of the same are one that is repeated.
type repeatKey struct{ name, tool, reason string }

// A repetition is how often something was refused, and when for the last time.
type repetition struct {
	times int
	last  time.Time
}

// insisting is a refusal in the words that fit how often it has been given: at
// repeatLimit at length, from twice as often on an order to stop. Another round
// of a call is no other call; it counts only if the user declines in it.
func (f *Facade) insisting(v *view, m wire.Message, why error) error {
	limit := f.o.Server.RepeatLimit
	r := &recurring{error: why, reason: why.Error()}
	errors.As(why, &r)
	if limit == 0 || isRetry(m) && !strings.HasPrefix(r.reason, declinedPrefix) {
		return why
	}
	switch n := f.repeat(repeatKey{f.calledBy(v, m), r.tool, r.reason}); {
	case n >= 2*limit:
		return stop(n, r.error)
	case n == limit && r.full != nil:
		return r.full()
	}
	return why
}

// calledBy is the name that a call came by, however it is spelled.
func (f *Facade) calledBy(v *view, m wire.Message) string {
	name, s := m.Params.Get("name").Str, f.surfaceOf(v)
	if kind := s.metaTool(name); kind != "" {
		return kind
	}
	if up, ok := s.names().upstream(name); ok {
		return up
	}
	return folded(f.ownNames(v), name)
}

// isRetry reports whether a call is another round of one (MCP 2026-07-28,
// basic/patterns/mrtr).
func isRetry(m wire.Message) bool {
	return m.Params.Get("requestState").Exists() || m.Params.Get("inputResponses").Exists()
}

// repeat counts a refusal, and returns how often it has been given.
func (f *Facade) repeat(what repeatKey) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.repeats) >= maxRepeats {
		maps.DeleteFunc(f.repeats, func(_ repeatKey, r *repetition) bool { return time.Since(r.last) > repeatWindow })
	}
	r := f.repeats[what]
	if r == nil || time.Since(r.last) > repeatWindow {
		r = &repetition{}
	}
	if r.times > 0 || len(f.repeats) < maxRepeats {
		f.repeats[what] = r
	}
	r.times++
	r.last = time.Now()
	return r.times
}

// declinedForGood reports whether the user has declined a call so often that
// they are not asked again for a while.
func (f *Facade) declinedForGood(c *invocation) bool {
	called := f.calledBy(c.view, c.m)
	f.mu.Lock()
	defer f.mu.Unlock()
	limit := 2 * f.o.Server.RepeatLimit
	r := f.repeats[repeatKey{called, c.tool, declinedReason(c)}]
	return r != nil && limit > 0 && r.times >= limit && time.Since(r.last) <= repeatWindow
}

// stop tells a model that has been refused n times to do something else.
func stop(n int, why error) error {
	what := why.Error()
	if r := new(refusal); errors.As(why, &r) {
		what = r.what
	}
	return &refusal{fmt.Sprintf("Stop. This has been refused %d times for the same reason: %s", n, what),
		"Do not call it again: report to the user what you tried and why it was refused."}
}

// forgive forgets what was refused of a tool that has answered a call.
func (f *Facade) forgive(tool string, m wire.Message) {
	f.mu.Lock()
	known := len(f.repeats) > 0
	f.mu.Unlock()
	if !known || !m.Result.Exists() || m.Result.Get("isError").Bool() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.repeats, func(what repeatKey, _ *repetition) bool { return what.tool == tool })
}
