package facade

import (
	"strings"

	"mcp-facade/compact"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// instructed is the result of a handshake with our instructions in it.
func (f *Facade) instructed(s *surface, handshake []byte) []byte {
	switch said := f.instructions(s, handshake); said {
	case "":
		return wire.DeleteMember(handshake, "instructions")
	case gjson.GetBytes(handshake, "instructions").Str:
		return handshake
	default:
		return wire.SetMember(handshake, "instructions", wire.AppendString(nil, said))
	}
}

// instructions say when to use the meta-tools, then what the upstream says of
// itself, within instructionsLimit. s is nil while there is no catalog: then they
// are offered, unless all tools may be listed.
func (f *Facade) instructions(s *surface, handshake []byte) string {
	maybeAll := f.o.Server.Auto || f.o.Server.Surface == "all"
	kind, offered := f.metaNames(nil), s == nil && !maybeAll && gjson.GetBytes(handshake, "capabilities.tools").Exists()
	if s != nil {
		kind, offered = s.kind, s.offered
	}
	own, note := "", "\n[cut]"
	if offered {
		own, note = f.announcement(s, kind), "\n[cut; "+kind["discover"]+" with an empty query gives all]"
	}
	theirs := lines(gjson.GetBytes(handshake, "instructions").Str)
	if own != "" && theirs != "" {
		own += "\n\nFrom " + f.name() + ":\n"
	}
	if !offered && !f.o.Server.Has("instructionsLimit") {
		return theirs // nothing would lead to the rest of them
	}
	return cutWords(own+theirs, f.o.Server.InstructionsLimit, note)
}

// announcement is what we say ourselves: how many tools are hidden, what they
// are about, and when to look for them.
func (f *Facade) announcement(s *surface, kind map[string]string) string {
	more := f.name() + " has more tools than are listed"
	switch {
	case s == nil:
	case s.hidden == 0:
		return ""
	default:
		more = f.name() + " has " + moreTools(s.hidden, s.about)
	}
	return more + ". Before saying that " + f.name() + " cannot do something, use " + kind["discover"] + " to find the tool and " + runners(kind) + " to run it."
}

// lines is text of others with its line breaks, each line cleaned. None may
// begin like a tool with a mark of ours.
func lines(text string) string {
	all := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range all {
		all[i] = compact.Line(line)
		if low := strings.ToLower(all[i]); strings.HasPrefix(low, readOnlyMark) || strings.HasPrefix(low, destructiveMark) {
			all[i] = "> " + all[i]
		}
	}
	return strings.TrimSpace(strings.Join(all, "\n"))
}

// cut shortens text to a number of characters, of which note, in ASCII, is the
// end, if it finds room.
func cut(text string, limit int, note string) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	if limit < len(note) {
		return string(runes[:limit])
	}
	return strings.TrimRight(string(runes[:limit-len(note)]), " \n") + note
}

// cutWords is cut between words, unless the last one is half of the text.
func cutWords(text string, limit int, note string) string {
	whole := cut(text, limit, "")
	if whole == text || limit < len(note) {
		return whole
	}
	short := cut(text, limit-len(note), "")
	if space := strings.LastIndexAny(short, " \n"); 2*space > len(short) && !strings.ContainsAny(text[len(short):][:1], " \n") {
		short = short[:space]
	}
	return strings.TrimRight(short, " \n") + note
}
