package config

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// An environment is a list of "K=V" entries with each name once; on Windows
// names that differ only in case are one name.
type environment struct {
	fold  bool
	list  []string
	index map[string]int
}

// windows says whether the case of a variable's name counts, and where home is.
const windows = runtime.GOOS == "windows"

// newEnvironment takes over the entries; of two with one name the later counts.
func newEnvironment(entries []string, fold bool) *environment {
	e := &environment{fold: fold, index: make(map[string]int, len(entries))}
	for _, entry := range entries {
		if name, value, ok := cutVar(entry); ok {
			e.set(name, value)
		}
	}
	return e
}

// cutVar splits an entry. Windows has names that begin with "=".
func cutVar(entry string) (name, value string, ok bool) {
	if entry == "" {
		return "", "", false
	}
	at := strings.IndexByte(entry[1:], '=') + 1
	if at == 0 {
		return "", "", false
	}
	return entry[:at], entry[at+1:], true
}

func (e *environment) key(name string) string {
	if e.fold {
		return strings.ToUpper(name)
	}
	return name
}

func (e *environment) get(name string) (string, bool) {
	i, ok := e.index[e.key(name)]
	if !ok {
		return "", false
	}
	_, value, _ := cutVar(e.list[i])
	return value, true
}

func (e *environment) set(name, value string) {
	entry := name + "=" + value
	if i, ok := e.index[e.key(name)]; ok {
		e.list[i] = entry
		return
	}
	e.index[e.key(name)] = len(e.list)
	e.list = append(e.list, entry)
}

// without gives the environment less the names that drop reports. The names it
// is asked about are as key gives them.
func (e *environment) without(drop func(name string) bool) *environment {
	kept := slices.DeleteFunc(slices.Clone(e.list), func(entry string) bool {
		name, _, _ := cutVar(entry)
		return drop(e.key(name))
	})
	return newEnvironment(kept, e.fold)
}

// home gives the user's home directory, and the variable that says it or should.
func (e *environment) home() (dir, variable string, ok bool) {
	variables := []string{"HOME"}
	if e.fold {
		variables = []string{"USERPROFILE", "HOME"}
	}
	for _, v := range variables {
		if dir, _ := e.get(v); dir != "" {
			return dir, v, true
		}
	}
	return "", variables[0], false
}

// A piece is a part of a text: literal, or a placeholder that stands for a
// variable.
type piece struct {
	raw      string // as written; of a literal "$${" it is "${"
	variable string // "" for a literal
	fallback string
	or       bool   // a fallback is there
	wrong    string // why a placeholder cannot be replaced: it is no variable of ours
	hint     string
}

// pieces takes a text apart. "${VAR}" and "${VAR:-fallback}" are placeholders;
// "$${" is a literal "${".
func pieces(text string) []piece {
	if p, ok := wholePlaceholder(text); ok {
		return []piece{p}
	}
	var all []piece
	for text != "" {
		at := strings.Index(text, "${")
		length := 0
		if at >= 0 {
			length = strings.IndexByte(text[at:], '}') + 1
		}
		switch {
		case at < 0:
			return append(all, piece{raw: text})
		case at > 0 && text[at-1] == '$':
			all = append(all, piece{raw: text[:at-1] + "${"})
			text = text[at+2:]
		case length == 0: // never closed
			return append(all, piece{raw: text})
		default:
			all = append(all, piece{raw: text[:at]}, placeholder(text[at:at+length]))
			text = text[at+length:]
		}
	}
	return all
}

// placeholder reads "${…}".
func placeholder(raw string) piece {
	p := piece{raw: raw}
	p.variable, p.fallback, p.or = strings.Cut(raw[2:len(raw)-1], ":-")
	switch {
	case strings.Contains(p.fallback, "${"):
		p.wrong, p.hint = "holds a placeholder in its fallback", "use one variable with a plain fallback"
	case !isVariable(p.variable):
		p.wrong, p.hint = foreign, "write ${VARIABLE}, and set it in the environment; $${ is a literal ${"
	}
	return p
}

// foreign is what is wrong with a placeholder that is not of ours.
const foreign = "is a placeholder of another program, which is not replaced here"

// wholePlaceholder finds the notations that are a placeholder only as a whole
// value: %X% of Windows, $X of shells, {env:X}.
func wholePlaceholder(text string) (piece, bool) {
	for _, form := range [][2]string{{"%", "%"}, {"$", ""}, {"{env:", "}"}} {
		inner, prefixed := strings.CutPrefix(text, form[0])
		name, suffixed := strings.CutSuffix(inner, form[1])
		if prefixed && suffixed && isVariable(name) && (form[1] != "" || name == strings.ToUpper(name)) {
			return piece{raw: text, variable: name, wrong: foreign, hint: fmt.Sprintf("write ${%s}", name)}, true
		}
	}
	return piece{}, false
}

// isVariable reports whether a name is one that a variable usually has; also
// Windows' ProgramFiles(x86).
func isVariable(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '(' && c != ')') {
			return false
		}
	}
	return name != ""
}

// editorVars are the names that editors replace by something that is no
// variable, when they stand in "${…}".
const editorVars = "workspaceFolder workspaceFolderBasename workspaceRoot userHome cwd file fileDirname pathSeparator"

// value gives what stands for the piece. A variable that is not set, or empty,
// gives way to the fallback, as in a shell. When nothing does, the problem says
// why, and the value is the placeholder as written.
func (p piece) value(vars *environment) (value, problem, hint string) {
	switch value, set := vars.get(p.variable); {
	case p.wrong != "":
		return p.raw, p.name() + " " + p.wrong, p.hint
	case p.variable == "":
		return p.raw, "", ""
	case value != "" || set && !p.or:
		return value, "", ""
	case p.or:
		return p.fallback, "", ""
	case slices.Contains(strings.Fields(editorVars), p.variable):
		return p.raw, p.name() + " " + foreign, "write the directory itself, or ${VARIABLE}"
	}
	return p.raw, p.name() + " is not set", fmt.Sprintf("set %s where the host starts mcp-facade (\"env\" of its entry), or write ${%[1]s:-fallback}", p.variable)
}

// name gives the placeholder for an error: without its fallback, which may be a
// secret.
func (p piece) name() string {
	if p.or {
		return plain("${" + p.variable + ":-…}")
	}
	return plain(p.raw)
}

// variables gives the names that a text refers to.
func variables(text string) []string {
	var names []string
	for _, p := range pieces(text) {
		if p.variable != "" && p.wrong == "" {
			names = append(names, p.variable)
		}
	}
	return names
}

// splitHome takes a leading "~" off a path that begins at the home directory.
func splitHome(path string, fold bool) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, "~")
	return rest, ok && (rest == "" || rest[0] == '/' || fold && rest[0] == '\\')
}
