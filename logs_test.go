package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

func TestLogPipe(t *testing.T) {
	var out bytes.Buffer
	p := newLogPipe(&out)
	p.Write([]byte("a\n"))
	p.Write([]byte("b\n"))
	p.close()
	p.Write([]byte("after the end\n"))
	if out.String() != "a\nb\n" {
		t.Errorf("written: %q", out.String())
	}
}

// TestLogPipeStuck shows that nobody waits for a stderr that is not read, and
// that what is lost is said once it is read again.
func TestLogPipeStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		p := newLogPipe(w)
		for range logQueue + 100 {
			p.Write([]byte("x\n"))
		}
		synctest.Wait()
		got := make(chan string)
		go func() {
			all, _ := io.ReadAll(r)
			got <- string(all)
		}()
		synctest.Wait()
		p.Write([]byte("last\n"))
		p.close()
		w.Close()
		if all := <-got; !strings.Contains(all, " lines of the log are lost") || !strings.HasSuffix(all, "last\n") {
			t.Errorf("written at the end: %q", all[max(0, len(all)-200):])
		}

		_, stuck := io.Pipe()
		p = newLogPipe(stuck)
		p.Write([]byte("x\n"))
		p.close() // returns
		stuck.Close()
	})
}
