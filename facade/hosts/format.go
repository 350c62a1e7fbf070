package hosts

import (
	"fmt"
	"slices"
)

// A format is a syntax in which hosts keep their servers: JSON with comments, or
// TOML. Its data is UTF-8 without a byte order mark. Positions are offsets in the
// data that was given to find; every other method is given that same data.
type format interface {
	// find gives the servers that stand in the tables at roots, in the order of
	// the file. A root is the keys that lead to its table; "*" stands for every key.
	// A root that is not there has no servers. An error is a *syntaxError; data
	// that has a key twice on the way to a server, or in it, is one, too.
	find(data []byte, roots [][]string) ([]found, error)

	// edit gives data with the edits made to one server, in their order. Every
	// byte that they do not concern stays: comments, order, white space. New text
	// takes the indentation and the line ends of its neighbours.
	edit(data []byte, at found, edits []edit) ([]byte, error)

	// transplant gives data with the text of a server in the place of another's,
	// as it stands in from: the same server, before it was edited. What edit did,
	// it takes back byte for byte.
	transplant(data []byte, at found, from []byte, old found) ([]byte, error)

	// quote gives a text as a value.
	quote(text string) string
}

// A found is a server in the data of a file.
type found struct {
	path []string // the keys that lead to it, its name last
	node node     // a table, if the server is right
	text []span   // where its text stands, its key included, in the order of the file
}

// moved is a server whose text stands so many bytes further on.
func (f found) moved(by int) found {
	f.node = f.node.moved(by)
	f.text = slices.Clone(f.text)
	for i := range f.text {
		f.text[i] = f.text[i].moved(by)
	}
	return f
}

// A span is a part of the data: data[start:end].
type span struct{ start, end int }

func (s span) moved(by int) span { return span{s.start + by, s.end + by} }

// An edit sets or removes a member of a server.
type edit struct {
	path []string // below the server: {"command"}, {"env", "TOKEN"}; a table on the way is made if it is missing
	// value is a string, a []string, a literal (text in the format itself, copied as
	// it is), or nil: the member goes, and nothing happens if it is not there. A
	// member that is there keeps its place, a new one becomes the last of its table.
	value any
}

// A literal is a value as a file has it.
type literal string

// A syntaxError says what is wrong with a file, and where. It repeats no value
// of the file.
type syntaxError struct {
	line    int // from 1; 0: the file as a whole
	problem string
}

func (e *syntaxError) Error() string {
	if e.line == 0 {
		return e.problem
	}
	return fmt.Sprintf("%d: %s", e.line, e.problem)
}

// lineAt is the number of the line in which an offset of data lies, from 1.
func lineAt(data []byte, offset int) int {
	line := 1
	for _, c := range data[:min(offset, len(data))] {
		if c == '\n' {
			line++
		}
	}
	return line
}
