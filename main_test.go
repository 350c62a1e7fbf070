package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

var update = flag.Bool("update", false, "rewrite the golden files in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mcp-facade":    main,
		"fake-upstream": fakeUpstream,
		"fake-token":    fakeToken,
		"omp":           fakeOmp,
		"host":          hostMain,
		"with":          with,
		"xdg-open":      browser,
		"paste":         paste,
	})
}

// TestScripts runs testdata/script: one file for each promise of the command
// line. Each has a home, a servers file and a cache of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Setup:               newHome,
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status,
			"scrub":  scrub,
			"mode":   mode,
			"empty":  empty,
			"lines":  lines,
			"nofile": nofile,
			"damage": damage,
			"http":   startSite,
			"oauth":  startOAuth,
			"stop":   stopSite,

			"holding": holding,
			"setin":   setin,
		},
	})
}

// newHome puts everything that the program looks for below $WORK.
func newHome(e *testscript.Env) error {
	for key, dir := range map[string]string{"HOME": "home", "USERPROFILE": "home", "XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache", "XDG_STATE_HOME": "state"} {
		e.Setenv(key, filepath.Join(e.WorkDir, dir))
	}
	// The race detector would let every process wait for a second at its end.
	e.Setenv("GORACE", "atexit_sleep_ms=0")
	e.Values[sitesKey{}] = map[string]func(){}
	e.Setenv("servers", filepath.Join(e.WorkDir, "config", "mcp-facade", "facade.servers.json"))
	return filepath.WalkDir(e.WorkDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".json") {
			return err
		}
		return os.Chmod(path, 0o600)
	})
}

// status runs a command and compares its exit code: status 2 mcp-facade tools
func status(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if ee := new(exec.ExitError); errors.As(err, &ee) {
		code = ee.ExitCode()
	} else if err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("%s: exit code %d, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}

var (
	moment   = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)`)
	duration = regexp.MustCompile(`\d+(\.\d+)? ms`)
	member   = regexp.MustCompile(`("\w+Ms": )\d+(\.\d+)?`)
)

// scrub writes an output to a file, without what differs from run to run: scrub stdout got
func scrub(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("WORK"), "$WORK")
	text = duration.ReplaceAllString(moment.ReplaceAllString(text, "WHEN"), "N ms")
	text = member.ReplaceAllString(text, "${1}N")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// mode compares the permissions of a file: mode 0600 file
func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// empty wants a folder without anything in it: empty dir
func empty(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		ts.Fatalf("%v", err)
	}
	if len(entries) > 0 {
		ts.Fatalf("%s has %s in it, want nothing", args[0], entries[0].Name())
	}
}

// lines counts the lines of a file, of which a missing one has none: lines 1 starts
func lines(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(ts.MkAbs(args[1]))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		ts.Fatalf("%v", err)
	}
	if got := fmt.Sprint(strings.Count(string(text), "\n")); got != args[0] {
		ts.Fatalf("%s has %s lines, want %s:\n%s", args[1], got, args[0], text)
	}
}

// nofile wants no file below a folder to have a word in its path: nofile dir word
func nofile(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(path, args[1]) {
			ts.Fatalf("%s is there", path)
		}
		return err
	}))
}

// damage puts other bytes into the middle of every file below a folder, or of those
// of one name: damage dir [name]
func damage(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || len(args) > 1 && d.Name() != args[1] {
			return err
		}
		text, err := os.ReadFile(path)
		ts.Check(err)
		copy(text[len(text)/4:], "damaged")
		return os.WriteFile(path, text, 0o600)
	}))
}

// with runs a command with one more variable: with NAME=VALUE COMMAND ARGS…
func with() {
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Env = append(os.Environ(), os.Args[1])
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	fatal(cmd.Run())
}

// hostMain is a host: it writes the frames of a file to a command's stdin, each
// request after the answer to the one before, and prints what comes back. What its
// user is asked is answered by $USER_SAYS. A line "$ COMMAND" is run in between.
//
//	host FRAMES COMMAND ARGS…
func hostMain() {
	frames, err := os.ReadFile(os.Args[1])
	fatal(err)
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	fatal(err)
	out, err := cmd.StdoutPipe()
	fatal(err)
	fatal(cmd.Start())
	read := bufio.NewReader(out)
	for _, frame := range strings.Split(strings.TrimSpace(string(frames)), "\n") {
		if command, ok := strings.CutPrefix(frame, "$ "); ok {
			words := strings.Fields(command)
			fatal(exec.Command(words[0], words[1:]...).Run())
			continue
		}
		fmt.Fprintln(in, frame)
		for id := gjson.Get(frame, "id"); id.Exists(); {
			line, err := read.ReadString('\n')
			fmt.Print(line)
			if again := answered(frame, line); again != "" {
				fmt.Fprintln(in, again)
				continue
			}
			if err != nil || gjson.Get(line, "id").Raw == id.Raw {
				break
			}
		}
	}
	in.Close()
	io.Copy(os.Stdout, read)
	if ee := new(exec.ExitError); errors.As(cmd.Wait(), &ee) {
		os.Exit(ee.ExitCode())
	}
}

// answered is what a host says when its user is asked: by a request, or by the
// result of a call, which it then sends again; "" where they are not.
func answered(call, line string) string {
	says := fmt.Sprintf(`{"action":%q}`, os.Getenv("USER_SAYS"))
	asked := gjson.Get(line, "result.requestState")
	switch {
	case gjson.Get(line, "method").Str == "elicitation/create":
		return answer(gjson.Get(line, "id").Raw, says)
	case asked.Exists():
		return strings.Replace(call, `"params":{`, fmt.Sprintf(`"params":{"requestState":%s,"inputResponses":{"mcpf_confirm":%s},`, asked.Raw, says), 1)
	}
	return ""
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

// A fake is an upstream of raw frames over stdio, as its flags say.
type fake struct {
	name   string
	tools  string // a file of raw tool objects, a line each
	starts string // a file that gets a line at each start
	noise  bool   // writes lines that are no protocol
	silent bool   // answers nothing
	dies   string // writes this to stderr and exits in the handshake
	tells  string // the name of a variable that it writes to stderr before it does so
	modern bool   // opens with server/discover
	only   bool   // opens with nothing else
	wants  int    // the number of the first token that calls are done with; 0: any is
	deaf   bool   // goes on after the end of stdin and SIGTERM
	more   bool   // lists one more tool, "more", to a host with roots
	loops  bool   // gives each page of tools the same cursor
	rooted bool   // the host that has opened is one
}

func fakeUpstream() {
	f := &fake{}
	flag.StringVar(&f.name, "name", "fake", "")
	flag.StringVar(&f.tools, "tools", "", "")
	flag.StringVar(&f.starts, "starts", "", "")
	flag.BoolVar(&f.noise, "noise", false, "")
	flag.BoolVar(&f.silent, "silent", false, "")
	flag.StringVar(&f.dies, "dies", "", "")
	flag.StringVar(&f.tells, "tells", "", "")
	flag.BoolVar(&f.modern, "modern", false, "")
	flag.BoolVar(&f.only, "only", false, "")
	flag.IntVar(&f.wants, "wants", 0, "")
	flag.BoolVar(&f.deaf, "deaf", false, "")
	flag.BoolVar(&f.more, "more", false, "")
	flag.BoolVar(&f.loops, "loops", false, "")
	flag.Parse()
	f.start()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if answer := f.handle(in.Text()); answer != "" {
			fmt.Println(answer)
		}
	}
	if f.deaf {
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Hour)
	}
}

func (f *fake) start() {
	noteArgs()
	if f.starts != "" {
		file, err := os.OpenFile(f.starts, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		fatal(err)
		fmt.Fprintln(file, os.Getpid())
		file.Close()
	}
	if f.noise {
		fmt.Println("fake-upstream is ready!")
		fmt.Println("[1/2] loading {")
	}
}

// handle gives the answer to a frame, "" for none.
func (f *fake) handle(frame string) string {
	id := gjson.Get(frame, "id").Raw
	switch method := gjson.Get(frame, "method").Str; {
	case f.silent || id == "":
		return ""
	case method == "server/discover" && f.modern:
		return answer(id, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":60000,"cacheScope":"private"}`)
	case method == "initialize" && f.only:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no such version","data":{"supported":["2026-07-28"]}}}`, id)
	case method == "initialize" && f.dies != "":
		fmt.Fprintln(os.Stderr, f.dies, os.Getenv(f.tells))
		os.Exit(4)
		return ""
	case method == "initialize":
		f.rooted = gjson.Get(frame, "params.capabilities.roots").Exists()
		return answer(id, fmt.Sprintf(`{"protocolVersion":%s,"capabilities":{"tools":{}},"serverInfo":{"name":%q,"version":"1"},"instructions":"Be kind."}`,
			gjson.Get(frame, "params.protocolVersion").Raw, f.name))
	case method == "tools/list":
		text, err := os.ReadFile(f.tools)
		fatal(err)
		list := strings.TrimSpace(string(text))
		if f.more && (f.rooted || gjson.Get(frame, `params._meta.io\.modelcontextprotocol/clientCapabilities.roots`).Exists()) {
			list += "\n" + `{"name":"more","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}`
		}
		next := ""
		if f.loops {
			next = `,"nextCursor":"same"`
		}
		return answer(id, `{"tools":[`+strings.ReplaceAll(list, "\n", ",")+`]`+next+`}`)
	case method == "tools/call" && denied(id, os.Getenv("TOKEN"), f.wants) != "":
		return denied(id, os.Getenv("TOKEN"), f.wants)
	case method == "tools/call":
		return f.call(id, gjson.Get(frame, "params.name").Str, gjson.Get(frame, "params.arguments"))
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, id)
}

// call runs a tool: fail answers with an error, die exits, getenv gives the
// variable that is asked for, any other repeats its arguments.
func (f *fake) call(id, tool string, args gjson.Result) string {
	switch tool {
	case "fail":
		return answer(id, `{"content":[{"type":"text","text":"the disk is full"}],"isError":true}`)
	case "die":
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(5)
	case "getenv":
		value, ok := os.LookupEnv(args.Get("name").Str)
		return said(id, fmt.Sprintf("%s=%s %v", args.Get("name").Str, value, ok))
	}
	return said(id, tool+" "+args.Raw)
}

func said(id, text string) string {
	b, err := json.Marshal(text)
	fatal(err)
	return answer(id, `{"content":[{"type":"text","text":`+string(b)+`}]}`)
}

func answer(id, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}
