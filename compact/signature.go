package compact

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

const (
	// maxSignature is what a signature may cost, as Tokens estimates it.
	maxSignature = 120

	// maxParameters is how many parameters are shown; of more than that, the
	// required ones, and others up to manyParameters.
	maxParameters  = 12
	manyParameters = 6

	// maxValues is how many values of an enum, or members of a union, are
	// shown; of more than that, the first shownValues.
	maxValues   = 8
	shownValues = 6

	// maxName is how much of a tool's name is shown when it alone would cost
	// too much, in characters. The protocol recommends at most 128.
	maxName = 52
)

// Signature renders a tool as one line of typed parameters and the first
// sentence of its description, at most 120 tokens by Tokens:
//
//	create_issue(project: string, priority?: low|medium|high) — Create an issue.
//
// Required parameters come first, in the order of the schema; of more than 12,
// those and the most telling of the others are shown. When the line would cost
// too much, it loses optional parameters from the end, then words of the
// description, then types, then required parameters; "…+3" says how many are
// not shown. That a tool is out of use is said before what it does.
func Signature(name string, schema []byte, description string) string {
	line, _ := SignatureWith(nil, name, schema, description)
	return line
}

// SignatureWith is Signature with some of the optional parameters before the
// others. It also returns the names of those that are not shown.
func SignatureWith(first []string, name string, schema []byte, description string) (line string, hidden []string) {
	s := signature{
		name:   toolName(name),
		params: parametersOf(schema, first),
		text:   toldOf(description),
	}
	s.shown = shownOf(s.required(), len(s.params), len(first))
	line = s.fit()
	for _, p := range s.params[s.shown:] {
		hidden = append(hidden, strings.Clone(p.key))
	}
	return line, hidden
}

// A signature is a line in the making.
type signature struct {
	name   string
	params []parameter // required ones first
	shown  int         // how many of them
	closed bool        // with objects not spelled out
	bare   bool        // without types
	text   string      // "" for none
}

type parameter struct {
	schema     gjson.Result
	key        string // the name as it is in the schema
	name, kind string
	inside     string // the type with the properties of an object spelled out, or ""
	required   bool
}

// required counts the required parameters, which come first.
func (s *signature) required() int {
	n := slices.IndexFunc(s.params, func(p parameter) bool { return !p.required })
	if n < 0 {
		return len(s.params)
	}
	return n
}

// fit takes away what can be missed best until the line is cheap enough.
func (s *signature) fit() string {
	steps := []func() bool{
		func() bool { s.closed = true; return false },
		func() bool { return s.hide(s.required()) },
		func() bool { return s.shorten(40) },
		func() bool { s.bare = true; return false },
		func() bool { return s.hide(0) },
		func() bool { return s.shorten(0) },
		func() bool { s.shortenName(); return false },
	}
	line := s.String()
	for len(steps) > 0 && Tokens([]byte(line)) > maxSignature {
		if !steps[0]() {
			steps = steps[1:]
		}
		line = s.String()
	}
	return line
}

// hide shows one parameter fewer, but at least keep.
func (s *signature) hide(keep int) bool {
	if s.shown <= keep {
		return false
	}
	s.shown--
	return true
}

// shorten takes a quarter off the description, down to a length of keep.
func (s *signature) shorten(keep int) bool {
	n := utf8.RuneCountInString(s.text)
	if n <= keep {
		return false
	}
	if n < 20 {
		s.text = ""
	} else {
		s.text = Sentence(s.text, max(keep, n*3/4))
	}
	return s.text != ""
}

// shortenName keeps the head and the tail of a name that alone costs too much, and
// says that nobody can use what is left.
func (s *signature) shortenName() {
	if runes := []rune(s.name); len(runes) > maxName {
		s.name = string(runes[:maxName/2]) + "…" + string(runes[len(runes)-maxName/2:])
		s.text = "not its whole name"
	}
}

func (s *signature) String() string {
	var b strings.Builder
	b.WriteString(s.name)
	b.WriteByte('(')
	for i, p := range s.params[:s.shown] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.name)
		if !p.required {
			b.WriteByte('?')
		}
		switch {
		case s.bare:
		case p.inside != "" && !s.closed:
			b.WriteString(": " + p.inside)
		default:
			b.WriteString(": " + p.kind)
		}
	}
	if hidden := len(s.params) - s.shown; hidden > 0 {
		if s.shown > 0 {
			b.WriteString(", ")
		}
		b.WriteString("…+")
		b.WriteString(strconv.Itoa(hidden))
	}
	b.WriteByte(')')
	if s.text != "" {
		b.WriteString(" — ")
		b.WriteString(s.text)
	}
	return b.String()
}

// parametersOf returns the parameters that schema declares, required first. It
// does not ask whether schema is valid: of what is not, it makes something.
func parametersOf(schema []byte, first []string) []parameter {
	root := gjson.Parse(view(schema))
	if !root.IsObject() {
		return nil
	}
	t := typer{root: root, work: maxWork * len(root.Raw)}
	f := t.resolve(root)
	all := t.parameters(&f, 0, first)
	if len(all) == 1 { // some tools wrap all they take in one object
		f.properties.ForEach(func(_, v gjson.Result) bool {
			all[0].inside = t.inside(v)
			return false
		})
	}
	return all
}

// parameters returns the properties of an object, required first, then those of
// some names, and last what only says how much is returned and in which form.
// Those that are too many to be shown have no type.
func (t *typer) parameters(f *facts, depth int, first []string) []parameter {
	if !f.properties.IsObject() {
		return nil
	}
	var required, optional []parameter
	names := namesIn(f.required)
	f.properties.ForEach(func(key, value gjson.Result) bool {
		p := parameter{key: key.Str, name: key.Str, schema: value, required: names[key.Str]}
		if p.required {
			required = append(required, p)
		} else {
			optional = append(optional, p)
		}
		return true
	})
	all := append(required, optional...)
	shown := shownOf(len(required), len(all), len(first))
	if shown < len(all) || len(first) > 0 {
		slices.SortStableFunc(all[len(required):], func(a, b parameter) int {
			return cmp.Compare(rankOf(a.key, first), rankOf(b.key, first))
		})
	}
	for i := range all[:shown] {
		all[i].name = paramName(all[i].name)
		all[i].kind = t.kind(all[i].schema, depth)
	}
	return all
}

// rankOf is where an optional parameter belongs.
func rankOf(name string, first []string) int {
	switch {
	case slices.Contains(first, name):
		return 0
	case aside(name):
		return 2
	}
	return 1
}

// aside reports whether a parameter only says how much is returned, and in which
// form, as those of many tools do.
func aside(name string) bool {
	switch strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(name, "_", ""), "-", "")) {
	case "page", "perpage", "pagesize", "pagetoken", "limit", "offset", "cursor", "after", "before", "skip", "top", "count", "maxresults",
		"sort", "sortby", "sortorder", "order", "orderby", "direction", "fields", "select", "expand", "format", "outputformat", "responseformat",
		"verbose", "debug", "timeout", "headers", "fetchallpages", "includeheaders", "excluderesponse":
		return true
	}
	return false
}

// shownOf returns how many parameters are shown at most, of which some are
// asked for.
func shownOf(required, all, asked int) int {
	if all <= maxParameters {
		return all
	}
	return min(all, max(manyParameters, required+asked), maxSignature/2) // more cannot fit
}

// inside returns the type of the object schema v with its properties, or "".
func (t *typer) inside(v gjson.Result) string {
	f := t.resolve(v)
	s := signature{params: t.parameters(&f, 1, nil)}
	s.shown = len(s.params)
	if s.shown == 0 || s.shown > maxParameters {
		return ""
	}
	line := s.String()
	return "{" + line[1:len(line)-1] + "}"
}

// toolName returns a tool's name as it is shown: names that hosts take for one
// word as they are, any other in quotes.
func toolName(name string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-./:", r)
	}
	if name != "" && !strings.ContainsFunc(name, func(r rune) bool { return hidden(r) || !plain(r) }) {
		return name
	}
	return quoteName(name)
}

// brailleBlank looks like a space, but is none.
const brailleBlank = '\u2800'

// quoteName returns a tool's name as a JSON string that means that very name, with
// escapes for what nobody sees.
func quoteName(name string) string {
	var b strings.Builder
	for _, r := range string(appendString(nil, name)) {
		if r == ' ' || r != brailleBlank && Line(string(r)) == string(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// paramName returns a parameter's name, in quotes unless it is an identifier.
func paramName(name string) string {
	plain := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '$' }
	if name != "" && isDigit(name[0]) {
		return quote(name)
	}
	return quoteUnless(plain, name)
}

// literal returns a value of an enum or a const: strings that are one word as
// they are, others in quotes.
func literal(v gjson.Result) string {
	if v.Type != gjson.String {
		return cut(Line(v.Raw), maxLiteral)
	}
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-./:+#@*%", r)
	}
	if looksTyped(v.Str) {
		return quote(v.Str)
	}
	return quoteUnless(plain, cut(Line(v.Str), maxLiteral))
}

// maxLiteral is how much of a value is shown, in characters.
const maxLiteral = 40

// looksTyped reports whether a string without quotes would be read as another
// JSON value.
func looksTyped(s string) bool {
	return s == "true" || s == "false" || s == "null" || gjson.Valid(s) && gjson.Parse(s).Type == gjson.Number
}

func quoteUnless(plain func(rune) bool, s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return hidden(r) || !plain(r) && r != '…' }) {
		return s
	}
	return quote(s)
}

func quote(s string) string { return string(appendString(nil, Line(s))) }
