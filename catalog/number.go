package catalog

// A number is the grammatical one of a word.
type number uint8

const (
	anyNumber number = iota
	singularNumber
	pluralNumber
)

func numberOf(plural bool) number {
	if plural {
		return pluralNumber
	}
	return singularNumber
}

func (n number) agrees(other number) bool { return n == anyNumber || n == other }

// plural reports whether a word seems to be one, as "status", "access" and
// "analysis" do not.
func plural(w string) bool {
	n := len(w)
	return n > 3 && w[n-1] == 's' && w[n-2] != 's' && w[n-2] != 'u' && w[n-2] != 'i'
}
