package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// eras are the protocol versions with which go-sdk's client opens: the newest
// of the legacy era, and its default, with which it probes for the modern one
// first and falls back.
var eras = []struct{ name, version string }{
	{"legacy", "2025-11-25"},
	{"modern", "2026-07-28"},
}

// A host is go-sdk's client with every capability, connected to a server.
type host struct {
	*mcp.ClientSession
	t       *testing.T
	version string      // with which it opened
	through bool        // the facade stands between
	told    chan string // the notifications that have come, as short lines
}

// connect starts c and connects to it.
func connect(t *testing.T, c command, version string, through bool) *host {
	t.Helper()
	h := &host{t: t, version: version, through: through, told: make(chan string, 1<<12)}
	client := mcp.NewClient(&mcp.Implementation{Name: "host", Version: "1"}, h.options())
	client.AddRoots(&mcp.Root{URI: "file:///srv/e2e", Name: "e2e"})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: c.cmd(t), TerminateDuration: linger}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	h.ClientSession = session
	t.Cleanup(func() { session.Close() })
	return h
}

func (h *host) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "none", Content: &mcp.TextContent{Text: "it's sampled"}}, nil
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "O'Neill"}}, nil
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			h.told <- fmt.Sprintf("log %s %v", r.Params.Level, r.Params.Data)
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			h.told <- fmt.Sprintf("progress %v %v/%v", r.Params.ProgressToken, r.Params.Progress, r.Params.Total)
		},
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			h.told <- "updated " + r.Params.URI
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { h.told <- "tools changed" },
	}
}

// ctx bounds one request.
func (h *host) ctx() context.Context {
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	h.t.Cleanup(cancel)
	return ctx
}

// hears waits for a notification whose line begins so; the ones before it are lost.
func (h *host) hears(line string) {
	h.t.Helper()
	var others []string
	end := time.After(patience)
	for {
		select {
		case told := <-h.told:
			if strings.HasPrefix(told, line) {
				return
			}
			others = append(others, told)
		case <-end:
			h.t.Fatalf("no notification %q, only %q", line, others)
		}
	}
}

// hearsAfter does something until a notification comes whose line begins so.
func (h *host) hearsAfter(line string, do func()) {
	h.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		do()
		select {
		case told := <-h.told:
			if strings.HasPrefix(told, line) {
				return
			}
		case <-time.After(time.Second):
		}
	}
	h.t.Fatalf("no notification %q", line)
}

// use calls a tool by its own name and returns its text.
func (h *host) use(tool string, args any) string {
	h.t.Helper()
	res, err := h.CallTool(h.ctx(), &mcp.CallToolParams{Name: tool, Arguments: args})
	return h.text(tool, res, err)
}

// reach calls a tool through "call", where the facade stands between, and
// returns its text.
func (h *host) reach(tool string, args any) string {
	h.t.Helper()
	res, err := h.CallTool(h.ctx(), h.reaching(tool, args))
	return h.text(tool, res, err)
}

func (h *host) reaching(tool string, args any) *mcp.CallToolParams {
	if !h.through {
		return &mcp.CallToolParams{Name: tool, Arguments: args}
	}
	return &mcp.CallToolParams{Name: "call", Arguments: map[string]any{"tool": tool, "args": args}}
}

// text joins the texts of a result that is no error.
func (h *host) text(tool string, res *mcp.CallToolResult, err error) string {
	h.t.Helper()
	if err != nil {
		h.t.Fatalf("%s: %v", tool, err)
	}
	text := texts(res)
	if res.IsError {
		h.t.Fatalf("%s: error result: %s", tool, text)
	}
	return text
}

func texts(res *mcp.CallToolResult) string {
	var texts []string
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// tools lists all tools.
func (h *host) tools() []*mcp.Tool {
	h.t.Helper()
	var tools []*mcp.Tool
	for tool, err := range h.Tools(h.ctx(), nil) {
		if err != nil {
			h.t.Fatalf("list tools: %v", err)
		}
		tools = append(tools, tool)
	}
	return tools
}

func names(tools []*mcp.Tool) []string {
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return names
}

// shows waits until the tools listed are these, in this order. A server that
// registers tools late is listed again.
func (h *host) shows(want ...string) {
	h.t.Helper()
	var got []string
	defer func() {
		if h.t.Failed() {
			h.t.Logf("shown: %q\nwant:  %q", got, want)
		}
	}()
	eventually(h.t, "surface as wanted", func() bool {
		got = names(h.tools())
		return slices.Equal(got, want)
	})
}

// expect fails the test where text lacks one of the parts.
func expect(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, excerpt(text))
		}
	}
}

// ways runs f with the upstream alone, and with the facade before it on an
// empty cache and on a full one, in each era.
func ways(t *testing.T, u upstream, used []string, f func(*host)) {
	t.Helper()
	for _, era := range eras {
		w := newWorld(t)
		for _, way := range []struct {
			name    string
			through bool
		}{{"direct", false}, {"cold", true}, {"warm", true}} {
			t.Run(era.name+" "+way.name, func(t *testing.T) {
				c := u.direct(newWorld(t))
				if way.through {
					c = w.serve(t, u, used...)
				}
				f(connect(t, c, era.version, way.through))
			})
		}
	}
}
