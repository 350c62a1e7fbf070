package compact

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// A Cut is one difference between a tool and what Tool makes of it.
type Cut struct {
	Path   string // where, as a JSON pointer into the tool
	Before string // the JSON that was there, "" if there was nothing
	After  string // the JSON that is there now, "" if there is nothing
}

// Explain returns what Tool takes away from the tool raw, and what it puts in
// its place, in the order of raw. Where both have an object, or lists of the
// same length, it names what differs in them; members of an object are compared
// by their names.
func Explain(raw []byte, o Options) []Cut {
	before, ok := parseObject(raw)
	if !ok {
		return nil
	}
	return explain(nil, "", before, gjson.ParseBytes(Tool(raw, o)))
}

func explain(cuts []Cut, path string, before, after gjson.Result) []Cut {
	switch {
	case before.IsObject() && after.IsObject():
		return explainObject(cuts, path, before, after)
	case before.IsArray() && after.IsArray() && before.Get("#").Int() == after.Get("#").Int():
		i := 0
		was := before.Array()
		after.ForEach(func(_, v gjson.Result) bool {
			cuts = explain(cuts, path+"/"+strconv.Itoa(i), was[i], v)
			i++
			return true
		})
		return cuts
	}
	cut := Cut{path, oneLine(before), oneLine(after)}
	if cut.Before != cut.After {
		cuts = append(cuts, cut)
	}
	return cuts
}

func explainObject(cuts []Cut, path string, before, after gjson.Result) []Cut {
	was, is := listMembers(nil, before), listMembers(nil, after)
	for _, m := range was {
		now, _ := lookUp(is, m.name)
		cuts = explain(cuts, path+"/"+escapeStep(m.name), m.value, now)
	}
	for _, m := range is {
		if _, n := lookUp(was, m.name); n == 0 {
			cuts = explain(cuts, path+"/"+escapeStep(m.name), gjson.Result{}, m.value)
		}
	}
	return cuts
}

func oneLine(v gjson.Result) string { return string(appendCompact(nil, v)) }

// escapeStep encodes one step of a JSON pointer.
func escapeStep(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
