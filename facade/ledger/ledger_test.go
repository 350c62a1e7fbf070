package ledger

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/files"

	"github.com/google/go-cmp/cmp"
)

// call is a record of a call of a tool.
func call(tool string) Record {
	return Record{Time: time.Now(), Via: Call, Tool: tool, In: 12, Out: 345, Dur: 67 * time.Microsecond, Outcome: OK}
}

// read reads a ledger of which every line can be read.
func read(t *testing.T, path string) []Record {
	t.Helper()
	records, unread, err := Read(path)
	if err != nil || unread > 0 {
		t.Fatalf("Read = %d lines not read, %v", unread, err)
	}
	return records
}

// write writes records to the file at path as one process does.
func write(t testing.TB, path string, records ...Record) {
	t.Helper()
	l := Open(path, nil)
	for _, r := range records {
		l.Add(r)
	}
	l.Close(t.Context())
}

func place(t testing.TB) string { return Path(filepath.Join(t.TempDir(), "ledger"), "acme") }

func TestARecordComesBack(t *testing.T) {
	path := place(t)
	now := time.Now().UTC().Truncate(time.Millisecond)
	want := []Record{
		{Time: now, Session: "s1", Via: Session, Out: 900, Tokens: 250, Surface: "meta", Tools: 8},
		{Time: now, Session: "s1", Via: Discover, In: 20, Out: 800, Dur: 3 * time.Millisecond, Outcome: OK, Tokens: 210, Found: []string{"a", `b"\` + "\n\u202e"}},
		{Time: now, Session: "s2", Via: Direct, Tool: "größe", In: 0, Out: 1 << 20, Dur: time.Hour, Outcome: Failed},
	}
	write(t, path, want...)
	if diff := cmp.Diff(want, read(t, path)); diff != "" {
		t.Errorf("what was read (-want +got):\n%s", diff)
	}
}

func TestTheFileIsAsDocumented(t *testing.T) {
	path := place(t)
	at := time.Date(2026, 7, 28, 12, 30, 0, 123456789, time.FixedZone("", 7200))
	r := Record{Time: at, Session: "s", Via: Discover, In: 1, Out: 2, Dur: 3456 * time.Nanosecond, Outcome: OK, Found: []string{"a"}}
	write(t, path, r)
	got, err := os.ReadFile(path)
	want := `{"time":"2026-07-28T10:30:00.123Z","session":"s","via":"discover","in":1,"out":2,"outcome":"ok","found":["a"],"us":3}` + "\n"
	if err != nil || string(got) != want {
		t.Errorf("the file has %q, %v; want %q", got, err, want)
	}
}

func TestOneSessionForAProcess(t *testing.T) {
	path := place(t)
	write(t, path, call("a"), call("b"))
	write(t, path, call("c"))
	got := read(t, path)
	if got[0].Session == "" || got[0].Session != got[1].Session || got[0].Session == got[2].Session {
		t.Errorf("sessions %q, %q, %q: want the first two alike", got[0].Session, got[1].Session, got[2].Session)
	}
}

func TestPath(t *testing.T) {
	names := []string{"acme", "Acme", "acme ", "a/../b", "", "-", strings.Repeat("x", 64), strings.Repeat("x", 65), "größe", "a_b-1"}
	seen := map[string]string{}
	for _, name := range names {
		path := Path("dir", name)
		base := strings.ToLower(filepath.Base(path))
		if filepath.Dir(path) != "dir" || len(base) > 100 {
			t.Errorf("Path of %q = %q", name, path)
		}
		if other, taken := seen[base]; taken {
			t.Errorf("%q and %q have the file %q", name, other, base)
		}
		seen[base] = name
	}
	if got, want := Path("dir", "acme"), filepath.Join("dir", "acme.jsonl"); got != want {
		t.Errorf("Path = %q, want %q", got, want)
	}
}

func TestNothingIsDoneBeforeTheFirstRecord(t *testing.T) {
	path := place(t)
	l := Open(path, nil)
	l.Close(t.Context())
	var none *Ledger
	none.Add(call("a"))
	none.Close(t.Context())
	if records, err := none.Recent(t.Context()); records != nil || err != nil {
		t.Errorf("a nil Ledger has %v, %v", records, err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
	if got := read(t, path); got != nil {
		t.Errorf("Read of no file = %v", got)
	}
}

func TestABatchIsWrittenAfterAWhile(t *testing.T) {
	path := place(t)
	synctest.Test(t, func(t *testing.T) {
		l := Open(path, nil)
		defer l.Close(t.Context())
		for range 2 {
			l.Add(call("a"))
			time.Sleep(flushAfter - time.Millisecond)
			synctest.Wait()
			before := Size(path)
			l.Add(call("a"))
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if after := Size(path); after == before {
				t.Errorf("%v after the first record of a batch, %d bytes are written", flushAfter, after)
			}
			time.Sleep(time.Hour)
		}
		if got := len(read(t, path)); got != 4 {
			t.Errorf("%d records, want 4", got)
		}
	})
}

func TestAFullBatchIsWrittenAtOnce(t *testing.T) {
	path := place(t)
	synctest.Test(t, func(t *testing.T) {
		l := Open(path, nil)
		defer l.Close(t.Context())
		for i := range maxBatch {
			if i == maxBatch-1 {
				synctest.Wait()
				if Size(path) != 0 {
					t.Errorf("%d records are written before the batch is full", i)
				}
			}
			l.Add(call("a"))
		}
		synctest.Wait()
		if got := len(read(t, path)); got != maxBatch {
			t.Errorf("%d records are written, want %d", got, maxBatch)
		}
	})
}

func TestBeyondTheQueueRecordsAreCounted(t *testing.T) {
	path := place(t)
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		l := Open(path, slog.New(slog.NewTextHandler(&log, nil)))
		filling, release := make(chan struct{}), make(chan struct{})
		l.AddLater(call("stuck"), func(*Record) { close(filling); <-release })
		<-filling // the writer has taken it
		for range maxQueue + 7 {
			l.Add(call("a"))
		}
		close(release)
		l.Close(t.Context())
		l.Add(call("late"))
		if got := len(read(t, path)); got != 1+maxQueue {
			t.Errorf("%d records, want %d", got, 1+maxQueue)
		}
		if !strings.Contains(log.String(), "calls=7 ") {
			t.Errorf("the log says %q, want 7 missing calls", &log)
		}
	})
}

// A writer that is stuck does not keep Close beyond its context.
func TestCloseIsBounded(t *testing.T) {
	path := place(t)
	synctest.Test(t, func(t *testing.T) {
		if err := files.MakeDir(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
		unlock, err := lock(path, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		var log bytes.Buffer
		l := Open(path, slog.New(slog.NewTextHandler(&log, nil)))
		l.Add(call("a"))
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		began := time.Now()
		l.Close(ctx)
		if took := time.Since(began); took != 300*time.Millisecond {
			t.Errorf("Close took %v", took)
		}
		<-l.done // the writer ends by itself, because nothing is waited for any more
		if !strings.Contains(log.String(), "calls=1 ") {
			t.Errorf("the log says %q, want a missing call", &log)
		}
	})
}

func TestAnotherProcessIsWaitedForNotForEver(t *testing.T) {
	path := place(t)
	synctest.Test(t, func(t *testing.T) {
		if err := files.MakeDir(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
		unlock, err := lock(path, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, _, err = Read(path)
		if took := time.Since(began); err == nil || !strings.Contains(err.Error(), path) || took > lockWait+lockPause {
			t.Errorf("Read = %v after %v", err, took)
		}
	})
}

func TestLongNamesAndListsAreCut(t *testing.T) {
	path := place(t)
	r := call(strings.Repeat("ä", 100))
	for i := range 100 {
		r.Found = append(r.Found, fmt.Sprint(i, strings.Repeat("\x01", 1000), "\xff"))
	}
	write(t, path, r)
	got := read(t, path)[0]
	if want := strings.Repeat("ä", 64); got.Tool != want {
		t.Errorf("the tool is %q", got.Tool)
	}
	if len(got.Found) != maxFound || len(got.Found[0]) != maxName {
		t.Errorf("%d names, the first of %d bytes", len(got.Found), len(got.Found[0]))
	}
}

func TestTheWriterCompletesARecord(t *testing.T) {
	path := place(t)
	l := Open(path, nil)
	l.AddLater(call("a"), func(r *Record) { r.Tokens, r.Tools = 7, 8 })
	l.Close(t.Context())
	if got := read(t, path)[0]; got.Tokens != 7 || got.Tools != 8 {
		t.Errorf("the record is %+v", got)
	}
}

func TestCalls(t *testing.T) {
	refused, lost, cancelled, failed := call("a"), call("a"), call("a"), call("a")
	refused.Outcome, lost.Outcome, cancelled.Outcome, failed.Outcome = Refused, Lost, Cancelled, Failed
	found := Record{Via: Discover, Outcome: OK, Found: []string{"a"}}
	described := Record{Via: Describe, Tool: "c", Outcome: OK}
	got := Calls([]Record{refused, call("c"), lost, cancelled, found, described, call("b"), failed, call("a")})
	want := []Count{{"a", 2}, {"b", 1}, {"c", 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Calls (-want +got):\n%s", diff)
	}
}

// BenchmarkAdd is what a call waits for.
func BenchmarkAdd(b *testing.B) {
	l := Open(place(b), nil)
	l.timer = time.NewTimer(time.Hour) // there is no writer
	r := call("create_issue")
	b.ReportAllocs()
	for b.Loop() {
		l.Add(r)
		if len(l.queue) == maxBatch {
			l.queue = l.queue[:0]
		}
	}
}

// BenchmarkWrite is what the writer does for a record, in full batches.
func BenchmarkWrite(b *testing.B) {
	l := Open(place(b), nil)
	batch := make([]noted, maxBatch)
	for i := range batch {
		batch[i].Record = call("create_issue")
	}
	b.ReportAllocs()
	for b.Loop() {
		l.save(batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/maxBatch, "ns/record")
}

// BenchmarkRead is of as much as the files hold.
func BenchmarkRead(b *testing.B) {
	path := place(b)
	var lines []byte
	l := Open(path, nil)
	for len(lines) < maxSize {
		lines = l.appendLine(lines, noted{Record: call("create_issue")})
	}
	write(b, path, call("a"))
	for _, p := range []string{path, older(path)} {
		if err := os.WriteFile(p, lines, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(2 * int64(len(lines)))
	for b.Loop() {
		if _, _, err := Read(path); err != nil {
			b.Fatal(err)
		}
	}
}
