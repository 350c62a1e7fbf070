package config

import (
	"slices"
	"strings"
)

// hostKeys are the keys that hosts have for an entry of their own files, by
// host: of Claude Code and Desktop, Cursor, VS Code and Copilot, Windsurf, Cline
// and its relatives, Codex, Gemini CLI and Qwen Code, Kiro. Where one of them is
// a key of ours too, it is read as ours.
const hostKeys = `
	type name id description enabled disabled timeout version icon note notes comment _comment $comment //
	headersHelper
	envFile auth
	tools gallery dev inputs sandbox sandboxEnabled source filterMapping isDefaultServer
	serverUrl disabledTools
	autoApprove alwaysAllow transportType watchPaths networkTimeout errorMessage remoteConfigured oauthRequired
	bearer_token_env_var http_headers env_http_headers env_vars enabled_tools disabled_tools required scopes
	startup_timeout_sec startup_timeout_ms tool_timeout_sec supports_parallel_tool_calls oauth_resource
	default_tools_approval_mode experimental_environment
	httpUrl tcp trust includeTools excludeTools extension extensionName authProviderType targetAudience targetServiceAccount
	oauthScopes
`

// hostOAuthKeys are the fields that hosts have in "oauth" of an entry.
const hostOAuthKeys = `
	callbackPort authServerMetadataUrl
	enabled clientSecret authorizationUrl issuer audiences redirectUri tokenParamName registrationUrl
`

// isHostKey reports whether a key that is none of ours is known to be a host's.
func isHostKey(name string) bool { return slices.Contains(strings.Fields(hostKeys), name) }

func isHostOAuthKey(name string) bool { return slices.Contains(strings.Fields(hostOAuthKeys), name) }
