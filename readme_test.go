package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestREADME compares what the README shows with what the program says.
func TestREADME(t *testing.T) {
	file, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(file), "```")
	shown := func(start string) string {
		for _, b := range blocks {
			if _, rest, ok := strings.Cut(b, "\n"); ok && strings.HasPrefix(rest, start) {
				return strings.TrimPrefix(rest, start)
			}
		}
		t.Fatalf("README.md: no block begins with %q", start)
		return ""
	}
	script, err := os.ReadFile("testdata/script/try_demo.txtar")
	if err != nil {
		t.Fatal(err)
	}
	times := regexp.MustCompile(`\b(\d+(\.\d+)?|N) (ms|s)\b`)
	same := func(what, got, want string) {
		t.Helper()
		want = times.ReplaceAllString(want, "T")
		for line := range strings.Lines(times.ReplaceAllString(got, "T")) {
			if line = strings.TrimRight(line, "\n"); line != "" && line != "  …" && !strings.Contains(want, line+"\n") {
				t.Errorf("README.md shows of %s: %q, which it does not say", what, line)
			}
		}
	}
	same("try", shown("$ go run . try\n"), string(script))
	same("--help", "For a host\n"+shown("For a host\n"), helpText())
}
