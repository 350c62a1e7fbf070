package hosts

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// rebuilt gives the data with the server made anew from raw, its entry in the
// servers file, or from the arguments of one in place.
func (f *File) rebuilt(s *found, now Entry, raw []byte) ([]byte, error) {
	r := rebuilder{dialect: f.dialect, server: &s.node, env: now.Env}
	var err error
	if now.Server == "" {
		err = r.inPlace(now)
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
	server   *node
	env      []Var
	source   string // what the values are from: "its arguments"
	overHTTP bool   // the server gets a URL
	edits    []edit
	taken    []edit // that take away what is for mcp-facade alone
}

// inPlace takes what stands behind "--", or "--url" with its headers.
func (r *rebuilder) inPlace(e Entry) error {
	r.source = "its arguments"
	args, _ := ours(e.Command, e.Args)
	if address := flagOf(args, "--url"); address != "" {
		var headers []Var
		for _, h := range flagsOf(args, "--header") {
			name, value, ok := strings.Cut(h, ":")
			if !ok {
				return errors.New(`a --header of it has no colon; want "NAME: VALUE"`)
			}
			headers = append(headers, Var{strings.TrimSpace(name), strings.TrimSpace(value)})
		}
		return r.url(address, "", headers)
	}
	i := slices.Index(args, "--")
	if i < 0 || i+1 == len(args) {
		return errors.New(`it starts mcp-facade with neither --server nor --url nor a command behind "--"`)
	}
	return r.words(args[i+1:])
}

// upstream takes an entry of the servers file.
func (r *rebuilder) upstream(raw []byte) error {
	u := gjson.ParseBytes(raw)
	r.source = "its entry in the servers file"
	for _, key := range []string{"credentialId", "tokenCommand", "envFrom", "caFile", "oauth"} {
		if u.Get(key).Exists() && u.Get(key).Type != gjson.True { // a login is begun by the host itself
			return fmt.Errorf(`there is no backup from before it started this server, and its %q in the servers file cannot be said to %s; write back what it started before by hand`, key, r.Title)
		}
	}
	if address := u.Get("url"); address.Exists() {
		return r.url(address.Str, u.Get("transport").Str, varsOf(u.Get("headers")))
	}
	return r.process(u)
}

// varsOf are the members of an object of texts.
func varsOf(o gjson.Result) (all []Var) {
	o.ForEach(func(key, value gjson.Result) bool {
		all = append(all, Var{key.Str, value.Str})
		return true
	})
	return all
}

func (r *rebuilder) process(u gjson.Result) error {
	var words []string
	for _, w := range append([]gjson.Result{u.Get("command")}, u.Get("args").Array()...) {
		words = append(words, w.Str)
	}
	if words[0] == "" {
		return errors.New("its entry in the servers file has neither a command nor a URL")
	}
	if err := r.words(words); err != nil {
		return err
	}
	if cwd := u.Get("cwd").Str; cwd != "" && r.server.get("cwd") == nil {
		r.edits = append(r.edits, edit{[]string{"cwd"}, cwd})
	}
	return r.members(varsOf(u.Get("env")), r.shape(r.server).env)
}

// words has the server start a command.
func (r *rebuilder) words(words []string) error {
	said := make([]string, len(words))
	for i, word := range words {
		var err error
		if said[i], err = r.text(word); err != nil {
			return err
		}
	}
	r.edits = r.starting(r.server, said)
	if len(said) == 1 && !r.one {
		r.edits[1].value = nil // a list of none says no more
	}
	return nil
}

// url gives the server a URL, and takes the process away, with the variables that
// were for nothing but the URL and its headers.
func (r *rebuilder) url(address, transport string, headers []Var) error {
	r.overHTTP = true
	said, err := r.text(address)
	if err != nil {
		return err
	}
	key := r.urls[0]
	if transport == "sse" && key == "httpUrl" {
		key = "url"
	}
	r.edits = []edit{{[]string{key}, said}}
	switch {
	case r.one:
		r.edits = append(r.edits, edit{[]string{"type"}, "remote"})
	case r.stdio != "":
		r.edits = append(r.edits, edit{[]string{"type"}, cmp.Or(transport, "http")})
	}
	if err := r.members(headers, []string{r.headers}); err != nil {
		return err
	}
	for _, key := range append([]string{"command", "args"}, r.processKeys()...) {
		r.taken = append(r.taken, edit{[]string{key}, nil})
	}
	return nil
}

// processKeys are those that the host refuses beside a URL, with the file.
func (d *dialect) processKeys() []string {
	if d.pass == "" {
		return nil
	}
	return []string{d.pass, d.env, "cwd"}
}

// members adds those that a table of the server lacks.
func (r *rebuilder) members(all []Var, table []string) error {
	for _, v := range all {
		path := append(slices.Clip(table), v.Name)
		if r.server.at(path) != nil {
			continue
		}
		e, err := r.member(path, v.Value)
		if err != nil {
			return err
		}
		r.edits = append(r.edits, e)
	}
	return nil
}

// member is the edit for one of them. Codex has keys of their own for headers
// that come from a variable.
func (r *rebuilder) member(path []string, value string) (edit, error) {
	header := path[len(path)-1]
	bearer, isBearer := strings.CutPrefix(value, "Bearer ")
	name, ok := variableIn(bearer)
	_, own := r.own(name)
	switch {
	case r.pass == "" || path[0] != r.headers || !ok || own:
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

// own is the value that the entry itself gives a variable.
func (r *rebuilder) own(name string) (value string, ok bool) {
	i := slices.IndexFunc(r.env, func(v Var) bool { return v.Name == name })
	if i < 0 {
		return "", false
	}
	return r.env[i].Value, true
}

// text is a value in our notation in the host's own.
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

// variable is what stands for a variable: the value that the entry gives it, or
// the host's own placeholder. What is no variable is a placeholder of the host.
func (r *rebuilder) variable(inner string) (string, error) {
	name, otherwise, or := strings.Cut(inner, ":-")
	value, own := r.own(name)
	if own && (r.overHTTP || strings.HasPrefix(name, addedPrefix)) {
		r.taken = append(r.taken, edit{append(slices.Clip(r.shape(r.server).env), name), nil})
	}
	switch {
	case own && value == "":
		return otherwise, nil
	case own:
		return value, nil
	case r.write == "${%s}" || variableOf(name) != strings.ToUpper(name):
		return "${" + inner + "}", nil
	case r.write != "" && (!or || r.blank && otherwise == ""):
		return fmt.Sprintf(r.write, name), nil
	}
	return "", fmt.Errorf("${%s} in %s is nothing that %s replaces; write back what it started before by hand", name, r.source, r.Title)
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
