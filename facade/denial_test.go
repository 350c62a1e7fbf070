package facade

import (
	"strings"
	"testing"

	"mcp-facade/facade/wire"

	"github.com/tidwall/gjson"
)

// denials are errors as servers write them; those of which a source is named
// are real.
var denials = []struct {
	name, error string
	want        bool
}{
	{"Google Calendar", `{"code":-32600,"message":"MCP error -32600: Authentication tokens are no longer valid. Please restart the server to re-authenticate."}`, true},
	{"a Deno server with its own code", `{"code":-32001,"message":"Unauthorized"}`, true},
	{"LoreKit", `{"code":-32001,"message":"Invalid or unknown API token"}`, true},
	{"Panopticon", `{"code":-32001,"message":"Invalid or missing API token."}`, true},
	{"a server in capitals", `{"code":-32001,"message":"UNAUTHORIZED: TOKEN_MISSING"}`, true},
	{"a server in two languages", `{"code":-32001,"message":"unauthorized: 需要有效 Bearer token 与 X-Agent-Id"}`, true},
	{"a server that wants a login", `{"code":-32001,"message":"Unauthorized — sign in first."}`, true},
	{"Lucid", `{"code":-32603,"message":"unexpected server response: HTTP 401 Unauthorized: {\"error\": \"unauthorized\", \"error_description\": \"Invalid or expired access token\"}"}`, true},
	{"GitHub", `{"code":-32603,"message":"failed to list pull requests: GET https://api.github.com/repos/o/r/pulls?page=1&state=open: 401 Bad credentials []"}`, true},
	{"Todoist", `{"code":-32000,"message":"Todoist API request failed (HTTP 401). Try next: Verify your API token and access permissions, then retry."}`, true},
	{"Cronicorn", `{"code":-32603,"message":"Authentication failed. Invalid or expired token. Please restart the MCP server to re-authenticate."}`, true},
	{"Slack", `{"code":-32603,"message":"An API error occurred: invalid_auth"}`, true},
	{"Meta", `{"code":-32603,"message":"Meta API error 190: Your Facebook/Meta access token has expired. Please reconnect your account."}`, true},
	{"Facebook", `{"code":-32603,"message":"Error validating access token: Session has expired on Sunday, 01-Jan-23"}`, true},
	{"Spotify", `{"code":-32603,"message":"The access token expired"}`, true},
	{"AWS", `{"code":-32603,"message":"ExpiredTokenException: The security token included in the request is expired"}`, true},
	{"Google", `{"code":-32603,"message":"Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential."}`, true},
	{"gRPC", `{"code":-32603,"message":"rpc error: code = Unauthenticated desc = x"}`, true},
	{"jsonwebtoken", `{"code":-32000,"message":"jwt expired"}`, true},
	{"an agent server", `{"code":-32600,"message":"unauthorized"}`, true},
	{"a server with an API key", `{"code":-32600,"message":"Unauthorized: Missing or invalid API key."}`, true},
	{"a server that was given none", `{"code":-32600,"message":"unauthorized: no valid token presented"}`, true},
	{"CalDAV", `{"code":-32600,"message":"Unauthenticated","data":{"status":401}}`, true},
	{"a message that says nothing", `{"code":-32603,"message":"Internal error","data":{"statusCode":401}}`, true},
	{"OAuth in data", `{"code":-32603,"message":"Internal error","data":{"error":"invalid_token"}}`, true},
	{"HTTP's code", `{"code":401,"message":"Please log in"}`, true},
	{"HTTP's other code, of a token", `{"code":403,"message":"invalid_token: the token has been revoked"}`, true},

	{"the SDKs' timeout", `{"code":-32001,"message":"Request timed out"}`, false},
	{"the SDKs' lost session", `{"code":-32001,"message":"Session not found"}`, false},
	{"a session id", `{"code":-32001,"message":"Invalid or missing session ID"}`, false},
	{"an overload", `{"code":-32001,"message":"Server overloaded; retry later"}`, false},
	{"a limit", `{"code":-32001,"message":"Rate limit exceeded"}`, false},
	{"another thing that is not found", `{"code":-32001,"message":"MCP server not found"}`, false},
	{"HTTP's code alone", `{"code":401,"message":"no"}`, false},
	{"a scope", `{"code":403,"message":"Forbidden: insufficient_scope, the token needs events:write"}`, false},
	{"a permission", `{"code":403,"message":"Resource not accessible by personal access token"}`, false},
	{"a permission in words", `{"code":-32603,"message":"Unauthorized access to project Apollo: ask its owner"}`, false},
	{"a permission beside a token", `{"code":-32603,"message":"insufficient permissions for the token"}`, false},
	{"a page token", `{"code":-32602,"message":"Invalid page token"}`, false},
	{"a page token that has expired", `{"code":-32602,"message":"The page token has expired"}`, false},
	{"a sync token", `{"code":-32603,"message":"Sync token is no longer valid, a full sync is required."}`, false},
	{"a continuation token", `{"code":-32602,"message":"continuation token expired"}`, false},
	{"a parser", `{"code":-32700,"message":"Unexpected token < in JSON at position 0"}`, false},
	{"another parser", `{"code":-32602,"message":"Syntax error: invalid token '}' at line 3"}`, false},
	{"a form", `{"code":-32603,"message":"CSRF token expired"}`, false},
	{"a model", `{"code":-32603,"message":"maximum tokens exceeded, invalid token count"}`, false},
	{"a certificate", `{"code":-32603,"message":"certificate has expired"}`, false},
	{"a coupon", `{"code":-32602,"message":"This coupon has expired"}`, false},
	{"an issue of that number", `{"code":-32602,"message":"issue 401 not found"}`, false},
	{"an argument that is missing", `{"code":-32602,"message":"missing token"}`, false},
	{"an argument in quotes", `{"code":-32000,"message":"\"token\" is missing"}`, false},
	{"an argument", `{"code":-32602,"message":"unknown parameter \"token\""}`, false},
	{"nothing", `{"code":-32603,"message":""}`, false},
	{"a long text", `{"code":-32603,"message":"401 Unauthorized ` + strings.Repeat("x", maxDenial) + `"}`, false},
}

func TestIsDenial(t *testing.T) {
	for _, tt := range denials {
		t.Run(tt.name, func(t *testing.T) {
			if got := isDenial(gjson.Parse(tt.error)); got != tt.want {
				t.Errorf("isDenial(%s) = %v, want %v", tt.error, got, tt.want)
			}
		})
	}
}

func TestIsResultDenial(t *testing.T) {
	tests := []struct {
		name, result string
		want         bool
	}{
		{"takes an error that says so", `{"isError":true,"content":[{"type":"text","text":"API Error: 401 Unauthorized"}]}`, true},
		{"leaves a result that is none", `{"content":[{"type":"text","text":"API Error: 401 Unauthorized"}]}`, false},
		{"leaves an error of another kind", `{"isError":true,"content":[{"type":"text","text":"the milk has expired"}]}`, false},
		{"reads the first text only", `{"isError":true,"content":[{"type":"text","text":"no"},{"type":"text","text":"401 Unauthorized"}]}`, false},
		{"reads texts only", `{"isError":true,"content":[{"type":"image","text":"401 Unauthorized"}]}`, false},
		{"reads no page that has the words in it", `{"isError":true,"content":[{"type":"text","text":"` + strings.Repeat("x ", maxDenial) + `401 Unauthorized"}]}`, false},
		{"reads nothing", `{"isError":true,"content":[]}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := isResultDenial(gjson.Parse(tt.result)); got != tt.want {
				t.Errorf("isResultDenial(%.100s) = %v, want %v", tt.result, got, tt.want)
			}
		})
	}
}

func TestRemarked(t *testing.T) {
	tests := []struct{ name, frame, want string }{
		{"goes into the message of an error", `{"jsonrpc":"2.0","id":1,"error":{"x":9007199254740993,"message":"no","code":1}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"x":9007199254740993,"message":"no (mcp-facade: try: a)","code":1}}`},
		{"goes beside the texts of a result", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"no"}],"isError":true}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"no"},{"type":"text","text":"\n(mcp-facade: try: a)"}],"isError":true}}`},
		{"leaves an error without a message", `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := wire.Parse([]byte(tt.frame))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(remarked(m, "try: a").Raw); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
