package demo

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// list answers with one page of the records that the arguments leave.
func list(c *call) (string, error) {
	match, err := parseQuery(c.kind, c.str("query"))
	if err != nil {
		return "", err
	}
	return c.page(c.store.where(c.kind.name, func(row string) bool {
		return match(row) && c.fits(row) && !c.archived(row)
	}))
}

// fits reports whether the record is what every filter asks for. An argument
// filters if it is called like a field, or like a date field with "_after" or
// "_before".
func (c *call) fits(row string) bool {
	fits := true
	c.args.ForEach(func(name, want gjson.Result) bool {
		fits = fitsOne(row, name.Str, want)
		return fits
	})
	return fits
}

func fitsOne(row, name string, want gjson.Result) bool {
	if base, ok := strings.CutSuffix(name, "_after"); ok {
		day := dayOf(row, base)
		return day != "" && day >= want.Str
	}
	if base, ok := strings.CutSuffix(name, "_before"); ok {
		day := dayOf(row, base)
		return day != "" && day < want.Str
	}
	have := get(row, name)
	switch {
	case name == "query" || !have.Exists():
		return true
	case have.IsArray():
		return !slices.ContainsFunc(want.Array(), func(v gjson.Result) bool { return !contains(have, v) })
	case want.IsArray():
		return contains(want, have)
	}
	return have.Type == want.Type && have.String() == want.String()
}

// dayOf is the date in a record's date or time field, "" if there is none.
func dayOf(row, base string) string {
	day := text(row, base+"_date")
	if day == "" {
		day = text(row, base+"_at")
	}
	return day[:min(len(day), len("2006-01-02"))]
}

// archived reports whether the record is hidden because its project is put
// away and the call does not name that project.
func (c *call) archived(row string) bool {
	if c.arg("include_archived").Bool() || c.arg("project_key").Exists() || c.arg("issue_key").Exists() {
		return false
	}
	project, _ := c.store.find(kindNamed("projects"), text(row, "project_key"))
	return get(project, "archived").Bool()
}

// page sorts the records, cuts the page out that the cursor points at, and
// leaves the fields that are asked for.
func (c *call) page(rows []string) (string, error) {
	start := 0
	if cursor := c.str("cursor"); cursor != "" {
		n, err := strconv.Atoi(cursor)
		if err != nil || n < 0 || n > len(rows) {
			return "", fmt.Errorf("cursor: %q is not the next_cursor of an answer", cursor)
		}
		start = n
	}
	c.sort(rows)
	end := min(start+int(c.arg("limit").Int()), len(rows))
	next := "null"
	if end < len(rows) {
		next = quote(strconv.Itoa(end))
	}
	var shown []string
	for _, row := range rows[start:end] {
		shown = append(shown, c.project(row))
	}
	return object(c.kind.name, array(shown), "total", strconv.Itoa(len(rows)), "next_cursor", next), nil
}

// sort orders records by the field that the call names; what has no value
// there comes last.
func (c *call) sort(rows []string) {
	by, sign := c.str("sort_by"), 1
	if by == "" {
		return
	}
	if c.str("sort_order") == "desc" {
		sign = -1
	}
	slices.SortStableFunc(rows, func(a, b string) int {
		x, y := get(a, by), get(b, by)
		switch {
		case x.Type == gjson.Null || y.Type == gjson.Null:
			return int(y.Type) - int(x.Type)
		case by == "priority":
			return sign * (rank(x.Str) - rank(y.Str))
		case x.Type == gjson.Number:
			return sign * int(x.Int()-y.Int())
		}
		return sign * strings.Compare(x.Str, y.Str)
	})
}

func rank(priority string) int {
	return slices.Index([]string{"lowest", "low", "medium", "high", "critical"}, priority)
}

// project is the record as a list shows it.
func (c *call) project(row string) string {
	fields := texts(c.arg("fields"))
	var pairs []string
	gjson.Parse(row).ForEach(func(name, v gjson.Result) bool {
		if name.Str != c.kind.long && (len(fields) == 0 || slices.Contains(fields, name.Str)) {
			pairs = append(pairs, name.Str, v.Raw)
		}
		return true
	})
	return object(pairs...)
}

// read answers with one record and the related ones that are named.
func read(c *call) (string, error) {
	row := c.record()
	for _, name := range texts(c.arg("include")) {
		row = set(row, name, array(c.store.related(c.kind, row, name)))
	}
	return row, nil
}

// related are the records of another table that belong to this one.
func (s *store) related(k *kind, row, name string) []string {
	id := text(row, k.id)
	switch name {
	case "subtasks":
		return s.with("issues", "parent_key", id)
	case "links":
		return slices.Concat(s.with("links", "issue_key", id), s.with("links", "target_key", id))
	case "attachments":
		c := &call{kind: kindNamed(name)}
		rows := s.with(name, k.id, id)
		for i := range rows {
			rows[i] = c.project(rows[i])
		}
		return rows
	}
	return s.with(name, k.id, id)
}

// create adds a record made of the arguments.
func create(c *call) (string, error) {
	row := c.store.blank(c.kind)
	c.props.ForEach(func(name, _ gjson.Result) bool {
		if v := c.arg(name.Str); v.Exists() {
			row = set(row, name.Str, v.Raw)
		}
		return true
	})
	if v := get(row, "content"); v.Exists() {
		row = set(row, "size_bytes", strconv.Itoa(len(v.Str)))
	}
	if err := c.store.allow(c.kind, row, true); err != nil {
		return "", err
	}
	return c.store.insert(c.kind, row)
}

// update changes the fields of a record that the arguments name.
func update(c *call) (string, error) {
	return c.change(c.record())
}

// updateMany changes several issues in the same way, all or none.
func updateMany(c *call) (string, error) {
	var keys []string
	for _, key := range texts(c.arg("issue_keys")) {
		row, _ := c.store.find(c.kind, key)
		if _, err := c.change(row); err != nil {
			return "", err
		}
		keys = append(keys, quote(key))
	}
	return object("changed", array(keys)), nil
}

func (c *call) change(row string) (string, error) {
	changed := row
	c.args.ForEach(func(name, v gjson.Result) bool {
		if name.Str != c.kind.id && get(row, name.Str).Exists() {
			changed = set(changed, name.Str, v.Raw)
		}
		return true
	})
	if len(c.args.Map()) < 2 {
		return "", errors.New("nothing to change; pass at least one field besides the id")
	}
	return c.store.save(c.kind, row, changed)
}

// save puts a changed record in the place of the old one, and keeps the
// history of issues.
func (s *store) save(k *kind, old, row string) (string, error) {
	if err := s.allow(k, row, false); err != nil {
		return "", err
	}
	if k.name == "issues" {
		s.remember(old, row)
	}
	s.put(k, row)
	row, _ = s.find(k, text(row, k.id))
	return row, nil
}

// remember adds to an issue's history what differs.
func (s *store) remember(old, row string) {
	k := kindNamed("changes")
	gjson.Parse(row).ForEach(func(name, v gjson.Result) bool {
		if was := get(old, name.Str); was.Raw != v.Raw {
			change := set(s.blank(k), "issue_key", raw(row, "issue_key"))
			change = set(set(change, "field", quote(name.Str)), "from", was.Raw)
			s.insert(k, set(change, "to", v.Raw))
		}
		return true
	})
}

// remove deletes one record.
func remove(c *call) (string, error) {
	id := c.str(c.kind.id)
	c.store.remove(c.kind, func(row string) bool { return text(row, c.kind.id) == id })
	return object("deleted", quote(id)), nil
}

// allow says what is wrong with a record as it would be.
func (s *store) allow(k *kind, row string, isNew bool) error {
	switch k.name {
	case "issues":
		return s.allowIssue(row, isNew)
	case "links":
		return s.allowLink(row)
	case "sprints":
		if start, end := text(row, "start_date"), text(row, "end_date"); end != "" && end < start {
			return fmt.Errorf("the sprint would end on %s, before it starts on %s", end, start)
		}
	case "filters":
		_, err := parseQuery(kindNamed("issues"), text(row, "query"))
		return err
	}
	return nil
}

func currentUser(c *call) (string, error) {
	row, _ := c.store.find(c.kind, me)
	return row, nil
}
