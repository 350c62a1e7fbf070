package main

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// logQueue is how many writes may wait for whoever reads stderr.
const logQueue = 1000

// logDrain is how long the last of them may take at the end.
const logDrain = 200 * time.Millisecond

// A logPipe writes to w from a goroutine of its own, so that nobody ever waits
// for a stderr that is not read: what does not fit is dropped, and counted. Its
// methods may be called concurrently.
type logPipe struct {
	w     io.Writer
	lines chan []byte
	done  chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	closed  bool // guarded by mu
	dropped int  // guarded by mu
}

func newLogPipe(w io.Writer) *logPipe {
	p := &logPipe{w: w, lines: make(chan []byte, logQueue), done: make(chan struct{})}
	go p.run()
	return p
}

func (p *logPipe) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return len(line), nil
	}
	if p.dropped > 0 {
		select {
		case p.lines <- fmt.Appendf(nil, "mcp-facade: %d lines of the log are lost: stderr was not read\n", p.dropped):
			p.dropped = 0
		default:
		}
	}
	select {
	case p.lines <- bytes.Clone(line):
	default:
		p.dropped++
	}
	return len(line), nil
}

func (p *logPipe) run() {
	defer close(p.done)
	for line := range p.lines {
		p.w.Write(line)
	}
}

// close lets what waits be written, while that goes on. A write that is stuck
// is left behind.
func (p *logPipe) close() {
	p.mu.Lock()
	p.closed = true
	close(p.lines)
	p.mu.Unlock()
	select {
	case <-p.done:
	case <-time.After(logDrain):
	}
}
