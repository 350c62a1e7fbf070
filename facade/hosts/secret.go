package hosts

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"mcp-facade/facade/config"
)

// What may be secret is a guess, and errs towards hiding: what is hidden without
// need costs a diff a word, and an entry a variable.

// pattern is compiled when it is needed, so that no start of a server pays for it.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// A line is a command line: a program and its arguments.
type line struct {
	words []string
	login bool // a user is among them, whose password "-p" gives
}

// secretsIn gives the offsets from which the words of a command line are secret,
// -1 for one that is not.
func secretsIn(words []string) []int {
	l := line{words, isLogin(words)}
	offsets := make([]int, len(words))
	for i := range words {
		offsets[i] = l.secretAt(i)
	}
	return offsets
}

// secretAt is the offset from which a word is secret, or -1. A word may be a
// command line of its own.
func (l line) secretAt(i int) int {
	word, before := l.words[i], l.before(i)
	switch {
	case word == "":
		return -1
	case l.isValue(i):
		return 0
	case isHeaderFlag(before) && strings.ContainsAny(word, ":="):
		return valueAt(word)
	case (before == "-e" || before == "--env") && strings.Contains(word, "="):
		return valueAt(word)
	case attached().MatchString(word) || l.isAttached(word):
		return 2
	case strings.ContainsAny(word, space):
		return secretWithin(word)
	}
	return secretInWord(word)
}

// before is the word before one, "" if none is.
func (l line) before(i int) string {
	if i <= 0 {
		return ""
	}
	return l.words[i-1]
}

const space = " \t\r\n"

// secretWithin is the offset from which a word is secret that is a command line
// of its own, or some other text.
func secretWithin(word string) int {
	words := strings.Fields(word)
	from := 0
	for i, at := range secretsIn(words) {
		start := from + strings.Index(word[from:], words[i])
		if at >= 0 {
			return start + at
		}
		from = start + len(words[i])
	}
	return -1
}

// isValue reports whether a word is secret for what stands before it.
func (l line) isValue(i int) bool {
	word, before := l.words[i], strings.Trim(l.before(i), `"'{,`)
	name := strings.TrimRight(before, `"':=`)
	switch {
	case isHeaderFlag(l.before(i-1)) && !isFlag(before) && !strings.ContainsAny(before, ":=") && !isFlag(word):
		return true // "--headers X-Workspace abc"
	case isSecretWord(before), (name != before || word[0] == '=' || word[0] == ':') && namesSecret(name):
		return true
	case isLongFlag(before) && namesSecret(before):
		return !strings.HasPrefix(word, "--")
	case before == "-p" || before == "-P" || before == "-a" || before == "-k":
		return (l.login && !strings.Contains(word, ":") || !isPlain(word)) && !l.namesPackage(i)
	case before == "-t" || before == "-s" || before == "-w":
		return l.login && !strings.HasPrefix(word, "-")
	case isUserFlag(before):
		return strings.Contains(word, ":") && !isPlain(word)
	}
	return false
}

// namesPackage reports whether a word is that of "npx -p acme acme-mcp".
func (l line) namesPackage(i int) bool {
	isWord := func(word string) bool { return !isFlag(word) }
	return i > 1 && i < len(l.words)-1 && l.words[i-1] == "-p" && program(l.words[0]) == "npx" && !slices.ContainsFunc(l.words[1:i], isWord)
}

// isLogin reports whether the words give a user that is no number, as those of
// containers are.
func isLogin(words []string) bool {
	for i, word := range words[:max(0, len(words)-1)] {
		if isUserFlag(word) && !isPlain(words[i+1]) {
			return true
		}
	}
	return false
}

func isUserFlag(word string) bool {
	return slices.Contains([]string{"-u", "-U", "--user", "--username"}, word)
}

// isAttached reports whether what stands in one word with "-p" may be a password,
// as in "mysql -uroot -phunter2".
func (l line) isAttached(word string) bool {
	rest, ok := strings.CutPrefix(word, "-p")
	letters, digits := counts(rest)
	isUser := func(word string) bool { return strings.HasPrefix(word, "-u") }
	return ok && rest != "" && (letters > 0 && digits > 0 || l.login || program(l.words[0]) == "mysql" || slices.ContainsFunc(l.words, isUser))
}

// attached are a header and a user with a password that stand in one word with
// their short flag.
var attached = pattern(`^-(?:H[^:]+:|u[^:]+:[^:]+$)`)

// isPlain reports whether what stands behind a short flag is no password: a port
// or another number, a path, a package of npm's with its scope, the next flag.
func isPlain(word string) bool {
	return strings.Trim(word, "0123456789.,:-/") == "" || isFlag(word) ||
		plainStart().MatchString(word) || strings.HasPrefix(word, "@") && strings.Contains(word, "/")
}

var plainStart = pattern(`^(?:/|\.\.?/|~/|\\\\|[A-Za-z]:[\\/])`)

// isSecretWord reports whether a word says that a secret follows, as in
// "config set token abc".
func isSecretWord(word string) bool {
	return slices.Contains(strings.Fields("bearer token password passwd secret apikey api-key api_key access-token access_token"), strings.ToLower(word))
}

// namesSecret is config.NamesSecret, and knows names that say it less clearly, as
// "PWD" in a connection string.
func namesSecret(name string) bool {
	return config.NamesSecret(name) || slices.Contains(strings.Fields(alsoSecret), strings.TrimLeft(strings.ToLower(name), "-"))
}

const alsoSecret = "pwd api access session session-id session_id sessionid jsessionid sid private licence license code login /p"

// isHeaderFlag reports whether a header follows, or is the value: any may be what
// the server knows its user by.
func isHeaderFlag(arg string) bool {
	return arg == "-H" || isFlag(arg) && strings.HasSuffix(strings.TrimSuffix(strings.ToLower(arg), "s"), "header")
}

// isLongFlag reports whether an argument is the name of a flag and nothing else,
// as "-psecret" is not.
func isLongFlag(arg string) bool {
	return isFlag(arg) && !strings.ContainsAny(arg, "=:/ ") && (namesSecret(arg) || strings.HasPrefix(arg, "--"))
}

func isFlag(arg string) bool { return strings.HasPrefix(arg, "-") }

// valueAt is where the value begins in "NAME=value" and "Name: value"; 0 if none
// is there, which follows.
func valueAt(word string) int {
	value := strings.TrimLeft(word[strings.IndexAny(word, ":=")+1:], space)
	if value == "" {
		return 0
	}
	return len(word) - len(value)
}

// secretInWord is the offset from which a word without spaces is secret, or -1.
func secretInWord(word string) int {
	if hasURLSecret(word) || hasCredentials(word) || strings.HasPrefix(word, "-----BEGIN") {
		return 0
	}
	at, named := tokenAt(word), namedAt(word)
	if at < 0 || named >= 0 && named < at {
		return named
	}
	return at
}

// credentials are "user:password@", as in "user:password@tcp(host)/base".
var credentials = pattern(`(?:^|["'=,;(\[]|:-)([^"'=,;(\[{/:@]*):([^@]+)@`)

// authority is the same behind "//", where a URL has a scheme or not.
var authority = pattern(`(?://|\\\\)[^/\\@:]*:[^/\\@]+@`)

// hasCredentials reports whether there are credentials in a word.
func hasCredentials(word string) bool {
	return authority().MatchString(word) || slices.ContainsFunc(credentials().FindAllStringSubmatch(word, -1), func(m []string) bool {
		isPackage := slices.Contains([]string{"npm", "jsr", "github"}, m[1])
		return !isPackage && !strings.HasPrefix(m[2], "//") && !strings.HasPrefix(m[2], `\`)
	})
}

// delimiters stand around names and values.
const delimiters = " =:;,&?\"'`{}[]()<>|$@!*#"

// namedAt is the offset of the first value in a word whose name says that it is
// secret, or -1.
func namedAt(word string) int {
	for i, mark := range word {
		if mark != '=' && mark != ':' {
			continue
		}
		head, value := strings.TrimRight(word[:i], `"'`), word[i+1:]
		name := head[strings.LastIndexAny(head, delimiters)+1:]
		if strings.HasPrefix(head, "--env=") || isNamed(name, value) {
			return i + 1
		}
	}
	return -1
}

// isNamed reports whether a value is secret for its name, which may be a flag, as
// Windows has them, too: "/password:abc". Paths are no names, and no URL is the
// value of its scheme.
func isNamed(name, value string) bool {
	switch {
	case value == "" || strings.HasPrefix(value, "//"), strings.ContainsAny(strings.TrimPrefix(name, "/"), `/\`), isVolume(name, value):
		return false
	case name == "--user":
		return strings.Contains(value, ":")
	}
	return namesSecret(name) || isHeaderFlag(name)
}

// isVolume reports whether a name and a value are those of "/from:/to".
func isVolume(name, value string) bool {
	return strings.HasPrefix(name, "/") && strings.HasPrefix(value, "/")
}
