package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// TestHTTPFaults shows what becomes of one call when the server does something
// else than answer it, and that the connection goes on.
func TestHTTPFaults(t *testing.T) {
	html := "<!DOCTYPE html><html><head><title>Bad\n Gateway</title><style>p{}</style></head><body><p>no</p></body></html>"
	text := func(status int, kind, body string, headers ...string) func(posted) {
		return func(p posted) {
			p.w.Header().Set("Content-Type", kind)
			for i := 0; i < len(headers); i += 2 {
				p.w.Header().Set(headers[i], headers[i+1])
			}
			p.w.WriteHeader(status)
			io.WriteString(p.w, body)
		}
	}
	for _, tt := range []struct {
		name   string
		handle func(p posted)
		want   string // the failure after "acme: tools/call: ", or the answer
		unsent bool   // it is said to be unprocessed
	}{
		{"401 shows the body", text(401, "text/plain", "who are you\n"), "HTTP 401 Unauthorized: who are you", true},
		{"403 shows the body", text(403, "text/plain", "not you"), "HTTP 403 Forbidden: not you", false},
		{"403 shows a scope that is missing", text(403, "text/plain", "", "WWW-Authenticate", `Bearer realm="x", error="insufficient_scope", scope="issues:write"`),
			"HTTP 403 Forbidden, it needs the scope issues:write", false},
		{"403 keeps the message of an error", text(403, "application/json", `{"jsonrpc":"2.0","error":{"code":-32000,"message":"foreign origin"},"id":null}`),
			"HTTP 403 Forbidden: foreign origin", false},
		{"404 with -32601 and the own id is an answer", text(404, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`),
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`, false},
		{"400 with an error is an answer", text(400, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no session_id given"}}`),
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no session_id given"}}`, false},
		{"400 with an error without an id is an answer", text(400, "application/json", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"bad"},"id":null}`),
			`{"jsonrpc":"2.0","error":{"code":-32700,"message":"bad"},"id":1}`, false},
		{"400 with an error of the server's own id is an answer", text(400, "application/json", `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"bad"}}`),
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"bad"}}`, false},
		{"405 is a failure", text(405, "text/plain", ""), "HTTP 405 Method Not Allowed", false},
		{"429 shows when to come again", text(429, "text/plain", "slow down", "Retry-After", "30"),
			"HTTP 429 Too Many Requests, retry after 30 s: slow down", true},
		{"429 shows a date", text(429, "text/plain", "", "Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT"),
			"HTTP 429 Too Many Requests, retry after Fri, 31 Dec 1999 23:59:59 GMT", true},
		{"500 shows JSON that is no JSON-RPC", text(500, "application/json", "{\n  \"error\": \"boom\"\n}"), `HTTP 500 Internal Server Error: { "error": "boom" }`, false},
		{"500 with an error is an answer", text(500, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`),
			`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, false},
		{"502 shows the title of a page", text(502, "text/html; charset=utf-8", html), "HTTP 502 Bad Gateway: Bad Gateway", false},
		{"502 shows the text of a page without a title", text(502, "text/html", "<style>p { color: red }</style><h1>Oh&nbsp;no</h1><p>gone &amp; away<!-- <p> -->"), "HTTP 502 Bad Gateway: Oh no gone & away", false},
		{"503 shows a body without type", text(503, "", "busy \x1b[31mnow\x1b[0m\x00"), "HTTP 503 Service Unavailable: busy now", false},
		{"504 without a body shows the status", text(504, "text/plain", ""), "HTTP 504 Gateway Timeout", false},
		{"a long body is cut", text(500, "text/plain", strings.Repeat("x", 1000)), "HTTP 500 Internal Server Error: " + strings.Repeat("x", 497) + "…", false},
		{"an unknown status is shown", text(599, "text/plain", "x"), "HTTP 599: x", false},
		{"a page in the place of an answer shows", text(200, "text/html", html), "HTTP 200 OK with text/html: Bad Gateway", false},
		{"text in the place of an answer shows", text(200, "text/plain", "hello"), "HTTP 200 OK with text/plain: hello", false},
		{"an answer of another type counts", text(200, "text/plain", `{"jsonrpc":"2.0","id":1,"result":{}}`), `{"jsonrpc":"2.0","id":1,"result":{}}`, false},
		{"an encoding that we do not know", text(200, "application/json", "\x0b\x02\x80", "Content-Encoding", "br"), "the answer could not be read: its Content-Encoding is br, which we did not ask for", false},
		{"truncated JSON", text(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"a`), "the answer could not be read: not JSON", false},
		{"no JSON at all", text(200, "application/json", `oops`), "the answer could not be read: not JSON", false},
		{"JSON that is no message", text(200, "application/json", `{"id":1,"result":{}}`), `the answer could not be read: not a JSON-RPC 2.0 message: "jsonrpc" is not "2.0"`, false},
		{"an answer to another request", text(200, "application/json", `{"jsonrpc":"2.0","id":"1","result":{}}`), "the answer is to another request", false},
		{"an empty answer", text(200, "application/json", ""), "HTTP 200 OK without an answer, and no stream is open that may bring it", false},
		{"JSON with a BOM, pretty-printed", text(200, "application/json", "\uFEFF{\n \"jsonrpc\":\"2.0\",\n \"id\":1,\"result\":{}}\n"), "{\n \"jsonrpc\":\"2.0\",\n \"id\":1,\"result\":{}}", false},
		{"JSON that is not UTF-8", text(200, "application/json", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}"), `{"jsonrpc":"2.0","id":1,"result":"` + "\uFFFD" + `"}`, false},
		{"202 without a stream is a failure", text(202, "", ""), "HTTP 202 Accepted without an answer, and no stream is open that may bring it", false},
		{"a body that was cut", func(p posted) { p.w.Header().Set("Content-Length", "100"); p.says(200, `{"jsonrpc"`) },
			"the answer could not be read: the connection was closed before the end of the answer", false},
		{"a connection that was cut", func(p posted) { panic(http.ErrAbortHandler) }, "the connection was closed before the end of the answer", false},
		{"a redirect by GET is not followed", text(302, "text/html", "<a>moved</a>", "Location", "http://other.example/p?key=1"), "HTTP 302 Found, a redirect to http://other.example: moved", false},
		{"a redirect within the server by GET is not followed", text(301, "", "", "Location", "/x"), "HTTP 301 Moved Permanently, a redirect within http://HOST", true},
		{"a redirect to another origin is not followed", text(307, "", "", "Location", "https://HOST/x"), "HTTP 307 Temporary Redirect, a redirect to https://HOST", true},
		{"a redirect to nowhere", text(308, "", "", "Location", "http://[bad"), "HTTP 308 Permanent Redirect, a redirect to nowhere", true},
		{"an event that is no JSON is passed over", func(p posted) { p.events("data: hello\n\n" + anEvent(p.response(`1`))) }, `{"jsonrpc":"2.0","id":1,"result":1}`, false},
		{"events that are no JSON, and no answer", text(200, "text/event-stream", "data: hello\n\n"), "the stream ended before the answer; one of its events could not be read: not JSON", false},
		{"an event that holds half the answer", func(p posted) { p.events("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\n\n"); p.gone() }, "the answer could not be read: not JSON", false},
		{"events with a BOM, lone CR and data of several lines", text(200, "text/event-stream", "\uFEFFevent: message\rdata: {\"jsonrpc\":\"2.0\",\rdata: \"id\":1,\rdata: \"result\":{}}\r\r"),
			"{\"jsonrpc\":\"2.0\",\n\"id\":1,\n\"result\":{}}", false},
		{"a stream that was cut without an event id", text(200, "text/event-stream", ": hello\n\n"), "the stream ended before the answer", false},
		{"a stream that was cut within the answer", text(200, "text/event-stream", `data: {"jsonrpc":"2.0","id":1,"result":{}}`), "the stream ended before the answer", false},
		{"a batch", text(200, "application/json", `[{"jsonrpc":"2.0","id":1,"result":{}}]`), `{"jsonrpc":"2.0","id":1,"result":{}}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, noStream(polite("", func(p posted) {
				if p.Key() == "n1" {
					tt.handle(p)
				} else {
					p.result(`"fine"`)
				}
			})))
			host := s.Listener.Addr().String()
			c := openHTTP(t, s.URL)
			tell(t, c, aCall(1))
			m, err := c.Recv()
			got := string(m.Raw)
			if f := new(Failure); errors.As(err, &f) {
				got = strings.ReplaceAll(f.Err.Err.Error(), host, "HOST")
				if f.Unprocessed != tt.unsent || f.Key != "n1" || f.Err.Op != "tools/call" || string(f.Frame) != aCall(1) {
					t.Errorf("%+v; want that of the call, unprocessed: %v", f, tt.unsent)
				}
			}
			if got != tt.want {
				t.Errorf("the call comes out as: %s\nwant: %s", got, tt.want)
			}
			tell(t, c, aCall(2))
			wantResult(t, c, 2, `"fine"`)
		})
	}
}

// renewer is an Auth whose token gets a number more with each renewal.
type renewer struct {
	mu    sync.Mutex
	count int
	fails error
	old   []string
}

func (r *renewer) Token(context.Context) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("Bearer secret-%d", r.count), nil
}

func (r *renewer) Refresh(_ context.Context, old string, _ *http.Response) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	r.old = append(r.old, old)
	return r.fails
}

func TestHTTPAuthorization(t *testing.T) {
	challenge := func(p posted, status int, words string) {
		p.w.Header().Set("WWW-Authenticate", words)
		p.w.WriteHeader(status)
		io.WriteString(p.w, "bad token "+p.r.Header.Get("Authorization"))
	}
	for _, tt := range []struct {
		name   string
		handle func(p posted)
		fails  error
		want   string
		count  int // of renewals
	}{
		{"401 then fine after a renewal", func(p posted) {
			if p.r.Header.Get("Authorization") != "Bearer secret-1" {
				challenge(p, 401, "Bearer")
				return
			}
			p.result(`1`)
		}, nil, `{"jsonrpc":"2.0","id":1,"result":1}`, 1},
		{"401 twice is a failure", func(p posted) { challenge(p, 401, "Bearer") }, nil,
			"HTTP 401 Unauthorized: bad token [redacted]", 1},
		{"401 with a renewal that fails shows both", func(p posted) { challenge(p, 401, "Bearer") }, errors.New("no refresh token"),
			"HTTP 401 Unauthorized: bad token [redacted]; renew the authorization: no refresh token", 1},
		{"403 with invalid_token is renewed", func(p posted) {
			if p.r.Header.Get("Authorization") != "Bearer secret-1" {
				challenge(p, 403, `Bearer error="invalid_token"`)
				return
			}
			p.result(`1`)
		}, nil, `{"jsonrpc":"2.0","id":1,"result":1}`, 1},
		{"403 plain is not renewed", func(p posted) { challenge(p, 403, `Bearer error="insufficient_scope", scope="a b"`) }, nil,
			"HTTP 403 Forbidden, it needs the scope a b: bad token [redacted]", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			auth := &renewer{fails: tt.fails}
			s := serve(t, noStream(polite("", tt.handle)))
			c := openHTTP(t, s.URL, func(t *Target, _ *tempo) { t.Auth = auth })
			tell(t, c, aCall(1))
			m, err := c.Recv()
			got := string(m.Raw)
			if f := new(Failure); errors.As(err, &f) {
				got = f.Err.Err.Error()
			}
			if got != tt.want || auth.count != tt.count {
				t.Errorf("the call comes out as: %s, after %d renewals\nwant: %s, %d", got, auth.count, tt.want, tt.count)
			}
			if n := s.saw("POST tools/call"); n != tt.count+1 && tt.fails == nil {
				t.Errorf("it was sent %d times", n)
			}
		})
	}
}

func TestHTTPRedirects(t *testing.T) {
	hops := 0
	s := serve(t, noStream(polite("", func(p posted) {
		if p.r.URL.Path != "/mcp/" && p.Key() == "n1" {
			p.w.Header().Set("Location", "/mcp/")
			p.w.WriteHeader(307)
			return
		}
		if p.Key() == "n2" {
			hops++
			p.w.Header().Set("Location", "/again")
			p.w.WriteHeader(308)
			return
		}
		p.result(p.Params.Raw)
	})))
	c := openHTTP(t, s.URL)
	tell(t, c, aCall(1))
	wantResult(t, c, 1, `{"name":"x","arguments":{"n":1}}`)
	tell(t, c, aCall(2))
	if f := wantFailure(t, c, 2); !strings.Contains(f.Error(), "a redirect loop within") || hops != 6 {
		t.Errorf("%d hops, then %v; want 6 and that it leads within the server", hops, f)
	}
}

// TestHTTPShowsNoSecrets shows what no failure holds.
func TestHTTPShowsNoSecrets(t *testing.T) {
	s := serve(t, noStream(polite("session-0123", func(p posted) {
		p.w.WriteHeader(500)
		fmt.Fprintf(p.w, "%s %s %s", p.r.URL, p.r.Header.Get("X-Key"), p.r.Header)
	})))
	u, _ := url.Parse(s.URL + "/mcp?key=query-0123&x=1")
	u.User = url.UserPassword("ann", "word-0123")
	secrets := func(t *Target, _ *tempo) {
		t.Headers = []Header{{"X-Key", "header-0123"}}
		t.Secrets = []string{"other-0123"}
	}
	c := openHTTP(t, u.String(), secrets)
	tell(t, c, aCall(1))
	f := wantFailure(t, c, 1)
	s.Server.Close()
	late := connect(t, u.String(), secrets)
	tell(t, late, aCall(2))
	f2 := wantFailure(t, late, 2)
	if want := `start the server, or correct the "url" of "acme" in the servers file`; f2.Err.Hint != want {
		t.Errorf("hint: %s; want: %s", f2.Err.Hint, want)
	}
	if !f2.Unprocessed || !strings.HasPrefix(f2.Error(), "acme: tools/call: connect to 127.0.0.1:") || !strings.Contains(f2.Error(), "refused") {
		t.Errorf("%v, unprocessed: %v; want that it was refused", f2, f2.Unprocessed)
	}
	for _, text := range []string{f.Error(), f2.Error(), c.Plain("session-0123 query-0123 header-0123 other-0123 word-0123")} {
		for _, part := range []string{"0123", "ann:", "?key"} {
			if strings.Contains(text, part) {
				t.Errorf("%q shows %q", text, part)
			}
		}
	}
}

func TestHTTPNotDialled(t *testing.T) {
	for _, tt := range []struct {
		name string
		t    Target
		want string
	}{
		{"a URL of another scheme", Target{URL: "ftp://user:pass@host/?key=1"}, `acme: start: its URL is none that begins with "https://" or "http://" and a host`},
		{"no URL", Target{URL: "http://[::1"}, `acme: start: its URL is none that begins with "https://" or "http://" and a host`},
		{"PEM without a certificate", Target{URL: "https://h", Roots: []byte("x")}, "acme: start: the file of certificate authorities holds no certificate in PEM"},
		{"a header with a line end", Target{URL: "https://h", Headers: []Header{{"X-A", "a\r\nX-B: b"}}}, `acme: start: header "X-A": its value holds a control character`},
		{"a header without a name", Target{URL: "https://h", Headers: []Header{{"a b", ""}}}, `acme: start: header "a b": no header can have that name`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.t.Server = "acme"
			if _, err := Dial(t.Context(), tt.t); err == nil || err.Error() != tt.want {
				t.Errorf("Dial: %v\nwant: %s", err, tt.want)
			}
		})
	}
}

// TestHTTPConfigured shows what of the config reaches the server, and that the
// protocol's own headers stay.
func TestHTTPConfigured(t *testing.T) {
	s := serve(t, noStream(polite("", func(p posted) {
		h := p.r.Header
		text, _ := json.Marshal([]string{p.r.Host, p.r.URL.String(), h.Get("X-Org"), h.Get("Accept"), h.Get("User-Agent"), h.Get("Authorization")})
		p.result(string(text))
	})))
	u, _ := url.Parse(s.URL + "/mcp?x=1#y")
	u.User = url.UserPassword("ann", "secret")
	c := openHTTP(t, u.String(), func(t *Target, _ *tempo) {
		t.Headers = []Header{{"X-Org", " acme\n"}, {"Host", "mcp.example"}, {"accept", "text/html"}, {"User-Agent", "mine"}, {"Accept-Encoding", "br"}}
	})
	tell(t, c, aCall(1))
	wantResult(t, c, 1, `["mcp.example","/mcp?x=1","acme","application/json, text/event-stream","mine","Basic YW5uOnNlY3JldA=="]`)
}

func TestHTTPProxy(t *testing.T) {
	proxy := serve(t, noStream(polite("", func(p posted) { p.result(fmt.Sprintf("%q", p.r.URL)) })))
	c := openHTTP(t, "http://mcp.example/x", func(t *Target, _ *tempo) {
		t.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }
	})
	tell(t, c, aCall(1))
	wantResult(t, c, 1, `"http://mcp.example/x"`)
	broken := connect(t, "http://mcp.example/x", func(t *Target, _ *tempo) {
		t.Proxy = func(*http.Request) (*url.URL, error) { return nil, errors.New("http://ann:secret@[ is no URL") }
	})
	tell(t, broken, aCall(1))
	if f := wantFailure(t, broken, 1); !f.Unprocessed || f.Err.Err.Error() != "the environment's address of the proxy is not a URL" {
		t.Errorf("%v, unprocessed: %v", f, f.Unprocessed)
	}
}

// An extended is an Auth that gives headers beside its value.
type extended struct{ Static }

func (extended) Headers(authorization string) http.Header {
	return http.Header{"X-Tenant": {"tenant-7-secret"}, "X-Org": {"theirs"}, "Mcp-Session-Id": {"s-2"}, "Authorization": {"x"}, "Content-Length": {"9"}, "Host": {"other"}}
}

// TestHTTPHeadersOfAuth: headers that come with a token go to the server where
// nobody else has set them, and are shown nowhere.
func TestHTTPHeadersOfAuth(t *testing.T) {
	s := serve(t, noStream(polite("s-1", func(p posted) { p.says(500, "bad "+p.r.Header.Get("X-Tenant")) })))
	c := openHTTP(t, s.URL, func(t *Target, _ *tempo) {
		t.Auth, t.Headers = extended{"Bearer secret-1"}, []Header{{"X-Org", "ours"}}
	})
	tell(t, c, aCall(1))
	_, err := c.Recv()
	if f := new(Failure); !errors.As(err, &f) || f.Err.Err.Error() != "HTTP 500 Internal Server Error: bad [redacted]" {
		t.Errorf("Recv: %v", err)
	}
	h := s.headers("POST tools/call")
	for name, want := range map[string]string{"X-Tenant": "tenant-7-secret", "X-Org": "ours", "Mcp-Session-Id": "s-1", "Authorization": "Bearer secret-1"} {
		if got := h.Get(name); got != want {
			t.Errorf("%s is %q; want %q", name, got, want)
		}
	}
}

// TestHTTPRemedy: what a person can do stands beside the server's refusal, in
// the hint and in an answer of the server's own.
func TestHTTPRemedy(t *testing.T) {
	const refusal = `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Unauthorized%s"}}`
	refuse := func(status int, words string) func(posted) {
		return func(p posted) {
			p.w.Header().Set("WWW-Authenticate", words)
			p.says(status, fmt.Sprintf(refusal, ""))
		}
	}
	for _, tt := range []struct {
		name         string
		auth         Auth
		handle       func(p posted)
		hint, remark string
	}{
		{"401 twice", &renewer{}, refuse(401, "Bearer"), "log in", " (mcp-facade: try: log in)"},
		{"403 twice", &renewer{}, refuse(403, `Bearer error="invalid_token"`), "log in", " (mcp-facade: try: log in)"},
		{"401 and no renewal", &renewer{fails: errors.New("no refresh token for secret-0")}, refuse(401, "Bearer"), "log in",
			" (mcp-facade: renew the authorization: no refresh token for [redacted]; try: log in)"},
		{"a scope", &renewer{}, refuse(403, `Bearer error="insufficient_scope", scope="a"`), "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, noStream(polite("", tt.handle)))
			c := openHTTP(t, s.URL, func(t *Target, _ *tempo) { t.Auth, t.Remedy = tt.auth, "log in" })
			tell(t, c, aCall(1))
			_, err := c.Recv()
			f := new(Failure)
			if !errors.As(err, &f) {
				t.Fatalf("Recv: %v; want a failure", err)
			}
			if want := fmt.Sprintf(refusal, tt.remark); string(f.Answer.Raw) != want || f.Err.Hint != tt.hint {
				t.Errorf("the answer is %s with the hint %q\nwant %s, %q", f.Answer.Raw, f.Err.Hint, want, tt.hint)
			}
		})
	}
}

// A speechless is an Auth that has no token.
type speechless struct{ Static }

func (speechless) Token(context.Context) (string, error) { return "", errors.New("it printed nothing") }

func TestHTTPNoToken(t *testing.T) {
	s := serve(t, func(p posted) { p.result(`1`) })
	c := connect(t, s.URL, func(t *Target, _ *tempo) { t.Auth, t.Remedy = speechless{}, "log in" })
	tell(t, c, aCall(1))
	_, err := c.Recv()
	f := new(Failure)
	if !errors.As(err, &f) || f.Error() != "acme: tools/call: get the authorization: it printed nothing" || f.Err.Hint != "log in" || !f.Unprocessed {
		t.Errorf("Recv: %v, hint %q, unprocessed %v", err, f.Err.Hint, f.Unprocessed)
	}
	if n := s.saw("POST tools/call"); n != 0 {
		t.Errorf("it was sent %d times without a token", n)
	}
}
