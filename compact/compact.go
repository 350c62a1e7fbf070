// Package compact makes the text a model pays for smaller, so that a host can
// show an upstream's tools for fewer tokens and the upstream still gets the
// calls it would have got.
//
// Everything here is a pure function on bytes: no clock, no log, no I/O, and
// nothing shared between calls, so all of it may be called concurrently. What
// is not understood is copied: key order, number forms and escapes of whatever
// is kept are the author's, and input that is no JSON object comes back as it
// is. White space outside strings may go.
//
// What holds for every input: the result is never longer in characters,
// compacting it again changes nothing, and names are never taken for keywords,
// nor data (the values of enum, const, default and examples) for schemas. A
// valid schema stays one and accepts whatever it accepted before; except under
// the level tight it accepts nothing else.
package compact

import "slices"

// Options say how much Schema and Tool may take away. The zero value is the
// level standard with nothing kept.
type Options struct {
	// Level is one of these. Each takes away all that the one before it does.
	//
	//	"off"       nothing is touched
	//	"lossless"  $comment and x-mcp-header are dropped, and $schema where
	//	            no keyword means something else without it; definitions
	//	            that nothing refers to are dropped, and those with a single
	//	            reference to them are written in its place
	//	"standard"  descriptions become their first sentence; examples and
	//	            default are dropped, a short scalar default lives on at the
	//	            end of its description
	//	"tight"     of an optional property only type, enum, const, the type of
	//	            its items and 60 characters of the description are left; of
	//	            an object not its properties; references are resolved for
	//	            that, and unions become unions of such types
	//
	// "" and any other level are taken for "standard". Definitions stay as they
	// are, and only texts are cut, in a schema with references to anything but
	// its own $defs or definitions, with an identifier or an anchor.
	Level string

	// Keep names keywords that stay as they are: dropped ones ("default",
	// "examples", "$defs", …), "description", and "outputSchema" and "icons" of
	// a tool. Under tight a keyword that has schemas in it does not stay in an
	// optional property: without those beside it, it would mean something else.
	Keep []string
}

func (o Options) off() bool { return o.Level == "off" }

func (o Options) cuts() bool { return o.Level != "off" && o.Level != "lossless" }

func (o Options) keeps(keyword string) bool { return slices.Contains(o.Keep, keyword) }
