package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/facade"
	"mcp-facade/facade/config"
	"mcp-facade/facade/ledger"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

func TestBreakEven(t *testing.T) {
	p := func(n int) *int { return &n }
	used := func(sessions, searches int) *activity {
		return &activity{Sessions: sessions, Discover: traffic{Times: searches}}
	}
	bill := func(without, with, traffic int) *balances {
		return &balances{Shown: newBalance(without, with, traffic)}
	}
	tests := []struct {
		name               string
		tools, all, listed int
		u                  *activity
		b                  *balances
		want               breakEven
	}{
		{"goes by the figures without records", 10, 1000, 250, nil, nil, breakEven{true, p(3), nil}},
		{"wants more tools than cost the same", 10, 1000, 200, nil, nil, breakEven{true, p(3), nil}},
		{"goes by the averages of the sessions", 10, 1000, 0, used(2, 4), bill(2000, 500, 400), breakEven{true, p(5), p(7)}},
		{"gives no discoveries without a search", 10, 1000, 0, used(2, 0), bill(2000, 500, 0), breakEven{true, p(3), nil}},
		{"says that one search is too much", 10, 1000, 0, used(1, 1), bill(1000, 900, 200), breakEven{false, p(12), p(0)}},
		{"is honest about a small server", 2, 100, 300, nil, nil, breakEven{false, p(7), nil}},
		{"counts no discoveries where nothing is saved", 2, 100, 0, used(1, 3), bill(100, 300, 900), breakEven{false, p(25), nil}},
		{"does not pay off where it costs the same", 2, 100, 100, nil, nil, breakEven{false, p(3), nil}},
		{"has nothing to say of no tools", 0, 0, 200, nil, nil, breakEven{}},
		{"takes searches that cost nothing", 10, 1000, 0, used(1, 3), bill(1000, 100, 0), breakEven{true, p(2), nil}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := figures{Catalog: &cost{tt.tools, tt.all}, Surface: cost{3, tt.listed}}
			if tt.u != nil {
				f.sessions, f.lists = tt.u.Sessions, tt.b.Shown.With
			}
			got := breakEvenOf(f, tt.u, tt.b)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			words := got.words(&serverSaving{Server: "acme", figures: f, Use: tt.u, Balance: tt.b})
			if strings.ContainsAny(words, "-%") && !strings.Contains(words, "mcp-facade") || strings.Contains(words, " -") || strings.Contains(words, "Inf") {
				t.Errorf("it says %q", words)
			}
			if strings.Contains(words, "searches: ") {
				t.Errorf("it leaves tools to searches, and says %q", words)
			}
			if told := strings.HasPrefix(words, "You do not need") || strings.HasPrefix(words, "As it was used, you do not need") || got.Tools == nil; told == got.PaysOff {
				t.Errorf("it pays off: %v; it says %q", got.PaysOff, words)
			}
		})
	}
}

// Where every tool is shown, no number of tools or discoveries decides.
func TestBreakEvenOfAll(t *testing.T) {
	searched := &activity{Sessions: 1, Discover: traffic{Times: 3}}
	for _, tt := range []struct {
		name              string
		tools, all, shown int
		pays              bool
		want              string
	}{
		{"is worth what is trimmed", 14, 1700, 1493, true, "acme leaves no tool to searches: in a host that shows every tool, what it shows costs 1493 tokens in place of 1700. How many tools there are does not matter, as each saves what it is trimmed by."},
		{"is worth nothing where nothing is", 8, 684, 684, false, "You do not need mcp-facade for acme: in a host that shows every tool, its 8 tools cost 684 tokens without it, and what it shows costs 684."},
		{"has nothing to say of no tools", 0, 0, 0, false, "acme lists no tools: you do not need mcp-facade for it."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := figures{Catalog: &cost{tt.tools, tt.all}, Surface: cost{tt.tools, tt.shown}, whole: true}
			b := &balances{Shown: newBalance(tt.all, tt.shown, 5000)}
			got := breakEvenOf(f, searched, b)
			if diff := cmp.Diff(breakEven{PaysOff: tt.pays}, got); diff != "" {
				t.Error(diff)
			}
			if words := got.words(&serverSaving{Server: "acme", figures: f, Use: searched, Balance: b}); words != tt.want {
				t.Errorf("it says %q, want %q", words, tt.want)
			}
		})
	}
}

func TestLeavesNone(t *testing.T) {
	c, _ := catalog.New([][]byte{[]byte(`{"tools":[{"name":"Get"},{"name":"put"}]}`)})
	for list, want := range map[string]bool{
		`[{"name":"get"},{"name":"put"}]`:                     true,
		`[{"name":"get"}]`:                                    true, // the other is hidden, or no host takes it
		`[{"name":"get"},{"name":"discover"}]`:                false,
		`[{"name":"get"},{"name":"put"},{"name":"discover"}]`: true,
		`[{"name":"discover"}]`:                               false,
	} {
		if got := figuresOf("acme", c, gjson.Parse(list).Array()).whole; got != want {
			t.Errorf("%s leaves none: %v, want %v", list, got, want)
		}
	}
}

func TestActivity(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 3, day, 12, 0, 0, 0, time.UTC) }
	u := activityOf(&config.Server{Name: "acme"}, []ledger.Record{
		{Time: at(2), Session: "a", Via: ledger.Session, Surface: "all", Tokens: 100},
		{Time: at(2), Session: "a", Via: ledger.Direct, Tool: "x", Outcome: ledger.OK},
		{Time: at(1), Session: "b", Via: ledger.Call, Tool: "x", Outcome: ledger.Refused}, // its session record is gone
		{Time: at(3), Session: "b", Via: ledger.Call, Tool: "x", Outcome: ledger.Lost},
		{Time: at(3), Session: "b", Via: ledger.Discover, Tokens: -5},
		{Time: at(3), Session: "b", Via: ledger.Describe, Tool: "x", Tokens: 1 << 62},
	}, 7)
	want := &activity{From: at(1), To: at(3), Sessions: 2, Whole: 1, Calls: 1, Direct: 1, Refused: 1, Unanswered: 1, Unread: 7,
		Discover: traffic{1, 0}, Describe: traffic{1, maxTokens}, Envelope: traffic{2, u.Envelope.Tokens},
		Days: []day{{"2026-03-01", 1, 0}, {"2026-03-02", 1, 1}, {"2026-03-03", 0, 0}}}
	if diff := cmp.Diff(want, u); diff != "" {
		t.Error(diff)
	}
	if n := u.Envelope.Tokens; n < 4 || n > 40 {
		t.Errorf("the envelopes of two calls cost %d tokens, want some", n)
	}
	if activityOf(nil, nil, 3) != nil {
		t.Error("there is an activity without records")
	}
}

func TestBucketed(t *testing.T) {
	tests := []struct {
		name        string
		last        string
		bars, width int
	}{
		{"keeps days", "2026-02-10", 41, 1},
		{"joins weeks", "2026-02-12", 7, 7},
		{"joins months", "2026-12-31", 14, 28},
		{"joins years", "2040-01-01", 15, 364},
		{"bears what a damaged ledger says", "9999-01-01", 3, 3640},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, width := bucketed([]day{{"2026-01-01", 1, 2}, {tt.last, 3, 4}})
			sum := 0
			for _, d := range got {
				sum += d.Sessions + d.Calls
			}
			if width != tt.width && tt.last < "9999" || len(got) > maxBars || sum != 10 {
				t.Errorf("%d bars of %d days with %d in all, want bars of %d days with 10", len(got), width, sum, tt.width)
			}
		})
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", -123: "-123", 123456: "123,456"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %q, want %q", n, got, want)
		}
	}
}

// The calls of the table are all those that were counted.
func TestToolUsesHaveAllCalls(t *testing.T) {
	c, _ := catalog.New([][]byte{[]byte(`{"tools":[{"name":"get"},{"name":"put"}]}`)})
	s := &config.Server{Name: "acme"}
	records := []ledger.Record{
		{Via: ledger.Direct, Tool: "get", Outcome: ledger.OK}, {Via: ledger.Call, Tool: "gone", Outcome: ledger.OK},
		{Via: ledger.Direct, Outcome: ledger.Failed}, {Via: ledger.Call, Outcome: ledger.Failed}, {Via: ledger.Call, Outcome: ledger.Refused},
		{Via: ledger.Discover, Outcome: ledger.OK}, {Via: ledger.Session},
	}
	u, calls := activityOf(s, records, 0), 0
	uses := toolUses(s, c, nil, records)
	for _, use := range uses {
		calls += use.calls()
	}
	if i := slices.IndexFunc(uses, func(t toolUse) bool { return t.State == stateUnknown }); i < 0 || uses[i] != (toolUse{State: stateUnknown, Direct: 1, Via: 1, Failed: 2}) {
		t.Errorf("the tools are %+v, want the calls of names that were never listed", uses)
	}
	if calls != 4 || u.Calls != calls {
		t.Errorf("the tools have %d calls, and the report %d; want 4", calls, u.Calls)
	}
	p := &pageWriter{}
	p.used(uses)
	if want := "(names that were never listed)"; !strings.Contains(p.String(), want) {
		t.Errorf("the page has no %s", want)
	}
	p = &pageWriter{}
	p.costs(uses)
	if strings.Contains(p.String(), "never listed") {
		t.Error("the page says what names cost that were never listed")
	}
}

// Of a session whose list is not recorded, that of its kind counts.
func TestBalanceIsOfTheKindOfSession(t *testing.T) {
	d := newDesk(t, `{"acme":{"command":"fake-upstream","used":[]}}`)
	s, _, err := d.target(&options{}, []string{"acme"})
	if err != nil {
		t.Fatal(err)
	}
	d.cacheTools(t, s, 30, catalog.CommandView(), hostOpening)
	l := ledger.Open(d.ledgerPath(s), nil)
	l.Add(ledger.Record{Time: time.Now(), Via: ledger.Session, Surface: "all"})
	l.Close(t.Context())
	r, err := d.savingOf(t.Context(), &options{}, s)
	if err != nil {
		t.Fatal(err)
	}
	list, err := d.asShown(t.Context(), &options{}, s, "all")
	if err != nil {
		t.Fatal(err)
	}
	all := shownCost(list).Tokens
	if r.Surface.Tokens == all || r.Balance.Shown.With != all || r.Balance.Deferred.With != r.Names.Tokens {
		t.Errorf("with it %d tokens, deferred %d; want those of every tool, %d and %d, and not of the surface, %d",
			r.Balance.Shown.With, r.Balance.Deferred.With, all, r.Names.Tokens, r.Surface.Tokens)
	}
	if want := breakEvenOf(r.figures, nil, nil); r.sessions != 0 || !cmp.Equal(want, r.BreakEven) {
		t.Errorf("the break-even is %+v, want %+v, as without that session", r.BreakEven, want)
	}
	if said := strings.Join(r.Notes, " "); strings.Contains(said, "spares it the searches") {
		t.Errorf("no search was made, and it says %s", said)
	}
}

func TestEnvelopeHasThePrefix(t *testing.T) {
	plain, long := &config.Server{Name: "acme"}, &config.Server{Name: "acme", Prefix: "a_prefix_of_some_length_"}
	if a, b := envelopeTokens(plain, "get"), envelopeTokens(long, "get"); b < a+4 {
		t.Errorf("an envelope costs %d tokens, and %d with a long prefix", a, b)
	}
}

// Each row of the page's figures has the cost that it names.
func TestPageFigures(t *testing.T) {
	p := &pageWriter{}
	p.figures(&figures{Catalog: &cost{1, 101}, Surface: cost{2, 102}, Names: &cost{3, 103}, Deferred: cost{4, 104}})
	rows := regexp.MustCompile(`(?s)<th scope="row">(.*?)</th>.*?<td class="n">(\d)</td><td class="n">(\d+)</td>`).FindAllStringSubmatch(p.String(), -1)
	var got []string
	for _, row := range rows {
		got = append(got, strings.Join(row[1:], " "))
	}
	want := []string{"all shown, without\u00a0it 1 101", "all shown, with\u00a0it 2 102", "deferred, without\u00a0it 3 103", "deferred, with\u00a0it 4 104"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTotal(t *testing.T) {
	one := serverSaving{figures: figures{Catalog: &cost{1, 10}, Names: &cost{2, 20}, Surface: cost{3, 30}, Deferred: cost{4, 40}},
		Use: &activity{Sessions: 5, Calls: 6}, Balance: &balances{newBalance(70, 8, 9), newBalance(100, 11, 12)}}
	unused := one
	unused.Use, unused.Balance = nil, nil
	want := &saving{Catalog: cost{3, 30}, Names: cost{6, 60}, Surface: cost{9, 90}, Deferred: cost{12, 120}, Sessions: 10, Calls: 12,
		Balance: balances{newBalance(140, 16, 18), newBalance(200, 22, 24)}}
	if diff := cmp.Diff(want, totalOf([]serverSaving{one, unused, one})); diff != "" {
		t.Error(diff)
	}
}

// hostileNames are what a server may call its tools.
var hostileNames = []string{
	`</script><img src=x onerror=alert(1)>`, `<svg onload=alert(1)>`, `"><b style="position:fixed">`, `--><!--body-->`, `<!--title-->`,
	"a\u202eb\x1b[31m", `&lt;b&gt;`, strings.Repeat("x", 5000), `{{.}}`, "%s%!d", "日本語",
}

// samplePage is a page of two servers, one of which is hostile.
func samplePage(t *testing.T) string {
	t.Helper()
	var tools, list []string
	var records []ledger.Record
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for i, name := range append(hostileNames, strings.Fields(strings.Repeat("some_tool ", 30))...) {
		if i >= len(hostileNames) {
			name = fmt.Sprintf("%s_%d", name, i)
		}
		raw := fmt.Sprintf(`{"name":%s,"description":"It does what it says, which is much and takes words.","inputSchema":{"type":"object"}}`, array([]string{name})[1:len(array([]string{name}))-1])
		tools = append(tools, raw)
		if i < 3 {
			list = append(list, raw)
		}
		session := fmt.Sprint(i / 4)
		records = append(records,
			ledger.Record{Time: start.AddDate(0, 0, i), Session: session, Via: ledger.Session, Tokens: 300, Surface: "meta"},
			ledger.Record{Time: start.AddDate(0, 0, i), Session: session, Via: ledger.Direct, Tool: name, Outcome: ledger.OK},
			ledger.Record{Time: start.AddDate(0, 0, i), Session: session, Via: ledger.Call, Tool: name + "<i>", Outcome: ledger.Failed},
			ledger.Record{Time: start.AddDate(0, 0, i), Session: session, Via: ledger.Discover, Tokens: 400, Found: []string{name}, Outcome: ledger.OK})
	}
	c, _ := catalog.New([][]byte{[]byte(`{"tools":[` + strings.Join(tools, ",") + `]}`)})
	shown := gjson.Parse("[" + strings.Join(list, ",") + "]").Array()
	s := &config.Server{Name: "acme<i>", Ledger: true}
	one := serverSaving{Server: s.Name, figures: figuresOf(s.Name, c, shown), Use: activityOf(s, records, 1), Tools: toolUses(s, c, shown, records)}
	one.Balance = &balances{newBalance(20000, 3000, one.Use.tokens()), newBalance(300, 3000, one.Use.tokens())}
	one.BreakEven = breakEvenOf(one.figures, one.Use, one.Balance)
	one.Notes = one.remarks(&env{}, s)
	other := one
	other.Server, other.Use, other.Balance = "other", nil, nil
	r := &savingReport{Servers: []serverSaving{one, other}, Missing: []missing{{Server: "cold<i>", Reason: "<i>not cached"}}}
	r.Total = totalOf(r.Servers)
	return page(r)
}

func TestPageEscapes(t *testing.T) {
	text := samplePage(t)
	for _, bad := range []string{"<img", "<script", "<b", "<i>", "<svg onload", "onerror=alert(1)>", "\x1b", "\u202e", "<!--", "http:", "https:", "url(", "@import", "<link"} {
		if i := strings.Index(strings.ReplaceAll(text, "<body", ""), bad); i >= 0 {
			t.Errorf("the page has %q, at %d", bad, i)
		}
	}
	if n := strings.Count(text, "<main>"); n != 1 {
		t.Errorf("the page has %d bodies, want 1", n)
	}
	for _, good := range []string{"&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;", "acme&lt;i&gt;", "&amp;lt;b&amp;gt;", "日本語", "%s%!d", "xxx…"} {
		if !strings.Contains(text, good) {
			t.Errorf("the page has no %q", good)
		}
	}
}

// What holds in one kind of host only stands beside what holds in the other.
func TestPageHasBothResults(t *testing.T) {
	p := &pageWriter{}
	p.net(&balances{newBalance(20000, 3000, 1000), newBalance(300, 3000, 1000)})
	want := `<dd class="good">16,000 saved<small>in a host that shows every tool</small></dd><dd class="bad">3,700 lost<small>in a host that defers tools by itself</small></dd>`
	if got := p.String(); !strings.Contains(got, want) {
		t.Errorf("the card is %s, want %s in it", got, want)
	}
}

func TestChartOfOneDay(t *testing.T) {
	for _, tt := range []struct {
		days []day
		want string
	}{
		{[]day{{"2026-03-02", 1, 2}}, `<div class="axis"><span>2026-03-02</span></div>`},
		{[]day{{"2026-03-02", 1, 2}, {"2026-03-03", 1, 2}}, `<div class="axis"><span>2026-03-02</span><span>2026-03-03</span></div>`},
		{[]day{{"2026-03-02", 1, 0}}, "<figure><figcaption>Calls by day: none</figcaption></figure>\n"},
	} {
		p := &pageWriter{}
		p.chart("Calls", "d", tt.days, 1, func(d day) int { return d.Calls })
		if got := p.String(); !strings.Contains(got, tt.want) {
			t.Errorf("the chart of %d days is %s, want %s", len(tt.days), got, tt.want)
		}
	}
}

// lookAt gives what is wrong with a page: text that is hard to read, bars that
// are not there, what is wider than the window.
const lookAt = `(() => {
	const bad = [];
	const rgb = c => c.match(/[\d.]+/g).map(Number);
	const lum = c => { const [r, g, b] = rgb(c).map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 }); return .2126 * r + .7152 * g + .0722 * b };
	const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] !== 0) return c } return 'rgb(255,255,255)' };
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	let texts = 0;
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || !e.getClientRects().length || e.closest('svg')) continue;
		texts++;
		const a = lum(getComputedStyle(e).color), b = lum(ground(e));
		const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		if (contrast < 4.5) bad.push(contrast.toFixed(1) + ': ' + e.textContent.slice(0, 40));
	}
	if (texts < 100) bad.push('only ' + texts + ' texts');
	const bars = [...document.querySelectorAll('.track i, rect')].filter(e => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0 });
	if (bars.length < 40) bad.push('only ' + bars.length + ' bars');
	for (const s of document.querySelectorAll('svg')) if (!s.querySelector('title') || !s.querySelector('desc')) bad.push('a chart without words');
	for (const h of document.querySelectorAll('img, script, link, iframe, [onload], [onerror]')) bad.push('there is ' + h.tagName);
	if (document.documentElement.scrollWidth > innerWidth) bad.push('wider than the window: ' + document.documentElement.scrollWidth);
	bad.push(getComputedStyle(document.body).backgroundColor);
	return bad.join('\n');
})()`

// TestPageInBrowser opens the page in Chromium, which .ci/run installs.
func TestPageInBrowser(t *testing.T) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(samplePage(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	defer stop()
	ctx, end := chromedp.NewContext(ctx)
	defer end()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	said := &buffer{}
	listening := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if e.Request.URL != "file://"+file {
				fmt.Fprintln(said, "it requests", e.Request.URL)
			}
		case *runtime.EventExceptionThrown:
			fmt.Fprintln(said, "it throws", e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			fmt.Fprintln(said, "it logs", e.Type)
		case *log.EventEntryAdded:
			fmt.Fprintln(said, "the console has", e.Entry.Text)
		}
	})
	_, err1 := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	_, err2 := chromedp.Call(ctx, runtime.Enable, cdp.Empty{})
	_, err3 := chromedp.Call(ctx, log.Enable, cdp.Empty{})
	_, err4 := chromedp.Call(ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{{URLPattern: "*://*:*/*", Block: true}}})
	_, err5 := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	if err := errors.Join(listening, err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		scheme, ground string
		width          int64
	}{
		{"light", "rgb(246, 245, 241)", 1200}, {"dark", "rgb(20, 23, 27)", 1200}, {"light", "rgb(246, 245, 241)", 400}, {"dark", "rgb(20, 23, 27)", 400},
	} {
		t.Run(fmt.Sprintf("%s, %d wide", tt.scheme, tt.width), func(t *testing.T) {
			scheme := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: tt.scheme}}
			_, err1 := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: scheme})
			err2 := chromedp.Do(ctx, chromedp.EmulateViewport(tt.width, 900), chromedp.Navigate("file://"+file))
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			bad, err := chromedp.Run(ctx, chromedp.Evaluate[string](lookAt))
			if err != nil || bad != tt.ground {
				t.Errorf("the page: %v\n%s\nwant nothing but its ground, %s", err, bad, tt.ground)
			}
		})
	}
	if got := said.String(); got != "" {
		t.Error(got)
	}
}

// cacheTools stores a list of n tools as a host was given it.
func (d desk) cacheTools(t *testing.T, s *config.Server, n int, view catalog.View, opening string) {
	t.Helper()
	_, store, err := d.store(&options{}, s)
	if err != nil {
		t.Fatal(err)
	}
	tools := make([]string, n)
	for i := range tools {
		tools[i] = fmt.Sprintf(`{"name":"tool_%d","inputSchema":{"type":"object"}}`, i)
	}
	h := catalog.Head{View: view, Opening: []byte(opening), Listed: time.Now(),
		Handshake: []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"acme","version":"1"}}`)}
	pages := [][]byte{[]byte(`{"tools":[` + strings.Join(tools, ",") + `]}`)}
	if err := store.Save(t.Context(), h, catalog.Lists{"tools/list": pages}); err != nil {
		t.Fatal(err)
	}
}

// What is set against each other is of one list, though hosts that can do more
// are given more tools.
func TestReportIsOfOneView(t *testing.T) {
	d := newDesk(t, `{"acme":{"command":"fake-upstream","surface":"all"}}`)
	s, _, err := d.target(&options{}, []string{"acme"})
	if err != nil {
		t.Fatal(err)
	}
	d.cacheTools(t, s, 2, catalog.CommandView(), hostOpening)
	for _, host := range []struct {
		tools                      int
		era, version, can, opening string
	}{
		{3, "legacy", "2025-11-25", `{"roots":{}}`, `{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"h","version":"1"}}`},
		{4, "modern", "2026-07-28", `{"elicitation":{}}`, `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`},
	} {
		d.cacheTools(t, s, host.tools, catalog.ViewOf(host.era, host.version, []byte(host.can)), host.opening)
		r, err := d.savingOf(t.Context(), &options{}, s)
		if err != nil || r.Catalog.Tools != host.tools || r.Surface.Tools != host.tools {
			t.Errorf("after a %s host: %d tools without, %d with; want %d, %v", host.era, r.Catalog.Tools, r.Surface.Tools, host.tools, err)
		}
	}
}

// Where every tool is shown, "used" would only take some away.
func TestSuggestWritesNothingWhereEveryToolIsShown(t *testing.T) {
	d := newDesk(t, `{"acme":{"command":"fake-upstream","hide":["tool_0"]}}`)
	s, _, err := d.target(&options{}, []string{"acme"})
	if err != nil {
		t.Fatal(err)
	}
	d.cacheTools(t, s, 3, catalog.CommandView(), hostOpening)
	l := ledger.Open(d.ledgerPath(s), nil)
	for range facade.AutoCalls {
		l.Add(ledger.Record{Time: time.Now(), Via: ledger.Direct, Tool: "tool_1", Outcome: ledger.OK})
	}
	l.Close(t.Context())
	before, _ := os.ReadFile(d.configFile)
	code := run(t.Context(), d.env, []string{"suggest", "acme", "--write"})
	if after, err := os.ReadFile(d.configFile); code != 1 || !strings.Contains(d.err.String(), "every tool is shown now") || string(after) != string(before) || err != nil {
		t.Errorf("exit code %d, stderr %q, the file has %q, %v", code, d.err, after, err)
	}
}
