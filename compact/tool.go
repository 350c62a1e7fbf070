package compact

import "github.com/tidwall/gjson"

// Tool returns the tool object raw, as tools/list has it, trimmed as o says:
// its description becomes its first sentence, its inputSchema is trimmed as by
// Schema, outputSchema and icons go. All other members, known or not, stay as
// and where they are. Like Schema it returns raw itself when that is no JSON
// object, and under level "off".
func Tool(raw []byte, o Options) []byte {
	v, ok := parseObject(raw)
	if !ok || o.off() {
		return raw
	}
	t := newTrimmer(o)
	dst := append(make([]byte, 0, len(raw)), '{')
	v.ForEach(func(key, value gjson.Result) bool {
		dst = t.toolMember(dst, key, value)
		return true
	})
	return append(dst, '}')
}

// toolMember appends one member of a tool, if it stays.
func (t *trimmer) toolMember(dst []byte, key, value gjson.Result) []byte {
	if (key.Str == "outputSchema" || key.Str == "icons") && !t.o.keeps(key.Str) {
		return dst
	}
	dst = appendKey(dst, key.Raw)
	switch {
	case key.Str == "inputSchema", key.Str == "outputSchema":
		return t.root(dst, value)
	case key.Str == "description" && value.Type == gjson.String && t.o.cuts() && !t.o.keeps(key.Str):
		if s := Sentence(value.Str, maxDescription); s != value.Str {
			return appendString(dst, s)
		}
	}
	return appendCompact(dst, value)
}
