package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"
)

// A File is one file of a host as it was read, and what is to become of it. Its
// methods are for one goroutine at a time.
type File struct {
	Host    Host
	Path    string // where it is; a symbolic link is followed by Write
	Project bool   // it is a project's own, which others may have written

	dialect *dialect
	at      paths  // where it and what else its host reads was looked for
	folder  string // of the project whose own it is, or ""
	mark    []byte // the byte order mark, or nothing
	read    []byte // as it was read, without the mark
	data    []byte // as it is to be, without the mark
	servers []found

	old []*File // the backups, the newest first; nil: not read yet

	said map[string]settings // what was read for Denied, by path

	// interrupt is asked before each step of Write. Tests fail there.
	interrupt func(step string) error
}

// Find reads the files of all hosts that are there. An error, one for each file
// that cannot be used, is an *Error.
func Find(p Place) ([]*File, []error) {
	var files []*File
	var errs []error
	for _, d := range dialects() {
		var seen []fs.FileInfo
		for _, at := range d.files(paths{p}) {
			info, err := os.Stat(at.path)
			if at.path == "" || err == nil && slices.ContainsFunc(seen, func(other fs.FileInfo) bool { return os.SameFile(info, other) }) {
				continue // a project in the home directory, or a link in it, has the user's file for its own
			}
			seen = append(seen, info)
			switch f, err := open(d, at); {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				errs = append(errs, err)
			default:
				f.at = paths{p}
				files = append(files, f)
			}
		}
	}
	return files, errs
}

// open reads a file of a host.
func open(d *dialect, at place) (*File, error) {
	f := &File{Host: d.Host, Path: at.path, Project: at.project, dialect: d, folder: at.folder}
	all, err := readFile(at.path)
	if err != nil {
		return nil, f.wrong(err)
	}
	f.mark, f.read = cutMark(all)
	if err := readable(f.read); err != nil {
		return nil, f.wrong(err)
	}
	f.data = f.read
	if f.servers, err = d.find(f.data); err != nil {
		return nil, f.wrong(err)
	}
	return f, nil
}

// Entries are the servers of the file, in its order, as the file is to be.
func (f *File) Entries() []Entry {
	var all []Entry
	for i := range f.servers {
		e := f.dialect.entry(&f.servers[i])
		e.Project = f.Project
		all = append(all, e)
	}
	return all
}

// look finds the server of an entry.
func (f *File) look(e Entry) (*found, error) {
	for i := range f.servers {
		s := &f.servers[i]
		if name, scope := s.name(); name == e.Name && scope == e.Scope {
			return s, nil
		}
	}
	return nil, &Error{Host: f.Host, Path: f.Path, Key: e.Name, Err: errGone}
}

// name gives a server's name, and the project's folder it belongs to.
func (s *found) name() (name, scope string) {
	if len(s.path) == 4 && s.path[0] == "projects" {
		scope = s.path[1]
	}
	return s.path[len(s.path)-1], scope
}

// find gives the servers of a file's data.
func (d *dialect) find(data []byte) (servers []found, err error) {
	for _, roots := range d.roots {
		if servers, err = d.format.find(data, roots); err == nil && len(servers) > 0 {
			break
		}
	}
	return servers, err
}

// wrong words what is wrong with the file.
func (f *File) wrong(err error) error {
	e := &Error{Host: f.Host, Path: f.Path, Err: err}
	if syntax := new(syntaxError); errors.As(err, &syntax) {
		e.Line, e.Err = syntax.line, errors.New(syntax.problem)
	}
	if path := new(fs.PathError); errors.As(err, &path) {
		e.Err = fmt.Errorf("%s: %w", path.Op, path.Err) // the path is in front already
	}
	return e
}

// fault words what is wrong with one server of the file, or why something cannot
// be done with it.
func (f *File) fault(s *found, err error) error {
	return &Error{Host: f.Host, Path: f.Path, Line: lineAt(f.data, s.text[0].start), Key: dotted(s.path), Err: err}
}

// maxFile bounds a file of a host, in bytes. Some keep their history in it.
const maxFile = 128 << 20

var errLarge = fmt.Errorf("is larger than %d MiB", maxFile>>20)

// readFile reads a file; what it is is asked first, as opening a pipe waits.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a file")
	case info.Size() == 0:
		return nil, nil // what the system makes up has no size; one could wait for ever to read it
	case info.Size() > maxFile:
		return nil, errLarge
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errLarge
	}
	return data, err
}

// cutMark takes off the byte order mark.
func cutMark(data []byte) (mark, rest []byte) {
	const length = len("\ufeff")
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		return data[:length:length], data[length:]
	}
	return nil, data
}

// readable refuses what no format can read.
func readable(data []byte) error {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) || bytes.IndexByte(data, 0) >= 0 {
		return errors.New("is UTF-16 or binary; save it as UTF-8")
	}
	if utf8.Valid(data) {
		return nil
	}
	line := 1
	for text := range bytes.Lines(data) {
		if !utf8.Valid(text) {
			break
		}
		line++
	}
	return &syntaxError{line, "this is not UTF-8; save the file as UTF-8"}
}

// backups are the copies that Write has made of the file, the newest first.
func (f *File) backups() []string {
	path, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		return nil
	}
	names, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	var all []string
	for _, n := range names {
		if !stampOf(n.Name(), filepath.Base(path)).IsZero() {
			all = append(all, filepath.Join(filepath.Dir(path), n.Name()))
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all
}
