package auth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// TestSecret: no way of printing one shows it.
func TestSecret(t *testing.T) {
	const value = "hunter2"
	s := Secret(value)
	type holder struct {
		S Secret
		P *Secret
		M map[string]Secret
		L []Secret
	}
	h := holder{s, &s, map[string]Secret{"k": s}, []Secret{s}}
	all := []string{fmt.Sprint(s), fmt.Sprint(errors.New(fmt.Sprint(h)))}
	for _, verb := range strings.Fields("%v %+v %#v %s %q %x %X %d %t %b %o %c %U %e %g %08s") {
		all = append(all, fmt.Sprintf(verb, s), fmt.Sprintf(verb, h), fmt.Sprintf(verb, &h))
	}
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "s", s, "h", h)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "s", s, "h", h)
	hex := fmt.Sprintf("%x", value)
	for _, got := range append(all, string(text), log.String()) {
		if strings.Contains(got, value) || strings.Contains(strings.ToLower(got), hex) {
			t.Errorf("it is shown in %s", got)
		}
	}
	if string(s) != value {
		t.Error("its value is lost")
	}
}
