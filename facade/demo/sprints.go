package demo

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

func startSprint(c *call) (string, error) {
	row := c.record()
	for _, other := range c.store.with("sprints", "project_key", get(row, "project_key").Str) {
		if get(other, "state").Str == "active" && get(other, "sprint_id").Str != get(row, "sprint_id").Str {
			return "", fmt.Errorf("sprint %q is active in the same project; complete it first with complete_sprint", get(other, "sprint_id").Str)
		}
	}
	if get(row, "start_date").Type == gjson.Null {
		row = set(row, "start_date", c.store.today())
	}
	return c.move(row, "state", `"planned"`, `"active"`)
}

// completeSprint ends a sprint and moves what is not done out of it.
func completeSprint(c *call) (string, error) {
	row := c.record()
	to, target := c.targetSprint()
	if target != "" && (get(target, "project_key").Str != get(row, "project_key").Str || get(target, "state").Str == "completed" || to == get(row, "sprint_id").Raw) {
		return "", fmt.Errorf("move_unfinished_to: want another open sprint of project %q", get(row, "project_key").Str)
	}
	var moved []string
	for _, issue := range c.store.with("issues", "sprint_id", c.str("sprint_id")) {
		if get(issue, "status").Str == "done" {
			continue
		}
		if _, err := c.store.save(kindNamed("issues"), issue, set(issue, "sprint_id", to)); err != nil {
			return "", err
		}
		moved = append(moved, get(issue, "issue_key").Raw)
	}
	row, err := c.move(row, "state", `"active"`, `"completed"`)
	return object("sprint", row, "moved_issues", array(moved), "moved_to", to), err
}

// targetSprint is the raw id of the sprint that takes unfinished issues, null
// for the backlog, and the sprint.
func (c *call) targetSprint() (id, row string) {
	v := c.arg("move_unfinished_to")
	if !v.Exists() {
		return "null", ""
	}
	row, _ = c.store.find(c.kind, v.Str)
	return v.Raw, row
}

// getBoard answers with a board's columns and the issues in them.
func getBoard(c *call) (string, error) {
	board := c.record()
	var columns []string
	for _, status := range texts(get(board, "columns")) {
		issues := c.store.where("issues", func(row string) bool {
			return get(row, "status").Str == status && c.onBoard(board, row)
		})
		for i, row := range issues {
			issues[i] = object("issue_key", get(row, "issue_key").Raw, "title", get(row, "title").Raw, "priority", get(row, "priority").Raw, "assignee", get(row, "assignee").Raw)
		}
		columns = append(columns, object("status", quote(status), "issues", array(issues)))
	}
	return set(board, "columns", array(columns)), nil
}

func (c *call) onBoard(board, row string) bool {
	if get(row, "project_key").Str != get(board, "project_key").Str {
		return false
	}
	if who := c.arg("assignee"); who.Exists() && get(row, "assignee").Str != who.Str {
		return false
	}
	sprint, _ := c.store.find(kindNamed("sprints"), get(row, "sprint_id").Str)
	return get(board, "type").Str == "kanban" || get(sprint, "state").Str == "active"
}

func publishRelease(c *call) (string, error) {
	var open []string
	for _, row := range c.store.with("issues", "release_id", c.str("release_id")) {
		if get(row, "status").Str != "done" {
			open = append(open, get(row, "issue_key").Str)
		}
	}
	if len(open) > 0 && !c.arg("force").Bool() {
		return "", fmt.Errorf("not done are %s; finish them, take them out of the release, or pass force: true", strings.Join(open, ", "))
	}
	return c.move(set(c.record(), "released_at", c.store.timestamp()), "status", `"planned"`, `"released"`)
}

// releaseNotes writes down what is done in a release, by type.
func releaseNotes(c *call) (string, error) {
	row := c.record()
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", get(row, "name").Str)
	if text := get(row, "description").Str; text != "" {
		fmt.Fprintf(&b, "\n%s\n", text)
	}
	done := c.store.where("issues", func(issue string) bool {
		return get(issue, "release_id").Str == c.str("release_id") && get(issue, "status").Str == "done"
	})
	for _, section := range [...][2]string{{"epic", "Highlights"}, {"story", "New"}, {"bug", "Fixed"}, {"task", "Changed"}} {
		writeSection(&b, section[1], section[0], done, c.arg("include_keys").Bool())
	}
	return object("release_id", get(row, "release_id").Raw, "markdown", quote(b.String())), nil
}

func writeSection(b *strings.Builder, heading, kind string, issues []string, keys bool) {
	for _, issue := range issues {
		if get(issue, "type").Str != kind {
			continue
		}
		if heading != "" {
			fmt.Fprintf(b, "\n## %s\n\n", heading)
			heading = ""
		}
		b.WriteString("- ")
		if keys {
			b.WriteString(get(issue, "issue_key").Str + ": ")
		}
		b.WriteString(get(issue, "title").Str + "\n")
	}
}
