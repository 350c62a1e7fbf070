package hosts

import "slices"

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
	if !f.dialect.entry(s).Ours {
		return Change{}, f.fault(s, errNotOurs)
	}
	data, ok, err := f.fromBackup(s)
	if err == nil && !ok {
		data, err = f.rebuilt(s, upstream)
	}
	if err != nil {
		return Change{}, f.fault(s, err)
	}
	return f.become(s, data, false)
}

// fromBackup gives the data with the server as it was in the newest backup in
// which it was not ours.
func (f *File) fromBackup(s *found) (data []byte, ok bool, err error) {
	if f.old == nil {
		for _, path := range f.backups() {
			if old, err := open(f.dialect, place{path: path}); err == nil { // else it is none
				f.old = append(f.old, old)
			}
		}
	}
	for _, old := range f.old {
		i := slices.IndexFunc(old.servers, func(other found) bool { return slices.Equal(other.path, s.path) })
		if i < 0 || f.dialect.entry(&old.servers[i]).Ours {
			continue
		}
		data, err = f.restored(s, old.data, &old.servers[i])
		return data, true, err
	}
	return nil, false, nil
}

// restored gives the data with the server's text from a backup, in which what
// was changed since is as it is now.
func (f *File) restored(now *found, from []byte, old *found) ([]byte, error) {
	data, err := f.dialect.format.transplant(f.data, *now, from, *old)
	if err != nil {
		return nil, err
	}
	edits := f.dialect.since(f.data, now, old)
	if len(edits) == 0 {
		return data, nil
	}
	servers, err := f.dialect.find(data)
	if err != nil {
		return nil, errForm
	}
	i := slices.IndexFunc(servers, func(other found) bool { return slices.Equal(other.path, now.path) })
	if i < 0 {
		return nil, errForm
	}
	return f.dialect.format.edit(data, servers[i], edits)
}

// since are the edits that were made to a server after it was wrapped, beside
// what wrapping changes itself: of its variables, and of its other members.
func (d *dialect) since(data []byte, now, old *found) []edit {
	t, _ := d.translate(old) // what it added; nothing, if it could not be wrapped today
	edits := d.envSince(now, old, t)
	wrapped := d.wrappedKeys(old)
	theirs := func(n node) node {
		n.nodes = slices.DeleteFunc(slices.Clone(n.nodes), func(kid node) bool { return slices.Contains(wrapped, kid.key) })
		return n
	}
	is, was := theirs(now.node), theirs(old.node)
	return append(edits, changes(data, nil, &is, &was)...)
}

// changes are the edits that make of a table what it is in data. A table of TOML
// that has no text of its own is made of its members.
func changes(data []byte, path []string, is, was *node) (edits []edit) {
	for i := range is.nodes {
		kid := &is.nodes[i]
		below, then := append(slices.Clip(path), kid.key), was.get(kid.key)
		bothTables := kid.kind == table && then != nil && then.kind == table
		switch {
		case then != nil && kid.says(*then):
		case bothTables || kid.end == kid.start:
			edits = append(edits, changes(data, below, kid, then)...)
		default:
			edits = append(edits, edit{below, literal(data[kid.start:kid.end])})
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
func (d *dialect) wrappedKeys(old *found) []string {
	keys := append(d.remoteKeys(), "command", "args", "type", d.shape(&old.node).env[0])
	if d.url(&old.node) != nil {
		keys = append(keys, d.pass)
	}
	return keys
}

// envSince are the edits that were made to the variables. The value of a header
// that went into a variable comes back from there.
func (d *dialect) envSince(now, old *found, t Translation) (edits []edit) {
	path := d.shape(&old.node).env
	is, was := now.node.at(d.shape(&now.node).env).vars(), old.node.at(path).vars()
	for _, v := range is {
		added := slices.IndexFunc(t.Env, func(a Var) bool { return a.Name == v.Name })
		switch {
		case added >= 0:
			edits = append(edits, d.headersSince(old, t.Env[added].Value, v.Value)...)
		case !slices.Contains(was, v):
			edits = append(edits, edit{append(slices.Clip(path), v.Name), v.Value})
		}
	}
	for _, v := range was {
		if !slices.ContainsFunc(is, func(i Var) bool { return i.Name == v.Name }) {
			edits = append(edits, edit{append(slices.Clip(path), v.Name), nil})
		}
	}
	if len(was) > 0 && len(is) == 0 && old.node.at(path) != nil && now.node.at(path) == nil {
		edits = append(edits, edit{path, nil})
	}
	return edits
}

// headersSince give the headers that had one value another.
func (d *dialect) headersSince(old *found, was, is string) (edits []edit) {
	for _, h := range old.node.get(d.headers).vars() {
		if h.Value == was && is != was {
			edits = append(edits, edit{[]string{d.headers, h.Name}, is})
		}
	}
	return edits
}
