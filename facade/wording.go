package facade

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/facade/config"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// How many characters of a call's arguments a dialog can show: in all, of each at
// least, of a name, and of the names alone of those for which that is too little.
const (
	questionRoom  = 2000
	questionLeast = 60
	questionName  = 60
	questionNames = 500
)

// elicitation is what a host is asked about a call: the params of an
// elicitation/create by a form without fields, which is to be accepted or not.
func (f *Facade) elicitation(c *invocation) []byte {
	b := []byte(`{"message":`)
	if c.view.key.Era == modern {
		b = []byte(`{"mode":"form","message":`)
	}
	b = wire.AppendString(b, f.wording(c))
	return append(b, `,"requestedSchema":{"type":"object","properties":{}}}`...)
}

// wording names the tool, the server and the arguments, each on a line, with
// what nobody sees made visible.
func (f *Facade) wording(c *invocation) string {
	lines := []string{"Run " + ExactName(c.tool) + " of " + f.name() + "? " + sentence(f.nature(c))}
	all := members(gjson.Parse(c.args))
	switch args := gjson.Parse(c.args); {
	case args.Exists() && !args.IsObject():
		lines = append(lines, "With: "+elided(visible(ugly(args)), questionRoom))
	case len(all) == 0:
		lines = append(lines, "Without arguments.")
	}
	return strings.Join(append(lines, questioned(all)...), "\n")
}

// questioned are arguments on a line each, the longest last: those before it
// leave it what room they do not need. Of what there is no room for the names are
// shown, or how many there are.
func questioned(all []part) (lines []string) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b part) int { return cmp.Compare(len(a.value.Raw), len(b.value.Raw)) })
	var rest []part
	if most, last := questionRoom/questionLeast, len(all)-1; last >= most {
		rest = slices.Clone(all[most-1 : last])
		all = append(all[:most-1], all[last])
	}
	room := questionRoom
	for i, m := range all {
		name := elided(visible(m.raw), questionName)
		lines = append(lines, elided("- "+name+": "+visible(ugly(m.value)), room/(len(all)-i)))
		room -= len([]rune(lines[i]))
	}
	if rest != nil {
		lines = append(lines, fmt.Sprintf("and %d more arguments whose values are not shown here: ", len(rest))+namesOf(rest))
	}
	return lines
}

// namesOf are the names of arguments, as far as there is room.
func namesOf(all []part) string {
	var names []string
	room := questionNames
	for i, m := range all {
		name := elided(visible(m.raw), questionName)
		if room -= len([]rune(name)); room < 0 {
			names = append(names, fmt.Sprintf("and %d whose names are not shown either", len(all)-i))
			break
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// elided is a text of so many characters; of a longer one the head and the tail,
// and how much is not shown.
func elided(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	note := fmt.Sprintf("... (%d characters not shown) ...", len(runes)-limit)
	keep := max(limit-len(note), 2)
	note = fmt.Sprintf("... (%d characters not shown) ...", len(runes)-keep)
	return string(runes[:keep-keep/2]) + note + string(runes[len(runes)-keep/2:])
}

func sentence(clause string) string { return strings.ToUpper(clause[:1]) + clause[1:] + "." }

// nature is why the user is asked about a tool: a clause.
func (f *Facade) nature(c *invocation) string {
	if c.hearsay {
		return f.name() + " could not say what its tools do now"
	}
	up, listed := f.surfaceOf(c.view).names().upstream(c.tool)
	switch {
	case !listed || up != c.tool:
		return "it is not in " + f.name() + "'s list, so nobody knows what it does"
	case f.effect(c.view, c.tool) == destroys:
		return "it is marked as destructive"
	}
	return "it is not marked as read-only"
}

// notRun begins a refusal of a call that was not sent for want of consent.
func (f *Facade) notRun(c *invocation, why string) string {
	return spelled(c.tool) + " was not run: " + why + ". Nothing was done."
}

// agreement is nil if the user has agreed to a call by an answer, a raw result of
// elicitation/create; else it is why they have not. failure is what the host
// says if it could not ask.
func (f *Facade) agreement(c *invocation, answer gjson.Result, failure string) error {
	switch answer.Get("action").Str {
	case "accept":
		return nil
	case "decline":
		return f.declined(c)
	case "cancel":
		return f.unsettled(c, "the user was asked and did not answer")
	}
	if failure != "" {
		return f.unsettled(c, "the host could not ask the user: "+quoted(failure))
	}
	return f.unsettled(c, "the host did not say whether the user agrees")
}

// declined refuses a call that the user does not want.
func (f *Facade) declined(c *invocation) error {
	return &recurring{tool: c.tool, reason: declinedReason(c), error: &refusal{f.notRun(c, "the user was asked and declined"),
		"Do not call it again unless the user asks for it: tell them, or find another way."}}
}

// declinedReason tells one call that was declined from others of the same tool:
// those the user may want.
func declinedReason(c *invocation) string { return declinedPrefix + c.digest() }

const declinedPrefix = "declined "

// unsettled refuses a call to which the user has said neither yes nor no.
func (f *Facade) unsettled(c *invocation, why string) error {
	return &recurring{tool: c.tool, reason: "unsettled", error: &refusal{f.notRun(c, why), "Tell the user; call it again only if they want it."}}
}

// unaskable refuses a call because the host cannot ask.
func (f *Facade) unaskable(c *invocation) error {
	return &recurring{tool: c.tool, reason: "unaskable", error: &refusal{
		f.notRun(c, f.nature(c)+", so the user must agree first, and this host cannot ask them (it has no elicitation)"),
		`Tell the user: they can use a host that asks, or change "confirm" or "confirmBy" of ` + f.name() + " in the servers file."}}
}

// unagreed refuses a call until the model says that the user has agreed, or the
// person at the command line does.
func (f *Facade) unagreed(c *invocation) error {
	if f.o.Server.ConfirmBy == config.ByFlag {
		return &refusal{f.notRun(c, f.nature(c)+", so you must agree first"), "Run it again with --yes."}
	}
	kind := f.surfaceOf(c.view).kind
	run := kind["call"]
	if f.o.Server.Split {
		run = kind["call_write"]
	}
	ask := "Ask them. If they do, send this to " + run + c.yours() + ":\n"
	sent := *c
	if f.consentWithin(c) {
		sent.args = string(wire.DeleteMember([]byte(c.args), "confirm"))
	}
	return &recurring{tool: c.tool, reason: "unagreed", error: &refusal{
		f.notRun(c, f.nature(c)+", so the user must agree first"), ask + consenting(sent.brief()) + f.correction(c)}}
}

// consenting is a call in which the model says that the user has agreed.
func consenting(call string) string { return strings.TrimSuffix(call, "}") + `,"confirm":true}` }

// correction is a line for a model that means to say that the user has agreed,
// but by another value than true or in another place; "" for any other.
func (f *Facade) correction(c *invocation) string {
	if c.via != "" && consentOf(c.given()).Exists() || f.consentWithin(c) {
		return "\n" + `"confirm" must be the boolean true, beside "tool".`
	}
	return ""
}

// consentWithin reports whether "confirm" stands among the arguments of a tool
// that has no such parameter.
func (f *Facade) consentWithin(c *invocation) bool {
	if !gjson.Get(c.args, "confirm").Exists() {
		return false
	}
	tools, err := f.tools(c.view)
	if err != nil {
		return false
	}
	t, ok := tools.Lookup(c.tool)
	return ok && !shapeOf(t.InputSchema).knows("confirm")
}

// consentAstray reports whether a reading has among its arguments what would say
// beside the name of the tool that the user has agreed.
func (f *Facade) consentAstray(r *reading, t catalog.Tool) bool {
	return f.asksModel() && f.isDelicate(t) && !r.shape.knows("confirm") &&
		slices.ContainsFunc(r.meant(), func(m part) bool { return m.key == "confirm" })
}

// withoutConsent is what may be meant for the tool, without that.
func (f *Facade) withoutConsent(r *reading, t catalog.Tool) []part {
	astray := f.consentAstray(r, t)
	return slices.DeleteFunc(r.meant(), func(m part) bool { return astray && m.key == "confirm" })
}

// misplaced refuses a call of what does more than read by the meta-tool for what
// does not.
func (f *Facade) misplaced(c *invocation) error {
	kind := f.surfaceOf(c.view).kind
	return &recurring{tool: c.tool, reason: "misplaced", error: &refusal{
		spelled(c.tool) + " was not called: " + f.nature(c) + ", and " + kind["call"] + " runs read-only tools alone.",
		"Send this to " + kind["call_write"] + c.yours() + ":\n" + c.brief()}}
}

// brief is what to send to call to run the tool. What stands for long arguments
// is told by yours.
func (c *invocation) brief() string {
	if !c.isLong() {
		return callOf(c.tool, orNothing(c.args))
	}
	all := members(gjson.Parse(c.args))
	for i, m := range all {
		if len(m.value.Raw) > maxBrief {
			all[i].value = gjson.Parse(placeholder(m.key+" as you sent it", 0))
		}
	}
	args := object(all).Raw
	if len(args) > 4*maxSent {
		args = `{"<all arguments>":"<as you sent them>"}`
	}
	return callOf(c.tool, args)
}

// maxBrief is how many bytes of an argument are repeated where all are many.
const maxBrief = 60

func (c *invocation) isLong() bool { return len(c.args) > maxSent }

// yours says what in brief a model has to put its own values for, "" if nothing.
func (c *invocation) yours() string {
	if c.isLong() {
		return ", with your values for what stands in <>"
	}
	return ""
}

// agrees reports whether a model says, beside the name of the tool, that the
// user has agreed: by true, in the outermost envelope. A parameter of the tool is
// no word of ours.
func agrees(given gjson.Result, o *order) bool {
	theirs := o.beside() && gjson.Get(o.args, "confirm").Exists()
	return consentOf(given).Type == gjson.True && !theirs
}

// consentOf is what stands under "confirm" beside the name of a tool.
func consentOf(given gjson.Result) gjson.Result { return under(held(given), "confirm") }
