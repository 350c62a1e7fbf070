package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade"
	"mcp-facade/facade/config"
	"mcp-facade/facade/upstream"

	"github.com/tidwall/gjson"
)

// An explanation is what trimming has made of a tool. Its JSON is what
// tools --explain --json prints.
type explanation struct {
	Server    string     `json:"server"`
	Tool      string     `json:"tool"`
	Level     string     `json:"level"`
	Estimator string     `json:"estimator"`
	Before    definition `json:"before"`
	After     definition `json:"after"`
	Cuts      []cut      `json:"cuts"`
}

// A definition is a tool before or after it is trimmed.
type definition struct {
	Tokens int             `json:"tokens"`
	Tool   json.RawMessage `json:"tool"`
}

// A cut is one thing that trimming took away or put in another's place.
type cut struct {
	Path   string          `json:"path"`   // a JSON pointer into the tool
	Before json.RawMessage `json:"before"` // null: nothing was there
	After  json.RawMessage `json:"after"`  // null: nothing is there
	Tokens int             `json:"tokens"` // that a model is spared
}

// explain prints what trimming has made of one tool.
func (e *env) explain(o *options, s *config.Server, c *catalog.Catalog, list []gjson.Result) error {
	t, ok := c.Lookup(o.explain)
	if !ok {
		return e.noTool(o, s, c)
	}
	x := explainTool(t, compact.Options{Level: facade.Level(s, c), Keep: s.Keep})
	x.Server = s.Name
	if shown := find(c, list, t.Name); shown.Exists() {
		x.After = definitionOf([]byte(shown.Raw))
	}
	if o.json {
		return printJSON(e.stdout, x)
	}
	x.print(e.stdout, e.columns)
	return nil
}

// noTool says that a server has no such tool, and which may have been meant.
func (e *env) noTool(o *options, s *config.Server, c *catalog.Catalog) error {
	hint := "mcp-facade tools --all " + e.again(o, s)
	if near := c.Nearest(o.explain, 1); len(near) > 0 {
		hint = "mcp-facade tools --explain " + compact.Line(near[0]) + " " + e.again(o, s)
	}
	return &upstream.Error{Server: s.Name, Op: "explain", Err: fmt.Errorf("there is no tool %q", o.explain), Hint: hint}
}

// find is the tool of a surface that stands for the upstream's of that name.
func find(c *catalog.Catalog, list []gjson.Result, name string) gjson.Result {
	for _, shown := range list {
		if t, ok := c.Lookup(shown.Get("name").Str); ok && t.Name == name {
			return shown
		}
	}
	return gjson.Result{}
}

func explainTool(t catalog.Tool, o compact.Options) *explanation {
	x := &explanation{
		Tool: t.Name, Level: o.Level, Estimator: estimator,
		Before: definitionOf(t.Raw), After: definitionOf(compact.Tool(t.Raw, o)),
		Cuts: []cut{},
	}
	for _, c := range compact.Explain(t.Raw, o) {
		saved := 0
		if strings.HasPrefix(c.Path, "/description") || strings.HasPrefix(c.Path, "/inputSchema") {
			saved = cutTokens(c)
		}
		x.Cuts = append(x.Cuts, cut{c.Path, orNull(c.Before), orNull(c.After), saved})
	}
	return x
}

func definitionOf(tool []byte) definition { return definition{facade.ModelTokens(tool), tool} }

// cutTokens estimates what a cut saves: the value, and its key with it if that
// goes too.
func cutTokens(c compact.Cut) int {
	key, _ := json.Marshal(c.Path[strings.LastIndexByte(c.Path, '/')+1:])
	size := func(value string) int {
		if value == "" {
			return 0
		}
		return compact.Tokens([]byte(string(key) + ":" + value))
	}
	return size(c.Before) - size(c.After)
}

// orNull is a JSON text, or null for none.
func orNull(text string) json.RawMessage {
	if text == "" {
		return json.RawMessage("null")
	}
	return json.RawMessage(text)
}

// print shows an explanation to a person whose terminal has that many columns.
// In less than 40 nothing could be read.
func (x *explanation) print(w io.Writer, columns int) {
	columns = max(columns, 40)
	fmt.Fprintf(w, "%s of %s, trimmed by \"compact\": %q (tokens: %ss)\n\n", compact.Line(x.Tool), x.Server, x.Level, estimator)
	before, after := fmt.Sprintf("before, %d tokens", x.Before.Tokens), fmt.Sprintf("after, %d tokens", x.After.Tokens)
	rows := outline([]row{{before, after}}, "  ", modelPart(x.Before.Tool), modelPart(x.After.Tool))
	if columns < sideBySide {
		printAbove(w, columns, rows)
	} else {
		printBeside(w, columns, rows)
	}
	fmt.Fprint(w, "\nWhat was cut, and the tokens that it saves\n\n")
	for _, c := range x.Cuts {
		fmt.Fprintf(w, "%6d  %s\n", c.Tokens, c)
	}
	if len(x.Cuts) == 0 {
		fmt.Fprintln(w, "  nothing")
	}
}

// String says where a cut is, and what it is if it does not take all away.
func (c cut) String() string {
	text := compact.Line(c.Path)
	switch {
	case string(c.Before) == "null":
		return text + " (added)"
	case string(c.After) != "null":
		return text + " (changed)"
	}
	return text
}

// modelPart is what a model is given of a tool.
func modelPart(tool []byte) gjson.Result {
	var members []string
	gjson.ParseBytes(tool).ForEach(func(key, value gjson.Result) bool {
		if key.Str == "name" || key.Str == "description" || key.Str == "inputSchema" {
			members = append(members, key.Raw+":"+value.Raw)
		}
		return true
	})
	return gjson.Parse("{" + strings.Join(members, ",") + "}")
}

// sideBySide is from how many columns on there is room for two tools.
const sideBySide = 100

// A row is a line of a tool before it is trimmed and the one that stands for it
// then, "" where there is none.
type row struct{ before, after string }

// mark says how the two differ, as sdiff does.
func (r row) mark() string {
	switch {
	case r.before == r.after:
		return " "
	case r.after == "":
		return "<"
	case r.before == "":
		return ">"
	}
	return "|"
}

// outline appends rows for all that two values hold, in the order of the first.
func outline(rows []row, indent string, before, after gjson.Result) []row {
	was, is := members(before), members(after)
	add := func(key string, was, is gjson.Result) {
		rows = append(rows, row{outlined(indent, key, was), outlined(indent, key, is)})
		rows = outline(rows, indent+"  ", was, is)
	}
	for _, m := range was {
		add(m.key, m.value, lookUp(is, m.key))
	}
	for _, m := range is {
		if !lookUp(was, m.key).Exists() {
			add(m.key, gjson.Result{}, m.value)
		}
	}
	return rows
}

// outlined is the line of one value; what it holds stands below it.
func outlined(indent, key string, v gjson.Result) string {
	switch {
	case !v.Exists():
		return ""
	case members(v) != nil:
		return indent + compact.Line(key) + ":"
	}
	return indent + compact.Line(key+": "+v.Raw)
}

// A part is a member of an object or an element of a list.
type part struct {
	key   string
	value gjson.Result
}

// members are what stands below a value in an outline: a list of plain values
// stands beside its key.
func members(v gjson.Result) (all []part) {
	plain := v.IsArray()
	v.ForEach(func(key, value gjson.Result) bool {
		if !v.IsObject() {
			key.Str = "- " + strconv.Itoa(len(all)+1)
		}
		plain = plain && !value.IsObject() && !value.IsArray()
		all = append(all, part{key.Str, value})
		return true
	})
	if plain || !v.IsObject() && !v.IsArray() {
		return nil
	}
	return all
}

func lookUp(all []part, key string) gjson.Result {
	for _, m := range all {
		if m.key == key {
			return m.value
		}
	}
	return gjson.Result{}
}

// printBeside shows the two columns of rows.
func printBeside(w io.Writer, columns int, rows []row) {
	width := (columns - 3) / 2
	for _, r := range rows {
		before, after := wrapped(r.before, width), wrapped(r.after, width)
		for i := range max(len(before), len(after)) {
			line := row{lineAt(before, i), lineAt(after, i)}
			text := line.before + strings.Repeat(" ", width-utf8.RuneCountInString(line.before)+1) + r.mark() + " " + line.after
			fmt.Fprintln(w, strings.TrimRight(text, " "))
		}
	}
}

// printAbove shows the one column, then the other.
func printAbove(w io.Writer, columns int, rows []row) {
	for _, r := range rows {
		printLine(w, columns, r.before)
	}
	fmt.Fprintln(w)
	for _, r := range rows {
		printLine(w, columns, r.after)
	}
}

func printLine(w io.Writer, columns int, text string) {
	if text != "" {
		fmt.Fprintln(w, strings.Join(wrapped(text, columns), "\n"))
	}
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
