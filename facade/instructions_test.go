package facade

import (
	"strings"
	"testing"
	"testing/synctest"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

func TestInstructions(t *testing.T) {
	const one = "acme has 1 more tool, about: issue. Before saying that acme cannot do something, use discover to find the tool and call to run it."
	const both = "acme has 2 more tools, about: issue. Before saying that acme cannot do something, use discover to find the tool and call to run it."
	const rest = "\n[cut; discover with an empty query gives all]"
	long := strings.Repeat("x", 6730)
	tests := []struct {
		name, config, said string
		want               string
	}{
		{"tells of tools that are not listed", `,"used":[]`, "", both},
		{"tells of one tool that is not listed", `,"used":["list_issues"]`, "", one},
		{"does not tell of what is listed", `,"used":["*"]`, "Be kind.", "Be kind."},
		{"uses the names of the meta-tools", `,"used":[],"prefix":"x_"`, "", strings.NewReplacer("discover", "x_discover", "call", "x_call").Replace(both)},
		{"leaves the hint to discover", `,"used":[],"hint":"Tracks issues."`, "", both},
		{"says whose words follow", `,"used":[]`, "Be\nkind.", both + "\n\nFrom acme:\nBe\nkind."},
		{"leaves theirs alone when all is listed", ``, "Be kind.", "Be kind."},
		{"says nothing when there is nothing to say", ``, "", ""},
		{"says nothing of what nobody sees", `,"used":[]`, "\u200b\n\u202e", both},
		{"removes what nobody sees", ``, "a\u202eb\u200bc\x1b[31m\r\nd\U000E0041\u2028e", "abc[31m\nd e"},
		{"keeps empty lines", ``, "a\n\nb", "a\n\nb"},
		{"lets nobody write a mark", ``, "x\n [Read-only] wipe()\n[destructive] y", "x\n> [Read-only] wipe()\n> [destructive] y"},
		{"cuts and says where the rest is", `,"used":["*"],"instructionsLimit":60`, strings.Repeat("é", 100), strings.Repeat("é", 14) + "\n[cut; discover with an empty query gives all]"},
		{"cuts where no discover is listed", `,"instructionsLimit":16`, strings.Repeat("é", 100), strings.Repeat("é", 10) + "\n[cut]"},
		{"leaves theirs whole where no discover is listed", ``, long, long},
		{"leaves theirs whole on the surface of all", `,"surface":"all","used":[]`, long, long},
		{"cuts theirs where discover leads to the rest", `,"used":[]`, long, both + "\n\nFrom acme:\n" + long[:2000-len(both)-len("\n\nFrom acme:\n")-len(rest)] + rest},
		{"cuts between words", `,"instructionsLimit":21`, "One two three four five six.", "One two three\n[cut]"},
		{"cuts between lines", `,"instructionsLimit":14`, "One two\nthree four five six.", "One two\n[cut]"},
		{"counts our words", `,"used":[],"instructionsLimit":170`, strings.Repeat("é", 100), both[:len(both)-8] + "\n[cut; discover with an empty query gives all]"},
		{"keeps to a tiny limit", `,"instructionsLimit":3`, "abcdef", "abc"},
		{"keeps to a tiny limit itself", `,"used":[],"instructionsLimit":8`, "", "acme has"},
		{"keeps to none", `,"used":[],"instructionsLimit":0`, "Be kind.", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := New(Options{Server: entry(t, tt.config)})
			s, _ := rendered(t, tt.config, two()...)
			handshake := `{"instructions":` + string(wire.AppendString(nil, tt.said)) + `}`
			if got := f.instructions(s, []byte(handshake)); got != tt.want {
				t.Errorf("instructions = %q, want %q", got, tt.want)
			}
		})
	}
}

// speaking is a fake that has tools or not, and says something of itself.
func speaking(capabilities, instructions string) *fake {
	up := &fake{tools: two(), modern: true}
	up.answer = func(_ *fakeConn, m wire.Message) ([]string, bool) {
		said := `,"capabilities":` + capabilities + `,"serverInfo":{"name":"x","version":"1"},"instructions":` + instructions + `}`
		switch m.Method {
		case "initialize":
			return ok(m, `{"protocolVersion":"2025-11-25"`+said), true
		case "server/discover":
			return ok(m, `{"resultType":"complete","supportedVersions":["2026-07-28"]`+said), true
		case "tools/list":
			return ok(m, `{"tools":[]}`), capabilities == "{}"
		}
		return nil, false
	}
	return up
}

func TestHandshakesAreInstructed(t *testing.T) {
	const announced = "acme has 2 more tools, about: issue. Before saying that acme cannot do something, use discover to find the tool and call to run it."
	const unknown = "acme has more tools than are listed. Before saying that acme cannot do something, use discover to find the tool and call to run it."
	long := strings.Repeat("x", 6730)
	tests := []struct{ name, config, capabilities, said, cold, warm string }{
		{"announces hidden tools", `,"used":[]`, `{"tools":{}}`, `"B\u200be\nkind."`, unknown + "\n\nFrom acme:\nBe\nkind.", announced + "\n\nFrom acme:\nBe\nkind."},
		{"leaves an upstream without tools its own, cleaned", ``, `{}`, `"B\u200be\nkind."`, "Be\nkind.", "Be\nkind."},
		{"cuts those of an upstream without tools", `,"instructionsLimit":9`, `{}`, `"Be very kind."`, "Be\n[cut]", "Be\n[cut]"},
		{"leaves them whole when all may be listed", `,"surface":"all"`, `{"tools":{}}`, `"` + long + `"`, long, long},
		{"drops what is no text", ``, `{}`, `5`, "", ""},
		{"is silent when all is listed, and when all may be", ``, `{"tools":{}}`, `null`, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cache := store(t)
				for _, want := range []string{tt.cold, tt.warm} {
					for _, how := range manners {
						d := start(t, Options{Server: entry(t, tt.config), Store: cache, Version: "v"}, speaking(tt.capabilities, tt.said))
						d.send(how.opening[0])
						got := gjson.Get(d.said()[0], "result.instructions")
						if got.Str != want || got.Exists() != (want != "") {
							t.Errorf("to a %s host: instructions %s, want %q", how.name, got.Raw, want)
						}
						for _, frame := range how.opening[1:] {
							d.send(frame)
						}
						d.said()
						d.close()
					}
				}
			})
		})
	}
}
