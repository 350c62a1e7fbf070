package wire

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// textFrame is a tool's answer of about n bytes, most of it text.
func textFrame(n int) []byte {
	const line = `2026-07-28 The quick brown fox said \"over the lazy dog\" and left.\n`
	text := strings.Repeat(line, max(1, (n-130)/len(line)))
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":4711,"result":{"content":[{"type":"text","text":"%s"}],"isError":false,"_meta":{"n":1.5,"tags":["a","b"]}}}`, text)
}

// dataFrame is an answer of about n bytes, most of it structure.
func dataFrame(n int) []byte {
	const row = `{"id":12345,"name":"row","ok":true,"tags":["a","b"],"size":1.5e3},`
	rows := strings.Repeat(row, max(1, n/len(row)))
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"a-1","result":{"structuredContent":{"rows":[%s]}}}`, rows[:len(rows)-1])
}

func BenchmarkParse(b *testing.B) {
	for _, frame := range [][]byte{textFrame(200), textFrame(1 << 20), textFrame(10 << 20), dataFrame(1 << 20)} {
		b.Run(fmt.Sprintf("%c/%d", frame[27], len(frame)), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(frame)))
			for b.Loop() {
				if _, err := Parse(frame); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReadWrite(b *testing.B) {
	for _, size := range []int{200, 1 << 20, 10 << 20} {
		frame := textFrame(size)
		count := max(1, 1<<20/len(frame))
		stream := bytes.Repeat(append(frame[:len(frame):len(frame)], '\n'), count)
		b.Run(fmt.Sprint(len(frame)), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(stream)))
			for b.Loop() {
				relayAll(b, stream)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/frame")
		})
	}
}

func relayAll(b *testing.B, stream []byte) {
	r := NewReader(bytes.NewReader(stream), func(line []byte, err error) { b.Fatal(err) })
	w := NewWriter(io.Discard, 64<<20)
	for {
		m, err := r.Next()
		if err == io.EOF {
			break
		}
		w.Send(m.Raw)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
