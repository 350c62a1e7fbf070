package facade

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tidwall/gjson"
)

// What a model is told to send can be sent, however long the arguments are.
func TestAdviceForLongArguments(t *testing.T) {
	for _, args := range []string{
		`{"id":"` + strings.Repeat("x", 5000) + `","n":1}`,
		`{"id":[` + strings.Repeat("1,", 500) + `1]}`,
		"{" + strings.Repeat(`"k":1,`, 500) + `"id":"x"}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			d := start(t, Options{Server: entry(t, `,"used":[],"confirm":"writes","confirmBy":"argument"`)}, mixed())
			d.openAsking()
			got := text(d.call("7", "call", `{"tool":"delete_issue","args":`+args+`}`))
			lines := strings.Split(got, "\n")
			advice := lines[max(0, len(lines)-2)]
			if !gjson.Valid(advice) || !gjson.Get(advice, "args").IsObject() || !gjson.Get(advice, "confirm").Bool() || len(advice) > 2000 ||
				!strings.Contains(got, "with your values for what stands in <>") {
				t.Errorf("the model is told\n%s", got)
			}
		})
	}
}

// Where all tools are listed, no model is sent to a meta-tool that is not.
func TestAdviceWithoutMetaTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := start(t, Options{Server: entry(t, `,"hide":["secret"]`)}, &fake{tools: tracker()})
		d.open()
		for _, n := range d.names() {
			if n == "discover" {
				t.Fatal("discover is listed")
			}
		}
		for _, call := range [][2]string{{"secret", "{}"}, {"call", `{"tool":"get_isue"}`}, {"call", `{}`}, {"describe", `{}`}} {
			if got := text(d.call("7", call[0], call[1])); strings.Contains(got, "discover") || got == "" {
				t.Errorf("to %s the model is told %s", call, got)
			}
		}
	})
}

// A name is shown so that it can be called, or it is said that it cannot.
func TestNamesAreShownAsTheyAre(t *testing.T) {
	for name, want := range map[string]string{
		"get_issue":              `get_issue`,
		"exec\u200b":             `"exec\u200b"`,
		"a\n b":                  `"a\n b"`,
		"two  words ":            `"two  words "`,
		"blank\u2800":            `"blank\u2800"`,
		"q\"":                    `"q\""`,
		strings.Repeat("n", 201): `"` + strings.Repeat("n", 83) + "... (35 characters not shown) ..." + strings.Repeat("n", 83) + `" (not its whole name)`,
	} {
		if got := spelled(name); got != want {
			t.Errorf("%q is shown as %s, want %s", name, got, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		up := &fake{tools: []string{tool("exec", "Runs a script.", ""), tool("exec\u200b", "Runs a script.", "")}}
		d := start(t, Options{Server: entry(t, `,"used":[]`)}, up)
		d.open()
		if got := text(d.call("7", "discover", `{"query":"script"}`)); !strings.Contains(got, "\n\"exec\\u200b\"()") {
			t.Errorf("discover says %s", got)
		}
		d.call("8", "call", `{"tool":"exec\u200b"}`)
		up.wantRan(t, "the name that is shown", "exec\u200b {}")
		if got := text(d.call("9", "call", `{"tool":"nosuch\u200b"}`)); !strings.HasPrefix(got, `Tool "nosuch\u200b" is not`) {
			t.Errorf("the model is told %s", got)
		}
	})
}
