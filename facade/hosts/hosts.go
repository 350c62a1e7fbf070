// Package hosts reads the files in which hosts keep their MCP servers, and puts
// the facade into an entry of one or takes it out again. Only the bytes that
// must change do. It starts nothing and looks at nothing but those files, the
// backups beside them, and what else hosts keep of what tools may do.
package hosts

import (
	"errors"
	"fmt"
	"time"
)

// A Place decides where hosts keep their files.
type Place struct {
	OS      string // runtime.GOOS
	Home    string
	Folders []string // of projects whose files count, too
	Getenv  func(string) string
}

// A Host is a program that starts MCP servers.
type Host struct {
	Name  string // for the command line: "claude-code"
	Title string // for a person: "Claude Code"

	// Defers says when the host hides tools by itself until its model searches
	// for them: "yes" by default, "by model" depending on that, "" never.
	Defers string
	// Desktop: it may be started without the PATH of a shell.
	Desktop bool
	// Patience is how long the host waits for a server when it starts, before its
	// model is asked without the server's tools; 0: it waits, or nobody knows. Until
	// is the last version of which that is known, "" if it is the newest.
	Patience time.Duration
	Until    string
	// GivesUp: after so long the host counts a server as failed; 0: nobody knows.
	GivesUp time.Duration
	// MaxName is how long the name may be by which the model knows a tool, and
	// Prefix what goes before it: "mcp__%s__". What is longer is dropped or cut.
	// 0 and "": nobody knows.
	MaxName int
	Prefix  string
}

// All are the hosts that are known, in the order of the help.
func All() []Host {
	var all []Host
	for _, d := range dialects() {
		all = append(all, d.Host)
	}
	return all
}

// A Var is a variable or a header.
type Var struct{ Name, Value string }

// An Entry is one server in a file of a host, as the host would start it.
type Entry struct {
	Name    string // the server's, in the host
	Scope   string // where in the file: "", or the project's folder
	Project bool   // the file is a project's own, which others may have written

	Command   string
	Args      []string
	Cwd       string
	Env       []Var
	URL       string
	Headers   []Var
	Transport string // "", "http" or "sse"
	Disabled  bool

	Ours    bool   // it starts this program
	Server  string // the --server of it, if it is ours; "" in place
	Config  string // the --config of it, if it is ours
	Surface string // the --surface of it, if it is ours
}

// A Translation is what becomes of an entry: an entry of the servers file, and
// what the host's own has to add to its variables.
type Translation struct {
	Upstream []byte   // raw object: "command" and "args", or "url", "headers", …; indented as the servers file is
	Hide     []string // the tools that the host was told to keep away
	Env      []Var    // NAME and the literal or placeholder that is not to stand in the servers file, for the host's entry
	Notes    []string // what a person should know, a sentence each

	pass []string // variables of the host's own that it has to hand to us by name
}

// A Change is what Wrap or Unwrap make of one entry: its text in the file
// before and after, in which no value of a variable or header is legible, nor
// what looks like a secret elsewhere, nor a comment. Lines of comments that stay
// are left out.
type Change struct {
	Where         string // "mcpServers.acme"
	Before, After string
}

// Why something is not done.
var (
	errOurs    = errors.New("it starts mcp-facade already")
	errNotOurs = errors.New("it does not start mcp-facade")
	errGone    = errors.New("it is not in the file")
	errLinked  = errors.New("the file has another name, a hard link, under which the old text would stay")
	errChanged = errors.New("the file was changed meanwhile; nothing was written")
)

// An Error is what is wrong with a file of a host. It never holds a value of it.
type Error struct {
	Host Host // whose the file is
	Path string
	Line int    // from 1; 0 when no line is meant
	Key  string // "mcpServers.acme", "" when the file itself is meant
	Err  error
	Hint string // what to do next: one imperative line, or ""
}

// Error gives "path:line: key: what", without the parts that are not known.
func (e *Error) Error() string {
	where := e.Path
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", e.Path, e.Line)
	}
	if e.Key != "" {
		where += ": " + e.Key
	}
	return where + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
