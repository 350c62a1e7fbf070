package hosts

import (
	"errors"
	"fmt"
	"strings"

	"mcp-facade/facade/jsonc"
)

// remote translates a server that has a URL.
func (t *translator) remote() error {
	if !isWeb(t.entry.URL) && (t.pattern == nil || !t.pattern.MatchString(t.entry.URL)) {
		return errors.New(`its URL does not begin with "https://" or "http://"`)
	}
	address := t.address()
	o := object{{"url", jsonc.Quote(address)}}
	if t.entry.Transport == "sse" {
		o = append(o, pair{"transport", jsonc.Quote("sse")})
	}
	headers, err := t.headersOf()
	if err != nil {
		return err
	}
	if len(headers) > 0 {
		o = append(o, pair{"headers", headers.indented("  ")})
	}
	oauth, err := t.oauth()
	if err != nil {
		return err
	}
	if oauth != "" {
		o = append(o, pair{"oauth", oauth})
		t.Notes = append(t.Notes, "The host's login does not count for mcp-facade: run mcp-facade login with the server's name once.")
	} else if len(headers) == 0 && address == t.entry.URL {
		t.Notes = append(t.Notes, `No authorization is configured: if the server asks for a login, add "oauth": true to its "upstream" in the servers file, and run mcp-facade login with its name.`)
	}
	if t.dialect.pass != "" {
		t.Translation.pass = append(t.Translation.pass, strings.Fields(connecting)...)
	}
	t.Upstream = o.bytes()
	return nil
}

// address translates the URL.
func (t *translator) address() string {
	if secretInWord(t.entry.URL) >= 0 && !t.isPlaceholder(t.entry.URL) {
		return t.carry(t.entry.URL, "URL")
	}
	return t.text(t.entry.URL, "URL")
}

// connecting are the variables by which we find a proxy, certificates, and what a
// login has left: a host that hands on few variables did without them itself.
const connecting = "HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR XDG_STATE_HOME DBUS_SESSION_BUS_ADDRESS"

func isWeb(address string) bool {
	lower := strings.ToLower(address)
	return strings.HasPrefix(lower, "https://") || strings.HasPrefix(lower, "http://")
}

// headersOf translates the headers, and Codex's ways to name variables for them.
func (t *translator) headersOf() (object, error) {
	var o object
	for _, h := range t.entry.Headers {
		o = append(o, pair{h.Name, jsonc.Quote(t.header(h))})
	}
	byName := func(header, lead, variable, or string) error {
		if variableOf(variable) != strings.ToUpper(variable) || variable == "" {
			return fmt.Errorf("header %q: want the name of a variable", header)
		}
		o = append(o, pair{header, jsonc.Quote(lead + "${" + variable + or + "}")})
		if !t.hasEnv(variable) {
			t.Translation.pass = append(t.Translation.pass, variable)
		}
		return nil
	}
	for _, h := range t.server.get("env_http_headers").vars() { // one that is not set is no error in Codex
		if err := byName(h.Name, "", h.Value, ":-"); err != nil {
			return nil, err
		}
	}
	if name := t.server.get("bearer_token_env_var"); name != nil {
		return o, byName("Authorization", "Bearer ", name.text(), "")
	}
	return o, nil
}

// header translates a header: what is literal in it goes through a variable,
// unless that is only a scheme.
func (t *translator) header(h Var) string {
	literal := t.literal(h.Value)
	switch strings.ToLower(strings.TrimSpace(literal)) {
	case "", "bearer", "basic", "token":
		if literal != h.Value {
			return t.text(h.Value, variableOf(h.Name))
		}
	}
	return t.carry(h.Value, variableOf(h.Name))
}

// oauth translates what the host knows for a login: "" is nothing.
func (t *translator) oauth() (string, error) {
	n := t.server.get("oauth")
	if n == nil {
		n = t.server.get("auth")
	}
	if n == nil || n.literal() == "false" || n.get("enabled").literal() == "false" {
		return "", nil
	}
	var o object
	for i := range n.nodes {
		kid := &n.nodes[i]
		switch kid.key {
		case "enabled":
		case "clientId", "client_id", "CLIENT_ID":
			o = append(o, pair{"clientId", jsonc.Quote(t.text(kid.value, "CLIENT_ID"))})
		case "clientSecret", "client_secret", "CLIENT_SECRET":
			name := strings.Trim(t.carry(kid.value, "CLIENT_SECRET"), "${}")
			o = append(o, pair{"clientSecretFrom", jsonc.Quote("env:" + name)})
		case "scopes", "scope":
			scopes := kid.texts()
			if kid.kind == text {
				scopes = strings.Fields(kid.value)
			}
			o = append(o, pair{"scopes", jsonOf(scopes)})
		default:
			return "", fmt.Errorf(`%q in its login is not known to mcp-facade; write "oauth" into the servers file by hand`, kid.key)
		}
	}
	if len(o) == 0 {
		return "true", nil
	}
	return o.indented("  "), nil
}
