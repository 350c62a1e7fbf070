package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
	"github.com/tiktoken-go/tokenizer"
)

// tableCatalogs are ten of the largest catalogs of ../shared/catalogs, largest
// first, and what the README calls them.
var tableCatalogs = [...][2]string{
	{"ms365", "Microsoft 365, org mode"},
	{"azure", "Azure"},
	{"postman", "Postman, all tools"},
	{"ruflo", "Ruflo"},
	{"plane", "Plane"},
	{"google-drive-piotr", "Google Drive"},
	{"iterable", "Iterable"},
	{"github", "GitHub, all toolsets"},
	{"azure-devops", "Azure DevOps"},
	{"antv-chart", "AntV Chart"},
}

const tableHead = `| server | tools | before | names only | none used | five used | all used | five used, seed's rules |
|---|---|---|---|---|---|---|---|
`

// tableFoot says what the seed's rules cost, and needs the numbers for it.
const tableFoot = `
(o200k tokens of what a model is given: name, description and input schema of each tool. Five used tools are the first five of
the server's list. *Names only* is what a host that defers tools by itself spends without the facade until it searches: there
only the difference to that is saved, and often nothing. The last column has the rules that the seed
design, a small TypeScript facade, applies (first sentences; no defaults and examples; optional parameters reduced to
type and text) on the same five tools,
beside the same meta-tools: they lose %d lists of allowed values and %d of items, and give %d parameters a type that JSON Schema
does not have; ours lose none.)
`

// TestTokenTable counts what real catalogs cost a model with the o200k
// tokenizer and compares the README's table with it. Five used tools are the
// first five that the server lists. -update rewrites the table, -v prints it.
func TestTokenTable(t *testing.T) {
	table := tableHead
	var seed, ours harm
	for _, c := range tableCatalogs {
		table += tableRow(t, c[0], c[1], &seed, &ours)
	}
	table += fmt.Sprintf(tableFoot, seed.enums, seed.items, seed.unknown)
	t.Log("\n" + table)
	if ours != (harm{}) {
		t.Errorf("five used tools each of %d servers are harmed: %+v", len(tableCatalogs), ours)
	}
	file, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := tableIn(string(file))
	if shown == table {
		return
	}
	if !*update || shown == "" {
		t.Errorf("README.md shows\n%s\nwant\n%s", shown, table)
	} else if err := os.WriteFile("README.md", bytes.Replace(file, []byte(shown), []byte(table), 1), 0o644); err != nil {
		t.Error(err)
	}
}

// tableIn is the table of the README with the paragraph after it, "" if there
// is none.
func tableIn(readme string) string {
	head, _, _ := strings.Cut(tableHead, "\n")
	_, rest, ok := strings.Cut(readme, head)
	if !ok {
		return ""
	}
	parts := strings.SplitAfterN(rest, "\n\n", 3)
	return head + strings.TrimSuffix(strings.Join(parts[:len(parts)-1], ""), "\n")
}

func tableRow(t *testing.T, name, title string, seed, ours *harm) string {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("..", "shared", "catalogs", name+".json"))
	if err != nil {
		t.Skip(err)
	}
	all := gjson.GetBytes(file, "tools").Array()
	deferred := ""
	for _, tool := range names(all) {
		deferred += deferredName(name, tool)
	}
	none, five := surfaceOf(t, name, all, nil), surfaceOf(t, name, all, names(all)[:5])
	theirs := seedTools(t, all[:5])
	ours.add(all[:5], five[:5])
	seed.add(all[:5], theirs)
	figures := []int{
		len(all),
		modelTokens(t, all),
		tokens(t, deferred),
		modelTokens(t, none),
		modelTokens(t, five),
		modelTokens(t, surfaceOf(t, name, all, []string{"*"})),
		modelTokens(t, none) + modelTokens(t, theirs),
	}
	row := "| " + title
	for _, n := range figures {
		row += " | " + thousands(n)
	}
	return row + " |\n"
}

// surfaceOf is what a host is shown of a server with these tools.
func surfaceOf(t *testing.T, name string, tools []gjson.Result, used []string) []gjson.Result {
	t.Helper()
	var list strings.Builder
	for _, tool := range tools {
		list.WriteString(strings.ReplaceAll(tool.Raw, "\n", " ") + "\n")
	}
	path := filepath.Join(t.TempDir(), "tools")
	if err := os.WriteFile(path, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	entry := wire.AppendString([]byte(`{"command":"fake-upstream","args":["-tools",`), path)
	d := newDesk(t, fmt.Sprintf(`{%q:%s],"used":%s}}`, name, entry, array(used)))
	o := &options{server: name}
	s, err := d.server(o)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := d.surface(t.Context(), o, s)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, d.err)
	}
	return shown
}

// modelTokens counts what a model pays for tools.
func modelTokens(t *testing.T, tools []gjson.Result) (sum int) {
	t.Helper()
	for _, tool := range tools {
		sum += tokens(t, modelText(t, tool))
	}
	return sum
}

// tokens counts with the o200k tokenizer.
func tokens(t *testing.T, text string) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	n, err := codec.Count(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// modelText is what a host gives a model of a tool: as JSON that was parsed and
// written, with no white space and no more escapes than there must be.
func modelText(t *testing.T, tool gjson.Result) string {
	t.Helper()
	members := []byte("{")
	for _, key := range []string{"name", "description", "inputSchema"} {
		if v := tool.Get(key); v.Exists() {
			members = append(wire.AppendString(members, key), ":"+v.Raw+","...)
		}
	}
	var b bytes.Buffer
	if err := json.Compact(&b, append(members[:len(members)-1], '}')); err != nil {
		t.Fatal(err)
	}
	return jsonString.ReplaceAllStringFunc(b.String(), func(s string) string {
		return string(wire.AppendString(nil, gjson.Parse(s).Str))
	})
}

// thousands writes a number with commas.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// A harm is what tools lose when they are trimmed.
type harm struct{ enums, items, unknown int }

// add compares tools before and after.
func (h *harm) add(before, after []gjson.Result) {
	for i := range before {
		h.count(before[i].Get("inputSchema").Value(), 1)
		h.count(after[i].Get("inputSchema").Value(), -1)
	}
}

// count adds the enums and the items in a schema, and takes the types "unknown"
// away, all of them times.
func (h *harm) count(node any, times int) {
	switch v := node.(type) {
	case []any:
		for _, member := range v {
			h.count(member, times)
		}
	case map[string]any:
		if _, ok := v["enum"].([]any); ok {
			h.enums += times
		}
		if _, ok := v["items"].(map[string]any); ok {
			h.items += times
		}
		if v["type"] == "unknown" {
			h.unknown -= times
		}
		for _, member := range v {
			h.count(member, times)
		}
	}
}

// seedTools stands in for the seed design: what a host is shown of used tools
// by its rules.
func seedTools(t *testing.T, tools []gjson.Result) (shown []gjson.Result) {
	t.Helper()
	for _, tool := range tools {
		b, err := json.Marshal(map[string]any{
			"name":        strings.ToLower(tool.Get("name").Str),
			"description": seedSentence(tool.Get("description").Str, 140),
			"inputSchema": seedSchema(tool.Get("inputSchema").Value()),
		})
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, gjson.ParseBytes(b))
	}
	return shown
}

// seedSchema drops $comment, examples, default and additionalProperties
// wherever they stand, and leaves of an optional property type and description.
func seedSchema(node any) any {
	switch v := node.(type) {
	case []any:
		for i := range v {
			v[i] = seedSchema(v[i])
		}
	case map[string]any:
		for _, key := range []string{"$comment", "examples", "default", "additionalProperties"} {
			delete(v, key)
		}
		required, _ := v["required"].([]any)
		if properties, ok := v["properties"].(map[string]any); ok {
			for name, p := range properties {
				if p, ok := p.(map[string]any); ok && !slices.Contains(required, any(name)) {
					properties[name] = seedOptional(p)
				}
			}
		}
		for key, member := range v {
			if text, ok := member.(string); ok && key == "description" {
				v[key] = seedSentence(text, 100)
			} else {
				v[key] = seedSchema(member)
			}
		}
	}
	return node
}

func seedOptional(p map[string]any) map[string]any {
	kind, text := p["type"], "optional"
	if kind == nil {
		kind = "unknown"
	}
	if said, ok := p["description"].(string); ok {
		text = said
	}
	return map[string]any{"type": kind, "description": seedSentence(text, 60)}
}

var seedEnd = regexp.MustCompile(`[.!?]\s`)

func seedSentence(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if end := seedEnd.FindStringIndex(text); end != nil {
		text = text[:end[0]+1]
	}
	if letters := []rune(text); len(letters) > limit {
		text = string(letters[:limit-1]) + "…"
	}
	return text
}
