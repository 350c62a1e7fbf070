package facade

import (
	"fmt"
	"strconv"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/compact"

	"github.com/tidwall/gjson"
)

// overview is one page of what discover says to an empty query: the names of
// all tools by what they are about, then all that the upstream says of itself.
func (f *Facade) overview(v *view, c *catalog.Catalog, kind map[string]string, page int, note string) string {
	p := pager{limit: namesTokens - compact.Tokens([]byte(note)) - pageNote}
	p.add(piece{text: f.allTools(c)})
	for _, name := range f.namePieces(v, f.memoOf(c)) {
		p.add(name)
	}
	if theirs := f.theirInstructions(v); theirs != "" {
		p.add(piece{join: "\n\n", text: "From " + f.name() + ":"})
		for _, line := range linePieces(theirs) {
			p.add(line)
		}
	}
	pages := p.all()
	page = min(page, len(pages))
	text := pages[page-1]
	switch last := len(pages); {
	case page < last:
		text += fmt.Sprintf("\n(Page %d of %d. %s with query \"page %d\" gives the next.)", page, last, kind["discover"], page+1)
	case last > 1:
		text += fmt.Sprintf("\n(Page %d of %d.)", page, last)
	}
	return text + note
}

// pageNote is what the line costs that says which page this is, in tokens.
const pageNote = 30

// pageAsked reads a query for a page of the overview: "", "page 2".
func pageAsked(query string) (page int, ok bool) {
	if query == "" {
		return 1, true
	}
	const word = "page"
	if len(query) <= len(word) || !strings.EqualFold(query[:len(word)], word) {
		return 0, false
	}
	page, err := strconv.Atoi(strings.TrimLeft(query[len(word):], " :=#"))
	return page, err == nil && page > 0
}

func (f *Facade) allTools(c *catalog.Catalog) string {
	switch n := len(c.Tools()); n {
	case 0:
		return f.name() + " has no tools."
	case 1:
		return "The one tool of " + f.name() + ":"
	default:
		return fmt.Sprintf("All %d tools of %s:", n, f.name())
	}
}

// theirInstructions are the upstream's own, cleaned.
func (f *Facade) theirInstructions(v *view) string {
	f.mu.Lock()
	handshake := v.handshake
	f.mu.Unlock()
	return lines(gjson.GetBytes(handshake, "instructions").Str)
}

// someNames are the names of the tools by what they are about, as far as some
// tokens go.
func (f *Facade) someNames(v *view, m *memo, kind map[string]string, tokens int) string {
	names := f.namePieces(v, m)
	head := "\n" + f.allTools(m.catalog) + "\n"
	text, n := some(names, min(tokens, namesTokens)-pageNote)
	if n < len(names) {
		text += fmt.Sprintf("\nand %d more: %s with an empty query gives all.", len(names)-n, kind["discover"])
	}
	return head + text
}

// namePieces are the names of all tools, group by group.
func (f *Facade) namePieces(v *view, m *memo) (all []piece) {
	f.mu.Lock()
	own := f.name() + " " + serverName(v.handshake)
	f.mu.Unlock()
	groups := m.grouped(own)
	for _, g := range groups {
		label := g.Noun + ": "
		if len(groups) == 1 {
			label = ""
		}
		for i, name := range g.Tools {
			p := piece{join: ", ", label: label, text: spelled(name)}
			if i == 0 {
				p.join = "\n" + label
			}
			all = append(all, p)
		}
	}
	return all
}

// namesTokens is how much a page of names may cost by the estimate. Names with
// numbers or of rare words cost up to half more than that.
const namesTokens = 750

// longLine is how many characters of a line stay together.
const longLine = 400

// linePieces are the lines of a text; long ones in parts, cut between words.
func linePieces(text string) (all []piece) {
	for _, line := range strings.Split(text, "\n") {
		join, label := "\n", ""
		for rest := []rune(line); ; {
			end := len(rest)
			if end > longLine {
				end = longLine
				if space := strings.LastIndexByte(string(rest[:end]), ' '); space > 0 {
					end = len([]rune(string(rest[:end])[:space])) + 1
				}
			}
			all = append(all, piece{join: join, label: label, text: string(rest[:end])})
			if rest, join, label = rest[end:], "", "… "; len(rest) == 0 {
				break
			}
		}
	}
	return all
}

// A piece is text that stays together on a page.
type piece struct {
	join  string // what stands before it
	label string // what stands there in its place where a page begins
	text  string
}

// A pager puts pieces on pages of at most limit tokens by the estimate.
type pager struct {
	limit int
	pages []string // those that are full
	page  strings.Builder
	spent int // on the page, roughly: the estimate of a whole is not the sum of those of its parts
	rough int // how many of the parts were summed up
}

func (p *pager) add(next piece) {
	text := next.join + next.text
	cost := compact.Tokens([]byte(text))
	if p.full(cost) {
		p.pages = append(p.pages, p.page.String())
		p.page.Reset()
		p.spent, p.rough = 0, 0
	}
	if p.page.Len() == 0 {
		text = next.label + next.text
	}
	p.page.WriteString(text)
	p.spent += cost
	p.rough++
}

// full reports whether what costs so much does not fit on the page any more.
func (p *pager) full(cost int) bool {
	const many = 20
	if p.rough > many || p.spent+cost > p.limit {
		p.spent, p.rough = compact.Tokens([]byte(p.page.String())), 0
	}
	return p.page.Len() > 0 && p.spent+cost > p.limit
}

// some is what is on the first page, and how many of the pieces are.
func some(pieces []piece, limit int) (text string, n int) {
	p := pager{limit: limit}
	for i, next := range pieces {
		if p.add(next); len(p.pages) > 0 {
			return p.pages[0], i
		}
	}
	return p.page.String(), len(pieces)
}

func (p *pager) all() []string { return append(p.pages, p.page.String()) }
