package ledger

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"strings"
	"time"
)

// A line is a record as it is written.
type line struct {
	Record
	Micros int64 `json:"us"`
}

// appendLine appends a record of this process, with its line end.
func (l *Ledger) appendLine(b []byte, n noted) []byte {
	r := n.Record
	if n.fill != nil {
		n.fill(&r)
	}
	r.Time, r.Session = r.Time.UTC().Truncate(time.Millisecond), cmp.Or(r.Session, l.session)
	r.Tool = cutName(r.Tool)
	r.Found = cutNames(r.Found)
	text, err := json.Marshal(line{r, max(0, r.Dur.Microseconds())})
	if err != nil { // a time that no calendar has
		return b
	}
	return append(append(b, text...), '\n')
}

// cutName cuts a name to maxName bytes, between characters.
func cutName(name string) string {
	name = strings.ToValidUTF8(name, "\ufffd")
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	return name
}

func cutNames(names []string) []string {
	var all []string
	for _, name := range names[:min(len(names), maxFound)] {
		all = append(all, cutName(name))
	}
	return all
}

// Who reads a ledger adds up what it says: lines that cannot be true are not
// read. A line that we have written is shorter than maxLine: in JSON a byte of a
// name is six at most.
const (
	maxLine   = (maxFound+8)*(6*maxName+4) + 512
	maxCount  = math.MaxInt32
	maxMicros = int64(7 * 24 * time.Hour / time.Microsecond)
)

// firstYear is before any record: clocks begin there that nobody has set.
const firstYear = 2000

// parseLines reads the lines of a file.
func parseLines(text []byte, now time.Time) (records []Record, unread int) {
	for l := range bytes.Lines(text) {
		l = bytes.TrimSpace(l)
		if len(l) == 0 {
			continue
		}
		if r, ok := parse(l, now); ok {
			records = append(records, r)
		} else {
			unread++
		}
	}
	return records, unread
}

// parse reads a line. It reports false for one that we have not written.
func parse(text []byte, now time.Time) (Record, bool) {
	if len(text) > maxLine || text[0] != '{' {
		return Record{}, false
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return Record{}, false
	}
	r := l.Record
	for _, n := range []int{r.In, r.Out, r.Tokens, r.Tools} {
		if n < 0 || n > maxCount {
			return Record{}, false
		}
	}
	for _, s := range append([]string{r.Session, r.Via, r.Tool, r.Outcome, r.Surface}, r.Found...) {
		if len(s) > 3*maxName { // what was no UTF-8 has grown
			return Record{}, false
		}
	}
	if l.Micros < 0 || l.Micros > maxMicros || r.Time.Year() < firstYear || r.Time.After(now.Add(24*time.Hour)) || r.Via == "" || len(r.Found) > maxFound {
		return Record{}, false
	}
	r.Dur = time.Duration(l.Micros) * time.Microsecond
	return r, true
}
