package catalog

import (
	"unicode"
	"unicode/utf8"
)

// Foreign reports whether a query seems to be in another language than the
// catalog's: at least half of its letters are in words of other scripts that no
// tool has, or it has more function words of another language that no tool has
// than English ones.
func (c *Catalog) Foreign(query string) bool {
	s := c.searchIndex().search()
	defer s.end()
	s.read(query)
	strange, letters, function, english := 0, 0, 0, 0
	for i := range s.words {
		word, w := s.word(i), &s.words[i]
		first, _ := utf8.DecodeRune(word)
		_, met := s.index.words[string(word)]
		n := utf8.RuneCount(word)
		if unspaced(first) {
			n *= glyphLetters
		}
		letters += n
		switch {
		case !met && unicode.IsLetter(first) && !unicode.Is(unicode.Latin, first):
			strange += n
		case w.sort == stop:
			english++
		case !met && !s.repeats(i) && foreignWord(string(word)):
			function++
		}
	}
	return 2*strange >= letters && strange > 0 || function > english && function > 1
}

// glyphLetters is how many letters a character of a script without spaces is
// worth.
const glyphLetters = 3

// foreignWord reports whether a word stands in most sentences of Spanish, French,
// German, Portuguese, Italian or Dutch, and is no English one. Accents are gone.
func foreignWord(w string) bool {
	switch w {
	case "el", "los", "las", "una", "unos", "unas", "del", "al", "para", "como", "cuando", "donde", "este", "esta", "estos",
		"esos", "mis", "tus", "sus", "quiero", "necesito", "todos", "todas", "le", "les", "une", "du", "au", "aux", "pour",
		"avec", "dans", "sur", "que", "qui", "est", "cette", "ces", "mes", "je", "veux", "tous", "toutes", "der", "das", "dem",
		"ein", "eine", "einen", "einem", "eines", "und", "oder", "fur", "mit", "von", "zu", "zum", "zur", "ist", "wie", "ich",
		"mein", "meine", "alle", "auf", "nach", "bei", "uma", "dos", "meu", "minha", "eu", "quero", "il", "gli", "di", "che",
		"della", "delle", "dei", "nel", "mio", "mia", "voglio", "tutti", "het", "een", "voor", "mijn", "ik", "wil", "de", "la",
		"en", "con", "por", "com", "na", "um":
		return true
	}
	return false
}
