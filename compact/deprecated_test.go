package compact

import "testing"

func TestDeprecated(t *testing.T) {
	tests := []struct{ name, description, want string }{
		{"finds it at the beginning", "Deprecated wrapper. Do not use.", "Deprecated wrapper."},
		{"finds it behind signs", "**[DEPRECATED]** Use b. Then more.", "DEPRECATED Use b."},
		{"finds it in capitals later", "Read a file. DEPRECATED: Use read_text_file instead.", "DEPRECATED: Use read_text_file instead."},
		{"finds what is said of the tool", "**This endpoint is deprecated.**\n\nMerges.", "This endpoint is deprecated."},
		{"finds the other to use, said first", "Use list_all instead. Lists some.", "Use list_all instead."},
		{"leaves out other things", "Search. NOTE: /search is deprecated! The API has deprecated fields (deprecated).", ""},
		{"leaves out what a tool is for", "Check if packages are deprecated", ""},
		{"leaves out another that may be used", "Reads one file; use read_all instead for many.", ""},
		{"leaves out a part of a word", "is_DEPRECATED says so", ""},
		{"finds nothing in nothing", "", ""},
	}
	for _, tt := range tests {
		if got := Deprecated(tt.description); got != tt.want {
			t.Errorf("it %s: Deprecated(%q) = %q, want %q", tt.name, tt.description, got, tt.want)
		}
	}
}

// A signature says first that a tool is out of use.
func TestSignatureOfTheDeprecated(t *testing.T) {
	for description, want := range map[string]string{
		"Read a file. DEPRECATED: Use read_text_file instead.":      "read() — DEPRECATED: Use read_text_file instead. Read a file.",
		"**This endpoint is deprecated.**\n\nMerges forks. Slowly.": "read() — This endpoint is deprecated. Merges forks.",
		"Deprecated. Lists the files.":                              "read() — Deprecated. Lists the files.",
		"[DEPRECATED]":                                              "read() — DEPRECATED",
	} {
		if got := Signature("read", nil, description); got != want {
			t.Errorf("Signature of %q is %q, want %q", description, got, want)
		}
	}
}
