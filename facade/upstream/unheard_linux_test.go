package upstream

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A connection gives up a peer that acknowledges nothing.
func TestUnacknowledged(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	c, err := newHTTP(t.Context(), Target{Server: "acme", URL: server.URL}, usualTempo())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	conn, err := c.dialTCP(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*mortal).Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) {
		ms, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
		if limit := time.Duration(ms) * time.Millisecond; err != nil || limit < time.Minute || limit > 3*time.Minute {
			t.Errorf("unacknowledged data may wait %v, %v; want a minute or two", limit, err)
		}
	})
}
