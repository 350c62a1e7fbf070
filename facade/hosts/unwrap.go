package hosts

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Unwrap gives an entry back what it was before Wrap, byte for byte but for what
// was changed meanwhile beside what Wrap changed. It is found in the backups
// beside the file; without one, what upstream gives is put there, the entry's raw
// object in the servers file as plain JSON, or what an entry in place starts. It
// changes what Write will write. The error is an *Error.
func (f *File) Unwrap(e Entry, upstream func() ([]byte, error)) (Change, error) {
	s, err := f.look(e)
	if err != nil {
		return Change{}, err
	}
	now := f.dialect.entry(s)
	if !now.Ours {
		return Change{}, f.fault(s, errNotOurs)
	}
	data, err := f.unwrapped(s, now, upstream)
	if err != nil {
		return Change{}, f.fault(s, err)
	}
	return f.become(s, data, false)
}

// unwrapped gives the data with the server as it was.
func (f *File) unwrapped(s *found, now Entry, upstream func() ([]byte, error)) ([]byte, error) {
	if now.Server == "" { // which wrapping never makes: a backup is of another server
		return f.rebuilt(s, now, nil)
	}
	raw, lost := upstream()
	if lost != nil {
		raw = nil
	}
	data, ok, err := f.fromBackup(s, now, raw)
	if err != nil || ok {
		return data, err
	}
	if lost != nil {
		return nil, fmt.Errorf("there is no backup from before it started this server, and %v; write back what it started before by hand", lost)
	}
	return f.rebuilt(s, now, raw)
}

// fromBackup gives the data with the server as it was in the newest backup from
// which it was wrapped into what it is now.
func (f *File) fromBackup(s *found, now Entry, raw []byte) (data []byte, ok bool, err error) {
	if f.old == nil {
		for _, path := range f.backups() {
			if old, err := open(f.dialect, place{path: path}); err == nil { // else it is none
				f.old = append(f.old, old)
			}
		}
	}
	for _, old := range f.old {
		i := slices.IndexFunc(old.servers, s.isAt)
		if i < 0 || f.dialect.entry(&old.servers[i]).Ours || !f.dialect.became(&old.servers[i], now, raw) {
			continue
		}
		if data, err = f.restored(s, old.data, &old.servers[i]); err != nil {
			err = fmt.Errorf("%w: what it was stands in %s", err, filepath.Base(old.Path))
		}
		return data, true, err
	}
	return nil, false, nil
}

// became reports whether a server was wrapped into an entry: by what is started
// or reached, or by the name if the servers file does not say that.
func (d *dialect) became(old *found, now Entry, raw []byte) bool {
	t, err := d.translate(old)
	if raw == nil || err != nil { // it could not be wrapped today
		own, server := variableOf(strings.TrimSpace(now.Name)), variableOf(now.Server)
		return server == own || strings.HasPrefix(server, own+"_"+variableOf(d.Name))
	}
	was, is := gjson.ParseBytes(t.Upstream), gjson.ParseBytes(raw)
	same := func(a, b gjson.Result) bool { return a.Str == b.Str }
	return same(was.Get("url"), is.Get("url")) && same(was.Get("command"), is.Get("command")) &&
		slices.EqualFunc(was.Get("args").Array(), is.Get("args").Array(), same)
}

// restored gives the data with the server's text from a backup, in which what
// was changed since is as it is now.
func (f *File) restored(now *found, from []byte, old *found) ([]byte, error) {
	t, _ := f.dialect.translate(old) // nothing, if it could not be wrapped today
	from, old, err := f.renewed(now, from, old, t)
	if err != nil {
		return nil, err
	}
	data, err := f.dialect.format.transplant(f.data, *now, from, *old)
	if err != nil { // it was written anew: only what it said can come back
		data, err = f.dialect.format.edit(f.data, *now, changes(from, nil, &old.node, &now.node))
	}
	if err != nil {
		return nil, err
	}
	edits := f.dialect.since(f.data, now, old, t)
	if len(edits) == 0 {
		return data, nil
	}
	servers, err := f.dialect.findAgain(data, f.data, f.servers, now)
	if err != nil {
		return nil, errForm
	}
	i := slices.IndexFunc(servers, now.isAt)
	if i < 0 {
		return nil, errForm
	}
	return f.dialect.format.edit(data, servers[i], edits)
}

// isAt reports whether another server has the same place.
func (s *found) isAt(other found) bool { return slices.Equal(other.path, s.path) }

// renewed gives a backup in which the values that wrapping gave to variables are
// what those are now.
func (f *File) renewed(now *found, from []byte, old *found, t Translation) ([]byte, *found, error) {
	r := rebuilder{dialect: f.dialect, server: &now.node, env: f.dialect.entry(now).Env, source: "what wrapping made of it"}
	var patches []patch
	for _, v := range f.dialect.values(&old.node, t.Upstream) {
		if !slices.ContainsFunc(t.Env, func(was Var) bool { return v.is(was.Name) && r.hasOther(was) }) {
			continue
		}
		value, err := r.text(v.said)
		if err != nil {
			return nil, nil, err
		}
		patches = append(patches, patch{v.span, []byte(f.dialect.format.quote(value))})
	}
	if patches == nil {
		return from, old, nil
	}
	slices.SortFunc(patches, func(a, b patch) int { return cmp.Compare(a.start, b.start) })
	from = patched(from, patches)
	servers, err := f.dialect.find(from)
	i := slices.IndexFunc(servers, old.isAt)
	if err != nil || i < 0 {
		return nil, nil, errForm
	}
	return from, &servers[i], nil
}

// hasOther reports whether a variable has another value by now.
func (r *rebuilder) hasOther(was Var) bool {
	value, ok := r.own(was.Name)
	return ok && value != was.Value
}

// A carried is a value of a server, and what stands for it in the servers file.
type carried struct {
	*node
	said string
}

// is reports whether a variable stands for the value, or for a part of it.
func (c carried) is(variable string) bool { return strings.Contains(c.said, "${"+variable+"}") }

// values are those of a server that have a counterpart in the servers file.
func (d *dialect) values(n *node, upstream []byte) (all []carried) {
	u, keys := gjson.ParseBytes(upstream), d.shape(n)
	add := func(n *node, said string) {
		if n != nil {
			all = append(all, carried{n, said})
		}
	}
	words := append([]gjson.Result{u.Get("command")}, u.Get("args").Array()...)
	args := n.at(keys.args)
	if d.one {
		args = n.at(keys.command)
	} else {
		add(n.at(keys.command), words[0].Str)
		words = words[1:]
	}
	for i, word := range words {
		if args != nil && i < len(args.nodes) {
			add(&args.nodes[i], word.Str)
		}
	}
	add(d.url(n), u.Get("url").Str)
	for _, h := range varsOf(u.Get("headers")) {
		add(n.get(d.headers).get(h.Name), h.Value)
	}
	login := cmp.Or(n.get("oauth"), n.get("auth"))
	for _, key := range []string{"clientId", "client_id", "CLIENT_ID"} {
		add(login.get(key), u.Get("oauth.clientId").Str)
	}
	for _, key := range []string{"clientSecret", "client_secret", "CLIENT_SECRET"} {
		if name, ok := strings.CutPrefix(u.Get("oauth.clientSecretFrom").Str, "env:"); ok {
			add(login.get(key), "${"+name+"}")
		}
	}
	return all
}

// since are the edits that were made to a server after it was wrapped, beside
// what wrapping changes itself: of its variables, and of its other members.
func (d *dialect) since(data []byte, now, old *found, t Translation) []edit {
	edits := append(d.envSince(data, now, old, t), d.passSince(&now.node, &old.node)...)
	wrapped := d.wrappedKeys(now, old)
	theirs := func(n node) node {
		n.nodes = slices.DeleteFunc(slices.Clone(n.nodes), func(kid node) bool { return slices.Contains(wrapped, kid.key) })
		return n
	}
	is, was := theirs(now.node), theirs(old.node)
	return append(edits, changes(data, nil, &is, &was)...)
}

// changes are the edits that make of a table what it is in data. A table or list
// of TOML that has no text of its own is made of its members.
func changes(data []byte, path []string, is, was *node) (edits []edit) {
	for i := range is.nodes {
		kid := &is.nodes[i]
		below, then := append(slices.Clip(path), kid.key), was.get(kid.key)
		bothTables := kid.kind == table && then != nil && then.kind == table
		switch {
		case then != nil && kid.says(*then):
		case bothTables || then == nil && kid.kind == table && kid.end == kid.start:
			edits = append(edits, changes(data, below, kid, then)...)
		default:
			edits = append(edits, edit{below, literal(inline(data, kid))})
		}
	}
	if was == nil {
		return edits
	}
	for _, kid := range was.nodes {
		if is.get(kid.key) == nil {
			edits = append(edits, edit{append(slices.Clip(path), kid.key), nil})
		}
	}
	return edits
}

// wrappedKeys are the members of a server that wrapping changes.
func (d *dialect) wrappedKeys(now, old *found) []string {
	keys := append(d.remoteKeys(), "command", "args", "type", d.shape(&old.node).env[0])
	switch {
	case d.url(&old.node) != nil:
		keys = append(keys, d.processKeys()...)
	case d.pass != "" && old.node.get(d.pass).isTexts() && now.node.get(d.pass).isTexts():
		keys = append(keys, d.pass)
	}
	return keys
}

// passSince is the edit that was made to the variables that a process is handed on,
// beside what wrapping adds.
func (d *dialect) passSince(now, old *node) []edit {
	is, was := now.get(d.pass), old.get(d.pass)
	if d.pass == "" || d.url(old) != nil || !was.isTexts() || !is.isTexts() {
		return nil
	}
	theirs := slices.DeleteFunc(is.texts(), func(name string) bool {
		return slices.Contains(strings.Fields(own), name) && !slices.Contains(was.texts(), name)
	})
	switch {
	case slices.Equal(theirs, was.texts()):
		return nil
	case len(theirs) == 0:
		return []edit{{[]string{d.pass}, nil}}
	}
	return []edit{{[]string{d.pass}, theirs}}
}

// envSince are the edits that were made to the variables, but for those that
// wrapping added.
func (d *dialect) envSince(data []byte, now, old *found, t Translation) (edits []edit) {
	path := d.shape(&old.node).env
	if d.url(&old.node) != nil && slices.Contains(d.processKeys(), path[0]) {
		return nil
	}
	env := now.node.at(d.shape(&now.node).env)
	is, was := env.vars(), old.node.at(path).vars()
	named := func(name string) func(Var) bool { return func(v Var) bool { return v.Name == name } }
	for _, v := range is {
		if !slices.ContainsFunc(t.Env, named(v.Name)) && !slices.Contains(was, v) {
			edits = append(edits, edit{append(slices.Clip(path), v.Name), literal(inline(data, env.get(v.Name)))})
		}
	}
	for _, v := range was {
		if !slices.ContainsFunc(is, named(v.Name)) {
			edits = append(edits, edit{append(slices.Clip(path), v.Name), nil})
		}
	}
	if len(was) > 0 && len(is) == 0 && old.node.at(path) != nil && now.node.at(path) == nil {
		edits = append(edits, edit{path, nil})
	}
	return edits
}
