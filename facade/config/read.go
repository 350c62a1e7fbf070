package config

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mcp-facade/facade/jsonc"
)

// The functions of this file read one kind of value each. They say what is
// wrong with it to the reader, and whether it can be used. Where a value may be
// a secret, what they say does not repeat it.

// text reads any string without a NUL, which no process can be given.
func (r *reader) text(v value) (string, bool) {
	switch v.kind() {
	case '"':
	case '0', 't', 'f':
		r.fail(v, "want a string, have %s; put it in quotes", jsonc.TypeName(v.Value))
		return "", false
	default:
		r.want(v, "a string")
		return "", false
	}
	s := v.text()
	if strings.Contains(s, "\x00") {
		r.fail(v, "contains a NUL character")
		return "", false
	}
	return s, true
}

// word reads a string that is not empty.
func word(r *reader, v value) (string, bool) {
	s, ok := r.text(v)
	if ok && s == "" {
		r.fail(v, "is empty")
	}
	return s, ok && s != ""
}

// flag reads true or false.
func flag(r *reader, v value) (bool, bool) {
	switch v.kind() {
	case 't', 'f':
		return v.text() == "true", true
	}
	r.want(v, "true or false")
	return false, false
}

// maxCount is far above every sensible limit; what is larger is a mistake.
const maxCount = 1_000_000_000

// count reads a whole number from 0.
func count(r *reader, v value) (int, bool) {
	const want = "a whole number from 0"
	if v.kind() != '0' {
		r.want(v, want)
		return 0, false
	}
	n, err := strconv.Atoi(v.text())
	switch {
	case err != nil || n < 0:
		r.fail(v, "want %s, have %s", want, plain(v.text()))
	case n > maxCount:
		r.fail(v, "want at most %d, have %d", maxCount, n)
	default:
		return n, true
	}
	return 0, false
}

// oneOf reads one of the words.
func oneOf(words ...string) func(*reader, value) (string, bool) {
	return func(r *reader, v value) (string, bool) {
		s, ok := r.text(v)
		if ok && !slices.Contains(words, s) {
			r.fail(v, "want %s, have %s%s", list(words, "or"), quoted(s), suggest(s, words))
			return "", false
		}
		return s, ok
	}
}

// strings reads an array of strings, each by read. It gives nil for an empty one.
func (r *reader) strings(v value, read func(*reader, value) (string, bool)) ([]string, bool) {
	elements, ok := r.elements(v, "an array of strings")
	var all []string
	for _, e := range elements {
		s, good := read(r, e)
		all, ok = append(all, s), ok && good
	}
	return all, ok
}

func anyStrings(r *reader, v value) ([]string, bool) { return r.strings(v, (*reader).text) }

func words(r *reader, v value) ([]string, bool) { return r.strings(v, word) }

func globs(r *reader, v value) ([]string, bool) { return r.strings(v, glob) }

// glob reads the name of a tool, or a glob for names.
func glob(r *reader, v value) (string, bool) {
	s, ok := r.text(v)
	if !ok {
		return "", false
	}
	if why := wrongGlob(s); why != "" {
		r.fail(v, "%s: %s", quoted(s), why)
		return "", false
	}
	return s, true
}

// readUsed reads "auto" or an array of globs. An empty array is not "auto":
// nothing is shown but the meta-tools.
func readUsed(r *reader, v value, s *Server) {
	if v.kind() == '[' {
		if names, ok := globs(r, v); ok {
			s.Used, s.Auto = append([]string{}, names...), false
		}
		return
	}
	switch word := v.text(); {
	case v.kind() != '"':
		r.want(v, `an array of names and globs, or "auto"`)
	case word == "auto":
		s.Used, s.Auto = nil, true
	default:
		r.fail(v, `want an array of names and globs, or "auto", have %s; nearest: [%[1]s]`, quoted(word))
	}
}

func showUsed(s *Server) any {
	if s.Auto {
		return "auto"
	}
	return append([]string{}, s.Used...)
}

// alwaysLoad reads true, false or who is meant.
func alwaysLoad(r *reader, v value) (string, bool) {
	const want = `true, "used", "meta" or false`
	switch s := v.text(); v.kind() {
	case 't', 'f':
		return s, true
	case '"':
		switch s {
		case "used", "meta":
			return s, true
		case "true", "false":
			r.fail(v, "want %s, have %q; nearest: %s without quotes", want, s, s)
		default:
			r.fail(v, "want %s, have %s%s", want, quoted(s), suggest(s, []string{"used", "meta"}))
		}
	default:
		r.want(v, want)
	}
	return "", false
}

// maxPrefix leaves a prefixed name room under the 64 characters that several
// hosts allow a name together with the server's.
const maxPrefix = 32

// prefix reads what goes before the meta-tools' names, out of the characters
// that no host rewrites.
func prefix(r *reader, v value) (string, bool) {
	s, ok := r.text(v)
	odd := strings.ContainsFunc(s, func(c rune) bool {
		return c > unicode.MaxASCII || c != '_' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	if ok && (odd || len(s) > maxPrefix) {
		r.fail(v, `want at most %d of A–Z, a–z, 0–9, "_" and "-", have %s`, maxPrefix, quoted(s))
		return "", false
	}
	return s, ok
}

// maxHint is the longest hint, in characters: with words of usual length the
// 60 tokens that a surface has for it, with some room for long ones.
const maxHint = 400

// hint reads one line of text for the model.
func hint(r *reader, v value) (string, bool) {
	s, ok := r.text(v)
	switch n := utf8.RuneCountInString(s); {
	case !ok:
	case n > maxHint:
		r.fail(v, "want at most %d characters, have %d", maxHint, n)
		ok = false
	case strings.ContainsFunc(s, unicode.IsControl):
		r.fail(v, "want one line without control characters")
		ok = false
	}
	return s, ok
}

// trimmed is what compaction removes or cuts at its default level; the words
// that "keep" is mostly written for.
const trimmed = "description default examples title format pattern $comment $schema $defs definitions outputSchema icons"

// keep reads schema keywords. They are the upstream's and have no full list,
// so an unknown one is refused only where it looks like a slip.
func keep(r *reader, v value) ([]string, bool) {
	known := strings.Fields(trimmed)
	return r.strings(v, func(r *reader, v value) (string, bool) {
		s, ok := word(r, v)
		if !ok || slices.Contains(known, s) {
			return s, ok
		}
		for _, k := range known {
			if distance(strings.ToLower(clip(s)), strings.ToLower(k)) <= 1 {
				r.fail(v, "unknown keyword %s; nearest: %q", quoted(s), k)
				return "", false
			}
		}
		return s, true
	})
}

// clip bounds a word that is compared letter by letter.
func clip(s string) string { return s[:min(len(s), compared)] }

// keywords reads words for each tool name or glob.
func keywords(r *reader, v value) (map[string][]string, bool) {
	members, ok := r.members(v)
	all := map[string][]string{}
	for _, m := range members {
		if why := wrongGlob(m.name); why != "" {
			r.failAt(m, "%s: %s", quoted(m.name), why)
			ok = false
		}
		aliases, good := r.strings(m.value, word)
		all[m.name], ok = aliases, ok && good
	}
	return all, ok
}

// vars reads an object of strings whose names are checked by wrong.
func (r *reader) vars(v value, wrong func(name string) string) ([]Var, bool) {
	members, ok := r.members(v)
	var vars []Var
	for _, m := range members {
		if why := wrong(m.name); why != "" {
			r.failAt(m, "%s", why)
			ok = false
		}
		s, good := r.text(m.value)
		vars, ok = append(vars, Var{m.name, s}), ok && good
	}
	return vars, ok
}

// env reads the variables of a process.
func env(r *reader, v value) ([]Var, bool) {
	return r.vars(v, func(name string) string {
		if name == "" || strings.ContainsFunc(name, func(c rune) bool { return c == '=' || !unicode.IsPrint(c) }) {
			return `a variable's name cannot be empty, or contain "=" or control characters`
		}
		return ""
	})
}

// headers reads HTTP header fields. Their names do not depend on case. A host's
// file may hold some that are ours to set.
func headers(r *reader, v value) ([]Var, bool) {
	all, ok := r.vars(v, func(name string) string {
		if r.host && isOwnHeader(name) {
			return ""
		}
		return wrongHeader(name)
	})
	var vars []Var
	seen := map[string]bool{}
	for _, h := range all {
		key, name := v.key+"."+h.Name, strings.ToLower(h.Name)
		if seen[name] {
			r.failLine(r.lines[key], key, "twice in this object, in another case")
			ok = false
		}
		if why := wrongHeaderValue(h.Value); why != "" {
			r.failLine(r.lines[key], key, "%s", why)
			ok = false
		}
		seen[name] = true
		if !isOwnHeader(name) {
			vars = append(vars, h)
		}
	}
	return vars, ok
}

// webAddress reads an absolute http or https URL. One with a placeholder is
// whole only when that is replaced.
func webAddress(r *reader, v value) (string, bool) {
	s, ok := word(r, v)
	if !ok || strings.Contains(s, "${") {
		return s, ok
	}
	why := wrongURL(s)
	if why != "" {
		r.fail(v, "%s", why)
	}
	return s, why == ""
}

// credentialID reads a name that becomes an argument of another program, which
// must not take it for a flag.
func credentialID(r *reader, v value) (string, bool) {
	s, ok := word(r, v)
	if ok && (strings.HasPrefix(s, "-") || strings.ContainsFunc(s, unicode.IsControl)) {
		r.fail(v, `a credential's id cannot begin with "-" or contain control characters`)
		return "", false
	}
	return s, ok
}

// tokenCommand reads a program and its arguments. No shell takes a line apart.
func tokenCommand(r *reader, v value) ([]string, bool) {
	if v.kind() == '"' {
		r.fail(v, `want an array of the program and its arguments, have a string; nearest: ["program", "argument"]`)
		return nil, false
	}
	all, ok := anyStrings(r, v)
	if ok && (len(all) == 0 || all[0] == "") {
		r.fail(v, "names no program")
		return nil, false
	}
	return all, ok
}

// oauth reads true or an object. A host's own fields of it are left alone in a
// host's file.
func oauth(r *reader, v value) (*OAuth, bool) {
	if v.kind() == 't' {
		return &OAuth{}, true
	}
	if v.kind() != '{' {
		r.want(v, "true or an object")
		return nil, false
	}
	before := len(r.errs)
	members, _ := r.members(v)
	o := &OAuth{}
	for _, m := range members {
		switch k := find(m.name, oauthKeys); {
		case k != nil:
			k.read(r, m.value, o)
		case r.host && isHostOAuthKey(m.name):
		default:
			r.unknown(m, keyNames(oauthKeys))
		}
	}
	return o, len(r.errs) == before
}

// secretFrom reads where a secret is kept. What is written there instead may
// be the secret itself.
func secretFrom(r *reader, v value) (string, bool) {
	s, ok := r.text(v)
	place, name, _ := strings.Cut(s, ":")
	if ok && (name == "" || !slices.Contains([]string{"env", "keychain", "keyring"}, place)) {
		r.fail(v, `want "env:VARIABLE", "keychain:SERVICE" or "keyring:SERVICE": where the secret is kept, not the secret`)
		return "", false
	}
	return s, ok
}

// envFrom reads which server's environment of Claude Code to take over.
func envFrom(r *reader, v value) (string, bool) {
	s, ok := r.text(v)
	if name, claude := strings.CutPrefix(s, "claude:"); ok && (!claude || name == "") {
		r.fail(v, `want "claude:NAME", the name of a server in ~/.claude.json`)
		return "", false
	}
	return s, ok
}
