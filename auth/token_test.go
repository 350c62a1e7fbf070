package auth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// What token endpoints answer, well-formed or not, and what becomes of it.
func TestAnswers(t *testing.T) {
	const form, html = "application/x-www-form-urlencoded", "text/html"
	for _, test := range []struct {
		name    string
		status  int
		kind    string
		body    string
		access  string
		refresh string
		err     string
	}{
		{"takes JSON", 200, "application/json", `{"access_token":"a","refresh_token":"r","token_type":"bearer"}`, "a", "r", ""},
		{"takes JSON that is called otherwise", 200, "text/plain", `{"access_token":"a"}`, "a", "", ""},
		{"takes JSON with a status of its own", 201, "", `{"access_token":"a"}`, "a", "", ""},
		{"takes a form", 200, form, "access_token=a&refresh_token=r%2F1&expires_in=10", "a", "r/1", ""},
		{"takes a form that is called otherwise", 200, html, "access_token=a&token_type=Bearer", "a", "", ""},
		{"takes a refresh token of a wrong type for none", 200, "application/json", `{"access_token":"a","refresh_token":7}`, "a", "", ""},
		{"takes null for none", 200, "application/json", `{"access_token":"a","refresh_token":null,"expires_in":null,"token_type":null,"error":null}`, "a", "", ""},

		{"refuses a web page", 200, html, "<!doctype html><p>Log in", "", "", "answered 200 with a web page, not with a token"},
		{"refuses nothing", 200, "application/json", " \n", "", "", "answered 200 with nothing in it, not with a token"},
		{"refuses half of JSON", 200, "application/json", `{"access_token":"a"`, "", "", "answered 200 with application/json, not with a token"},
		{"refuses an array", 200, "application/json", `["a"]`, "", "", "answered 200 with application/json, not with a token"},
		{"refuses a string", 200, "application/json", `"a"`, "", "", "answered 200 with application/json, not with a token"},
		{"refuses a text of no kind", 200, "", "a", "", "", "answered 200 with a text of no kind, not with a token"},
		{"refuses an object without a token", 200, "application/json", `{"id_token":"a"}`, "", "", "answered 200 without an access_token"},
		{"refuses a number", 200, "application/json", `{"access_token":12345}`, "", "", "gave an access_token that is no string"},
		{"refuses an object for a token", 200, "application/json", `{"access_token":{"a":1}}`, "", "", "gave an access_token that is no string"},
		{"refuses an empty token", 200, "application/json", `{"access_token":""}`, "", "", "gave an access_token that no header can hold"},
		{"refuses a line break", 200, "application/json", `{"access_token":"a\nb"}`, "", "", "gave an access_token that no header can hold"},
		{"refuses a token longer than headers", 200, "application/json", `{"access_token":"` + strings.Repeat("a", maxToken+1) + `"}`, "", "", "gave an access_token that no header can hold"},
		{"refuses a token of another type", 200, "application/json", `{"access_token":"a","token_type":"DPoP"}`, "", "", `gave a token of type "DPoP"; want Bearer`},
		{"says why", 400, "application/json", `{"error":"invalid_grant","error_description":"it is\n over"}`, "", "", "invalid_grant (it is over)"},
		{"says why, of a success", 200, "application/json", `{"ok":false,"error":"bad_code"}`, "", "", "bad_code"},
		{"says why, of a form", 400, form, "error=invalid_client&error_description=who%3F", "", "", "invalid_client (who?)"},
		{"says why, of an object", 400, "application/json", `{"error":{"message":"no"}}`, "", "", "error (no)"},
		{"says the status of an error without a reason", 503, html, "<p>later", "", "", "answered 503 with a web page, not with a token"},
		{"says the status of JSON without a reason", 429, "application/json", `{"message":"slow down"}`, "", "", "answered 429 with application/json"},
		{"says the status of a redirect", 302, "", "", "", "", "answered 302 with nothing in it, not with a token"},
		{"moves no cursor", 400, "application/json", "{\"error\":\"x\\u001b[2J\\u202e\"}", "", "", "x [2J"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, err := readAnswer(&page{status: test.status, kind: test.kind, body: []byte(test.body), header: http.Header{}})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != test.err || string(a.access) != test.access || string(a.refresh) != test.refresh {
				t.Errorf("%d %s %q\ngot  %q, %q, error %q\nwant %q, %q, error %q", test.status, test.kind, test.body,
					string(a.access), string(a.refresh), got, test.access, test.refresh, test.err)
			}
		})
	}
}

// How long servers say that a token lives.
func TestLifetime(t *testing.T) {
	for said, want := range map[string]time.Duration{
		"": 0, `"expires_in":3600,`: time.Hour, `"expires_in":"3600",`: time.Hour, `"expires_in":" 60 ",`: time.Minute,
		`"expires_in":1.5,`: 1500 * time.Millisecond, `"expires_in":0,`: 0, `"expires_in":-1,`: 0, `"expires_in":"soon",`: 0, `"expires_in":"",`: 0,
		`"expires_in":null,`: 0, `"expires_in":true,`: 0, `"expires_in":[5],`: 0, `"expires_in":1e300,`: 0, `"expires_in":"NaN",`: 0, `"expires_in":"Inf",`: 0,
		`"expires_in":1798675200,`: 0, // a moment instead of seconds
	} {
		a, err := readAnswer(&page{status: 200, body: []byte(`{` + said + `"access_token":"a","refresh_token":"r"}`)})
		if err != nil || a.refresh != "r" || a.lifetime != want {
			t.Errorf("%s: got %v, %v, and refresh token %q; want %v and the refresh token", said, a.lifetime, err, string(a.refresh), want)
		}
	}
}

// What an authorization server says about what we have sent holds none of it.
func TestRefusalHidesWhatWasSent(t *testing.T) {
	as := client{ID: "c", Secret: "s3cr3t"}
	form := url.Values{"refresh_token": {"rt-1"}, "code": {"c0de"}, "code_verifier": {"v3r"}}
	err := hide(&refusal{"invalid_grant", "rt-1 c0de v3r s3cr3t"}, as, form)
	if got, want := err.Error(), "invalid_grant ([redacted] [redacted] [redacted] [redacted])"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// When a token is renewed, whatever its life and whatever the clock does.
func TestPermitTimes(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name     string
		lifetime time.Duration
		later    time.Duration
		over     bool
		due      bool // with no luck
		dueLucky bool // with all of it
	}{
		{"is fresh", time.Hour, 0, false, false, false},
		{"is fresh 90 s before its end, as the luckiest", time.Hour, time.Hour - 91*time.Second, false, false, false},
		{"is due for the luckiest first", time.Hour, time.Hour - 89*time.Second, false, false, true},
		{"is due a minute before its end", time.Hour, time.Hour - time.Minute, false, true, true},
		{"is over", time.Hour, time.Hour, true, true, true},
		{"lives shortly", 2 * time.Second, time.Second, false, false, false},
		{"is due a quarter before a near end", 2 * time.Second, 1500 * time.Millisecond, false, true, true},
		{"never ends by itself", 0, 1000 * time.Hour, false, false, false},
		{"came in the future: the clock was set back", time.Hour, -24 * time.Hour, false, false, false},
		{"came long ago: the clock was set on", time.Hour, 1e6 * time.Hour, true, true, true},
	} {
		p := &Permit{Obtained: at, Lifetime: test.lifetime}
		now := at.Add(test.later)
		if p.isOver(now) != test.over || p.isDue(now, 0) != test.due || p.isDue(now, 1) != test.dueLucky {
			t.Errorf("a token that %s: over %v, due %v, %v with luck; want %v, %v, %v", test.name,
				p.isOver(now), p.isDue(now, 0), p.isDue(now, 1), test.over, test.due, test.dueLucky)
		}
	}
}
