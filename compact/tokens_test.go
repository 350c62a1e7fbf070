package compact

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func TestTok(t *testing.T) {
	var ref map[string]int
	b, _ := os.ReadFile("/tmp/tok/ref.json")
	json.Unmarshal(b, &ref)
	files, _ := filepath.Glob("/tmp/tok/in/*.json")
	for _, f := range files {
		var tools []string
		b, _ := os.ReadFile(f)
		json.Unmarshal(b, &tools)
		n := 0
		for _, tl := range tools {
			n += Tokens([]byte(tl))
		}
		r := ref[filepath.Base(f)]
		t.Logf("%-28s %7d %7d %+.1f%%", filepath.Base(f), r, n, 100*(float64(n)/float64(r)-1))
	}
}
