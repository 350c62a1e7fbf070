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
	ways(t, self(t, "sdk"), []string{"greet", "confirm"}, func(g *guest) {
		if g.through {
			g.shows("greet", "confirm", "discover", "describe", "call")
			metaTools(g, "have a poem composed", "compose", "count", "Whom.")
			expect(g.t, "instructions", g.InitializeResult().Instructions, "discover", "Greets.")
		}
		if version := g.InitializeResult().ProtocolVersion; version != g.version {
			g.t.Errorf("version %s, want %s", version, g.version)
		}
		expect(g.t, "greet", g.use("greet", map[string]any{"name": "Ada"}), "Hello, Ada")
		expect(g.t, "greet through call", g.reach("greet", map[string]any{"name": "Bo"}), "Hello, Bo")
		sdkAsks(g)
		sdkRuns(g)
		sdkOther(g)
	})
}

func sdkAsks(g *guest) {
	g.t.Helper()
	expect(g.t, "confirm", g.use("confirm", map[string]any{}), "state of who", "O'Neill")
	for tool, parts := range map[string][]string{
		"confirm": {"state of who", "O'Neill"},
		"compose": {"state of poem", "it's sampled"},
		"locate":  {"state of where", "file:///srv/e2e"},
	} {
		expect(g.t, tool+" through call", g.reach(tool, map[string]any{}), parts...)
	}
}

func sdkRuns(g *guest) {
	g.t.Helper()
	params := g.reaching("count", map[string]any{})
	// The modern era has the level in each request, the legacy one a method.
	params.Meta = mcp.Meta{"io.modelcontextprotocol/logLevel": "debug"}
	if g.version == "2025-11-25" {
		if err := g.SetLoggingLevel(g.ctx(), &mcp.SetLoggingLevelParams{Level: "debug"}); err != nil {
			g.t.Fatal(err)
		}
	}
	params.SetProgressToken("token")
	res, err := g.CallTool(g.ctx(), params)
	expect(g.t, "count", g.text("count", res, err), "three")
	g.hears("log info at 3")

	ctx, cancel := context.WithCancel(g.ctx())
	params = g.reaching("wait", map[string]any{})
	params.SetProgressToken("left")
	done := make(chan error)
	go func() {
		_, err := g.CallTool(ctx, params)
		done <- err
	}()
	g.hears("progress left 1/")
	cancel()
	if err := <-done; err == nil {
		g.t.Error("a call that was cancelled has a result")
	}
	expect(g.t, "greet after a cancelled call", g.use("greet", map[string]any{"name": "on"}), "Hello, on")
}

func sdkOther(g *guest) {
	g.t.Helper()
	ctx := g.ctx()
	must := func(what string, err error) {
		g.t.Helper()
		if err != nil {
			g.t.Fatalf("%s: %v", what, err)
		}
	}
	prompts, err := g.ListPrompts(ctx, nil)
	must("list prompts", err)
	resources, err := g.ListResources(ctx, nil)
	must("list resources", err)
	if len(prompts.Prompts) != 1 || len(resources.Resources) != 1 {
		g.t.Errorf("%d prompts and %d resources, want one of each", len(prompts.Prompts), len(resources.Resources))
	}
	prompt, err := g.GetPrompt(ctx, &mcp.GetPromptParams{Name: "greeting", Arguments: map[string]string{"name": "Ada"}})
	must("get prompt", err)
	expect(g.t, "greeting", prompt.Messages[0].Content.(*mcp.TextContent).Text, "Greet Ada")
	complete, err := g.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "greeting"}, Argument: mcp.CompleteParamsArgument{Name: "name"}})
	must("complete", err)
	if !slices.Equal(complete.Completion.Values, []string{"Ada"}) {
		g.t.Errorf("completions: %q", complete.Completion.Values)
	}
	read, err := g.ReadResource(ctx, &mcp.ReadResourceParams{URI: "made://book"})
	must("read resource", err)
	expect(g.t, "book", read.Contents[0].Text, "Once.")

	must("subscribe", g.Subscribe(ctx, &mcp.SubscribeParams{URI: "made://book"}))
	g.reach("touch", map[string]any{})
	g.hears("updated made://book")
	must("unsubscribe", g.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: "made://book"}))
}

// TestToolsThatComeLater has the upstream add tools while it runs. A host is
// told only if its surface has another tool then, and finds the others.
func TestToolsThatComeLater(t *testing.T) {
	for _, era := range eras {
		w := newWorld(t)
		for _, state := range []string{"cold", "warm"} {
			t.Run(era.name+" "+state, func(t *testing.T) {
				g := connect(t, w.serve(t, self(t, "sdk"), "greet", "new_used*"), era.version, true)
				if state == "warm" { // what was added last time is in the cache, and gone once the upstream is asked
					g.shows("greet", "new_used", "discover", "describe", "call")
					g.use("greet", map[string]any{"name": "Ada"})
					g.hears("tools changed")
				}
				g.shows("greet", "discover", "describe", "call")
				g.reach("grow", map[string]any{"name": "hidden"})
				eventually(t, "new_hidden in discover", func() bool {
					return strings.Contains(g.use("discover", map[string]any{"query": "hidden, new"}), "new_hidden(")
				})
				g.reach("grow", map[string]any{"name": "used"})
				g.hears("tools changed")
				g.shows("greet", "new_used", "discover", "describe", "call")
				expect(t, "new_used", g.use("new_used", map[string]any{"name": "Ada"}), "Hello, Ada")
				expect(t, "new_hidden through call", g.reach("new_hidden", map[string]any{"name": "Bo"}), "Hello, Bo")
			})
		}
	}
}
