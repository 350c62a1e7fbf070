package e2e

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestEverything(t *testing.T) {
	ways(t, everything(t), []string{"echo", "get-*"}, func(g *guest) {
		if g.through {
			g.shows("echo", "get-annotated-message", "get-env", "get-resource-links", "get-resource-reference",
				"get-structured-content", "get-sum", "get-tiny-image", "get-roots-list", "discover", "describe", "call")
			metaTools(g, "switch the simulated log messages on", "toggle-simulated-logging", "trigger-sampling-request", "maxTokens")
			expect(g.t, "instructions", g.InitializeResult().Instructions, "discover", "Everything Server")
		}
		everythingTools(g)
		everythingAsks(g)
		everythingRuns(g)
		everythingOther(g)
	})
}

// metaTools finds a hidden tool by what it does, and reads what a parameter of
// another one is.
func metaTools(g *guest, query, found, described, part string) {
	g.t.Helper()
	expect(g.t, "discover "+query, g.use("discover", map[string]any{"query": query}), found)
	expect(g.t, "describe "+described, g.use("describe", map[string]any{"tool": described}), described, part)
	res, err := g.CallTool(g.ctx(), g.reaching("no-such-tool", map[string]any{}))
	if err != nil {
		g.t.Fatal(err)
	}
	if !res.IsError {
		g.t.Error("call no-such-tool: no error result")
	}
	expect(g.t, "refusal", texts(res), "no-such-tool", "No result was obtained")
}

func everythingTools(g *guest) {
	g.t.Helper()
	expect(g.t, "echo", g.use("echo", map[string]any{"message": "it's me"}), "Echo: it's me")
	expect(g.t, "get-sum", g.use("get-sum", map[string]any{"a": 1.5, "b": 2}), "3.5")
	expect(g.t, "get-sum through call", g.reach("get-sum", map[string]any{"a": 1, "b": 2}), "is 3")
	res, err := g.CallTool(g.ctx(), &mcp.CallToolParams{Name: "get-structured-content", Arguments: map[string]any{"location": "New York"}})
	if err != nil {
		g.t.Fatal(err)
	}
	if structured, ok := res.StructuredContent.(map[string]any); !ok || structured["conditions"] != "Cloudy" {
		g.t.Errorf("structured content: %v", res.StructuredContent)
	}
	if _, err := g.CallTool(g.ctx(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{}}); err != nil {
		g.t.Errorf("echo without its argument: %v, want a result that is an error", err)
	}
	// A name that no catalog has: the upstream itself answers.
	res, err = g.CallTool(g.ctx(), &mcp.CallToolParams{Name: "no-such-tool"})
	if err != nil || !strings.Contains(texts(res), "Tool no-such-tool not found") {
		g.t.Errorf("no-such-tool: %v, %v", res, err)
	}
}

// everythingAsks runs the tools that ask the host for something.
func everythingAsks(g *guest) {
	g.t.Helper()
	g.hears("log info Roots updated: 1") // sent once the server has got our roots
	expect(g.t, "roots", g.use("get-roots-list", map[string]any{}), "file:///srv/e2e")
	expect(g.t, "sampling", g.reach("trigger-sampling-request", map[string]any{"prompt": "hi"}), "it's sampled")
	expect(g.t, "elicitation", g.reach("trigger-elicitation-request", map[string]any{}), "O'Neill")
}

// everythingRuns follows a tool that takes its time, and leaves one.
func everythingRuns(g *guest) {
	g.t.Helper()
	params := g.reaching("trigger-long-running-operation", map[string]any{"duration": 0.2, "steps": 4})
	params.SetProgressToken("token")
	res, err := g.CallTool(g.ctx(), params)
	expect(g.t, "long run", g.text("trigger-long-running-operation", res, err), "Steps: 4")
	g.hears("progress token 4/4")

	ctx, cancel := context.WithCancel(g.ctx())
	params = g.reaching("trigger-long-running-operation", map[string]any{"duration": 2, "steps": 100})
	params.SetProgressToken("left")
	done := make(chan error)
	go func() {
		_, err := g.CallTool(ctx, params)
		done <- err
	}()
	g.hears("progress left 1/100")
	cancel()
	if err := <-done; err == nil {
		g.t.Error("a call that was cancelled has a result")
	}
	expect(g.t, "echo after a cancelled call", g.use("echo", map[string]any{"message": "on"}), "Echo: on")
}

// everythingOther uses all that is no tool.
func everythingOther(g *guest) {
	g.t.Helper()
	ctx := g.ctx()
	must := func(what string, err error) {
		g.t.Helper()
		if err != nil {
			g.t.Fatalf("%s: %v", what, err)
		}
	}
	must("ping", g.Ping(ctx, nil))

	prompts, err := g.ListPrompts(ctx, nil)
	must("list prompts", err)
	if len(prompts.Prompts) != 4 {
		g.t.Errorf("%d prompts, want 4", len(prompts.Prompts))
	}
	prompt, err := g.GetPrompt(ctx, &mcp.GetPromptParams{Name: "args-prompt", Arguments: map[string]string{"city": "Paris"}})
	must("get prompt", err)
	expect(g.t, "args-prompt", prompt.Messages[0].Content.(*mcp.TextContent).Text, "Paris")
	complete, err := g.Complete(ctx, &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "completable-prompt"},
		Argument: mcp.CompleteParamsArgument{Name: "department", Value: "E"},
	})
	must("complete", err)
	if !slices.Equal(complete.Completion.Values, []string{"Engineering"}) {
		g.t.Errorf("completions: %q", complete.Completion.Values)
	}

	resources, err := g.ListResources(ctx, nil)
	must("list resources", err)
	templates, err := g.ListResourceTemplates(ctx, nil)
	must("list resource templates", err)
	if len(resources.Resources) != 7 || len(templates.ResourceTemplates) != 2 {
		g.t.Errorf("%d resources and %d templates, want 7 and 2", len(resources.Resources), len(templates.ResourceTemplates))
	}
	uri := resources.Resources[0].URI
	read, err := g.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	must("read resource", err)
	expect(g.t, uri, read.Contents[0].Text, "# Everything Server")
	_, err = g.ReadResource(ctx, &mcp.ReadResourceParams{URI: "demo://resource/dynamic/text/7"})
	must("read a resource made from a template", err)

	must("subscribe", g.Subscribe(ctx, &mcp.SubscribeParams{URI: uri}))
	g.reach("toggle-subscriber-updates", map[string]any{})
	g.hears("updated " + uri)
	g.reach("toggle-subscriber-updates", map[string]any{})
	must("unsubscribe", g.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: uri}))

	must("set level", g.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "debug"}))
	g.reach("toggle-simulated-logging", map[string]any{})
	g.hears("log ")
	g.reach("toggle-simulated-logging", map[string]any{})
}

func TestFilesystem(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "a.txt")
	ways(t, filesystem(t, dir), []string{"read_text_file", "write_*"}, func(g *guest) {
		if g.through {
			g.shows("read_text_file", "write_file", "discover", "describe", "call")
			metaTools(g, "look for files by their name", "search_files", "edit_file", "oldText")
		}
		g.use("write_file", map[string]any{"path": file, "content": "it's here"})
		expect(g.t, "read_text_file", g.use("read_text_file", map[string]any{"path": file}), "it's here")
		expect(g.t, "search_files", g.reach("search_files", map[string]any{"path": dir, "pattern": "*.txt"}), "a.txt")
		expect(g.t, "list_directory", g.use("list_directory", map[string]any{"path": dir}), "a.txt")
	})
}

func TestMemory(t *testing.T) {
	ways(t, memory(t, filepath.Join(t.TempDir(), "memory.jsonl")), []string{"read_graph"}, func(g *guest) {
		if g.through {
			g.shows("read_graph", "discover", "describe", "call")
			metaTools(g, "add new entities to the graph", "create_entities", "create_relations", "relationType")
		}
		g.reach("create_entities", map[string]any{"entities": []any{map[string]any{"name": "O'Neill", "entityType": "person", "observations": []any{"likes tea"}}}})
		expect(g.t, "read_graph", g.use("read_graph", map[string]any{}), "O'Neill")
		expect(g.t, "search_nodes", g.reach("search_nodes", map[string]any{"query": "tea"}), "O'Neill")
	})
}

func TestPostman(t *testing.T) {
	var whole int
	ways(t, postman(t, vendor(t)), []string{"getWorkspaces", "getCollection", "createMock*"}, func(g *guest) {
		tools := g.tools()
		list, err := json.Marshal(tools)
		if err != nil {
			g.t.Fatal(err)
		}
		if !g.through {
			whole = len(list)
			if len(tools) != 204 {
				g.t.Errorf("%d tools, want 204", len(tools))
			}
		} else {
			g.shows("getWorkspaces", "getCollection", "createMock", "createMockServerResponse", "discover", "describe", "call")
			if len(list)*10 > whole {
				g.t.Errorf("the surface takes %d bytes, more than a tenth of the %d of the whole list", len(list), whole)
			}
			metaTools(g, "publish the documentation of a collection", "publishDocumentation", "createWorkspace", "personal")
		}
		expect(g.t, "getWorkspaces", g.use("getWorkspaces", map[string]any{"limit": 2}), "# Workspaces")
		expect(g.t, "createWorkspace", g.reach("createWorkspace", map[string]any{"workspace": map[string]any{"name": "w", "type": "personal"}}), "POST /workspaces")
		expect(g.t, "getCollection", g.use("getCollection", map[string]any{"collectionId": "11111111-2222-3333-4444-555555555555"}), "GET /collections/11111111")
	})
}
