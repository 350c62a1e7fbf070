package compact

import (
	"math"
	"strings"

	"github.com/tidwall/gjson"
)

// The dialects in the order of their making. Between two of them only the
// order matters.
const (
	draft03 = 3
	draft04 = 4
	draft06 = 6
	draft07 = 7
	d201909 = 2019
	d202012 = 2020
)

// needsDialect reports whether the schema v, which hosts read as 2020-12 when
// it does not say otherwise, would mean something else without its $schema.
func needsDialect(v gjson.Result) bool {
	if !strings.Contains(v.Raw, `$schema`) {
		return false
	}
	u := usage{oldest: math.MaxInt}
	u.add(v)
	return u.oldest != math.MaxInt && (u.oldest <= u.until || u.oldest < u.since)
}

// A usage is what a schema's meaning depends on.
type usage struct {
	oldest int // the oldest dialect that a $schema in it names
	until  int // the newest dialect that reads something in it otherwise than its successor
	since  int // the newest dialect in which a keyword in it was new
}

// add takes the schema v and all below it into account.
func (u *usage) add(v gjson.Result) {
	if !v.IsObject() {
		return
	}
	ref, sibling := false, false
	v.ForEach(func(key, value gjson.Result) bool {
		if key.Str == "$schema" && value.Type == gjson.String {
			u.oldest = min(u.oldest, dialectOf(value.Str))
		}
		u.until = max(u.until, lastReading(key.Str, value))
		u.since = max(u.since, firstDraft(key.Str))
		ref = ref || key.Str == "$ref"
		sibling = sibling || key.Str != "$ref" && binds(key.Str)
		return true
	})
	if ref && sibling { // ignored beside $ref up to draft-07
		u.until = max(u.until, draft07)
	}
	eachSchema(v, u.add)
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
	return 0
}

// lastReading returns the last dialect that reads the keyword with this value
// otherwise than 2020-12 does, or -1.
func lastReading(key string, value gjson.Result) int {
	switch {
	case key == "items" && value.IsArray(), key == "$recursiveRef":
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
	return -1
}

// firstDraft returns the dialect in which a keyword was new, or -1 for one that
// draft-04 has, or that binds nothing.
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
	return -1
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
