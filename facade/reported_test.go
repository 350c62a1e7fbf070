package facade

import (
	"strings"
	"testing"
)

// Forms in which models have been seen to send a call, by the public report
// that tells of it: repository and number of an issue or a pull request.
func TestReportedManglings(t *testing.T) {
	const issue = `get_issue {"id":"A-1"}`
	const corrected = "\n*\n" + `{"tool":"get_issue","args":{"id":"<id: string>"}}` + "\n" + noResult
	tests := []struct{ name, report, sent, want string }{
		// The arguments are in a string.
		{"opens arguments in a string", "PKUfudawei/dsh-capability-menu#4", `{"tool":"get_issue","args":"{\"id\":\"A-1\"}"}`, issue},
		{"opens the whole call in a string of args", "nicobailon/pi-mcp-adapter#363", `{"args":"{\"server\":\"acme\",\"tool\":\"get_issue\",\"args\":{\"id\":\"A-1\"}}"}`, issue},
		{"opens a string in a string", "oracle/langchain-oracle#52", `{"tool":"get_issue","args":"\"{\\\"id\\\":\\\"A-1\\\"}\""}`, issue},
		{"opens args_json", "smart-mcp-proxy/mcpproxy-go#379", `{"name":"acme:get_issue","args_json":"{\"id\":\"A-1\"}"}`, issue},
		{"opens a code fence", "earendil-works/pi#8858", "{\"tool\":\"get_issue\",\"args\":\"```json\\n{\\\"id\\\":\\\"A-1\\\"}\\n```\"}", issue},
		{"opens a code fence without a language", "agents-flex/agents-flex#64", "{\"tool\":\"get_issue\",\"args\":\"```\\n{\\\"id\\\":\\\"A-1\\\"}```\"}", issue},
		// Prose may say what no argument says, such as "with dry_run": it is not left out for the model.
		{"takes no prose after the object", "librefang/librefang#2995", `{"tool":"get_issue","args":"{\"id\":\"A-1\"}\n\nI'll now look it up."}`,
			`! get_issue was not called: "args" is a string; it must be an object.` + "\n*\n" + `It has no place for "I'll now look it up."`},
		{"leaves brackets after the object out", "ollama/ollama#17638", `{"tool":"get_issue","args":"{\"id\":\"A-1\"}]"}`, issue},
		{"leaves braces after the object out", "mangiucugna/json_repair#213", `{"tool":"get_issue","args":"{\"id\":\"A-1\"}}}"}`, issue},
		{"takes none of two objects", "NousResearch/hermes-agent#80951", `{"tool":"get_issue","args":"{\"id\":\"A-1\"} {\"id\":\"A-2\"}"}`, `! get_issue was not called: "args" is a string; it must be an object.` + "\n*\n" + `It has no place for "{\"id\":\"A-2\"}".`},
		{"takes none before another parameter", "anthropics/claude-code#83088", `{"tool":"get_issue","args":"{\"id\":\"A-1\"}</args>\n<parameter name=\"depth\">2"}`, `! get_issue was not called: "args" is a string; it must be an object.` + "\n*\n" + `{"tool":"get_issue","args":{"id":"A-1","depth":"<depth: number>"}}`},
		{"takes no JSON that was cut off", "XiaomiMiMo/MiMo-Code#1658", `{"tool":"get_issue","args":"{\"id\":\"A-"}`, `! get_issue was not called: "args" is a string; it must be an object.` + corrected},
		{"takes no Python", "NousResearch/atropos#479", `{"tool":"get_issue","args":"{'id': 'it''s'}"}`, `! get_issue was not called: "args" is a string; it must be an object.` + corrected},
		{"takes no command line", "NousResearch/hermes-agent#67829", `{"args":{"args":"--help","name":"mcp__acme__get_issue"}}`, `! get_issue was not called: "args" is a string; it must be an object.` + corrected},
		{"takes the word null for none", "anthropics/claude-code#95239", `{"tool":"list_issues","args":"null"}`, `list_issues {}`},

		// The arguments are in an array.
		{"opens an array of one object", "HKUDS/nanobot#1294", `{"tool":"get_issue","args":[{"id":"A-1"}]}`, issue},
		{"opens it under another name", "ollama/ollama#17719", `{"name":"get_issue","arguments":[{"id":"A-1"}]}`, issue},
		{"takes none of two", "ollama/ollama#17719", `{"tool":"get_issue","args":[{"id":"A-1"},{"id":"A-2"}]}`, `! get_issue was not called: "args" is an array; it must be an object.` + corrected},

		// The arguments go by another name, or by none.
		{"opens params", "MarimerLLC/rockbot#305", `{"server_name":"acme","tool_name":"get_issue","params":{"id":"A-1"}}`, issue},
		{"opens tool_input", "atlassian-labs/mcp-compressor#8", `{"tool_name":"get_issue","tool_input":{"id":"A-1"}}`, issue},
		{"opens kwargs in args", "microsoft/simplechat#1172", `{"tool":"get_issue","args":{"kwargs":{"id":"A-1"}}}`, issue},
		{"takes what stands beside the names of tool and server", "MarimerLLC/rockbot#445", `{"server_name":"acme","tool_name":"create_project","name":"Shop"}`, `create_project {"name":"Shop"}`},
		{"takes it beside the name of the tool", "atlassian-labs/mcp-compressor#8", `{"tool_name":"get_issue","id":"A-1","depth":2}`, `get_issue {"id":"A-1","depth":2}`},
		{"says what is missing where nothing came", "MarimerLLC/rockbot#421", `{"server_name":"acme","tool_name":"get_issue"}`, `! get_issue was not called: "id" is missing`},

		// The call is nested in itself.
		{"opens args in args", "openclaw/openclaw#124318", `{"args":{"tool":"get_issue","args":{"id":"A-1"}}}`, issue},
		{"opens arguments in arguments", "AstrBotDevs/AstrBot#10076", `{"tool":"get_issue","args":{"arguments":{"arguments":{"id":"A-1"}}}}`, issue},
		{"opens name and arguments in args", "ollama/ollama#17486", `{"tool":"get_issue","args":{"name":"get_issue","arguments":{"id":"A-1"}}}`, issue},
		{"leaves a parameter called name alone", "ollama/ollama#17486", `{"tool":"create_project","args":{"name":"create_project","note":"x"}}`, `create_project {"name":"create_project","note":"x"}`},
		{"opens an API's function", "Kilo-Org/kilocode#3282", `{"type":"function","function":{"name":"get_issue","arguments":"{\"id\":\"A-1\"}"}}`, issue},
		{"opens an API's calls", "Kilo-Org/kilocode#3282", `{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_issue","arguments":"{\"id\":\"A-1\"}"}}]}`, issue},
		{"takes the name of the tool for a key", "ollama/ollama#12738", `{"get_issue":{"id":"A-1"}}`, issue},
		{"takes it for a key in args", "ollama/ollama#12738", `{"tool":"get_issue","args":{"get_issue":{"id":"A-1"}}}`, issue},
		{"does not imitate what is nested deeper", "openclaw/openclaw#142304", `{"tool":"get_issue","args":{"arguments":{"arguments":{"arguments":{"arguments":{"id":"A-1"}}}}}}`, `! get_issue was not called: "id" is missing` + "\n*\n" + `{"tool":"get_issue","args":{"id":"A-1"}}` + "\n"},

		// The name of the tool is more than a name.
		{"takes the prefix of a server", "neomjs/neo#7518", `{"tool":"acme__get_issue","args":{"id":"A-1"}}`, issue},
		// What a server of another name would have changed, is not changed in this one.
		{"takes no prefix of another server", "neomjs/neo#7518", `{"tool":"acme-knowledge-base__get_issue","args":{"id":"A-1"}}`, `! Tool "acme-knowledge-base__get_issue" is not in acme's catalog. Nearest: get_issue.`},
		{"takes the prefix of an agent", "nicobailon/pi-mcp-adapter#99", `{"tool":"mcp__acme_get_issue","args":{"id":"A-1"}}`, issue},
		{"leaves a special token out", "vllm-project/vllm#32587", `{"tool":"get_issue<|channel|>commentary","args":{"id":"A-1"}}`, issue},
		{"leaves the prefix and the end of another format out", "openai/harmony#114", `{"tool":"functions.get_issue<|constrain|>json","args":{"id":"A-1"}}`, issue},
		{"finds the arguments that the name has swallowed", "anthropics/claude-code#44826", `{"tool":"get_issue</tool>\n<parameter name=\"args\">{\"id\":\"A-1\"}"}`, issue},
		{"offers one of names that were run together", "tidyverse/ellmer#929", `{"tool":"get_issuelist_issues","args":{}}`, `! Tool "get_issuelist_issues" is not in acme's catalog. Nearest: list_issues, get_issue`},
		{"offers a name to one who misspells it after a prefix", "neomjs/neo#7518", `{"tool":"mcp__acme__get_isue","args":{"id":"A-1"}}`, `! Tool "mcp__acme__get_isue" is not in acme's catalog. Nearest: get_issue`},
		{"offers it to one who misspells it before a special token", "vllm-project/vllm#32587", `{"tool":"functions.get_isue<|constrain|>json","args":{"id":"A-1"}}`, `! Tool "functions.get_isue<|constrain|>json" is not in acme's catalog. Nearest: get_issue`},
		{"offers the name to one who gives the server's", "teo-mateo/llm-dock#216", `{"tool":"acme","args":{"id":"A-1"}}`, `! Tool "acme" is not in acme's catalog.`},

		// Values are the upstream's to judge.
		{"leaves numbers in strings alone", "VibiumDev/vibium#85", `{"tool":"list_issues","args":{"limit":"20"}}`, `list_issues {"limit":"20"}`},
		{"leaves numbers where a string is wanted alone", "lmstudio-ai/lmstudio-bug-tracker#1626", `{"tool":"get_issue","args":{"id":1}}`, `get_issue {"id":1}`},
		{"leaves null alone", "danny-avila/LibreChat#11905", `{"tool":"list_issues","args":{"state":null,"limit":5}}`, `list_issues {"state":null,"limit":5}`},
		{"leaves a value that stands for a list alone", "NousResearch/hermes-agent#19717", `{"tool":"ship","args":{"items":"a"}}`, `ship {"items":"a"}`},
		{"leaves tags at the end of a text alone", "anthropics/claude-code#48679", `{"tool":"create_project","args":{"name":"x</payload>\n</invoke>"}}`, `create_project {"name":"x</payload>\n</invoke>"}`},
		{"opens a list in a string", "OpenDigitalProductFactory/opendigitalproductfactory#1932", `{"tool":"ship","args":{"items":"[{\"size\":{}}]"}}`, `ship {"items":[{"size":{}}]}`},
		{"leaves text that looks like a list alone", "OpenDigitalProductFactory/opendigitalproductfactory#1932", `{"tool":"create_project","args":{"name":"[1]"}}`, `create_project {"name":"[1]"}`},
		{"says which parameter another spelling means", "langchain-ai/langchain-mcp-adapters#277", `{"tool":"get_message","args":{"message_id":"m"}}`,
			`! get_message was not called: "messageId" is missing; "message_id" is no parameter (nearest: "messageId").` + "\n*\n" + `{"tool":"get_message","args":{"messageId":"m"}}`},
		{"says what is missing where a tag has swallowed it", "anthropics/claude-code#83088", `{"tool":"set_state","args":{"id":"A-1</id>\n<parameter name=\"state\">open"}}`, `! set_state was not called: "state" is missing (one of "open", "closed"); "on" is missing`},
	}
	message := tool("get_message", "Get one message.", `{"type":"object","properties":{"messageId":{"type":"string"}},"required":["messageId"],"additionalProperties":false}`)
	f, v, _ := facadeWith(t, `,"used":[]`, []byte(`{"tools":[`+strings.Join(append(shop(), message), ",")+`]}`))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := understood(f, v, tt.sent); !matches(got, tt.want) {
				t.Errorf("%s: call of %s\n%s\nwant\n%s", tt.report, tt.sent, got, tt.want)
			}
		})
	}
}
