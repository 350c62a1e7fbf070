package hosts

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"mcp-facade/facade/config"
)

// pieces are the parts of a word that may be tokens; "=" may end one.
var pieces = sync.OnceValue(func() *regexp.Regexp {
	delimiter := regexp.QuoteMeta(delimiters)
	return regexp.MustCompile("[^-" + delimiter + "][^" + delimiter + "]*(?:={1,2}$)?")
})

// tokenAt is the offset of the first token in a word, or -1.
func tokenAt(word string) int {
	for _, m := range pieces().FindAllStringIndex(word, -1) {
		if piece := word[m[0]:m[1]]; isToken(piece) || isToken(unescaped(piece)) {
			return m[0]
		}
	}
	return -1
}

// minToken is the length from which a word in one piece may be a token.
const minToken = 16

// isToken reports whether a word looks like one that a machine made to be kept
// secret: with a beginning that is known, or twice as long as such a one, or with
// letters and digits in no order.
func isToken(word string) bool {
	if len(word) < minToken {
		return false
	}
	return isBase64(word) || !strings.ContainsAny(word, space+`/\`) &&
		(config.HasTokenPrefix(word) || len(word) >= 2*minToken && !strings.Contains(word, ":") && config.IsToken(word) || hasRun(word))
}

// hasRun reports whether there are letters and digits in a row that are longer, or
// more mixed, than names are.
func hasRun(word string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("-._~+%", r) }), func(run string) bool {
		letters, digits := counts(run)
		return letters+digits == len(run) && (len(run) >= 24 || len(run) >= 12 && letters > 0 && digits > 1)
	})
}

func counts(word string) (letters, digits int) {
	for _, c := range []byte(word) {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			letters++
		}
	}
	return letters, digits
}

// isBase64 reports whether a word looks like 12 bytes or more in base64, and not
// like a path. 40 characters are a secret key of AWS.
func isBase64(word string) bool {
	letters, digits := counts(word)
	mixed := digits > 0 && strings.ToLower(word) != word && strings.ToUpper(word) != word
	return mixed && letters+digits+strings.Count(word, "/")+strings.Count(word, "+")+strings.Count(word, "=") == len(word) &&
		(len(word) == 40 || len(word) >= 2*minToken && word[0] != '/' || strings.Contains(word, "+") || strings.HasSuffix(word, "="))
}
