package hosts

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"mcp-facade/facade/config"

	"github.com/google/go-cmp/cmp"
)

// What the servers file makes of a translation, in the environment that the host
// gives us, is what the host would have started.
func TestTranslationServes(t *testing.T) {
	for name, data := range fixtures(t) {
		host, _, _ := strings.Cut(name, "/")
		d := newDesk(t)
		d.put(host, false, data)
		f := d.file()
		for _, e := range f.Entries() {
			tr, err := f.Translate(e)
			if err != nil {
				continue
			}
			t.Run(name+" "+e.Name, func(t *testing.T) {
				h := replacer{f.dialect, map[string]string{}}
				var env []string
				for _, v := range append(e.Env, tr.Env...) {
					env = append(env, v.Name+"="+h.replaced(v.Value))
				}
				for _, text := range append(append([]string{e.Command, e.URL}, e.Args...), values(e.Headers)...) {
					h.replaced(text)
				}
				for name, value := range h.vars {
					env = append([]string{name + "=" + value}, env...)
				}
				for _, name := range tr.pass {
					env = append(env, name+"=<"+name+">")
				}
				compareServed(t, e, tr, env, h)
			})
		}
	}
}

// compareServed reads the translation as the servers file does.
func compareServed(t *testing.T, e Entry, tr Translation, env []string, h replacer) {
	t.Helper()
	file, err := config.Parse("f", fmt.Appendf(nil, `{"x": {"upstream": %s}}`, tr.Upstream))
	if err != nil {
		t.Fatal(err)
	}
	s, err := file.Server("x")
	if err != nil {
		t.Fatal(err)
	}
	if e.URL == "" {
		p, err := s.Process(env, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		want := []string{h.replaced(e.Command)}
		for _, arg := range e.Args {
			want = append(want, h.replaced(arg))
		}
		if diff := cmp.Diff(want, append([]string{p.Command}, p.Args...)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		return
	}
	r, err := s.Remote(env)
	if err != nil {
		t.Fatal(err)
	}
	if want, _, _ := strings.Cut(h.replaced(e.URL), "#"); r.URL != want { // no request has a fragment
		t.Errorf("URL %s, want %s", r.URL, want)
	}
	got := map[string]string{"Authorization": r.Authorization}
	for _, v := range r.Headers {
		got[v.Name] = v.Value
	}
	for _, v := range e.Headers {
		if want := h.replaced(v.Value); got[v.Name] != want {
			t.Errorf("header %s is %s, want %s", v.Name, got[v.Name], want)
		}
	}
}

// A replacer replaces placeholders as a host does. A variable's value is its
// name in a form of its own.
type replacer struct {
	d    *dialect
	vars map[string]string
}

func (h replacer) replaced(text string) string {
	if h.d.placeholder == "" {
		return text
	}
	pattern := regexp.MustCompile(h.d.placeholder)
	return pattern.ReplaceAllStringFunc(text, func(found string) string {
		m := pattern.FindStringSubmatch(found)
		for i, group := range pattern.SubexpNames() {
			if (group == "var" || group == "bare") && m[i] != "" {
				h.vars[m[i]] = "value-of-" + m[i]
				return h.vars[m[i]]
			}
		}
		return "value-of-" + strings.Trim(strings.ReplaceAll(found, ":", "-"), "${}")
	})
}

func values(vars []Var) (all []string) {
	for _, v := range vars {
		all = append(all, v.Value)
	}
	return all
}
