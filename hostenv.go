package main

import (
	"log/slog"
	"slices"
	"strings"

	"mcp-facade/facade/config"
	"mcp-facade/facade/hosts"
)

// A hostFile is a file of a host that could be read.
type hostFile struct {
	host    hosts.Host
	path    string
	entries []hosts.Entry
	file    *hosts.File
}

// hostFiles reads the files of hosts. The errors are those of files that cannot
// be used.
func (e *env) hostFiles() (all []hostFile, broken []error) {
	found, broken := hosts.Find(e.place())
	for _, f := range found {
		all = append(all, hostFile{f.Host, f.Path, f.Entries(), f})
	}
	return all, broken
}

// hostVars are what the entry of a host sets for the server that it starts.
type hostVars struct {
	host    hosts.Host
	surface string   // its --surface: "meta" or "all"; "": as the servers file says
	set     []string // "K=V"
	known   []string // the names of those that only the host knows a value of
}

// hostVars gives what the entries of hosts set for the servers of a servers file,
// by the server. Others may have written a project's file: of that only the names
// are taken. What is for this program itself is none of the server's.
func (e *env) hostVars(files []hostFile, path string) map[string][]hostVars {
	all := map[string][]hostVars{}
	for _, f := range files {
		for _, entry := range f.entries {
			if !entry.Ours || entry.Disabled || e.serversFileOf(entry) != e.absolute(path) {
				continue
			}
			v := hostVars{host: f.host, surface: entry.Surface}
			for _, given := range entry.Env {
				value, ok := e.expanded(given.Value)
				switch {
				case strings.HasPrefix(given.Name, "MCP_FACADE_"):
				case ok && !entry.Project:
					v.set = append(v.set, given.Name+"="+value)
				default:
					v.known = append(v.known, given.Name)
				}
			}
			all[entry.Server] = append(all[entry.Server], v)
		}
	}
	return all
}

// inHost is the world in which a host starts a server: the first one whose entry
// sets something for it. As there, what that sets comes before what a shell has
// set.
func (e *env) inHost(all []hostVars) (_ *env, by hostVars) {
	i := slices.IndexFunc(all, func(v hostVars) bool { return v.set != nil })
	if i < 0 {
		return e, hostVars{}
	}
	there := *e
	there.environ = slices.Concat(e.environ, all[i].set)
	return &there, all[i]
}

// inHosts gives the worlds in which hosts start the servers of the servers file,
// and the servers the surface that they are given there. A wrapped server may have
// its key nowhere else.
func (e *env) inHosts(o *options) func(s *config.Server) *env {
	files, _ := e.hostFiles()
	all := e.hostVars(files, e.configPath(o))
	return func(s *config.Server) *env {
		there, by := e.inHost(all[s.Name])
		if by.set != nil {
			e.logger(o, s.Name, slog.LevelWarn).Debug("started as by a host", "host", by.host.Title, "set", strings.Join(by.names(), " "))
		}
		own := *there
		own.shownTo = showingOf(s.Surface, all[s.Name])
		if o.surface != "" {
			own.shownTo = asked(o.surface, all[s.Name])
		}
		s.Surface, own.shownTo.again = own.shownTo.surface, e.byName(o, s.Name)
		return &own
	}
}

// isSet reports whether a variable of the environment is.
func (e *env) isSet(name string) bool { return e.variable(name) != "" }

// names are those of the variables that are set.
func (v hostVars) names() (all []string) {
	for _, entry := range v.set {
		name, _, _ := strings.Cut(entry, "=")
		all = append(all, name)
	}
	return all
}
