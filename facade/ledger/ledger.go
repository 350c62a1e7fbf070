// Package ledger is the local record of the use of tools: one JSON line for
// each call, with sizes and times, never with arguments or results.
package ledger

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// How a tool was called, Record.Via.
const (
	Session  = "session"  // no call: a host was given its list of tools for the first time
	Direct   = "surface"  // by the tool's own name
	Call     = "call"     // by the meta-tool; "call_write" likewise
	Discover = "discover" // no tool of the upstream was called
	Describe = "describe"
)

// What came of it, Record.Outcome.
const (
	OK        = "ok"
	Failed    = "error"     // a result with isError, or a JSON-RPC error, of the upstream
	Refused   = "refused"   // by us: it was not sent
	Cancelled = "cancelled" // by the host
	Lost      = "lost"      // there was no answer: the upstream ended, or took too long
)

// A Record is one line.
type Record struct {
	Time    time.Time     `json:"time"`
	Session string        `json:"session"`        // random, one for each process that serves; "": the Ledger's own
	Via     string        `json:"via"`            // how it was called: one of the above
	Tool    string        `json:"tool,omitempty"` // the upstream's name
	In      int           `json:"in"`             // bytes of the arguments
	Out     int           `json:"out"`            // bytes of the result, or of the error in its place
	Dur     time.Duration `json:"-"`              // "us", whole microseconds
	Outcome string        `json:"outcome,omitempty"`
	Tokens  int           `json:"tokens,omitempty"`  // estimated, of arguments and result of discover and describe; of a session, of its list
	Found   []string      `json:"found,omitempty"`   // the tools that discover has shown
	Surface string        `json:"surface,omitempty"` // of a session: "meta" or "all"
	Tools   int           `json:"tools,omitempty"`   // of a session: how many it was shown
}

// What a line holds at most: of a name so many bytes, and so many names. What
// is longer is cut.
const (
	maxName  = 128
	maxFound = 32
)

// A batch is written flushAfter its first record has come, or when it has
// maxBatch records. Beyond maxQueue records that are not written, none is taken.
const (
	flushAfter = 250 * time.Millisecond
	maxBatch   = 256
	maxQueue   = 4096
)

// A Ledger writes the records of this process. Its methods may be called
// concurrently. A nil Ledger writes none.
type Ledger struct {
	path    string
	log     *slog.Logger
	session string
	full    chan struct{}      // has one when a batch is
	flush   chan chan struct{} // a writer closes what comes when it has written what is noted
	quit    chan struct{}      // closed when no record comes any more
	hurry   chan struct{}      // closed when nothing is waited for any more
	done    chan struct{}      // closed when the writer has ended
	lines   []byte             // the writer's

	mu      sync.Mutex
	queue   []noted     // what is not being written yet; guarded by mu, like all below
	timer   *time.Timer // ends the batch; nil: the writer was not started
	closed  bool
	missing int // records that are not in the file, or not yet
	warned  bool
}

// A noted record may be completed when it is written.
type noted struct {
	Record
	fill func(*Record) // nil: it is complete
}

// Path is the file below dir for a server of that name. Names that a file system
// may take for the same have files of their own.
func Path(dir, server string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, server)
	if plain == server && plain != "" && len(plain) <= maxFile {
		return filepath.Join(dir, plain+".jsonl")
	}
	sum := sha256.Sum256([]byte(server))
	return filepath.Join(dir, plain[:min(len(plain), maxFile)]+"-"+hex.EncodeToString(sum[:6])+".jsonl")
}

// maxFile is how much of a server's name the name of its file has, in bytes.
const maxFile = 64

// Open is the ledger in that file. Nothing is written or started before the
// first Add. A nil log is silent.
func Open(path string, log *slog.Logger) *Ledger {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Ledger{path: path, log: log, session: rand.Text()[:12],
		full: make(chan struct{}, 1), flush: make(chan chan struct{}), quit: make(chan struct{}), hurry: make(chan struct{}), done: make(chan struct{})}
}

// Add notes a record. It never waits.
func (l *Ledger) Add(r Record) { l.AddLater(r, nil) }

// AddLater notes a record that fill completes when it is written, in the
// goroutine that does that.
func (l *Ledger) AddLater(r Record, fill func(*Record)) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missing++
	if l.closed || len(l.queue) >= maxQueue {
		return
	}
	r.Tool = strings.Clone(r.Tool[:min(len(r.Tool), 2*maxName)]) // which may be a part of something large
	l.queue = append(l.queue, noted{r, fill})
	switch {
	case l.timer == nil:
		l.timer = time.NewTimer(flushAfter)
		go l.write(l.timer)
	case len(l.queue) == 1:
		l.timer.Reset(flushAfter)
	case len(l.queue) == maxBatch:
		select {
		case l.full <- struct{}{}:
		default:
		}
	}
}

// Close writes what is noted, and returns when it is written or ctx ends: then
// the writer, which may be stuck in a file, ends by itself.
func (l *Ledger) Close(ctx context.Context) {
	if l == nil {
		return
	}
	l.mu.Lock()
	started, again := l.timer != nil, l.closed
	l.closed = true
	l.mu.Unlock()
	if !started || again {
		return
	}
	close(l.quit)
	select {
	case <-l.done:
	case <-ctx.Done():
		close(l.hurry)
	}
	l.mu.Lock()
	missing := l.missing
	l.mu.Unlock()
	if missing > 0 {
		l.log.Warn("calls are missing in the ledger", "calls", missing, "path", l.path)
	}
}

// write writes batches until the ledger is closed.
func (l *Ledger) write(timer *time.Timer) {
	defer close(l.done)
	var batch []noted
	for last := false; !last; {
		var flushed chan struct{}
		select {
		case <-timer.C:
		case <-l.full:
		case flushed = <-l.flush:
		case <-l.quit:
			last = true
		}
		l.mu.Lock()
		batch, l.queue = l.queue, batch[:0]
		l.mu.Unlock()
		l.save(batch)
		clear(batch)
		if flushed != nil {
			close(flushed)
		}
	}
}

// save appends a batch to the file. What cannot be written is dropped: the use
// of tools must not depend on it.
func (l *Ledger) save(batch []noted) {
	if len(batch) == 0 {
		return
	}
	l.lines = l.lines[:0]
	for _, n := range batch {
		l.lines = l.appendLine(l.lines, n)
	}
	err := appendTo(l.path, l.lines, l.hurry)
	l.mu.Lock()
	level := slog.LevelWarn
	if err == nil {
		l.missing -= len(batch)
	} else if l.warned {
		level = slog.LevelDebug
	}
	l.warned = l.warned || err != nil
	l.mu.Unlock()
	if err == nil {
		return
	}
	l.log.Log(context.Background(), level, "the ledger is not written", "err", err)
}

// A Count is how often a tool was called.
type Count struct {
	Tool  string
	Calls int
}

// Reached reports whether a record is of a call of a tool that the upstream has
// answered. Whether one that was cancelled or lost was sent at all is not known.
func (r *Record) Reached() bool {
	return (r.Via == Direct || r.Via == Call) && (r.Outcome == OK || r.Outcome == Failed)
}

// Calls counts the calls that have reached the upstream by tool, the most called
// first.
func Calls(records []Record) (counts []Count) {
	at := map[string]int{}
	for _, r := range records {
		if r.Tool == "" || !r.Reached() {
			continue
		}
		i, known := at[r.Tool]
		if !known {
			i = len(counts)
			at[r.Tool] = i
			counts = append(counts, Count{Tool: r.Tool})
		}
		counts[i].Calls++
	}
	slices.SortFunc(counts, func(a, b Count) int {
		return cmp.Or(b.Calls-a.Calls, strings.Compare(a.Tool, b.Tool))
	})
	return counts
}
