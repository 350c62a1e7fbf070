package config

import (
	"slices"
	"strings"
	"testing"
)

func TestNeeds(t *testing.T) {
	tests := []struct {
		name, entry string
		want        []string
	}{
		{"names what is not set, once", `{"command":"x","args":["${A}","${B}"],"env":{"T":"${B}${C}"}}`, []string{"B", "C"}},
		{"looks into headers and the URL", `{"url":"https://${D}/","headers":{"X-Key":"Bearer ${E}"}}`, []string{"D", "E"}},
		{"is content with a fallback", `{"command":"x","args":["${B:-b}"]}`, nil},
		{"leaves tokens alone", `{"command":"x","tokenCommand":["t"],"env":{"T":"${tokenCommand}"}}`, nil},
		{"leaves the placeholders of others alone", `{"command":"x","args":["${env:B}","%B%"]}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Parse("f", []byte(`{"acme":`+tt.entry+`}`))
			if err != nil {
				t.Fatal(err)
			}
			s, err := f.Server("acme")
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Needs([]string{"A=a"}); !slices.Equal(got, tt.want) {
				t.Errorf("%s needs %q, want %q", tt.entry, got, tt.want)
			}
		})
	}
}

func TestShown(t *testing.T) {
	s := InPlace("acme", "x", []string{"${HOME}/x", "--lang=${LANG}", "${HOME}:${KEY}"})
	if got := s.Shown(); len(got) != 1 || !strings.Contains(got[0], "args[2]: ${KEY} becomes part of an argument") {
		t.Errorf("Shown = %q, want KEY alone", got)
	}
}
