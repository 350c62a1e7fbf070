package upstream

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// program returns the command of t, not yet started, or an *Error that says
// why there is none.
func program(t Target, mask *redactor) (*exec.Cmd, error) {
	if err := checkDir(t, mask); err != nil {
		return nil, err
	}
	path, err := lookUp(t)
	if err != nil {
		return nil, startError(t, mask, err)
	}
	cmd := &exec.Cmd{
		Path: path,
		Args: append([]string{t.Command}, t.Args...),
		Dir:  t.Dir,
		Env:  append([]string{}, t.Env...), // never nil, which would mean ours
	}
	if err := adapt(cmd); err != nil {
		return nil, startError(t, mask, err)
	}
	return cmd, nil
}

// checkDir looks at the directory beforehand, because a failed start blames
// the program for it.
func checkDir(t Target, mask *redactor) error {
	if t.Dir == "" {
		return nil
	}
	info, err := os.Stat(t.Dir)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err == nil {
		return nil
	}
	return &Error{
		Server: t.Server, Op: "start",
		Err:  fmt.Errorf("current directory %q: %w", mask.line([]byte(t.Dir)), bare(err)),
		Hint: fmt.Sprintf("make that directory, or correct \"cwd\" of %q in the servers file", t.Server),
	}
}

// lookUp finds the program's file. Its error is an *exec.Error.
func lookUp(t Target) (string, error) {
	if strings.ContainsRune(t.Command, '/') || strings.ContainsRune(t.Command, filepath.Separator) {
		return lookUpAt(t.Dir, t.Command, t.Env)
	}
	err := exec.ErrNotFound
	for _, dir := range filepath.SplitList(value(t.Env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue // as os/exec: the current directory is no place for programs
		}
		path, e := find(filepath.Join(dir, t.Command), t.Env)
		if e == nil {
			return path, nil
		}
		if errors.Is(e, fs.ErrPermission) {
			err = fs.ErrPermission
		}
	}
	return "", &exec.Error{Name: t.Command, Err: err}
}

func lookUpAt(dir, command string, env []string) (string, error) {
	path := command
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = find(path, env)
	}
	if ee := new(exec.Error); errors.As(err, &ee) {
		err = ee.Err
	}
	if err != nil {
		return "", &exec.Error{Name: command, Err: bare(err)}
	}
	return path, nil
}

// value returns the value of a variable in a list of "K=V"; the last one wins.
func value(env []string, name string) string {
	v := ""
	for _, kv := range env {
		k, after, _ := strings.Cut(kv, "=")
		if k == name || runtime.GOOS == "windows" && strings.EqualFold(k, name) {
			v = after
		}
	}
	return v
}

// startError words a failed start: of the look-up, or of what was found.
func startError(t Target, mask *redactor, err error) *Error {
	command := mask.line([]byte(t.Command))
	found := true
	if ee := new(exec.Error); errors.As(err, &ee) {
		err, found = ee.Err, false
	}
	return &Error{
		Server: t.Server, Op: "start",
		Err:  &exec.Error{Name: command, Err: bare(err)},
		Hint: startHint(t, command, found, err),
	}
}

// startHint says what to do about it.
func startHint(t Target, command string, found bool, err error) string {
	switch {
	case strings.Contains(command, " ") && !found:
		return "put the program alone into \"command\" and what follows it into \"args\""
	case command == "":
		return fmt.Sprintf("give %q a \"command\" in the servers file", t.Server)
	case found && errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("install the interpreter that the first line of %s names", command)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("make %s executable, or %s", command, t.correct())
	case found:
		return ""
	}
	return fmt.Sprintf("install %s, or %s", command, t.correct())
}

// correct says where a wrong command is put right.
func (t Target) correct() string {
	if t.InPlace {
		return "correct what stands after --"
	}
	return fmt.Sprintf("correct %q in the servers file", t.Server)
}

// bare returns what the system said, without the act and the path.
func bare(err error) error {
	if pe := new(fs.PathError); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
