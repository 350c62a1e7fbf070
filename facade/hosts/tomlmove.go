package hosts

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

func (tomlFormat) transplant(data []byte, at found, from []byte, old found) ([]byte, error) {
	now, err := parseTOML(data)
	if err != nil {
		return nil, err
	}
	then, err := parseTOML(from)
	if err != nil {
		return nil, err
	}
	m := tomlMove{now, then, at.text, old.text, now.others(at.path), then.others(old.path)}
	want := now.root.node.with(at.path, old.node)
	for _, way := range []func() ([]patch, bool){m.pairwise, m.anchored, m.gathered} {
		patches, ok := way()
		if !ok {
			continue
		}
		if result, err := checkedTOML(patched(data, patches), want); err == nil {
			return result, nil
		}
	}
	return nil, errForm
}

// A tomlMove puts the parts of a server back where they were.
type tomlMove struct {
	now, then             *tomlDoc
	parts, old            []span
	nowOthers, thenOthers []tomlStatement
}

// A patch is text that goes in the place of a part of the data.
type patch struct {
	span
	text []byte
}

// patched is data with patches that do not overlap.
func patched(data []byte, patches []patch) (dst []byte) {
	end := 0
	for _, p := range patches {
		dst = append(append(dst, data[end:p.start]...), p.text...)
		end = p.end
	}
	return append(dst, data[end:]...)
}

// A tomlStatement is a header or a line, and what it is by its keys; or an end
// of the file.
type tomlStatement struct {
	span
	id string
}

// others are all statements but those of the server to which path leads.
func (d *tomlDoc) others(path []string) (all []tomlStatement) {
	all = []tomlStatement{{span{0, 0}, "start"}}
	seen := map[string]int{}
	add := func(s span, full []string) {
		if under(full, path) {
			return
		}
		id := fmt.Sprintf("%q", full)
		seen[id]++
		all = append(all, tomlStatement{s, fmt.Sprint(id, seen[id])})
	}
	for _, b := range d.blocks {
		if b.path != nil {
			add(b.header, b.path)
		}
		for _, l := range b.lines {
			add(span{lineStart(d.data, l.start), lineEnd(d.data, l.end)}, append(slices.Clip(b.path), l.keys...))
		}
	}
	return append(all, tomlStatement{span{len(d.data), len(d.data)}, "end"})
}

// text is the text that a part had.
func (m *tomlMove) text(part span) []byte { return m.then.data[part.start:part.end] }

// pairwise takes parts that are as many as they were for the same ones.
func (m *tomlMove) pairwise() (patches []patch, ok bool) {
	if len(m.parts) != len(m.old) {
		return nil, false
	}
	for i, s := range m.parts {
		patches = append(patches, patch{s, m.text(m.old[i])})
	}
	return patches, true
}

// anchored puts each part beside the statement beside which it was, with what
// is between them.
func (m *tomlMove) anchored() (patches []patch, ok bool) {
	for _, part := range m.old {
		at, ok := m.place(part)
		if !ok {
			return nil, false
		}
		patches = append(patches, patch{at, m.text(part)})
	}
	slices.SortStableFunc(patches, func(a, b patch) int { return cmp.Compare(a.start, b.start) })
	for i := range patches {
		if i > 0 && patches[i].start < patches[i-1].end {
			return nil, false
		}
	}
	return patches, true
}

// place is where a part belongs: the one that is there, or an empty one.
func (m *tomlMove) place(old span) (span, bool) {
	before, after := neighbours(m.thenOthers, old)
	for _, part := range m.parts {
		if b, a := neighbours(m.nowOthers, part); b.id == before.id || a.id == after.id {
			return part, true
		}
	}
	data, then := m.now.data, m.then.data
	if before.end > old.start {
		return span{}, false // it was a member of an inline table
	}
	if next, ok := m.counterpart(after); ok {
		if gap := then[old.end:after.start]; bytes.HasSuffix(data[:next.start], gap) {
			at := next.start - len(gap)
			return span{at, at}, true
		}
	}
	if last, ok := m.counterpart(before); ok {
		if gap := then[before.end:old.start]; bytes.HasPrefix(data[last.end:], gap) {
			at := last.end + len(gap)
			return span{at, at}, true
		}
	}
	return span{}, false
}

// counterpart is a former statement as it stands now.
func (m *tomlMove) counterpart(s tomlStatement) (tomlStatement, bool) {
	i := slices.IndexFunc(m.nowOthers, func(o tomlStatement) bool { return o.id == s.id })
	if i < 0 {
		return tomlStatement{}, false
	}
	return m.nowOthers[i], true
}

// neighbours are the statements before and after a part.
func neighbours(all []tomlStatement, part span) (before, after tomlStatement) {
	i := slices.IndexFunc(all, func(s tomlStatement) bool { return s.start >= part.end && s.end > 0 })
	return all[i-1], all[i]
}

// gathered puts all parts where the first one is.
func (m *tomlMove) gathered() (patches []patch, ok bool) {
	var all []byte
	for i, part := range m.old {
		if i > 0 {
			all = append(all, eolOf(m.now.data, m.parts[0].end)...)
		}
		all = append(all, m.text(part)...)
	}
	patches = append(patches, patch{m.parts[0], all})
	for _, part := range m.parts[1:] {
		if data := m.now.data; part.start == lineStart(data, part.start) && part.end == lineEnd(data, part.end) {
			part.end = min(part.end+len(eolOf(data, part.end)), len(data))
		}
		patches = append(patches, patch{part, nil})
	}
	return patches, true
}
