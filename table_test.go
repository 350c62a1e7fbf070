package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

func TestHelpWidth(t *testing.T) {
	texts := map[string]string{"the help": helpText()}
	for _, c := range commands() {
		texts["the help of "+c.String()] = c.help()
	}
	for what, text := range texts {
		for i, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > helpWidth && !strings.HasPrefix(line, "Example: ") {
				t.Errorf("line %d of %s has %d characters, want %d at most: %q", i+1, what, n, helpWidth, line)
			}
		}
	}
}

func TestTableOfCommands(t *testing.T) {
	for _, c := range append(commands(), servings()...) {
		if c.group == "" {
			continue
		}
		if c.does == "" || c.run == nil || !slices.Contains(groups(), c.group) {
			t.Errorf("%s: it does %q below %q: want words for both, and something to run", c.usage(), c.does, c.group)
		}
		for _, name := range strings.Fields(c.flags) {
			if f, ok := flagNamed("--" + name); !ok || strings.Contains(commonFlags, f.name) {
				t.Errorf("%s takes --%s, which is no flag of its own", c.usage(), name)
			}
		}
		o := &options{}
		words, _ := splitExample(c.example)
		if read, _, err := o.read(words); err != nil || read.name != c.name {
			t.Errorf("%s: the example %q is read as %q, %v", c.usage(), c.example, read.usage(), err)
		}
		for _, name := range o.given {
			if !c.takes(name) {
				t.Errorf("%s: the example has --%s, which it does not take", c.usage(), name)
			}
		}
		for _, text := range []string{helpText(), manPage("1")} {
			if read := strings.NewReplacer(`\-`, "-", "...", "…").Replace(text); !strings.Contains(read, c.usage()) {
				t.Errorf("%q stands in no line of\n%s", c.usage(), text)
			}
		}
	}
}

// splitExample are the words after ours, and what ended them.
func splitExample(example string) (words []string, end string) {
	_, rest, _ := strings.Cut(" "+example, " mcp-facade ")
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		if rest[0] == '|' || rest[0] == '>' {
			return words, rest
		}
		stop := strings.IndexByte(rest, ' ')
		if rest[0] == '\'' {
			stop = strings.IndexByte(rest[1:], '\'') + 2
		}
		if stop < 0 {
			stop = len(rest)
		}
		word, _ := unquoted(rest[:stop])
		words, rest = append(words, word), rest[stop:]
	}
	return words, ""
}

// TestTableOfFlags: the table, the options and the parser have the same flags,
// and each is for some command.
func TestTableOfFlags(t *testing.T) {
	o := &options{}
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	set := map[any]string{}
	for _, f := range allFlags() {
		f.add(fs, o)
		if other := set[f.at(o)]; other != "" {
			t.Errorf("--%s and --%s are the same", f.name, other)
		}
		set[f.at(o)] = f.name
		taken := slices.ContainsFunc(append(commands(), serving()), func(c command) bool { return c.takes(f.name) })
		if got := fs.Lookup(f.name); got == nil || got.Shorthand != f.short || !taken {
			t.Errorf("--%s: the parser has it as %v; taken by a command: %v", f.name, got, taken)
		}
		if _, isSwitch := f.at(o).(*bool); isSwitch != (f.value == "") {
			t.Errorf("--%s: what stands after it is %q, which a %T cannot hold", f.name, f.value, f.at(o))
		}
	}
	for i, v := 0, reflect.ValueOf(o).Elem(); i < v.NumField(); i++ {
		name, at := v.Type().Field(i).Name, v.Field(i).Addr().UnsafePointer()
		flagged := false
		for p := range set {
			flagged = flagged || reflect.ValueOf(p).UnsafePointer() == at
		}
		if read := name == "given" || name == "inPlace"; flagged == read {
			t.Errorf("options.%s is set by a flag: %v, want %v", name, flagged, !read)
		}
	}
}
