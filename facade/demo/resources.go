package demo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

const resourceTemplates = `[` +
	`{"uriTemplate":"tracker://projects/{project_key}","name":"project","title":"Project","description":"One project.","mimeType":"application/json"},` +
	`{"uriTemplate":"tracker://issues/{issue_key}","name":"issue","title":"Issue","description":"One issue with its comments.","mimeType":"application/json"}]`

const guideURI = "tracker://guide"

const guide = `# How this team works

- Every change has an issue. Look for an existing one first.
- An issue moves along backlog, todo, in_progress, in_review, done.
- A sprint lasts two weeks. Nothing is added to it after Wednesday.
- A bug that loses data or money is critical and goes first.
- Time is logged on the day on which it was spent.
`

const prompts = `[` +
	`{"name":"plan_sprint","title":"Plan a sprint","description":"Proposes what to take into the next sprint of a project.","arguments":[{"name":"project_key","description":"Key of the project.","required":true},{"name":"goal","description":"What the sprint is to reach."}]},` +
	`{"name":"triage_issue","title":"Triage an issue","description":"Judges type, priority and duplicates of one issue.","arguments":[{"name":"issue_key","description":"Key of the issue.","required":true}]}]`

// resources lists the guide and the projects that are in use.
func (s *server) resources() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []string{object("uri", quote(guideURI), "name", `"guide"`, "title", `"How this team works"`, "mimeType", `"text/markdown"`)}
	for _, row := range s.store.with("projects", "archived", "false") {
		uri := "tracker://projects/" + text(row, "project_key")
		all = append(all, object("uri", quote(uri), "name", raw(row, "project_key"), "title", raw(row, "name"), "mimeType", `"application/json"`))
	}
	return object("resources", array(all))
}

func (s *server) readResource(r *request) (string, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	uri := r.Params.Get("uri").Str
	text, f := s.store.resource(uri)
	if f != nil {
		return "", f
	}
	mime := "application/json"
	if uri == guideURI {
		mime = "text/markdown"
	}
	contents := object("uri", quote(uri), "mimeType", quote(mime), "text", quote(text))
	return object("contents", array([]string{contents})), nil
}

// resource is the text behind a uri.
func (s *store) resource(uri string) (string, *failure) {
	if uri == guideURI {
		return guide, nil
	}
	rest, _ := strings.CutPrefix(uri, "tracker://")
	name, id, _ := strings.Cut(rest, "/")
	if name == "projects" || name == "issues" {
		if row, ok := s.find(kindNamed(name), id); ok {
			if name == "issues" {
				row = set(row, "comments", array(s.with("comments", "issue_key", id)))
			}
			return row, nil
		}
	}
	return "", &failure{codeInvalidParams, "resource not found", []byte(object("uri", quote(uri)))}
}

func (s *server) prompt(r *request) (string, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, args := r.Params.Get("name").Str, r.Params.Get("arguments")
	switch name {
	case "plan_sprint":
		return s.store.planSprint(args)
	case "triage_issue":
		return s.store.triageIssue(args)
	}
	return "", invalid("unknown prompt %q", name)
}

func (s *store) planSprint(args gjson.Result) (string, *failure) {
	project, f := s.promptRecord("projects", args)
	if f != nil {
		return "", f
	}
	ask := fmt.Sprintf("Plan the next sprint of %s.", text(project, "name"))
	if goal := args.Get("goal").Str; goal != "" {
		ask += " Its goal: " + goal
	}
	ask += "\nChoose from these open issues, keep to the average of get_velocity_report, and say why:\n"
	for _, row := range s.with("issues", "project_key", text(project, "project_key")) {
		if raw(row, "sprint_id") == "null" && text(row, "status") != "done" {
			ask += fmt.Sprintf("- %s (%s): %s\n", text(row, "issue_key"), text(row, "priority"), text(row, "title"))
		}
	}
	return message("Plan a sprint", ask), nil
}

func (s *store) triageIssue(args gjson.Result) (string, *failure) {
	row, f := s.promptRecord("issues", args)
	if f != nil {
		return "", f
	}
	return message("Triage an issue", "Is the type of this issue right, is its priority, and is there a duplicate (search_issues)? Propose changes, but do not make them.\n"+row), nil
}

// promptRecord is the record that a prompt's argument names.
func (s *store) promptRecord(table string, args gjson.Result) (string, *failure) {
	k := kindNamed(table)
	id := args.Get(k.id)
	if !id.Exists() {
		return "", invalid("missing argument %q", k.id)
	}
	row, ok := s.find(k, id.Str)
	if !ok {
		return "", invalid("%v", s.missing(k, id.Str))
	}
	return row, nil
}

// message is a prompt of one message of the user.
func message(description, text string) string {
	content := object("type", `"text"`, "text", quote(text))
	return object("description", quote(description), "messages", array([]string{object("role", `"user"`, "content", content)}))
}

// completion proposes ids that begin with what has been typed.
func (s *server) completion(r *request) (string, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := kindOf(r.Params.Get("argument.name").Str)
	typed := strings.ToLower(r.Params.Get("argument.value").Str)
	var ids []string
	if k != nil {
		for _, row := range s.store.rows[k.name] {
			if id := text(row, k.id); strings.HasPrefix(strings.ToLower(id), typed) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	n := min(len(ids), 100) // MCP's limit for one answer
	values := object("values", array(quoted(ids[:n])), "total", strconv.Itoa(len(ids)), "hasMore", strconv.FormatBool(n < len(ids)))
	return object("completion", values), nil
}
