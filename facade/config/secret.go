package config

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// secrets is a set of values that are not to be shown. Which values these are
// is a guess, and errs towards hiding: what is hidden without need costs an
// error message a word.
type secrets map[string]bool

// Lengths, in bytes, from which a value is hidden. A shorter one cannot be told
// from the words of a message.
const (
	minSecret      = 6
	minNamedSecret = 4 // when its name says that it is one
	minSecretLine  = 16
)

// Secrets are the values of the environment, as "K=V", that are secret by the
// names of their variables.
func Secrets(environ []string) []string {
	s := secrets{}
	for _, entry := range environ {
		name, value, _ := cutVar(entry)
		s.inherited(name, value)
	}
	return s.list()
}

// configured adds the value of a variable that the servers file, or another
// file that it names, gives to the child.
func (s secrets) configured(name, value string) {
	if isPublic(value) && !NamesSecret(name) {
		return
	}
	s.add(name, value)
}

// inherited adds the value of a variable of ours if its name, or a password in
// it, says that it is secret.
func (s secrets) inherited(name, value string) {
	s.passwords(value)
	if NamesSecret(name) {
		s.add(name, value)
	}
}

// add adds a value, and what of it may be shown alone: the token of an
// authorization, the lines of a key, the password of a URL.
func (s secrets) add(name, value string) {
	s.passwords(value)
	least := minSecret
	if NamesSecret(name) {
		least = minNamedSecret
	}
	if len(value) >= least {
		s[value] = true
	}
	if scheme, token, ok := strings.Cut(value, " "); ok && len(token) >= minSecret && (isScheme(scheme) || NamesSecret(name)) {
		s[token] = true
		s.basic(token)
	}
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) >= minSecretLine && line != strings.TrimSpace(value) {
			s[line] = true
		}
	}
}

// basic adds the password of Basic credentials (RFC 7617), if it is those.
func (s secrets) basic(token string) {
	pair, err := base64.StdEncoding.DecodeString(token)
	if _, password, ok := strings.Cut(string(pair), ":"); err == nil && ok && len(password) >= minNamedSecret {
		s[password] = true
	}
}

// url adds what a URL gives away: its password, parameters that are named as
// secrets, those behind "#" too, and what looks like a token in its path or its
// parameters.
func (s secrets) url(u *url.URL, text string) {
	s.passwords(text)
	for _, segment := range strings.Split(u.EscapedPath(), "/") {
		s.token("", segment)
	}
	for _, parameter := range strings.FieldsFunc(u.RawQuery+"&"+u.EscapedFragment(), func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(parameter, "=")
		s.token(unescaped(name), value)
	}
}

// token adds a value of a URL, as it is written and as it is meant, if its name
// or it itself says that it is secret.
func (s secrets) token(name, value string) {
	for _, v := range []string{value, unescaped(value)} {
		if NamesSecret(name) || IsToken(v) {
			s.add(name, v)
		}
	}
}

// args adds what command-line arguments give away: "--token X", "--token=X",
// "KEY=X", "X-Api-Key: X", and passwords in URLs.
func (s secrets) args(args []string) {
	flag := "" // the argument before, if this one may be its value
	for _, arg := range args {
		s.passwords(arg)
		for _, mark := range []string{"=", ":"} {
			if name, value, ok := strings.Cut(arg, mark); ok {
				s.inherited(name, strings.TrimSpace(value))
			}
		}
		if flag != "" && !strings.HasPrefix(arg, "-") {
			s.inherited(flag, arg)
		}
		flag = ""
		if strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") {
			flag = arg
		}
	}
}

// passwords adds the PASSWORD of every "scheme://user:PASSWORD@host" in a text,
// and a user without one that is as long as a token.
func (s secrets) passwords(text string) {
	for {
		_, rest, ok := strings.Cut(text, "://")
		if !ok {
			return
		}
		text = rest
		if end := strings.IndexAny(rest, "/?# \t\r\n\"'"); end >= 0 {
			rest = rest[:end]
		}
		at := strings.LastIndexByte(rest, '@')
		if at < 0 {
			continue
		}
		user, password, both := strings.Cut(rest[:at], ":")
		if !both && len(user) >= minSecretLine {
			password = user
		}
		for _, p := range []string{password, unescaped(password)} {
			if len(p) >= minNamedSecret {
				s[p] = true
			}
		}
	}
}

func unescaped(s string) string {
	plain, err := url.PathUnescape(s)
	if err != nil {
		return s
	}
	return plain
}

// list gives the values, the longest first, so that replacing one does not
// leave the rest of another that contains it.
func (s secrets) list() []string {
	var values []string
	for v := range s {
		values = append(values, v)
	}
	slices.SortFunc(values, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return values
}

// secretWords are parts of the names of variables, flags and headers whose
// values are credentials.
const secretWords = "key token secret pass auth cred cookie dsn bearer jwt signature webhook hmac mnemonic connection-string connection_string connectionstring"

// secretEnds end such names, and are too common inside of others (PATH).
const secretEnds = "pwd pw sig otp _pat _pin -pat -pin"

// folders are the variables that end as such names do and hold a folder.
const folders = "pwd oldpwd"

// NamesSecret reports whether a variable, a flag or a header of that name holds a
// credential.
func NamesSecret(name string) bool {
	name = strings.ToLower(name)
	contains := func(word string) bool { return strings.Contains(name, word) }
	ends := func(end string) bool { return strings.HasSuffix(name, end) }
	return slices.ContainsFunc(strings.Fields(secretWords), contains) ||
		slices.ContainsFunc(strings.Fields(secretEnds), ends) && !slices.Contains(strings.Fields(folders), name)
}

// IsToken reports whether a value looks like one that a machine made to be kept
// secret: long, in one piece, of letters and at least two digits.
func IsToken(value string) bool {
	letters, digits := 0, 0
	for _, c := range value {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			letters++
		case !strings.ContainsRune("-._~+/=:", c):
			return false
		}
	}
	return len(value) >= minSecretLine && letters > 0 && digits > 1
}

// isPublic reports whether a value is one that nobody would keep secret: a
// short one, a word for yes or no, a number, a path.
func isPublic(value string) bool {
	if len(value) < minSecret {
		return true // also true, false, yes, no, on, off
	}
	return strings.Trim(value, "0123456789.-+") == "" || isPath(value)
}

// isPath reports whether a value looks like a path and like nothing else: "="
// and "+" are in encoded secrets.
func isPath(value string) bool {
	start := strings.HasPrefix(value, "/") || strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../") ||
		strings.HasPrefix(value, "~/") || strings.HasPrefix(value, `\\`) || value[1] == ':' && value[2] == '\\'
	return start && !strings.ContainsAny(value, "=+\n")
}
