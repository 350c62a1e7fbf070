package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is also a process that writes: see writer.
func TestMain(m *testing.M) {
	if path := os.Getenv("LEDGER_TEST_PATH"); path != "" {
		name := os.Getenv("LEDGER_TEST_TOOL")
		n, _ := strconv.Atoi(os.Getenv("LEDGER_TEST_COUNT"))
		beAWriter(path, name, n)
		return
	}
	os.Exit(m.Run())
}

// beAWriter writes n records, in batches; without a number until it is killed.
func beAWriter(path, name string, n int) {
	for i := 0; i < n || n == 0; i++ {
		var lines []byte
		l := Open(path, nil)
		for range maxBatch / 4 {
			r := call(name + "-" + strconv.Itoa(i))
			lines = l.appendLine(lines, noted{Record: r})
			i++
		}
		i--
		if err := appendTo(path, lines, nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// writer is a process that writes n records.
func writer(t *testing.T, path, name string, n int) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LEDGER_TEST_PATH="+path, "LEDGER_TEST_TOOL="+name, "LEDGER_TEST_COUNT="+strconv.Itoa(n))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// Two processes write while this one reads: each line is read once and whole,
// and none is lost but with the file that the second rotation drops.
func TestSeveralProcesses(t *testing.T) {
	const each = 15 * maxBatch // in all less than a file
	path := place(t)
	full := strings.Repeat(strings.Repeat("x", 999)+"\n", maxSize/1000-300) // so that they rotate it
	write(t, path, call("first"))
	if err := os.WriteFile(path, []byte(full), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 2)
	for _, name := range []string{"a", "b"} {
		cmd := writer(t, path, name, each)
		go func() { done <- cmd.Wait() }()
	}
	before := 0
	for left := 2; left > 0; {
		select {
		case err := <-done:
			left--
			if err != nil {
				t.Fatal(err)
			}
		default:
		}
		records, unread, err := Read(path)
		if err != nil || unread != strings.Count(full, "\n") {
			t.Fatalf("Read = %d lines not read, %v", unread, err)
		}
		if len(records) < before {
			t.Fatalf("%d records after %d", len(records), before)
		}
		before = len(records)
	}
	records, _, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	next := map[string]int{}
	for _, r := range records {
		name, number, _ := strings.Cut(r.Tool, "-")
		if number != strconv.Itoa(next[name]) {
			t.Fatalf("%s comes after %s-%d", r.Tool, name, next[name]-1)
		}
		next[name]++
	}
	if next["a"] != each || next["b"] != each {
		t.Errorf("records %v, want %d of each", next, each)
	}
	if info, err := os.Stat(older(path)); err != nil || info.Size() > maxSize {
		t.Errorf("the older file: %v, %v", info, err)
	}
}

func TestAKilledWriter(t *testing.T) {
	path := place(t)
	for range 5 {
		cmd := writer(t, path, "a", 0)
		for start := Size(path); Size(path) == start; {
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
	}
	write(t, path, call("after"))
	records, unread, err := Read(path)
	if err != nil || unread > 5 || records[len(records)-1].Tool != "after" {
		t.Errorf("Read = %d records, %d lines not read, %v", len(records), unread, err)
	}
}

func TestATornLine(t *testing.T) {
	path := place(t)
	write(t, path, call("a"), call("torn"))
	info, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, info.Size()-10)
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, call("b"))
	records, unread, err := Read(path)
	if err != nil || unread != 1 || len(records) != 2 || records[1].Tool != "b" {
		t.Errorf("Read = %v, %d lines not read, %v", records, unread, err)
	}
}

func TestRotation(t *testing.T) {
	path := place(t)
	write(t, path, call("a"))
	l := Open(path, nil)
	line := l.appendLine(nil, noted{Record: call(strings.Repeat("x", maxName))})
	lines := bytes.Repeat(line, 2000)
	for range 3 * maxSize / len(lines) {
		if err := appendTo(path, lines, nil); err != nil {
			t.Fatal(err)
		}
		if size := Size(path); size > 2*maxSize {
			t.Fatalf("the files have %d bytes", size)
		}
	}
	if got := read(t, path); int64(len(got)) != Size(path)/int64(len(line)) || got[0].Tool == "a" {
		t.Errorf("%d records of %d bytes", len(got), Size(path))
	}
}

// A memory is a file of which only the end is written.
type memory struct{ data []byte }

func (m *memory) ReadAt(b []byte, at int64) (int, error) { return copy(b, m.data[at:]), nil }

func (m *memory) WriteAt(b []byte, at int64) (int, error) {
	m.data = append(bytes.Clone(m.data[:at]), b...)
	return len(b), nil
}

func (m *memory) Truncate(size int64) error { m.data = m.data[:size]; return nil }

// A full disk takes the first half of what is written.
type fullDisk struct{ memory }

func (d *fullDisk) WriteAt(b []byte, at int64) (int, error) {
	d.data = append(d.data[:at], b[:len(b)/2]...)
	return len(b) / 2, syscall.ENOSPC
}

func TestAFullDisk(t *testing.T) {
	for _, start := range []string{"", "{}\n", "{}"} {
		d := &fullDisk{memory{[]byte(start)}}
		if err := put(d, int64(len(start)), []byte(`{"a":1}`+"\n")); !errors.Is(err, syscall.ENOSPC) || string(d.data) != start {
			t.Errorf("put = %v, and %q is now %q", err, start, d.data)
		}
	}
}

func TestAFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	if err := put(full, 0, []byte("{}\n")); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "/dev/full") {
		t.Errorf("put on a full device: %v", err)
	}
}

// lineOf is a line with one member changed, or added.
func lineOf(member string) string {
	key, _, _ := strings.Cut(member, ":")
	line := `{`
	for _, m := range []string{`"time":"2026-01-02T03:04:05Z"`, `"session":"s"`, `"via":"call"`, `"tool":"a"`, `"in":1`, `"out":2`, `"us":3`, `"outcome":"ok"`} {
		if !strings.HasPrefix(m, key+":") {
			line += m + ","
		}
	}
	return line + member + "}"
}

func TestHostileLines(t *testing.T) {
	good := []struct{ name, line string }{
		{"takes what a later version adds", lineOf(`"added":{"x":[1,2]}`)},
		{"takes a name with control characters", lineOf(`"tool":"a\u001b[31m\u202e\n"`)},
		{"takes white space around a line", "  " + lineOf(`"in":0`) + " \r"},
	}
	bad := []struct{ name, line string }{
		{"skips what is no JSON", `{"time":`},
		{"skips another value", `["a"]`},
		{"skips no time", strings.Replace(lineOf(`"in":1`), `"time":"2026-01-02T03:04:05Z",`, "", 1)},
		{"skips a time before any record", lineOf(`"time":"1969-01-02T03:04:05Z"`)},
		{"skips a time to come", lineOf(`"time":"9999-01-02T03:04:05Z"`)},
		{"skips no way", lineOf(`"via":""`)},
		{"skips a negative size", lineOf(`"in":-1`)},
		{"skips a size that overflows sums", lineOf(`"out":9223372036854775807`)},
		{"skips a fraction", lineOf(`"out":1.5`)},
		{"skips a negative duration", lineOf(`"us":-1`)},
		{"skips a duration without end", lineOf(`"us":9223372036854775807`)},
		{"skips another type", lineOf(`"tool":["a"]`)},
		{"skips a name without end", lineOf(`"tool":"` + strings.Repeat("x", 4*maxName) + `"`)},
		{"skips a long way", lineOf(`"via":"` + strings.Repeat("x", 4*maxName) + `"`)},
		{"skips too many names", lineOf(`"found":["a"` + strings.Repeat(`,"a"`, maxFound) + `]`)},
		{"skips a huge line", lineOf(`"x":"` + strings.Repeat("x", maxLine) + `"`)},
		{"skips a deep line", lineOf(`"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000))},
		{"skips zeros of a crash", strings.Repeat("\x00", 4096)},
	}
	path := place(t)
	write(t, path, call("first"))
	for _, tt := range good {
		t.Run(tt.name, func(t *testing.T) { wantLines(t, path, tt.line, 1, 0) })
	}
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) { wantLines(t, path, tt.line, 0, 1) })
	}
}

// wantLines fails the test unless of a line between two good ones so many are
// read.
func wantLines(t *testing.T, path, line string, read, unread int) {
	t.Helper()
	good := lineOf(`"in":1`)
	if err := os.WriteFile(path, []byte(good+"\n\n"+line+"\n"+good+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	records, skipped, err := Read(path)
	if err != nil || len(records) != 2+read || skipped != unread {
		t.Errorf("Read = %d records, %d lines not read, %v; want %d and %d", len(records), skipped, err, 2+read, unread)
	}
}

// Whatever is in a file: each line is read or counted, what is read can be written
// again, and a record that is added to it is read.
func FuzzRead(f *testing.F) {
	f.Add([]byte(lineOf(`"in":1`) + "\n" + lineOf(`"found":["a"]`)))
	f.Add([]byte(lineOf(`"us":-1`) + "\r\n{\n\x00"))
	f.Add([]byte(lineOf(`"tool":"\xff\u2028"`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		now := time.Now()
		records, unread := parseLines(text, now)
		lines := 0
		for l := range bytes.Lines(text) {
			if len(bytes.TrimSpace(l)) > 0 {
				lines++
			}
		}
		if len(records)+unread != lines {
			t.Fatalf("%d records, %d lines not read, of %d lines", len(records), unread, lines)
		}
		l := Open("", nil)
		var written []byte
		for _, r := range records {
			written = l.appendLine(written, noted{Record: r})
		}
		if back, unread := parseLines(written, now); unread > 0 || len(back) != len(records) {
			t.Fatalf("%d records of %d come back, %d lines not read", len(back), len(records), unread)
		}
		d := &memory{text}
		if err := put(d, int64(len(text)), l.appendLine(nil, noted{Record: call("next")})); err != nil {
			t.Fatal(err)
		}
		if all, _ := parseLines(d.data, now); len(all) != len(records)+1 || all[len(records)].Tool != "next" {
			t.Errorf("the next record is not read: %d records, there were %d", len(all), len(records))
		}
	})
}

// Of a file that is larger than ours are, the end is read.
func TestReadIsBounded(t *testing.T) {
	path := place(t)
	write(t, path, call("first"))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 40); err != nil {
		t.Skip(err)
	}
	for _, want := range []int{0, 1} {
		records, unread, err := Read(path)
		if err != nil || len(records) != want || unread != 1-want {
			t.Errorf("Read = %d records, %d lines not read, %v", len(records), unread, err)
		}
		l := Open(path, nil)
		if _, err := f.Write(l.appendLine([]byte("\n"), noted{Record: call("last")})); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRecent(t *testing.T) {
	path := place(t)
	l := Open(path, nil)
	defer l.Close(t.Context())
	var lines []byte
	for len(lines) < maxSize/2 {
		lines = l.appendLine(lines, noted{Record: call("long ago")})
	}
	write(t, path, call("a"))
	if err := os.WriteFile(path, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	l.Add(call("just now"))
	records, err := l.Recent(t.Context())
	if n := len(records); err != nil || n < 2000 || n > 5000 || records[n-1].Tool != "just now" {
		t.Errorf("Recent = %d records, %v", n, err)
	}
}
