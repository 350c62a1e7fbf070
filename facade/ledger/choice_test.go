package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func choicePlace(t *testing.T) string { return filepath.Join(t.TempDir(), "auto", "acme.json") }

func TestAChoiceComesBack(t *testing.T) {
	path := choicePlace(t)
	c := OpenChoice(path)
	if got := c.Tools(); got != nil {
		t.Errorf("Tools of no file = %q", got)
	}
	want := []string{"b", "größe", `c"\`}
	if err := c.Save(t.Context(), slices.Concat(want, []string{"b", "", "\xff", strings.Repeat("x", maxName+1)})); err != nil {
		t.Fatal(err)
	}
	if got := c.Tools(); !slices.Equal(got, want) {
		t.Errorf("Tools = %q, want %q", got, want)
	}
	if got := OpenChoice(path).Tools(); !slices.Equal(got, want) {
		t.Errorf("another process has %q, want %q", got, want)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), `{"chosen":"20`) || !strings.HasSuffix(string(text), `Z","tools":["b","größe","c\"\\"],"version":1}`+"\n") {
		t.Errorf("the file has %q, %v", text, err)
	}
}

// What a process has seen stays until it changes it itself.
func TestAChoiceStaysForAProcess(t *testing.T) {
	path := choicePlace(t)
	c := OpenChoice(path)
	c.Tools()
	if err := OpenChoice(path).Save(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
	if got := c.Tools(); got != nil {
		t.Errorf("Tools = %q, want none", got)
	}
	if err := c.Change(t.Context(), func(now []string) []string { return append(now, "b") }); err != nil {
		t.Fatal(err)
	}
	if got := c.Tools(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("Tools = %q", got)
	}
}

func TestADamagedChoiceIsNone(t *testing.T) {
	long := strings.Repeat("x", maxName+1)
	for _, text := range []string{
		"", "{", "null", `{"version":1}`, `{"version":2,"tools":["a"]}`, `{"tools":["a"]}`, `{"version":1,"tools":"a"}`, `{"version":1,"tools":["a",1]}`,
		`{"version":1,"tools":["a","a"]}`, `{"version":1,"tools":[""]}`, `{"version":1,"tools":["` + long + `"]}`, strings.Repeat(" ", maxChoiceSize) + `{"version":1,"tools":["a"]}`,
		`{"version":1,"tools":["x` + strings.Join(strings.Fields(fmt.Sprint(make([]int, maxChoice+1))), `","x`) + `"]}`,
	} {
		path := choicePlace(t)
		if err := OpenChoice(path).Save(t.Context(), []string{"a"}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := OpenChoice(path)
		if got := c.Tools(); got != nil {
			t.Errorf("Tools of %.50q = %q", text, got)
		}
		if err := c.Save(t.Context(), []string{"b"}); err != nil {
			t.Errorf("Save over %.50q: %v", text, err)
		}
		if got := OpenChoice(path).Tools(); !slices.Equal(got, []string{"b"}) {
			t.Errorf("then Tools = %q", got)
		}
	}
}

func TestANilChoiceIsNone(t *testing.T) {
	var c *Choice
	if err := c.Save(t.Context(), []string{"a"}); err != nil || c.Tools() != nil {
		t.Errorf("Save = %v, Tools = %q", err, c.Tools())
	}
}

func TestTwoChoose(t *testing.T) {
	path := choicePlace(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			err := OpenChoice(path).Change(t.Context(), func(now []string) []string {
				if now != nil {
					return now
				}
				return []string{fmt.Sprint(i)}
			})
			if err != nil {
				t.Error(err)
			}
			if got := OpenChoice(path).Tools(); len(got) != 1 {
				t.Errorf("Tools = %q", got)
			}
		})
	}
	wg.Wait()
}

func TestAChoiceThatCannotBeKept(t *testing.T) {
	path := choicePlace(t)
	if err := os.WriteFile(filepath.Dir(path), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := OpenChoice(path).Save(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), "keep the chosen tools: ") || !strings.Contains(err.Error(), filepath.Dir(path)) {
		t.Errorf("Save = %v", err)
	}
}
