package auth

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// An answer is what a token endpoint has given.
type answer struct {
	access, refresh Secret
	scopes          []string      // nil: as asked for
	lifetime        time.Duration // 0: not known
}

// A refusal is what an authorization server says instead: RFC 6749, section 5.2.
type refusal struct {
	code string // "invalid_grant" …
	text string // of the server's own, harmless; "" is none
}

func (r *refusal) Error() string {
	if r.text == "" {
		return r.code
	}
	return r.code + " (" + r.text + ")"
}

// isRefusal reports whether an error is the server's refusal of that code.
func isRefusal(err error, code string) bool {
	r := new(refusal)
	return errors.As(err, &r) && r.code == code
}

// request asks a token endpoint for a token. x/oauth2 sends no resource when it
// refreshes, and drops a whole answer, with the only refresh token there is,
// when it cannot read its expires_in.
func request(ctx context.Context, c *http.Client, to string, as client, form url.Values) (answer, error) {
	p, err := post(ctx, c, to, as, form)
	if err != nil {
		return answer{}, err
	}
	a, err := readAnswer(p)
	if err != nil {
		return answer{}, fmt.Errorf("%s %w", place(to), hide(err, as, form))
	}
	return a, nil
}

// post sends a form as a client.
func post(ctx context.Context, c *http.Client, to string, as client, form url.Values) (*page, error) {
	user := ""
	switch {
	case as.Style == "basic":
		user = "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(as.ID)+":"+url.QueryEscape(string(as.Secret))))
	case as.Secret != "":
		form.Set("client_secret", string(as.Secret))
		fallthrough
	default:
		form.Set("client_id", as.ID)
	}
	p, err := send(ctx, c, http.MethodPost, to, "application/x-www-form-urlencoded", user, []byte(form.Encode()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place(to), err)
	}
	return p, nil
}

// hide takes what we have sent out of what the server says about it.
func hide(err error, as client, form url.Values) error {
	r := new(refusal)
	if !errors.As(err, &r) {
		return err
	}
	for _, name := range []string{"refresh_token", "code", "code_verifier", "client_secret", "token"} {
		r.text = strings.ReplaceAll(r.text, cmp.Or(form.Get(name), "\x00"), redacted)
	}
	r.text = strings.ReplaceAll(r.text, cmp.Or(string(as.Secret), "\x00"), redacted)
	return err
}

// readAnswer reads what a token endpoint says. JSON is told by what it is, not
// by what it is called; some servers answer with a form.
func readAnswer(p *page) (answer, error) {
	v := gjson.ParseBytes(p.body)
	if !gjson.ValidBytes(p.body) || !v.IsObject() {
		var ok bool
		if v, ok = formObject(p); !ok {
			return answer{}, fmt.Errorf("%v, not with a token", p)
		}
	}
	access := v.Get("access_token")
	switch {
	case access.Type == gjson.Null && v.Get("error").Exists():
		return answer{}, refusalOf(v)
	case !p.ok():
		return answer{}, fmt.Errorf("%v", p)
	case access.Type == gjson.Null:
		return answer{}, fmt.Errorf("answered %d without an access_token", p.status)
	case access.Type != gjson.String:
		return answer{}, errors.New("gave an access_token that is no string")
	case !isVisible(access.Str):
		return answer{}, errors.New("gave an access_token that no header can hold")
	}
	if kind := v.Get("token_type"); kind.Type == gjson.String && kind.Str != "" && !strings.EqualFold(kind.Str, "bearer") {
		return answer{}, fmt.Errorf("gave a token of type %q; want Bearer", harmless(kind.Str))
	}
	a := answer{access: Secret(access.Str), scopes: scopesOf(v.Get("scope")), lifetime: lifetime(v.Get("expires_in"))}
	if refresh := v.Get("refresh_token"); refresh.Type == gjson.String {
		a.refresh = Secret(refresh.Str)
	}
	return a, nil
}

// refusalOf reads an error of OAuth.
func refusalOf(v gjson.Result) *refusal {
	code := v.Get("error")
	if code.Type != gjson.String { // some servers have an object of their own there
		return &refusal{"error", harmless(cmp.Or(code.Get("message").String(), code.Raw))}
	}
	return &refusal{harmless(code.Str), harmless(v.Get("error_description").String())}
}

// formObject is a form as the JSON object that it stands for.
func formObject(p *page) (gjson.Result, bool) {
	form, err := url.ParseQuery(strings.TrimSpace(string(p.body)))
	if err != nil || !form.Has("access_token") && !form.Has("error") {
		return gjson.Result{}, false
	}
	text := []byte{'{'}
	for name := range form {
		text = append(gjson.AppendJSONString(text, name), ':')
		text = append(gjson.AppendJSONString(text, form.Get(name)), ',')
	}
	text[len(text)-1] = '}'
	return gjson.ParseBytes(text), true
}

// isVisible reports whether a text is a token as a header holds one: RFC 6750,
// section 2.1, and what servers make of it.
func isVisible(token string) bool {
	return token != "" && len(token) <= maxToken && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

// scopesOf reads a scope: words, or with some servers an array of them.
func scopesOf(v gjson.Result) (scopes []string) {
	if !v.IsArray() {
		return fields(v.String())
	}
	for _, s := range v.Array() {
		scopes = append(scopes, fields(s.String())...)
	}
	return scopes
}

// lifetime reads expires_in. What is missing, not above zero or no number is not
// known; the upstream will say when the token has ended.
func lifetime(v gjson.Result) time.Duration {
	const longest = 10 * 365 * 24 * time.Hour
	seconds := v.Num
	if v.Type == gjson.String {
		seconds, _ = strconv.ParseFloat(strings.TrimSpace(v.Str), 64)
	}
	if !(seconds > 0 && seconds <= longest.Seconds()) {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

// renewed asks for the next access token of a permit.
func renewed(ctx context.Context, c *http.Client, p *Permit, as client) (answer, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {string(p.Renewal)}}
	if p.By == byCredentials {
		form = url.Values{"grant_type": {byCredentials}}
		if scopes := union(p.Scopes, p.Wanted); scopes != nil {
			form.Set("scope", strings.Join(scopes, " "))
		}
	}
	form.Set("resource", p.Resource)
	return request(ctx, c, p.TokenURL, as, form)
}

// revoke tells the server that a permit is not used any more: RFC 7009.
func revoke(ctx context.Context, c *http.Client, p *Permit, as client) error {
	form := url.Values{"token": {string(p.Renewal)}, "token_type_hint": {"refresh_token"}}
	if p.Renewal == "" {
		form = url.Values{"token": {string(p.Access)}, "token_type_hint": {"access_token"}}
	}
	answer, err := post(ctx, c, p.RevokeURL, as, form)
	switch {
	case err != nil:
		return err
	case answer.ok():
		return nil
	}
	if v := gjson.ParseBytes(answer.body); gjson.ValidBytes(answer.body) && v.Get("error").Exists() {
		return fmt.Errorf("%s %w", place(p.RevokeURL), hide(refusalOf(v), as, form))
	}
	return fmt.Errorf("%s %v", place(p.RevokeURL), answer)
}
