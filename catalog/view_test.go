package catalog

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestViewOf(t *testing.T) {
	tests := []struct {
		name, capabilities string
		want               []string
	}{
		{"takes none", ``, nil},
		{"takes an empty object", `{}`, nil},
		{"takes what is no object for none", `[1]`, nil},
		{"sorts paths", `{"sampling":{},"elicitation":{"url":{},"form":{}}}`,
			[]string{"elicitation", "elicitation.form", "elicitation.url", "sampling"}},
		{"counts true by its path", `{"roots":{"listChanged":true}}`, []string{"roots", "roots.listChanged"}},
		{"counts false and null as absent", `{"roots":{"listChanged":false},"sampling":null}`, []string{"roots"}},
		{"counts other values", `{"x":{"n": 1,"s":"a","l":[ 1, "b c" ]}}`, []string{"x", `x.l=[1,"b c"]`, "x.n=1", `x.s="a"`}},
		{"quotes a name that looks like a path", `{"a.b":{}}`, []string{`"a.b"`}},
		{"names what is given twice once", `{"a":{},"a":{}}`, []string{"a"}},
		{"does not follow for ever", `{"a":{"b":{"c":{"d":{"e":{"f":{"g":{"h":{"i":{}}}}}}}}}}`,
			[]string{"a", "a.b", "a.b.c", "a.b.c.d", "a.b.c.d.e", "a.b.c.d.e.f", "a.b.c.d.e.f.g", `a.b.c.d.e.f.g.h={"i":{}}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := View{Era: "legacy", Version: "v", Capabilities: tt.want}
			if diff := cmp.Diff(want, ViewOf("legacy", "v", []byte(tt.capabilities))); diff != "" {
				t.Errorf("ViewOf(%s) (-want +got):\n%s", tt.capabilities, diff)
			}
		})
	}
}

func TestKey(t *testing.T) {
	views := []View{
		{}, CommandView(),
		{Era: "modern", Version: "2025-11-25"},
		{Era: "legacy", Version: "2025-11-25", Capabilities: []string{"roots"}},
		{Era: "legacy", Version: "2025-11-25", Capabilities: []string{"roo", "ts"}},
		{Era: "legacy", Version: "2025-11-25roots"},
		{Era: "legacy", Version: "../../etc/passwd\x00"},
		{Era: "legacy", Version: "2025.11-25"},
	}
	seen := map[string]View{}
	for _, v := range views {
		key := v.Key()
		if !regexp.MustCompile(`^[a-z0-9-]{1,100}$`).MatchString(key) {
			t.Errorf("%#v.Key() = %q, no safe file name", v, key)
		}
		if other, ok := seen[key]; ok {
			t.Errorf("%#v and %#v have the key %q", v, other, key)
		}
		seen[key] = v
	}
	// A key that changed would make every stored list cold.
	if got, want := CommandView().Key(), "legacy-2025-11-25-9e5ea857147b70ed"; got != want {
		t.Errorf("the commands' key is %q, want %q", got, want)
	}
}

func TestClean(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"keeps a clean name", "acme-2", "acme-2"},
		{"lower-cases", "GitHub", "github"},
		{"makes one hyphen of the rest", "a_b  (c)", "a-b-c"},
		{"begins and ends with a letter", "./a/..", "a"},
		{"cuts", "abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghijklmnopqrstuvwxyz012345"},
		{"falls back", "日本", "none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := clean(tt.in, "none"); got != tt.want {
				t.Errorf("clean(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzViewOf(f *testing.F) {
	f.Add([]byte(`{"roots":{"listChanged":true},"a.b":[{}]}`))
	f.Add([]byte(`{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":`))
	f.Fuzz(func(t *testing.T, capabilities []byte) {
		v := ViewOf("legacy", "1", capabilities)
		if !v.equal(ViewOf("legacy", "1", capabilities)) || v.Key() != ViewOf("legacy", "1", capabilities).Key() {
			t.Errorf("ViewOf(%q) differs from itself", capabilities)
		}
	})
}
