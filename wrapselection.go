package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mcp-facade/compact"
	"mcp-facade/facade/config"
	"mcp-facade/facade/hosts"
)

// A selection is the entries of hosts' files that a command line is about.
type selection struct {
	host  string   // "": of every host
	names []string // of servers; none: every one
	file  string   // the only one; "": every one
	picks []pick
	// faults are what is wrong with files, one each; they do not keep the others
	// from being used.
	faults []error
}

// A pick is one entry.
type pick struct {
	file  *hosts.File
	entry hosts.Entry
	named bool // its name was given
}

// selected finds what the words are about: a host and names of servers, each of
// which may be left out.
func (e *env) selected(o *options, words []string) (*selection, error) {
	s, place := &selection{names: words}, e.place()
	if len(words) > 0 && isHost(words[0]) {
		s.host, s.names = words[0], words[1:]
	}
	if o.file != "" {
		s.file = e.absolute(o.file)
		place.Folders = []string{filepath.Dir(s.file), filepath.Dir(filepath.Dir(s.file))} // a project's file is in its folder, or in one of that
	}
	files, faults := hosts.Find(place)
	s.faults = faults
	files, err := s.among(files)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		for _, entry := range f.Entries() {
			named := slices.Contains(s.names, entry.Name)
			if names = append(names, entry.Name); named || len(s.names) == 0 {
				s.picks = append(s.picks, pick{f, entry, named})
			}
		}
	}
	for i, name := range s.names {
		if !slices.Contains(names, name) {
			err = errors.Join(err, s.unknown(name, names, i == 0 && s.host == ""))
		}
	}
	s.preferOwn()
	return s, err
}

// preferOwn has a name mean the user's servers, and those of a project only where
// the user has none, or with --file: a folder that was cloned may have any name in it.
func (s *selection) preferOwn() {
	for i := range s.picks {
		k := &s.picks[i]
		own := func(other pick) bool { return !other.entry.Project && other.entry.Name == k.entry.Name }
		if k.entry.Project && s.file == "" && slices.ContainsFunc(s.picks, own) {
			k.named = false
		}
	}
}

// among leaves the files of the host and the file that were asked for.
func (s *selection) among(files []*hosts.File) ([]*hosts.File, error) {
	wanted := func(host, path string) bool {
		return (s.host == "" || host == s.host) && (s.file == "" || samePath(path, s.file))
	}
	files = once(slices.DeleteFunc(files, func(f *hosts.File) bool { return !wanted(f.Host.Name, f.Path) }))
	s.faults = slices.DeleteFunc(s.faults, func(err error) bool {
		fe := new(hosts.Error)
		return errors.As(err, &fe) && !wanted(fe.Host.Name, fe.Path)
	})
	switch {
	case len(files)+len(s.faults) > 0 || s.host == "" && s.file == "":
		return files, nil
	case s.file == "":
		if i := slices.IndexFunc(s.names, isHost); i >= 0 {
			return nil, oneHost(s.names[i])
		}
		return nil, &config.Error{Key: s.host, Err: errors.New("look up: none of its files is there"), Hint: wrapListHint}
	}
	if _, err := os.Stat(s.file); errors.Is(err, fs.ErrNotExist) {
		return nil, &config.Error{Path: s.file, Err: errors.New("there is no such file"), Hint: wrapListHint}
	}
	return nil, &config.Error{Path: s.file, Err: fmt.Errorf("is no file in which %s keeps its servers", cmp.Or(s.host, "a known host")), Hint: wrapListHint}
}

const wrapListHint = "mcp-facade wrap --list, which shows the servers of all hosts, and their files"

// once leaves each file once, to which several hosts may have a link: to the first
// of them, and to a project only if it is no user's.
func once(files []*hosts.File) (all []*hosts.File) {
	for i, f := range files {
		before := func(g *hosts.File) bool { return samePath(f.Path, g.Path) && (f.Project || !g.Project) }
		after := func(g *hosts.File) bool { return samePath(f.Path, g.Path) && f.Project && !g.Project }
		if !slices.ContainsFunc(files[:i], before) && !slices.ContainsFunc(files[i+1:], after) {
			all = append(all, f)
		}
	}
	return all
}

// asked reports whether an entry is meant by more than a word that means all.
func (s *selection) asked(k pick) bool { return k.named || s.host != "" || s.file != "" }

// unknown says that there is no server of a name. The first word may have been
// meant as a host's.
func (s *selection) unknown(name string, names []string, first bool) error {
	near, who := "", "no host has a server"
	if first {
		near = cmp.Or(otherNames[strings.ToLower(name)], nearestName(name, hostNames()))
	}
	switch {
	case isHost(name):
		return oneHost(name)
	case near != "":
		return &usageError{what: fmt.Sprintf("there is no host %q; nearest: %s", name, near), hint: wrapListHint}
	case s.file != "":
		who = compact.Line(s.file) + " has no server"
	case s.host != "":
		who = s.host + " has no server"
	}
	err := fmt.Errorf("%s %q", who, name)
	if near = nearestName(name, names); near != "" {
		err = fmt.Errorf("%w; nearest: %q", err, near)
	}
	return &config.Error{Err: err, Hint: wrapListHint}
}

func oneHost(name string) error {
	return usage("%s is a host: want one host, before the names of its servers", name)
}

// otherNames are what else hosts are called.
var otherNames = map[string]string{
	"claude": "claude-code", "code": "vscode", "vs-code": "vscode", "copilot": "vscode",
	"codeium": "windsurf", "gemini-cli": "gemini", "codex-cli": "codex",
}

func isHost(word string) bool { return slices.Contains(hostNames(), word) }

func hostNames() (names []string) {
	for _, h := range hosts.All() {
		names = append(names, h.Name)
	}
	return names
}

// place is where the hosts keep their files here.
func (e *env) place() hosts.Place {
	return hosts.Place{OS: runtime.GOOS, Home: e.home, Folders: e.folders(), Getenv: e.variable}
}

// folders are those whose project files count: the current one, and in a
// repository those above it, up to its root. The home directory and what is above
// it is no project.
func (e *env) folders() (all []string) {
	for dir := e.cwd; !e.isHome(dir); dir = filepath.Dir(dir) {
		all = append(all, dir)
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return all
		}
	}
	return []string{e.cwd}
}

// isHome reports whether a directory is the home directory or one above it, as
// the root always is.
func (e *env) isHome(dir string) bool {
	for home := e.home; ; home = filepath.Dir(home) {
		switch {
		case samePath(dir, home), dir == filepath.Dir(dir):
			return true
		case home == filepath.Dir(home):
			return false
		}
	}
}

// variable is a variable of the environment, "" when it is not set.
func (e *env) variable(name string) (value string) {
	for _, entry := range e.environ {
		key, v, _ := strings.Cut(entry, "=")
		if key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name) {
			value = v
		}
	}
	return value
}

// absolute is a path from the root.
func (e *env) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(e.cwd, path)
}

// samePath reports whether two paths lead to one file.
func samePath(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	is, err := os.Stat(a)
	was, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(is, was)
}

// plainConfig is where the servers file is in an environment that says nothing
// of it, as that of a host may be.
func (e *env) plainConfig() string {
	dir := filepath.Join(e.home, ".config")
	switch runtime.GOOS {
	case "darwin":
		dir = filepath.Join(e.home, "Library", "Application Support")
	case "windows":
		dir = cmp.Or(e.variable("LOCALAPPDATA"), filepath.Join(e.home, "AppData", "Local"))
	}
	return filepath.Join(dir, "mcp-facade", "facade.servers.json")
}

// program is how a host starts this program: by its name alone if that finds
// just this file, and the host has the PATH of a shell: it is no desktop program.
func (e *env) program(desktop bool) (string, error) {
	if isBuild(e.self) {
		return "", &config.Error{Err: fmt.Errorf("this program is a file of go run, which is gone soon: %s", e.self),
			Hint: "go install, and run the installed mcp-facade"}
	}
	found := e.onPath()
	switch {
	case found == "":
		return e.self, nil
	case desktop:
		return found, nil
	}
	return "mcp-facade", nil
}

// isBuild reports whether a file is one that go run made.
func isBuild(file string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(file), "/"), func(dir string) bool {
		return strings.HasPrefix(dir, "go-build")
	})
}

// onPath is where PATH finds this program, "" if it finds none, or another.
func (e *env) onPath() string {
	name := "mcp-facade"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(e.variable("PATH")) {
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
			continue
		}
		if !filepath.IsAbs(dir) || !samePath(file, e.self) {
			return ""
		}
		return file
	}
	return ""
}
