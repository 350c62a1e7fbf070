package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcp-facade/files"
)

// pageFrame is the page without its content. The program writes that by hand:
// html/template would make it 2 MB larger, a fifth.
//
//go:embed report.html
var pageFrame string

// pageMark is in every page of ours, near its beginning.
const pageMark = `<meta name="generator" content="mcp-facade report">`

// writePage writes the report as a page that needs nothing else. A file that is
// not such a page is left alone.
func (e *env) writePage(path string, r *savingReport) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := ours(path); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	write := func(w io.Writer) error { _, err := io.WriteString(w, page(r)); return err }
	if err := files.Replace(path, write, nil); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	fmt.Fprintln(e.stdout, path)
	return nil
}

// ours is nil if there is no file at path, or a page of ours.
func ours(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	head := make([]byte, 1024)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if n > 0 && !bytes.Contains(head[:n], []byte(pageMark)) {
		return fmt.Errorf("%s is there already and is no report of mcp-facade: it stays as it is", path)
	}
	return nil
}

// A pageWriter collects HTML. What servers have named goes through esc.
type pageWriter struct{ strings.Builder }

func (p *pageWriter) f(format string, args ...any) { fmt.Fprintf(p, format, args...) }

func esc(s string) string { return html.EscapeString(s) }

// page is the whole report as HTML.
func page(r *savingReport) string {
	p := &pageWriter{}
	title := "What mcp-facade saved"
	if len(r.Servers) == 1 {
		title += ": " + r.Servers[0].Server
	}
	p.f("<header><h1>%s</h1>\n<p class=\"soft\">%s</p></header>\n", esc(title), esc(r.span()))
	if r.Total != nil {
		p.total(r.Total, len(r.Servers))
	}
	for i := range r.Servers {
		p.server(&r.Servers[i], len(r.Servers) > 1 || len(r.Missing) > 0)
	}
	p.missing(r.Missing)
	p.f("<footer><p>Tokens are estimated (%s): whole lists within 5 %% of a tokenizer, the names alone of six tools or more within 10 %%. The list of tools counts once in each session, though hosts send it again with every turn. "+
		"Days are those of UTC. All that was used is what the ledger on this machine has of it.</p></footer>", esc(estimator))
	return strings.NewReplacer("<!--title-->", esc(title), "<!--body-->", p.String()).Replace(pageFrame)
}

// span is the time that all records of a report span.
func (r *savingReport) span() string {
	var all *activity
	for _, s := range r.Servers {
		switch u := s.Use; {
		case u == nil:
		case all == nil:
			all = &activity{From: u.From, To: u.To}
		default:
			all.From, all.To = earlier(all.From, u.From), later(all.To, u.To)
		}
	}
	if all == nil {
		return "Nothing was recorded yet on this machine: these are the costs alone."
	}
	return "Recorded on this machine, " + all.period()
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// total is what stands above several servers.
func (p *pageWriter) total(t *saving, servers int) {
	p.f("<dl class=\"cards\">")
	if t.Sessions > 0 {
		p.net(&t.Balance)
		p.card("Sessions", grouped(t.Sessions), "of one server each")
		p.card("Calls", grouped(t.Calls), fmt.Sprintf("of %s", plural(servers, "server")))
	}
	p.card("In the prompt", grouped(t.Surface.Tokens), fmt.Sprintf("of %s tokens: %s", grouped(t.Catalog.Tokens), share(t.Catalog.Tokens, t.Surface.Tokens)))
	p.f("</dl>\n<section><h3>All %d servers</h3>\n", servers)
	p.figures(&figures{Catalog: &t.Catalog, Names: &t.Names, Surface: t.Surface, Deferred: t.Deferred})
	p.f("</section>\n")
	if t.Sessions > 0 {
		p.balances(&t.Balance)
	}
}

// server is all there is of one server.
func (p *pageWriter) server(s *serverSaving, headed bool) {
	p.f("<article>")
	if headed {
		p.f("<h2>%s</h2>\n", esc(s.Server))
	}
	p.f("<dl class=\"cards\">")
	if u := s.Use; u != nil {
		p.net(s.Balance)
		p.card("Sessions", grouped(u.Sessions), "since "+u.From.Format(time.DateOnly))
		p.card("Calls", grouped(u.Calls), fmt.Sprintf("%s direct, %s by call", grouped(u.Direct), grouped(u.Via)))
	}
	p.card("In the prompt", grouped(s.Surface.Tokens), fmt.Sprintf("of %s tokens: %s", grouped(s.Catalog.Tokens), share(s.Catalog.Tokens, s.Surface.Tokens)))
	p.f("</dl>\n<section><h3>Before and after</h3>\n")
	p.figures(&s.figures)
	p.f("</section>\n")
	if s.Use != nil {
		p.balances(s.Balance)
	}
	p.f("<section><h3>Is it worth it?</h3>\n")
	for _, n := range s.Notes {
		p.f("<p>%s</p>\n", esc(n))
	}
	p.f("</section>\n")
	if s.Use != nil {
		p.days(s.Use)
		p.traffic(s.Use)
		p.used(s.Tools)
	}
	p.costs(s.Tools)
	p.f("</article>\n")
}

// share is saved, without its advice, on one line.
func share(before, after int) string {
	text, _, _ := strings.Cut(saved(before, after), ":")
	return strings.ReplaceAll(text, " ", "\u00a0")
}

func (p *pageWriter) card(what, number, note string) {
	p.f("<div class=\"card\"><dt>%s</dt><dd>%s<small>%s</small></dd></div>", esc(what), esc(number), esc(note))
}

// net is the result in large, in both kinds of host.
func (p *pageWriter) net(b *balances) {
	p.f("<div class=\"card both\"><dt>Net result, in tokens</dt>")
	for _, l := range []struct {
		b    balance
		host string
	}{{b.Shown, "in a host that shows every tool"}, {b.Deferred, "in a host that defers tools by itself"}} {
		p.f("<dd class=\"%s\">%s<small>%s</small></dd>", l.b.class(), l.b.outcome(grouped), l.host)
	}
	p.f("</div>")
}

// class is how the net result is drawn.
func (b balance) class() string {
	if b.Net < 0 {
		return "bad"
	}
	return "good"
}

// figures are the three figures, and the fourth of a host that defers.
func (p *pageWriter) figures(f *figures) {
	most := max(f.Catalog.Tokens, f.Names.Tokens, f.Surface.Tokens, f.Deferred.Tokens)
	where := ""
	if f.shownTo.by != nil {
		where = ", as " + titles(f.shownTo.by) + " is shown them"
	}
	p.f("<table><caption>Tokens of the tools in a model's prompt%s, without and with mcp-facade; deferred: in a host that shows names only until it has searched</caption><thead><tr><th scope=\"col\">shown</th><th scope=\"col\"><span hidden>bar</span></th><th scope=\"col\" class=\"n\">tools</th><th scope=\"col\" class=\"n\">tokens</th></tr></thead><tbody>\n", esc(where))
	for _, l := range []struct {
		what, class string
		c           cost
	}{
		{"all shown, without\u00a0it", "w", *f.Catalog},
		{"all shown, with\u00a0it", "o", f.Surface},
		{"deferred, without\u00a0it", "d", *f.Names},
		{"deferred, with\u00a0it", "o", f.Deferred},
	} {
		p.f("<tr><th scope=\"row\">%s</th><td>", l.what)
		p.track("", most, bar{l.class, l.c.Tokens})
		p.f("</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n", grouped(l.c.Tools), grouped(l.c.Tokens))
	}
	p.f("</tbody></table>\n")
}

// A bar is one part of a track.
type bar struct {
	class string
	n     int
}

// track draws bars in a row. What they say stands in the cells beside it.
func (p *pageWriter) track(class string, most int, bars ...bar) {
	p.f("<div class=\"track %s\" aria-hidden=\"true\">", class)
	for _, b := range bars {
		if b.n > 0 {
			p.f("<i class=\"%s\" style=\"width:%s%%\"></i>", b.class, percent(b.n, most))
		}
	}
	p.f("</div>")
}

func percent(n, of int) string {
	return strconv.FormatFloat(100*float64(n)/float64(max(of, 1)), 'f', 2, 64)
}

// balances are the net results in both kinds of host.
func (p *pageWriter) balances(b *balances) {
	p.f("<section><h3>The net result</h3>\n<div class=\"pair\">\n")
	for _, l := range []struct {
		host string
		b    balance
	}{{"In a host that shows every tool", b.Shown}, {"In a host that defers tools by itself", b.Deferred}} {
		p.f("<table><caption>%s: tokens of all sessions, without and with mcp-facade</caption><tbody>\n", l.host)
		most := max(l.b.Without, l.b.With+l.b.Traffic)
		for _, row := range []struct {
			what string
			n    int
			bars []bar
		}{
			{"lists without it", l.b.Without, []bar{{"w", l.b.Without}}},
			{"lists with it", l.b.With, []bar{{"o", l.b.With}}},
			{"searches and envelopes", l.b.Traffic, []bar{{"", l.b.With}, {"x", l.b.Traffic}}},
		} {
			p.f("<tr><th scope=\"row\">%s</th><td>", row.what)
			p.track("", most, row.bars...)
			p.f("</td><td class=\"n\">%s</td></tr>\n", grouped(row.n))
		}
		p.f("<tr class=\"sum\"><th scope=\"row\">net result</th><td colspan=\"2\" class=\"n %s\">%s</td></tr></tbody></table>\n", l.b.class(), l.b.outcome(grouped))
	}
	p.f("</div>\n</section>\n")
}

// traffic says what searching and calling took.
func (p *pageWriter) traffic(u *activity) {
	most := max(u.Discover.Tokens, u.Describe.Tokens, u.Envelope.Tokens)
	p.f("<section><h3>What the meta-tools took</h3>\n<table><thead><tr><th scope=\"col\">meta-tool</th><th scope=\"col\"><span hidden>bar</span></th><th scope=\"col\" class=\"n\">times</th><th scope=\"col\" class=\"n\">tokens</th></tr></thead><tbody>\n")
	for _, l := range []struct {
		what string
		t    traffic
	}{{"discover", u.Discover}, {"describe", u.Describe}, {"call: its envelope", u.Envelope}} {
		p.f("<tr><th scope=\"row\">%s</th><td>", l.what)
		p.track("", most, bar{"x", l.t.Tokens})
		p.f("</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n", grouped(l.t.Times), grouped(l.t.Tokens))
	}
	p.f("</tbody></table>\n</section>\n")
}

// rowsShown is how many tools a table shows at once, and rowsAll how many it has
// at most.
const (
	rowsShown = 15
	rowsAll   = 500
)

// used are the tools that were called, the most called first.
func (p *pageWriter) used(tools []toolUse) {
	tools = slices.DeleteFunc(slices.Clone(tools), func(t toolUse) bool { return t.calls() == 0 })
	if len(tools) == 0 {
		return
	}
	slices.SortStableFunc(tools, func(a, b toolUse) int { return b.calls() - a.calls() })
	p.f("<section><h3>Tools by use</h3>\n")
	p.rows(tools, "<caption><span class=\"key o\"></span>by its own name <span class=\"key d\"></span>by call</caption>", []string{"direct", "by call", "failed"}, func(t toolUse) {
		p.track("", tools[0].calls(), bar{"o", t.Direct}, bar{"d", t.Via})
	}, func(t toolUse) []string { return []string{grouped(t.Direct), grouped(t.Via), grouped(t.Failed)} })
	p.f("</section>\n")
}

// costs are the tools that the upstream lists, the dearest first.
func (p *pageWriter) costs(tools []toolUse) {
	tools = slices.DeleteFunc(slices.Clone(tools), func(t toolUse) bool { return t.State == stateGone || t.State == stateUnknown })
	if len(tools) == 0 {
		return
	}
	price := func(t toolUse) int { return max(number(t.Listed), t.Ours) }
	slices.SortStableFunc(tools, func(a, b toolUse) int { return price(b) - price(a) })
	p.f("<section><h3>Tools by cost</h3>\n")
	p.rows(tools, "<caption><span class=\"key w\"></span>as listed <span class=\"key o\"></span>as shown by mcp-facade, in tokens; “found”: not in the prompt, discover finds it</caption>", []string{"listed", "names", "ours"}, func(t toolUse) {
		p.track("thin", price(tools[0]), bar{"w", number(t.Listed)})
		p.track("thin", price(tools[0]), bar{"o", t.Ours})
	}, func(t toolUse) []string { return []string{dash(t.Listed), dash(t.Names), ourCost(t)} })
	p.f("</section>\n")
}

func ourCost(t toolUse) string {
	if t.State == stateShown {
		return grouped(t.Ours)
	}
	return t.State
}

func dash(n *int) string {
	if n == nil {
		return "–"
	}
	return grouped(*n)
}

// rows is a table of tools with bars, of which the first rows are shown at once.
func (p *pageWriter) rows(tools []toolUse, caption string, heads []string, bars func(toolUse), cells func(toolUse) []string) {
	table := func(tools []toolUse, caption string) {
		p.f("<div class=\"scroll\"><table>%s<thead><tr><th scope=\"col\">tool</th><th scope=\"col\"><span hidden>bar</span></th>", caption)
		for _, h := range heads {
			p.f("<th scope=\"col\" class=\"n\">%s</th>", h)
		}
		p.f("</tr></thead><tbody>\n")
		for _, t := range tools {
			p.f("<tr><th scope=\"row\" class=\"name\">%s</th><td>", esc(t.named()))
			bars(t)
			p.f("</td>")
			for _, c := range cells(t) {
				p.f("<td class=\"n\">%s</td>", c)
			}
			p.f("</tr>\n")
		}
		p.f("</tbody></table></div>\n")
	}
	table(tools[:min(len(tools), rowsShown)], caption)
	if len(tools) > rowsShown {
		rest := tools[rowsShown:min(len(tools), rowsAll)]
		p.f("<details><summary>%s more</summary>\n", plural(len(rest), "tool"))
		table(rest, "")
		p.f("</details>\n")
	}
	if len(tools) > rowsAll {
		p.f("<p class=\"soft\">and %s that are left out here; --json has them all</p>\n", plural(len(tools)-rowsAll, "tool"))
	}
}

// days draws sessions and calls over time.
func (p *pageWriter) days(u *activity) {
	spans, width := bucketed(u.Days)
	p.f("<section><h3>Over time</h3>\n<div class=\"pair\">\n")
	p.chart("Sessions", "o", spans, width, func(d day) int { return d.Sessions })
	p.chart("Calls", "d", spans, width, func(d day) int { return d.Calls })
	p.f("</div>\n<details><summary>As a table</summary><table><thead><tr><th scope=\"col\">%s</th><th scope=\"col\" class=\"n\">sessions</th><th scope=\"col\" class=\"n\">calls</th></tr></thead><tbody>\n", unit(width))
	for _, d := range spans {
		p.f("<tr><th scope=\"row\">%s</th><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n", d.Day, grouped(d.Sessions), grouped(d.Calls))
	}
	p.f("</tbody></table></details>\n</section>\n")
}

// unit names a number of days, which begin with the one that is given.
func unit(width int) string {
	if width == 1 {
		return "day"
	}
	return fmt.Sprintf("%d days from", width)
}

// maxBars is how many bars a chart has at most.
const maxBars = 42

// bucketed joins days until they are few enough for a chart, with empty ones
// between, and returns how many days each has.
func bucketed(days []day) ([]day, int) {
	first, err := time.Parse(time.DateOnly, days[0].Day)
	if err != nil {
		return days[:1], 1
	}
	at := func(d day) int {
		t, _ := time.Parse(time.DateOnly, d.Day)
		return max(0, int(t.Unix()/86400-first.Unix()/86400))
	}
	width := 1
	for _, w := range []int{7, 28, 364} {
		if at(days[len(days)-1])/width >= maxBars {
			width = w
		}
	}
	for at(days[len(days)-1])/width >= maxBars {
		width *= 10
	}
	all := make([]day, at(days[len(days)-1])/width+1)
	for i := range all {
		all[i].Day = first.AddDate(0, 0, i*width).Format(time.DateOnly)
	}
	for _, d := range days {
		i := min(at(d)/width, len(all)-1)
		all[i].Sessions += d.Sessions
		all[i].Calls += d.Calls
	}
	return all, width
}

// chart draws one number of each day as a bar, if there is anything to draw.
func (p *pageWriter) chart(what, class string, days []day, width int, n func(day) int) {
	most, sum := 1, 0
	for _, d := range days {
		most, sum = max(most, n(d)), sum+n(d)
	}
	if sum == 0 {
		p.f("<figure><figcaption>%s by %s: none</figcaption></figure>\n", what, strings.TrimSuffix(unit(width), " from"))
		return
	}
	id := fmt.Sprintf("c%d", p.Len())
	const room = 10 // for a bar and the gap after it
	p.f("<figure><figcaption>%s by %s, at most %s</figcaption>\n", what, strings.TrimSuffix(unit(width), " from"), grouped(most))
	p.f("<svg role=\"img\" aria-labelledby=\"%[1]st %[1]sd\" viewBox=\"0 0 %[2]d 100\" preserveAspectRatio=\"none\"><title id=\"%[1]st\">%[3]s over time</title><desc id=\"%[1]sd\">%[4]s in all; the table below has the numbers.</desc>", id, room*max(len(days), 12), what, grouped(sum))
	for i, d := range days {
		if n(d) > 0 {
			h := 100 * float64(n(d)) / float64(most)
			p.f("<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>", class, i*room+1, 100-h, room-2, h)
		}
	}
	p.f("</svg>\n<div class=\"axis\"><span>%s</span>", days[0].Day)
	if last := days[len(days)-1].Day; last != days[0].Day {
		p.f("<span>%s</span>", last)
	}
	p.f("</div></figure>\n")
}

// missing are the servers of which nothing is known.
func (p *pageWriter) missing(all []missing) {
	if len(all) == 0 {
		return
	}
	p.f("<section><h3>Not reported</h3>\n<table><tbody>\n")
	for _, m := range all {
		p.f("<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", esc(m.Server), esc(m.Reason))
	}
	p.f("</tbody></table></section>\n")
}

// grouped is a number with commas: 12,345.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
