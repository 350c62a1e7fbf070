package demo

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// keys are the keys of the issues in an answer.
func keys(v gjson.Result) string { return strings.Join(texts(v.Get("issues.#.issue_key")), " ") }

func TestSearch(t *testing.T) {
	for _, tt := range []struct{ name, query, want string }{
		{"finds words in any field", "small screens", "WEB-3 WEB-11"},
		{"finds a phrase", `"credit card"`, "WEB-5"},
		{"finds a phrase with a colon", `"mode: prices"`, "WEB-12"},
		{"compares fields", "label:payments -status:done", "WEB-5 API-6"},
		{"knows me", "assignee:me status:done", "WEB-9"},
		{"knows none", "project:WEB assignee:none", "WEB-6 WEB-8 WEB-12"},
		{"excludes words", "project:WEB type:bug -checkout -status:done", "WEB-8 WEB-5 WEB-12"},
		{"does not mind case", "PROJECT:ops PASSWORDS", "OPS-1"},
		{"leaves archived projects out", "old shop", ""},
		{"finds nothing", "zebra", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := value(t, newTestServer(t), "search_issues", object("query", quote(tt.query)))
			if keys(got) != tt.want {
				t.Errorf("%s: got %q, want %q", tt.query, keys(got), tt.want)
			}
		})
	}
}

func TestList(t *testing.T) {
	for _, tt := range []struct{ name, args, want string }{
		{"takes one of several values", `{"priority":["critical"],"status":["in_progress","in_review"]}`, "API-2 WEB-3"},
		{"wants all labels", `{"labels":["frontend","backend"]}`, "WEB-4"},
		{"takes null for nobody", `{"assignee":null,"project_key":"API"}`, "API-6"},
		{"compares days", `{"due_before":"2026-03-19","updated_after":"2026-03-13"}`, "WEB-3"},
		{"sorts by rank, empty ones last", `{"sprint_id":"spr_2","sort_by":"priority","sort_order":"desc"}`, "WEB-3 WEB-5 WEB-11 WEB-4 WEB-10"},
		{"sorts empty values last", `{"project_key":"OPS","sort_by":"due_date","sort_order":"desc"}`, "OPS-1 OPS-2 OPS-3"},
		{"shows an archived project that is named", `{"project_key":"OLD"}`, "OLD-1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := value(t, newTestServer(t), "list_issues", tt.args)
			if keys(got) != tt.want {
				t.Errorf("%s: got %q, want %q", tt.args, keys(got), tt.want)
			}
		})
	}
}

func TestPages(t *testing.T) {
	s := newTestServer(t)
	var got []string
	args := `{"limit":7,"fields":["issue_key"]}`
	for {
		page := value(t, s, "list_issues", args)
		got = append(got, texts(page.Get("issues.#.issue_key"))...)
		next := page.Get("next_cursor")
		if next.Type == gjson.Null {
			break
		}
		args = object("limit", "7", "cursor", next.Raw)
	}
	slices.Sort(got)
	if n := len(slices.Compact(got)); n != 23 {
		t.Errorf("got %d issues on all pages, want 23", n)
	}
}

func TestChangesAreSeen(t *testing.T) {
	for _, tt := range []struct {
		name             string
		calls            []string // tool, arguments, …
		tool, args, path string
		want             string
	}{
		{"counts on with a new issue", []string{"create_issue", `{"project_key":"WEB","title":"New"}`},
			"get_issue", `{"issue_key":"WEB-14"}`, "title", "New"},
		{"fills a new issue in", []string{"create_issue", `{"project_key":"WEB","title":"New"}`},
			"get_issue", `{"issue_key":"WEB-14"}`, "@this", `{"issue_key":"WEB-14","project_key":"WEB","type":"task","title":"New","description":"","status":"backlog","priority":"medium","assignee":null,"reporter":"maya","labels":[],"watchers":[],"sprint_id":null,"release_id":null,"parent_key":null,"story_points":null,"due_date":null,"resolution":null,"created_at":"2026-03-16T09:30:00Z","updated_at":"2026-03-16T09:30:00Z"}`},
		{"keeps what an update does not name", []string{"update_issue", `{"issue_key":"WEB-3","title":"Other"}`},
			"get_issue", `{"issue_key":"WEB-3"}`, "priority", "critical"},
		{"remembers changes", []string{"update_issue", `{"issue_key":"WEB-6","priority":"high"}`},
			"get_issue_history", `{"issue_key":"WEB-6"}`, "changes.0.from", "low"},
		{"moves the clock on", []string{"add_comment", `{"issue_key":"WEB-6","body":"a"}`, "add_comment", `{"issue_key":"WEB-6","body":"b"}`},
			"list_comments", `{"issue_key":"WEB-6"}`, "comments.1.created_at", "2026-03-16T09:31:00Z"},
		{"comments with a transition", []string{"transition_issue", `{"issue_key":"WEB-3","status":"done","comment":"Shipped"}`},
			"get_issue", `{"issue_key":"WEB-3","include":["comments"]}`, "comments.3.body", "Shipped"},
		{"resolves with a transition", []string{"transition_issue", `{"issue_key":"WEB-3","status":"done"}`},
			"get_issue", `{"issue_key":"WEB-3"}`, "resolution", "fixed"},
		{"opens again", []string{"transition_issue", `{"issue_key":"WEB-2","status":"todo"}`},
			"get_issue", `{"issue_key":"WEB-2"}`, "resolution", ""},
		{"deletes what belongs to an issue", []string{"delete_issue", `{"issue_key":"WEB-3","delete_subtasks":true}`},
			"get_time_report", `{"group_by":"issue_key","author":"priya"}`, "total_minutes", "600"},
		{"takes a deleted label off its issues", []string{"delete_label", `{"label":"regression"}`},
			"get_issue", `{"issue_key":"WEB-3"}`, "labels", `["frontend"]`},
		{"adds labels once", []string{"add_issue_labels", `{"issue_key":"WEB-3","labels":["docs","frontend"]}`},
			"get_issue", `{"issue_key":"WEB-3"}`, "labels", `["frontend","regression","docs"]`},
		{"removes watchers", []string{"remove_watchers", `{"issue_key":"WEB-3","watchers":["maya"]}`},
			"get_issue", `{"issue_key":"WEB-3"}`, "watchers", `["lena"]`},
		{"counts logged work", []string{"log_work", `{"issue_key":"WEB-3","minutes":45}`},
			"get_time_report", `{"author":"maya"}`, "total_minutes", "195"},
		{"moves unfinished issues", []string{"complete_sprint", `{"sprint_id":"spr_2","move_unfinished_to":"spr_3"}`},
			"get_sprint_report", `{"sprint_id":"spr_3"}`, "issues", "6"},
		{"starts the next sprint then", []string{"complete_sprint", `{"sprint_id":"spr_2"}`, "start_sprint", `{"sprint_id":"spr_3"}`},
			"list_sprints", `{"state":"active"}`, "sprints.0.sprint_id", "spr_3"},
		{"hides an archived project", []string{"archive_project", `{"project_key":"WEB"}`},
			"list_projects", `{}`, "total", "2"},
		{"brings it back", []string{"restore_project", `{"project_key":"OLD"}`},
			"list_projects", `{}`, "total", "4"},
		{"saves filters", []string{"create_filter", `{"name":"Docs","query":"label:docs"}`},
			"run_filter", `{"filter_id":"flt_4"}`, "issues.#.issue_key", `["WEB-13","API-7"]`},
		{"keeps exports", []string{"start_export", `{"format":"csv","query":"project:OPS","columns":["issue_key","title","labels"]}`},
			"get_export", `{"export_id":"exp_1"}`, "content", "issue_key,title,labels\r\nOPS-1,Rotate the database passwords,security\r\nOPS-2,Nightly backup takes longer than the night,performance\r\nOPS-3,Alarm when the queue is longer than 1000,\r\n"},
		{"measures attachments", []string{"add_attachment", `{"issue_key":"WEB-6","filename":"a b.log","content":"grün"}`},
			"list_attachments", `{"issue_key":"WEB-6"}`, "attachments.0.size_bytes", "5"},
		{"lists attachments without content", nil,
			"get_issue", `{"issue_key":"WEB-3","include":["attachments"]}`, "attachments.0.content", ""},
		{"plans many issues", []string{"move_issues_to_sprint", `{"issue_keys":["WEB-3","WEB-5"],"sprint_id":null}`},
			"get_sprint", `{"sprint_id":"spr_2","include":["issues"]}`, "issues.#.issue_key", `["WEB-4","WEB-10","WEB-11"]`},
		{"publishes", []string{"publish_release", `{"release_id":"rel_2","force":true}`},
			"list_releases", `{"status":"released"}`, "total", "2"},
		{"shows a board", []string{"transition_issue", `{"issue_key":"WEB-3","status":"in_review"}`},
			"get_board", `{"board_id":"brd_1"}`, "columns.2.issues.#.issue_key", `["WEB-3","WEB-4"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestServer(t)
			for i := 0; i < len(tt.calls); i += 2 {
				value(t, s, tt.calls[i], tt.calls[i+1])
			}
			got := value(t, s, tt.tool, tt.args)
			if text := got.Get(tt.path).String(); text != tt.want {
				t.Errorf("after %v, %s of %s %s:\n got %s\nwant %s", tt.calls, tt.path, tt.tool, tt.args, text, tt.want)
			}
		})
	}
}

func TestManyAreAllOrNone(t *testing.T) {
	s := newTestServer(t)
	result := callTool(t, s, "move_issues_to_sprint", `{"issue_keys":["WEB-6","API-6"],"sprint_id":"spr_3"}`)
	if !result.Get("isError").Bool() {
		t.Fatalf("an issue of another project was moved: %s", result.Raw)
	}
	if got := value(t, s, "get_issue", `{"issue_key":"WEB-6"}`).Get("sprint_id"); got.Type != gjson.Null {
		t.Errorf("WEB-6 was moved to %s", got.Raw)
	}
}

func TestContentOfOtherKinds(t *testing.T) {
	s := newTestServer(t)
	if got := callTool(t, s, "get_attachment", `{"attachment_id":"att_2"}`).Get("content.0.resource.uri").Str; got != "tracker://attachments/att_2/backup%20log.txt" {
		t.Errorf("attachment: got uri %q", got)
	}
	want := "# 2.3.0\n\nGuest checkout.\n\n## New\n\n- WEB-2: Buy as a guest\n\n## Fixed\n\n- WEB-9: Voucher is applied twice when the page is reloaded\n"
	if got := callTool(t, s, "get_release_notes", `{"release_id":"rel_1"}`).Get("content.0.text").Str; got != want {
		t.Errorf("release notes: got %q, want %q", got, want)
	}
}

func TestReports(t *testing.T) {
	for _, tt := range []struct{ tool, args, want string }{
		{"get_sprint_report", `{"sprint_id":"spr_2"}`, `{"sprint_id":"spr_2","name":"Sprint 7","state":"active","issues":5,"points":17,"done_issues":1,"done_points":3,"percent_done":17,"by_status":[{"status":"in_progress","issues":1,"points":3,"done_points":0},{"status":"in_review","issues":1,"points":5,"done_points":0},{"status":"todo","issues":2,"points":6,"done_points":0},{"status":"done","issues":1,"points":3,"done_points":3}],"open_issues":["WEB-3","WEB-4","WEB-5","WEB-11"]}`},
		{"get_velocity_report", `{"project_key":"WEB"}`, `{"project_key":"WEB","sprints":[{"sprint_id":"spr_1","issues":2,"points":11,"done_points":11,"name":"Sprint 6","state":"completed"},{"sprint_id":"spr_2","issues":5,"points":17,"done_points":3,"name":"Sprint 7","state":"active"}],"average_points":11.0}`},
		{"get_workload_report", `{"project_key":"API"}`, `{"rows":[{"assignee":"jonas","open_issues":2,"points":8},{"assignee":"tomas","open_issues":1,"points":5},{"assignee":null,"open_issues":1,"points":0},{"assignee":"lena","open_issues":1,"points":1}],"total_issues":5}`},
		{"get_time_report", `{"group_by":"project_key"}`, `{"group_by":"project_key","rows":[{"project_key":"WEB","minutes":1140},{"project_key":"API","minutes":300},{"project_key":"OPS","minutes":210}],"total_minutes":1650}`},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			if got := value(t, newTestServer(t), tt.tool, tt.args).Raw; got != tt.want {
				t.Errorf("%s:\n got %s\nwant %s", tt.args, got, tt.want)
			}
		})
	}
}

func TestSeedHolds(t *testing.T) {
	s := newStore()
	for i := range kinds {
		k := &kinds[i]
		for _, row := range s.rows[k.name] {
			if !gjson.Valid(row) {
				t.Fatalf("%s: not JSON: %s", k.name, row)
			}
			c := &call{store: s, kind: k, args: gjson.Parse(row), name: "get"}
			if err := c.resolve(); err != nil {
				t.Errorf("%s: %v", row, err)
			}
		}
	}
	for _, row := range s.rows["issues"] {
		if err := s.allowIssue(row, false); err != nil && get(row, "project_key").Str != "OLD" {
			t.Errorf("%s: %v", row, err)
		}
	}
	for _, row := range s.rows["attachments"] {
		if got := len(get(row, "content").Str); int64(got) != get(row, "size_bytes").Int() {
			t.Errorf("%s: has %d bytes", row, got)
		}
	}
}
