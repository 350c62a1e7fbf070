package upstream

import "testing"

func TestHTTPRoundTrip(t *testing.T) {
	s := serve(t, noStream(polite("s-1", func(p posted) {
		if p.Params.Get("arguments.n").Int() == 1 {
			p.result(`{"z":1,"a":9007199254740993}`)
			return
		}
		p.events(anEvent([]byte(`{"jsonrpc":"2.0","method":"notifications/progress"}`)) + anEvent(p.response(`{}`)))
	})))
	c := openHTTP(t, s.URL)
	tell(t, c, aCall(1))
	wantResult(t, c, 1, `{"z":1,"a":9007199254740993}`)
	tell(t, c, aCall(2))
	if m := mustRecv(t, c); m.Method != "notifications/progress" {
		t.Errorf("Recv: %s; want the notification", m.Raw)
	}
	wantResult(t, c, 2, `{}`)
	h := s.headers("POST tools/call")
	for name, want := range map[string]string{"Mcp-Session-Id": "s-1", "Mcp-Protocol-Version": "2025-11-25",
		"User-Agent": "test/1", "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
		if got := h.Get(name); got != want {
			t.Errorf("%s is %q; want %q", name, got, want)
		}
	}
	c.Close()
	wantEnd(t, c, ErrClosed)
	if s.saw("DELETE") != 1 {
		t.Errorf("saw %v; want one DELETE", s.seen)
	}
}
