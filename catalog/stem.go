package catalog

import "strings"

// stem is what the forms of an English word have in common: the word without
// its endings, by Porter's second algorithm (snowballstem.org, "English"). The
// word is of small ASCII letters, at least three.
func stem(word string) string {
	if special, ok := specialStem(word); ok {
		return special
	}
	var w stemmed
	w.n = copy(w.letters[:maxWord], word)
	w.markConsonants()
	w.findRegions()
	w.plural()
	if !w.isException() {
		w.pastAndParticiple()
		w.finalY()
		w.derived()
		w.derivedOnce()
		w.derivedTwice()
		w.finalE()
	}
	return w.of(word)
}

// specialStem knows the words whose endings are none, or unlike all others.
func specialStem(word string) (stem string, ok bool) {
	switch word {
	case "skis":
		return "ski", true
	case "skies":
		return "sky", true
	case "dying", "lying", "tying":
		return word[:1] + "ie", true
	case "idly", "gently", "singly":
		return word[:len(word)-1], true
	case "ugly", "early", "only":
		return word[:len(word)-1] + "i", true
	case "sky", "news", "howe", "atlas", "cosmos", "bias", "andes":
		return word, true
	}
	return "", false
}

// A stemmed is a word of which endings are taken.
type stemmed struct {
	letters [maxWord + 1]byte // no step makes the word longer by more than an e
	n       int               // how many there are
	r1, r2  int               // where the parts begin in which endings are endings
	cut     int               // where the ending begins that ends has found
}

func (w *stemmed) text() []byte { return w.letters[:w.n] }

// markConsonants writes a y that is a consonant as Y: at the beginning, and
// after a vowel.
func (w *stemmed) markConsonants() {
	for i, c := range w.text() {
		if c == 'y' && (i == 0 || vowel(w.letters[i-1])) {
			w.letters[i] = 'Y'
		}
	}
}

// of is what is left of the word: mostly its beginning.
func (w *stemmed) of(word string) string {
	for i, c := range w.text() {
		if c == 'Y' {
			w.letters[i] = 'y'
		}
	}
	if strings.HasPrefix(word, string(w.text())) {
		return word[:w.n]
	}
	return string(w.text())
}

func vowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u', 'y':
		return true
	}
	return false
}

// findRegions finds the part after the first consonant that comes after a
// vowel, and that part of it.
func (w *stemmed) findRegions() {
	w.r1 = w.region(0)
	for _, prefix := range [...]string{"gener", "commun", "arsen"} {
		if strings.HasPrefix(string(w.text()), prefix) {
			w.r1 = len(prefix)
		}
	}
	w.r2 = w.region(w.r1)
}

func (w *stemmed) region(from int) int {
	for i := from + 1; i < w.n; i++ {
		if !vowel(w.letters[i]) && vowel(w.letters[i-1]) {
			return i + 1
		}
	}
	return w.n
}

// ends reports whether the word ends in one of some endings, of which a longer
// one must come before one that it ends in.
func (w *stemmed) ends(endings ...string) bool {
	for _, e := range endings {
		if at := w.n - len(e); at >= 0 && w.letters[at] == e[0] && string(w.letters[at:w.n]) == e {
			w.cut = at
			return true
		}
	}
	return false
}

// put puts another ending for the one that ends has found, if that begins in
// the region.
func (w *stemmed) put(region int, ending string) {
	if w.cut >= region {
		w.n = w.cut + copy(w.letters[w.cut:], ending)
	}
}

// before reports whether one of some letters is before the ending.
func (w *stemmed) before(letters string) bool {
	return w.cut > 0 && strings.IndexByte(letters, w.letters[w.cut-1]) >= 0
}

// hasVowel reports whether there is a vowel before a position.
func (w *stemmed) hasVowel(end int) bool {
	for _, c := range w.letters[:max(end, 0)] {
		if vowel(c) {
			return true
		}
	}
	return false
}

// shortSyllable reports whether what is before a position ends in a short
// syllable, as hop and ab do.
func (w *stemmed) shortSyllable(end int) bool {
	t := w.letters[:end]
	switch n := len(t); {
	case n == 2:
		return vowel(t[0]) && !vowel(t[1])
	case n > 2:
		last := t[n-1]
		return !vowel(last) && last != 'w' && last != 'x' && last != 'Y' && vowel(t[n-2]) && !vowel(t[n-3])
	}
	return false
}

func (w *stemmed) plural() {
	switch {
	case w.ends("sses"):
		w.put(0, "ss")
	case w.ends("ied", "ies"):
		if w.cut > 1 {
			w.put(0, "i")
		} else {
			w.put(0, "ie")
		}
	case w.ends("us", "ss"):
	case w.ends("s") && w.hasVowel(w.cut-1):
		w.put(0, "")
	}
}

// isException reports whether the word is one that keeps its other endings.
func (w *stemmed) isException() bool {
	switch string(w.text()) {
	case "inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed":
		return true
	}
	return false
}

func (w *stemmed) pastAndParticiple() {
	switch {
	case w.ends("eedly", "eed"):
		w.put(w.r1, "ee")
		return
	case !w.ends("ingly", "edly", "ing", "ed") || !w.hasVowel(w.cut):
		return
	}
	w.put(0, "")
	n := w.n
	switch {
	case w.ends("at", "bl", "iz") || w.r1 >= n && w.shortSyllable(n):
		w.letters[n] = 'e'
		w.n++
	case w.ends("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"):
		w.n--
	}
}

func (w *stemmed) finalY() {
	if w.ends("y", "Y") && w.cut > 1 && !vowel(w.letters[w.cut-1]) {
		w.put(0, "i")
	}
}

func (w *stemmed) derived() {
	switch {
	case w.ends("ization", "izer"):
		w.put(w.r1, "ize")
	case w.ends("ational", "ation", "ator"):
		w.put(w.r1, "ate")
	case w.ends("tional"):
		w.put(w.r1, "tion")
	case w.ends("enci"):
		w.put(w.r1, "ence")
	case w.ends("anci"):
		w.put(w.r1, "ance")
	case w.ends("abli"):
		w.put(w.r1, "able")
	case w.ends("entli"):
		w.put(w.r1, "ent")
	case w.ends("alism", "aliti", "alli"):
		w.put(w.r1, "al")
	case w.ends("fulness", "fulli"):
		w.put(w.r1, "ful")
	case w.ends("ousness", "ousli"):
		w.put(w.r1, "ous")
	case w.ends("iveness", "iviti"):
		w.put(w.r1, "ive")
	case w.ends("biliti", "bli"):
		w.put(w.r1, "ble")
	case w.ends("lessli"):
		w.put(w.r1, "less")
	case w.ends("ogi") && w.before("l"):
		w.put(w.r1, "og")
	case w.ends("li") && w.before("cdeghkmnrt"):
		w.put(w.r1, "")
	}
}

func (w *stemmed) derivedOnce() {
	switch {
	case w.ends("ational"):
		w.put(w.r1, "ate")
	case w.ends("tional"):
		w.put(w.r1, "tion")
	case w.ends("alize"):
		w.put(w.r1, "al")
	case w.ends("icate", "iciti", "ical"):
		w.put(w.r1, "ic")
	case w.ends("ful", "ness"):
		w.put(w.r1, "")
	case w.ends("ative"):
		w.put(w.r2, "")
	}
}

func (w *stemmed) derivedTwice() {
	if w.ends("ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "al", "er", "ic") ||
		w.ends("ion") && w.before("st") {
		w.put(w.r2, "")
	}
}

func (w *stemmed) finalE() {
	switch {
	case w.ends("e") && (w.cut >= w.r2 || w.cut >= w.r1 && !w.shortSyllable(w.cut)):
		w.put(w.r1, "")
	case w.ends("l") && w.before("l"):
		w.put(w.r2, "")
	}
}
