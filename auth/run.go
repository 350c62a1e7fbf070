package auth

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	// commandLimit is how long a program may take to print a token.
	commandLimit = 30 * time.Second
	// leftOpen is how long its output is read on after it has ended: what it
	// leaves running, an agent for instance, may keep that open.
	leftOpen = 500 * time.Millisecond
	// maxOutput is how much it may print, in bytes.
	maxOutput = 64 << 10
	// keptErrors is how much is kept of what it writes to stderr, in bytes.
	keptErrors = 4 << 10
	// shownErrors is how much of that is shown, in bytes.
	shownErrors = 500
)

var errOutput = errors.New("too much output")

// run runs a program to its end and returns what it has printed. When ctx or its
// time is over, it is killed with all that it has started.
func (c *Command) run(ctx context.Context, argv []string, force bool) ([]byte, error) {
	path, err := c.find()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	out, errs := &head{limit: maxOutput, over: cancel}, &tail{limit: keptErrors}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args, cmd.Dir, cmd.Env = argv, c.dir, c.environment(force)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, errs, leftOpen
	asGroup(cmd)
	err = cmd.Run()
	said := c.said(errs.text, out.text)
	exit := new(exec.ExitError)
	switch {
	case out.full:
		return nil, c.fault(fmt.Sprintf("printed more than %d KiB", maxOutput>>10))
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, c.fault(fmt.Sprintf("printed no token in %v", c.limit) + said)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &exit):
		return nil, c.fault(ended(exit) + said)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, fmt.Errorf("%s: start: %w", c.name(), bare(err))
	case len(bytes.TrimSpace(out.text)) == 0:
		return nil, c.fault("printed nothing" + said)
	}
	return out.text, nil
}

// ended words how a program ended that did not succeed.
func ended(exit *exec.ExitError) string {
	if code := exit.ExitCode(); code >= 0 {
		return fmt.Sprintf("exited with status %d", code)
	}
	return "ended by " + exit.Error()
}

// environment is that of the program: ours, without what is for us alone.
func (c *Command) environment(force bool) []string {
	env := slices.DeleteFunc(slices.Clone(c.environ), func(kv string) bool {
		return strings.HasPrefix(strings.ToUpper(kv), "MCP_FACADE_")
	})
	if force {
		env = append(env, forceVar+"=1")
	}
	return env
}

// find is the program's file. As for an upstream, no directory of PATH counts
// that begins at the current one.
func (c *Command) find() (string, error) {
	name, err := c.argv[0], exec.ErrNotFound
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(c.dir, name)
		}
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("%s: %w", c.name(), bare(err))
		}
		return path, nil
	}
	places := filepath.SplitList(variable(c.environ, "PATH"))
	for _, dir := range append(places, c.fallback) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path, e := exec.LookPath(filepath.Join(dir, name))
		if e == nil {
			return path, nil
		}
		if errors.Is(e, fs.ErrPermission) {
			err = bare(e)
		}
	}
	where := "$PATH"
	if c.fallback != "" {
		where += " and " + c.fallback
	}
	return "", fmt.Errorf("%s in %s: %w", c.name(), where, err)
}

// variable is the value of a variable; of several the last one counts.
func variable(environ []string, name string) (value string) {
	for _, kv := range environ {
		k, v, _ := strings.Cut(kv, "=")
		if k == name || runtime.GOOS == "windows" && strings.EqualFold(k, name) {
			value = v
		}
	}
	return value
}

// bare is what the system said, without the act and the path.
func bare(err error) error {
	if ee := new(exec.Error); errors.As(err, &ee) {
		err = ee.Err
	}
	if pe := new(fs.PathError); errors.As(err, &pe) {
		err = pe.Err
	}
	return err
}

// said is the end of what a program has written to stderr, for an error: one
// harmless line without what is or may be a secret.
func (c *Command) said(errs, out []byte) string {
	text := strings.ToValidUTF8(string(errs), "\uFFFD")
	all := c.secrets(out)
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, s := range all {
		if len(s) >= 4 {
			text = strings.ReplaceAll(text, s, redacted)
		}
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
	for i, w := range words {
		words[i] = hushed(w)
	}
	text = strings.Join(words, " ")
	if len(text) > shownErrors {
		text = "…" + strings.ToValidUTF8(text[len(text)-shownErrors:], "")
	}
	if text == "" {
		return ""
	}
	return ": " + text
}

// mayBeSecret is from how many bytes on a word may be a token.
const mayBeSecret = 16

// hushed is a word without what may be a secret in it: long, of letters and
// digits, and no path.
func hushed(word string) string {
	part := func(r rune) bool { return strings.ContainsRune(`"'=:,;()[]<>`, r) }
	for _, p := range strings.FieldsFunc(word, part) {
		letters := strings.ContainsFunc(p, unicode.IsLetter)
		digits := strings.ContainsAny(p, "0123456789")
		if len(p) >= mayBeSecret && letters && digits && !strings.ContainsAny(p[:1], `/\.~`) {
			word = strings.ReplaceAll(word, p, redacted)
		}
	}
	return word
}

// A head keeps what is written, up to a limit; more is over.
type head struct {
	limit int
	over  func()
	text  []byte
	full  bool
}

func (h *head) Write(p []byte) (int, error) {
	if len(h.text)+len(p) > h.limit {
		h.full = true
		h.over()
		return 0, errOutput
	}
	h.text = append(h.text, p...)
	return len(p), nil
}

// A tail keeps the end of what is written.
type tail struct {
	limit int
	text  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if over := len(t.text) - t.limit; over > 0 {
		t.text = slices.Delete(t.text, 0, over)
	}
	return len(p), nil
}
