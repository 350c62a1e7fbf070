package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mcp-facade/catalog"
	"mcp-facade/compact"
	"mcp-facade/facade/config"
	"mcp-facade/facade/hosts"
)

// A choice is the entries of hosts' files that a command line is about.
type choice struct {
	host  string   // "": of every host
	names []string // of servers; none: every one
	file  bool     // of one file only
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

// choose finds what the words are about: a host and names of servers, each of
// which may be left out.
func (e *env) choose(o *options, words []string) (*choice, error) {
	files, faults := hosts.Find(e.place())
	c := &choice{names: words, faults: faults}
	if len(words) > 0 && slices.Contains(hostNames(), words[0]) {
		c.host, c.names = words[0], words[1:]
	}
	files, err := c.among(e, o, files)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		for _, entry := range f.Entries() {
			named := slices.Contains(c.names, entry.Name)
			if names = append(names, entry.Name); named || len(c.names) == 0 {
				c.picks = append(c.picks, pick{f, entry, named})
			}
		}
	}
	for i, name := range c.names {
		if !slices.Contains(names, name) {
			err = errors.Join(err, c.unknown(name, names, i == 0 && c.host == ""))
		}
	}
	c.preferOwn()
	return c, err
}

// preferOwn has a name mean the user's servers, and those of a project only where
// the user has none, or with --file: a folder that was cloned may have any name in it.
func (c *choice) preferOwn() {
	for i := range c.picks {
		k := &c.picks[i]
		own := func(other pick) bool { return !other.entry.Project && other.entry.Name == k.entry.Name }
		if k.entry.Project && !c.file && slices.ContainsFunc(c.picks, own) {
			k.named = false
		}
	}
}

// among leaves the files of the host and the file that were asked for.
func (c *choice) among(e *env, o *options, files []*hosts.File) ([]*hosts.File, error) {
	if c.host != "" {
		files = slices.DeleteFunc(files, func(f *hosts.File) bool { return f.Host.Name != c.host })
		c.faults = slices.DeleteFunc(c.faults, func(err error) bool {
			fe := new(hosts.Error)
			return errors.As(err, &fe) && fe.Host.Name != c.host
		})
	}
	switch {
	case c.host != "" && len(files)+len(c.faults) == 0:
		return nil, &config.Error{Key: c.host, Err: errors.New("look up: none of its files is there"), Hint: "mcp-facade wrap --list, which shows the servers of all hosts"}
	case o.file == "":
		return files, nil
	}
	c.file = true
	asked, seen := e.absolute(o.file), []string{}
	c.faults = slices.DeleteFunc(c.faults, func(err error) bool {
		fe := new(hosts.Error)
		return errors.As(err, &fe) && !samePath(fe.Path, asked)
	})
	files = slices.DeleteFunc(files, func(f *hosts.File) bool {
		seen = append(seen, f.Path)
		return !samePath(f.Path, asked)
	})
	if len(files) > 0 || len(c.faults) > 0 {
		return files, nil
	}
	hint := "a file that a host reads; none was found"
	if len(seen) > 0 {
		hint = compact.Line("one of " + strings.Join(slices.Compact(seen), ", "))
	}
	return nil, &config.Error{Path: o.file, Err: errors.New("is no file in which a known host keeps its servers"), Hint: hint}
}

// asked reports whether an entry is meant by more than a word that means all.
func (c *choice) asked(k pick) bool { return k.named || c.host != "" || c.file }

// unknown says that no host has a server of a name. The first word may have been
// meant as a host's.
func (c *choice) unknown(name string, names []string, first bool) error {
	nearHost, near := "", nearestName(name, names)
	if first {
		nearHost = nearestName(name, hostNames())
	}
	switch where := cmp.Or(c.host, "the hosts' files"); {
	case nearHost != "":
		return &usageError{what: fmt.Sprintf("there is no host %q; nearest: %s", name, nearHost), hint: "mcp-facade wrap --list, which shows the servers of all hosts"}
	case near != "":
		return &config.Error{Key: name, Err: fmt.Errorf("look up: not in %s; nearest: %q", where, near), Hint: "mcp-facade wrap --list"}
	default:
		return &config.Error{Key: name, Err: fmt.Errorf("look up: not in %s", where), Hint: "mcp-facade wrap --list"}
	}
}

func hostNames() (names []string) {
	for _, h := range hosts.All() {
		names = append(names, h.Name)
	}
	return names
}

// place is where the hosts keep their files here.
func (e *env) place() hosts.Place {
	return hosts.Place{OS: runtime.GOOS, Home: e.home, Cwd: e.cwd, Getenv: e.variable}
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

// nearestOf is the name in a page of tools that is most like a word, or "".
func nearestOf(word string, page []byte) string {
	names, _ := catalog.New([][]byte{page})
	if near := names.Nearest(word, 1); len(near) > 0 {
		return near[0]
	}
	return ""
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
