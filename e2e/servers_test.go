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
	ways(t, everything(t), []string{"echo", "get-*"}, func(h *host) {
		if h.through {
			h.shows("echo", "get-annotated-message", "get-env", "get-resource-links", "get-resource-reference",
				"get-structured-content", "get-sum", "get-tiny-image", "get-roots-list", "discover", "describe", "call")
			metaTools(h, "switch the simulated log messages on", "toggle-simulated-logging", "trigger-sampling-request", "maxTokens")
			expect(h.t, "instructions", h.InitializeResult().Instructions, "discover", "Everything Server")
		}
		everythingTools(h)
		everythingAsks(h)
		everythingRuns(h)
		everythingOther(h)
	})
}

// metaTools finds a hidden tool by what it does, and reads what a parameter of
// another one is.
func metaTools(h *host, query, found, described, part string) {
	h.t.Helper()
	expect(h.t, "discover "+query, h.use("discover", map[string]any{"query": query}), found)
	expect(h.t, "describe "+described, h.use("describe", map[string]any{"tool": described}), described, part)
	res, err := h.CallTool(h.ctx(), h.reaching("no-such-tool", map[string]any{}))
	if err != nil {
		h.t.Fatal(err)
	}
	if !res.IsError {
		h.t.Error("call no-such-tool: no error result")
	}
	expect(h.t, "refusal", texts(res), "no-such-tool", "No result was obtained")
}

func everythingTools(h *host) {
	h.t.Helper()
	expect(h.t, "echo", h.use("echo", map[string]any{"message": "it's me"}), "Echo: it's me")
	expect(h.t, "get-sum", h.use("get-sum", map[string]any{"a": 1.5, "b": 2}), "3.5")
	expect(h.t, "get-sum through call", h.reach("get-sum", map[string]any{"a": 1, "b": 2}), "is 3")
	res, err := h.CallTool(h.ctx(), &mcp.CallToolParams{Name: "get-structured-content", Arguments: map[string]any{"location": "New York"}})
	if err != nil {
		h.t.Fatal(err)
	}
	if structured, ok := res.StructuredContent.(map[string]any); !ok || structured["conditions"] != "Cloudy" {
		h.t.Errorf("structured content: %v", res.StructuredContent)
	}
	if _, err := h.CallTool(h.ctx(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{}}); err != nil {
		h.t.Errorf("echo without its argument: %v, want a result that is an error", err)
	}
	// A name that no catalog has: the upstream itself answers.
	res, err = h.CallTool(h.ctx(), &mcp.CallToolParams{Name: "no-such-tool"})
	if err != nil || !strings.Contains(texts(res), "Tool no-such-tool not found") {
		h.t.Errorf("no-such-tool: %v, %v", res, err)
	}
}

// everythingAsks runs the tools that ask the host for something.
func everythingAsks(h *host) {
	h.t.Helper()
	h.hears("log info Roots updated: 1") // sent once the server has got our roots
	expect(h.t, "roots", h.use("get-roots-list", map[string]any{}), "file:///srv/e2e")
	expect(h.t, "sampling", h.reach("trigger-sampling-request", map[string]any{"prompt": "hi"}), "it's sampled")
	expect(h.t, "elicitation", h.reach("trigger-elicitation-request", map[string]any{}), "O'Neill")
}

// everythingRuns follows a tool that takes its time, and leaves one.
func everythingRuns(h *host) {
	h.t.Helper()
	params := h.reaching("trigger-long-running-operation", map[string]any{"duration": 0.2, "steps": 4})
	params.SetProgressToken("token")
	res, err := h.CallTool(h.ctx(), params)
	expect(h.t, "long run", h.text("trigger-long-running-operation", res, err), "Steps: 4")
	h.hears("progress token 4/4")

	ctx, cancel := context.WithCancel(h.ctx())
	params = h.reaching("trigger-long-running-operation", map[string]any{"duration": 2, "steps": 100})
	params.SetProgressToken("left")
	done := make(chan error)
	go func() {
		_, err := h.CallTool(ctx, params)
		done <- err
	}()
	h.hears("progress left 1/100")
	cancel()
	if err := <-done; err == nil {
		h.t.Error("a call that was cancelled has a result")
	}
	expect(h.t, "echo after a cancelled call", h.use("echo", map[string]any{"message": "on"}), "Echo: on")
}

// everythingOther uses all that is no tool.
func everythingOther(h *host) {
	h.t.Helper()
	ctx := h.ctx()
	must := func(what string, err error) {
		h.t.Helper()
		if err != nil {
			h.t.Fatalf("%s: %v", what, err)
		}
	}
	must("ping", h.Ping(ctx, nil))

	prompts, err := h.ListPrompts(ctx, nil)
	must("list prompts", err)
	if len(prompts.Prompts) != 4 {
		h.t.Errorf("%d prompts, want 4", len(prompts.Prompts))
	}
	prompt, err := h.GetPrompt(ctx, &mcp.GetPromptParams{Name: "args-prompt", Arguments: map[string]string{"city": "Paris"}})
	must("get prompt", err)
	expect(h.t, "args-prompt", prompt.Messages[0].Content.(*mcp.TextContent).Text, "Paris")
	complete, err := h.Complete(ctx, &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "completable-prompt"},
		Argument: mcp.CompleteParamsArgument{Name: "department", Value: "E"},
	})
	must("complete", err)
	if !slices.Equal(complete.Completion.Values, []string{"Engineering"}) {
		h.t.Errorf("completions: %q", complete.Completion.Values)
	}

	resources, err := h.ListResources(ctx, nil)
	must("list resources", err)
	templates, err := h.ListResourceTemplates(ctx, nil)
	must("list resource templates", err)
	if len(resources.Resources) != 7 || len(templates.ResourceTemplates) != 2 {
		h.t.Errorf("%d resources and %d templates, want 7 and 2", len(resources.Resources), len(templates.ResourceTemplates))
	}
	uri := resources.Resources[0].URI
	read, err := h.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	must("read resource", err)
	expect(h.t, uri, read.Contents[0].Text, "# Everything Server")
	_, err = h.ReadResource(ctx, &mcp.ReadResourceParams{URI: "demo://resource/dynamic/text/7"})
	must("read a resource made from a template", err)

	must("subscribe", h.Subscribe(ctx, &mcp.SubscribeParams{URI: uri}))
	h.reach("toggle-subscriber-updates", map[string]any{})
	h.hears("updated " + uri)
	h.reach("toggle-subscriber-updates", map[string]any{})
	must("unsubscribe", h.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: uri}))

	must("set level", h.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "debug"}))
	h.reach("toggle-simulated-logging", map[string]any{})
	h.hears("log ")
	h.reach("toggle-simulated-logging", map[string]any{})
}

func TestFilesystem(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "a.txt")
	ways(t, filesystem(t, dir), []string{"read_text_file", "write_*"}, func(h *host) {
		if h.through {
			h.shows("read_text_file", "write_file", "discover", "describe", "call")
			metaTools(h, "look for files by their name", "search_files", "edit_file", "oldText")
		}
		h.use("write_file", map[string]any{"path": file, "content": "it's here"})
		expect(h.t, "read_text_file", h.use("read_text_file", map[string]any{"path": file}), "it's here")
		expect(h.t, "search_files", h.reach("search_files", map[string]any{"path": dir, "pattern": "*.txt"}), "a.txt")
		expect(h.t, "list_directory", h.use("list_directory", map[string]any{"path": dir}), "a.txt")
	})
}

func TestMemory(t *testing.T) {
	ways(t, memory(t, filepath.Join(t.TempDir(), "memory.jsonl")), []string{"read_graph"}, func(h *host) {
		if h.through {
			h.shows("read_graph", "discover", "describe", "call")
			metaTools(h, "add new entities to the graph", "create_entities", "create_relations", "relationType")
		}
		h.reach("create_entities", map[string]any{"entities": []any{map[string]any{"name": "O'Neill", "entityType": "person", "observations": []any{"likes tea"}}}})
		expect(h.t, "read_graph", h.use("read_graph", map[string]any{}), "O'Neill")
		expect(h.t, "search_nodes", h.reach("search_nodes", map[string]any{"query": "tea"}), "O'Neill")
	})
}

func TestPostman(t *testing.T) {
	var whole int
	ways(t, postman(t, vendor(t)), []string{"getWorkspaces", "getCollection", "createMock*"}, func(h *host) {
		tools := h.tools()
		list, err := json.Marshal(tools)
		if err != nil {
			h.t.Fatal(err)
		}
		if !h.through {
			whole = len(list)
			if len(tools) != 204 {
				h.t.Errorf("%d tools, want 204", len(tools))
			}
		} else {
			h.shows("getWorkspaces", "getCollection", "createMock", "createMockServerResponse", "discover", "describe", "call")
			if len(list)*10 > whole {
				h.t.Errorf("the surface takes %d bytes, more than a tenth of the %d of the whole list", len(list), whole)
			}
			metaTools(h, "publish the documentation of a collection", "publishDocumentation", "createWorkspace", "personal")
		}
		expect(h.t, "getWorkspaces", h.use("getWorkspaces", map[string]any{"limit": 2}), "# Workspaces")
		expect(h.t, "createWorkspace", h.reach("createWorkspace", map[string]any{"workspace": map[string]any{"name": "w", "type": "personal"}}), "POST /workspaces")
		expect(h.t, "getCollection", h.use("getCollection", map[string]any{"collectionId": "11111111-2222-3333-4444-555555555555"}), "GET /collections/11111111")
	})
}
