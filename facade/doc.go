// Package facade is the hub: what a host talks to in place of an MCP server.
//
// # The life of a call
//
// The host writes a line; [wire.Reader] makes a [wire.Message] of it, which is
// the line and where its members are. [Facade.Run] hands each to handle
// (relay.go), in order, in one goroutine that never waits for the upstream.
//
// What we can answer ourselves is answered there: the handshake (handshake.go)
// and the lists (surface.go) from the disk cache, discover and describe
// (discover.go, describe.go) from the catalog. Everything else is forwarded as
// it is. A tools/call gets the tool's own name first (call.go), and for the
// meta-tool call also the tool's arguments, which models send in many forms
// (order.go); guard.go is asked once, and the user may be: by a question to the
// host (consent.go), or in the modern era by the result (round.go), without which
// nothing goes on. Then submit (relay.go) notes the call as pending
// and hands it to the connection (link.go), which is dialled and opened at the
// first need, by a goroutine of its own, with the host's own initialize. What
// comes meanwhile waits in the link's backlog, in order. A call that is in doubt
// by the catalog waits until that is confirmed, and what the host says after it
// waits behind it (inTurn).
//
// On the way back pump (relay.go) takes each line of the upstream: an answer
// goes to the host as it is, with its own id; so does a request or a
// notification, but for the few of DESIGN's table. Over HTTP one request may
// fail alone, or be sent again in a new session (failure.go); so may a call take
// too long (patience.go). One that says that our token is not accepted
// (denial.go) may be sent once more with another (renew.go). The answer to a call
// also teaches that the searches which have shown its tool were for it
// (searches.go). When the upstream ends, lost (link.go) tells everybody who waits
// how, and the next request starts it anew: after a while, if it has ended at
// every start (restart.go). One that nobody needs may rest (idle.go).
//
// What the upstream lists is a [catalog.Catalog], held by a view: what one
// opening of a host (era, version, capabilities) makes of the upstream. Each
// dial and each list_changed lists it anew (refresh.go); the host is told only
// if its surface has changed.
//
// # What imports what
//
// A test compares this drawing with the code.
//
//	main            → auth catalog compact facade facade/config facade/demo facade/hosts facade/ledger facade/upstream facade/wire files
//	facade          → catalog compact facade/config facade/ledger facade/upstream facade/wire
//	auth            → files
//	catalog         → compact files
//	facade/upstream → facade/wire
//	facade/demo     → facade/wire
//	compact         →
//	files           →
//	facade/config   → facade/jsonc files
//	facade/hosts    → facade/config facade/jsonc files
//	facade/jsonc    →
//	facade/ledger   → files
//	facade/wire     →
package facade
