package catalog

import "testing"

// inbox are tools that a question may be about, those that write first.
func inbox() *Catalog {
	c, _ := New([][]byte{page(
		`{"name":"reset_unread_message_count","description":"Reset the number of unread messages."}`,
		`{"name":"delete-calendar","description":"Delete a calendar."}`,
		`{"name":"get-calendar-view","description":"Events of a calendar between two dates."}`,
		`{"name":"count_messages","description":"Number of messages, also of unread ones."}`,
		`{"name":"label_write","description":"Create, change or delete a label."}`,
		`{"name":"label","description":"All about a label.","annotations":{"readOnlyHint":true}}`,
		`{"name":"read_file","description":"Read a file as text. DEPRECATED: Use read_text_file instead."}`,
		`{"name":"read_text_file","description":"Read a file as text."}`,
		`{"name":"close_case","description":"Close a case."}`,
		`{"name":"list_cases","description":"All open cases."}`,
		`{"name":"update_cycle","description":"Change a cycle."}`,
		`{"name":"list_cycles","description":"All cycles."}`,
		`{"name":"get_me","description":"Profile of the account in use."}`,
		`{"name":"wit_work_item_write","description":"Change one."}`,
	)})
	return c
}

func TestSearchPrefersWhatIsAskedFor(t *testing.T) {
	tests := []struct{ name, query, want string }{
		{"reads for a question", "how many unread messages do I have?", "count_messages"},
		{"reads for one without its mark", "what's on my calendar tomorrow", "get-calendar-view"},
		{"reads where only a thing is named", "sprint", "list_cycles"},
		{"believes an annotation", "which label is this?", "label"},
		{"writes where a verb says so", "how do I delete a calendar?", "delete-calendar"},
		{"writes for a polite order", "could you close the case?", "close_case"},
		{"takes no adjective for an order", "which cases are open?", "list_cases"},
		{"has a tool that is out of use after its like", "read a file", "read_text_file"},
		{"has it first by its name", "read_file", "read_file"},
	}
	c := inbox()
	for _, tt := range tests {
		if got := namesOf(c.Search(tt.query, 3)); len(got) == 0 || got[0] != tt.want {
			t.Errorf("a search that %s: %q finds %q, want %s first", tt.name, tt.query, got, tt.want)
		}
	}
}

func TestGetsMany(t *testing.T) {
	b := indexBuilder{reader: wordReader{search: true}}
	for name, want := range map[string]bool{"getAllIssues": true, "issues_get": true, "get_issues_by_user": true, "acme_fetch_pull_requests": true,
		"getIssue": false, "get_issue_by_labels": false, "issues": false, "mark_issues_read": false, "get": false, "get_status": false} {
		if got := b.getsMany(name); got != want {
			t.Errorf("getsMany(%q) = %t, want %t", name, got, want)
		}
	}
}

func TestSearchKnowsIdioms(t *testing.T) {
	tests := []struct{ name, query, want string }{
		{"takes stop words together", "who am I", "get_me"},
		{"takes them for one word", "whoami", "get_me"},
		{"takes other words for it", "show my profile", "get_me"},
		{"takes a pronoun that is all", "me", "get_me"},
		{"takes one word for two", "bug", "wit_work_item_write"},
		{"takes one thing for another that is called so", "what is left in this iteration?", "list_cycles"},
		{"takes a verb for what does that among other things", "close the cycle", "update_cycle"},
	}
	c := inbox()
	for _, tt := range tests {
		if got := namesOf(c.Search(tt.query, 3)); len(got) == 0 || got[0] != tt.want {
			t.Errorf("a search that %s: %q finds %q, want %s first", tt.name, tt.query, got, tt.want)
		}
	}
	if got := namesOf(c.Search("give me the cases of my account", 3)); len(got) == 0 || got[0] == "get_me" {
		t.Errorf("a pronoun among other words finds %q", got)
	}
}

func TestSearchJoinsAtAHyphen(t *testing.T) {
	c := named("add_todo", "insert_range", "list_check_ins")
	for query, want := range map[string]string{"add a to-do": "add_todo", "my to-dos": "add_todo", "check-ins": "list_check_ins"} {
		if got := namesOf(c.Search(query, 3)); len(got) == 0 || got[0] != want {
			t.Errorf("Search(%q) = %q, want %s first", query, got, want)
		}
	}
	if got := namesOf(c.Search("what to do", 3)); len(got) != 0 {
		t.Errorf("what to do finds %q", got)
	}
}
