package hosts

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcp-facade/facade/jsonc"

	"github.com/tailscale/hujson"
)

// jsonFormat is JSON, with comments and trailing commas where a host allows
// them. The parser gives the positions; the edits are splices of our own, read
// again before they count.
type jsonFormat struct{}

func (jsonFormat) find(data []byte, roots [][]string) ([]found, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil // a host makes such a file, and takes it for one without servers
	}
	root, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	d := jsonDoc{data}
	var all []found
	for _, keys := range roots {
		if all, err = d.servers(all, root, nil, keys); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.text[0].start, b.text[0].start) })
	return all, nil
}

func (jsonFormat) transplant(data []byte, at found, from []byte, old found) ([]byte, error) {
	return splice(data, at.text[0], string(from[old.text[0].start:old.text[0].end])), nil
}

func (jsonFormat) quote(text string) string { return jsonc.Quote(text) }

// A jsonDoc is the data of a file that could be parsed.
type jsonDoc struct{ data []byte }

// servers appends the servers in the table to which keys lead from v.
func (d jsonDoc) servers(all []found, v hujson.Value, path, keys []string) ([]found, error) {
	if isNull(v) && len(path) > 0 {
		return all, nil
	}
	key := "*"
	if len(keys) > 0 {
		key = keys[0]
	}
	members, err := d.members(v, path, key)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		below := append(slices.Clip(path), keyOf(m))
		if len(keys) > 0 {
			if all, err = d.servers(all, m.Value, below, keys[1:]); err != nil {
				return nil, err
			}
			continue
		}
		n, err := d.node(m.Value, below)
		if err != nil {
			return nil, err
		}
		all = append(all, found{path: below, node: n, text: []span{{m.Name.StartOffset, m.Value.EndOffset}}})
	}
	return all, nil
}

// node reads a value with all that is in it.
func (d jsonDoc) node(v hujson.Value, path []string) (node, error) {
	n := node{span: span{v.StartOffset, v.EndOffset}, key: path[len(path)-1]}
	switch value := v.Value.(type) {
	case hujson.Literal:
		n.value = string(value)
		if value.Kind() == '"' {
			n.kind, n.value = text, value.String()
		}
	case *hujson.Array:
		n.kind = list
		for _, e := range value.Elements {
			kid, err := d.node(e, append(slices.Clip(path), ""))
			if err != nil {
				return node{}, err
			}
			n.nodes = append(n.nodes, kid)
		}
	case *hujson.Object:
		n.kind = table
		members, err := d.members(v, path, "*")
		if err != nil {
			return node{}, err
		}
		for _, m := range members {
			kid, err := d.node(m.Value, append(slices.Clip(path), keyOf(m)))
			if err != nil {
				return node{}, err
			}
			n.nodes = append(n.nodes, kid)
		}
	}
	return n, nil
}

// members are those of an object that are called key; "*": all. None may be there
// twice: a host takes the last, and whoever reads the file may take the first.
func (d jsonDoc) members(v hujson.Value, path []string, key string) (all []hujson.ObjectMember, err error) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		where := "the file"
		if len(path) > 0 {
			where = dotted(path)
		}
		return nil, d.fail(v.StartOffset, "%s: want an object, have %s", where, jsonc.TypeName(v))
	}
	seen := make(map[string]bool, len(object.Members))
	for _, m := range object.Members {
		name := keyOf(m)
		if name != key && key != "*" {
			continue
		}
		if seen[name] {
			return nil, d.fail(m.Name.StartOffset, "%s is there twice", dotted(append(slices.Clip(path), name)))
		}
		seen[name] = true
		all = append(all, m)
	}
	return all, nil
}

func (d jsonDoc) fail(offset int, format string, args ...any) error {
	return &syntaxError{lineAt(d.data, offset), fmt.Sprintf(format, args...)}
}

func keyOf(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

func isNull(v hujson.Value) bool { return v.Value.Kind() == 'n' }

// maxDepth is how deep the objects and arrays of a file may stand in each other.
// The parser calls itself for each level.
const maxDepth = 2_000

// parseJSON parses data.
func parseJSON(data []byte) (hujson.Value, error) {
	if line := tooDeep(data); line > 0 {
		return hujson.Value{}, &syntaxError{line, fmt.Sprintf("more than %d brackets are open", maxDepth)}
	}
	root, err := jsonc.Parse(data)
	if err != nil {
		return root, jsonError(data, err)
	}
	return root, nil
}

// jsonError words an error of the parser, whose own text repeats what it could
// not read: that may be a secret that lacks its quotes.
func jsonError(data []byte, err error) error {
	e := &syntaxError{}
	column := 0
	fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &e.line, &column)
	why := cmp.Or(errors.Unwrap(err), err).Error()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.line, column = lineAt(data, len(data)), 0
		e.problem = "the file ends too early: a bracket, a quote or a comment is not closed"
	case strings.HasPrefix(why, "invalid literal"):
		e.problem = "this is not a JSON value: a quote is missing, or a control character or an unknown escape stands in a string"
	case strings.Contains(why, "expecting ',' or"):
		e.problem = "a comma or a closing bracket is missing"
	default:
		e.problem = "this is not JSON: a comma, a colon, a quote or a bracket is missing or is too many"
	}
	if column > 0 {
		e.problem += fmt.Sprintf(" (column %d)", column)
	}
	return e
}

// tooDeep is the line in which more than maxDepth brackets are open; 0: none.
func tooDeep(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"', '/':
			i = skipped(data, i) - 1
		case '{', '[':
			if depth++; depth > maxDepth {
				return lineAt(data, i)
			}
		case '}', ']':
			depth--
		}
	}
	return 0
}

// skipped is the offset behind the string or the comment that begins at i.
func skipped(data []byte, i int) int {
	rest := string(data[i:min(i+2, len(data))])
	switch {
	case rest == "//":
		return until(data, i+2, "\n")
	case rest == "/*":
		return until(data, i+2, "*/")
	case data[i] != '"':
		return i + 1
	}
	for i++; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(data))
}

// until is the offset behind the first end at or after i, or that of the data's end.
func until(data []byte, i int, end string) int {
	if at := bytes.Index(data[min(i, len(data)):], []byte(end)); at >= 0 {
		return i + at + len(end)
	}
	return len(data)
}

// splice is data with text in the place of a part.
func splice(data []byte, at span, text string) []byte {
	return slices.Concat(data[:at.start], []byte(text), data[at.end:])
}

// dotted is a path for a person: mcpServers.acme, projects["/p"].mcpServers.
func dotted(path []string) string {
	var b strings.Builder
	for i, key := range path {
		switch {
		case !isWord(key):
			fmt.Fprintf(&b, "[%q]", key)
		case i > 0:
			b.WriteString("." + key)
		default:
			b.WriteString(key)
		}
	}
	return b.String()
}

// isWord reports whether a key needs no quotes.
func isWord(key string) bool {
	odd := func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	return key != "" && !strings.ContainsFunc(key, odd)
}
