package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"cuts camel case", "getIssueComment", []string{"get", "issue", "comment"}},
		{"cuts Pascal case", "ListUsers", []string{"list", "users"}},
		{"cuts snake and kebab case", "list_mail-folders", []string{"list", "mail", "folders"}},
		{"cuts after an acronym", "getHTTPStatus", []string{"get", "http", "status"}},
		{"keeps a plural acronym whole", "listAPIs", []string{"list", "apis"}},
		{"keeps an acronym that ends in s", "useHTTPS", []string{"use", "https"}},
		{"cuts before a capitalised word with s", "HTTPService", []string{"http", "service"}},
		{"cuts at digits", "oauth2token", []string{"oauth", "2", "token"}},
		{"lower-cases other letters", "ÄRGER über", []string{"ärger", "über"}},
		{"drops a possessive", "the user's files", []string{"the", "user", "files"}},
		{"cuts at dots, slashes and signs", "a.b/c:d (e)!", []string{"a", "b", "c", "d", "e"}},
		{"finds none in signs", "-_ ./", nil},
		{"finds none in nothing", "", nil},
		{"takes broken UTF-8", "a\xffb", []string{"a", "b"}},
		{"keeps the beginning of a long run", strings.Repeat("x", 100_000), []string{strings.Repeat("x", maxWord)}},
		{"keeps a clause of a script without spaces", "查询天气", []string{"查询天气"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, words(tt.in)); diff != "" {
				t.Errorf("words(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestSearchedWords(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"cuts as elsewhere", "getHTTPStatus2", []string{"get", "http", "status", "2"}},
		{"drops accents", "Canción über Łódź, naïve façade, tiếng Việt", []string{"cancion", "uber", "lodz", "naive", "facade", "tieng", "viet"}},
		{"drops accents that are characters", "cafe\u0301 \u0301", []string{"cafe"}},
		{"keeps letters without an accent", "Müller №5 Ωmega жук", []string{"muller", "5", "ωmega", "жук"}},
		{"cuts a script without spaces into characters", "查询天气", []string{"查", "询", "天", "气"}},
		{"cuts between scripts", "API接口v2", []string{"api", "接", "口", "v", "2"}},
		{"keeps a long vowel apart", "データ", []string{"デ", "ー", "タ"}},
		{"cuts Hangul and Thai", "날씨 กข", []string{"날", "씨", "ก", "ข"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for r := (wordReader{rest: tt.in, search: true}); r.next(); {
				got = append(got, string(r.word))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("words of %q (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestNameWords(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"keeps digits in their word", "s3_bucket-v2", []string{"s3", "bucket", "v2"}},
		{"cuts after digits where a capital follows", "getHTTP2Stream", []string{"get", "http2", "stream"}},
		{"keeps digits before letters", "n8n_2fa", []string{"n8n", "2fa"}},
		{"reads no more than a name may have", strings.Repeat("a_", 200), slices.Repeat([]string{"a"}, maxSpelling/2)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, nameWords(tt.in)); diff != "" {
				t.Errorf("nameWords(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestTerm(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"makes one of singular and plural", "repositories", term("repository")},
		{"makes one of a verb's forms", "scheduled", term("scheduling")},
		{"leaves a short word", "as", "as"},
		{"leaves a stop word", "having", "having"},
		{"leaves a number", "2026", "2026"},
		{"leaves what is not ASCII", "événements", "événements"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := term(tt.in); got != tt.want {
				t.Errorf("term(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestTerms(t *testing.T) {
	if got := Terms("List the dueDates of my issues"); !slices.Equal(got, []string{"list", "due", "date", "issu"}) {
		t.Errorf("Terms are %q", got)
	}
}
