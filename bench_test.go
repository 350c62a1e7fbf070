package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// These benchmarks measure the whole program, as a host sees it:
//
//	go test -run '^$' -bench . -benchtime 100x .
//
// The program is built from a clean copy of the last commit, because only a
// stamped build trusts the surfaces that are stored (DESIGN "The catalog and
// its cache"). Catalogs are real ones where ../shared has them, else made up to
// the same sizes.

// A lab is what the benchmarks run: built once.
type lab struct {
	facade, hello, upstream string
}

var buildLab = sync.OnceValues(func() (lab, error) {
	dir, err := os.MkdirTemp("", "mcp-facade-bench-")
	if err != nil {
		return lab{}, err
	}
	l := lab{filepath.Join(dir, "mcp-facade"), filepath.Join(dir, "hello"), filepath.Join(dir, "upstream")}
	source := filepath.Join(dir, "source")
	for _, cmd := range [][]string{
		{".", "git", "clone", "--quiet", ".", source},
		{source, "go", "build", "-buildvcs=true", "-trimpath", "-ldflags=-s -w", "-o", l.facade, "."},
		{source, "go", "build", "-ldflags=-s -w", "-o", l.hello, "./testdata/bench/hello"},
		{source, "go", "build", "-ldflags=-s -w", "-o", l.upstream, "./testdata/bench/upstream"},
	} {
		c := exec.Command(cmd[1], cmd[2:]...)
		c.Dir = cmd[0]
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := c.CombinedOutput(); err != nil {
			return lab{}, fmt.Errorf("%s: %w\n%s", strings.Join(cmd[1:], " "), err, out)
		}
	}
	return l, nil
})

func theLab(b *testing.B) lab {
	b.Helper()
	l, err := buildLab()
	if err != nil {
		b.Skip(err)
	}
	return l
}

// world is a servers file of one entry and directories of its own, as
// environment and arguments of the facade.
func benchWorld(b *testing.B, l lab, used []string, upstream ...string) (environ, args []string) {
	b.Helper()
	dir := b.TempDir()
	words := make([]string, len(upstream))
	for i, w := range upstream {
		words[i] = strconv.Quote(w)
	}
	for i, name := range used {
		used[i] = strconv.Quote(name)
	}
	file := fmt.Sprintf(`{"bench":{"command":%s,"args":[%s],"used":[%s]}}`, words[0], strings.Join(words[1:], ","), strings.Join(used, ","))
	path := filepath.Join(dir, "facade.servers.json")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		b.Fatal(err)
	}
	return append(os.Environ(), "XDG_CACHE_HOME="+dir, "XDG_STATE_HOME="+dir, "MCP_FACADE_NO_LEDGER="), []string{"--config", path, "--server", "bench"}
}

// A peer is a program that is spoken to by lines.
type peer struct {
	b   *testing.B
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startPeer(b *testing.B, environ []string, name string, args ...string) *peer {
	b.Helper()
	p := &peer{b: b, cmd: exec.Command(name, args...)}
	p.cmd.Env = environ
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		b.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	p.out = bufio.NewReaderSize(out, 1<<16)
	if err := p.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return p
}

// line reads one line and returns its length and its beginning.
func (p *peer) line() (n int, head string) {
	p.b.Helper()
	for {
		chunk, err := p.out.ReadSlice('\n')
		if n == 0 {
			head = string(chunk[:min(len(chunk), 200)])
		}
		n += len(chunk)
		if err == nil {
			return n, head
		}
		if err != bufio.ErrBufferFull {
			p.b.Fatalf("%s: %v after %d bytes", p.cmd.Path, err, n)
		}
	}
}

func (p *peer) write(frames string) {
	p.b.Helper()
	if _, err := io.WriteString(p.in, frames); err != nil {
		p.b.Fatal(err)
	}
}

func (p *peer) stop() {
	p.in.Close()
	io.Copy(io.Discard, p.out)
	p.cmd.Wait()
}

// status is a figure of /proc/PID/status in kB, 0 where there is none.
func (p *peer) status(key string) float64 {
	file, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	for line := range strings.Lines(string(file)) {
		if rest, ok := strings.CutPrefix(line, key+":"); ok {
			n, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return n
		}
	}
	return 0
}

const opening = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + hostOpening + `}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
const openingAndList = opening + `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
`

// a figure is the sorted measurements of one thing.
type figure []float64

func (f figure) median() float64 {
	if len(f) == 0 {
		return 0
	}
	slices.Sort(f)
	return f[len(f)/2]
}

// benchCatalogs are the two catalogs of the tables: file, and five used tools.
func benchCatalogs(b *testing.B) map[string][]string {
	b.Helper()
	real := map[string]string{"85-tools": "../shared/catalogs/github.json", "344-tools": "../shared/catalogs/ms365.json"}
	sizes := map[string][2]int{"85-tools": {85, 2500}, "344-tools": {344, 6000}}
	found := map[string][]string{}
	for name, path := range real {
		path, err := filepath.Abs(path)
		if _, missing := os.Stat(path); err != nil || missing != nil {
			path = madeUp(b, sizes[name][0], sizes[name][1])
		}
		file, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		list := []string{path}
		for _, t := range gjson.GetBytes(file, "tools.#.name").Array()[:5] {
			list = append(list, t.Str)
		}
		found[name] = list
	}
	return found
}

// madeUp writes a catalog of n tools of about size bytes.
func madeUp(b *testing.B, n, size int) string {
	var out bytes.Buffer
	out.WriteString(`{"tools":[`)
	for i := range n {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, `{"name":"list_things_%d","description":"Lists the things of kind %d. It takes long.","inputSchema":{"type":"object","properties":{`, i, i)
		for j := 0; j*120 < size; j++ {
			if j > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(&out, `"parameter_%d":{"type":"string","description":"What to list of the things, and in which order they come."}`, j)
		}
		out.WriteString(`}}}`)
	}
	out.WriteString(`]}`)
	path := filepath.Join(b.TempDir(), "catalog.json")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkStart is the time from exec to the last byte of the tools/list
// answer, the host's three frames written at once, and the memory held then.
func BenchmarkStart(b *testing.B) {
	l := theLab(b)
	b.Run("hello-world", func(b *testing.B) { benchStart(b, os.Environ(), 2, l.hello) })
	for name, list := range benchCatalogs(b) {
		b.Run(name, func(b *testing.B) {
			environ, args := benchWorld(b, l, slices.Clone(list[1:]), l.upstream, list[0])
			p := startPeer(b, environ, l.facade, args...)
			p.write(openingAndList)
			p.line()
			p.line()
			p.stop() // the cache is warm now
			benchStart(b, environ, 2, l.facade, args...)
		})
	}
}

func benchStart(b *testing.B, environ []string, lines int, name string, args ...string) {
	var ms, rss, anon figure
	for b.Loop() {
		start := time.Now()
		p := startPeer(b, environ, name, args...)
		p.write(openingAndList)
		for range lines {
			p.line()
		}
		ms = append(ms, float64(time.Since(start).Microseconds())/1000)
		rss, anon = append(rss, p.status("VmRSS")/1024), append(anon, p.status("RssAnon")/1024)
		p.stop()
	}
	b.ReportMetric(ms.median(), "ms-p50")
	b.ReportMetric(rss.median(), "MB-rss")
	b.ReportMetric(anon.median(), "MB-anon")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkCall is the round trip of a tools/call through the facade and
// without it, and the most memory that the facade ever held.
func BenchmarkCall(b *testing.B) {
	l := theLab(b)
	for _, size := range []struct {
		name string
		n    int
	}{{"100B", 100}, {"1MB", 1 << 20}, {"10MB", 10 << 20}} {
		b.Run(size.name+"/direct", func(b *testing.B) { benchCall(b, size.n, os.Environ(), l.upstream) })
		b.Run(size.name+"/facade", func(b *testing.B) {
			environ, args := benchWorld(b, l, []string{"text"}, l.upstream)
			benchCall(b, size.n, environ, l.facade, args...)
		})
	}
}

// BenchmarkCallHTTP is the same for an upstream that is reached by Streamable
// HTTP, which answers with JSON or with events.
func BenchmarkCallHTTP(b *testing.B) {
	l := theLab(b)
	up := startPeer(b, os.Environ(), l.upstream, "-http")
	defer func() { up.cmd.Process.Kill(); up.stop() }()
	_, address := up.line()
	for _, answer := range []string{"json", "events"} {
		url := strings.TrimSpace(address) + "/" + answer
		for _, size := range []struct {
			name string
			n    int
		}{{"100B", 100}, {"1MB", 1 << 20}, {"10MB", 10 << 20}} {
			b.Run(answer+"/"+size.name+"/direct", func(b *testing.B) { benchPost(b, size.n, url) })
			b.Run(answer+"/"+size.name+"/facade", func(b *testing.B) {
				dir := b.TempDir()
				environ := append(os.Environ(), "XDG_CACHE_HOME="+dir, "XDG_STATE_HOME="+dir)
				benchCall(b, size.n, environ, l.facade, "--url", url)
			})
		}
	}
}

// benchPost is benchCall without a facade.
func benchPost(b *testing.B, n int, url string) {
	var us figure
	for b.Loop() {
		start := time.Now()
		r, err := http.Post(url, "application/json", strings.NewReader(callFrame(n)))
		if err != nil {
			b.Fatal(err)
		}
		if got, err := io.Copy(io.Discard, r.Body); err != nil || got < int64(n) {
			b.Fatalf("the answer has %d bytes: %v", got, err)
		}
		r.Body.Close()
		us = append(us, float64(time.Since(start).Nanoseconds())/1000)
	}
	b.ReportMetric(us.median(), "us-p50")
	b.ReportMetric(0, "ns/op")
}

// callFrame is a call that is answered with n bytes.
func callFrame(n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"text","arguments":{"n":%d}}}`+"\n", n)
}

func benchCall(b *testing.B, n int, environ []string, name string, args ...string) {
	p := startPeer(b, environ, name, args...)
	defer p.stop()
	p.write(opening)
	p.line()
	frame := callFrame(n)
	p.write(frame)
	p.line()
	var us figure
	for b.Loop() {
		start := time.Now()
		p.write(frame)
		if got, head := p.line(); got < n {
			b.Fatalf("the answer has %d bytes: %s", got, head)
		}
		us = append(us, float64(time.Since(start).Nanoseconds())/1000)
	}
	b.ReportMetric(us.median(), "us-p50")
	b.ReportMetric(p.status("VmHWM")/1024, "MB-peak")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkDiscover is a search in 344 tools: the first after a start, which
// reads the catalog and builds the index, and later ones.
func BenchmarkDiscover(b *testing.B) {
	l := theLab(b)
	list := benchCatalogs(b)["344-tools"]
	environ, args := benchWorld(b, l, slices.Clone(list[1:]), l.upstream, list[0])
	search := `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"discover","arguments":{"query":"move a message to another folder"}}}` + "\n"
	warm := startPeer(b, environ, l.facade, args...)
	warm.write(openingAndList)
	warm.line()
	warm.line()
	warm.stop()
	var first, later figure
	for b.Loop() {
		p := startPeer(b, environ, l.facade, args...)
		p.write(openingAndList)
		p.line()
		p.line()
		for _, f := range []*figure{&first, &later} {
			start := time.Now()
			p.write(search)
			p.line()
			*f = append(*f, float64(time.Since(start).Microseconds())/1000)
		}
		p.stop()
	}
	b.ReportMetric(first.median(), "ms-first")
	b.ReportMetric(later.median(), "ms-later")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkBinary is the size of the stripped program.
func BenchmarkBinary(b *testing.B) {
	info, err := os.Stat(theLab(b).facade)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
	}
	b.ReportMetric(float64(info.Size())/(1<<20), "MB")
	b.ReportMetric(0, "ns/op")
}
