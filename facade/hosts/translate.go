package hosts

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mcp-facade/facade/jsonc"
)

// Translate says what becomes of an entry. The error, an *Error, says why it
// cannot be wrapped.
func (f *File) Translate(e Entry) (Translation, error) {
	s, err := f.look(e)
	if err != nil {
		return Translation{}, err
	}
	t, err := f.dialect.translate(s)
	if err != nil {
		return Translation{}, f.fault(s, err)
	}
	f.passOwn(&s.node, &t)
	if f.Project {
		t.Notes = append(t.Notes, "The file is the project's: whoever else uses it needs mcp-facade in the same place, and this entry in a servers file of their own.")
	}
	return t, nil
}

// own are the variables that say where our files are, and that nothing is kept.
const own = "XDG_STATE_HOME XDG_CACHE_HOME MCP_FACADE_NO_LEDGER"

// passOwn has a host that hands on few variables hand on those of own that are set:
// else we would keep our files elsewhere there than the commands look for them.
func (f *File) passOwn(n *node, t *Translation) {
	if f.dialect.pass == "" || f.at.Getenv == nil {
		return
	}
	passed, there := n.get(f.dialect.pass), slices.Concat(n.at(f.dialect.shape(n).env).vars(), t.Env)
	var names []string
	for _, name := range strings.Fields(own) {
		has := func(v Var) bool { return v.Name == name }
		if f.at.Getenv(name) != "" && !slices.Contains(t.pass, name) && !slices.Contains(passed.texts(), name) && !slices.ContainsFunc(there, has) {
			names = append(names, name)
		}
	}
	switch {
	case len(names) == 0:
	case passed.isTexts():
		t.pass = append(t.pass, names...)
	case f.dialect.url(n) == nil:
		t.Notes = append(t.Notes, fmt.Sprintf("%s does not hand on %s, by which mcp-facade finds its files: add that to %q of the entry.", f.Host.Title, strings.Join(names, ", "), f.dialect.pass))
	}
}

// addedPrefix begins the names of the variables that wrapping adds.
const addedPrefix = "MCP_"

// translate says what becomes of a server.
func (d *dialect) translate(s *found) (Translation, error) {
	e := d.entry(s)
	if e.Ours {
		return Translation{}, errOurs
	}
	if err := d.refusal(&s.node, e); err != nil {
		return Translation{}, err
	}
	t := &translator{dialect: d, server: &s.node, entry: e, prefix: addedPrefix + variableOf(e.Name) + "_"}
	if d.placeholder != "" {
		t.pattern = regexp.MustCompile(d.placeholder)
	}
	if err := t.filters(); err != nil {
		return Translation{}, err
	}
	if e.URL == "" {
		t.process()
		return t.Translation, nil
	}
	err := t.remote()
	return t.Translation, err
}

// refusal is why a server cannot be wrapped whatever else it says.
func (d *dialect) refusal(n *node, e Entry) error {
	kind := n.get("type").text()
	switch {
	case n.kind != table:
		return errors.New("it is no object with a command or a URL")
	case e.Command != "" && e.URL != "":
		return errors.New(`it has both a command and a URL; one of them has to go`)
	case n.get("tcp") != nil:
		return errors.New("it speaks over a bare TCP connection or WebSocket, which mcp-facade does not")
	case e.Command == "" && e.URL == "" && (n.get("settings") != nil || n.get("source").text() == "extension"):
		return fmt.Errorf("it is an extension of %s, which starts it itself", d.Title)
	case e.Command == "" && e.URL == "":
		return errors.New("it has neither a command nor a URL")
	case e.URL != "" && !slices.Contains([]string{"", "sse", "remote"}, strings.ToLower(kind)) && !isHTTP(kind):
		return errors.New(`its "type" is of a transport that mcp-facade does not speak; want "http" or "sse"`)
	case n.get("headersHelper") != nil:
		return fmt.Errorf(`%s runs a program for its headers ("headersHelper"), which mcp-facade does not; its "tokenCommand" does the like`, d.Title)
	case n.get("authProviderType") != nil && n.get("authProviderType").text() != "dynamic_discovery":
		return fmt.Errorf(`%s itself authenticates it ("authProviderType")`, d.Title)
	case n.get("bearer_token") != nil:
		return errors.New(`"bearer_token" is not read by Codex; want "bearer_token_env_var"`)
	case n.get("experimental_environment") != nil && n.get("experimental_environment").text() != "local":
		return errors.New(`it is started elsewhere ("experimental_environment")`)
	}
	return badLists(n, d)
}

// badLists refuses what is not of the kind that it should be, or null: what we do
// not understand in it would be lost.
func badLists(n *node, d *dialect) error {
	keys := d.shape(n)
	lists := [][]string{keys.args, {d.deny}, {d.allow}}
	if d.one {
		lists = append(lists, keys.command)
	}
	for _, path := range lists {
		v := n.at(path)
		if v != nil && v.literal() != "null" && (v.kind != list || slices.ContainsFunc(v.nodes, func(kid node) bool { return kid.kind != text })) {
			return fmt.Errorf("%q: want a list of strings", path[len(path)-1])
		}
	}
	for _, path := range [][]string{keys.env, {d.headers}, {"env_http_headers"}} {
		v := n.at(path)
		if v != nil && v.literal() != "null" && (v.kind != table || slices.ContainsFunc(v.nodes, func(kid node) bool { return kid.kind != text && kid.kind != scalar })) {
			return fmt.Errorf("%q: want an object of strings", path[len(path)-1])
		}
	}
	return nil
}

// A translator makes the Translation of one server.
type translator struct {
	Translation
	*dialect
	server  *node
	entry   Entry
	prefix  string         // of the variables that are added
	pattern *regexp.Regexp // of the host's placeholders, or nil
}

// filters takes over which tools the host keeps away.
func (t *translator) filters() error {
	if allowed := t.server.get(t.allow); t.allow != "" && allowed != nil && allowed.literal() != "null" {
		return fmt.Errorf(`it lets only some tools through (%q), and "call" would reach the others; name in "hide" of the servers file what is to be kept away`, t.allow)
	}
	if t.deny == "" {
		return nil
	}
	for _, name := range t.server.get(t.deny).texts() {
		if strings.ContainsAny(name, `*?[]{}\!`) {
			return fmt.Errorf("%q: a name in it is a pattern, or cannot be told from one", t.deny)
		}
		t.Hide = append(t.Hide, name)
	}
	return nil
}

// process translates a server that is a process. Its variables and its folder
// stay where they are: we hand on what we get.
func (t *translator) process() {
	words := append([]string{t.entry.Command}, t.entry.Args...)
	offsets := secretsIn(words)
	o := object{{"command", jsonc.Quote(t.word("", words[0], offsets[0], "COMMAND"))}}
	var args []string
	for i := 1; i < len(words); i++ {
		args = append(args, t.word(words[i-1], words[i], offsets[i], fmt.Sprintf("ARG%d", i)))
	}
	if len(args) > 0 {
		o = append(o, pair{"args", jsonOf(args)})
	}
	t.Upstream = o.bytes()
}

// word translates a word of a command line; what is secret in it, from at on if
// that is not -1, goes through a variable.
func (t *translator) word(before, word string, at int, name string) string {
	if at = t.outside(word, at); at < 0 || t.isPlaceholder(word[at:]) {
		return t.text(word, name)
	}
	flag := strings.TrimRight(word[:at], delimiters)
	flag = flag[strings.LastIndexAny(flag, delimiters)+1:]
	if at == 0 && isLongFlag(before) {
		flag = before
	}
	if flag = variableOf(strings.TrimLeft(flag, "-")); flag != "" {
		name = flag
	}
	if strings.HasSuffix(word[:at], "$") || t.pattern != nil && t.pattern.MatchString(word[:at]) {
		at = 0
	}
	return escaped(word[:at]) + t.carry(word[at:], name)
}

// outside is an offset in a text, or where the placeholder begins that it is in.
func (t *translator) outside(text string, at int) int {
	if t.pattern == nil {
		return at
	}
	for _, m := range t.pattern.FindAllStringIndex(text, -1) {
		if m[0] < at && at < m[1] {
			return m[0]
		}
	}
	return at
}

// An object is a raw JSON object in the making.
type (
	object []pair
	pair   struct{ key, raw string }
)

func (o object) bytes() []byte { return []byte(o.indented("")) }

// indented gives a line to each member; the first begins after outer.
func (o object) indented(outer string) string {
	lines := make([]string, len(o))
	for i, p := range o {
		lines[i] = "\n" + outer + "  " + jsonc.Quote(p.key) + ": " + p.raw
	}
	return "{" + strings.Join(lines, ",") + "\n" + outer + "}"
}
