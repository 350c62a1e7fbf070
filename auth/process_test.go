package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A job is what a process of ours does for a test. It prints what is left to say.
type job struct {
	Upstream string
	Dir      string
	Client   string        // its id; "": the one that is registered
	Calls    int           // to make, or
	Pause    time.Duration // between them
	Old      string        // to refresh
	Die      string        // the step of a write before which the process is killed
}

// jobVar holds a job.
const jobVar = "MCP_FACADE_TEST_JOB"

// start runs a job in a process of its own. finish waits for it and returns what
// it printed.
func (j job) start(t *testing.T) (finish func() string) {
	t.Helper()
	text, _ := json.Marshal(j)
	cmd := exec.Command(os.Args[0], "-test.run=^TestJob$")
	cmd.Env = append(os.Environ(), jobVar+"="+string(text))
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() string {
		cmd.Wait()
		return out.String()
	}
}

// TestJob is the process of a job.
func TestJob(t *testing.T) {
	var j job
	if json.Unmarshal([]byte(os.Getenv(jobVar)), &j) != nil {
		t.Skip("is run by other tests")
	}
	o := NewOAuth(Options{Server: "acme", Upstream: j.Upstream, ClientID: j.Client, Store: testStore(j.Dir)})
	o.Store.step = func(at string) {
		if at == j.Die {
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
			select {}
		}
	}
	if j.Old != "" {
		o.Refresh(t.Context(), j.Old, nil)
		return
	}
	s := &server{}
	for n := range j.Calls {
		if status, err := s.use(t, o); status != 200 || err != nil {
			fmt.Printf("call %d: status %d, error %v\n", n, status, err)
		}
		time.Sleep(j.Pause)
	}
}

// Several processes use one login, whose tokens live shortly and rotate. No
// call fails, no refresh token is sent twice, and one refresh is under way at a
// time. MCP_FACADE_TEST_LONG=1 makes it 8 processes of 200 calls, with tokens of
// two seconds.
func TestManyProcesses(t *testing.T) {
	processes, calls, lifetime, pause := 4, 40, 400*time.Millisecond, 25*time.Millisecond
	if long, _ := strconv.ParseBool(os.Getenv("MCP_FACADE_TEST_LONG")); long {
		processes, calls, lifetime, pause = 8, 200, 2*time.Second, 50*time.Millisecond
	}
	s := newServer(t, func(s *server) { s.lifetime, s.expires, s.slow = lifetime, lifetime.Seconds(), 5*time.Millisecond })
	o := s.source(t, t.TempDir(), nil)
	if err := s.logIn(t, o); err != nil {
		t.Fatal(err)
	}
	s.change(func() { s.most = 0 })
	var wg sync.WaitGroup
	for range processes {
		finish := job{Upstream: o.Upstream, Dir: o.Store.dir, Calls: calls, Pause: pause}.start(t)
		wg.Go(func() {
			if said := finish(); strings.Contains(said, "call ") {
				t.Error(said)
			}
		})
	}
	wg.Wait()
	t.Logf("%d processes, %d calls each: %d refreshes, %d refusals", processes, calls, s.refreshes, s.refused)
	if s.replays != 0 || s.most != 1 || s.refreshes < 2 {
		t.Errorf("got %d replays, %d refreshes at once, %d refreshes; want none, one, and some", s.replays, s.most, s.refreshes)
	}
}

// Whenever a process is killed during a refresh, the next one has a token that
// works, or says that a login is needed, and the file is whole.
func TestKilledDuringRefresh(t *testing.T) {
	for _, step := range []string{"write", "sync", "rename", "renamed"} {
		t.Run(step, func(t *testing.T) {
			s := newServer(t, nil)
			o := s.source(t, t.TempDir(), nil)
			if err := s.logIn(t, o); err != nil {
				t.Fatal(err)
			}
			old, _ := o.Token(t.Context())
			job{Upstream: o.Upstream, Dir: o.Store.dir, Old: old, Die: step}.start(t)()
			if s.refreshes != 1 {
				t.Fatalf("%d refreshes before the end of the process, want 1", s.refreshes)
			}
			next := s.source(t, o.Store.dir, nil)
			if p, err := next.Store.permit(next.key, ""); p == nil || err != nil {
				t.Fatalf("the permit afterwards: got %v, %v", p, err)
			}
			status, err := s.use(t, next)
			if kept := step == "renamed"; kept && status != 200 || !kept && !errors.Is(err, ErrLogin) {
				t.Errorf("the next process: got %d, %v", status, err)
			}
			if err := s.logIn(t, next); err != nil {
				t.Fatal(err)
			}
			if status, err := s.use(t, next); status != 200 || err != nil {
				t.Errorf("after a login: got %d, %v", status, err)
			}
		})
	}
}
