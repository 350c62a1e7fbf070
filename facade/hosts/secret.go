package hosts

import (
	"slices"
	"strings"

	"mcp-facade/facade/config"
)

// What may be secret is a guess, and errs towards hiding: what is hidden without
// need costs a diff a word.

// minToken is the length from which a word in one piece may be a token.
const minToken = 16

// isToken reports whether a word looks like one that a machine made to be kept
// secret: with a beginning that is known, or twice as long as such a one.
func isToken(word string) bool {
	return len(word) >= minToken && !strings.ContainsAny(word, " \t/\\") &&
		(config.HasTokenPrefix(word) || len(word) >= 2*minToken && !strings.Contains(word, ":") && config.IsToken(word))
}

// secretAt is the offset in an argument from which it is secret, or -1. before
// is the argument in front of it. It may be a command line of its own, or a list
// of names and values.
func secretAt(before, arg string) int {
	if isLongFlag(before) && config.NamesSecret(before) && !isFlag(arg) && arg != "" || hasURLSecret(arg) || isToken(arg) {
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
		switch named := config.NamesSecret(name) && !strings.ContainsAny(name, `/\`); {
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
	return isFlag(arg) && !strings.ContainsAny(arg, "=:/ ") && (config.NamesSecret(arg) || strings.HasPrefix(arg, "--"))
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
		if value != "" && (config.NamesSecret(name) || isToken(value)) {
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
