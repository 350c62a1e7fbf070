package hosts

import (
	"slices"
	"strings"

	"mcp-facade/facade/config"
	"mcp-facade/facade/jsonc"
)

// masked is the text of a server for a diff: without the values of variables and
// headers, what else looks secret or holds one of secrets, and comments. The
// indentation of its first line is off all of them.
func (d *dialect) masked(data []byte, s *found, secrets ...string) string {
	m := masker{d: d, program: d.entry(s).Command, data: data, secrets: secrets}
	for i := range s.node.nodes {
		m.member(&s.node.nodes[i], false)
	}
	slices.SortFunc(m.covers, func(a, b cover) int { return a.start - b.start })
	var b strings.Builder
	for _, part := range s.text {
		text := strings.ReplaceAll(m.part(part), "\r\n", "\n")
		text = strings.ReplaceAll(text, "\n"+lineIndent(data, part.start), "\n")
		b.WriteString(strings.TrimRight(text, "\n") + "\n")
	}
	return b.String()
}

// minSecret is the length of a value of a variable from which it is hidden where
// else it may have come to stand. Short ones are in every other word.
const minSecret = 4

// hiddenVars are the values of a server's variables that are to be hidden anywhere.
func (d *dialect) hiddenVars(s *found) (values []string) {
	for _, v := range d.entry(s).Env {
		if len(v.Value) >= minSecret {
			values = append(values, v.Value)
		}
	}
	return values
}

// A cover is what is shown in the place of a part of the data.
type cover struct {
	span
	text string
}

type masker struct {
	d       *dialect
	program string // what the arguments go with
	data    []byte
	secrets []string
	covers  []cover
}

// member covers what is secret in a member of a server, or in all of it.
func (m *masker) member(n *node, all bool) {
	all = all || m.isSecretTable(n) || n.kind != list && config.NamesSecret(n.key) && !strings.HasSuffix(n.key, "_env_var")
	switch {
	case n.kind == list && !all:
		m.list(n)
	case n.kind == list || n.kind == table:
		for i := range n.nodes {
			m.member(&n.nodes[i], all)
		}
	case all || m.holdsSecret(n):
		m.cover(n, hidden)
	case slices.Contains(m.d.urls, n.key):
		m.cover(n, maskedURL(n.value))
	default:
		m.text(n, secretsIn([]string{n.value})[0])
	}
}

func (m *masker) holdsSecret(n *node) bool {
	return slices.ContainsFunc(m.secrets, func(secret string) bool { return strings.Contains(n.value, secret) })
}

// isSecretTable reports whether all values in a table are hidden.
func (m *masker) isSecretTable(n *node) bool {
	switch n.key {
	case m.d.env, "env", m.d.headers, "headers", "env_http_headers", "settings", "oauth", "auth":
		return n.kind == table
	}
	return false
}

// list covers what is secret in a list, which may be of arguments.
func (m *masker) list(n *node) {
	words := make([]string, len(n.nodes))
	for i, kid := range n.nodes {
		words[i] = kid.value
	}
	if n.key == "args" {
		words = append([]string{m.program}, words...)
	}
	offsets := secretsIn(words)
	for i := range n.nodes {
		kid := &n.nodes[i]
		switch {
		case kid.kind == list || kid.kind == table:
			m.member(kid, false)
		case m.holdsSecret(kid):
			m.cover(kid, hidden)
		default:
			m.text(kid, offsets[i+len(words)-len(n.nodes)])
		}
	}
}

// text covers a text from an offset on that is not -1, and the queries of its URLs.
func (m *masker) text(n *node, at int) {
	switch {
	case at >= 0:
		m.cover(n, n.value[:at]+hidden)
	case strings.Contains(n.value, "://"):
		at := strings.LastIndexAny(n.value[:strings.Index(n.value, "://")], "= ") + 1
		m.cover(n, n.value[:at]+maskedURL(n.value[at:]))
	}
}

func (m *masker) cover(n *node, text string) {
	if n.end > n.start && text != n.value {
		m.covers = append(m.covers, cover{n.span, jsonc.Quote(text)})
	}
}

// part is a part of the data under its covers, and without its comments.
func (m *masker) part(part span) string {
	var b strings.Builder
	at := part.start
	for _, c := range m.covers {
		if c.start >= at && c.end <= part.end {
			b.Write(m.data[at:c.start])
			b.WriteString(c.text)
			at = c.end
		}
	}
	b.Write(m.data[at:part.end])
	if m.d.format == (tomlFormat{}) {
		return hideTOMLComments(b.String())
	}
	return hideJSONComments(b.String())
}

// dropComments takes out the lines that are nothing but a comment, if they stay: as
// nobody can read them, they say nothing.
func (c *Change) dropComments() {
	var kept [2][]string
	for i, text := range []string{c.Before, c.After} {
		for line := range strings.Lines(text) {
			if !slices.Contains([]string{"// " + hidden, "# " + hidden, "/* " + hidden + " */"}, strings.TrimSpace(line)) {
				kept[i] = append(kept[i], line)
			}
		}
	}
	if strings.Count(c.Before, "\n")-len(kept[0]) == strings.Count(c.After, "\n")-len(kept[1]) {
		c.Before, c.After = strings.Join(kept[0], ""), strings.Join(kept[1], "")
	}
}

// hideJSONComments leaves of comments only their marks.
func hideJSONComments(text string) string {
	data := []byte(text)
	var b strings.Builder
	for i := 0; i < len(data); {
		end := skipped(data, i)
		switch piece := text[i:end]; {
		case strings.HasPrefix(piece, "//"):
			b.WriteString("// " + hidden)
			if strings.HasSuffix(piece, "\n") {
				b.WriteString("\n")
			}
		case strings.HasPrefix(piece, "/*"):
			b.WriteString("/* " + hidden + " */")
		default:
			b.WriteString(piece)
		}
		i = end
	}
	return b.String()
}
