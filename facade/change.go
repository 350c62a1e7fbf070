package facade

import (
	"slices"
	"strings"

	"mcp-facade/catalog"

	"github.com/tidwall/gjson"
)

// A Change is a tool that is not as the user has accepted it.
type Change struct {
	Tool     string       `json:"tool"`
	What     string       `json:"change"`             // "added", "removed" or "changed"
	Parts    []PartChange `json:"parts,omitempty"`    // that differ; of an added tool, unless nothing was accepted, all it has
	Withheld bool         `json:"withheld,omitempty"` // it does not run until it is accepted
	Hidden   bool         `json:"hidden,omitempty"`   // by the config, whether it is accepted or not
}

// A PartChange is a part of a tool, in words that show all they hold: before and
// now.
type PartChange struct {
	Part   catalog.Part `json:"part"`
	Before string       `json:"before"`
	After  string       `json:"after"`
}

// changes compares listed tools with those that were accepted. What is missing is
// gone only if all views are listed.
func (f *Facade) changes(before *catalog.Acceptance, listed []catalog.Tool, all bool) []Change {
	changes, seen := []Change{}, map[string]bool{}
	for _, t := range listed {
		seen[t.Name] = true
		was, parts, known := before.Nearest(t)
		if known && parts == nil {
			continue
		}
		c := Change{Tool: t.Name, What: "added", Hidden: f.hidden(t.Name)}
		switch {
		case known:
			c.What, c.Parts = "changed", partChanges(was, t, parts)
		case before != nil:
			c.Parts = wholeParts(t)
		}
		c.Withheld = f.blocks() && before != nil && !c.Hidden && f.isGrave(t, before.Forms(t.Name))
		changes = append(changes, c)
	}
	for _, t := range before.Tools() {
		if !seen[t.Name] && all {
			seen[t.Name] = true
			changes = append(changes, Change{Tool: t.Name, What: "removed", Hidden: f.hidden(t.Name)})
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return strings.Compare(a.Tool, b.Tool) })
	return slices.CompactFunc(changes, Change.equal)
}

// equal reports whether two views show the same change.
func (c Change) equal(other Change) bool {
	return c.Tool == other.Tool && c.What == other.What && slices.Equal(c.Parts, other.Parts)
}

// partChanges are the texts of the parts in which a tool differs.
func partChanges(was, is catalog.Tool, parts []catalog.Part) (all []PartChange) {
	for _, p := range parts {
		all = append(all, PartChange{p, partText(was, p), partText(is, p)})
	}
	return all
}

// wholeParts are the parts that a tool has, as changes of one that had none.
func wholeParts(t catalog.Tool) []PartChange {
	all := partChanges(catalog.Tool{}, t, catalog.Differences(catalog.Tool{}, t))
	return slices.DeleteFunc(all, func(p PartChange) bool { return p.After == "" })
}

// partText is a part of a tool in lines that can be compared: each sentence of a
// description on its own, JSON with its members by name.
func partText(t catalog.Tool, part catalog.Part) string {
	var lines []string
	gjson.ParseBytes(t.Raw).ForEach(func(key, v gjson.Result) bool {
		switch {
		case catalog.PartOf(key.Str) != part:
		case key.Str == string(catalog.Description) && v.Type == gjson.String:
			lines = append(lines, sentences(v.Str)...)
		default:
			lines = append(lines, strings.Split(quotedName(key.Str)+": "+pretty(v), "\n")...)
		}
		return true
	})
	for i, l := range lines {
		if visible(l) != l { // then a backslash is one of ours
			lines[i] = visible(strings.ReplaceAll(l, `\`, `\\`))
		}
	}
	return strings.Join(lines, "\n")
}

// sentences are text in lines that end where a sentence does.
func sentences(text string) []string {
	text = strings.NewReplacer("\r\n", "\n", ". ", ".\n").Replace(text)
	return strings.Split(text, "\n")
}

// pretty is JSON on lines of what is short or a member, in the order of their names.
func pretty(v gjson.Result) string {
	if v.Type != gjson.JSON {
		return v.Raw
	}
	return strings.TrimSpace(v.Get(`@pretty:{"sortKeys":true}`).Raw)
}
