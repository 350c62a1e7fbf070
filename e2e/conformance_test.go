package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// What passes when the conformance suite talks to go-sdk's server must pass when
// the facade stands between, be it in front of the server's stdio or its HTTP.
// The suite speaks HTTP, so it talks to the facade through a bridge; through the
// bridge alone it must say the same, or the test and not the facade is wrong.
func TestServerConformance(t *testing.T) {
	s := newSuite(t)
	bin := sdkProgram(t, "everything-server")
	for _, r := range []struct {
		revision string
		flag     string // with which the server speaks it over HTTP
		passes   int    // without the facade
	}{
		{"2025-11-25", "-stateless=false", 82},
		{"2026-07-28", "-stateless=true", 164},
	} {
		t.Run(r.revision, func(t *testing.T) {
			url := serveHTTP(t, bin, r.flag)
			stdio := upstream{Command: bin}
			direct := s.judge(t, "server", "--requirements", r.revision, "--url", url)
			if n := direct.passes(); n != r.passes {
				t.Errorf("%d checks pass without the facade, want %d", n, r.passes)
			}
			through := func(name string, serve func(*testing.T, *world) command, excused ...excuses) {
				t.Run(name, func(t *testing.T) {
					c := serve(t, newWorld(t))
					b := newBridge(t, func(*http.Request) command { return c })
					defer b.close()
					compare(t, direct, s.judge(t, "server", "--requirements", r.revision, "--url", b.url), excused...)
				})
			}
			through("bridge alone", func(t *testing.T, w *world) command { return stdio.direct(w) }, ofBridge)
			through("stdio", func(t *testing.T, w *world) command { return w.bare(t, stdio) }, ofBridge, ofFacade)
			through("stdio, every tool hidden", func(t *testing.T, w *world) command { return w.serve(t, stdio, "no_such_tool") }, ofBridge, ofFacade, ofSurface)
			through("http", func(t *testing.T, w *world) command { return w.bare(t, remote{url}) }, ofBridge, ofFacade, ofHTTP)
		})
	}
}

// The same for go-sdk's client in front of the suite's servers, which the facade
// reaches over HTTP. What is about authorization is left out.
func TestClientConformance(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	s := newSuite(t)
	bin := sdkProgram(t, "everything-client")
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for _, scenario := range s.clientScenarios(t, revision) {
			t.Run(revision+"/"+scenario, func(t *testing.T) {
				run := func(command string) verdicts {
					return s.judge(t, "client", "--scenario", scenario, "--spec-version", revision, "--command", command)
				}
				c := newWorld(t).bare(t, remote{"${E2E_URL}"})
				b := newBridge(t, func(r *http.Request) command {
					return command{args: c.args, env: append(slices.Clip(c.env), "E2E_URL="+r.URL.Query().Get("to"))}
				})
				defer b.close()
				direct := run(bin)
				if direct.passes() == 0 {
					t.Error("nothing passes without the facade")
				}
				// The suite puts the URL of its server at the end of the command.
				compare(t, direct, run(`sh -c '`+bin+` "`+b.url+`?to=$0"'`))
			})
		}
	}
}

// Excuses are checks that need not pass, each with the reason: by the scenario,
// or by the scenario and the check.
type excuses map[string]string

// ofBridge excuses what a server over HTTP has to do besides MCP, and what a
// server over stdio cannot know.
var ofBridge = excuses{
	"dns-rebinding-protection localhost-host-rebinding-rejected":              "the bridge serves every Host",
	"server-sse-polling server-sse-retry-field":                               "the bridge leaves no stream before its end",
	"http-header-validation":                                                  "the bridge reads no header that repeats the body",
	"http-custom-header-server-validation":                                    "the bridge reads no header that repeats the body, and no tool of the facade asks for one",
	"tasks-request-headers tasks-headers-reject-mismatched-method":            "the bridge reads no header that repeats the body",
	"server-stateless sep-2575-http-server-header-mismatch-400":               "the bridge reads no header that repeats the body",
	"server-stateless sep-2575-http-server-meta-invalid-400":                  "without its header, a request that has no version in _meta is one of the legacy era",
	"server-stateless sep-2575-request-meta-invalid-missing-meta":             "without its header, a request that has no version in _meta is one of the legacy era",
	"server-stateless sep-2575-request-meta-invalid-missing-protocol-version": "without its header, a request that has no version in _meta is one of the legacy era",
}

// ofFacade excuses what the facade does otherwise on purpose.
var ofFacade = excuses{
	"server-stateless sep-2575-server-sends-tools-list-changed-on-subscription": "the server adds a tool that it has: the list is the same, so the host is not told",
}

// ofSurface excuses what reads the tools of a list that has only the facade's.
var ofSurface = excuses{
	"json-schema-2020-12": "the tool whose schema is read is not listed",
}

// ofHTTP excuses what the server's HTTP does to a call.
var ofHTTP = excuses{
	"server-sse-polling incoming-sse-event": "the server ends the stream of a call and names no event to go on after: the answer is lost, and the facade says so",
}

// A remote is an upstream at a URL.
type remote struct {
	URL string `json:"url"`
}

// bare serves an upstream so that a host sees what it would see without the
// facade: every tool, with its own name and schema.
func (w *world) bare(t *testing.T, upstream any) command {
	t.Helper()
	file := w.write(t, "facade.servers.json", map[string]any{"up": map[string]any{
		"upstream": upstream, "surface": "all", "names": "keep", "compact": "off",
	}})
	return command{args: []string{os.Getenv(facadeVar), "--config", file, "--server", "up"}, env: w.env()}
}

// sdkProgram builds one of go-sdk's programs for the suite.
func sdkProgram(t *testing.T, name string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), name+".exe")
	out, err := exec.Command("go", "build", "-o", bin, "github.com/modelcontextprotocol/go-sdk/conformance/"+name).CombinedOutput()
	if err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return bin
}

// serveHTTP starts go-sdk's server on a free port and returns its URL.
func serveHTTP(t *testing.T, bin string, flags ...string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	free.Close()
	start(t, command{args: append([]string{bin, "-http=" + addr}, flags...)})
	eventually(t, "listener on "+addr, func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return "http://" + addr + "/mcp"
}

// A suite is the protocol's conformance suite from npm. It plays a host to a
// server under test, or a server to a host under test.
type suite struct{ node, script string }

func newSuite(t *testing.T) suite {
	t.Helper()
	return suite{node: node22(t), script: module(t, "@modelcontextprotocol", "conformance", "dist", "index.js")}
}

// node22 is a Node that is new enough for the suite.
func node22(t *testing.T) string {
	t.Helper()
	var major int
	version, _ := exec.Command("node", "--version").Output()
	if fmt.Sscanf(string(version), "v%d", &major); major >= 22 {
		return "node"
	}
	arch := strings.ReplaceAll(runtime.GOARCH, "amd64", "x64")
	return module(t, "node-"+runtime.GOOS+"-"+arch, "bin", "node")
}

// clientScenario is a line of the suite's list. Those that are not scored say
// for which side they are.
var clientScenario = regexp.MustCompile(`(?m)^ +- ([a-z0-9_-]+)(?: \[client\])?$`)

// clientScenarios are those of a revision that are not about authorization.
func (s suite) clientScenarios(t *testing.T, revision string) (names []string) {
	t.Helper()
	_, list, _ := strings.Cut(s.output(t, "list", "--requirements", revision), "Client scenarios")
	for _, m := range clientScenario.FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	if names == nil {
		t.Fatalf("the suite lists no scenario:\n%s", excerpt(list))
	}
	return names
}

// A check is what the suite says of one thing. Only SUCCESS is a pass; INFO and
// SKIPPED say nothing of what is under test.
type check struct {
	ID, Status, ErrorMessage string
	Details                  json.RawMessage
}

func (c check) failed() bool { return c.Status == "FAILURE" || c.Status == "WARNING" }

// Verdicts are the checks of each scenario, in order.
type verdicts map[string][]check

// resultDir is the name of the directory in which the suite leaves the checks
// of a scenario.
var resultDir = regexp.MustCompile(`^(?:server-)?(.+)-\d{4}-\d\d-\d\dT[-\d]+Z$`)

// judge runs the suite and reads its verdicts.
func (s suite) judge(t *testing.T, args ...string) verdicts {
	t.Helper()
	dir := t.TempDir()
	out := s.output(t, append(args, "--output-dir", dir)...)
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if len(files) == 0 || err != nil {
		t.Fatalf("the suite gives no verdict: %v\n%s", err, excerpt(out))
	}
	all := verdicts{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []check
		if err := json.Unmarshal(data, &checks); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[resultDir.FindStringSubmatch(filepath.Base(filepath.Dir(file)))[1]] = checks
		if said, err := os.ReadFile(filepath.Join(filepath.Dir(file), "stderr.txt")); err == nil && len(said) > 0 {
			t.Logf("stderr of the client:\n%s", excerpt(string(said)))
		}
	}
	return all
}

// output is what the suite says. Its exit code is not asked for, as it does not
// know which checks pass without the facade.
func (s suite) output(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, s.node, append([]string{s.script}, args...)...).CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("the suite does not end: %v\n%s", err, excerpt(string(out)))
	}
	return string(out)
}

// passes counts the checks that pass.
func (v verdicts) passes() (n int) {
	for _, checks := range v {
		for _, c := range checks {
			if c.Status == "SUCCESS" {
				n++
			}
		}
	}
	return n
}

// compare reports each check that passes directly and not through the facade,
// and each that fails only there, unless it is excused; and each excuse that was
// not needed.
func compare(t *testing.T, direct, through verdicts, excused ...excuses) {
	t.Helper()
	why := excuses{}
	for _, e := range excused {
		maps.Copy(why, e)
	}
	needed := map[string]bool{}
	for _, scenario := range slices.Sorted(maps.Keys(direct)) {
		for _, c := range worse(direct[scenario], through[scenario]) {
			switch name := scenario + " " + c.ID; {
			case why[scenario] != "":
				needed[scenario] = true
			case why[name] != "":
				needed[name] = true
			default:
				t.Errorf("%s: %q: %s\n%s", name, c.Status, c.ErrorMessage, excerpt(string(c.Details)))
			}
		}
	}
	for name := range why {
		if _, here := direct[strings.Fields(name)[0]]; here && !needed[name] {
			t.Errorf("%s: passes, so it needs no excuse", name)
		}
	}
	t.Logf("%d checks pass, %d without the facade", through.passes(), direct.passes())
}

// worse are the checks through the facade that pass without it and do not pass
// here, or fail only here. An id that comes several times is compared in order.
func worse(direct, through []check) (all []check) {
	rest := map[string][]check{}
	for _, c := range through {
		rest[c.ID] = append(rest[c.ID], c)
	}
	for _, c := range direct {
		got := check{ID: c.ID, Status: "is missing"}
		if same := rest[c.ID]; len(same) > 0 {
			got, rest[c.ID] = same[0], same[1:]
		}
		if c.Status == "SUCCESS" && got.Status != "SUCCESS" || got.failed() && !c.failed() {
			all = append(all, got)
		}
	}
	for _, more := range rest {
		for _, c := range more {
			if c.failed() {
				all = append(all, c)
			}
		}
	}
	return all
}
