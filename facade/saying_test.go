package facade

import "testing"

func TestExactName(t *testing.T) {
	for name, want := range map[string]string{
		"get_issue":          `get_issue`,
		"ns/get.Issue-2:x":   `ns/get.Issue-2:x`,
		"查询_天气":              `查询_天气`,
		"ツールを使う":             `ツールを使う`,
		"":                   `""`,
		"a b":                `"a b"`,
		"a\nb":               `"a\nb"`,
		"r\u0435ad_file":     `"r\u0435ad_file"`, // Cyrillic е
		"а":                  `"\u0430"`,
		"list一x":             `"list\u4e00x"`,
		"get\u200b_issue":    `"get\u200b_issue"`,
		"查\u3164询":           `"\u67e5\u3164\u8be2"`, // a letter that cannot be seen
		"ｇｅｔ":                `"\uff47\uff45\uff54"`,
		"removed  get_issue": `"removed  get_issue"`,
	} {
		if got := ExactName(name); got != want {
			t.Errorf("ExactName(%q) = %s, want %s", name, got, want)
		}
	}
}
