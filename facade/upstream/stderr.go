package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

const (
	// tailSize is how many bytes of stderr are kept for the error that needs
	// them.
	tailSize = 64 << 10
	// At most lastLines lines and lastBytes bytes of it are shown.
	lastLines = 5
	lastBytes = 500
	// errorLines is how many lines are looked at for the one that names the
	// error.
	errorLines = 100
	// maxLine is how many bytes of a line are looked at for the log.
	maxLine = 4 << 10
	// maxNoise is how many bytes of a stray line of stdout are logged.
	maxNoise = 500
)

// A tail keeps the last bytes of what is written to it. Its methods may be
// called concurrently.
type tail struct {
	mu  sync.Mutex
	buf []byte // guarded by mu
	cut bool   // whether bytes before buf were dropped; guarded by mu
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*tailSize {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-tailSize:]...)
		t.cut = true
	}
	return len(p), nil
}

// words returns the last lines, without secrets and harmless, in one line. If
// the line that names the error stands before them, it comes first.
func (t *tail) words(mask *redactor) string {
	t.mu.Lock()
	raw, cut := bytes.Clone(t.buf), t.cut
	t.mu.Unlock()
	raw = mask.hide(raw, cut, !bytes.HasSuffix(raw, []byte("\n")))
	var lines []string
	for len(raw) > 0 && len(lines) < errorLines {
		i := bytes.LastIndexAny(raw, "\r\n")
		if line := mask.clean(raw[i+1:]); telling(line) {
			lines = append(lines, line)
		}
		raw = raw[:max(i, 0)]
	}
	slices.Reverse(lines)
	if len(lines) <= lastLines {
		return lastOf(strings.Join(lines, " | "), lastBytes)
	}
	earlier, last := lines[:len(lines)-lastLines], lines[len(lines)-lastLines:]
	i := slices.IndexFunc(earlier, namesError)
	if i < 0 || slices.ContainsFunc(last, namesError) {
		return lastOf(strings.Join(last, " | "), lastBytes)
	}
	first := firstOf(earlier[i], lastBytes/2)
	return first + " | " + lastOf(strings.Join(last[1:], " | "), lastBytes-len(first)-len(" | "))
}

// telling reports whether a line has words, and is not a step of a stack trace.
func telling(line string) bool {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return strings.ContainsFunc(line, word) && !strings.HasPrefix(line, "at ")
}

// namesError reports whether a line is the one that says what is wrong, as in
// "Error: …", "ValueError: …" or "fatal error: …".
func namesError(line string) bool { return strings.Contains(strings.ToLower(line), "error: ") }

// lastOf returns the end of s in at most n bytes.
func lastOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n+len("…"):]
	for !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return "…" + s
}

// firstOf returns the beginning of s in at most n bytes.
func firstOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

func (c *stdio) readErrors() {
	defer close(c.errDone)
	log := &lineLog{emit: c.logStderr}
	defer log.flush()
	buf := make([]byte, 4<<10)
	for {
		n, err := c.errs.Read(buf)
		c.tail.Write(buf[:n])
		log.write(buf[:n])
		if err != nil {
			return
		}
	}
}

// A lineLog gives lines to emit, the beginning of those that are too long.
type lineLog struct {
	emit func(line []byte, cut bool)
	line []byte
	cut  bool // whether line has lost its end
}

func (l *lineLog) write(p []byte) {
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		l.add(line)
		if ended {
			l.flush()
		}
		p = rest
	}
}

func (l *lineLog) add(p []byte) {
	n := min(len(p), maxLine-len(l.line))
	l.line = append(l.line, p[:n]...)
	l.cut = l.cut || n < len(p)
}

func (l *lineLog) flush() {
	if len(l.line) > 0 {
		l.emit(l.line, l.cut)
	}
	l.line, l.cut = l.line[:0], false
}

func (c *stdio) logStderr(line []byte, cut bool) {
	if c.debug {
		c.log.Debug("stderr", "text", c.mask.clean(c.mask.hide(line, false, cut)))
	}
}

// unreadable fails the request that an answer is for which is no message:
// somebody waits for it. Of a text that is no JSON it must be sure that it is an
// answer, and that its id is whole: one that was cut is another request's.
func (c *stdio) unreadable(line []byte, why error) bool {
	a := gjson.ParseBytes(line)
	id := a.Get("id")
	if !a.IsObject() || id.Type != gjson.String && id.Type != gjson.Number || a.Get("method").Exists() {
		return false
	}
	answers := a.Get("result").Exists() || a.Get("error").Exists()
	if errors.Is(why, wire.ErrNotJSON) && (!answers || id.Index+len(id.Raw) == len(line)) {
		return false
	}
	c.inbox.fail(&Failure{Key: wire.Key(id), Err: &Error{Server: c.server, Op: "read", Err: fmt.Errorf("the answer could not be read: %w", why)}})
	return true
}

// noise logs what wire.Reader could not take as it was. A frame that is lost or
// changed is worth a warning, without its text; an upstream that writes another
// encoding changes many, so only the first of those.
func (c *stdio) noise(line []byte, err error) {
	switch {
	case errors.Is(err, wire.ErrUTF8):
		c.warnBadText.Do(func() { c.log.Warn("replaced bytes of a frame", "err", err, "in", len(line)) })
	case c.unreadable(line, err):
		c.log.Warn("an answer could not be read", "err", err, "in", len(line))
	case errors.Is(err, wire.ErrTooLarge):
		c.log.Warn("dropped a frame", "err", err)
	case c.debug || c.heard != nil:
		cut := len(line) > maxLine
		text := firstOf(c.mask.clean(c.mask.hide(line[:min(len(line), maxLine)], false, cut)), maxNoise)
		c.log.Debug("noise on stdout", "err", err, "in", len(line), "text", text)
		if c.heard != nil {
			c.heard(text)
		}
	}
}
