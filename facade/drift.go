package facade

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/facade/config"
	"mcp-facade/facade/wire"
)

// A standing is how a listing stands to what the user has accepted of the tools.
// It does not change.
type standing struct {
	revision string            // of what is accepted
	news     []string          // the tools that are not accepted as they are, whatever they do; without those that are hidden
	added    int               // how many of them are new
	held     map[string]string // why a tool is withheld, by the upstream's name; nil: none is
	unknown  error             // why nothing could be compared
}

// blocks reports whether what destroys, or no longer only reads, runs only as it
// was accepted.
func (f *Facade) blocks() bool { return f.o.Server.Drift == "block" }

// errUnkept is why nothing can be compared without a file to compare with.
var errUnkept = errors.New("there is no place where it could be kept")

// unknownRevision is that of what cannot be read.
const unknownRevision = "unknown"

// revision names what is accepted now, if that shapes what a host is shown.
func (f *Facade) revision() string {
	switch {
	case !f.blocks():
		return ""
	case f.o.Accepted == nil:
		return unknownRevision
	}
	revision, err := f.o.Accepted.Revision()
	if err != nil {
		return unknownRevision
	}
	return revision
}

// standing compares tools with what is accepted of them.
func (f *Facade) standing(c *catalog.Catalog) *standing {
	is, err := f.accepted()
	return f.compared(c, is, err)
}

// judged compares tools that the upstream has just listed for a view with what is
// accepted of them. The first listing of all is accepted by itself. So are tools
// that are new with the first one of a view, as a host that can do more may be
// listed more, unless what destroys runs only as it was accepted, or the server was
// another one.
func (f *Facade) judged(ctx context.Context, v *view, c *catalog.Catalog) *standing {
	is, err := f.accepted()
	f.mu.Lock()
	known := v.known
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWait)
	defer cancel()
	switch {
	case err != nil || len(c.Tools()) == 0:
	case !known && !f.blocks() && (is == nil || !is.Inherited):
		is, err = f.o.Accepted.Add(ctx, c.Tools())
	case is == nil:
		is, err = f.o.Accepted.First(ctx, c.Tools())
	}
	return f.compared(c, is, err)
}

// compared is the standing of tools to what is accepted; nil, without an error:
// nothing yet.
func (f *Facade) compared(c *catalog.Catalog, is *catalog.Acceptance, err error) *standing {
	switch {
	case err != nil:
		return f.uncompared(c, err)
	case is == nil:
		return &standing{}
	}
	s := &standing{}
	if f.blocks() {
		s.revision = is.Revision
	}
	for _, t := range c.Tools() {
		was, parts, known := is.Nearest(t)
		if known && parts == nil || f.hidden(t.Name) {
			continue
		}
		s.news = append(s.news, t.Name)
		if !known {
			s.added++
		}
		if f.blocks() && f.isGrave(t, is.Forms(was.Name)) {
			s.hold(t.Name, driftOf(parts, known))
		}
	}
	return s
}

// accepted is what the user has accepted; nil, without an error: nothing yet.
func (f *Facade) accepted() (*catalog.Acceptance, error) {
	if f.o.Accepted == nil {
		return nil, errUnkept
	}
	return f.o.Accepted.Load()
}

// uncompared is the standing of tools of which nobody knows what was accepted:
// where that counts, any of them may have destroyed.
func (f *Facade) uncompared(c *catalog.Catalog, why error) *standing {
	s := &standing{unknown: why}
	if !f.blocks() {
		return s
	}
	s.revision = unknownRevision
	for _, t := range c.Tools() {
		if !f.saysReads(t.Name) && !f.hidden(t.Name) {
			s.hold(t.Name, "what the user has accepted of it is not known: "+f.plain(why))
		}
	}
	return s
}

func (s *standing) hold(tool, why string) {
	if s.held == nil {
		s.held = map[string]string{}
	}
	s.held[tool] = why
}

// isGrave reports whether a change of a tool from the forms that were accepted may
// do harm: it destroys or did so in one of them, as it does not become harmless by
// the loss of a mark, or it only read in one of them and does no longer.
func (f *Facade) isGrave(t catalog.Tool, forms []catalog.Tool) bool {
	now := f.effectOf(t)
	return now == destroys || slices.ContainsFunc(forms, func(form catalog.Tool) bool {
		was := f.effectOf(form)
		return was == destroys || was == reads && now != reads
	})
}

// saysReads reports whether the config says that a tool only reads.
func (f *Facade) saysReads(tool string) bool {
	s := f.o.Server
	return config.Match(s.ReadOnly, tool) && !config.Match(s.Destructive, tool)
}

// isSafe reports whether a listed tool only reads because the config says so.
func (f *Facade) isSafe(v *view, tool string) bool {
	up, listed := f.surfaceOf(v).names().upstream(tool)
	return listed && up == tool && f.saysReads(tool)
}

// bind lets a call be sent only on the connection that has listed its tool.
func (f *Facade) bind(p *pending) {
	if !f.blocks() || f.isSafe(p.view, p.tool) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p.bound, p.judged = true, p.view.source
}

// rejudge takes a call that the guard has let pass on a connection that has ended:
// the next one may be to another server.
func (f *Facade) rejudge(ctx context.Context, p *pending) {
	down := f.witness(ctx, p.view)
	err := f.drifts(&invocation{view: p.view, tool: p.tool, relisted: true})
	switch {
	case err == errHearsay:
		f.fail(p, cmp.Or(down, errUnjudged))
	case err != nil:
		f.fail(p, errUnjudged)
	default:
		f.bind(p)
		f.dispatch(ctx, p)
	}
}

// errUnjudged is why a call is not sent on another connection.
var errUnjudged = errors.New("the server was started anew, and the tool is not certainly what the user has accepted")

// driftOf says how a tool is not what was accepted.
func driftOf(parts []catalog.Part, known bool) string {
	if !known {
		return "it is new, and the user has not accepted it"
	}
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = string(p)
	}
	return "its " + strings.Join(names, " and ") + " changed since the user accepted it"
}

// withheld refuses a tool that is not what the user has accepted, and what the
// upstream does not list, of which nobody can know that; nil for any other. The
// view must be as the connection in use has listed it.
func (f *Facade) withheld(v *view, tool string) error {
	if err := f.heldBack(v, tool); err != nil {
		return err
	}
	if up, listed := f.surfaceOf(v).names().upstream(tool); (!listed || up != tool) && f.effect(v, tool) != reads {
		return f.unknown(v, tool)
	}
	return nil
}

// heldBack refuses what is the name of a tool that is withheld, or may be made of
// it; nil for any other.
func (f *Facade) heldBack(v *view, name string) error {
	s := f.surfaceOf(v)
	held := s.held()
	if why, ok := held[name]; ok {
		return f.unaccepted(s, name, why)
	}
	if up, ok := s.names().upstream(name); ok && up == name || isTooLong(name) {
		return nil
	}
	for tool, why := range held {
		if behind([]string{plainGlob(tool)}, name) {
			return f.unaccepted(s, tool, why)
		}
	}
	return nil
}

// plainGlob is a name for behind, which stands for itself alone.
func plainGlob(name string) string { return strings.Join(lettered(name, ""), "") }

// unaccepted is what a model is told of a tool that a surface withholds. After another
// acceptance it is another refusal.
func (f *Facade) unaccepted(s *surface, tool, why string) error {
	next := "Do not look for a way round it: tell the user, to whom `%s` shows it, and who can accept it with `%s`."
	if f.isForPerson() {
		next = "`%s` shows it, and `%s` accepts it."
	}
	return &recurring{tool: tool, reason: "withheld " + s.accepted, error: &refusal{fmt.Sprintf("%s is withheld: %s.", spelled(tool), why),
		fmt.Sprintf(next, f.o.Refreshing(false), f.o.Refreshing(true))}}
}

// unlistable refuses a call of what the upstream has not listed on the connection
// in use.
func (f *Facade) unlistable(c *invocation) error {
	return &refusal{fmt.Sprintf("%s was not called: %s could not list its tools, so nobody knows whether it is what the user has accepted.", spelled(c.tool), f.name()), tryAgain}
}

// Refreshing is the command by which a person sees what has changed, or accepts
// it.
func (o *Options) Refreshing(accept bool) string {
	if accept {
		return o.command("refresh", "--accept")
	}
	return o.command("refresh")
}

// command is a subcommand of ours for this server.
func (o *Options) command(name string, words ...string) string {
	again := []string{cmp.Or(o.Again, o.Server.Name)}
	if strings.HasPrefix(o.Again, "-") { // flags stand last, as what follows -- has to
		again, words = words, again
	}
	return strings.Join(slices.Concat([]string{"mcp-facade", name}, again, words), " ")
}

// compareAgain compares the tools of a view once more if some are withheld and other
// ones are accepted by now. If some are withheld all the same, the upstream is to be
// asked: the user may have been listed what this view was not.
func (f *Facade) compareAgain(v *view) {
	f.mu.Lock()
	s, all, pages, handshake := v.surface, v.all, v.pages, v.handshake
	f.mu.Unlock()
	if s == nil || len(s.held()) == 0 || !f.outdated(v) {
		return
	}
	is, err := f.accepted()
	if all == nil && pages != nil {
		if stored, err := pages("tools/list"); err == nil {
			all = f.parsed(stored, slog.LevelDebug)
		}
	}
	if is == nil || err != nil || all == nil {
		return // the next listing will be compared
	}
	stands := f.compared(all, is, nil)
	c := f.catalog(v.key.Era, all, stands, slog.LevelDebug)
	now := f.renderAs(c, handshake, stands)
	changed := false
	f.mu.Lock()
	if v.surface == s { // else there is a new listing
		changed = v.serve(c, now)
		if stands.held != nil {
			v.due, v.fresh, v.source = true, false, nil
		}
	}
	f.mu.Unlock()
	if changed {
		f.announce(v)
	}
}

// isCertain reports whether the view is as the connection in use has listed it,
// and was compared with what is accepted now, unless that was just done.
func (f *Facade) isCertain(c *invocation) bool {
	outdated := !c.relisted && f.outdated(c.view)
	f.mu.Lock()
	defer f.mu.Unlock()
	if outdated {
		c.view.source = nil
	}
	return f.witnessed(c.view)
}

// outdated reports whether other tools are accepted than when the surface was
// made.
func (f *Facade) outdated(v *view) bool {
	now := f.revision()
	f.mu.Lock()
	defer f.mu.Unlock()
	return v.surface != nil && v.surface.accepted != now
}

// warnOfDrift says once that the upstream lists what the user has not accepted.
func (f *Facade) warnOfDrift(s *standing) {
	if len(s.news) == 0 && s.unknown == nil || s.unknown == errUnkept && !f.blocks() {
		return
	}
	f.drifted.Do(func() {
		if s.unknown != nil {
			f.log.Warn("tools not compared with those that were accepted", "err", f.plain(s.unknown), "withheld", len(s.held), "try", f.o.Refreshing(true))
			return
		}
		f.log.Warn("tools are not as they were accepted", "added", s.added, "changed", len(s.news)-s.added, "withheld", len(s.held),
			"tools", f.masked(few(s.news)), "try", f.o.Refreshing(false))
	})
}

// few are some names, and how many more there are.
func few(names []string) string {
	if len(names) <= maxShown {
		return exactNames(names)
	}
	return fmt.Sprintf("%s and %d more", exactNames(names[:maxShown]), len(names)-maxShown)
}

// Standing says of the tools of a catalog, as it was listed, which are not as the
// user has accepted them, and which of them are withheld and why, by their names.
// The error is why nothing could be compared.
func Standing(s *config.Server, accepted *catalog.Accepted, c *catalog.Catalog) (news []string, held map[string]string, err error) {
	f := New(Options{Server: s, Accepted: accepted})
	all := f.standing(c)
	return all.news, all.held, all.unknown
}

// renderAs makes the surface of a catalog of which some tools are withheld.
func (f *Facade) renderAs(c *catalog.Catalog, handshake []byte, s *standing) *surface {
	rendered := f.render(c, handshake)
	if s.revision == "" && s.held == nil {
		return rendered
	}
	withheld := slices.Sorted(maps.Keys(s.held))
	b := wire.SetMember(rendered.json, "held", appendPairs(nil, withheld, func(tool string) string { return s.held[tool] }))
	return openSurface(wire.SetMember(b, "accepted", wire.AppendString(nil, s.revision)))
}
