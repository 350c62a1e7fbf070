package facade

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mcp-facade/catalog"
	"mcp-facade/facade/wire"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidwall/gjson"
)

// sampleCalls are arguments of a tool: as few as it takes, and all there are.
func sampleCalls(tool catalog.Tool) (few, all string) {
	s, whole := shapeOf(tool.InputSchema), shapeOf(tool.InputSchema)
	whole.required = s.names
	return s.exampleFor("", nil).object(), whole.exampleFor("", nil).object()
}

// A mangling is a form in which models send a call.
type mangling struct {
	name string
	form func(tool, args string) string
	keys []string // the envelope's: where a tool has a parameter of that name it is none
}

func quote(s string) string { return string(wire.AppendString(nil, s)) }

// manglings are what models do to calls and hosts to names. TestReportedManglings
// says where each has been seen.
func manglings() []mangling {
	all := []mangling{{"plain", func(tool, args string) string { return `{"tool":` + tool + `,"args":` + args + `}` }, nil}}
	add := func(name, form string, keys ...string) {
		all = append(all, mangling{name, func(tool, args string) string {
			return strings.NewReplacer("TOOL", tool, "ARGS", args, "STRING", quote(args), "BARE", tool[1:len(tool)-1],
				"FENCED", quote("```json\n"+args+"\n```"), "SWALLOWED", quote("</tool>\n<parameter name=\"args\">" + args)[1:]).Replace(form)
		}, keys})
	}
	for _, key := range []string{"arguments", "params", "input", "parameters", "tool_args", "tool_input", "kwargs"} {
		add("under "+key, `{"tool":TOOL,"`+key+`":ARGS}`, key)
		add("in a string under "+key, `{"tool":TOOL,"`+key+`":STRING}`, key)
		add("in an array under "+key, `{"tool":TOOL,"`+key+`":[ARGS]}`, key)
		add("under "+key+" in args", `{"tool":TOOL,"args":{"`+key+`":ARGS}}`, key)
	}
	for _, key := range []string{"name", "toolName", "tool_name"} {
		add("named by "+key, `{"`+key+`":TOOL,"args":ARGS}`)
		add("named by "+key+" under arguments", `{"`+key+`":TOOL,"arguments":ARGS}`, "arguments")
	}
	add("in a string", `{"tool":TOOL,"args":STRING}`)
	add("in a code fence", `{"tool":TOOL,"args":FENCED}`)
	add("in an array", `{"tool":TOOL,"args":[ARGS]}`)
	add("swallowed by the name", `{"tool":"BARESWALLOWED}`)
	add("after a special token", `{"tool":"BARE<|channel|>commentary","args":ARGS}`)
	add("beside a server", `{"server_name":"acme","tool_name":TOOL,"arguments":ARGS}`, "arguments", "server_name", "tool_name")
	add("in an API's function", `{"type":"function","function":{"name":TOOL,"arguments":STRING}}`)
	add("in an API's calls", `{"tool_calls":[{"id":"call_1","type":"function","function":{"name":TOOL,"arguments":STRING}}]}`)
	add("under the name", `{TOOL:ARGS}`)
	add("under the name in args", `{"tool":TOOL,"args":{TOOL:ARGS}}`)
	add("named by an object", `{"tool":{"name":TOOL},"args":ARGS}`)
	add("in an object under tool", `{"tool":{"name":TOOL,"arguments":ARGS}}`, "arguments")
	add("nested", `{"tool":TOOL,"args":{"tool":TOOL,"args":ARGS}}`, "tool", "args")
	add("nested without a name", `{"args":{"tool":TOOL,"args":ARGS}}`)
	add("nested twice", `{"tool":TOOL,"args":{"tool":TOOL,"args":{"tool":TOOL,"args":ARGS}}}`, "tool", "args")
	add("nested under arguments", `{"arguments":{"tool":TOOL,"args":ARGS}}`)
	add("in call", `{"tool":"call","args":{"tool":TOOL,"args":ARGS}}`)
	all = append(all, mangling{"beside the tool", func(tool, args string) string {
		if args == "{}" {
			return `{"tool":` + tool + `}`
		}
		return `{"tool":` + tool + `,` + args[1:]
	}, []string{"tool"}})
	all = append(all, mangling{"the whole in a string", func(tool, args string) string { return quote(`{"tool":` + tool + `,"args":` + args + `}`) }, nil})
	for _, prefix := range []string{"mcp__acme__", "mcp__plugin_x_acme__", "mcp_acme_", "acme_", "acme-", "acme.", "acme/", "functions."} {
		all = append(all, mangling{"with " + prefix, func(tool, args string) string {
			return `{"tool":"` + prefix + tool[1:] + `,"args":` + args + `}`
		}, nil})
	}
	all = append(all, mangling{"in capitals", func(tool, args string) string {
		return `{"tool":` + strings.ToUpper(tool) + `,"args":` + args + `}`
	}, nil})
	return append(all, mangling{"with other separators", func(tool, args string) string {
		return `{"tool":` + strings.Map(swapped, tool) + `,"args":` + args + `}`
	}, nil})
}

func swapped(r rune) rune {
	switch r {
	case '-':
		return '_'
	case '_':
		return '-'
	}
	return r
}

// Every tool of every catalog is called with as little and as much as it takes.
// However the call is mangled, the upstream gets the same arguments, or the
// model is shown how its call can be read.
func TestMangledCallsOfRealTools(t *testing.T) {
	realCatalogs(t, func(t *testing.T, name string, _ *catalog.Catalog, _ []byte) {
		f, v, c := facadeWith(t, `,"used":[]`, realCatalog(t, name))
		for _, tool := range c.Tools() {
			check := argumentCheck(tool)
			few, all := sampleCalls(tool)
			for _, args := range []string{few, all} {
				checkSample(t, tool, check, args)
				checkManglings(t, f, v, tool, args)
			}
		}
	})
}

// checkSample holds what we make up for a tool against its schema: only what a
// pattern wants is not known, nor whether what a model has sent has a format.
func checkSample(t *testing.T, tool catalog.Tool, check func(args string) error, args string) {
	t.Helper()
	if err := check(args); err != nil && !strings.Contains(err.Error(), "does not match pattern") && !strings.Contains(err.Error(), "is not valid uuid") {
		t.Errorf("%s: %s does not fit its schema: %v", tool.Name, args, err)
	}
}

func checkManglings(t *testing.T, f *Facade, v *view, tool catalog.Tool, args string) {
	t.Helper()
	want := tool.Name + " " + args
	shape := shapeOf(tool.InputSchema)
	for _, m := range manglings() {
		if slices.ContainsFunc(m.keys, shape.knows) {
			continue
		}
		sent := m.form(quote(tool.Name), args)
		got := understood(f, v, sent)
		if got != want && !strings.Contains(got, "so none was ") {
			t.Errorf("%s: %.500s\nbecomes %.500s\nwant %.500s", m.name, sent, got, want)
		}
	}
}

// What is certainly wrong is refused by an answer whose example is taken.
func TestRefusalsOfRealTools(t *testing.T) {
	count := counter(t)
	realCatalogs(t, func(t *testing.T, name string, _ *catalog.Catalog, _ []byte) {
		f, v, c := facadeWith(t, `,"used":[]`, realCatalog(t, name))
		for _, tool := range c.Tools() {
			check := argumentCheck(tool)
			for _, args := range []string{`{}`, `{"nosuch":1}`, `"x"`, `{"id":"a","name":"b","query":"c","nosuch":{"x":1}}`} {
				got := understood(f, v, `{"tool":`+quote(tool.Name)+`,"args":`+args+`}`)
				if !strings.HasPrefix(got, "!") {
					continue
				}
				if strings.Contains(got, "It has no place for ") { // an example would do more than was asked for
					continue
				}
				example := exampleIn(t, got)
				if err := check(gjson.Get(example, "args").Raw); err == nil || !strings.Contains(example, `"<`) { // a model's own value may be no string
					checkSample(t, tool, check, gjson.Get(example, "args").Raw)
				}
				o, err := f.understand(v, f.surfaceOf(v), gjson.Parse(example), false)
				if err != nil || !o.plain() {
					t.Errorf("%s: the example %s is not taken as it is: %+v, %v", tool.Name, example, o, err)
				}
				if len(got) > 2*maxRefusalTokens && count(got) > maxRefusalTokens {
					t.Errorf("%s: the refusal costs %d tokens:\n%s", tool.Name, count(got), got)
				}
			}
		}
	})
}

// maxRefusalTokens is what a refusal of arguments may cost: a signature, an
// example, and a few words.
const maxRefusalTokens = 400

// exampleIn is the last line but one of a refusal.
func exampleIn(t *testing.T, refusal string) string {
	t.Helper()
	lines := strings.Split(refusal, "\n")
	if len(lines) < 2 || lines[len(lines)-1] != noResult || !gjson.Valid(lines[len(lines)-2]) {
		t.Fatalf("a refusal without an example: %s", refusal)
	}
	return lines[len(lines)-2]
}

// argumentCheck reports why arguments are not what a tool takes, as an independent
// validator sees it. A schema that it does not understand takes all.
func argumentCheck(tool catalog.Tool) func(args string) error {
	all := func(string) error { return nil }
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tool.InputSchema))
	if err != nil {
		return all
	}
	compiler := jsonschema.NewCompiler()
	if compiler.AddResource("schema.json", doc) != nil {
		return all
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		return all
	}
	return func(args string) error {
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(args))
		if err != nil {
			return fmt.Errorf("no JSON: %w", err)
		}
		return schema.Validate(instance)
	}
}
