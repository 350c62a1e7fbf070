package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/facade/config"

	"github.com/tidwall/gjson"
)

// transcriptLine is the longest line of a transcript that is read. Longer ones
// hold images and large results; a call is shorter.
const transcriptLine = 4 << 20

// heard is what the transcripts of hosts say of the calls of a server. It holds
// counts and nothing else of them.
type heard struct {
	Files   int            `json:"files"`   // that were read
	Calls   int            `json:"calls"`   // of tools that the catalog has
	Unknown int            `json:"unknown"` // calls of others
	since   map[string]int // by the upstream's name: the calls from a time on
	before  map[string]int // likewise, before it
}

// transcripts counts the calls of a server in the transcripts that Claude Code
// and Codex keep in the user's home. Nothing of them but counts is kept. Calls
// from since on are counted apart.
func (e *env) transcripts(s *config.Server, c *catalog.Catalog, since time.Time) (*heard, error) {
	l := &listener{catalog: c, meta: s.Prefix, since: since, seen: map[string]bool{}, names: foldedNames(c),
		heard: &heard{since: map[string]int{}, before: map[string]int{}}}
	for _, name := range e.hostedAs(s) {
		l.servers = append(l.servers, "mcp__"+fold(name)+"__")
	}
	claude := cmp.Or(e.variable("CLAUDE_CONFIG_DIR"), filepath.Join(e.home, ".claude"))
	codex := cmp.Or(e.variable("CODEX_HOME"), filepath.Join(e.home, ".codex"))
	err := errors.Join(
		l.folder(filepath.Join(claude, "projects"), "", l.claude),
		l.folder(filepath.Join(codex, "sessions"), "rollout-", l.codex),
		l.folder(filepath.Join(codex, "archived_sessions"), "rollout-", l.codex))
	return l.heard, err
}

// hostedAs are the names that hosts have for a server: its own, and those of the
// entries that start us for it, from the same servers file.
func (e *env) hostedAs(s *config.Server) []string {
	names := []string{s.Name}
	files, _ := e.hostFiles()
	for _, f := range files {
		for _, entry := range f.entries {
			if entry.Ours && entry.Server == s.Name && e.serversFileOf(entry) == e.absolute(s.Path) {
				names = append(names, entry.Name)
			}
		}
	}
	return names
}

// A listener reads transcripts.
type listener struct {
	catalog *catalog.Catalog
	servers []string          // what the folded name of a tool begins with
	meta    string            // the prefix of the meta-tools
	names   map[string]string // folded → the upstream's; "": several
	since   time.Time
	seen    map[string]bool // the ids of calls: a session that goes on in another file begins with its calls
	heard   *heard
}

// folder reads the transcripts below a folder, which need not be there. What
// cannot be read of it is left out.
func (l *listener) folder(dir, prefix string, line func(gjson.Result)) error {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		if err != nil && path == real {
			return err
		}
		if err != nil || !d.Type().IsRegular() || !strings.HasPrefix(d.Name(), prefix) || !strings.HasSuffix(path, ".jsonl") {
			return nil
		}
		if file, err := os.Open(path); err == nil {
			l.heard.Files++
			eachLine(file, func(b []byte) { l.line(b, line) })
			file.Close()
		}
		return nil
	})
}

// line reads one line, if it may hold a call.
func (l *listener) line(b []byte, read func(gjson.Result)) {
	if bytes.Contains(b, []byte("mcp__")) && gjson.ValidBytes(b) {
		read(gjson.ParseBytes(b))
	}
}

// eachLine calls fn with the lines of r, but for those that are too long. They are
// good for the time of the call.
func eachLine(r io.Reader, fn func([]byte)) {
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for tooLong := false; ; {
		part, err := in.ReadSlice('\n')
		tooLong = tooLong || len(line)+len(part) > transcriptLine
		if !tooLong {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if !tooLong && len(line) > 0 {
			fn(line)
		}
		if err != nil {
			return
		}
		line, tooLong = line[:0], false
	}
}

// claude reads a line of Claude Code: the message of an assistant has tool_use
// blocks in its content.
func (l *listener) claude(line gjson.Result) {
	if line.Get("type").Str != "assistant" {
		return
	}
	at := saidAt(line)
	for _, block := range line.Get("message.content").Array() {
		if block.Get("type").Str == "tool_use" {
			l.call(block.Get("id").Str, at, block.Get("name").Str, block.Get("input"))
		}
	}
}

// codex reads a line of Codex: a response item, or in old files the item alone.
// A tool is named in one piece or by its namespace and its name; the arguments
// are the text of an object.
func (l *listener) codex(line gjson.Result) {
	item := line
	if line.Get("type").Str == "response_item" {
		item = line.Get("payload")
	}
	if item.Get("type").Str != "function_call" {
		return
	}
	name, space := item.Get("name").Str, item.Get("namespace").Str
	if space != "" && !strings.HasPrefix(name, "mcp__") {
		name = strings.TrimSuffix(space, "__") + "__" + name
	}
	var input gjson.Result
	if args := item.Get("arguments").Str; gjson.Valid(args) {
		input = gjson.Parse(args)
	}
	l.call(item.Get("call_id").Str, saidAt(line), name, input)
}

// saidAt is the time of a line, zero if it has none.
func saidAt(line gjson.Result) time.Time {
	at, _ := time.Parse(time.RFC3339, line.Get("timestamp").Str)
	return at
}

// call counts one call of a tool by the name that a host has for it. A call
// without a time may be one that the ledger has.
func (l *listener) call(id string, at time.Time, name string, input gjson.Result) {
	tool, ok := l.tool(name)
	if !ok || id != "" && l.seen[id] {
		return
	}
	if id != "" {
		l.seen[strings.Clone(id)] = true // without the line that it stands in
	}
	upstream, ok := l.upstream(tool)
	if !ok {
		switch strings.TrimPrefix(tool, fold(l.meta)) {
		case "discover", "describe":
			return
		case "call", "call_write":
			upstream, ok = l.upstream(cmp.Or(input.Get("tool").Str, input.Get("name").Str))
		}
	}
	switch {
	case !ok:
		l.heard.Unknown++
		return
	case at.IsZero() || !at.Before(l.since):
		l.heard.since[upstream]++
	default:
		l.heard.before[upstream]++
	}
	l.heard.Calls++
}

// tool is the name of a tool without what the host has put before it. It reports
// false for a tool of another server.
func (l *listener) tool(name string) (string, bool) {
	folded := fold(name)
	for _, prefix := range l.servers {
		if strings.HasPrefix(folded, prefix) {
			return string([]rune(name)[len(prefix):]), true
		}
	}
	return "", false
}

// upstream is the upstream's name of a tool: as the catalog has it, else as hosts
// bend it, if that leaves one tool.
func (l *listener) upstream(name string) (string, bool) {
	if t, ok := l.catalog.Lookup(name); ok {
		return t.Name, true
	}
	folded := fold(name)
	if full, ok := l.names[folded]; ok {
		return full, full != ""
	}
	return l.cut(folded)
}

// cutName is how long the rest of a name must be that a host has cut.
const cutName = 12

// cut is the only tool whose folded name begins as one does that a host has cut,
// with or without a hash in the place of the rest.
func (l *listener) cut(folded string) (found string, ok bool) {
	start := strings.TrimRight(folded, "0123456789abcdef")
	if len(folded)-len(start) < 8 {
		start = folded
	}
	if start = strings.TrimRight(start, "_"); len(start) < cutName {
		return "", false
	}
	for name, full := range l.names {
		if strings.HasPrefix(name, start) {
			if found != "" || full == "" {
				return "", false
			}
			found = full
		}
	}
	return found, found != ""
}

// foldedNames are the tools of a catalog by their folded names; "" where several
// have the same.
func foldedNames(c *catalog.Catalog) map[string]string {
	names := map[string]string{}
	for _, t := range c.Tools() {
		folded := fold(t.Name)
		if _, taken := names[folded]; taken {
			names[folded] = ""
		} else {
			names[folded] = t.Name
		}
	}
	return names
}

// fold is a name as hosts may have bent it: a byte for each character, lower case,
// "_" for what is neither a letter nor a digit.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, name)
}
