package upstream

import (
	"bytes"
	"strings"
)

// pageText is what a reader would see of an HTML page: its title, or else its
// text. It is for the error pages of proxies and need not be more than that.
func pageText(page []byte) []byte {
	var title, text []byte
	within := "" // title, script or style
	for len(page) > 0 {
		words, tag, rest := nextTag(page)
		switch within {
		case "":
			text = append(append(text, words...), ' ')
		case "title":
			title = append(title, words...)
		}
		switch {
		case within == "" && (tag == "title" || tag == "script" || tag == "style"):
			within = tag
		case tag == "/"+within:
			within = ""
		}
		page = rest
	}
	if len(bytes.TrimSpace(title)) > 0 {
		text = title
	}
	return unescaped(text)
}

// nextTag returns the text before the next tag or comment, the tag's name, and
// what follows it.
func nextTag(page []byte) (words []byte, name string, rest []byte) {
	words, page, _ = bytes.Cut(page, []byte("<"))
	if bytes.HasPrefix(page, []byte("!--")) {
		_, rest, _ = bytes.Cut(page, []byte("-->"))
		return words, "", rest
	}
	tag, rest, _ := bytes.Cut(page, []byte(">"))
	if i := bytes.IndexAny(tag, " \t\r\n"); i >= 0 {
		tag = tag[:i]
	}
	return words, strings.ToLower(string(tag)), rest
}

// unescaped replaces the few character references that such pages have.
func unescaped(text []byte) []byte {
	return []byte(strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&nbsp;", " ", "&amp;", "&").Replace(string(text)))
}
