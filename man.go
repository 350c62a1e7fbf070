package main

import (
	"context"
	"fmt"
	"strings"
)

// man prints the manual page, in the macros of man(7).
func man(_ context.Context, e *env, _ *options, args []string) error {
	if len(args) > 0 {
		return usage("man takes no arguments")
	}
	fmt.Fprint(e.stdout, manPage(e.version))
	return nil
}

// manPage is the manual page of a version.
func manPage(version string) string {
	var m manual
	m.line(".TH", "MCP-FACADE", "1", "", "mcp-facade "+version)
	m.raw(".nh\n.ad l")
	m.line(".SH", "NAME")
	m.raw("mcp-facade \\- stands between an AI host and one MCP server")
	m.line(".SH", "SYNOPSIS")
	var lines []string
	for _, c := range append(servings(), command{args: "COMMAND [ARGUMENT…]"}) {
		lines = append(lines, c.usage())
	}
	m.verbatim(lines)
	m.line(".SH", "DESCRIPTION")
	m.text(flat(summary))
	m.commands()
	m.line(".SH", "OPTIONS")
	for _, f := range allFlags() {
		m.entry(f.usage(), f.text())
	}
	m.line(".SH", "EXIT STATUS")
	m.text(exitCodes)
	m.line(".SH", "ENVIRONMENT")
	for _, v := range variables() {
		m.entry(v[0], v[1])
	}
	m.line(".SH", "EXAMPLES")
	lines = []string{serving().example}
	for _, c := range commands() {
		if c.group != "" {
			lines = append(lines, c.example)
		}
	}
	m.verbatim(lines)
	return m.String()
}

// variables are those of the environment that we read, and what they say.
func variables() [][2]string {
	return [][2]string{
		{"MCP_FACADE_CONFIG", "the servers file, without --config"},
		{"MCP_FACADE_NO_LEDGER", "unless it is empty or 0, nothing is kept of how tools are used"},
		{"XDG_CONFIG_HOME, XDG_CACHE_HOME, XDG_STATE_HOME", "where the servers file is looked for, where the lists of servers are kept, and all else"},
		{"HTTP_PROXY, HTTPS_PROXY, NO_PROXY", "the proxies for servers that are reached over HTTP"},
	}
}

// A manual is a page that is being written.
type manual struct{ strings.Builder }

// line writes a macro and its arguments, which hold text.
func (m *manual) line(macro string, args ...string) {
	m.WriteString(macro)
	for _, arg := range args {
		m.WriteString(` "` + strings.ReplaceAll(escaped(arg), `"`, `\(dq`) + `"`)
	}
	m.WriteByte('\n')
}

// raw writes lines of roff.
func (m *manual) raw(lines string) { m.WriteString(lines + "\n") }

// text writes a paragraph, in lines that are not long, with its own line ends.
func (m *manual) text(text string) {
	for i, part := range strings.Split(text, "\n") {
		if i > 0 {
			m.raw(".br")
		}
		for _, line := range filled(escaped(part), helpWidth-2) {
			m.raw(unasked(line))
		}
	}
}

// verbatim writes lines as they are.
func (m *manual) verbatim(lines []string) {
	m.raw(".nf")
	for _, line := range lines {
		m.raw(unasked(escaped(line)))
	}
	m.raw(".fi")
}

// entry writes what is described, and what it does below it.
func (m *manual) entry(what, does string) {
	m.raw(".TP\n\\fB" + escaped(what) + "\\fR")
	m.text(does)
}

// commands writes the commands below their titles.
func (m *manual) commands() {
	m.line(".SH", "COMMANDS")
	for _, g := range groups() {
		m.line(".SS", g)
		for _, c := range shown(g) {
			m.entry(c.usage(), flat(c.does))
		}
		if g == forYou {
			lines := strings.Split(strings.TrimSpace(elsewhere), "\n")
			m.raw(".PP")
			m.text(lines[0])
			m.raw(".PP")
			m.verbatim(lines[1:])
		}
	}
}

// escaped is text as roff reads it back: what would be an escape or a quote of
// typography is itself.
func escaped(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "…", "...").Replace(text)
}

// unasked is a line that is no request of roff, whatever it begins with.
func unasked(line string) string {
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}
