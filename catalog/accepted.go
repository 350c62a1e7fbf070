package catalog

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-facade/files"

	"github.com/tidwall/gjson"
)

// Accepted is the file of an upstream's tools as its user has accepted them. Its
// methods may be called concurrently, and several processes may share the file.
type Accepted struct {
	path     string
	inherits bool // from the server of that name, while nothing is accepted
}

// OpenAccepted is that file, which is made with the first acceptance, for us
// alone, in a folder of its own.
func OpenAccepted(path string) *Accepted { return &Accepted{path: path} }

// OpenInherited is OpenAccepted in an [IdentityDir]: until something is accepted
// there, the newest file of the server of that name counts, whatever its identity
// was. A new token, version or address is no reason to believe what is listed.
func OpenInherited(path string) *Accepted { return &Accepted{path, true} }

// Revision names what is accepted: it is another one after each acceptance of
// other tools, and "" while nothing is accepted. Little is read for it.
func (a *Accepted) Revision() (string, error) {
	f, _, err := a.open()
	if f == nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, len(acceptedHead)+2*sha256.Size+1)
	if _, err := io.ReadFull(f, head); err != nil {
		return "", damaged(f.Name())
	}
	return revisionIn(f.Name(), head)
}

// IsEmpty reports whether nothing is accepted yet; true of nil.
func (a *Accepted) IsEmpty() bool {
	if a == nil {
		return true
	}
	revision, err := a.Revision()
	return revision == "" && err == nil
}

// Load is what is accepted; nil, without an error, while nothing is. A file that
// is damaged, or that others could have written, is an error that names it.
func (a *Accepted) Load() (*Acceptance, error) {
	f, inherited, err := a.open()
	if f == nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxAccepted+1))
	if err != nil {
		return nil, err
	}
	is, err := parseAccepted(f.Name(), data)
	if err != nil {
		return nil, err
	}
	is.Inherited = inherited
	return is, nil
}

// First accepts tools if nothing is accepted yet, and returns what is accepted
// then. Another process that writes is waited for, one second at most, unless ctx
// ends.
func (a *Accepted) First(ctx context.Context, tools []Tool) (*Acceptance, error) {
	return a.join(ctx, func(is *Acceptance) []Tool {
		if is != nil {
			return nil
		}
		return tools
	})
}

// Add accepts those tools of whose name nothing is accepted yet, beside what is,
// and returns that. It waits as First does.
func (a *Accepted) Add(ctx context.Context, tools []Tool) (*Acceptance, error) {
	return a.join(ctx, func(is *Acceptance) []Tool {
		return slices.DeleteFunc(slices.Clone(tools), func(t Tool) bool { return is.Forms(t.Name) != nil })
	})
}

// join accepts some tools beside those that are accepted.
func (a *Accepted) join(ctx context.Context, which func(*Acceptance) []Tool) (is *Acceptance, err error) {
	err = a.locked(ctx, func() error {
		if is, err = a.Load(); err != nil {
			return err
		}
		more := which(is)
		if len(more) == 0 {
			return nil
		}
		if err := a.write(append(is.Tools(), more...)); err != nil {
			return err
		}
		is, err = a.Load()
		return err
	})
	return is, err
}

// Accept accepts these tools, several of one name too, and nothing else. It waits
// as First does.
func (a *Accepted) Accept(ctx context.Context, tools []Tool) error {
	return a.locked(ctx, func() error { return a.write(tools) })
}

// locked runs fn while no other process writes.
func (a *Accepted) locked(ctx context.Context, fn func() error) error {
	dir := filepath.Dir(a.path)
	err := files.MakeDir(dir)
	if err != nil {
		return fmt.Errorf("keep what is accepted: %w", err)
	}
	unlock, err := lockDir(dir, ctx.Done())
	if errors.Is(err, errStopped) {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("keep what is accepted: %w", err)
	}
	defer unlock()
	return fn()
}

// open opens the file, or the one that is inherited; nil, without an error, if
// there is neither.
func (a *Accepted) open() (f *os.File, inherited bool, err error) {
	f, err = openAccepted(a.path)
	if f != nil || err != nil || !a.inherits {
		return f, false, err
	}
	path, err := a.ancestor()
	if path == "" {
		return nil, false, err
	}
	f, err = openAccepted(path)
	return f, true, err
}

// openAccepted opens a file of that kind; nil, without an error, if there is none.
func openAccepted(path string) (*os.File, error) {
	err := files.CheckDir(filepath.Dir(path))
	if err == nil {
		f, _, failed := files.Open(path)
		if failed == nil {
			return f, nil
		}
		err = failed
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return nil, err
}

// ancestor is the newest file of the server's other identities, "" if there is
// none.
func (a *Accepted) ancestor() (path string, err error) {
	dir, name := filepath.Split(a.path)
	root, own := filepath.Split(filepath.Clean(dir))
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	var newest time.Time
	for _, entry := range entries {
		other := filepath.Join(root, entry.Name(), name)
		if !sameServer(entry.Name(), own) {
			continue
		}
		if info, err := os.Lstat(other); err == nil && info.ModTime().After(newest) {
			path, newest = other, info.ModTime()
		}
	}
	return path, err
}

// The file begins with acceptedHead and the revision, the SHA-256 of all that
// follows on the next lines: a tool each, as it was listed, of which only what is
// heeded is kept.
const (
	acceptedHead = "mcp-facade accepted 1 "
	maxAccepted  = 128 << 20
)

func damaged(path string) error {
	return fmt.Errorf("%s holds no accepted tools that this version reads: it is damaged, or another version's", path)
}

// revisionIn reads the first line of the file.
func revisionIn(path string, data []byte) (string, error) {
	line, _, whole := bytes.Cut(data, []byte("\n"))
	sum, ours := bytes.CutPrefix(line, []byte(acceptedHead))
	if !whole || !ours || len(sum) != 2*sha256.Size {
		return "", damaged(path)
	}
	return string(sum), nil
}

func parseAccepted(path string, data []byte) (*Acceptance, error) {
	revision, err := revisionIn(path, data)
	if err != nil {
		return nil, err
	}
	_, body, _ := bytes.Cut(data, []byte("\n"))
	if len(data) > maxAccepted || checksum(body) != revision {
		return nil, damaged(path)
	}
	is := &Acceptance{Revision: revision, forms: map[string][]Tool{}}
	for line := range bytes.Lines(body) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		v := gjson.ParseBytes(line)
		if !gjson.ValidBytes(line) || !v.IsObject() {
			return nil, damaged(path)
		}
		is.add(parseTool(line, v))
	}
	return is, nil
}

func (a *Accepted) write(tools []Tool) error {
	is := Acceptance{forms: map[string][]Tool{}}
	var body []byte
	for _, t := range tools {
		if is.add(t) {
			body = append(appendHeeded(body, t.Raw), '\n')
		}
	}
	if len(body) > maxAccepted-len(acceptedHead)-2*sha256.Size-1 {
		return fmt.Errorf("keep what is accepted: %d MB of tools are too much", len(body)>>20)
	}
	err := files.Replace(a.path, func(w io.Writer) error {
		out := bufio.NewWriter(w)
		fmt.Fprintf(out, "%s%s\n", acceptedHead, checksum(body))
		out.Write(body)
		return out.Flush()
	}, nil)
	if err != nil {
		return fmt.Errorf("keep what is accepted: %w", err)
	}
	return nil
}

func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// appendHeeded appends what is heeded of a tool, on one line: within JSON a line
// break is white space.
func appendHeeded(b []byte, raw []byte) []byte {
	from := len(b)
	b = append(b, '{')
	gjson.ParseBytes(raw).ForEach(func(key, v gjson.Result) bool {
		if PartOf(key.Str) != "" || key.Str == "name" {
			b = append(append(append(append(b, key.Raw...), ':'), v.Raw...), ',')
		}
		return true
	})
	b = append(bytes.TrimSuffix(b, []byte(",")), '}')
	for i := from; i < len(b); i++ {
		if b[i] == '\n' || b[i] == '\r' {
			b[i] = ' '
		}
	}
	return b
}

// An Acceptance is what the user has accepted of an upstream's tools. What it
// lists to different hosts may differ, so a tool may have several forms. A nil
// one has none.
type Acceptance struct {
	Revision  string
	Inherited bool              // it is of the server under another identity
	forms     map[string][]Tool // by name
}

// add keeps a form of a tool, unless it is there already.
func (is *Acceptance) add(t Tool) bool {
	known := slices.ContainsFunc(is.forms[t.Name], func(was Tool) bool { return Differences(was, t) == nil && Differences(t, was) == nil })
	if !known {
		is.forms[t.Name] = append(is.forms[t.Name], t)
	}
	return !known
}

// Forms are what is accepted of the tool of exactly that name.
func (is *Acceptance) Forms(name string) []Tool {
	if is == nil {
		return nil
	}
	return is.forms[name]
}

// Tools are all forms of all tools, by name.
func (is *Acceptance) Tools() (all []Tool) {
	if is == nil {
		return nil
	}
	for _, forms := range is.forms {
		all = append(all, forms...)
	}
	slices.SortStableFunc(all, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Nearest is the form that is most like a tool as it is listed, and the parts in
// which that differs: none if it is accepted. Without any form it is not known.
func (is *Acceptance) Nearest(t Tool) (was Tool, parts []Part, known bool) {
	forms := is.Forms(t.Name)
	if len(forms) == 0 {
		return Tool{}, nil, false
	}
	t.Raw = appendHeeded(nil, t.Raw) // most upstreams write the same each time
	for i, form := range forms {
		differ := Differences(form, t)
		if i == 0 || len(differ) < len(parts) {
			was, parts = form, differ
		}
	}
	return was, parts, true
}
