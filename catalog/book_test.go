package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-facade/files"
)

// book is one in a folder of the test's own.
func book(t *testing.T) *Book {
	return OpenBook(filepath.Join(t.TempDir(), "acme", "lessons"), nil)
}

func learn(t *testing.T, b *Book, words, tool string) {
	t.Helper()
	if err := b.Learn(t.Context(), strings.Fields(words), tool); err != nil {
		t.Fatal(err)
	}
}

func TestBook(t *testing.T) {
	b := book(t)
	if got := b.Lessons().list(); got != nil {
		t.Fatalf("a new book has %v", got)
	}
	learn(t, b, "close ticket", "close_ticket")
	learn(t, b, "ticket", "close_ticket")
	want := "mcp-facade lessons 1\nDAY 1 close close_ticket\nDAY 2 ticket close_ticket\nend\n"
	got := string(read(t, b.path))
	if day, _, _ := strings.Cut(strings.TrimPrefix(got, bookHead+"\n"), " "); strings.ReplaceAll(got, day, "DAY") != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	if n := len(b.Lessons().list()); n != 2 {
		t.Errorf("this process has %d lessons, want 2", n)
	}
	if n := len(OpenBook(b.path, nil).Lessons().list()); n != 2 {
		t.Errorf("another process has %d lessons, want 2", n)
	}
}

func TestNoBook(t *testing.T) {
	var b *Book
	learn(t, b, "close ticket", "close_ticket")
	if b.Lessons() != nil {
		t.Error("no book has lessons")
	}
	b = book(t)
	learn(t, b, "", "close_ticket")
	if _, err := os.Stat(b.path); err == nil {
		t.Error("a lesson without words makes a file")
	}
}

// What cannot be read is no lesson, and is replaced by the next one.
func TestDamagedBook(t *testing.T) {
	good := "mcp-facade lessons 1\n20000 1 close close_ticket\nend\n"
	for name, data := range map[string]string{
		"is empty":            "",
		"is cut":              good[:len(good)-10],
		"is of a later time":  strings.Replace(good, "1\n", "2\n", 1),
		"has a bad day":       strings.Replace(good, "20000", "-1", 1),
		"has a bad number":    strings.Replace(good, " 1 ", " 256 ", 1),
		"has a bad word":      strings.Replace(good, "close ", "cl0se ", 1),
		"has no tool":         strings.Replace(good, " close_ticket", "", 1),
		"has a control":       strings.Replace(good, "close_", "close\x1b", 1),
		"is binary":           "\x00\xff" + good,
		"is longer than ours": "mcp-facade lessons 1\n" + strings.Repeat("20000 1 close close_ticket\n", maxLessons+1) + "end\n",
	} {
		b := book(t)
		b.now = func() time.Time { return time.Unix(20000*24*60*60, 0) }
		if err := files.MakeDir(filepath.Dir(b.path)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(b.path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := b.Lessons().list(); got != nil {
			t.Errorf("a file that %s has %v", name, got)
		}
		learn(t, b, "open", "create_ticket")
		if got := b.Lessons().list(); len(got) != 1 || got[0].tool != "create_ticket" {
			t.Errorf("after a file that %s there is %v, want one lesson", name, got)
		}
	}
}

func TestBookForgets(t *testing.T) {
	b := book(t)
	start := time.Now()
	learn(t, b, "close", "close_ticket")
	b.now = func() time.Time { return start.Add((maxLessonDays + 1) * 24 * time.Hour) }
	learn(t, b, "open", "create_ticket")
	if got := b.Lessons().list(); len(got) != 1 || got[0].word != "open" {
		t.Errorf("after half a year there is %v, want what came last", got)
	}
	b.now = func() time.Time { return start } // the clock was wrong
	learn(t, b, "shut", "close_ticket")
	if got := b.Lessons().list(); len(got) != 2 || got[0].day != b.today() {
		t.Errorf("after a wrong clock there is %v, want both as of today", got)
	}
}

// Of processes that write at once none loses what another has learnt.
func TestBookIsShared(t *testing.T) {
	path := book(t).path
	var wg sync.WaitGroup
	for _, word := range []string{"a", "b"} {
		b := OpenBook(path, nil)
		wg.Go(func() {
			for range 5 {
				if err := b.Learn(t.Context(), []string{word, "all"}, word); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, l := range OpenBook(path, nil).Lessons().list() {
		if l.times != 5 {
			t.Errorf("%s was called after %q %d times, want 5", l.tool, l.word, l.times)
		}
	}
}

func TestBookIsOurs(t *testing.T) {
	b := book(t)
	learn(t, b, "close", "close_ticket")
	info, err := os.Stat(b.path)
	if err != nil || info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("the file's mode is %v, %v", info.Mode(), err)
	}
	if filepath.Separator != '/' {
		return
	}
	if err := os.Chmod(b.path, 0o666); err != nil {
		t.Fatal(err)
	}
	if got := OpenBook(b.path, nil).Lessons().list(); got != nil {
		t.Errorf("a file that others can write has %v", got)
	}
}
