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
// Three promises hold for every input: the result is never longer in
// characters, compacting it again changes nothing, and names are never taken
// for keywords, nor data (the values of enum, const, default and examples) for
// schemas.
package compact

import "slices"

// Options say how much Schema and Tool may take away. The zero value is the
// level standard with nothing kept.
type Options struct {
	// Level is one of
	//
	//	""          the same as "standard"
	//	"standard"  as lossless, and descriptions become their first sentence;
	//	            examples and default are dropped, a short scalar default
	//	            lives on at the end of its description
	//	"lossless"  $comment and x-mcp-header are dropped, and $schema where
	//	            no keyword means something else without it
	//	"tight"     for now the same as standard
	//	"off"       nothing is touched
	//
	// Any other level is taken for "standard".
	Level string

	// Keep names keywords that stay as they are: dropped ones ("default",
	// "examples", …), "description", and "outputSchema" and "icons" of a tool.
	Keep []string
}

func (o Options) off() bool { return o.Level == "off" }

func (o Options) cuts() bool { return o.Level != "off" && o.Level != "lossless" }

func (o Options) keeps(keyword string) bool { return slices.Contains(o.Keep, keyword) }
