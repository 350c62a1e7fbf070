package auth

import "testing"

func TestCheckURL(t *testing.T) {
	const far, near = "https://mcp.acme.example/v1", "http://127.0.0.1:8080/mcp"
	tests := []struct{ name, url, upstream, want string }{
		{"takes https", "https://auth.acme.example/x?y=z", far, ""},
		{"takes an address of the internet", "https://93.184.215.14/", far, ""},
		{"takes http near a near upstream", "http://localhost:1/x", near, ""},
		{"takes a private host near a near upstream", "http://10.0.0.7", "https://box.lan/mcp", ""},
		{"takes the internet from a near upstream", "https://auth.acme.example", near, ""},
		{"refuses http", "http://auth.acme.example/", far, "the URL at auth.acme.example is not https"},
		{"refuses http from a near upstream", "http://auth.acme.example/", near, "the URL at auth.acme.example is not https"},
		{"refuses other schemes", "file://auth.acme.example/etc", far, "the URL at auth.acme.example is not https"},
		{"refuses scripts", "javascript:alert(1)", far, "what the server names is no URL with a host"},
		{"refuses paths", "/x", far, "what the server names is no URL with a host"},
		{"refuses nothing", "", far, "what the server names is no URL with a host"},
		{"refuses a port alone", "https://:443/", far, "what the server names is no URL with a host"},
		{"refuses a user", "https://me:hunter2@auth.acme.example", far, "a URL at auth.acme.example has a user or a fragment in it"},
		{"refuses a fragment", "https://auth.acme.example/#x", far, "a URL at auth.acme.example has a user or a fragment in it"},
	}
	for _, host := range []string{"localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]",
		"10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "[fd00::1]", "[fe80::1%25eth0]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
		"224.0.0.1", "255.255.255.255", "2130706433", "0x7f.1", "127.1", "box", "box.local", "metadata.google.internal"} {
		tests = append(tests, struct{ name, url, upstream, want string }{"refuses " + host, "https://" + host + "/", far, "near"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			u, err := CheckURL(tt.url, tt.upstream)
			if err != nil {
				got = err.Error()
			}
			if tt.want == "near" && u != nil {
				tt.want = u.Host + " is a host of this machine or of a private network, and the server itself is not"
			}
			if tt.want == "near" && err != nil {
				return
			}
			if got != tt.want {
				t.Errorf("CheckURL(%s, %s):\n got %s\nwant %s", tt.url, tt.upstream, got, tt.want)
			}
		})
	}
}
