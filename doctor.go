package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"mcp-facade/compact"
	"mcp-facade/facade/config"
)

// How bad a finding is. Only a problem makes doctor fail.
const (
	levelOK      = "ok"
	levelNote    = "note"    // good to know; it works without doing anything
	levelWarning = "warning" // something is lost, or will be
	levelProblem = "problem" // something does not work
)

// levels are in the order in which they are shown.
var levels = [...]string{levelProblem, levelWarning, levelNote, levelOK}

// A finding is one thing that doctor has to say, in texts of a line each.
type finding struct {
	Level string `json:"level"`
	About string `json:"about"` // a server, or a file
	Check string `json:"check"` // which of the checks says it
	What  string `json:"what"`
	Why   string `json:"why,omitempty"`
	Do    string `json:"do,omitempty"` // what to do next: a command, or an imperative
}

// A diagnosis is what doctor --json prints.
type diagnosis struct {
	File     string    `json:"file"` // the servers file
	Problems int       `json:"problems"`
	Warnings int       `json:"warnings"`
	Findings []finding `json:"findings"` // a server's together, problems first
}

// A checkup is what doctor looks at: the servers file, and what is around it.
type checkup struct {
	*env
	o      *options
	only   string       // the one server that is asked for; "": all
	path   string       // of the servers file
	file   *config.File // nil: it cannot be used
	wrong  error        // why
	found  []hostFile
	vars   map[string][]hostVars // of their entries, by the server
	broken []error               // files of hosts that cannot be used
}

// A subject is one server, and what it has answered.
type subject struct {
	*checkup
	name     string
	host     string         // in whose world it is started; "": in that of the shell
	lacks    []string       // the variables that only hosts know that start it
	server   *config.Server // nil: its entry is wrong
	wrong    error          // of the entry, or of what it refers to
	warnings []string       // of what it refers to
	asked    bool           // the attempts were made
	legacy   attempt
	modern   attempt
	warm     time.Duration // until the tools are listed from the cache; 0: there is none
}

// Every check looks at one thing; it says nothing of what others have said
// already. To add one, add it here.
var (
	machineChecks = []struct {
		name string
		run  func(*checkup) []finding
	}{
		{"file", checkFile},
		{"hosts", checkHosts},
		{"disk", checkDisk},
	}
	serverChecks = []struct {
		name string
		run  func(*subject) []finding
	}{
		{"config", checkEntry},
		{"token", checkToken},
		{"answer", checkAnswer},
		{"stdout", checkNoise},
		{"era", checkEra},
		{"tools", checkTools},
		{"cache", checkCache},
		{"drift", checkDrift},
		{"start", checkStart},
		{"limits", checkLimits},
		{"names", checkMeeting},
		{"audit", checkAudit},
		{"guards", checkGuards},
		{"disk", checkSizes},
	}
)

// doctor says what is wrong with the servers, and what to do about it.
func doctor(ctx context.Context, e *env, o *options, args []string) error {
	if len(args) > 1 {
		return usage("doctor takes one server at most")
	}
	d := e.checkup(o, strings.Join(args, "")).diagnose(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if o.json {
		if err := printJSON(e.stdout, d); err != nil {
			return err
		}
	} else {
		d.print(e.stdout)
	}
	if d.Problems > 0 {
		return fmt.Errorf("%s, %s", plural(d.Problems, "problem"), plural(d.Warnings, "warning"))
	}
	return nil
}

// checkup reads what there is to read.
func (e *env) checkup(o *options, only string) *checkup {
	c := &checkup{env: e, o: o, only: only, path: e.configPath(o)}
	if c.file, c.wrong = config.Load(c.path); c.file != nil {
		c.file.Flag = e.configFlag(o)
	}
	if errors.Is(c.wrong, os.ErrNotExist) {
		c.wrong = e.noFile(o)
	}
	c.found, c.broken = e.hostFiles()
	c.vars = e.hostVars(c.found, c.path)
	return c
}

// subjects are the servers to look at.
func (c *checkup) subjects() (all []*subject) {
	if c.file == nil {
		return nil
	}
	names := c.file.Names()
	if c.only != "" {
		names = []string{c.only}
	}
	for _, name := range names {
		p := &subject{name: name}
		there, by := c.inHost(c.vars[name])
		own := *c
		own.env, p.checkup, p.host = there, &own, by.host.Title
		for _, v := range c.vars[name] {
			p.lacks = append(p.lacks, slices.DeleteFunc(v.known, there.isSet)...)
		}
		p.server, p.wrong = c.file.Server(name)
		all = append(all, p)
	}
	return all
}

// progress says why nothing is to be seen yet, to a person.
func (c *checkup) progress(n int) {
	if f, ok := c.stderr.(*os.File); ok && isTerminal(f) {
		fmt.Fprintf(f, "asking %s, %d at a time …\n", plural(n, "server"), probesAtOnce)
	}
}

// diagnose asks the servers and runs the checks.
func (c *checkup) diagnose(ctx context.Context) diagnosis {
	all := c.subjects()
	patience := time.AfterFunc(time.Second, func() { c.progress(len(all)) })
	probeAll(ctx, all)
	patience.Stop()
	d := diagnosis{File: c.path, Findings: []finding{}}
	for _, p := range all {
		for _, check := range serverChecks {
			d.add(check.name, p.name, check.run(p))
		}
	}
	for _, check := range machineChecks {
		d.add(check.name, "", check.run(c))
	}
	d.order()
	return d
}

// add takes what a check has found, as text that a terminal can be shown.
func (d *diagnosis) add(check, about string, found []finding) {
	for _, f := range found {
		if f.About == "" {
			f.About = about
		}
		f.Check = check
		for _, text := range []*string{&f.About, &f.What, &f.Why, &f.Do} {
			*text = compact.Line(strings.ReplaceAll(*text, "\n", "; "))
		}
		switch f.Level {
		case levelProblem:
			d.Problems++
		case levelWarning:
			d.Warnings++
		}
		d.Findings = append(d.Findings, f)
	}
}

// order puts the findings about one thing together, the worst thing first and
// of it the worst finding.
func (d *diagnosis) order() {
	worst, first := map[string]int{}, map[string]int{}
	for i, f := range d.Findings {
		if _, ok := first[f.About]; !ok {
			first[f.About], worst[f.About] = i, len(levels)
		}
		worst[f.About] = min(worst[f.About], severity(f))
	}
	slices.SortStableFunc(d.Findings, func(a, b finding) int {
		if a.About != b.About {
			if n := worst[a.About] - worst[b.About]; n != 0 {
				return n
			}
			return first[a.About] - first[b.About]
		}
		return severity(a) - severity(b)
	})
}

// severity is the place of a finding's level in levels.
func severity(f finding) int { return slices.Index(levels[:], f.Level) }

// print writes the diagnosis for a person.
func (d *diagnosis) print(w io.Writer) {
	about := ""
	for i, f := range d.Findings {
		if f.About != about {
			if i > 0 {
				fmt.Fprintln(w)
			}
			about = f.About
			fmt.Fprintln(w, about)
		}
		f.print(w)
	}
}

// print writes one finding: what, then why, then what to do.
func (f finding) print(w io.Writer) {
	const hang = "           "
	fmt.Fprintf(w, "  %-7s  %s\n", f.Level, f.What)
	if f.Why != "" {
		fmt.Fprintln(w, hang+f.Why)
	}
	if f.Do != "" {
		fmt.Fprintln(w, hang+"try: "+f.Do)
	}
}

// findings makes one of each error about a server that is joined in err.
func (c *checkup) findings(level, name string, err error) (all []finding) {
	for _, err := range parts(err) {
		what := strings.TrimPrefix(c.brief(err.Error()), name+": ")
		all = append(all, finding{Level: level, What: what, Do: hint(err)})
	}
	return all
}

// brief is a text about the servers file without its path, which stands at the
// head of it all.
func (c *checkup) brief(text string) string {
	return strings.NewReplacer(c.path+": ", "", c.path+":", "line ").Replace(text)
}
