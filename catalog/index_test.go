package catalog

import (
	"strings"
	"testing"
)

func TestCutSentence(t *testing.T) {
	tests := []struct{ name, in, sentence string }{
		{"cuts after a full stop", "Start the export of a space. It runs long.", "Start the export of a space"},
		{"cuts at a line break", "List the spaces\nof a wiki. All.", "List the spaces"},
		{"does not cut after a short abbreviation", "E.g. for many mails. Or not.", "E.g. for many mails"},
		{"keeps one sentence whole", "Export a table as CSV.", "Export a table as CSV."},
		{"takes a short text", "Ping", "Ping"},
		{"takes none", " \n ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sentence, rest := cutSentence(tt.in)
			if sentence != tt.sentence || sentence+rest != strings.TrimSpace(tt.in) {
				t.Errorf("cutSentence(%q) = %q, %q; want %q and the rest", tt.in, sentence, rest, tt.sentence)
			}
		})
	}
}

func BenchmarkIndex(b *testing.B) {
	c, _ := New([][]byte{large()})
	b.ReportAllocs()
	for b.Loop() {
		buildIndex(c.tools, nil)
	}
}

// BenchmarkFirstSearch is what the first search of a process waits for, once
// the list is in memory: 344 real tools, 2 MB.
func BenchmarkFirstSearch(b *testing.B) {
	realCatalogs(b)
	data := read(b, "../../shared/catalogs/ms365.json")
	b.ReportAllocs()
	for b.Loop() {
		c, _ := New([][]byte{data})
		c.Search("export the calendar events of a user", 10)
	}
}
