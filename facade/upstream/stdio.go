package upstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// A pace is how long the steps of an upstream's end last.
type pace struct {
	step    time.Duration // from closing stdin to the signal, and from the signal to the kill
	hurried time.Duration // step, once Target.Hurry is closed
	drain   time.Duration // how long output is read after the leader's exit
	last    time.Duration // how long a killed group may take to be gone
}

// usual is the pace that the package comment promises. A killed group is gone
// in milliseconds, unless the kernel holds it in a device or a dead mount.
func usual() pace {
	return pace{step: 2 * time.Second, hurried: 300 * time.Millisecond, drain: 300 * time.Millisecond, last: 5 * time.Second}
}

const (
	// sendLimit is how many bytes may wait in either direction: of frames
	// the upstream has not taken, and of messages nobody has received while
	// it is being closed.
	sendLimit = 64 << 20
	// readAhead is how many bytes of messages are read before they are
	// received. The upstream waits in its pipe then, as it would without us.
	readAhead = 1 << 20
	// pollEvery is how often a group whose leader has exited is looked at.
	pollEvery = 10 * time.Millisecond
)

// How an upstream can end beside exiting.
var (
	errOutputClosed = errors.New("closed its output")
	errInputClosed  = errors.New("closed its input")
)

// errNoInput is why a frame is not taken, if it is not for Close. Recv knows
// more.
var errNoInput = errors.New("it takes no more input")

// A stdio is the Conn to a process. Four goroutines belong to it beside the
// writer's: live, readOutput, readErrors and supervise, who ends the others.
type stdio struct {
	server string
	hurry  <-chan struct{}
	log    *slog.Logger
	debug  bool // whether log takes debug records: wording them costs
	heard  func(text string)
	pace   pace
	mask   *redactor

	group    *group
	in       *os.File // our ends of its pipes
	out      *os.File
	errs     *os.File
	writer   *wire.Writer
	inbox    *inbox
	tail     *tail
	closeErr error // set before done is closed

	warnBadText sync.Once
	ask         func()     // closes asked, once
	reason      chan error // why we end it, for conclude; holds one

	asked     chan struct{} // closed by Close
	deaf      chan struct{} // closed when a write to stdin has failed
	exited    chan struct{} // closed when the leader has exited
	outDone   chan struct{} // closed when stdout has been read to its end
	errDone   chan struct{} // closed when stderr has been read to its end
	concluded chan struct{} // closed when live has ended
	done      chan struct{} // closed when nothing is left
}

func dial(ctx context.Context, t Target, p pace) (*stdio, error) {
	mask := newRedactor(t.Secrets)
	if err := ctx.Err(); err != nil {
		return nil, &Error{Server: t.Server, Op: "start", Err: err}
	}
	cmd, err := program(t, mask)
	if err != nil {
		return nil, err
	}
	c := newStdio(ctx, t, p, mask)
	if err := c.start(cmd); err != nil {
		return nil, startError(t, mask, err)
	}
	c.log.Debug("start", "path", mask.line([]byte(cmd.Path)), "pid", c.group.pid)
	return c, nil
}

func newStdio(ctx context.Context, t Target, p pace, mask *redactor) *stdio {
	c := &stdio{
		server: t.Server, hurry: t.Hurry, log: t.Log, heard: t.Noise, pace: p, mask: mask,
		inbox: newInbox(readAhead), tail: &tail{},
		reason: make(chan error, 1), asked: make(chan struct{}), deaf: make(chan struct{}),
		exited: make(chan struct{}), outDone: make(chan struct{}), errDone: make(chan struct{}),
		concluded: make(chan struct{}), done: make(chan struct{}),
	}
	c.ask = sync.OnceFunc(func() { close(c.asked) })
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.debug = c.log.Enabled(ctx, slog.LevelDebug)
	return c
}

// start starts cmd with pipes of ours and the goroutines that go with it. The
// pipes are not left to os/exec: its Wait would stay until the last process
// that holds one has ended.
func (c *stdio) start(cmd *exec.Cmd) error {
	theirs, err := c.openPipes()
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	c.group = newGroup(cmd)
	started := make(chan error)
	go c.live(started)
	err = <-started
	closeAll(theirs)
	if err != nil {
		<-c.concluded
		closeAll([]*os.File{c.in, c.out, c.errs})
		return err
	}
	c.writer = wire.NewWriter(&stdin{file: c.in, failed: sync.OnceFunc(func() { close(c.deaf) })}, sendLimit)
	go c.readOutput()
	go c.readErrors()
	go c.supervise()
	return nil
}

// openPipes makes three pipes, keeps our ends and returns those of the child.
func (c *stdio) openPipes() (theirs []*os.File, err error) {
	var files []*os.File
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(files)
			return nil, err
		}
		files = append(files, r, w)
	}
	c.in, c.out, c.errs = files[1], files[2], files[4]
	return []*os.File{files[0], files[3], files[5]}, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// A stdin tells when it can no longer be written to.
type stdin struct {
	file   *os.File
	failed func()
}

func (s *stdin) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if err != nil {
		s.failed()
	}
	return n, err
}

// Plain implements Conn.
func (c *stdio) Plain(text string) string { return c.mask.clean([]byte(text)) }

// SyscallConn lets wire.Writer write without waiting.
func (s *stdin) SyscallConn() (syscall.RawConn, error) { return s.file.SyscallConn() }

func (c *stdio) Send(frame []byte) error {
	err := c.writer.Offer(frame)
	switch {
	case err == nil:
		return nil
	case err == wire.ErrFull:
		err = ErrFull
	case isClosed(c.asked):
		err = ErrClosed
	default:
		err = errNoInput // what the pipe says is not for people
	}
	return &Error{Server: c.server, Op: "send", Err: err}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (c *stdio) Recv() (wire.Message, error) { return c.inbox.take() }

func (c *stdio) Close() error {
	c.ask()
	<-c.done
	return c.closeErr
}

// live starts the process and stays until it has exited, on one thread: the
// parent-death signal of Linux is bound to the thread that started the child.
func (c *stdio) live(started chan<- error) {
	defer close(c.concluded)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.group.start()
	started <- err
	if err != nil {
		return
	}
	ending := c.group.wait()
	close(c.exited)
	c.conclude(ending)
}

// conclude reads what the process left in its pipes and tells Recv how it
// ended. It does not wait for leftovers of the group that hold the pipes.
func (c *stdio) conclude(ending error) {
	c.inbox.widen(math.MaxInt)
	late := time.AfterFunc(c.pace.drain, func() { closeAll([]*os.File{c.out, c.errs}) })
	defer late.Stop()
	<-c.outDone
	<-c.errDone
	closeAll([]*os.File{c.out, c.errs})
	select {
	case ending = <-c.reason:
	default:
	}
	c.inbox.end(c.obituary(ending))
}

// obituary says how the upstream ended, with its last words unless it was us.
func (c *stdio) obituary(ending error) *Error {
	if words := c.tail.words(c.mask); words != "" && ending != ErrClosed {
		ending = fmt.Errorf("%w; its last words: %s", ending, words)
	}
	return &Error{Server: c.server, Op: "run", Err: ending}
}

func (c *stdio) readOutput() {
	defer close(c.outDone)
	r := wire.NewReader(c.out, c.aside)
	for {
		m, err := r.Next()
		if err != nil {
			return
		}
		c.inbox.put(m)
	}
}

// aside takes what is no single message: a batch (MCP 2025-03-26) is several.
func (c *stdio) aside(line []byte, err error) {
	if !errors.Is(err, wire.ErrBatch) {
		c.noise(line, err)
		return
	}
	gjson.ParseBytes(line).ForEach(func(_, member gjson.Result) bool {
		messages, err := wire.Frames([]byte(member.Raw))
		for _, m := range messages {
			c.inbox.put(m)
		}
		if err != nil {
			c.noise([]byte(member.Raw), err)
		}
		return true
	})
}

// supervise waits for the upstream's end, or for Close, and leaves nothing of
// it behind.
func (c *stdio) supervise() {
	defer close(c.done)
	if why := c.attend(); why != nil {
		c.reason <- why
		if why == errOutputClosed {
			c.inbox.end(c.obituary(why))
		}
	}
	began := time.Now()
	c.closeErr = c.stop()
	c.log.Debug("stop", "pid", c.group.pid, "dur", time.Since(began))
}

// attend returns when the upstream is over, with the reason if it has not
// exited.
func (c *stdio) attend() (why error) {
	select {
	case <-c.exited:
		return nil
	case <-c.asked:
		return ErrClosed
	case <-c.outDone:
		why = errOutputClosed
	case <-c.deaf:
		why = errInputClosed
	}
	moment := time.NewTimer(c.pace.drain) // who exits closes his pipes just before
	defer moment.Stop()
	select {
	case <-c.exited:
		return nil
	case <-c.asked:
		return ErrClosed
	case <-moment.C:
		return why
	}
}

// stop takes the group through the steps until nothing of it is left.
func (c *stdio) stop() error {
	c.inbox.widen(sendLimit)
	c.hangUp()
	for _, act := range []func(){c.group.terminate, c.group.kill} {
		if c.gone() {
			break
		}
		act()
		c.within(c.pace.step, c.hurry, c.gone)
	}
	gone := c.within(c.pace.last, nil, c.gone)
	if c.hasExited() {
		c.group.reap()
		<-c.concluded
	}
	if gone {
		return nil
	}
	err := &Error{Server: c.server, Op: "close", Err: fmt.Errorf("process group %d was killed and is still there", c.group.pid)}
	c.inbox.end(err)
	return err
}

// hangUp closes stdin and waits one step for the leader to exit. What is
// queued is written first, if the upstream takes it within that step.
func (c *stdio) hangUp() {
	flushed := make(chan struct{})
	go c.flush(flushed)
	c.within(c.pace.step, c.hurry, c.hasExited)
	c.in.Close() // a write that waits ends here
	<-flushed
}

func (c *stdio) flush(flushed chan<- struct{}) {
	defer close(flushed)
	c.writer.Close()
	c.in.Close()
}

func (c *stdio) hasExited() bool { return isClosed(c.exited) }

func (c *stdio) gone() bool { return c.hasExited() && !c.group.left() }

// within waits until it is true, at most for one step, and reports whether it
// is. When hurry is closed, the step ends after the hurried time instead.
func (c *stdio) within(step time.Duration, hurry <-chan struct{}, it func() bool) bool {
	began := time.Now()
	end := time.NewTimer(step)
	defer end.Stop()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for exited := c.exited; !it(); {
		select {
		case <-exited:
			exited = nil
		case <-hurry:
			hurry = nil
			end.Reset(min(step, c.pace.hurried) - time.Since(began))
		case <-poll.C:
		case <-end.C:
			return it()
		}
	}
	return true
}
