package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"mcp-facade/facade/config"
	"mcp-facade/facade/hosts"
)

// checkHosts is about the entries in the files of hosts that start this program.
func checkHosts(c *checkup) (all []finding) {
	if c.only == "" {
		for _, err := range c.broken {
			all = append(all, finding{Level: levelWarning, About: "host files", What: err.Error(), Why: "its host may not read it either, and wrap leaves it alone", Do: "correct it in an editor"})
		}
	}
	files := map[string]*config.File{c.path: c.file}
	for _, f := range c.found {
		seen := map[string]string{}
		for _, e := range f.entries {
			if !e.Ours || e.Disabled || c.only != "" && e.Server != c.only {
				continue
			}
			h := hostEntry{checkup: c, file: f, Entry: e}
			found := slices.Concat(h.program(), h.target(files), h.twin(seen))
			if len(found) == 0 {
				found = []finding{{Level: levelOK, What: h.called() + " serves " + cmp.Or(e.Server, "what stands in it")}}
			}
			for i := range found {
				found[i].About = fmt.Sprintf("%s: %s", f.host.Title, f.path)
			}
			all = append(all, found...)
		}
	}
	return all
}

// A hostEntry is an entry of ours in the file of a host.
type hostEntry struct {
	*checkup
	file hostFile
	hosts.Entry
}

// called is the entry as it is named to a person.
func (h *hostEntry) called() string {
	if h.Scope != "" {
		return fmt.Sprintf("%s of %s", h.Name, h.Scope)
	}
	return h.Name
}

// again is how the entry is written anew.
func (h *hostEntry) again() string {
	return h.unwrap() + ", then wrap it again"
}

// unwrap is how the entry is put back.
func (h *hostEntry) unwrap() string {
	return fmt.Sprintf("mcp-facade unwrap %s %s", h.file.host.Name, h.byName(h.o, h.Name))
}

// program is about the command of the entry.
func (h *hostEntry) program() []finding {
	if h.elsewhere(h.Command) {
		return nil
	}
	path, err := h.located()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return []finding{{Level: levelProblem, What: fmt.Sprintf("%s starts %q, which is not in $PATH", h.called(), h.Command), Why: "the host has none of its tools, unless it has another PATH", Do: "install it there, or write " + h.self + " in its place"}}
	case err != nil:
		return []finding{{Level: levelProblem, What: fmt.Sprintf("%s starts %s, which is not there", h.called(), h.Command), Why: "the host has none of its tools", Do: h.again()}}
	case h.self != "" && !sameFile(path, h.self):
		f := finding{Level: levelWarning, What: fmt.Sprintf("%s starts %s, which is another program than this one (%s)", h.called(), path, h.self),
			Why: "what is said here may not hold for it", Do: quotedPath(path) + " --version, and: mcp-facade --version"}
		if h.Project {
			f.Why, f.Do = "others may have written that file", "look at that program before you start the host there"
		}
		return []finding{f}
	case !filepath.IsAbs(h.Command) && h.file.host.Desktop:
		return []finding{{Level: levelNote, What: fmt.Sprintf("%s starts %q by its name", h.called(), h.Command),
			Why: h.file.host.Title + " may be started without the PATH of your shell", Do: "write " + h.self + " there, if it does not start"}}
	}
	return nil
}

// elsewhere reports whether a path that others may have written leads to another
// machine: to look at it would log in there.
func (h *hostEntry) elsewhere(path string) bool {
	return h.Project && strings.HasPrefix(filepath.ToSlash(path), "//")
}

// located is where the entry's program is. A host that a shell starts finds it
// where we do.
func (h *hostEntry) located() (string, error) {
	if strings.ContainsAny(h.Command, `/\`) {
		path := h.Command
		if !filepath.IsAbs(path) {
			path = filepath.Join(cmp.Or(h.Cwd, h.cwd), path)
		}
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() {
			err = fs.ErrNotExist
		}
		return path, err
	}
	return exec.LookPath(h.Command)
}

// sameFile reports whether two files are one, or have the same bytes.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA != nil || errB != nil {
		return false
	}
	if os.SameFile(infoA, infoB) {
		return true
	}
	return infoA.Size() == infoB.Size() && bytes.Equal(digest(a), digest(b))
}

// digest is a hash of a file, nil if it cannot be read.
func digest(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return nil
	}
	return sum.Sum(nil)
}

// target is about the server that the entry names, and what that needs of the
// entry.
func (h *hostEntry) target(files map[string]*config.File) []finding {
	if h.Server == "" {
		return nil
	}
	path := h.serversFileOf(h.Entry)
	if strings.Contains(path, "${") || h.elsewhere(path) {
		return nil // the first is replaced by the host, and only that knows by what
	}
	file, ok := files[path]
	if !ok {
		var err error
		if file, err = config.Load(path); err != nil {
			why := "it cannot be used: " + err.Error()
			if errors.Is(err, fs.ErrNotExist) {
				why = "there is no such file"
			}
			return []finding{{Level: levelProblem, What: fmt.Sprintf("%s takes its server from %s", h.called(), path), Why: why, Do: "correct --config in it, or: " + h.again()}}
		}
		files[path] = file
	}
	if file == nil {
		return []finding{{Level: levelProblem, What: fmt.Sprintf("%s serves %s of %s", h.called(), h.Server, path), Why: "that file cannot be used", Do: "put the servers file right, as said there"}}
	}
	s, err := file.Server(h.Server)
	if err != nil && slices.Contains(file.Names(), h.Server) {
		return nil // it is said of the server
	}
	if err != nil {
		all := h.findings(levelProblem, h.Server, err)
		for i := range all {
			all[i].What, all[i].Why = fmt.Sprintf("%s serves %s", h.called(), h.Server), strings.TrimPrefix(all[i].What, "look up: ")
			all[i].Do = "correct --server in it, or: " + h.unwrap()
		}
		return all
	}
	return append(h.variables(s), h.rules(s)...)
}

// rules are about what the host keeps away and "call" reaches.
func (h *hostEntry) rules(s *config.Server) []finding {
	reached := reachedBy(h.file.file, h.Entry, s)
	if len(reached) == 0 {
		return nil
	}
	return []finding{{Level: levelWarning, What: fmt.Sprintf(`"call" of %s reaches %s, which %s keeps away`, h.called(), strings.Join(reached, ", "), h.file.host.Title),
		Why: `a host's rules do not count for what "call" runs`, Do: fmt.Sprintf(`name in "hide" of %s in the servers file what is to be kept away, or: %s`, h.Server, h.again())}}
}

// variables is about those that the server needs and the entry does not set. A
// host of a desktop may not have the environment of a shell.
func (h *hostEntry) variables(s *config.Server) []finding {
	var set []string
	for _, v := range h.Env {
		set = append(set, v.Name+"="+cmp.Or(v.Value, "set"))
	}
	f := finding{Level: levelProblem, Why: "it is not in this environment either", Do: `add it to "env" of the entry, as the servers file only names it`}
	missing := s.Needs(slices.Concat(h.environ, set))
	if len(missing) == 0 && h.file.host.Desktop {
		f.Level, f.Why = levelWarning, h.file.host.Title+" may be started without the environment of your shell"
		missing = slices.DeleteFunc(s.Needs(set), config.SetAtLogin)
	}
	if len(missing) == 0 {
		return nil
	}
	f.What = fmt.Sprintf("%s does not set %s, which %s needs", h.called(), strings.Join(missing, ", "), h.Server)
	return []finding{f}
}

// twin is about a second entry of the same server in the same place.
func (h *hostEntry) twin(seen map[string]string) []finding {
	key := h.Scope + "\n" + h.serversFileOf(h.Entry) + "\n" + h.Server
	first, twice := seen[key]
	seen[key] = h.called()
	if !twice || h.Server == "" {
		return nil
	}
	return []finding{{Level: levelWarning, What: fmt.Sprintf("%s and %s serve the same server", first, h.called()),
		Why: "the model has its tools twice", Do: fmt.Sprintf("take %s out of the file", h.called())}}
}
