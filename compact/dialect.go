package compact

import (
	"strings"

	"github.com/tidwall/gjson"
)

// The dialects in the order of their making. Between two of them only the
// order matters.
const (
	unknown = 0
	draft03 = 3
	draft04 = 4
	draft06 = 6
	draft07 = 7
	d201909 = 2019
	d202012 = 2020
)

// A usage is what the meaning of a schema depends on. Its zero value is that of
// a schema with nothing in it.
type usage struct {
	named  bool // a $schema was seen
	oldest int  // the oldest dialect that one names
	until  int  // the newest dialect that reads something in it otherwise than its successor
	since  int  // the newest dialect in which a keyword in it was new
}

// add takes the keywords of one schema into account.
func (u *usage) add(members []member) {
	ref, sibling := false, false
	for _, m := range members {
		if m.name == "$schema" && m.value.Type == gjson.String {
			u.name(dialectOf(m.value.Str))
		}
		u.until = max(u.until, lastReading(m.name, m.value))
		u.since = max(u.since, firstDraft(m.name))
		ref = ref || m.name == "$ref"
		sibling = sibling || m.name != "$ref" && binds(m.name)
	}
	if ref && sibling { // ignored beside $ref up to draft-07
		u.until = max(u.until, draft07)
	}
}

func (u *usage) name(dialect int) {
	if !u.named || dialect < u.oldest {
		u.oldest = dialect
	}
	u.named = true
}

// needsDialect reports whether the schema would mean something else without
// its $schema: hosts then read it as 2020-12.
func (u *usage) needsDialect() bool {
	return u.named && (u.oldest <= u.until || u.oldest < u.since)
}

// dialectOf returns the dialect that a $schema names. One that we do not know
// counts as older than all, since it may read anything otherwise.
func dialectOf(uri string) int {
	uri = strings.TrimSuffix(uri, "#")
	_, path, _ := strings.Cut(uri, "://")
	switch path {
	case "json-schema.org/draft/2020-12/schema":
		return d202012
	case "json-schema.org/draft/2019-09/schema":
		return d201909
	case "json-schema.org/draft-07/schema":
		return draft07
	case "json-schema.org/draft-06/schema":
		return draft06
	case "json-schema.org/draft-04/schema":
		return draft04
	}
	return unknown
}

// lastReading returns the last dialect that reads the keyword with this value
// otherwise than 2020-12 does, or 0.
func lastReading(key string, value gjson.Result) int {
	switch {
	case key == "items" && value.IsArray(), key == "$recursiveRef",
		key == "unevaluatedItems": // which contains counts for only since 2020-12
		return d201909
	case key == "dependencies", key == "$id" && strings.HasPrefix(value.Str, "#"):
		return draft07
	case (key == "exclusiveMinimum" || key == "exclusiveMaximum") && value.IsBool():
		return draft04
	case key == "id" && value.Type == gjson.String:
		return draft04
	case key == "required" && value.IsBool():
		return draft03
	}
	return 0
}

// firstDraft returns the dialect in which a keyword was new, or -1 for one that
// draft-04 has, or 0 too if it binds nothing.
func firstDraft(key string) int {
	switch key {
	case "prefixItems", "$dynamicRef", "$dynamicAnchor":
		return d202012
	case "dependentSchemas", "dependentRequired", "unevaluatedItems", "unevaluatedProperties",
		"minContains", "maxContains", "$anchor":
		return d201909
	case "if", "then", "else":
		return draft07
	case "const", "contains", "propertyNames":
		return draft06
	}
	return 0
}

// binds reports whether a keyword says something about values, so that it
// matters whether it is ignored.
func binds(key string) bool {
	switch key {
	case "title", "description", "default", "examples", "$comment", "$schema", "deprecated",
		"readOnly", "writeOnly", "definitions", "$defs", "x-mcp-header":
		return false
	}
	return true
}
