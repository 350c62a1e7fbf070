package auth

import "path/filepath"

// NewOmp is the source that asks the omp CLI for a credential by its id. omp is
// looked for in PATH, and in the home directory where bun installs it.
func NewOmp(id, home string, environ []string) *Command {
	c := newCommand([]string{"omp", "token", id}, []string{"omp", "token", "--force-refresh", id}, home, environ)
	c.fallback = filepath.Join(home, ".bun", "bin")
	return c
}
