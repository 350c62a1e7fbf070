package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-facade/facade/jsonc"
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

// An Entry is one of a servers file in the making. Raw is a raw object, indented by
// two spaces where it has several lines; as the file is, if it is one of [Hiding].
type Entry struct {
	Name string
	Raw  []byte
	Copy bool // Raw is one of Hiding
}

// AddEntry is AddEntries for one entry.
func AddEntry(data []byte, name string, entry []byte) ([]byte, error) {
	return AddEntries(data, []Entry{{Name: name, Raw: entry}})
}

// AddEntries gives the text of a servers file with more entries, after the others.
// They get the indentation and the line ends of the file. No byte of the file
// changes. Nothing, or white space, is a file without entries. The error, an
// *Error, says what is wrong with the file, a name or an entry.
func AddEntries(data []byte, entries []Entry) ([]byte, error) {
	if len(entries) == 0 {
		return data, nil
	}
	for _, e := range entries {
		if why := wrongName(e.Name); why != "" {
			return nil, &Error{Key: cmp.Or(e.Name, `""`), Err: errors.New(why)}
		}
		if Reserved(e.Name) {
			return nil, &Error{Key: e.Name, Err: errors.New("means something else in a servers file; want another name")}
		}
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(data, bom))) == 0 {
		data = slices.Concat(data, []byte("{\n}\n"))
	}
	f, err := Parse("", data)
	if err != nil {
		return nil, err
	}
	names := f.Names()
	var edits []set
	for _, e := range entries {
		if slices.Contains(names, e.Name) {
			return nil, &Error{Key: e.Name, Err: errors.New("is there already")}
		}
		names, edits = append(names, e.Name), append(edits, set{[]string{e.Name}, string(e.Raw), e.Copy})
	}
	return f.edited(data, edits...)
}

// SetUsed gives the text of a servers file in which "used" of an entry is the
// names given. No byte changes but those of that key. The error, an *Error or
// several, says what is wrong with the file or the entry.
func SetUsed(data []byte, name string, used []string) ([]byte, error) {
	f, err := Parse("", data)
	if err == nil {
		_, err = f.Server(name)
	}
	if err != nil {
		return nil, err
	}
	return f.edited(data, set{path: []string{name, "used"}, value: usedText(used)})
}

// A set gives what stands at a path below the entries a value: an entry, or a key
// of one.
type set struct {
	path  []string
	value string
	asIs  bool // it has the indentation and the line ends of the file
}

// edited gives data, the text of f, after edits. Their entries have to be right then.
func (f *File) edited(data []byte, edits ...set) ([]byte, error) {
	text := bytes.TrimPrefix(data, bom)
	o := jsonc.Object{Text: text, EOL: lineEnd(text)}
	for _, e := range edits {
		put := o.Set
		if e.asIs {
			put = o.Copy
		}
		if err := put(slices.Concat(f.root, e.path), e.value); err != nil {
			return nil, err
		}
	}
	data = slices.Concat(data[:len(data)-len(text)], o.Text)
	f, err := Parse("", data)
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		if _, err := f.Server(e.path[0]); err != nil {
			return nil, err
		}
	}
	return data, nil
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
	object, err := f.object(data, name)
	if err != nil {
		return nil, err
	}
	plain := hujson.Value{Value: &hujson.Object{}}
	if inner := jsonc.Member(object, "upstream"); inner != nil {
		plain.Value = inner.Value
	} else {
		for _, m := range object.Members {
			if find(decoded(m.Name), httpKeys, stdioKeys) != nil {
				plain.Value.(*hujson.Object).Members = append(plain.Value.(*hujson.Object).Members, m)
			}
		}
	}
	plain = plain.Clone()
	plain.Standardize()
	return plain.Pack(), nil
}

// Hiding gives a copy of an entry in the text of a servers file, to be added to it,
// that hides these tools. It stands there as the entry does, but without comments.
// The error is an *Error, or several.
func Hiding(data []byte, name string, hide []string) ([]byte, error) {
	f, err := Parse("", data)
	if err != nil {
		return nil, err
	}
	object, err := f.object(data, name)
	if err != nil {
		return nil, err
	}
	plain := hujson.Value{Value: object}.Clone()
	plain.Standardize()
	var lines [][]byte
	for line := range bytes.Lines(plain.Pack()) {
		if line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0 { // else there was a comment
			lines = append(lines, line)
		}
	}
	o := jsonc.Object{EOL: lineEnd(data)}
	o.Text = bytes.Join(lines, []byte(o.EOL))
	if last := lines[len(lines)-1]; len(lines) > 1 {
		o.Indent = string(last[:len(last)-len(bytes.TrimLeft(last, " \t"))])
	}
	err = o.Set([]string{"hide"}, usedText(hide))
	return o.Text, err
}

// lineEnd is how the lines of a text end.
func lineEnd(text []byte) string {
	if before, _, ok := bytes.Cut(text, []byte("\n")); ok && bytes.HasSuffix(before, []byte("\r")) {
		return "\r\n"
	}
	return "\n"
}

// object is an entry of f in its text.
func (f *File) object(data []byte, name string) (*hujson.Object, error) {
	entry, err := jsonc.Parse(bytes.TrimPrefix(data, bom))
	if err != nil {
		return nil, err
	}
	for _, key := range append(slices.Clip(f.root), name) {
		entry = *jsonc.Member(entry.Value.(*hujson.Object), key)
	}
	return entry.Value.(*hujson.Object), nil
}

// usedLine is how long a list of names may be, in bytes, to stand in one line.
const usedLine = 90

// usedText is a list of names as an array: in one line, or in a line each.
func usedText(names []string) string {
	raw := make([]string, len(names))
	for i, name := range names {
		raw[i] = jsonc.Quote(name)
	}
	if line := "[" + strings.Join(raw, ", ") + "]"; len(line) <= usedLine {
		return line
	}
	return "[\n  " + strings.Join(raw, ",\n  ") + "\n]"
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
	if err := Replaceable(path); err != nil {
		return err
	}
	return swap(path, before, after, info)
}

// Replaceable fails, with an *Error, if Replace refuses the file at path whatever it
// holds.
func Replaceable(path string) error {
	if files.Linked(path) {
		return &Error{Path: path, Err: errors.New("has another name, a hard link, under which the old text would stay"), Hint: "make the other name a symbolic link to this one"}
	}
	return nil
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
