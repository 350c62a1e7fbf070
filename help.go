package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	helpWidth     = 80 // how wide the help is, in characters
	commandColumn = 38 // where it says what a command does
	flagColumn    = 19 // and what a flag does
)

// summary is what the program is.
const summary = `mcp-facade stands between an AI host and one MCP server: the host keeps every
tool, the model sees the few it needs and three small ones that reach the rest.
`

// elsewhere is how a command is given a server that is in no file.
const elsewhere = `  Where NAME stands, a server that is in no file can stand at the end instead:
  mcp-facade tools -- npx -y @acme/mcp
  mcp-facade tools --url https://mcp.acme.example/v1
`

const exitCodes = "0 done, 1 it failed, 2 it was called wrongly."

// helpText is the whole help.
func helpText() string {
	var b strings.Builder
	b.WriteString(summary)
	for _, g := range groups() {
		fmt.Fprintf(&b, "\n%s\n", g)
		for _, c := range shown(g) {
			writeEntry(&b, c.usage(), c.does, commandColumn)
		}
		if g == forYou {
			b.WriteString("\n" + elsewhere)
		}
	}
	b.WriteString("\nFlags\n")
	for _, f := range allFlags() {
		writeEntry(&b, f.usage(), f.text(), flagColumn)
	}
	fmt.Fprintf(&b, "\nExit code: %s\n\nExample: %s\n", exitCodes, serving().example)
	return b.String()
}

// nothingToServe says how the program is told what to serve.
func nothingToServe() string {
	var b strings.Builder
	b.WriteString("there is nothing to serve\n")
	for _, c := range servings() {
		writeEntry(&b, c.usage(), c.does, commandColumn)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// shown are the commands below a title.
func shown(group string) []command {
	return slices.DeleteFunc(append(servings(), commands()...), func(c command) bool { return c.group != group })
}

// help is how one command is used.
func (c command) help() string {
	var b strings.Builder
	fmt.Fprintln(&b, c.usage())
	writeParagraph(&b, flat(c.does))
	for _, word := range argWords(c.args) {
		if all := choices(word); all != nil {
			fmt.Fprintln(&b)
			writeParagraph(&b, word+": "+strings.Join(all, ", "))
		}
	}
	if c.servesInPlace() {
		fmt.Fprintln(&b)
		writeParagraph(&b, "NAME is a server of the servers file. One that is in no file can stand at the end instead: -- COMMAND…, or --url URL")
	}
	b.WriteString("\nFlags\n")
	for _, f := range allFlags() {
		if c.takes(f.name) && f.name != "version" {
			writeEntry(&b, f.usage(), f.does, flagColumn)
		}
	}
	fmt.Fprintf(&b, "\nExample: %s\n", c.example)
	return b.String()
}

// servesInPlace reports whether the command takes a server that is in no file.
func (c command) servesInPlace() bool { return c.takes("url") }

// argWords are the words for a command's arguments, without what says that one
// can be left out or given again.
func argWords(args string) []string {
	return strings.Fields(strings.NewReplacer("[", "", "]", "", "…", "").Replace(args))
}

// choices are all that can stand for the word of an argument, nil if nobody
// can say.
func choices(word string) (all []string) {
	switch word {
	case "KIND":
		return []string{"meta", "all"}
	case "SHELL":
		for _, s := range shells() {
			all = append(all, s.name)
		}
	case "HOST":
		all = hostNames()
	}
	return all
}

// flat is the text of a table as one line.
func flat(text string) string { return strings.ReplaceAll(text, "\n", " ") }

// writeEntry writes what is described, and beside it or below what it does.
func writeEntry(b *strings.Builder, what, does string, column int) {
	label := "  " + what
	for _, line := range filled(does, helpWidth-column) {
		if utf8.RuneCountInString(label) > column-2 {
			fmt.Fprintln(b, label)
			label = ""
		}
		pad := column - utf8.RuneCountInString(label)
		fmt.Fprintln(b, label+strings.Repeat(" ", pad)+line)
		label = ""
	}
}

func writeParagraph(b *strings.Builder, text string) {
	for _, line := range filled(text, helpWidth-2) {
		fmt.Fprintln(b, "  "+line)
	}
}

// filled cuts a text into lines, at its line ends and between words.
func filled(text string, width int) (lines []string) {
	for _, part := range strings.Split(text, "\n") {
		line := ""
		for _, word := range strings.Fields(part) {
			if line != "" && utf8.RuneCountInString(line+" "+word) > width {
				lines, line = append(lines, line), ""
			}
			line = strings.TrimLeft(line+" "+word, " ")
		}
		lines = append(lines, line)
	}
	return lines
}
