package upstream

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"
)

const (
	// maxRefusal is how much is read of the text of a refusal, in bytes.
	maxRefusal = 256 << 10
	// maxShown is how much of it is shown, in bytes.
	maxShown = 500
	// maxField is how much of a header is shown, in bytes.
	maxField = 100
)

// refusalText reads the body of a refusal, as much as comes in time.
func (c *httpConn) refusalText(rep *reply) []byte {
	defer time.AfterFunc(c.tempo.refusal, rep.cancel).Stop()
	text, _ := io.ReadAll(io.LimitReader(rep.Body, maxRefusal))
	return text
}

// status is the status of a response in words, with the time after which to
// come again.
func status(r *http.Response) string {
	text := fmt.Sprintf("HTTP %d", r.StatusCode)
	if words := http.StatusText(r.StatusCode); words != "" {
		text += " " + words
	}
	after := harmless([]byte(r.Header.Get("Retry-After")))
	switch {
	case after == "":
		return text
	case strings.Trim(after, "0123456789") == "":
		return text + ", retry after " + firstOf(after, maxField) + " s"
	}
	return text + ", retry after " + firstOf(after, maxField)
}

// refusal words a response that is neither an answer nor a stream.
func (c *httpConn) refusal(rep *reply, text []byte) error {
	words := status(rep.Response)
	if rep.StatusCode/100 == 3 {
		words += c.whither(rep)
	}
	if scope := challenge(rep.Header, "scope"); scope != "" && challenge(rep.Header, "error") == "insufficient_scope" {
		words += ", it needs the scope " + c.words(scope, maxField)
	}
	if shown := c.shown(rep, text); shown != "" {
		words += ": " + shown
	}
	if rep.renewal != nil {
		words += "; renew the authorization: " + c.words(rep.renewal.Error(), maxShown)
	}
	return &StatusError{rep.StatusCode, words, rep.renewal}
}

// A StatusError is a response that is neither an answer nor a stream.
type StatusError struct {
	Status int
	words  string
	vain   error // why there is no other authorization; nil: none was asked for
}

func (e *StatusError) Error() string { return e.words }

// Unwrap returns why it was refused once more, if that is known.
func (e *StatusError) Unwrap() error { return e.vain }

// whither says where a redirect leads, without what may be secret of it.
func (c *httpConn) whither(rep *reply) string {
	from := rep.Request.URL
	to := location(rep.Response, from)
	switch {
	case to == nil:
		return ", a redirect to nowhere"
	case rep.loop:
		return ", a redirect loop within " + origin(to)
	case sameOrigin(to, from):
		return ", a redirect within " + origin(to)
	}
	return ", a redirect to " + c.words(origin(to), maxField)
}

// origin is the scheme, host and port of a URL.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// hint says what to do about a refusal, or "".
func (c *httpConn) hint(rep *reply) string {
	switch {
	case c.remedy != "" && rep.remedy:
		return c.remedy
	case rep.StatusCode == http.StatusUnauthorized && c.inPlace:
		return "check the Authorization on the command line"
	case rep.StatusCode == http.StatusUnauthorized && c.check != "":
		return c.check
	case rep.StatusCode == http.StatusUnauthorized:
		return fmt.Sprintf("check the authorization of %q in the servers file", c.server)
	case rep.StatusCode == http.StatusProxyAuthRequired:
		return checkProxy
	case rep.loop:
		return c.correct()
	case rep.StatusCode/100 == 3:
		return "if that is where it is, " + c.correct()
	}
	return ""
}

// networkHint says what to do about a failure of the network, or "".
func (c *httpConn) networkHint(err error) string {
	lookUp, unknown := new(net.DNSError), new(x509.UnknownAuthorityError)
	invalid, stranger := new(x509.CertificateInvalidError), new(x509.HostnameError)
	switch {
	case errors.Is(err, errProxy), toProxy(err) != nil:
		return checkProxy
	case errors.As(err, invalid) && invalid.Reason == x509.Expired:
		return "renew the server's certificate, or set this machine's clock"
	case errors.As(err, stranger):
		return c.correct()
	case errors.As(err, new(*noToken)):
		return c.remedy
	case errors.As(err, &lookUp):
		return c.correct()
	case errors.Is(err, syscall.ECONNREFUSED):
		return "start the server, or " + c.correct()
	case errors.As(err, unknown) && !c.inPlace:
		return fmt.Sprintf("name the file of its certificate authority as \"caFile\" of %q in the servers file", c.server)
	}
	return ""
}

// checkProxy is what to do about a proxy.
const checkProxy = "check the proxy in HTTPS_PROXY or HTTP_PROXY of the environment"

// errProxy begins what a proxy has answered in the place of the server.
var errProxy = errors.New("the proxy")

// toProxy is the failure to reach a proxy that err is, or nil.
func toProxy(err error) error {
	if op := new(net.OpError); errors.As(err, &op) && op.Op == "proxyconnect" {
		return op.Err
	}
	return nil
}

// correct says where a wrong URL is put right.
func (c *httpConn) correct() string {
	if c.inPlace {
		return "correct the URL on the command line"
	}
	return fmt.Sprintf("correct the \"url\" of %q in the servers file", c.server)
}

// unexpected words a body of the wrong type.
func (c *httpConn) unexpected(rep *reply, kind string, text []byte) error {
	words := status(rep.Response) + " with "
	if kind == "" {
		words += "no Content-Type"
	} else {
		words += c.words(kind, maxField)
	}
	if shown := c.shown(rep, text); shown != "" {
		words += ": " + shown
	}
	return errors.New(words)
}

// shown is a body on one line: harmless, without secrets, not long, of a page
// what a reader would see.
func (c *httpConn) shown(rep *reply, text []byte) string {
	mask := c.mask.Load()
	if m := refusalIn(text); m.Raw != nil {
		text = []byte(m.Error.Get("message").Str)
	}
	text = mask.hide(text, false, len(text) == maxRefusal)
	if isPage(rep, text) {
		text = pageText(text)
	}
	return firstOf(strings.Join(strings.Fields(mask.clean(text)), " "), maxShown)
}

// isPage reports whether a body is HTML.
func isPage(rep *reply, text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\uFEFF")), " \t\r\n")
	head := bytes.ToLower(text[:min(len(text), len("<!doctype"))])
	return contentType(rep) == "text/html" || bytes.HasPrefix(head, []byte("<!doctype")) || bytes.HasPrefix(head, []byte("<html"))
}

// network words a failure of the network: without the URL, and in a few words
// where it is about reaching the server.
func (c *httpConn) network(err error) error {
	if ue := new(url.Error); errors.As(err, &ue) {
		err = ue.Err
	}
	who := ""
	if why := toProxy(err); why != nil {
		err, who = why, "the proxy "
	}
	text := who + err.Error()
	op, lookUp := new(net.OpError), new(net.DNSError)
	switch {
	case errors.As(err, &lookUp):
		text = fmt.Sprintf("look up %s%s: %s", who, lookUp.Name, lookUp.Err)
	case errors.As(err, &op) && op.Op == "dial" && op.Addr != nil:
		text = fmt.Sprintf("connect to %s%s: %v", who, op.Addr, system(op.Err))
	case errors.As(err, &op) && op.Op != "dial":
		text = who + op.Op + ": " + system(op.Err).Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		text = who + "the connection was closed before the end of the answer"
	}
	return errors.New(c.words(text, maxShown))
}

// words is a text of others in at most limit bytes: harmless, on one line,
// without secrets.
func (c *httpConn) words(text string, limit int) string {
	mask := c.mask.Load()
	head := text[:min(len(text), maxRefusal)]
	shown := mask.clean(mask.hide([]byte(head), false, len(head) < len(text)))
	return firstOf(strings.Join(strings.Fields(shown), " "), limit)
}

// system is what the system said, without the call that it said it of.
func system(err error) error {
	if se := new(os.SyscallError); errors.As(err, &se) {
		return se.Err
	}
	return err
}
