package facade

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcp-facade/facade/wire"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// annotated is a raw tool object with annotations.
func annotated(name, annotations, schema string) string {
	return set(tool(name, "Does "+name+".", schema), "annotations", annotations)
}

const (
	readOnly    = `{"readOnlyHint":true}`
	destructive = `{"destructiveHint":true}`
)

// mixed are tools of every kind: one only reads, one writes, one destroys.
func mixed() *fake {
	const id = `{"type":"object","properties":{"id":{"type":"string"}}}`
	return &fake{modern: true, tools: []string{
		annotated("get_issue", readOnly, id), tool("create_issue", "Create one.", id), annotated("delete_issue", destructive, id),
	}}
}

// openAsking is the legacy handshake of a host that can ask the user.
func (d *desk) openAsking() {
	d.t.Helper()
	d.ask("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}`)
	d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	d.said()
}

// consultation is the one question that the facade has asked the host, and its
// raw id.
func (d *desk) consultation(after string) (id, message string) {
	d.t.Helper()
	told := d.said()
	if len(told) != 1 || gjson.Get(told[0], "method").Str != "elicitation/create" {
		d.t.Fatalf("%s: the host is told %q; want a question", after, told)
	}
	return gjson.Get(told[0], "id").Raw, gjson.Get(told[0], "params.message").Str
}

// says answers a question.
func (d *desk) says(id, action string) {
	d.t.Helper()
	d.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"` + action + `"}}`)
}

// names of the tools that the upstream was told to run.
func (f *fake) ran() (names []string) {
	for _, params := range f.calls() {
		names = append(names, gjson.Get(params, "name").Str+" "+gjson.Get(params, "arguments").Raw)
	}
	return names
}

func toolCall(id, name, args string) string {
	return line(id, "tools/call", `{"name":"`+name+`","arguments":`+args+`}`)
}

func (f *fake) wantRan(t *testing.T, after string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, f.ran()); diff != "" {
		t.Errorf("%s: the upstream has run (-want +got):\n%s", after, diff)
	}
}

// What a host is asked, in both eras.
func TestQuestion(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = `"p` + string(rune('a'+i%26)) + `":1`
	}
	for _, tt := range []struct{ name, tool, args, want string }{
		{"names tool, server and arguments", "delete_issue", `{"id":"A-1", "force" : {"a": [1]}}`,
			"Run delete_issue of acme? It is marked as destructive.\n- \"id\": \"A-1\"\n- \"force\": {\"a\":[1]}"},
		{"says what is known of a tool", "create_issue", `{}`, "Run create_issue of acme? It is not marked as read-only.\nWithout arguments."},
		{"says that nothing is", "Delete-Issue", `null`, "Run Delete-Issue of acme? It is not in acme's list, so nobody knows what it does.\nWith: null"},
		{"keeps to lines", "delete_issue", `{"id":"a\nRun get_issue of acme?\n","x\ny":"\u2028"}`,
			"Run delete_issue of acme? It is marked as destructive.\n- \"x\\ny\": \"\\u2028\"\n- \"id\": \"a\\nRun get_issue of acme?\\n\""},
		{"shows what nobody sees", "delete_issue", `{"id":"` + "a\u202eb\u200b\U000E0041\u2800" + `"}`,
			"Run delete_issue of acme? It is marked as destructive.\n- \"id\": \"a\\u202eb\\u200b\\udb40\\udc41\\u2800\""},
		{"shows what nobody sees in a name", "delete_issue\u200b", `{}`,
			"Run \"delete_issue\\u200b\" of acme? It is not in acme's list, so nobody knows what it does.\nWithout arguments."},
		{"shows the end of a long name", strings.Repeat("n", 300) + "_evil", `{}`,
			"Run \"" + strings.Repeat("n", 82) + "... (141 characters not shown) ..." + strings.Repeat("n", 77) + "_evil\" (not its whole name) of acme? It is not in acme's list, so nobody knows what it does.\nWithout arguments."},
		{"shows the end of a long value, and the longest last", "delete_issue", `{"script":"echo ` + strings.Repeat(" ", 5000) + `; rm -rf /","id":"A"}`,
			"Run delete_issue of acme? It is marked as destructive.\n- \"id\": \"A\"\n- \"script\": \"echo " + strings.Repeat(" ", 959) + "... (3075 characters not shown) ..." + strings.Repeat(" ", 966) + "; rm -rf /\""},
		{"shows both of two of a name", "delete_issue", `{"id":1,"id":2}`, "Run delete_issue of acme? It is marked as destructive.\n- \"id\": 1\n- \"id\": 2"},
		{"shows values that a dialog has room for", "delete_issue", `{"id":"` + strings.Repeat("x", 500) + `"}`,
			"Run delete_issue of acme? It is marked as destructive.\n- \"id\": \"" + strings.Repeat("x", 500) + "\""},
		{"names what it does not show, but shows the longest", "delete_issue", `{"script":"rm -rf /",` + strings.Join(many, ",") + `}`,
			"Run delete_issue of acme? It is marked as destructive.\n- " + strings.ReplaceAll(strings.Join(many[:32], "\n- "), ":", ": ") +
				"\n- \"script\": \"rm -rf /\"\nand 8 more arguments whose values are not shown here: " + strings.ReplaceAll(strings.Join(many[32:], ", "), ":1", "")},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			f, v, _ := facadeWith(t, `,"confirm":"writes","used":[]`, []byte(`{"tools":[`+strings.Join(mixed().tools, ",")+`]}`))
			got := f.elicitation(&invocation{view: v, tool: tt.tool, args: tt.args})
			if diff := cmp.Diff(tt.want, gjson.GetBytes(got, "message").Str); diff != "" {
				t.Errorf("the user is asked (-want +got):\n%s", diff)
			}
			if want := `{"type":"object","properties":{}}`; gjson.GetBytes(got, "requestedSchema").Raw != want || !gjson.ValidBytes(got) {
				t.Errorf("the question is %s; want a form without fields, %s", got, want)
			}
		})
	}
}

// A legacy host is asked before a call that its user is to agree to.
func TestConsent(t *testing.T) {
	const refused = " Nothing was done. "
	for _, tt := range []struct{ name, confirm, tool, action, want string }{
		{"sends what is accepted", "destructive", "delete_issue", `{"result":{"action":"accept","content":{}}}`, ""},
		{"sends it without content", "writes", "create_issue", `{"result":{"action":"accept"}}`, ""},
		{"refuses what is declined", "writes", "delete_issue", `{"result":{"action":"decline"}}`,
			"delete_issue was not run: the user was asked and declined." + refused + "Do not call it again unless the user asks for it: tell them, or find another way. " + noResult},
		{"refuses what is not answered", "writes", "delete_issue", `{"result":{"action":"cancel"}}`,
			"delete_issue was not run: the user was asked and did not answer." + refused + "Tell the user; call it again only if they want it. " + noResult},
		{"refuses what the host could not ask", "writes", "delete_issue", `{"error":{"code":-32601,"message":"no\nway"}}`,
			`delete_issue was not run: the host could not ask the user: "no way".` + refused + "Tell the user; call it again only if they want it. " + noResult},
		{"takes nothing else for yes", "writes", "delete_issue", `{"result":{"action":"ACCEPT"}}`,
			"delete_issue was not run: the host did not say whether the user agrees." + refused + "Tell the user; call it again only if they want it. " + noResult},
		{"takes no true for yes", "writes", "delete_issue", `{"result":true}`,
			"delete_issue was not run: the host did not say whether the user agrees." + refused + "Tell the user; call it again only if they want it. " + noResult},
	} {
		for _, via := range []string{"", "call"} {
			t.Run("it "+tt.name+" "+via, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					up := mixed()
					d := start(t, Options{Server: entry(t, `,"used":["*"],"confirm":"`+tt.confirm+`"`)}, up)
					d.openAsking()
					call := toolCall("7", tt.tool, `{"id":"A-1"}`)
					if via != "" {
						call = toolCall("7", via, `{"tool":"`+tt.tool+`","args":{"id":"A-1"}}`)
					}
					d.send(call)
					id, _ := d.consultation("a call of " + tt.tool)
					up.wantRan(t, "a question")
					d.send(set(`{"jsonrpc":"2.0",`+tt.action[1:], "id", id))
					told := d.said()
					if len(told) != 1 || gjson.Get(told[0], "id").Raw != "7" {
						t.Fatalf("after the answer the host is told %q; want the answer to its call", told)
					}
					if tt.want == "" {
						up.wantRan(t, "consent", tt.tool+` {"id":"A-1"}`)
						return
					}
					if diff := cmp.Diff(tt.want, text(gjson.Get(told[0], "result").Raw)); diff != "" {
						t.Errorf("the model is told (-want +got):\n%s", diff)
					}
					up.wantRan(t, "no consent")
					d.says(id, "accept")
					d.expect("a second answer")
					up.wantRan(t, "a second answer")
				})
			})
		}
	}
}

// What the user need not agree to is not asked about.
func TestNoConsentNeeded(t *testing.T) {
	for _, tt := range []struct{ config, tool string }{
		{`,"confirm":"none"`, "delete_issue"},
		{`,"confirm":"destructive"`, "create_issue"},
		{`,"confirm":"writes"`, "get_issue"},
		{`,"confirm":"writes","readOnly":["DELETE_*"]`, "delete_issue"},
		{`,"confirm":"writes","readOnly":["extra_*"]`, "extra_list"},
	} {
		synctest.Test(t, func(t *testing.T) {
			up := mixed()
			d := start(t, Options{Server: entry(t, `,"used":["*"]`+tt.config)}, up)
			d.openAsking()
			d.call("7", tt.tool, `{"id":"A-1"}`)
			up.wantRan(t, "a call with "+tt.config, tt.tool+` {"id":"A-1"}`)
		})
	}
}

// Of a tool that nobody lists, or whose name only resembles that of one that only
// reads, the user is asked too.
func TestConsentForUnlisted(t *testing.T) {
	for _, tt := range []struct{ config, tool string }{
		{`,"confirm":"destructive"`, "Delete-Issue"},
		{`,"confirm":"destructive"`, "purge"},
		{`,"confirm":"destructive","destructive":["create_*"],"readOnly":["*"]`, "x/Create-Issue"},
		{`,"confirm":"destructive","readOnly":["*-issue","get_issue"]`, "create-issue"},
		{`,"confirm":"destructive","destructive":["get_*"]`, "get_issue"},
	} {
		synctest.Test(t, func(t *testing.T) {
			up := mixed()
			d := start(t, Options{Server: entry(t, `,"used":["*"]`+tt.config)}, up)
			d.openAsking()
			d.send(toolCall("7", tt.tool, `{"id":"A-1"}`))
			d.consultation(tt.config + ": a call of " + tt.tool)
			up.wantRan(t, "a question")
		})
	}
}

// A host that cannot ask is told so, and what the user can do.
func TestHostCannotAsk(t *testing.T) {
	const want = "delete_issue was not run: it is marked as destructive, so the user must agree first, and this host cannot ask them (it has no elicitation). Nothing was done. " +
		`Tell the user: they can use a host that asks, or change "confirm" or "confirmBy" of acme in the servers file. ` + noResult
	for _, capabilities := range []string{`{}`, `{"elicitation":{"url":{}}}`, `{"elicitation":true}`, `{"elicitation":null}`, `{"roots":{"elicitation":{}}}`} {
		t.Run(capabilities, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := mixed()
				d := start(t, Options{Server: entry(t, `,"used":["*"],"confirm":"writes"`)}, up)
				d.ask("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"t","version":"1"}}`)
				d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				if got := text(d.call("7", "delete_issue", "{}")); got != want {
					t.Errorf("the model is told\n%s\nwant\n%s", got, want)
				}
				meta := set(modernMeta, "io.modelcontextprotocol/clientCapabilities", capabilities)
				modern := start(t, Options{Server: entry(t, `,"used":["*"],"confirm":"writes"`)}, up)
				r, _ := modern.ask("7", "tools/call", `{"name":"delete_issue","arguments":{},"_meta":`+meta+`}`)
				if got := gjson.Get(r, "result"); text(got.Raw) != want || got.Get("resultType").Str != "complete" {
					t.Errorf("a modern host is told\n%s\nwant\n%s", r, want)
				}
				up.wantRan(t, "hosts that cannot ask")
			})
		})
	}
}

// The question ends with the call, and holds nothing up.
func TestConsentEnds(t *testing.T) {
	begin := func(t *testing.T, config string) (*desk, *fake, string) {
		up := mixed()
		d := start(t, Options{Server: entry(t, `,"used":["*"],"confirm":"writes"`+config)}, up)
		d.openAsking()
		d.send(toolCall("7", "delete_issue", `{"id":"A-1"}`))
		id, _ := d.consultation("a call")
		return d, up, id
	}
	t.Run("when the host cancels the call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d, up, id := begin(t, "")
			d.send(line("", "notifications/cancelled", `{"requestId":7}`))
			d.expect("a cancellation", line("", "notifications/cancelled", `{"requestId":`+id+`,"reason":"the call has ended"}`))
			d.says(id, "accept")
			d.expect("a late answer")
			up.wantRan(t, "a late answer")
			d.send(toolCall("7", "delete_issue", `{"id":"A-1"}`)) // the same id again
			id, _ = d.consultation("the next call")
			d.says(id, "accept")
			d.said()
			up.wantRan(t, "consent", `delete_issue {"id":"A-1"}`)
			if n := len(d.facade.toUp) + len(d.facade.consents) + d.facade.asking; n != 0 {
				t.Errorf("%d things are kept", n)
			}
		})
	})
	t.Run("when the host goes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d, up, _ := begin(t, "")
			began := time.Now()
			d.close()
			if took := time.Since(began); took > time.Second {
				t.Errorf("it took %v to end", took)
			}
			if frame := <-d.frames; !strings.Contains(frame, "the host has closed") {
				t.Errorf("the host is told %q", frame)
			}
			up.wantRan(t, "the end")
		})
	})
	t.Run("when nobody answers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d, up, id := begin(t, `,"callTimeout":"30s"`)
			d.silent(59 * time.Minute) // callTimeout is not for people
			time.Sleep(time.Minute)
			told := d.said()
			if len(told) != 2 || told[0] != line("", "notifications/cancelled", `{"requestId":`+id+`,"reason":"the call has ended"}`) ||
				!strings.Contains(told[1], "nobody answered in 1h0m0s") {
				t.Errorf("after an hour the host is told %q", told)
			}
			up.wantRan(t, "silence")
		})
	})
	t.Run("not with the upstream", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d, up, id := begin(t, "")
			up.last().die("exit status 1")
			d.expect("a death")
			d.says(id, "accept")
			if told := d.said(); len(told) != 1 || gjson.Get(told[0], "id").Raw != "7" || gjson.Get(told[0], "result.isError").Bool() {
				t.Errorf("after consent the host is told %q; want the new upstream's answer", told)
			}
			up.wantRan(t, "consent", `delete_issue {"id":"A-1"}`)
		})
	})
	t.Run("while other calls go on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d, up, first := begin(t, "")
			d.call("8", "get_issue", "{}")
			d.send(toolCall("9", "create_issue", "{}"))
			second, _ := d.consultation("a second call")
			d.send(line("", "notifications/vendor/x", "{}"))
			d.ask("10", "vendor/y", "{}")
			d.says(second, "accept")
			d.said()
			d.says(first, "decline")
			if told := d.said(); len(told) != 1 || gjson.Get(told[0], "id").Raw != "7" {
				t.Errorf("after it was declined the host is told %q", told)
			}
			up.wantRan(t, "two questions", "get_issue {}", "create_issue {}")
			if got := up.received("notifications/vendor/x"); len(got) != 1 {
				t.Errorf("the upstream was sent %q", got)
			}
		})
	})
	t.Run("in a batch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			up := mixed()
			d := start(t, Options{Server: entry(t, `,"used":["*"],"confirm":"writes"`)}, up)
			d.ask("0", "initialize", `{"protocolVersion":"2025-03-26","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}`)
			d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			d.said()
			d.send(`[` + toolCall("7", "delete_issue", `{}`) + `,` + line("8", "ping", "{}") + `,` + line("", "tools/call", `{"name":"delete_issue"}`) + `]`)
			id, _ := d.consultation("a batch")
			d.says(id, "decline")
			if told := d.said(); len(told) != 1 || gjson.Get(told[0], "#").Int() != 2 || gjson.Get(told[0], "1.id").Raw != "7" {
				t.Errorf("the host is told %q; want both answers at once", told)
			}
			up.wantRan(t, "no consent")
		})
	})
	t.Run("before the host is initialized", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			up := mixed()
			d := start(t, Options{Server: entry(t, `,"used":["*"],"confirm":"writes"`)}, up)
			d.ask("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}`)
			d.said()
			d.send(toolCall("7", "delete_issue", `{}`))
			d.send(toolCall("8", "create_issue", `{}`))
			d.expect("calls before it is ready")
			d.send(line("", "notifications/cancelled", `{"requestId":7}`))
			d.expect("a cancellation of what was never asked")
			d.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			_, message := d.consultation("it is ready")
			if !strings.Contains(message, "create_issue") {
				t.Errorf("the host is asked %q", message)
			}
		})
	})
	t.Run("when it is cancelled while it is asked", func(t *testing.T) {
		f, v, _ := facadeWith(t, `,"confirm":"writes"`, []byte(`{"tools":[]}`))
		var sent strings.Builder
		f.out = wire.NewWriter(&sent, hostQueue)
		m, _ := wire.Parse([]byte(toolCall("7", "delete_issue", "{}")))
		f.accept(m, nil)
		p := f.find(m.Key(), (*pending).unsubmitted)
		q := &consent{id: `"mcpf-1"`, call: &invocation{m: m, view: v}, asked: p, frame: []byte("{}"), timer: time.NewTimer(0)}
		f.consents[`smcpf-1`] = q
		if id := f.unconsulted(p); id != "" {
			t.Errorf("the host is to be told of %s, which it has not been given", id)
		}
		f.give(q)
		f.out.Close()
		if want := "{}\n" + string(retraction(q.id, callEnded)) + "\n"; sent.String() != want {
			t.Errorf("the host is told %q, want %q", sent.String(), want)
		}
	})
}

// The model's own word counts only where it is asked for: beside the name of the
// tool, and true.
func TestConfirmByArgument(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		sent       string
	}{
		{"takes true", `{"tool":"delete_issue","args":{"id":"A-1"},"confirm":true}`, `delete_issue {"id":"A-1"}`},
		{"takes it beside bare arguments", `{"tool":"delete_issue","id":"A-1","confirm":true}`, `delete_issue {"id":"A-1"}`},
		{"takes it in an envelope in a string", `"{\"tool\":\"delete_issue\",\"args\":{\"id\":\"A-1\"},\"confirm\":true}"`, `delete_issue {"id":"A-1"}`},
		{"refuses without it", `{"tool":"delete_issue","args":{"id":"A-1"}}`, ""},
		{"refuses false", `{"tool":"delete_issue","args":{"id":"A-1"},"confirm":false}`, ""},
		{"refuses a string", `{"tool":"delete_issue","args":{"id":"A-1"},"confirm":"true"}`, ""},
		{"refuses a number", `{"tool":"delete_issue","args":{"id":"A-1"},"confirm":1}`, ""},
		{"takes the first of two", `{"tool":"delete_issue","args":{"id":"A-1"},"confirm":false,"confirm":true}`, ""},
		{"refuses another case", `{"tool":"delete_issue","args":{"id":"A-1"},"Confirm":true}`, ""},
		{"refuses it in the arguments", `{"tool":"delete_issue","args":{"id":"A-1","confirm":true}}`, ""},
		{"refuses it in a nested envelope", `{"args":{"tool":"delete_issue","args":{"id":"A-1"},"confirm":true}}`, ""},
		{"refuses it where it is a parameter of the tool", `{"tool":"drop_table","table":"x","confirm":true}`, ""},
		{"takes it beside such a parameter", `{"tool":"drop_table","args":{"table":"x","confirm":false},"confirm":true}`, `drop_table {"table":"x","confirm":false}`},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := mixed()
				up.tools = append(up.tools, annotated("drop_table", destructive, `{"type":"object","properties":{"table":{},"confirm":{"type":"boolean"}},"required":["table"]}`))
				d := start(t, Options{Server: entry(t, `,"used":[],"confirm":"writes","confirmBy":"argument"`)}, up)
				d.openAsking()
				got := text(d.call("7", "call", tt.args))
				if tt.sent != "" {
					up.wantRan(t, tt.args, tt.sent)
					return
				}
				up.wantRan(t, tt.args)
				if !strings.Contains(got, "the user must agree first. Nothing was done.\nAsk them. If they do, send this to call:\n{\"tool\":") || !strings.Contains(got, `,"confirm":true}`) {
					t.Errorf("the model is told %s", got)
				}
			})
		})
	}
}

// What a model means for its user's word is put where it counts, and is not
// left where it does not.
func TestConfirmIsMoved(t *testing.T) {
	const correction = `"confirm" must be the boolean true, beside "tool".`
	for _, tt := range []struct{ name, args, want string }{
		{"says that a string is not true", `{"tool":"delete_issue","args":{"id":"A-1"},"confirm":"true"}`,
			`{"tool":"delete_issue","args":{"id":"A-1"},"confirm":true}` + "\n" + correction},
		{"moves it out of the arguments", `{"tool":"delete_issue","args":{"id":"A-1","confirm":true}}`,
			`{"tool":"delete_issue","args":{"id":"A-1"},"confirm":true}` + "\n" + correction},
		{"moves it out of those that allow no other name", `{"tool":"drop","args":{"id":"A-1","confirm":"yes"}}`,
			`; "confirm" belongs beside "tool", as the boolean true.`},
		{"shows where it belongs", `{"tool":"drop","args":{"id":"A-1","confirm":true}}`, `{"tool":"drop","args":{"id":"A-1"},"confirm":true}`},
		{"leaves a parameter alone", `{"tool":"purge","args":{"confirm":true}}`, `{"tool":"purge","args":{"confirm":true},"confirm":true}` + "\n" + noResult},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := mixed()
				up.tools = append(up.tools,
					annotated("drop", destructive, `{"type":"object","properties":{"id":{"type":"string"}},"additionalProperties":false}`),
					annotated("purge", destructive, `{"type":"object","properties":{"confirm":{"type":"boolean"}}}`))
				d := start(t, Options{Server: entry(t, `,"used":[],"confirm":"writes","confirmBy":"argument"`)}, up)
				d.openAsking()
				if got := text(d.call("7", "call", tt.args)); !strings.Contains(got, tt.want) {
					t.Errorf("%s: the model is told\n%s\nwant it to contain\n%s", tt.args, got, tt.want)
				}
				up.wantRan(t, tt.args)
			})
		})
	}
}

// A tool that is called by its own name has no place for the model's word: the
// refusal shows how to call it.
func TestConfirmByArgumentDirectly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, config := range []string{`,"used":["delete_issue"]`, `,"surface":"all"`, ``} {
			up := mixed()
			d := start(t, Options{Server: entry(t, `,"confirm":"writes","confirmBy":"argument"`+config)}, up)
			d.openAsking()
			got := text(d.call("7", "delete_issue", `{"id":"A-1","confirm":true}`))
			if want := "delete_issue was not run: it is marked as destructive, so the user must agree first. Nothing was done.\n" +
				"Ask them. If they do, send this to call:\n" + `{"tool":"delete_issue","args":{"id":"A-1"},"confirm":true}` + "\n" + `"confirm" must be the boolean true, beside "tool".` + "\n" + noResult; got != want {
				t.Errorf("the model is told\n%s\nwant\n%s", got, want)
			}
			up.wantRan(t, config)
			names := d.names()
			if !strings.HasSuffix(strings.Join(names, " "), " discover describe call") {
				t.Errorf("%s: the host is shown %q; want call too, by which it can be confirmed", config, names)
			}
			d.call("8", "call", `{"tool":"delete_issue","args":{"id":"A-1"},"confirm":true}`)
			up.wantRan(t, config, `delete_issue {"id":"A-1"}`)
		}
	})
}
