package catalog

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// habits are how the tools of a catalog are named.
type habits struct {
	prefix    string          // the word that most names begin with, or ""
	verbFirst bool            // as in list_issues rather than issues_list
	own       map[string]bool // words of the server's own name, and whether nearly all names have them
}

// habits finds out how the tools are named. own are names of the server itself.
func (c *Catalog) habits(own string) habits {
	names := make([][]string, len(c.tools))
	for i := range c.tools {
		names[i] = nameWords(c.tools[i].Name)
	}
	h := habits{prefix: prefix(names)}
	for i := range names {
		names[i] = h.cutPrefix(names[i])
	}
	h.verbFirst = verbsComeFirst(names)
	h.own = ownWords(names, serverWords(own))
	return h
}

// serverWords are the words of a server's own names. What an abbreviation of
// two letters stands before is no word of its own: ESLint is no lint.
func serverWords(own string) (all []string) {
	for name := range strings.FieldsFuncSeq(firstRunes(own, maxSpelling), func(r rune) bool { return kindOf(r) == other }) {
		parts := nameWords(name)
		all = append(all, strings.ToLower(name))
		if !slices.ContainsFunc(parts, func(w string) bool { return len(w) < 3 }) {
			all = append(all, parts...)
		}
	}
	return all
}

// nameWords are the words of a name, where digits belong to the word that they
// stand in.
func nameWords(name string) (all []string) {
	for r := (wordReader{rest: firstRunes(name, maxSpelling), digits: true}); r.next(); {
		all = append(all, string(r.word))
	}
	return all
}

// prefix is the word that at least half of the names begin with, followed by
// others: it names the server, unless it is a verb.
func prefix(names [][]string) string {
	const fewest = 3 // names that show a habit
	begin := map[string]int{}
	for _, name := range names {
		if len(name) < 2 || verb(name[0]) {
			continue
		}
		begin[name[0]]++
		if n := begin[name[0]]; n >= fewest && 2*n >= len(names) {
			return name[0]
		}
	}
	return ""
}

func (h *habits) cutPrefix(name []string) []string {
	if len(name) > 1 && name[0] == h.prefix {
		return name[1:]
	}
	return name
}

func verbsComeFirst(names [][]string) bool {
	before, after := 0, 0
	for _, name := range names {
		if n := len(name); n > 0 && plainVerb(name[0]) {
			before++
		} else if n > 0 && plainVerb(name[n-1]) {
			after++
		}
	}
	return before >= after
}

func ownWords(names [][]string, own []string) map[string]bool {
	everywhere := make(map[string]bool, len(own))
	for _, w := range own {
		times := 0
		for _, name := range names {
			if slices.Contains(name, w) {
				times++
			}
		}
		everywhere[w] = nearlyAll(times, len(names))
	}
	return everywhere
}

// nearlyAll reports whether n are at least four fifths of all.
func nearlyAll(n, all int) bool { return 5*n >= 4*all }

// telling are the words of a name that say what its tool is about, with "" for
// each of the others, so that two are neighbours only if they are in the name.
// Where nothing is left without the verbs, they are what it is about.
func (h *habits) telling(name []string) []string {
	name = h.cutPrefix(name)
	left := h.blank(h.cutVerbs(name), func(w string) bool { return dull(w) || plainVerb(w) || attribute(w) })
	if strings.Join(left, "") != "" {
		return left
	}
	return h.blank(name, dull)
}

// cutVerbs takes a verb off a name, at the end where the catalog has them or,
// failing that, at the other. A first word that may be a noun goes only if
// there is no other verb; a last one, as that of pull_request, stays.
func (h *habits) cutVerbs(name []string) []string {
	here, there := cutFirst, cutLast
	if !h.verbFirst {
		here, there = cutLast, cutFirst
	}
	if rest := here(name, plainVerb); len(rest) < len(name) {
		return rest
	}
	if rest := there(name, plainVerb); len(rest) < len(name) {
		return rest
	}
	if h.verbFirst {
		return cutFirst(name, verb)
	}
	return name
}

func cutFirst(name []string, is func(string) bool) []string {
	if len(name) > 0 && is(name[0]) {
		return name[1:]
	}
	return name
}

func cutLast(name []string, is func(string) bool) []string {
	if n := len(name); n > 0 && is(name[n-1]) {
		return name[:n-1]
	}
	return name
}

// blank makes "" of the words of a name that are dull, and of all that come
// after the "by" of get_user_by_email.
func (h *habits) blank(name []string, dull func(string) bool) []string {
	left := make([]string, len(name))
	said := false
	for i, w := range name {
		if said && limits(w) {
			break
		}
		if !dull(w) {
			left[i], said = w, true
		}
	}
	h.blankOwn(left)
	return left
}

// blankOwn takes out the server's own name: the "github" of github_apps, but
// not the "chart" of area_chart, unless nearly all tools have it.
func (h *habits) blankOwn(name []string) {
	followed := false
	for i, w := range slices.Backward(name) {
		everywhere, own := h.own[w]
		switch {
		case w == "":
			followed = false
		case own && (everywhere || followed):
			name[i] = ""
		default:
			followed = true
		}
	}
}

// limits reports whether what comes after a word only says which of the things
// before it are meant, or how.
func limits(w string) bool {
	switch w {
	case "by", "using", "via", "with", "from", "for", "as":
		return true
	}
	return false
}

// attribute reports whether a word seems to say which of several things is
// meant, as the "starred" of starred_repositories does.
func attribute(w string) bool {
	participle := len(w) > 4 && strings.HasSuffix(w, "ed") && !strings.HasSuffix(w, "eed")
	return participle || len(w) > 6 && strings.HasSuffix(w, "ible")
}

// dull reports whether a word tells nobody what a tool is about, or cannot be
// shown: what is no letter and no digit here is a mark on the letter before it.
func dull(w string) bool {
	letters := strings.TrimRight(w, "0123456789")
	return letters == "" || letters == "v" || len(w) == 1 || utf8.RuneCountInString(w) > maxNoun ||
		strings.ContainsFunc(w, unicode.IsMark) || stopWord(w) || generic(w)
}
