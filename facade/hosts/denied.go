package hosts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"mcp-facade/facade/config"
	"mcp-facade/facade/jsonc"
)

// Denied gives, as globs for "hide", the tools of an entry that its host keeps away,
// in it or by rules elsewhere: they do not reach what "call" runs. The notes, a sentence
// each, name the rules that are not among them, and what to do. A host that is
// shown every tool under its own name needs none of that.
func (f *File) Denied(e Entry) (hide, notes []string) {
	s, err := f.look(e)
	if err != nil {
		return nil, nil
	}
	if f.dialect.deny != "" {
		hide = slices.DeleteFunc(s.node.get(f.dialect.deny).texts(), func(name string) bool { return !canHide(name) || strings.ContainsAny(name, "*?") })
	}
	if f.dialect.rules == nil {
		return once(hide), nil
	}
	place, folder := f.at, f.folder
	if e.Scope != "" {
		folder = e.Scope
		place.Folders = once(append(slices.Clip(place.Folders), folder))
	}
	seen := map[string]bool{}
	for _, at := range f.ruled(place) {
		if seen[at.path] {
			continue // a project in the home directory has the user's file for its own
		}
		seen[at.path] = true
		file, err := f.settings(at.path)
		if err != nil {
			notes = append(notes, fmt.Sprintf(`What %s keeps away is not known: %v. Name such tools in "hide" of the servers file.`, at.path, err))
			continue
		}
		rules := f.dialect.rules(s, file)
		notes = append(notes, blind(rules, at.path)...)
		for i, r := range rules {
			what := r.outcome(rules[i+1:])
			if what == isHidden && at.folder != "" && at.folder != folder {
				what = `counts in that project only, where "call" reaches what it keeps away: name that in "hide" of the servers file, which counts everywhere.`
			}
			switch what {
			case "":
			case isHidden:
				hide = append(hide, r.tool)
			default:
				notes = append(notes, fmt.Sprintf("%s in %s %s", dotted(r.path), at.path, what))
			}
		}
	}
	return once(hide), once(append(notes, f.policies(place, s)...))
}

// policies are notes of the files of policies that have a server's name in them.
func (f *File) policies(p paths, s *found) (notes []string) {
	if f.dialect.policies == nil {
		return nil
	}
	name, _ := s.name()
	for _, folder := range f.dialect.policies(p) {
		files, _ := os.ReadDir(folder.path) // most users have none
		for _, file := range files {
			path := filepath.Join(folder.path, file.Name())
			data, err := readFile(path)
			if text := string(data); err == nil && (strings.Contains(text, jsonc.Quote(name)) || strings.Contains(text, "mcp_"+plainName(s)+"_") || strings.Contains(text, name+"__")) {
				notes = append(notes, fmt.Sprintf(`%s has rules for it, which do not reach what "call" runs: name in "hide" of the servers file what they keep away.`, path))
			}
		}
	}
	return notes
}

// once leaves each text once.
func once(texts []string) (all []string) {
	for _, text := range texts {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// ruled are the files in which rules may stand.
func (f *File) ruled(p paths) []place {
	switch d := f.dialect; {
	case d.keys == nil:
		return []place{{path: f.Path, folder: f.folder}}
	case d.settings != nil:
		return d.settings(p)
	default:
		return d.files(p)
	}
}

// settings reads what a file says under the keys of rules, each time once. What is
// not there says nothing.
func (f *File) settings(path string) (*node, error) {
	if said, ok := f.said[path]; ok {
		return said.file, said.err
	}
	data := f.read
	var err error
	if path != f.Path {
		if data, err = readFile(path); errors.Is(err, fs.ErrNotExist) || path == "" {
			data, err = nil, nil
		}
		_, data = cutMark(data)
	}
	said := settings{err: err}
	if err == nil && len(f.dialect.keys) > 0 && len(strings.TrimSpace(string(data))) > 0 {
		said.file, said.err = membersOf(data, f.dialect.keys)
	}
	if f.said == nil {
		f.said = map[string]settings{}
	}
	f.said[path] = said
	return said.file, said.err
}

// settings are what a file says of tools, or why that is not known.
type settings struct {
	file *node
	err  error
}

// membersOf reads a file of JSON for some of its members.
func membersOf(data []byte, keys []string) (*node, error) {
	root, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	d, file := jsonDoc{data}, &node{kind: table}
	for _, key := range keys {
		members, err := d.members(root, nil, key)
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			n, err := d.node(m.Value, []string{key})
			if err != nil {
				return nil, err
			}
			file.nodes = append(file.nodes, n)
		}
	}
	return file, nil
}

// A rule is what a host was told of tools of one server.
type rule struct {
	path []string // where it stands
	tool string   // a glob of the server's names for them
	does verdict
	one  bool   // for one agent or profile only
	call string // the host's name for "call" of this server
}

type verdict uint8

const (
	allows  verdict = iota
	asks            // the host asks before such a tool runs
	denies          // it keeps them away
	omits           // it keeps them away, as it lets only some through
	unclear         // it may
)

// isHidden is the outcome of a rule that "hide" can say.
const isHidden = "hidden"

// outcome is isHidden, what there is to know of a rule, or "": it does nothing that
// counts, or it counts for "call" as well. later are the rules that come after it.
func (r rule) outcome(later []rule) string {
	switch {
	case r.does == allows, r.does == omits, r.does != unclear && config.Match([]string{r.tool}, "call"):
		return ""
	case r.does == unclear, r.does == denies && !canHide(r.tool):
		return `may keep tools away that "call" reaches: name them in "hide" of the servers file.`
	case r.does == asks:
		return fmt.Sprintf(`has the host ask before a tool runs, which "call" runs unasked: have it ask before %s, too, or name the tool in "hide" of the servers file.`, r.call)
	}
	for _, other := range later {
		switch {
		case other.does == denies, other.does == omits:
		case other.tool == r.tool && other.one == r.one:
			return ""
		case config.Match([]string{r.tool}, other.tool):
			return `has exceptions, which "call" does not know: name in "hide" of the servers file what is to be kept away.`
		}
	}
	if r.one {
		return fmt.Sprintf(`counts for that one only, for whom "call" reaches what it keeps away: keep %s away there, too, or name the tool in "hide" of the servers file.`, r.call)
	}
	return isHidden
}

// ownTools are the tools of ours by which a model reaches those that it is not shown.
var ownTools = []string{"discover", "describe", "call"}

// blind are notes of the rules in a file that let some tools of a server through, and
// not ours: for all agents, and for those that have rules of their own.
func blind(rules []rule, file string) (notes []string) {
	for _, counting := range views(rules) {
		var path, names []string
		for _, own := range ownTools {
			r, off := lacks(counting, own)
			if !off {
				continue
			}
			if path == nil {
				path = r.path
			}
			prefix, suffix := "", ""
			if at := strings.LastIndex(r.call, "call"); at >= 0 {
				prefix, suffix = r.call[:at], r.call[at+len("call"):]
			}
			names = append(names, prefix+own+suffix)
		}
		if names != nil {
			notes = append(notes, fmt.Sprintf("%s in %s keeps %s away, without which a model does not reach what it is not shown: allow that there, or leave the server unwrapped.", dotted(path), file, strings.Join(names, ", ")))
		}
	}
	return notes
}

// views are the rules that count for all agents, and those that count for each one
// that has rules of its own.
func views(rules []rule) [][]rule {
	var all []rule
	agents, of := []string{}, map[string][]rule{}
	for _, r := range rules {
		if !r.one {
			all = append(all, r)
			continue
		}
		agent := strings.Join(r.path[:2], "\n")
		if !slices.Contains(agents, agent) {
			agents = append(agents, agent)
		}
		of[agent] = append(of[agent], r)
	}
	views := [][]rule{all}
	for _, agent := range agents {
		views = append(views, slices.Concat(all, of[agent]))
	}
	return views
}

// lacks gives the rule that keeps a tool away while others of the server are left.
func lacks(rules []rule, tool string) (rule, bool) {
	for i, r := range slices.Backward(rules) {
		if r.does == unclear || !config.Match([]string{r.tool}, tool) {
			continue
		}
		left := strings.Trim(r.tool, "*") != "" || slices.ContainsFunc(rules[i+1:], func(r rule) bool { return r.does == allows || r.does == asks })
		return r, left && (r.does == denies || r.does == omits)
	}
	return rule{}, false
}

// canHide reports whether "hide" takes a glob as it is.
func canHide(glob string) bool {
	return glob != "" && strings.TrimSpace(glob) == glob && !strings.ContainsAny(glob, `[]{}\!,|^`) &&
		!strings.ContainsFunc(glob, func(r rune) bool { return !unicode.IsPrint(r) })
}

// rules makes rules of what one text says of tools by the names that the host has
// for them, as a glob.
func (s *found) rules(prefix, glob string, does verdict, path ...string) (all []rule) {
	for _, tool := range behind(glob, prefix) {
		if tool != "" {
			all = append(all, rule{path: path, tool: tool, does: does, call: prefix + "call"})
		}
	}
	return all
}

// behind gives the globs of what stands behind a prefix in the names that a glob
// matches.
func behind(glob, prefix string) []string {
	rests := []string{glob}
	for i := range len(prefix) {
		var next []string
		for _, rest := range rests {
			for ; strings.HasPrefix(rest, "*"); rest = rest[1:] { // it takes the character, or nothing
				next = append(next, rest)
			}
			if rest != "" && (rest[0] == '?' || rest[0] == prefix[i]) {
				next = append(next, rest[1:])
			}
		}
		rests = once(next)
	}
	return rests
}

// plainName is a server's name as hosts make it part of a tool's.
func plainName(s *found) string {
	name, _ := s.name()
	return strings.Map(func(r rune) rune {
		if isWord(string(r)) {
			return r
		}
		return '_'
	}, name)
}
