package demo_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-facade/facade/demo"
)

// session is a client of the SDK that speaks the version with Serve.
func session(t *testing.T, version string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- demo.Serve(inR, outW)
		outW.Close()
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts)
	cs, err := client.Connect(ctx, &mcp.IOTransport{Reader: outR, Writer: inW}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connect with %s: %v", version, err)
	}
	t.Cleanup(func() {
		cs.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return cs
}

var eras = []struct{ name, version string }{
	{"legacy", "2025-11-25"},
	{"old", "2024-11-05"},
	{"modern", "2026-07-28"},
}

func TestSDKClient(t *testing.T) {
	for _, era := range eras {
		t.Run(era.name, func(t *testing.T) {
			progress := make(chan float64, 10)
			cs := session(t, era.version, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					progress <- r.Params.Progress
				},
			})
			init := cs.InitializeResult()
			if init.ProtocolVersion != era.version || init.ServerInfo == nil || init.ServerInfo.Name != "tracker" {
				t.Errorf("initialized as %+v", init)
			}
			if n := len(init.Instructions); n < 700 || n > 1100 {
				t.Errorf("instructions have %d characters", n)
			}
			listsEverything(t, cs)
			callsWhatAHostCalls(t, cs)
			export := &mcp.CallToolParams{Name: "start_export", Arguments: map[string]any{"format": "json"}}
			export.SetProgressToken("p")
			call(t, cs, export)
			for want := 1.0; want <= 5; want++ {
				if got := <-progress; got != want {
					t.Errorf("progress %v, want %v", got, want)
				}
			}
		})
	}
}

func listsEverything(t *testing.T, cs *mcp.ClientSession) {
	t.Helper()
	tools, err := cs.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 66 || tools.NextCursor != "" {
		t.Fatalf("tools/list: %d tools, %v; want 66 on one page", len(tools.Tools), err)
	}
	prompts, err := cs.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) != 2 {
		t.Errorf("prompts/list: %v, %v; want two", prompts, err)
	}
	resources, err := cs.ListResources(t.Context(), nil)
	if err != nil || len(resources.Resources) != 4 {
		t.Errorf("resources/list: %v, %v; want four", resources, err)
	}
	templates, err := cs.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 2 {
		t.Errorf("resources/templates/list: %v, %v; want two", templates, err)
	}
}

func callsWhatAHostCalls(t *testing.T, cs *mcp.ClientSession) {
	t.Helper()
	type args = map[string]any
	for _, tt := range []struct {
		tool string
		args args
		want string
	}{
		{"get_current_user", nil, `"username":"maya"`},
		{"list_projects", args{}, `"total":3`},
		{"search_issues", args{"query": "checkout button"}, `"issue_key":"WEB-3"`},
		{"create_issue", args{"project_key": "WEB", "title": "Print the receipt", "story_points": 3}, `"issue_key":"WEB-14"`},
		{"update_issue", args{"issue_key": "WEB-14", "priority": "high"}, `"priority":"high"`},
		{"transition_issue", args{"issue_key": "WEB-14", "status": "todo"}, `"status":"todo"`},
		{"add_comment", args{"issue_key": "WEB-14", "body": "On A6 paper"}, `"comment_id":"cmt_8"`},
		{"log_work", args{"issue_key": "WEB-14", "minutes": 15}, `"worklog_id":"wl_9"`},
		{"move_issues_to_sprint", args{"issue_keys": []string{"WEB-14"}, "sprint_id": "spr_2"}, `"changed":["WEB-14"]`},
		{"get_sprint_report", args{"sprint_id": "spr_2"}, `"points":20`},
		{"get_issue", args{"issue_key": "WEB-14", "include": []string{"comments"}}, `"body":"On A6 paper"`},
		{"delete_issue", args{"issue_key": "WEB-14"}, `"deleted":["WEB-14"]`},
	} {
		if got := call(t, cs, &mcp.CallToolParams{Name: tt.tool, Arguments: tt.args}); !strings.Contains(got, tt.want) {
			t.Errorf("%s %v: got %s, want %s in it", tt.tool, tt.args, got, tt.want)
		}
	}
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_issue", Arguments: args{"issue_key": "WEB-14"}})
	if err != nil || !res.IsError {
		t.Errorf("get_issue of a deleted issue: %+v, %v; want isError", res, err)
	}
}

// call is the text of a result that must not be an error.
func call(t *testing.T, cs *mcp.ClientSession, params *mcp.CallToolParams) string {
	t.Helper()
	res, err := cs.CallTool(t.Context(), params)
	if err != nil {
		t.Fatalf("%s: %v", params.Name, err)
	}
	text, ok := res.Content[0].(*mcp.TextContent)
	if !ok || res.IsError {
		t.Fatalf("%s: %+v", params.Name, res.Content[0])
	}
	return text.Text
}

func TestSDKReadsAndCompletes(t *testing.T) {
	for _, era := range eras {
		t.Run(era.name, func(t *testing.T) {
			cs := session(t, era.version, nil)
			read, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "tracker://issues/WEB-3"})
			if err != nil || !strings.Contains(read.Contents[0].Text, `"comment_id":"cmt_1"`) {
				t.Errorf("resources/read: %+v, %v", read, err)
			}
			prompt, err := cs.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "triage_issue", Arguments: map[string]string{"issue_key": "WEB-3"}})
			if err != nil || len(prompt.Messages) != 1 {
				t.Errorf("prompts/get: %+v, %v", prompt, err)
			}
			done, err := cs.Complete(t.Context(), &mcp.CompleteParams{
				Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "plan_sprint"},
				Argument: mcp.CompleteParamsArgument{Name: "project_key", Value: "w"},
			})
			if err != nil || !slices.Equal(done.Completion.Values, []string{"WEB"}) {
				t.Errorf("completion/complete: %+v, %v", done, err)
			}
		})
	}
}

func TestSDKHearsOfChanges(t *testing.T) {
	for _, era := range eras {
		t.Run(era.name, func(t *testing.T) {
			updated := make(chan string, 1)
			cs := session(t, era.version, &mcp.ClientOptions{
				ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
					updated <- r.Params.URI
				},
			})
			const uri = "tracker://issues/WEB-6"
			if err := cs.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
				t.Fatalf("subscribe: %v", err)
			}
			call(t, cs, &mcp.CallToolParams{Name: "assign_issue", Arguments: map[string]any{"issue_key": "WEB-6", "assignee": "maya"}})
			if got := <-updated; got != uri {
				t.Errorf("heard of %q, want %q", got, uri)
			}
		})
	}
}
