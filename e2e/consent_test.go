package e2e

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestSDKUserIsAsked has go-sdk's client ask its user for us in both eras, and
// then for an upstream that asks by itself.
func TestSDKUserIsAsked(t *testing.T) {
	for _, era := range eras {
		for _, action := range []string{"accept", "decline"} {
			t.Run(era.name+" "+action, func(t *testing.T) {
				h := newUser(t, era.version, action)
				greeted, err := h.CallTool(h.ctx(), &mcp.CallToolParams{Name: "greet", Arguments: map[string]any{"name": "Ada"}})
				if err != nil {
					t.Fatal(err)
				}
				asked := []string{"Run greet of up? It is not marked as read-only.\n- \"name\": \"Ada\""}
				want := "Hello, Ada"
				if action == "decline" {
					want = "greet was not run: the user was asked and declined. Nothing was done."
				}
				expect(t, "greet", texts(greeted), want)
				confirmed, err := h.CallTool(h.ctx(), h.reaching("confirm", map[string]any{}))
				if err != nil {
					t.Fatal(err)
				}
				asked = append(asked, "Run confirm of up? It is not marked as read-only.\nWithout arguments.")
				want = "state of who"
				if action == "decline" {
					want = "Nothing was done."
				} else {
					asked = append(asked, "Who?")
				}
				expect(t, "confirm", texts(confirmed), want)
				if !slices.Equal(h.asked, asked) {
					t.Errorf("the user was asked\n%s\nwant\n%s", strings.Join(h.asked, "\n"), strings.Join(asked, "\n"))
				}
			})
		}
	}
}

// A user is a host whose user is asked and says always the same.
type user struct {
	*host
	asked []string // what they were asked
}

// newUser is connected to a facade that has what writes confirmed.
func newUser(t *testing.T, version, action string) *user {
	t.Helper()
	w := newWorld(t)
	file := w.write(t, "facade.servers.json", map[string]any{"up": map[string]any{
		"upstream": self(t, "sdk"), "used": []string{"greet"}, "confirm": "writes",
	}})
	h := &user{host: &host{t: t, version: version, through: true, told: make(chan string, 1<<12)}}
	o := h.options()
	o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		h.asked = append(h.asked, r.Params.Message)
		return &mcp.ElicitResult{Action: action, Content: map[string]any{}}, nil
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "host", Version: "1"}, o)
	c := command{args: []string{os.Getenv(facadeVar), "--config", file, "--server", "up"}, env: w.env()}
	session, err := client.Connect(h.ctx(), &mcp.CommandTransport{Command: c.cmd(t), TerminateDuration: linger}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { session.Close() })
	h.ClientSession = session
	return h
}
