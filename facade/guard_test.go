package facade

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/tidwall/gjson"
)

// A call of a tool reaches the upstream only through run, which asks the guard:
// at once, or when the user has agreed.
func TestOneDoor(t *testing.T) {
	functions := functions(t)
	calls := map[string][]string{}
	for name, fn := range functions {
		calls[name] = called(fn)
	}
	for callee, want := range map[string][]string{
		"f.allow":          {"f.consider"},
		"f.consider":       {"f.decided", "f.run"},
		"f.callTool":       {"f.asked"},
		"f.heed":           {"f.decided", "f.run"},
		"f.confirm":        {"f.heed"},
		"f.consult":        {"f.confirm"},
		"f.confirmByRound": {"f.confirm"},
		"f.decided":        {"f.answered"},
		"f.proceed":        {"f.confirm", "f.confirmByRound", "f.decided", "f.heed"},
	} {
		if got := callers(calls, callee); !slices.Equal(got, want) {
			t.Errorf("%s is called by %q, want %q alone", callee, got, want)
		}
	}
	if run := calls["f.run"]; slices.Index(run, "f.consider") > slices.Index(run, "f.heed") {
		t.Error("run sends before it asks the guard")
	}
	// catchUp takes other messages of the host, each by its own way.
	reached := reachable(calls, "f.callTool", "f.run", "f.catchUp")
	for _, door := range []string{"f.proceed", "f.submit", "f.forward", "f.pass"} {
		if path, ok := reached[door]; ok {
			t.Errorf("%s is reached without the guard: %s", door, path)
		}
	}
	for _, name := range callers(calls, "f.submit") {
		if name != "f.proceed" && slices.Contains(literals(functions[name]), `"tools/call"`) {
			t.Errorf("%s submits, and knows of tools/call", name)
		}
	}
}

// functions are those of the package, methods by the name of their receiver:
// that of a Facade is f.
func functions(t *testing.T) map[string]*ast.FuncDecl {
	t.Helper()
	paths, _ := filepath.Glob("*.go")
	all := map[string]*ast.FuncDecl{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				all[nameOf(fn)] = fn
			}
		}
	}
	return all
}

func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil || fn.Recv.List[0].Names == nil {
		return fn.Name.Name
	}
	return fn.Recv.List[0].Names[0].Name + "." + fn.Name.Name
}

// called are the names of what a function calls or hands on, in order.
func called(fn *ast.FuncDecl) (all []string) {
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			switch x := n.X.(type) {
			case *ast.Ident:
				all = append(all, x.Name+"."+n.Sel.Name)
			case *ast.SelectorExpr:
				all = append(all, x.Sel.Name+"."+n.Sel.Name)
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok {
				all = append(all, id.Name)
			}
		}
		return true
	})
	return all
}

func callers(calls map[string][]string, callee string) (all []string) {
	for name, callees := range calls {
		if slices.Contains(callees, callee) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// reachable are the functions that are called from one on, by how, without
// going through some others.
func reachable(calls map[string][]string, from string, without ...string) map[string]string {
	reached := map[string]string{from: from}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range calls[queue[0]] {
			if _, known := reached[next]; !known && !slices.Contains(without, next) {
				reached[next] = reached[queue[0]] + " → " + next
				queue = append(queue, next)
			}
		}
	}
	return reached
}

// literals are those in a function.
func literals(fn *ast.FuncDecl) (all []string) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok {
			all = append(all, lit.Value)
		}
		return true
	})
	return all
}

// disguised is the name of a tool as nobody should get at it: in any case, with
// other separators, prefixes, and what nobody sees.
func disguised(r *rand.Rand, name string) string {
	var b strings.Builder
	for _, c := range name {
		switch r.IntN(12) {
		case 0:
			c = unicode.ToUpper(c)
		case 1:
			b.WriteString(pick(r, "\u200b", "\ufeff", "\U000E0041", "\u202e"))
		}
		if strings.ContainsRune(separators, c) && r.IntN(3) == 0 {
			b.WriteString(pick(r, "_", "-", ".", "/", ":", " "))
		} else {
			b.WriteRune(c)
		}
	}
	bent := b.String()
	for range r.IntN(3) {
		bent = pick(r, "mcp__acme__", "mcp__x__", "acme_", "ACME-", "acme.", "any/", "functions.", "mcp_acme_", " ", "\n", "x:") + bent
	}
	if r.IntN(4) == 0 {
		bent += pick(r, " ", "\t", "\u200b")
	}
	return bent
}

func pick(r *rand.Rand, all ...string) string { return all[r.IntN(len(all))] }

// attempts are params of tools/call by which somebody may try to get at a tool.
func attempts(r *rand.Rand, name string) (direct string, meta []string) {
	bent := quote(disguised(r, name))
	args := pick(r, `{}`, `{"id":"1"}`, `{"x":[1]}`)
	forms := manglings()
	sent := forms[r.IntN(len(forms))].form(bent, args)
	again := forms[r.IntN(len(forms))].form(bent, sent)
	direct = `{"name":` + bent + `,"arguments":` + args + `}`
	for _, sent := range []string{sent, again} {
		if !gjson.Valid(sent) { // an escape in capitals
			sent = "{}"
		}
		meta = append(meta, `{"name":"call","arguments":`+sent+`}`)
	}
	return direct, append(meta,
		`{"name":"describe","arguments":{"tool":`+bent+`}}`,
		`{"name":"describe","arguments":{"names":["get_issue",`+bent+`]}}`,
		`{"name":"discover","arguments":{"query":`+bent+`}}`)
}

// Whatever a hidden tool is called, it is never called, and nothing that is
// said differs from what is said where there is no such tool.
func TestHiddenByAnyName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		secret := tool("delete_issue", "Zap it.", `{"type":"object","properties":{"zap":{}},"required":["id"]}`)
		with, without := &fake{tools: append(shop(), secret)}, &fake{tools: shop()}
		hiding := start(t, Options{Server: entry(t, `,"used":[],"hide":["delete_*"]`)}, with)
		plain := start(t, Options{Server: entry(t, `,"used":[]`)}, without)
		hiding.open()
		plain.open()
		hiding.said()
		plain.said()
		r := rand.New(rand.NewPCG(1, 2))
		for range 1000 {
			direct, meta := attempts(r, "delete_issue")
			answer, _ := hiding.ask("1", "tools/call", direct)
			if !gjson.Get(answer, "result.isError").Bool() || strings.Contains(strings.ToLower(answer), "zap") {
				t.Errorf("%s is answered by %s", direct, answer)
			}
			for _, params := range meta {
				answer, _ := hiding.ask("1", "tools/call", params)
				if want, _ := plain.ask("1", "tools/call", params); answer != want {
					t.Errorf("%s is answered by\n%s, where there is no such tool by\n%s", params, answer, want)
				}
			}
		}
		for _, params := range with.calls() {
			if reaches(params, "deleteissue") {
				t.Errorf("the upstream is called by %s", params)
			}
		}
	})
}

// reaches reports whether the name that is called has these letters.
func reaches(params, letters string) bool {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, gjson.Get(params, "name").Str)
	return strings.Contains(name, letters)
}

// No name that comes to what a hidden tool is called gets through.
func FuzzHidden(f *testing.F) {
	for _, name := range []string{"delete_issue", "DELETE-ISSUE", "mcp__acme__delete_issue", "a/delete issue", " \u200bdelete_issue", "delete_\u017fsue"} {
		f.Add(name)
	}
	facade, v, _ := facadeWith(f, `,"used":[],"hide":["delete_*"]`, []byte(`{"tools":[`+strings.Join(append(shop(), tool("delete_issue", "", "")), ",")+`]}`))
	f.Fuzz(func(t *testing.T, name string) {
		for _, m := range manglings() {
			o, err := facade.understand(v, facade.surfaceOf(v), gjson.Parse(m.form(quote(name), `{"id":"1"}`)), true)
			if err == nil && facade.allow(&invocation{view: v, tool: o.tool}) == nil && fold(strings.Trim(o.tool, separators)) == "delete_issue" {
				t.Errorf("%s: %q is called as %q", m.name, name, o.tool)
			}
		}
	})
}

// TestNoCallPassesTheGuardBy shows that a call in which an upstream may read a
// name that we do not is not sent at all.
func TestNoCallPassesTheGuardBy(t *testing.T) {
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"Name":"delete_x","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":["delete_x"]}}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":{"name":"delete_x"}}}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":["delete_x"]}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"delete_x"}}`,
	} {
		up := &fake{tools: []string{tool("delete_x", "Deletes it.", ""), tool("get_x", "Gets it.", "")}}
		d := start(t, Options{Server: entry(t, `,"hide":["delete_*"]`)}, up)
		d.open()
		d.names()
		d.send(frame)
		d.ask("8", "tools/call", `{"name":"get_x","arguments":{}}`)
		d.close()
		if got := up.received("tools/call"); len(got) != 1 || !strings.Contains(got[0], "get_x") {
			t.Errorf("%s: the upstream was sent %q", frame, got)
		}
	}
}

// TestMetaToolInAnotherCase shows that a meta-tool is found in any case, unless
// the upstream has a tool of that name.
func TestMetaToolInAnotherCase(t *testing.T) {
	up := &fake{tools: []string{tool("get_x", "Gets it.", ""), tool("DESCRIBE", "Theirs.", "")}}
	d := start(t, Options{Server: entry(t, `,"used":[]`)}, up)
	d.open()
	d.names()
	if got := text(d.call("2", "Discover", `{"query":"get"}`)); !strings.Contains(got, "get_x(") {
		t.Errorf("Discover says %s", got)
	}
	if got := text(d.call("3", "Describe", `{}`)); !strings.Contains(got, "DESCRIBE") {
		t.Errorf("Describe says %s, want the upstream's", got)
	}
}
