package hosts

import (
	"fmt"
	"slices"
	"strings"
)

// text is a value of the host in our notation. A placeholder that says the same
// there is translated; another, what we would take for one, and what our notation
// cannot say, as "$" before a placeholder, goes through a variable of the host's
// entry, in which the host replaces it.
func (t *translator) text(raw, name string) string {
	var b strings.Builder
	at := 0
	if t.pattern != nil {
		for _, m := range t.pattern.FindAllStringSubmatchIndex(raw, -1) {
			variable, or := t.group(raw, m, "var")+t.group(raw, m, "bare"), t.group(raw, m, "or")
			unsaid := strings.Contains(or, "$") || strings.HasSuffix(raw[:m[0]], "$")
			if variable == "" || !t.inherits || t.hasEnv(variable) || unsaid {
				return t.carry(raw, name)
			}
			if or == "" && t.blank {
				or = ":-"
			}
			b.WriteString(escaped(raw[at:m[0]]) + "${" + variable + or + "}")
			at = m[1]
		}
	}
	if at == 0 && isForeign(raw) {
		return t.carry(raw, name)
	}
	return b.String() + escaped(raw[at:])
}

func (t *translator) group(raw string, match []int, name string) string {
	i := t.pattern.SubexpIndex(name)
	if i < 0 || match[2*i] < 0 {
		return ""
	}
	return raw[match[2*i]:match[2*i+1]]
}

// isPlaceholder reports whether nothing in a value is literal.
func (t *translator) isPlaceholder(raw string) bool { return raw != "" && t.literal(raw) == "" }

// literal is what of a value is written out: what stands around placeholders, and
// their fallbacks.
func (t *translator) literal(raw string) string {
	if t.pattern == nil {
		return raw
	}
	var b strings.Builder
	at := 0
	for _, m := range t.pattern.FindAllStringSubmatchIndex(raw, -1) {
		b.WriteString(raw[at:m[0]] + strings.TrimPrefix(t.group(raw, m, "or"), ":-"))
		at = m[1]
	}
	return b.String() + raw[at:]
}

// carry gives a value to a new variable of the host's entry, and the placeholder
// of that.
func (t *translator) carry(raw, name string) string {
	name = t.prefix + name
	for i, first := 2, name; t.hasEnv(name); i++ {
		name = fmt.Sprintf("%s_%d", first, i)
	}
	t.Env = append(t.Env, Var{name, raw})
	return "${" + name + "}"
}

func (t *translator) hasEnv(name string) bool {
	named := func(v Var) bool { return strings.EqualFold(v.Name, name) }
	return slices.ContainsFunc(t.entry.Env, named) || slices.ContainsFunc(t.Env, named)
}

// escaped is a literal text in the notation of the servers file.
func escaped(literal string) string { return strings.ReplaceAll(literal, "${", "$${") }

// isForeign reports whether a literal value would be taken for a placeholder in
// the servers file: %X%, $X and {env:X}, as a whole.
func isForeign(literal string) bool {
	return len(literal) > 1 && (literal[0] == '$' && literal[1] != '{' ||
		literal[0] == '%' && strings.HasSuffix(literal, "%") || strings.HasPrefix(literal, "{env:"))
}

// variableOf makes the name of a variable, or the end of one.
func variableOf(text string) string {
	word := func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			return r
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		}
		return '_'
	}
	return strings.Map(word, text)
}
