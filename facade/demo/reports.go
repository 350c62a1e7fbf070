package demo

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// A sum is what issues with the same value in a field come to.
type sum struct {
	value        string // of the field, raw
	issues, done int
	points, won  int // story points of all, and of those that are done
}

func (s sum) row(field string) string {
	return object(field, s.value, "issues", strconv.Itoa(s.issues), "points", strconv.Itoa(s.points), "done_points", strconv.Itoa(s.won))
}

// tally sums issues up by a field, in the order in which its values occur.
func tally(issues []string, field string) []sum {
	var sums []sum
	for _, row := range issues {
		value := raw(row, field)
		i := slices.IndexFunc(sums, func(s sum) bool { return s.value == value })
		if i < 0 {
			i, sums = len(sums), append(sums, sum{value: value})
		}
		sums[i].add(row)
	}
	return sums
}

func (s *sum) add(issue string) {
	points := int(get(issue, "story_points").Int())
	s.issues++
	s.points += points
	if text(issue, "status") == "done" {
		s.done++
		s.won += points
	}
}

// percent is how much is done, by points or, if there are none, by issues.
func (s sum) percent() int {
	switch {
	case s.points > 0:
		return 100 * s.won / s.points
	case s.issues > 0:
		return 100 * s.done / s.issues
	}
	return 0
}

func sprintReport(c *call) (string, error) {
	sprint := c.record()
	issues := c.store.with("issues", "sprint_id", c.str("sprint_id"))
	var all sum
	var open, byStatus []string
	for _, row := range issues {
		all.add(row)
		if text(row, "status") != "done" {
			open = append(open, raw(row, "issue_key"))
		}
	}
	for _, s := range tally(issues, "status") {
		byStatus = append(byStatus, s.row("status"))
	}
	return object("sprint_id", raw(sprint, "sprint_id"), "name", raw(sprint, "name"), "state", raw(sprint, "state"),
		"issues", strconv.Itoa(all.issues), "points", strconv.Itoa(all.points),
		"done_issues", strconv.Itoa(all.done), "done_points", strconv.Itoa(all.won), "percent_done", strconv.Itoa(all.percent()),
		"by_status", array(byStatus), "open_issues", array(open)), nil
}

func velocityReport(c *call) (string, error) {
	sprints := c.store.where("sprints", func(row string) bool {
		return text(row, "project_key") == c.str("project_key") && text(row, "state") != "planned"
	})
	sprints = sprints[max(0, len(sprints)-int(c.arg("sprints").Int())):]
	var rows []string
	won, completed := 0, 0
	for _, sprint := range sprints {
		s := sum{value: raw(sprint, "sprint_id")}
		for _, issue := range c.store.with("issues", "sprint_id", text(sprint, "sprint_id")) {
			s.add(issue)
		}
		if text(sprint, "state") == "completed" {
			won, completed = won+s.won, completed+1
		}
		row := set(s.row("sprint_id"), "name", raw(sprint, "name"))
		rows = append(rows, set(row, "state", raw(sprint, "state")))
	}
	average := strconv.FormatFloat(float64(won)/float64(max(1, completed)), 'f', 1, 64)
	return object("project_key", c.arg("project_key").Raw, "sprints", array(rows), "average_points", average), nil
}

func workloadReport(c *call) (string, error) {
	open := c.store.where("issues", func(row string) bool {
		return text(row, "status") != "done" && c.fits(row) && !c.archived(row)
	})
	var rows []string
	for _, s := range tally(open, "assignee") {
		rows = append(rows, object("assignee", s.value, "open_issues", strconv.Itoa(s.issues), "points", strconv.Itoa(s.points)))
	}
	return object("rows", array(rows), "total_issues", strconv.Itoa(len(open))), nil
}

// timeReport adds worklogs up, the largest sum first.
func timeReport(c *call) (string, error) {
	by := c.str("group_by")
	minutes := map[string]int{}
	total := 0
	for _, row := range c.store.where("worklogs", c.fits) {
		n := int(get(row, "minutes").Int())
		minutes[raw(row, by)] += n
		total += n
	}
	var values, rows []string
	for value := range minutes {
		values = append(values, value)
	}
	slices.SortFunc(values, func(a, b string) int {
		if minutes[a] != minutes[b] {
			return minutes[b] - minutes[a]
		}
		return strings.Compare(a, b)
	})
	for _, value := range values {
		rows = append(rows, object(by, value, "minutes", strconv.Itoa(minutes[value])))
	}
	return object("group_by", quote(by), "rows", array(rows), "total_minutes", strconv.Itoa(total)), nil
}

// runFilter answers like search_issues with the filter's query.
func runFilter(c *call) (string, error) {
	match, err := parseQuery(kindNamed("issues"), text(c.record(), "query"))
	if err != nil {
		return "", err
	}
	on := *c
	on.kind = kindNamed("issues")
	return on.page(c.store.where("issues", func(row string) bool { return match(row) && !c.archived(row) }))
}

// startExport stores a file of the issues that match.
func startExport(c *call) (string, error) {
	match, err := parseQuery(kindNamed("issues"), c.str("query"))
	if err != nil {
		return "", err
	}
	issues := c.store.where("issues", func(row string) bool { return match(row) && !c.archived(row) })
	columns := texts(c.arg("columns"))
	content := asCSV(issues, columns)
	if c.str("format") == "json" {
		content = asJSON(issues, columns)
	}
	row := c.store.blank(c.kind)
	for _, name := range []string{"format", "query", "columns"} {
		row = set(row, name, c.arg(name).Raw)
	}
	row = set(set(row, "rows", strconv.Itoa(len(issues))), "size_bytes", strconv.Itoa(len(content)))
	row, err = c.store.insert(c.kind, set(row, "content", quote(content)))
	return c.project(row), err
}

func asJSON(rows, columns []string) string {
	var out []string
	for _, row := range rows {
		var pairs []string
		for _, name := range columns {
			pairs = append(pairs, name, raw(row, name))
		}
		out = append(out, object(pairs...))
	}
	return array(out)
}

func asCSV(rows, columns []string) string {
	lines := []string{strings.Join(columns, ",")}
	for _, row := range rows {
		var cells []string
		for _, name := range columns {
			cells = append(cells, cell(get(row, name)))
		}
		lines = append(lines, strings.Join(cells, ","))
	}
	return strings.Join(lines, "\r\n") + "\r\n"
}

// cell is a value as CSV, RFC 4180.
func cell(v gjson.Result) string {
	text := strings.Join(texts(v), " ")
	if strings.ContainsAny(text, ",\"\r\n") {
		return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}
