package main

import (
	"slices"
	"testing"
)

func TestReadBash(t *testing.T) {
	tests := []struct {
		name  string
		words []string
		want  typing
	}{
		{"has nothing", nil, typing{}},
		{"has an empty word", []string{""}, typing{}},
		{"takes words", []string{"tools", "ac"}, typing{before: []string{"tools"}, word: "ac"}},
		{"takes quotes away", []string{`"my server"`, `it\'s`, `'$x'"\$"`, ""}, typing{before: []string{"my server", "it's", "$x$"}}},
		{"takes a quote that is open", []string{`"my s`}, typing{word: "my s", quote: '"'}},
		{"takes a backslash at the end", []string{`my\`}, typing{word: "my"}},
		{"joins a value", []string{"--server", "=", "ac"}, typing{word: "--server=ac", apart: len("--server=")}},
		{"joins a value that is not begun", []string{"--server", "="}, typing{word: "--server=", apart: len("--server=")}},
		{"joins colons", []string{"tools", "ns", "::", "a", ":", "b"}, typing{before: []string{"tools"}, word: "ns::a:b", apart: len("ns::a:")}},
		{"leaves a word after a value alone", []string{"--server", "=", "ac", "x"}, typing{before: []string{"--server=ac"}, word: "x"}},
		{"takes an equals sign alone", []string{"="}, typing{word: "="}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := readBash(tt.words)
			if !slices.Equal(got.before, tt.want.before) || got.word != tt.want.word || got.quote != tt.want.quote || got.apart != tt.want.apart {
				t.Errorf("readBash(%q) = %+v, want %+v", tt.words, got, tt.want)
			}
		})
	}
}

// FuzzBashLine: what is put on a line in some quotes is read back as it was.
func FuzzBashLine(f *testing.F) {
	for _, name := range []string{"acme", "my server", `it's "q" \ !x`, "$(touch pwned)", "`x`;&|<>", "ünï", "*", "~", "a:b=c", `\`} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		c := candidate{text: name}
		if !c.legible() {
			t.Skip()
		}
		for _, quote := range []string{"", "'", `"`} {
			_, open := unquoted(quote)
			line := bashLine(typing{quote: open}, c)
			if got, left := unquoted(quote + line + quote); got != name || left != 0 {
				t.Errorf("in %q: %q is typed as %q, which is read as %q", quote, name, line, got)
			}
		}
	})
}

// FuzzComplete: whatever is typed, for any shell, is no reason to fail.
func FuzzComplete(f *testing.F) {
	f.Add("bash", "tools", "--explain=", "x")
	f.Add("zsh", "describe", "acme", "")
	f.Add("fish", "--", "--url", "'")
	f.Add("powershell", "wrap", "--config", ".")
	f.Fuzz(func(t *testing.T, shell, a, b, c string) {
		d := newDesk(t, `{"acme":{"command":"fake-upstream"}}`)
		if code := run(t.Context(), d.env, []string{completing, shell, a, b, c}); code != 0 || d.err.String() != "" {
			t.Errorf("exit code %d, stderr %q; want 0 and nothing", code, d.err)
		}
	})
}
