package facade

import (
	"fmt"
	"slices"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// A refusal is why a call was not sent, and what to do instead, in words for
// the model.
type refusal struct {
	what string
	next string
}

func (r *refusal) Error() string {
	between := " "
	if strings.Contains(r.next, "\n") {
		between = "\n"
	}
	if r.next == "" {
		return r.what + between + noResult
	}
	return r.what + between + r.next + between + noResult
}

// noResult keeps a model from going on as if it had an answer.
const noResult = "No result was obtained; do not answer from memory."

// tryAgain is what a model can do about an upstream that cannot be asked.
const tryAgain = "Try again in a moment; if that does not help, tell the user."

// unknown refuses a name that is not in the catalog.
func (f *Facade) unknown(v *view, name string) error {
	r := &refusal{what: fmt.Sprintf("Tool %s is not in %s's catalog.", quoted(name), f.name())}
	discover := f.surfaceOf(v).kind["discover"]
	r.next = fmt.Sprintf("Call %s with what you want to do.", discover)
	if c, err := f.tools(v); err == nil {
		if near := f.near(c, name); len(near) > 0 {
			r.next = fmt.Sprintf("Nearest: %s. Call %s with what you want to do, or call one of these.", joined(near), discover)
		}
	}
	return r
}

// near are the tools whose names are spelled most like a name or, if there are
// none, like what is left of it without a prefix or a tag.
func (f *Facade) near(c *catalog.Catalog, name string) (names []string) {
	bare, _ := cutTag(name)
	for _, name := range append([]string{name}, f.unprefixed(bare, serverEnds())...) {
		if len(names) == 0 {
			names = c.Nearest(name, 3)
		}
	}
	return names
}

// unnamed refuses a call that names no tool.
func unnamed(s *surface) error {
	return &refusal{`"tool" is missing: the name of the tool to run, a string.`, s.kind["discover"] + " finds names."}
}

// beside refuses a call of a meta-tool by call.
func (f *Facade) beside(s *surface, kind string) error {
	name := s.kind[kind]
	return &refusal{name + " is no tool of " + f.name() + ".", "Call it itself, not by " + runners(s.kind) + "."}
}

// undecided refuses a call that can be read in several ways, and shows them.
func undecided(why string, s *surface, all []reading) error {
	var lines []string
	for _, r := range all[:min(len(all), maxShown)] {
		lines = append(lines, callOf(r.tool, r.brief()))
	}
	return &refusal{why, strings.Join(lines, "\n") + "\nUse " + runners(s.kind) + " with the one that is meant."}
}

// brief are the arguments of a reading, without long values.
func (r *reading) brief() string {
	e := exampler{values: map[string]string{}}
	for _, m := range members(gjson.Parse(r.raw)) {
		e.set(m.key, r.shape.brief(m))
	}
	return e.object()
}

// maxShown is how many of several things are shown.
const maxShown = 5

func orNothing(raw string) string {
	if raw == "" {
		return "{}"
	}
	return raw
}

// callOf is what to send to call to run a tool.
func callOf(tool, args string) string {
	return visible(`{"tool":` + string(wire.AppendString(nil, tool)) + `,"args":` + args + `}`)
}

// unfit refuses arguments that the tool certainly does not take.
func (f *Facade) unfit(s *surface, t catalog.Tool, r *reading) error {
	what := spelled(t.Name) + " was not called: " + strings.Join(r.faults(), "; ") + "."
	args := r.shape.example(r.meant())
	head := "Corrected example for " + f.runnerOf(s, t)
	if strings.Contains(args, `"<`) {
		head += ", with your values for what stands in <>"
	}
	example := head + ":\n" + callOf(t.Name, args)
	why := &recurring{tool: t.Name, reason: strings.Join(append(slices.Clone(r.misfit.missing), "arguments"), "\n"),
		error: &refusal{what, "Signature: " + compact.Signature(t.Name, t.InputSchema, t.Description) + "\n" + example}}
	if t.Raw != nil {
		why.full = func() error {
			return &refusal{what, "All about it:\n" + f.description([]catalog.Tool{t}, false) + "\n" + example}
		}
	}
	return why
}

// meant is what may be meant for the tool. What can be no arguments has no name.
// Text that is more than a value is left out: it would be taken for one.
func (r *reading) meant() (all []part) {
	if r.kind == 0 {
		return append(r.unwrapped(r.astray, maxPacking), r.unwrapped(r.args, maxPacking)...)
	}
	value := r.astray[0].value
	if strings.HasPrefix(value.Str, "-") || strings.ContainsAny(value.Str, "{}[]<>=`\n") {
		return nil
	}
	return []part{{value: value}}
}

// unwrapped are parts with what is in those that hold arguments in their place, to
// some depth, so that no example shows an envelope within another to be imitated.
func (r *reading) unwrapped(parts []part, depth int) (all []part) {
	for _, m := range parts {
		switch {
		case r.shape.knows(m.key) || !m.isBox() && roleOf(m.key) != theArgs || !held(m.value).Exists():
			all = append(all, m)
		case depth > 0:
			all = append(all, r.unwrapped(members(held(m.value)), depth-1)...)
		}
	}
	return all
}

// faults says what is wrong with a reading.
func (r *reading) faults() (all []string) {
	if r.kind != 0 {
		return []string{fmt.Sprintf(`"args" is %s; it must be an object`, r.kind)}
	}
	for _, name := range r.misfit.missing {
		all = append(all, quoted(name)+" is missing"+r.shape.values(name))
	}
	for i, name := range r.strangers() {
		if i == maxShown {
			all = append(all, "so are others")
			break
		}
		all = append(all, quoted(name)+" is no parameter"+r.shape.like(name))
	}
	if !r.given {
		all = append(all, `what is meant for the tool belongs under "args"`)
	}
	return all
}

// strangers are the names that are not known: those that are not allowed, or
// all if none is known.
func (r *reading) strangers() []string {
	if !r.misfit.alien {
		return r.misfit.unknown
	}
	var all []string
	for _, m := range r.args {
		all = append(all, m.key)
	}
	return all
}

// maxValues is how many values of an enum are told.
const maxValues = 20

// values tells which values a parameter takes, if they are listed.
func (s *shape) values(name string) string {
	all := s.plain(s.schemas[name]).Get("enum").Array()
	var some []string
	for _, v := range all[:min(len(all), maxValues)] {
		some = append(some, visible(cut(ugly(v), maxQuoted, "...")))
	}
	switch {
	case some == nil:
		return ""
	case len(all) > len(some):
		some = append(some, fmt.Sprintf("%d more", len(all)-len(some)))
	}
	return " (one of " + strings.Join(some, ", ") + ")"
}

// like tells which parameter is spelled most like a name.
func (s *shape) like(name string) string {
	near := nearestNames(name, s.names, 1)
	if len(near) == 0 {
		return ""
	}
	return " (nearest: " + quoted(near[0]) + ")"
}
