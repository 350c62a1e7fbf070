package upstream

import (
	"net/http"
	"strings"
	"testing"
)

func TestPageText(t *testing.T) {
	for _, tt := range []struct{ name, page, want string }{
		{"shows the title", "<html><TITLE lang=en>502 Bad &amp; Gateway</title><body>x", "502 Bad & Gateway"},
		{"shows the text without a title", "<head><title> </title></head><p>no<br>way</p>", "no way"},
		{"hides scripts and styles", `<script>if (a<b) {}</script><style>p > a {}</style>x<Script src="y"></SCRIPT>z`, "x z"},
		{"hides comments", "a<!-- <b>c</b> -->d", "a d"},
		{"takes what is not closed", "a<p", "a"},
		{"takes a script that is not closed", "a<script>b</p>", "a"},
		{"takes a comment that is not closed", "a<!-- b", "a"},
		{"takes nothing", "", ""},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			if got := strings.Join(strings.Fields(string(pageText([]byte(tt.page)))), " "); got != tt.want {
				t.Errorf("pageText(%q) = %q; want %q", tt.page, got, tt.want)
			}
		})
	}
}

func TestChallenge(t *testing.T) {
	for _, tt := range []struct{ name, line, param, want string }{
		{"finds a quoted value", `Bearer realm="a, b", error="invalid_token"`, "error", "invalid_token"},
		{"finds a bare value", `Bearer error=invalid_token, scope=x`, "error", "invalid_token"},
		{"finds the first parameter", `Bearer scope="a b"`, "scope", "a b"},
		{"finds one of a second challenge", `Basic realm="x", Bearer error="insufficient_scope"`, "error", "insufficient_scope"},
		{"takes escapes away", `Bearer scope="a\"b\\"`, "scope", `a"b\`},
		{"takes names in other letters", `bearer ERROR="x"`, "error", "x"},
		{"does not look into values", `Bearer error_description="error=\"invalid_token\""`, "error", ""},
		{"takes what is not closed", `Bearer error="x`, "error", "x"},
		{"takes an empty value", `Bearer error=`, "error", ""},
		{"takes nothing", ``, "error", ""},
	} {
		t.Run("it "+tt.name, func(t *testing.T) {
			h := http.Header{"Www-Authenticate": {tt.line}}
			if got := challenge(h, tt.param); got != tt.want {
				t.Errorf("challenge(%s, %s) = %q; want %q", tt.line, tt.param, got, tt.want)
			}
		})
	}
}
