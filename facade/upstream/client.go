package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	// connectWait is how long it may take to connect, and again to agree on
	// TLS.
	connectWait = 10 * time.Second
	// aliveIdle is how long a connection may be silent before it is asked
	// whether the peer is still there; after aliveCount questions without a
	// reply, aliveEvery apart, it is not. A call may take an hour, but not of
	// a peer that is gone.
	aliveIdle  = 30 * time.Second
	aliveEvery = 15 * time.Second
	aliveCount = 4
	// idleConns is how many connections are kept for the next request: as
	// many as a host is likely to have calls under way at once.
	idleConns = 16
	idleWait  = 90 * time.Second
)

// newTransport returns what carries our HTTP requests. It sets no limit to the
// time until an answer comes: a call may take as long as it takes.
func (c *httpConn) newTransport(t Target) (*http.Transport, error) {
	pool, err := certPool(t.Roots)
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		Proxy:                  quietProxy(t.Proxy),
		DialContext:            c.dialTCP,
		OnProxyConnectResponse: connected,
		TLSClientConfig:        &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    connectWait,
		ForceAttemptHTTP2:      true, // a DialContext of our own would turn it off
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: aliveIdle, PingTimeout: aliveEvery},
		MaxIdleConnsPerHost:    idleConns,
		IdleConnTimeout:        idleWait,
	}, nil
}

// certPool is the system's certificate authorities and those of roots; nil, the
// system's.
func certPool(roots []byte) (*x509.CertPool, error) {
	if roots == nil {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(roots) {
		return nil, errors.New("the file of certificate authorities holds no certificate in PEM")
	}
	return pool, nil
}

// quietProxy is proxy with an error that does not show the proxy's address,
// which may hold a password.
func quietProxy(proxy func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	if proxy == nil {
		return nil
	}
	return func(r *http.Request) (*url.URL, error) {
		u, err := proxy(r)
		if err != nil {
			return nil, errors.New("the environment's address of the proxy is not a URL")
		}
		return u, nil
	}
}

// connected is nil if a proxy has connected us.
func connected(_ context.Context, proxy *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode/100 == 2 {
		return nil
	}
	return fmt.Errorf("%w %s answers %s", errProxy, proxy.Host, status(answer))
}

// dialTCP connects. The connection ends with the Conn, whoever holds it then.
func (c *httpConn) dialTCP(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	d := net.Dialer{
		Timeout:         connectWait,
		Control:         limitSilence,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: aliveIdle, Interval: aliveEvery, Count: aliveCount},
	}
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &mortal{Conn: conn, forget: context.AfterFunc(c.life, func() { conn.Close() })}, nil
}

// A mortal is a net.Conn that is closed at the end of a context.
type mortal struct {
	net.Conn
	forget func() bool
}

func (m *mortal) Close() error {
	m.forget()
	return m.Conn.Close()
}
