package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcp-facade/auth"
	"mcp-facade/catalog"
	"mcp-facade/facade"
	"mcp-facade/facade/config"
	"mcp-facade/facade/hosts"
	"mcp-facade/facade/ledger"
	"mcp-facade/facade/upstream"
)

// checkFile is about the servers file as a whole.
func checkFile(c *checkup) (all []finding) {
	about := c.path
	for _, err := range parts(c.wrong) {
		all = append(all, finding{Level: levelProblem, About: about, What: c.brief(err.Error()), Do: hint(err)})
	}
	if c.file == nil {
		return all
	}
	for _, w := range c.file.Warnings {
		what, do, _ := strings.Cut(c.brief(w), "; run: ")
		all = append(all, finding{Level: levelWarning, About: about, What: what, Do: do})
	}
	switch n := len(c.file.Names()); {
	case n == 0:
		all = append(all, finding{Level: levelWarning, About: about, What: "it names no server", Do: "mcp-facade wrap --list, which shows the servers of your hosts"})
	case len(all) == 0:
		all = append(all, finding{Level: levelOK, About: about, What: plural(n, "server")})
	}
	return all
}

// checkEntry is about the entry, and the variables and programs it refers to.
func checkEntry(p *subject) []finding {
	all := p.findings(levelProblem, p.name, p.wrong)
	switch {
	case errors.Is(p.wrong, auth.ErrLogin):
		all = nil // it is what checkToken says
	case p.isForHosts():
		all = []finding{{Level: levelNote, What: "is not started here: it needs " + p.lacking(), Do: p.inTheShell()}}
	case p.server != nil && len(p.server.Needs(p.environ)) > 0:
		all = p.softened(all)
	}
	if p.server != nil {
		for _, w := range p.server.Shown() {
			all = append(all, finding{Level: levelNote, What: strings.TrimPrefix(p.brief(w), p.name+"."), Do: `give it by "env", if the server takes it from there`})
		}
	}
	for _, w := range p.warnings {
		what, do, _ := strings.Cut(p.brief(w), "; want ")
		if do != "" {
			do = "write " + do
		}
		all = append(all, finding{Level: levelWarning, What: strings.TrimPrefix(what, p.name+"."), Do: do})
	}
	return all
}

// isForHosts reports whether the server cannot be started here for want of what
// hosts alone know.
func (p *subject) isForHosts() bool {
	if p.server == nil {
		return false
	}
	missing := p.server.Needs(p.environ)
	return len(missing) > 0 && !slices.ContainsFunc(missing, func(name string) bool { return !slices.Contains(p.lacks, name) })
}

// lacking are the variables that hosts alone know, and which hosts those are.
func (p *subject) lacking() string {
	var titles []string
	for _, v := range p.vars[p.name] {
		if v.known != nil && !slices.Contains(titles, v.host.Title) {
			titles = append(titles, v.host.Title)
		}
	}
	return fmt.Sprintf("%s, which only %s has (a placeholder, or a project's entry)", some(p.lacks), strings.Join(titles, " or "))
}

// inTheShell is how a server is looked at that needs what hosts alone know.
func (p *subject) inTheShell() string {
	return "mcp-facade doctor " + p.again() + ", with " + some(p.lacks) + " set in the shell"
}

// softened are problems of a server that does not start here and may well start
// where it is used, or is used nowhere.
func (p *subject) softened(all []finding) []finding {
	for i := range all {
		f := &all[i]
		switch {
		case f.Level != levelProblem:
		case p.lacks != nil:
			f.Level, f.Why, f.Do = levelNote, "it was started without "+p.lacking(), p.inTheShell()
		case p.only == "" && len(p.found) > 0 && len(p.vars[p.name]) == 0:
			f.Level, f.Why, f.Do = levelWarning, "no host that was found starts it", "remove it from "+p.path+" if it is not needed"
		}
	}
	return all
}

// checkToken is about what is known of a login without asking anybody.
func checkToken(p *subject) []finding {
	if p.server == nil {
		return nil
	}
	l := p.tokenLine(p.server)
	switch {
	case l == nil:
		return nil
	case l.State == "none" || l.State == "needs login":
		return []finding{{Level: levelProblem, What: l.String(), Why: "it asks for a login, and calls fail until there is one", Do: "mcp-facade login " + p.again()}}
	}
	return []finding{{Level: levelOK, What: l.String()}}
}

// checkAnswer is about what the server says to the handshake of each era.
func checkAnswer(p *subject) []finding {
	l, m := &p.legacy, &p.modern
	switch {
	case !p.asked || !l.opened() && errors.Is(l.err, auth.ErrLogin):
		return nil // checkToken says it
	case l.opened() || m.opened() && m.era == "modern":
		f := finding{Level: levelOK, What: "answers: " + eras(l, m)}
		if p.host != "" {
			f.Why = "started with the variables of its entry in " + p.host
		}
		return []finding{f}
	case l.unstarted || !l.answered && !m.answered:
		all := p.findings(levelProblem, p.name, l.err)
		for i := range all {
			switch {
			case all[i].Do == "":
				all[i].Do = p.watch()
			case p.unauthorized(l.err):
				all[i].Do = fmt.Sprintf(`add "oauth": true to %s in the servers file, then mcp-facade login %s; or give it a token by "headers" or "tokenCommand"`, p.name, p.again())
			}
		}
		return p.softened(all)
	}
	return p.softened([]finding{{Level: levelProblem, What: "opens for no host: " + eras(l, m), Do: p.watch()}})
}

// checkNoise is about what the server writes where only the protocol belongs.
func checkNoise(p *subject) []finding {
	n := p.legacy.noise
	if n.lines == 0 {
		n = p.modern.noise
	}
	if n.lines == 0 {
		return nil
	}
	return []finding{{Level: levelNote, What: fmt.Sprintf("writes on its stdout what is no message (%s, the first: %s)", plural(n.lines, "line"), strconv.Quote(firstWords(n.first))),
		Why: "the facade leaves it out; without it a host may end the connection", Do: "have it write that on stderr, or tell its author"}}
}

// again is how the server is named to a subcommand.
func (p *subject) again() string { return p.byName(p.o, p.name) }

// watch is how a person sees what the server does.
func (p *subject) watch() string {
	return "mcp-facade tools -v " + p.again() + ", which shows what it says meanwhile"
}

// unauthorized reports whether a server wants a token and its entry has no
// source of one.
func (p *subject) unauthorized(err error) bool {
	s := p.server
	none := s.Upstream.OAuth == nil && s.TokenKey() == "" && !s.Authorized()
	status := new(upstream.StatusError)
	return none && errors.As(err, &status) && status.Status == http.StatusUnauthorized
}

// eras is what became of the handshakes.
func eras(l, m *attempt) string {
	return join("; ", l.spoken("legacy (initialize)"), m.spoken("modern (server/discover)"))
}

// spoken is what became of a handshake; "" if it was not tried.
func (a *attempt) spoken(how string) string {
	switch {
	case strings.HasPrefix(a.refused, "-32601 "):
		return how + ": not spoken"
	case a.refused != "":
		return fmt.Sprintf("%s: refused (%s)", how, a.refused)
	case a.answered && a.version == "":
		return fmt.Sprintf("%s: %s, without a version", how, millis(a.took))
	case a.answered:
		return fmt.Sprintf("%s: %s, version %s", how, millis(a.took), a.version)
	case a.err == nil:
		return ""
	}
	why := a.err.Error()
	if ue := new(upstream.Error); errors.As(a.err, &ue) {
		why = ue.Err.Error()
	}
	return how + ": " + why
}

// checkEra is about hosts of one era before a server of the other, and about
// what is stored of it.
func checkEra(p *subject) (all []finding) {
	l, m := &p.legacy, &p.modern
	switch {
	case !p.asked || !l.answered && !m.answered:
		return nil
	case !l.opened() && m.era == "modern":
		all = append(all, finding{Level: levelWarning, What: "speaks only the modern era (" + m.version + ")",
			Why: "a host that opens with initialize gets an error: Codex, OpenCode, Gemini CLI, Qwen Code", Do: "use it from a host that opens with server/discover, as Claude Code and Copilot CLI do"})
	case l.opened() && m.silent:
		all = append(all, finding{Level: levelNote, What: "gives no answer to server/discover",
			Why: fmt.Sprintf("a host that asks first waits for it, with the facade %v at most, until it is known", probeWait),
			Do:  "tell its author: what it does not know it is to refuse, with -32601"})
	}
	_, store, err := p.store(p.o, p.server)
	if err != nil {
		return all // checkCache says it
	}
	switch stored := store.Era(); {
	case stored == "legacy" && m.era == "modern":
		all = append(all, finding{Level: levelNote, What: "is stored as of the legacy era, and has learnt the modern one", Do: "mcp-facade refresh " + p.again()})
	case (stored == "modern" || stored == "both") && m.era == "legacy":
		all = append(all, finding{Level: levelWarning, What: "is stored as of the modern era, and does not speak it any more",
			Why: "hosts of that era are answered from the cache, and their calls are refused", Do: "rm -r " + quotedPath(p.folder(p.cacheDir))})
	}
	return all
}

// talk is the attempt that shows what the server has: the legacy one, if that
// era is spoken.
func (p *subject) talk() *attempt {
	if p.legacy.opened() {
		return &p.legacy
	}
	return &p.modern
}

// checkTools is about the list of the tools.
func checkTools(p *subject) []finding {
	a := p.talk()
	switch {
	case !p.asked || !a.opened() || a.listed == 0 && a.unread == nil:
		return nil
	case a.unread != nil:
		all := p.findings(levelProblem, p.name, a.unread)
		for i := range all {
			all[i].Do = cmp.Or(all[i].Do, p.watch())
		}
		return all
	case !a.offers:
		return []finding{{Level: levelNote, What: "says that it has no tools", Why: "there is nothing to shorten", Do: "give it to the host as it is"}}
	}
	c, warnings := catalog.New(a.pages)
	var all []finding
	if a.repeat != "" {
		all = append(all, finding{Level: levelWarning, What: fmt.Sprintf("lists its tools without an end: the nextCursor %s came again", firstWords(a.repeat)),
			Why: "what would come after it is not known, and a host may ask for ever", Do: "tell its author"})
	}
	for _, w := range warnings {
		f := finding{Level: levelWarning, What: w, Do: "tell its author"}
		if strings.Contains(w, "left out") {
			f.Why = "nobody can call it"
		}
		all = append(all, f)
	}
	if len(c.Tools()) == 0 {
		return append(all, finding{Level: levelWarning, What: "lists no tool", Why: "some servers do so until they are logged in or set up", Do: "look at what it wants to be given, as its own documentation says"})
	}
	return append(all, finding{Level: levelOK, What: fmt.Sprintf("%s, listed in %s", plural(len(c.Tools()), "tool"), millis(a.listed))})
}

// tools is the catalog as the server has just listed it, else as it is cached;
// nil if there is none.
func (p *subject) tools() *catalog.Catalog {
	if a := p.talk(); p.server != nil && len(a.pages) > 0 && a.unread == nil {
		c, _ := catalog.New(a.pages)
		return c
	}
	if p.server == nil {
		return nil
	}
	_, c, err := p.cached(p.o, p.server)
	if err != nil {
		return nil
	}
	return c
}

// checkCache is about the catalog that a start is answered from.
func checkCache(p *subject) []finding {
	if p.server == nil {
		return nil
	}
	refresh := "mcp-facade refresh " + p.again()
	head, c, err := p.cached(p.o, p.server)
	switch {
	case errors.Is(err, errNothingCached) && (!p.talk().opened() || p.talk().unread != nil || p.losses() != nil):
		return nil // there is nothing to cache, and others say why; or checkStart says it
	case errors.Is(err, errNothingCached):
		return []finding{{Level: levelNote, What: "its catalog is not cached yet", Why: "the first start waits for the server", Do: refresh}}
	case err != nil:
		return []finding{{Level: levelWarning, What: "its catalog cannot be used: " + err.Error(), Why: "each start waits for the server", Do: refresh}}
	}
	listed := ago(time.Since(head.Listed))
	if before := p.likeNow(); before != nil {
		if live := p.tools(); !sameTools(before, live) {
			return []finding{{Level: levelNote, What: fmt.Sprintf("the cached catalog is another one: %s, now %d", plural(len(before.Tools()), "tool"), len(live.Tools())),
				Why: "it is renewed when the server is next used", Do: refresh}}
		}
	}
	if stale(p.server, head) {
		f := finding{Level: levelNote, What: "its catalog is stale: listed " + listed, Why: "it is served all the same, and renewed then", Do: refresh}
		if !p.server.StaleOK {
			f.Why = `"staleOk" is false: the next start waits for the server`
		}
		return []finding{f}
	}
	return []finding{{Level: levelOK, What: fmt.Sprintf("catalog of %s, listed %s", plural(len(c.Tools()), "tool"), listed)}}
}

// likeNow is the catalog that is cached for a host such as the one as which the
// server was just listed, which can do nothing; nil if there is none, or no such
// list.
func (p *subject) likeNow() *catalog.Catalog {
	a, v := p.talk(), catalog.CommandView()
	if !p.asked || a.unread != nil || len(a.pages) == 0 {
		return nil
	}
	if a == &p.modern {
		v = catalog.ViewOf("modern", a.version, nil)
	}
	_, store, err := p.store(p.o, p.server)
	if err != nil {
		return nil
	}
	c, _ := catalogOf(store, v)
	return c
}

// sameTools compares two catalogs by what the server wrote.
func sameTools(a, b *catalog.Catalog) bool {
	if len(a.Tools()) != len(b.Tools()) {
		return false
	}
	for _, t := range a.Tools() {
		if other, ok := b.Lookup(t.Name); !ok || string(other.Raw) != string(t.Raw) {
			return false
		}
	}
	return true
}

// checkDrift is about tools that are not as the user has accepted them.
func checkDrift(p *subject) []finding {
	c := p.tools()
	if c == nil {
		return nil
	}
	if _, _, err := p.store(p.o, p.server); err != nil {
		return nil // checkDisk says it
	}
	d := p.drift(p.o, p.server, c)
	refresh := "mcp-facade refresh " + p.again()
	look := fmt.Sprintf("%s, which shows how; then %[1]s --accept", refresh)
	switch {
	case d.err != nil:
		return []finding{{Level: levelWarning, What: d.err.Error(), Why: "nobody knows what has changed since", Do: refresh + " --accept"}}
	case len(d.held) > 0:
		return []finding{{Level: levelWarning, What: are(len(d.held), "tool") + " withheld by \"drift\": " + d.heldNames(),
			Why: "since you accepted the tools, " + grave, Do: look}}
	case len(d.news) > 0:
		return []finding{{Level: levelNote, What: "not as you have accepted it: " + d.newNames(), Why: "what a tool says of itself is read by the model", Do: look}}
	}
	return nil
}

// checkStart is about the patience of hosts.
func checkStart(p *subject) []finding {
	a := p.talk()
	if !p.asked || a.listed == 0 {
		return nil
	}
	var all []finding
	if limit := p.server.StartTimeout; a.listed > limit*3/4 {
		all = append(all, finding{Level: levelWarning, What: fmt.Sprintf("takes %s to start, and startTimeout is %v", millis(a.listed), limit),
			Do: fmt.Sprintf(`set "startTimeout": "%v" for %s in the servers file`, 2*limit, p.name)})
	}
	losses := p.losses()
	if losses == nil {
		return all
	}
	f := finding{Level: levelNote, What: "its tools are there " + millis(a.listed) + " after a start", Why: "without the facade a first turn has none of them: " + join("; ", losses...)}
	if p.warm > 0 {
		f.Why += "; the facade answers from its cache in " + millis(p.warm)
	} else {
		f.Level, f.Do = levelWarning, "mcp-facade refresh "+p.again()+", from then on the facade answers at once"
	}
	return append(all, f)
}

// hosts are those that start the server, or of which a file was found if none of
// them does.
func (p *subject) hosts() (all []hosts.Host) {
	add := func(h hosts.Host) {
		if !slices.ContainsFunc(all, func(known hosts.Host) bool { return known.Name == h.Name }) {
			all = append(all, h)
		}
	}
	for _, v := range p.vars[p.name] {
		add(v.host)
	}
	if all == nil {
		for _, f := range p.found {
			add(f.host)
		}
	}
	return all
}

// losses are the hosts that do not wait until the tools are there.
func (p *subject) losses() (all []string) {
	took := p.talk().listed
	for _, h := range p.hosts() {
		switch {
		case h.GivesUp > 0 && took > h.GivesUp:
			all = append(all, fmt.Sprintf("%s gives up after %v", h.Title, h.GivesUp))
		case h.Patience > 0 && took > h.Patience && h.Until != "":
			all = append(all, fmt.Sprintf("%s up to %s waits %v", h.Title, h.Until, h.Patience))
		case h.Patience > 0 && took > h.Patience:
			all = append(all, fmt.Sprintf("%s waits %v", h.Title, h.Patience))
		}
	}
	return all
}

// checkAudit is about what the config says of tools that are not as it says.
func checkAudit(p *subject) (all []finding) {
	c := p.tools()
	if c == nil {
		return nil
	}
	for _, why := range facade.Audit(p.server, c) {
		all = append(all, finding{Level: levelWarning, What: why, Do: "correct the entry of " + p.name + ": mcp-facade tools --all " + p.again() + " has the names"})
	}
	return all
}

// checkGuards is about keys of the config that say otherwise than the server.
func checkGuards(p *subject) (all []finding) {
	c := p.tools()
	if c == nil {
		return nil
	}
	var tame, wild []string
	for _, t := range c.Tools() {
		switch {
		case t.Destructive && config.Match(p.server.ReadOnly, t.Name):
			tame = append(tame, t.Name)
		case t.ReadOnly && config.Match(p.server.Destructive, t.Name):
			wild = append(wild, t.Name)
		}
	}
	if len(tame) > 0 {
		all = append(all, finding{Level: levelWarning, What: `marked as destructive by the server, and in "readOnly" of the config: ` + some(tame),
			Why: "the config counts, so nobody is asked before they run", Do: `take them out of "readOnly", unless the server is wrong`})
	}
	if len(wild) > 0 {
		all = append(all, finding{Level: levelNote, What: `marked as read-only by the server, and in "destructive" of the config: ` + some(wild), Why: "the config counts",
			Do: `take them out of "destructive", unless the server is wrong`})
	}
	return all
}

// checkSizes is about the server's files.
func checkSizes(p *subject) []finding {
	if p.server == nil {
		return nil
	}
	all := p.ledgerFaults()
	var kept []string
	if size := treeSize(p.folder(p.cacheDir)); size > 0 {
		kept = append(kept, "cache "+bytesOf(size))
	}
	if size := ledger.Size(p.ledgerPath(p.server)); size > 0 && all == nil {
		kept = append(kept, "ledger "+bytesOf(size))
	}
	if kept == nil {
		return all
	}
	return append(all, finding{Level: levelOK, What: "on disk: " + strings.Join(kept, ", ")})
}

// ledgerFaults are about a ledger that is to be written and cannot be used, or not
// all of it.
func (p *subject) ledgerFaults() []finding {
	if !p.server.Ledger || p.noLedger {
		return nil
	}
	path := p.ledgerPath(p.server)
	_, unread, err := ledger.Read(path)
	switch {
	case err != nil:
		return []finding{{Level: levelWarning, What: "its ledger cannot be used: " + err.Error(), Why: "no call is recorded, and report and suggest have nothing to go by",
			Do: "correct its owner and its mode (chmod go-w), or move it away: another is begun then"}}
	case unread > 0:
		return []finding{{Level: levelNote, What: plural(unread, "line") + " of its ledger could not be read", Why: "report and suggest leave them out; a disk that was full, another program or another version may have written them",
			Do: fmt.Sprintf("move %s away, if they are many: another is begun then", path)}}
	}
	return nil
}

// join joins the texts that are not empty.
func join(by string, texts ...string) string {
	var b strings.Builder
	for _, t := range texts {
		if t != "" && b.Len() > 0 {
			io.WriteString(&b, by)
		}
		io.WriteString(&b, t)
	}
	return b.String()
}

// millis is a duration as it is measured here.
func millis(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
