package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"mcp-facade/files"

	"github.com/tidwall/gjson"
)

// A Choice is the file that keeps which tools were chosen by the ledger, so that
// what a host is shown stays as it is while the ledger grows. Its methods may be
// called concurrently, and several processes may share the file. A nil Choice
// has no tools and keeps none.
type Choice struct {
	path string

	mu    sync.Mutex
	tools []string // guarded by mu
	read  bool     // the file has been read; guarded by mu
}

// What the file holds: a version, and at most so many tools in so many bytes.
const (
	choiceVersion = 1
	maxChoice     = 256
	maxChoiceSize = 64 << 10
)

// OpenChoice is the choice in that file, which is read when it is first needed.
func OpenChoice(path string) *Choice { return &Choice{path: path} }

// Anew is the choice as a process that starts now finds it.
func (c *Choice) Anew() *Choice { return OpenChoice(c.path) }

// Tools are those that the file had when this process first looked, or that this
// process has put there, in order. A file that is damaged, or that others could
// have written, has none.
func (c *Choice) Tools() []string {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.read {
		c.tools, c.read = c.load(), true
	}
	return c.tools
}

// Save puts tools in the place of those in the file.
func (c *Choice) Save(ctx context.Context, tools []string) error {
	return c.Change(ctx, func([]string) []string { return tools })
}

// Change puts what choose makes of the tools in the file into their place, while
// no other process can. It waits for one that has the file until ctx ends.
func (c *Choice) Change(ctx context.Context, choose func(now []string) []string) error {
	if c == nil {
		return nil
	}
	if err := c.change(ctx, choose); err != nil {
		return fmt.Errorf("keep the chosen tools: %w", err)
	}
	return nil
}

func (c *Choice) change(ctx context.Context, choose func([]string) []string) error {
	if err := files.MakeDir(filepath.Dir(c.path)); err != nil {
		return err
	}
	unlock, err := lock(c.path, ctx.Done(), false)
	if err != nil {
		return err
	}
	defer unlock()
	now := c.load()
	tools := keepable(choose(slices.Clone(now)))
	if !slices.Equal(tools, now) {
		if err := c.write(tools); err != nil {
			return err
		}
	}
	c.mu.Lock()
	c.tools, c.read = tools, true
	c.mu.Unlock()
	return nil
}

// keepable are the tools of which the file may hold the names.
func keepable(tools []string) (kept []string) {
	for _, t := range tools {
		if t != "" && len(t) <= maxName && utf8.ValidString(t) && len(kept) < maxChoice && !slices.Contains(kept, t) {
			kept = append(kept, t)
		}
	}
	return kept
}

// load reads the file: no tools if it is not whole, or not ours.
func (c *Choice) load() (tools []string) {
	if files.CheckDir(filepath.Dir(c.path)) != nil {
		return nil
	}
	text, err := readFile(c.path, maxChoiceSize+1)
	if err != nil || len(text) > maxChoiceSize || !gjson.ValidBytes(text) {
		return nil
	}
	choice := gjson.ParseBytes(text)
	list := choice.Get("tools")
	if choice.Get("version").Int() != choiceVersion || !list.IsArray() {
		return nil
	}
	for _, t := range list.Array() {
		if t.Type != gjson.String {
			return nil
		}
		tools = append(tools, t.Str)
	}
	if len(keepable(tools)) != len(tools) {
		return nil
	}
	return tools
}

// write replaces the file at once, for us alone.
func (c *Choice) write(tools []string) error {
	text, err := json.Marshal(map[string]any{
		"version": choiceVersion, "chosen": time.Now().UTC().Truncate(time.Second), "tools": tools})
	if err != nil {
		return err
	}
	return files.Replace(c.path, func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err }, nil)
}
