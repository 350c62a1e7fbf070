package facade

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// maxAttempts is how often a model may have to call until it has got it right.
const maxAttempts = 3

// A weakModel wants one tool to be called with some arguments, makes a mistake,
// and then does what it is told, word by word and no more.
type weakModel struct {
	d    *desk
	tool catalog.Tool
	want string                         // the arguments
	name string                         // the tool's, as it has it in mind
	args string                         // what it has in mind to send
	form func(tool, args string) string // how it sends that
	id   int                            // of its last request
}

// A mistake is what a weak model has in mind in place of a call of a tool. It
// reports false where the tool leaves no room for it.
type mistake struct {
	name string
	make func(m *weakModel) bool
}

// A deskCatalog is one of many tools, as a vendor might have written it.
type deskCatalog struct {
	*catalog.Catalog
	checks map[string]func(args string) error // by the name of a tool
}

func deskTools(t *testing.T) deskCatalog {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "desk.json"))
	if err != nil {
		t.Fatal(err)
	}
	c, _ := catalog.New([][]byte{raw})
	if n := len(c.Tools()); n < 40 {
		t.Fatalf("desk.json has %d tools", n)
	}
	d := deskCatalog{c, map[string]func(string) error{}}
	for _, tool := range c.Tools() {
		d.checks[tool.Name] = argumentCheck(tool)
	}
	return d
}

// picky is an upstream that runs a call only if its schema takes it, and says
// of others no more than many do.
func picky(c deskCatalog) *fake {
	up := &fake{}
	for _, t := range c.Tools() {
		up.tools = append(up.tools, string(t.Raw))
	}
	up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
		if m.Method != "tools/call" {
			return nil, false
		}
		check := c.checks[m.Params.Get("name").Str]
		if check == nil || check(m.Params.Get("arguments").Raw) != nil {
			return ok(m, `{"content":[{"type":"text","text":"MCP error -32602: Invalid arguments"}],"isError":true}`), true
		}
		return nil, false
	}
	return up
}

// A weak model that sends a call in any form that has been seen, or that mistakes
// its name or its arguments, has called the tool after maxAttempts at most.
func TestWeakModelGetsThere(t *testing.T) {
	c := deskTools(t)
	took := map[int]int{}
	for _, tool := range c.Tools() {
		t.Run(tool.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := picky(c)
				d := start(t, Options{Server: entry(t, `,"used":[]`)}, up)
				d.open()
				for _, m := range weakModels(tool, c.checks[tool.Name]) {
					if m.d = d; m.args != m.want { // an upstream's error is explained once only
						m.d = start(t, Options{Server: entry(t, `,"used":[]`)}, up)
						m.d.open()
					}
					n, talk := m.converse(t, up)
					took[n]++
					if n > maxAttempts {
						t.Errorf("%s", talk)
					}
					if m.d != d {
						m.d.close()
					}
				}
			})
		})
	}
	t.Logf("attempts: conversations %v", took)
}

// A model that goes on as if it had been told nothing is told to stop, and
// nothing that it sends reaches the upstream.
func TestWeakModelIsToldToStop(t *testing.T) {
	const limit = 6 // from twice repeatLimit on
	c := deskTools(t)
	for _, tt := range []struct{ name, sent string }{
		{"a wrong name", `{"tool":"get_tickt","args":{"ticket_id":"T-1"}}`},
		{"a name like no other", `{"tool":"zzyzx"}`},
		{"no name", `{"args":{"ticket_id":"T-1"}}`},
		{"a missing argument", `{"tool":"create-order","args":{"customer":"C-1"}}`},
		{"an argument of another name", `{"tool":"get_ticket","args":{"id":"T-1"}}`},
		{"arguments that are no object", `{"tool":"get_ticket","args":"T-1"}`},
		{"two readings", `{"tool":"get_ticket","arguments":{"ticket_id":"T-1"},"params":{"ticket_id":"T-2"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := picky(c)
				d := start(t, Options{Server: entry(t, `,"used":[]`)}, up)
				d.open()
				for i := range 2 * limit {
					got := textsOf(d.call(fmt.Sprint(i+1), "call", tt.sent))
					if told := strings.HasPrefix(got, "Stop."); told != (i+1 >= limit) || !strings.HasSuffix(got, noResult) {
						t.Errorf("answer %d: %s", i+1, got)
					}
				}
				if sent := up.calls(); sent != nil {
					t.Errorf("sent: %q", sent)
				}
			})
		})
	}
}

// weakModels are a model for each mangling of a call of a tool, and for each
// mistake about it.
func weakModels(tool catalog.Tool, check func(args string) error) (all []*weakModel) {
	shape := shapeOf(tool.InputSchema)
	few, most := sampleCalls(tool)
	plain := manglings()[0].form
	for _, args := range []string{few, most} {
		args = placeholders.ReplaceAllString(args, `"$1 1"`)
		if err := check(args); err != nil {
			panic(err)
		}
		for _, how := range manglings() {
			if !slices.ContainsFunc(how.keys, shape.knows) {
				all = append(all, &weakModel{tool: tool, want: args, name: tool.Name, args: args, form: how.form})
			}
		}
		for _, what := range mistakes() {
			m := &weakModel{tool: tool, want: args, name: tool.Name, args: args, form: plain}
			if what.make(m) {
				all = append(all, m)
			}
		}
	}
	return all
}

// converse lets a model call until the upstream has run what it wants. It returns
// how often that was, and what was said.
func (m *weakModel) converse(t *testing.T, up *fake) (attempts int, talk string) {
	t.Helper()
	sent := m.form(quote(m.name), m.args)
	right := m.args == m.want && !shapeOf(m.tool.InputSchema).loose // a tool that takes anything takes an envelope too
	for attempts = 1; ; attempts++ {
		m.id++
		r := m.d.call(fmt.Sprint(m.id), "call", sent)
		talk += fmt.Sprintf("model: %s\ntool: %s\n", sent, textsOf(r))
		if !gjson.Get(r, "isError").Bool() {
			break
		}
		if attempts > maxAttempts {
			return attempts, talk
		}
		sent = m.next(textsOf(r))
	}
	ran := gjson.Parse(up.lastCall())
	if ran.Get("name").Str != m.tool.Name || right && ran.Get("arguments").Raw != m.want {
		t.Errorf("%s\nthe upstream ran %s, but %s %s was wanted", talk, ran.Raw, m.tool.Name, m.want)
	}
	return attempts, talk
}

// lastCall are the raw params of the last call that the upstream got.
func (f *fake) lastCall() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, frame := range slices.Backward(f.seen) {
		if gjson.Get(frame, "method").Str == "tools/call" {
			return gjson.Get(frame, "params").Raw
		}
	}
	return ""
}

// textsOf are all texts of a result.
func textsOf(result string) (all string) {
	for _, text := range gjson.Get(result, "content.#.text").Array() {
		all += text.Str
	}
	return all
}

// next is what a model sends after a refusal: the example that it is shown; the
// same with the nearest name; what the signature says; the first tool that
// discover finds.
func (m *weakModel) next(refusal string) string {
	if sent := m.shown(refusal); sent != "" {
		return sent
	}
	if _, names, found := strings.Cut(refusal, "It has no place for "); found {
		names, _, _ = strings.Cut(names, ". Call it without")
		for _, name := range strings.Split(names, ", ") {
			m.args = string(wire.DeleteMember([]byte(m.args), strings.Trim(name, `"`)))
		}
		return m.form(quote(m.name), m.args)
	}
	if _, names, found := strings.Cut(refusal, "Nearest: "); found {
		m.name = strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' })[0]
		m.name = strings.TrimSuffix(m.name, ".")
		return m.form(quote(m.name), m.args)
	}
	if _, signature, found := strings.Cut(refusal, "Its signature: "); found {
		m.args = m.obey(signature)
		return m.form(quote(m.name), m.args)
	}
	m.id++
	found := text(m.d.call(fmt.Sprint(m.id), "discover", `{"query":`+quote(compact.Sentence(m.tool.Description, 100))+`}`))
	m.name = m.signatureIn(found)
	return m.form(quote(m.name), m.args)
}

// shown is the call that a refusal shows: the one that it wants, if there are
// several. What stands in <> gets the model's values.
func (m *weakModel) shown(refusal string) (call string) {
	for _, line := range strings.Split(refusal, "\n") {
		if gjson.Valid(line) && gjson.Get(line, "tool").Exists() {
			if call == "" || gjson.Get(line, "tool").Str == m.tool.Name {
				call = line
			}
		}
	}
	return placeholders.ReplaceAllStringFunc(call, func(found string) string {
		return m.valueFor(found)
	})
}

// valueFor is what a model puts in the place of a placeholder.
func (m *weakModel) valueFor(placeholder string) string {
	name := strings.Trim(placeholder, `"<>`)
	key, kind, _ := strings.Cut(name, ": ")
	switch choice, _, listed := strings.Cut(kind, "|"); {
	case listed:
		return quote(choice)
	case kind == "number":
		return "1"
	case kind == "boolean":
		return "false"
	case kind == "object", kind == "array":
		return under(gjson.Parse(m.want), key).Raw
	}
	return quote(name + " 1")
}

// placeholders are those of an example.
var placeholders = regexp.MustCompile(`"<([^">]*)>"`)

// signatureIn is the name of the tool that discover describes as what is wanted,
// or of the first one.
func (m *weakModel) signatureIn(found string) (name string) {
	for _, line := range strings.Split(found, "\n")[1:] {
		for _, mark := range []string{readOnlyMark, destructiveMark} {
			line = strings.TrimPrefix(line, mark+" ")
		}
		if tool, _, ok := strings.Cut(line, "("); ok && (name == "" || strings.HasSuffix(line, m.tool.Description)) {
			name = tool
		}
	}
	return name
}

// obey changes arguments as far as a signature contradicts them: a value that is
// listed in another case, a number in a string, a null that may be left out.
func (m *weakModel) obey(signature string) string {
	args := []byte(m.args)
	for _, p := range parameters.FindAllStringSubmatch(signature, -1) {
		name, optional, kind := p[1], p[2] != "", p[3]
		value := under(gjson.ParseBytes(args), name)
		switch choices := strings.Split(kind, "|"); {
		case value.Type == gjson.Null && value.Exists() && optional:
			args = wire.DeleteMember(args, name)
		case value.Type != gjson.String:
		case kind == "integer", kind == "number", kind == "boolean":
			args = wire.SetMember(args, name, []byte(value.Str))
		case len(choices) > 1:
			if i := slices.IndexFunc(choices, func(c string) bool { return strings.EqualFold(c, value.Str) }); i >= 0 {
				args = wire.SetMember(args, name, wire.AppendString(nil, choices[i]))
			}
		}
	}
	return string(args)
}

// parameters are those of a signature: name, "?", type.
var parameters = regexp.MustCompile(`([\w-]+)(\??): ([\w|\[\]{}-]+)`)

// mistakes are what models mistake about a name and about arguments.
func mistakes() []mistake {
	return []mistake{
		{"a letter of the name is missing", naming(func(name string) string { return name[:len(name)/2] + name[len(name)/2+1:] })},
		{"two letters of the name are swapped", naming(func(name string) string {
			i := len(name) / 2
			return name[:i] + name[i+1:i+2] + name[i:i+1] + name[i+2:]
		})},
		{"the name is in the plural", naming(func(name string) string { return name + "s" })},
		{"the name is spelled in the other way", naming(otherCase)},
		{"the words of the name are in another order", naming(func(name string) string {
			words := wordsIn(name)
			slices.Reverse(words)
			return strings.Join(words, "_")
		})},
		{"the name is misspelt after a prefix", naming(func(name string) string { return "mcp__acme__" + name[:len(name)/2] + name[len(name)/2+1:] })},
		{"the name is made up", naming(func(string) string { return "zzyzx" })},
		{"there is no name", func(m *weakModel) bool {
			form := m.form
			m.form = func(tool, args string) string {
				if tool == quote("") {
					return `{"args":` + args + `}`
				}
				return form(tool, args)
			}
			m.name = ""
			return true
		}},
		{"something is missing", arguing(func(m *weakModel, s *shape) string {
			for _, name := range s.needed {
				return string(wire.DeleteMember([]byte(m.args), name))
			}
			return m.args
		})},
		{"all is missing", arguing(func(*weakModel, *shape) string { return `{}` })},
		{"there is something else", arguing(func(m *weakModel, s *shape) string {
			return string(wire.SetMember([]byte(m.args), "verbose", []byte("true")))
		})},
		{"names are spelled in the other way", arguing(func(m *weakModel, s *shape) string { return s.renamed(m.args, otherCase) })},
		{"names are misspelt", arguing(func(m *weakModel, s *shape) string {
			return s.renamed(m.args, func(name string) string { return name[:len(name)/2] + name[len(name)/2+1:] })
		})},
		{"objects are taken apart", arguing(func(m *weakModel, s *shape) string {
			var flat []part
			for _, a := range members(gjson.Parse(m.args)) {
				if a.value.IsObject() && !isEmpty(a.value) {
					flat = append(flat, members(a.value)...)
				} else {
					flat = append(flat, a)
				}
			}
			return object(flat).Raw
		})},
		{"objects and arrays are in strings", arguing(func(m *weakModel, s *shape) string {
			args := []byte(m.args)
			for _, a := range members(gjson.Parse(m.args)) {
				if a.value.Type == gjson.JSON {
					args = wire.SetMember(args, a.key, wire.AppendString(nil, a.value.Raw))
				}
			}
			return string(args)
		})},
		{"arguments are pairs", arguing(func(m *weakModel, s *shape) string {
			var pairs []string
			for _, a := range members(gjson.Parse(m.args)) {
				pairs = append(pairs, `{"name":`+a.raw+`,"value":`+a.value.Raw+`}`)
			}
			return "[" + strings.Join(pairs, ",") + "]"
		})},
		{"arguments are one value", arguing(func(m *weakModel, s *shape) string {
			for _, a := range members(gjson.Parse(m.args)) {
				return a.value.Raw
			}
			return m.args
		})},
		{"arguments are no JSON", arguing(func(m *weakModel, s *shape) string {
			return quote(strings.ReplaceAll(m.args, `"`, "'"))
		})},
		{"arguments are cut off", arguing(func(m *weakModel, s *shape) string { return quote(m.args[:len(m.args)-1]) })},
		{"numbers are in strings", arguing(func(m *weakModel, s *shape) string {
			args := []byte(m.args)
			for _, a := range members(gjson.Parse(m.args)) {
				if a.value.Type == gjson.Number {
					args = wire.SetMember(args, a.key, []byte(quote(a.value.Raw)))
				}
			}
			return string(args)
		})},
		{"values are in capitals", arguing(func(m *weakModel, s *shape) string {
			args := []byte(m.args)
			for _, a := range members(gjson.Parse(m.args)) {
				if s.plain(s.schemas[a.key]).Get("enum").Exists() {
					args = wire.SetMember(args, a.key, []byte(quote(strings.ToUpper(a.value.Str))))
				}
			}
			return string(args)
		})},
		{"what may be left out is null", arguing(func(m *weakModel, s *shape) string {
			args := []byte(m.args)
			for _, name := range s.names {
				if !slices.Contains(s.required, name) {
					args = wire.SetMember(args, name, []byte("null"))
				}
			}
			return string(args)
		})},
		{"all of that at once", func(m *weakModel) bool {
			m.name = "mcp__acme__" + m.name[1:]
			m.form = func(tool, args string) string {
				return `{"name":` + tool + `,"args":{"arguments":` + quote(args) + `}}`
			}
			s := shapeOf(m.tool.InputSchema)
			m.args = s.renamed(m.args, otherCase)
			return !s.knows("arguments")
		}},
	}
}

// naming is a mistake about the name.
func naming(change func(name string) string) func(*weakModel) bool {
	return func(m *weakModel) bool {
		m.name = change(m.name)
		return m.name != m.tool.Name
	}
}

// arguing is a mistake about the arguments.
func arguing(change func(*weakModel, *shape) string) func(*weakModel) bool {
	return func(m *weakModel) bool {
		m.args = change(m, shapeOf(m.tool.InputSchema))
		return m.args != m.want
	}
}

// renamed are arguments with other names.
func (s *shape) renamed(args string, change func(string) string) string {
	var all []part
	for _, a := range members(gjson.Parse(args)) {
		a.raw = quote(change(a.key))
		all = append(all, a)
	}
	return object(all).Raw
}

// otherCase is a name in camel case or, if it has capitals, in snake case.
func otherCase(name string) string {
	words := wordsIn(name)
	if strings.ContainsFunc(name, unicode.IsUpper) {
		return strings.Join(words, "_")
	}
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// wordsIn are the words of a name, in lower case.
func wordsIn(name string) (words []string) {
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		from := 0
		for i, r := range word {
			if unicode.IsUpper(r) && i > 0 {
				words = append(words, strings.ToLower(word[from:i]))
				from = i
			}
		}
		words = append(words, strings.ToLower(word[from:]))
	}
	return words
}
