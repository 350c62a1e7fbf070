package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// errForm refuses an edit whose outcome does not say what it should.
var errForm = errors.New("it is written in a way that cannot be changed with certainty")

func (jsonFormat) edit(data []byte, at found, edits []edit) ([]byte, error) {
	body := bytes.Clone(data[at.node.start:at.node.end])
	style := jsonStyle{eol: eolOf(data, at.node.start), outer: lineIndent(data, at.text[0].start)}
	want := at.node
	for _, e := range edits {
		var err error
		if body, err = style.edit(body, e.path, e.value); err != nil {
			return nil, err
		}
		if want, err = jsonEdited(want, e); err != nil {
			return nil, err
		}
	}
	got, err := parseJSON(body)
	if err != nil {
		return nil, errForm
	}
	n, err := jsonDoc{body}.node(got, []string{want.key})
	if err != nil || !n.says(want) {
		return nil, errForm
	}
	return splice(data, at.node.span, string(body)), nil
}

// jsonEdited is what a server says after an edit.
func jsonEdited(n node, e edit) (node, error) {
	if e.value == nil {
		return n.without(e.path), nil
	}
	raw := jsonOf(e.value)
	v, err := parseJSON([]byte(raw))
	if err != nil {
		return node{}, errForm
	}
	value, err := jsonDoc{[]byte(raw)}.node(v, e.path[len(e.path)-1:])
	return n.with(e.path, value), err
}

// A jsonStyle is how the object that is edited stands in its file.
type jsonStyle struct {
	eol   string
	outer string // the indentation of the line in which the object begins
}

// edit gives the text of an object with one member set, or without it.
func (s jsonStyle) edit(body []byte, path []string, value any) ([]byte, error) {
	root, err := parseJSON(body)
	if err != nil {
		return nil, err
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, errForm
	}
	i := slices.IndexFunc(object.Members, func(m hujson.ObjectMember) bool { return keyOf(m) == path[0] })
	switch {
	case i < 0 && value == nil:
		return body, nil
	case i < 0:
		return s.add(body, object, path, value)
	case len(path) > 1:
		v := object.Members[i].Value
		was := body[v.StartOffset:v.EndOffset]
		if isNull(v) && value != nil {
			was = []byte("{}")
		}
		inner := jsonStyle{s.eol, s.indentAt(body, object.Members[i].Name.StartOffset)}
		text, err := inner.edit(was, path[1:], value)
		if err != nil {
			return nil, err
		}
		return splice(body, span{v.StartOffset, v.EndOffset}, string(text)), nil
	case value == nil:
		return removed(body, object, i), nil
	default:
		v := object.Members[i].Value
		return splice(body, span{v.StartOffset, v.EndOffset}, s.alike(body, v, value)), nil
	}
}

// indentAt is the indentation of the line in which an offset of body lies; the
// first line began before body.
func (s jsonStyle) indentAt(body []byte, offset int) string {
	if !bytes.Contains(body[:offset], []byte("\n")) {
		return s.outer
	}
	return lineIndent(body, offset)
}

// alike is a value in the form of the one whose place it takes: a list that has
// a line for each element keeps that.
func (s jsonStyle) alike(body []byte, v hujson.Value, value any) string {
	items, ok := value.([]string)
	array, was := v.Value.(*hujson.Array)
	switch {
	case !ok || !was || len(items) == 0:
		return jsonOf(value)
	case len(array.Elements) == 0:
		return s.spaced(body, jsonOf(value))
	}
	first := array.Elements[0]
	lead := string(body[v.StartOffset+1 : first.StartOffset])
	if !strings.Contains(lead, "\n") {
		return s.spaced(body, jsonOf(value))
	}
	sep := s.eol + s.indentAt(body, first.StartOffset)
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = sep + jsonOf(item)
	}
	return "[" + strings.Join(lines, ",") + s.eol + s.indentAt(body, v.EndOffset-1) + "]"
}

// spaced takes the spaces out of a value in a body that has none.
func (s jsonStyle) spaced(body []byte, value string) string {
	if !isTight(body) {
		return value
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(value)) != nil {
		return value
	}
	return b.String()
}

// isTight reports whether an object has no white space after its first colon.
func isTight(body []byte) bool {
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"', '/':
			i = skipped(body, i) - 1
		case ':':
			return i+1 < len(body) && !isSpace(body[i+1])
		}
	}
	return false
}

// add makes a member the last of an object.
func (s jsonStyle) add(body []byte, object *hujson.Object, path []string, value any) ([]byte, error) {
	for len(path) > 1 {
		one, ok := value.(string)
		if !ok || len(path) > 2 {
			return nil, errForm
		}
		path, value = path[:1], []Var{{path[1], one}}
	}
	if len(object.Members) == 0 {
		return s.addFirst(body, path[0], value), nil
	}
	last := object.Members[len(object.Members)-1]
	end, closing := last.Value.EndOffset, len(body)-1
	tail := body[end:closing]
	at := end + len(bytes.TrimRight(tail, " \t\r\n"))
	sep, indent, many := s.separator(body, object)
	if hasLineComment(body[end:at]) && !strings.Contains(sep, "\n") {
		sep = s.eol + indent
	}
	member := sep + s.member(body, path[0], value, indent, many)
	if commaIn(body, end, closing) >= 0 {
		return splice(body, span{at, at}, member+","), nil
	}
	return splice(splice(body, span{at, at}, member), span{end, end}, ","), nil
}

// separator is what stands before the last member, the indentation of its line,
// and whether each member has a line.
func (s jsonStyle) separator(body []byte, object *hujson.Object) (sep, indent string, many bool) {
	name := object.Members[len(object.Members)-1].Name
	indent = s.indentAt(body, name.StartOffset)
	switch before := string(name.BeforeExtra); {
	case strings.Contains(before, "\n"):
		return s.eol + indent, indent, true
	case isTight(body):
		return "", indent, false
	default:
		return " ", indent, false
	}
}

// addFirst puts a member into an object that has none.
func (s jsonStyle) addFirst(body []byte, key string, value any) []byte {
	inside := body[1 : len(body)-1]
	kept := bytes.TrimRight(inside, " \t\r\n")
	if !bytes.Contains(inside, []byte("\n")) && !hasLineComment(kept) {
		return []byte("{" + string(inside) + s.member(body, key, value, s.outer, false) + "}")
	}
	indent := s.outer + unitOf(s.outer)
	return []byte("{" + string(kept) + s.eol + indent + s.member(body, key, value, indent, true) + s.eol + s.outer + "}")
}

// member is a member's text. A table of several has a line for each if the
// members around it do.
func (s jsonStyle) member(body []byte, key string, value any, indent string, many bool) string {
	vars, ok := value.([]Var)
	if !ok || !many || len(vars) == 0 {
		return s.colon(body, key) + s.spaced(body, jsonOf(value))
	}
	lines := make([]string, len(vars))
	inner := indent + s.unit(indent)
	for i, v := range vars {
		lines[i] = s.eol + inner + s.colon(body, v.Name) + jsonOf(v.Value)
	}
	return s.colon(body, key) + "{" + strings.Join(lines, ",") + s.eol + indent + "}"
}

func (s jsonStyle) colon(body []byte, key string) string {
	if isTight(body) {
		return jsonOf(key) + ":"
	}
	return jsonOf(key) + ": "
}

// unit is one step of indentation: what a member is indented more than the line
// in which its object begins.
func (s jsonStyle) unit(indent string) string {
	if step, ok := strings.CutPrefix(indent, s.outer); ok && step != "" {
		return step
	}
	return unitOf(indent)
}

// unitOf guesses one step from an indentation.
func unitOf(indent string) string {
	if strings.HasPrefix(indent, "\t") {
		return "\t"
	}
	return "  "
}

// removed is an object's text without a member: its comma and, if nothing else
// stands there, its line go, too. Comments stay.
func removed(body []byte, object *hujson.Object, i int) []byte {
	m := object.Members[i]
	start, end, closing := m.Name.StartOffset, m.Value.EndOffset, len(body)-1
	next := closing
	if i+1 < len(object.Members) {
		next = object.Members[i+1].Name.StartOffset
	}
	comma := commaIn(body, end, next)
	if comma >= 0 && len(bytes.TrimSpace(body[end:comma])) == 0 {
		end, comma = comma+1, -1
	}
	if comma >= 0 {
		body = splice(body, span{comma, comma + 1}, "")
	}
	before := -1
	if i > 0 && i+1 == len(object.Members) && commaIn(body, m.Value.EndOffset, len(body)-1) < 0 {
		before = commaIn(body, object.Members[i-1].Value.EndOffset, start)
	}
	from, to := line(body, start, end, i+1 == len(object.Members))
	body = splice(body, span{from, to}, "")
	if before >= 0 {
		body = splice(body, span{before, before + 1}, "")
	}
	return body
}

// line widens a part of body by the line that it has for itself, or by the white
// space on one side of it.
func line(body []byte, start, end int, last bool) (from, to int) {
	from, to = start, end
	for from > 0 && (body[from-1] == ' ' || body[from-1] == '\t') {
		from--
	}
	for to < len(body) && (body[to] == ' ' || body[to] == '\t') {
		to++
	}
	begins := from > 0 && body[from-1] == '\n'
	ends := to < len(body) && (body[to] == '\n' || body[to] == '\r')
	switch {
	case begins && ends:
		from--
		if from > 0 && body[from-1] == '\r' {
			from--
		}
		return from, to
	case last:
		return from, end
	default:
		return start, to
	}
}

// commaIn is the offset of the comma between two members, or -1.
func commaIn(body []byte, from, to int) int {
	for i := from; i < to; i++ {
		switch body[i] {
		case ',':
			return i
		case '/':
			i = skipped(body, i) - 1
		}
	}
	return -1
}

// hasLineComment reports whether there is a comment in extra, white space and
// comments, that only a line end closes.
func hasLineComment(extra []byte) bool {
	for i := 0; i < len(extra); i++ {
		if extra[i] != '/' {
			continue
		}
		if bytes.HasPrefix(extra[i:], []byte("//")) {
			return true
		}
		i = skipped(extra, i) - 1
	}
	return false
}

// jsonOf is a value of an edit as JSON has it.
func jsonOf(value any) string {
	switch value := value.(type) {
	case string:
		return quoted(value)
	case []string:
		items := make([]string, len(value))
		for i, item := range value {
			items[i] = quoted(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case []Var:
		items := make([]string, len(value))
		for i, v := range value {
			items[i] = quoted(v.Name) + ": " + quoted(v.Value)
		}
		return "{" + strings.Join(items, ", ") + "}"
	default:
		return string(value.(literal))
	}
}

// quoted is a JSON string, in which "&", "<" and ">" stay as they are.
func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// eolOf is the line end that the file has: that of the line of offset, else of
// the one before.
func eolOf(data []byte, offset int) string {
	i := bytes.IndexByte(data[offset:], '\n')
	if i >= 0 {
		i += offset
	} else {
		i = bytes.LastIndexByte(data[:offset], '\n')
	}
	if i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineIndent is the white space with which the line of an offset begins.
func lineIndent(data []byte, offset int) string {
	start := bytes.LastIndexByte(data[:offset], '\n') + 1
	end := start
	for end < len(data) && (data[end] == ' ' || data[end] == '\t') {
		end++
	}
	return string(data[start:end])
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
