package facade

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "mcp-facade"

// The drawing in doc.go shows each package of the program and what it imports
// of ours. What is not drawn needs a reason, and then a place in the drawing.
func TestArrows(t *testing.T) {
	drawn, real := drawnArrows(t), realArrows(t)
	for _, name := range slices.Sorted(maps.Keys(real)) {
		if _, ok := drawn[name]; !ok {
			t.Errorf("package %s is not drawn in doc.go", name)
			continue
		}
		for _, to := range real[name] {
			if !slices.Contains(drawn[name], to) {
				t.Errorf("%s imports %s, and doc.go has no such arrow", name, to)
			}
		}
		for _, to := range drawn[name] {
			if !slices.Contains(real[name], to) {
				t.Errorf("doc.go has an arrow from %s to %s, and there is no such import", name, to)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(drawn)) {
		if _, ok := real[name]; !ok {
			t.Errorf("doc.go draws %s, and there is no such package", name)
		}
	}
}

// drawnArrows reads the drawing: the lines with an arrow.
func drawnArrows(t *testing.T) map[string][]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	arrows := map[string][]string{}
	for line := range strings.Lines(file.Doc.Text()) {
		if from, to, ok := strings.Cut(line, "→"); ok && strings.HasPrefix(line, "\t") {
			arrows[strings.TrimSpace(from)] = strings.Fields(to)
		}
	}
	return arrows
}

// realArrows reads the imports of every package of the program; e2e holds
// tests only.
func realArrows(t *testing.T) map[string][]string {
	t.Helper()
	arrows := map[string][]string{}
	err := fs.WalkDir(os.DirFS(".."), ".", func(file string, entry fs.DirEntry, err error) error {
		switch base := path.Base(file); {
		case err != nil:
			return err
		case entry.IsDir():
			if file == "e2e" || base == "testdata" || base != "." && strings.HasPrefix(base, ".") {
				return fs.SkipDir
			}
		case strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go"):
			name := path.Dir(file)
			if name == "." {
				name = "main"
			}
			arrows[name] = append(arrows[name], ourImports(t, file)...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range arrows {
		slices.Sort(to)
		arrows[name] = slices.Compact(to)
	}
	return arrows
}

// ourImports are the packages of the program that a file imports.
func ourImports(t *testing.T, file string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", filepath.FromSlash(file)), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if name, ours := strings.CutPrefix(imported, module+"/"); ours && err == nil {
			names = append(names, name)
		}
	}
	return names
}
