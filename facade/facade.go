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
	"mcp-facade/facade/ledger"
	"mcp-facade/facade/upstream"
	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// hostQueue is how many bytes of frames may wait for a host that does not read.
const hostQueue = 64 << 20

// drain is how long requests under way may still be answered after the host
// has closed its side, before the upstream is closed too.
const drain = 2 * time.Second

// stuck is how long a goroutine of ours may keep Run from returning.
const stuck = 10 * time.Second

// hurried is what is left of a wait once a signal has reached us.
const hurried = 300 * time.Millisecond

// A Dial opens a connection to the upstream and returns when its context ends.
// schema gives the inputSchema of a tool as the upstream lists it, nil where
// that is not known; it may be called while the connection lasts.
type Dial func(ctx context.Context, schema func(tool string) []byte) (upstream.Conn, error)

// A Renew gets another token for the upstream, which has said that it does not
// accept the one it was given last. After nil, what is sent or dialled has it.
type Renew func(ctx context.Context) error

// Options say which upstream a Facade serves, and how it is reached.
type Options struct {
	Server  *config.Server
	Unnamed bool // Server.Name stands in until the upstream has said its own
	Dial    Dial
	Renew   Renew          // nil: there is no other token than the one it was dialled with
	Remedy  string         // what a person can do when a new token is not accepted either
	Store   *catalog.Store // nil: nothing is cached on disk
	Lessons *catalog.Book  // nil: nothing is learnt from use
	Again   string         // how a person names this server to a subcommand; "": by Server.Name

	Accepted *catalog.Accepted // the tools as the user has accepted them; nil: nobody knows how

	Ledger  *ledger.Ledger  // nil: nothing is noted of the use of the tools; Run closes it
	Choice  *Choice         // which tools "auto" has chosen; nil: none, and none are
	Version string          // of this program, if it is a clean build; "": no stored rendering is trusted
	Log     *slog.Logger    // nil: nothing is logged
	Key     []byte          // the user's, by which another process knows a requestState of this one; nil: one of our own
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
	key []byte        // seals the requestStates of ours
	me  string        // tells this process from others that seal with the same key
	wg  sync.WaitGroup

	searches searches

	hostReady chan struct{}                       // closed when the host is initialized
	hostless  bool                                // nobody is there to answer the upstream
	named     atomic.Pointer[string]              // what the upstream calls itself, if that is to be used
	plainText atomic.Pointer[func(string) string] // upstream.Conn's Plain, of the last connection
	readEra   sync.Once                           // era is read from the disk
	memo      atomic.Pointer[memo]                // of the catalog that was used last; nil: none was
	drifted   sync.Once                           // it has been warned of
	met       atomic.Bool                         // the host was given its list of tools

	mu          sync.Mutex
	views       map[string]*view      // by key; guarded by mu, like all below
	current     *view                 // the legacy host's view, from its initialize
	era         string                // the upstream's, when known
	link        *link                 // the connection, live or being opened; nil: none
	toUp        map[string]*pending   // the requests of the host that have no answer yet, by wire.Key
	deciding    *view                 // a call waits for the catalog of this view; nil: none does
	behind      []wire.Message        // what the host has said after it
	behindSize  int                   // bytes in behind
	withdrawn   []*pending            // those of toUp that the host has cancelled, the oldest first
	fromUp      map[string]question   // what the host has to answer, by wire.Key
	estranged   map[string]bool       // the ids of what it need not answer any more, by wire.Key
	own         map[string]ownRequest // what the upstream has to answer to us, by wire.Key
	seq         int
	initialized []byte         // the host's notifications/initialized
	held        [][]byte       // frames for the host that wait for it
	level       []byte         // params of the host's last logging/setLevel
	subscribed  []subscription // the resources that the host follows, in its order
	listens     map[string]*listen
	closing     bool          // no connection is opened any more
	retired     []*link       // connections that are out of use and still answer what is under way
	renewals    int           // times that the token was renewed
	renewal     *renewal      // the one under way; nil: none is
	vain        time.Time     // when a new token was not accepted either
	tired       *tired        // the upstream has failed at its last starts; nil: it has not
	regained    int           // times that a connection was opened only because the host follows something
	leaving     chan struct{} // closed when the connection that nobody needed has ended; nil: there was none
	asking      int           // requests of the host that it waits for
	settled     chan struct{} // closed when asking reaches 0 after the host's end; nil before
	hinted      map[string]bool
	consents    map[string]*consent       // what we have asked the host, by wire.Key
	rounds      map[string]time.Time      // calls that the user has agreed to and the upstream asks more about, by digest: until when
	spent       map[string]time.Time      // answers of the user that have been taken: until when they are good
	repeats     map[repeatKey]*repetition // how often what was refused
}

// New returns a Facade for one upstream; nothing is started or contacted yet.
func New(o Options) *Facade {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	random := make([]byte, 4)
	rand.Read(random)
	f := &Facade{
		o:         o,
		log:       o.Log,
		tag:       "mcpf-" + hex.EncodeToString(random) + "-",
		end:       make(chan struct{}),
		hostReady: make(chan struct{}),
		views:     map[string]*view{},
		toUp:      map[string]*pending{},
		fromUp:    map[string]question{},
		estranged: map[string]bool{},
		own:       map[string]ownRequest{},
		listens:   map[string]*listen{},
		hinted:    map[string]bool{},
		key:       sealKey(o.Key, o.Server.Name),
		me:        rand.Text(),
		consents:  map[string]*consent{},
		rounds:    map[string]time.Time{},
		spent:     map[string]time.Time{},
		repeats:   map[repeatKey]*repetition{},
	}
	f.named.Store(&o.Server.Name)
	f.bye = sync.OnceFunc(func() { close(f.end) })
	return f
}

// Run serves the host that writes in and reads out until the host closes in,
// out breaks or ctx ends; then it closes the upstream and returns when nothing
// of it is left. Two goroutines may stay behind: the one that reads in ends
// with in, and one that is stuck in writing out ends with out.
func (f *Facade) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.out = wire.NewWriter(out, hostQueue)
	read := make(chan error, 1)
	go func() { read <- f.read(ctx, in) }()
	var err error
	select {
	case err = <-read:
		f.unattended()
		f.settle(ctx)
	case <-f.out.Done():
	case <-f.end:
	case <-ctx.Done():
	}
	chosen := f.chooseFirst(ctx) // a host may not wait for the upstream's end
	f.hangUp(ctx)
	cancel()
	f.flush()
	f.closeLedger(ctx, chosen)
	return err
}

// read hands each message of the host to handle, in order.
func (f *Facade) read(ctx context.Context, in io.Reader) error {
	r := wire.NewReader(in, func(line []byte, err error) { f.malformed(ctx, line, err) })
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !f.enter() {
			return nil
		}
		f.handle(ctx, m, nil)
		f.wg.Done()
	}
}

// enter makes Run wait for the goroutine that reads the host while that handles
// a message. It reports false when Run is about to end.
func (f *Facade) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closing {
		f.wg.Add(1)
	}
	return !f.closing
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

// flush waits for our goroutines and lets the host take what is queued, while
// it reads: one that does not must not keep us. A goroutine of ours that is
// stuck, in a file that does not answer, is left behind.
func (f *Facade) flush() {
	done := make(chan struct{})
	go func() { f.wg.Wait(); f.out.Close(); close(done) }()
	if !f.within(drain, done) {
		f.out.Abandon(io.ErrClosedPipe)
		f.within(stuck, done)
	}
}

// within reports whether done is closed before limit is over, of which little
// is left once a signal has reached us.
func (f *Facade) within(limit time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for hurry := f.o.Hurry; ; {
		select {
		case <-done:
			return true
		case <-hurry:
			hurry = nil
			timer.Reset(hurried)
		case <-timer.C:
			return false
		}
	}
}

// spawn runs fn in a goroutine that Run waits for. The caller is one of those,
// or within enter.
func (f *Facade) spawn(fn func()) { f.wg.Go(fn) }

// after runs fn when wait is over, unless over is closed or ctx ends before.
func (f *Facade) after(ctx context.Context, wait time.Duration, over <-chan struct{}, fn func()) {
	f.spawn(func() {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
			fn()
		case <-over:
		case <-ctx.Done():
		}
	})
}

// send queues a frame for the host.
func (f *Facade) send(frame []byte) {
	if err := f.out.Send(frame); err != nil {
		f.bye()
	}
}

// malformed answers what is no message, as JSON-RPC 2.0 §5.1 says.
func (f *Facade) malformed(ctx context.Context, line []byte, err error) {
	if errors.Is(err, wire.ErrBatch) {
		if f.enter() {
			f.batched(ctx, line)
			f.wg.Done()
		}
		return
	}
	f.log.Warn("frame of the host not understood", "err", err, "in", len(line))
	id := "null"
	frame := gjson.ParseBytes(line)
	said := frame.Get("id")
	if line[0] == '{' && frame.Get("method").Exists() && (said.Type == gjson.String || said.Type == gjson.Number) {
		id = said.Raw // that of an answer is the upstream's, and may be another request's of the host
	}
	switch {
	case errors.Is(err, wire.ErrUTF8):
	case errors.Is(err, wire.ErrNotJSON):
		f.send(wire.ErrorResponse("null", codeParse, "the frame is not JSON", nil))
	default:
		f.send(wire.ErrorResponse(id, codeInvalidRequest, err.Error(), nil))
	}
}

// JSON-RPC 2.0 §5.1 and MCP 2026-07-28, basic, "Error Codes".
const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeInternal           = -32603
	codeHeaderMismatch     = -32020
	codeUnsupportedVersion = -32022
)

// questionID makes the raw id of a question to the host, which no upstream can
// guess: one that knew it could ask something harmless under it, or take it back.
func questionID() string { return `"mcpf-` + rand.Text() + `"` }

// nextID makes the raw id of a request of our own to the upstream.
func (f *Facade) nextID() string {
	f.seq++
	return `"` + f.tag + strconv.Itoa(f.seq) + `"`
}
