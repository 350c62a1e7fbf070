package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// The scripts ask complete for what can stand at the cursor, and only show it.
var (
	//go:embed completion/bash
	bashScript string
	//go:embed completion/zsh
	zshScript string
	//go:embed completion/fish
	fishScript string
	//go:embed completion/powershell
	powershellScript string
)

// A shell is one that completes our command line.
type shell struct {
	name   string
	script string
	picks  bool // it shows only those candidates that fit the word, by rules of its own
	// read makes of the words that the script gives those of the command line,
	// of which the last is being typed.
	read func(words []string) typing
	// line is a candidate as the script wants it.
	line func(t typing, c candidate) string
}

func shells() []shell {
	return []shell{
		{"bash", bashScript, false, readBash, bashLine},
		{"zsh", zshScript, true, readPlain, zshLine},
		{"fish", fishScript, true, readPlain, fishLine},
		{"powershell", powershellScript, false, readPowershell, powershellLine},
	}
}

// completion prints the script for a shell.
func completion(_ context.Context, e *env, _ *options, args []string) error {
	if len(args) != 1 {
		return usage("completion takes one shell: %s", strings.Join(choices("SHELL"), ", "))
	}
	s, ok := shellNamed(args[0])
	if !ok {
		return usage("completion: %q: want one of %s", args[0], strings.Join(choices("SHELL"), ", "))
	}
	fmt.Fprint(e.stdout, s.script)
	return nil
}

func shellNamed(name string) (shell, bool) {
	all := shells()
	i := slices.IndexFunc(all, func(s shell) bool { return s.name == name })
	if i < 0 {
		return shell{}, false
	}
	return all[i], true
}

// A typing is a command line that is being typed.
type typing struct {
	before []string // the words before the cursor's, without quotes
	word   string   // the cursor's, without quotes
	quote  rune     // the quote that is open in it, 0 for none
	apart  int      // how many bytes of it the shell counts as words before it
}

// whole splits words of which the last is being typed.
func whole(words []string) typing {
	if len(words) == 0 {
		return typing{}
	}
	return typing{before: words[:len(words)-1], word: words[len(words)-1]}
}

// readPlain is for shells that take quotes away themselves.
func readPlain(words []string) typing { return whole(words) }

// readPowershell takes away the dot that the script puts before the last word,
// and the quote in front of what is being typed.
func readPowershell(words []string) typing {
	t := whole(words)
	t.word = strings.TrimLeft(strings.TrimPrefix(t.word, "."), `'"`)
	return t
}

// readBash joins what bash has cut at "=" and ":", and takes quotes away.
func readBash(words []string) typing {
	var raw []string
	apart, join := 0, false
	for _, w := range words {
		cut := w != "" && strings.Trim(w, "=:") == ""
		if (cut || join) && len(raw) > 0 {
			apart = len(raw[len(raw)-1])
			if cut {
				apart += len(w)
			}
			raw[len(raw)-1] += w
		} else {
			raw, apart = append(raw, w), 0
		}
		join = cut
	}
	t := whole(raw)
	for i, w := range t.before {
		t.before[i], _ = unquoted(w)
	}
	start, _ := unquoted(t.word[:apart])
	t.word, t.quote = unquoted(t.word)
	t.apart = min(len(start), len(t.word))
	return t
}

// unquoted is a word of a POSIX shell as a program is given it, and the quote
// that is left open. Nothing in it is expanded.
func unquoted(word string) (text string, open rune) {
	var b strings.Builder
	escaped := false
	for _, r := range word {
		switch {
		case escaped:
			if open == '"' && !strings.ContainsRune("\\\"$`", r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
			escaped = false
		case r == '\\' && open != '\'':
			escaped = true
		case r == open:
			open = 0
		case open == 0 && (r == '\'' || r == '"'):
			open = r
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), open
}

// bashLine is a candidate in the quotes that are open, or with backslashes. Bash
// puts it in the place of what it takes for the word.
func bashLine(t typing, c candidate) string {
	text := (c.flag + c.text)[t.apart:]
	switch t.quote {
	case '\'':
		return strings.ReplaceAll(text, `'`, `'\''`)
	case '"':
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`", "!", `"\!"`).Replace(text)
	}
	var b strings.Builder
	for _, r := range text {
		if !plain(r) && r != '=' && r != ':' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// zshLine is a candidate for _describe, which has a colon before what it does,
// and quotes it itself.
func zshLine(_ typing, c candidate) string {
	text := strings.NewReplacer(`\`, `\\`, ":", `\:`).Replace(c.text)
	if c.does == "" {
		return text
	}
	return text + ":" + c.does
}

// fishLine is a candidate, which fish quotes itself.
func fishLine(_ typing, c candidate) string {
	return strings.TrimSuffix(c.flag+c.text+"\t"+c.does, "\t")
}

// powershellLine is a candidate in quotes if it needs them, as it is shown, and
// what it does.
func powershellLine(_ typing, c candidate) string {
	word := c.flag + c.text
	if strings.ContainsFunc(word, func(r rune) bool { return !plain(r) && r != '=' }) {
		word = "'" + strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛").Replace(word) + "'"
	}
	return word + "\t" + c.text + "\t" + cmp.Or(c.does, c.text)
}

// plain reports whether a character means nothing but itself in every shell.
func plain(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-./", r)
}
