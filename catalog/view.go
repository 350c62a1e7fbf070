package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// The eras of the protocol, and so of a [View].
const (
	legacy = "legacy" // up to 2025-11-25, opens with initialize
	modern = "modern" // from 2026-07-28, stateless
	both   = "both"   // of an upstream only
)

// A View is what of a host an upstream may make its lists depend on. Two hosts
// with equal views are shown the same lists.
type View struct {
	Era          string   // "legacy" or "modern"
	Version      string   // the protocol version
	Capabilities []string // sorted paths: "elicitation", "elicitation.form", "roots.listChanged"
}

// CommandView is the view of a command that no host stands behind, where no
// other is stored. It is never served to a host as the nearest of its own.
func CommandView() View { return View{Era: legacy, Version: "2025-11-25"} }

// ViewOf is the view of a host that opens in that era and version with these
// capabilities: the raw object, or nil for none. Equal capabilities give equal
// views however they are written: objects and what is true count by their
// path, what is false or null counts as absent, anything else by path and
// value.
func ViewOf(era, version string, capabilities []byte) View {
	v := View{Era: era, Version: version}
	if caps := gjson.ParseBytes(capabilities); caps.IsObject() {
		v.Capabilities = appendPaths(nil, "", caps, maxDepth)
		slices.Sort(v.Capabilities)
		v.Capabilities = slices.Compact(v.Capabilities)
	}
	return v
}

// maxDepth is how deep capabilities are followed; what is deeper counts as
// written. Known ones end at a depth of 4.
const maxDepth = 8

// appendPaths appends the paths of object's members.
func appendPaths(paths []string, prefix string, object gjson.Result, depth int) []string {
	object.ForEach(func(key, v gjson.Result) bool {
		path := prefix + pathName(key.Str)
		switch {
		case v.Type == gjson.False || v.Type == gjson.Null:
		case v.Type == gjson.True:
			paths = append(paths, path)
		case v.IsObject() && depth > 1:
			paths = appendPaths(append(paths, path), path+".", v, depth-1)
		default:
			paths = append(paths, path+"="+plain(v))
		}
		return true
	})
	return paths
}

// pathName is a member's name as a part of a path; one that could be mistaken
// for several parts is quoted.
func pathName(name string) string {
	if strings.ContainsAny(name, `.="\`) {
		return strconv.Quote(name)
	}
	return name
}

// plain is a value without the white space that does not count.
func plain(v gjson.Result) string {
	if v.Type == gjson.JSON {
		return v.Get("@ugly").Raw
	}
	return v.Raw
}

// Key is the view as a short name that is safe as a file name, the same in
// every process and version of this program.
func (v View) Key() string {
	hash := sha256.New()
	for _, part := range append([]string{v.Era, v.Version}, v.Capabilities...) {
		hash.Write(strconv.AppendInt(nil, int64(len(part)), 10))
		hash.Write([]byte{':'})
		hash.Write([]byte(part))
	}
	sum := hex.EncodeToString(hash.Sum(nil)[:8])
	return clean(v.Era, "era") + "-" + clean(v.Version, "version") + "-" + sum
}

// equal reports whether the views have the same lists.
func (v View) equal(w View) bool {
	return v.Era == w.Era && v.Version == w.Version && slices.Equal(v.Capabilities, w.Capabilities)
}

// shared is how many capabilities both views have. Both lists are sorted.
func (v View) shared(w View) int {
	n := 0
	for _, c := range v.Capabilities {
		if _, ok := slices.BinarySearch(w.Capabilities, c); ok {
			n++
		}
	}
	return n
}

// clean makes s a part of a file name: at most 32 of a–z, 0–9 and single
// hyphens, or the fallback where nothing is left.
func clean(s, fallback string) string {
	const limit = 32
	var out []byte
	for i := 0; i < len(s) && len(out) < limit; i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			out = append(out, c)
		case 'A' <= c && c <= 'Z':
			out = append(out, c+'a'-'A')
		case len(out) > 0 && out[len(out)-1] != '-':
			out = append(out, '-')
		}
	}
	if name := strings.TrimRight(string(out), "-"); name != "" {
		return name
	}
	return fallback
}
