package main

import (
	"cmp"
	"path/filepath"
	"strings"

	"mcp-facade/facade/hosts"
)

// serversFileOf is the servers file that an entry of ours reads: its --config,
// else the one that its variables name, else where we look, too. It is a path
// from the root, unless only the host knows what stands for a part of it.
func (e *env) serversFileOf(entry hosts.Entry) string {
	path := cmp.Or(entry.Config, configOf(entry), e.configFile)
	if filepath.IsAbs(path) || path == e.configFile || strings.Contains(path, "{") {
		return e.absolute(path)
	}
	return e.absolute(filepath.Join(cmp.Or(entry.Cwd, entry.Scope), path))
}

// configOf is the servers file that the variables of an entry name, "" if none.
func configOf(entry hosts.Entry) (path string) {
	for _, v := range entry.Env {
		if v.Name == "MCP_FACADE_CONFIG" {
			path = v.Value
		}
	}
	return path
}
