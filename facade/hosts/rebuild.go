package hosts

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// rebuilt gives the data with the server made anew from its entry in the servers
// file, or from the arguments of one in place.
func (f *File) rebuilt(s *found, upstream func() ([]byte, error)) ([]byte, error) {
	e := f.dialect.entry(s)
	r := rebuilder{dialect: f.dialect, server: &s.node, env: e.Env}
	var err error
	if e.Server == "" {
		err = r.inPlace(e)
	} else if raw, lost := upstream(); lost != nil {
		err = fmt.Errorf("there is no backup in which it does not start mcp-facade, and %v; write back what it started before by hand", lost)
	} else {
		err = r.upstream(raw)
	}
	if err != nil {
		return nil, err
	}
	return f.dialect.format.edit(f.data, *s, append(r.edits, r.cleared()...))
}

// A rebuilder makes the edits.
type rebuilder struct {
	*dialect
	server *node
	env    []Var
	edits  []edit
	taken  []edit // that take away what wrapping added
}

// inPlace takes what stands behind "--", or "--url".
func (r *rebuilder) inPlace(e Entry) error {
	args, _ := ours(e.Command, e.Args)
	if address := flagOf(args, "--url"); address != "" {
		return r.url(address, "", gjson.Result{})
	}
	i := slices.Index(args, "--")
	if i < 0 || i+1 == len(args) {
		return errors.New(`it starts mcp-facade with neither --server nor --url nor a command behind "--"`)
	}
	r.edits = r.starting(r.server, args[i+1:])
	return nil
}

// upstream takes an entry of the servers file.
func (r *rebuilder) upstream(raw []byte) error {
	u := gjson.ParseBytes(raw)
	for _, key := range []string{"credentialId", "tokenCommand", "envFrom", "caFile"} {
		if u.Get(key).Exists() {
			return fmt.Errorf(`there is no backup, and its %q in the servers file cannot be said to %s; write back what it started before by hand`, key, r.Title)
		}
	}
	if address := u.Get("url"); address.Exists() {
		text, err := r.text(address.Str)
		if err != nil {
			return err
		}
		return r.url(text, u.Get("transport").Str, u.Get("headers"))
	}
	return r.process(u)
}

func (r *rebuilder) process(u gjson.Result) error {
	var words []string
	for _, w := range append([]gjson.Result{u.Get("command")}, u.Get("args").Array()...) {
		word, err := r.text(w.Str)
		if err != nil {
			return err
		}
		words = append(words, word)
	}
	if words[0] == "" {
		return errors.New("its entry in the servers file has neither a command nor a URL")
	}
	r.edits = r.starting(r.server, words)
	if cwd := u.Get("cwd").Str; cwd != "" && r.server.get("cwd") == nil {
		r.edits = append(r.edits, edit{[]string{"cwd"}, cwd})
	}
	return r.members(u.Get("env"), r.shape(r.server).env)
}

// url gives the server a URL, and takes the process away.
func (r *rebuilder) url(address, transport string, headers gjson.Result) error {
	key := r.urls[0]
	if transport == "sse" && key == "httpUrl" {
		key = "url"
	}
	r.edits = []edit{{[]string{key}, address}}
	switch {
	case r.one:
		r.edits = append(r.edits, edit{[]string{"type"}, "remote"})
	case r.stdio != "":
		r.edits = append(r.edits, edit{[]string{"type"}, cmp.Or(transport, "http")})
	}
	if err := r.members(headers, []string{r.headers}); err != nil {
		return err
	}
	for _, key := range []string{"command", "args", r.pass} {
		r.taken = append(r.taken, edit{[]string{key}, nil})
	}
	return nil
}

// members adds those of an object of texts that a table of the server lacks.
func (r *rebuilder) members(o gjson.Result, table []string) (err error) {
	o.ForEach(func(key, value gjson.Result) bool {
		path := append(slices.Clip(table), key.Str)
		if r.server.at(path) != nil {
			return true
		}
		var e edit
		if e, err = r.member(path, value.Str); err == nil {
			r.edits = append(r.edits, e)
		}
		return err == nil
	})
	return err
}

// member is the edit for one of them. Codex has keys of their own for headers
// that come from a variable.
func (r *rebuilder) member(path []string, value string) (edit, error) {
	header := path[len(path)-1]
	bearer, isBearer := strings.CutPrefix(value, "Bearer ")
	switch name, ok := variableIn(bearer); {
	case r.pass == "" || path[0] != r.headers || !ok || r.isTaken(name):
	case isBearer && strings.EqualFold(header, "Authorization"):
		return edit{[]string{"bearer_token_env_var"}, name}, nil
	case !isBearer:
		return edit{[]string{"env_http_headers", header}, name}, nil
	}
	said, err := r.text(value)
	return edit{path, said}, err
}

// variableIn is the variable that a value consists of, if it has no fallback but
// nothing.
func variableIn(value string) (name string, ok bool) {
	name, opened := strings.CutPrefix(value, "${")
	name, closed := strings.CutSuffix(name, "}")
	name = strings.TrimSuffix(name, ":-")
	return name, opened && closed && name != "" && variableOf(name) == strings.ToUpper(name)
}

// isTaken reports whether wrapping added a variable.
func (r *rebuilder) isTaken(name string) bool {
	return strings.HasPrefix(name, addedPrefix) && slices.ContainsFunc(r.env, func(v Var) bool { return v.Name == name })
}

// text is a value of the servers file in the host's notation.
func (r *rebuilder) text(value string) (string, error) {
	var b strings.Builder
	for {
		at := strings.Index(value, "${")
		end := strings.Index(value[max(at, 0):], "}")
		switch {
		case at < 0 || end < 0:
			return b.String() + value, nil
		case at > 0 && value[at-1] == '$':
			b.WriteString(value[:at-1] + "${")
			value = value[at+2:]
			continue
		}
		b.WriteString(value[:at])
		said, err := r.variable(value[at+2 : at+end])
		if err != nil {
			return "", err
		}
		b.WriteString(said)
		value = value[at+end+1:]
	}
}

// variable is what stands for a variable: the value that wrapping gave it, or
// the host's own placeholder.
func (r *rebuilder) variable(inner string) (string, error) {
	name, fallback, or := strings.Cut(inner, ":-")
	switch {
	case r.isTaken(name):
		r.taken = append(r.taken, edit{append(slices.Clip(r.shape(r.server).env), name), nil})
		i := slices.IndexFunc(r.env, func(v Var) bool { return v.Name == name })
		return r.env[i].Value, nil
	case r.write == "${%s}":
		return "${" + inner + "}", nil
	case r.write != "" && (!or || r.blank && fallback == ""):
		return fmt.Sprintf(r.write, name), nil
	}
	return "", fmt.Errorf("there is no backup, and ${%s} in its entry in the servers file is nothing that %s replaces; write back what it started before by hand", name, r.Title)
}

// cleared are the edits that take away what wrapping added, with a table of
// variables that it made.
func (r *rebuilder) cleared() []edit {
	left := slices.DeleteFunc(slices.Clone(r.env), func(v Var) bool {
		return slices.ContainsFunc(r.taken, func(e edit) bool { return e.path[len(e.path)-1] == v.Name })
	})
	if len(left) == 0 && len(r.env) > 0 {
		return append(r.taken, edit{r.shape(r.server).env, nil})
	}
	return r.taken
}
