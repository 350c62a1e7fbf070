package demo

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// every has valid arguments for each tool, in the order of tools.json.
var every = []struct{ name, args string }{
	{"list_projects", `{"query":"shop","include_archived":true}`},
	{"get_project", `{"project_key":"WEB"}`},
	{"create_project", `{"project_key":"APP","name":"App"}`},
	{"update_project", `{"project_key":"WEB","name":"Shop"}`},
	{"archive_project", `{"project_key":"WEB","reason":"done"}`},
	{"restore_project", `{"project_key":"OLD"}`},
	{"list_issues", `{"project_key":"WEB","status":["todo","done"],"labels":["frontend"],"sort_by":"priority","sort_order":"desc","fields":["issue_key"]}`},
	{"search_issues", `{"query":"checkout type:bug -status:done"}`},
	{"get_issue", `{"issue_key":"WEB-3","include":["comments","worklogs","links","attachments","subtasks"]}`},
	{"create_issue", `{"project_key":"WEB","title":"New","labels":["docs"],"sprint_id":"spr_3"}`},
	{"update_issue", `{"issue_key":"WEB-3","priority":"low","assignee":null}`},
	{"delete_issue", `{"issue_key":"WEB-3","delete_subtasks":true}`},
	{"assign_issue", `{"issue_key":"WEB-3","assignee":"tomas"}`},
	{"list_transitions", `{"issue_key":"WEB-3"}`},
	{"transition_issue", `{"issue_key":"WEB-3","status":"in_review","comment":"Please look"}`},
	{"bulk_update_issues", `{"issue_keys":["WEB-3","WEB-5"],"priority":"low"}`},
	{"move_issues_to_sprint", `{"issue_keys":["WEB-6"],"sprint_id":"spr_3"}`},
	{"get_issue_history", `{"issue_key":"WEB-3","field":"status"}`},
	{"list_labels", `{}`},
	{"create_label", `{"label":"mobile"}`},
	{"delete_label", `{"label":"frontend"}`},
	{"add_issue_labels", `{"issue_key":"WEB-3","labels":["docs","frontend"]}`},
	{"remove_issue_labels", `{"issue_key":"WEB-3","labels":["frontend"]}`},
	{"add_watchers", `{"issue_key":"WEB-3","watchers":["tomas"]}`},
	{"remove_watchers", `{"issue_key":"WEB-3","watchers":["maya"]}`},
	{"link_issues", `{"issue_key":"WEB-3","target_key":"WEB-5"}`},
	{"unlink_issues", `{"link_id":"lnk_1"}`},
	{"list_comments", `{"issue_key":"WEB-3","created_after":"2026-03-10"}`},
	{"add_comment", `{"issue_key":"WEB-3","body":"Fixed"}`},
	{"update_comment", `{"comment_id":"cmt_1","body":"Four customers"}`},
	{"delete_comment", `{"comment_id":"cmt_1"}`},
	{"list_sprints", `{"project_key":"WEB","state":"active"}`},
	{"get_sprint", `{"sprint_id":"spr_2","include":["issues"]}`},
	{"create_sprint", `{"project_key":"WEB","name":"Sprint 9","start_date":"2026-04-06","end_date":"2026-04-17"}`},
	{"update_sprint", `{"sprint_id":"spr_3","goal":"Search"}`},
	{"start_sprint", `{"sprint_id":"spr_5"}`},
	{"complete_sprint", `{"sprint_id":"spr_2","move_unfinished_to":"spr_3"}`},
	{"list_boards", `{"type":"scrum"}`},
	{"get_board", `{"board_id":"brd_1","assignee":"priya"}`},
	{"log_work", `{"issue_key":"WEB-3","minutes":30}`},
	{"list_worklogs", `{"project_key":"WEB","work_after":"2026-03-10"}`},
	{"delete_worklog", `{"worklog_id":"wl_1"}`},
	{"list_users", `{"active":false}`},
	{"get_user", `{"username":"maya"}`},
	{"get_current_user", `{}`},
	{"list_releases", `{"status":"planned"}`},
	{"create_release", `{"project_key":"WEB","name":"2.5.0"}`},
	{"publish_release", `{"release_id":"rel_2","force":true}`},
	{"get_release_notes", `{"release_id":"rel_1"}`},
	{"list_attachments", `{"issue_key":"WEB-3"}`},
	{"add_attachment", `{"issue_key":"WEB-3","filename":"a.log","content":"line"}`},
	{"get_attachment", `{"attachment_id":"att_1"}`},
	{"delete_attachment", `{"attachment_id":"att_1"}`},
	{"list_webhooks", `{"active":true}`},
	{"create_webhook", `{"url":"https://hooks.tracker.example/in","events":["issue.created"]}`},
	{"delete_webhook", `{"webhook_id":"wh_1"}`},
	{"list_filters", `{"shared":true}`},
	{"create_filter", `{"name":"Docs","query":"label:docs"}`},
	{"run_filter", `{"filter_id":"flt_1"}`},
	{"delete_filter", `{"filter_id":"flt_1"}`},
	{"get_sprint_report", `{"sprint_id":"spr_2"}`},
	{"get_velocity_report", `{"project_key":"WEB"}`},
	{"get_workload_report", `{"project_key":"WEB"}`},
	{"get_time_report", `{"group_by":"issue_key","project_key":"WEB"}`},
	{"start_export", `{"format":"csv","query":"project:WEB"}`},
	{"get_export", `{"export_id":"exp_1"}`},
}

// newTestServer is a server without a connection: its call method is used as
// the reader uses it.
func newTestServer(t *testing.T) *server {
	t.Helper()
	return &server{defs: definitions(), store: newStore()}
}

// call is the result of a tool as the host gets it.
func callTool(t *testing.T, s *server, name, args string) gjson.Result {
	t.Helper()
	r := &request{}
	r.Params = gjson.Parse(object("name", quote(name), "arguments", args))
	result, f := s.call(r)
	if f != nil {
		t.Fatalf("%s %s: error %d: %s", name, args, f.code, f.message)
	}
	if !gjson.Valid(result) {
		t.Fatalf("%s %s: not JSON: %s", name, args, result)
	}
	return gjson.Parse(result)
}

// value is the JSON that a tool that must not fail answers with.
func value(t *testing.T, s *server, name, args string) gjson.Result {
	t.Helper()
	result := callTool(t, s, name, args)
	if result.Get("isError").Bool() {
		t.Fatalf("%s %s: %s", name, args, result.Get("content.0.text").Str)
	}
	return gjson.Parse(result.Get("content.0.text").Str)
}

func TestEveryToolWorks(t *testing.T) {
	for _, tt := range every {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestServer(t)
			if tt.name == "get_export" {
				callTool(t, s, "start_export", `{"format":"json"}`)
			}
			result := callTool(t, s, tt.name, tt.args)
			if result.Get("isError").Bool() {
				t.Fatalf("%s: %s", tt.args, result.Get("content.0.text").Str)
			}
			if len(result.Get("content").Array()) == 0 {
				t.Errorf("%s: no content", tt.args)
			}
			out, structured := s.defs[tt.name].Get("outputSchema"), result.Get("structuredContent")
			if out.Exists() != structured.Exists() {
				t.Fatalf("outputSchema is there: %v, structuredContent: %v", out.Exists(), structured.Exists())
			}
			if err := check("structuredContent", out, structured); out.Exists() && err != nil {
				t.Errorf("does not fit the outputSchema: %v\n%s", err, structured.Raw)
			}
		})
	}
}

func TestEveryToolIsTried(t *testing.T) {
	var want, got []string
	for _, def := range gjson.Parse(toolsJSON).Array() {
		want = append(want, def.Get("name").Str)
	}
	for _, tt := range every {
		got = append(got, tt.name)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("tried: %v\nwant:  %v", got, want)
	}
	if len(tools) != len(want) {
		t.Errorf("%d tools are bound, %d are defined", len(tools), len(want))
	}
}

func TestEveryToolSaysWhatIsMissing(t *testing.T) {
	for _, tt := range every {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestServer(t)
			required := s.defs[tt.name].Get("inputSchema.required.0").Str
			args, want := `{"nosuch":1}`, `unknown "nosuch"`
			if required != "" {
				args, want = `{}`, `missing "`+required+`"`
			}
			result := callTool(t, s, tt.name, args)
			if text := result.Get("content.0.text").Str; !result.Get("isError").Bool() || !strings.Contains(text, want) {
				t.Errorf("%s: got %q, want an error with %q", args, text, want)
			}
		})
	}
}

func TestToolsChangeNothingIfTheyAreReadOnly(t *testing.T) {
	for _, tt := range every {
		s := newTestServer(t)
		readOnly := s.defs[tt.name].Get("annotations.readOnlyHint").Bool()
		if tt.name == "get_export" {
			continue // needs an export first
		}
		callTool(t, s, tt.name, tt.args)
		if changed := s.store.writes > 0; changed == readOnly {
			t.Errorf("%s: readOnlyHint %v, changed something: %v", tt.name, readOnly, changed)
		}
	}
}

func TestDefinitions(t *testing.T) {
	valid := regexp.MustCompile(`^[a-z0-9_]{1,64}$`)
	seen := map[string]bool{}
	if err := json.Unmarshal([]byte(toolsJSON), &[]map[string]any{}); err != nil {
		t.Fatalf("tools.json: %v", err)
	}
	for _, def := range gjson.Parse(toolsJSON).Array() {
		name := def.Get("name").Str
		if !valid.MatchString(name) || seen[name] {
			t.Errorf("%q: a bad name, or there twice", name)
		}
		seen[name] = true
		if len(def.Get("description").Str) < 60 {
			t.Errorf("%s: its description is not what a vendor writes", name)
		}
		schema := def.Get("inputSchema")
		if schema.Get("type").Str != "object" || schema.Get("additionalProperties").Raw != "false" {
			t.Errorf("%s: want a closed object schema", name)
		}
		for _, required := range texts(schema.Get("required")) {
			if !schema.Get("properties." + required).Exists() {
				t.Errorf("%s: requires %q, which is not a property", name, required)
			}
		}
		checkProperties(t, name, schema.Get("properties"))
	}
	if n := len(toolsJSON); n < 60_000 || n > 90_000 {
		t.Errorf("tools.json has %d bytes; want 14,000 to 20,000 tokens", n)
	}
}

// checkProperties tests that defaults and examples fit their own schemas.
func checkProperties(t *testing.T, tool string, props gjson.Result) {
	t.Helper()
	props.ForEach(func(name, prop gjson.Result) bool {
		for _, v := range append(prop.Get("examples").Array(), prop.Get("default")) {
			if err := check(name.Str, prop, v); v.Exists() && err != nil {
				t.Errorf("%s: %v", tool, err)
			}
		}
		if prop.Get("description").Str == "" {
			t.Errorf("%s: %s has no description", tool, name.Str)
		}
		return true
	})
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct{ name, tool, args, want string }{
		{"names the values of an enum", "list_sprints", `{"state":"open"}`, `state: "open" is not one of "planned", "active", "completed"`},
		{"names the type", "log_work", `{"issue_key":"WEB-3","minutes":"30"}`, `minutes: want integer, got string`},
		{"names the range", "log_work", `{"issue_key":"WEB-3","minutes":2000}`, `minutes: want a number of at most 1440, got 2000`},
		{"names the pattern and an example", "get_issue", `{"issue_key":"web3"}`, `an example: "WEB-3"`},
		{"names the tool that finds a record", "get_issue", `{"issue_key":"WEB-99"}`, `there is no issue "WEB-99"; find it with search_issues`},
		{"names the few records that there are", "get_user", `{"username":"may"}`, `there is no user "may"; there are maya, jonas, priya, tomas, lena, oskar`},
		{"checks what lists refer to", "create_issue", `{"project_key":"WEB","title":"x","labels":["docs","nope"]}`, `there is no label "nope"`},
		{"wants a date", "list_issues", `{"due_before":"tomorrow"}`, `"tomorrow" is not a date`},
		{"wants a change", "update_issue", `{"issue_key":"WEB-3"}`, `nothing to change`},
		{"follows the workflow", "transition_issue", `{"issue_key":"WEB-5","status":"in_review"}`, `cannot go from todo to in_review; possible are backlog, in_progress, done`},
		{"keeps keys unique", "create_project", `{"project_key":"WEB","name":"Again"}`, `project "WEB" exists already`},
		{"creates nothing in an archived project", "create_issue", `{"project_key":"OLD","title":"x"}`, `restore_project`},
		{"archives once", "archive_project", `{"project_key":"OLD"}`, `archived of project "OLD" is true`},
		{"starts one sprint at a time", "start_sprint", `{"sprint_id":"spr_3"}`, `sprint "spr_2" is active`},
		{"moves issues to a sprint of the same project", "complete_sprint", `{"sprint_id":"spr_2","move_unfinished_to":"spr_5"}`, `want another open sprint of project "WEB"`},
		{"publishes what is done", "publish_release", `{"release_id":"rel_2"}`, `WEB-1, WEB-3, WEB-4`},
		{"keeps subtasks", "delete_issue", `{"issue_key":"WEB-3"}`, `delete_subtasks: true`},
		{"links two issues", "link_issues", `{"issue_key":"WEB-3","target_key":"WEB-3"}`, `cannot be linked to itself`},
		{"links once", "link_issues", `{"issue_key":"WEB-11","target_key":"WEB-3","type":"blocks"}`, `exists already: lnk_1`},
		{"has no loop of parents", "update_issue", `{"issue_key":"WEB-1","parent_key":"WEB-11"}`, `cannot be above itself`},
		{"wants a parent for a subtask", "create_issue", `{"project_key":"WEB","title":"x","type":"subtask"}`, `needs a parent_key`},
		{"assigns to active users", "assign_issue", `{"issue_key":"WEB-3","assignee":"oskar"}`, `deactivated`},
		{"plans into sprints of the project", "move_issues_to_sprint", `{"issue_keys":["WEB-6"],"sprint_id":"spr_5"}`, `sprint "spr_5" belongs to project "API", not to "WEB"`},
		{"ends sprints after their start", "update_sprint", `{"sprint_id":"spr_3","end_date":"2026-03-01"}`, `before it starts on 2026-03-23`},
		{"knows the fields of a query", "search_issues", `{"query":"state:open"}`, `unknown field "state"; the fields are project`},
		{"checks a query before it is saved", "create_filter", `{"name":"x","query":"state:open"}`, `unknown field "state"`},
		{"knows its cursors", "list_issues", `{"cursor":"page2"}`, `"page2" is not the next_cursor`},
		{"wants https", "create_webhook", `{"url":"http://x.example","events":["issue.created"]}`, `does not match ^https://`},
		{"takes a value once", "create_webhook", `{"url":"https://x.example","events":["issue.created","issue.created"]}`, `is there twice`},
		{"wants an object", "list_labels", `[]`, `want object, got array`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestServer(t)
			result := callTool(t, s, tt.tool, tt.args)
			text := result.Get("content.0.text").Str
			if !result.Get("isError").Bool() || !strings.HasPrefix(text, tt.tool+": ") || !strings.Contains(text, tt.want) {
				t.Errorf("%s %s:\n got %s\nwant %s", tt.tool, tt.args, text, tt.want)
			}
			if s.store.writes > 0 || len(s.store.touched) > 0 {
				t.Errorf("%s %s: changed %v", tt.tool, tt.args, s.store.touched)
			}
		})
	}
}

func TestUnknownTool(t *testing.T) {
	r := &request{}
	r.Params = gjson.Parse(`{"name":"nosuch"}`)
	if _, f := newTestServer(t).call(r); f == nil || f.code != codeInvalidParams || !strings.Contains(f.message, "nosuch") {
		t.Errorf("got %+v, want -32602 with the name", f)
	}
}
