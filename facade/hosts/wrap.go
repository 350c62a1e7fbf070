package hosts

import (
	"errors"
	"slices"

	"mcp-facade/files"
)

// Wrap puts command, this program and its arguments, in the place of what an
// entry starts. It changes what Write will write. The error is an *Error.
func (f *File) Wrap(e Entry, t Translation, command []string) (Change, error) {
	s, err := f.look(e)
	if err != nil {
		return Change{}, err
	}
	if f.dialect.entry(s).Ours {
		return Change{}, f.fault(s, errOurs)
	}
	if len(command) == 0 || program(command[0]) != "mcp-facade" {
		return Change{}, f.fault(s, errors.New("this program is not called mcp-facade, by which its entries are known; rename it"))
	}
	edits, err := f.dialect.wrapping(s, t, command)
	if err != nil {
		return Change{}, f.fault(s, err)
	}
	data, err := f.dialect.format.edit(f.data, *s, edits)
	if err != nil {
		return Change{}, f.fault(s, err)
	}
	return f.become(s, data, true)
}

// wrapping are the edits that put command into a server. What is new comes
// before what goes, so that it finds neighbours to look like.
func (d *dialect) wrapping(s *found, t Translation, command []string) ([]edit, error) {
	edits := d.starting(&s.node, command)
	env := d.shape(&s.node).env
	for _, v := range t.Env {
		edits = append(edits, edit{append(slices.Clip(env), v.Name), v.Value})
	}
	if len(t.pass) > 0 {
		names := s.node.get(d.pass)
		if !names.isTexts() {
			return nil, errors.New(`"` + d.pass + `": want a list of strings`)
		}
		edits = append(edits, edit{[]string{d.pass}, append(names.texts(), t.pass...)})
	}
	if d.url(&s.node) == nil {
		return edits, nil
	}
	if s.node.get("type") != nil && d.stdio != "" {
		edits = append(edits, edit{[]string{"type"}, d.stdio})
	}
	for _, key := range d.remoteKeys() {
		edits = append(edits, edit{[]string{key}, nil})
	}
	return edits, nil
}

// starting are the edits that make a server start a command.
func (d *dialect) starting(n *node, command []string) []edit {
	keys := d.shape(n)
	if d.one {
		return []edit{{keys.command, command}}
	}
	return []edit{{keys.command, command[0]}, {keys.args, command[1:]}}
}

// remoteKeys are the keys that only a server with a URL has.
func (d *dialect) remoteKeys() []string {
	keys := append(slices.Clone(d.urls), d.headers)
	if d.stdio == "" {
		keys = append(keys, "type")
	}
	return append(keys, d.remote...)
}

// become makes data, in which only a server differs, what is to be written, if the
// server is ours then or not, as wanted.
func (f *File) become(s *found, data []byte, ours bool) (Change, error) {
	servers, err := f.dialect.findAgain(data, f.data, f.servers, s)
	if err != nil {
		return Change{}, f.fault(s, errForm)
	}
	i := slices.IndexFunc(servers, func(other found) bool { return slices.Equal(other.path, s.path) })
	if i < 0 || f.dialect.entry(&servers[i]).Ours != ours || len(servers) != len(f.servers) {
		return Change{}, f.fault(s, errForm)
	}
	if files.Linked(f.Path) {
		return Change{}, &Error{Host: f.Host, Path: f.Path, Key: dotted(s.path), Err: errLinked, Hint: "make the other name a symbolic link to this one"}
	}
	c := Change{dotted(s.path), f.dialect.masked(f.data, s), f.dialect.masked(data, &servers[i], f.dialect.hiddenVars(s)...)}
	c.dropComments()
	f.data, f.servers = data, servers
	return c, nil
}

// findAgain is find for data that was old, with servers, before one of them changed.
// A file may be large and have many: of JSON only that server is read.
func (d *dialect) findAgain(data, old []byte, servers []found, s *found) ([]found, error) {
	if d.format != (jsonFormat{}) {
		return d.find(data)
	}
	grown := len(data) - len(old)
	at := span{s.text[0].start, s.text[0].end + grown}
	doc := slices.Concat([]byte("{"), data[at.start:at.end], []byte("}"))
	again, err := jsonFormat{}.find(doc, [][]string{{}})
	if err != nil || len(again) != 1 || again[0].path[0] != s.path[len(s.path)-1] || again[0].text[0] != (span{1, len(doc) - 1}) {
		return nil, errForm
	}
	again[0].path = s.path
	all := make([]found, len(servers))
	for i, other := range servers {
		switch {
		case other.text[0] == s.text[0]:
			all[i] = again[0].moved(at.start - 1)
		case other.text[0].start > s.text[0].start:
			all[i] = other.moved(grown)
		default:
			all[i] = other
		}
	}
	return all, nil
}
