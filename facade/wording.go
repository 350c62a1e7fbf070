package facade

import (
	"fmt"
	"strconv"
	"strings"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// How much of a call's arguments the user is shown: lines, and characters of a
// value.
const (
	questionLines = 20
	questionValue = 200
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
	lines := []string{"Run " + spelled(c.tool) + " of " + f.name() + "? " + sentence(f.nature(c))}
	all := members(gjson.Parse(c.args))
	switch args := gjson.Parse(c.args); {
	case args.Exists() && !args.IsObject():
		lines = append(lines, "With: "+shortened(args))
	case len(all) == 0:
		lines = append(lines, "Without arguments.")
	}
	for _, m := range all[:min(len(all), questionLines)] {
		lines = append(lines, "- "+visible(cut(m.raw, questionValue, "..."))+": "+shortened(m.value))
	}
	if more := len(all) - questionLines; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more arguments that are not shown here", more))
	}
	return strings.Join(lines, "\n")
}

// shortened is a value on one line; if not all of it is there, that says so.
func shortened(v gjson.Result) string {
	text := ugly(v)
	if n := len([]rune(text)); n > questionValue {
		return visible(cut(text, questionValue, "")) + "... (" + strconv.Itoa(n) + " characters, not all shown)"
	}
	return visible(text)
}

func sentence(clause string) string { return strings.ToUpper(clause[:1]) + clause[1:] + "." }

// nature is why the user is asked about a tool: a clause.
func (f *Facade) nature(c *invocation) string {
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

// unagreed refuses a call until the model says that the user has agreed.
func (f *Facade) unagreed(c *invocation) error {
	kind := f.surfaceOf(c.view).kind
	run := kind["call"]
	if f.o.Server.Split {
		run = kind["call_write"]
	}
	return &recurring{tool: c.tool, reason: "unagreed", error: &refusal{
		f.notRun(c, f.nature(c)+", so the user must agree first"),
		"Ask them. If they do, send this to " + run + ":\n" + strings.TrimSuffix(c.brief(), "}") + `,"confirm":true}`}}
}

// misplaced refuses a call of what does more than read by the meta-tool for what
// does not.
func (f *Facade) misplaced(c *invocation) error {
	kind := f.surfaceOf(c.view).kind
	return &recurring{tool: c.tool, reason: "misplaced", error: &refusal{
		spelled(c.tool) + " was not called: " + f.nature(c) + ", and " + kind["call"] + " runs read-only tools alone.",
		"Send this to " + kind["call_write"] + ":\n" + c.brief()}}
}

// brief is what to send to call to run the tool, without long arguments.
func (c *invocation) brief() string {
	args := orNothing(c.args)
	if len(args) > maxSent {
		args = "{…}"
	}
	return callOf(c.tool, args)
}

// agrees reports whether a model says, beside the name of the tool, that the
// user has agreed: by true, in the outermost envelope. A parameter of the tool is
// no word of ours.
func agrees(given gjson.Result, o *order) bool {
	for _, m := range members(held(given)) {
		if m.key == "confirm" {
			theirs := o.beside() && gjson.Get(o.args, "confirm").Exists()
			return m.value.Type == gjson.True && !theirs
		}
	}
	return false
}
