package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"mcp-facade/catalog"
)

// checkDisk is about what is kept of servers that no entry is any more.
func checkDisk(c *checkup) (all []finding) {
	key, err := catalog.LoadKey(filepath.Join(c.stateDir, "key"))
	if err != nil {
		return []finding{{Level: levelWarning, About: c.stateDir, What: err.Error(), Why: "nothing is cached: each start waits for its server", Do: "correct the owner and the mode of that file, or remove it"}}
	}
	if c.file == nil || c.only != "" {
		return nil
	}
	for _, root := range []string{c.cacheDir, c.stateDir} {
		f := finding{Level: levelOK, About: root, What: bytesOf(treeSize(root))}
		if root == c.cacheDir && c.o.config == "" {
			c.left(&f, key)
		}
		if treeSize(root) > 0 {
			all = append(all, f)
		}
	}
	return all
}

// folderName is how the folder of an upstream is named. It is compiled when it is
// needed, so that no start of a server pays for it.
var folderName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9-]+-[0-9a-f]{16}$`) })

// left adds to a finding what it is to say of the folders of the cache that no
// entry of the file has. Those of the state are no concern: what the user has
// accepted of another file's servers is not for us to take away.
func (c *checkup) left(f *finding, key []byte) {
	used := map[string]bool{}
	for _, name := range c.file.Names() {
		s, err := c.file.Server(name)
		if err != nil {
			continue
		}
		for _, v := range append(c.vars[name], hostVars{}) {
			environ := slices.Concat(c.environ, v.set)
			used[catalog.IdentityDir(c.cacheDir, name, s.Identity(environ), key)] = true
		}
	}
	entries, _ := os.ReadDir(c.cacheDir)
	var stray []string
	size := int64(0)
	for _, entry := range entries {
		path := filepath.Join(c.cacheDir, entry.Name())
		if entry.IsDir() && folderName().MatchString(entry.Name()) && !used[path] {
			stray = append(stray, path)
			size += treeSize(path)
		}
	}
	if stray == nil {
		return
	}
	f.Level, f.What = levelNote, fmt.Sprintf("%s, of which %s in %s belong to no entry of the servers file", f.What, bytesOf(size), plural(len(stray), "folder"))
	f.Why = "they are of servers started in place or by another file, which would be listed anew, or of an entry as it was before"
	f.Do = "rm -r"
	for _, path := range stray[:min(len(stray), maxNamed)] {
		f.Do += " " + quotedPath(path)
	}
}

// folder is where something of the server is kept below root; "" without a key.
func (p *subject) folder(root string) string {
	key, err := catalog.LoadKey(filepath.Join(p.stateDir, "key"))
	if err != nil {
		return ""
	}
	return catalog.IdentityDir(root, p.name, p.server.Identity(p.environ), key)
}

// treeSize is how many bytes the files below a folder have. What cannot be read
// counts as nothing.
func treeSize(root string) (n int64) {
	filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}

// bytesOf is a number of bytes in its unit.
func bytesOf(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// quotedPath is a path, or another word, as a shell takes it: where that will do
// in the quotes that every shell has. A backslash is nothing special in them on
// Windows alone.
func quotedPath(path string) string {
	special := "\"$`!%\n"
	if runtime.GOOS != "windows" {
		special += `\`
	}
	switch {
	case regexp.MustCompile(`^[\w/.:][\w/.:~-]*$`).MatchString(path):
		return path
	case !strings.ContainsAny(path, special):
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
