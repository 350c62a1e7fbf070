package facade

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/config"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// An invocation is a tools/call whose tool has been found out.
type invocation struct {
	m      wire.Message
	view   *view
	via    string // the meta-tool by which it came; "": it came by the tool's own name
	tool   string // the upstream's name
	args   string // raw, as the upstream is to be sent them; "" for none
	frame  []byte // what the upstream is to be sent
	hint   string // the tool, if its signature is to be added to an error result
	agreed bool   // "confirm": true stands beside the tool

	hearsay  bool // the upstream could not be asked what the tool does
	relisted bool // its tools were listed for this call, if that was possible

	answer gjson.Result       // the user's, to a question about this very call; it does not exist if there is none
	learn  func(wire.Message) // is shown the upstream's answer; nil: nobody
}

// errUnconfirmed says that a call may be sent if the user agrees to it.
var errUnconfirmed = errors.New("the user has not agreed to it")

// errHearsay says that a call may be sent if the tool does what is remembered of
// it.
var errHearsay = errors.New("what the tool does is not certain")

// allow is asked for every call, after the name is resolved and before anything
// is sent. Its error is errUnconfirmed, errHearsay, or what the model is told: of
// a hidden tool, what it is told of one that does not exist.
func (f *Facade) allow(c *invocation) error {
	if f.hidden(c.tool) || f.hiddenBehind(c.view, c.tool) {
		return f.unknown(c.view, c.tool)
	}
	if !f.guarded() {
		return nil
	}
	if f.blocks() {
		if err := f.drifts(c); err != nil {
			return err
		}
	}
	err := f.judge(c, f.effect(c.view, c.tool))
	if err == nil && f.judge(c, destroys) != nil && f.isHearsay(c.view, c.tool) {
		return errHearsay
	}
	return err
}

// judge is what the guard says to a call of a tool of an effect.
func (f *Facade) judge(c *invocation, effect effect) error {
	switch {
	case c.via == "call" && f.o.Server.Split && effect != reads:
		return f.misplaced(c)
	case f.delicate(effect):
		return errUnconfirmed
	}
	return nil
}

// drifts is what the guard says to a call of what may have changed since the user
// accepted it.
func (f *Facade) drifts(c *invocation) error {
	switch {
	case f.isSafe(c.view, c.tool):
		return nil
	case !f.isCertain(c):
		return errHearsay
	}
	return f.withheld(c.view, c.tool)
}

// isHearsay reports whether what a tool does is only remembered: neither does the
// config say it, nor has the upstream on the connection in use, since it last said
// that its tools have changed.
func (f *Facade) isHearsay(v *view, tool string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !config.Match(f.o.Server.ReadOnly, tool) && !f.witnessed(v)
}

// witnessed reports whether the view is as the connection in use has listed it.
// The caller holds mu.
func (f *Facade) witnessed(v *view) bool { return v.source != nil && v.source == f.link }

// witness waits until the view is as the connection in use has listed it, or that
// cannot be had within startTimeout. It returns why there is no connection.
func (f *Facade) witness(ctx context.Context, v *view) (down error) {
	began := time.Now()
	for {
		f.mu.Lock()
		failed := v.missing != nil && !v.tried.Before(began)
		over := f.witnessed(v) || failed || f.closing || ctx.Err() != nil || time.Since(began) > f.o.Server.StartTimeout
		settling := f.link != nil && f.link.settling // that ends in a listing
		down = nil
		if f.link == nil || !f.link.open[v.key.Era] {
			down = cmp.Or(v.missing, errLoading)
		}
		if !over && !settling {
			v.expect()
		}
		ready := v.ready
		f.mu.Unlock()
		if over {
			return down
		}
		if settling {
			ready = nil
		} else {
			f.relistSoon(ctx, v)
		}
		select {
		case <-ready:
		case <-time.After(settle): // whatever else may have happened meanwhile
		case <-f.end:
		case <-ctx.Done():
		}
	}
}

// disguised reports whether a method is what some upstreams may take for
// tools/call, which would pass the guard by.
func (f *Facade) disguised(method string) bool {
	return method != "tools/call" && strings.EqualFold(compact.Line(method), "tools/call") &&
		(f.guarded() || len(f.o.Server.Hide) > 0)
}

// An effect is what a tool does to the upstream's data.
type effect int

const (
	writes effect = iota // it may change something
	reads
	destroys
)

// effectOf says what a tool does, as the config or, failing that, its own
// annotations say, which are hints of a stranger. One of which neither says
// anything writes.
func (f *Facade) effectOf(t catalog.Tool) effect {
	switch s := f.o.Server; {
	case config.Match(s.Destructive, t.Name):
		return destroys
	case config.Match(s.ReadOnly, t.Name) || t.ReadOnly:
		return reads
	case t.Destructive:
		return destroys
	}
	return writes
}

// effect is effectOf of a tool by its name. What the upstream does not list may
// be another name of anything: it only reads if the config says so.
func (f *Facade) effect(v *view, name string) effect {
	s := f.surfaceOf(v)
	up, listed := s.names().upstream(name)
	switch guard := f.o.Server; {
	case listed && up == name:
		return s.effects()[name]
	case config.Match(guard.ReadOnly, name) && !config.Match(guard.Destructive, name) && !behind(append(s.changing(), guard.Destructive...), name):
		return reads
	}
	return destroys
}

// delicate reports whether the user is asked before a tool of that effect runs.
func (f *Facade) delicate(e effect) bool {
	switch f.o.Server.Confirm {
	case "writes":
		return e != reads
	case "destructive":
		return e == destroys
	}
	return false
}

func (f *Facade) isDelicate(t catalog.Tool) bool { return f.delicate(f.effectOf(t)) }

// guarded reports whether it matters what a tool does.
func (f *Facade) guarded() bool { return f.o.Server.Split || f.blocks() || f.delicate(destroys) }

// overruled is a tool as the upstream wrote it, but for annotations that the
// config contradicts.
func (f *Facade) overruled(t catalog.Tool) []byte {
	s := f.o.Server
	if !config.Match(s.Destructive, t.Name) && !config.Match(s.ReadOnly, t.Name) {
		return t.Raw
	}
	e := f.effectOf(t)
	if t.ReadOnly == (e == reads) && t.Destructive == (e == destroys) {
		return t.Raw
	}
	annotations := []byte("{}")
	if theirs := gjson.GetBytes(t.Raw, "annotations"); theirs.IsObject() {
		annotations = []byte(theirs.Raw)
	}
	annotations = hinted(annotations, "readOnlyHint", e == reads)
	annotations = hinted(annotations, "destructiveHint", e == destroys)
	return wire.SetMember(t.Raw, "annotations", annotations)
}

// hinted are annotations in which one is as it should be. What is not there is
// not true.
func hinted(annotations []byte, key string, is bool) []byte {
	switch {
	case is:
		return wire.SetMember(annotations, key, []byte("true"))
	case gjson.GetBytes(annotations, key).Exists():
		return wire.SetMember(annotations, key, []byte("false"))
	}
	return annotations
}

// hidden reports whether the config keeps a tool from the host and the model,
// whatever the case of its name and whatever invisible stands in it.
func (f *Facade) hidden(tool string) bool {
	return config.Match(f.o.Server.Hide, tool) || config.Match(f.o.Server.Hide, compact.Line(tool))
}

// hiddenBehind reports whether a name that is in no catalog may be made of that
// of a hidden tool: an upstream may understand what it does not list.
func (f *Facade) hiddenBehind(v *view, name string) bool {
	if len(f.o.Server.Hide) == 0 {
		return false
	}
	if up, ok := f.surfaceOf(v).names().upstream(name); ok && up == name {
		return false
	}
	return behind(f.o.Server.Hide, name)
}

// behind reports whether a name may be made of one that a glob matches: the first
// words of it may be somebody's prefix. One that is too long may be made of any.
func behind(globs []string, name string) bool {
	if len(name) > maxNameLength {
		return true
	}
	letters, starts := []rune(nil), []int(nil)
	for _, word := range lettered(name, "") {
		starts = append(starts, len(letters))
		letters = append(letters, []rune(word)...)
	}
	return slices.ContainsFunc(globs, func(glob string) bool {
		return endsLike(strings.Join(lettered(glob, "*?"), ""), letters, starts)
	})
}

// endsLike reports whether letters match a glob from one of starts on. What comes
// before the first star says where: at the first place that it matches, as from
// there on the rest has the most room; without a star, at the one that leaves as
// many letters.
func endsLike(glob string, letters []rune, starts []int) bool {
	head, _, starred := strings.Cut(glob, "*")
	n := utf8.RuneCountInString(head)
	for _, from := range starts {
		switch left := len(letters) - from; {
		case left < n, !starred && left > n, !config.Match([]string{head}, string(letters[from:from+n])):
		default:
			return config.Match([]string{glob}, string(letters[from:]))
		}
	}
	return false
}

// lettered are the parts of a name in lower case, of letters and digits, and
// of what else is kept.
func lettered(name, keep string) []string {
	return strings.FieldsFunc(strings.ToLower(compact.Line(name)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(keep, r)
	})
}
