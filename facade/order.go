package facade

import (
	"fmt"
	"slices"

	"mcp-facade/catalog"

	"github.com/tidwall/gjson"
)

// An order is what a call is to be sent as.
type order struct {
	tool string   // the upstream's name
	args string   // a raw object; "" for none
	bent []string // what was taken otherwise than it was sent
	odd  bool     // it does not look like a call of that tool, but the upstream may take it

	nameless bool // no tool is named, so that no catalog can help
}

// plain reports whether the order is what was sent, without a doubt.
func (o *order) plain() bool { return o.bent == nil && !o.odd }

// beside reports whether what stands beside the name of the tool are its
// arguments.
func (o *order) beside() bool { return slices.Contains(o.bent, besideTool) }

// understand finds out what a model wants with what it has sent to call: that
// as it is, if it fits; else the only other reading of it that does. With blind
// nothing is refused for its name or its arguments that can be sent.
func (f *Facade) understand(v *view, s *surface, given gjson.Result, blind bool) (order, error) {
	r := &reader{f: f, s: s, own: f.ownNames(v), blind: blind}
	if c, err := f.tools(v); err == nil {
		r.memo = f.memoOf(c)
	}
	p := place{envelope: open(held(given))}
	if given.Type == gjson.String {
		p.bent = []string{"string"}
	}
	r.read(p)
	switch {
	case len(r.all) == 0:
		return order{nameless: r.unknown == nil && !r.keyed}, r.nothing(v)
	case blind:
		return r.likeliest()
	}
	return r.judged()
}

// tools are the tools that a name may mean, and whether it is the name of one.
func (r *reader) tools(name string) (tools []string, exact bool) {
	if isTooLong(name) {
		return nil, false
	}
	_, exact = r.s.names().upstream(name)
	if r.memo != nil {
		var foreign bool
		tools, foreign = r.f.meant(r.own, r.s, r.memo, name)
		tools = slices.DeleteFunc(tools, func(tool string) bool { return foreign && !r.reads(tool) })
	}
	if len(tools) == 0 && r.blind && r.meta(name) == "" {
		return []string{name}, true
	}
	return tools, exact
}

// tool is a tool of the catalog; one that is not there has its name only.
func (r *reader) tool(name string) catalog.Tool {
	if r.memo != nil {
		if t, ok := r.memo.catalog.Lookup(name); ok {
			return t
		}
	}
	return catalog.Tool{Name: name}
}

func (r *reader) shape(name string) *shape {
	t := r.tool(name)
	if r.memo == nil || t.Raw == nil {
		return shapeOf(nil)
	}
	return r.memo.shape(t)
}

// meta is the meta-tool that a name means, "" if it means none.
func (r *reader) meta(name string) string {
	if isTooLong(name) {
		return ""
	}
	for _, bare := range unprefixed(r.own, name, nil) {
		for kind, shown := range r.s.kind {
			if fold(bare) == kind || fold(bare) == fold(shown) {
				return kind
			}
		}
	}
	return ""
}

// nothing is why there is no reading: no tool is named, or an unknown one.
func (r *reader) nothing(v *view) error {
	if r.unknown == nil {
		return unnamed(r.s)
	}
	name := r.unknown[0]
	if kind := r.meta(name); kind != "" {
		return r.f.beside(r.s, kind)
	}
	return r.f.unknown(v, name)
}

// likeliest is the order of the first reading that fits and leaves nothing out;
// failing that, of the first that fits, or of the first.
func (r *reader) likeliest() (order, error) {
	best := &r.all[0]
	for _, good := range []func(reading) bool{
		func(r reading) bool { return r.fits() && len(r.astray) == 0 },
		func(r reading) bool { return r.fits() },
	} {
		if i := slices.IndexFunc(r.all, good); i >= 0 {
			best = &r.all[i]
			break
		}
	}
	if best.kind != 0 || best.server != "" || len(best.astray) > 0 {
		return order{}, r.f.unfit(r.s, r.tool(best.tool), best)
	}
	return order{tool: best.tool, args: best.raw, bent: best.bent}, nil
}

// judged is the order of the only reading that fits, or why there is none. What
// stands where it belongs and is not certainly wrong is sent as it is.
func (r *reader) judged() (order, error) {
	fit := r.fitting()
	whole := slices.DeleteFunc(slices.Clone(fit), func(r reading) bool { return len(r.astray) > 0 })
	asGiven := slices.IndexFunc(r.all, func(r reading) bool {
		return r.given && r.kind == 0 && r.server == "" && r.misfit.refused() == 0 && len(r.astray) == 0
	})
	switch {
	case r.ambiguous != "":
		return order{}, undecided(fmt.Sprintf("%s may mean %d tools, so none was called.", quotedName(r.ambiguous), len(r.one())), r.s, r.one())
	case len(whole) == 1:
		return order{tool: whole[0].tool, args: whole[0].raw, bent: whole[0].bent}, nil
	case len(fit) > 1:
		return order{}, undecided(fmt.Sprintf("The call can be read in %d ways, so none was taken.", len(fit)), r.s, fit)
	case len(fit) == 0 && asGiven >= 0:
		g := &r.all[asGiven]
		return order{tool: g.tool, args: g.sent, bent: g.bent, odd: true}, nil
	}
	best := r.best()
	if len(fit) == 1 {
		best = &fit[0]
	}
	return order{}, r.f.unfit(r.s, r.tool(best.tool), best)
}

// fitting are the readings that fit, each once. One that is found twice leaves
// out only what it leaves out both times.
func (r *reader) fitting() (fit []reading) {
	for _, found := range r.all {
		same := func(other reading) bool {
			return other.tool == found.tool && ugly(gjson.Parse(other.raw)) == ugly(gjson.Parse(found.raw))
		}
		switch i := slices.IndexFunc(fit, same); {
		case !found.fits():
		case i >= 0:
			fit[i].astray = slices.DeleteFunc(fit[i].astray, func(m part) bool { return !slices.ContainsFunc(found.astray, m.is) })
		default:
			fit = append(fit, found)
		}
	}
	return fit
}

// one are the readings, one of each tool.
func (r *reader) one() (all []reading) {
	for _, found := range r.all {
		if !slices.ContainsFunc(all, func(other reading) bool { return other.tool == found.tool }) {
			all = append(all, found)
		}
	}
	return all
}

// best is the reading that is nearest to a call of its tool, the innermost of
// several.
func (r *reader) best() *reading {
	best := &r.all[0]
	for i := range r.all {
		if r.all[i].likeness() >= best.likeness() {
			best = &r.all[i]
		}
	}
	return best
}

// likeness is how much of a reading is right.
func (r *reading) likeness() int { return r.misfit.known - len(r.misfit.missing) }
