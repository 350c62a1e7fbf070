package hosts

import (
	"slices"
	"strings"
)

// What may be secret is a guess, and errs towards hiding: what is hidden without
// need costs a diff a word.

// secretWords are parts of the names of flags, variables and headers whose
// values are credentials; secretEnds end such names.
const (
	secretWords = "key token secret pass auth credential cookie dsn bearer jwt connection-string connection_string connectionstring"
	secretEnds  = "_pwd _pat _pw _pin -pwd -pat -pw -pin"
)

func namesSecret(name string) bool {
	name = strings.ToLower(name)
	contains := func(word string) bool { return strings.Contains(name, word) }
	ends := func(end string) bool { return strings.HasSuffix(name, end) }
	return slices.ContainsFunc(strings.Fields(secretWords), contains) || slices.ContainsFunc(strings.Fields(secretEnds), ends)
}

// tokenPrefixes begin the tokens of well-known services.
const tokenPrefixes = "sk- pk- rk_ sk_ ghp_ gho_ ghs_ ghu_ github_pat_ glpat- xox AKIA eyJ PMAK- figd_ ntn_ hf_ lin_ dop_v1_ AIza npm_ pat-"

// minToken is the length from which a word in one piece may be a token.
const minToken = 16

// isToken reports whether a word looks like one that a machine made to be kept
// secret: long, in one piece, of letters and at least two digits, or with a
// beginning that is known.
func isToken(word string) bool {
	if len(word) < minToken || strings.ContainsAny(word, " \t/\\") {
		return false
	}
	if slices.ContainsFunc(strings.Fields(tokenPrefixes), func(p string) bool { return strings.HasPrefix(word, p) }) {
		return true
	}
	letters, digits := 0, 0
	for _, c := range word {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			letters++
		case !strings.ContainsRune("-._~+=", c):
			return false
		}
	}
	return len(word) >= 2*minToken && letters > 0 && digits > 1
}

// secretAt is the offset in an argument from which it is secret, or -1. before
// is the argument in front of it. It may be a command line of its own, or a list
// of names and values.
func secretAt(before, arg string) int {
	if isLongFlag(before) && namesSecret(before) && !isFlag(arg) && arg != "" || hasURLSecret(arg) || isToken(arg) {
		return 0
	}
	for i, mark := range arg {
		if mark != '=' && mark != ':' && mark != ' ' {
			continue
		}
		head := strings.TrimRight(arg[:i], `"'`)
		name := head[strings.LastIndexAny(head, ` =:;,&?"'{[(`)+1:]
		value := strings.TrimLeft(arg[i+1:], " ")
		word, _, _ := strings.Cut(value, " ")
		switch named := namesSecret(name) && !strings.ContainsAny(name, `/\`); {
		case value == "" || strings.HasPrefix(value, "//"):
		case isToken(strings.Trim(word, `"',;`)), mark != ' ' && named, mark == ' ' && named && isFlag(name) && !isFlag(value):
			return len(arg) - len(value)
		}
	}
	return -1
}

// isLongFlag reports whether an argument is the name of a flag and nothing else,
// as "-psecret" is not.
func isLongFlag(arg string) bool {
	return isFlag(arg) && !strings.ContainsAny(arg, "=:/ ") && (namesSecret(arg) || strings.HasPrefix(arg, "--"))
}

func isFlag(arg string) bool { return strings.HasPrefix(arg, "-") }

// hasURLSecret reports whether there is a URL with a user, or with something
// that looks secret in its path or query, in a text.
func hasURLSecret(text string) bool {
	for rest := text; ; {
		scheme, after, ok := strings.Cut(rest, "://")
		if !ok {
			return false
		}
		rest = after
		address := after
		if end := strings.IndexAny(after, " \t\r\n\"'"); end >= 0 {
			address = after[:end]
		}
		if scheme != "" && isSecretAddress(address) {
			return true
		}
	}
}

// isSecretAddress judges what follows "://".
func isSecretAddress(address string) bool {
	address, query, _ := strings.Cut(address, "?")
	host, path, _ := strings.Cut(address, "/")
	if strings.Contains(host, "@") || slices.ContainsFunc(strings.Split(path, "/"), isToken) {
		return true
	}
	for _, pair := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' || r == '#' }) {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && (namesSecret(name) || isToken(value)) {
			return true
		}
	}
	return false
}

// hidden stands for what is not to be seen.
const hidden = "…"

// maskedURL is a URL without its user, the values of its query, its fragment, and
// what looks like a token in its path.
func maskedURL(text string) string {
	scheme, address, ok := strings.Cut(text, "://")
	if !ok || isToken(scheme) {
		return hidden
	}
	address, _, _ = strings.Cut(address, "#")
	address, query, _ := strings.Cut(address, "?")
	host, path, slash := strings.Cut(address, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = hidden + host[at:]
	}
	masked := scheme + "://" + host
	if slash {
		segments := strings.Split(path, "/")
		for i, segment := range segments {
			if isToken(segment) || strings.Contains(segment, "@") {
				segments[i] = hidden
			}
		}
		masked += "/" + strings.Join(segments, "/")
	}
	mark := "?"
	for _, pair := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, _, named := strings.Cut(pair, "=")
		if masked += mark; named {
			masked += name + "="
		}
		masked += hidden
		mark = "&"
	}
	return masked
}
