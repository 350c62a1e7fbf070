package catalog

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wiki is a small catalog to search in.
func wiki() *Catalog {
	c, _ := New([][]byte{page(
		`{"name":"create_page","description":"Create a page in a space."}`,
		`{"name":"getPage","title":"Read a page","description":"Returns a page with its body. Use list-spaces before."}`,
		`{"name":"list-spaces","description":"List all spaces that you can see."}`,
		`{"name":"export_csv","description":"Export a table as CSV.","inputSchema":{"properties":{`+
			`"delimiter":{"type":"string","description":"Semicolons by default."},`+
			`"columns":{"type":"array","items":{"type":"object","properties":{"heading":{"anyOf":[{"description":"Uppercase"}]}}}}}}}`,
		`{"name":"start_export","description":"Start the export of a space in the background."}`,
		`{"name":"ping"}`,
		`{"name":"pong","description":"Twin of ping."}`,
		`{"name":"twin_a","description":"Alike."}`,
		`{"name":"twin_b","description":"Alike."}`,
	)})
	return c
}

func TestSearch(t *testing.T) {
	tests := []struct {
		name, query string
		n           int
		want        []string
	}{
		{"finds words of a name before those of a description", "export", 10, []string{"export_csv", "start_export"}},
		{"finds a word of a description", "background", 10, []string{"start_export"}},
		{"finds a word of a title", "read", 10, []string{"getPage"}},
		{"finds the name of a parameter", "delimiter", 10, []string{"export_csv"}},
		{"finds what is said about a parameter", "semicolon", 10, []string{"export_csv"}},
		{"finds a parameter within a parameter", "uppercase headings", 10, []string{"export_csv"}},
		{"finds other forms of a word", "exporting spaces", 2, []string{"start_export", "export_csv"}},
		{"does not take an unknown word for a stop word", "zebra can", 10, nil},
		{"ignores stop words", "please help me with a tool for the background", 10, []string{"start_export"}},
		{"searches for stop words if there is nothing else", "you can", 10, []string{"list-spaces"}},
		{"splits identifiers in the query", "createPage", 1, []string{"create_page"}},
		{"finds the exact name first", "ping", 10, []string{"ping", "pong"}},
		{"finds the name in another case", " GETPAGE ", 1, []string{"getPage"}},
		{"keeps the catalog's order for equal scores", "alike", 10, []string{"twin_a", "twin_b"}},
		{"returns no more than asked for", "alike twin", 1, []string{"twin_a"}},
		{"returns nothing if asked for nothing", "alike", 0, nil},
		{"returns nothing if asked for less", "alike", -1, nil},
		{"finds nothing for an unknown word", "zebra", 10, nil},
		{"finds nothing for an empty query", "", 10, nil},
		{"finds nothing for signs", "?!", 10, nil},
	}
	c := wiki()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hits := c.Search(tt.query, tt.n)
			var got []string
			for i, hit := range hits {
				got = append(got, hit.Tool.Name)
				if hit.Score <= 0 || i > 0 && hit.Score > hits[i-1].Score {
					t.Errorf("Search(%q): score %g of %s after %g", tt.query, hit.Score, hit.Tool.Name, hits[max(0, i-1)].Score)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Search(%q, %d) (-want +got):\n%s", tt.query, tt.n, diff)
			}
		})
	}
}

// work are the tools of what people use at work.
func work() *Catalog {
	c, _ := New([][]byte{page(
		`{"name":"jira_create_issue","description":"Create an issue in a project."}`,
		`{"name":"jira_add_worklog","description":"Record time that was spent on an issue."}`,
		`{"name":"jira_remove_issue","description":"Move an issue to the bin."}`,
		`{"name":"keyvault_open","description":"Unseal it."}`,
		`{"name":"git_repository_list","description":"Those of a team."}`,
		`{"name":"log_in","description":"Start a session."}`,
		`{"name":"whoami","description":"The account in use."}`,
		`{"name":"who_is_it","description":"Whose face this is."}`,
		`{"name":"query","description":"Send SQL to MySQL or an S3 bucket.","inputSchema":{"properties":{"format":{"enum":["parquet","csv"]}}}}`,
		`{"name":"translate","description":"Traducir una canci\u00f3n, A\u0301RBOL."}`,
		`{"name":"weather","description":"查询今天的天气预报"}`,
		`{"name":"forecast","description":"今日はデータベースの天気予報"}`,
	)})
	return c
}

// A tool that has little of what the best one has of a query is left out.
func TestSearchLeavesOutWhatIsNotMeant(t *testing.T) {
	c := deskOf(3)
	for query, want := range map[string]string{
		"comment on a ticket":     "add_comment",
		"list the queues of open": "list_queues",
	} {
		if got := namesOf(c.Search(query, 10)); len(got) != 1 || got[0] != want {
			t.Errorf("Search(%q) = %q, want %s alone", query, got, want)
		}
	}
	if got := namesOf(c.Search("the ticket", 10)); len(got) != 7 {
		t.Errorf("tools that have the same of a query are left out: %q are left", got)
	}
}

func TestSearchByOtherWords(t *testing.T) {
	tests := []struct {
		name, query string
		want        string // the first of the tools that are found, "" for none
	}{
		{"finds one word", "worklog", "jira_add_worklog"},
		{"finds one word as two", "add work log", "jira_add_worklog"},
		{"finds words among others", "log work on an issue", "jira_add_worklog"},
		{"finds the plural", "worklogs", "jira_add_worklog"},
		{"finds two swapped letters", "worklgo", "jira_add_worklog"},
		{"finds a letter too many", "repossitory", "git_repository_list"},
		{"finds a letter too few in an identifier", "createIsue", "jira_create_issue"},
		{"finds two errors in a long word", "rpeoistory", "git_repository_list"},
		{"finds no error in a proper name", "Please Tranzlate", ""},
		{"finds no error in a short word", "whe", ""},
		{"finds a beginning", "reposit", "git_repository_list"},
		{"finds two words as one", "key vault", "keyvault_open"},
		{"finds one as two", "login", "log_in"},
		{"finds two with a stop word", "I want to log in", "log_in"},
		{"finds an abbreviation", "repos", "git_repository_list"},
		{"finds what means the same", "erase it", "jira_remove_issue"},
		{"finds what an identifier is joined of", "mysql", "query"},
		{"finds an identifier that begins with a stop word", "MySQL", "query"},
		{"finds letters and digits", "s3", "query"},
		{"finds a value of a parameter", "parquet", "query"},
		{"finds a word without its accent", "cancion", "translate"},
		{"finds an accent that is a character of its own", "árbol", "translate"},
		{"finds a word of a script without spaces", "天气", "weather"},
		{"tells such words apart by their characters' order", "天気", "forecast"},
		{"finds a word with a long vowel", "データ", "forecast"},
		{"finds a name of stop words", "who is it?", "who_is_it"},
		{"finds nothing for stop words that nobody uses", "what could you do", ""},
		{"finds nothing for another thing", "zebra crossing", ""},
	}
	c := work()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if hits := c.Search(tt.query, 3); len(hits) > 0 {
				got = hits[0].Tool.Name
			}
			if got != tt.want {
				t.Errorf("Search(%q) finds %q first, want %q", tt.query, got, tt.want)
			}
		})
	}
}

// boards are tools whose descriptions have the words that people use where their
// names have others.
func boards() *Catalog {
	c, _ := New([][]byte{page(
		`{"name":"createBoard","description":"Creates a board. List the members first."}`,
		`{"name":"deleteBoard","description":"Erases all that a board lists, for good."}`,
		`{"name":"getBoard","title":"Get a board","description":"Gets one board."}`,
		`{"name":"getBoardColumns","title":"Get a board's columns","description":"Lists the columns of a board."}`,
		`{"name":"getBoards","title":"Boards (filtered)","description":"Gets all boards that you have access to, with their owners and with what they are for."}`,
		`{"name":"getBoardsSharedByUser","description":"Lists what a user has shared of the boards."}`,
		`{"name":"getMember","description":"Gets a member of a board."}`,
		`{"name":"getMembers","description":"Gets the people who may see what is on a board, in the order in which they came."}`,
		`{"name":"getMemberRoles","description":"Lists the roles of members."}`,
		`{"name":"listMemberRequests","description":"Lists who wants to be a member."}`,
		`{"name":"updateBoard","description":"Changes a board, or what it lists."}`,
	)})
	return c
}

// A query that is a tool's name in other words finds that tool first.
func TestSearchByANameInOtherWords(t *testing.T) {
	tests := []struct{ name, query, want string }{
		{"lists by getting several", "list boards", "getBoards"},
		{"lists all", "list all boards", "getBoards"},
		{"lists mine", "list my boards", "getBoards"},
		{"shows several", "show all boards", "getBoards"},
		{"gets one", "get a board", "getBoard"},
		{"fetches one", "fetch the board", "getBoard"},
		{"fetches several", "fetch the boards", "getBoards"},
		{"lists what belongs to one", "list the columns of a board", "getBoardColumns"},
		{"prefers a name that lists", "list member requests", "listMemberRequests"},
		{"deletes", "remove a board", "deleteBoard"},
		{"updates", "edit a board", "updateBoard"},
		{"creates", "add a board", "createBoard"},
	}
	c := boards()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := namesOf(c.Search(tt.query, 3)); len(got) == 0 || got[0] != tt.want {
				t.Errorf("Search(%q) = %q, want %s first", tt.query, got, tt.want)
			}
		})
	}
}

// What people ask of real servers in two or three words is among the first three
// tools, which is how many a search shows.
func TestSearchOfRealCatalogs(t *testing.T) {
	dir := filepath.Dir(realCatalogs(t)[0])
	for server, wants := range map[string]map[string]string{
		"postman": {"list collections": "getCollections", "list all collections": "getCollections", "list my collections": "getCollections",
			"list environments": "getEnvironments", "list monitors": "getMonitors", "list mock servers": "getMocks",
			"list workspaces": "getWorkspaces", "list specs": "getAllSpecs", "list teams": "getTeams", "get a collection": "getCollection",
			"delete a collection": "deleteCollection", "list spec files": "getSpecFiles", "who am i": "getAuthenticatedUser"},
		"iterable": {"list campaigns": "get_campaigns", "list templates": "get_templates", "list snippets": "get_snippets",
			"show experiments": "list_experiments", "get a campaign": "get_campaign", "delete a snippet": "delete_snippet"},
		"plane":              {"list projects": "get_projects", "list worklogs": "get_issue_worklogs", "create a label": "create_label"},
		"backlog":            {"list users": "get_users", "list issue types": "get_issue_types", "create an issue": "add_issue"},
		"google-drive-piotr": {"list calendar events": "getCalendarEvents", "list revisions": "getRevisions", "create a folder": "createFolder"},
		"ms365":              {"show calendar events": "list-calendar-events", "list groups": "list-groups", "who is my manager": "get-my-manager"},
		"github":             {"list teams": "get_teams", "list discussion comments": "get_discussion_comments", "list issues": "list_issues"},
		"paperless":          {"show all documents": "list_documents", "get a document": "get_document", "delete a tag": "delete_tag"},
		"azure":              {"list subscriptions": "subscription_list", "list storage accounts": "storage_account_get"},
		"contentful":         {"list comments": "get_comments", "delete an asset": "delete_asset"},
		"chrome-devtools":    {"show console messages": "list_console_messages", "list pages": "list_pages"},
	} {
		c, _ := New([][]byte{read(t, filepath.Join(dir, server+".json"))})
		for query, want := range wants {
			if got := namesOf(c.Search(query, 3)); !slices.Contains(got, want) {
				t.Errorf("Search(%q) in the tools of %s = %q, want %s, too", query, server, got, want)
			}
		}
	}
}

func TestSearchByKeywords(t *testing.T) {
	c := work()
	for _, query := range []string{"stundenzettel", "Stunden buchen"} {
		if hits := c.Search(query, 3); len(hits) != 0 {
			t.Errorf("Search(%q) without keywords = %v", query, hits)
		}
	}
	with := c.WithKeywords(map[string][]string{"jira_add_worklog": {"Stundenzettel", "Stunden buchen"}, "JIRA_CREATE_ISSUE": {"Stundenzettel"}, "nosuch": {"x"}})
	for _, query := range []string{"stundenzettel", "Stunden buchen", "stunden"} {
		if hits := with.Search(query, 3); len(hits) != 1 || hits[0].Tool.Name != "jira_add_worklog" {
			t.Errorf("Search(%q) with keywords = %v", query, hits)
		}
	}
	if diff := cmp.Diff(c.Tools(), with.Tools()); diff != "" {
		t.Errorf("tools with keywords (-without +with):\n%s", diff)
	}
	if _, ok := with.Lookup("WHOAMI"); !ok {
		t.Error("a catalog with keywords does not find a name in another case")
	}
}

func TestSearchInAnEmptyCatalog(t *testing.T) {
	c, _ := New(nil)
	if hits := c.Search("anything", 10); len(hits) != 0 {
		t.Errorf("Search in an empty catalog = %v", hits)
	}
}

func TestSearchFindsANameWithoutWords(t *testing.T) {
	if hits := named("___", "a").Search("___", 10); len(hits) != 1 || hits[0].Tool.Name != "___" {
		t.Errorf(`Search("___") = %v`, hits)
	}
}

func TestSearchPutsANameFirst(t *testing.T) {
	c := bigCatalog()
	for _, tool := range c.Tools() {
		if hits := c.Search(tool.Name, 3); len(hits) == 0 || hits[0].Tool.Name != tool.Name {
			t.Fatalf("Search(%q) = %v", tool.Name, hits)
		}
	}
}

func TestSearchIsDeterministic(t *testing.T) {
	const query = "update the calendar events of a user in the pipelnie"
	c := bigCatalog()
	want := c.Search(query, 50)
	for range 5 {
		c.Search("something else", 50)
		if diff := cmp.Diff(want, c.Search(query, 50)); diff != "" {
			t.Fatalf("Search(%q) after another search (-first +now):\n%s", query, diff)
		}
		if diff := cmp.Diff(want, bigCatalog().Search(query, 50)); diff != "" {
			t.Fatalf("Search(%q) of an equal catalog (-first +now):\n%s", query, diff)
		}
	}
}

// Of tools that differ in nothing but their order, the first comes first.
func TestSearchKeepsTheOrderOfEquals(t *testing.T) {
	var tools []string
	for i := range 200 {
		tools = append(tools, fmt.Sprintf(`{"name":"t%03d","description":"Print a label."}`, i))
	}
	c, _ := New([][]byte{page(tools...)})
	for i, hit := range c.Search("printing labels", 200) {
		if want := fmt.Sprintf("t%03d", i); hit.Tool.Name != want {
			t.Fatalf("hit %d is %s, want %s", i, hit.Tool.Name, want)
		}
	}
}

func TestSearchIsBounded(t *testing.T) {
	const size = 1 << 20
	texts := map[string]string{
		"words":      strings.Repeat("word ", size/5),
		"one word":   strings.Repeat("x", size),
		"signs":      strings.Repeat("-", size),
		"characters": strings.Repeat("字", size/3),
		"possessive": strings.Repeat("'s", size/2),
	}
	schemas := map[string]string{
		"properties":   `{"properties":{` + strings.Repeat(`"_":{},`, size/7) + `"a":{}}}`,
		"nested":       strings.Repeat(`{"items":`, size/10) + `{}` + strings.Repeat(`}`, size/10),
		"alternatives": `{"anyOf":[` + strings.Repeat(`{},`, size/3) + `{}]}`,
		"no schema":    `"` + strings.Repeat("x", size) + `"`,
	}
	var tools []string
	for name, text := range texts {
		tools = append(tools, fmt.Sprintf(`{"name":%q,"title":%q,"description":%q}`, name+"_"+text, text, text))
	}
	for name, schema := range schemas {
		tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":%s}`, name, schema))
	}
	c, _ := New([][]byte{page(tools...)})
	for name, text := range texts {
		c.Search(text, 10)
		c.Nearest(text, 10)
		if hits := c.Search(name, 10); len(hits) == 0 {
			t.Errorf("Search(%q) finds nothing", name)
		}
	}
}

func TestSearchesAtOnce(t *testing.T) {
	queries := []string{"export", "exprot a table", "background", "read pages", ""}
	want := map[string][]Hit{}
	for _, query := range queries {
		want[query] = wiki().Search(query, 5)
	}
	c := wiki()
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			query := queries[i%len(queries)]
			if diff := cmp.Diff(want[query], c.Search(query, 5)); diff != "" {
				t.Errorf("Search(%q) beside others (-alone +beside):\n%s", query, diff)
			}
		})
	}
	wg.Wait()
}

// bigCatalog has as many tools as several large servers together.
func bigCatalog() *Catalog {
	c, _ := New([][]byte{pageOf(5000, 70)})
	return c
}

func TestInsert(t *testing.T) {
	all := []ranked{{5, 1}, {1, 3}, {3, 2}, {4, 3}, {0, 1}}
	for n, want := range [][]int32{nil, {1}, {1, 4}, {1, 4, 3}, {1, 4, 3, 0}, {1, 4, 3, 0, 5}, {1, 4, 3, 0, 5}} {
		var top []ranked
		var got []int32
		for _, r := range all {
			top = insert(top, r, n)
		}
		for _, r := range top {
			got = append(got, r.tool)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the first %d of %v are %v, want %v", n, all, got, want)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	c, _ := New([][]byte{large()})
	c.Search("warm", 1)
	for name, query := range map[string]string{"short": "worklog", "sentence": "export the calendar events of a user", "misspelt": "exprot the calender evetns"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Search(query, 10)
			}
		})
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("export a page", "export_page", "Export a page. As PDF.", `{"properties":{"page":{"description":"Which"}}}`)
	f.Add("", "", "\n", `{"items":{"anyOf":[{"properties":{"a":true}}]}}`)
	f.Add("the", "the", "'s ß ǅ \xff", `{"properties":[]}`)
	f.Add("log in to MySQL", "worklog_天气", "My SQL, árbol, データ. Or not", `{"properties":{"a":{"enum":["x",1]}}}`)
	f.Add("workklog keyvalut", "key_vault", "A work log", `{}`)
	f.Fuzz(func(t *testing.T, query, name, description, schema string) {
		tool := Tool{Name: name, Description: description, InputSchema: []byte(schema)}
		c := &Catalog{tools: []Tool{tool, {Name: "other"}}, exact: map[string]int{name: 0}}
		hits := c.Search(query, 2)
		if len(hits) > 2 || len(hits) == 2 && hits[1].Score > hits[0].Score || len(hits) > 0 && !(hits[len(hits)-1].Score > 0) {
			t.Errorf("Search(%q) = %v", query, hits)
		}
		c.Search(description, 2)
		if diff := cmp.Diff(hits, c.Search(query, 2)); diff != "" {
			t.Errorf("Search(%q) after another search (-first +now):\n%s", query, diff)
		}
		if hits := c.Search(name, 2); strings.TrimSpace(name) == name && (len(hits) == 0 || hits[0].Tool.Name != name) {
			t.Errorf("Search(%q), a tool's name, = %v", name, hits)
		}
	})
}
