package facade

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"mcp-facade/catalog"
	"mcp-facade/facade/config"
	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"
)

// hostQueue is how many bytes of frames may wait for a host that does not read.
const hostQueue = 64 << 20

// drain is how long requests under way may still be answered after the host
// has closed its side, before the upstream is closed too.
const drain = 2 * time.Second

// hurried is what is left of a wait once a signal has reached us.
const hurried = 300 * time.Millisecond

// Options say which upstream a Facade serves, and how it is reached.
type Options struct {
	Server  *config.Server
	Unnamed bool // Server.Name stands in until the upstream has said its own
	Dial    func(context.Context) (upstream.Conn, error)
	Store   *catalog.Store  // nil: nothing is cached on disk
	Version string          // of this program, if it is a clean build; "": no stored rendering is trusted
	Log     *slog.Logger    // nil: nothing is logged
	Hurry   <-chan struct{} // closed once a signal has reached us; nil: never
}

// A Facade serves one host from one upstream. New makes it, Run uses it up.
type Facade struct {
	o   Options
	log *slog.Logger
	out *wire.Writer  // to the host
	tag string        // what our own request ids begin with
	end chan struct{} // closed when the host does not take our frames any more
	bye func()        // closes end, once
	wg  sync.WaitGroup

	hostless bool                   // nobody is there to answer the upstream
	named    atomic.Pointer[string] // what the upstream calls itself, if that is to be used

	mu          sync.Mutex
	views       map[string]*view // by key; guarded by mu, like all below
	current     *view            // the legacy host's view, from its initialize
	era         string           // the upstream's, when known
	eraRead     bool
	link        *link                                // the connection, live or being opened; nil: none
	toUp        map[string]*pending                  // what the upstream has to answer, by wire.Key
	fromUp      map[string]question                  // what the host has to answer, by wire.Key
	own         map[string]func(wire.Message, error) // what the upstream has to answer to us
	seq         int
	initialized []byte            // the host's notifications/initialized
	held        [][]byte          // frames for the host that wait for it
	level       []byte            // params of the host's last logging/setLevel
	subscribed  map[string][]byte // params of the host's resources/subscribe, by URI
	listens     map[string]*listen
	closing     bool          // no connection is opened any more
	asking      int           // requests of the host that nobody has answered yet
	settled     chan struct{} // closed when asking reaches 0 after the host's end; nil before
	hinted      map[string]bool
}

// New returns a Facade for one upstream; nothing is started or contacted yet.
func New(o Options) *Facade {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	random := make([]byte, 4)
	rand.Read(random)
	f := &Facade{
		o:          o,
		log:        o.Log,
		tag:        "mcpf-" + hex.EncodeToString(random) + "-",
		end:        make(chan struct{}),
		views:      map[string]*view{},
		toUp:       map[string]*pending{},
		fromUp:     map[string]question{},
		own:        map[string]func(wire.Message, error){},
		subscribed: map[string][]byte{},
		listens:    map[string]*listen{},
		hinted:     map[string]bool{},
	}
	f.named.Store(&o.Server.Name)
	f.bye = sync.OnceFunc(func() { close(f.end) })
	return f
}

// Run serves the host that writes in and reads out until the host closes in,
// out breaks or ctx ends; then it closes the upstream and returns when nothing
// of it is left. The goroutine that reads in ends with in.
func (f *Facade) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.out = wire.NewWriter(out, hostQueue)
	read := make(chan error, 1)
	go func() { read <- f.read(ctx, in) }()
	var err error
	select {
	case err = <-read:
		f.settle(ctx)
	case <-f.end:
	case <-ctx.Done():
	}
	f.hangUp()
	cancel()
	f.wg.Wait()
	f.flush()
	return err
}

// read hands each message of the host to handle, in order.
func (f *Facade) read(ctx context.Context, in io.Reader) error {
	r := wire.NewReader(in, f.malformed)
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		f.handle(ctx, m)
	}
}

// settle waits until every request of the host is answered, for drain at most.
func (f *Facade) settle(ctx context.Context) {
	f.mu.Lock()
	settled := make(chan struct{})
	f.settled = settled
	if f.asking == 0 {
		close(settled)
		f.settled = nil
	}
	f.mu.Unlock()
	select {
	case <-settled:
	case <-time.After(drain):
	case <-f.end:
	case <-ctx.Done():
	}
}

// flush lets the host take what is queued, while it reads.
func (f *Facade) flush() {
	done := make(chan struct{})
	go func() { f.out.Close(); close(done) }()
	wait := drain
	select {
	case <-f.o.Hurry:
		wait = hurried
	default:
	}
	select {
	case <-done:
	case <-time.After(wait):
		f.out.Abandon(io.ErrClosedPipe)
		<-done
	}
}

// spawn runs fn in a goroutine that Run waits for.
func (f *Facade) spawn(fn func()) { f.wg.Go(fn) }

// send queues a frame for the host.
func (f *Facade) send(frame []byte) {
	if err := f.out.Send(frame); err != nil {
		f.bye()
	}
}

// accept notes that the host waits for an answer.
func (f *Facade) accept() {
	f.mu.Lock()
	f.asking++
	f.mu.Unlock()
}

// release notes that a request of the host has its answer, or wants none.
func (f *Facade) release() {
	f.mu.Lock()
	f.releaseLocked()
	f.mu.Unlock()
}

func (f *Facade) releaseLocked() {
	f.asking--
	if f.asking == 0 && f.settled != nil {
		close(f.settled)
		f.settled = nil
	}
}

// answer sends the host a response of ours to a request that accept counted.
func (f *Facade) answer(frame []byte) {
	f.send(frame)
	f.release()
}

// reply answers a request of the host by a raw result.
func (f *Facade) reply(m wire.Message, result []byte) { f.answer(wire.Response(m.ID.Raw, result)) }

// refuse answers a request of the host by an error.
func (f *Facade) refuse(m wire.Message, code int, text string) {
	f.answer(wire.ErrorResponse(m.ID.Raw, code, text, nil))
}

// malformed answers what is no message, as JSON-RPC 2.0 §5.1 says.
func (f *Facade) malformed(line []byte, err error) {
	f.log.Warn("frame of the host not understood", "err", err, "in", len(line))
	switch {
	case errors.Is(err, wire.ErrUTF8):
	case errors.Is(err, wire.ErrNotJSON):
		f.send(wire.ErrorResponse("null", codeParse, "the frame is not JSON", nil))
	default:
		f.send(wire.ErrorResponse("null", codeInvalidRequest, err.Error(), nil))
	}
}

// JSON-RPC 2.0 §5.1 and MCP 2026-07-28, basic, "Error Codes".
const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeInternal           = -32603
	codeUnsupportedVersion = -32022
)

// nextID makes the raw id of a request of our own.
func (f *Facade) nextID() string {
	f.seq++
	return `"` + f.tag + strconv.Itoa(f.seq) + `"`
}
