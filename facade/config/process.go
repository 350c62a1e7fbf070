package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Process is what to start for a stdio upstream. Nothing in it is left to be
// replaced.
type Process struct {
	Command  string
	Args     []string
	Dir      string   // "" is ours
	Env      []string // the child's whole environment, "K=V"
	Secrets  []string // values never to be shown, the longest first
	Warnings []string
}

// Process replaces the placeholders of the entry by what they stand for in
// environ, our own environment as "K=V", and gives the child's environment: ours
// less MCP_FACADE_* and what only auth refers to, then envFrom, then env. A "~/"
// before command and cwd is the home directory. "$${" stands for a literal "${".
// What env sets is set, also an MCP_FACADE_* of its own. The token that env asks
// for is in environ, as the variable that TokenKey names.
//
// claudeJSON is the text of ~/.claude.json, nil when there is none, and project
// the directory under which it may have servers too; both serve "envFrom" only.
// The error joins an *Error for each thing that cannot be replaced.
func (s *Server) Process(environ []string, claudeJSON []byte, project string) (Process, error) {
	x := s.expansion(environ, windows)
	u := &s.Upstream
	if u.Command == "" {
		return Process{}, s.Fault("command", errors.New(`is not set: no process is started for a "url"`), "")
	}
	p := Process{Command: x.path("command", u.Command), Dir: x.path("cwd", u.Cwd)}
	for i, arg := range u.Args {
		p.Args = append(p.Args, x.text(fmt.Sprintf("args[%d]", i), arg))
	}
	p.Warnings = slices.Concat(s.inline(), s.unasked(false))
	p.Env = x.child(u, claudeJSON, project)
	if p.Command == "" {
		x.fail("command", "is empty", "")
	}
	if len(x.errs) > 0 {
		return Process{}, errors.Join(x.errs...)
	}
	x.secrets.args(append([]string{p.Command}, p.Args...))
	p.Secrets = x.secrets.list()
	return p, nil
}

// Shown names the arguments into which a variable goes that may be secret, where
// others may read it.
// There may be no better way, and what wrap writes was an argument before: that is
// for who looks the entry over, and not for each start of the server.
func (s *Server) Shown() (warnings []string) {
	for i, arg := range s.Upstream.Args {
		if names := slices.DeleteFunc(variables(arg), SetAtLogin); len(names) > 0 {
			warnings = append(warnings, s.Fault(fmt.Sprintf("args[%d]", i),
				fmt.Errorf(`${%s} becomes part of an argument, which process lists show; "env" is not shown`, names[0]), "").Error())
		}
	}
	return warnings
}

// An expansion replaces the placeholders of one entry, and remembers what went
// wrong and what is secret.
type expansion struct {
	server  *Server
	vars    *environment
	secrets secrets
	errs    []error
}

func (s *Server) expansion(environ []string, fold bool) *expansion {
	return &expansion{server: s, vars: newEnvironment(environ, fold), secrets: secrets{}}
}

func (x *expansion) fail(key, why, hint string) {
	x.errs = append(x.errs, x.server.Fault(key, errors.New(why), hint))
}

// text replaces the placeholders of one value.
func (x *expansion) text(key, raw string) string {
	var b strings.Builder
	for _, p := range pieces(raw) {
		value, problem, hint := p.value(x.vars)
		if problem != "" {
			x.fail(key, problem, hint)
		} else if p.variable != "" {
			x.secrets.inherited(p.variable, value)
		}
		b.WriteString(value)
	}
	return b.String()
}

// path is text for a value that may begin at the home directory.
func (x *expansion) path(key, raw string) string {
	rest, ok := splitHome(raw, x.vars.fold)
	if !ok {
		return x.text(key, raw)
	}
	dir, variable, ok := x.vars.home()
	if !ok {
		x.fail(key, fmt.Sprintf(`"~" is not known: %s is not set`, variable), "write the directory itself")
	}
	return dir + x.text(key, rest)
}

// ours begins the names of the variables that are for us.
const ours = "MCP_FACADE_"

// child makes the environment of the process.
func (x *expansion) child(u *Upstream, claudeJSON []byte, project string) []string {
	authOnly, token := x.authOnly(u), x.vars.key(x.server.TokenKey())
	env := x.vars.without(func(name string) bool { return strings.HasPrefix(name, ours) || authOnly[name] || name == token })
	for _, entry := range env.list {
		name, value, _ := cutVar(entry)
		x.secrets.inherited(name, value)
	}
	for _, v := range x.claudeEnv(claudeJSON, project) {
		value := x.text("envFrom", v.Value)
		env.set(v.Name, value)
		x.secrets.configured(v.Name, value)
	}
	for _, v := range u.Env {
		value := x.text("env."+v.Name, v.Value)
		env.set(v.Name, value)
		x.secrets.configured(v.Name, value)
	}
	return env.list
}

// authOnly gives the variables that headers or the client's secret refer to and
// nothing of the process does.
func (x *expansion) authOnly(u *Upstream) map[string]bool {
	names := map[string]bool{}
	for _, h := range u.Headers {
		for _, name := range variables(h.Value) {
			names[x.vars.key(name)] = true
		}
	}
	if name, ok := strings.CutPrefix(cmp.Or(u.OAuth, &OAuth{}).ClientSecretFrom, "env:"); ok {
		names[x.vars.key(name)] = true
	}
	texts := slices.Concat([]string{u.Command, u.Cwd}, u.Args)
	for _, v := range u.Env {
		texts = append(texts, v.Value)
	}
	for _, text := range texts {
		for _, name := range variables(text) {
			delete(names, x.vars.key(name))
		}
	}
	return names
}
