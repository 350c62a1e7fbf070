package facade

import (
	"slices"
	"strings"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// maxDenial is how much of a text is looked at for a denial, in bytes. What says
// more has other things to say.
const maxDenial = 2 << 10

// isDenial reports whether an error of the upstream says that it does not accept
// our token, or that this has expired. That a token may do too little is none.
func isDenial(e gjson.Result) bool {
	text := wordsOf(e.Get("message").Str)
	switch e.Get("code").Int() {
	case 401, -32001: // the latter is also a timeout, or a lost session
		if text.isAboutAuth() && !text.isOther() {
			return true
		}
	case codeInvalidParams: // arguments may be called so
		return dataDenies(e.Get("data"))
	case 403:
		return text.denyToken() && !text.isOther()
	}
	return text.deny() || dataDenies(e.Get("data"))
}

// isResultDenial is isDenial for the result of a tool.
func isResultDenial(result gjson.Result) bool {
	first := result.Get("content.0")
	return result.Get("isError").Bool() && first.Get("type").Str == "text" && wordsOf(first.Get("text").Str).deny()
}

// dataDenies reads what some servers put beside a message that says nothing.
func dataDenies(data gjson.Result) bool {
	for _, key := range []string{"status", "statusCode", "status_code", "code", "httpStatus"} {
		if data.Get(key).Int() == 401 {
			return true
		}
	}
	text := data.Str
	if data.IsObject() {
		text = data.Get("error").Str
	}
	words := wordsOf(text)
	return words.denyToken() && !words.isOther()
}

// A phrase is the words of a text, in lower case, with "" where a mark stands
// between two of them.
type phrase []string

// wordsOf takes a text apart; one that is too long has no words. Also an
// underscore and a hyphen inside of a word part it: invalid_token is two words.
func wordsOf(text string) (words phrase) {
	if len(text) > maxDenial {
		return nil
	}
	text, word := strings.ToLower(text), 0
	for i := 0; i <= len(text); i++ {
		c := byte(' ')
		if i < len(text) {
			c = text[i]
		}
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			continue
		}
		if word < i {
			words = append(words, text[word:i])
		}
		word = i + 1
		inside := c == ' ' || c == '_' || c == '\'' || c == '-' && i > 0 && text[i-1] != ' '
		if n := len(words); !inside && n > 0 && words[n-1] != "" {
			words = append(words, "")
		}
	}
	return words
}

// The kinds of words that a denial is made of. A token that is of another kind,
// a page token or a sync token, is none of ours.
const (
	things   = "token tokens credential credentials jwt apikey"
	ofToken  = "personal access auth authentication authorization bearer api oauth oauth2 security session id login user jwt mcp"
	articles = "the your provided supplied given this"
	between  = "included in the request you provided has have is are was were been already now"
	overs    = "expired revoked invalidated invalid"
	unauthed = "unauthorized unauthorised unauthenticated"
	others   = "json yaml xml syntax parse parsing csrf xsrf"
)

func among(word, list string) bool {
	return word != "" && slices.Contains(strings.Fields(list), word)
}

// at is the word at a place, "" beyond the ends.
func (p phrase) at(i int) string {
	if i < 0 || i >= len(p) {
		return ""
	}
	return p[i]
}

// has reports whether words follow each other somewhere.
func (p phrase) has(words ...string) bool {
	for i := range p {
		if i+len(words) <= len(p) && slices.Equal(p[i:i+len(words)], words) {
			return true
		}
	}
	return false
}

// deny reports whether a text by itself is about a token that is not accepted.
func (p phrase) deny() bool { return (p.denyToken() || p.denyRequest()) && !p.isOther() }

// denyToken reports whether a text says that a token has expired or is invalid.
func (p phrase) denyToken() bool {
	for i := range p {
		if n := p.thing(i); n > 0 && (p.isOver(i, n) || p.isBad(i)) {
			return true
		}
	}
	return p.has("bad", "credentials") || p.has("invalid", "auth") && !p.has("invalid", "auth", "type") || p.has("not", "authed") ||
		p.has("error", "validating", "access", "token") || slices.ContainsFunc(p, func(w string) bool { return strings.HasPrefix(w, "expiredtoken") })
}

// thing is how many words at a place name what we authorize ourselves with.
func (p phrase) thing(i int) int {
	switch {
	case p[i] == "api" && among(p.at(i+1), "key keys"):
		return 2
	case among(p[i], things) && !among(p.at(i+1), "count limit"):
		return 1
	}
	return 0
}

// isOver reports whether the thing at a place is said to be over.
func (p phrase) isOver(i, n int) bool {
	if before := p.at(i - 1); before != "" && !among(before, ofToken) && !among(before, articles) {
		return false
	}
	i += n
	for marks := 0; i < len(p) && (among(p[i], between) || p[i] == "" && marks == 0); i++ {
		if p[i] == "" {
			marks++
		}
	}
	rest := p[min(i, len(p)):]
	return among(rest.at(0), overs) || rest.at(0) == "no" && rest.at(1) == "longer" && rest.at(2) == "valid" || rest.at(0) == "not" && rest.at(1) == "valid"
}

// isBad reports whether the thing at a place is called an invalid one.
func (p phrase) isBad(i int) bool {
	for i--; i >= 0 && (p[i] == "or" || p[i] == "unknown" || among(p[i], ofToken)); i-- {
	}
	return among(p.at(i), overs) || p.at(i) == "missing"
}

// denyRequest reports whether a text says that a request had no valid token:
// HTTP 401 in words.
func (p phrase) denyRequest() bool {
	for i, w := range p {
		next := i + 1
		if p.at(next) == "" {
			next++
		}
		switch {
		case w == "401" && among(p.at(next), unauthed), among(w, unauthed) && p.at(next) == "401":
			return true
		case w == "http" || w == "status":
			for among(p.at(next), "status code") || next < len(p) && p[next] == "" {
				next++
			}
			if p.at(next) == "401" {
				return true
			}
		}
	}
	return p.opensWithRefusal() || p.has("code", "", "unauthenticated")
}

// opensWithRefusal reports whether the first thing that a text says, and all
// that it says of it, is that the request was not authorized.
func (p phrase) opensWithRefusal() bool {
	for len(p) > 0 && (among(p[0], "mcp api error") || p[0] == "" || strings.Trim(p[0], "0123456789") == "") {
		p = p[1:]
	}
	for _, said := range []phrase{{"unauthorized"}, {"unauthorised"}, {"unauthenticated"}, {"not", "authenticated"}, {"authentication", "required"}} {
		if len(p) >= len(said) && slices.Equal(p[:len(said)], said) && p.at(len(said)) == "" {
			return true
		}
	}
	return false
}

// isAboutAuth reports whether a text has to do with tokens, which is enough
// beside a code that says the rest.
func (p phrase) isAboutAuth() bool {
	for i, w := range p {
		if p.thing(i) > 0 || among(w, unauthed) || strings.HasPrefix(w, "authenticat") || w == "login" {
			return true
		}
	}
	return p.has("sign", "in") || p.has("log", "in")
}

// isOther reports whether a text is of something that only looks like a denial.
func (p phrase) isOther() bool {
	for i, w := range p {
		next := p.at(i + 1)
		switch {
		case among(w, others), w == "unexpected" && next == "token", w == "rate" && next == "limit",
			w == "insufficient" && among(next, "scope scopes permission permissions privilege privileges"):
			return true
		}
	}
	return false
}

// remarked is an answer with a note of ours beside what the upstream says.
func remarked(m wire.Message, note string) wire.Message {
	if note == "" {
		return m
	}
	if m.Error.Exists() {
		return wire.Remark(m, note)
	}
	raw := withText(m, "\n"+wire.Noted(note))
	if said, err := wire.Parse(raw); err == nil {
		return said
	}
	return m
}
