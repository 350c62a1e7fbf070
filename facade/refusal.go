package facade

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/config"
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

// isForPerson reports whether a person calls at a command line: then what to do
// next is a command.
func (f *Facade) isForPerson() bool { return f.o.Server.ConfirmBy == config.ByFlag }

// ForPerson is what a person at a command line is told, without what is for a
// model.
func ForPerson(text string) string {
	for _, end := range []string{noResult, tryAgain} {
		text = strings.TrimSpace(strings.TrimSuffix(text, end))
	}
	return text
}

// tryAgain is what a model can do about an upstream that cannot be asked.
const tryAgain = "Try again in a moment; if that does not help, tell the user."

// unknown refuses a name that is not in the catalog, because there is no such tool
// or because it is withheld.
func (f *Facade) unknown(v *view, name string) error {
	if err := f.heldBack(v, name); err != nil {
		return err
	}
	r := &refusal{what: fmt.Sprintf("Tool %s is not in %s's catalog.", quotedName(name), f.name())}
	s := f.surfaceOf(v)
	search := fmt.Sprintf("Call %s with what you want to do", s.kind["discover"])
	switch {
	case f.isForPerson():
		search = fmt.Sprintf("`%s` finds tools", f.o.command("discover", "WORDS"))
	case !s.offered:
		search = "Call a tool that is listed"
	}
	r.next = search + "."
	if isTooLong(name) {
		return r
	}
	own := f.ownNames(v)
	if c, err := f.tools(v); err == nil {
		if near := f.near(own, s, c, name); len(near) > 0 {
			r.next = fmt.Sprintf("Nearest: %s. %s, or call one of these.", joined(near), search)
			if f.isForPerson() {
				r.next = fmt.Sprintf("Nearest: %s. %s.", joined(near), search)
			}
		}
	}
	return &recurring{error: r, reason: "unknown " + folded(own, name)}
}

// near are the tools that a name would mean if it were one of this server's;
// failing that, those whose names are spelled most like it or, if there are none,
// like what is left of it without a prefix or a tag.
func (f *Facade) near(own []string, s *surface, c *catalog.Catalog, name string) (names []string) {
	bare, _ := cutTag(name)
	if names, _ = f.meant(own, s, f.memoOf(c), bare); names != nil {
		return names
	}
	tried := append([]string{bare}, unprefixed(own, bare, serverEnds())...)
	for _, name := range tried[:min(len(tried), maxTried)] {
		if len(names) == 0 {
			names = c.Nearest(name, 3)
		}
	}
	return names
}

// maxTried is how many forms of a name are compared with those of all tools.
const maxTried = 12

// unnamed refuses a call that names no tool.
func unnamed(s *surface) error {
	return &refusal{`"tool" is missing: the name of the tool to run, a string.`, s.whereNames()}
}

// whereNames says where a model finds the names of tools. Where the meta-tools are
// not offered, all are listed.
func (s *surface) whereNames() string {
	if s.offered {
		return s.kind["discover"] + " finds names."
	}
	return "All tools are listed."
}

// beside refuses a call of a meta-tool by call.
func (f *Facade) beside(s *surface, kind string) error {
	name := s.kind[kind]
	if f.isForPerson() {
		return &refusal{name + " is no tool of " + f.name() + ".", "Use `" + f.o.command(kind) + "`."}
	}
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
	e := exampler{shape: r.shape, values: map[string]string{}, inside: map[string][]part{}}
	for _, m := range members(gjson.Parse(r.raw)) {
		e.set(m.key, r.shape.brief(m))
	}
	for _, m := range r.astray {
		if !m.isBox() && roleOf(m.key) == aStray {
			e.place(m)
		}
	}
	return e.object()
}

// maxShown is how many of several things are shown.
const maxShown = 5

// quotedWord is a word as a shell takes it.
func quotedWord(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:") == "" && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(visible(word), "'", `'\''`) + "'"
}

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
	if r.contradicts() {
		one, other := r.shape.exampleFor(t.Name, r.unwrapped(r.args, maxPacking)), r.shape.exampleFor(t.Name, r.meant())
		return &refusal{what, "Two values are given for one parameter:\n" + callOf(t.Name, one.object()) + "\n" + callOf(t.Name, other.object()) +
			"\nUse " + f.runnerOf(s, t) + " with the one that is meant."}
	}
	e := r.shape.exampleFor(t.Name, f.withoutConsent(r, t))
	lost := e.keep()
	example := "Corrected example for " + f.runnerOf(s, t) + e.yours() + ":\n" + callOf(t.Name, e.object())
	if f.isForPerson() {
		example = "Corrected" + e.yours() + ":\n" + f.o.command("call", quotedWord(t.Name), quotedWord(e.object()))
	}
	if len(lost) > 0 && !e.isOpen() && f.effectOf(t) != reads {
		example = without(lost)
	}
	if r.server != "" {
		example = "If " + spelled(t.Name) + " of " + f.name() + " is meant, do not name another server."
	}
	if f.consentAstray(r, t) {
		what = strings.TrimSuffix(what, ".") + `; "confirm" belongs beside "tool", as the boolean true.`
		example = consenting(example)
	}
	why := &recurring{tool: t.Name, reason: strings.Join(append(slices.Clone(r.misfit.missing), "arguments"), "\n"),
		error: &refusal{what, "Signature: " + compact.Signature(t.Name, t.InputSchema, t.Description) + "\n" + example}}
	if t.Raw != nil {
		why.full = func() error {
			return &refusal{what, "All about it:\n" + f.description([]catalog.Tool{t}, false) + "\n" + example}
		}
	}
	return why
}

// without says what a tool does not take. An example that leaves it out would be
// imitated, though it may do more than was asked for.
func without(lost []part) string {
	var names []string
	for _, m := range lost {
		names = append(names, quoted(cmp.Or(m.key, m.value.String())))
	}
	return "It has no place for " + strings.Join(names, ", ") + ". Call it without only if the user wants it so; else do not call it."
}

// contradicts reports whether something is left out that is another value of an
// argument.
func (r *reading) contradicts() bool {
	return r.kind == 0 && slices.ContainsFunc(r.unwrapped(r.astray, maxPacking), func(m part) bool {
		return slices.ContainsFunc(r.args, func(a part) bool { return a.key == m.key && ugly(a.value) != ugly(m.value) })
	})
}

// yours says which values of an example are for the model to give, "" if none.
func (e *exampler) yours() string {
	var all []string
	if e.isOpen() {
		all = []string{"what stands in <>"}
	}
	if e.madeUp {
		all = append(all, "what you did not send")
	}
	if all == nil {
		return ""
	}
	return ", with your values for " + strings.Join(all, " and ")
}

// meant is what may be meant for the tool. What can be no arguments has no name.
// Text that is more than a value is left out: it would be taken for one.
func (r *reading) meant() (all []part) {
	if r.kind == 0 {
		return append(r.unwrapped(r.astray, maxPacking), r.unwrapped(r.args, maxPacking)...)
	}
	value := r.astray[0].value
	all = r.unwrapped(r.astray[1:], maxPacking)
	if said := saidIn(value.Str); said != nil {
		return append(said, all...)
	}
	prose := strings.HasPrefix(value.Str, "-") || strings.ContainsAny(value.Str, "{}[]<>=`\n")
	return append(all, part{value: value, prose: prose})
}

// saidIn are the members of the object that a text begins with, and of what goes on
// after it as if it were not closed; and, without a name, what else it says. There
// are none if it begins otherwise.
func saidIn(text string) (all []part) {
	before, object, after := around(text)
	if !object.Exists() || !fence().MatchString(before) {
		return nil
	}
	all = members(object)
	raw := strings.TrimRight(object.Raw[:len(object.Raw)-1], " \t\r\n")
	for _, end := range []string{"", "}"} {
		if whole := raw + strings.TrimRight(after, "` \t\r\n") + end; strings.HasPrefix(strings.TrimSpace(after), ",") && gjson.Valid(whole) {
			return members(gjson.Parse(whole))
		}
	}
	if !leftover().MatchString(after) {
		all = append(all, part{value: gjson.Result{Type: gjson.String, Str: after, Raw: string(wire.AppendString(nil, after))}, prose: true})
	}
	return all
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
	if r.server != "" {
		all = append(all, quoted(r.server)+" may be another server")
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
	for i, m := range r.astray {
		if r.given && i < maxShown {
			all = append(all, quoted(m.key)+` stands beside "args"`)
		}
	}
	if !r.given && r.server == "" || len(r.astray) > 0 {
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
const maxValues = 12

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
