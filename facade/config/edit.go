package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-facade/files"

	"github.com/tailscale/hujson"
)

// Text gives the bytes of the servers file at path, to be edited, under the
// conditions of [Load]; nil when there is no such file.
func Text(path string) ([]byte, error) {
	data, _, err := load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, loadError(path, err)
	}
	return data, nil
}

// AddEntry gives the text of a servers file with one more entry, after the
// others. The entry is a raw object, indented by two spaces where it has several
// lines; it gets the indentation and the line ends of the file. No byte of the
// file changes. Nothing, or white space, is a file without entries. The error,
// an *Error, says what is wrong with the file, the name or the entry.
func AddEntry(data []byte, name string, entry []byte) ([]byte, error) {
	if why := wrongName(name); why != "" {
		return nil, &Error{Key: cmp.Or(name, `""`), Err: errors.New(why)}
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(data, bom))) == 0 {
		return sound(slices.Concat(data, []byte("{\n  "), literal(name), []byte(": "), indented(entry, "\n  ", "  "), []byte("\n}\n")), name)
	}
	e, err := newEditor(data)
	if err != nil {
		return nil, err
	}
	if memberOf(e.servers, name) != nil {
		return nil, &Error{Key: name, Err: errors.New("is there already")}
	}
	e.add(e.servers, e.serversAt, name, entry)
	return sound(e.apply(), name)
}

// SetUsed gives the text of a servers file in which "used" of an entry is the
// names given. No byte changes but those of that key. The error, an *Error or
// several, says what is wrong with the file or the entry.
func SetUsed(data []byte, name string, used []string) ([]byte, error) {
	if _, err := sound(data, name); err != nil {
		return nil, err
	}
	e, err := newEditor(data)
	if err != nil {
		return nil, err
	}
	value := memberOf(e.servers, name)
	object := value.Value.(*hujson.Object)
	if old := memberOf(object, "used"); old != nil {
		around, unit := e.indentation(old.StartOffset), e.unit(object, value)
		e.replace(old.StartOffset, old.EndOffset, indented(usedText(used), e.eol+around, unit))
	} else {
		e.add(object, value, "used", usedText(used))
	}
	return sound(e.apply(), name)
}

// RawUpstream gives the raw object that says how to reach the server of an entry
// of the servers file at path, as plain JSON. The error is an *Error, or several.
func RawUpstream(path, name string) ([]byte, error) {
	data, _, err := load(path)
	if err != nil {
		return nil, loadError(path, err)
	}
	f, err := Parse(path, data)
	if err == nil {
		_, err = f.Server(name)
	}
	if err != nil {
		return nil, err
	}
	e, err := newEditor(data)
	if err != nil {
		return nil, err
	}
	entry := memberOf(e.servers, name).Value.(*hujson.Object)
	plain := hujson.Value{Value: &hujson.Object{}}
	if inner := memberOf(entry, "upstream"); inner != nil {
		plain.Value = inner.Value
	} else {
		for _, m := range entry.Members {
			if find(decoded(m.Name), httpKeys, stdioKeys) != nil {
				plain.Value.(*hujson.Object).Members = append(plain.Value.(*hujson.Object).Members, m)
			}
		}
	}
	plain = plain.Clone()
	plain.Standardize()
	return plain.Pack(), nil
}

// usedLine is how long a list of names may be, in bytes, to stand in one line.
const usedLine = 90

// usedText is a list of names as an array: in one line, or in a line each.
func usedText(names []string) []byte {
	raw := make([]string, len(names))
	for i, name := range names {
		raw[i] = string(literal(name))
	}
	if line := "[" + strings.Join(raw, ", ") + "]"; len(line) <= usedLine {
		return []byte(line)
	}
	return []byte("[\n  " + strings.Join(raw, ",\n  ") + "\n]")
}

// sound gives a text back if its entry of that name can be used.
func sound(data []byte, name string) ([]byte, error) {
	f, err := Parse("", data)
	if err == nil {
		_, err = f.Server(name)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// bom is the byte order mark that some editors write.
var bom = []byte("\ufeff")

// An editor collects what is to change in the text of a servers file.
type editor struct {
	data      []byte
	eol       string
	servers   *hujson.Object // that holds the entries
	serversAt *hujson.Value  // and where it stands
	splices   []splice
}

// A splice puts text in the place of the bytes from at to end.
type splice struct {
	at, end int
	text    []byte
}

// newEditor reads a servers file.
func newEditor(data []byte) (*editor, error) {
	if _, err := Parse("", data); err != nil {
		return nil, err
	}
	e := &editor{data: data, eol: "\n"}
	if before, _, ok := bytes.Cut(data, []byte("\n")); ok && bytes.HasSuffix(before, []byte("\r")) {
		e.eol = "\r\n"
	}
	// In the place of the mark, space keeps the offsets those of the file.
	text := append(bytes.Clone(data), '\n')
	if bytes.HasPrefix(text, bom) {
		copy(text, "   ")
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, syntaxError("", err)
	}
	e.serversAt = &root
	e.servers = root.Value.(*hujson.Object)
	if inner := memberOf(e.servers, hostRoot); inner != nil {
		e.serversAt, e.servers = inner, inner.Value.(*hujson.Object)
	}
	return e, nil
}

// memberOf is the value of a name in an object; nil: there is none.
func memberOf(object *hujson.Object, name string) *hujson.Value {
	for i := range object.Members {
		if decoded(object.Members[i].Name) == name {
			return &object.Members[i].Value
		}
	}
	return nil
}

// replace notes a splice. Splices are noted in the order of the file.
func (e *editor) replace(at, end int, text []byte) {
	e.splices = append(e.splices, splice{at, end, text})
}

// apply gives the text with all splices.
func (e *editor) apply() []byte {
	var out []byte
	done := 0
	for _, c := range e.splices {
		out = append(append(out, e.data[done:c.at]...), c.text...)
		done = c.end
	}
	return append(out, e.data[done:]...)
}

// add notes a new last member of an object that stands at a place. Comments
// that follow the last member stay with it.
func (e *editor) add(object *hujson.Object, at *hujson.Value, name string, value []byte) {
	end := at.EndOffset - 1 // the closing brace
	after := end - len(object.AfterExtra)
	place := after + len(bytes.TrimRight(object.AfterExtra, " \t\r\n"))
	comma := ""
	if n := len(object.Members); n > 0 {
		last := object.Members[n-1].Value
		if last.AfterExtra != nil {
			comma = ","
		} else {
			e.replace(last.EndOffset, last.EndOffset, []byte(","))
		}
	}
	text := append(append(literal(name), ": "...), value...)
	if len(object.Members) > 0 && !bytes.Contains(e.data[at.StartOffset:end], []byte("\n")) {
		e.replace(place, place, append(indented(append([]byte(" "), text...), " ", ""), comma...))
		return
	}
	around, unit := e.indentation(at.StartOffset), e.unit(object, at)
	text = append(indented(append([]byte("\n"), text...), e.eol+e.within(object, around, unit), unit), comma...)
	if len(object.Members) == 0 && !bytes.Contains(e.data[place:end], []byte("\n")) {
		text = append(text, e.eol+around...)
	}
	e.replace(place, place, text)
}

// indented gives text of several lines, which are indented by two spaces, with
// another line end, which may hold what begins each line, and another unit. No
// string of JSON has a line end in it.
func indented(text []byte, eol, unit string) []byte {
	lines := strings.Split(string(text), "\n")
	for i, line := range lines[1:] {
		inner := strings.TrimLeft(line, " ")
		lines[i+1] = strings.Repeat(unit, (len(line)-len(inner))/2) + inner
	}
	return []byte(strings.Join(lines, eol))
}

// indentation is the white space that begins the line of an offset.
func (e *editor) indentation(at int) string {
	line := bytes.TrimPrefix(e.data[bytes.LastIndexByte(e.data[:at], '\n')+1:], bom)
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// ownLine is the indentation of the object's last member that begins a line.
func ownLine(object *hujson.Object) (string, bool) {
	for _, m := range slices.Backward(object.Members) {
		extra := m.Name.BeforeExtra
		if at := bytes.LastIndexByte(extra, '\n'); at >= 0 {
			line := extra[at+1:]
			return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]), true
		}
	}
	return "", false
}

// within is how the members of an object are indented.
func (e *editor) within(object *hujson.Object, around, unit string) string {
	if own, ok := ownLine(object); ok {
		return own
	}
	return around + unit
}

// unit is by how much the members of an object are indented more than the line
// of its brace; without a sign of it, as those of the whole file are.
func (e *editor) unit(object *hujson.Object, at *hujson.Value) string {
	own, ok := ownLine(object)
	if unit, more := strings.CutPrefix(own, e.indentation(at.StartOffset)); ok && more && unit != "" {
		return unit
	}
	if object != e.servers {
		return e.unit(e.servers, e.serversAt)
	}
	return cmp.Or(e.indentation(at.StartOffset), "  ")
}

// literal is a text as a JSON string.
func literal(text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(text) // of a string, into memory: it cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Replace puts a text in the place of the file at path, at once: a reader sees
// the old text or the new one, whole. It refuses when the file does not hold
// before any more; nil: when there is one. A symbolic link stays, and the file
// it leads to is replaced. The mode stays, and the owner where that is allowed; a
// new file is its owner's alone.
// The error is an *Error.
func Replace(path string, before, after []byte) error {
	err := replace(path, before, after)
	if e := new(Error); err == nil || errors.As(err, &e) {
		return err
	}
	return loadError(path, err)
}

func replace(path string, before, after []byte) error {
	path, err := target(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = nil, os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err != nil {
		return err
	}
	return swap(path, before, after, info)
}

// unchanged fails if the file at path does not hold a text; nil: if there is one.
func unchanged(path string, text []byte) error {
	now, err := Text(path)
	if err == nil && ((now == nil) != (text == nil) || !bytes.Equal(now, text)) {
		err = &Error{Path: path, Err: errors.New("was changed by somebody else meanwhile, and is left as it is"), Hint: "run the command again"}
	}
	return err
}

// target is where a file is to which a symbolic link may lead.
func target(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", &Error{Path: path, Err: fmt.Errorf("is a symbolic link that leads nowhere: %w", errors.Unwrap(err))}
	}
	return real, nil
}

// swap writes a file beside the one at path and puts it in its place, if that is
// still as it was: between the last look and the change there is next to no time.
// What is replaced is like that; nil: nothing is.
func swap(path string, before, after []byte, like fs.FileInfo) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*.tmp") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // which is not there any more, if all went well
	_, err = f.Write(after)
	if like != nil {
		files.KeepOwner(f, like)
		err = errors.Join(err, f.Chmod(like.Mode().Perm()))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := unchanged(path, before); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	files.SyncDir(filepath.Dir(path))
	return nil
}
