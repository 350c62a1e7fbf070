package demo

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// toolsJSON is the answer to tools/list: an array with one tool a line.
//
//go:embed tools.json
var toolsJSON string

// definitions are the tool objects by name.
func definitions() map[string]gjson.Result {
	defs := map[string]gjson.Result{}
	for _, def := range gjson.Parse(toolsJSON).Array() {
		defs[def.Get("name").Str] = def
	}
	return defs
}

// A verb does what a tool is for and returns the result as JSON. It may leave
// the store half changed if it fails: the caller undoes that.
type verb func(c *call) (string, error)

// A tool binds a name of tools.json to what it does.
type tool struct {
	name string
	kind string // the table on which the verb works; "" if the verb knows
	do   verb
	show func(result string) string // the content blocks; nil: the result as text
}

var tools = [...]tool{
	{"list_projects", "projects", list, nil},
	{"get_project", "projects", read, nil},
	{"create_project", "projects", create, nil},
	{"update_project", "projects", update, nil},
	{"archive_project", "projects", archiveProject, nil},
	{"restore_project", "projects", restoreProject, nil},

	{"list_issues", "issues", list, nil},
	{"search_issues", "issues", list, nil},
	{"get_issue", "issues", read, nil},
	{"create_issue", "issues", create, nil},
	{"update_issue", "issues", update, nil},
	{"delete_issue", "issues", deleteIssue, nil},
	{"assign_issue", "issues", update, nil},
	{"list_transitions", "issues", listTransitions, nil},
	{"transition_issue", "issues", transitionIssue, nil},
	{"bulk_update_issues", "issues", updateMany, nil},
	{"move_issues_to_sprint", "issues", updateMany, nil},
	{"get_issue_history", "changes", list, nil},
	{"add_issue_labels", "issues", addValues, nil},
	{"remove_issue_labels", "issues", removeValues, nil},
	{"add_watchers", "issues", addValues, nil},
	{"remove_watchers", "issues", removeValues, nil},
	{"link_issues", "links", create, nil},
	{"unlink_issues", "links", remove, nil},

	{"list_labels", "labels", list, nil},
	{"create_label", "labels", create, nil},
	{"delete_label", "labels", deleteLabel, nil},

	{"list_comments", "comments", list, nil},
	{"add_comment", "comments", create, nil},
	{"update_comment", "comments", update, nil},
	{"delete_comment", "comments", remove, nil},

	{"list_sprints", "sprints", list, nil},
	{"get_sprint", "sprints", read, nil},
	{"create_sprint", "sprints", create, nil},
	{"update_sprint", "sprints", update, nil},
	{"start_sprint", "sprints", startSprint, nil},
	{"complete_sprint", "sprints", completeSprint, nil},
	{"list_boards", "boards", list, nil},
	{"get_board", "boards", getBoard, nil},

	{"log_work", "worklogs", create, nil},
	{"list_worklogs", "worklogs", list, nil},
	{"delete_worklog", "worklogs", remove, nil},

	{"list_users", "users", list, nil},
	{"get_user", "users", read, nil},
	{"get_current_user", "users", currentUser, nil},

	{"list_releases", "releases", list, nil},
	{"create_release", "releases", create, nil},
	{"publish_release", "releases", publishRelease, nil},
	{"get_release_notes", "releases", releaseNotes, showNotes},

	{"list_attachments", "attachments", list, nil},
	{"add_attachment", "attachments", create, nil},
	{"get_attachment", "attachments", read, showAttachment},
	{"delete_attachment", "attachments", remove, nil},

	{"list_webhooks", "webhooks", list, nil},
	{"create_webhook", "webhooks", create, nil},
	{"delete_webhook", "webhooks", remove, nil},

	{"list_filters", "filters", list, nil},
	{"create_filter", "filters", create, nil},
	{"run_filter", "filters", runFilter, nil},
	{"delete_filter", "filters", remove, nil},

	{"get_sprint_report", "sprints", sprintReport, nil},
	{"get_velocity_report", "sprints", velocityReport, nil},
	{"get_workload_report", "issues", workloadReport, nil},
	{"get_time_report", "worklogs", timeReport, nil},
	{"start_export", "exports", startExport, nil},
	{"get_export", "exports", read, nil},
}

// slow reports whether a call of the tool takes a while.
func slow(tool string) bool { return tool == "start_export" }

// A call is one tools/call whose arguments fit.
type call struct {
	store *store
	kind  *kind
	name  string       // the tool's
	args  gjson.Result // as given
	props gjson.Result // the properties of the tool's schema
}

// arg is an argument, or else the default that the schema names; null and what
// is in neither do not exist.
func (c *call) arg(name string) gjson.Result {
	v := c.args.Get(name)
	if !v.Exists() {
		v = c.props.Get(name + ".default")
	}
	if v.Type == gjson.Null {
		return gjson.Result{}
	}
	return v
}

func (c *call) str(name string) string { return c.arg(name).String() }

// record is the record that the call is about.
func (c *call) record() string {
	row, _ := c.store.find(c.kind, c.str(c.kind.id))
	return row
}

func (s *server) call(r *request) (string, *failure) {
	name := r.Params.Get("name").Str
	i := slices.IndexFunc(tools[:], func(t tool) bool { return t.name == name })
	if i < 0 {
		return "", invalid("unknown tool %q", name)
	}
	args := r.Params.Get("arguments")
	if args.Type == gjson.Null {
		args = gjson.Parse("{}")
	}
	s.mu.Lock()
	result, changed, err := s.store.run(&tools[i], s.defs[name], args)
	verbose := s.verbose
	s.mu.Unlock()
	s.logged(r, name, changed, verbose)
	if err != nil {
		return object("content", textBlock(name+": "+err.Error()), "isError", "true"), nil
	}
	return present(&tools[i], s.defs[name], result), nil
}

// run checks the arguments against the tool's schema and the data and then
// does what the tool is for.
func (s *store) run(t *tool, def, args gjson.Result) (string, []string, error) {
	schema := def.Get("inputSchema")
	if err := check("arguments", schema, args); err != nil {
		return "", nil, err
	}
	c := &call{s, kindNamed(t.kind), t.name, args, schema.Get("properties")}
	if err := c.resolve(); err != nil {
		return "", nil, err
	}
	return s.atomically(func() (string, error) { return t.do(c) })
}

// present makes a tool's result of what its verb returned.
func present(t *tool, def gjson.Result, result string) string {
	content := textBlock(result)
	if t.show != nil {
		content = t.show(result)
	}
	if def.Get("outputSchema").Exists() {
		return object("content", content, "structuredContent", result)
	}
	return object("content", content)
}

// textBlock is a tool's content of one text.
func textBlock(text string) string {
	return array([]string{object("type", `"text"`, "text", quote(text))})
}

// showAttachment shows the file itself, as an embedded resource.
func showAttachment(row string) string {
	uri := "tracker://attachments/" + text(row, "attachment_id") + "/" + strings.ReplaceAll(text(row, "filename"), " ", "%20")
	resource := object("uri", quote(uri), "mimeType", raw(row, "mime_type"), "text", raw(row, "content"))
	return array([]string{object("type", `"resource"`, "resource", resource)})
}

// showNotes shows the Markdown text alone.
func showNotes(result string) string { return textBlock(gjson.Get(result, "markdown").Str) }
