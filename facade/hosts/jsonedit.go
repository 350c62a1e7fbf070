package hosts

import (
	"bytes"
	"errors"
	"strings"

	"mcp-facade/facade/jsonc"
)

// errForm refuses an edit whose outcome does not say what it should.
var errForm = errors.New("it is written in a way that cannot be changed with certainty; change it by hand")

func (jsonFormat) edit(data []byte, at found, edits []edit) ([]byte, error) {
	o := jsonc.Object{Text: data[at.node.start:at.node.end], EOL: eolOf(data, at.node.start), Indent: lineIndent(data, at.text[0].start)}
	want := at.node
	for _, e := range edits {
		var err error
		if want, err = jsonEdited(want, e); err != nil {
			return nil, err
		}
		switch value := e.value.(type) {
		case nil:
			err = o.Remove(e.path)
		case literal:
			err = o.Copy(e.path, string(value))
		default:
			err = o.Set(e.path, jsonOf(value))
		}
		if err != nil {
			return nil, errForm
		}
	}
	got, err := parseJSON(o.Text)
	if err != nil {
		return nil, errForm
	}
	n, err := jsonDoc{o.Text}.node(got, []string{want.key})
	if err != nil || !n.says(want) {
		return nil, errForm
	}
	return splice(data, at.node.span, string(o.Text)), nil
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

// jsonOf is a value of an edit as JSON has it.
func jsonOf(value any) string {
	switch value := value.(type) {
	case string:
		return jsonc.Quote(value)
	case []string:
		items := make([]string, len(value))
		for i, item := range value {
			items[i] = jsonc.Quote(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	default:
		return string(value.(literal))
	}
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
