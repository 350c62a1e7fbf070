package demo

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// A kind describes the records of one table.
type kind struct {
	name   string // of the table, and of the member that holds a list of them
	one    string // what one of them is called
	id     string // the field that identifies a record
	prefix string // of the ids that are made; "" if the caller chooses the id
	find   string // the tool that finds one
	long   string // a field that only a record by itself shows; "" for none
	blank  string // a new record: all fields in order; "$me", "$now", "$today" are filled in
}

var kinds = [...]kind{
	{"users", "user", "username", "", "list_users", "", ``},
	{"projects", "project", "project_key", "", "list_projects", "",
		`{"project_key":"","name":"","description":"","lead":"$me","category":"software","visibility":"team","archived":false,"created_at":"$now","updated_at":"$now"}`},
	{"issues", "issue", "issue_key", "", "search_issues", "",
		`{"issue_key":"","project_key":"","type":"task","title":"","description":"","status":"backlog","priority":"medium","assignee":null,"reporter":"$me","labels":[],"watchers":[],"sprint_id":null,"release_id":null,"parent_key":null,"story_points":null,"due_date":null,"resolution":null,"created_at":"$now","updated_at":"$now"}`},
	{"comments", "comment", "comment_id", "cmt_", "list_comments", "",
		`{"comment_id":"","issue_key":"","author":"$me","body":"","internal":false,"created_at":"$now","updated_at":"$now"}`},
	{"labels", "label", "label", "", "list_labels", "", `{"label":"","color":"#8b949e","description":""}`},
	{"links", "link", "link_id", "lnk_", "get_issue", "",
		`{"link_id":"","issue_key":"","type":"relates_to","target_key":"","created_at":"$now"}`},
	{"changes", "change", "change_id", "chg_", "get_issue_history", "",
		`{"change_id":"","issue_key":"","author":"$me","field":"","from":null,"to":null,"created_at":"$now"}`},
	{"sprints", "sprint", "sprint_id", "spr_", "list_sprints", "",
		`{"sprint_id":"","project_key":"","name":"","goal":"","state":"planned","start_date":null,"end_date":null,"created_at":"$now","updated_at":"$now"}`},
	{"boards", "board", "board_id", "brd_", "list_boards", "", ``},
	{"worklogs", "worklog", "worklog_id", "wl_", "list_worklogs", "",
		`{"worklog_id":"","issue_key":"","author":"$me","minutes":0,"note":"","work_date":"$today","created_at":"$now"}`},
	{"releases", "release", "release_id", "rel_", "list_releases", "",
		`{"release_id":"","project_key":"","name":"","description":"","status":"planned","target_date":null,"released_at":null,"created_at":"$now"}`},
	{"attachments", "attachment", "attachment_id", "att_", "list_attachments", "content",
		`{"attachment_id":"","issue_key":"","filename":"","mime_type":"text/plain","size_bytes":0,"author":"$me","created_at":"$now","content":""}`},
	{"webhooks", "webhook", "webhook_id", "wh_", "list_webhooks", "",
		`{"webhook_id":"","url":"","events":[],"project_key":null,"active":true,"created_at":"$now"}`},
	{"filters", "filter", "filter_id", "flt_", "list_filters", "",
		`{"filter_id":"","name":"","query":"","owner":"$me","shared":false,"created_at":"$now"}`},
	{"exports", "export", "export_id", "exp_", "start_export", "content",
		`{"export_id":"","format":"csv","query":"","columns":[],"rows":0,"size_bytes":0,"created_at":"$now","content":""}`},
}

// kindNamed is the kind of a table that the program names.
func kindNamed(name string) *kind {
	i := slices.IndexFunc(kinds[:], func(k kind) bool { return k.name == name })
	return &kinds[i]
}

// kindOf is the kind to which the values of an argument refer, nil if they are
// plain values.
func kindOf(arg string) *kind {
	switch arg {
	case "assignee", "lead", "author", "reporter", "owner", "watchers":
		return kindNamed("users")
	case "issue_keys", "target_key", "parent_key":
		return kindNamed("issues")
	case "move_unfinished_to":
		return kindNamed("sprints")
	case "labels":
		return kindNamed("labels")
	}
	if i := slices.IndexFunc(kinds[:], func(k kind) bool { return k.id == arg }); i >= 0 {
		return &kinds[i]
	}
	return nil
}

// me is the user in whose name calls are made.
const me = "maya"

// opened is what the clock shows at the beginning: a Monday.
var opened = time.Date(2026, 3, 16, 9, 30, 0, 0, time.UTC)

// A store holds the data: in each table the records in the order in which they
// were made, each as a JSON object on one line.
type store struct {
	rows    map[string][]string // by the kind's name
	last    map[string]int      // the last number given, by prefix
	writes  int                 // calls that changed something
	touched []string            // the resources that changed and were not announced
}

func newStore() *store {
	s := &store{rows: map[string][]string{}, last: map[string]int{}}
	for line := range strings.Lines(seed) {
		if name, row, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			k := kindNamed(name)
			s.rows[name] = append(s.rows[name], fill(s.blank(k), row))
			s.count(text(row, k.id))
		}
	}
	return s
}

// fill is the blank record with the values that the row gives.
func fill(blank, row string) string {
	if blank == "" {
		return row
	}
	gjson.Parse(row).ForEach(func(name, v gjson.Result) bool {
		blank = set(blank, name.Str, v.Raw)
		return true
	})
	return blank
}

// count takes note of a number that is used.
func (s *store) count(id string) {
	i := strings.LastIndexAny(id, "_-") + 1
	if n, err := strconv.Atoi(id[i:]); err == nil {
		s.last[id[:i]] = max(s.last[id[:i]], n)
	}
}

// next is a new id.
func (s *store) next(prefix string) string {
	s.last[prefix]++
	return prefix + strconv.Itoa(s.last[prefix])
}

// atomically runs do and says which resources it changed; if it fails, what it
// did is forgotten.
func (s *store) atomically(do func() (string, error)) (result string, changed []string, err error) {
	rows, last, touched := maps.Clone(s.rows), maps.Clone(s.last), s.touched
	s.touched = nil
	if result, err = do(); err != nil {
		s.rows, s.last, s.touched = rows, last, touched
		return "", nil, err
	}
	changed = s.touched
	s.touched = append(touched, changed...)
	if len(changed) > 0 {
		s.writes++
	}
	return result, changed, nil
}

func (s *store) takeTouched() []string {
	touched := s.touched
	s.touched = nil
	return touched
}

func (s *store) now() time.Time { return opened.Add(time.Duration(s.writes) * time.Minute) }

func (s *store) timestamp() string { return quote(s.now().Format(time.RFC3339)) }

func (s *store) today() string { return quote(s.now().Format(time.DateOnly)) }

// find is the record with the id.
func (s *store) find(k *kind, id string) (string, bool) {
	if i := s.index(k, id); i >= 0 {
		return s.rows[k.name][i], true
	}
	return "", false
}

func (s *store) index(k *kind, id string) int {
	return slices.IndexFunc(s.rows[k.name], func(row string) bool { return text(row, k.id) == id })
}

// where are the records of a table that keep.
func (s *store) where(table string, keep func(row string) bool) []string {
	var rows []string
	for _, row := range s.rows[table] {
		if keep(row) {
			rows = append(rows, row)
		}
	}
	return rows
}

// with are the records of a table with that value in the field.
func (s *store) with(table, name, value string) []string {
	return s.where(table, func(row string) bool { return text(row, name) == value })
}

// blank is a new record of the kind, without its id.
func (s *store) blank(k *kind) string {
	return strings.NewReplacer(`"$me"`, quote(me), `"$now"`, s.timestamp(), `"$today"`, s.today()).Replace(k.blank)
}

// insert adds the record and returns it with its id, which is made unless the
// caller chooses ids of this kind.
func (s *store) insert(k *kind, row string) (string, error) {
	switch {
	case k.name == "issues":
		row = set(row, k.id, quote(s.next(text(row, "project_key")+"-")))
	case k.prefix != "":
		row = set(row, k.id, quote(s.next(k.prefix)))
	}
	id := text(row, k.id)
	if s.index(k, id) >= 0 {
		return "", fmt.Errorf("%s %q exists already; choose another %s", k.one, id, k.id)
	}
	s.rows[k.name] = append(slices.Clip(s.rows[k.name]), row)
	s.touch(k, row)
	return row, nil
}

// put replaces the record with the row's id.
func (s *store) put(k *kind, row string) {
	if get(row, "updated_at").Exists() {
		row = set(row, "updated_at", s.timestamp())
	}
	rows := slices.Clone(s.rows[k.name])
	rows[s.index(k, text(row, k.id))] = row
	s.rows[k.name] = rows
	s.touch(k, row)
}

// remove deletes the records of a table that are gone and says how many.
func (s *store) remove(k *kind, gone func(row string) bool) int {
	var kept []string
	for _, row := range s.rows[k.name] {
		if gone(row) {
			s.touch(k, row)
		} else {
			kept = append(kept, row)
		}
	}
	n := len(s.rows[k.name]) - len(kept)
	s.rows[k.name] = kept
	return n
}

// touch notes which resource shows the record: its issue, or else its project.
func (s *store) touch(k *kind, row string) {
	uri := "tracker://" + k.name
	if v := get(row, "issue_key"); v.Exists() {
		uri = "tracker://issues/" + v.Str
	} else if v := get(row, "project_key"); v.Str != "" {
		uri = "tracker://projects/" + v.Str
	}
	if !slices.Contains(s.touched, uri) {
		s.touched = append(s.touched, uri)
	}
}

// get is a field of a record. What belongs to an issue belongs to its project.
func get(row, name string) gjson.Result {
	v := gjson.Get(row, gjson.Escape(name))
	if key := gjson.Get(row, "issue_key"); !v.Exists() && name == "project_key" && key.Exists() {
		project, _, _ := strings.Cut(key.Str, "-")
		return gjson.Parse(quote(project))
	}
	return v
}

// text is a field as text, "" if it is null.
func text(row, name string) string { return get(row, name).String() }

// raw is a field as JSON.
func raw(row, name string) string { return get(row, name).Raw }

// set is the record, or any object, with one member changed or added.
func set(row, name, raw string) string {
	if v := gjson.Get(row, gjson.Escape(name)); v.Exists() {
		return row[:v.Index] + raw + row[v.Index+len(v.Raw):]
	}
	comma := ","
	if row == "{}" {
		comma = ""
	}
	return row[:len(row)-1] + comma + quote(name) + ":" + raw + "}"
}

// object is a JSON object of names and raw values in turn.
func object(pairs ...string) string {
	var members []string
	for i := 0; i < len(pairs); i += 2 {
		members = append(members, quote(pairs[i])+":"+pairs[i+1])
	}
	return "{" + strings.Join(members, ",") + "}"
}

// array is a JSON array of raw values.
func array(raw []string) string { return "[" + strings.Join(raw, ",") + "]" }

func quote(s string) string { return string(gjson.AppendJSONString(nil, s)) }

func quoted(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = quote(v)
	}
	return out
}
