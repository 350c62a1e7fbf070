package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-facade/compact"
	"mcp-facade/facade/config"
)

// completing is the name of the command that the scripts of the shells call.
const completing = "__complete"

// complete prints what can stand at the cursor of a command line that is being
// typed, as a shell's script wants it: a candidate a line, or an empty line
// where a file belongs. Its arguments are the shell's name and the words after
// ours. It starts nothing, and where something is wrong there are no candidates.
func complete(_ context.Context, e *env, _ *options, args []string) error {
	if len(args) == 0 {
		return nil
	}
	s, ok := shellNamed(args[0])
	if !ok {
		return nil
	}
	quiet := *e
	quiet.stderr = io.Discard
	t := s.read(args[1:])
	found, file := quiet.candidates(t)
	var b strings.Builder
	if file {
		b.WriteByte('\n')
	}
	for i, c := range found {
		if i >= maxDescribed {
			c.does = ""
		}
		if c.legible() && (s.picks || strings.HasPrefix(c.flag+c.text, t.word)) {
			c.does = brief(c.does)
			b.WriteString(s.line(t, c) + "\n")
		}
	}
	fmt.Fprint(e.stdout, b.String())
	return nil
}

// maxDescribed is how many candidates are described: of more nobody reads that, and
// somebody waits.
const maxDescribed = 1000

// A candidate is what can stand at the cursor.
type candidate struct {
	flag string // "--server=", if it is the value of a flag in the same word
	text string
	does string // what it is; "" if there is nothing to say
}

// legible reports whether all of a name can be read: one of others that has
// control or invisible characters in it reaches no terminal.
func (c candidate) legible() bool { return c.text != "" && compact.Line(c.text) == c.text }

// candidates are what can stand at the cursor. A file is for the shell to find.
func (e *env) candidates(t typing) (found []candidate, file bool) {
	l := readLine(t.before)
	name, _, valued := strings.Cut(t.word, "=")
	f, known := flagNamed(name)
	switch {
	case l.foreign:
		return nil, true
	case l.open != nil:
		return e.values(l, *l.open, ""), l.open.value == "FILE"
	case known && valued:
		return e.values(l, f, name+"="), f.value == "FILE"
	case strings.HasPrefix(t.word, "-"):
		return l.flags(), false
	case l.command.name == "":
		return l.commands(), false
	}
	return e.words(l), false
}

// A line is what the words before the cursor say.
type line struct {
	command command // serving, until a subcommand is named
	lost    bool    // there is no such subcommand
	o       *options
	words   []string  // those that are no flags, after the subcommand
	open    *flagSpec // the flag whose value comes next
	foreign bool      // a server's own command has begun
}

func readLine(words []string) *line {
	l := &line{command: serving(), o: &options{}}
	for _, w := range words {
		l.add(w)
	}
	return l
}

func (l *line) add(word string) {
	name, value, valued := strings.Cut(word, "=")
	f, known := flagNamed(name)
	switch {
	case l.foreign:
	case l.open != nil:
		l.set(*l.open, word)
		l.open = nil
	case word == "--":
		l.foreign = true
	case known && f.value != "" && !valued:
		l.open = &f
	case known:
		l.set(f, value)
	case strings.HasPrefix(word, "-"):
	case l.command.name == "" && !l.lost:
		c, ok := commandNamed(word)
		l.command, l.lost = c, !ok
	default:
		l.words = append(l.words, word)
	}
}

// set notes a flag and its value.
func (l *line) set(f flagSpec, value string) {
	l.o.given = append(l.o.given, f.name)
	switch at := f.at(l.o).(type) {
	case *string:
		*at = value
	case *[]string:
		*at = append(*at, value)
	}
}

// flagNamed finds a flag as it is written.
func flagNamed(word string) (flagSpec, bool) {
	for _, f := range allFlags() {
		if word == "--"+f.name || f.short != "" && word == "-"+f.short {
			return f, true
		}
	}
	return flagSpec{}, false
}

// flags are those that the command takes and that are not given yet.
func (l *line) flags() (found []candidate) {
	for _, f := range allFlags() {
		again := f.name == "header" || !slices.Contains(l.o.given, f.name)
		if l.command.takes(f.name) && again && (f.name != "version" || l.command.name == "") {
			found = append(found, candidate{text: "--" + f.name, does: f.does})
		}
	}
	return found
}

// commands are those that take the flags that are given.
func (l *line) commands() (found []candidate) {
	if l.lost {
		return nil
	}
	for _, c := range commands() {
		wrong := slices.ContainsFunc(l.o.given, func(flag string) bool { return !c.takes(flag) })
		if c.group != "" && !wrong {
			found = append(found, candidate{text: c.name, does: c.does})
		}
	}
	return found
}

// words are those for the next argument of the command.
func (e *env) words(l *line) []candidate {
	kinds, at := argWords(l.command.args), len(l.words)
	if l.o.url != "" {
		at++ // the server stands elsewhere
	}
	if strings.Contains(l.command.args, "…") {
		at = min(at, len(kinds)-1)
	}
	if at >= len(kinds) {
		return nil
	}
	found := e.named(l, kinds[at])
	return slices.DeleteFunc(found, func(c candidate) bool {
		return strings.HasPrefix(c.text, "-") || slices.Contains(l.words[min(at, len(l.words)):], c.text)
	})
}

// values are those of a flag.
func (e *env) values(l *line, f flagSpec, before string) []candidate {
	var found []candidate
	if f.name != "name" { // which is free
		found = e.named(l, f.value)
	}
	for i := range found {
		found[i].flag = before
	}
	return found
}

// named are what can stand for a word of the help.
func (e *env) named(l *line, word string) (found []candidate) {
	switch {
	case word == "TOOL":
		return e.toolNames(l)
	case word == "NAME" && strings.HasPrefix(l.command.args, "[HOST]"):
		return e.hostedNames(l)
	case word == "NAME":
		return e.serverNames(l)
	}
	for _, text := range choices(word) {
		found = append(found, candidate{text: text})
	}
	if word == "HOST" { // which can be left out
		found = append(found, e.hostedNames(l)...)
	}
	return found
}

// serverNames are those of the servers file.
func (e *env) serverNames(l *line) (found []candidate) {
	file, err := e.file(e.fromHome(l.o))
	if err != nil {
		return nil
	}
	for _, name := range file.Names() {
		found = append(found, candidate{text: name})
	}
	return found
}

// hostedNames are the servers in the files of the host that is named, or of all:
// to wrap those that are not ours, to unwrap those that are.
func (e *env) hostedNames(l *line) (found []candidate) {
	files, _ := e.hostFiles()
	all := len(l.words) == 0 || !slices.Contains(hostNames(), l.words[0])
	for _, f := range files {
		if !all && f.host.Name != l.words[0] {
			continue
		}
		for _, entry := range f.entries {
			if entry.Ours == (l.command.name == "unwrap") {
				found = append(found, candidate{text: entry.Name})
			}
		}
	}
	return found
}

// toolNames are those of the server that the line names, as they are cached.
func (e *env) toolNames(l *line) (found []candidate) {
	o := e.fromHome(l.o)
	if !o.asks() && len(l.words) > 0 {
		o.server = l.words[0]
	}
	if _, err := os.Stat(filepath.Join(e.stateDir, "key")); err != nil || !o.asks() {
		return nil // without a key nothing is cached, and none is made here
	}
	s, err := e.find(o)
	if err != nil {
		return nil
	}
	if s.Path != "" {
		e = e.inHosts(o)(s)
	}
	_, c, err := e.cached(o, s)
	if err != nil {
		return nil
	}
	for _, t := range c.Tools() {
		if !config.Match(s.Hide, t.Name) {
			found = append(found, candidate{text: t.Name, does: t.Description})
		}
	}
	return found
}

// fromHome is a copy of the options in which a "~" that no shell has replaced is.
func (e *env) fromHome(o *options) *options {
	c := *o
	if rest, ok := strings.CutPrefix(o.config, "~/"); ok {
		c.config = filepath.Join(e.home, rest)
	}
	return &c
}

// brief is what fits beside a candidate. Many are made while somebody waits, so no
// more is read of a text than may be shown.
func brief(text string) string { return compact.Sentence(flat(text[:min(len(text), 4*60)]), 60) }
