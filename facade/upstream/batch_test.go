package upstream

import (
	"slices"
	"strings"
	"testing"
)

func TestCandidates(t *testing.T) {
	for _, test := range []struct{ name, command, pathext, want string }{
		{"appends each extension", `C:\node\npx`, ".COM;.EXE;.BAT;.CMD", `C:\node\npx.com C:\node\npx.exe C:\node\npx.bat C:\node\npx.cmd`},
		{"keeps the order of PATHEXT", `npx`, ".CMD;.EXE", `npx.cmd npx.exe`},
		{"takes no extension that only a shell opens", `npx`, ".JS;.VBS;.EXE;.PY;", `npx.exe`},
		{"takes extensions without a dot", `npx`, "exe; .cmd ", `npx.exe npx.cmd`},
		{"has a PATHEXT of its own", `npx`, "", `npx.com npx.exe npx.bat npx.cmd`},
		{"takes a whole name first", `a/npx.cmd`, ".EXE", `a/npx.cmd a/npx.cmd.exe`},
		{"sees no extension in a folder's name", `C:\node.d\npx`, ".EXE", `C:\node.d\npx.exe`},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			if got := strings.Join(candidates(test.command, test.pathext), " "); got != test.want {
				t.Errorf("candidates(%q, %q)\n got %s\nwant %s", test.command, test.pathext, got, test.want)
			}
		})
	}
}

func TestIsBatch(t *testing.T) {
	for file, want := range map[string]bool{
		`C:\node\npx.cmd`: true, `a.BAT`: true, `a.cmd. .`: true, `a.bat.exe`: false, `bat`: false, `a.cmdx`: false, `C:\a.cmd\b`: false,
	} {
		if isBatch(file) != want {
			t.Errorf("isBatch(%q) = %v", file, !want)
		}
	}
}

func TestBatchLine(t *testing.T) {
	const file = `C:\Program Files\nodejs\npx.cmd`
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"leaves plain words", []string{"-y", "@acme/files@1.2", `C:\docs`, "a:b", "#$*+-./:?@_"}, `-y @acme/files@1.2 C:\docs a:b #$*+-./:?@_`},
		{"quotes spaces", []string{`C:\my docs`}, `"C:\my docs"`},
		{"quotes nothing at all", []string{""}, `""`},
		{"quotes what cmd.exe reads", []string{"a&b", "a|b", "<a>", "a^b", "(a)", "a!b", "a;b", "a,b", "a=b", "'a'"}, `"a&b" "a|b" "<a>" "a^b" "(a)" "a!b" "a;b" "a,b" "a=b" "'a'"`},
		{"doubles quotes", []string{`{"a": 1}`, `"&calc.exe`}, `"{""a"": 1}" """&calc.exe"`},
		{"lets no variable be read", []string{"%PATH%", "100%"}, `"%%cd:~,%PATH%%cd:~,%" "100%%cd:~,%"`},
		{"doubles backslashes before a quote", []string{`a\\"b`, `a\b c\`, `C:\`}, `"a\\\\""b" "a\b c\\" "C:\\"`},
		{"quotes other letters", []string{"ä"}, `"ä"`},
	} {
		t.Run("it "+test.name, func(t *testing.T) {
			want := `cmd.exe /d /e:on /v:off /c ""` + file + `" ` + test.want + `"`
			if got, err := batchLine(file, test.args); err != nil || got != want {
				t.Errorf("batchLine(%q)\n got %s, %v\nwant %s", test.args, got, err, want)
			}
		})
	}
	if got, err := batchLine(`C:\npx.cmd`, nil); err != nil || got != `cmd.exe /d /e:on /v:off /c ""C:\npx.cmd""` {
		t.Errorf("batchLine without arguments: %s, %v", got, err)
	}
	for _, arg := range []string{"a\nb", "a\r"} {
		const want = "it is a batch file, and its argument 2 holds a line end, which none can be given"
		if got, err := batchLine(file, []string{"a", arg}); err == nil || err.Error() != want {
			t.Errorf("batchLine with %q: %q, %v, want %s", arg, got, err, want)
		}
	}
}

// FuzzBatchLine shows that cmd.exe finds nothing to act on in a line, and that
// the program behind the batch file reads the arguments that went in.
func FuzzBatchLine(f *testing.F) {
	for _, arg := range []string{"", "a b", `a\\"b\`, `"&calc.exe`, "%PATH%", "%%a", "^\"", `\"%`, "a\x00ä"} {
		f.Add(arg, "x")
		f.Add("%", arg)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		line, err := batchLine(`C:\a & b\%1.cmd`, []string{a, b})
		if err != nil {
			if !strings.ContainsAny(a+b, "\r\n") {
				t.Errorf("arguments %q, %q: %v", a, b, err)
			}
			return
		}
		line = strings.TrimSuffix(strings.TrimPrefix(line, `cmd.exe /d /e:on /v:off /c "`), `"`)
		line = expanded(t, line)
		quoted := false
		for i := range len(line) {
			switch {
			case line[i] == '"':
				quoted = !quoted
			case !quoted && strings.IndexByte("&|<>^()", line[i]) >= 0:
				t.Errorf("arguments %q, %q: cmd.exe acts on %q of %s", a, b, line[i], line)
			}
		}
		if got, want := parsed(line), []string{`C:\a & b\%1.cmd`, a, b}; !slices.Equal(got, want) {
			t.Errorf("%s is read as %q, want %q", line, got, want)
		}
	})
}

// expanded does with a line what cmd.exe does before all else: a percent sign
// that is followed by another stands for itself, and what begins with the other
// is a variable, of which there is but one here, and that is cut to nothing.
func expanded(t *testing.T, line string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(line, "%")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		rest, ok := strings.CutPrefix(after, "%cd:~,%")
		if !ok {
			t.Fatalf("cmd.exe reads a variable at %%%s", after)
		}
		b.WriteByte('%')
		line = rest
	}
}

// parsed reads a command line as the C run-time library does.
// "Parsing C command-line arguments", Microsoft C reference.
func parsed(line string) []string {
	var all []string
	var arg []byte
	quoted, within := false, false
	for i := 0; i < len(line); i++ {
		slashes := len(line[i:]) - len(strings.TrimLeft(line[i:], `\`))
		next := i + slashes
		switch c := line[i]; {
		case slashes > 0 && next < len(line) && line[next] == '"':
			arg = append(arg, strings.Repeat(`\`, slashes/2)...)
			within = true
			if i = next - 1; slashes%2 == 1 {
				arg = append(arg, '"')
				i = next
			}
		case c == '"' && quoted && i+1 < len(line) && line[i+1] == '"':
			arg = append(arg, '"')
			i++
		case c == '"':
			quoted, within = !quoted, true
		case (c == ' ' || c == '\t') && !quoted:
			if within {
				all = append(all, string(arg))
			}
			arg, within = nil, false
		default:
			arg, within = append(arg, c), true
		}
	}
	if within {
		all = append(all, string(arg))
	}
	return all
}
