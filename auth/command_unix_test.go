//go:build unix

package auth

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// shell is a Command that runs a script, in a directory of its own.
func shell(t *testing.T, script string, environ ...string) *Command {
	t.Helper()
	return NewCommand([]string{"sh", "-c", script}, t.TempDir(), append(os.Environ(), environ...))
}

// jwt is a token that ends at a time, which is all that is true of it.
func jwt(end time.Time) string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"none"}`)) + "." + part(fmt.Appendf(nil, `{"exp":%d}`, end.Unix())) + ".c2ln"
}

func TestCommandToken(t *testing.T) {
	long := strings.Repeat("a1", maxToken/2+1)
	tests := []struct{ name, says, want, wrong string }{
		{"takes a bare token", `tok-1`, "Bearer tok-1", ""},
		{"takes a line", `tok-1\n`, "Bearer tok-1", ""},
		{"takes the line of Windows, after its mark", `\357\273\277tok-1\r\n`, "Bearer tok-1", ""},
		{"takes a token with its scheme", `Bearer tok-1\n`, "Bearer tok-1", ""},
		{"takes other schemes", `Basic bWU6eA==\n`, "Basic bWU6eA==", ""},
		{"takes JSON", `{"token": "tok-1", "more": [1]}`, "Bearer tok-1", ""},
		{"takes JSON with an end", `{"token": "tok-1", "expires_at": "2999-01-01T00:00:00Z"}`, "Bearer tok-1", ""},
		{"takes JSON with headers", `{"token": "tok-1", "headers": {"X-Tenant": "7"}}`, "Bearer tok-1", ""},
		{"wants something", ``, "", `"sh" printed nothing`},
		{"wants more than space", ` \n\n`, "", `"sh" printed nothing`},
		{"wants no page", `<!DOCTYPE html><html>tok-1</html>`, "", `"sh" printed a web page instead of a token`},
		{"wants text", `tok\0001`, "", `"sh" printed what is no text`},
		{"wants UTF-8", `tok\377`, "", `"sh" printed what is no text`},
		{"wants ASCII", `tok-ä`, "", `"sh" printed a token with characters that no header can have`},
		{"wants one word", `Please log in first`, "", `"sh" printed several words or lines instead of a token`},
		{"wants one line", `tok-1\ntok-2`, "", `"sh" printed several words or lines instead of a token`},
		{"wants more than a scheme", `Bearer`, "", `"sh" printed the scheme of a token without the token`},
		{"wants a token that servers take", long, "", `"sh" printed a token of 16386 bytes, more than 16384`},
		{"wants whole JSON", `{"token": "tok-1"`, "", `"sh" printed what begins like JSON and is none`},
		{"wants an object", `["tok-1"]`, "", `"sh" printed JSON that is no object with a "token"`},
		{"wants a token in it", `{"access_token": "tok-1"}`, "", `"sh" printed JSON without a "token" that is a string`},
		{"wants a string", `{"token": 1}`, "", `"sh" printed JSON without a "token" that is a string`},
		{"wants a string with something in it", `{"token": " "}`, "", `"sh" printed JSON without a "token" that is a string`},
		{"wants a moment", `{"token": "tok-1", "expires_at": "soon"}`, "", `"sh" printed an "expires_at" that is neither RFC 3339 nor seconds since 1970`},
		{"wants a moment after 1970", `{"token": "tok-1", "expires_at": -1}`, "", `"sh" printed an "expires_at" that is neither RFC 3339 nor seconds since 1970`},
		{"wants headers with names", `{"token": "tok-1", "headers": [1]}`, "", `"sh" printed "headers" that are no object of strings`},
		{"wants headers of strings", `{"token": "tok-1", "headers": {"A": 1}}`, "", `"sh" printed "headers" that are no object of strings`},
		{"wants headers that there can be", `{"token": "tok-1", "headers": {"A": "b\\nc"}}`, "", `"sh" printed "headers" that HTTP cannot have`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := shell(t, "printf '"+strings.ReplaceAll(tt.says, "%", "%%")+"'").Token(t.Context())
			wrong := ""
			if err != nil {
				wrong = err.Error()
			}
			if got != tt.want || wrong != tt.wrong {
				t.Errorf("the program prints %.60q: got %q, %q; want %q, %q", tt.says, got, wrong, tt.want, tt.wrong)
			}
		})
	}
}

func TestCommandFails(t *testing.T) {
	const secret = "s3cr3t-0123456789abcdef"
	tests := []struct{ name, script, want string }{
		{"tells the status and stderr", "echo 'not logged in' >&2; exit 3", `"sh" exited with status 3: not logged in`},
		{"tells the status alone", "exit 1", `"sh" exited with status 1`},
		{"tells a signal", "kill -9 $$", `"sh" ended by signal: killed`},
		{"tells stderr where nothing is printed", "echo 'no session' >&2", `"sh" printed nothing: no session`},
		{"keeps stderr harmless", `printf 'a\033[2Jb\n\tc\r' >&2; exit 1`, `"sh" exited with status 1: a [2Jb c`},
		{"hides what it has printed", "echo tok-12; echo 'tok-12 is no good' >&2; exit 1", `"sh" exited with status 1: [redacted] is no good`},
		{"hides what it was told to", "echo pa55 $KEY >&2; exit 1", `"sh" exited with status 1: [redacted] [redacted]`},
		{"hides what looks like a token", "echo key=0123456789abcdefABCDEF >&2; exit 1", `"sh" exited with status 1: key=[redacted]`},
		{"shows paths", "echo /home/me/2024-12-31/file-1 >&2; exit 1", `"sh" exited with status 1: /home/me/2024-12-31/file-1`},
		{"shows the end of much", "for i in 1 2 3 4 5 6 7 8 9; do echo " + strings.Repeat("x", 99) + " >&2; done; echo end >&2; exit 1",
			`"sh" exited with status 1: …` + strings.Repeat("x", 96) + strings.Repeat(" "+strings.Repeat("x", 99), 4) + " end"},
		{"refuses too much output", "while :; do echo 0123456789; done", `"sh" printed more than 64 KiB`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := shell(t, tt.script, "KEY="+secret)
			c.Hide("pa55", secret)
			_, err := c.Token(t.Context())
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestCommandIsFound(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho tok-1\n"), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("tool", 0o700)
	write("data", 0o600)
	tests := []struct{ name, program, path, want string }{
		{"in PATH", "tool", dir, ""},
		{"beside the servers file", "./tool", "", ""},
		{"anywhere", filepath.Join(dir, "tool"), "", ""},
		{"nowhere", "nosuch", "/bin", `"nosuch" in $PATH: executable file not found in $PATH`},
		{"not in a relative directory", "tool", ".", `"tool" in $PATH: executable file not found in $PATH`},
		{"not if it cannot be run", "data", dir, `"data" in $PATH: permission denied`},
		{"not where it is not", "./nosuch", "", `"./nosuch": no such file or directory`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(dir)
			got, err := NewCommand([]string{tt.program}, dir, []string{"PATH=" + tt.path}).Token(t.Context())
			if tt.want == "" && (err != nil || got != "Bearer tok-1") || tt.want != "" && (err == nil || err.Error() != tt.want) {
				t.Errorf("got %q, %v; want %s", got, err, tt.want)
			}
		})
	}
}

// TestCommandKeeps: a program is asked again only when its token is about to
// end.
func TestCommandKeeps(t *testing.T) {
	now := time.Now()
	at := func(d time.Duration) string { return strconv.FormatInt(now.Add(d).Unix(), 10) }
	tests := []struct {
		name, says string
		later      time.Duration
		runs       int
	}{
		{"keeps one that says nothing", "tok", 1000 * time.Hour, 1},
		{"keeps one before its end", `{"token":"t","expires_at":` + at(time.Hour) + `}`, 58 * time.Minute, 1},
		{"asks a minute before the end", `{"token":"t","expires_at":` + at(time.Hour) + `}`, 59*time.Minute + time.Second, 2},
		{"reads RFC 3339", `{"token":"t","expires_at":"` + now.Add(time.Hour).Format(time.RFC3339) + `"}`, 59*time.Minute + time.Second, 2},
		{"reads a zone", `{"token":"t","expires_at":"` + now.Add(time.Hour).In(time.FixedZone("", 9*3600)).Format(time.RFC3339) + `"}`, 58 * time.Minute, 1},
		{"reads seconds in a string", `{"token":"t","expires_at":"` + at(time.Hour) + `"}`, 59*time.Minute + time.Second, 2},
		{"reads milliseconds", `{"token":"t","expires_at":` + at(time.Hour) + `000}`, 58 * time.Minute, 1},
		{"reads the token itself", jwt(now.Add(time.Hour)), 59*time.Minute + time.Second, 2},
		{"reads the token in JSON", `{"token":"` + jwt(now.Add(time.Hour)) + `"}`, 59*time.Minute + time.Second, 2},
		{"believes expires_at before the token", `{"token":"` + jwt(now.Add(time.Hour)) + `","expires_at":` + at(9*time.Hour) + `}`, 8 * time.Hour, 1},
		{"keeps a short one for half its life", `{"token":"t","expires_at":` + at(40*time.Second) + `}`, 15 * time.Second, 1},
		{"asks for a short one in the other half", `{"token":"t","expires_at":` + at(40*time.Second) + `}`, 25 * time.Second, 2},
		{"asks once more by force for one that is over", `{"token":"t","expires_at":` + at(-time.Hour) + `}`, 0, 2},
		{"keeps one that is over all the same, as a clock is wrong", `{"token":"t","expires_at":` + at(-time.Hour) + `}`, time.Hour, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := shell(t, "echo >> runs; printf '"+tt.says+"'")
			c.now = func() time.Time { return now }
			for _, c.now = range []func() time.Time{c.now, func() time.Time { return now.Add(tt.later) }} {
				if _, err := c.Token(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if got := c.count(t); got != tt.runs {
				t.Errorf("%s: the program has run %d times, want %d", tt.says, got, tt.runs)
			}
		})
	}
}

// count is how often a script has run that adds a line to runs.
func (c *Command) count(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// numbered is a script whose token is the number of the run, and "-forced" if
// it was told so.
const numbered = `echo >> runs; echo "tok-$(wc -l < runs | tr -d ' ')${MCP_FACADE_FORCE_REFRESH:+-forced}"`

func TestCommandRefresh(t *testing.T) {
	c := shell(t, numbered, "MCP_FACADE_FORCE_REFRESH=1", "MCP_FACADE_CONFIG=x")
	ctx := t.Context()
	steps := []struct {
		name    string
		refused string // "": nothing was
		want    string
	}{
		{"the first", "", "Bearer tok-1"},
		{"the same again", "", "Bearer tok-1"},
		{"another by force", "Bearer tok-1", "Bearer tok-2-forced"},
		{"the one that is there", "Bearer tok-1", "Bearer tok-2-forced"},
		{"another by force again", "Bearer tok-2-forced", "Bearer tok-3-forced"},
	}
	for _, s := range steps {
		if s.refused != "" {
			if err := c.Refresh(ctx, s.refused, nil); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
		}
		if got, err := c.Token(ctx); err != nil || got != s.want {
			t.Errorf("%s: got %q, %v; want %q", s.name, got, err, s.want)
		}
	}

	c = shell(t, "echo tok-1")
	if err := c.Refresh(ctx, "Bearer tok-1", nil); err == nil || err.Error() != `"sh" gives the token again that was refused` {
		t.Errorf("the same token again: %v", err)
	}
}

// TestCommandRunsOnce: of many who want a token at once, one runs the program,
// and all have what that came to.
func TestCommandRunsOnce(t *testing.T) {
	tests := []struct {
		name, script string
		ask          func(*Command) error
	}{
		{"for a token", numbered + "; sleep .3", func(c *Command) error { _, err := c.Token(context.Background()); return err }},
		{"for another", numbered + "; sleep .3", func(c *Command) error { return c.Refresh(context.Background(), "Bearer x", nil) }},
		{"for nothing", "echo >> runs; sleep .3; exit 1", func(c *Command) error { return c.Refresh(context.Background(), "Bearer x", nil) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := shell(t, tt.script)
			fails := strings.Contains(tt.script, "exit 1")
			var all sync.WaitGroup
			for range 50 {
				all.Go(func() {
					if err := tt.ask(c); (err != nil) != fails {
						t.Errorf("got %v", err)
					}
				})
			}
			all.Wait()
			if got := c.count(t); got != 1 {
				t.Errorf("the program has run %d times, want once", got)
			}
		})
	}
}

// TestCommandLeavesNothing: when its time is over, or nobody waits any more, the
// program ends with all that it has started.
func TestCommandLeavesNothing(t *testing.T) {
	tests := []struct {
		name string
		end  func(*Command, context.CancelFunc)
		want string
	}{
		{"when its time is over", func(c *Command, _ context.CancelFunc) { c.limit = 300 * time.Millisecond }, `"sh" printed no token in 300ms: waiting`},
		{"when nobody waits", func(_ *Command, cancel context.CancelFunc) { time.AfterFunc(300*time.Millisecond, cancel) }, "context canceled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := shell(t, "echo waiting >&2; sleep 600 & echo $! > child; wait")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			tt.end(c, cancel)
			if _, err := c.Token(ctx); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			text, err := os.ReadFile(filepath.Join(c.dir, "child"))
			if err != nil {
				t.Fatal(err)
			}
			child, _ := strconv.Atoi(strings.TrimSpace(string(text)))
			for end := time.Now().Add(10 * time.Second); isAlive(child); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("process %d is still there", child)
				}
			}
		})
	}
}

// isAlive reports whether a process is there that is no zombie: in a container,
// orphans may stay that.
func isAlive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// TestCommandLeavesAgent: what a program leaves running on purpose, and what
// holds its output open, does not keep us.
func TestCommandLeavesAgent(t *testing.T) {
	c := shell(t, "sleep 600 & echo $! > child; echo tok-1")
	got, err := c.Token(t.Context())
	if err != nil || got != "Bearer tok-1" {
		t.Errorf("got %q, %v", got, err)
	}
	text, _ := os.ReadFile(filepath.Join(c.dir, "child"))
	child, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if !isAlive(child) {
		t.Error("the agent was killed")
	}
	syscall.Kill(child, syscall.SIGKILL)
}

func TestCommandHeaders(t *testing.T) {
	c := shell(t, `printf '{"token":"tok-1","headers":{"x-tenant":"7"}}'`)
	token, err := c.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Headers(token).Get("X-Tenant"); got != "7" {
		t.Errorf("with the token goes X-Tenant %q, want 7", got)
	}
	if h := c.Headers("Bearer other"); h != nil {
		t.Errorf("with another token go %v", h)
	}
}

func TestOmp(t *testing.T) {
	home := t.TempDir()
	bin := filepath.Join(home, ".bun", "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	c := NewOmp("mcp_oauth:profile:default:https://a.example", home, []string{"PATH=/nosuch"})
	if _, err := c.Token(t.Context()); err == nil || err.Error() != `"omp" in $PATH and `+bin+`: executable file not found in $PATH` {
		t.Errorf("without omp: %v", err)
	}
	script := "#!/bin/sh\necho \"$*\" >> " + home + "/asked\necho \"tok-$#\"\n"
	if err := os.WriteFile(filepath.Join(bin, "omp"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	first, err := c.Token(t.Context())
	if err != nil || first != "Bearer tok-2" {
		t.Errorf("Token: %q, %v", first, err)
	}
	if err := c.Refresh(t.Context(), first, nil); err != nil {
		t.Error(err)
	}
	const want = "token mcp_oauth:profile:default:https://a.example\ntoken --force-refresh mcp_oauth:profile:default:https://a.example\n"
	if asked, _ := os.ReadFile(filepath.Join(home, "asked")); string(asked) != want {
		t.Errorf("omp was asked:\n%swant\n%s", asked, want)
	}
}
