package facade

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// left are the members of a place, and of those that it is in, that a reading
// leaves out although they may say something to the tool.
func (r *reader) left(p *place, taken ...part) (all []part) {
	for _, e := range append(slices.Clone(p.outer), p.envelope) {
		for _, m := range e.all() {
			if !m.is(p.name) && !slices.ContainsFunc(taken, m.is) && !r.idle(p, m) {
				all = append(all, m)
			}
		}
	}
	return all
}

// bareOf are the members of a place that may be arguments by themselves: those
// that neither hold arguments nor are for somebody else, and those that are a
// parameter of the tool.
func (r *reader) bareOf(p *place) (all []part) {
	for _, m := range slices.Concat(p.names, p.boxes, p.rest, []part{p.args}) {
		known := p.shape.knows(m.key)
		others := m.isBox() || r.idle(p, m) && !(roleOf(m.key) == aServer && p.shape.loose)
		switch {
		case !m.value.Exists(), m.is(p.name), others && !known:
		case m.is(p.args) && !(known && p.shape.suits(m.key, m.value)):
		default:
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b part) int { return a.at - b.at })
	return all
}

// idle reports whether a member says nothing to the tool: there is nothing in it,
// it repeats the name, it is a word of ours, or plainly one of the host's.
func (r *reader) idle(p *place, m part) bool {
	switch role := roleOf(m.key); {
	case !m.value.Exists(), r.namesIt(p, m):
		return true
	case strings.EqualFold(m.key, "confirm") && r.f.asksModel():
		return true
	case p.shape.knows(m.key):
		return false
	case m.value.Type == gjson.Null:
		return !p.shape.loose
	case role == theArgs, role == aBox, m.isBox():
		return isBlank(m.value) || held(m.value).Exists() && isEmpty(held(m.value))
	case strings.EqualFold(m.key, "confirm"): // no is no word that may be lost
		return m.value.Type != gjson.False
	default:
		return role == aServer || m.key == "_meta"
	}
}

// namesIt reports whether a member names the tool of a place, or one of ours that
// runs it.
func (r *reader) namesIt(p *place, m part) bool {
	role := roleOf(m.key)
	if role != aTool && role != aName || m.value.Type != gjson.String {
		return false
	}
	tools, _ := r.tools(m.value.Str)
	return slices.Contains(tools, p.tool) || !p.shape.knows(m.key) && isRunner(r.meta(m.value.Str))
}

// withoutAPI is an envelope without the words that an API puts around a call and
// its arguments.
func (e envelope) withoutAPI() envelope {
	called := slices.ContainsFunc(e.rest, func(m part) bool {
		switch m.value.Str {
		case "function", "function_call", "tool_call", "tool_use":
			return m.key == "type"
		}
		return false
	})
	if called && len(e.boxes) > 0 && !e.tool.value.Exists() {
		e.rest = slices.DeleteFunc(e.rest, func(m part) bool {
			return m.value.Type == gjson.String && (m.key == "type" || m.key == "id" || m.key == "call_id")
		})
	}
	return e
}

// repeats reports whether a member holds the arguments once more.
func (r *reader) repeats(p *place, m part, object gjson.Result) bool {
	return p.opens(m) && (m.isBox() || roleOf(m.key) == theArgs) && object.Exists() && ugly(held(m.value)) == ugly(object)
}

// elsewhereOf is another server that the tool is said to be of; "" if there is
// none, or if the tool only reads, so that nothing is lost by trying.
func (r *reader) elsewhereOf(p *place, taken []part) string {
	for _, e := range append(slices.Clone(p.outer), p.envelope) {
		for _, m := range e.rest {
			theirs := roleOf(m.key) == aServer && !p.shape.knows(m.key) && !slices.ContainsFunc(taken, m.is)
			if theirs && m.value.Type != gjson.Null && !isOwn(r.own, m.value.Str) && !r.reads(p.tool) {
				return m.value.String()
			}
		}
	}
	return ""
}

// reads reports whether a tool changes nothing.
func (r *reader) reads(tool string) bool { return r.f.effectOf(r.tool(tool)) == reads }

// isOwn reports whether a server's name is one of our own, as hosts write it.
func isOwn(own []string, name string) bool {
	name = strings.Trim(fold(strings.TrimSpace(name)), "_")
	if rest, marked := cutMark(name); marked {
		name = strings.Trim(rest, "_")
	}
	return slices.ContainsFunc(own, func(o string) bool {
		return name == o || slices.ContainsFunc(owners, func(owner string) bool {
			rest, found := strings.CutPrefix(name, owner)
			return found && strings.HasSuffix(rest, o) && (rest == o || strings.HasSuffix(rest, "_"+o))
		})
	})
}

// owners are what hosts put before the name of a server that they have from
// somebody, some with more between.
var owners = []string{"plugin_", "claude_ai_", "user_", "project_"}
