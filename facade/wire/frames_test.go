package wire

import (
	"errors"
	"strings"
	"testing"
)

func TestFrames(t *testing.T) {
	for _, tt := range []struct {
		name string
		text string
		want []string
		err  error
	}{
		{"takes one frame", frame1, []string{frame1}, nil},
		{"takes a byte order mark and space off", "\uFEFF \r\n" + frame1 + "\n", []string{frame1}, nil},
		{"keeps a frame of several lines", "{\"jsonrpc\":\"2.0\",\r\n \"id\": 1,\n\t\"result\": {}\n}",
			[]string{"{\"jsonrpc\":\"2.0\",\r\n \"id\": 1,\n\t\"result\": {}\n}"}, nil},
		{"replaces what is not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"a\xffb\"}",
			[]string{`{"jsonrpc":"2.0","id":1,"result":"a` + "\uFFFD" + `b"}`}, ErrUTF8},
		{"takes a batch apart, in order", ` [{"jsonrpc":"2.0","id":2,"result":{}} , {"jsonrpc":"2.0","method":"x"},` + "\n" + `{"jsonrpc":"2.0","id":1,"error":{}}] `,
			[]string{`{"jsonrpc":"2.0","id":2,"result":{}}`, `{"jsonrpc":"2.0","method":"x"}`, `{"jsonrpc":"2.0","id":1,"error":{}}`}, nil},
		{"passes over what is no message in a batch", `[1,{"jsonrpc":"2.0","id":1,"result":{}},{"id":2}]`,
			[]string{`{"jsonrpc":"2.0","id":1,"result":{}}`}, ErrEnvelope},
		{"replaces in a batch", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"},{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]",
			[]string{`{"jsonrpc":"2.0","id":1,"result":"` + "\uFFFD" + `"}`, `{"jsonrpc":"2.0","method":"x"}`}, ErrUTF8},
		{"takes no empty batch", `[ ]`, nil, ErrEnvelope},
		{"takes no batch in a batch", `[[{"jsonrpc":"2.0","method":"x"}]]`, nil, ErrEnvelope},
		{"takes no part of a frame", frame1[:len(frame1)-1], nil, ErrNotJSON},
		{"takes no part of a batch", `[` + frame1 + `,`, nil, ErrNotJSON},
		{"takes no two frames", frame1 + frame1, nil, ErrNotJSON},
		{"takes no page", `<html>`, nil, ErrNotJSON},
		{"takes nothing", "", nil, ErrNotJSON},
		{"says why a frame is none", `{"id":1,"result":{}}`, nil, ErrEnvelope},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			ms, err := Frames([]byte(tt.text))
			var got []string
			for _, m := range ms {
				got = append(got, string(m.Raw))
			}
			if strings.Join(got, "\n--\n") != strings.Join(tt.want, "\n--\n") || !errors.Is(err, tt.err) {
				t.Errorf("Frames(%q)\n = %q, %v\nwant %q, %v", tt.text, got, err, tt.want, tt.err)
			}
		})
	}
}

// TestFramesOfABatch shows that the values of a member are ranges of it, not of
// the batch.
func TestFramesOfABatch(t *testing.T) {
	ms, err := Frames([]byte(`[{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":7,"result":{}}]`))
	if err != nil || len(ms) != 2 {
		t.Fatalf("%d messages, %v", len(ms), err)
	}
	if got := string(Splice(ms[1].Raw, ms[1].ID, []byte("8"))); got != `{"jsonrpc":"2.0","id":8,"result":{}}` {
		t.Errorf("with another id: %s", got)
	}
}

func TestFramesTooLarge(t *testing.T) {
	if _, err := Frames(make([]byte, MaxFrame+1)); err != ErrTooLarge {
		t.Errorf("error %v; want ErrTooLarge", err)
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("\uFEFF[" + frame1 + ",\xff]"))
	f.Add([]byte(frame1))
	f.Fuzz(func(t *testing.T, text []byte) {
		ms, _ := Frames(text)
		for _, m := range ms {
			if again, err := Parse(m.Raw); err != nil || again.Key() != m.Key() {
				t.Errorf("%q came out, and is no message: %v", m.Raw, err)
			}
		}
	})
}
