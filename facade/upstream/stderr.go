package upstream

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"mcp-facade/facade/wire"
)

const (
	// tailSize is how many bytes of stderr are kept for the error that needs
	// them.
	tailSize = 64 << 10
	// At most lastLines lines and lastBytes bytes of it are shown.
	lastLines = 5
	lastBytes = 500
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

// words returns the last lines, without secrets and harmless, in one line.
func (t *tail) words(mask *redactor) string {
	t.mu.Lock()
	raw, cut := bytes.Clone(t.buf), t.cut
	t.mu.Unlock()
	raw = mask.hide(raw, cut, !bytes.HasSuffix(raw, []byte("\n")))
	var lines []string
	for len(raw) > 0 && len(lines) < lastLines {
		i := bytes.LastIndexAny(raw, "\r\n")
		if line := mask.clean(raw[i+1:]); line != "" {
			lines = append(lines, line)
		}
		raw = raw[:max(i, 0)]
	}
	slices.Reverse(lines)
	return lastOf(strings.Join(lines, " | "), lastBytes)
}

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
	if c.debugs() {
		c.log.Debug("stderr", "text", c.mask.clean(c.mask.hide(line, false, cut)))
	}
}

// noise logs a line of stdout that is not a message. A message that is lost or
// changed is worth a warning, the first of a kind that an upstream may repeat
// with each.
func (c *stdio) noise(line []byte, err error) {
	if errors.Is(err, wire.ErrTooLarge) || errors.Is(err, wire.ErrUTF8) && !c.badText {
		c.log.Warn("bad frame", "err", err, "in", len(line))
		c.badText = c.badText || errors.Is(err, wire.ErrUTF8)
		return
	}
	if c.debugs() {
		cut := len(line) > maxLine
		text := c.mask.clean(c.mask.hide(line[:min(len(line), maxLine)], false, cut))
		c.log.Debug("noise on stdout", "err", err, "in", len(line), "text", firstOf(text, maxNoise))
	}
}

// debugs reports whether the work of wording a debug record is worth it.
func (c *stdio) debugs() bool { return c.log.Enabled(context.Background(), slog.LevelDebug) }
