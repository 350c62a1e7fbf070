package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

const (
	// facadeVar names the program under test. TestMain sets it to a fresh
	// build if it is not set from outside.
	facadeVar = "E2E_FACADE"
	// roleVar makes the test binary an upstream instead of a test run.
	roleVar = "E2E_ROLE"
	// patience bounds each wait for another process. It is long because a
	// machine that runs all tests at once is slow, and no test waits it out
	// unless something is wrong.
	patience = 60 * time.Second
	// linger is how long a direct upstream is given to end after its stdin
	// is closed.
	linger = 5 * time.Second
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "raw":
		os.Exit(serveRaw(os.Stdin, os.Stdout, os.Getenv(recordVar)))
	case "sdk":
		os.Exit(serveSDK())
	case "soak":
		os.Exit(serveSoak())
	case "soak-http":
		os.Exit(serveSoakHTTP())
	case "replay":
		os.Exit(serveReplay(os.Stdin, os.Stdout, os.Getenv(catalogVar)))
	case "pair":
		os.Exit(exitCode(servePair()))
	case "odd":
		os.Exit(exitCode(serveOddTools(os.Stdin, os.Stdout, os.Getenv(oddVar))))
	case "many":
		os.Exit(serveMany(os.Stdin, os.Stdout, os.Getenv(recordVar)))
	}
	os.Exit(run(m))
}

// exitCode is that of a server that ends with err.
func exitCode(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// run builds the program, runs the tests and removes the program.
func run(m *testing.M) int {
	if os.Getenv(facadeVar) != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "mcp-facade-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "mcp-facade.exe")
	if err := build(bin); err != nil {
		fmt.Fprintln(os.Stderr, "build mcp-facade:", err)
		return 1
	}
	os.Setenv(facadeVar, bin)
	return m.Run()
}

func build(bin string) error {
	args := []string{"build", "-o", bin}
	if raceEnabled() {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, "..")...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

// raceEnabled tells whether this test binary was built with -race.
func raceEnabled() bool {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}

// A world is what one user has: a home with a servers file, a cache and a state
// directory of its own. A world in which nothing was served yet is cold.
type world struct{ dir string }

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{dir: t.TempDir()}
}

func (w *world) path(elem ...string) string {
	return filepath.Join(append([]string{w.dir}, elem...)...)
}

// env is the world as environment variables. The race detector would let every
// process wait for a second at its end.
func (w *world) env() []string {
	return []string{
		"GORACE=atexit_sleep_ms=0",
		"HOME=" + w.path("home"),
		"USERPROFILE=" + w.path("home"),
		"XDG_CONFIG_HOME=" + w.path("config"),
		"XDG_CACHE_HOME=" + w.path("cache"),
		"XDG_STATE_HOME=" + w.path("state"),
	}
}

// catalogs lists the files under the cache directory.
func (w *world) catalogs(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(w.path("cache"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// An upstream is a server as a servers file names it.
type upstream struct {
	Command string            `json:"command"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`
}

// An entry is one server of a servers file.
type entry struct {
	Upstream upstream `json:"upstream"`
	Used     []string `json:"used"`
	Names    string   `json:"names"`
	Hints    bool     `json:"hints"`
}

// A command is how a host starts a server: itself, or the facade in front of it.
type command struct {
	args []string // the program first
	env  []string // added to ours
	dir  string   // "" is ours
}

// direct starts the upstream without the facade.
func (u upstream) direct(w *world) command {
	env := w.env()
	for name, value := range u.Env {
		env = append(env, name+"="+value)
	}
	return command{args: append([]string{u.Command}, u.Args...), env: env, dir: u.Cwd}
}

// serve writes a servers file in which the upstream is called "up" and returns
// the command that serves it.
func (w *world) serve(t *testing.T, u upstream, used ...string) command {
	t.Helper()
	file := w.write(t, "facade.servers.json", map[string]entry{"up": {Upstream: u, Used: used, Names: "keep"}})
	return command{args: []string{os.Getenv(facadeVar), "--config", file, "--server", "up"}, env: w.env()}
}

// wrap returns the command that puts the facade before the upstream in place.
func (w *world) wrap(u upstream) command {
	c := u.direct(w)
	c.args = append([]string{os.Getenv(facadeVar), "--"}, c.args...)
	return c
}

// write puts v as JSON into a file of the world and returns its path.
func (w *world) write(t *testing.T, name string, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := w.path(name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// cmd makes c ready to start. What it writes to stderr goes to a file, so that
// no reader of a pipe waits for a grandchild; it is shown when the test fails,
// and a report of the race detector in it fails the test.
func (c command) cmd(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Dir = c.dir
	file, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = file
	t.Cleanup(func() {
		file.Close()
		said, _ := os.ReadFile(file.Name())
		if bytes.Contains(said, []byte("WARNING: DATA RACE")) {
			t.Errorf("the race detector reports")
		}
		if t.Failed() && len(said) > 0 {
			t.Logf("stderr of %s:\n%s", strings.Join(c.args, " "), excerpt(string(said)))
		}
	})
	return cmd
}

// output runs c to its end and returns its stdout.
func (c command) output(t *testing.T) string {
	t.Helper()
	cmd := c.cmd(t)
	out, err := runBounded(cmd)
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(c.args, " "), err, excerpt(out))
	}
	return out
}

func runBounded(cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout = &out
	cmd.WaitDelay = linger
	if err := cmd.Start(); err != nil {
		return "", err
	}
	timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	return out.String(), err
}

// excerpt is s, without its middle if it is long.
func excerpt(s string) string {
	const most = 3000
	if len(s) <= most {
		return s
	}
	return s[:most/2] + fmt.Sprintf("\n… %d bytes …\n", len(s)-most) + s[len(s)-most/2:]
}

// eventually waits until ok holds. It asks again and again, as it looks at
// files and processes that cannot tell us.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("after %v: still no %s", patience, what)
		}
	}
}

// module is the path of a file that npm has installed. Without Node or without
// the file the test is skipped, or fails in CI, where both must be there.
func module(t *testing.T, elem ...string) string {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("CI") == "true" {
		missing = t.Fatalf
	}
	if _, err := exec.LookPath("node"); err != nil {
		missing("needs Node: %v", err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(append([]string{here, "node_modules"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		missing("needs the packages from npm: %v; run npm ci --prefix e2e", err)
	}
	return path
}

// everything is the reference server that uses every feature of the protocol.
func everything(t *testing.T) upstream {
	t.Helper()
	return upstream{Command: "node", Args: []string{module(t, "@modelcontextprotocol", "server-everything", "dist", "index.js")}}
}

// filesystem is the reference server for files, let into dir.
func filesystem(t *testing.T, dir string) upstream {
	t.Helper()
	return upstream{Command: "node", Args: []string{module(t, "@modelcontextprotocol", "server-filesystem", "dist", "index.js"), dir}}
}

// memory is the reference server for a graph of facts, which it keeps in file.
func memory(t *testing.T, file string) upstream {
	t.Helper()
	return upstream{
		Command: "node",
		Args:    []string{module(t, "@modelcontextprotocol", "server-memory", "dist", "index.js")},
		Env:     map[string]string{"MEMORY_FILE_PATH": file},
	}
}

// postman is a vendor's server with 204 tools. Its key opens nothing, and what
// it calls goes to url.
func postman(t *testing.T, url string) upstream {
	t.Helper()
	return upstream{
		Command: "node",
		Args:    []string{module(t, "@postman", "postman-mcp-server", "dist", "src", "index.js"), "--full"},
		Env: map[string]string{
			"POSTMAN_API_KEY":       "PMAK-e2e",
			"POSTMAN_API_BASE_URL":  url,
			"POSTMAN_MCP_TELEMETRY": "false",
		},
	}
}

// self is this test binary in the given role.
func self(t *testing.T, role string, env ...string) upstream {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	u := upstream{Command: exe, Env: map[string]string{roleVar: role}}
	for i := 0; i < len(env); i += 2 {
		u.Env[env[i]] = env[i+1]
	}
	return u
}

func linuxOnly(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
}
