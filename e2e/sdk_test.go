package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveSDK is an upstream made with go-sdk, which speaks both eras.
func serveSDK() int {
	if err := sdkServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ServerOptions{
		Instructions:       "Greets.",
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{"Ada"}}}, nil
		},
	})
	s.AddPrompt(&mcp.Prompt{Name: "greeting", Arguments: []*mcp.PromptArgument{{Name: "name"}}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Greet " + r.Params.Arguments["name"]}}}}, nil
	})
	s.AddResource(&mcp.Resource{Name: "book", URI: "made://book"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "made://book", Text: "Once."}}}, nil
	})
	add := func(name, description string, f func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)) {
		s.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"Whom."}}}`)}, f)
	}
	add("greet", "Greets somebody by name.", greet)
	add("confirm", "Greets who the user says they are.", asks("who", &mcp.ElicitParams{Message: "Who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)}))
	add("compose", "Has a model compose a poem.", asks("poem", &mcp.CreateMessageParams{MaxTokens: 9, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "A poem."}}}}))
	add("locate", "Tells the folders that the host works in.", asks("where", &mcp.ListRootsParams{}))
	add("count", "Counts to three, and says so on the way.", count)
	add("wait", "Waits until it is cancelled.", wait)
	add("touch", "Changes the book.", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return said("touched"), s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "made://book"})
	})
	add("grow", "Adds a tool for each name.", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add("new_"+nameIn(r), "Was added.", greet)
		return said("grown"), nil
	})
	return s
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func nameIn(r *mcp.CallToolRequest) string {
	var args struct{ Name string }
	_ = json.Unmarshal(r.Params.Arguments, &args)
	return args.Name
}

func greet(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return said("Hello, " + nameIn(r)), nil
}

// asks is a tool that asks the host for something and says what it was given.
// The state it hands out must come back.
func asks(key string, request mcp.InputRequest) mcp.ToolHandler {
	return func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, ok := r.Params.InputResponses[key]
		if !ok {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{key: request}, RequestState: "state of " + key}, nil
		}
		text, err := json.Marshal(answer)
		return said(r.Params.RequestState + ": " + string(text)), err
	}
}

func count(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for i := range 3 {
		err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3})
		if err != nil {
			return nil, err
		}
		if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: fmt.Sprint("at ", i+1)}); err != nil {
			return nil, err
		}
	}
	return said("three"), nil
}

func wait(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1}); err != nil {
		return nil, err
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestSDKOnBothEnds has go-sdk's client talk to go-sdk's server. With the
// client's default version both are of the modern era.
func TestSDKOnBothEnds(t *testing.T) {
	ways(t, self(t, "sdk"), []string{"greet", "confirm"}, func(h *host) {
		if h.through {
			h.shows("greet", "confirm", "discover", "describe", "call")
			metaTools(h, "have a poem composed", "compose", "count", "Whom.")
			expect(h.t, "instructions", h.InitializeResult().Instructions, "discover", "Greets.")
		}
		if version := h.InitializeResult().ProtocolVersion; version != h.version {
			h.t.Errorf("version %s, want %s", version, h.version)
		}
		expect(h.t, "greet", h.use("greet", map[string]any{"name": "Ada"}), "Hello, Ada")
		expect(h.t, "greet through call", h.reach("greet", map[string]any{"name": "Bo"}), "Hello, Bo")
		sdkAsks(h)
		sdkRuns(h)
		sdkOther(h)
	})
}

func sdkAsks(h *host) {
	h.t.Helper()
	expect(h.t, "confirm", h.use("confirm", map[string]any{}), "state of who", "O'Neill")
	for tool, parts := range map[string][]string{
		"confirm": {"state of who", "O'Neill"},
		"compose": {"state of poem", "it's sampled"},
		"locate":  {"state of where", "file:///srv/e2e"},
	} {
		expect(h.t, tool+" through call", h.reach(tool, map[string]any{}), parts...)
	}
}

func sdkRuns(h *host) {
	h.t.Helper()
	params := h.reaching("count", map[string]any{})
	// The modern era has the level in each request, the legacy one a method.
	params.Meta = mcp.Meta{"io.modelcontextprotocol/logLevel": "debug"}
	if h.version == "2025-11-25" {
		if err := h.SetLoggingLevel(h.ctx(), &mcp.SetLoggingLevelParams{Level: "debug"}); err != nil {
			h.t.Fatal(err)
		}
	}
	params.SetProgressToken("token")
	res, err := h.CallTool(h.ctx(), params)
	expect(h.t, "count", h.text("count", res, err), "three")
	h.hears("log info at 3")

	ctx, cancel := context.WithCancel(h.ctx())
	params = h.reaching("wait", map[string]any{})
	params.SetProgressToken("left")
	done := make(chan error)
	go func() {
		_, err := h.CallTool(ctx, params)
		done <- err
	}()
	h.hears("progress left 1/")
	cancel()
	if err := <-done; err == nil {
		h.t.Error("a call that was cancelled has a result")
	}
	expect(h.t, "greet after a cancelled call", h.use("greet", map[string]any{"name": "on"}), "Hello, on")
}

func sdkOther(h *host) {
	h.t.Helper()
	ctx := h.ctx()
	must := func(what string, err error) {
		h.t.Helper()
		if err != nil {
			h.t.Fatalf("%s: %v", what, err)
		}
	}
	prompts, err := h.ListPrompts(ctx, nil)
	must("list prompts", err)
	resources, err := h.ListResources(ctx, nil)
	must("list resources", err)
	if len(prompts.Prompts) != 1 || len(resources.Resources) != 1 {
		h.t.Errorf("%d prompts and %d resources, want one of each", len(prompts.Prompts), len(resources.Resources))
	}
	prompt, err := h.GetPrompt(ctx, &mcp.GetPromptParams{Name: "greeting", Arguments: map[string]string{"name": "Ada"}})
	must("get prompt", err)
	expect(h.t, "greeting", prompt.Messages[0].Content.(*mcp.TextContent).Text, "Greet Ada")
	complete, err := h.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "greeting"}, Argument: mcp.CompleteParamsArgument{Name: "name"}})
	must("complete", err)
	if !slices.Equal(complete.Completion.Values, []string{"Ada"}) {
		h.t.Errorf("completions: %q", complete.Completion.Values)
	}
	read, err := h.ReadResource(ctx, &mcp.ReadResourceParams{URI: "made://book"})
	must("read resource", err)
	expect(h.t, "book", read.Contents[0].Text, "Once.")

	must("subscribe", h.Subscribe(ctx, &mcp.SubscribeParams{URI: "made://book"}))
	// The SDK's Subscribe returns before its server has heard of it.
	h.hearsAfter("updated made://book", func() { h.reach("touch", map[string]any{}) })
	must("unsubscribe", h.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: "made://book"}))
}

// TestToolsThatComeLater has the upstream add tools while it runs. A host is
// told only if its surface has another tool then, and finds the others.
func TestToolsThatComeLater(t *testing.T) {
	for _, era := range eras {
		w := newWorld(t)
		for _, state := range []string{"cold", "warm"} {
			t.Run(era.name+" "+state, func(t *testing.T) {
				h := connect(t, w.serve(t, self(t, "sdk"), "greet", "new_used*"), era.version, true)
				if state == "warm" { // what was added last time is in the cache, and gone once the upstream is asked
					h.shows("greet", "new_used", "discover", "describe", "call")
					h.use("greet", map[string]any{"name": "Ada"})
					h.hears("tools changed")
				}
				h.shows("greet", "discover", "describe", "call")
				h.reach("grow", map[string]any{"name": "hidden"})
				eventually(t, "new_hidden in discover", func() bool { // which asks so often that it is told to stop
					res, err := h.CallTool(h.ctx(), &mcp.CallToolParams{Name: "discover", Arguments: map[string]any{"query": "hidden, new"}})
					if err != nil || len(res.Content) == 0 {
						return false
					}
					said, ok := res.Content[0].(*mcp.TextContent)
					return ok && strings.Contains(said.Text, "new_hidden(")
				})
				h.reach("grow", map[string]any{"name": "used"})
				h.hears("tools changed")
				h.shows("greet", "new_used", "discover", "describe", "call")
				expect(t, "new_used", h.use("new_used", map[string]any{"name": "Ada"}), "Hello, Ada")
				expect(t, "new_hidden through call", h.reach("new_hidden", map[string]any{"name": "Bo"}), "Hello, Bo")
			})
		}
	}
}
