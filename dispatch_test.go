package main

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

// A full is a stdout that takes nothing.
type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

// A command whose answer is lost has failed, unless whoever reads it has enough.
func TestLostAnswer(t *testing.T) {
	for _, args := range []string{"--help", "--version", "help call", "man", "completion bash", "doctor", "servers"} {
		for _, why := range []error{errors.New("disk full"), syscall.EPIPE} {
			d := newDesk(t, `{}`)
			d.stdout = full{why}
			err := dispatch(t.Context(), d.env, strings.Fields(args))
			if enough := why == syscall.EPIPE; enough && err != nil || !enough && !errors.Is(err, why) {
				t.Errorf("%s, when stdout says %v: %v", args, why, err)
			}
		}
	}
}
