package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/config"
	"mcp-facade/facade/hosts"
	"mcp-facade/facade/wire"

	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/diff"
)

// wrap puts the facade before servers of hosts, or lists what it would be worth.
func wrap(ctx context.Context, e *env, o *options, args []string) error {
	switch {
	case o.surface != "" && o.surface != "meta" && o.surface != "all":
		return usage("--surface %q: want meta or all", o.surface)
	case o.list && o.write:
		return usage("--list and --write: want one of them")
	case o.list:
		return e.wrapList(ctx, o, args)
	}
	done, err := e.alone(ctx, o)
	if err != nil {
		return err
	}
	defer done()
	p, err := e.plan(o, args)
	if err == nil {
		err = p.readServers()
	}
	if err != nil {
		return err
	}
	for _, k := range p.picks {
		made, err := p.wrapped(k)
		p.note(k, made, err, k.named)
	}
	if err := p.addEntries(); err != nil {
		return err
	}
	return p.carryOut("wrap")
}

// How long another wrap or unwrap is waited for, and how often it is looked for.
const (
	aloneWait  = 10 * time.Second
	alonePause = 20 * time.Millisecond
)

// alone keeps other processes of ours from writing until done is called: what they
// plan must not come from before. Where no lock can be, none is taken; what is
// changed meanwhile is refused then.
func (e *env) alone(ctx context.Context, o *options) (done func(), err error) {
	if !o.write || os.MkdirAll(e.stateDir, 0o700) != nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, aloneWait)
	defer cancel()
	lock := flock.New(filepath.Join(e.stateDir, "wrap.lock"), flock.SetPermissions(0o600))
	_, err = lock.TryLockContext(ctx, alonePause)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("another mcp-facade is writing files of hosts: it holds %s", lock.Path())
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return func() { lock.Unlock() }, nil
}

// A plan is what is to become of the servers file and of files of hosts. It is
// shown before it is carried out.
type plan struct {
	*env
	o *options
	*selection
	path          string                    // of the servers file
	before, after []byte                    // its text
	servers       map[string]*config.Server // its entries as they are to be; one that is wrong is nil
	added         []config.Entry
	lines         []*planLine
	changed       []*hosts.File
	backups       []backupLine
	errs          []error
}

// A planLine is what becomes of one entry of a host's file.
type planLine struct {
	Host   string   `json:"host"`
	File   string   `json:"file"`
	Scope  string   `json:"scope"`
	Name   string   `json:"name"`
	Server string   `json:"server"` // its name in the servers file; "" when it is skipped
	Reason string   `json:"reason"` // why it is skipped; "" when it is not
	Notes  []string `json:"notes"`
	Where  string   `json:"where"`  // in the file
	Before string   `json:"before"` // the text there, without the values of variables and headers
	After  string   `json:"after"`
	Added  string   `json:"added"` // the entry that the servers file gets; "" when it has it

	copied  bool   // what the servers file gets is a copy of one of its entries
	servers string // the servers file that an unwrapped one read
	failed  bool   // it was to be changed, and is not
}

// A backupLine is a file that was written.
type backupLine struct {
	File   string `json:"file"`
	Backup string `json:"backup"` // its text from before; "": there was none
}

// A planReport is what wrap --json and unwrap --json print.
type planReport struct {
	Servers string       `json:"serversFile"`
	Entries []*planLine  `json:"entries"`
	Written []backupLine `json:"written"` // empty without --write
}

// plan reads the files of the hosts.
func (e *env) plan(o *options, args []string) (*plan, error) {
	if o.file == "" && slices.Contains(o.given, "file") {
		return nil, usage("--file: want the file of a host")
	}
	s, err := e.selected(o, slices.Concat(args, o.inPlace)) // behind "--" a name may look like a flag
	if err != nil {
		return nil, err
	}
	here := *e
	here.configFile = e.absolute(e.configPath(o)) // which entries that name none are taken to read
	return &plan{env: &here, o: o, selection: s, path: here.configFile, backups: []backupLine{}, lines: []*planLine{}, errs: s.faults}, nil
}

// readServers reads the servers file, which need not be there.
func (p *plan) readServers() (err error) {
	if p.before, err = config.Text(p.path); err != nil {
		return err
	}
	p.after, p.servers = p.before, map[string]*config.Server{}
	if len(bytes.TrimSpace(p.before)) == 0 {
		return nil
	}
	f, err := config.Parse(p.path, p.before)
	if err != nil {
		return err
	}
	for _, name := range f.Names() {
		p.servers[name], _ = f.Server(name)
	}
	return nil
}

// addEntries has the servers file get what is new, if it may be replaced.
func (p *plan) addEntries() (err error) {
	p.after, err = config.AddEntries(p.before, p.added)
	if ce := new(config.Error); errors.As(err, &ce) {
		ce.Path = p.path
	}
	if err == nil && len(p.added) > 0 {
		err = config.Replaceable(p.path)
	}
	return err
}

// A settled is why an entry needs nothing done.
type settled string

func (s settled) Error() string { return string(s) }

// note keeps what becomes of an entry. One that is skipped is an error if it was
// wanted, unless it is already what it is to be.
func (p *plan) note(k pick, made *planLine, err error, wanted bool) {
	if err != nil {
		if made == nil {
			made = &planLine{}
		}
		made.Reason, made.failed = reason(err), wanted && !errors.As(err, new(settled))
		if made.failed {
			p.errs = append(p.errs, fmt.Errorf("%s: %s: %s (%s)", k.file.Host.Name, compact.Line(k.entry.Name), made.Reason, compact.Line(k.file.Path)))
		}
	}
	made.Host, made.File, made.Scope, made.Name = k.file.Host.Name, k.file.Path, k.entry.Scope, k.entry.Name
	if made.Notes == nil {
		made.Notes = []string{}
	}
	p.lines = append(p.lines, made)
	if err == nil && !slices.Contains(p.changed, k.file) {
		p.changed = append(p.changed, k.file)
	}
}

// reason is why an entry is skipped, without where it stands, in one line.
func reason(err error) string {
	next := hint(err)
	if he := new(hosts.Error); errors.As(err, &he) {
		err = he.Err
	}
	if next != "" {
		return compact.Line(err.Error() + "; try: " + next)
	}
	return compact.Line(err.Error())
}

// wrapped plans to wrap one entry.
func (p *plan) wrapped(k pick) (*planLine, error) {
	if samePath(p.path, k.file.Path) {
		return nil, errors.New("the servers file is this very file; name another with --config")
	}
	t, err := p.translated(k)
	if err != nil {
		return &planLine{Notes: p.reached(k)}, err
	}
	program, err := p.program(k.file.Host.Desktop)
	if err != nil {
		return nil, err
	}
	p.addDenied(k, &t)
	made := &planLine{Notes: t.Notes}
	if note := deferNote(k.file.Host, ""); note != "" {
		made.Notes = append(made.Notes, note)
	}
	s, err := p.settle(k, t, made)
	if err != nil {
		return nil, err
	}
	command := []string{program, "--server", made.Server}
	if p.path != p.plainConfig() || configOf(k.entry) != "" {
		command = append(command, "--config", p.path)
	}
	if surface := p.surfaceFor(k.file.Host); surface != "" {
		command = append(command, "--surface", surface)
	}
	change, err := k.file.Wrap(k.entry, t, command)
	if err != nil {
		return nil, err
	}
	if made.Added != "" {
		p.servers[made.Server], p.added = s, append(p.added, config.Entry{Name: made.Server, Raw: []byte(made.Added), Copy: made.copied})
	}
	made.Where, made.Before, made.After = change.Where, change.Before, change.After
	return made, nil
}

// translated is what becomes of an entry, if it may be wrapped.
func (s *selection) translated(k pick) (hosts.Translation, error) {
	switch {
	case k.entry.Ours:
		return hosts.Translation{}, settled("is wrapped already")
	case k.entry.Disabled:
		return hosts.Translation{}, fmt.Errorf("is disabled in %s", k.file.Host.Title)
	case k.entry.Project && !s.asked(k):
		return hosts.Translation{}, errors.New("is in a file of the project, which others may have written: name its host or --file to have it wrapped")
	}
	return k.file.Translate(k.entry)
}

// addDenied has the servers file hide what the host keeps away by rules that do not
// reach "call": where all tools are listed, there is none.
func (p *plan) addDenied(k pick, t *hosts.Translation) {
	if p.surfaceFor(k.file.Host) == "all" {
		return
	}
	hide, notes := k.file.Denied(k.entry)
	for _, tool := range hide {
		if !slices.Contains(t.Hide, tool) {
			t.Hide = append(t.Hide, tool)
		}
	}
	t.Notes = append(t.Notes, notes...)
}

// reached is a note of what the host of a wrapped server keeps away since.
func (p *plan) reached(k pick) []string {
	s := p.servers[k.entry.Server]
	if !k.entry.Ours || s == nil || p.serversFileOf(k.entry) != p.path {
		return nil
	}
	tools := reachedBy(k.file, k.entry, s)
	if len(tools) == 0 {
		return nil
	}
	return []string{fmt.Sprintf(`%s keeps %s away, which "call" reaches: name in "hide" of %q in the servers file what is to be kept away, or unwrap it and wrap it again.`,
		k.file.Host.Title, strings.Join(tools, ", "), s.Name)}
}

// reachedBy are the tools of a wrapped server that its host keeps away and that
// "call" reaches: where all tools are listed, there is none.
func reachedBy(f *hosts.File, entry hosts.Entry, s *config.Server) []string {
	if cmp.Or(entry.Surface, s.Surface) == "all" {
		return nil
	}
	hide, _ := f.Denied(entry)
	return slices.DeleteFunc(unhidden(s, hide), func(tool string) bool { return slices.Contains(metaTools(s), tool) })
}

// surfaceFor is the --surface of a host's entries: what was asked for, else "all"
// where the host itself hides tools.
func (p *plan) surfaceFor(h hosts.Host) string {
	if p.o.surface == "" && h.Defers == "yes" {
		return "all"
	}
	return p.o.surface
}

// settle chooses the name of a server in the servers file, and says how it is read
// there. An entry that leads to the same upstream is used as it is; if it does not
// hide enough, a copy of it that does.
func (p *plan) settle(k pick, t hosts.Translation, made *planLine) (*config.Server, error) {
	entry, own := serverEntry(t), cleanServer(k.entry.Name)
	s, err := parsedEntry(own, entry)
	if err != nil {
		return nil, err
	}
	like := "" // the entry that leads to the same upstream, and does not hide enough
	for i, name := 1, own; ; i++ {
		switch i {
		case 1:
		case 2:
			name = own + "-" + k.file.Host.Name
		default:
			name = fmt.Sprintf("%s-%s-%d", own, k.file.Host.Name, i-1)
		}
		known, taken := p.servers[name]
		switch {
		case taken && (known == nil || !sameUpstream(known, s)):
		case taken && len(unhidden(known, t.Hide)) > 0:
			like = name
		case taken:
			made.Server, made.Notes = name, append(made.Notes, moreHidden(name, known, k, t.Hide)...)
			return known, nil
		default:
			if like != "" {
				if entry, s, err = p.hiding(like, t.Hide); err != nil {
					return nil, err
				}
				made.Notes = append(made.Notes, fmt.Sprintf("%q of the servers file does not hide %s: %q is a copy of it that does.", like, strings.Join(unhidden(p.servers[like], t.Hide), ", "), name))
				made.Notes = append(made.Notes, moreHidden(name, s, k, t.Hide)...)
			}
			made.Server, made.Added, made.copied = name, string(entry), like != ""
			return s, nil
		}
	}
}

// moreHidden is a note of the tools that an entry hides and the host does not keep
// away: another host may, or the user.
func moreHidden(name string, known *config.Server, k pick, tools []string) []string {
	more := slices.DeleteFunc(slices.Clone(known.Hide), func(tool string) bool { return slices.Contains(tools, tool) })
	if len(more) == 0 {
		return nil
	}
	return []string{fmt.Sprintf(`%q of the servers file hides %s, here as for whoever else uses it. To have that in %s: copy the entry under another name, without it in "hide", and name the copy behind --server.`,
		name, strings.Join(more, ", "), k.file.Host.Title)}
}

// hiding is a copy of an entry that hides these tools, too.
func (p *plan) hiding(name string, tools []string) ([]byte, *config.Server, error) {
	known := p.servers[name]
	text, err := config.AddEntries(p.before, p.added)
	if err != nil {
		return nil, nil, err
	}
	entry, err := config.Hiding(text, name, append(slices.Clip(known.Hide), unhidden(known, tools)...))
	if err != nil {
		return nil, nil, err
	}
	s, err := parsedEntry(name, entry)
	return entry, s, err
}

// unhidden are those of these globs that an entry does not hide.
func unhidden(known *config.Server, tools []string) (all []string) {
	for _, tool := range tools {
		if !slices.Contains(known.Hide, tool) && (strings.ContainsAny(tool, "*?") || !config.Match(known.Hide, tool)) {
			all = append(all, tool)
		}
	}
	return all
}

// sameUpstream reports whether an entry leads to the upstream of a new one. It may
// have been told since how to log in.
func sameUpstream(known, s *config.Server) bool {
	was, is := known.Upstream, s.Upstream
	if is.OAuth == nil {
		is.OAuth, is.CredentialID, is.TokenCommand = was.OAuth, was.CredentialID, was.TokenCommand
	}
	return reflect.DeepEqual(was, is)
}

// parsedEntry is a raw entry as it is read from a servers file.
func parsedEntry(name string, entry []byte) (*config.Server, error) {
	text, err := config.AddEntry(nil, name, entry)
	if err != nil {
		return nil, err
	}
	f, err := config.Parse("", text)
	if err != nil {
		return nil, err
	}
	return f.Server(name)
}

// serverEntry is the entry of the servers file that a translation makes.
func serverEntry(t hosts.Translation) []byte {
	b := append([]byte("{\n  \"upstream\": "), bytes.ReplaceAll(bytes.TrimSpace(t.Upstream), []byte("\n"), []byte("\n  "))...)
	b = append(b, ",\n  \"names\": \"keep\""...)
	if len(t.Hide) > 0 {
		b = append(append(b, ",\n  \"hide\": "...), array(t.Hide)...)
	}
	return append(b, "\n}"...)
}

// cleanServer is the name of a host's server as one that a servers file can have.
func cleanServer(name string) string {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '/' || r == '\\':
			return '-'
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, name))
	const longest = 80 // bytes, so that a host's name can follow
	if len(name) > longest {
		name = strings.TrimSpace(strings.ToValidUTF8(name[:longest], ""))
	}
	if name == "" || config.Reserved(name) {
		return "server"
	}
	return name
}

// carryOut shows the plan and, with --write, does it. verb is what is done.
func (p *plan) carryOut(verb string) error {
	if !p.o.json {
		p.show()
	}
	if p.o.write {
		p.write()
	}
	if p.o.json {
		if err := printJSON(p.stdout, planReport{p.path, p.lines, p.backups}); err != nil {
			p.errs = append(p.errs, err)
		}
	}
	if verb == "unwrap" {
		p.tellKept()
	}
	if text := p.ending(verb); len(p.errs) > 0 && text != "" {
		p.errs = append(p.errs, errors.New(text)) // which ends what is wrong
	} else if text != "" {
		fmt.Fprintln(p.stderr, "mcp-facade:", text)
	}
	return errors.Join(p.errs...)
}

// show prints the differences, and on stderr what else is to be known.
func (p *plan) show() {
	p.showDiffs()
	for _, n := range p.notes() {
		fmt.Fprintf(p.stderr, "%s: %s: %s\n", n.host, strings.Join(n.names, ", "), n.text)
	}
}

// A noted is what a person should know of entries of a host.
type noted struct {
	host, text string
	names      []string
}

// notes are what there is to know, each once.
func (p *plan) notes() (all []*noted) {
	for _, l := range p.lines {
		texts := l.Notes
		if l.Reason != "" && !l.failed { // which is an error
			texts = append([]string{fmt.Sprintf("skipped: %s (%s)", l.Reason, l.File)}, texts...)
		}
		for _, text := range texts {
			text = compact.Line(text)
			i := slices.IndexFunc(all, func(n *noted) bool { return n.host == l.Host && n.text == text })
			if i < 0 {
				i, all = len(all), append(all, &noted{host: l.Host, text: text})
			}
			all[i].names = append(all[i].names, compact.Line(l.Name))
		}
	}
	return all
}

func (p *plan) showDiffs() {
	for _, l := range p.lines {
		if l.Reason == "" {
			printDiff(p.stdout, l.File, l.Where, l.Before, l.After)
		}
	}
	var added []byte
	for _, l := range p.lines {
		if l.Added != "" {
			added = append(wire.AppendString(added, l.Server), ": "+l.Added+"\n"...)
		}
	}
	if added != nil {
		printDiff(p.stdout, p.path, "", "", string(added))
	}
}

// printDiff shows how one place of a file changes.
func printDiff(w io.Writer, path, where, before, after string) {
	name := strings.TrimSpace(path + " " + compact.Line(where))
	text := diff.Diff(name+" (now)", lined(before), name+" (then)", lined(after))
	_, text, _ = bytes.Cut(text, []byte("\n")) // "diff …"
	for line := range bytes.Lines(text) {
		inner := bytes.TrimLeft(line, "+- \t")
		fmt.Fprintf(w, "%s%s\n", line[:len(line)-len(inner)], compact.Line(string(inner)))
	}
}

// lined is a text that ends its last line.
func lined(text string) []byte {
	if text == "" || strings.HasSuffix(text, "\n") {
		return []byte(text)
	}
	return []byte(text + "\n")
}

// write writes the servers file and then those of the hosts: a host never starts
// what is not in the servers file yet.
func (p *plan) write() {
	if err := p.writeServers(); err != nil {
		p.errs = append(p.errs, err)
		return
	}
	for _, f := range p.changed {
		p.writeHost(f)
	}
	p.tellCount()
}

func (p *plan) writeServers() error {
	if bytes.Equal(p.before, p.after) {
		return nil
	}
	if err := config.Replace(p.path, p.before, p.after); err != nil {
		return err
	}
	p.wrote(p.path, "")
	return nil
}

func (p *plan) writeHost(f *hosts.File) {
	backup, err := f.Write(time.Now())
	if err != nil {
		p.errs = append(p.errs, err)
		return
	}
	p.wrote(f.Path, backup)
	if backup != "" && slices.ContainsFunc(p.picks, func(k pick) bool { return k.file == f && k.entry.Project }) {
		fmt.Fprintf(p.stderr, "%s: the backup is in the project, with all that was in the file: keep it out of git (%s)\n", f.Host.Name, compact.Line(backup))
	}
}

// wrote says what was written.
func (p *plan) wrote(path, backup string) {
	p.backups = append(p.backups, backupLine{path, backup})
	switch {
	case p.o.json:
	case backup == "":
		fmt.Fprintln(p.stdout, "wrote", compact.Line(path))
	default:
		fmt.Fprintf(p.stdout, "wrote %s\n      before: %s\n", compact.Line(path), compact.Line(backup))
	}
}

// tellCount says how much was written.
func (p *plan) tellCount() {
	servers, files := 0, map[string]bool{}
	for _, l := range p.lines {
		if l.Reason == "" && slices.ContainsFunc(p.backups, func(b backupLine) bool { return b.File == l.File }) {
			servers++
			files[l.File] = true
		}
	}
	if servers > 0 && !p.o.json {
		fmt.Fprintf(p.stdout, "%s in %s\n", plural(servers, "server"), plural(len(files), "file"))
	}
}

// ending is what is said last.
func (p *plan) ending(verb string) string {
	switch {
	case len(p.changed) == 0 && len(p.errs) == 0:
		return "there is nothing to " + verb
	case len(p.changed) > 0 && !p.o.write:
		return "nothing was changed; add --write"
	case verb == "wrap" && slices.ContainsFunc(p.backups, func(b backupLine) bool { return b.Backup != "" }):
		return "restart the hosts; mcp-facade unwrap undoes it"
	}
	return ""
}

// nearestName is the name that is most like a word, or "".
func nearestName(word string, names []string) string {
	page := []byte(`{"tools":[`)
	for i, name := range names {
		if i > 0 {
			page = append(page, ',')
		}
		page = append(wire.AppendString(append(page, `{"name":`...), name), '}')
	}
	all, _ := catalog.New([][]byte{append(page, "]}"...)})
	if near := all.Nearest(word, 1); len(near) > 0 {
		return near[0]
	}
	return ""
}
