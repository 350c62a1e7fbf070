package upstream

import (
	"bytes"
	"strings"
)

// pageText is what a reader would see of an HTML page: its title, or else its
// text. It is for the error pages of proxies and need not be more than that.
func pageText(page []byte) []byte {
	var title, text []byte
	for len(page) > 0 {
		words, tag, rest := nextTag(page)
		text = append(append(text, words...), ' ')
		switch tag {
		case "title":
			title, rest = inner(rest, tag)
		case "script", "style":
			_, rest = inner(rest, tag)
		}
		page = rest
	}
	if len(bytes.TrimSpace(title)) > 0 {
		text = title
	}
	return unescaped(text)
}

// inner returns what stands before the end tag of an element, and the rest from
// there on.
func inner(page []byte, name string) (content, rest []byte) {
	for at := 0; ; at++ {
		i := bytes.Index(page[at:], []byte("</"))
		if i < 0 {
			return page, nil
		}
		at += i
		end := page[at+len("</"):]
		if len(end) >= len(name) && strings.EqualFold(string(end[:len(name)]), name) {
			return page[:at], page[at:]
		}
	}
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
