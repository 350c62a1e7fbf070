package demo

import (
	"fmt"
	"strings"
)

func startSprint(c *call) (string, error) {
	row := c.record()
	for _, other := range c.store.with("sprints", "project_key", text(row, "project_key")) {
		if text(other, "state") == "active" && text(other, "sprint_id") != text(row, "sprint_id") {
			return "", fmt.Errorf("sprint %q is active in the same project; complete it first with complete_sprint", text(other, "sprint_id"))
		}
	}
	if raw(row, "start_date") == "null" {
		row = set(row, "start_date", c.store.today())
	}
	return c.move(row, "state", `"planned"`, `"active"`)
}

// completeSprint ends a sprint and moves what is not done out of it.
func completeSprint(c *call) (string, error) {
	row := c.record()
	to, target := c.targetSprint()
	if target != "" && (text(target, "project_key") != text(row, "project_key") || text(target, "state") == "completed" || to == raw(row, "sprint_id")) {
		return "", fmt.Errorf("move_unfinished_to: want another open sprint of project %q", text(row, "project_key"))
	}
	var moved []string
	for _, issue := range c.store.with("issues", "sprint_id", c.str("sprint_id")) {
		if text(issue, "status") == "done" {
			continue
		}
		if _, err := c.store.save(kindNamed("issues"), issue, set(issue, "sprint_id", to)); err != nil {
			return "", err
		}
		moved = append(moved, raw(issue, "issue_key"))
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
			return text(row, "status") == status && c.onBoard(board, row)
		})
		for i, row := range issues {
			issues[i] = object("issue_key", raw(row, "issue_key"), "title", raw(row, "title"), "priority", raw(row, "priority"), "assignee", raw(row, "assignee"))
		}
		columns = append(columns, object("status", quote(status), "issues", array(issues)))
	}
	return set(board, "columns", array(columns)), nil
}

func (c *call) onBoard(board, row string) bool {
	if text(row, "project_key") != text(board, "project_key") {
		return false
	}
	if who := c.arg("assignee"); who.Exists() && text(row, "assignee") != who.Str {
		return false
	}
	sprint, _ := c.store.find(kindNamed("sprints"), text(row, "sprint_id"))
	return text(board, "type") == "kanban" || text(sprint, "state") == "active"
}

func publishRelease(c *call) (string, error) {
	var open []string
	for _, row := range c.store.with("issues", "release_id", c.str("release_id")) {
		if text(row, "status") != "done" {
			open = append(open, text(row, "issue_key"))
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
	fmt.Fprintf(&b, "# %s\n", text(row, "name"))
	if about := text(row, "description"); about != "" {
		fmt.Fprintf(&b, "\n%s\n", about)
	}
	done := c.store.where("issues", func(issue string) bool {
		return text(issue, "release_id") == c.str("release_id") && text(issue, "status") == "done"
	})
	for _, section := range [...][2]string{{"epic", "Highlights"}, {"story", "New"}, {"bug", "Fixed"}, {"task", "Changed"}} {
		writeSection(&b, section[1], section[0], done, c.arg("include_keys").Bool())
	}
	return object("release_id", raw(row, "release_id"), "markdown", quote(b.String())), nil
}

func writeSection(b *strings.Builder, heading, kind string, issues []string, keys bool) {
	for _, issue := range issues {
		if text(issue, "type") != kind {
			continue
		}
		if heading != "" {
			fmt.Fprintf(b, "\n## %s\n\n", heading)
			heading = ""
		}
		b.WriteString("- ")
		if keys {
			b.WriteString(text(issue, "issue_key") + ": ")
		}
		b.WriteString(text(issue, "title") + "\n")
	}
}
