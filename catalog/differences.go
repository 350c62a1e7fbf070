package catalog

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// A Part of a tool is what of it a model reads, or a host judges it by.
type Part string

// The parts of a tool. Its title is one of its annotations in older versions of
// the protocol.
const (
	Description Part = "description"
	Schema      Part = "schema"
	Annotations Part = "annotations"
)

// heeded are the members of a tool that count, by the part that they are of.
var heeded = [...]struct {
	name string
	part Part
}{
	{"description", Description},
	{"inputSchema", Schema},
	{"outputSchema", Schema},
	{"annotations", Annotations},
	{"title", Annotations},
}

// PartOf is the part that a member is of, "" if it is of none. Some programs read
// names in any case.
func PartOf(member string) Part {
	for _, h := range heeded {
		if strings.EqualFold(h.name, member) {
			return h.part
		}
	}
	return ""
}

// Differences are the parts in which a tool is not what it was. How its JSON is
// written does not count: neither the order of members, nor white space, nor
// escapes. A title or an outputSchema that is not there any more is none, as older
// hosts are not told of them.
func Differences(was, is Tool) (parts []Part) {
	if bytes.Equal(was.Raw, is.Raw) {
		return nil
	}
	a, b := members(was.Raw), members(is.Raw)
	for i, h := range heeded {
		gone := b[i] == "" && (h.name == "title" || h.name == "outputSchema")
		if a[i] != b[i] && !gone && !slices.Contains(parts, h.part) {
			parts = append(parts, h.part)
		}
	}
	return parts
}

// members are the canonical values of the heeded members, "" for one that is not
// there. One that is there twice, or in another case, has several.
func members(raw []byte) (values [len(heeded)]string) {
	var all [len(heeded)][]string
	gjson.ParseBytes(raw).ForEach(func(key, v gjson.Result) bool {
		for i, h := range heeded {
			if !strings.EqualFold(h.name, key.Str) || v.Type == gjson.Null {
				continue
			}
			text := string(appendCanonical(nil, v, h.part == Annotations, maxNesting))
			if text != "{}" || h.part == Schema {
				all[i] = append(all[i], strconv.Quote(key.Str)+":"+text)
			}
		}
		return true
	})
	for i, several := range all {
		values[i] = strings.Join(several, ",")
	}
	return values
}

// maxNesting is how deep JSON is compared by what it means. Below that it is
// compared as it is written.
const maxNesting = 200

// appendCanonical appends a value so that two that mean the same are the same:
// members by name, those of one name in their order; numbers as they are written.
// With bare, a member that is null is left out.
func appendCanonical(b []byte, v gjson.Result, bare bool, depth int) []byte {
	switch {
	case depth == 0:
		return append(b, v.Raw...)
	case v.IsObject():
		return appendCanonicalObject(b, v, bare, depth)
	case v.IsArray():
		b = append(b, '[')
		v.ForEach(func(_, item gjson.Result) bool {
			b = append(appendCanonical(b, item, false, depth-1), ',')
			return true
		})
		return append(bytes.TrimSuffix(b, []byte(",")), ']')
	case v.Type == gjson.String:
		return strconv.AppendQuote(b, v.Str)
	}
	return append(b, v.Raw...)
}

func appendCanonicalObject(b []byte, v gjson.Result, bare bool, depth int) []byte {
	type member struct {
		key   string
		value gjson.Result
	}
	var all []member
	v.ForEach(func(key, value gjson.Result) bool {
		if !bare || value.Type != gjson.Null {
			all = append(all, member{key.Str, value})
		}
		return true
	})
	slices.SortStableFunc(all, func(x, y member) int { return strings.Compare(x.key, y.key) })
	b = append(b, '{')
	for i, m := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, m.key), ':')
		b = appendCanonical(b, m.value, false, depth-1)
	}
	return append(b, '}')
}
