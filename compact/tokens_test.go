package compact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tiktoken-go/tokenizer"

	"mcp-facade/compact"
)

func TestTokens(t *testing.T) {
	tests := []struct {
		name, in string
		want     int
	}{
		{"counts nothing for nothing", "", 0},
		{"counts a word", "issue", 1},
		{"counts words", "Create a new issue", 4},
		{"splits words by case", "perPage", 2},
		{"counts digits by three", "1234567", 3},
		{"counts white space", "a\n\n  b", 3},
		{"counts a run of symbols once", `":"`, 1},
		{"decodes escapes first", `\u0061\u0062\u0063\u0064\u0065`, 1},
		{"takes a broken escape as symbols and letters", `\u00`, 2},
		{"counts Chinese by characters", "创建一个新的工单", 6},
		{"survives what is no UTF-8", "\xff\xfe", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := compact.Tokens([]byte(tt.in)); got != tt.want {
				t.Errorf("Tokens(%q) = %d, want %d", tt.in, got, tt.want)
			}
		})
	}
}

// TestTokensOnRealCatalogs compares the estimate with what the o200k tokenizer
// counts: for each catalog as it is with the figure in the catalogs' README,
// trimmed with the tokenizer itself.
func TestTokensOnRealCatalogs(t *testing.T) {
	all := catalogs(t)
	readme := referenceTokens(t)
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	total, worst := make([]int, len(levels)), make([]float64, len(levels))
	for _, c := range all {
		row := make([]int, len(levels))
		for i, level := range levels {
			want, got := 0, 0
			if level == "off" {
				want = readme[c.name]
			}
			for _, tool := range c.tools {
				text := modelText(t, compact.Tool([]byte(tool), compact.Options{Level: level}))
				got += compact.Tokens(text)
				if level != "off" {
					want += count(t, codec, text)
				}
			}
			off := 100 * (float64(got)/float64(want) - 1)
			if off < -5 || off > 5 {
				t.Errorf("%s, %s: estimates %d tokens for %d, %+.1f %%", c.name, level, got, want, off)
			}
			row[i] = want
			total[i] += want
			worst[i] = max(worst[i], off, -off)
		}
		t.Logf("%s: %d", c.name, row)
	}
	t.Logf("levels %s: tokens of all catalogs %d, estimate at most %.1f %% off", levels, total, worst)
}

func count(t *testing.T, codec tokenizer.Codec, text []byte) int {
	t.Helper()
	n, err := codec.Count(unescaped(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// modelText returns what a host shows a model of a tool, escaped as hosts do.
func modelText(t *testing.T, tool []byte) []byte {
	t.Helper()
	v := gjson.ParseBytes(tool)
	raw := `{"name":` + v.Get("name").Raw + `,"description":` + v.Get("description").Raw + `,"input_schema":` + v.Get("inputSchema").Raw + `}`
	if !v.Get("description").Exists() {
		raw = `{"name":` + v.Get("name").Raw + `,"input_schema":` + v.Get("inputSchema").Raw + `}`
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(raw)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unescaped writes the strings in text with no more escapes than JSON asks for,
// as hosts do that parse and write it.
func unescaped(t *testing.T, text []byte) string {
	t.Helper()
	return jsonString.ReplaceAllStringFunc(string(text), func(s string) string {
		var decoded string
		if err := json.Unmarshal([]byte(s), &decoded); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(decoded); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(b.String(), "\n")
	})
}

var jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// referenceTokens reads the table of the catalogs' README.
func referenceTokens(t *testing.T) map[string]int {
	t.Helper()
	data, err := os.ReadFile("../../shared/catalogs/README.md")
	if err != nil {
		t.Skip(err)
	}
	tokens := map[string]int{}
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(line, "|")
		if len(cells) < 8 {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSpace(cells[6])); err == nil {
			tokens[strings.TrimSpace(cells[1])] = n
		}
	}
	return tokens
}

func TestTokensAllocatesNothing(t *testing.T) {
	text := []byte(`{"description":"Größe \u00e9 创建 two words","default":1234}`)
	if n := testing.AllocsPerRun(10, func() { compact.Tokens(text) }); n > 0 {
		t.Errorf("Tokens allocates %v times", n)
	}
}

func FuzzTokens(f *testing.F) {
	f.Add([]byte(`{"a_b":"C d\n é\u00e9 1234 创建 HTTPServer's"}`))
	f.Fuzz(func(t *testing.T, s []byte) {
		if n := compact.Tokens(s); n < 0 || n > 1+2*len(s) {
			t.Errorf("Tokens(%q) = %d", s, n)
		}
	})
}

func ExampleTokens() {
	fmt.Println(compact.Tokens([]byte(`{"name":"create_issue","description":"Create an issue."}`)))
	// Output:
	// 12
}

func BenchmarkTokens(b *testing.B) {
	text := bytes.Join(benchmarkSchemas(b), nil)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		compact.Tokens(text)
	}
}
