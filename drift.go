package main

import (
	"fmt"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade"
	"mcp-facade/facade/config"
)

// A drift is how the tools of a stored catalog stand to what the user has accepted
// of them.
type drift struct {
	server string
	again  string            // how the server is named to a subcommand
	news   []string          // the tools that are not as they were accepted
	held   map[string]string // why a tool of them is withheld
	err    error             // why nothing could be compared
}

// drift compares a stored catalog, nil for none, with what is accepted.
func (e *env) drift(o *options, s *config.Server, c *catalog.Catalog) (d drift) {
	d.server, d.again = s.Name, e.again(o, s)
	if c == nil {
		return d
	}
	key, _, err := e.store(o, s)
	if err != nil {
		d.err = err
		return d
	}
	d.news, d.held, d.err = facade.Standing(s, e.accepted(s, key), c)
	return d
}

// brief is the drift as the end of a line on the server, "" if there is none.
func (d *drift) brief() string {
	switch {
	case len(d.held) > 0:
		return fmt.Sprintf(", %d withheld", len(d.held))
	case len(d.news) > 0:
		return fmt.Sprintf(", %d not accepted", len(d.news))
	}
	return ""
}

// notes say what is not as it was accepted, in one sentence.
func (d drift) notes() []string {
	look := "; see: mcp-facade refresh " + d.again
	switch {
	case d.err != nil:
		why := fmt.Sprintf("what you have accepted of %s's tools is not known: %s", d.server, compact.Line(d.err.Error()))
		if len(d.held) > 0 {
			why += fmt.Sprintf("; so %s withheld", are(len(d.held), "tool"))
		}
		return []string{why + look}
	case len(d.held) > 0:
		return []string{fmt.Sprintf("%s withheld by \"drift\": since you accepted %s's tools, %s (%s)%s",
			are(len(d.held), "tool"), d.server, grave, d.heldNames(), look)}
	case len(d.news) > 0:
		return []string{fmt.Sprintf("%s not as you accepted %s's tools (%s)%s",
			are(len(d.news), "tool"), d.server, d.newNames(), look)}
	}
	return nil
}

// grave is what has happened to tools that are withheld.
const grave = "what destroys has changed or is new, or what only read no longer says so"

// are is a number of things, and that they are.
func are(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " is"
	}
	return plural(n, thing) + " are"
}

// namesShown is how many tools a note names.
const namesShown = 5

// newNames are some of the tools that are not as they were accepted.
func (d *drift) newNames() string { return d.names(func(string) bool { return true }) }

// heldNames are some of those that are withheld.
func (d *drift) heldNames() string {
	return d.names(func(tool string) bool { return d.held[tool] != "" })
}

func (d *drift) names(which func(tool string) bool) string {
	var names []string
	for _, tool := range d.news {
		if which(tool) {
			names = append(names, facade.ExactName(tool))
		}
	}
	if more := len(names) - namesShown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namesShown], ", "), more)
	}
	return strings.Join(names, ", ")
}
