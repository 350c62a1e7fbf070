package facade

import (
	"slices"

	"github.com/tidwall/gjson"
)

// A reading is one way to understand what a model has sent to call.
type reading struct {
	tool   string   // the upstream's name
	shape  *shape   // of its arguments
	args   []part   // as they were sent
	sent   string   // the same in JSON; "" where there are none
	raw    string   // as they would be passed on
	misfit misfit   // what is wrong with them
	astray []part   // what stands elsewhere and is left out, though it may be meant for the tool
	bent   []string // what is taken otherwise than it was sent, for the log
	kind   kinds    // what stands under "args" and can be no arguments; 0: nothing
	server string   // another server that the tool is said to be of
	given  bool     // the arguments are what stands under "args"
}

// fits reports whether the arguments fit the tool, as far as that is certain.
func (r *reading) fits() bool { return r.kind == 0 && r.server == "" && r.misfit.fits() }

// A place is an envelope in which the arguments of a tool are looked for.
type place struct {
	envelope
	name  part // the member that names the tool
	tool  string
	shape *shape
	bent  []string
	outer []envelope // what stands beside it in the others that it is in
	inner bool       // it stands where the arguments of the tool may stand
}

// bend is the place if one more thing is taken otherwise than it was sent.
func (p place) bend(how string) place {
	p.bent = append(slices.Clone(p.bent), how)
	return p
}

// deeper is an envelope within the place, in which something stays behind.
func (p place) deeper(e, behind envelope) place {
	p = p.bend("nested")
	p.outer = append(slices.Clone(p.outer), behind)
	p.envelope = e
	return p
}

// within is the envelope that a member of the place holds.
func (p place) within(m part) place { return p.deeper(open(held(m.value)), p.without(m)) }

// isDeepest reports whether no further envelope is looked for in the place.
func (p *place) isDeepest() bool { return len(p.outer) == maxNesting }

// opens reports whether the place may hold arguments under a key: one that is a
// parameter of the tool does not.
func (p *place) opens(m part) bool { return !p.shape.knows(m.key) }

// maxNesting is how often an envelope is looked for in another.
const maxNesting = 2

// A reader finds the readings of one call.
type reader struct {
	f     *Facade
	s     *surface
	memo  *memo    // nil: there is no catalog
	own   []string // what the server is called
	blind bool     // a name that is in no catalog is taken for that of a tool

	all       []reading
	ambiguous string   // a name that may mean several tools
	unknown   []string // names that mean no tool
	keyed     bool     // there is a key that may be the name of a tool
}

// read finds the readings of an envelope.
func (r *reader) read(p place) {
	if inner := p.call(); inner.Exists() && !p.isDeepest() {
		r.read(p.deeper(open(inner).adopting(p.envelope)))
		return
	}
	if call, ok := p.byKey(); ok {
		r.keyed = true
		if r.means(call.tool.value.Str) {
			p.envelope = call
			p = p.bend("tool as key")
		}
	}
	named := false
	for _, name := range p.naming() {
		named = r.named(p, name) || named
	}
	if named || p.isDeepest() {
		return
	}
	for _, m := range p.holders() {
		r.read(p.within(m))
	}
}

// named finds the readings with one member for the name of the tool. It reports
// false if that names no tool but call, and so says nothing.
func (r *reader) named(p place, name part) bool {
	said := name.value.Str
	tools, exact := r.tools(said)
	switch {
	case len(tools) == 0 && isRunner(r.meta(said)):
		return false
	case len(tools) == 0:
		r.unknown = append(r.unknown, said)
	case len(tools) > 1:
		r.ambiguous = said
	}
	if roleOf(name.key) != aTool {
		p = p.bend("tool as " + name.key)
	}
	if !exact {
		p = p.bend("other name")
	}
	switch args := (part{key: "args", at: -1, value: swallowed(said)}); {
	case !p.args.value.Exists():
		p.args = args
	case args.value.Exists():
		args.key = "arguments"
		p.boxes = append(slices.Clone(p.boxes), args)
	}
	for _, tool := range tools {
		p.name, p.tool, p.shape = name, tool, r.shape(tool)
		r.arguments(p)
	}
	return true
}

// means reports whether a name means a tool.
func (r *reader) means(name string) bool {
	tools, _ := r.tools(name)
	return len(tools) > 0 && !r.blind
}

// arguments finds the readings of a place. What stands under "args" wins.
func (r *reader) arguments(p place) {
	args := p.args.value
	object := held(args)
	switch {
	case p.inner && !p.opens(p.args):
		p.rest, p.args = append(slices.Clone(p.rest), p.args), part{}
		r.elsewhere(p)
	case object.Exists() && !isEmpty(object):
		if !r.take(p, p.args, p.args) {
			r.nested(p, p.args)
			r.bare(p)
		}
	case isBlank(args) && p.opens(p.args):
		p.args = part{}
		r.elsewhere(p.bend("blank args"))
	case args.Exists() && !object.Exists():
		if p.opens(p.args) || !r.bare(p) {
			r.all = append(r.all, reading{tool: p.tool, shape: p.shape, bent: p.bent, kind: kindOf(args),
				misfit: p.shape.judge(nil), astray: append([]part{p.args}, r.left(&p, p.args)...)})
		}
	default:
		r.elsewhere(p)
	}
}

// elsewhere finds the readings of a place with nothing under "args".
func (r *reader) elsewhere(p place) {
	alone := len(p.boxes) == 0 && len(r.bareOf(&p)) == 0
	if (alone || p.args.value.Exists()) && r.take(p, p.args, p.args) {
		return
	}
	for _, box := range p.boxes {
		boxed := p.bend("args as " + box.key)
		if p.opens(box) && !r.take(boxed, box, box) {
			r.nested(boxed, box)
		}
	}
	r.bare(p)
}

// nested finds the readings of arguments that are an envelope again: of the
// same tool, or of nothing but arguments.
func (r *reader) nested(p place, holder part) {
	if p.isDeepest() {
		return
	}
	p = p.within(holder)
	p.inner = true
	opens := slices.ContainsFunc(p.holders(), p.opens)
	for _, name := range p.naming() {
		if tools, _ := r.tools(name.value.Str); slices.Contains(tools, p.tool) && (opens || p.opens(name)) {
			p.name = name
			r.arguments(p)
			return
		}
	}
	only := p.only()
	if call, ok := p.byKey(); ok && p.opens(call.args) {
		if tools, _ := r.tools(call.args.key); slices.Contains(tools, p.tool) {
			only, opens = call.args, true
		}
	}
	if opens && only.value.Exists() && !r.take(p, only, only) {
		r.nested(p, only)
	}
}

// bare takes for arguments what stands beside the name of the tool. It reports
// whether that is a reading that fits.
func (r *reader) bare(p place) bool {
	members := r.bareOf(&p)
	if len(members) == 0 {
		return false
	}
	return r.take(p.bend(besideTool), part{at: -1, value: object(members)}, members...)
}

// besideTool is how arguments are bent that stand beside the name of the tool.
const besideTool = "beside tool"

// take notes the reading in which a member, made of those that are taken, holds
// the arguments. It reports whether that is one that fits: one that does is not
// looked for further in the same place, but refused if it leaves something out.
func (r *reader) take(p place, m part, taken ...part) bool {
	object := held(m.value)
	args := members(object)
	raw := p.shape.unpacked(object, args)
	if m.value.Type == gjson.String || raw != object.Raw {
		p = p.bend("string")
	}
	found := reading{
		tool: p.tool, shape: p.shape, bent: p.bent,
		args: args, sent: object.Raw, raw: raw,
		misfit: p.shape.judge(args), astray: r.left(&p, taken...),
		given: p.outer == nil && m.is(p.args), server: r.elsewhereOf(&p, taken),
	}
	found.astray = slices.DeleteFunc(found.astray, func(other part) bool { return r.repeats(&p, other, object) })
	r.all = append(r.all, found)
	return found.fits()
}
