package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// toolsOf are the tools of raw objects, in a page of their own each, so that a
// name may come twice.
func toolsOf(raw ...string) (all []Tool) {
	for _, r := range raw {
		c, _ := New([][]byte{[]byte(`{"tools":[` + r + `]}`)})
		all = append(all, c.Tools()...)
	}
	return all
}

func TestDifferences(t *testing.T) {
	const was = `{"name":"a","title":"A","description":"Does a.","inputSchema":{"type":"object","properties":{"n":{"type":"number","maximum":1.0},"m":{"enum":[1,2]}}},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`
	edit := func(old, new string) string {
		if !strings.Contains(was, old) {
			t.Fatalf("%s is not there", old)
		}
		return strings.Replace(was, old, new, 1)
	}
	tests := []struct {
		name, is, want string
	}{
		{"sees none in the same", was, ""},
		{"sees none in another order of members", `{"annotations":{"readOnlyHint":true},"inputSchema":{"properties":{"m":{"enum":[1,2]},"n":{"maximum":1.0,"type":"number"}},"type":"object"},"outputSchema":{"type":"object"},"description":"Does a.","title":"A","name":"a"}`, ""},
		{"sees none in white space and escapes", edit(`"Does a."`, "\n\t\"\\u0044oes a.\" "), ""},
		{"sees none in what nobody heeds", edit(`"title"`, `"_meta":{"v":2},"icons":[],"execution":{},"title"`), ""},
		{"sees none in hints that are null", edit(`{"readOnlyHint":true}`, `{"destructiveHint":null,"readOnlyHint":true}`), ""},
		{"sees none in a title that is gone", edit(`"title":"A",`, ""), ""},
		{"sees none in an outputSchema that is gone", edit(`"outputSchema":{"type":"object"},`, ""), ""},
		{"sees a description", edit("Does a.", "Does b."), "[description]"},
		{"sees one that is gone", edit(`"description":"Does a.",`, ""), "[description]"},
		{"sees one that is given twice", edit(`"description"`, `"description":"Does b.","description"`), "[description]"},
		{"sees one in another case", edit(`"title"`, `"DESCRIPTION":"Does b.","title"`), "[description]"},
		{"sees what nobody sees", edit("Does a.", "Does a.\u200b"), "[description]"},
		{"sees another number", edit("1.0", "1"), "[schema]"},
		{"sees another order of values", edit("[1,2]", "[2,1]"), "[schema]"},
		{"sees a null in a schema", edit(`{"enum":[1,2]}`, `{"enum":[1,2],"default":null}`), "[schema]"},
		{"sees a property given twice", edit(`"m":`, `"n":{},"m":`), "[schema]"},
		{"sees an outputSchema", edit(`"outputSchema":{`, `"outputSchema":{"title":"x",`), "[schema]"},
		{"sees a hint", edit("true", "false"), "[annotations]"},
		{"sees hints that are gone", edit(`,"annotations":{"readOnlyHint":true}`, ""), "[annotations]"},
		{"sees a title", edit(`"A"`, `"B"`), "[annotations]"},
		{"sees all", `{"name":"a","description":"x","annotations":{}}`, "[description schema annotations]"},
	}
	for _, tt := range tests {
		t.Run("it "+tt.name, func(t *testing.T) {
			got := Differences(toolsOf(was)[0], toolsOf(tt.is)[0])
			if text := fmt.Sprint(got); text != tt.want && !(tt.want == "" && got == nil) {
				t.Errorf("Differences = %s, want %s", text, tt.want)
			}
		})
	}
}

// What is nested beyond reason is compared without an end of the stack.
func TestDifferencesOfDeepSchemas(t *testing.T) {
	deep := func(x string) string {
		return `{"name":"a","inputSchema":` + strings.Repeat(`{"not":`, 5000) + x + strings.Repeat("}", 5001)
	}
	if got := Differences(toolsOf(deep("1"))[0], toolsOf(deep("2"))[0]); len(got) != 1 {
		t.Errorf("Differences = %v, want the schema", got)
	}
}

func TestAccepted(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "acme", "accepted")
	a := OpenAccepted(path)
	if is, err := a.Load(); is != nil || err != nil || !a.IsEmpty() {
		t.Fatalf("Load = %v, %v before anything is accepted", is, err)
	}
	one := toolsOf("{\"name\":\"a\",\r\n \"description\":\"Does a.\"}", `{"name":"a","description":"Does a, for others."}`, `{"description":"Does a.","name":"a"}`, `{"name":"b","annotations":{"destructiveHint":true}}`)
	is, err := a.First(ctx, one)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(is.Forms("a")); n != 2 {
		t.Errorf("%d forms of a, want 2: one is the same in another order", n)
	}
	if b := is.Forms("b"); len(b) != 1 || !b[0].Destructive {
		t.Errorf("the forms of b: %+v", b)
	}
	first, err := a.Revision()
	if err != nil || first == "" || first != is.Revision {
		t.Errorf("Revision = %q, %v; want %q", first, err, is.Revision)
	}
	if is, err := a.First(ctx, toolsOf(`{"name":"z"}`)); err != nil || is.Forms("z") != nil {
		t.Errorf("First accepts what is not the first: %v, %v", is, err)
	}
	is, err = a.Add(ctx, toolsOf(`{"name":"b","description":"Other."}`, `{"name":"y"}`, `{"name":"y","title":"Y"}`))
	if err != nil || len(is.Forms("a")) != 2 || len(is.Forms("b")) != 1 || !is.Forms("b")[0].Destructive || len(is.Forms("y")) != 2 {
		t.Errorf("Add = %v, %v; want the forms that were there, and those of y", is, err)
	}
	if same, err := a.Add(ctx, toolsOf(`{"name":"y"}`)); err != nil || same.Revision != is.Revision {
		t.Errorf("Add of what is there = %v, %v; want %v", same, err, is)
	}
	if err := a.Accept(ctx, toolsOf(`{"name":"z"}`)); err != nil {
		t.Fatal(err)
	}
	if is, err = a.Load(); err != nil || len(is.Tools()) != 1 || is.Revision == first {
		t.Errorf("after Accept: %+v, %v", is, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
}

// What counts of a server of which nothing is accepted under its identity.
func TestInheritedAcceptance(t *testing.T) {
	root := t.TempDir()
	path := func(server, identity string) string {
		return filepath.Join(IdentityDir(root, server, []byte(identity), []byte("key")), "accepted")
	}
	now := time.Now()
	for i, was := range []struct{ server, identity, tool string }{
		{"acme", "1", "old"}, {"acme", "2", "new"}, {"acme-2", "1", "other"}, {"acm", "1", "other"}, {"bcme", "1", "other"},
	} {
		file := path(was.server, was.identity)
		if err := OpenAccepted(file).Accept(t.Context(), toolsOf(`{"name":"`+was.tool+`"}`)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, now, now.Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	a := OpenInherited(path("acme", "3"))
	is, err := a.First(t.Context(), toolsOf(`{"name":"wipe"}`))
	if err != nil || !is.Inherited || len(is.Tools()) != 1 || is.Forms("new") == nil {
		t.Fatalf("First = %+v, %v; want what was accepted last", is, err)
	}
	if revision, err := a.Revision(); err != nil || revision != is.Revision || a.IsEmpty() {
		t.Errorf("Revision = %q, %v; want %q", revision, err, is.Revision)
	}
	if is, err := OpenInherited(path("acme", "1")).Load(); err != nil || is.Inherited || is.Forms("old") == nil {
		t.Errorf("of its own identity: %+v, %v", is, err)
	}
	if is, err := OpenInherited(path("umbrella", "1")).Load(); is != nil || err != nil {
		t.Errorf("of another server: %+v, %v", is, err)
	}
	if is, err := OpenAccepted(path("acme", "3")).Load(); is != nil || err != nil {
		t.Errorf("without a name of its own: %+v, %v", is, err)
	}
	if is, err := a.Add(t.Context(), toolsOf(`{"name":"more"}`)); err != nil || is.Inherited || len(is.Tools()) != 2 {
		t.Errorf("Add = %+v, %v; want its own from now on", is, err)
	}
	if err := os.WriteFile(path("acme", "3"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	later := now.Add(time.Hour)
	if err := os.Chtimes(path("acme", "3"), later, later); err != nil {
		t.Fatal(err)
	}
	if is, err := OpenInherited(path("acme", "4")).Load(); err == nil || !strings.Contains(err.Error(), path("acme", "3")) {
		t.Errorf("of a damaged one: %+v, %v", is, err)
	}
}

func TestNearestForm(t *testing.T) {
	a := OpenAccepted(filepath.Join(t.TempDir(), "acme", "accepted"))
	is, err := a.First(t.Context(), toolsOf(`{"name":"a","description":"x","title":"X"}`, `{"name":"a","description":"y","annotations":{"readOnlyHint":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ tool, want string }{
		{`{"name":"a","description":"y","annotations":{"readOnlyHint":true}}`, "y []"},
		{`{"name":"a","description":"x","title":"Z"}`, "x [annotations]"},
		{`{"name":"a","description":"z","annotations":{"readOnlyHint":true}}`, "y [description]"},
	} {
		was, parts, known := is.Nearest(toolsOf(tt.tool)[0])
		if got := fmt.Sprint(was.Description, " ", parts); got != tt.want || !known {
			t.Errorf("Nearest(%s) = %s, %v; want %s", tt.tool, got, known, tt.want)
		}
	}
	if _, _, known := is.Nearest(toolsOf(`{"name":"A"}`)[0]); known {
		t.Error("a name in another case is known")
	}
}

// Of a file that was cut or changed anywhere nothing is believed.
func TestDamagedAccepted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "acme", "accepted")
	a := OpenAccepted(path)
	if _, err := a.First(t.Context(), toolsOf(`{"name":"a"}`, `{"name":"b","description":"B."}`)); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if is, err := a.Load(); err == nil || is != nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: Load = %v, %v; want an error that names the file", what, is, err)
		}
	}
	for i := range whole {
		try(fmt.Sprint("cut at ", i), whole[:i])
		flipped := append([]byte(nil), whole...)
		flipped[i] ^= 0x20
		try(fmt.Sprint("changed at ", i), flipped)
	}
	if _, err := a.First(t.Context(), toolsOf(`{"name":"c"}`)); err == nil {
		t.Error("First replaces what it cannot read")
	}
	if err := a.Accept(t.Context(), toolsOf(`{"name":"c"}`)); err != nil {
		t.Errorf("Accept over a damaged file: %v", err)
	}
	if is, err := a.Load(); err != nil || len(is.Tools()) != 1 {
		t.Errorf("after that Load = %v, %v", is, err)
	}
}

// Of several first listings at once one is accepted, whole.
func TestFirstAcceptedAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "acme", "accepted")
	var wg sync.WaitGroup
	revisions := make([]string, 8)
	for i := range revisions {
		wg.Go(func() {
			is, err := OpenAccepted(path).First(context.Background(), toolsOf(fmt.Sprintf(`{"name":"t%d"}`, i)))
			if err != nil || len(is.Tools()) != 1 {
				t.Errorf("First = %v, %v", is, err)
				return
			}
			revisions[i] = is.Revision
		})
	}
	wg.Wait()
	for _, r := range revisions {
		if r != revisions[0] {
			t.Errorf("the processes have accepted %q, want one listing", revisions)
			break
		}
	}
}

func BenchmarkAccepted(b *testing.B) {
	var raw []string
	for i := range 344 {
		raw = append(raw, fmt.Sprintf(`{"name":"tool_%d","description":"Does %d.","inputSchema":{"type":"object","properties":{%s"z":{}}},"_meta":{"x":1}}`, i, i,
			strings.Repeat(fmt.Sprintf(`"p%d":{"type":"string","description":"One of the many parameters that it has."},`, i), 60)))
	}
	tools := toolsOf(raw...)
	a := OpenAccepted(filepath.Join(b.TempDir(), "acme", "accepted"))
	if err := a.Accept(b.Context(), tools); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		is, err := a.Load()
		if err != nil {
			b.Fatal(err)
		}
		for _, t := range tools {
			if _, parts, _ := is.Nearest(t); parts != nil {
				b.Fatal(parts)
			}
		}
	}
}
