// Package auth gets the tokens that upstreams over HTTP want, and renews them.
//
// A source of tokens has two methods, Token and Refresh, which the package that
// calls it declares ([mcp-facade/facade/upstream.Auth]): Token gives the value of
// the Authorization header, from memory while that is good; Refresh is called
// with a value that the upstream has refused, and gets another one. The sources:
//
//   - [Command] runs a program that prints a token: one of the user's own, or
//     with [NewOmp] the omp CLI.
//   - [OAuth] has what an authorization server has given, as a [Store] keeps it
//     (OAuth 2.1 as MCP has it). A person is needed for [OAuth.Login] alone; a
//     refresh is done once for all processes that use the store.
//
// A source may be used by many goroutines: while one of them gets a token, the
// others wait for it. No token of a Command is ever written to a file.
package auth

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Credentials is what stands after the scheme of an Authorization: of
// "Bearer abc" it is "abc".
func Credentials(authorization string) string {
	if scheme, rest, ok := strings.Cut(authorization, " "); ok && isScheme(scheme) {
		return rest
	}
	return authorization
}

// authorization is the value of the header for a token, which may come with its
// scheme.
func authorization(token string) string {
	if scheme, _, ok := strings.Cut(token, " "); ok && isScheme(scheme) {
		return token
	}
	return "Bearer " + token
}

func isScheme(word string) bool {
	switch strings.ToLower(word) {
	case "bearer", "basic", "dpop":
		return true
	}
	return false
}

// early is how long before its end a token is not used any more: requests take
// their time, and clocks differ.
const early = time.Minute

// lastUse is until when a token is used that ends at the given time. One that
// lives shortly is used for half its life. The zero time has no end.
func lastUse(now, end time.Time) time.Time {
	if end.IsZero() {
		return end
	}
	return end.Add(-min(early, end.Sub(now)/2))
}

// jwtEnd is when a token says itself that it ends: the "exp" of RFC 7519,
// section 4.1.4. The zero time says nothing. Its signature is not ours to check.
func jwtEnd(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	claims, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	exp := gjson.GetBytes(claims, "exp")
	if err != nil || !gjson.ValidBytes(claims) || exp.Type != gjson.Number {
		return time.Time{}
	}
	return unixTime(exp.Num)
}

// unixTime is a moment given in seconds since 1970, or in the milliseconds of
// programs that have no other. What no clock can mean is the zero time.
func unixTime(n float64) time.Time {
	const (
		inMillis = 1e11 // as seconds, the year 5138
		latest   = 1e14
	)
	switch {
	case !(n > 0 && n < latest):
		return time.Time{}
	case n >= inMillis:
		return time.UnixMilli(int64(n))
	}
	return time.Unix(int64(n), 0)
}
