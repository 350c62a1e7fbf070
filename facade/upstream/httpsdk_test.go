package upstream

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"mcp-facade/facade/wire"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sdkServer has a tool that reports progress.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "greet"}, func(ctx context.Context, r *mcp.CallToolRequest, in struct {
		Name string `json:"name"`
	}) (*mcp.CallToolResult, any, error) {
		if token := r.Params.GetProgressToken(); token != nil {
			r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1})
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "hi " + in.Name}}}, nil, nil
	})
	return s
}

// TestHTTPWithSDK shows that the handlers of go-sdk are understood, in each of
// their ways.
func TestHTTPWithSDK(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options mcp.StreamableHTTPOptions
	}{
		{"stateful", mcp.StreamableHTTPOptions{}},
		{"stateful with JSON", mcp.StreamableHTTPOptions{JSONResponse: true}},
		{"stateful with resumable streams", mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}},
		{"stateless", mcp.StreamableHTTPOptions{Stateless: true}},
		{"stateless with JSON", mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			upstream := sdkServer()
			handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return upstream }, &tt.options)
			s := httptest.NewServer(handler)
			t.Cleanup(s.Close)
			c := openHTTP(t, s.URL)
			t.Cleanup(func() { c.Close() })
			tell(t, c, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ann"},"_meta":{"progressToken":"p"}}}`)
			m := afterProgress(t, c)
			if got := m.Result.Get("content.0.text").Str; got != "hi Ann" {
				t.Errorf("the call is answered by %s", m.Raw)
			}
			if tt.options.Stateless {
				tell(t, c, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Bob"},"_meta":%s}}`,
					`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}`))
				if m := mustRecv(t, c); m.Result.Get("content.0.text").Str != "hi Bob" {
					t.Errorf("the modern call is answered by %s", m.Raw)
				}
				return
			}
			mcp.AddTool(upstream, &mcp.Tool{Name: "later"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
				return nil, nil, nil
			})
			if m := afterProgress(t, c); !strings.HasSuffix(m.Method, "tools/list_changed") {
				t.Errorf("after a change: %s", m.Raw)
			}
		})
	}
}

// afterProgress is the next message that is not about progress, which may come
// late on another stream.
func afterProgress(t *testing.T, c Conn) wire.Message {
	for {
		if m := mustRecv(t, c); m.Method != "notifications/progress" {
			return m
		}
	}
}
