package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"
)

// claudeEnv gives the variables that "envFrom" names: those of the server at
// the top level of ~/.claude.json, else those of the project's.
func (x *expansion) claudeEnv(data []byte, project string) []Var {
	name, ok := strings.CutPrefix(x.server.Upstream.EnvFrom, "claude:")
	switch {
	case !ok:
		return nil
	case data == nil:
		x.fail("envFrom", "~/.claude.json: not found", `write the variables in "env" instead`)
		return nil
	case !json.Valid(data): // unlike gjson's, its depth is bounded
		x.fail("envFrom", "~/.claude.json: not valid JSON", "")
		return nil
	}
	env := claudeServerEnv(gjson.ParseBytes(data), project, name)
	if !env.IsObject() {
		x.fail("envFrom", fmt.Sprintf("~/.claude.json: no mcpServers[%s].env, neither at the top level nor in projects[%s]",
			quoted(name), quoted(project)), `correct the name, or write the variables in "env" instead`)
		return nil
	}
	return x.claudeVars(env)
}

// claudeServerEnv looks at the top level, then in the project.
func claudeServerEnv(root gjson.Result, project, name string) gjson.Result {
	in := func(scope gjson.Result) gjson.Result {
		return lookUp(lookUp(lookUp(scope, "mcpServers"), name), "env")
	}
	env := in(root)
	for _, dir := range []string{project, filepath.ToSlash(project)} {
		if !env.IsObject() {
			env = in(lookUp(lookUp(root, "projects"), dir))
		}
	}
	return env
}

// claudeVars reads the variables; an error about one does not show its value.
func (x *expansion) claudeVars(env gjson.Result) []Var {
	var vars []Var
	env.ForEach(func(k, v gjson.Result) bool {
		if v.Type != gjson.String || k.Str == "" || strings.ContainsAny(k.Str, "=\x00") || strings.Contains(v.Str, "\x00") {
			x.fail("envFrom", fmt.Sprintf("~/.claude.json: %s is not a variable with a string for its value", quoted(k.Str)), "")
			return true
		}
		vars = append(vars, Var{k.Str, v.Str})
		return true
	})
	return vars
}

// lookUp gives a member of an object. Unlike a path of gjson's, the key is taken
// as it is; of two members the last counts, as in JavaScript.
func lookUp(object gjson.Result, key string) (found gjson.Result) {
	if !object.IsObject() {
		return found
	}
	object.ForEach(func(k, v gjson.Result) bool {
		if k.Str == key {
			found = v
		}
		return true
	})
	return found
}
