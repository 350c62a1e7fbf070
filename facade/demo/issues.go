package demo

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

func archiveProject(c *call) (string, error) {
	row := c.record()
	if reason := c.str("reason"); reason != "" {
		about := strings.TrimSpace(text(row, "description") + "\n\nArchived: " + reason)
		row = set(row, "description", quote(about))
	}
	return c.move(row, "archived", "false", "true")
}

func restoreProject(c *call) (string, error) {
	return c.move(c.record(), "archived", "true", "false")
}

// move changes a field of the record from one raw value to another and fails
// if it is not at the first.
func (c *call) move(row, field, from, to string) (string, error) {
	if is := raw(row, field); is != from {
		return "", fmt.Errorf("%s of %s %q is %s; this takes one at which it is %s", field, c.kind.one, text(row, c.kind.id), is, from)
	}
	return c.store.save(c.kind, c.record(), set(row, field, to))
}

func (s *store) allowIssue(row string, isNew bool) error {
	key, parent := text(row, "issue_key"), text(row, "parent_key")
	project, _ := s.find(kindNamed("projects"), text(row, "project_key"))
	user, assigned := s.find(kindNamed("users"), text(row, "assignee"))
	switch {
	case isNew && get(project, "archived").Bool():
		return fmt.Errorf("project %q is archived; bring it back with restore_project first", text(project, "project_key"))
	case text(row, "type") == "subtask" && parent == "":
		return errors.New("a subtask needs a parent_key: the key of the issue to which it belongs")
	case parent != "" && s.descends(parent, key):
		return fmt.Errorf("issue %q cannot be above itself; choose another parent_key", key)
	case assigned && !get(user, "active").Bool():
		return fmt.Errorf("user %q is deactivated and cannot be assigned; see list_users with active: true", text(user, "username"))
	}
	return s.allowPlan(row)
}

// allowPlan refuses the sprint or the release of another project.
func (s *store) allowPlan(row string) error {
	project := text(row, "project_key")
	for _, name := range []string{"sprints", "releases"} {
		k := kindNamed(name)
		plan, ok := s.find(k, text(row, k.id))
		if other := text(plan, "project_key"); ok && other != project {
			return fmt.Errorf("%s %q belongs to project %q, not to %q", k.one, text(plan, k.id), other, project)
		}
	}
	return nil
}

// descends reports whether an issue is the other one or below it.
func (s *store) descends(key, above string) bool {
	for range s.rows["issues"] {
		if key == above {
			return true
		}
		row, ok := s.find(kindNamed("issues"), key)
		if !ok {
			return false
		}
		key = text(row, "parent_key")
	}
	return false
}

func (s *store) allowLink(row string) error {
	from, to := text(row, "issue_key"), text(row, "target_key")
	if from == to {
		return fmt.Errorf("issue %q cannot be linked to itself", from)
	}
	for _, l := range s.with("links", "issue_key", from) {
		if text(l, "target_key") == to && text(l, "type") == text(row, "type") {
			return fmt.Errorf("that link exists already: %s", text(l, "link_id"))
		}
	}
	return nil
}

var statuses = [...]string{"backlog", "todo", "in_progress", "in_review", "done"}

// transitions are the statuses that the workflow allows next: one step on, any
// number back, and done.
func transitions(status string) []string {
	at := slices.Index(statuses[:], status)
	allowed := slices.Clone(statuses[:at])
	if at+2 < len(statuses) {
		allowed = append(allowed, statuses[at+1])
	}
	if status != "done" {
		allowed = append(allowed, "done")
	}
	return allowed
}

func listTransitions(c *call) (string, error) {
	row := c.record()
	status := get(row, "status")
	return object("issue_key", raw(row, "issue_key"), "status", status.Raw, "transitions", array(quoted(transitions(status.Str)))), nil
}

func transitionIssue(c *call) (string, error) {
	row := c.record()
	from, to := text(row, "status"), c.str("status")
	if allowed := transitions(from); !slices.Contains(allowed, to) {
		return "", fmt.Errorf("issue %q cannot go from %s to %s; possible are %s", text(row, "issue_key"), from, to, strings.Join(allowed, ", "))
	}
	resolution := "null"
	if to == "done" {
		resolution = c.arg("resolution").Raw
	}
	if comment := c.arg("comment"); comment.Exists() {
		k := kindNamed("comments")
		c.store.insert(k, set(set(c.store.blank(k), "issue_key", raw(row, "issue_key")), "body", comment.Raw))
	}
	return c.store.save(c.kind, row, set(set(row, "status", quote(to)), "resolution", resolution))
}

// addValues adds to a list field of an issue what is not in it.
func addValues(c *call) (string, error) {
	return c.changeValues(func(have, given []string) []string {
		for _, v := range given {
			if !slices.Contains(have, v) {
				have = append(have, v)
			}
		}
		return have
	})
}

// removeValues takes values out of a list field of an issue.
func removeValues(c *call) (string, error) {
	return c.changeValues(func(have, given []string) []string {
		return slices.DeleteFunc(have, func(v string) bool { return slices.Contains(given, v) })
	})
}

func (c *call) changeValues(change func(have, given []string) []string) (string, error) {
	row, changed := c.record(), c.record()
	c.args.ForEach(func(name, given gjson.Result) bool {
		if given.IsArray() {
			values := change(texts(get(row, name.Str)), texts(given))
			changed = set(changed, name.Str, array(quoted(values)))
		}
		return true
	})
	return c.store.save(c.kind, row, changed)
}

func deleteLabel(c *call) (string, error) {
	label := c.str("label")
	issues := c.store.where("issues", func(row string) bool { return slices.Contains(texts(get(row, "labels")), label) })
	for _, row := range issues {
		left := slices.DeleteFunc(texts(get(row, "labels")), func(l string) bool { return l == label })
		if _, err := c.store.save(kindNamed("issues"), row, set(row, "labels", array(quoted(left)))); err != nil {
			return "", err
		}
	}
	result, err := remove(c)
	return set(result, "issues_changed", strconv.Itoa(len(issues))), err
}

func deleteIssue(c *call) (string, error) {
	key := c.str("issue_key")
	children := c.store.with("issues", "parent_key", key)
	if len(children) > 0 && !c.arg("delete_subtasks").Bool() {
		return "", fmt.Errorf("issue %q has %d issues below it; pass delete_subtasks: true to delete them too", key, len(children))
	}
	return object("deleted", array(quoted(c.store.deleteTree(key)))), nil
}

// deleteTree deletes an issue, what is below it and all that belongs to them,
// and returns the keys.
func (s *store) deleteTree(key string) []string {
	keys := []string{key}
	for _, child := range s.with("issues", "parent_key", key) {
		keys = append(keys, s.deleteTree(text(child, "issue_key"))...)
	}
	for _, name := range []string{"issues", "comments", "worklogs", "attachments", "links", "changes"} {
		s.remove(kindNamed(name), func(row string) bool {
			return text(row, "issue_key") == key || text(row, "target_key") == key
		})
	}
	return keys
}
