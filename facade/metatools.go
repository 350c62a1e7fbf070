package facade

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// metaTools are the tools of ours, in the order in which they are listed. The
// last one is there if calls are split.
var metaTools = [...]string{"discover", "describe", "call", "call_write"}

// kinds are the meta-tools there are.
func (f *Facade) kinds() []string {
	if f.o.Server.Split {
		return metaTools[:]
	}
	return metaTools[:len(metaTools)-1]
}

// What an announcement may cost, in tokens by the estimate. A word of nine bytes
// or more is charged one token more in the digest: there it is often a product's
// name, which costs more than a word of the language. So the digests of 43 real
// servers stay within 60 tokens.
const (
	digestTokens = 56
	longWord     = 9
	hintTokens   = 60
)

// A reach is what the meta-tools reach, as far as their definitions tell of it.
// The zero value tells nothing.
type reach struct {
	hidden   int    // tools that are reached through them only
	about    string // what those are about
	readOnly bool   // everything that call can run only reads
	tasks    bool   // the upstream runs calls as tasks
}

func (f *Facade) reached(c *catalog.Catalog, hidden []catalog.Tool, handshake []byte) reach {
	return reach{
		hidden:   len(hidden),
		about:    digest(c, hidden, f.name()+" "+serverName(handshake)),
		readOnly: f.onlyReads(c.Tools()),
		tasks:    gjson.GetBytes(handshake, "capabilities.tasks.requests.tools.call").IsObject(),
	}
}

// onlyReads reports whether no tool changes anything.
func (f *Facade) onlyReads(tools []catalog.Tool) bool {
	for _, t := range tools {
		if f.effectOf(t) != reads {
			return false
		}
	}
	return len(tools) > 0
}

// digest is what tools are about: nouns of their names, the most telling first.
// own are names of the server itself.
func digest(c *catalog.Catalog, tools []catalog.Tool, own string) string {
	var nouns []string
	long := 0
	for _, noun := range c.Digest(tools, own) {
		for _, word := range strings.Fields(noun) {
			if len(word) >= longWord {
				long++
			}
			if strings.ContainsFunc(word, func(r rune) bool { return r > unicode.MaxASCII }) {
				long += len(word) / 2 // letters of rare scripts cost a token each, or more
			}
		}
		more := append(nouns, noun)
		if compact.Tokens([]byte(strings.Join(more, ", ")))+long > digestTokens {
			break
		}
		nouns = more
	}
	return strings.Join(nouns, ", ")
}

// metaTools are the definitions of our tools, which bear the names in kind.
func (f *Facade) metaTools(kind map[string]string, r reach) [][]byte {
	s := f.name()
	reads := []byte(`,"annotations":{"readOnlyHint":true,"openWorldHint":false}`)
	tools := [][]byte{
		f.metaTool(kind["discover"],
			"Search "+s+"'s tools. "+r.announcement()+f.hint()+"Use this before saying that "+s+" cannot do something. Returns signatures to use with "+runners(kind)+".",
			`{"type":"object","properties":{"query":{"type":"string","description":"What you want to do, in the language of the tool descriptions (usually English). Empty lists everything."}},"required":["query"]}`,
			reads),
		f.metaTool(kind["describe"],
			"Full description and schema of "+s+" tools, when a signature is not enough.",
			`{"type":"object","properties":{"tool":{"type":"string","description":"One name, or several with commas."},"full":{"type":"boolean"}},"required":["tool"]}`,
			reads),
	}
	confirm := ""
	if f.asksModel() {
		confirm = `,"confirm":{"type":"boolean","description":"The user has agreed."}`
	}
	if !f.o.Server.Split {
		return append(tools, f.runner(kind["call"], "Run any "+s+" tool that "+kind["discover"]+" found.", confirm, f.callMembers(r, r.readOnly)))
	}
	return append(tools,
		f.runner(kind["call"], "Run a "+readOnlyMark+" "+s+" tool that "+kind["discover"]+" found.", "", f.callMembers(r, true)),
		f.runner(kind["call_write"], "Run any other "+s+" tool: those that change something.", confirm, f.callMembers(r, false)))
}

// runner is the definition of a meta-tool that runs tools, with a further
// property.
func (f *Facade) runner(name, description, property string, members []byte) []byte {
	return f.metaTool(name, description,
		`{"type":"object","properties":{"tool":{"type":"string"},"args":{"type":"object","description":"The tool's own arguments."}`+property+`},"required":["tool"]}`, members)
}

func isRunner(kind string) bool { return kind == "call" || kind == "call_write" }

// runnerOf is the meta-tool that runs a tool.
func (f *Facade) runnerOf(s *surface, t catalog.Tool) string {
	if f.o.Server.Split && f.effectOf(t) != reads {
		return s.kind["call_write"]
	}
	return s.kind["call"]
}

// runners are the meta-tools that run tools, as they are told of.
func runners(kind map[string]string) string {
	if write := kind["call_write"]; write != "" {
		return kind["call"] + " or " + write
	}
	return kind["call"]
}

// metaTool is a definition with further members, each after a comma.
func (f *Facade) metaTool(name, description, schema string, members []byte) []byte {
	b := wire.AppendString([]byte(`{"name":`), name)
	b = wire.AppendString(append(b, `,"description":`...), description)
	b = append(append(b, `,"inputSchema":`...), schema...)
	b = append(b, members...)
	if load := f.o.Server.AlwaysLoad; load == "true" || load == "meta" {
		b = append(b, `,"_meta":{"anthropic/alwaysLoad":true}`...)
	}
	return append(b, '}')
}

// callMembers are what the definition of a runner has besides. What it can run
// is said to only read or, where calls are split, to destroy.
func (f *Facade) callMembers(r reach, readOnly bool) (members []byte) {
	switch {
	case readOnly:
		members = append(members, `,"annotations":{"readOnlyHint":true}`...)
	case f.o.Server.Split:
		members = append(members, `,"annotations":{"readOnlyHint":false,"destructiveHint":true}`...)
	}
	if r.tasks {
		members = append(members, `,"execution":{"taskSupport":"optional"}`...)
	}
	return members
}

// announcement says how many tools are hidden, and what they are about: a
// sentence with a space after it, or "".
func (r reach) announcement() string {
	if r.hidden == 0 {
		return ""
	}
	return moreTools(r.hidden, r.about) + ". "
}

// moreTools is "12 more tools, about: issues, sprints".
func moreTools(hidden int, about string) string {
	text := strconv.Itoa(hidden) + " more tools"
	if hidden == 1 {
		text = "1 more tool"
	}
	if about != "" {
		text += ", about: " + about
	}
	return text
}

// hint is what the config says of the server: sentences with a space after
// them, or "".
func (f *Facade) hint() string {
	text := within(compact.Line(f.o.Server.Hint), hintTokens)
	if text == "" {
		return ""
	}
	if last, _ := utf8.DecodeLastRuneInString(text); unicode.IsLetter(last) || unicode.IsDigit(last) {
		text += "."
	}
	return text + " "
}

// within cuts text to a number of tokens by the estimate: between words, or
// between characters where words are long or not spaced.
func within(text string, tokens int) string {
	if compact.Tokens([]byte(text)) <= tokens {
		return text
	}
	end, space := 0, 0
	for i, r := range text {
		if compact.Tokens([]byte(text[:i]+"…")) > tokens {
			break
		}
		end = i
		if r == ' ' {
			space = i
		}
	}
	if 2*space > end {
		end = space
	}
	return strings.TrimRight(text[:end], " ,;:") + "…"
}
