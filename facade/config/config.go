// Package config reads the servers file: JSON with comments in, values out.
//
// [Load] and [Parse] give a [File]; File.Server gives one entry of it, or what
// is wrong with that entry. Nothing is looked up in the process's environment:
// [Server.Process], [Server.Remote] and [Server.Identity] are given it, and only
// they replace the "${VAR}" that an entry may hold.
package config

import (
	"cmp"
	"errors"
	"strings"
	"time"
)

// A Var is a named value as written in the file; "${VAR}" in it is not yet
// replaced.
type Var struct{ Name, Value string }

// An Upstream says how to reach a server: Command (stdio) or URL (HTTP), and
// what goes with it. A value that is not set is empty.
type Upstream struct {
	URL       string
	Transport string // "": Streamable HTTP, or what the server turns out to speak
	CAFile    string // extra roots in PEM
	Headers   []Var

	CredentialID string
	TokenCommand []string
	OAuth        *OAuth

	Command string
	Args    []string
	Cwd     string // "": ours
	Env     []Var
	EnvFrom string // "claude:NAME"
}

// OAuth says how we are known to an authorization server. Its zero value, in
// the file true, lets the server's own metadata decide.
type OAuth struct {
	ClientID         string
	ClientSecretFrom string // "env:V", "keychain:S" or "keyring:S"; never the secret
	TokenURL         string
	AuthStyle        string // "body" or "basic"
	Scopes           []string
}

// ByFlag is a ConfirmBy that no file has: a person at the command line agrees by
// a flag.
const ByFlag = "flag"

// A Server is one entry of the servers file. The fields are the keys of the
// entry, and their meaning is that of the keys.
type Server struct {
	Name string
	Path string // the file it is written in; "" when given on the command line
	Line int    // where its name stands in that file, from 1

	Upstream Upstream

	Used                        []string // names and globs to show; nothing when Auto
	Auto                        bool     // all if it fits SurfaceBudget, else what was called most
	Hide, ReadOnly, Destructive []string // globs

	Surface    string // "meta" or "all"
	Names      string // "lower" or "keep"
	Prefix     string
	AlwaysLoad string // "true", "used", "meta" or "false"

	Compact  string // "standard", "lossless", "tight" or "off"
	Keep     []string
	Keywords map[string][]string // tool name or glob → the user's words for it

	Hint              string
	InstructionsLimit int // characters
	SurfaceBudget     int // tokens

	Confirm   string // "none", "destructive" or "writes"
	ConfirmBy string // "elicitation", "argument" or ByFlag
	Split     bool

	SearchLimit, RepeatLimit int // 0: no limit
	Hints                    bool

	TTL     time.Duration
	StaleOK bool

	StartTimeout             time.Duration
	CallTimeout, IdleTimeout time.Duration // 0: none

	RetryResults, Ledger bool
	Drift                string // "warn" or "block"

	lines map[string]int // where each value of the entry stands, by its key: "upstream.args[1]"
}

// Default gives an entry in which every key has its default and no upstream is
// set.
func Default() Server {
	s := Server{}
	preset(surfaceKeys, &s)
	preset(callKeys, &s)
	return s
}

// InPlace gives the entry of a command that stands on the command line instead
// of in a file. Its tools keep their names, so that rules of the host which
// name them go on matching.
func InPlace(name, command string, args []string) *Server {
	s := Default()
	s.Name, s.Names = name, "keep"
	s.Upstream.Command, s.Upstream.Args = command, args
	return &s
}

// InPlaceURL is InPlace for an upstream that is reached over HTTP. Its error, an
// *Error, says what is wrong with the URL or a header.
func InPlaceURL(name, url string, headers []Var) (*Server, error) {
	s := Default()
	s.Name, s.Names = name, "keep"
	s.Upstream.URL, s.Upstream.Headers = url, headers
	if why := wrongURL(url); why != "" && variables(url) == nil {
		return nil, s.Fault("url", errors.New(why), "")
	}
	seen := map[string]bool{}
	for _, h := range headers {
		why := cmp.Or(wrongHeader(h.Name), wrongHeaderValue(h.Value))
		if why == "" && seen[strings.ToLower(h.Name)] {
			why = "is given twice"
		}
		if why != "" {
			return nil, s.Fault("headers."+h.Name, errors.New(why), "")
		}
		seen[strings.ToLower(h.Name)] = true
	}
	return &s, nil
}

// Fault words what is wrong with one key of the entry. The key is named as it
// is for an entry without "upstream"; the error names it as it is written.
func (s *Server) Fault(key string, err error, hint string) *Error {
	line := s.Line
	for _, at := range []string{"upstream." + key, key} {
		if found, ok := s.lines[at]; ok {
			key, line = at, found
			break
		}
	}
	return &Error{Path: s.Path, Line: line, Key: strings.TrimPrefix(s.Name+"."+key, "."), Err: err, Hint: hint}
}

// Has reports whether the file has a key in the entry.
func (s *Server) Has(key string) bool {
	_, ok := s.lines[key]
	return ok
}
